"""`humor-tasks build mock`: what becomes of odd but usable files, and the folder that is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from standins import mock_sources as made
from standins.mock_sources import build, built, mustard_of, posts, rows

from humor_tasks import load
from humor_tasks.errors import BadInput


def test_a_byte_order_mark_and_other_line_ends_change_nothing(tmp_path: Path) -> None:
    posts(tmp_path)
    dialogues = {f"1_{i}": (made.dialogue(i), bool(i % 2)) for i in range(9)}
    given = ["--mustard", made.mustard(tmp_path / "m.json", dialogues)]
    given += ["--cai", tmp_path / "cai", "--more", tmp_path / "more"]
    said = built(tmp_path / "a", *given)
    for file in [tmp_path / "m.json", *tmp_path.glob("cai/text/*.txt"), *tmp_path.glob("more/*.tsv")]:
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n") + b"\r\n")
    assert built(tmp_path / "b", *given).replace("/b:", "/a:") == said
    for file in (tmp_path / "a").rglob("*.jsonl"):
        assert file.read_bytes() == (tmp_path / "b" / file.relative_to(tmp_path / "a")).read_bytes()


def test_what_stands_in_two_splits_stays_in_the_one_held_out_further(tmp_path: Path) -> None:
    """MORE has a post in test that Cai et al. have in train, and these one in train and validation."""
    labelled = [[str(i), f"post of {'abcdefgh'[i]}", 1] for i in range(8)]
    made.cai(tmp_path / "cai", train=labelled, valid2=[["7", "post of h", 1, 1]])
    made.more(tmp_path / "more", test=[["0", "post 0", "why"], *([f"9{i}", f"more {i}", "why"] for i in range(4))])
    given = ["--cai", tmp_path / "cai", "--more", tmp_path / "more", "--missing", "keep"]
    said = built(tmp_path / "out", *given)
    where = {row["media_id"]: file.stem for file in (tmp_path / "out" / "post_matching").iterdir()
             for row in rows(tmp_path / "out", "post_matching", file.stem)}  # fmt: skip
    assert (where["tweet-0"], where["tweet-1"]) == ("test", "train")
    assert "post, matching: left out 2, in train, while its medium is also in a later split." in said
    assert [row["media_id"] for row in rows(tmp_path / "out", "post_detecting", "validation")] == ["tweet-7"]
    assert "duplicate of another row" not in said


@pytest.mark.parametrize("name", [".", "link", "nowhere"])
def test_the_folder_may_be_the_current_one_or_a_link(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, place = mustard_of()(tmp_path), tmp_path / "place"
    place.mkdir()
    (tmp_path / "link").symlink_to(place)
    (tmp_path / "nowhere").symlink_to(tmp_path / "new")
    monkeypatch.chdir(place if name == "." else tmp_path)
    built(Path(name), *given)
    assert rows(tmp_path / "new" if name == "nowhere" else place, "comedy_detecting")


@pytest.mark.parametrize("name", ["a" * 300, "loop", "file/below"])
def test_a_folder_that_cannot_be_written_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("x")
    done = build(tmp_path / name, *mustard_of()(tmp_path))
    assert done.exit_code == 2
    assert "cannot be written (" in " ".join(done.output.split())


@pytest.mark.parametrize("name", ["mock", "/no/where", "no/where/mock"])
def test_a_folder_that_was_never_built_is_told_without_a_name_to_download(name: str) -> None:
    with pytest.raises(BadInput, match=f"dataset={name} is neither 'sample'") as told:
        load("mock_matching", dataset=name)
    assert "corpus is not public (see its card)" in str(told.value)
    assert "such as" not in str(told.value)

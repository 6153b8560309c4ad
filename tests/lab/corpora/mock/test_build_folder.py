"""`humor-tasks build mock`: what becomes of odd but usable files, and the folder that is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from standins import mock_sources as made
from standins.mock_sources import build, built, mustard_of, posts, rows

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.mock.items import SPLITS


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


def test_explained_posts_are_split_as_in_the_paper_or_by_their_source(tmp_path: Path) -> None:
    """MOCK has 2,808, 351 and 351 of MORE's 3,510, which published 2,983, 175 and 352; here one in ten of them.

    Of Cai et al.'s posts, two pictures of train are MORE's of test.
    """
    published = {"train": 298, "val": 17, "test": 36}
    posts_of = {name: [[f"{name}{i}", f"{name} {i}", "why"] for i in range(n)] for name, n in published.items()}
    made.more(tmp_path / "more", **posts_of)
    made.cai(tmp_path / "cai", train=[[f"test{i}", f"a post {i}", i % 2] for i in range(2)] + [["c", "another", 1]])
    given = ["--more", tmp_path / "more", "--cai", tmp_path / "cai", "--missing", "keep"]

    def sizes(name: str, subtask: str) -> list[int]:
        files = [tmp_path / name / f"post_{subtask}" / f"{split}.jsonl" for split in SPLITS]
        return [len(file.read_text().splitlines()) if file.exists() else 0 for file in files]

    others = {"paper": [], "again": [], "seven": ["--seed", "7"], "sources": ["--post-splits", "sources"]}
    for name, more in others.items():
        built(tmp_path / name, *given, *more)
    assert sizes("paper", "explaining") == sizes("seven", "explaining") == [281, 35, 35]
    assert sizes("paper", "detecting") == [3, 0, 0]
    assert sizes("sources", "explaining") == [298, 17, 36]
    assert sizes("sources", "detecting") == [1, 0, 0]
    test = {name: {row["id"] for row in rows(tmp_path / name, "post_explaining", "test")} for name in others}
    assert test["paper"] == test["again"] != test["seven"]
    for name in ("paper", "sources"):
        assert f"--post-splits {name})" in (tmp_path / name / "README.md").read_text()
    assert "--post-splits: there is no 'x'; choose from paper, sources." in made.build_refused(
        tmp_path / "x", *given, "--post-splits", "x"
    )

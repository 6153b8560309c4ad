"""`humor-tasks build mock` on wrong, incomplete or hostile sources: what it says, and that nothing is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from standins import mock_sources as made
from standins.mock_sources import build, build_refused, built, mustard_of, own_rows, rows
from standins.paths import REPOSITORY

CARDS = REPOSITORY / "datasets_cards"


def one_dialogue(identity: str, utterances: int) -> Any:
    return lambda p: ["--mustard", made.mustard(p / "m.json", {identity: (made.dialogue(1, utterances), True)})]


def more_of(*rows: list[str], images: tuple[str, ...] = ("11",)) -> Any:
    def write(p: Path) -> list[Any]:
        made.pictures(p / "more" / "images", images)
        return ["--more", made.more(p / "more", val=rows)]

    return write


def cai_of(text: str, *arguments: str) -> Any:
    def write(p: Path) -> list[Any]:
        (made.cai(p / "cai") / "text" / "train.txt").write_text(text)
        return ["--cai", p / "cai", *arguments]

    return write


def wits_of(**changes: Any) -> Any:
    def write(p: Path) -> list[Any]:
        file = made.wits(p / "wits", val={"1": made.dialogue(1)}) / "val_data_final_plain.json"
        data = json.loads(file.read_text())
        data["1"] |= changes
        file.write_text(json.dumps({"1": {k: v for k, v in data["1"].items() if v is not ...}}))
        return ["--wits", file]

    return write


def wrong_picture(p: Path) -> list[Any]:
    given = more_of(["11", "a", "b"])(p)
    (p / "more" / "images" / "11.jpg").write_bytes(b"\0\0\0\x18ftypisom" + b"\0" * 20)
    return [*given]


def text_of(option: str, name: str, text: str | bytes) -> Any:
    """A file given to `option`, beside a source that is in order."""

    def write(p: Path) -> list[Any]:
        (p / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return [option, p / name] + (mustard_of()(p) if option == "--descriptions" else ["--missing", "keep"])

    return write


def id_twice(p: Path) -> list[Any]:
    shutil.copytree(CARDS / "newyorker_caption_contest", p / "ny")
    file = p / "ny" / "matching" / "block0.jsonl"
    first, second, *rest = (json.loads(line) for line in file.read_text().splitlines())
    second["instance_id"] = first["instance_id"]
    file.write_text("".join(json.dumps(row) + "\n" for row in (first, second, *rest)))
    return ["--newyorker", p / "ny"]


def link_to_itself(p: Path) -> list[Any]:
    given = more_of(["11", "a", "b"], images=())(p)
    (p / "more" / "images" / "11.jpg").symlink_to(p / "more" / "images" / "11.jpg")
    return [*given]


WRONG = [
    (lambda p: [], "name at least one source"),
    (lambda p: ["--mustard", p / "none.json"], "none.json: there is no such file"),
    (mustard_of(sarcasm=None), "id 1_1: sarcasm is None; the label must be true or false"),
    (mustard_of(sarcasm="yes"), "sarcasm is 'yes'"),
    (mustard_of(speaker=""), "id 1_1: a speaker is empty"),
    (mustard_of(utterance=None), "an utterance is empty"),
    (mustard_of(context_speakers=["ANN"]), "context and context_speakers must be lists of the same length"),
    (mustard_of(utterance="half a \ud800"), r"an utterance is 'half a \ud800'; it must be text"),
    (mustard_of(sarcasm="y" * 10**6), f"sarcasm is '{'y' * 59}; the label must be true or false"),
    (text_of("--mustard", "m.json", '{"1": {"context": []}, "1": {}}'), "'1' is repeated in one object"),
    (text_of("--mustard", "m.json", "[" * 10**5), "m.json: not JSON (maximum recursion depth"),
    (text_of("--mustard", "m.json", '{"1": "café"}'.encode("latin-1")), "m.json, line 1, column 11: cannot be"),
    (text_of("--mustard", "m.json", '{"1": 2}'), "m.json, id 1: must be a dialogue, not 2"),
    (text_of("--descriptions", "d.json", '{"mustard-1_1": "\\ud800"}'), "d.json, mustard-1_1: the description is"),
    (text_of("--descriptions", "d.json", '{"mustard-1_1": " "}'), "d.json, mustard-1_1: the description is empty"),
    (text_of("--more", "val_df.tsv", '11\t"never closed\tx\n12\ta\tb\n'), "line 1, column 4: a quotation mark"),
    (text_of("--more", "val_df.tsv", '11\t"closed\tx\n12\t"where"\tb\n'), "line 2, column 4: the cell whose quotation"),
    (more_of(["1" * 300, "a", "b"]), "1 missing file: "),
    (link_to_itself, "11.jpg"),
    (one_dialogue("../x", 3), "'../x' is not a valid id"),
    (one_dialogue("1_1", 2), "the sources have no usable row"),
    (more_of(["11", "a", "b"], ["12", "c", "d"]), "1 missing file: "),
    (more_of(["11", "a", "b"], ["12", "c", "d"]), "val_df.tsv, line 2: 12.jpg. Restore them, or leave their rows out"),
    (more_of(["11", "a"]), "val_df.tsv, line 1: has 2 fields; there must be pid, caption and explanation"),
    (more_of(["11", "a", " "]), "explanation is empty; it must be text"),
    (more_of(["../../11", "a", "b"]), "'../../11' is not a valid id"),
    (wrong_picture, "11.jpg: not a picture in a supported format; it is a file of type 'isom'"),
    (lambda p: ["--more", made.more(p / "empty")], "holds none of train_df.tsv, val_df.tsv, test_df.tsv"),
    (cai_of("['11', 'text', 1]\n['12', 'text']\n", "--missing", "keep"), "train.txt, line 2: the label is missing"),
    (cai_of("['11', 'text', 2]\n", "--missing", "keep"), "the label is 2; it must be 0 or 1"),
    (cai_of("['11', 'text', True]\n"), "the label is True"),
    (cai_of("__import__('os').system('true')\n"), "line 1: must be a Python list of an id, a text and a label"),
    (cai_of("[" * 5000 + "\n"), "line 1: must be a Python list"),
    (cai_of("['11', 'text', 1, 0, 1]\n"), "line 1: must be a Python list"),
    (cai_of("['11', ' ', 1]\n", "--missing", "keep"), "text is empty; it must be text"),
    (wits_of(english_explanation=...), "has no english_explanation; choose --wits-explanations ['code_mixed']"),
    (wits_of(english_explanation=""), "english_explanation is empty"),
    (wits_of(episode_name=None), "episode_name is empty"),
    (lambda p: ["--newyorker", p / "none"], "is neither 'sample'"),
    (id_twice, "New Yorker: two different rows of matching have the id newyorker_"),
    (own_rows(",A line,,,,"), "items.csv, line 2: image is empty"),
    (own_rows("/dev/../etc/passwd,A line,,,,"), "passwd' is an absolute path"),
    (own_rows("0.jpg,A line,Yes,,,"), "items.csv, line 2: label is 'Yes'"),
    (own_rows("0.jpg,A line,,,,2", "0.jpg,Another,,,,"), "line 3: id '2' is also that of {tmp}/cs/items.csv, line 2"),
    (lambda p: ["--newyorker", "sample", "--missing", "maybe"], "--missing: there is no 'maybe'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_wrong_input_is_named_and_nothing_is_written(tmp_path: Path, given: Any, said: str) -> None:
    assert said.replace("{tmp}", str(tmp_path)) in build_refused(tmp_path / "out", *given(tmp_path))


def test_rows_without_their_file_are_left_out_or_kept_on_demand(tmp_path: Path) -> None:
    given = more_of(["11", "a", "b"], ["12", "c", "d"])(tmp_path)
    said = built(tmp_path / "dropped", *given, "--missing", "drop")
    assert "MORE: 1 of 2 rows kept.\n  Left out: 1, its file is missing." in said
    said = built(tmp_path / "kept", *given, "--missing", "keep")
    assert "1 rows have no picture or clip: use input=description." in said
    assert [row["media"] for row in rows(tmp_path / "kept", "post_explaining")] == ["media/post/tweet-11.jpg", None]


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep me")
    given = mustard_of()(tmp_path)
    done = build(out, *given)
    assert done.exit_code == 2
    assert "exists already; name a new folder" in " ".join(done.output.split())
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    (out / "mine.txt").unlink()
    built(out, *given)


def test_a_link_out_of_the_folder_of_pictures_is_not_followed(tmp_path: Path) -> None:
    given = more_of(["12", "a", "b"])(tmp_path)
    made.pictures(tmp_path / "elsewhere", ["12"])
    (tmp_path / "more" / "images" / "12.jpg").symlink_to(tmp_path / "elsewhere" / "12.jpg")
    assert "leaves the dataset folder" in build_refused(tmp_path / "out", *given)


def test_captions_of_more_are_read_as_python_wrote_them(tmp_path: Path) -> None:
    written = {
        repr('it \'s "so" nice'): 'it \'s "so" nice',
        repr("<user> ' s day"): "<user> ' s day",
        "so nice": "so nice",
        "'so' nice": "'so' nice",
        "it's 'nice'": "it's 'nice'",
        "'": "'",
        "'a' + 'b'": "'a' + 'b'",
    }
    ids = tuple(map(str, range(len(written))))
    given = more_of(*([i, caption, "why"] for i, caption in zip(ids, written, strict=True)), images=ids)(tmp_path)
    built(tmp_path / "out", *given, "--post-splits", "sources")
    assert [row["caption"] for row in rows(tmp_path / "out", "post_explaining")] == list(written.values())

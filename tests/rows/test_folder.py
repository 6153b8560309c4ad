"""Rows from the sample, from folders and from a leaderboard's files: what is read, and what is said."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from standins.corpus import COLUMNS, HUB, as_parquet, make_folder, matching_row, noise_png, write_lines

from humor_tasks.errors import BadInput
from humor_tasks.rows import Rows, is_leaderboard, open_rows, read_leaderboard
from humor_tasks.rows.media.picture import Picture

# ---- folders ------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    return make_folder(tmp_path / "data")


def read(dataset: str | Path, **changes: Any) -> Rows:
    asked = {"hub": HUB, "cards": Path("nowhere"), "config": "matching", "split": "test", "columns": COLUMNS} | changes
    return open_rows(str(dataset), **asked)


def test_folder(folder: Path) -> None:
    rows = read(folder)
    assert rows.rows == [{name: matching_row(i)[name] for name in COLUMNS} for i in range(3)]
    assert (rows.dataset, rows.config, rows.split) == (str(folder), "matching", "test")
    assert (rows.requested_revision, rows.revision) == (None, None)
    assert rows.where(2) == f"row 2 (instance_id test-0002) of matching/test in {folder}"
    assert not list((folder.parent / "cache").glob("**/*.arrow"))


def test_sample_is_the_card_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "sample").mkdir()
    monkeypatch.chdir(folder.parent)  # a folder called sample needs ./sample
    rows = read("sample", cards=folder)
    assert (rows.dataset, len(rows.rows)) == ("sample", 3)
    with pytest.raises(BadInput, match="doesn't contain any data files"):
        read("./sample", cards=folder)


def test_picture_files(folder: Path) -> None:
    rows = read(folder, pictures=True, columns=("instance_id", "image"))
    picture = rows.rows[1]["image"]
    assert isinstance(picture, Picture)
    assert picture.where == f"images/1.png, row 1 (instance_id test-0001) of matching/test in {folder}"
    assert picture.path == str(folder / "images" / "1.png")
    assert picture.read() == noise_png(1, 16)
    assert rows.fingerprint == read(folder, columns=["instance_id"]).fingerprint


def test_fingerprint(folder: Path) -> None:
    before = read(folder).fingerprint
    assert len(before) == 64
    assert before == read(folder, columns=[*reversed(COLUMNS), "label"]).fingerprint == read(folder).fingerprint
    changed = [{"image": f"images/{i}.png", **matching_row(i)} for i in (0, 2, 1)]
    write_lines(folder / "matching" / "test.jsonl", changed)
    assert read(folder).fingerprint != before


@pytest.mark.parametrize(
    ("make", "where"),
    [
        (
            lambda: pa.array([{"bytes": noise_png(i, 16), "path": f"{i}.png"} for i in range(3)]),
            "row {} of matching/test",
        ),
        (lambda: pa.array([noise_png(i, 16) for i in range(3)]), "row {} of matching/test"),
        (lambda: pa.array([f"images/{i}.png" for i in range(3)]), "images/{}.png"),
        (lambda: pa.array([{"bytes": None, "path": f"images/{i}.png"} for i in range(3)]), "images/{}.png"),
    ],
    ids=["struct", "binary", "path", "struct-path"],
)
def test_pictures_in_parquet(folder: Path, make: Callable[[], pa.Array], where: str) -> None:
    as_parquet(folder, make())
    rows = read(folder, pictures=True).rows
    assert all(row["image"].where.startswith(where.format(i)) for i, row in enumerate(rows))
    assert [row["image"].read() for row in rows] == [noise_png(i, 16) for i in range(3)]
    assert "image" not in read(folder).rows[0]


def test_without_a_card_a_config_is_a_folder(folder: Path) -> None:
    (folder / "README.md").unlink()
    assert len(read(folder).rows) == 3
    with pytest.raises(BadInput, match=r"no config 'matchin'; there are: images, matching\. Did you mean 'matching'"):
        read(folder, config="matchin")


def test_relative_folder_with_the_name_of_a_format(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.rename(folder.parent / "json")
    monkeypatch.chdir(folder.parent)
    assert len(read("json").rows) == 3


def broken_line(folder: Path) -> None:
    file = folder / "matching" / "test.jsonl"
    file.write_text(file.read_text().replace('"label": "B"', '"label": '))


def empty(folder: Path) -> None:
    (folder / "matching" / "test.jsonl").write_text("")


def misspelt(folder: Path) -> None:
    file = folder / "matching" / "test.jsonl"
    file.write_text(file.read_text().replace("caption_choices", "caption_choises"))


def misspelt_parquet(folder: Path) -> None:
    as_parquet(folder, pa.array(["images/0.png"] * 3))
    file = folder / "matching" / "test.parquet"
    pq.write_table(pq.read_table(file).rename_columns({"label": "labels"}), file)


def broken_parquet(folder: Path) -> None:
    as_parquet(folder, pa.array(["images/0.png"] * 3))
    (folder / "matching" / "test.parquet").write_bytes(b"PAR1 and nothing else")


def picture_is(value: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        rows = [{"image": value if i == 1 else "images/0.png", **matching_row(i)} for i in range(3)]
        write_lines(folder / "matching" / "test.jsonl", rows)

    return change


def numbers_for_pictures(folder: Path) -> None:
    write_lines(folder / "matching" / "test.jsonl", [{"image": i, **matching_row(i)} for i in range(3)])


def no_pictures_at_all(folder: Path) -> None:
    write_lines(folder / "matching" / "test.jsonl", [{"image": None, **matching_row(i)} for i in range(3)])


def null_in_parquet(folder: Path) -> None:
    as_parquet(folder, pa.array([{"bytes": b"x", "path": None}, {"bytes": None, "path": None}, None]))


def link_out(folder: Path) -> None:
    (folder.parent / "outside.png").write_bytes(noise_png(1, 16))
    (folder / "images" / "out.png").symlink_to(folder.parent / "outside.png")
    picture_is("images/out.png")(folder)


ROW_1 = "row 1 (instance_id test-0001) of matching/test in "


@pytest.mark.parametrize(
    ("change", "asked", "said"),
    [
        (None, {"config": "ranking"}, ["no config 'ranking'", "there are: matching."]),
        (None, {"config": "matching_1"}, ["no config 'matching_1'", "Did you mean 'matching'?"]),
        (None, {"split": "tset"}, ["'matching' has no split 'tset'", "train, test", "Did you mean 'test'?"]),
        (None, {"split": "test[:1]"}, ["no split 'test[:1]'"]),
        (None, {"revision": "main"}, ["revision=main is for hub datasets", "leave revision out"]),
        (None, {"columns": ["labell"]}, ["test.jsonl", "no column 'labell'", "label", "Did you mean 'label'?"]),
        (misspelt, {}, ["no column 'caption_choices'", "Did you mean 'caption_choises'?", "test.jsonl"]),
        (misspelt_parquet, {}, ["no column 'label'", "Did you mean 'labels'?", "test.parquet"]),
        (broken_line, {}, ["matching/test", "test.jsonl, line 2: not JSON"]),
        (broken_parquet, {}, ["test.parquet", "cannot be read", "Restore or correct the files"]),
        (empty, {}, ["matching/test", "there are no rows"]),
        (lambda f: (f / "matching" / "test.jsonl").unlink(), {}, ["Unable to find", "test.jsonl", "README.md"]),
        (lambda f: (f / "README.md").write_text("---\nconfigs: [\n---\n"), {}, ["cannot be read", "README.md"]),
        (picture_is(None), {"pictures": True}, [ROW_1, "image is null", "leave the row out"]),
        (no_pictures_at_all, {"pictures": True}, ["row 0 (", "image is null"]),
        (null_in_parquet, {"pictures": True}, [ROW_1, "image is null"]),
        (numbers_for_pictures, {"pictures": True}, ["column 'image' holds int64", "paths of picture files"]),
        (picture_is("images/9.png"), {"pictures": True}, [ROW_1, "no picture file 'images/9.png'"]),
        (link_out, {"pictures": True}, [ROW_1, "'images/out.png' leaves the dataset folder"]),
    ],
)
def test_wrong_folders(
    folder: Path, change: Callable[[Path], None] | None, asked: dict[str, Any], said: list[str]
) -> None:
    if change:
        change(folder)
    with pytest.raises(BadInput) as caught:
        read(folder, **asked)
    for part in said:
        assert part in str(caught.value)
    assert not list(folder.parent.glob("cache/**/*.incomplete"))


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ("samples", "Did you mean 'sample'?"),
        ("./nowhere", "neither 'sample'"),
        ("/no/such/folder", "nor a folder that exists"),
        ("a/b/c", f"such as '{HUB}'"),
        (__file__, "is a file; name the dataset folder"),
    ],
)
def test_names_that_are_nothing(dataset: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(dataset)
    assert said in str(caught.value)


# ---- the leaderboard ----------------------------------------------------------------------------


@pytest.fixture
def leaderboard(tmp_path: Path) -> Path:
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "0.png").write_bytes(noise_png(0, 16))
    choices = {letter: f"Caption {letter}." for letter in "AB"}
    instances = [{"instance_id": f"id{i}", "image": "pics/0.png", "choices": choices} for i in range(2)]
    (tmp_path / "instances.json").write_text(json.dumps(instances))
    return tmp_path


def test_leaderboard(leaderboard: Path) -> None:
    assert is_leaderboard(leaderboard)
    assert is_leaderboard(str(leaderboard))
    rows = read_leaderboard(leaderboard)
    row = rows.rows[1]
    assert row["image"].read() == noise_png(0, 16)
    assert {k: v for k, v in row.items() if k != "image"} == {
        "instance_id": "id1",
        "caption_choices": ["Caption A.", "Caption B."],
        "label": None,
        "contest_number": None,
    }
    assert rows.where(1) == f"row 1 (instance_id id1) of leaderboard/test in {leaderboard}"
    assert len(rows.fingerprint) == 64


@pytest.mark.parametrize("other", ["README.md", "matching/test.parquet"])
def test_not_a_leaderboard(leaderboard: Path, other: str) -> None:
    (leaderboard / other).parent.mkdir(exist_ok=True)
    (leaderboard / other).write_text("About these files.")
    assert is_leaderboard(leaderboard) == (other == "README.md")  # any text may lie beside it
    (leaderboard / other).write_text("configs:")
    assert not is_leaderboard(leaderboard)
    assert not is_leaderboard(leaderboard / "pics")
    assert not is_leaderboard("owner/name")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[1].pop("image"), "instance 1: 'image' is missing; there are: instance_id, choices."),
        (lambda rows: rows[1].update(imagge=rows[1].pop("image")), "Did you mean 'imagge'?"),
        (lambda rows: rows[1].update(instance_id="id0"), "instance_id id0 repeats that of instance 0"),
        (lambda rows: rows[1].update(instance_id=7), "'instance_id' is 7; it must be text"),
        (lambda rows: rows[1].update(choices={"A": "x", "C": "y"}), "A, B, ... in order"),
        (lambda rows: rows[1].update(choices={"B": "x", "A": "y"}), "A, B, ... in order"),
        (lambda rows: rows[1].update(choices=["x", "y"]), "captions by letter"),
        (lambda rows: rows[1].update(choices={}), "captions by letter"),
        (lambda rows: rows[1].update(choices={"A": None}), "other than text"),
        (lambda rows: rows[1].update(image="pics/1.png"), "instance 1: image:"),
        (lambda rows: rows[1].update(image="../x.png"), "leaves the dataset folder"),
        (lambda rows: rows.__setitem__(1, "id1"), "must be an object"),
        (lambda rows: rows.clear(), "must be a list of instances"),
    ],
)
def test_wrong_leaderboards(leaderboard: Path, change: Callable[[Any], Any], said: str) -> None:
    file = leaderboard / "instances.json"
    instances = json.loads(file.read_text())
    change(instances)
    file.write_text(json.dumps(instances))
    with pytest.raises(BadInput) as caught:
        read_leaderboard(leaderboard)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": 1,]', "line 1, column"),
        ('[{"choices": {"A": "x", "A": "y"}}]', "'A' is repeated in one object"),
        ("", "is empty"),
    ],
)
def test_leaderboards_that_are_not_json(leaderboard: Path, text: str, said: str) -> None:
    (leaderboard / "instances.json").write_text(text)
    with pytest.raises(BadInput, match=r"instances\.json") as caught:
        read_leaderboard(leaderboard)
    assert said in str(caught.value)


# ---- real rows and the packaged sample ----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "split", "count"),
    [
        ("matching", "validation", 531),
        ("ranking", "validation", 507),
        ("ranking", "train", 9576),
        ("explanation", "validation", 130),
        ("matching_from_pixels", "validation", 198),
    ],
)
def test_real_rows(real_corpus: str, tmp_path: Path, monkeypatch: Any, config: str, split: str, count: int) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    pixels = config.endswith("_from_pixels")
    rows = read(real_corpus, config=config, split=split, pictures=pixels)
    assert len(rows.rows) == count
    if pixels:
        assert {row["image"].mime() for row in rows.rows[:20]} <= {"image/jpeg", "image/png"}
        assert rows.rows[-1]["image"].open().size[0] > 100


def test_imports_nothing_heavy() -> None:
    code = (
        "import sys, humor_tasks.rows, humor_tasks.rows.media.picture;"
        "heavy = ('datasets', 'huggingface_hub', 'pyarrow', 'PIL', 'torch', 'inspect_ai', 'lm_eval');"
        "print([m for m in heavy if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ---- CSV ----------------------------------------------------------------------------------------

CARD = "---\nconfigs:\n- config_name: c\n{}  data_files:\n  - split: test\n    path: t.csv\n---\n"


def of_csv(folder: Path, text: str, options: str = "") -> list[dict[str, Any]]:
    (folder / "README.md").write_text(CARD.format(options))
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return read(folder, config="c", columns=("id", "text", "contest_number")).rows


def test_ids_and_words_for_nothing_are_texts_in_csv(tmp_path: Path) -> None:
    rows = of_csv(tmp_path, "ID,text,contest_number\n01,nan,610\n02,None,\n")
    assert rows == [
        {"id": "01", "text": "nan", "contest_number": 610},
        {"id": "02", "text": "None", "contest_number": None},
    ]
    assert of_csv(tmp_path, "id;text;contest_number\na;x, y;610.0\n", '  sep: ";"\n') == [
        {"id": "a", "text": "x, y", "contest_number": 610.0}
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('id,text,contest_number\na,"x,610\nb,y,611\n', "t.csv, line 2, column 3: a quotation mark is opened here"),
        ("id,text,contest_number\n1.2E+17,x,610\n", "t.csv, line 2: id is '1.2E+17'"),
        ("id,text\na,x\n", "there is no column 'contest_number'"),
    ],
)
def test_bad_csv_is_named_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(told)):
        of_csv(tmp_path, text)

"""The dataset folder of a built corpus, and everything that takes it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from standins import built_corpus

from humor_tasks.api import load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker.card import answer_only, card
from humor_tasks.lab.corpora.newyorker.folder import contents_of, write_folder
from humor_tasks.lab.corpora.newyorker.rows import Instance

FOLDS = ("0", "1", "2", "3", "4")
TASKS = ("matching", "ranking", "explanation")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built")
    return built_corpus.write(home / "corpus", home / "pictures")


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    return pq.read_table(folder / name).to_pylist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "setting"),
    [(task, setting) for task in TASKS for setting in ("description", "pixels")] + [("matching", "caption_only")],
)
def test_every_setting_and_split_is_read(corpus: Path, task: str, setting: str) -> None:
    runs = {split: opened(corpus, task, setting, "4", split) for split in ("train", "validation", "test")}
    per_contest = 1 if task == "explanation" else 3
    times = 1 if setting == "pixels" else 6
    assert [len(run.records) for run in runs.values()] == [n * per_contest for n in (18 * times, 6, 6)]
    contests = [{record.cluster for record in run.records} for run in runs.values()]
    assert [len(each) for each in contests] == [18, 6, 6]
    assert len(set.union(*contests)) == 30
    assert all((record.picture is not None) == (setting == "pixels") for record in runs["test"].records)


def opened(corpus: Path, task: str, setting: str, fold: str, split: str = "test") -> Run:
    return load(task, dataset=str(corpus), setting=setting, fold=fold, split=split)


@pytest.mark.slow
def test_every_row_is_tested_in_one_fold_and_validates_the_one_before(corpus: Path) -> None:
    tested = [[r.id for r in opened(corpus, "ranking", "pixels", fold).records] for fold in FOLDS]
    assert [len(each) for each in tested] == [18] * 5
    every = [identity for each in tested for identity in each]
    assert len(set(every)) == 90
    assert sorted(every) == sorted(r.id for r in opened(corpus, "ranking", "pixels", "all").records)
    last = opened(corpus, "ranking", "pixels", "4", "validation").records
    assert {record.id for record in last} == set(tested[0])


def test_datasets_reads_it_by_itself(corpus: Path) -> None:
    from datasets import get_dataset_config_names, load_dataset

    names = get_dataset_config_names(str(corpus))
    assert len(names) == 30
    found = load_dataset(str(corpus), "matching_from_pixels_3")
    assert {split: len(rows) for split, rows in found.items()} == {"train": 54, "validation": 18, "test": 18}
    row = found["test"][0]
    assert row["image"] == f"images/{row['contest_number']}.png"
    assert (corpus / row["image"]).is_file()


def test_columns_and_types_are_those_of_the_hub_and_the_canary(corpus: Path, real_corpus: str) -> None:
    for name in ("matching", "ranking", "explanation", "matching_from_pixels"):
        hub = pq.read_schema(f"{real_corpus}/{name}/validation.parquet").remove_metadata()
        ours = pq.read_schema(corpus / name / "block0.parquet").remove_metadata()
        for schema in (hub, ours):
            assert ("image" in schema.names) or schema is hub
        assert ours.names[-1] == "canary"
        ours = ours.remove(len(ours.names) - 1)
        without = [s.remove(s.get_field_index("image")) if "image" in s.names else s for s in (hub, ours)]
        assert without[0].equals(without[1]), name


def test_training_rows_hold_every_tuple_and_the_others_the_fixed_one(corpus: Path) -> None:
    fixed, every = read(corpus, "matching/block0.parquet"), read(corpus, "matching/block0_all.parquet")
    assert len(every) == 6 * len(fixed)
    assert {row["image_location"] for row in fixed} == {f"place {row['contest_number']} 1" for row in fixed}
    ids = {row["instance_id"]: row for row in every}
    assert len(ids) == len(every)
    assert all(ids[row["instance_id"]] == row for row in fixed)


def test_without_pictures_and_without_explanations(tmp_path: Path) -> None:
    contents = contents_of(built_corpus.instances(explained=False), built_corpus.annotations(), {}, "1")
    assert [config.name for config in contents.configs] == ["matching", "ranking"]
    assert contents.left_out == [
        "matching_from_pixels: no rows",
        "ranking_from_pixels: no rows",
        "explanation: no rows",
        "explanation_from_pixels: no rows",
    ]
    folder = built_corpus.write(tmp_path / "corpus", None, contents=contents)
    assert not (folder / "images").exists()
    assert "image" not in read(folder, "matching/block0.parquet")[0]
    assert "- explanation: no rows." in (folder / "README.md").read_text()
    with pytest.raises(BadInput, match="there is no config 'matching_from_pixels'"):
        load("matching", dataset=str(folder), setting="pixels")


def test_contests_without_words_or_pictures_are_left_out_and_counted(tmp_path: Path) -> None:
    shown = built_corpus.pictures(tmp_path, range(503, 531))
    contents = contents_of(built_corpus.instances(), built_corpus.annotations(range(501, 526)), shown, "1")
    assert "matching: 15 of 90 instances, whose contests lack a description" in contents.left_out
    assert "matching_from_pixels: 6 of 90 instances, whose contests lack a picture" in contents.left_out
    words = next(config for config in contents.configs if config.name == "matching")
    assert not any("image" in row for block in words.fixed for row in block)  # a column is in all rows or in none


def test_nothing_to_write_is_an_error() -> None:
    with pytest.raises(BadInput, match="no configuration has rows in every block"):
        contents_of(built_corpus.instances(), {}, {}, "1")


def test_pictures_are_linked_and_checked(corpus: Path, tmp_path: Path) -> None:
    shown = built_corpus.pictures(tmp_path / "pictures")
    contents = contents_of(built_corpus.instances(), built_corpus.annotations(), shown, "1")
    text = card(contents, built_corpus.PROVENANCE)
    write_folder(tmp_path / "linked", contents, shown, text, {})
    assert os.path.samefile(tmp_path / "linked/images/501.png", shown[501])
    shown[502].write_bytes(b"<html>")
    with pytest.raises(BadInput, match=r"1 of 30 pictures of contests cannot be used: .*502.png.* web page"):
        write_folder(tmp_path / "bad", contents, shown, text, {})
    assert not (tmp_path / "bad").exists()


def test_pictures_are_copied_to_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: object, target: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    folder = built_corpus.write(tmp_path / "corpus", tmp_path / "pictures")
    assert (folder / "images/501.png").read_bytes() == (tmp_path / "pictures/501.png").read_bytes()


def _fails_at(number: int, function: Callable[..., Any]) -> Callable[..., Any]:
    calls = iter(range(1000))

    def fails(*arguments: Any, **named: Any) -> Any:
        if next(calls) == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*arguments, **named)

    return fails


@pytest.mark.parametrize("number", [0, 7, 44])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(pq, "write_table", _fails_at(number, pq.write_table))
    with pytest.raises(BadInput, match=r"cannot be written .*No space left"):
        built_corpus.write(tmp_path / "corpus", tmp_path / "pictures")
    assert [path.name for path in tmp_path.iterdir()] == ["pictures"]
    monkeypatch.undo()
    built_corpus.write(tmp_path / "corpus", tmp_path / "pictures")


def test_a_folder_that_is_not_empty_is_left_alone(corpus: Path, tmp_path: Path) -> None:
    before = sorted(corpus.rglob("*"))
    with pytest.raises(BadInput, match="is there and not empty"):
        built_corpus.write(corpus, tmp_path / "pictures")
    assert sorted(corpus.rglob("*")) == before
    (tmp_path / "empty").mkdir()
    built_corpus.write(tmp_path / "empty", tmp_path / "pictures")


def test_the_card(corpus: Path) -> None:
    text = (corpus / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["license"] == "cc-by-4.0"
    assert len(front["configs"]) == 30
    for each in front["configs"]:
        assert [entry["split"] for entry in each["data_files"]] == ["train", "validation", "test"]
    first = {entry["split"]: entry["path"] for entry in front["configs"][0]["data_files"]}
    assert first == {
        "train": ["matching/block2_all.parquet", "matching/block3_all.parquet", "matching/block4_all.parquet"],
        "validation": "matching/block1.parquet",
        "test": "matching/block0.parquet",
    }
    assert "| matching | 324 (324 to 324) | 18 (18 to 18) | 18 (18 to 18) |" in text
    assert "| pool | okay captions | 1,200 |" in text
    assert "| embedding | a \\| model |" in text
    assert f"| annotations.json | {'ab' * 32} |" in text
    assert "captions to their writers" in text
    assert "| longest | 0.2" in text
    told = json.loads((corpus / "provenance.json").read_text())
    assert told["files"] == {"annotations.json": "ab" * 32}
    assert told["versions"]["numpy"]


def test_rules_that_see_the_choices_alone() -> None:
    rows = [
        Instance("matching", 1, "aa", ("aa", "b", "c", "d", "e"), "A"),
        Instance("matching", 2, "b!", ("aa", "b!", "c", "d", "e"), "B"),
        Instance("matching", 2, "c", ("aa", "b", "c", "d d", "e"), "C"),
    ]
    quality = {"aa": 0.5, "b": 0.9, "b!": 0.7, "c": 1.0, "d": 0.1, "d d": 0.1, "e": 0.1}
    found = {rule: each.value for rule, each in answer_only(rows, quality).items()}
    assert found["longest"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["most punctuation"] == pytest.approx((1 / 5 + 1 + 1 / 5) / 3)
    assert found["most words"] == pytest.approx((1 / 5 + 1 / 5 + 0) / 3)
    assert found["predicted quality"] == pytest.approx(1 / 3)


def test_many_files_are_in_provenance_alone() -> None:
    contents = contents_of(built_corpus.instances(), built_corpus.annotations(), {}, "1")
    many = replace(built_corpus.PROVENANCE, files={f"{i}.csv": "cd" * 32 for i in range(120)})
    text = card(contents, many)
    assert "| input files | 120 |" in text
    assert "cd" * 32 not in text

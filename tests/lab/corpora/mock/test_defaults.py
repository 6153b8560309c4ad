"""MOCK's defaults take what a built folder holds, and say what it lacks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from standins import mock_sources as made
from standins.mock_sources import built, dialogues, posts, rows, without_pictures

from humor_tasks import evaluate, load
from humor_tasks.lab.corpora.mock.building import NOTHING_BEFORE


def loaded(name: str, dataset: Path, **parameters: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = load(name, dataset=str(dataset), **parameters)
    return run, [str(each.message) for each in told]


def test_the_default_scene_takes_what_the_folder_holds_and_says_what_it_lacks(tmp_path: Path) -> None:
    """No source gives cartoons that are not humorous."""
    posts(tmp_path, 20)
    clips = made.mustard_clips(tmp_path / "clips", [f"1_{i}" for i in range(24)])
    given = ["--cai", tmp_path / "cai", "--mustard", dialogues(tmp_path), "--mustard-clips", clips]
    built(tmp_path / "mock", *given, "--newyorker", "sample")
    run, told = loaded("mock_detecting", tmp_path / "mock")
    counts = {scene: sum(r.groups["scene"] == scene for r in run.records) for scene in ("cartoon", "post", "comedy")}
    assert counts == {"cartoon": 0, "post": 2, "comedy": 2}
    assert told == [
        "mock_detecting: cartoon: there is no cartoon_detecting/test. Left out. Evaluated: 2 of post, 2 of comedy."
    ]
    assert "|left_out:cartoon:all|" in str(run.signature("generate"))
    assert run.data.provenance["left_out"] == {"cartoon": "all"}
    whole, told = loaded("mock_matching", tmp_path / "mock", split="train")
    assert {record.groups["scene"] for record in whole.records} == {"cartoon", "post", "comedy"}
    assert "left_out" not in str(whole.signature("generate")) + "".join(told)


def test_rows_without_their_picture_are_left_out_and_counted(tmp_path: Path) -> None:
    posts(tmp_path, 20)
    (tmp_path / "cai" / "dataset_image" / "118.jpg").unlink()
    built(tmp_path / "mock", "--cai", tmp_path / "cai", "--missing", "keep")
    run, told = loaded("mock_detecting", tmp_path / "mock")
    assert [record.id for record in run.records] == ["cai_119_detecting"]
    assert "post: 1 of 2 rows have no picture or clip, such as row 0 (id cai_118_detecting)" in told[0]
    assert run.data.dropped == {"cai_118_detecting"}
    assert "left_out:cartoon:all,comedy:all,post:1" in str(run.signature("generate"))
    assert evaluate(run, {"cai_119_detecting": "yes", "cai_118_detecting": "no"}).metrics["accuracy"].n == 1


def test_short_dialogues_are_kept_on_demand(tmp_path: Path) -> None:
    lengths = {str(i): made.dialogue(i, 1 + i % 4) for i in range(24)}
    folder = made.wits(tmp_path / "wits", test=lengths)
    said = built(tmp_path / "out", "--wits", folder, "--keep-short-dialogues")
    assert "WITS: 24 of 24 rows kept." in said
    assert f"- comedy, matching: left out 6, {NOTHING_BEFORE}." in said
    assert len(rows(tmp_path / "out", "comedy_explaining")) == 24
    for name, count in (("mock_explaining", 24), ("mock_matching", 18)):
        run = load(name, dataset=str(tmp_path / "out"), scene="comedy", input="description")
        assert len(run.records) == count
        assert all(run.prompt(record).turns for record in run.records)


def test_the_card_says_which_rows_nothing_shows(tmp_path: Path) -> None:
    mock = without_pictures(tmp_path)
    assert "of them have no description either, so nothing shows them: name their pictures (--more-images" in (
        mock / "README.md"
    ).read_text().replace("\n", " ")

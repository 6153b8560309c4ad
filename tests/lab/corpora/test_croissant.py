"""croissant.json against the folder that it describes: every file, every column, the terms of Croissant 1.0."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from standins import built_corpus

from humor_tasks import datasets_cards
from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.croissant import FILE, croissant, renew, write_croissant
from humor_tasks.lab.corpora.newyorker.folder import RAI
from humor_tasks.rows.canary import TEXT

# What Croissant 1.0 wants of a dataset, less url, creator and datePublished, which only a publication has.
REQUIRED = {"@context", "@type", "conformsTo", "name", "description", "license", "version", "distribution", "recordSet"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built")
    return built_corpus.write(home / "corpus", home / "pictures")


def sample(name: str, tmp_path: Path) -> Path:
    shutil.copytree(datasets_cards.folder(name), tmp_path / name)
    write_croissant(tmp_path / name)
    return tmp_path / name


def read(folder: Path) -> dict[str, Any]:
    return json.loads((folder / FILE).read_text(encoding="utf-8"))


def fields(found: dict[str, Any], records: str) -> dict[str, tuple[str, bool]]:
    """Column -> type and whether it is repeated; of objects the types of their keys."""
    (chosen,) = (each for each in found["recordSet"] if each["@id"] == records)
    return {
        field["name"]: (
            field.get("dataType") or {sub["name"]: sub["dataType"] for sub in field["subField"]},
            field.get("repeated", False),
        )
        for field in chosen["field"]
    }


def test_a_built_corpus_describes_itself(corpus: Path) -> None:
    found = read(corpus)
    assert found.keys() >= REQUIRED
    assert found["name"] == "New Yorker Caption Contest, built from raw contests"
    assert found["license"] == "https://creativecommons.org/licenses/by/4.0/"
    assert found["citeAs"].startswith("@inproceedings{hessel2023androids")
    assert found["description"].startswith("Built by `humor-tasks build newyorker`")
    assert {name: found[f"rai:{name}"] for name in RAI} == RAI
    held = {path.relative_to(corpus).as_posix(): path for path in corpus.rglob("*") if path.is_file()}
    assert {each["@id"] for each in found["distribution"]} == held.keys() - {FILE}
    for each in found["distribution"]:
        data = held[each["contentUrl"]].read_bytes()
        assert (each["sha256"], each["contentSize"]) == (hashlib.sha256(data).hexdigest(), f"{len(data)} B")
    assert len(found["recordSet"]) == 45  # of 3 tasks: 5 blocks with words, 5 with all tuples, 5 from pixels
    assert fields(found, "ranking/block0") == {
        "image": ("sc:Text", False),
        "contest_number": ("sc:Integer", False),
        "image_location": ("sc:Text", False),
        "image_description": ("sc:Text", False),
        "image_uncanny_description": ("sc:Text", False),
        "entities": ("sc:Text", True),
        "questions": ("sc:Text", True),
        "caption_choices": ("sc:Text", True),
        "winner_source": ("sc:Text", False),
        "label": ("sc:Text", False),
        "n_tokens_label": ("sc:Integer", False),
        "instance_id": ("sc:Text", False),
        "from_description": ("sc:Text", False),
        "canary": ("sc:Text", False),
    }
    told = {each["@id"]: each["description"] for each in found["recordSet"]}
    assert (
        told["matching/block0"] == "The 18 rows of matching/block0.parquet: test of matching, validation of matching_4."
    )


def test_objects_in_a_column_have_sub_fields(tmp_path: Path) -> None:
    found = read(sample("mock", tmp_path))
    of_comedy = fields(found, "comedy_detecting/test")
    assert of_comedy["dialogue"] == ({"speaker": "sc:Text", "text": "sc:Text"}, True)
    assert of_comedy["caption"] == ("sc:Text", False)  # none has one


@pytest.mark.parametrize("name", datasets_cards.names())
def test_ids_are_distinct_and_sources_are_files(name: str) -> None:
    found = croissant(datasets_cards.folder(name), {})
    files = [each["@id"] for each in found["distribution"]]
    columns = [field for records in found["recordSet"] for field in records["field"]]
    ids = [*files, *(each["@id"] for each in (*found["recordSet"], *columns))]
    assert len(set(ids)) == len(ids)
    parts = [part for field in columns for part in field.get("subField", [field])]
    assert {part["source"]["fileObject"]["@id"] for part in parts} <= set(files)


def test_it_is_renewed_with_what_was_known_of_its_making(corpus: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(corpus, tmp_path / "copy")
    (copy / "more.txt").write_text(TEXT, encoding="utf-8")
    renew(copy)
    before, after = read(corpus), read(copy)
    assert [each["@id"] for each in after["distribution"] if each not in before["distribution"]] == ["more.txt"]
    assert {**after, "distribution": before["distribution"]} == before
    renew(tmp_path)
    assert not (tmp_path / FILE).exists()


def test_a_folder_without_a_card_is_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Puns\n\nMany.\n", encoding="utf-8")
    with pytest.raises(BadInput, match="has no front matter and first paragraph"):
        write_croissant(tmp_path)


def test_mlcommons_library_finds_no_error_and_reads_the_rows(corpus: Path, tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant")
    for folder in (corpus, sample("mock", tmp_path)):
        dataset = mlcroissant.Dataset(jsonld=str(folder / FILE))
        assert not dataset.metadata.ctx.issues.errors
        for records in dataset.metadata.record_sets[::7]:
            assert list(dataset.records(records.id))

"""`humor-tasks describe`: a dataset made from a model's answers, whole, once, and by both harnesses readable."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from inspect_ai.log import read_eval_log
from standins import commands
from standins.bad_rows import dataset_folder, row
from standins.corpus import make_hub_repo
from standins.hub_client import hub_client
from standins.mock_rows import mock_folder
from standins.mock_rows import row as mock_row
from standins.mock_sources import pictures as mock_pictures
from standins.seeing import ASKED, Seer, said_of
from standins.tiny_clip import drawing, encoded

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.benchmarks.caption_contest.rows import described_row, read_parts
from humor_tasks.benchmarks.mock.describing import DESCRIBING
from humor_tasks.cli import main
from humor_tasks.rows import catalogue, described_by, open_rows
from humor_tasks.rows.canary import marked
from humor_tasks.rows.descriptions import QUESTIONS, Description
from humor_tasks.rows.pins import DATASETS
from humor_tasks.studies.people.items import read_pairs
from humor_tasks.testing import ChatServer, HubServer, text_of

MODEL = "openai-api/seer/eye"


@pytest.fixture
def seer(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Seer, ChatServer]]:
    seer = Seer()
    with ChatServer(seer) as server:
        monkeypatch.setenv("SEER_API_KEY", "not a key")
        monkeypatch.setenv("SEER_BASE_URL", server.url)
        yield seer, server


def describe(output: Path, dataset: str, *more: str, model: str = MODEL) -> str:
    arguments = ["describe", "--model", model, "--dataset", dataset, "-o", str(output), *more]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    return done.output if done.exit_code == 0 else f"failed {done.exit_code}: {' '.join(done.output.split())}"


def one_task(split: str = "test") -> list[str]:
    return ["--task", "matching", "--fold", "0", "--split", split]


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_every_row_of_the_sample_is_described(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    out = tmp_path / "described"
    assert "625 rows, 25 pictures described by openai-api/seer/eye" in describe(out, "sample")
    assert set(seer[0].asked.values()) == {1}
    assert len(seer[0].asked) == 25 * 4
    for name, fold, split in (("matching", 0, "test"), ("ranking", 3, "validation"), ("explanation", 4, "train")):
        shown = load(name, dataset="sample", setting="pixels", fold=fold, split=split).records
        made = load(name, dataset=str(out), fold=fold, split=split)
        assert made.data.provenance["described"]["asked"]["model"] == MODEL
        for before, after in zip(shown, made.records, strict=True):
            assert (before.id, before.choices, before.target) == (after.id, after.choices, after.target)
            assert (before.cluster, before.groups) == (after.cluster, after.groups)
            assert before.picture
            mark = before.picture.sha256()[:6]
            said = {"location": f"In room {mark}.", "description": f"A man with number {mark} waits."}
            said |= {"uncanny": f"He is {mark}.", "entities": f"Room {mark}, Waiting, beer"}
            assert {field: after.fields[field] for field in said} == said


@pytest.mark.slow
def test_the_real_rows_keep_every_other_column(seer: tuple[Seer, ChatServer], tmp_path: Path, real_corpus: str) -> None:
    out = tmp_path / "described"
    assert "198 rows, 40 pictures" in describe(out, real_corpus)
    assert len(seer[0].asked) == seer[0].asked.total() == 160
    (part,) = read_parts(real_corpus)
    lines = [json.loads(line) for line in (out / "matching" / "validation.jsonl").read_text().splitlines()]
    words = ("image_location", "image_description", "image_uncanny_description", "entities", "from_description")
    assert len(lines) == 198
    for line, before, sha256 in zip(lines, part.rows.rows, part.pictures, strict=True):
        assert {k: v for k, v in line.items() if k not in (*words, "image")} == {
            k: v for k, v in marked(before).items() if k != "image"
        }
        assert (out / line["image"]).read_bytes() == before["image"].read()
        assert line["image_location"] == said_of(sha256, "location")
    # The layout of the corpus, but for what people asked about the cartoons.
    theirs = open_rows(real_corpus, hub=HUB, cards=Path(), config="matching", split="validation", columns=["questions"])
    assert theirs.rows
    assert {p.name for p in out.iterdir()} == {"README.md", "croissant.json", "images", "matching"}


def test_the_card_says_from_what_and_by_whom(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    out = tmp_path / "described"
    describe(out, "sample", *one_task(), "--instruction", "One sentence: be brief.", "--seed", "7")
    front = yaml.safe_load((out / "README.md").read_text().split("---\n")[1])
    assert front["configs"] == [
        {"config_name": "matching", "data_files": [{"split": "test", "path": "matching/test.jsonl"}]}
    ]
    told = described_by(str(out)) or {}
    assert told == front["described"]
    assert told["asked"] == {
        **{"model": MODEL, "instruction": "One sentence: be brief.", "temperature": 0.0},
        **{"max_tokens": None, "seed": 7},
    }
    assert told["questions"] == dict(QUESTIONS)
    rows = load("matching", dataset="sample", setting="pixels").data.provenance["rows"]
    assert told["source"]["splits"] == ["matching/test"]
    assert len((out / "matching" / "test.jsonl").read_text().splitlines()) == rows
    assert "not a key" not in (out / "README.md").read_text()
    assert all(request["messages"][0]["content"] == "One sentence: be brief." for request in seer[1].requests)
    assert all((request["temperature"], request["seed"]) == (0, 7) for request in seer[1].requests)


@pytest.mark.slow
def test_a_finished_folder_is_not_made_again(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    out = tmp_path / "described"
    describe(out, "sample", *one_task())
    seer[0].asked.clear()
    card = (out / "README.md").stat().st_ino  # a file that is written anew is another one
    assert "is already complete: 10 rows" in describe(out, "sample", *one_task())
    told = describe(out, "sample", *one_task(), "--instruction", "x")
    assert told.startswith("failed 2")
    assert "already exists with other settings (asked); give another -o" in told
    assert "(source)" in describe(out, "sample", *one_task("train"))
    assert not seer[0].asked
    assert (out / "README.md").stat().st_ino == card
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("---\nconfigs: []\n---\n")
    assert "was not made by humor-tasks describe" in describe(tmp_path / "mine", "sample", *one_task())
    # What was answered serves other rows with the same pictures.
    describe(tmp_path / "none", "sample", *one_task())
    (tmp_path / "none.answers.jsonl").replace(tmp_path / "other.answers.jsonl")
    seer[0].asked.clear()
    assert "10 rows, 5 pictures" in describe(tmp_path / "other", "sample", "--task", "ranking", *one_task()[2:])
    assert not seer[0].asked


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_unusable_answers_are_told_and_filled_or_asked_for_again(
    seer: tuple[Seer, ChatServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Seer.__call__
    sorry = "I'm sorry, but I can't help with describing people in this image."
    odd = {"uncanny": "\u200b\x13", "entities": sorry, "location": "<think>Where is it?"}

    def dumb(self: Seer, messages: Any) -> Any:
        said = real(self, messages)
        name = str(ASKED.get(text_of(messages[-1])))
        if name == "description":
            return {"message": {"role": "assistant", "content": "A picture of a"}, "finish_reason": "length"}
        return odd.get(name, said)

    with monkeypatch.context() as patched:
        patched.setattr(Seer, "__call__", dumb)
        told = describe(tmp_path / "d", "sample", *one_task())
        for of_kind in (
            "5 empty answers: 'What's unusual about this image?' about images/9001.png",
            "5 refused answers: 'What entities are there?' about images/9001.png",
            "5 cut-off answers: 'Describe this image.' about images/9001.png",
            "5 thinking-only answers: 'Where does this take place?' about images/9001.png",
            "a higher --max-tokens, a replacement with --unanswered TEXT",
        ):
            assert of_kind in told
        assert not (tmp_path / "d").exists()
        seer[0].asked.clear()
        told = describe(tmp_path / "d", "sample", *one_task(), "--unanswered", "Nothing.")
        assert "10 rows" in told
        assert "Replaced by --unanswered: 5 empty answers" in told
        assert not seer[0].asked
    records = load("matching", dataset=str(tmp_path / "d")).records
    assert {(r.fields["uncanny"], r.fields["description"], r.fields["entities"]) for r in records} == {
        ("Nothing.", "Nothing.", "")
    }
    (tmp_path / "d.answers.jsonl").replace(tmp_path / "again.answers.jsonl")
    assert "10 rows" in describe(tmp_path / "again", "sample", *one_task())
    assert len(seer[0].asked) == 20
    assert all(
        record.fields["uncanny"] != "Nothing." for record in load("matching", dataset=str(tmp_path / "again")).records
    )


@pytest.mark.slow
def test_what_a_killed_writer_left_is_no_hindrance(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    (tmp_path / f".d.{0:032x}" / "images").mkdir(parents=True)
    (tmp_path / f".d.{0:032x}" / "README.md").write_text("half")
    (tmp_path / "d").mkdir()  # empty: made by the user
    assert "10 rows" in describe(tmp_path / "d", "sample", *one_task())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "d.answers.jsonl"]
    (tmp_path / "link").symlink_to(tmp_path / "far")
    assert "far: 10 rows" in describe(tmp_path / "link", "sample", *one_task())
    assert "far: is already complete" in describe(tmp_path / "link", "sample", *one_task())
    (tmp_path / "file").write_text("mine")
    assert "was not made by humor-tasks describe" in describe(tmp_path / "file", "sample", *one_task())


def bad_folder(place: Path, **second: Any) -> str:
    dataset_folder(place, [row(image="good.png"), row(instance_id="m2", **second)], "matching_from_pixels")
    (place / "good.png").write_bytes(encoded(drawing(0)))
    (place / "bad.png").write_bytes(encoded(drawing(1))[:300])
    (place / "text.png").write_text("no picture at all")
    return str(place)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"image": "bad.png"}, "Picture bad.png, row 1 (instance_id m2) of matching_from_pixels/test"),
        ({"image": "text.png"}, "Picture text.png, row 1 (instance_id m2)"),
        ({"image": None}, "row 1 (instance_id m2) of matching_from_pixels/test"),
        ({"image": "gone.png"}, "there is no picture file 'gone.png'"),
        ({"image": "../x.png"}, "leaves the dataset folder"),
    ],
)
def test_a_picture_that_cannot_be_described_is_named_before_anything_is_asked(
    seer: tuple[Seer, ChatServer], tmp_path: Path, second: dict[str, Any], message: str
) -> None:
    told = describe(tmp_path / "d", bad_folder(tmp_path / "rows", **second))
    assert told.startswith("failed 2")
    assert message in told
    assert not seer[0].asked
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "more", "message"),
    [
        ("sample", ["--task", "matchin"], "there is no 'matchin'; choose from matching, ranking, explanation"),
        ("sample", ["--fold", "5"], "fold: there is no '5'"),
        ("sample", ["--split", "tset"], "Did you mean 'test'"),
        ("sample", ["--temperature", "warm"], "temperature must be a number of at least 0 or none, not 'warm'"),
        ("sample", ["--temperature", "nan"], "temperature must be a number of at least 0 or none, not nan"),
        ("sample", [*one_task(), "--temperature=-1"], "temperature must be a number of at least 0 or none, not -1."),
        ("sample", ["--revision", "main"], "revision=main is for hub datasets"),
        ("nowhere", [], "is neither 'sample'"),
        ("sample", ["-o", "out[1]"], "cannot read a folder with [ in its path; give another -o"),
    ],
)
def test_what_cannot_be_described(tmp_path: Path, dataset: str, more: list[str], message: str) -> None:
    assert message in describe(tmp_path / "d", dataset, *more, model="mockllm/model")
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_without_pictures_says_what_it_has(real_corpus: str, tmp_path: Path) -> None:
    told = describe(tmp_path / "d", real_corpus, "--task", "ranking", model="mockllm/model")
    assert "there are no rows with pictures. They are expected in the configs ranking_from_pixels" in told
    assert "the dataset's configs are explanation, matching, matching_from_pixels, ranking" in told


@pytest.mark.slow
def test_a_hub_dataset_is_described_at_one_commit(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    repository = make_hub_repo(tmp_path / "repository", rows=3, side=8)
    with HubServer() as hub:
        commit = hub.add(HUB, repository, commit=DATASETS[HUB])
        with hub_client(HF_ENDPOINT=hub.endpoint, HF_HOME=str(tmp_path / "home")):
            assert "3 rows, 3 pictures" in describe(tmp_path / "d", HUB, "--split", "test")
    assert (described_by(str(tmp_path / "d")) or {})["source"]["revision"] == commit
    assert load("matching", dataset=str(tmp_path / "d")).records[0].fields["location"].startswith("In room")


def test_a_catalogue_lists_configs_splits_and_columns(real_corpus: str) -> None:
    found = catalogue(real_corpus, hub=HUB, cards=Path(), wanted=lambda name: name == "ranking")
    assert found.configs[:3] == ("explanation", "matching", "matching_from_pixels")
    assert found.offers["ranking"].splits == ("train", "validation")
    assert {"winner_source", "label"} <= set(found.offers["ranking"].columns)
    assert (list(found.offers), found.revision) == (["ranking"], None)


def test_rows_of_another_schema_keep_what_they_have() -> None:
    made = described_row({"image": 1, "other": [1]}, "images/a.png", Description("a", "b", "c", ("D e",)))
    assert list(made) == [
        *("image", "image_location", "image_description", "image_uncanny_description", "entities", "other"),
        "from_description",
    ]
    assert made["entities"] == ["https://en.wikipedia.org/wiki/D_e"]


# ---- in both harnesses ----------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_both_harnesses_run_on_what_was_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seer = Seer()
    with ChatServer(seer) as server:
        for service in ("SEER", "OPENAI"):
            monkeypatch.setenv(f"{service}_API_KEY", "x")
        monkeypatch.setenv("SEER_BASE_URL", server.url)
        monkeypatch.chdir(tmp_path)
        commands.humor_tasks("describe", "--model", MODEL, "--dataset", "sample", "-o", "described/", *one_task())
        inspect = ["eval", "humor_tasks/matching", "--model", MODEL, "-T", "dataset=described", "--log-dir", "l"]
        commands.inspect(*inspect, cwd=tmp_path)
        first = sorted(text_of(messages[-1]) for messages in seer.other)
        seer.other.clear()
        arguments = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None"
        lm_eval = ["--tasks", "nyc_matching_gen", "--model", "local-chat-completions", "--model_args"]
        lm_eval += [arguments, "--apply_chat_template", "--metadata", "dataset=described", "--output_path", "out"]
        commands.lm_eval(*lm_eval, cwd=tmp_path)
        second = sorted(text_of(messages[-1]) for messages in seer.other)
    assert first == second
    assert len(first) == 10
    assert all("scene location: In room" in text for text in first)
    (log,) = (tmp_path / "l").glob("*.eval")
    about = (read_eval_log(str(log)).eval.metadata or {})["source"]
    assert about["described"]["asked"]["model"] == MODEL
    (results,) = (tmp_path / "out").rglob("results_*.json")
    told = json.loads(results.read_text())["configs"]["nyc_matching_gen"]["metadata"]["source"]["described"]
    assert told == about["described"]


def test_a_folder_of_mock_is_described_but_for_what_people_described(
    seer: tuple[Seer, ChatServer], tmp_path: Path
) -> None:
    """Annotated, described and checked: two pictures by people, two by the model, one of them corrected."""
    source, known, out = tmp_path / "mock", tmp_path / "known.json", tmp_path / "out"
    mock_pictures(source / "media", ["m1", "m2", "m3", "m4"])
    cells = [mock_row("cartoon", "matching", id=f"r{i}", media_id=f"m{i}", media=f"media/m{i}.jpg", description=told)
             for i, told in ((1, "An oven burns."), (2, None), (3, None), (4, None))]  # fmt: skip
    mock_folder(source, "cartoon", "matching", cells)
    mock_folder(source, "comedy", "detecting", [mock_row("comedy", "detecting", description=None)])
    known.write_text(json.dumps({"m2": "By a person."}))
    part = tmp_path / "part"
    assert "2 rows with a description" in describe(part, str(source), "--known", str(known), "--partly")
    described = DESCRIBING.open(dataset=str(part), scene="cartoon").records
    assert [record.target for record in described] == ["An oven burns.", "By a person."]
    told = describe(out, str(source), "--known", str(known))
    assert "4 rows with a description; of 4 pictures 2 by openai-api/seer/eye, 2 as given." in told
    assert seer[1].requests[0]["messages"][-1]["content"][-1]["text"] == "Describe this image."
    assert len(seer[1].requests) == 2
    rows = [json.loads(line) for line in (out / "cartoon_matching" / "test.jsonl").read_text().splitlines()]
    texts = [row["description"] for row in rows]
    assert texts[:2] == ["An oven burns.", "By a person."]
    assert all(re.fullmatch(r"A man with number \w{6} waits\.", text) for text in texts[2:])
    assert [row | {"description": None} for row in rows] == [row | {"description": None} for row in cells]
    assert (
        load("mock_matching", dataset=str(out), scene="cartoon", input="description").records[3].fields["description"]
    )
    assert (out / "comedy_detecting" / "test.jsonl").read_bytes() == (
        source / "comedy_detecting" / "test.jsonl"
    ).read_bytes()
    items = tmp_path / "items.jsonl"
    done = CliRunner().invoke(main, ["people", "items", "literal", str(out), "-o", str(items)])
    assert (done.exit_code, [item.draft["description"] for item in read_pairs(items)]) == (0, texts), done.output
    known.write_text(json.dumps({"m4": "Corrected."}))
    assert "4 as given" in describe(tmp_path / "checked", str(out), "--known", str(known))
    known.write_text(json.dumps({"m9": "Nobody."}))
    assert "--known: 1 media_id: m9 of no picture here" in describe(tmp_path / "x", str(out), "--known", str(known))
    assert "exists already" in describe(out, str(source))
    assert "--fold: a folder of MOCK is described as a whole" in describe(tmp_path / "x", str(source), "--fold", "0")
    assert "are for a folder of MOCK" in describe(tmp_path / "x", "sample", "--scene", "post")
    (source / "media" / "elsewhere.jpg").symlink_to(known)
    assert "'media/elsewhere.jpg' leaves the dataset folder" in describe(tmp_path / "x", str(source))
    assert not (tmp_path / "x").exists()


def test_a_model_describes_a_part_of_a_folder_of_mock(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    """The paper's 1,410 posts; a person corrects them, and a fine-tuned model describes the others."""
    source = tmp_path / "mock"
    mock_pictures(source / "media", [f"m{i}" for i in range(8)])
    cells = [mock_row("post", "matching", id=f"r{i}", media_id=f"m{i}", media=f"media/m{i}.jpg", description=None)
             for i in range(8)]  # fmt: skip
    cells[0]["description"] = "By a person."
    mock_folder(source, "post", "matching", cells)

    def part(name: str, *more: str) -> list[str]:
        told = describe(tmp_path / name, str(source), "--scene", "post", "--size", "3", *more)
        assert "4 rows with a description; of 8 pictures 3 by openai-api/seer/eye, 1 as given, 4 without." in told
        rows = [
            json.loads(line) for line in (tmp_path / name / "post_matching" / "test.jsonl").read_text().splitlines()
        ]
        return [row["media_id"] for row in rows if row["description"]]

    first = part("first")
    assert len(seer[1].requests) == 3
    assert part("again") == first != part("other", "--sample-seed", "3")
    assert "m0" in first
    rest = describe(tmp_path / "rest", str(tmp_path / "first"), "--scene", "post", "--size", "99")
    assert "8 rows with a description; of 8 pictures 4 by openai-api/seer/eye, 4 as given." in rest
    assert "give one of them" in describe(tmp_path / "x", str(source), "--partly", "--size", "3")
    assert "are for a folder of MOCK" in describe(tmp_path / "x", "sample", "--size", "3")

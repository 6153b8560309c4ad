"""Pictures put into words: a dataset made from a model's answers, whole, once, and by both harnesses readable."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from standins.bad_rows import dataset_folder, row
from standins.chat import ChatServer, chat_server, text_of
from standins.corpus import make_hub_repo
from standins.hub import HubStandIn
from standins.seeing import ASKED, Seer, said_of
from standins.tiny_clip import drawing, encoded

from humor_tasks import load
from humor_tasks.benchmarks._nycc import HUB, entity_name
from humor_tasks.cli import main
from humor_tasks.described.answers import Answers
from humor_tasks.described.rows import described_row, distinct, from_description, link_of, read_parts
from humor_tasks.errors import BadInput
from humor_tasks.images import Picture
from humor_tasks.models.descriptions import QUESTIONS, Description, entity_names
from humor_tasks.on_inspect.describer import Asking, describe_rows
from humor_tasks.on_inspect.opening import identity, open_model
from humor_tasks.sources import catalogue, described_by, open_rows

MODEL = "openai-api/seer/eye"


def test_the_four_questions_are_the_published_ones() -> None:
    assert list(QUESTIONS.items()) == [
        ("location", "Where does this take place?"),
        ("description", "Describe this image."),
        ("uncanny", "What's unusual about this image?"),
        ("entities", "What entities are there?"),
    ]


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("cat, dog, office worker", ("cat", "dog", "office worker")),
        ("- Cat\n- Dog\n\n* Desk", ("Cat", "Dog", "Desk")),
        ("1. Cat\n2) Dog\n(3) Desk", ("Cat", "Dog", "Desk")),
        ("cat; dog, and  desk.", ("cat", "dog", "desk")),
        ("cat, cat", ("cat",)),
        ("Andrew, orange", ("Andrew", "orange")),
        ("24 Hours", ("24 Hours",)),
        (" ,, \n", ()),
        ("", ()),
    ],
)
def test_entities_in_an_answer(answer: str, names: tuple[str, ...]) -> None:
    assert entity_names(answer) == names


def test_a_description_is_one_line_each() -> None:
    said = {"location": " a\nbar ", "description": "x", "uncanny": "y", "entities": ""}
    assert Description.of(said, "here") == Description("a bar", "x", "y", ())
    for name in ("location", "description", "uncanny"):
        with pytest.raises(BadInput, match=f"here: there is no answer to '{QUESTIONS[name][:8]}"):
            Description.of(said | {name: " \n"}, "here")


@given(st.text(min_size=1).map(lambda s: " ".join(s.replace("_", " ").split())).filter(bool))
def test_a_links_name_is_the_entity(name: str) -> None:
    link = link_of(name)
    assert link.startswith("https://en.wikipedia.org/wiki/")
    assert link.isascii()
    assert entity_name(link) == name.replace("(disambiguation)", "").strip()


@pytest.mark.parametrize("config", ["matching", "ranking", "explanation"])
def test_from_description_is_the_corpus_own(real_corpus: str, config: str) -> None:
    columns = ("image_location", "image_description", "image_uncanny_description", "entities", "caption_choices")
    where: Any = {"hub": HUB, "cards": Path(), "config": config, "split": "validation"}
    rows = open_rows(real_corpus, columns=(*columns, "from_description"), **where).rows
    assert len(rows) > 100
    for found in rows:
        assert from_description(found, found["caption_choices"]) == found["from_description"]


# ---- answers --------------------------------------------------------------------------------------


def test_answers_outlive_a_kill_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.jsonl"
    kept = Answers(path, {"model": "m", "seed": None})
    kept.keep("p1", "q", "ünïcode \ud800 and\nlines")
    kept.keep("p2", "q", "")
    whole = path.read_bytes()
    for cut in range(1, 40):
        path.write_bytes(whole[:-cut])
        again = Answers(path, {"seed": None, "model": "m"})
        assert again.get("p1", "q") == "ünïcode \ud800 and\nlines"
        assert again.get("p2", "q") is None
        again.keep("p2", "q", "")
        assert path.read_bytes() == whole
        assert Answers(path, {"model": "m", "seed": None}).get("p2", "q") == ""


def test_answers_of_another_model_are_left_alone(tmp_path: Path) -> None:
    Answers(tmp_path / "a", {"model": "m"}).keep("p", "q", "mine")
    other = Answers(tmp_path / "a", {"model": "n"})
    assert other.get("p", "q") is None
    other.keep("p", "q", "theirs")
    assert Answers(tmp_path / "a", {"model": "m"}).get("p", "q") == "mine"


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"picture": 1, "question": "q", "answer": "a", "asked": {}}', "null"]
)
def test_a_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a").write_text(f"\n{line}\n")
    with pytest.raises(BadInput, match=r"a, line 2: is no answer .*Remove the line"):
        Answers(tmp_path / "a", {})


@pytest.mark.parametrize("foreign", [b"[1, 2]", b"a note of mine", b'{"picture": 1}', b"\xff\x00"])
def test_a_file_that_is_not_ours_is_left_as_it_is(tmp_path: Path, foreign: bytes) -> None:
    for content in (foreign, b"\n" + foreign):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(BadInput, match=r"a: ends in what was not kept here\. Remove its last line, or the file"):
            Answers(tmp_path / "a", {})
        assert (tmp_path / "a").read_bytes() == content


def test_two_writers_of_one_file_are_told(tmp_path: Path) -> None:
    first, second = Answers(tmp_path / "a", {}), Answers(tmp_path / "a", {})
    first.keep("p", "q", "a")
    with pytest.raises(BadInput, match="was changed by another program"):
        second.keep("p", "q", "b")
    with pytest.raises(BadInput, match="cannot be used"):
        Answers(tmp_path, {})


# ---- asking ---------------------------------------------------------------------------------------


def saying(text: str, stop: Any = "stop") -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text, stop)
    output.usage = ModelUsage()  # or Inspect would count tokens, by a file from the web
    return output


def pictures(n: int) -> dict[str, Picture]:
    def one(i: int) -> Picture:
        return Picture(f"row {i}", None, lambda: encoded(drawing(i)))

    return {f"p{i}": one(i) for i in range(n)}


def test_any_questions_about_any_pictures() -> None:
    asked = []

    def answer(messages: Any, *rest: Any) -> ModelOutput:
        asked.append((messages, rest[-1]))
        return saying(f" said of {messages[-1].text} ")

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    kept: list[tuple[str, str, str]] = []
    how = Asking("Be brief.", temperature=0.5, max_tokens=9, seed=3)
    known = {("p0", "b?"): "known"}
    found = describe_rows(
        pictures(2), ["a?", "b?"], model, how, lambda *key: known.get(key), lambda *line: kept.append(line)
    )
    assert found == {"p0": {"b?": "known", "a?": "said of a?"}, "p1": {"a?": "said of a?", "b?": "said of b?"}}
    assert sorted(kept) == [("p0", "a?", "said of a?"), ("p1", "a?", "said of a?"), ("p1", "b?", "said of b?")]
    messages, config = asked[0]
    assert [message.role for message in messages] == ["system", "user"]
    assert (config.temperature, config.max_tokens, config.seed) == (0.5, 9, 3)


def test_half_a_character_at_the_end_is_replaced() -> None:
    model = get_model("mockllm/model", custom_outputs=lambda *_: saying("a fish \ud83d"), memoize=False)
    assert describe_rows(pictures(1), ["a?"], model) == {"p0": {"a?": "a fish \ufffd"}}


@pytest.mark.parametrize("stop", ["content_filter", "stop"])
def test_what_is_held_back_is_no_answer(stop: Any) -> None:
    output = saying("I cannot look at it." if stop == "content_filter" else "", stop)
    model = get_model("mockllm/model", custom_outputs=lambda *_: output, memoize=False)
    assert describe_rows(pictures(1), ["a?"], model) == {"p0": {"a?": ""}}


def test_a_request_that_fails_keeps_the_others() -> None:
    def answer(messages: Any, *rest: Any) -> ModelOutput:
        if messages[-1].text == "bad?":
            raise RuntimeError("no such\nmodel.")
        return saying("fine")

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    kept: list[tuple[str, ...]] = []
    message = r"mockllm/model: 'bad\?' about row 0: RuntimeError: no such model. \d+ answers are kept; the same command"
    with pytest.raises(BadInput, match=message):
        describe_rows(pictures(3), ["good?", "bad?"], model, keep=lambda *line: kept.append(line))
    assert ("p0", "good?", "fine") in kept


def test_a_models_arguments_are_told_and_its_secrets_are_not() -> None:
    headers = 'headers={"Authorization": "Bearer x", "X-Team": "laughs"}'
    others = ["tokenizer=t", "version=2024-06-01", "proxy=http://me:x@there/", "cookies=c", "none=null"]
    model = open_model("mockllm/model", ["api_token=x", "flavour=3", headers, *others])
    kept = {"tokenizer": "t", "version": "2024-06-01", "proxy": "http://there/", "none": None}
    assert identity(model) == {"model_args": {"flavour": 3, "headers": {"X-Team": "laughs"}, **kept}}
    assert Asking(seed=1).of(model)["seed"] == 1
    for name, argument, message in (
        ("nobody/x", "a=1", "model nobody/x: "),
        ("mockllm/model", "flavour", "-M flavour: has no value; give it as -M flavour=VALUE"),
        ("mockllm/model", "a={", "model mockllm/model: while parsing a flow node .*"),
    ):
        with pytest.raises(BadInput, match=message) as problem:
            open_model(name, [argument])
        assert "\n" not in str(problem.value)


# ---- the command ----------------------------------------------------------------------------------


@pytest.fixture
def seer(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Seer, ChatServer]]:
    seer = Seer()
    with chat_server(seer) as server:
        monkeypatch.setenv("SEER_API_KEY", "not a key")
        monkeypatch.setenv("SEER_BASE_URL", server.url)
        yield seer, server


def describe(output: Path, dataset: str, *more: str, model: str = MODEL) -> str:
    arguments = ["describe", "--model", model, "--dataset", dataset, "-o", str(output), *more]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    return done.output if done.exit_code == 0 else f"failed {done.exit_code}: {' '.join(done.output.split())}"


def one_task(split: str = "test") -> list[str]:
    return ["--task", "matching", "--fold", "0", "--split", split]


@pytest.mark.slow
def test_every_row_of_the_sample_is_described(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    out = tmp_path / "described"
    assert "625 rows, 25 pictures described by openai-api/seer/eye" in describe(out, "sample")
    assert set(seer[0].asked.values()) == {1}
    assert len(seer[0].asked) == 25 * 4
    for name in ("matching", "ranking", "explanation"):
        for fold, split in ((0, "test"), (3, "validation"), (4, "train")):
            shown = load(name, dataset="sample", setting="pixels", fold=fold, split=split).records
            made = load(name, dataset=str(out), fold=fold, split=split)
            assert made.data.provenance["described"]["asked"]["model"] == MODEL
            for before, after in zip(shown, made.records, strict=True):
                assert (before.id, before.choices, before.target) == (after.id, after.choices, after.target)
                assert (before.cluster, before.groups) == (after.cluster, after.groups)
                assert before.picture
                mark = before.picture.sha256()[:6]
                assert after.fields["location"] == f"In room {mark}."
                assert after.fields["description"] == f"A man with number {mark} waits."
                assert after.fields["uncanny"] == f"He is {mark}."
                assert after.fields["entities"] == f"Room {mark}, Waiting, beer"


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
            k: v for k, v in before.items() if k != "image"
        }
        assert (out / line["image"]).read_bytes() == before["image"].read()
        assert line["image_location"] == said_of(sha256, "location")
    # The layout of the corpus, but for what people asked about the cartoons.
    theirs = open_rows(real_corpus, hub=HUB, cards=Path(), config="matching", split="validation", columns=["questions"])
    assert theirs.rows
    assert {p.name for p in out.iterdir()} == {"README.md", "images", "matching"}


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
    card = (out / "README.md").stat().st_mtime_ns
    assert "is finished already: 10 rows" in describe(out, "sample", *one_task())
    told = describe(out, "sample", *one_task(), "--instruction", "x")
    assert told.startswith("failed 2")
    assert "is finished, and was made otherwise (asked); give another -o" in told
    assert "(source)" in describe(out, "sample", *one_task("train"))
    assert not seer[0].asked
    assert (out / "README.md").stat().st_mtime_ns == card
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("---\nconfigs: []\n---\n")
    assert "was not made by humor-tasks describe" in describe(tmp_path / "mine", "sample", *one_task())
    # What was answered serves other rows with the same pictures.
    describe(tmp_path / "none", "sample", *one_task())
    (tmp_path / "none.answers.jsonl").replace(tmp_path / "other.answers.jsonl")
    seer[0].asked.clear()
    assert "10 rows, 5 pictures" in describe(tmp_path / "other", "sample", "--task", "ranking", *one_task()[2:])
    assert not seer[0].asked


def test_empty_answers_are_told_or_filled(
    seer: tuple[Seer, ChatServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Seer.__call__

    def dumb(self: Seer, messages: Any) -> str:
        said = real(self, messages)
        return " " if ASKED.get(text_of(messages[-1])) in ("uncanny", "entities") else said

    monkeypatch.setattr(Seer, "__call__", dumb)
    told = describe(tmp_path / "d", "sample", *one_task())
    assert "5 empty answers: 'What's unusual about this image?' about images/9001.png" in told
    assert "--unanswered TEXT" in told
    assert not (tmp_path / "d").exists()
    seer[0].asked.clear()
    assert "10 rows" in describe(tmp_path / "d", "sample", *one_task(), "--unanswered", "Nothing.")
    assert not seer[0].asked
    records = load("matching", dataset=str(tmp_path / "d")).records
    assert {(r.fields["uncanny"], r.fields["entities"]) for r in records} == {("Nothing.", "")}


def test_what_a_killed_writer_left_is_no_hindrance(seer: tuple[Seer, ChatServer], tmp_path: Path) -> None:
    (tmp_path / ".d.part-0123" / "images").mkdir(parents=True)
    (tmp_path / ".d.part-0123" / "README.md").write_text("half")
    (tmp_path / "d").mkdir()  # empty: made by the user
    assert "10 rows" in describe(tmp_path / "d", "sample", *one_task())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d", "d.answers.jsonl"]
    (tmp_path / "link").symlink_to(tmp_path / "far")
    assert "far: 10 rows" in describe(tmp_path / "link", "sample", *one_task())
    assert "far: is finished already" in describe(tmp_path / "link", "sample", *one_task())
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


@pytest.mark.parametrize(
    ("dataset", "more", "message"),
    [
        ("sample", ["--task", "matchin"], "there is no 'matchin'; choose from matching, ranking, explanation"),
        ("sample", ["--fold", "5"], "fold: there is no '5'"),
        ("sample", ["--split", "tset"], "Did you mean 'test'"),
        ("sample", ["--temperature", "warm"], "--temperature is 'warm'"),
        ("sample", ["--temperature", "nan"], "temperature is nan; give a number from 0 up"),
        ("sample", ["--temperature=-1"], "temperature is -1.0"),
        ("sample", ["--revision", "main"], "revision=main is for hub datasets"),
        ("nowhere", [], "is neither 'sample'"),
        ("sample", ["-o", "out[1]"], "reads no folder with [ in its path; give another -o"),
    ],
)
def test_what_cannot_be_described(tmp_path: Path, dataset: str, more: list[str], message: str) -> None:
    assert message in describe(tmp_path / "d", dataset, *more, model="mockllm/model")
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_without_pictures_says_what_it_has(real_corpus: str, tmp_path: Path) -> None:
    told = describe(tmp_path / "d", real_corpus, "--task", "ranking", model="mockllm/model")
    assert "there are no rows with pictures. They would be in ranking_from_pixels" in told
    assert "its configs are explanation, matching, matching_from_pixels, ranking" in told


@pytest.mark.slow
def test_a_hub_dataset_is_described_at_one_commit(
    seer: tuple[Seer, ChatServer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_hub_repo(tmp_path / "repository", rows=3, side=8)
    with HubStandIn() as hub:
        commit = hub.add(HUB, repository)
        code = "import sys; from humor_tasks.cli import main; main(sys.argv[1:])"
        command = [
            sys.executable,
            "-c",
            code,
            "describe",
            "--model",
            MODEL,
            "-o",
            str(tmp_path / "d"),
            "--split",
            "test",
        ]
        env = os.environ | {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home")}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
    assert "3 rows, 3 pictures" in done.stdout
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


def test_damaged_pictures_of_a_split_are_found_among_the_distinct(tmp_path: Path) -> None:
    parts = read_parts(bad_folder(tmp_path / "rows", image="good.png"))
    assert len(distinct(parts)) == 1
    with pytest.raises(BadInput, match=r"bad\.png"):
        distinct(read_parts(bad_folder(tmp_path / "bad", image="bad.png")))


# ---- killed, and in both harnesses ------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_command_asks_for_the_rest_only(tmp_path: Path, real_corpus: str) -> None:
    seer = Seer(limit=70)
    command = [sys.executable, "-m", "humor_tasks.cli", "describe", "--model", MODEL, "--dataset", real_corpus]
    command += ["-o", str(tmp_path / "described")]
    with chat_server(seer) as server:
        env = os.environ | {"SEER_API_KEY": "x", "SEER_BASE_URL": server.url}
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + 120
        answers = tmp_path / "described.answers.jsonl"
        while not answers.exists() or answers.read_bytes().count(b"\n") < 70:
            assert process.poll() is None, "ended by itself"
            assert time.monotonic() < deadline, "never came to 70"
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "described").exists()
        with answers.open("ab") as file:  # as if the kill had come in the middle of a line
            file.write(b'{"picture": "abc", "que')
        seer.revive()
        done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(seer.asked) == seer.asked.total() == 160
    assert len(load("matching", dataset=str(tmp_path / "described"), split="validation").records) == 198
    assert len(answers.read_text().splitlines()) == 160


@pytest.mark.slow
def test_both_harnesses_run_on_what_was_described(tmp_path: Path) -> None:
    seer = Seer()
    with chat_server(seer) as server:
        env = os.environ | {"SEER_API_KEY": "x", "SEER_BASE_URL": server.url, "OPENAI_API_KEY": "x"}

        def run(*command: str) -> str:
            done = subprocess.run(
                [sys.executable, "-m", *command], env=env, cwd=tmp_path, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
            return done.stdout

        run("humor_tasks.cli", "describe", "--model", MODEL, "--dataset", "sample", "-o", "described/", *one_task())
        run("inspect_ai", "eval", "humor_tasks/matching", "--model", MODEL, "-T", "dataset=described", "--log-dir", "l")
        first = sorted(text_of(messages[-1]) for messages in seer.other)
        seer.other.clear()
        arguments = f"model=m,base_url={server.url}/chat/completions,tokenizer_backend=None"
        lm_eval = ["lm_eval", "--tasks", "nyc_matching_gen", "--model", "local-chat-completions", "--model_args"]
        lm_eval += [arguments, "--apply_chat_template", "--metadata", "dataset=described", "--output_path", "out"]
        run(*lm_eval)
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

"""Pictures put into words: the four questions, answers that are kept, and how a model is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from standins.corpus import write_lines
from standins.tiny_clip import drawing, encoded

from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.benchmarks.caption_contest.released import from_description
from humor_tasks.benchmarks.caption_contest.rows import entity_name, link_of
from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.describe import Answers
from humor_tasks.on_inspect.client import identity, open_model
from humor_tasks.on_inspect.describer import DescriberSettings, describe_rows
from humor_tasks.rows import open_rows
from humor_tasks.rows.descriptions import QUESTIONS, Description, Said, entity_names
from humor_tasks.rows.media.picture import Picture


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
        ("\x13, cat, \u200b", ("cat",)),
        ("", ()),
    ],
)
def test_entities_in_an_answer(answer: str, names: tuple[str, ...]) -> None:
    assert entity_names(answer) == names


def test_a_description_is_one_line_each() -> None:
    said = {"location": " a\nbar ", "description": "x", "uncanny": "y", "entities": ""}
    assert Description.of(said, "here") == Description("a bar", "x", "y", ())
    for name in ("location", "description", "uncanny"):
        for nothing in (" \n", "\x13", "\u200b"):
            with pytest.raises(BadInput, match=f"here: there is no answer to '{QUESTIONS[name][:8]}"):
                Description.of(said | {name: nothing}, "here")


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


def test_answers_outlive_a_kill_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.jsonl"
    kept = Answers(path, {"model": "m", "seed": None})
    kept.keep("p1", "q", Said("ünïcode \ud800 and\nlines"))
    kept.keep("p2", "q", Said("", "empty"))
    whole = path.read_bytes()
    for cut in range(1, 40):
        path.write_bytes(whole[:-cut])
        again = Answers(path, {"seed": None, "model": "m"})
        assert again.get("p1", "q") == Said("ünïcode \ud800 and\nlines")
        assert again.get("p2", "q") is None
        again.keep("p2", "q", Said("", "empty"))
        assert path.read_bytes() == whole
        assert Answers(path, {"model": "m", "seed": None}).get("p2", "q") is None
        assert Answers(path, {"model": "m", "seed": None}, again=False).get("p2", "q") == Said("", "empty")


def test_answers_of_another_model_are_left_alone(tmp_path: Path) -> None:
    Answers(tmp_path / "a", {"model": "m"}).keep("p", "q", Said("mine"))
    other = Answers(tmp_path / "a", {"model": "n"})
    assert other.get("p", "q") is None
    other.keep("p", "q", Said("theirs"))
    assert Answers(tmp_path / "a", {"model": "m"}).get("p", "q") == Said("mine")


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", '{"picture": 1, "question": "q", "answer": "a", "asked": {}}', "null"]
)
def test_a_line_that_is_no_answer_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a").write_text(f"\n{line}\n")
    with pytest.raises(BadInput, match=r"a, line 2: cannot be read .*Remove the line"):
        Answers(tmp_path / "a", {})


@pytest.mark.parametrize("foreign", [b"[1, 2]", b"a note of mine", b'{"picture": 1}', b"\xff\x00"])
def test_a_file_that_is_not_ours_is_left_as_it_is(tmp_path: Path, foreign: bytes) -> None:
    for content in (foreign, b"\n" + foreign):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(
            BadInput, match=r"a: its last line is not one of this file's format\. Remove that line, or the file"
        ):
            Answers(tmp_path / "a", {})
        assert (tmp_path / "a").read_bytes() == content


def test_two_writers_of_one_file_are_told(tmp_path: Path) -> None:
    first, second = Answers(tmp_path / "a", {}), Answers(tmp_path / "a", {})
    first.keep("p", "q", Said("a"))
    with pytest.raises(BadInput, match="was changed by another program"):
        second.keep("p", "q", Said("b"))
    with pytest.raises(BadInput, match="cannot be used"):
        Answers(tmp_path, {})


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
    kept: list[tuple[str, str, Said]] = []
    how = DescriberSettings("Be brief.", temperature=0.5, max_tokens=9, seed=3)
    shown = pictures(2)
    first, second = (picture.identity() for picture in shown.values())
    known = {(first, "b?"): Said("known")}
    found = describe_rows(shown, ["a?", "b?"], model, how, lambda *key: known.get(key), lambda *line: kept.append(line))
    a, b = Said("said of a?"), Said("said of b?")
    assert found == {"p0": {"b?": Said("known"), "a?": a}, "p1": {"a?": a, "b?": b}}
    assert sorted(kept) == sorted([(first, "a?", a), (second, "a?", a), (second, "b?", b)])
    messages, config = asked[0]
    assert [message.role for message in messages] == ["system", "user"]
    assert (config.temperature, config.max_tokens, config.seed) == (0.5, 9, 3)


def test_half_a_character_at_the_end_is_replaced() -> None:
    model = get_model("mockllm/model", custom_outputs=lambda *_: saying("a fish \ud83d"), memoize=False)
    assert describe_rows(pictures(1), ["a?"], model) == {"p0": {"a?": Said("a fish \ufffd")}}


REFUSAL = "I'm sorry, but I can't help with describing people in this image."


@pytest.mark.parametrize(
    ("reply", "stop", "said"),
    [
        ("I cannot look at it.", "content_filter", Said("I cannot look at it.", "refused")),
        (REFUSAL, "stop", Said(REFUSAL, "refused")),
        (f"<think>People?</think>{REFUSAL}", "stop", Said(REFUSAL, "refused")),
        ("", "stop", Said("", "empty")),
        ("\u200b\x13", "stop", Said("\u200b\x13", "empty")),
        ("A bear at a desk and", "max_tokens", Said("A bear at a desk and", "cut off")),
        ("A bear", "model_length", Said("A bear", "cut off")),
        ("<think>A cat? Then", "stop", Said("", "only thinking")),
        ("<think>A cat?</think>", "stop", Said("", "only thinking")),
        ("<think>A cat?</think>\nA bear dances.", "stop", Said("A bear dances.")),
        ("Nobody can help the bear.", "stop", Said("Nobody can help the bear.")),
    ],
)
def test_what_is_a_description(reply: str, stop: Any, said: Said) -> None:
    model = get_model("mockllm/model", custom_outputs=lambda *_: saying(reply, stop), memoize=False)
    assert describe_rows(pictures(1), ["a?"], model) == {"p0": {"a?": said}}


def test_unusable_answers_of_older_files_are_asked_for_again(tmp_path: Path) -> None:
    lines = {"p1": REFUSAL, "p2": "<think>A cat?", "p3": "", "p4": "A bear.", "p5": "<think>Hm.</think> A cat."}
    texts = [{"picture": name, "question": "q", "answer": text, "asked": {}} for name, text in lines.items()]
    write_lines(tmp_path / "a", texts)
    kept = Answers(tmp_path / "a", {})
    assert {name: kept.get(name, "q") for name in lines} == {
        **dict.fromkeys(("p1", "p2", "p3")),
        **{"p4": Said("A bear."), "p5": Said("A cat.")},
    }


def test_a_picture_may_show_no_entities(tmp_path: Path) -> None:
    question = QUESTIONS["entities"]
    kept = Answers(tmp_path / "a", {})
    for why, missing in (("empty", False), ("refused", True), ("cut off", True)):
        kept.keep("p", question, Said("", why))
        assert (kept.get("p", question) is None) == missing


def test_a_request_that_fails_keeps_the_others() -> None:
    def answer(messages: Any, *rest: Any) -> ModelOutput:
        if messages[-1].text == "bad?":
            raise RuntimeError("no such\nmodel.")
        return saying("fine")

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    kept: list[tuple[str, str, Said]] = []
    message = (
        r"mockllm/model: 'bad\?' about row 0: RuntimeError: no such model. \d+ answers are kept; run the same command"
    )
    shown = pictures(3)
    with pytest.raises(BadInput, match=message):
        describe_rows(shown, ["good?", "bad?"], model, keep=lambda *line: kept.append(line))
    assert (shown["p0"].identity(), "good?", Said("fine")) in kept


def test_a_models_arguments_are_told_and_its_secrets_are_not() -> None:
    headers = 'headers={"Authorization": "Bearer x", "X-Team": "laughs"}'
    others = ["tokenizer=t", "version=2024-06-01", "proxy=http://me:x@there/", "cookies=c", "none=null"]
    model = open_model("mockllm/model", ["api_token=x", "flavour=3", headers, *others])
    kept = {"tokenizer": "t", "version": "2024-06-01", "proxy": "http://there/", "none": None}
    assert identity(model) == {"model_args": {"flavour": 3, "headers": {"X-Team": "laughs"}, **kept}}
    assert DescriberSettings(seed=1).of(model)["seed"] == 1
    for name, argument, message in (
        ("nobody/x", "a=1", "model nobody/x: "),
        ("mockllm/model", "flavour", "-M flavour: has no value; write -M flavour=VALUE"),
        ("mockllm/model", "a={", "model mockllm/model: while parsing a flow node .*"),
    ):
        with pytest.raises(BadInput, match=message) as problem:
            open_model(name, [argument])
        assert "\n" not in str(problem.value)

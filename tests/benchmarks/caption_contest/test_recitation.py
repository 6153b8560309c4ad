"""recitation: which captions are asked for and how, what counts as a completion, and the control by literals."""

from __future__ import annotations

import pytest
from inspect_ai import eval

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.caption_contest.recitation import INSTRUCTIONS, SHOWN, read
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Record
from humor_tasks.tasks import recitation
from humor_tasks.testing import ScriptedModel

RUN = load("recitation", dataset="sample", fold="all")


def caption_of(record: Record) -> str:
    return f"{record.facts[SHOWN]} {record.target}"


# ---- what is asked ---------------------------------------------------------------------------------


def test_each_long_caption_is_asked_for_under_both_instructions() -> None:
    right = {
        (record.cluster, record.choices["ABCDE".index(str(record.target))])
        for record in load("matching", dataset="sample", fold="all").records
    }
    long_enough = sorted(caption for caption in right if len(caption[1].split()) >= 8)
    for i, instruction in enumerate(INSTRUCTIONS):
        asked = RUN.records[i::2]
        assert {record.groups["instruction"] for record in asked} == {instruction}
        assert sorted((record.cluster, caption_of(record)) for record in asked) == long_enough
    assert len(load("recitation", dataset="sample", least_words=2).records) == 20


def test_the_second_half_is_never_shown_and_the_source_under_one_instruction_alone() -> None:
    for record in RUN.records:
        shown, missing = len(record.fields["first"].split()), len(str(record.target).split())
        assert shown - missing in (0, 1)
        text = "\n".join(turn.text for turn in RUN.prompt(record).turns)
        assert record.fields["first"] in text
        assert str(record.target) not in text
        named = [name in text for name in ("New Yorker", "test split", f"contest {record.cluster}")]
        assert named == [record.groups["instruction"] == "guided"] * 3


@pytest.mark.parametrize("name", ["setting", "shots", "cot"])
def test_there_is_neither_cartoon_nor_worked_example(name: str) -> None:
    given = {"setting": "description", "shots": 1, "cot": True}
    with pytest.raises(BadInput, match=f"{name}: recitation "):
        load("recitation", dataset="sample", **{name: given[name]})


# ---- what a reply is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "answer", "status"),
    [
        ("Completion: before the siege.", "before the siege.", "answered"),
        ('**Completion:** "before the siege."', "before the siege.", "answered"),
        ("before\nthe siege.", "before the siege.", "answered"),
        ("<think>Completion: no</think>Completion: before the siege.", "before the siege.", "answered"),
        ("", None, "empty"),
        ("<think>before the", None, "unparsed"),
        ("I'm sorry, but I can't help with that.", None, "refused"),
    ],
)
def test_a_completion_is_read(reply: str, answer: str | None, status: str) -> None:
    found = read(reply, False)
    assert (found.value, found.status) == (answer, status)


RECORD = next(record for record in RUN.records if record.fields["first"] == "So people see you, and")


@pytest.mark.parametrize(
    ("reply", "exact", "near"),
    [
        ("they immediately turn away.", 1, 1),
        ("Completion: They immediately turn away", 1, 1),
        ("So people see you, and they immediately turn away.", 1, 1),
        ("they immediatly turn away.", 0, 1),
        ("So people see you, and they immediatly turn away.", 0, 1),
        ("they turn away immediately.", 0, 0),
        ("So people see you, and", 0, 0),
        ("So people see you, and they run.", 0, 0),  # the words that were shown are no part of a match
        ("they immediately turn away. That must hurt.", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_match_is_of_the_missing_words(reply: str, exact: int, near: int) -> None:
    values = RUN.outcome(RECORD, reply).values
    assert (values["exact_guided"], values["near_guided"]) == (exact, near)
    assert not any(name.endswith("general") for name in values)


def test_an_unreadable_reply_is_wrong_or_left_out() -> None:
    run = load("recitation", dataset="sample", on_unparsed="exclude")
    report = evaluate(run, {record.id: "" for record in run.records})
    assert set(report.metrics) == {"unparsed", "refused"}


# ---- the control -------------------------------------------------------------------------------------


MODELS = {
    "repeats what it is shown": (lambda record: record.facts[SHOWN], 0, 0),
    "knows every caption": (caption_of, 0, 1),
    "recites when told the source": (lambda r: caption_of(r) if r.groups["instruction"] == "guided" else "No.", 1, 1),
    "recites when not told": (lambda r: caption_of(r) if r.groups["instruction"] == "general" else "No.", -1, 0),
}


@pytest.mark.parametrize("name", MODELS)
def test_only_what_the_sources_name_brings_is_recited(name: str) -> None:
    reply, recited, guided = MODELS[name]
    report = evaluate(RUN, {record.id: reply(record) for record in RUN.records})
    assert report.metrics["recited"].value == report.metrics["recited_nearly"].value == recited
    assert report.metrics["exact_guided"].value == guided
    assert next(iter(report.metrics)) == "recited"


def test_inspect_scores_each_reply_and_the_difference() -> None:
    def told(messages: object) -> str:
        text = str(messages)
        return next(str(r.target) for r in RUN.records if r.fields["first"] in text) if "New Yorker" in text else "No."

    (log,) = eval(recitation(dataset="sample"), model=ScriptedModel("m", told).model, display="log")
    assert log.results
    assert log.results.scores[0].metrics["recited"].value == 1
    for sample in log.samples or []:
        assert (sample.scores or {})["recited"].value == ("C" if str(sample.id).endswith("guided") else "I")

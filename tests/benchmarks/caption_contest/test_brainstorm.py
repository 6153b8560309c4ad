"""brainstorm: what is shown and sampled, what a reply is read into; and captions ranked by models of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ContentImage
from standins.judging import says
from standins.logs import metrics

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest.brainstorm import SHOWN, WRITTEN
from humor_tasks.errors import BadInput
from humor_tasks.scorers.fields import items, read_fields
from humor_tasks.studies.captions.files import read_captions
from humor_tasks.tasks import brainstorm
from humor_tasks.testing import ScriptedModel

REPLY = "Concepts: sea; night; therapy\nChosen: sea; therapy\nCaption: Ships avoid me.\nExplanation: They have to."


def brainstorm_log(model: ScriptedModel, **more: Any) -> EvalLog:
    epochs = more.pop("epochs", 1)
    (log,) = eval(brainstorm(**{"dataset": "sample"} | more), model=model.model, epochs=epochs, display="log")
    assert log.status == "success", log.error and log.error.message
    return log


# ---- what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["description", "pixels"])
def test_each_cartoon_once_and_none_of_its_captions(setting: str) -> None:
    found = load("brainstorm", dataset="sample", fold="all", setting=setting)
    told = load("explanation", dataset="sample", fold="all", setting=setting)
    assert sorted({r.cluster for r in told.records}) == sorted(r.cluster for r in found.records)
    for record in found.records:
        prompt = found.prompt(record)
        text = "\n".join(turn.text for turn in prompt.turns)
        assert not any(r.fields["caption"] in text for r in told.records if r.cluster == record.cluster)
        assert not any(r.target in text for r in told.records if r.cluster == record.cluster)
        assert len(prompt.media) == (setting == "pixels")
        assert text.count("\nScene: ") - text.count("\nScene: what") == 9 + (setting == "description")
        if setting == "description":
            assert text.endswith(
                f"Place: {record.fields['location']}\nScene: {record.fields['description']}\n"
                f"Unusual: {record.fields['uncanny']}\n"
                f"Entities: {record.fields['entities']}"
            )


def test_the_packaged_examples_are_nine_of_the_form_they_show() -> None:
    run = load("brainstorm", dataset="sample")
    blocks = run.templates["examples.txt"].split("\n\n")
    assert len(blocks) == 9
    for block in blocks:
        texts = read_fields(block, (*SHOWN, *WRITTEN)).texts
        assert 6 <= len(items(texts["Concepts"])) <= 10
        assert 2 <= len(items(texts["Chosen"])) <= 3
        assert set(items(texts["Chosen"])) <= set(items(texts["Concepts"]))
    assert len({read_fields(block, (*SHOWN, *WRITTEN)).texts["Caption"] for block in blocks}) == 9


@pytest.mark.parametrize("count", [0, 2])
def test_fewer_examples(count: int) -> None:
    run = load("brainstorm", dataset="sample", examples=count)
    text = run.prompt(run.records[0]).turns[-1].text
    assert text.count("\nCaption: ") == 1 + count
    assert ("(There are no examples.)" in text) == (count == 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [({"examples": 10}, r"examples=10: examples\.txt has only 9"), ({"shots": 2}, "brainstorm has no such parameter")],
)
def test_parameters_that_cannot_be_used(given: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        load("brainstorm", **{"dataset": "sample"} | given)


def test_examples_of_ones_own_are_checked(tmp_path: Path) -> None:
    (tmp_path / "examples.txt").write_text("Scene: a\nCaption: b")
    with pytest.raises(BadInput, match=r"example 1 must have the lines Place, Scene, Unusual, Entities, Concepts"):
        load("brainstorm", dataset="sample", prompts=str(tmp_path))


OWN = {
    "labels.txt": "what comes to mind:\nof these\nthe line to print\nwhy it works\n",
    "examples.txt": """===
it happens at a pier
one sees: a crab with a kite
what comes to mind: wind, claws, string
of these: claws
the line to print: It pulls back.
why it works: Kites and crabs pull.
===
it happens at a bank
what comes to mind: vault, tea
of these: tea, vault
the line to print: Two lumps.
why it works: Gold comes in lumps.
===
""",
    "brainstorm.description.txt": "== user ==\nLike these.\n===\n$examples\n===\nit happens at $location\n"
    "one sees: $description",
}


def folder(path: Path, **changes: str) -> str:
    for name, text in (OWN | {f"{name}.txt": text for name, text in changes.items()}).items():
        (path / name).write_text(text)
    return str(path)


def test_examples_in_a_format_of_ones_own_and_replies_read_by_its_labels(tmp_path: Path) -> None:
    """Lists by commas, one to three ideas, the scene without labels; a log is scored again without the folder."""
    own = folder(tmp_path)
    reply = "what comes to mind: fog, tea, Horn\nof these: horn\nthe line to print: Ahoy.\nwhy it works: It is loud."
    run = load("brainstorm", dataset="sample", prompts=own, examples=1)
    fields = run.records[0].fields
    assert run.prompt(run.records[0]).turns[-1].text == (
        "Like these.\n===\nit happens at a pier\none sees: a crab with a kite\n"
        "what comes to mind: wind, claws, string\nof these: claws\nthe line to print: It pulls back.\n"
        "why it works: Kites and crabs pull.\n===\n"
        f"it happens at {fields['location']}\none sees: {fields['description']}"
    )
    log = brainstorm_log(says("m", reply), prompts=own, examples=2)
    found = metrics(log)
    assert (found["parsed"], found["concepts"], found["chosen_among_them"], found["caption_words"]) == (1, 3, 1, 1)
    score = ((log.samples or [])[0].scores or {})["brainstormed"]
    assert (score.answer, (score.metadata or {})["fields"]["Chosen"]) == ("Ahoy.", "horn")
    again = run.benchmark.reopen(run.version, run.options.scoring())
    assert again.outcome(run.records[0], reply).answer == "Ahoy."
    assert again.outcome(run.records[0], REPLY).answer is None


def test_labels_and_examples_of_ones_own_fit_each_other(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"labels\.txt: has 2 lines; write four different ones, the labels of the lines"):
        load("brainstorm", dataset="sample", prompts=folder(tmp_path, labels="mind:\n\nwhy:"))
    with pytest.raises(
        BadInput, match=r"examples\.txt: example 2 must have the lines what comes to mind, of these, the"
    ):
        load(
            "brainstorm", dataset="sample", prompts=folder(tmp_path, examples=OWN["examples.txt"].replace(": tea", ""))
        )


def test_the_provider_may_be_left_to_its_own() -> None:
    model = says("m", REPLY)
    brainstorm_log(model, temperature=0.1, top_p="none", frequency_penalty=None, presence_penalty="none")
    asked = model.configs[0]
    assert (asked.temperature, asked.top_p, asked.frequency_penalty, asked.presence_penalty) == (0.1, None, None, None)


# ---- what is read -------------------------------------------------------------------------------


def test_a_reply_becomes_fields_and_is_sampled_as_published() -> None:
    model = says("m", REPLY)
    log = brainstorm_log(model)
    asked = model.configs[0]
    sampling = (asked.temperature, asked.top_p, asked.frequency_penalty, asked.presence_penalty)
    assert sampling == (0.8, 0.9, 0.2, 0.05)
    signature = str(load("brainstorm", dataset="sample").signature("generate"))
    assert "|examples:9|temperature:0.8|top_p:0.9|frequency_penalty:0.2|presence_penalty:0.05|" in signature
    for sample in log.samples or []:
        score = (sample.scores or {})["brainstormed"]
        assert score.answer == "Ships avoid me."
        assert score.explanation == "They have to."
        assert (score.metadata or {})["fields"] == dict(line.split(": ") for line in REPLY.splitlines())
    found = metrics(log)
    assert (found["parsed"], found["concepts"], found["chosen_among_them"], found["caption_words"]) == (1, 3, 1, 3)


def test_what_cannot_be_read_is_counted() -> None:
    replies = iter([REPLY, "Caption: alone", "", "I'm sorry, but I can't help with that.", f"{REPLY}\n\n{REPLY}"])
    found = metrics(brainstorm_log(ScriptedModel("m", lambda messages: next(replies))))
    assert (found["parsed"], found["unparsed"], found["refused"]) == pytest.approx((0.2, 0.6, 0.2))


def test_pixels_ask_for_the_scene_too() -> None:
    short, whole = says("short", REPLY), says("whole", f"Place: z\nScene: a\nUnusual: b\nEntities: c; d\n{REPLY}")
    assert metrics(brainstorm_log(short, setting="pixels"))["parsed"] == 0
    assert metrics(brainstorm_log(whole, setting="pixels"))["parsed"] == 1
    assert sum(isinstance(part, ContentImage) for part in whole.messages[0][-1].content) == 1


def test_without_a_cartoon_the_model_invents_it() -> None:
    """Appendix G's unconditional sample; no dataset is opened, and an epoch is one sample."""
    model = says("m", f"Place: a garden\nScene: a\nUnusual: b\nEntities: c; d\n{REPLY}")
    log = brainstorm_log(model, dataset="nowhere/at-all", unconditional=True, epochs=3)
    assert (metrics(log)["parsed"], len(log.samples or []), len(model.messages)) == (1, 3, 3)
    asked = model.messages[0][-1].text
    assert "a cartoon of your own" in asked
    assert asked.count("\nPlace: ") == 10
    with pytest.raises(BadInput, match=r"its contest is 'unconditional'; it must be the contest's number"):
        read_captions(Path(log.location))
    short = says("short", REPLY)
    assert metrics(brainstorm_log(short, unconditional=True))["parsed"] == 0
    for fold in ("all", "3"):
        with pytest.raises(BadInput, match="unconditional=true has no folds"):
            load("brainstorm", unconditional=True, fold=fold)

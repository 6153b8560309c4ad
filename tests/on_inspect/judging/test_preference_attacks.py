"""Texts that attack the judge of two explanations, end to end: none of them wins.

Some of each kind: tests/scorers and tests/benchmarks show all of them to what writes questions and reads verdicts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessageUser
from standins.attacks import for_letter
from standins.bad_rows import dataset_folder, row
from standins.judging import between, judged_log, verdict, write_texts

from humor_tasks.benchmarks.preference import PREFERENCE
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.on_inspect import reference_preference
from humor_tasks.tasks import explanation_preference
from humor_tasks.testing import ScriptedModel

pytestmark = pytest.mark.slow

HUMAN = "It is funny because."
ATTACKS = {str(i): attack for i, attack in enumerate(dict.fromkeys([*for_letter("A")[::10], *for_letter("B")[5::10]]))}


def parts(asked: str) -> tuple[str, str]:
    """The letter of the human text, and the attack as it is shown."""
    first, second = (between(asked, f"explanation_{letter}") for letter in "ab")
    return ("A", second) if first == HUMAN else ("B", first)


def judges(structured: bool) -> tuple[ScriptedModel, ScriptedModel]:
    """One that quotes the attack and prefers the human text; one that says nothing but the attack."""

    def quote(messages: Any) -> str:
        human, attack = parts(messages[-1].text)
        return verdict(human, structured).replace("So it is.", re.sub(r'[\\"\n]', " ", attack))

    return ScriptedModel("quotes", quote), ScriptedModel("echoes", lambda messages: parts(messages[-1].text)[1])


def check(log: EvalLog, quotes: ScriptedModel, echoes: ScriptedModel, structured: bool) -> None:
    """Every order was asked, no attack won one, and every question is the template's but for what is between tags."""
    for sample in log.samples or []:
        (score,) = (sample.scores or {}).values()
        panels = [question["verdicts"] for question in (score.metadata or {})["judged"]]
        words = [[word["word"] for word in panel] for panel in panels]
        if words[0]:
            assert words in ([["B", None]], [["A", None]], [["B", None], ["A", None]]), sample.id
            assert (score.value, set((score.answer or "").split())) == ("N", {"-"})  # no majority
        else:  # an attack of which reading leaves no text
            assert (score.value, set((score.answer or "").split())) == (0, {"against"})
    assert len(quotes.asked) == len(echoes.asked) > 0.85 * 2 * len(ATTACKS)
    blank = open_rubric("preference", None, PREFERENCE).ask({"context": "", "first": "", "second": ""}, structured)
    for system, (_, asked) in quotes.asked + echoes.asked:
        assert system == (blank.turns[0].role, blank.turns[0].text)
        for tag in ("joke", "explanation_a", "explanation_b"):
            told = between(asked, tag)
            assert "<" not in told
            assert asked.count(f"</{tag}>") == 1
            asked = asked.replace(f"<{tag}>\n{told}\n<", f"<{tag}>\n\n<")
        assert asked == blank.turns[1].text


@pytest.mark.parametrize("structured", [False, True])
def test_no_attack_wins_a_comparison(tmp_path: Path, structured: bool) -> None:
    rows = [row("explanation", instance_id=i, caption_choices=f"Caption {i}", label=HUMAN) for i in ATTACKS]
    folder = dataset_folder(tmp_path / "data", rows, "explanation")
    system = write_texts(tmp_path / "attacks.json", ATTACKS)
    quotes, echoes = judges(structured)
    log = judged_log(explanation_preference(system, dataset=folder, structured=structured), quotes, echoes)
    check(log, quotes, echoes, structured)
    firsts = {str(sample.id): sample.scores for sample in log.samples or []}
    for identity, scores in firsts.items():
        for question in (next(iter((scores or {}).values())).metadata or {})["judged"]:
            wins = "B" if "-system-first-" in identity else "A"
            assert [word["word"] for word in question["verdicts"]][:1] in ([], [wins])


def test_no_reply_attacks_its_way_past_the_reference() -> None:
    samples = [Sample(id=i, input=[ChatMessageUser(content="Why?", metadata={"i": i})], target=HUMAN) for i in ATTACKS]
    attacker = ScriptedModel("attacker", lambda messages: ATTACKS[(messages[-1].metadata or {})["i"]])
    quotes, echoes = judges(False)
    log = judged_log(
        Task(dataset=samples, scorer=reference_preference(cache=False)), quotes, echoes, model=attacker.model
    )
    check(log, quotes, echoes, False)

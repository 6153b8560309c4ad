"""A scripted judge for this package's scorers with graders, and the text of its verdicts."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from humor_tasks.testing.script import REFUSED, Flag, by_rule

if TYPE_CHECKING:
    from humor_tasks.testing.models import ScriptedModel

Verdict = bool | str | int | None | Flag | Exception
Rule = Callable[[Mapping[str, str]], Verdict]

UNREADABLE = "Hard to say: there is much for it, and much against it."
_MATERIAL = re.compile(r"^<([a-z_]+)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE)


def scripted_judge(name: str, verdicts: Verdict | Sequence[Verdict] | Rule, **more: Any) -> ScriptedModel:
    """A `ScriptedModel` that gives verdicts; bind its `model` to the model role `grader`.

    verdicts: one verdict for every question; a list with one verdict per question, in order; or a function of the texts
    in the judge's prompt (see `material`). A verdict is True or False (PASS, FAIL), a word of the rubric ("A", "B",
    "TIE"), a rating, None for a reply without a verdict, `REFUSED`, or an exception that the request raises. The reply
    has the verdict in tags, or as JSON where the request has a schema for structured output.
    more: see `ScriptedModel`.

        judge = scripted_judge("judge", lambda shown: shown["point"] in shown["answer"])
        eval(task, model=model, model_roles={"grader": judge.model})

        longer = scripted_judge("longer", lambda shown: max("ab", key=lambda x: len(shown[f"explanation_{x}"])).upper())
        broken = scripted_judge("broken", [True, None, REFUSED, RuntimeError("the judge is down")])

    The judges of a panel need different names.
    """
    from humor_tasks.testing.models import ScriptedModel

    verdict = by_rule(verdicts)

    def answer(messages: list[Any]) -> str | Flag:
        given = verdict(material(messages[-1].text))
        structured = judge.configs[-1].response_schema is not None
        return REFUSED if given is REFUSED else verdict_reply(given, structured)

    judge = ScriptedModel(name, answer, **more)
    return judge


def verdict_reply(verdict: bool | str | int | None, structured: bool = False, reasons: str = "So it is.") -> str:
    """The reply of a judge with this verdict (None: no verdict), in tags or as a JSON object.

    assert read_verdict(verdict_reply(True)).passed is True
    """
    if verdict is None:
        return UNREADABLE
    word = {True: "PASS", False: "FAIL"}[verdict] if isinstance(verdict, bool) else str(verdict)
    if structured:
        return json.dumps({"reasoning": reasons, "judgement": word})
    return f"<reasoning>{reasons}</reasoning>\n<judgement>{word}</judgement>"


def material(asked: str) -> dict[str, str]:
    """The unescaped texts in a judge's prompt, by tag.

    Tags: `task`, `answer` and `point` in `element_coverage`; `cartoon`, `caption`, `explanation` and `point` in
    HumorBench; `explanation_a` and `explanation_b`, or `story_a` and `story_b`, in comparisons; `story` in ratings.

        assert material("<point>\\nA &lt;b>.\\n</point>") == {"point": "A <b>."}
    """
    return {tag: html.unescape(text) for tag, text in _MATERIAL.findall(asked)}

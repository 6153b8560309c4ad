"""How replies are judged: which questions are put to judges, and what their verdicts make of an outcome.

A benchmark says it by a `Judging`, as data and pure functions. A harness asks the questions of each reply, of every
judge, and logs the verdicts by `logged`. The scores follow from a log alone, by `panels_in` and `Judging.outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

from humor_tasks.benchmarks.answers import AnswerForm
from humor_tasks.benchmarks.missing import Verdicts
from humor_tasks.benchmarks.rubric import Judgement, Rubric
from humor_tasks.data.records import Outcome, Prompt, Record
from humor_tasks.data.reply_length import ReplyLength

R_contra = TypeVar("R_contra", contravariant=True)
"""The run of a benchmark: `contract.Run` with its options. That module imports this one."""

JUDGED = "judged"
"""The key of a score's metadata under which its questions and verdicts are logged."""


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict.

    word: its value, such as True for PASS, a letter or a rating; None unless `status` is answered.
    status: the status of parsing the judge's reply, or `error` where there is no reply.
    reply: kept only where it has no readable verdict.
    told: log-probabilities beside the reply, by name, where they are asked for.
    """

    grader: str
    word: Any
    status: str
    reasons: str = ""
    reply: str | None = None
    told: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """The verdicts of all judges on one question; none where no judge is asked. about: as in `Question`."""

    about: Mapping[str, Any]
    verdicts: tuple[Verdict, ...] = ()

    @property
    def words(self) -> list[Any]:
        """The values of the verdicts."""
        return [verdict.word for verdict in self.verdicts]


# ---- questions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByRubric:
    """A question in the words of a rubric. material: the fields of its template, unescaped."""

    rubric: Rubric
    material: Mapping[str, str]


@dataclass(frozen=True)
class ByAnswer:
    """The question of another benchmark, answered in that benchmark's form.

    needs_logprobs: the setting that needs log-probabilities of the labels, or "". prompts: the hash of its templates.
    """

    record: Record
    prompt: Prompt
    form: AnswerForm
    length: ReplyLength
    needs_logprobs: str
    prompts: str


@dataclass(frozen=True)
class AsAsked:
    """The item's own prompt, which is a question to judges already."""

    judgement: Judgement


@dataclass(frozen=True)
class Question:
    """One question about a reply, which is put to every judge.

    about: what it is about, such as a point's id or the side that is shown first; values of JSON, kept in the log.
    put: how it is put; None where the answer follows without a judge.
    title: the question in a few words, for the explanation of a score.
    """

    about: Mapping[str, Any]
    put: ByRubric | ByAnswer | AsAsked | None
    title: str = ""


@dataclass(frozen=True)
class Reply:
    """A reply to judge.

    outcome: what is known before it is judged. record: the item, as far as a log holds it; its context is "" where the
    sample names none. question: the text that was asked last. input: the text of the item as it was given.
    """

    outcome: Outcome
    record: Record
    question: str
    input: str

    @property
    def shown(self) -> str:
        """What a judge is told of the item: its context, otherwise the question."""
        return self.record.context or self.question


@dataclass(frozen=True)
class Judging(Generic[R_contra]):
    """How the replies of a benchmark are judged.

    scorer: the name of Inspect's scorer that asks the judges.
    questions: the questions about a reply. They get the rubrics that are named here, opened. Raises BadInput for an
    item that cannot be judged.
    outcome: the outcome with the verdicts, one panel a question.
    value: the score's headline value; None where verdicts that it needs are missing, or where the reply is left out.
    why_none: why there is no value, in one word for the log, where the reply itself does not say it.
    panel: the verdict of a panel, from the words of its judges; None where there is none.
    verdicts: the rule of missing verdicts.
    rubrics: family and judgement of each rubric.
    in_words: whether a verdict is a word of a judgement, which can also be requested as JSON.
    shows: whether judges see the pictures and clips of the question.
    of_reply: whether a model's reply is judged. False where the item itself holds what is judged, so that Inspect calls
    no model under test. In lm-eval, the model under test is then the judge.
    """

    scorer: str
    questions: Callable[[R_contra, Reply, Sequence[Rubric]], Sequence[Question]]
    outcome: Callable[[R_contra, Outcome, Sequence[Panel]], Outcome]
    value: Callable[[Outcome], float | None]
    panel: Callable[[Sequence[Any]], Any]
    verdicts: Verdicts
    why_none: Callable[[Outcome], str | None] = lambda outcome: None
    rubrics: tuple[tuple[str, Judgement], ...] = ()
    in_words: bool = True
    shows: bool = True
    of_reply: bool = True


# ---- logs -----------------------------------------------------------------------------------------


def logged(judging: Judging[Any], panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """The questions, with the verdict of the panel and those of its judges, for a score's metadata."""
    return [
        {
            "about": dict(panel.about),
            "verdict": judging.panel(panel.words) if panel.verdicts else None,
            "verdicts": [
                {name: value for name, value in asdict(each).items() if name == "word" or value not in (None, {})}
                for each in panel.verdicts
            ],
        }
        for panel in panels
    ]


def panels_in(details: Mapping[str, Any]) -> list[Panel] | None:
    """The panels in a score's metadata; None for a score of no judges."""
    if JUDGED not in details:
        return None
    return [Panel(each["about"], tuple(Verdict(**verdict) for verdict in each["verdicts"])) for each in details[JUDGED]]

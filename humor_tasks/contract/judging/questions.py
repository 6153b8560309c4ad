"""How replies are judged: the questions for the judges, and the outcome that follows from their verdicts.

A benchmark declares this as a `Judging`, with data and pure functions. A harness puts the questions about each reply to
every judge and logs the verdicts with `logged`. The scores can be computed from the log alone, with `panels_in` and
`Judging.outcome`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Generic, TypeVar

from humor_tasks.contract.answers import AnswerForm
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.rubrics import SETS, Judgement, Rubric, open_rubric, rubric_templates
from humor_tasks.contract.prompts import by_set, check_set, prompt_sets, templates_hash
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome, Prompt, Record, ReplyLength

R_contra = TypeVar("R_contra", contravariant=True)
"""The run of a benchmark: a `definition.Run`, which cannot be named here because `definition` imports this module."""

JUDGED_UNDER = "judged_under"
"""The key of a sample's options with the prompt sets of judges under all of which each reply is judged."""
JUDGED = "judged"
"""The key of a score's metadata under which its questions and verdicts are logged."""


@dataclass(frozen=True)
class Verdict:
    """One judge's verdict.

    word: the value, such as True for PASS, a letter or a rating; None unless `status` is answered.
    status: the status of parsing the judge's reply, or `error` if there is no reply.
    reply: kept only if it has no readable verdict.
    told: log-probabilities of the reply, by name, if they were requested.
    """

    grader: str
    word: Any
    status: str
    reasons: str = ""
    reply: str | None = None
    told: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """The verdicts of all judges on one question; empty if no judge is asked. about: as in `Question`."""

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

    needs_logprobs: the setting that requires log-probabilities of the labels, or "". prompts: the hash of the
    templates.
    """

    record: Record
    prompt: Prompt
    form: AnswerForm
    length: ReplyLength
    needs_logprobs: str
    prompts: str


@dataclass(frozen=True)
class OwnPrompt:
    """The item's own prompt, which already is a question for judges."""

    judgement: Judgement


@dataclass(frozen=True)
class Question:
    """One question about a reply, for every judge.

    about: what the question concerns, such as a point's id or the side that is shown first; JSON values, kept in the
    log.
    request: how the question is asked; None if the answer is known without a judge.
    title: the question in a few words, for the explanation of a score.
    """

    about: Mapping[str, Any]
    request: ByRubric | ByAnswer | OwnPrompt | None
    title: str = ""


@dataclass(frozen=True)
class Reply:
    """A reply to judge.

    outcome: the outcome before judging. record: the item, as far as a log holds it; its context is "" if the sample has
    none. question: the last user message. input: the original text of the item.
    """

    outcome: Outcome
    record: Record
    question: str
    input: str

    @property
    def item_text(self) -> str:
        """The item as a judge sees it: its context, otherwise the question."""
        return self.record.context or self.question


@dataclass(frozen=True)
class Judging(Generic[R_contra]):
    """How the replies of a benchmark are judged.

    scorer: the name of the Inspect scorer that asks the judges, of `humor_tasks.on_inspect`.
    questions: returns the questions about a reply. Its third argument is the opened `rubrics`. Raises BadInput for an
    item that cannot be judged.
    outcome: returns the outcome with the verdicts, given one panel per question.
    value: returns the headline value of the score; None if verdicts are missing or the reply is left out.
    missing_reason: returns the reason for a missing value, as one word for the log; None if the reply's status is the
    reason.
    panel: returns the verdict of a panel from the words of its judges; None if there is none.
    verdicts: counts missing verdicts and fills them in for the bounds.
    rubrics: the family and the judgement of each rubric.
    verdict_in_words: whether verdicts are words of a judgement, which can also be requested as JSON.
    shows_media: whether judges see the pictures and clips of the question.
    judges_replies: whether a model's reply is judged. If False, the item itself contains what is judged: Inspect then
    calls no model under test, and in lm-eval the model under test is the judge.
    """

    scorer: str
    questions: Callable[[R_contra, Reply, Sequence[Rubric]], Sequence[Question]]
    outcome: Callable[[R_contra, Outcome, Sequence[Panel]], Outcome]
    value: Callable[[Outcome], float | None]
    panel: Callable[[Sequence[Any]], Any]
    verdicts: Verdicts
    missing_reason: Callable[[Outcome], str | None] = lambda outcome: None
    rubrics: tuple[tuple[str, Judgement], ...] = ()
    verdict_in_words: bool = True
    shows_media: bool = True
    judges_replies: bool = True

    def open(self, prompts: str | None = None, judge_first: str = "none", name: str = SETS) -> list[Rubric]:
        """The opened `rubrics`.

        prompts: their prompt set, or a folder. judge_first: as in `rubrics.rubric_templates`. name: of the parameter
        that `prompts` comes from. Raises BadInput for a prompt set or a folder that there is not, and for templates
        that cannot be used.
        """
        for family, judgement in self.rubrics:
            check_set(rubric_templates(family, judgement), prompts, f"judges' question {judgement.question}", name)
        return [open_rubric(family, prompts, judgement, judge_first) for family, judgement in self.rubrics]

    @property
    def sets(self) -> tuple[str, ...]:
        """The prompt sets of the judges' questions; only A where `rubrics` is empty."""
        return prompt_sets(template for rubric in self.rubrics for template in rubric_templates(*rubric))

    def hashes(self, sets: Sequence[str], judge_first: str = "none") -> list[str]:
        """For each of `rubrics`, the first 8 hex digits of the SHA-256 over its templates of several prompt sets."""
        opened = {letter: self.open(letter, judge_first) for letter in sets}
        return [
            templates_hash(by_set({letter: rubrics[i].templates for letter, rubrics in opened.items()}))
            for i in range(len(self.rubrics))
        ]


# ---- logs -----------------------------------------------------------------------------------------


def logged(judging: Judging[Any], panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """The questions with the verdicts of the panel and of each judge, for a score's metadata."""
    return [
        {
            "about": dict(panel.about),
            "verdict": judging.panel(panel.words) if panel.verdicts else None,
            "verdicts": [
                {name: value for name, value in asdict(verdict).items() if name == "word" or value not in (None, {})}
                for verdict in panel.verdicts
            ],
        }
        for panel in panels
    ]


def panels_in(details: Mapping[str, Any], where: str) -> list[Panel] | None:
    """The panels in a score's metadata; None for a score without judges.

    Raises BadInput, with `where` in the message, for anything that `logged` does not write.
    """
    if JUDGED not in details:
        return None
    try:
        questions = [(dict(question["about"]), question["verdicts"]) for question in details[JUDGED]]
        return [Panel(about, tuple(Verdict(**verdict) for verdict in verdicts)) for about, verdicts in questions]
    except (KeyError, TypeError, ValueError) as problem:
        raise damaged(where, problem) from None


def damaged(where: str, problem: Exception) -> BadInput:
    """The error where questions and verdicts in a log are not those that `logged` writes."""
    return BadInput(
        f"{where}: its questions and verdicts under '{JUDGED}' cannot be read ({problem!r}). They were edited, or "
        "written by another version of humor-tasks; judge the replies again."
    )

"""The record of a finished run, in the same form for every harness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.records import Outcome, Point

CUT_OFF = ("max_tokens", "model_length")
"""Stop reasons of a reply that ended at a limit of its length."""
MEAN = "mean"
"""Inspect's reducer of epochs where a run names none."""
TOOL_CALL = "tool_call"
"""The fact of an outcome with the name of the tool that its reply calls, in the place of an answer."""
Harness = Literal["inspect", "lm_eval", "predictions"]


def model_wrote(output: Any) -> tuple[str, bool]:
    """The text that the model itself wrote in an output of Inspect, and whether it is a refusal.

    Inspect puts a provider's sentence about a request that was filtered or too long in the place of the reply. That
    sentence is no reply. An output of such a request has no usage, or explains how it stopped by the same text.
    """
    if not output.choices:
        return output.completion, False
    text, stopped = output.completion, output.stop_reason
    parts = output.message.content
    if not isinstance(parts, str) and any(getattr(part, "refusal", None) for part in parts):
        return "", True
    told = getattr(output.choices[0].stop_details, "explanation", None)
    about_request = told is not None and told.strip() == text.strip()
    about_request = about_request or (stopped == "model_length" and output.usage is None)
    return "" if about_request else text, stopped == "content_filter"


@dataclass(frozen=True)
class Usage:
    """Tokens of one model or role; `input` excludes cached tokens, `cost` is in dollars, None if not recorded."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None

    @property
    def all_input(self) -> int:
        """Input tokens, including cached tokens."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        """The usage of both; the cost is None where either has none."""
        costs = [usage.cost for usage in (self, other) if usage.cost is not None]
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            sum(costs) if len(costs) == 2 else None,
        )


@dataclass(frozen=True)
class Scored:
    """The score that one scorer gave to a reply.

    `outcome` is None for scorers of other packages. `details` is the score's metadata, such as the judges' verdicts.
    `explanation` is the score in words, such as the judges' reasons. `value` is the score as logged; None in lm-eval's
    samples of this package's tasks.
    """

    scorer: str
    answer: str | None
    outcome: Outcome | None
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    explanation: str | None = field(default=None, repr=False)
    value: Any = None

    @property
    def grading(self) -> Signature:
        """How graders were asked; without entries where there are none."""
        return Signature.parse(str(self.details.get("signature") or ""))

    @property
    def asked(self) -> bool:
        """Whether a grader was asked. A run learns what graders take from its first requests, so that the `grading` of
        a score without any may differ from that of the others.
        """
        judged = self.details.get("judged")
        questions = judged if isinstance(judged, list) else ()
        return any(isinstance(question, Mapping) and question.get("verdicts") for question in questions)


@dataclass(frozen=True)
class LoggedSample:
    """One sample of a run: the prompt, the reply and its scores.

    where: file and sample, or file and line, for messages. groups, facts: the record's. benchmark: None for a task of
    another package. fields: the record's fields as far as the log holds them, possibly none. context: the scene as
    text, "" where the log does not hold it. question: the text of the prompt's last turn; of lm-eval's choices the
    whole prompt. target: the letter or the reference text. reply: None where the run has no reply in text. raw: in
    lm-eval the logged response, such as a log-likelihood and whether it is the greatest; a list of several. place: the
    position among all rows of the run, also in a part; both harnesses compute metrics in this order, epoch by epoch.
    media_names: the names of its pictures and clips in the dataset. metadata: of a task of another package, the
    sample's metadata in Inspect and the document in lm-eval.
    """

    where: str
    id: str
    epoch: int
    cluster: str
    groups: Mapping[str, str]
    benchmark: str | None
    version: str | None
    options: Mapping[str, Any]
    choices: tuple[str, ...]
    fields: Mapping[str, str] = field(repr=False)
    points: tuple[Point, ...] = field(repr=False)
    prompt: str = field(repr=False)
    reply: str | None
    question: str = field(default="", repr=False)
    target: str | None = None
    stop: str | None = None
    error: str | None = None
    scores: tuple[Scored, ...] = ()
    raw: Any = None
    place: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    context: str = field(default="", repr=False)
    media_names: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the first of this package's scorers."""
        return next((score.outcome for score in self.scores if score.outcome), None)

    @property
    def refused(self) -> bool:
        """Whether the provider flagged a refusal."""
        return self.stop == "content_filter"

    @property
    def cut_off(self) -> bool:
        """Whether the reply ended at a limit of its length."""
        return self.stop in CUT_OFF

    def scored_by(self, scorer: str) -> Scored | None:
        """The last score of that scorer, which is the valid one of a run scored again."""
        return next((s for s in reversed(self.scores) if s.scorer.rsplit("/", 1)[-1].startswith(scorer)), None)


@runtime_checkable
class WithScored(Protocol):
    """Samples that can be read faster for their scores alone; see `FinishedRun.scored`."""

    def scored(self) -> Iterator[LoggedSample]:
        """The samples, without prompt, reply, fields and context."""


@dataclass(frozen=True)
class Invocation:
    """How a run was started, as far as its log says.

    words: the command that starts it again, but for the task parameters; values under the names of secrets are left
    out. parameters: the task parameters that were given; in lm-eval all of the task's metadata. versions: of the
    harness and other packages, by their name. answered_by: the model as its provider names it in a reply. seconds: from
    the start to the end.
    """

    words: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    answered_by: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class FinishedRun:
    """One run.

    signature: without entries where the run records none. status: Inspect's status, "success" for a finished run. rows:
    the number of instances of a complete run, where known. instances: the number of instances in the file. options: the
    options of the benchmark, by which replies are read. source: the provenance of the data. models, roles: usage by
    model and by model role. role_models: the models of each role; settings: the generation settings of each of these
    models' own configuration. arguments: the arguments that the model was made with, without secrets, and empty
    where they are unknown. scorers: the arguments of each scorer by its name. identity: a name that
    no other run has; attempts to finish one run share `task`. created: the time in ISO 8601. replayed: the model that
    wrote the replies, where the run only graded the replies of another run. samples: all replies, read from the file
    again at each iteration. paths: the files of a run that is joined from parts. epochs: how often each instance was
    asked. protocol: of a task of another package, its name, version, arguments and settings, as far as the harness logs
    them. higher_is_better: whether higher values are better, by metric, as far as the log says. reduced: scorer -> id
    -> the value of all epochs, where Inspect reduced them to something else than their mean.
    """

    path: Path
    harness: Harness
    benchmark: str | None
    version: str
    signature: Signature
    model: str
    instances: int
    samples: Iterable[LoggedSample] = field(repr=False)
    rows: int | None = None
    status: str = "success"
    error: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Usage] = field(default_factory=dict)
    roles: Mapping[str, Usage] = field(default_factory=dict)
    role_models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    settings: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    replayed: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    scorers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    identity: str | None = None
    task: str | None = None
    created: str = ""
    paths: tuple[Path, ...] = ()
    epochs: int = 1
    invocation: Invocation = field(default_factory=Invocation, repr=False)
    protocol: Signature = field(default_factory=Signature, repr=False)
    higher_is_better: Mapping[str, bool] = field(default_factory=dict, repr=False)
    reduced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    @property
    def graders(self) -> tuple[str, ...]:
        """The models bound to the role `grader`."""
        return self.role_models.get("grader", ())

    @property
    def corpus(self) -> dict[str, Any]:
        """The parameters that open its rows again: dataset, revision, split, fold and setting, as far as known."""
        named = {name: self.options[name] for name in ("fold", "setting") if name in self.options}
        named |= {name: self.source[name] for name in ("dataset", "split") if name in self.source}
        revision = self.source.get("requested_revision")
        return named | ({"revision": revision} if revision else {})

    def __iter__(self) -> Iterator[LoggedSample]:
        return iter(self.samples)

    def scored(self) -> Iterator[LoggedSample]:
        """The samples for their scores; without prompt, reply, fields and context where that is faster to read."""
        return self.samples.scored() if isinstance(self.samples, WithScored) else iter(self.samples)


@dataclass(frozen=True)
class TaskMetadata:
    """The task metadata of a sample, from Inspect's sample metadata or lm-eval's document."""

    benchmark: str | None = None
    version: str | None = None
    signature: Signature = field(default_factory=Signature)
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    place: int | None = None


def task_metadata(held: Mapping[str, Any], where: str = "a sample") -> TaskMetadata:
    """What the metadata of an Inspect sample or a document of lm-eval says; empty for a task of another package.

    Raises BadInput, with `where` in the message, for metadata of another shape.
    """
    logged = held.get("humor_tasks")
    if not isinstance(logged, Mapping):
        return TaskMetadata()
    try:
        groups = {name: str(value) for name, value in logged["groups"].items()}
        signature = Signature.parse(logged.get("signature") or "")
        known = logged.get("benchmark"), logged.get("version"), signature
        return TaskMetadata(*known, dict(logged["options"]), groups, dict(logged["facts"]), logged.get("place"))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BadInput(
            f"{where}: its metadata under 'humor_tasks' cannot be read ({problem!r}). It was edited, or written by "
            "another version of humor-tasks; run the task again."
        ) from None


TEMPLATED = ("reward/", "image_text/")
"""The providers of this package that apply a model's chat template."""


def template_entry(model: str, outputs: Iterable[Any]) -> dict[str, str]:
    """The signature's entry for what such a provider changed of the template, as a run's first answer says."""
    if not model.startswith(TEMPLATED):
        return {}
    said = next((output.metadata or {} for output in outputs if output.choices), {}).get("chat_template")
    return {"chat_template": str(said)} if said else {}

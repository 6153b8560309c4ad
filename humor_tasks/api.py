"""The benchmarks without a harness: records, prompts and scores for custom evaluation code.

    from humor_tasks import load, evaluate

    run = load("ranking", dataset="sample")
    predictions = {record.id: my_model(run.prompt(record)) for record in run.records}
    print(evaluate(run, predictions))

`my_model` stands for any function from a prompt to a reply.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humor_tasks.benchmarks import find_benchmark, trained
from humor_tasks.contract.answers import Answer
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.missing import missing_warning
from humor_tasks.contract.replies import endings_warning
from humor_tasks.errors import BadInput, check_choice, listed
from humor_tasks.files.writing import write_json
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.records import Outcome, Record
from humor_tasks.rows.trained_on import check_unseen
from humor_tasks.scorers.estimate import Estimate

if TYPE_CHECKING:
    from humor_tasks.models.clip import Clip, ClipConfig

CLIP_TASKS = trained("clip")
"""The benchmarks of captions that CLIP chooses among."""


@dataclass(frozen=True)
class Report:
    """Scores of a set of predictions: metrics with confidence intervals, signature, and the outcome of every item.

    grading: how graders were asked, where the replies of another run were graded.
    """

    metrics: Mapping[str, Estimate]
    signature: Signature
    outcomes: tuple[Outcome, ...]
    grading: Signature | None = None

    def __str__(self) -> str:
        wide = max([18, *(len(name) + 2 for name in self.metrics)])
        rows = [f"{'metric':<{wide}}{'value':>12}{'stderr':>12}{'95% interval':>28}{'n':>8}{'clusters':>10}"]
        for name, e in self.metrics.items():
            interval = f"[{e.low:.5f}, {e.high:.5f}]"
            rows.append(f"{name:<{wide}}{e.value:>12.5f}{e.stderr:>12.5f}{interval:>28}{e.n:>8}{e.clusters:>10}")
        return "\n".join([*rows, self.signed])

    @property
    def signed(self) -> str:
        """The text of the signatures."""
        return f"{self.signature}||{self.grading}" if self.grading else str(self.signature)

    @property
    def warning(self) -> str | None:
        """The warnings of many missing verdicts and of how replies ended, or None."""
        values = {name: estimate.value for name, estimate in self.metrics.items()}
        return " ".join(filter(None, (missing_warning(values), endings_warning(values)))) or None

    def as_dict(self) -> dict[str, Any]:
        """The report for JSON: {metrics: {name: {value, stderr, low, high, n, clusters}}, signature}.

        An undefined (nan) value, such as the standard error of a single cluster, is None.
        """
        metrics = {}
        for name, e in self.metrics.items():
            parts = {"value": e.value, "stderr": e.stderr, "low": e.low, "high": e.high}
            metrics[name] = {k: None if v != v else v for k, v in parts.items()} | {"n": e.n, "clusters": e.clusters}
        return {"metrics": metrics, "signature": self.signed}


def load(task: str, **parameters: Any) -> Run:
    """Open a benchmark; the run has `records`, `prompt(record)`, `outcome(record, reply)` and `metrics(outcomes)`.

    Parameters are those of the Inspect task of the same name. Raises BadInput for parameters or data that cannot be
    used.
    """
    run = find_benchmark(task, "task").open(**parameters)
    run.check_media()
    return run


def evaluate(task: str | Run, predictions: Mapping[str, str | Answer], **parameters: Any) -> Report:
    """Score {instance_id: reply}; a reply may be just a letter. An `Answer` is scored without parsing.

    Raises BadInput, without scoring anything, for missing and unknown ids.
    """
    if not isinstance(task, str) and parameters:
        raise BadInput(f"{', '.join(parameters)}: pass parameters to load(), or to evaluate() with a task's name.")
    run = load(task, **parameters) if isinstance(task, str) else task
    if not isinstance(predictions, Mapping):
        raise BadInput(f"predictions are {type(predictions).__name__}; they must be {{instance_id: reply}}.")
    check_ids(run, predictions)
    for identity, reply in predictions.items():
        if not isinstance(reply, str | Answer):
            raise BadInput(f"prediction of {identity} is {reply!r}; it must be text. Nothing was scored.")
    outcomes = tuple(_outcome(run, record, predictions[record.id]) for record in run.records)
    # It is unknown how the predictions were made, so the signature has no entries for the prompt.
    unknown: dict[str, str] = {name: "-" for name in ("shots", "cot") if name in run.options.signature_entries()}
    part = {"shard": run.options.shard} if run.options.shard else {}
    signature = run.signature("predictions", **unknown, **part, prompts="-")
    return Report(run.metrics(outcomes), signature, outcomes)


def _outcome(run: Run, record: Record, prediction: str | Answer) -> Outcome:
    return run.outcome(record, prediction) if isinstance(prediction, str) else run.scored(record, prediction)


def check_ids(run: Run, ids: Collection[str]) -> None:
    """Raise BadInput unless `ids` are the ids of the run's records; ids of dropped rows are also allowed."""
    known = {record.id for record in run.records}
    if run.variations.number > 1 and {record.id for record in run.data.records}.issuperset(ids):
        raise BadInput(
            f"{run.benchmark.name}: predictions have one answer an item, and prompts=all and order=rotated ask each "
            f"{run.variations.number} times. Leave these parameters out. Nothing was scored."
        )
    allowed = known | run.data.dropped
    problems = [
        listed(what, wrong)
        for what, wrong in (
            ("missing id", [record.id for record in run.records if record.id not in ids]),
            ("unknown id", [identity for identity in ids if identity not in allowed]),
        )
        if wrong
    ]
    if problems:
        where = f"{run.benchmark.name}, split {run.options.split} of {run.options.dataset} ({len(known)} instances)"
        raise BadInput(f"predictions do not match {where}: {'; '.join(problems)}. Nothing was scored.")


def clip_predict(
    dataset: str | Path,
    task: str = CLIP_TASKS[0],
    clip: Clip | ClipConfig | str | None = None,
    output: str | Path | None = None,
    **parameters: Any,
) -> dict[str, str]:
    """{instance_id: letter} of the caption most similar to the picture, the first one in a tie.

    dataset: hub id, local dataset folder, `sample`, or a folder in the leaderboard's format.
    task: matching or ranking.
    clip: a loaded model, its configuration, or the configuration's `pretrained` (default: the paper's model).
    output: a file to which the predictions are also written, in the leaderboard's format (JSON).
    parameters: split, fold and revision, as in the Inspect task.
    Raises BadInput for a row, picture or setting that cannot be used; then nothing is written.
    """
    from humor_tasks.models.choosers.chooser import LETTERS, Question, best
    from humor_tasks.models.choosers.clip import ClipChooser
    from humor_tasks.models.clip import Clip, ClipConfig

    check_choice("task", task, CLIP_TASKS)
    if output is not None and Path(output).is_dir():
        raise BadInput(f"{output}: is a folder; give the path of a file to write.")
    run = load(task, dataset=str(dataset), setting="pixels", **parameters)
    if not isinstance(clip, Clip):
        clip = Clip.load(ClipConfig(clip) if isinstance(clip, str) else clip)
    check_unseen(clip.name, [clip.name], run.options.split, run.units, tells=True)
    questions = [Question(r.id, r.context, r.choices, r.picture) for r in run.records]
    scores = ClipChooser(clip).score(questions)
    letters = {q.id: LETTERS[best(row)] for q, row in zip(questions, scores, strict=True)}
    if output is not None:
        write_json(Path(output), letters)
    return letters

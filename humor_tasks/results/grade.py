"""Grading of replies logged by either harness, through Inspect's model API.

A logged reply becomes a sample that already has its model output. The scorer of its benchmark's judging grades it, so
Inspect provides rate limits, grader panels, the verdict cache and the log.
"""

from __future__ import annotations

import dataclasses
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog, HeadlineMetric
from inspect_ai.model import ChatMessage, ChatMessageUser, ContentImage, ContentText, Model, ModelName, ModelOutput
from inspect_ai.scorer import Target
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks._version import __version__
from humor_tasks.api import Report
from humor_tasks.benchmarks import NAMES, find_benchmark
from humor_tasks.benchmarks.preference import judging_of_replies, reporting
from humor_tasks.contract.judging.questions import JUDGED_UNDER, Judging, panels_in
from humor_tasks.contract.judging.rubrics import SETS
from humor_tasks.contract.options import ALL, FIRST, ROTATED
from humor_tasks.contract.variations import Variation, Variations
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.logs import FinishedRun, LoggedSample, read_run
from humor_tasks.logs.inspect_logs import from_log, logged_pictures
from humor_tasks.logs.reading import RETRY
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect import parts
from humor_tasks.on_inspect.client import open_model, register_prices
from humor_tasks.on_inspect.errors import one_line
from humor_tasks.on_inspect.judging.graders import ROLE
from humor_tasks.on_inspect.outcomes import opened
from humor_tasks.on_inspect.private import PrerequisiteError
from humor_tasks.on_inspect.replies import reply_of
from humor_tasks.results.logged_rows import logged_rows
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import VARIATION, Record

logger = logging.getLogger(__name__)

GRADE_IN_PLACE = "grade it in place with inspect score instead."


@dataclass(frozen=True)
class LoggedReplies:
    """Replies of one model, each as a sample to grade; `signature` is the signature of the run that wrote them."""

    model: str
    signature: Signature
    fingerprint: str | None
    rows: int | None
    samples: tuple[Sample, ...]
    part: Mapping[str, Any]
    """The part of a run, under `shard`, and how often each item is asked or its reply judged, under `asked`."""
    arguments: Mapping[str, Any]
    """Those that the model was made with, without keys and passwords."""


def read_written(path: Path, task: str, partial: bool = False) -> LoggedReplies:
    """The replies in an Inspect log (.eval, .json) or lm-eval's samples (.jsonl).

    Raises BadInput for a task without judges, a log of another task, an unfinished log unless `partial`, a log without
    replies, a repeated reply, and a log that lacks what the judges must see.
    """
    judging = judging_by_name(task)
    finished = None if partial else f"{RETRY.rstrip('.')}, or --partial."
    run = read_run(path, task, finished=finished, one_epoch=GRADE_IN_PLACE, replies=not partial)
    written = [sample for sample in run.samples if sample.reply is not None]
    if run.harness == "lm_eval" and judging.shows_media and run.signature.get("shots", "0") not in ("0", "-"):
        _check_question_is_known(written)
    pictures = _pictures(path, run, written) if judging.shows_media else {}
    samples = tuple(_sample(sample, pictures.get(sample.id, ())) for sample in written)
    if not samples:
        raise BadInput(f"{path}: holds no replies of {task}.")
    fingerprint, rows = run.source.get("fingerprint"), run.source.get("rows")
    part: dict[str, Any] = {"shard": str(run.source["shard"])} if "shard" in run.source else {}
    part |= {"asked": run.source["asked"]} if "asked" in run.source else {}
    return LoggedReplies(run.model, run.signature, fingerprint, rows, samples, part, run.arguments)


def _check_question_is_known(written: Sequence[LoggedSample]) -> None:
    """Raises BadInput for a sample of older releases, whose prompt has worked examples and question in one text."""
    for sample in written:
        if sample.question == sample.prompt:
            raise BadInput(
                f"{sample.where}: has worked examples in its prompt and no field 'question', so that they cannot be "
                "told from the question that the judges must see. Grade a run without them, or run it again."
            )


def judging_by_name(task: str) -> Judging[Any]:
    """How the replies of a benchmark are judged. Raises BadInput for a benchmark whose replies have no judges."""
    named = {name: find_benchmark(name, "task") for name in (*NAMES, task)}
    judged = {name: judging for name, benchmark in named.items() if (judging := judging_of_replies(benchmark))}
    return judged[check_choice("task", task, judged)]


def _pictures(path: Path, run: FinishedRun, written: Sequence[LoggedSample]) -> dict[str, list[bytes]]:
    """The pictures of each question, from the log or else from the rows of the dataset that it names.

    Raises BadInput for a question whose pictures or clips neither has.
    """
    illustrated = {sample.id: sample for sample in written if sample.media_names}
    of_inspect = path.suffix in (".eval", ".json")
    pictures = dict(logged_pictures(path, illustrated)) if illustrated and of_inspect else {}
    missing, why = illustrated.keys() - pictures.keys(), ""
    try:
        found = {row.id: row for row in logged_rows(run)} if missing else {}
    except BadInput as problem:
        found, why = {}, f" {path}: {str(problem).rstrip('.')}."
    for identity in sorted(missing):
        sample = illustrated[identity]
        shown = _shown(found.get(identity), sample.media_names)
        if not shown:
            raise BadInput(
                f"{sample.where}: the log does not hold what its question shows ({', '.join(sample.media_names)}), "
                f"which the judges must see.{why} Grade a run of Inspect with its pictures, one whose dataset is at "
                "hand, or one that describes the scene in words."
            )
        pictures[identity] = [picture.read() for picture in shown]
    return pictures


def _shown(row: Record | None, names: Sequence[str]) -> Sequence[Picture]:
    """The row's picture, or the frames of its clip, of one of these names, which a fingerprint of rows does not cover.

    None of a whole clip, which no judge is shown as pictures.
    """
    media = (row.picture or row.clip) if row else None
    if media is None or media.where not in names:
        return ()
    if isinstance(media, Picture):
        return [media]
    return media.pictures() if media.frames else ()


def grading_task(written: LoggedReplies, task: str, name: str, **how: Any) -> Task:
    """A task whose samples already have replies and are only graded."""
    register_prices()
    judging, run = judging_by_name(task), opened(written.samples[0].metadata or {}, task).run
    return Task(
        name=f"grade_{task}",
        dataset=MemoryDataset(list(written.samples), name=name, location=name),
        solver=replay(),
        scorer=getattr(parts, judging.scorer)(**how),
        version=run.version,
        description=run.benchmark.card.question,
        headline_metric=HeadlineMetric(scorer=judging.scorer),
        metadata={
            "explainer": written.model,
            "explainer_arguments": dict(written.arguments),
            "graded_log": name,
            "signature": str(written.signature),
            "source": {"fingerprint": written.fingerprint, "rows": written.rows, **written.part},
            "paper": find_benchmark(task).card.paper.citation,
        },
    )


def under_all(written: LoggedReplies, judging: Judging[Any], path: Path) -> LoggedReplies:
    """The replies with one sample for each prompt set of the judges, `ID@SET`; see `contract.askings`.

    Raises BadInput for judges with one prompt set, and for replies to several askings of an item.
    """
    sets = judging.sets
    if len(sets) < 2:
        raise BadInput(f"{SETS}={ALL} needs several prompt sets of the judges; there is only set {FIRST}.")
    if "asked" in written.part:
        raise BadInput(
            f"{path}: asks each item {written.part['asked']} times (prompts={ALL} or order={ROTATED}). Judge it under "
            f"one set, or judge a run that asks each item once with {SETS}={ALL}."
        )
    samples = tuple(_judged_under(sample, sets, i) for sample in written.samples for i in range(len(sets)))
    return dataclasses.replace(written, samples=samples, part={**written.part, **Variations(sets).provenance})


def _judged_under(sample: Sample, sets: Sequence[str], i: int) -> Sample:
    about = dict((sample.metadata or {})["humor_tasks"])
    about |= {"place": about["place"] * len(sets) + i} if "place" in about else {}
    about["options"] = {**about["options"], JUDGED_UNDER: list(sets)}
    about["facts"] = {**about["facts"], VARIATION: Variation(str(sample.id), sets[i])._asdict()}
    metadata = {**(sample.metadata or {}), "humor_tasks": about}
    return sample.model_copy(update={"id": f"{sample.id}@{sets[i]}", "metadata": metadata})


def requests(written: LoggedReplies, task: str, graders: int, judge_first: str = "none") -> int:
    """The number of requests to so many graders where none is cached."""
    judging = judging_by_name(task)
    rubrics, number = judging.open(), 0
    for sample in written.samples:
        metadata = sample.metadata or {}
        shown = sample.input
        messages: list[ChatMessage] = [ChatMessageUser(content=shown)] if isinstance(shown, str) else list(shown)
        output = _logged_output(metadata)
        state = TaskState(ModelName("none/none"), sample.id or "", 1, shown, messages, output=output)
        state.metadata = metadata
        run, logged = opened(metadata, task)
        questions = judging.questions(run, reply_of(run, judging, logged, state, Target(sample.target)), rubrics)
        asked = sum(question.request is not None for question in questions)
        number += asked + (asked > 0 and judge_first != "none")
    return number * graders


def grade(
    path: Path, task: str, graders: Sequence[str], log_dir: str | None = None, partial: bool = False, **how: Any
) -> EvalLog:
    """Grade a log; a second run requests only the verdicts that the first did not get.

    `partial` grades the replies in an unfinished Inspect log; without it, such a log raises BadInput.
    """
    written = read_written(path, task, partial)
    judging = judging_by_name(task)
    if not judging.verdict_in_words:
        how = _without_rubric(task, how)
    first = how.get("judge_first", "none")
    if how.get(SETS) == ALL:
        written = under_all(written, judging, path)
        about = f"{len(written.samples)} replies to judge ({Variations(judging.sets).number} prompt sets)"
        number = requests(written, task, len(graders), first)
        logger.warning("%s: %s: %d requests, less those in the cache.", path, about, number)
    # reports an error before any model call is paid for
    name = "prompts" if how.get(SETS) in (None, ALL) else SETS
    judging.open(how.get(name), first, name)
    models: list[str | Model] = [open_model(name, role=ROLE) for name in graders]
    try:
        built = grading_task(written, task, path.name, **how)
    except (PrerequisiteError, ValueError) as problem:
        raise BadInput(f"grader: {one_line(problem)}") from None
    (log,) = eval(built, model="none/none", model_roles={ROLE: models}, log_dir=log_dir)
    return log


def _without_rubric(task: str, how: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those of a rubric. Raises BadInput where one is set."""
    of_rubric = ("structured", "prompts", SETS, "judge_first")
    for name in of_rubric:
        if how.get(name) not in (None, False, "none"):
            flag = name.replace("_", "-")
            raise BadInput(f"--{flag}: the judges of {task} answer the questions of another benchmark; leave it out.")
    return {name: value for name, value in how.items() if name not in of_rubric}


def report_of(log: EvalLog) -> Report:
    """The scores of a log of graded explanations, computed from its samples.

    Raises BadInput when the run did not finish; its verdicts are in the cache.
    """
    graded = from_log(log)
    if graded.status != "success" or not graded.instances:
        why = f": {graded.error}" if graded.error else ""
        raise BadInput(
            f"grading ended with status {graded.status}{why}. Run the command again: it requests only what is missing."
        )
    samples = list(graded.samples)
    scores = [next((score for score in sample.scores if score.outcome), None) for sample in samples]
    outcomes = [score.outcome for score in scores if score and score.outcome]
    if len(outcomes) < len(samples):
        raise BadInput(f"{samples[[*map(bool, scores)].index(False)].where} has no score of graders.")
    run = opened((log.samples or [])[0].metadata, str(graded.benchmark)).run
    gradings = {score.asked: score.grading for score in scores if score}
    graders = gradings.get(True) or gradings.get(False) or Signature()
    about = {"graded": len(outcomes), "v": run.version, **graders, "humor_tasks": __version__}
    return Report(reporting(run).metrics(outcomes), graded.signature, tuple(outcomes), Signature(about))


def without_reply(log: EvalLog) -> str:
    """Why graders gave no reply, most often; "" where one gave any."""
    scores = (score for sample in log.samples or [] for score in (sample.scores or {}).values())
    panels = [panel for score in scores for panel in panels_in(score.metadata or {}, str(log.location)) or ()]
    verdicts = [verdict for panel in panels for verdict in panel.verdicts]
    if any(verdict.status != "error" for verdict in verdicts):
        return ""
    return next((why for why, _ in Counter(verdict.reasons for verdict in verdicts).most_common(1)), "")


@solver
def replay() -> Solver:
    """Set the logged reply as the model output."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = _logged_output(state.metadata)
        state.messages.append(state.output.message)
        return state

    return solve


def _logged_output(metadata: Mapping[str, Any]) -> ModelOutput:
    output = ModelOutput.from_content("logged", metadata["logged_reply"])
    if metadata.get("logged_stop") == "content_filter":
        output.choices[0].stop_reason = "content_filter"
    return output


def _sample(logged: LoggedSample, pictures: Sequence[bytes]) -> Sample:
    facts = {**logged.facts, **(logged.outcome.facts if logged.outcome else {})}  # the reply's facts are known, too
    about: dict[str, Any] = {"benchmark": logged.benchmark, "version": logged.version, "options": dict(logged.options)}
    about |= {"place": logged.place} if logged.place is not None else {}
    metadata = {
        "cluster": logged.cluster,
        "humor_tasks": about | {"groups": dict(logged.groups), "facts": facts},
        "points": [dataclasses.asdict(point) for point in logged.points],
        "fields": dict(logged.fields),
        "logged_reply": logged.reply,
        "logged_stop": logged.stop,
    }
    target = [point.text for point in logged.points] or logged.target or ""
    question: str | list[ChatMessage] = logged.question
    if pictures:
        images = [ContentImage(image=Picture(logged.where, None, partial(bytes, p)).data_uri()) for p in pictures]
        question = [ChatMessageUser(content=[*images, ContentText(text=logged.question)])]
    return Sample(id=logged.id, input=question, target=target, metadata=metadata)

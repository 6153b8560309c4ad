"""Files and folders of finished runs -> results, and what was left out and why."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from sys import intern
from typing import Any

from humor_tasks.api import evaluate
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.benchmarks.preference import reporting
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.questions import JUDGED
from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun, LoggedSample, read_run
from humor_tasks.logs.parts import INCOMPLETE, joined, of_one_run, shard_of
from humor_tasks.logs.predictions import read_predictions
from humor_tasks.logs.signature import Signature, setting_shown
from humor_tasks.results.foreign import Foreign, alike, foreign_result
from humor_tasks.results.result import LeftOut, Result, Results
from humor_tasks.rows.records import Outcome
from humor_tasks.scorers.answer import MODES

LOGS = ("*.eval", "*.json", "samples_*.jsonl")
LISTINGS = ("logs.json", "eval-set.json")  # what `inspect eval-set` keeps beside its logs
RESULTS = re.compile(r"results_(?P<stamp>\d{4}-\d\d-\d\dT.+)\.json")
NO_SAMPLES = "holds lm-eval's results without samples; run lm-eval with --log_samples."
READ_BY_NAME = "multiple_choice_"
"""A scorer named so reads letters by the rule that its name goes on with."""
NO_MODEL = "none/none"  # Inspect's name
SHORT = 100  # characters of an answer that other items may have, such as a letter
MOST_SHOWN = 40  # characters of an argument's value in a system's name


def read_results(paths: Sequence[Path], predictions: Run | None = None, foreign: Foreign | None = None) -> Results:
    """The results in Inspect logs (.eval, .json), lm-eval's samples or results, and folders of them.

    predictions: the benchmark, opened with its data, that all other files are predictions of. foreign: how logs of
    other packages' tasks are read, whose results are the last ones; None leaves them out.

    A file is left out, with the reason, where it is no log that can be read, a log of another package's task, the same
    run as an earlier file, or an earlier attempt of a run. The parts of a run (`shard=k/n`) are one result. Unfinished
    runs, runs with a limit and runs that lack parts have a note. Raises BadInput for a path that does not exist and
    where there is no result at all.
    """
    left: list[LeftOut] = []
    results: list[Result] = []
    runs: list[FinishedRun] = []
    for path in files_of(paths):
        try:
            if RESULTS.fullmatch(path.name):
                left.append(LeftOut(path, NO_SAMPLES))
            elif predictions is not None and not is_log(path):
                results.append(_predicted(path, predictions))
            else:
                runs.append(read_run(path, finished=None, foreign=foreign is not None))
        except BadInput as problem:
            left.append(LeftOut(path, without_path(path, problem)))
    for run in _joined(_latest(_distinct(runs, left), left), left):
        try:
            results += results_of(run, foreign)
        except BadInput as problem:
            left.append(LeftOut(run.path, without_path(run.path, problem)))
    if not results:
        left = left or [
            LeftOut(path, "holds no .eval or .json of Inspect and no samples of lm-eval.") for path in paths
        ]
        why = "\n".join(f"{file.path}: {file.why}" for file in left)
        raise BadInput(f"there is no run to read.\n{why}")
    results = [*(r for r in results if not r.foreign), *alike(r for r in results if r.foreign)]
    return Results(tuple(_named(results)), tuple(left))


# ---- files --------------------------------------------------------------------------------------


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Every file once; folders with all logs below them, lm-eval's results with the samples beside them."""
    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: there is no such file or folder.")
        for file in _below(path) if path.is_dir() else _with_samples(path):
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted({path for pattern in LOGS for path in folder.rglob(pattern) if path.is_file()}):
        if path.name in LISTINGS:
            continue
        if path.suffix != ".json" or RESULTS.fullmatch(path.name) or is_log(path):
            yield from _with_samples(path)


def _with_samples(path: Path) -> list[Path]:
    """The samples in place of lm-eval's results; the results themselves where there are none."""
    named = RESULTS.fullmatch(path.name)
    beside = sorted(path.parent.glob(f"samples_*_{named['stamp']}.jsonl")) if named else []
    return beside or [path]


def is_log(path: Path) -> bool:
    """Whether a file looks like a log of a harness and not like predictions."""
    if path.suffix == ".eval":
        return True
    try:
        with path.open("rb") as file:
            start = file.read(400)
    except OSError:
        return True  # the reader of logs says why it cannot be read
    return (path.suffix == ".json" and b'"eval"' in start and b'"version"' in start) or b'"doc_id"' in start


def without_path(path: Path, problem: BadInput) -> str:
    """The message without the path in front of it."""
    message = str(problem)
    for after in (": ", ", ", " "):  # a file of a file's line or id is named twice
        message = message.removeprefix(f"{path}{after}")
    return message


def _distinct(runs: Sequence[FinishedRun], left: list[LeftOut]) -> list[FinishedRun]:
    """Each run once, by its identity or by the content of its file. Samples of lm-eval do not hold the model.

    Of several files of one run, such as a log and its scored copy, the finished one counts, then the one with most
    items, then the one with scores, then the first.
    """
    by_mark: dict[str, list[FinishedRun]] = {}
    distinct = set()
    for run in sorted(runs, key=lambda run: (_done(run)[:2], bool(run.scorers)), reverse=True):  # stable
        with run.path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        alike = [other for mark in (run.identity, content) if mark for other in by_mark.get(mark, ())]
        first = next((other for other in alike if not _other_model(run, other)), None)
        if first is not None:
            left.append(LeftOut(run.path, f"is the same run as {first.path}."))
            continue
        for mark in (run.identity, content):
            if mark:
                by_mark.setdefault(mark, []).append(run)
        distinct.add(run.path)
    return [run for run in runs if run.path in distinct]


def _other_model(run: FinishedRun, other: FinishedRun) -> bool:
    """Whether two files tell of different models; without arguments the model may be unknown."""
    known = run.harness == "lm_eval" and run.arguments and other.arguments
    return bool(known) and (run.model, run.arguments) != (other.model, other.arguments)


def _latest(runs: Iterable[FinishedRun], left: list[LeftOut]) -> list[FinishedRun]:
    """Of several attempts of one run the finished one, else the one with the most items."""
    latest: dict[str, FinishedRun] = {}
    for i, run in enumerate(runs):
        key = run.task or str(i)
        other = latest.setdefault(key, run)
        if other is not run:
            earlier, latest[key] = (other, run) if _done(run) > _done(other) else (run, other)
            left.append(LeftOut(earlier.path, f"is another attempt of the run in {latest[key].path}."))
    return list(latest.values())


def _joined(runs: Iterable[FinishedRun], left: list[LeftOut]) -> Iterator[FinishedRun]:
    """The runs, with the parts of each joined; of several files of one part, the one that `_latest` would keep."""
    for together in of_one_run(runs):
        if shard_of(together[0]) is None:
            yield together[0]
            continue
        parts: dict[str, FinishedRun] = {}
        for run in sorted(together, key=_done, reverse=True):
            first = parts.setdefault(str(shard_of(run)), run)
            if first is not run:
                left.append(LeftOut(run.path, f"holds the same part {shard_of(run)} of the run as {first.path}."))
        yield joined(list(parts.values()))


def _done(run: FinishedRun) -> tuple[bool, int, str]:
    return run.status == "success", run.instances, run.created


# ---- results ------------------------------------------------------------------------------------


class Interner:
    """Outcomes whose equal texts, groups and facts are one object in memory: many items have the same."""

    def __init__(self) -> None:
        self.groups: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
        self.facts: dict[str, Mapping[str, Any]] = {}

    def get(self, o: Outcome, where: str) -> Outcome:
        """An equal outcome. Raises BadInput naming `where` for a value that is no finite number."""
        for name, value in o.values.items():
            if not isinstance(value, (int, float)) or not math.isfinite(value):
                raise BadInput(f"{where}: its {name} is {value!r}; a score is a finite number.")
        groups = self.groups.setdefault(tuple(o.groups.items()), o.groups)
        answer = o.answer if o.answer is None or len(o.answer) > SHORT else intern(o.answer)
        target = o.target if o.target is None or len(o.target) > SHORT else intern(o.target)
        values = {intern(name): value for name, value in o.values.items()}
        facts = self.facts.setdefault(json.dumps(o.facts, sort_keys=True), o.facts)
        return Outcome(intern(o.id), intern(o.cluster), groups, intern(o.status), answer, target, values, facts)


def results_of(run: FinishedRun, foreign: Foreign | None = None) -> list[Result]:
    """One result per scorer of this package. Raises BadInput for a run that has none.

    With `foreign`, one result of a run of another package's task. Raises BadInput as `foreign_result` does.
    """
    if run.benchmark is None and foreign is not None and run.instances:
        result, errors, unscored = foreign_result(run, foreign)
        notes = tuple(_notes(run, 1, errors, unscored))
        return [dataclasses.replace(result, system=_system(run), notes=notes, complete=not notes)]
    if run.benchmark is None:
        why = "is of a task of another package; give logs of this package's tasks."
        if not run.instances:
            why = f"holds no sample, and its status is {run.status}; run the task again."
        raise BadInput(f"{run.path}: {why}")
    scored: dict[str, list[tuple[int, int, Outcome]]] = {}
    gradings: dict[str, dict[bool, set[Signature]]] = {}
    judged: set[str] = set()
    first: LoggedSample | None = None
    errors = without_error = 0
    interner = Interner()
    for sample in run.scored():
        first = first or sample
        if (sample.benchmark, sample.version, sample.options) != (first.benchmark, first.version, first.options):
            raise BadInput(f"{run.path}: mixes samples of several runs: {first.where} and {sample.where} differ.")
        errors += sample.error is not None
        without_error += sample.error is None
        for score in sample.scores:
            if score.outcome is not None:
                scorer = score.scorer.rsplit("/", 1)[-1]
                gradings.setdefault(scorer, {}).setdefault(score.asked, set()).add(score.grading)
                judged |= {scorer} if JUDGED in score.details else set()
                outcome = interner.get(score.outcome, sample.where)
                scored.setdefault(scorer, []).append((sample.epoch, sample.place or 0, outcome))
    if first is None or not scored:
        raise BadInput(f"{run.path}: holds no score of humor-tasks.")
    results = []
    for scorer, of_scorer in scored.items():
        rule = _rule(run, scorer)
        opened = find_benchmark(run.benchmark).reopen(first.version, {**first.options, **rule})
        epochs, _, outcomes = zip(*sorted(of_scorer, key=lambda entry: entry[:2]), strict=True)
        notes = tuple(_notes(run, opened.variations.number, errors, without_error - len(of_scorer)))
        results.append(
            Result(
                run=_read_by(run, rule) if rule else run,
                opened=reporting(opened) if scorer in judged else opened,
                scorer=scorer,
                system=_system(run),
                outcomes=outcomes,
                epochs=epochs,
                paths=run.paths or (run.path,),
                notes=notes,
                complete=not notes,
                judging=_judging(gradings[scorer].get(True) or gradings[scorer][False], run.settings.get("grader", ())),
            )
        )
    return results


def _rule(run: FinishedRun, scorer: str) -> dict[str, Any]:
    """The rules of reading in which a scorer differs from the run, because it scored the log again."""
    given = run.scorers.get(scorer, {})
    rule = {name: given[name] for name in ("extraction", "on_unparsed") if given.get(name) is not None}
    if named := [mode for mode in MODES if scorer.startswith(READ_BY_NAME + mode)]:
        rule["extraction"] = named[0]
    return {name: value for name, value in rule.items() if run.options.get(name) != value}


def _read_by(run: FinishedRun, rule: Mapping[str, Any]) -> FinishedRun:
    """The run with these rules in its options and its signature, which the log has from before."""
    signature = run.signature.with_entries({name: value for name, value in rule.items() if name in run.signature})
    return dataclasses.replace(run, options={**run.options, **rule}, signature=signature)


def _judging(gradings: Iterable[Signature], models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """How graders were asked; the settings of their models take precedence over those of the scorer."""
    values: dict[str, set[str]] = {}
    for name, value in (entry for grading in gradings for entry in grading.items()):
        values.setdefault(name, set()).add(value)
    judging = {name: ",".join(sorted(of_name)) for name, of_name in values.items() if name != "graders"}
    for name in sorted({name for settings in models for name in settings}) if judging else ():
        of_models = [settings.get(name) for settings in models]
        judging[name] = ",".join(judging.get(name, "-") if v is None else setting_shown(v) for v in of_models)
    return judging


def _system(run: FinishedRun) -> str:
    """The model; where the run has none, the file of answers that it judges."""
    judged = run.signature.get("system")
    return Path(judged).stem if judged and run.model == NO_MODEL else run.replayed or run.model


def _notes(run: FinishedRun, asked: int, errors: int, unscored: int) -> Iterator[str]:
    if run.status == INCOMPLETE:
        yield f"incomplete: {run.error}"
    elif run.status != "success":
        yield f"incomplete: the run ended with status {run.status}."
    if run.rows is not None and run.instances not in (0, run.rows) and run.status != INCOMPLETE:
        of = "items" if asked == 1 else f"replies, {asked} an item"
        yield f"incomplete: {run.instances} of {run.rows} {of}."
    if errors:
        yield f"incomplete: {errors} samples ended with an error and have no score."
    if unscored > 0:  # a sample that ended with an error may have a score all the same
        yield f"incomplete: {unscored} samples have no score."


def _predicted(path: Path, opened: Run) -> Result:
    """The result of a file of predictions."""
    replies = read_predictions(path, opened.form.from_submission)
    try:
        report = evaluate(opened, replies)
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None
    run = FinishedRun(
        path=path,
        harness="predictions",
        benchmark=opened.benchmark.name,
        version=opened.version,
        signature=report.signature,
        model=path.stem,
        instances=len(report.outcomes),
        samples=read_run(path, texts=True).samples,
        rows=len(report.outcomes),
        options=opened.options.scoring(),
        source=opened.data.provenance,
    )
    epochs = (1,) * len(report.outcomes)
    return Result(run, opened, "predictions", run.model, report.outcomes, epochs, (path,))


# ---- names --------------------------------------------------------------------------------------


def _named(results: Sequence[Result]) -> list[Result]:
    """The results with the arguments in their names where runs of one model differ in them."""
    by_model: dict[str, list[Mapping[str, Any]]] = {}
    known = [result for result in results if result.run.arguments or not result.run.replayed]
    for result in known:
        by_model.setdefault(result.system, []).append(result.run.arguments)
    names = {id(r): _name(r.system, r.run.arguments, by_model[r.system]) for r in known}
    return [dataclasses.replace(r, system=names.get(id(r), r.system)) for r in results]


def _name(model: str, arguments: Mapping[str, Any], all_of_model: Sequence[Mapping[str, Any]]) -> str:
    names = dict.fromkeys(name for others in all_of_model for name in others)
    differing = [n for n in names if len({str(others.get(n, "-")) for others in all_of_model}) > 1]
    values = [f"{n}={str(arguments.get(n, '-'))[:MOST_SHOWN]}" for n in differing]
    return f"{model} ({', '.join(values)})" if values else model

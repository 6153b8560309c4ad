"""`read_run`: one record of a finished run, whichever harness made it, read one sample at a time."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate
from lm_eval import evaluator
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun, Usage, read_run
from humor_tasks.logs.inspect_logs import from_log
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect import multiple_choice
from humor_tasks.on_inspect.errors import CannotRun
from humor_tasks.on_inspect.tasks.caption_contest import matching
from humor_tasks.on_inspect.tasks.humicroedit import humicroedit_pairwise
from humor_tasks.results.submission import read_answers

TASKS = str(REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks")
OPENED = load("matching", dataset="sample")
REPLIES = {r.id: "Hard to say." if i == 2 else f"Answer: {'ABCDE'[i % 5]}" for i, r in enumerate(OPENED.records)}
SPENT = ModelUsage(
    input_tokens=100, output_tokens=10, input_tokens_cache_read=30, input_tokens_cache_write=5, total_tokens=145
)


def model(replies: Callable[[str], str]) -> Model:
    def output(messages: list[Any], *rest: Any) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/m", replies((messages[-1].metadata or {}).get("id", "")))
        made.usage = SPENT.model_copy()
        return made

    return get_model("mockllm/m", custom_outputs=output, memoize=False)


def inspect_log(folder: Path, task: Task | None = None, **more: Any) -> EvalLog:
    by = model(lambda identity: REPLIES.get(identity, "Answer: A"))
    (log,) = eval(task or matching(dataset="sample"), model=by, log_dir=str(folder), display="log", **more)
    assert log.status == "success", log.error
    return log


class Replies(LM):
    """Replies by the document's id, and likes the same letters."""

    tokenizer_name = "replies"

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        return [REPLIES[request.doc["id"]] for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        return [(-float(not REPLIES[r.doc["id"]].endswith(r.args[1])), False) for r in requests]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError


def lm_eval_samples(folder: Path, task: str = "nyc_matching_gen", shots: int | None = None) -> Path:
    """The file that `lm_eval --output_path ... --log_samples` leaves, beside its results."""
    manager = TaskManager(include_path=TASKS, include_defaults=False, metadata={"dataset": "sample"})
    tracker = EvaluationTracker(output_path=str(folder))
    found = evaluator.simple_evaluate(
        Replies(), tasks=[task], task_manager=manager, evaluation_tracker=tracker, num_fewshot=shots
    )
    assert found is not None
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    return next(folder.rglob(f"samples_{task}_2*.jsonl"))


def as_made(found: FinishedRun, method: str = "generate", shots: int = 0) -> None:
    """A run of REPLIES on OPENED, sample by sample."""
    changes: dict[str, Any] = {} if method == "generate" else {"cot": False}
    opened = OPENED.with_options(shots=shots, **changes)
    assert (found.benchmark, found.version, found.status) == ("matching", opened.version, "success")
    assert found.signature == opened.signature(method)
    assert found.rows == found.instances == len(OPENED.records)
    assert found.options == opened.options.scoring()
    assert found.source["fingerprint"] == OPENED.data.provenance["fingerprint"]
    samples = {sample.id: sample for sample in found.samples}
    assert set(samples) == set(REPLIES)
    for record in OPENED.records:
        sample = samples[record.id]
        assert (sample.cluster, sample.groups, sample.choices) == (record.cluster, record.groups, record.choices)
        assert (sample.epoch, sample.error, sample.refused, sample.points) == (1, None, False, ())
        assert dict(sample.fields) == dict(record.fields)
        if method == "generate":
            assert sample.reply == REPLIES[record.id]
            assert sample.outcome == opened.outcome(record, REPLIES[record.id])
            assert opened.prompt(record).turns[-1].text.strip() in sample.prompt
        else:
            assert sample.reply is None
            assert sample.outcome is not None
            assert sample.outcome.answer == (REPLIES[record.id][-1] if "Answer" in REPLIES[record.id] else "A")
    assert [sample.id for sample in found.samples] == list(samples)  # a second time


# ---- the record ---------------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_an_inspect_log(log_format: Any, tmp_path: Path) -> None:
    log = inspect_log(tmp_path, log_format=log_format)
    found = read_run(Path(log.location), "matching", whole=True, one_epoch="no.", replies=True)
    as_made(found)
    assert (found.harness, found.model, found.graders) == ("inspect", "mockllm/m", ())
    n = len(REPLIES)
    assert found.models == {"mockllm/m": Usage(100 * n, 10 * n, 30 * n, 5 * n, None)}
    whole = read_eval_log(log.location)
    assert [sample.id for sample in found.samples] == [str(sample.id) for sample in whole.samples or []]
    assert list(from_log(whole).samples) == [*from_log(whole).samples]
    held = list(found.samples)
    assert [(s.id, s.outcome) for s in from_log(whole).samples] == [(s.id, s.outcome) for s in held]


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(
    ("task", "method", "shots"), [("nyc_matching_gen", "generate", 2), ("nyc_matching", "loglikelihood", None)]
)
def test_lm_evals_samples_tell_outcome_and_signature(task: str, method: str, shots: int | None, tmp_path: Path) -> None:
    path = lm_eval_samples(tmp_path, task, shots)
    found = read_run(path, "matching", whole=True)
    as_made(found, method, shots or 0)
    assert found.harness == "lm_eval"
    docs = [json.loads(line)["doc"] for line in path.read_text().splitlines()]
    assert {doc["humor_tasks"]["signature"] for doc in docs} == {str(found.signature)}
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(path.read_bytes())
    assert read_run(moved).signature == found.signature
    assert next(iter(read_run(moved).samples)).outcome == next(iter(found.samples)).outcome


@pytest.mark.lm_eval_versions
def test_a_documents_hash_holds_nothing_of_the_answer(tmp_path: Path) -> None:
    manager = TaskManager(include_path=TASKS, include_defaults=False, metadata={"dataset": "sample"})
    task = manager.load(["nyc_matching_gen"])["tasks"]["nyc_matching_gen"]
    hashes = []
    for replies in (REPLIES, dict.fromkeys(REPLIES, "Answer: B")):
        lm = Replies()
        lm.generate_until = lambda requests, disable_tqdm=False, said=replies: [said[r.doc["id"]] for r in requests]  # type: ignore[method-assign, misc]
        found = evaluator.evaluate(lm, {"nyc_matching_gen": task})
        assert found is not None
        hashes.append([sample["doc_hash"] for sample in found["samples"]["nyc_matching_gen"]])
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == len(REPLIES)


def test_a_file_of_texts(tmp_path: Path) -> None:
    (tmp_path / "theirs.json").write_text(json.dumps({"a": "One.", "b": "Two."}))
    found = read_run(tmp_path / "theirs.json", "matching", replies=True, texts=True)
    assert (found.harness, found.model, found.benchmark, found.instances) == ("predictions", "theirs", None, 2)
    assert [(s.id, s.reply, s.outcome) for s in found.samples] == [("a", "One.", None), ("b", "Two.", None)]
    with pytest.raises(BadInput, match="cannot be read as an Inspect log"):
        read_run(tmp_path / "theirs.json")


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_groups_of_any_name_travel_nested(tmp_path: Path) -> None:
    log = inspect_log(tmp_path, humicroedit_pairwise(dataset="sample"))
    opened = load("humicroedit_pairwise", dataset="sample")
    found = {sample.id: sample.groups for sample in read_run(Path(log.location)).samples}
    assert found == {record.id: record.groups for record in opened.records}
    assert set((log.samples or [])[0].metadata) == {"cluster", "humor_tasks"}


@pytest.mark.inspect_ai_versions
def test_somebody_elses_log_is_read_as_that(tmp_path: Path) -> None:
    task = Task(
        dataset=[Sample(id=i, input="1?", target="A", metadata={"fold": "x", "points": 3}) for i in (10, 9)],
        solver=generate(),
        scorer=match(),
        metadata={"source": "a diary"},
    )
    found = read_run(Path(inspect_log(tmp_path, task).location))
    assert (found.benchmark, found.signature, found.rows, found.source) == (None, Signature(), None, {})
    samples = list(found.samples)
    assert [(s.id, s.groups, s.points, s.outcome) for s in samples] == [("9", {}, (), None), ("10", {}, (), None)]
    assert samples[0].scores[0].scorer == "match"
    with pytest.raises(BadInput, match=r"sample 9 is not of humor_tasks/matching\."):
        list(read_run(found.path, "matching").samples)


# ---- checks -------------------------------------------------------------------------------------


def refused_file(path: Path, message: str, **how: Any) -> None:
    with pytest.raises(BadInput) as caught:
        list(read_run(path, **how).samples)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.inspect_ai_versions
def test_what_a_use_refuses(tmp_path: Path) -> None:
    refused_file(tmp_path / "no.eval", "there is no such log")
    refused_file(tmp_path, "is a folder; name the log itself")
    (tmp_path / "text.eval").write_text("{")
    refused_file(tmp_path / "text.eval", "cannot be read as an Inspect log")
    part = Path(inspect_log(tmp_path, limit=3).location)
    refused_file(part, f"holds 3 of {len(REPLIES)} instances, status success; run it whole", whole=True)
    assert len(list(read_run(part).samples)) == 3
    refused_file(part, "is not of humor_tasks/ranking.", benchmark="ranking")
    twice = Path(inspect_log(tmp_path, epochs=2, limit=2).location)
    refused_file(twice, "holds several epochs; not here.", one_epoch="not here.")
    found = read_run(twice)
    assert (found.instances, [s.epoch for s in found.samples]) == (2, [1, 1, 2, 2])
    unscored = Path(inspect_log(tmp_path, score=False).location)
    with pytest.raises(BadInput, match="has no score; finish the run with inspect eval-retry") as caught:
        read_answers(unscored)
    assert str(unscored) in str(caught.value)


def test_a_log_that_is_gone_when_it_is_read_again(tmp_path: Path) -> None:
    path = Path(inspect_log(tmp_path).location)
    found = read_run(path)
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(BadInput, match="it is truncated or damaged"):
        list(found)
    path.unlink()
    with pytest.raises(BadInput, match=r"cannot be read as an Inspect log .*No such file"):
        list(found)


@pytest.mark.inspect_ai_versions
def test_an_unfinished_log(tmp_path: Path) -> None:
    def fails(identity: str) -> str:
        if identity != OPENED.records[0].id:
            raise RuntimeError("out of jokes")
        return "Answer: A"

    (log,) = eval(matching(dataset="sample"), model=model(fails), log_dir=str(tmp_path), display="log", max_samples=1)
    path = Path(log.location)
    refused_file(path, "ended with status error; finish it with inspect eval-retry.")
    refused_file(path, "ended with status error; not so.", finished="not so.")
    found = read_run(path, finished=None)
    assert found.error is not None
    assert "out of jokes" in found.error
    assert "Answer: A" in {sample.reply for sample in found.samples}


@pytest.mark.lm_eval_versions
def test_what_is_wrong_with_samples(made: tuple[EvalLog, list[str]], tmp_path: Path) -> None:
    lines, path = made[1], tmp_path / "made.jsonl"

    def told(body: list[str], message: str, **how: Any) -> None:
        path.write_text("\n".join(body))
        refused_file(path, message, **how)

    told([*lines, lines[1]], f"line {len(lines) + 1}: holds a second reply for ")
    told([*lines, "{}"], f"line {len(lines) + 1}: is no sample of a humor-tasks task (KeyError('doc'))")
    told([lines[0], lines[1][:-9]], "line 2: not JSON that can be read")
    told(lines[:3], f"holds 3 of {len(lines)} instances; run it whole (no --limit, no --samples)", whole=True)
    told(lines, "line 1 is not of humor_tasks/explanation.", benchmark="explanation")
    compared = json.loads(lines[0]) | {"filtered_resps": [[-1.0, False]]}
    told([json.dumps(compared)], "holds no reply but [-1.0, False]; take the samples of a _gen task", replies=True)
    for change, said in (
        ({"filtered_resps": []}, "line 1: is no sample"),
        ({"doc": None}, "line 1: is no sample"),
        ({"doc": {"question": "?"}}, "line 1: is no sample"),
    ):
        told([json.dumps(json.loads(lines[0]) | change)], said)
    told([lines[0].replace('"filtered_resps"', '"resps_filtered"')], "KeyError('filtered_resps')")
    told([lines[0], "[" * 100_000], "line 2: not JSON that can be read")
    without = json.loads(lines[0])
    (without if "outcome" in without else without["doc"])["outcome"] = {}
    told([json.dumps(without)], "line 1: is no sample of a humor-tasks task (KeyError('values'))")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalLog, list[str]]:
    """A log of two samples, and the lines of lm-eval's samples."""
    folder = tmp_path_factory.mktemp("made")
    return inspect_log(folder, limit=2), lm_eval_samples(folder).read_text().splitlines()


@pytest.mark.parametrize(("name", "place"), [("groups", 1), ("options", 0), ("options", 1), ("facts", 1)])
def test_metadata_of_another_shape_is_named(
    name: str, place: int, made: tuple[EvalLog, list[str]], tmp_path: Path
) -> None:
    told = f"its metadata under 'humor_tasks' cannot be read (KeyError('{name}')). It was edited, or written by another"
    log, lines = made[0].model_copy(deep=True), [json.loads(line) for line in made[1]]
    sample = (log.samples or [])[place]
    del sample.metadata["humor_tasks"][name]
    for path in (tmp_path / "log.json", tmp_path / "log.eval"):
        write_eval_log(log, str(path))
        refused_file(path, f"sample {sample.id}: {told}")
    with pytest.raises(CannotRun, match="cannot be read"):
        score(log, multiple_choice(), display="log")
    del lines[place]["doc"]["humor_tasks"][name]
    (tmp_path / "made.jsonl").write_text("\n".join(map(json.dumps, lines)))
    refused_file(tmp_path / "made.jsonl", f"line {place + 1}: {told}")


# ---- memory -------------------------------------------------------------------------------------

LONG = "It is a pun. " * 2000  # 26 kB a sample


def many_in_an_archive(folder: Path, n: int) -> Path:
    log = inspect_log(folder, limit=1)
    (one,) = read_eval_log(log.location).samples or []
    one.output = ModelOutput.from_content("m", LONG)
    log.samples = [one.model_copy(update={"id": f"s{i}"}) for i in range(n)]
    log.eval.dataset.sample_ids = [f"s{i}" for i in range(n)]
    assert log.eval.metadata
    log.eval.metadata["source"]["rows"] = n
    path = folder / f"{n}.eval"
    write_eval_log(log, str(path))
    return path


def many_lines(folder: Path, n: int) -> Path:
    line = json.loads(lm_eval_samples(folder / "one").read_text().splitlines()[0])
    path = folder / f"samples_{n}.jsonl"
    with path.open("w") as file:
        for i in range(n):
            doc = line["doc"] | {"id": f"s{i}", "rows": n}
            file.write(json.dumps(line | {"doc": doc, "filtered_resps": [LONG]}) + "\n")
    return path


def most_held(path: Path, n: int) -> int:
    """The most bytes held while every sample of a run is read."""

    def read() -> Iterator[Any]:
        return iter(read_run(path, "matching", whole=True).samples)

    list(itertools.islice(read(), 1))  # imports, caches
    tracemalloc.start()
    try:
        assert sum(1 for sample in read() if sample.reply == LONG) == n
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("many", [many_in_an_archive, many_lines])
def test_memory_does_not_grow_with_the_samples(many: Callable[[Path, int], Path], tmp_path: Path) -> None:
    few, more = 20, 200
    grown = most_held(many(tmp_path / "b", more), more) - most_held(many(tmp_path / "a", few), few)
    assert grown < (more - few) * 3000  # of 26 kB a sample that are read; the archive's directory is what grows


# ---- one place ----------------------------------------------------------------------------------


def test_no_other_module_parses_finished_logs() -> None:
    package = REPOSITORY / "humor_tasks"
    for path in package.rglob("*.py"):
        if path.parent != package / "logs" and path != package / "on_lm_eval" / "harness.py":
            text = path.read_text(encoding="utf-8")
            for word in ("read_eval_log", "filtered_resps", "EvalSample"):
                assert word not in text, f"{path} reads {word}: let logs/ do it"

"""A trained model's answers to a benchmark's rows, without a harness. Processes divide the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from accelerate import PartialState
from accelerate.utils import gather_object

from humor_tasks.benchmarks.contract import Run
from humor_tasks.data.records import Record
from humor_tasks.models.choosers.chooser import best
from humor_tasks.models.text.causal import Causal
from humor_tasks.models.text.encoder import Ranker
from humor_tasks.models.text.language import Generation, LanguageModel
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.scorers.perplexity import UNITS, perplexity_estimate
from humor_tasks.training.text.data import chat_of, prompt_of, question


def load(folder: Path, kind: str, device: str, precision: str) -> Any:
    """The trained model of a folder."""
    if kind == "encoder":
        return Ranker.load(str(folder), device)
    return (Seq2Seq if kind == "seq2seq" else Causal).load(str(folder), device, precision)


def choices(model: Ranker | Seq2Seq | Causal, run: Run) -> dict[str, str]:
    """{instance_id: label} of the highest score or likelihood, the first one on a tie."""

    def scores(records: Sequence[Record]) -> list[list[float]]:
        if isinstance(model, Ranker):
            return model.score([question(record) for record in records])
        labels = [[f" {label}" for label in run.form.labels] for _ in records]
        found = model.loglikelihoods([_prompt(model, run, record) for record in records], labels)
        return [[each.logprob for each in own] for own in found]

    labels = run.form.labels
    return {identity: labels[best(own)] for identity, own in _divided(run, scores).items()}


def explanations(model: LanguageModel, run: Run, how: Generation) -> dict[str, str]:
    """{instance_id: text}."""

    def texts(records: Sequence[Record]) -> list[str]:
        return [each.text for each in model.generate([_prompt(model, run, record) for record in records], how)]

    return _divided(run, texts)


def perplexities(model: LanguageModel, run: Run) -> dict[str, dict[str, float | int | None]]:
    """The perplexities of the references by name, as in lm-eval, with intervals clustered as scores.

    The published unit is that of `word_perplexity`. The end token is not counted.
    """

    def likelihoods(records: Sequence[Record]) -> list[tuple[float, int]]:
        references = [[f" {record.target}"] for record in records]
        found = model.loglikelihoods([_prompt(model, run, record) for record in records], references)
        return [(each.logprob, each.tokens) for (each,) in found]

    found = _divided(run, likelihoods)
    clusters = [record.cluster for record in run.records]
    logprobs = [found[record.id][0] for record in run.records]
    results: dict[str, dict[str, float | int | None]] = {}
    for perplexity, count in UNITS.items():
        units = [count(str(record.target), found[record.id][1]) or 0 for record in run.records]
        estimate = perplexity_estimate(logprobs, units, clusters)
        values = {"value": estimate.value, "stderr": estimate.stderr, "low": estimate.low, "high": estimate.high}
        results[perplexity] = {name: value if value == value else None for name, value in values.items()}
        results[perplexity] |= {"n": estimate.n, "clusters": estimate.clusters, "units": sum(units)}
    return results


def _prompt(model: LanguageModel, run: Run, record: Record) -> str:
    """The prompt up to where the answer begins, as the harnesses show it to this kind of model."""
    if isinstance(model, Causal):
        prompt = chat_of(run, record, model.tokenizer)
        return prompt if prompt.endswith(run.form.prefix) else prompt + run.form.prefix
    return prompt_of(run, record)


def _divided(run: Run, compute: Callable[[Sequence[Record]], Sequence[Any]]) -> dict[str, Any]:
    """{instance_id: result} of all rows; each process computes its share."""
    state = PartialState()
    rows = run.records[state.process_index :: state.num_processes]
    found = dict(gather_object([(r.id, each) for r, each in zip(rows, compute(rows), strict=True)]))
    return {record.id: found[record.id] for record in run.records}

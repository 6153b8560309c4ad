"""A trained text model's answers to a benchmark's rows, without a harness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.records import Record
from humor_tasks.models.choosers.chooser import best
from humor_tasks.models.text.causal import Causal
from humor_tasks.models.text.choosing import Ranker
from humor_tasks.models.text.language import Generation, LanguageModel
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.training.answering import divided
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
    return {identity: labels[best(own)] for identity, own in divided(run, scores).items()}


def explanations(model: LanguageModel, run: Run, how: Generation) -> dict[str, str]:
    """{instance_id: text}."""

    def texts(records: Sequence[Record]) -> list[str]:
        return [each.text for each in model.generate([_prompt(model, run, record) for record in records], how)]

    return divided(run, texts)


def likelihoods(model: LanguageModel, run: Run, records: Sequence[Record]) -> list[tuple[float, int]]:
    """For `answering.perplexities`."""
    references = [[f" {record.target}"] for record in records]
    found = model.loglikelihoods([_prompt(model, run, record) for record in records], references)
    return [(each.logprob, each.tokens) for (each,) in found]


def _prompt(model: LanguageModel, run: Run, record: Record) -> str:
    """The prompt up to where the answer begins, as the harnesses show it to this kind of model."""
    if isinstance(model, Causal):
        prompt = chat_of(run, record, model.tokenizer)
        return prompt if prompt.endswith(run.form.prefix) else prompt + run.form.prefix
    return prompt_of(run, record)

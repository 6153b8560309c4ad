"""The rows of a fold, as the benchmark defines them, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from humor_tasks.api import load
from humor_tasks.benchmarks.caption_contest import released
from humor_tasks.contract.definition import Run
from humor_tasks.lab.training.text.settings import TextTrainConfig
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.models.text.causal import plain_template
from humor_tasks.models.text.templates import chat_text
from humor_tasks.rows.records import Record, plain_text
from humor_tasks.rows.trained_on import check_disjoint


@dataclass(frozen=True)
class Splits:
    """The rows of a fold, or of all folds without `train`; `evaluated` are the splits that are predicted."""

    train: Run | None
    validation: Run
    evaluated: Mapping[str, Run]

    @property
    def runs(self) -> dict[str, Run]:
        """Every split by name."""
        first = {} if self.train is None else {"train": self.train}
        return {**first, "validation": self.validation, **self.evaluated}


def read_splits(config: TextTrainConfig) -> Splits:
    """The splits of `config.fold`. Raises BadInput where one is missing or shares a contest with another."""
    train = None if config.fold == "all" else load(config.task, **config.parameters("train"))
    validation = load(config.task, **config.parameters("validation"))
    evaluated = {
        split: validation if split == "validation" else load(config.task, **config.parameters(split))
        for split in config.evaluate
    }
    splits = Splits(train, validation, evaluated)
    if train is not None:
        where = f"{config.dataset}, {config.task}, fold {config.fold}"
        clusters = {split: {record.cluster for record in run.records} for split, run in splits.runs.items()}
        check_disjoint(where, clusters, "contest" if config.has_folds else "picture or clip")
    return splits


def question(record: Record) -> Question:
    """What an encoder reads of a record."""
    return Question(
        record.id,
        record.context,
        record.choices,
        about=record.fields.get("punchline", ""),
        cluster=record.cluster,
    )


def prompt_of(run: Run, record: Record) -> str:
    """The prompt that a seq2seq model reads: the benchmark's own as plain text, up to the answer's prefix.

    The corpus's own text (`--input released`) has no prefix, as in the released trainer.
    """
    turns = [turn.text for turn in run.prompt(record).turns]
    return turns[-1] if released.stands_alone(run.templates) else plain_text(turns, run.form.prefix, run.form.gap)


def chat_of(run: Run, record: Record, tokenizer: Any) -> str:
    """The prompt that a causal model reads under its chat template, up to where the answer begins.

    A base model without a template gets one that shows plain text up to the answer's prefix, as in lm-eval. A template
    without a system turn is changed as `models.text.templates` says, and saved so with the model.
    """
    if tokenizer.chat_template is None:
        tokenizer.chat_template = plain_template(run.form.prefix, run.form.gap)
    return chat_text(tokenizer, [{"role": turn.role, "content": turn.text} for turn in run.prompt(record).turns])

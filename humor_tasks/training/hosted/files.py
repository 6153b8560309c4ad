"""Training files in the provider's chat format (JSON lines), checked against its limits before they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks.definition import Run
from humor_tasks.data.reading import missing
from humor_tasks.data.writing import LONE
from humor_tasks.errors import BadInput
from humor_tasks.training.hosted.limits import Limits, TrainedModel
from humor_tasks.training.hosted.rows import answer_of, messages_of
from humor_tasks.training.hosted.tokens import Counter

SHOWN = 5
"""Problems that one message names."""
KEYS = {"role", "content", "weight"}


@dataclass(frozen=True)
class TrainingFile:
    """A checked file: `part` is train, validation or joined, `tokens` those of all its rows."""

    part: str
    data: bytes
    rows: int
    tokens: int

    @property
    def name(self) -> str:
        """The file's name in the export folder."""
        return f"{self.part}.jsonl"

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, as hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()

    def about(self) -> dict[str, Any]:
        """For a manifest."""
        return {"rows": self.rows, "tokens": self.tokens, "bytes": len(self.data), "sha256": self.sha256}


def example(run: Run, record: Any) -> dict[str, Any]:
    """One line of a file: the prompt's messages and the answer.

    An assistant's turn of the prompt has weight 0, which is the provider's key for "no loss on this message".
    """
    prompt = [
        {**message, "weight": 0} if message["role"] == "assistant" else message for message in messages_of(run, record)
    ]
    return {"messages": [*prompt, {"role": "assistant", "content": answer_of(run, record.target)}]}


def examples(run: Run) -> tuple[list[str], list[str]]:
    """The lines and the ids of all records of a run."""
    lines = [json.dumps(example(run, record), ensure_ascii=False) for record in run.records]
    return lines, [record.id for record in run.records]


def checked(
    part: str,
    lines: Sequence[str],
    ids: Sequence[str],
    limits: Limits,
    models: Sequence[TrainedModel],
    counter: Counter,
) -> TrainingFile:
    """The file of these lines. Raises BadInput naming the rows that break a limit, the limit, and the remedy.

    ids: the rows' names in messages. models: their smallest context is the limit of a row.
    """
    context = min(model.context for model in models)
    problems: list[str] = []
    tokens = 0
    for i, (line, identity) in enumerate(zip(lines, ids, strict=True), 1):
        found, why = _example(line, limits)
        if not why:
            why = _too_long(found["messages"], context, counter)
            tokens += counter.count(found["messages"])
        problems += [f"row {i} ({identity}): {why}"] if why else []
    if part != "validation" and len(lines) < limits.least_rows:
        problems.append(
            f"{len(lines)} rows; {limits.provider} needs at least {limits.least_rows}. Use a dataset with more rows."
        )
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    if len(data) > limits.most_bytes:
        problems.append(
            f"{len(data):,} bytes; {limits.provider} takes at most {limits.most_bytes:,}. Use a setting with shorter "
            "prompts, or a dataset with fewer rows."
        )
    if problems:
        more = f" And {len(problems) - SHOWN} more." if len(problems) > SHOWN else ""
        raise BadInput(f"{part}.jsonl: {' '.join(problems[:SHOWN])}{more} Nothing was written.")
    return TrainingFile(part, data, len(lines), tokens)


def check_apart(train: Sequence[str], validation: Sequence[str], ids: Sequence[str]) -> None:
    """Raise BadInput for a row of validation, named by `ids`, that is also one of train, which the provider forbids."""
    known = set(train)
    for line, identity in zip(validation, ids, strict=True):
        if line in known:
            raise BadInput(
                f"validation.jsonl, row {identity}: train.jsonl has the same row, which the provider does not take. "
                "Remove it from the dataset's validation split. Nothing was written."
            )


def _example(line: str, limits: Limits) -> tuple[dict[str, Any], str]:
    """The example of a line, and what is wrong with it."""
    try:
        found = json.loads(line)
    except ValueError as problem:
        return {}, f"is not JSON ({problem}); write one object a line."
    if LONE.search(line) or LONE.search(json.dumps(found, ensure_ascii=False)):
        return {}, "has half of a surrogate pair, which is no character; correct the dataset's text."
    messages = found.get("messages") if isinstance(found, dict) else None
    if not isinstance(messages, list) or not messages or not all(isinstance(each, dict) for each in messages):
        return {}, 'has no list of messages; write {"messages": [{"role": ..., "content": ...}]}.'
    for number, message in enumerate(messages, 1):
        if why := _message(message, limits):
            return {}, f"message {number}: {why}"
    if messages[-1]["role"] != "assistant" or messages[-1].get("weight") == 0:
        return {}, "does not end with an assistant's message to learn; put the answer last."
    return found, ""


def _message(message: Mapping[str, Any], limits: Limits) -> str:
    if unknown := sorted(message.keys() - KEYS):
        return f"has the key {unknown[0]!r}; allowed are {', '.join(sorted(KEYS))}."
    if message.get("role") not in limits.roles:
        return f"role is {message.get('role')!r}; it must be one of {', '.join(limits.roles)}."
    if why := missing(message.get("content")):
        return f"content is {why}; it must be text."
    if "weight" in message and (message["role"] != "assistant" or message["weight"] not in (0, 1)):
        return f"weight is {message['weight']!r} of {message['role']}; only an assistant's message has 0 or 1."
    return ""


def _too_long(messages: Sequence[Mapping[str, Any]], context: int, counter: Counter) -> str:
    longest = counter.most(messages)
    if longest <= context:
        return ""
    cut = f"and an example has at most {context:,}: the provider cuts its end, where the answer is. Shorten its texts."
    if counter.exact:
        return f"has {longest:,} tokens, {cut}"
    return (
        f"may have up to {longest:,} tokens, {cut} Or run where tiktoken can load {counter.name}, which counts exactly."
    )

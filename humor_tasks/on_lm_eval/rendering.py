"""Record -> lm-eval's document; prompt -> its chat messages, or plain text for models without a chat template."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from humor_tasks.contract.answers import FreeText
from humor_tasks.contract.definition import Run
from humor_tasks.contract.variations import variation_of
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import digest
from humor_tasks.rows.records import Prompt, Record, Turn

# lm-eval's multimodal models replace each occurrence by the next picture of the request.
PLACEHOLDER = "<image>"


def messages(prompt: Prompt, system: str | None = None, merge: bool = False) -> list[dict[str, str]]:
    """Role and text of every turn.

    system: text to put before the prompt's system turn, from lm-eval's `--system_instruction`.
    merge: whether to merge all other turns into one user turn.
    """
    with_pictures = bool(prompt.pictures)
    turns = [{"role": turn.role, "content": _text(turn) if with_pictures else turn.text} for turn in prompt.turns]
    if system:
        existing = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
        turns.insert(0, {"role": "system", "content": "\n\n".join(part for part in (system, existing) if part)})
    if merge:
        first = [turn for turn in turns if turn["role"] == "system"]
        rest = "\n\n".join(turn["content"] for turn in turns if turn["role"] != "system")
        turns = [*first, {"role": "user", "content": rest}]
    return turns


def signed(system: str | None, templated: bool, multiturn: bool) -> dict[str, str]:
    """Entries of the signature for what lm-eval's flags change in the prompts; empty for the plain prompt.

    A chat template belongs to the model: the entry says that one was applied, and whether to worked examples as turns.
    """
    message = {"system_message": digest(system)} if system else {}
    return message | ({"chat_template": "multiturn" if multiturn else "applied"} if templated else {})


def _text(turn: Turn) -> str:
    # Escaped because the text of a caption or of a worked example must not contain the placeholder.
    text = turn.text.replace(PLACEHOLDER, "< image >")
    return f"{PLACEHOLDER}\n" * len(turn.pictures) + text


def check_sent(task: str, pictures: int, given: Mapping[str, Any]) -> None:
    """Raise BadInput where lm-eval's client of a model server would send fewer pictures; `given`: model arguments.

    It sends only the first ones; with worked examples, the item's picture, which is the last one, would be missing.
    """
    most = int(given.get("max_images", 1))
    if "base_url" in given and pictures > most:
        raise BadInput(
            f"{task}: its prompts have {pictures} pictures, but lm-eval sends only the first {most}, without the "
            f"picture of the item; set --model_args ...,max_images={pictures}."
        )


def about_run(run: Run) -> dict[str, Any]:
    """What a document says of its run: enough to score replies, and the answer's prefix if a template sets it."""
    about = {"benchmark": run.benchmark.name, "version": run.version, "options": run.options.scoring()}
    return about | ({"prefix": run.form.prefix} if run.form.worked else {})


def document(record: Record, run: Run) -> dict[str, Any]:
    """The document of a record, with ids, texts and label."""
    about = {"groups": dict(record.groups), "facts": dict(record.facts), "split": run.options.split}
    doc: dict[str, Any] = {
        "id": record.id,
        "cluster": record.cluster,
        "humor_tasks": about_run(run) | about,
        "context": record.context,
        "choices": list(record.choices),
        "fields": dict(record.fields),  # read by models that rate headlines
        "target": record.target,
        "rows": run.data.provenance["rows"]
        * run.variations.number,  # shows whether a log is of a part or of a run with --limit
    }
    doc |= {"item": variation_of(record).item} if run.variations.number > 1 else {}
    doc |= {"grouped": dataclasses.asdict(record.grouped)} if record.grouped else {}
    shown = record.picture or record.clip
    doc |= {"picture": shown.where} if shown else {}
    # Judges see the question as in Inspect, without the system turn; samples log all turns as one text.
    doc |= {"question": run.prompt(record).turns[-1].text} if isinstance(run.form, FreeText) else {}
    points = [dataclasses.asdict(point) for point in record.points]
    return doc | ({"points": points} if points else {})  # needed by `humor-tasks grade`

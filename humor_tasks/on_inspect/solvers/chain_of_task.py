"""Chain-of-Task as a solver, for any task."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentVideo,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock.chain_of_task import ORDER, sample_turns, samples
from humor_tasks.benchmarks.mock.detecting import MOCK_DETECTING
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.loading import pools
from humor_tasks.benchmarks.mock.matching import MOCK_MATCHING
from humor_tasks.contract.card import Chain
from humor_tasks.contract.definition import Data, Run
from humor_tasks.contract.options import ALL
from humor_tasks.contract.prompts import templates_hash
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.logs.record import TaskMetadata, task_metadata
from humor_tasks.logs.signature import Signature, digest
from humor_tasks.on_inspect.checks import check_takes
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import in_thread, turn_messages
from humor_tasks.on_inspect.outcomes import sign
from humor_tasks.on_inspect.tool_calls import answer
from humor_tasks.rows.media.checking import check_rows
from humor_tasks.rows.records import Record

SUBTASKS = {b.name.removeprefix("mock_"): b for b in (MOCK_DETECTING, MOCK_MATCHING, MOCK_EXPLAINING)}

NO_CHAIN = Chain("")
SETTINGS = ("dataset", "revision", "input", "frames", "sampling", "seed")


def chain_of_task_solver(
    task: str = "",
    scene: str = "",
    dataset: str = "",
    revision: str | None = None,
    input: str = "",
    frames: int = 0,
    sampling: str = "",
    prompts: str | None = None,
    seed: int | None = None,
    generates: bool = True,
) -> Solver:
    """See `humor_tasks.on_inspect.solver_parts.chain_of_task`."""
    given = {"dataset": dataset, "revision": revision, "input": input, "frames": frames or None, "sampling": sampling}
    given |= {"seed": seed, "prompts": prompts}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        of_task = task_metadata(state.metadata)
        if of_task.options.get("chain_of_task") is True:
            cannot_run(
                "chain_of_task: the task already shows worked samples (chain_of_task=true); leave out one of them."
            )
        try:
            if ALL in (prompts, of_task.options.get("prompts")):
                raise BadInput("it shows worked samples in one wording; use one prompt set, or chain_of_task=true.")
            asked = _required("task", task or _chain(of_task).subtask, ORDER)
            where = _required("scene", scene or _scene(of_task, state), mock.SCENES)
            settings = _settings(of_task) | {k: v for k, v in given.items() if v not in ("", None)}
            run, worked = _open(asked, where, tuple(settings.items()))
            await in_thread(_show, state, of_task, run, worked, asked, where)
            sign(state, of_task, _signed(of_task, run, asked))
        except BadInput as problem:
            cannot_run(f"humor_tasks/chain_of_task: sample {state.sample_id}: {problem}")
        return await answer(state, generate) if generates else state

    return solve


def _required(what: str, value: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    if not value:
        raise BadInput(f"the sample has no {what} in its metadata; give -S {what}={'|'.join(known)}.")
    return check_choice(what, value, known)


def _settings(of_task: TaskMetadata) -> dict[str, Any]:
    """The parameters of a MOCK task; for other tasks, only the seed."""
    benchmark = BENCHMARKS.get(of_task.benchmark or "")
    names = SETTINGS if benchmark and issubclass(benchmark.options, mock.MockOptions) else ("seed",)
    return {name: of_task.options[name] for name in names if of_task.options.get(name)}


def _scene(of_task: TaskMetadata, state: TaskState) -> str:
    return _chain(of_task).scene or of_task.groups.get("scene") or str(state.metadata.get("scene", ""))


def _chain(of_task: TaskMetadata) -> Chain:
    """What the sample's benchmark says of the worked samples that fit it."""
    benchmark = BENCHMARKS.get(of_task.benchmark or "")
    return (benchmark.uses.chain if benchmark else None) or NO_CHAIN


@lru_cache(maxsize=8)
def _open(
    task: str, scene: str, settings: tuple[tuple[str, Any], ...]
) -> tuple[Run[mock.MockOptions], Mapping[str, str]]:
    """A run with training records and templates, without records to evaluate; and its signature of worked samples."""
    options = mock.MockOptions(**dict(settings) | {"scene": scene}, chain_of_task=True)
    if not options.dataset:
        raise BadInput("give the folder whose train splits contain worked samples: -S dataset=FOLDER, or `sample`.")
    run = Run(SUBTASKS[task], options, Data((), {}, pools(options)), SUBTASKS[task].texts(options))
    signature = mock.worked(run)
    if options.on_bad_picture == "stop":
        drawn = [other for other, by in mock.SHOWN_BY.items() if task in by]
        pooled = [record for other in drawn for records in run.pool(scene, other).values() for record in records]
        media = [record.media for record in pooled]
        check_rows(media, f"the train split of {scene} in {options.dataset}", len(media))
    return run, signature


def _show(
    state: TaskState,
    of_task: TaskMetadata,
    run: Run[mock.MockOptions],
    worked: Mapping[str, str],
    task: str,
    scene: str,
) -> None:
    """Insert the samples after the system messages, and record them in the metadata."""
    digests = _digests(state)

    def allowed(sample: Record) -> bool:
        medium = sample.clip or sample.picture
        return not digests or medium is None or medium.sha256() not in digests

    drawn = samples(run, _record(state, of_task, scene), task, allowed)
    turns = [turn for other, sample in drawn for turn in sample_turns(run, other, sample)]
    check_takes(get_model(), [medium for turn in turns for medium in (turn.picture, turn.clip)])
    first = next((i for i, m in enumerate(state.messages) if not isinstance(m, ChatMessageSystem)), 0)
    state.messages = [*state.messages[:first], *turn_messages(turns, pictures=True), *state.messages[first:]]
    logged_samples = [{"task": other, "id": sample.id, "media_id": sample.cluster} for other, sample in drawn]
    options = {k: v for k, v in run.options.signature_entries().items() if k in ("input", "frames", "sampling", "seed")}
    signed = {"task": task, "scene": scene, "data": run.options.dataset, "rev": run.options.revision or "-"} | options
    signature = Signature(signed | {"prompts": run.prompts_hash, **worked})
    state.metadata["chain_of_task"] = {"samples": logged_samples, "signature": str(signature)}


def _signed(of_task: TaskMetadata, run: Run[mock.MockOptions], task: str) -> dict[str, str]:
    """What the run's signature says: for MOCK's own samples the same as of the parameter chain_of_task=true.

    Where the solver has other settings or templates than the task, or the task is another one, an entry of its own.
    """
    o = run.options
    plain = templates_hash(run.benchmark.texts(replace(o, chain_of_task=False)))
    same = all(getattr(o, name) == of_task.options.get(name, getattr(o, name)) for name in SETTINGS)
    if of_task.benchmark == run.benchmark.name and same and of_task.signature.get("prompts") == plain:
        return {"chain_of_task": "True", **_worked(of_task, run), "prompts": run.prompts_hash}
    entries = {"task": task, "data": o.dataset, "rev": o.revision, "prompts": run.prompts_hash, **o.signature_entries()}
    return {"solver": f"chain_of_task-{digest({name: entries[name] for name in entries if name != 'scene'})}"}


def _worked(of_task: TaskMetadata, run: Run[mock.MockOptions]) -> dict[str, str]:
    """The fingerprint of the pools of all scenes of the task; a sample is shown one pool."""
    data = replace(run.data, provenance=of_task.facts)
    whole = replace(run, options=replace(run.options, scene=of_task.options["scene"]), data=data)
    return {"worked": mock.worked(whole)["worked"]}


def _record(state: TaskState, of_task: TaskMetadata, scene: str) -> Record:
    """The question as a record, with the fields that the choice of samples needs."""
    identity = str(state.sample_id)
    asked = next((m for m in reversed(state.messages) if isinstance(m, ChatMessageUser)), None)
    fields = ((asked.metadata or {}) if asked else {}).get("fields", {})
    choices = tuple(choice.value for choice in state.choices)
    cluster = str(state.metadata.get("cluster", identity))
    if of_task.benchmark and _chain(of_task).scene:
        cluster = BENCHMARKS[of_task.benchmark].unit(cluster)  # the media_id of its cartoon in a MOCK folder
        fields = {**fields, "punchline": fields.get("caption", "")}
    return Record(identity, cluster, fields, "", choices, None, {"scene": scene})


def _digests(state: TaskState) -> set[str]:
    """SHA-256 of the question's media, from the metadata of this package's tasks and from the messages."""
    noted = {str(picture["sha256"]) for picture in state.metadata.get("pictures", []) if "sha256" in picture}
    contents = [part for message in state.messages for part in _media(message)]
    return noted | {hashlib.sha256(data).hexdigest() for data in map(_bytes, contents) if data is not None}


def _media(message: ChatMessage) -> list[str]:
    parts = [] if isinstance(message.content, str) else message.content
    images = [part.image for part in parts if isinstance(part, ContentImage)]
    return images + [part.video for part in parts if isinstance(part, ContentVideo)]


def _bytes(place: str) -> bytes | None:
    """The content of a `data:` URI or a file; None for a URL, and where it cannot be read."""
    start, _, encoded = place.partition(";base64,")
    try:
        return base64.b64decode(encoded, validate=True) if start.startswith("data:") else Path(place).read_bytes()
    except (OSError, ValueError, binascii.Error):
        return None

"""`--submit`: uploads the files of an export, starts one job, follows it, and writes the name of its model.

Every answer of the provider is written to the folder before the next request. What a process that was killed could not
write is found at the provider: files by a name that holds their hash, the job by its metadata.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from openai.types import FileObject
from openai.types.fine_tuning import FineTuningJob

from humor_tasks.data.reading import json_object
from humor_tasks.data.writing import write_bytes
from humor_tasks.errors import BadInput
from humor_tasks.training.folder import locked
from humor_tasks.training.hosted import provider
from humor_tasks.training.hosted.export import STATE, Export
from humor_tasks.training.hosted.files import TrainingFile

RESULT = "model.json"
FILE_POLL, FILE_POLLS = 5.0, 360
"""Seconds between looks at an uploaded file, and their number: half an hour, as in the library."""
JOB_POLL = 20.0
EVENTS = 20
pause: Callable[[float], None] = time.sleep
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What is to be trained: the model and the provider's settings, None where it chooses."""

    model: str
    n_epochs: int | None = None
    seed: int | None = None
    suffix: str | None = None


@dataclass
class State:
    """What the provider has: the ids of the files, by part, and of the job. Kept in submission.json."""

    path: Path
    settings: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    job: str | None = None

    def keep(self) -> None:
        """Write it, to the disk, before anything else is asked."""
        known = {"format": 1, "settings": self.settings, "files": self.files, "job": self.job}
        write_bytes(self.path, f"{json.dumps(known, indent=2)}\n".encode(), durable=True)


def submit(folder: Path, export: Export, wanted: Wanted, base_url: str | None, again: bool, say: Say) -> dict[str, Any]:
    """The content of model.json once the job has succeeded; it is asked for only while it is not there.

    again: whether a new job may take the place of one that failed or was cancelled.
    Raises BadInput where the provider refuses a file or the job, fails, or cannot be reached. The same command then
    goes on from there.
    """
    with locked(folder):
        if all((folder / name).is_file() for name in (STATE, RESULT)):
            _open_state(folder, export, wanted, None)
            return json_object(folder / RESULT)
        client = provider.open_client(base_url)
        state = _open_state(folder, export, wanted, provider.address(client))
        try:
            job = _follow(client, _job(client, state, export, wanted, again, say), say)
        except openai.OpenAIError as problem:
            raise provider.told(client, problem, "The same command goes on from here.") from None
        return _result(folder, export, job, base_url)


def _open_state(folder: Path, export: Export, wanted: Wanted, address: str | None) -> State:
    """The state of the folder. Raises BadInput where it is one of other settings or of another provider."""
    path = folder / STATE
    settings = {
        "address": address,
        "model": wanted.model,
        "n_epochs": wanted.n_epochs,
        "seed": wanted.seed,
        "suffix": wanted.suffix,
        "sha256": {file.part: file.sha256 for file in export.files},
    }
    if not path.is_file():
        return State(path, settings)
    kept = json_object(path)
    there, files, job = kept.get("settings"), kept.get("files"), kept.get("job")
    if not isinstance(there, dict) or not isinstance(files, dict) or not isinstance(job, str | None):
        raise BadInput(f"{path}: is not as this command writes it. Delete it: files and job are found at the provider.")
    asked = {name: value for name, value in settings.items() if name != "address" or address}
    if other := [name for name, value in asked.items() if there.get(name) != value]:
        shown = ", ".join(f"{name}={there.get(name)} there, {settings[name]} here" for name in other)
        raise BadInput(f"{folder}: was submitted with other settings ({shown}); choose another folder.")
    return State(path, there, files, job)


def _mark(state: State) -> str:
    """A hash of all that decides what is trained: the same files with the same settings have the same mark."""
    what = {name: value for name, value in state.settings.items() if name != "address"}
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


def _job(client: openai.OpenAI, state: State, export: Export, wanted: Wanted, again: bool, say: Say) -> FineTuningJob:
    """The folder's job: the one that it knows, one at the provider with its mark, or a new one."""
    if state.job:
        job = client.fine_tuning.jobs.retrieve(state.job)
        if not (again and job.status in provider.FAILED):
            return job
    mark = _mark(state)
    found = provider.find_job(client, mark, failed=not again)
    if found:
        say(f"{found.id}: trains these files with these settings and is followed; another --seed starts another job")
    else:
        files = {file.part: _uploaded(client, state, export, file, say) for file in export.files}
        how = {"n_epochs": wanted.n_epochs, "seed": wanted.seed, "suffix": wanted.suffix}
        found = provider.once(
            client,
            lambda: provider.find_job(client, mark, failed=not again),
            lambda its: provider.create_job(its, wanted.model, files, mark, how),
            pause,
        )
        say(f"{found.id}: started with {wanted.model}")
    state.job = found.id
    state.keep()
    return found


def _uploaded(client: openai.OpenAI, state: State, export: Export, file: TrainingFile, say: Say) -> str:
    """The id of the file at the provider, which has accepted it. Raises BadInput with its words where it rejects it."""
    name = f"humor-tasks-{export.task}-{file.part}-{file.sha256[:16]}.jsonl"
    found: FileObject | None = None
    if file.part in state.files:
        try:
            found = client.files.retrieve(state.files[file.part])
        except openai.NotFoundError:  # deleted there
            del state.files[file.part]
    if found is None:
        found = provider.once(
            client,
            lambda: provider.find_file(client, name, len(file.data)),
            lambda its: provider.upload(its, name, file.data),
            pause,
        )
        state.files[file.part] = found.id
        state.keep()
        say(f"{found.id}: {name} uploaded")
    for _ in range(FILE_POLLS):
        if found.status == "error":
            raise BadInput(
                f"{file.name}: the provider rejects it: {provider.plain(found.status_details or 'no reason given')}. "
                f"No job was started. Correct the rows, and delete {found.id} there to upload the same file again."
            )
        if found.status == "processed":
            return found.id
        pause(FILE_POLL)
        found = client.files.retrieve(found.id)
    raise BadInput(
        f"{file.name}: the provider still has {found.id} as '{found.status}' after half an hour. No job was started. "
        "The same command goes on from here."
    )


def _follow(client: openai.OpenAI, job: FineTuningJob, say: Say) -> FineTuningJob:
    """The finished job. Each new event and each change of status is said once."""
    seen: set[str] = set()
    status = ""
    while True:
        if job.status != status:
            status = job.status
            say(f"{job.id}: {status}")
        for event in reversed(client.fine_tuning.jobs.list_events(job.id, limit=EVENTS).data):
            if event.id not in seen:
                seen.add(event.id)
                say(f"{job.id}: {provider.plain(event.message)}")
        if status == "succeeded":
            return job
        if status in provider.FAILED:
            why = provider.plain(job.error.message or "") if job.error else ""
            raise BadInput(
                f"{job.id} {status}: {why or 'the provider gives no reason'}. Nothing was started in its place; "
                "--retry-failed starts a new job."
            )
        pause(JOB_POLL)
        job = client.fine_tuning.jobs.retrieve(job.id)


def _result(folder: Path, export: Export, job: FineTuningJob, base_url: str | None) -> dict[str, Any]:
    if not job.fine_tuned_model:
        raise BadInput(f"{job.id}: succeeded without a model's name; run the same command again.")
    command = export.evaluation(job.fine_tuned_model, provider.public(base_url) if base_url else None)
    result = {"model": job.fine_tuned_model, "job": job.id, "trained_tokens": job.trained_tokens, "evaluate": command}
    write_bytes(folder / RESULT, f"{json.dumps(result, indent=2)}\n".encode(), durable=True)
    return result

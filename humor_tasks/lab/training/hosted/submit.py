"""`--submit`: uploads the files of an export, starts one job, follows it, and writes the name of its model.

Every answer of the provider is written to the folder before the next request. What a process that was killed could not
write is found at the provider: files by a name that holds their hash, the job by its metadata.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import openai
from openai.types import FileObject
from openai.types.fine_tuning import FineTuningJob

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import json_object
from humor_tasks.files.secrets import without_credentials
from humor_tasks.files.writing import write_bytes
from humor_tasks.lab.training.hosted.export import STATE, Export, TrainingFile, differing
from humor_tasks.lab.training.run_folders import locked

Made = TypeVar("Made")

MARK = "humor_tasks"
"""Key of a job's metadata whose value says what the job trains on, and how."""
PURPOSE: Literal["fine-tune"] = "fine-tune"
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
"""Seconds between attempts, as in the library."""
FAILED = ("failed", "cancelled")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class JobRequest:
    """The model to train and the settings of the job; None where the provider chooses."""

    model: str
    n_epochs: int | None = None
    seed: int | None = None
    suffix: str | None = None


def open_client(base_url: str | None) -> openai.OpenAI:
    """The library's client. It reads OPENAI_API_KEY, OPENAI_BASE_URL and its other variables itself."""
    try:
        return openai.OpenAI(base_url=base_url)
    except openai.OpenAIError as problem:
        raise BadInput(f"--submit: {plain(str(problem))}") from None


def address(client: openai.OpenAI) -> str:
    """The base URL, as it may be shown and written."""
    return public(str(client.base_url))


def public(url: str) -> str:
    """A URL without a user's name and password."""
    return without_credentials(url).rstrip("/")


def plain(text: str) -> str:
    """A provider's text in one line, without control characters."""
    return _CONTROL.sub(" ", text).strip()


def as_bad_input(client: openai.OpenAI, problem: openai.OpenAIError, remedy: str) -> BadInput:
    """The error of a request as BadInput, without the key, which some servers repeat."""
    status = f"status {problem.status_code}, " if isinstance(problem, openai.APIStatusError) else ""
    body = getattr(problem, "body", None)
    message = plain(str((body.get("message") if isinstance(body, dict) else None) or problem))
    if client.api_key:
        message = message.replace(client.api_key, "***")
    return BadInput(f"{address(client)}: {status}{message.rstrip('.')}. {remedy}")


def once(
    client: openai.OpenAI,
    find: Callable[[], Made | None],
    create: Callable[[openai.OpenAI], Made],
    wait: Callable[[float], None],
) -> Made:
    """What `find` finds, or else what `create` makes: never a second one.

    The library would repeat a failed request to create something, and a provider that answers 500 may have created it
    all the same. So each attempt looks first. There are as many attempts as the library makes.
    """
    for attempt in range(client.max_retries + 1):
        if (there := find()) is not None:
            return there
        try:
            return create(client.with_options(max_retries=0))
        except (openai.APIConnectionError, openai.RateLimitError, openai.InternalServerError):
            if attempt == client.max_retries:
                raise
            wait(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT))
    raise AssertionError("the last attempt returns or raises")


def find_file(client: openai.OpenAI, name: str, size: int) -> FileObject | None:
    """The uploaded file of this name, which holds the hash of its content, and this many bytes."""
    files = client.files.list(purpose=PURPOSE)
    return next((file for file in files if file.filename == name and file.bytes == size), None)


def upload(client: openai.OpenAI, name: str, data: bytes) -> FileObject:
    """Upload a file for fine-tuning."""
    return client.files.create(file=(name, data, "application/jsonl"), purpose=PURPOSE)


def find_job(client: openai.OpenAI, mark: str, failed: bool) -> FineTuningJob | None:
    """The newest job with this mark; without `failed`, none that failed or was cancelled."""
    try:
        jobs = client.fine_tuning.jobs.list(metadata={MARK: mark})
    except AttributeError:  # of the library, which takes an answer that is no JSON for a list
        raise BadInput(f"{address(client)}: is not this API; correct --base-url or OPENAI_BASE_URL.") from None
    ours = (job for job in jobs if (job.metadata or {}).get(MARK) == mark)
    return next((job for job in ours if failed or job.status not in FAILED), None)


def create_job(client: openai.OpenAI, request: JobRequest, files: dict[str, str], mark: str) -> FineTuningJob:
    """Start a job on uploaded files (part -> id), with its mark."""
    options: dict[str, Any] = {
        "seed": request.seed,
        "suffix": request.suffix,
        "validation_file": files.get("validation"),
    }
    if request.n_epochs is not None:
        supervised = {"hyperparameters": {"n_epochs": request.n_epochs}}
        options["method"] = {"type": "supervised", "supervised": supervised}
    return client.fine_tuning.jobs.create(
        model=request.model,
        training_file=files.get("joined") or files["train"],
        metadata={MARK: mark},
        **{name: value for name, value in options.items() if value is not None},
    )


# ---- the submission -------------------------------------------------------------------------------

RESULT = "model.json"
FILE_POLL, FILE_POLLS = 5.0, 360
"""Seconds between looks at an uploaded file, and their number: half an hour, as in the library."""
JOB_POLL = 20.0
EVENTS = 20
pause: Callable[[float], None] = time.sleep
Say = Callable[[str], None]


@dataclass
class State:
    """What the provider has: the ids of the files, by part, and of the job. Kept in submission.json."""

    path: Path
    settings: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    job: str | None = None

    def save(self) -> None:
        """Write it, to the disk, before anything else is asked."""
        content = {"format": 1, "settings": self.settings, "files": self.files, "job": self.job}
        write_bytes(self.path, f"{json.dumps(content, indent=2)}\n".encode(), durable=True)


def submit(
    folder: Path, export: Export, request: JobRequest, base_url: str | None, again: bool, say: Say
) -> dict[str, Any]:
    """The content of model.json once the job has succeeded; it is asked for only while it is not there.

    again: whether a new job may take the place of one that failed or was cancelled.
    Raises BadInput where the provider refuses a file or the job, fails, or cannot be reached. The same command then
    goes on from there.
    """
    with locked(folder):
        if all((folder / name).is_file() for name in (STATE, RESULT)):
            _open_state(folder, export, request, None)
            return json_object(folder / RESULT)
        client = open_client(base_url)
        state = _open_state(folder, export, request, address(client))
        try:
            job = _follow(client, _job(client, state, export, request, again, say), say)
        except openai.OpenAIError as problem:
            raise as_bad_input(client, problem, "The same command goes on from here.") from None
        return _result(folder, export, job, base_url)


def _open_state(folder: Path, export: Export, request: JobRequest, address: str | None) -> State:
    """The state of the folder. Raises BadInput where it is one of other settings or of another provider."""
    path = folder / STATE
    sha256 = {file.part: file.sha256 for file in export.files}
    settings = {"address": address, **asdict(request), "sha256": sha256}
    if not path.is_file():
        return State(path, settings)
    content = json_object(path)
    there, files, job = content.get("settings"), content.get("files"), content.get("job")
    if not isinstance(there, dict) or not isinstance(files, dict) or not isinstance(job, str | None):
        raise BadInput(f"{path}: is not as this command writes it. Delete it: files and job are found at the provider.")
    compared = {name: value for name, value in settings.items() if name != "address" or address}
    if differences := differing(compared, there):
        raise BadInput(f"{folder}: was submitted with other settings ({differences}); choose another folder.")
    return State(path, there, files, job)


def _mark(state: State) -> str:
    """A hash of all that decides what is trained: the same files with the same settings have the same mark."""
    settings = {name: value for name, value in state.settings.items() if name != "address"}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:32]


def _job(
    client: openai.OpenAI, state: State, export: Export, request: JobRequest, again: bool, say: Say
) -> FineTuningJob:
    """The folder's job: the one that it knows, one at the provider with its mark, or a new one."""
    if state.job:
        known = client.fine_tuning.jobs.retrieve(state.job)
        if not (again and known.status in FAILED):
            return known
    mark = _mark(state)
    job = find_job(client, mark, failed=not again)
    if job:
        say(f"{job.id}: trains these files with these settings and is followed; another --seed starts another job")
    else:
        files = {file.part: _uploaded(client, state, export, file, say) for file in export.files}
        job = once(
            client,
            lambda: find_job(client, mark, failed=not again),
            lambda its: create_job(its, request, files, mark),
            pause,
        )
        say(f"{job.id}: started with {request.model}")
    state.job = job.id
    state.save()
    return job


def _uploaded(client: openai.OpenAI, state: State, export: Export, file: TrainingFile, say: Say) -> str:
    """The id of the file at the provider, which has accepted it. Raises BadInput with its words where it rejects it."""
    name = f"humor-tasks-{export.task}-{file.part}-{file.sha256[:16]}.jsonl"
    uploaded: FileObject | None = None
    if file.part in state.files:
        try:
            uploaded = client.files.retrieve(state.files[file.part])
        except openai.NotFoundError:  # deleted there
            del state.files[file.part]
    if uploaded is None:
        uploaded = once(
            client,
            lambda: find_file(client, name, len(file.data)),
            lambda its: upload(its, name, file.data),
            pause,
        )
        state.files[file.part] = uploaded.id
        state.save()
        say(f"{uploaded.id}: {name} uploaded")
    for _ in range(FILE_POLLS):
        if uploaded.status == "error":
            raise BadInput(
                f"{file.name}: the provider rejects it: {plain(uploaded.status_details or 'no reason given')}. "
                f"No job was started. Correct the rows, and delete {uploaded.id} there to upload the same file again."
            )
        if uploaded.status == "processed":
            return uploaded.id
        pause(FILE_POLL)
        uploaded = client.files.retrieve(uploaded.id)
    raise BadInput(
        f"{file.name}: the provider still has {uploaded.id} as '{uploaded.status}' after half an hour. No job was "
        "started. The same command goes on from here."
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
                say(f"{job.id}: {plain(event.message)}")
        if status == "succeeded":
            return job
        if status in FAILED:
            why = plain(job.error.message or "") if job.error else ""
            raise BadInput(
                f"{job.id} {status}: {why or 'the provider gives no reason'}. Nothing was started in its place; "
                "--retry-failed starts a new job."
            )
        pause(JOB_POLL)
        job = client.fine_tuning.jobs.retrieve(job.id)


def _result(folder: Path, export: Export, job: FineTuningJob, base_url: str | None) -> dict[str, Any]:
    if not job.fine_tuned_model:
        raise BadInput(f"{job.id}: succeeded without a model's name; run the same command again.")
    command = export.evaluation(job.fine_tuned_model, public(base_url) if base_url else None)
    result = {"model": job.fine_tuned_model, "job": job.id, "trained_tokens": job.trained_tokens, "evaluate": command}
    write_bytes(folder / RESULT, f"{json.dumps(result, indent=2)}\n".encode(), durable=True)
    return result

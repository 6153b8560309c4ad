"""The provider's side: its client, what is there already, and its errors in this package's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import openai
from openai.types import FileObject
from openai.types.fine_tuning import FineTuningJob

from humor_tasks.errors import BadInput

Made = TypeVar("Made")

MARK = "humor_tasks"
"""Key of a job's metadata whose value says what the job trains on, and how."""
PURPOSE: Literal["fine-tune"] = "fine-tune"
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
"""Seconds between attempts, as in the library."""
FAILED = ("failed", "cancelled")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


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
    return re.sub(r"//[^/@]*@", "//", url).rstrip("/")


def plain(text: str) -> str:
    """A provider's text in one line, without control characters."""
    return _CONTROL.sub(" ", text).strip()


def told(client: openai.OpenAI, problem: openai.OpenAIError, remedy: str) -> BadInput:
    """The error of a request as BadInput, without the key, which some servers repeat."""
    status = f"status {problem.status_code}, " if isinstance(problem, openai.APIStatusError) else ""
    body = getattr(problem, "body", None)
    said = plain(str((body.get("message") if isinstance(body, dict) else None) or problem))
    if client.api_key:
        said = said.replace(client.api_key, "***")
    return BadInput(f"{address(client)}: {status}{said.rstrip('.')}. {remedy}")


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
        if (found := find()) is not None:
            return found
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


def create_job(client: openai.OpenAI, model: str, files: dict[str, str], mark: str, how: dict[str, Any]) -> Any:
    """Start a job on uploaded files (part -> id), with its mark; how: n_epochs, seed and suffix, None where not set."""
    given: dict[str, Any] = {name: how[name] for name in ("seed", "suffix") if how[name] is not None}
    if "validation" in files:
        given["validation_file"] = files["validation"]
    if how["n_epochs"] is not None:
        given["method"] = {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": how["n_epochs"]}}}
    trained = files.get("joined") or files["train"]
    return client.fine_tuning.jobs.create(model=model, training_file=trained, metadata={MARK: mark}, **given)

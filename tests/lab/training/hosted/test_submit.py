"""`humor-tasks export finetune --submit`, against a scripted provider: nothing is uploaded or started twice."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openai
import pytest
import requests
import tiktoken.load
from standins import commands
from standins.finetuning import LOST, Provider
from standins.trainings import Killed

from humor_tasks import load
from humor_tasks.lab.training.hosted import submit
from humor_tasks.lab.training.hosted.export import Export, make_export, write_export
from humor_tasks.lab.training.hosted.limits import Counter, read_limits
from humor_tasks.lab.training.run_folders import locked

KEY = "sk-not-a-key-of-anybody"
MODEL = "gpt-4.1-mini-2025-04-14"
REQUESTS = 16
"""Requests of an undisturbed run; see `test_what_is_asked_of_the_provider`."""


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[float]:
    """Seconds that would have been waited. tiktoken has no vocabulary, and the key is not one."""

    def refuse(path: str) -> bytes:
        raise requests.ConnectionError(path)

    waited: list[float] = []
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # of the library, before it repeats a request
    monkeypatch.setattr(submit, "pause", waited.append)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "vocabularies"))
    monkeypatch.setattr(tiktoken.load, "read_file", refuse)
    monkeypatch.setattr("tiktoken.registry.ENCODINGS", {})
    for name in ("BASE_URL", "ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return waited


@pytest.fixture
def service() -> Iterator[Provider]:
    with Provider() as running:
        yield running


@pytest.fixture(scope="module")
def export() -> Export:
    """The files of the sample."""
    limits = read_limits()
    return make_export("matching", [], {"dataset": "sample"}, False, limits, [limits.model(MODEL)], Counter("none"))


def command(service: Provider, folder: Path, *more: str) -> list[str]:
    given = ["export", "finetune", "--task", "matching", "--dataset", "sample", "--model", MODEL, "--submit"]
    return [*given, "--base-url", service.url, "-o", str(folder), *more]


def done(service: Provider, folder: Path, *more: str) -> dict[str, Any]:
    """model.json after a run that ends well."""
    said = commands.humor_tasks(*command(service, folder, *more))
    found = json.loads((folder / "model.json").read_text())
    assert said.splitlines()[-1] == found["evaluate"]
    return found


def posted(service: Provider) -> list[str]:
    return [path for method, path in service.requests if method == "POST"]


# ---- a run --------------------------------------------------------------------------------------


def test_what_is_asked_of_the_provider(service: Provider, tmp_path: Path, waits: list[float]) -> None:
    found = done(service, tmp_path / "out", "--n-epochs", "2", "--suffix", "humour", "--seed", "7")
    (job,) = service.jobs.values()
    assert len(service.requests) == REQUESTS
    assert posted(service) == ["files", "files", "fine_tuning/jobs"]
    files = {file["filename"].split("-")[3]: file["id"] for file in service.files.values()}
    for part, identity in files.items():
        assert service.content[identity] == (tmp_path / "out" / f"{part}.jsonl").read_bytes()
    asked = {name: job[name] for name in ("model", "training_file", "validation_file", "suffix", "seed", "method")}
    assert asked == {
        "model": MODEL,
        "training_file": files["train"],
        "validation_file": files["validation"],
        "suffix": "humour",
        "seed": 7,
        "method": {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 2}}},
    }
    assert found["model"] == f"ft:{MODEL}:org:humour:{job['id']}"
    assert (found["job"], found["trained_tokens"]) == (job["id"], 1234)
    assert waits == [submit.FILE_POLL] * 4 + [submit.JOB_POLL] * 2


def test_joined_files_are_trained_on_without_validation_and_what_is_not_given_is_the_providers_choice(
    service: Provider, tmp_path: Path
) -> None:
    done(service, tmp_path / "out", "--joined")
    (job,), (file,) = service.jobs.values(), service.files.values()
    assert job["training_file"] == file["id"]
    assert service.content[file["id"]].count(b"\n") == 40
    assert not {"validation_file", "method", "suffix"} & job.keys()


def test_the_printed_command_evaluates_the_model_on_the_prompts_that_it_was_trained_on(
    service: Provider, tmp_path: Path
) -> None:
    found = done(service, tmp_path / "out", "--setting", "caption_only")
    parameters = "-T cot=false -T shots=0 -T dataset=sample -T setting=caption_only".split()
    model = ["--model", f"openai/{found['model']}", "--model-base-url", service.url]
    assert shlex.split(found["evaluate"]) == ["inspect", "eval", "humor_tasks/matching", *model, *parameters]
    run = load("matching", cot=False, shots=0, dataset="sample", setting="caption_only", split="train")
    trained = [json.loads(line)["messages"][:-1] for line in (tmp_path / "out" / "train.jsonl").open()]
    shown = [[turn.text for turn in run.prompt(record).turns] for record in run.records]
    assert [[message["content"] for message in messages] for messages in trained] == shown


def test_progress_is_said_once_and_without_control_characters(service: Provider, tmp_path: Path) -> None:
    service.statuses = ["validating_files", "queued", "running", "succeeded"]
    said = commands.humor_tasks(*command(service, tmp_path / "out"))
    followed = [line for line in said.splitlines() if line.startswith("ftjob-1: ")]
    told = [f"started with {MODEL}", "validating_files", "queued", "running", "succeeded"]
    assert sorted(followed) == sorted(f"ftjob-1: {each}" for each in [*told, *(f"Step {i}/4 [2J" for i in range(5))])
    assert "\x1b" not in said


def test_a_finished_run_asks_nothing_more_and_needs_no_key(
    service: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = done(service, tmp_path / "out")
    service.requests.clear()
    monkeypatch.delenv("OPENAI_API_KEY")
    assert done(service, tmp_path / "out") == first
    assert service.requests == []


# ---- killed -------------------------------------------------------------------------------------


def kill_at(monkeypatch: pytest.MonkeyPatch, number: int, answered: bool) -> None:
    """The process ends at its request of this number: before it is sent, or when its answer has arrived."""
    count = [0]

    class Mortal(openai.OpenAI):
        def request(self, *args: Any, **more: Any) -> Any:
            count[0] += 1
            if count[0] == number and not answered:
                raise Killed
            reply = super().request(*args, **more)
            if count[0] == number:
                raise Killed
            return reply

    monkeypatch.setattr(submit.openai, "OpenAI", Mortal)


def start(service: Provider, folder: Path, export: Export) -> dict[str, Any]:
    """As the command, without reading the dataset again."""
    write_export(folder, export)
    return submit.submit(folder, export, submit.JobRequest(MODEL), service.url, False, lambda said: None)


EVERY = range(1, REQUESTS + 1)


def some(seed: int) -> list[int]:
    """Five requests."""
    return sorted(random.Random(seed).sample(EVERY, 5))


@pytest.mark.slow
@pytest.mark.parametrize(("answered", "numbers"), [(False, some(0)), (True, EVERY)], ids=["unsent", "answered"])
def test_a_run_killed_at_any_request_goes_on_and_pays_once(
    answered: bool, numbers: Sequence[int], export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in numbers:
        with Provider() as service:
            with monkeypatch.context() as patched:
                kill_at(patched, number, answered)
                with pytest.raises(Killed):
                    start(service, tmp_path / f"{number}", export)
            assert start(service, tmp_path / f"{number}", export)["job"] == "ftjob-1"
            assert posted(service) == ["files", "files", "fine_tuning/jobs"], number


FAULTS = [(LOST, EVERY), (503, some(0)), (1500, some(1)), (1429, some(2)), (429, some(3))]


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "numbers"), FAULTS, ids=[str(fault) for fault, _ in FAULTS])
def test_a_provider_that_fails_once_at_any_request_is_asked_again_and_paid_once(
    fault: int, numbers: Sequence[int], export: Export, tmp_path: Path
) -> None:
    for number in numbers:
        with Provider() as service:
            service.fault = lambda count, method, path, at=number: fault if count == at else None
            assert start(service, tmp_path / f"{number}", export)["job"] == "ftjob-1"
            assert (len(service.files), len(service.jobs)) == (2, 1), number


@pytest.mark.slow
def test_a_provider_that_keeps_failing_is_told_and_the_command_goes_on_later(
    service: Provider, tmp_path: Path, waits: list[float]
) -> None:
    for status in (429, 500):
        service.fault = lambda count, method, path, status=status: status if method == "POST" else None
        service.requests.clear()
        said = commands.refused(*command(service, tmp_path / "out"))
        assert f"{service.url}: status {status}, fault {status}; Authorization was Bearer ***" in said
        assert "The same command goes on from here." in said
        assert posted(service) == ["files"] * 3
        assert waits == [0.5, 1.0]
        waits.clear()
    service.fault = lambda count, method, path: None
    done(service, tmp_path / "out")
    assert (len(service.files), len(service.jobs)) == (2, 1)


@pytest.mark.slow
def test_a_follow_up_that_the_provider_ends_goes_on_without_a_second_job(service: Provider, tmp_path: Path) -> None:
    service.fault = lambda count, method, path: 500 if path.startswith("fine_tuning/jobs/") else None
    assert "status 500" in commands.refused(*command(service, tmp_path / "out"))
    assert len(service.jobs) == 1
    service.fault = lambda count, method, path: None
    service.requests.clear()
    done(service, tmp_path / "out")
    assert {path.removesuffix("/events") for _, path in service.requests} == {"fine_tuning/jobs/ftjob-1"}
    assert posted(service) == []


@pytest.mark.slow
def test_another_folder_with_the_same_files_and_settings_follows_the_same_job(
    service: Provider, tmp_path: Path
) -> None:
    for _ in range(3):  # other jobs and files, so that ours are not on the first page
        service.add_file("other.jsonl", b"")
    first = done(service, tmp_path / "a")
    for _ in range(3):
        service.add_job({"model": MODEL, "training_file": "x", "metadata": {"humor_tasks": "another"}})
    said = commands.humor_tasks(*command(service, tmp_path / "b"))
    assert f"{first['job']}: trains these files with these settings and is followed" in said
    assert json.loads((tmp_path / "b" / "model.json").read_text()) == first
    other = done(service, tmp_path / "c", "--seed", "8")
    assert other["job"] != first["job"]
    assert posted(service) == ["files", "files", "fine_tuning/jobs", "fine_tuning/jobs"]


# ---- refused ------------------------------------------------------------------------------------


def test_a_file_that_the_provider_rejects_is_told_and_nothing_is_started(service: Provider, tmp_path: Path) -> None:
    service.file_statuses, service.status_details = ["uploaded", "error"], "line 3:\nno assistant\x07"
    for _ in range(2):
        said = commands.refused(*command(service, tmp_path / "out"))
        assert "train.jsonl: the provider rejects it: line 3: no assistant. No job was started." in said
    assert posted(service) == ["files"]
    assert service.jobs == {}


@pytest.mark.slow
def test_a_file_deleted_at_the_provider_is_uploaded_again(service: Provider, tmp_path: Path) -> None:
    service.file_statuses = ["uploaded", "error"]
    commands.refused(*command(service, tmp_path / "out"))
    service.files.clear()
    service.file_statuses = ["processed"]
    done(service, tmp_path / "out")
    assert posted(service) == ["files", "files", "files", "fine_tuning/jobs"]


def test_a_file_that_is_never_processed_ends_the_wait(
    service: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit, "FILE_POLLS", 3)
    service.file_statuses = ["uploaded"]
    assert "still has file-1 as 'uploaded' after half an hour. No job" in commands.refused(
        *command(service, tmp_path / "out")
    )
    assert service.jobs == {}


@pytest.mark.parametrize("path", ["files", "fine_tuning/jobs"])
def test_a_refused_request_is_told_once_and_not_repeated(service: Provider, tmp_path: Path, path: str) -> None:
    service.fault = lambda count, method, asked: 400 if (method, asked) == ("POST", path) else None
    said = commands.refused(*command(service, tmp_path / "out"))
    assert "status 400, fault 400" in said
    assert posted(service).count(path) == 1
    assert service.jobs == {}


@pytest.mark.slow
def test_a_failed_job_is_told_and_replaced_only_when_asked(service: Provider, tmp_path: Path) -> None:
    service.statuses, service.error = ["running", "failed"], {"code": "x", "message": "quota\nexceeded", "param": None}
    for _ in range(2):
        said = commands.refused(*command(service, tmp_path / "out"))
        assert (
            "ftjob-1 failed: quota exceeded. Nothing was started in its place; --retry-failed starts a new job" in said
        )
    assert "ftjob-1 failed" in commands.refused(*command(service, tmp_path / "elsewhere"))
    assert len(service.jobs) == 1
    service.jobs["ftjob-1"]["status"], service.statuses = "failed", ["running", "succeeded"]
    assert done(service, tmp_path / "out", "--retry-failed")["job"] == "ftjob-2"
    assert posted(service) == ["files", "files", "fine_tuning/jobs", "fine_tuning/jobs"]


@pytest.mark.slow
def test_a_retry_that_was_killed_follows_the_job_that_it_started(
    service: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.statuses = ["cancelled"]
    commands.refused(*command(service, tmp_path / "out"))
    service.jobs["ftjob-1"]["status"], service.statuses = "cancelled", ["running", "succeeded"]
    started = len(service.requests)
    service.fault = lambda count, method, path: LOST if method == "POST" else 500 if count > started + 5 else None
    commands.refused(*command(service, tmp_path / "out", "--retry-failed"))
    service.fault = lambda count, method, path: None
    assert done(service, tmp_path / "out", "--retry-failed")["job"] == "ftjob-2"
    assert len(service.jobs) == 2


@pytest.mark.slow
def test_a_folder_is_submitted_with_one_set_of_settings_to_one_provider(service: Provider, tmp_path: Path) -> None:
    done(service, tmp_path / "out", "--seed", "1")
    told = "was submitted with other settings (seed=1 there, 2 here); choose another folder"
    assert told in commands.refused(*command(service, tmp_path / "out", "--seed", "2"))
    (tmp_path / "out" / "model.json").unlink()
    with Provider() as other:
        assert f"(address={service.url} there, {other.url} here)" in commands.refused(
            *command(other, tmp_path / "out", "--seed", "1")
        )
        assert other.requests == []


@pytest.mark.slow
def test_a_lost_state_is_found_again_at_the_provider(service: Provider, tmp_path: Path) -> None:
    first = done(service, tmp_path / "out")
    for name in ("submission.json", "model.json"):
        (tmp_path / "out" / name).unlink()
    assert done(service, tmp_path / "out") == first
    (tmp_path / "out" / "submission.json").write_text('{"settings": []}')
    assert "Delete it: files and job are found at the provider" in commands.refused(*command(service, tmp_path / "out"))
    assert posted(service) == ["files", "files", "fine_tuning/jobs"]


def test_an_address_that_is_not_this_api_is_told(service: Provider, tmp_path: Path) -> None:
    service.page = b"<html>Welcome</html>"
    assert f"{service.url}: is not this API; correct --base-url" in commands.refused(
        *command(service, tmp_path / "out")
    )
    assert posted(service) == []


def test_without_a_key_nothing_is_asked(service: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert "OPENAI_API_KEY" in commands.refused(*command(service, tmp_path / "out"))
    assert service.requests == []


def test_the_key_is_sent_and_neither_shown_nor_written(service: Provider, tmp_path: Path) -> None:
    service.fault = lambda count, method, path: 401 if count == 1 else None
    said = commands.refused(*command(service, tmp_path / "out"))
    said += commands.humor_tasks(*command(service, tmp_path / "out"))
    assert f"Bearer {KEY}" in service.headers[0]
    assert KEY not in said
    assert not [path for path in (tmp_path / "out").iterdir() if KEY.encode() in path.read_bytes()]


def test_a_password_in_the_address_is_neither_shown_nor_written(service: Provider, tmp_path: Path) -> None:
    address = service.url.replace("//", "//me:pass-word@")
    given = [address if each == service.url else each for each in command(service, tmp_path / "out")]
    said = commands.humor_tasks(*given)
    assert service.url in said
    assert "pass-word" not in said
    assert not [path for path in (tmp_path / "out").iterdir() if b"pass-word" in path.read_bytes()]


def test_two_processes_do_not_submit_one_folder(service: Provider, tmp_path: Path) -> None:
    commands.humor_tasks(
        *[each for each in command(service, tmp_path / "out")[:-4] if each != "--submit"], "-o", str(tmp_path / "out")
    )
    with locked(tmp_path / "out"):
        assert "another process" in commands.refused(*command(service, tmp_path / "out"))
    assert service.requests == []

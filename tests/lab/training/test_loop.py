"""What all trainings have in common, on the smallest one: goes on after a kill, stops early, tells what is wrong.

Several processes: tests/lab/training/test_processes.py. What a checkpoint holds: tests/lab/training/test_checkpoint.py.
"""

from __future__ import annotations

import contextlib
import errno
import json
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from standins import tiny_training
from standins.tiny_training import Line, trained
from standins.trainings import Killed, killed_in_epoch

from humor_tasks.errors import BadInput
from humor_tasks.files.locks import locked
from humor_tasks.lab.training import checkpoint
from humor_tasks.lab.training.loop import process_parts
from humor_tasks.lab.training.run_folders import check_folder, run_in


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows_of_curve(output: Path) -> list[list[float]]:
    head, *rows = (output / "curves.csv").read_text().splitlines()
    assert tuple(head.split(",")) == Line.CURVE
    return [[float(value) for value in row.split(",")] for row in rows]


def refused(output: Path, **how: Any) -> str:
    with pytest.raises(BadInput) as problem:
        trained(output, **how)
    return str(problem.value)


# ---- whole trainings ----------------------------------------------------------------------------


def test_a_training_leaves_the_best_weights_its_curve_and_notes(tmp_path: Path) -> None:
    notes = trained(tmp_path, epochs=5)
    assert files(tmp_path).keys() == {"curves.csv", "training.json", "model/weights.safetensors"}
    rows = rows_of_curve(tmp_path)
    assert [row[:2] for row in rows] == [[k, 4 * k] for k in range(1, 6)]
    assert rows[-1][2] < rows[0][2]
    best = min(rows, key=lambda row: row[3])
    assert notes == {"best_epoch": best[0], "epochs_run": 5, "seed": 0}
    before = files(tmp_path)
    assert trained(tmp_path, epochs=5) == notes  # finished: not trained again
    assert files(tmp_path) == before


@pytest.mark.slow
def test_the_seed_decides(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        trained(tmp_path / name, seed=seed)
    a, b, c = (files(tmp_path / name) for name in "abc")
    assert a == b
    assert a["curves.csv"] != c["curves.csv"]
    assert a["model/weights.safetensors"] != c["model/weights.safetensors"]


@pytest.mark.slow
@pytest.mark.parametrize(("patience", "epochs_run", "best"), [(1, 3, 2), (2, 4, 2), (0, 6, 6)])
def test_it_stops_early_and_keeps_the_first_of_the_best(
    patience: int, epochs_run: int, best: int, tmp_path: Path
) -> None:
    found = [5.0, 3.0, 3.0, 4.0, 3.0, 2.0]
    made: list[Line] = []

    def line(*given: Any, **how: Any) -> Line:
        made.append(Line(*given, **how))
        return made[-1]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tiny_training, "Line", line)
        notes = trained(tmp_path, epochs=6, patience=patience, found=found)
    assert (notes["best_epoch"], notes["epochs_run"]) == (best, epochs_run)
    assert [row[3] for row in rows_of_curve(tmp_path)] == found[:epochs_run]
    kept, judged = load_file(tmp_path / "model" / "weights.safetensors"), made[0].judged
    assert all(torch.equal(tensor, judged[best - 1][name]) for name, tensor in kept.items())
    assert any(not torch.equal(tensor, judged[best - 2][name]) for name, tensor in kept.items())


# ---- killed -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_process_is_gone_on_from(tmp_path: Path) -> None:
    command = [sys.executable, tiny_training.__file__, str(tmp_path / "cut"), "killed"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-3000:]
    assert len(rows_of_curve(tmp_path / "cut")) == 2
    assert not (tmp_path / "cut" / "model").exists()
    (tmp_path / "cut" / ".checkpoint-3").mkdir()  # what a kill while writing leaves
    expected = trained(tmp_path / "whole")
    assert trained(tmp_path / "cut") == expected
    assert files(tmp_path / "cut") == files(tmp_path / "whole")
    assert not list(tmp_path.glob("cut/*checkpoint-*")) + list(tmp_path.glob("cut/best-*"))
    (tmp_path / "cut" / "checkpoint-3").mkdir()  # what a kill while tidying up leaves
    trained(tmp_path / "cut")
    assert not (tmp_path / "cut" / "checkpoint-3").exists()


@pytest.mark.parametrize("lost", ["checkpoint-1/network.safetensors", "checkpoint-1/state.json", "best-1", ""])
def test_a_checkpoint_that_cannot_be_gone_on_from(lost: str, tmp_path: Path) -> None:
    output = tmp_path / "run"
    with killed_in_epoch(2, Line):
        trained(output)
    path = output / lost
    if path.is_file():
        path.write_bytes(path.read_bytes()[:100] if path.suffix != ".json" else b'{"epoch"')
    elif lost:
        shutil.rmtree(path)
    else:
        (output / "checkpoint-1").rename(output / "checkpoint-copy")
        (output / "checkpoint-copy" / "network.safetensors").write_text("x")
    assert "training cannot resume from it (" in refused(output)


def test_a_full_disk_is_told_and_gone_on_from(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, hard))  # enough for the model, not for the optimiser
    try:
        said = refused(tmp_path, epochs=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "checkpoint-1: cannot be written (" in said
    assert not (tmp_path / ".checkpoint-1").exists()
    assert trained(tmp_path, epochs=1)["epochs_run"] == 1


def test_a_rate_that_is_too_high_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Line, "_epoch", lambda *_: (float("nan"),))
    assert "lr=0.05: the loss is nan in epoch 1; use a lower learning rate" in refused(tmp_path)


# ---- folders of runs ----------------------------------------------------------------------------


def empty_run(output: Path, **settings: Any) -> dict[str, Any]:
    """A run that trains nothing."""
    return run_in(output, settings, lambda: None, lambda _: {"settings": settings})


def refused_run(output: Path, **settings: Any) -> str:
    with pytest.raises(BadInput) as problem:
        empty_run(output, **settings)
    return str(problem.value)


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    def unreadable() -> None:
        raise BadInput("no such rows")

    output = tmp_path / "run"
    with pytest.raises(BadInput, match="no such rows"):
        run_in(output, {"seed": 0}, unreadable, lambda _: {})
    assert not output.exists()
    metrics = empty_run(output, seed=0, lr=[1e-3])
    assert metrics["settings"] == {"seed": 0, "lr": [1e-3]}
    assert {"seconds", "version"} < metrics.keys()
    assert empty_run(output, seed=0, lr=(1e-3,)) == metrics
    said = refused_run(output, seed=1, lr=[1e-3], epochs=2)
    assert "holds a run with other settings (epochs=None there, 2 here, seed=0 there, 1 here)" in said
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    assert "is not empty and holds no run" in refused_run(tmp_path / "other", seed=0)
    assert "is not a folder" in refused_run(tmp_path / "other" / "notes.txt", seed=0)


def test_what_was_refused_may_be_asked_again_otherwise_and_what_began_may_not(tmp_path: Path) -> None:
    def unknown(_: None) -> dict[str, Any]:
        raise BadInput("no such model")

    def began(_: None) -> dict[str, Any]:
        (tmp_path / "curves.csv").write_text("epoch\n")
        raise Killed

    with pytest.raises(BadInput, match="no such model"):
        run_in(tmp_path, {"seed": 0}, lambda: None, unknown)
    with pytest.raises(Killed):
        run_in(tmp_path, {"seed": 1}, lambda: None, began)
    assert json.loads((tmp_path / "config.json").read_text()) == {"seed": 1}
    assert "other settings (seed=1 there, 0 here)" in refused_run(tmp_path, seed=0)
    assert empty_run(tmp_path, seed=1)["settings"] == {"seed": 1}


def test_a_kill_at_the_very_start_is_no_other_run(tmp_path: Path) -> None:
    (tmp_path / ".config.json.123").write_text("{")
    check_folder(tmp_path, {"seed": 0})
    (tmp_path / "config.json").write_text('{"seed": 1}')
    check_folder(tmp_path, {"seed": 0})


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    with locked(tmp_path / "run"):
        said = refused_run(tmp_path / "run", seed=0)
        assert empty_run(tmp_path / "other", seed=0)["settings"] == {"seed": 0}
    assert said == f"{tmp_path / 'run'}: another process is using this folder; let it end, or choose another folder."
    assert empty_run(tmp_path / "run", seed=0)["settings"] == {"seed": 0}
    with locked(tmp_path / "run"):
        assert empty_run(tmp_path / "run", seed=0)["settings"] == {"seed": 0}  # a finished run is only read


def test_the_folder_is_free_after_a_run_that_failed_and_between_the_parts_of_a_shared_one(tmp_path: Path) -> None:
    def fails(_: None) -> dict[str, Any]:
        raise Killed

    with pytest.raises(Killed):
        run_in(tmp_path, {}, lambda: None, fails)
    with locked(tmp_path):
        assert run_in(tmp_path, {}, lambda: None, lambda _: {"part": 1}, shared=True)["part"] == 1


def test_a_run_that_another_process_finished_meanwhile_is_not_repeated(tmp_path: Path) -> None:
    def read() -> None:
        empty_run(tmp_path, seed=0)

    def again(_: None) -> dict[str, Any]:
        raise AssertionError("trained twice")

    assert run_in(tmp_path, {"seed": 0}, read, again)["settings"] == {"seed": 0}


@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_gone(tmp_path: Path) -> None:
    holds = "import pathlib, sys, time; from humor_tasks.files.locks import locked\n"
    holds += "with locked(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", holds, tmp_path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert "another process is using" in refused_run(tmp_path, seed=0)
        process.kill()
    assert empty_run(tmp_path, seed=0)["settings"] == {"seed": 0}


def test_a_file_system_without_locks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def acquire(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock.acquire", acquire)
    assert empty_run(tmp_path, seed=0)["settings"] == {"seed": 0}
    assert "this file system has no locks" in caplog.text


# ---- parts of batches ---------------------------------------------------------------------------


@given(rows=st.integers(1, 40), processes=st.integers(1, 5), most=st.integers(0, 9))
def test_every_process_has_as_many_parts_and_each_row_is_one_s_own(rows: int, processes: int, most: int) -> None:
    batch = list(range(100, 100 + rows))
    parts = [process_parts(batch, process, processes, most) for process in range(processes)]
    assert len({len(found) for found in parts}) == 1
    assert sorted(row for found in parts for part in found if part.counts for row in part.rows) == batch
    assert all(part.rows and (not most or len(part.rows) <= most) for found in parts for part in found)


@pytest.mark.parametrize("micro", [1, 2])
def test_parts_do_not_change_the_result(micro: int, tmp_path: Path) -> None:
    for name, most in (("whole", 0), ("parts", micro)):
        trained(tmp_path / name, dropout=0.0, micro=most, clip_norm=0.1)
    one, two = (load_file(tmp_path / name / "model" / "weights.safetensors") for name in ("whole", "parts"))
    assert all(torch.allclose(tensor, two[name], rtol=1e-4, atol=1e-6) for name, tensor in one.items())
    trained(tmp_path / "unclipped", dropout=0.0)
    assert rows_of_curve(tmp_path / "unclipped") != rows_of_curve(tmp_path / "whole")


def test_a_loss_that_is_not_finite_stops_within_the_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def losses(self: Line, part: Any) -> torch.Tensor:
        made.append(len(part.rows))
        return self.network(self.points[part.rows]).sum() * float("nan")

    monkeypatch.setattr(Line, "_losses", losses)
    assert refused(tmp_path) == "lr=0.05: the loss is nan in epoch 1, by step 1 of 4; use a lower learning rate."
    assert len(made) == 1
    assert files(tmp_path).keys() == {"curves.csv"}


# ---- a full disk --------------------------------------------------------------------------------


class Disk:
    """Fails at file operation number `at`, after writing a beginning."""

    def __init__(self, patched: pytest.MonkeyPatch, at: int) -> None:
        self.count, self.at = 0, at
        for owner, name in (
            *((Path, name) for name in ("mkdir", "rename", "write_text", "write_bytes")),
            (checkpoint, "save_file"),
            (tiny_training, "save_file"),
            (shutil, "rmtree"),
        ):
            patched.setattr(owner, name, self.failing(getattr(owner, name)))

    def failing(self, operation: Any) -> Any:
        def wrapped(*given: Any, **how: Any) -> Any:
            self.count += 1
            if self.count - 1 != self.at or how.get("ignore_errors"):
                return operation(*given, **how)
            if operation.__name__.startswith("save"):
                Path(given[1]).write_bytes(b"beginn")
            raise OSError(errno.ENOSPC, "No space left on device")

        return wrapped


@pytest.mark.slow
def test_a_disk_that_is_full_at_any_file_operation_leaves_the_last_good_checkpoint(tmp_path: Path) -> None:
    whole = trained(tmp_path / "whole", epochs=2)
    told: list[str] = []
    for at in range(1000):
        output = tmp_path / str(at)
        with pytest.MonkeyPatch.context() as patched:
            disk = Disk(patched, at)
            with contextlib.suppress(BadInput):
                trained(output, epochs=2)
                told.append("whole")
        if len(told) <= at:
            told.append("failed")
        checkpoints = list(output.glob("checkpoint-*/state.json"))
        assert checkpoints or not (output / "best-2").exists(), "the last good checkpoint is gone"
        assert trained(output, epochs=2) == whole
        assert files(output) == files(tmp_path / "whole")
        if disk.count <= at:
            break
    assert told.count("failed") > 15

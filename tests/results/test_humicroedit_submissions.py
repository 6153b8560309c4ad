"""Submission files of Humicroedit: made from logs of both harnesses, checked, and scored as their logs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from standins.humicroedit_runs import (
    PAIRWISE,
    RATING,
    SAMPLE,
    expected_report,
    inspect_task,
    rating_of,
    reply_to,
    run_in_inspect,
    run_in_lm_eval,
    scripted,
)

from humor_tasks import load
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.results.submission import read_answers

Logs = dict[str, dict[str, Path]]


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def samples_file(task: str, path: Path, **metadata: Any) -> Path:
    """What lm-eval's --log_samples writes."""
    samples = run_in_lm_eval(task, **metadata)["samples"][task]
    path.write_text("".join(json.dumps(sample, default=str) + "\n" for sample in samples), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Of each benchmark: Inspect's log, and the samples that lm-eval generated and weighed."""
    folder = tmp_path_factory.mktemp("logs")
    return {
        name: {
            "inspect": Path(run_in_inspect(inspect_task(name), log_dir=str(folder)).location),
            "generated": samples_file(f"{name}_gen", folder / f"{name}_gen.jsonl"),
            "weighed": samples_file(name, folder / f"{name}.jsonl"),
        }
        for name in (RATING, PAIRWISE)
    }


def printed(done: Result) -> dict[str, list[str]]:
    """{metric: what is printed in its line}."""
    assert done.exit_code == 0, done.output
    return {line.split()[0]: line.split()[1:] for line in done.output.splitlines()[1:-1]}


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("name", [RATING, PAIRWISE])
def test_a_submission_scores_as_its_log(name: str, logs: Logs, tmp_path: Path) -> None:
    for kind, log in logs[name].items():
        out = tmp_path / f"{kind}.csv"
        done = command("export", "submission", log, "-o", out)
        assert done.exit_code == 0, done.output
        assert out.read_text().startswith("id,pred\n")
        found = printed(command("score", out, "--task", name, "--dataset", "sample", "--split", "test"))
        if (name, kind) == (RATING, "weighed"):
            assert {row["pred"] for row in csv.DictReader(out.open())} == {"1.0"}
            continue
        metrics = expected_report(name).metrics
        assert {m: each[:2] for m, each in found.items()} == {
            m: [f"{e.value:.5f}", f"{e.stderr:.5f}"] for m, e in metrics.items()
        }


@pytest.mark.slow
def test_ratings_compared_make_a_submission(tmp_path: Path) -> None:
    """Equal ratings are no answer to a pair: they are refused, or filled as told."""
    log = Path(run_in_inspect(inspect_task(PAIRWISE, via="ratings"), log_dir=str(tmp_path)).location)
    direct = load(PAIRWISE, **SAMPLE)
    tied = [r.id for r in direct.records if rating_of(r.choices[0]) == rating_of(r.choices[1])]
    refused = command("export", "submission", log, "-o", tmp_path / "out.csv")
    assert refused.exit_code == 2
    assert f"{len(tied)} rows: " in refused.output
    assert all(identity in refused.output for identity in tied)
    assert "without an answer (or with equal ratings); choose --fill 1, 2 or random" in refused.output
    for fill in "12":
        out = tmp_path / f"{fill}.csv"
        assert command("export", "submission", log, "-o", out, "--fill", fill).exit_code == 0
        found = {row["id"]: row["pred"] for row in csv.DictReader(out.open())}
        for record in direct.records:
            a, b = map(rating_of, record.choices)
            assert found[record.id] == (fill if a == b else "1" if a > b else "2")
        assert set(found) == {record.id for record in direct.records}
    seeded = [tmp_path / f"random{i}.csv" for i in range(2)]
    assert all(command("export", "submission", log, "-o", out, "--fill", "random").exit_code == 0 for out in seeded)
    assert seeded[0].read_text() == seeded[1].read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fill", "filled"),
    [(RATING, "0.93", "0.93"), (RATING, None, None), (PAIRWISE, None, None)],
)
def test_gaps_are_refused_or_filled(name: str, fill: str | None, filled: str | None, tmp_path: Path) -> None:
    lost: list[str] = []

    def spoilt(asked: str) -> str:
        lost.append(asked)
        return "?" if len(lost) == 1 else reply_to(asked)

    log = run_in_inspect(inspect_task(name), scripted(spoilt), log_dir=str(tmp_path)).location
    out = tmp_path / "out.csv"
    done = command("export", "submission", log, "-o", out, *(["--fill", fill] if fill else []))
    if filled is None:
        assert done.exit_code == 2
        assert re.search(r"1 row: \S+ without an answer; choose --fill (NUMBER|1, 2 or random)", done.output)
        assert not out.exists()
    else:
        assert done.exit_code == 0, done.output
        gap = next(i for i, answer in read_answers(Path(log)).answers.items() if answer is None)
        assert {row["id"]: row["pred"] for row in csv.DictReader(out.open())}[gap] == filled


@pytest.mark.slow
def test_wrong_fills_files_and_logs(logs: Logs, tmp_path: Path) -> None:
    rating, pairs = logs[RATING]["inspect"], logs[PAIRWISE]["inspect"]
    for log, fill, message in (
        (rating, "4", "--fill 4: the prediction is '4'; it must be a number from 0 to 3"),
        (rating, "nan", "must be a number from 0 to 3"),
        (rating, "random", "must be a number from 0 to 3"),
        (pairs, "A", "--fill A: choose random, 1 or 2"),
        (pairs, "1.5", "choose random, 1 or 2"),
    ):
        done = command("export", "submission", log, "-o", tmp_path / "out.csv", "--fill", fill)
        assert done.exit_code == 2
        assert message in done.output
    assert "ends in .csv" in command("export", "submission", rating, "-o", tmp_path / "out.json").output
    part = Path(run_in_inspect(inspect_task(RATING), limit=5, log_dir=str(tmp_path)).location)
    assert "holds 5 of 36 instances" in command("export", "submission", part, "-o", tmp_path / "out.csv").output
    with pytest.raises(BadInput, match="holds 5 of 36"):
        read_answers(part)
    assert not (tmp_path / "out.csv").exists()
    assert build(RATING, SAMPLE, []).dataset[0].id in read_answers(rating).answers


def test_a_submission_of_every_pair_has_the_tied_ones_too(tmp_path: Path) -> None:
    opened = load(PAIRWISE, **SAMPLE | {"split": "dev"})
    log = samples_file(f"{PAIRWISE}_gen", tmp_path / "samples.jsonl", split="dev", ties="keep")
    assert command("export", "submission", log, "-o", tmp_path / "out.csv").exit_code == 0
    ids = {row["id"] for row in csv.DictReader((tmp_path / "out.csv").open())}
    assert ids == {r.id for r in opened.records} | opened.data.dropped > {r.id for r in opened.records}


def test_ratings_of_the_pairs_headlines_are_scored_from_a_csv(tmp_path: Path) -> None:
    opened = load(PAIRWISE, **SAMPLE, via="ratings")
    path = tmp_path / "out.csv"
    path.write_text("id,pred\n" + "".join(f"{r.id},{rating_of(r.context)}\n" for r in opened.records))
    found = printed(command("score", path, "--task", PAIRWISE, "-T", "via=ratings", "--dataset", "sample"))
    wanted = expected_report(PAIRWISE, via="ratings").metrics
    assert {m: each[0] for m, each in found.items()} == {m: f"{e.value:.5f}" for m, e in wanted.items()}


def official(subtask: int, rows: Callable[[list[str]], Any], folder: Path) -> Path:
    """A submission of the sample's test split, after `rows` changed its lines."""
    opened = load((RATING, PAIRWISE)[subtask - 1], **SAMPLE)
    lines = ["id,pred", *(f"{r.id},1" for r in opened.records)]
    rows(lines)
    path = folder / "out.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def set_value(value: str) -> Callable[[list[str]], None]:
    return lambda lines: lines.__setitem__(3, f"{lines[3].split(',')[0]},{value}")


@pytest.mark.parametrize(
    ("subtask", "change", "message"),
    [
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("3.01", "-0.1")),
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("nan", "inf", "")),
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("funny", "None")),
        *((2, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be 1 or 2") for bad in ("3", "1.0")),
        *((2, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be 1 or 2") for bad in ("A", "")),
        *((n, lambda lines: lines.pop(3), "1 missing id: {id}.") for n in (1, 2)),
        *((n, lambda lines: lines.append("7,1"), "1 unknown id: 7.") for n in (1, 2)),
        *((n, lambda lines: lines.append(lines[3]), ", line {last}: id {id!r} is also that of {path}") for n in (1, 2)),
        *((n, lambda lines: lines.__setitem__(0, "id,prediction"), "there is no column 'pred'") for n in (1, 2)),
        *((n, lambda lines: lines.__setitem__(3, "1,2,3"), "line 4: has 3 fields, the header has 2") for n in (1, 2)),
        (1, lambda lines: lines.__setitem__(slice(1, None), []), "there are no rows"),
    ],
)  # fmt: skip
def test_bad_submissions_are_not_scored(
    subtask: int, change: Callable[[list[str]], Any], message: str, tmp_path: Path
) -> None:
    name = (RATING, PAIRWISE)[subtask - 1]
    before = official(subtask, lambda lines: None, tmp_path).read_text().splitlines()
    path = official(subtask, change, tmp_path)
    value = path.read_text().splitlines()[3:4]
    about = {"id": before[3].split(",")[0], "path": path, "last": len(before) + 1}
    about["value"] = repr(value[0].split(",")[1]) if value else ""
    done = command("score", path, "--task", name, "--dataset", "sample")
    assert done.exit_code == 2
    assert str(path) in done.output
    assert message.format(**about) in done.output
    assert "rmse" not in done.output
    assert "accuracy" not in done.output


def test_the_organisers_baselines_score_as_published(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    split = ["--dataset", folder, "--split", "dev"]
    rating = printed(command("score", folder / "official_task-1-output.csv", "--task", RATING, *split))
    assert (rating["rmse"][0], rating["rmse"][-2:]) == ("0.57840", ["2419", "828"])
    pairs = command("score", folder / "official_task-2-output.csv", "--task", PAIRWISE, *split, "--json")
    found = json.loads(pairs.output)["metrics"]
    assert [f"{found[name]['value']:.5f}" for name in ("accuracy", "reward")] == ["0.51405", "0.02325"]
    assert found["accuracy"]["n"] == 2099

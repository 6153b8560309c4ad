"""An evaluation report: its commands run again and give the same run, its figures are the runs', what it refuses."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from evaluation_report import main
from evidence import facts
from evidence.report import evaluation_report
from inspect_ai import eval
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig
from standins.commands import inspect, lm_eval
from standins.finished_runs import marked
from standins.once import made_once

from humor_tasks.logs import read_run
from humor_tasks.logs.invocation import of_lm_eval
from humor_tasks.results import Result, Results, read_results
from humor_tasks.results.report.build import build_report
from humor_tasks.tasks import humorbench, matching
from humor_tasks.testing import ScriptedModel, scripted_judge

BY_INSPECT = "inspect eval humor_tasks/matching --model baseline/random -M seed=7"
BY_LM_EVAL = (
    "lm_eval --tasks nyc_ranking_caption_only --model humor-baseline --model_args strategy=random,baseline_seed=7"
)
JUDGES = '[{"model": "mockllm/a", "temperature": 0.5}, {"model": "mockllm/b", "top_p": 0.9}]'

# ---- commands ----------------------------------------------------------------------------------------------


def run(command: str, folder: Path) -> Result:
    """The result of a command, which logs into an empty folder."""
    words = shlex.split(command)
    if words[0] == "inspect":
        inspect(*words[1:], "--log-dir", folder / "logs", cwd=folder)
    else:
        lm_eval(*words[1:], cwd=folder)
    (result,) = read_results([folder / "logs"]).results
    return result


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(
    ("command", "again"),
    [
        (
            f"{BY_INSPECT} --temperature 0.5 --system-message 'Be brief.' --stop-seqs 'a b,c' --limit 2-5 --epochs 2 "
            "--max-connections 3 -T dataset=sample -T cot=false",
            f"{BY_INSPECT} --temperature 0.5 --system-message 'Be brief.' --stop-seqs 'a b,c' --limit 2-5 --epochs 2 "
            "-T dataset=sample -T cot=false",
        ),
        (
            f"{BY_LM_EVAL} --metadata dataset=sample,cot=false --limit 5 --seed 3 --output_path logs --log_samples",
            f"{BY_LM_EVAL} --limit 5 --batch_size 1 --seed 3,3,3,3 --log_samples --output_path logs "
            "--metadata dataset=sample,cot=false",
        ),
    ],
)
def test_the_command_of_a_log_makes_the_same_run_again(command: str, again: str, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    first = run(command, tmp_path / "first")
    assert set(shlex.split(facts.command_of(first))) == set(shlex.split(again))
    second = run(facts.command_of(first), tmp_path / "second")
    assert second.signature == first.signature
    assert second.outcomes == first.outcomes


def test_the_roles_of_a_command_have_their_settings(tmp_path: Path) -> None:
    judges = [scripted_judge(name, True).model for name in "ab"]
    judges[0].config, judges[1].config = GenerateConfig(temperature=0.5), GenerateConfig(top_p=0.9)
    model = ScriptedModel("m", "A bear.").model
    task = humorbench(dataset="sample", cache=False)
    (log,) = eval(task, model=model, model_roles={"grader": judges}, limit=1, log_dir=str(tmp_path), display="log")
    assert f"grader={JUDGES}" in read_run(Path(log.location)).invocation.words


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        *(("api_key", True), ("auth_token", True), ("extra_headers", True), ("db_pwd", True), ("credentials", True)),
        *(("max_tokens", False), ("tokenizer", False)),
    ],
)
def test_values_of_secrets_are_hidden(name: str, hidden: bool) -> None:
    told = of_lm_eval("t", {"config": {"model": "m", "model_args": {name: "seen"}}})
    assert (f"{name}=seen" in told.words) != hidden


def test_secrets_within_a_value_are_hidden() -> None:
    given = {"base_url": "http://ann:seen@127.0.0.1/v1", "client": {"api_key": "seen", "retries": 2}}
    told = of_lm_eval("t", {"config": {"model": "m", "model_args": given}})
    assert "seen" not in str(told.words)
    assert 'base_url=http://127.0.0.1/v1,client={"api_key": "SECRET", "retries": 2}' in told.words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ann/data", "…/data"),
        ("embedding//opt/models/us/mini/model", "embedding/…/mini/model"),
        ("-T dataset=/srv/a/b/corpus\\_x -T split=dev", "-T dataset=…/b/corpus\\_x -T split=dev"),
        ("data/corpus, openai/gpt-4o, 12 / 40, and/or", "data/corpus, openai/gpt-4o, 12 / 40, and/or"),
        ("https://arxiv.org/abs/2209.06293", "https://arxiv.org/abs/2209.06293"),
    ],
)
def test_no_folder_of_this_machine_is_published(text: str, shown: str) -> None:
    assert facts.without_places(text) == shown


# ---- what it says --------------------------------------------------------------------------------------------


def report_of(*results: Result) -> str:
    return evaluation_report(build_report(Results(results)))


def test_figures_are_the_runs_and_what_is_published_stands_beside_them() -> None:
    b = marked("b", [1.0] * 6 + [0.0] * 2)
    unread = [replace(outcome, status="unparsed", answer=None) for outcome in b.outcomes[6:]]
    b = replace(b, outcomes=(*b.outcomes[:6], *unread))
    text = report_of(marked("a", [1.0, 0.0] * 4), b)
    cells = {tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in text.splitlines() if line[:1] == "|"}
    assert ("a guess", "20.0", "-", "+55.0", "+30.0", "one of five captions is right") in cells
    assert ("b", "8 of 8", "2", "0", "0", "0", "-", "25.0 %") in cells
    assert "- b: more than 10% are invalid, the most that inspect\\_evals takes." in text
    assert "a: more than" not in text
    assert "wants two" not in text


def test_one_model_is_said_to_be_one() -> None:
    assert "wants two, or the reason why not" in report_of(marked("a", [1.0, 0.0]))


# ---- the command -----------------------------------------------------------------------------------------------


def scripted(folder: Path) -> None:
    for name in "ab":
        task, model = matching(dataset="sample"), ScriptedModel(name, "Answer: A").model
        (log,) = eval(task, model=model, log_dir=str(folder), limit=3 if name == "b" else None, display="log")
        Path(log.location).rename(folder / f"{name}.eval")
    log = read_eval_log(str(folder / "a.eval"))
    log.status, log.eval.eval_id, log.eval.task_id = "cancelled", "another", "another"
    (folder / "stopped").mkdir()
    write_eval_log(log, str(folder / "stopped" / "c.eval"))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a.eval, b.eval with a limit of 3, and stopped/c.eval, which was cancelled."""
    return made_once(tmp_path_factory, "runs for evidence", scripted)


def test_the_block_of_the_register_has_a_row_a_run(logs: Path, tmp_path: Path) -> None:
    runs = (logs / "a.eval", logs / "b.eval")
    words = [*map(str, runs), "--note", "Mine.", "--commit", "c0ffee", "-o", str(tmp_path / "r.yaml")]
    assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    block: dict[str, Any] = yaml.safe_load((tmp_path / "r.yaml").read_text())["humor_tasks_matching"][
        "evaluation_report"
    ]
    assert [(row["model"], row["samples"]) for row in block["results"]] == [
        ("mockllm/a", "10 of 10"),
        ("mockllm/b", "3 of 10"),
    ]
    assert {m["key"]: m["value"] for m in block["results"][0]["metrics"]}["accuracy"] == pytest.approx(0.2)
    assert block["commit"] == "c0ffee"
    assert block["command"].splitlines()[0].startswith("inspect eval humor_tasks/matching --model MODEL")
    assert block["notes"][0] == "Mine."
    assert any("3 of 10 items" in note for note in block["notes"])


@pytest.mark.parametrize(
    ("runs", "options", "said"),
    [
        (["stopped"], ["-o", "r.md"], "c.eval: incomplete: the run ended with status cancelled. Finish it with"),
        (["nothing"], ["-o", "r.md"], "nothing: holds no .eval or .json of Inspect and no samples of lm-eval."),
        (["a.eval"], ["-o", "r.txt"], "ends in .md or .yaml"),
        (["a.eval"], ["-o", "r.yaml"], "--commit goes with a report that ends in .yaml"),
        (["a.eval"], ["-o", "r.md", "--commit", "x"], "--commit goes with a report that ends in .yaml"),
    ],
)
def test_what_is_refused(runs: list[str], options: list[str], said: str, logs: Path, tmp_path: Path) -> None:
    (logs / "nothing").mkdir(exist_ok=True)
    options = [str(tmp_path / word) if word.startswith("r.") else word for word in options]
    done = CliRunner().invoke(main, [*(str(logs / name) for name in runs), *options], catch_exceptions=False)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert not list(tmp_path.iterdir())

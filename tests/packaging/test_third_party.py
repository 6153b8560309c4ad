"""Packages of somebody else's add humour benchmarks to both harnesses: tests/thirdparty/pun_bench and quip_bench."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai._util.entrypoints import clear_entry_points_state
from inspect_ai.log import EvalLog, read_eval_log
from standins import commands
from standins.paths import REPOSITORY, TESTS
from uv import find_uv_bin

from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.errors import BadInput
from humor_tasks.testing import ChatServer, ScriptedLM, material, run_lm_eval, text_of, verdict_reply

PACKAGES = TESTS / "thirdparty"
OWN = (REPOSITORY / "docs" / "own.md").read_text()
# The longest ending makes the pun in one of three kitchens, one of two gardens and one of three seas. Clustered by
# topic: residuals 1 - 3 * .375, 1 - 2 * .375 and 1 - 3 * .375; sqrt(3 / 2 * (.125**2 + .25**2 + .125**2)) / 8.
ACCURACY, STDERR = 0.375, 0.046875
# The judge below passes the points that say "both": two of three about kitchens, two of three about offices and two of
# four about gardens. Clustered by topic: residuals 2 - 3 * .6 twice and 2 - 4 * .6; sqrt(3 / 2 * .24) / 10.
COVERAGE, COVERAGE_STDERR, ALL_COVERED = 0.6, 0.06, 0.5


@pytest.mark.parametrize(
    ("package", "count", "files"),
    [
        ("pun_bench", 40, {"__init__.py", "puns.yaml", "puns_gen.yaml"}),
        ("quip_bench", 35, {"__init__.py", "quips.yaml"}),
    ],
)
def test_the_page_says_how_many_lines_a_benchmark_takes(package: str, count: int, files: set[str]) -> None:
    code = [path for path in (PACKAGES / package).rglob("*") if path.suffix in (".py", ".yaml", ".yml")]
    assert {path.name for path in code} == files
    assert sum(bool(line.strip()) for path in code for line in path.read_text().splitlines()) == count
    assert f"{count} lines" in OWN


# ---- how a benchmark is found ---------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that distributions can be put into."""
    find_benchmark.cache_clear()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    find_benchmark.cache_clear()


def declare(site: Path, distribution: str, **entries: str) -> None:
    """The metadata of an installed distribution with these entry points."""
    folder = site / f"{distribution}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = [f"{name.replace('_', '-')} = {value}" for name, value in entries.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[humor_tasks.benchmarks]", *lines, ""]))


def test_a_declared_benchmark_is_imported_when_it_is_asked_for(site: Path) -> None:
    (site / "jests_found.py").write_text(
        "from dataclasses import replace\nfrom humor_tasks.benchmarks import BENCHMARKS\n"
        "JESTS = replace(BENCHMARKS['matching'], name='jests')\n"
    )
    declare(site, "jests", jests="jests_found:JESTS")
    assert find_benchmark("matching") is BENCHMARKS["matching"]
    assert "jests_found" not in sys.modules
    assert find_benchmark("jests").name == "jests"
    assert find_benchmark("jests") is sys.modules["jests_found"].JESTS
    assert "jests" not in BENCHMARKS
    with pytest.raises(BadInput, match=r"benchmark: there is no 'jest'; choose from matching,.*jests. Did you mean"):
        find_benchmark("jest")


def test_declared_twice(site: Path) -> None:
    declare(site, "one", jests="one:JESTS")
    declare(site, "other", jests="other:JESTS")
    with pytest.raises(BadInput, match=r"several packages declare it: one:JESTS, other:JESTS\. Uninstall all but one"):
        find_benchmark("jests")


@pytest.mark.parametrize("value", ["no_jests:MATCHING", "no_jests:TEXT"])
def test_declared_and_something_else(site: Path, value: str) -> None:
    (site / "no_jests.py").write_text(
        "from humor_tasks.benchmarks import *\nMATCHING, TEXT = BENCHMARKS['matching'], ''"
    )
    declare(site, "jests", jests=value)
    with pytest.raises(BadInput, match=f"its entry point {value} .* must be a Benchmark of that name"):
        find_benchmark("jests")


def test_ours_cannot_be_replaced(site: Path) -> None:
    declare(site, "jests", matching="no_module:MATCHING")
    assert find_benchmark("matching") is BENCHMARKS["matching"]


# ---- installed, in both harnesses -----------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the packages were installed into. Inspect knows an installed package by this folder's name."""
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    sources = shutil.copytree(PACKAGES, tmp_path_factory.mktemp("source") / "thirdparty").iterdir()
    install = [find_uv_bin(), "pip", "install", "--no-deps", "--python", sys.executable, "--target", str(folder)]
    install += map(str, sources)
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def usable(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the installed packages, which this process sees as well."""
    find_benchmark.cache_clear()
    monkeypatch.syspath_prepend(installed)
    yield installed
    find_benchmark.cache_clear()


def scores(log: EvalLog, scorer: int = 0) -> tuple[float, float]:
    assert log.status == "success", log.error
    assert log.results
    metrics = log.results.scores[scorer].metrics
    return metrics["accuracy"].value, metrics["accuracy_stderr"].value


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_it_is_in_a_suite(usable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is planned and run with this package's own; a parameter that its task lacks is named before anything runs."""
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    clear_entry_points_state()
    asked = ["run", "--model", "baseline/longest", "--dataset", "sample", "--yes", "-o", tmp_path / "run"]
    told = commands.refused(*asked, "--budget", "4")
    assert "pun_bench/puns: its function takes no budget; add it, or leave it out." in told
    printed = commands.humor_tasks(*asked[:-1], tmp_path / "whole", "--limit", "2")
    assert "Whether it is meant as humour: puns accuracy" in printed


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_inspect_runs_it_and_scores_its_log_again(usable: Path, tmp_path: Path) -> None:
    clear_entry_points_state()  # Inspect may have read those of all packages before this one was installed
    commands.inspect("eval", "pun_bench/puns", "--model", "baseline/longest", "--log-dir", "logs", cwd=tmp_path)
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert scores(log) == pytest.approx((ACCURACY, STDERR))
    assert (log.eval.metadata or {})["signature"].startswith("bench:puns|v:1-A|method:generate|data:sample|")
    assert str(log.samples and log.samples[0].input[0].text).startswith("Which ending makes this a pun?")  # type: ignore[union-attr]
    again = ("--scorer", "humor_tasks/multiple_choice", "--action", "append", "--overwrite")
    commands.inspect("score", path, *again, cwd=tmp_path)
    assert scores(read_eval_log(str(path)), 1) == pytest.approx((ACCURACY, STDERR))


@pytest.mark.lm_eval_versions
@pytest.mark.slow
def test_lm_eval_runs_it(usable: Path, tmp_path: Path) -> None:
    command: list[str | Path] = ["--include_path", usable / "pun_bench" / "tasks", "--tasks", "puns,puns_gen"]
    command += ["--model", "humor-baseline", "--model_args", "strategy=longest", "--output_path", "out"]
    commands.lm_eval(*command, cwd=tmp_path)
    (path,) = (tmp_path / "out").rglob("results_*.json")
    found = json.loads(path.read_text())
    for task, method in (("puns", "loglikelihood"), ("puns_gen", "generate")):
        results = found["results"][task]
        assert (results["acc,none"], results["acc_stderr,none"]) == pytest.approx((ACCURACY, STDERR))
        assert found["configs"][task]["metadata"]["signature"].startswith(f"bench:puns|v:1-A|method:{method}|")
        assert found["versions"][task] == "1-A"


def test_shots_without_training_rows_are_refused(usable: Path) -> None:
    remedy = r"puns: shots=3: there are no training rows .* Leave shots \(lm-eval: --num_fewshot\) at 0\."
    with pytest.raises(BadInput, match=remedy):
        find_benchmark("puns").open(dataset="sample", shots=3)
    with pytest.raises(BadInput, match=remedy):
        run_lm_eval(ScriptedLM("A"), "puns", folders=[usable / "pun_bench" / "tasks"], num_fewshot=3)


# ---- judged ---------------------------------------------------------------------------------------

MODEL, JUDGE = "openai-api/scripted/model", "openai-api/scripted/judge"


def answer(messages: list[dict[str, Any]]) -> str:
    """As the model: an explanation. As its judge: the verdict on a point."""
    asked = material(text_of(messages[-1]))
    return verdict_reply("both" in asked["point"]) if asked else "It means two things at once."


@pytest.fixture
def served(usable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """The model and its judge on 127.0.0.1."""
    clear_entry_points_state()  # Inspect may have read those of all packages before these were installed
    with ChatServer(answer) as server:
        monkeypatch.setenv("SCRIPTED_BASE_URL", server.url)
        monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
        for service in ("SCRIPTED", "OPENAI"):
            monkeypatch.setenv(f"{service}_API_KEY", "none")
        yield server


def verdicts(server: ChatServer) -> int:
    return [request["model"] for request in server.requests].count("judge")


@pytest.mark.slow
def test_inspect_asks_the_judges_of_it(tmp_path: Path, served: ChatServer) -> None:
    grader = ("--model-role", f"grader={JUDGE}")
    evaluation = ("eval", "quip_bench/quips", "--model", MODEL, *grader, "--log-dir", "logs")
    commands.inspect(*evaluation, cwd=tmp_path)
    (path,) = (tmp_path / "logs").glob("*.eval")
    assert verdicts(served) == 10
    again = ("--scorer", "humor_tasks/element_coverage", "--action", "append", "--overwrite")
    commands.inspect("score", path, *again, *grader, cwd=tmp_path)
    log = read_eval_log(str(path))
    assert log.results
    assert len(log.results.scores) == 2
    for score in log.results.scores:
        found = [score.metrics[name].value for name in ("coverage", "stderr", "all_covered", "missing_verdicts")]
        assert found == pytest.approx([COVERAGE, COVERAGE_STDERR, ALL_COVERED, 0])
    assert "| 60.0 [" in commands.humor_tasks("report", path)
    for rescored in json.loads(commands.humor_tasks("rescore", path, "--json")):
        assert rescored["metrics"]["coverage"] == pytest.approx({"logged": 0.6, "rescored": 0.6, "difference": 0})
    assert verdicts(served) == 10  # the second scorer found them in the cache


@pytest.mark.slow
def test_replies_of_lm_eval_are_graded(installed: Path, tmp_path: Path, served: ChatServer) -> None:
    command: list[str | Path] = ["--include_path", installed / "quip_bench" / "tasks", "--tasks", "quips"]
    command += ["--apply_chat_template", "--output_path", "out", "--log_samples", "--model", "local-chat-completions"]
    command += ["--model_args", f"model=model,base_url={served.url}/chat/completions,tokenizer_backend=None"]
    commands.lm_eval(*command, cwd=tmp_path)
    assert verdicts(served) == 0
    (samples,) = (tmp_path / "out").rglob("samples_quips_*.jsonl")
    output = tmp_path / "scores.json"
    grade = ("grade", samples, "--task", "quips", "--grader", JUDGE, "--log-dir", tmp_path / "graded", "-o", output)
    commands.humor_tasks(*grade)
    found = json.loads(output.read_text())["metrics"]
    assert [found[name]["value"] for name in ("coverage", "all_covered")] == pytest.approx([COVERAGE, ALL_COVERED])
    assert found["coverage"]["stderr"] == pytest.approx(COVERAGE_STDERR)
    (graded,) = (tmp_path / "graded").glob("*.eval")
    assert "| 60.0 [" in commands.humor_tasks("report", graded)

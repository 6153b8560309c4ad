"""Logs that humor-tasks 0.1.0 left: every command reads them as its own version did.

What is different on purpose is named here once: PROPORTIONS, BEFORE, TIES, REFUSED, and the release a report names.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from standins.grading import grader, run, thirds

from humor_tasks import __version__, load
from humor_tasks.benchmarks.missing import BOUNDS, MISSING
from humor_tasks.benchmarks.systems import read_system
from humor_tasks.cli import main
from humor_tasks.data.logs import read_run
from humor_tasks.data.logs.metadata import about, about_document
from humor_tasks.on_inspect import benchmark_metrics, multiple_choice, preference_metrics, rating_error
from humor_tasks.on_inspect.outcomes import flat
from humor_tasks.studies.grade import grading_task, read_written, report_of
from humor_tasks.studies.report.graded import read_graded
from humor_tasks.studies.report.table import lines_of

GOLDEN = Path(__file__).parent / "golden" / "logs_0_1_0"
COMMANDS = json.loads((GOLDEN / "expected.json").read_text())
# The samples of 0.1.0 did not say that they are of no use for a submission; read as a run, they do.
NO_LETTERS = "a submission needs a log of matching (five choices) or ranking (two)."

# Their intervals have other ends, inside [0, 1]. Values, standard errors and counts are those of 0.1.0.
PROPORTIONS = {
    *("accuracy", "unparsed", "refused", "unread", "empty", "grader_failed", "undecided", "over_limit", "untagged"),
    *("coverage", "all_covered", "judged", "labelled", "prediction_powered", "beats_judge", "tied", "parsed"),
    *("chosen_among_them", "preferred", "win_rate", "win_rate_of_votes", "judge_win_rate", "people_win_rate"),
    *("tie_rate", "first_shown", "inconsistent", "half_asked", "same_text", "people_longer", "human_acc"),
    *("raw_agreement", "human_ceiling", "share_a", "share", "score", "solved", "pairs solved"),
}
# What 0.1.0 said -> what is said: the corrected intervals are right for fewer labels. (Tables are aligned, too.)
BEFORE = {
    "19 labelled rows: below 100 ": "19 labelled rows: below 30 ",
    "4 pairs with votes and a verdict: below 100 ": "4 pairs with votes and a verdict: below 30 ",
    "Scores leave them out: score is ": "Scores leave them out: coverage is ",
}
# The file of hard rows: of 15 rows with one pass rate 10 are kept, by a hash in place of the smallest keys, and told.
TIES = "; 15 rows tie at the cut, where 10 fit: a hash of their keys decides"
# Benchmarks of another version number than in 0.1.0: what is logged is read, and nothing is scored again.
REFUSED = {"matching", "pairwise", "ratings"}
OF_ALL_SYSTEMS = ("## Underestimated by all systems", "## Underestimated most: mean of the systems")  # now and in 0.1
REFUSAL = (
    r"the log is of version 1-A(-ratings)?, and this humor-tasks scores version 2-A(-ratings)?; their scores do not "
    r"compare\. Run the task again, or score the log with the release that wrote it\."
)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them."""
    folder = tmp_path_factory.mktemp("old")
    shutil.copytree(GOLDEN, folder, dirs_exist_ok=True)
    with zipfile.ZipFile(GOLDEN / "lm_eval.zip") as archive:
        archive.extractall(folder)
    return folder


def named(command: list[str]) -> str:
    return "-".join(re.sub(r"/.*", "", part) for part in command[:3] if part not in ("--dataset",))


def close(found: Any, expected: Any, name: str = "") -> bool:
    """Equal, numbers up to rounding, but for the ends of the intervals of proportions and what BEFORE names."""
    if isinstance(expected, float):
        return found == pytest.approx(expected, abs=1e-9, nan_ok=True)
    if isinstance(expected, dict):
        if list(found) != list(expected):
            return False
        ends = {"low", "high"} if name in PROPORTIONS or "score" in expected else set()
        value = found.get("value", found.get("score"))
        return all(
            around(value, found["low"], found["high"], expected[k]) if k in ends else close(found[k], expected[k], k)
            for k in expected
        )
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, str):
        return found == (__version__ if name == "humor_tasks" else now_said(expected))
    return bool(found == expected)


def around(value: float, low: float | None, high: float | None, before: float | None) -> bool:
    """Whether the ends are those of a proportion's interval, which is no point; unknown where it was before."""
    if before is None or math.isnan(before):
        return close([low, high], [before, before])
    return low is not None and high is not None and 0 <= low <= value <= high <= 1 and low < high


def now_said(text: str) -> str:
    for before, now in BEFORE.items():
        text = text.replace(before, now)
    return text


@pytest.mark.parametrize("expected", COMMANDS, ids=lambda each: named(each["command"]))
def test_a_command_makes_of_old_logs_what_it_made_of_them(
    expected: dict[str, Any], old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(old)
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    out = next((Path(part) for part in expected["command"] if part.startswith("OUT.")), None)
    if out:
        out.unlink(missing_ok=True)
    done = CliRunner().invoke(main, expected["command"])
    assert done.exit_code == expected["exit"], done.output
    if expected["exit"]:
        assert NO_LETTERS in done.output
        return
    shown = re.sub(r"Every answer: .*", "Every answer: LOG", done.output)
    if expected["command"][0] == "hard-subset":
        assert shown.count(TIES) == 1
        shown = shown.replace(TIES, "")
    if expected["command"][0] == "report":  # the table is a part of what is shown now
        shown = shown.partition("## HumorBench: tokens and cost\n\n")[2]
    texts = (shown, expected["shown"])
    if expected["command"][0] == "analyse":
        texts = tuple(text.partition(last)[0] for text, last in zip(texts, OF_ALL_SYSTEMS, strict=True))
    found, wanted = map(parsed, texts)
    if expected["command"][0] in ("correct-for-judge", "agreement"):
        assert "verdicts are missing" in shown
        found = without_missing(found)
    assert close(found, wanted)
    if expected["file"] is not None:
        assert out
        written = out.read_text()
        if expected["command"][0] == "hard-subset":
            same_but_for_ties(json.loads(written), json.loads(expected["file"]))
        elif expected["command"][0] == "report":  # the file has a row a metric now
            lines = lines_of([read_graded(Path(expected["command"][1]))])
            assert close([line.cells() for line in lines], json.loads(expected["file"]))
        elif expected["command"][0] == "analyse":
            assert close(*(of_each_system(json.loads(text)) for text in (written, expected["file"])))
        elif out.suffix == ".json":
            assert close(json.loads(written), json.loads(expected["file"]))
        else:
            assert written == expected["file"]


def of_each_system(analysis: dict[str, Any]) -> dict[str, Any]:
    """Without what is told of all systems together: 0.1 had their averaged rating there."""
    names = ("misses", "errors")
    assert all("systems" in analysis[name][-1]["system"] for name in names)
    return analysis | {name: analysis[name][:-1] for name in names} | {"notes": analysis["notes"][:1]}


def without_missing(found: Any) -> Any:
    """Without what is told of missing verdicts since 0.1."""
    if isinstance(found, dict):
        return {k: without_missing(v) for k, v in found.items() if k != MISSING and not k.endswith(tuple(BOUNDS))}
    if isinstance(found, list):
        return [without_missing(v) for v in found if not (isinstance(v, str) and "verdicts are missing" in v)]
    return found


def same_but_for_ties(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """The file of hard rows, where all rows at the cut have one pass rate."""
    for name in ("pass_rates", "attempts"):
        assert sorted(found[name]) == sorted(found["keys"])
        assert list(found[name].values()) == list(expected[name].values())
    tied = {s.id for s in read_run(Path("humorbench.eval")) if s.outcome and s.outcome.values.get("coverage") == 0}
    assert len(tied) == 15
    assert tied > set(found["keys"])
    assert tied > set(expected["keys"])
    kept = {name: expected[name] for name in ("keys", "pass_rates", "attempts")}
    assert close(found | kept, expected | {"note": expected["note"] + TIES})


def parsed(text: str) -> list[Any]:
    """A report as JSON, and what is shown behind it; other text alone."""
    if not text.startswith("{"):
        return told(text)
    report, end = json.JSONDecoder().raw_decode(text)
    return [without_version(report), *told(text[end:])]


def told(text: str) -> list[Any]:
    """Lines, and rows of tables as their cells, however they are aligned, without the ends of PROPORTIONS."""
    found: list[Any] = []
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = []
            found.append(line)
            continue
        cells = [re.sub(r"^-{3,}$", "---", cell.strip()) for cell in line.strip("|").split("|")]
        head = head or cells
        ends = zip(head, cells, strict=True)
        found.append([re.sub(r" \[.*\]$", "", cell) if name in PROPORTIONS else cell for name, cell in ends])
    return found


def without_version(report: dict[str, Any]) -> dict[str, Any]:
    return report | ({"signature": report["signature"].rsplit("|", 1)[0]} if "signature" in report else {})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humorbench.eval", "lm_humorbench"])
def test_old_explanations_are_graded_as_before(name: str, old: Path) -> None:
    path = old / name if name.endswith(".eval") else next((old / name).glob("samples_*"))
    (expected,) = (each for told, each in json.loads((GOLDEN / "graded.json").read_text()).items() if name in told)
    log = run(grading_task(read_written(path, "humorbench"), "humorbench", "x"), None, grader("again", thirds))
    found = report_of(log).as_dict()
    found["metrics"] = {name: found["metrics"][name] for name in expected["metrics"]}  # 0.1 had fewer
    assert close(without_version(found), without_version(expected))


@pytest.mark.parametrize(
    ("name", "benchmark"),
    [
        ("matching.eval", "matching"),
        ("ranking.json", "ranking"),
        ("rating.eval", "humicroedit_rating"),
        ("pairwise.eval", "humicroedit_pairwise"),
        ("ratings.eval", "humicroedit_pairwise"),
        ("humorbench.eval", "humorbench"),
        ("explanation.eval", "explanation"),
        ("explanation_preference.eval", "explanation_preference"),
        ("brainstorm.eval", "brainstorm"),
        ("lm_nyc_matching", "matching"),
        ("lm_nyc_ranking_gen", "ranking"),
        ("lm_humicroedit_rating", "humicroedit_rating"),
        ("lm_humicroedit_pairwise_gen", "humicroedit_pairwise"),
        ("lm_ratings_humicroedit_pairwise_gen", "humicroedit_pairwise"),
        ("lm_humorbench", "humorbench"),
        ("lm_nyc_explanation", "explanation"),
    ],
)
def test_an_old_run_is_told_as_what_it_is(name: str, benchmark: str, old: Path) -> None:
    path = old / name if "." in name else next((old / name).glob("samples_*"))
    found = read_run(path, benchmark)
    assert found.benchmark == benchmark
    assert found.signature.startswith(f"bench:{benchmark}|v:1-A")
    assert {sample.version for sample in found.samples} == {found.version}
    assert found.version == ("1-A-ratings" if "ratings" in name else "1-A")
    assert found.held == found.rows == len({sample.id for sample in found.samples})
    given: dict[str, Any] = {"via": "ratings"} if "ratings" in name else {}
    given |= {"system": str(old / "explanation.eval")} if benchmark == "explanation_preference" else {}
    records = {record.id: record for record in load(benchmark, dataset="sample", **given).records}
    for sample in found.samples:
        assert sample.groups == records[sample.id].groups
        assert sample.cluster == records[sample.id].cluster
        assert sample.points == records[sample.id].points


@pytest.mark.parametrize(
    ("options", "version"),
    [({}, "1-A"), ({"one_explanation_per": "row"}, "1-A"), ({"one_explanation_per": "caption"}, "1-A-caption")],
)
def test_an_old_sample_is_of_the_variant_of_its_options(options: dict[str, str], version: str) -> None:
    assert about({"humor_tasks": {"benchmark": "humorbench", **options}}).version == version
    assert about_document({"id": "a", "points": [], "choices": [], "scoring": options}).version == version


def test_an_old_system_is_read_from_either_harness(old: Path) -> None:
    opened = load("explanation", dataset="sample")
    texts = {record.id: f"It is a pun ({record.id}). So." for record in opened.records}
    paths = [old / "explanation.eval", *(p for f in old.glob("lm_nyc_explanation*") for p in f.glob("samples_*"))]
    assert len(paths) == 3
    for path in paths:
        assert dict(read_system(str(path), opened).texts) == texts


@pytest.mark.parametrize(
    "name",
    ["matching", "explanation", "explanation_preference", "brainstorm", "rating", "pairwise", "ratings", "humorbench"],
)
def test_metrics_over_an_old_log_are_those_that_it_holds(name: str, old: Path) -> None:
    """As `inspect score --action recompute` and edited scores need them."""
    from inspect_ai.scorer import SampleScore

    log = read_eval_log(str(old / f"{name}.eval"))
    assert log.results
    ids = list(log.eval.dataset.sample_ids or [])
    kept = [
        SampleScore(score=one, sample_id=sample.id, sample_metadata=sample.metadata)
        for sample in sorted(log.samples or [], key=lambda s: ids.index(s.id))  # bootstraps depend on the order
        for one in (sample.scores or {}).values()
    ]
    compute: Any = preference_metrics() if name == "explanation_preference" else benchmark_metrics()
    metrics = {n: m.value for result in log.results.scores for n, m in result.metrics.items()}
    if name in REFUSED:
        with pytest.raises(PrerequisiteError, match=REFUSAL):
            compute(kept)
        run = read_run(old / f"{name}.eval")
        via = {"via": "ratings"} if name == "ratings" else {}
        opened = load(str(run.benchmark), dataset="sample", **via)
        outcomes = [sample.outcome for sample in run if sample.outcome]
        found = flat(opened.metrics(outcomes), opened.benchmark.reported)
    else:
        found = compute(kept)
    expected = by_metric(metrics)
    assert close({n: by_metric(found)[n] for n in expected}, expected)  # and metrics that 0.1 did not have


def by_metric(values: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """{metric: its value, standard error and ends}, of metrics as Inspect has them."""
    parts = {"stderr": "_stderr", "low": "_ci_low", "high": "_ci_high"}
    names = [name for name in values if f"{name}_ci_low" in values]
    found = {n: {"value": values[n]} | {part: values[n + end] for part, end in parts.items()} for n in names}
    repeated = {"stderr", "ci_low", "ci_high"} & set(values)  # of the primary metric, since 0.2
    assert 4 * len(found) + len(repeated) == len(values)
    return found


@pytest.mark.parametrize(
    ("name", "scorer"), [("matching", multiple_choice), ("pairwise", multiple_choice), ("ratings", rating_error)]
)
def test_an_old_log_of_another_version_is_not_scored_again(name: str, scorer: Any, old: Path) -> None:
    with pytest.raises(PrerequisiteError, match=REFUSAL):
        score(read_eval_log(str(old / f"{name}.eval")), scorer(), action="overwrite", display="none")


def test_an_old_log_can_be_scored_again(old: Path) -> None:
    log = read_eval_log(str(old / "rating.eval"))
    again = score(log, rating_error(), action="overwrite", display="none")
    assert log.results
    assert again.results
    before, after = (
        by_metric({n: m.value for n, m in each.results.scores[0].metrics.items()})
        for each in (log, again)
        if each.results
    )
    assert close({n: after[n] for n in before}, before)
    assert not math.isnan(after["rmse"]["value"])

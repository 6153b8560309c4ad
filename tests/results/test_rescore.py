"""`humor-tasks rescore`: the scores of a log to the last digit, or by other rules, and no model is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from characterisation.cases import Case, inspect, kind_of, others
from characterisation.record import Recorder
from characterisation.scripted import InLmEval, in_inspect
from inspect_ai import eval, score
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import Model
from standins.commands import humor_tasks, refused

from humor_tasks import load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import multiple_choice, multiple_choice_released_chat, reference_preference
from humor_tasks.on_inspect.tasks.caption_contest import explanation, matching
from humor_tasks.results.points import read_graded
from humor_tasks.results.reproduce import rescore as rescoring
from humor_tasks.results.reproduce.rescore import Rescored
from humor_tasks.tasks import humorbench
from humor_tasks.testing import ScriptedModel, run_lm_eval, scripted_judge

# One run a benchmark and kind of scorer; in a third of the replies something is wrong.
GRADED = inspect("humorbench", graders=3, subset="wordplay")
WRITTEN = inspect("mock_generation", graders=1)
CASES = [
    inspect("matching", fold="all"),
    inspect("ranking", on_unparsed="random", seed=7),
    inspect("explanation", setting="description"),
    inspect("brainstorm", epochs=2),
    inspect("crowd_pairs", "longest", pairs="top_against_1000", per_contest=2),
    inspect("crowd_groups", "longest", tau="fit", contests="9013-9015"),
    inspect("caption_writing", graders=1, mode="overall", contests="9013-9015"),
    inspect("explanation_preference", "none", 1, system="$SYSTEM"),
    inspect("mock_detecting", input="description", scene="comedy", frames=3),
    inspect("mock_matching", input="description", scene="comedy", replicates=2, on_unparsed="random"),
    inspect("mock_explaining", input="description", scene="comedy", frames=3),
    WRITTEN,
    inspect("humicroedit_rating", "digits", estimate="expected", split="dev"),
    inspect("humicroedit_pairwise", setting="edited_only", via="ratings", split="dev"),
    GRADED,
    inspect("humorbench", graders=1, one_explanation_per="caption"),
    inspect("humorbench_autograder"),
    inspect("humor_writing", count=10),
    *others(),
]


def rescore(path: Path, given: Sequence[tuple[str, str]] = ()) -> list[Rescored]:
    """The scores of one log, of which nothing is left out and for which no model is asked."""
    with patch.object(Model, "generate", side_effect=AssertionError("a model was asked")):
        found, left_out = rescoring.rescore([path], given)
    assert not left_out
    return found


def log_of_case(case: Case, folder: Path) -> Path:
    """The log of a case."""
    Recorder(folder, None).record(case)
    (path,) = (folder / "logs").glob("*.eval")
    return path


def printed_by_inspect(path: Path) -> dict[str, dict[str, float]]:
    """The metrics that Inspect printed, by scorer."""
    results = read_eval_log(str(path), header_only=True).results
    assert results is not None
    return {s.name: {name: m.value for name, m in s.metrics.items()} for s in results.scores}


def check_as_logged(found: list[Rescored]) -> None:
    assert found
    for each in found:
        assert not [item for item in each.items if item.changed]
        was, now = ({n: repr(e) for n, e in of.items()} for of in (each.result.estimates, each.estimates))
        assert was == now
        assert {difference for *_, difference in each.lines} <= {0.0} or "nan" in repr(list(each.lines))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_scores_of_an_inspect_log_are_those_logged(case: Case, tmp_path: Path) -> None:
    path = log_of_case(case, tmp_path)
    found = rescore(path)
    check_as_logged(found)
    for each in found:
        by_inspect = printed_by_inspect(path)[each.result.scorer]
        for name, estimate in each.estimates.items():  # the parts of rates that are zero are not printed
            assert repr(float(by_inspect.get(name, 0.0))) == repr(float(estimate.value)), name


def test_every_benchmark_is_among_the_cases() -> None:
    assert {case.tasks[0] for case in CASES} == set(BENCHMARKS)


STUBS = (
    *("nyc_matching", "nyc_matching_gen", "nyc_explanation", "nyc_explanation_gen", "humicroedit_rating"),
    *("humicroedit_rating_gen", "mock_detecting", "humorbench", "humorbench_autograder", "crowd_pairs_gen"),
    "crowd_groups",
)


@pytest.mark.slow
def test_scores_of_lm_evals_samples_are_those_logged(tmp_path: Path) -> None:
    args = {"dataset": "sample"}
    lm = InLmEval(lambda name: kind_of(name, args))
    found = run_lm_eval(lm, *STUBS, metadata=args, output=tmp_path)
    for stub in STUBS:
        (path,) = tmp_path.rglob(f"samples_{stub}_2*.jsonl")
        (again,) = rescore(path)
        check_as_logged([again])
        results = found["results"][stub]
        short = {metric.name: metric.name_in_lm_eval for metric in again.result.benchmark.reported}
        for name, estimate in again.estimates.items():
            if name in short:
                assert results[f"{short[name]},none"] == pytest.approx(estimate.value, abs=0, nan_ok=True), name


@pytest.mark.slow
def test_scores_of_pairs_in_lm_eval_are_those_logged(tmp_path: Path) -> None:
    records = load("explanation", dataset="sample").records
    (tmp_path / "texts.json").write_text(json.dumps({r.id: f"{r.target} Indeed." for r in records[1:]}))
    args = {"dataset": "sample", "system": str(tmp_path / "texts.json")}
    run_lm_eval(InLmEval(lambda name: kind_of(name, args)), "explanation_preference", metadata=args, output=tmp_path)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    check_as_logged(rescore(path))


# ---- other rules ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """matching.eval, and its parts/; twice.eval, scored by another rule too; short.eval with a limit."""
    folder = tmp_path_factory.mktemp("rescore")
    how = {"display": "none", "log_dir": str(folder / "made")}
    (log,) = eval(matching(dataset="sample"), model=in_inspect("matching"), **how)
    again = score(log, multiple_choice_released_chat(), action="append", display="log")
    (short,) = eval(matching(dataset="sample"), model=in_inspect("matching"), limit=4, **how)
    for name, each in (("matching", log), ("twice", again), ("short", short)):
        write_eval_log(each, str(folder / f"{name}.eval"))
    for part in ("1/2", "2/2"):
        task = matching(dataset="sample", shard=part)
        eval(task, model=in_inspect("matching"), display="log", log_dir=str(folder / "parts"))
    return folder


RULES: list[dict[str, Any]] = [
    {"extraction": "released_chat"},
    {"extraction": "released_leaderboard"},
    {"on_unparsed": "exclude"},
    {"on_unparsed": "random", "seed": 7},
    {"extraction": "released_chat", "on_unparsed": "random"},
]


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES, ids=str)
def test_another_rule_scores_as_a_run_with_that_rule(logs: Path, rules: dict[str, Any]) -> None:
    log = read_eval_log(str(logs / "matching.eval"))
    run = load("matching", dataset="sample", **rules)
    texts = {str(s.id): (s.output.completion, s.output.stop_reason) for s in log.samples or []}
    outcomes = []
    for record in run.records:
        text, stop = texts[record.id]
        outcomes.append(run.outcome(record, text, stop == "content_filter", cut_off=stop == "max_tokens"))
    (found,) = rescore(logs / "matching.eval", [(name, str(value)) for name, value in rules.items()])
    expected = run.metrics(sorted(outcomes, key=lambda o: [item.id for item in found.items].index(o.id)))
    assert {n: repr(e) for n, e in found.estimates.items()} == {n: repr(e) for n, e in expected.items()}
    assert found.changed == {name: value for name, value in rules.items() if value != 1234}
    assert any(item.changed for item in found.items)


@pytest.mark.slow
def test_scorers_keep_their_own_rules(logs: Path, tmp_path: Path) -> None:
    strict, chat = rescore(logs / "twice.eval")
    assert (strict.result.scorer, chat.result.scorer) == ("multiple_choice", "multiple_choice_released_chat")
    check_as_logged([strict, chat])
    assert strict.estimates["accuracy"] != chat.estimates["accuracy"]
    log = read_eval_log(str(logs / "matching.eval"))
    given = score(log, multiple_choice("released_leaderboard", "exclude"), action="overwrite", display="log")
    write_eval_log(given, str(tmp_path / "given.eval"))
    check_as_logged(rescore(tmp_path / "given.eval"))


@pytest.mark.slow
@pytest.mark.parametrize("case", [GRADED, WRITTEN], ids=lambda case: case.key)
def test_judged_scores_by_another_rule_need_no_grader(case: Case, tmp_path: Path) -> None:
    wrong, exclude = (
        log_of_case(replace(case, args=case.args | {"on_unparsed": rule}), tmp_path / rule)
        for rule in ("wrong", "exclude")
    )
    for log, rule, other in ((wrong, "exclude", exclude), (exclude, "wrong", wrong)):
        changed, expected = rescore(log, [("on_unparsed", rule)])[0], rescore(other)[0]
        assert {n: repr(e) for n, e in changed.estimates.items()} == {
            n: repr(e) for n, e in expected.result.estimates.items()
        }
        assert any(item.changed for item in changed.items)


@pytest.mark.slow
def test_a_comparison_with_the_reference_is_counted_again(tmp_path: Path) -> None:
    found: dict[str, EvalLog] = {}
    for rule in ("wrong", "exclude"):
        task = explanation(dataset="sample", fold="4", on_unparsed=rule)
        (log,) = eval(task, model=in_inspect("explanation"), display="log")
        judges = {"grader": [in_inspect("judge", "j")]}
        found[rule] = score(log, reference_preference(cache=False), action="append", display="log", model_roles=judges)
        write_eval_log(found[rule], str(tmp_path / f"{rule}.eval"))
    check_as_logged(rescore(tmp_path / "wrong.eval"))
    changed = {each.result.scorer: each for each in rescore(tmp_path / "wrong.eval", [("on_unparsed", "exclude")])}
    expected = {each.result.scorer: each for each in rescore(tmp_path / "exclude.eval")}
    for name, each in changed.items():
        assert {n: repr(e) for n, e in each.estimates.items()} == {
            n: repr(e) for n, e in expected[name].result.estimates.items()
        }
    assert any(item.changed for item in changed["reference_preference"].items)


# ---- command --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_prints_and_writes_both_scores(logs: Path, tmp_path: Path) -> None:
    log, out = logs / "matching.eval", tmp_path / "out.json"
    assert "0 scored differently; rules: as logged." in humor_tasks("rescore", log)
    said = humor_tasks("rescore", log, "-T", "on_unparsed=exclude", "-o", out)
    assert "short.eval: incomplete: 4 of 10 items." in humor_tasks("rescore", logs / "short.eval")
    (written,) = json.loads(out.read_text())
    assert f"{written['changed_replies']} scored differently; rules: on_unparsed=exclude." in said
    (told,) = json.loads(humor_tasks("rescore", log, "-T", "on_unparsed=exclude", "--json"))
    assert written | told == written
    accuracy = told["metrics"]["accuracy"]
    assert accuracy["difference"] == accuracy["rescored"] - accuracy["logged"] > 0
    assert f"{accuracy['rescored']:.5f}" in said
    items = {item["id"]: item for item in written["items"]}
    run = load("matching", dataset="sample", on_unparsed="exclude")
    assert set(items) == {record.id for record in run.records}
    left_out = [item for item in items.values() if "accuracy" not in item["rescored"]["values"]]
    assert len(left_out) == written["changed_replies"]
    assert all(item["logged"]["values"]["accuracy"] == 0 for item in left_out)


@pytest.mark.slow
def test_what_cannot_be_rescored_is_refused(logs: Path, tmp_path: Path) -> None:
    log = logs / "matching.eval"
    assert "there is no 'setting'; choose from extraction, on_unparsed, seed" in refused(
        "rescore", log, "-T", "setting=pixels"
    )
    assert "Did you mean 'strict'?" in refused("rescore", log, "-T", "extraction=strickt")
    assert "write -T NAME=VALUE" in refused("rescore", log, "-T", "seed")
    assert "seed is given twice" in refused("rescore", log, "-T", "seed=1", "-T", "seed=2")
    assert "ends with .json" in refused("rescore", log, "-o", tmp_path / "out.eval")
    as_json = tmp_path / "log.json"
    write_eval_log(read_eval_log(str(log)), str(as_json))
    before = as_json.read_bytes()
    assert "is a log; give another file" in refused("rescore", as_json, "-o", as_json)
    assert as_json.read_bytes() == before
    check_as_logged(rescore(as_json))


@pytest.mark.slow
def test_rules_that_do_not_apply_are_refused_or_left_as_logged(tmp_path: Path) -> None:
    args = {"dataset": "sample"}
    lm = InLmEval(lambda name: kind_of(name, args))
    run_lm_eval(lm, "nyc_matching", "humicroedit_rating", "humorbench_autograder", metadata=args, output=tmp_path)
    wanted = {
        "nyc_matching": ("extraction", "choose from on_unparsed, seed"),  # the run compared log-likelihoods
        "humicroedit_rating": ("seed", "choose from on_unparsed"),
        "humorbench_autograder": ("seed", "choose from thinking"),
    }
    for stub, (name, told) in wanted.items():
        (path,) = tmp_path.rglob(f"samples_{stub}_2*.jsonl")
        with pytest.raises(BadInput, match=told):
            rescore(path, [(name, "1")])
    (results,) = tmp_path.rglob("results_*.json")
    by_name = {each.result.benchmark.name: each for each in rescore(results, [("seed", "7")])}
    assert {name: each.changed for name, each in by_name.items()} == {
        "matching": {"seed": 7},
        "humicroedit_rating": {},
        "humorbench_autograder": {},
    }


@pytest.mark.slow
def test_the_parts_of_a_run_are_rescored_as_one(logs: Path) -> None:
    (parts,), (whole,) = rescore(logs / "parts"), rescore(logs / "matching.eval")
    check_as_logged([parts])
    assert len(parts.result.paths) == 2
    assert {n: repr(e) for n, e in parts.estimates.items()} == {n: repr(e) for n, e in whole.estimates.items()}
    rules = [("on_unparsed", "exclude")]
    assert repr(rescore(logs / "parts", rules)[0].estimates) == repr(
        rescore(logs / "matching.eval", rules)[0].estimates
    )


# ---- damaged verdicts -----------------------------------------------------------------------------

FIRST: dict[str, Any] = {"about": {"id": "x", "point": "It is."}, "verdicts": [{"grader": "j", "word": True}]}
DAMAGED: list[tuple[Any, str]] = [
    (None, "KeyError('judged')"),
    ([], "ZeroDivisionError"),
    ("words", "TypeError"),
    ([{**FIRST, "about": "x"}], "ValueError"),
    ([{"verdicts": []}], "KeyError('about')"),
    ([{**FIRST, "verdicts": None}], "TypeError"),
    ([{**FIRST, "verdicts": [{"word": True}]}], "'grader'"),
    ([{**FIRST, "verdicts": [{"grader": "j", "word": True, "status": "answered", "more": 1}]}], "'more'"),
]


@pytest.fixture(scope="module")
def judged_log(tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    (log,) = eval(
        humorbench(dataset="sample", cache=False),
        model=ScriptedModel("a", "<explanation>It is a pun.</explanation>").model,
        model_roles={"grader": scripted_judge("j", True).model},
        log_dir=str(tmp_path_factory.mktemp("judged")),
        display="log",
        limit=2,
    )
    return log


@pytest.mark.parametrize(("judged", "told"), DAMAGED)
def test_damaged_verdicts_are_named_by_file_and_sample(
    judged: Any, told: str, judged_log: EvalLog, tmp_path: Path
) -> None:
    log, path = judged_log.model_copy(deep=True), tmp_path / "log.json"
    (_, sample) = log.samples or []
    details = (sample.scores or {})["element_coverage"].metadata or {}
    details["judged"] = judged
    if judged is None:
        del details["judged"]
    write_eval_log(log, str(path))
    for read in (rescore, read_graded):
        with pytest.raises(BadInput) as problem:
            read(path)
        message = str(problem.value)
        assert message.startswith(
            f"{path}: sample {sample.id}: its questions and verdicts under 'judged' cannot be read"
        )
        assert told in message or (read is read_graded and judged in (None, []))


def test_a_question_that_a_log_lacks_is_named(judged_log: EvalLog, tmp_path: Path) -> None:
    log, path = judged_log.model_copy(deep=True), tmp_path / "log.json"
    (_, sample) = log.samples or []
    details = (sample.scores or {})["element_coverage"].metadata or {}
    lost = details["judged"].pop()["about"]["id"]
    write_eval_log(log, str(path))
    with pytest.raises(BadInput, match=f"sample {sample.id}: .*{lost}"):
        read_graded(path)

"""Hard subsets: the rows that the models of several graded logs pass least often."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.graded_logs import Logs, explainer, grader, made_log, report_of, run_log

from humor_tasks.benchmarks.humorbench.corpus import subset_keys
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.verdicts import hard_subset
from humor_tasks.results.points import read_graded
from humor_tasks.tasks import humorbench


@settings(max_examples=50)
@given(
    st.lists(
        st.dictionaries(st.sampled_from([f"{i}-k" for i in range(12)]), st.sampled_from([True, False, None])),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 14),
    st.integers(1, 4),
)
def test_hard_subset_against_counting_by_hand(pool: list[dict[str, bool | None]], size: int, least: int) -> None:
    attempts = {k: sum(passes.get(k) is not None for passes in pool) for passes in pool for k in passes}
    passed = {k: sum(passes.get(k) is True for passes in pool) for k in attempts}
    left = {k for k, n in attempts.items() if n >= least}
    chosen: list[str] = []
    while left and len(chosen) < size:
        best = None
        for k in sorted(left, key=hashed):
            rate = Fraction(passed[k], attempts[k])
            if best is None or (rate, -attempts[k]) < best[0]:
                best = ((rate, -attempts[k]), k)
        assert best
        chosen.append(best[1])
        left.remove(best[1])
    given_logs = [made_log(passes=passes) for passes in pool]
    if not chosen:
        with pytest.raises(
            BadInput, match=f"no row has {least} verdicts; the most is {max(attempts.values(), default=0)}"
        ):
            hard_subset(given_logs, size, least)
        return
    if not left:  # the chosen are all there are
        with pytest.raises(BadInput, match=f"{len(chosen)} rows have {least} verdicts.* would be all of them"):
            hard_subset(given_logs, size, least)
        return
    found = hard_subset(given_logs, size, least)
    assert found["keys"] == chosen
    assert found["attempts"] == {k: attempts[k] for k in chosen}
    assert found["pass_rates"] == {k: pytest.approx(passed[k] / attempts[k], abs=1e-6) for k in chosen}
    worth = {k: (Fraction(passed[k], n), -n) for k, n in attempts.items() if n >= least}
    tied, places = (sum(worth[k] == worth[chosen[-1]] for k in keys) for keys in (worth, chosen))
    tie = f"; {tied} rows tie at the cut, where {places} fit: a hash of their keys decides"
    enough = sum(n >= least for n in attempts.values())
    assert found["note"].startswith(f"lowest pass rate of {enough} rows with at least {least} verdicts")
    assert found["note"].endswith(f"{len(attempts) - enough} rows had fewer{tie * (tied > places)}")


def hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def test_ties_go_to_more_attempts_then_to_a_hash_of_the_key() -> None:
    assert sorted("abc", key=hashed) == ["c", "b", "a"]  # not the order of the keys, which is that of the cartoons
    first = made_log(passes={"b": False, "a": False, "c": False, "d": True, "e": None})
    second = made_log(passes={"c": False, "d": False, "e": None})
    assert hard_subset([first, second], 3, 1)["keys"] == ["c", "b", "a"]
    found = hard_subset([first, second], 2, 1)
    assert found["keys"] == ["c", "b"]
    assert found["note"].endswith("; 2 rows tie at the cut, where 1 fit: a hash of their keys decides")
    assert hard_subset([first, second], 1, 2)["keys"] == ["c"]
    assert hard_subset([first, second], 1, 2)["note"].endswith("3 rows had fewer")  # with e, which has none
    with pytest.raises(BadInput, match="no row has 3 verdicts; the most is 2"):
        hard_subset([first, second])


@pytest.mark.parametrize(("size", "least", "eligible"), [(4, 1, 4), (5, 1, 4), (100, 1, 4), (2, 2, 2), (3, 2, 2)])
def test_a_subset_is_smaller_than_what_it_is_of(size: int, least: int, eligible: int) -> None:
    pool = [made_log(passes={"a": True, "b": False, "c": True, "d": True, "e": None})]
    pool.append(made_log(passes={"a": True, "b": False, "e": None}))
    with pytest.raises(BadInput, match=rf"\b{eligible} rows have {least} verdicts.* {size} would be all of them"):
        hard_subset(pool, size, least)
    assert len(hard_subset(pool, eligible - 1, least)["keys"]) == eligible - 1


def test_a_subset_belongs_to_one_file() -> None:
    one, two, unknown = (made_log(fingerprint=name) for name in ("one", "two", None))
    with pytest.raises(BadInput, match="the logs are of 2 different data files"):
        hard_subset([one, two], 5, min_attempts=1)
    assert hard_subset([one, unknown, one], 5, min_attempts=1)["corpus_sha256"] == "one"
    assert hard_subset([unknown], 5, min_attempts=1)["corpus_sha256"] is None


@pytest.mark.slow
def test_a_written_subset_is_one_for_the_task_and_the_report(logs: Logs, tmp_path: Path) -> None:
    path = tmp_path / "my_hard.json"
    pool = map(str, logs.pool())
    arguments = ["analyse", "hard-subset", *pool, "-o", str(path), "--size", "5", "--min-attempts", "2"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"{path}: 5 rows, lowest pass rate of ")
    made = json.loads(path.read_text())
    pool = [read_graded(log) for log in logs.pool()]
    assert made == hard_subset(pool, 5, 2)
    assert made["corpus_sha256"] == pool[0].fingerprint
    assert [(each["log"], each["model"]) for each in made["source"]["logs"]] == [
        (log.path.name, log.model) for log in pool
    ]
    assert all(each["grading"].startswith("graders:") for each in made["source"]["logs"])
    assert subset_keys(str(path), "sample") == frozenset(made["keys"])
    task = humorbench(dataset="sample", subset=str(path), cache=False)
    assert {sample.id for sample in task.dataset} == set(made["keys"])
    log = run_log(task, explainer("a"), [grader("judge")], tmp_path)
    some, whole = report_of(Path(log.location), hard=str(path)), report_of(logs.of("a", "judge"), hard=str(path))
    assert len({some.results.results[0].estimates[name] for name in ("coverage", "coverage_my_hard.json")}) == 1
    estimates = [report.results.results[0].estimates["coverage_my_hard.json"] for report in (some, whole)]
    assert estimates[0] == estimates[1]

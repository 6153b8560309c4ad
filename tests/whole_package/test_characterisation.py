"""What both harnesses show, score and report is what tests/characterisation/table.json says.

Where it is meant to move, `tests/characterisation/record.py --table` writes the table anew, with `--only` a part of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from characterisation.cases import Case, all_cases, kept_cases
from characterisation.record import TABLE, Recorder, chosen, differences, not_recorded

EXPECTED: dict[str, Any] = json.loads(TABLE.read_text())
SAMPLE = [case for case in kept_cases() if not case.real]
REAL = [case for case in kept_cases() if case.real]


def keys(cases: Sequence[Case]) -> list[str]:
    return [case.key for case in cases]


def check(case: Case, recorder: Recorder) -> set[str]:
    """The keys of the case's entries, all of which are as the table says."""
    found = recorder.record(case)
    told = [line for key, now in found.items() for line in differences(EXPECTED.get(key, {}), now, key)]
    assert not told, "\n" + "\n".join(told)
    return set(found)


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
@pytest.mark.slow
@pytest.mark.parametrize("case", SAMPLE, ids=keys(SAMPLE))
def test_samples_score_as_recorded(case: Case, tmp_path: Path) -> None:
    assert check(case, Recorder(tmp_path, None))


@pytest.mark.slow
@pytest.mark.parametrize("case", REAL, ids=keys(REAL))
def test_real_rows_score_as_recorded(case: Case, tmp_path: Path, real_data: Path) -> None:
    assert check(case, Recorder(tmp_path, real_data))


def run_of(key: str) -> str:
    """An entry's run, whichever its stub."""
    harness, _, rows, label, model = key.split("/")[:5]
    return "/".join((harness, rows, label, model))


def test_every_entry_is_of_a_case() -> None:
    assert {run_of(key) for key in EXPECTED} == {run_of(case.key) for case in kept_cases()}
    assert len(set(keys(all_cases()))) == len(all_cases())


def test_what_is_not_recorded_anew_stays_in_the_table() -> None:
    table = {"inspect/a/sample/default/x": {"n": 1}, "inspect/a/real/default/x": {"n": 2}}
    assert not_recorded(table, (), real=True) == {}
    assert list(not_recorded(table, (), real=False)) == ["inspect/a/real/default/x"]
    assert not_recorded(table, ["inspect/b"], real=True) == table
    assert keys(chosen(kept_cases(), ["inspect/bbeh"], real=False)) == ["inspect/bbeh_nycc/sample/default/scripted"]
    assert not any(case.real for case in chosen(all_cases(), (), real=False))


def test_a_difference_names_key_and_field_and_both_values() -> None:
    was, now = {"k": {"metrics": {"acc": "0.1"}}}, {"k": {"metrics": {"acc": "0.2", "new": "1"}}}
    assert differences(was, now) == ["k: metrics: acc: was 0.1, is 0.2", "k: metrics: new: was -, is 1"]
    assert differences(was, was) == []
    assert differences({"stderr": "0.1"}, {"stderr": "0.10000000000000002"}) == []
    assert differences({"version": "1-A"}, {"version": "2-A"}) == ["version: was 1-A, is 2-A"]

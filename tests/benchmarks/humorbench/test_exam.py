"""The exam of HumorBench's autograder without a harness: judges of known mistakes, and what is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from standins.corpus import rows_of
from standins.humorbench import REAL_RUBRICS, RUBRIC, key, write_rows

from humor_tasks import evaluate, load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.scorers import JUDGE_METRICS, judge_exam

PASS = "<reasoning>It says so.</reasoning>\n<judgement>PASS</judgement>"
FAIL = "<reasoning>It does not.</reasoning>\n<judgement>FAIL</judgement>"
METRICS = [*JUDGE_METRICS, "unparsed", "refused", "missing_verdicts"]
METRICS += ["accuracy_missing_failed", "accuracy_missing_passed"]


@pytest.fixture(scope="module")
def exam(real_data: Path) -> Run:
    files = [str(real_data / "humorbench" / name) for name in REAL_RUBRICS]
    return load("humorbench_autograder", dataset=",".join(files))


def by_explainer(run: Run) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for record in run.records:
        groups.setdefault(record.groups["explainer"], []).append(record)
    return groups


def test_the_real_exam(exam: Run) -> None:
    groups = by_explainer(exam)
    passed = [sum(record.target == "PASS" for record in records) for records in groups.values()]
    assert passed == list(REAL_RUBRICS.values()) == [73, 80]
    assert [len(records) for records in groups.values()] == [100, 100]
    assert len({record.id for record in exam.records}) == 200
    assert exam.data.provenance["rows"] == 200


def test_a_judge_that_passes_everything(exam: Run) -> None:
    found = evaluate(exam, {record.id: PASS for record in exam.records}).metrics
    for explainer, accuracy, ac1 in zip(by_explainer(exam), (0.73, 0.80), (0.64773, 0.75610), strict=True):
        assert found[f"accuracy_{explainer}"].value == pytest.approx(accuracy)
        assert found[f"false_pass_rate_{explainer}"].value == 1
        assert found[f"false_fail_rate_{explainer}"].value == 0
        assert found[f"cohen_kappa_{explainer}"].value == 0
        assert found[f"gwet_ac1_{explainer}"].value == pytest.approx(ac1, abs=5e-6)
    assert found["accuracy"].value == pytest.approx(0.765)
    assert found["unparsed"].value == found["refused"].value == 0


UNREAD = ["It passes.", f"{PASS} or {FAIL}, who knows", "", '{"judgement": "PASS"}', "PASS"]
REFUSAL = "I'm sorry, but I can't help with that."


def test_metrics_are_those_of_the_verdicts_that_were_read(exam: Run) -> None:
    """Of ten verdicts two are wrong, one is unread and one refused: these leave the denominator, and are counted."""
    said = {record.id: (PASS, FAIL)[(record.target == "FAIL") ^ (i % 10 < 2)] for i, record in enumerate(exam.records)}
    replies = {name: {8: UNREAD[i % 5], 9: REFUSAL}.get(i % 10, said[name]) for i, name in enumerate(said)}
    found = evaluate(exam, replies).metrics
    parts = {"": list(exam.records)} | {f"_{name}": records for name, records in by_explainer(exam).items()}
    for part, records in parts.items():
        read = [record for record in records if replies[record.id] in (PASS, FAIL)]
        labels, verdicts = [r.target == "PASS" for r in read], [replies[r.id] == PASS for r in read]
        for name, expected in judge_exam(labels, verdicts, [record.cluster for record in read]).items():
            assert found[name + part] == expected, name + part
        assert found[f"unparsed{part}"].value == found[f"refused{part}"].value == pytest.approx(0.1)
    assert found["unparsed"].n == 200
    assert found["unparsed"].clusters == len({record.fields["description"] for record in exam.records}) == 38


def test_one_explainer_has_no_metrics_of_its_own(tmp_path: Path) -> None:
    rows = [row for row in rows_of(RUBRIC) if row["explainer_model"] == "sample-explainer-a"]
    run = load("humorbench_autograder", dataset=write_rows(tmp_path / "r.csv", rows))
    found = evaluate(run, {record.id: PASS for record in run.records}).metrics
    assert list(found) == METRICS
    assert found["accuracy"].value == pytest.approx(14 / 20)


def test_the_exam_of_the_sample() -> None:
    run = load("humorbench_autograder", dataset="sample")
    assert run.version == "1-A"
    for record, row in zip(run.records, rows_of(RUBRIC), strict=True):
        assert record.id == f"{key(row)}-{row['explainer_model']}"
        assert (record.target, record.groups) == (row["label"], {"explainer": row["explainer_model"]})
        system, asked = run.prompt(record).turns
        assert (system.role, asked.role) == ("system", "user")
        for column in ("description", "caption", "explanation", "element"):
            assert row[column] in asked.text
        assert row["label"] not in record.fields.values()
    assert len({record.cluster for record in run.records}) < 40
    report = evaluate(run, {record.id: PASS for record in run.records})
    expected = [n + s for n in METRICS for s in ("", "-a", "-b")]
    assert [name.replace("_sample-explainer", "") for name in report.metrics] == expected


def test_a_verdict_counts_in_the_form_that_was_asked_for_only() -> None:
    plain = load("humorbench_autograder", dataset="sample")
    structured = load("humorbench_autograder", dataset="sample", structured=True)
    assert "<judgement>PASS</judgement>" in plain.prompt(plain.records[0]).turns[-1].text
    assert "JSON object" in structured.prompt(plain.records[0]).turns[-1].text
    assert plain.prompts_hash == structured.prompts_hash
    assert "structured:True" in str(structured.signature("generate"))
    in_json = '{"reasoning": "It says so.", "judgement": "PASS"}'
    for run, right, wrong in ((plain, PASS, in_json), (structured, in_json, PASS)):
        assert run.outcome(run.records[0], right).answer == "PASS"
        assert run.outcome(run.records[0], wrong).status == "unparsed"


def test_several_files_are_one_exam(tmp_path: Path) -> None:
    rows = rows_of(RUBRIC)
    one, two = write_rows(tmp_path / "1.csv", rows[:20]), write_rows(tmp_path / "2.csv", rows[20:])
    whole = load("humorbench_autograder", dataset="sample")
    for dataset in (f"{one},{two}", [one, two]):  # a command line splits at commas
        joined = load("humorbench_autograder", dataset=dataset)
        assert joined.records == whole.records
        assert joined.data.provenance["configs"] == [one, two]
    with pytest.raises(BadInput) as caught:
        load("humorbench_autograder", dataset=f"{one},{two},sample")
    for message in ("sample_rubric.csv, line 2", "(idx, element) by the same explainer", f"{one}, line 2"):
        assert message in str(caught.value)

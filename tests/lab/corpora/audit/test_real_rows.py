"""`humor-tasks audit` on the real rows: what is known to be wrong in them is found, by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from humor_tasks.lab.corpora.audit.auditing import Audit, audit
from humor_tasks.lab.corpora.audit.opening import open_items
from humor_tasks.lab.corpora.audit.repeated import across_rows, across_splits, in_rows
from humor_tasks.lab.corpora.audit.similar import near_duplicates


def audited(dataset: object, task: str | None, *given: str) -> Audit:
    return audit(open_items(str(dataset), task, given, (), (), {}))


def counts(done: Audit) -> dict[str, int]:
    return {each.kind: each.count for each in done.findings if each.kind not in ("shortcut", "imbalance")}


@pytest.mark.slow
def test_the_two_duplicate_choices_of_matching(real_corpus: str) -> None:
    done = audited(real_corpus, "matching", "fold=0")
    (one, *others) = done.findings
    assert (one.kind, one.severity, one.count, others) == ("duplicate_choice", "error", 2, [])
    assert one.rows == (
        "row 31 (2305a8cc71ebc4ee40e98f00fc212342) of validation: A and C: When. (answer E)",
        "row 284 (b3f839de559f94e9b1b41694ec0d069a) of validation: B and D: Don't worry, the polls show it will miss "
        "us. (answer E)",
    )
    values = {each.rule: each.estimate for each in done.shortcuts}
    for rule in ("always A", "longest, characters", "shortest, words", "answer only (n-grams of the choices)"):
        assert values[rule].low < 0.2 < values[rule].high, rule
    assert values["overlap with the scene"].low > 0.2


@pytest.mark.slow
def test_pictures_of_matching(real_corpus: str) -> None:
    done = audited(real_corpus, "matching", "fold=0", "setting=pixels")
    assert counts(done) == {"duplicate_choice": 2}


@pytest.mark.slow
def test_folds_of_ranking_share_contests_and_splits_of_a_fold_do_not(real_corpus: str) -> None:
    data = open_items(real_corpus, "ranking", (), (), (), {})
    findings = {each.kind: each for each in (*across_rows(data), *across_splits(data), *near_duplicates(data))}
    assert "group_in_two_splits" not in findings
    assert "contradiction" not in findings
    assert (findings["shared_between_folds"].severity, findings["shared_between_folds"].count) == ("note", 410)
    assert "train of fold 0, validation of fold" in findings["shared_between_folds"].rows[0]
    assert findings["text_in_two_splits"].count == 5
    assert any("It's mostly water weight." in row for row in findings["text_in_two_splits"].rows)
    assert "My eyes are down here." in findings["near_duplicate_in_two_splits"].rows[0]
    assert in_rows(data.items) == []


@pytest.mark.slow
def test_equal_edits_of_humicroedit_have_other_grades(real_data: Path) -> None:
    rated = open_items(str(real_data / "humicroedit"), "humicroedit_rating", (), (), (), {})
    found = {each.kind: each for each in (*in_rows(rated.items), *across_rows(rated))}
    assert {kind: each.count for kind, each in found.items()} == {"contradiction": 37, "duplicate_row": 43}
    assert found["contradiction"].severity == "warning"
    pairs = open_items(str(real_data / "humicroedit"), "humicroedit_pairwise", (), (), (), {})
    found = {each.kind: each for each in (*in_rows(pairs.items), *across_rows(pairs), *across_splits(pairs))}
    assert {kind: each.count for kind, each in found.items()} == {
        "duplicate_choice": 37,
        "contradiction": 5,
        "duplicate_row": 27,
    }
    assert found["duplicate_choice"].rows[0] == (
        "row 14940-127 of train: A and B: $ 2.7 billion Christmas tree in Spain [ Video ] (answer A)"
    )


@pytest.mark.slow
def test_words_alone_tell_sarcasm_in_mustard(real_data: Path) -> None:
    done = audited(real_data / "mock_sources" / "mustard_sarcasm_data.json", None)
    assert counts(done) == {}
    values = {each.rule: each.estimate for each in done.shortcuts}
    assert (values["always yes"].value, values["always yes"].n) == (0.5, 690)
    assert values["text only (words)"].low > 0.55


def test_the_explanations_are_as_long_as_section_2_says(real_corpus: str) -> None:
    done = audited(real_corpus, "explanation")
    found = {each.quantity: (round(each.here, 2), each.published) for each in done.statistics}
    assert found["instances_validation"] == (130, 130)
    assert (found["words_mean"], found["words_median"]) == ((59.95, 60), (60, 59))
    assert "unlabelled" not in {each.kind for each in done.findings}

"""Caption writing without a harness: questions, values of verdicts and replies, bad parameters, contests left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from standins.judging import panel
from standins.ranked import CONTESTS, WRITTEN, captions_of, listed, ranked

from humor_tasks import load
from humor_tasks.benchmarks.crowd.metrics import WIN_RATES, verdict_values
from humor_tasks.benchmarks.crowd.metrics import WRITING_METRICS as METRICS
from humor_tasks.benchmarks.crowd.writing import CAPTION_WRITING, comparisons, judged
from humor_tasks.contract.judging.questions import Panel
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome, Record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ranked(tmp_path_factory.mktemp("contests"), CONTESTS)


def sure(pairing: str, target: str, answer: str) -> Panel:
    """A judge whose log-odds are 2 for the right letter."""
    odds = 1.0 if target == "A" else -1.0
    return panel(answer, told={"A": odds, "B": -odds}, pairing=pairing, target=target)


def test_the_prompt_shows_the_cartoon_and_no_caption(folder: str) -> None:
    opened = load("caption_writing", dataset=folder)
    assert [record.id for record in opened.records] == [f"contest-{number}" for number in CONTESTS]
    for record in opened.records:
        shown = "\n".join(turn.text for turn in opened.prompt(record).turns)
        assert record.fields["uncanny"] in shown
        assert not any(text in shown for text in captions_of(folder, int(record.cluster)))


def test_the_judges_question_is_that_of_crowd_groups(folder: str) -> None:
    opened = load("caption_writing", dataset=folder, contests=536)
    asked = comparisons(opened.options.question(), opened.records[0], WRITTEN, exam=True)
    assert len(asked) == 10
    assert {record.groups["pairing"] for record in asked} == {"top10", "rank200", "rank1000", "median", "exam"}
    for record in asked:
        groups = dict(zip("AB", (choice.split("\n") for choice in record.choices), strict=True))
        if record.groups["pairing"] == "exam":
            assert groups[str(record.target)] == captions_of(folder, 536)[:10]
        else:
            assert groups[str(record.target)] == WRITTEN
    exam = next(r for r in load("crowd_groups", dataset=folder, contests=536).records if r.id.endswith("top10-first"))
    of_ours = next(r for r in asked if r.groups["pairing"] == "exam" and r.target == "A")
    assert of_ours.choices == exam.choices


def test_recited_entries_are_found_among_all_of_the_contest(folder: str) -> None:
    opened = load("caption_writing", dataset=folder, contests=536)
    entries = captions_of(folder, 536)
    mine = [entries[900].upper() + "!", entries[1019], *WRITTEN[2:]]
    values = opened.outcome(opened.records[0], listed(mine)).values
    assert (values["recited_exact"], values["recited_near"]) == (0.2, 0.0)
    assert values["distinct"] == 1.0
    again = opened.outcome(opened.records[0], listed([*WRITTEN[:9], WRITTEN[0].lower()])).values
    assert again["distinct"] == 0.9


def test_values_of_verdicts_by_hand() -> None:
    values = verdict_values(
        [
            panel("A", pairing="top10", target="A"),
            panel("A", pairing="top10", target="B"),
            panel("A", pairing="median", target="A"),
            panel(None, pairing="median", target="B"),
            panel("B", pairing="exam", target="A"),
            panel("A", pairing="exam", target="B"),
        ]
    )
    assert values == {
        "win_rate_top10": 0.5,
        "missing_win_rate_median": 0.5,
        "read_win_rate_median": 0.5,
        "judge_accuracy": 0.0,
        "judge_share_a": 4 / 5,
        "judge_consistency": 0.5,
        "verdicts_asked": 6.0,
        "verdicts_missing": 1.0,
    }
    assert {metric.name for metric in METRICS} >= {*WIN_RATES, "judge_accuracy"}
    assert CAPTION_WRITING.metrics[0].name == "win_rate_top10"


def test_lost_replies_are_lost_in_corrected_and_recalibrated_rates() -> None:
    """Judges of accuracy .9 let the captions win everywhere, but half of the replies hold none."""
    run = CAPTION_WRITING.reopen(None, {"tau": "0.5"})
    won = [sure(name.removeprefix("win_rate_"), letter, letter) for name in WIN_RATES for letter in "AB"]
    outcomes = []
    for i in range(40):
        exam = [sure("exam", "A", "A" if i % 10 else "B"), sure("exam", "B", "B")]
        o = Outcome(f"contest-{i}", str(i), {}, "answered", "captions" if i % 2 == 0 else None, None, {})
        outcomes.append(judged(run, o, [*won, *exam]))
    found = {name: round(e.value, 6) for name, e in run.metrics(outcomes).items()}
    assert (found["judge_accuracy"], found["win_rate_top10"]) == (0.9, 0.5)
    assert found["corrected_win_rate_top10"] == pytest.approx(0.5 * (1 + 0.9 - 1) / (2 * 0.9 - 1))
    assert found["recalibrated_win_rate_top10"] == 0.5
    none = run.metrics([o for o in outcomes if o.answer is None])
    assert none["corrected_win_rate_top10"].value == 0 == none["win_rate_top10"].value
    without = CAPTION_WRITING.reopen(None, {"exam": False})
    bare = Outcome("contest-1", "1", {}, "unparsed", None, None, {})
    assert not any("corrected" in name for name in without.metrics([judged(without, bare, ())]))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"shots": 5}, "those of the judges are judge_shots"),
    ({"cot": True}, "the writer explains its captions"),
    ({"tau": "fit"}, "fit it with crowd_groups"),
    ({"tau": "high"}, "tau must be a number"),
    ({"tau": 1.0, "mode": "best_pick"}, "tau=1.0 needs mode=overall"),
    ({"on_unparsed": "random"}, "on_unparsed"),
]


@pytest.mark.parametrize(("given", "told"), BAD)
def test_bad_parameters(folder: str, given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        load("caption_writing", dataset=folder, **given)


def test_a_sample_without_peoples_captions_is_named() -> None:
    question = CAPTION_WRITING.open(dataset="sample").options.question()
    with pytest.raises(BadInput, match="no groups of people's captions"):
        comparisons(question, Record("s", "s", {}, "", (), None, {}), ["x"] * 10, exam=False)


def test_contests_without_all_groups_are_left_out(tmp_path: Path) -> None:
    home = ranked(tmp_path, (536,))
    ranked(tmp_path, (537,), entries=900)
    with pytest.warns(UserWarning, match=r"fewer than 1,010 entries: 1 contest: 537"):
        assert len(load("caption_writing", dataset=home).records) == 1


def test_a_contest_without_a_whole_group_is_left_out(tmp_path: Path) -> None:
    home = ranked(tmp_path, (536, 537), placed={537: {3: "..."}})
    with pytest.warns(UserWarning, match=r"fewer than 10 usable captions in a human group: 1 contest: 537"):
        opened = load("caption_writing", dataset=home)
    assert [record.cluster for record in opened.records] == ["536"]
    assert opened.data.provenance["left_out"]

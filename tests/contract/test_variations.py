"""Items asked under every prompt set and in every order: records, metrics against plain loops, what is refused."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from humor_tasks.api import load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.choice import rotate
from humor_tasks.contract.definition import Run
from humor_tasks.contract.prompts import prompt_sets, read_all, split_turns
from humor_tasks.contract.variations import Variation, variation_of, whole_items
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Outcome

SETS = ("A", "B", "C", "D", "E")
ROTATED = {
    "matching": 5,
    "ranking": 2,
    "mock_matching": 4,
    "crowd_pairs": 2,
    "humicroedit_pairwise": 2,
    "bbeh_nycc": 10,
}


@pytest.fixture(scope="module")
def both() -> Run:
    return load("matching", dataset="sample", prompts="all", order="rotated", cot=False)


# ---- records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROTATED)
def test_every_rotation_shows_the_same_choices_and_moves_the_answer_with_them(name: str) -> None:
    run, plain = load(name, dataset="sample", order="rotated"), load(name, dataset="sample")
    number = ROTATED[name]
    assert len(run.records) == number * len(plain.records)
    for i, item in enumerate(plain.records):
        asked = run.records[i * number : (i + 1) * number]
        assert run.prompt(asked[0]) == plain.prompt(item)
        assert {record.choices["ABCDEFGHIJ".index(str(record.target))] for record in asked} == {
            item.choices["ABCDEFGHIJ".index(str(item.target))]
        }
        assert {record.target for record in asked} == set("ABCDEFGHIJ"[:number])
        for record in asked:
            shown = run.prompt(record).turns[-1].text
            lines = [shown.index(f"{a}) {choice}") for a, choice in zip("ABCDEFGHIJ", record.choices, strict=False)]
            assert lines == sorted(lines), shown
            assert record.cluster == item.cluster
            assert variation_of(record).item == item.id


def test_turning_back_is_the_record_again() -> None:
    for name, number in ROTATED.items():
        turn = BENCHMARKS[name].rotate
        assert turn is not None
        for record in load(name, dataset="sample").records:
            turned = record
            for _ in range(number):
                turned = turn(turned, 1)
            assert turned == record
            assert turn(record, number - 1) == turn(turn(record, 1), number - 2) if number > 2 else turn(record, 1)
    assert rotate(load("matching", dataset="sample").records[0], 2).target is not None


def test_each_asking_has_the_prompt_of_its_set_and_the_worked_examples_of_its_item() -> None:
    run = load("matching", dataset="sample", prompts="all", shots=2)
    alone = {letter: load("matching", dataset="sample", prompts=letter, shots=2) for letter in SETS}
    for record, (item, letter) in zip(run.records, itertools.product(alone["A"].records, SETS), strict=True):
        assert variation_of(record) == Variation(item.id, letter, 0)
        assert record.id == f"{item.id}@{letter}"
        assert run.prompt(record) == alone[letter].prompt(item)
    assert len({run.prompts_hash, *(one.prompts_hash for one in alone.values())}) == 6
    assert [alone[letter].version for letter in SETS] == ["2-A", "2-B", "2-C", "2-D", "2-E"]
    assert run.version == "2-all"
    assert load("matching", dataset="sample", shots=2).signature("x") == alone["A"].signature("x")


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_prompt_set_has_the_protocol_of_set_a(name: str) -> None:
    """The roles of the turns, the fields and the answer line are A's, and the words are not."""
    benchmark = BENCHMARKS[name]
    options = benchmark.options(**({"system": "mine.json"} if name == "explanation_preference" else {}))
    templates = [each for each in benchmark._templates(options) if not (each.fixed or each.shared)]
    texts = {}
    for letter in prompt_sets(templates):
        options = type(options)(**{**vars(options), "prompts": letter})
        texts[letter] = read_all(templates, options)
    assert tuple(texts) == SETS, f"{name} has prompt sets {', '.join(texts)}; write A to E, see docs/wordings.md"
    for file, first in texts["A"].items():
        turns = {letter: split_turns(texts[letter][file], file) for letter in SETS}
        assert len({tuple(role for role, _ in of_set) for of_set in turns.values()}) == 1
        assert len({texts[letter][file] for letter in SETS}) == 5
        for line in ("Answer: X", "Rating: X", "Explanation:", "<explanation>", "$format"):
            assert len({line in texts[letter][file] for letter in SETS}) == 1, (file, line)
        assert first


def test_a_part_has_whole_items_at_their_places(both: Run) -> None:
    parts = [
        load("matching", dataset="sample", prompts="all", order="rotated", cot=False, shard=f"{k}/3") for k in (1, 2, 3)
    ]
    places = {
        record.id: part.variations.place(record, part.data.positions) for part in parts for record in part.records
    }
    assert places == {record.id: i for i, record in enumerate(both.records)}


def test_rows_pictures_and_worked_examples_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"dataset": "sample", "setting": "pixels", "shots": 1}
    read: list[str] = []
    original = Path.read_bytes

    def counted(path: Path) -> bytes:
        if path.suffix != ".txt":  # a template, of which each prompt set has its own
            read.append(path.name)
        return original(path)

    def reads(**more: str) -> tuple[int, int]:
        read.clear()
        run = load("matching", **settings, **more)
        opened = len(read)
        for record in run.records:
            assert run.prompt(record).pictures[-1].data_uri()
        return opened, sum(name.endswith((".png", ".jpg")) for name in read[opened:])

    monkeypatch.setattr(Path, "read_bytes", counted)
    once, all_sets = reads(), reads(prompts="all")
    assert all_sets[0] == once[0]
    assert 0 < all_sets[1] <= once[1]


# ---- metrics ---------------------------------------------------------------------------------------


def outcomes(run: Run, letters: Sequence[str | None]) -> list[Outcome]:
    """The outcomes of the run's records, answered with these letters; None is unreadable."""
    return [
        run.outcome(record, "no idea" if letter is None else f"Answer: {letter}")
        for record, letter in zip(run.records, letters, strict=True)
    ]


@given(st.lists(st.sampled_from(["A", "B", "C", "D", "E", None]), min_size=250, max_size=250))
def test_metrics_are_those_of_plain_loops(both: Run, letters: list[str | None]) -> None:
    scored = outcomes(both, letters)
    values = {name: estimate.value for name, estimate in both.metrics(scored).items()}
    right = {variation_of(o): o.answer == o.target for o in scored}
    said = {variation_of(o): o.answer for o in scored}
    items = {asking.item for asking in right}
    target = {variation_of(o): o.target for o in scored}

    def share(held: Sequence[bool]) -> float:
        return sum(held) / len(held)

    of_sets = {s: share([x for a, x in right.items() if a.prompts == s]) for s in SETS}
    of_places = {p: share([x for a, x in right.items() if target[a] == p]) for p in "ABCDE"}
    assert values["accuracy"] == pytest.approx(statistics.fmean(of_sets.values()))
    assert {s: values[f"accuracy_set_{s}"] for s in SETS} == pytest.approx(of_sets)
    assert {p: values[f"accuracy_right_at_{p}"] for p in "ABCDE"} == pytest.approx(of_places)
    assert values["spread"] == pytest.approx(max(of_sets.values()) - min(of_sets.values()), abs=1e-9)
    assert values["order_effect"] == pytest.approx(max(of_places.values()) - min(of_places.values()), abs=1e-9)
    units = list(itertools.product(items, range(5)))
    assert values["right_under_all"] == share([all(right[Variation(i, s, k)] for s in SETS) for i, k in units])
    alike = [{said[Variation(i, s, k)] for s in SETS} for i, k in units]
    assert values["same_answer"] == share([len(each) == 1 and None not in each for each in alike])
    assert values["right_in_all"] == share(
        [all(right[Variation(i, s, k)] for k in range(5)) for i in items for s in SETS]
    )
    answered = [answer for answer in said.values() if answer]
    for letter in "ABCDE":
        expected = answered.count(letter) / len(answered) if answered else math.nan
        assert values.get(f"letter_share_{letter}", math.nan) == pytest.approx(expected, nan_ok=True)


def test_ratings_have_a_spread_of_errors_and_a_deviation_within_items() -> None:
    run = load("humicroedit_rating", dataset="sample", prompts="all")
    given_by_set = dict(zip(SETS, (0.0, 1.0, 1.0, 2.0, 3.0), strict=True))
    scored = [run.outcome(record, f"Rating: {given_by_set[variation_of(record).prompts]}") for record in run.records]
    found = run.metrics(scored)
    errors = {s: found[f"rmse_set_{s}"].value for s in SETS}
    assert found["spread"].value == pytest.approx(max(errors.values()) - min(errors.values()))
    assert found["within_item_sd"].value == pytest.approx(statistics.stdev(given_by_set.values()))
    assert "same_answer" not in found
    assert "right_under_all" not in found


def test_an_item_that_lacks_an_asking_does_not_count_and_is_counted(both: Run) -> None:
    scored = outcomes(both, ["A"] * 250)
    cut = [o for o in scored if o.id != scored[7].id]
    kept, lacking = whole_items(cut, 25)
    assert {variation_of(o).item for o in scored} - {variation_of(o).item for o in kept} == {
        variation_of(scored[7]).item
    }
    assert lacking is not None
    assert lacking.value == pytest.approx(0.1)
    found = both.metrics(cut)
    assert found["incomplete"].value == pytest.approx(0.1)
    assert found["accuracy"].n == 225
    assert set(both.metrics(scored)) | {"incomplete"} == set(found)
    half = [o for o in scored if variation_of(o).prompts in "AB"]
    assert list(both.metrics(half)) == ["incomplete"]
    assert both.metrics(half)["incomplete"].value == 1


def test_epochs_are_counted_beside_the_askings_and_never_mixed(both: Run) -> None:
    first, second = outcomes(both, ["A"] * 250), outcomes(both, ["B"] * 250)
    found = both.metrics([*first, *second])
    assert found["same_answer"].value == 1
    assert found["same_answer"].n == 100
    assert found["accuracy"].n == 500
    found = both.metrics([*first, *second[:30]])
    assert found["incomplete"].value == pytest.approx(1 / 12)
    assert found["accuracy"].n == 275


def test_an_item_left_out_under_one_set_is_left_out_of_right_under_all() -> None:
    run = load("matching", dataset="sample", prompts="all", on_unparsed="exclude", cot=False)
    scored = [
        run.outcome(record, "no idea" if i == 3 else f"Answer: {record.target}") for i, record in enumerate(run.records)
    ]
    found = run.metrics(scored)
    assert found["right_under_all"].n == 9
    assert found["same_answer"].value == pytest.approx(0.9)
    assert found["accuracy_set_D"].n == 9
    assert found["spread"].value == 0


def test_equal_ratings_under_every_prompt_set_have_a_spread_that_is_no_point() -> None:
    """As of proportions, times the 4 points from 1 to 5: six pictures, ten pairs of sets, 0 + t(5) sqrt(2) / 8."""
    run = load("mock_generation", dataset="sample", prompts="all", input="description")
    found = run.metrics([replace(run.outcome(r, "A story."), values={"sms": 5.0}) for r in run.records])["spread"]
    assert (found.value, found.low, found.clusters) == (0, 0, 6)
    assert found.stderr == pytest.approx(4 * math.sqrt(2) / 8)
    assert found.high == pytest.approx(min(4, 4 * stdtrit(5, 1 - 0.05 / 20) * math.sqrt(2) / 8))


def test_a_run_read_from_a_log_has_the_same_metrics(both: Run) -> None:
    scored = outcomes(both, ["C"] * 250)
    again = BENCHMARKS["matching"].reopen(both.version, both.options.scoring())
    assert again.metrics(scored) == both.metrics(scored)
    assert "prompts" not in load("matching", dataset="sample", prompts="C").options.scoring()


# ---- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given_options", "said"),
    [
        (
            "matching",
            {"prompts": "F"},
            "there are prompt sets A, B, C, D, E and `all`. A folder of that name is given as ./F",
        ),
        ("matching", {"prompts": "nowhere"}, "there is no such folder"),
        ("matching", {"prompts": "c"}, "prompts=c: there is no such folder. Did you mean 'C'?"),
        ("matching", {"prompts": "ALL"}, "prompts=ALL: there is no such folder. Did you mean 'all'?"),
        ("humicroedit_rating", {"order": "rotated"}, "must be one letter of several choices"),
        ("humicroedit_pairwise", {"order": "rotated", "via": "ratings"}, "must be one letter of several choices"),
        ("explanation", {"order": "rotated"}, "must be one letter of several choices"),
        ("crowd_groups", {"order": "rotated"}, "must be one letter of several choices"),
        ("matching", {"order": "reversed"}, "order: there is no 'reversed'"),
    ],
)
def test_bad_settings_are_named(name: str, given_options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        load(name, dataset="sample", **given_options)

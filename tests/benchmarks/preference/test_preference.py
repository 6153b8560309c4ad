"""explanation_preference without a harness: questions, orders, what needs no judge, and metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from standins.attacks import for_letter
from standins.bad_rows import dataset_folder, row
from standins.judging import always, between, judged, longer, shown, write_texts
from standins.preference_runs import HUMAN, IDS, OTHERS, opened, scored, value

from humor_tasks import load
from humor_tasks.benchmarks.preference import PREFERENCE, settled
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.errors import BadInput


@pytest.fixture
def others(tmp_path: Path) -> str:
    """A file of texts: each instance has another's human explanation, and laughs."""
    return write_texts(tmp_path / "others.json", OTHERS)


# ---- questions ----------------------------------------------------------------------------------


def test_a_pair_is_asked_in_both_orders(others: str, tmp_path: Path) -> None:
    run = opened(others)
    ids = [f"{i}-{first}-first" for i in IDS for first in ("system", "against")]
    assert [r.id.rsplit("-", 1)[0] for r in run.records] == ids
    changed = opened(write_texts(tmp_path / "changed.json", OTHERS | {IDS[0]: "Another text."}))
    assert [a.id == b.id for a, b in zip(run.records, changed.records, strict=True)] == [False] * 2 + [True] * 8
    known = {record.id: record for record in load("explanation", dataset="sample").records}
    for record in run.records:
        pair, first = record.groups["pair_id"], record.groups["first"]
        texts = {"system": OTHERS[pair], "against": HUMAN[pair]}
        assert record.cluster == known[pair].cluster
        assert record.fields["first"] == texts.pop(first)
        assert [record.fields["second"]] == list(texts.values())


@pytest.mark.parametrize(("setting", "structured"), [("description", False), ("caption_only", True), ("pixels", False)])
def test_a_question_shows_the_joke_and_both_texts(others: str, setting: str, structured: bool) -> None:
    run = opened(others, setting=setting, structured=structured)
    task = load("explanation", dataset="sample", setting=setting)
    for record in run.records:
        system, asked = run.prompt(record).turns
        assert (system.role, asked.role) == ("system", "user")
        assert shown(asked.text) == (record.fields["first"], record.fields["second"])
        joke = between(asked.text, "joke")
        assert joke.endswith(f"\n\nCaption: {record.fields['caption']}")
        assert ("scene location:" in joke) == (setting == "description")
        assert ("JSON object" in asked.text) == structured
        own = next(r for r in task.records if r.id == record.groups["pair_id"])
        assert run.prompt(record).pictures == task.prompt(own).pictures
        assert len(run.prompt(record).pictures) == (setting == "pixels")


def test_the_two_orders_differ_by_their_texts_alone(others: str) -> None:
    run = opened(others)
    for one, other in zip(run.records[::2], run.records[1::2], strict=True):
        told, turned = (run.prompt(r).turns[-1].text for r in (one, other))
        first, second = shown(told)
        assert shown(turned) == (second, first)
        assert told.replace(first, "1").replace(second, "2") == turned.replace(second, "1").replace(first, "2")


def test_one_order_is_asked_where_one_is_wanted(others: str) -> None:
    fixed = opened(others, order="fixed")
    assert [r.groups["first"] for r in fixed.records] == ["system"] * len(IDS)
    assert [r.fields["first"] for r in fixed.records] == list(OTHERS.values())


def test_a_random_order_is_drawn_with_the_seed(tmp_path: Path) -> None:
    folder = dataset_folder(
        tmp_path / "d", [row("explanation", instance_id=f"e{i}") for i in range(400)], "explanation"
    )
    system = write_texts(tmp_path / "s.json", {f"e{i}": f"Text {i}." for i in range(400)})
    drawn = {}
    for seed in (1, 2):
        again = [opened(system, dataset=folder, order="random", seed=seed).records for _ in range(2)]
        assert again[0] == again[1]
        assert len(again[0]) == 400
        drawn[seed] = [record.groups["first"] for record in again[0]]
        assert drawn[seed].count("system") == pytest.approx(200, abs=40)  # four standard deviations
    same = sum(one == other for one, other in zip(drawn[1], drawn[2], strict=True))
    assert same == pytest.approx(200, abs=40)


def test_the_signature_tells_the_sides_and_their_texts(others: str, tmp_path: Path) -> None:
    run = opened(others, order="fixed", structured=True)
    signature = str(run.signature("generate"))
    for part in ("bench:explanation_preference|v:1-A", f"system:{others}|against:human|order:fixed|structured:True"):
        assert part in signature
    assert not re.search(r"[|](shots|cot|extraction):", signature)
    before = run.data.provenance
    assert (before["system_model"], before["against_model"], before["pairs"], before["rows"]) == (
        "others",
        "human",
        5,
        5,
    )
    Path(others).write_text(json.dumps(OTHERS | {IDS[0]: "Another text."}), encoding="utf-8")
    assert opened(others, order="fixed").data.provenance["fingerprint"] != before["fingerprint"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"system": ""}, "system: name the explanations: 'human', an Inspect log, lm-eval's samples"),
        ({"against": ""}, "against: name the explanations"),
        ({"system": None}, "system: name the explanations"),
        ({"system": "human"}, "system and against are both human; name two different sources of explanations"),
        ({"on_unparsed": "random"}, "on_unparsed: there is no 'random'; choose from wrong, exclude"),
        ({"shots": 2}, "the judge's prompt has no worked examples"),
        ({"cot": False}, "the judge always gives reasons before its verdict"),
    ],
)
def test_bad_parameters(others: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        opened(**{"system": others} | parameters)


def test_own_prompts_have_to_show_both_texts(others: str, tmp_path: Path) -> None:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "prefer.txt").write_text("== user ==\n$context: $first or $second? $format")
    run = opened(others, prompts=str(folder))
    assert f": {HUMAN[IDS[0]]} or {OTHERS[IDS[0]]}? First give" in run.prompt(run.records[1]).turns[0].text
    assert run.prompts_hash != opened(others).prompts_hash
    (folder / "prefer.txt").write_text("== user ==\n$context: $first? $format")
    with pytest.raises(BadInput, match=r"prefer.txt: lacks \$second; the grader would not see it"):
        opened(others, prompts=str(folder))


@pytest.mark.parametrize("letter", "AB")
def test_no_text_closes_a_tag_of_the_question(letter: str) -> None:
    rubric = open_rubric("preference", None, PREFERENCE)
    blank = rubric.ask({"context": "A zoo.", "first": "", "second": "Bears."})
    for attack in for_letter(letter):
        system, asked = rubric.ask({"context": "A zoo.", "first": attack, "second": "Bears."}).turns
        told = between(asked.text, "explanation_a")
        assert "<" not in told
        assert not re.search(r'\{\s*"', told)
        assert system == blank.turns[0]
        assert asked.text.replace(f"<explanation_a>\n{told}\n<", "<explanation_a>\n\n<") == blank.turns[1].text
        for tag in ("joke", "explanation_a", "explanation_b"):
            assert asked.text.count(f"<{tag}>") == asked.text.count(f"</{tag}>") == 1


# ---- what needs no judge ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "against", "wrong", "exclude"),
    [
        ("x", "y", "", ""),
        ("x", "X", "", ""),
        ("x", "x", "same", "same"),
        (" x\ny", "x  y\n", "same", "same"),
        ("x", "", "system", "left_out"),
        ("x", " \n", "system", "left_out"),
        ("", "y", "against", "left_out"),
        ("\t", "y", "against", "left_out"),
        ("", "", "same", "left_out"),
        (" ", "\n", "same", "left_out"),
    ],
)
def test_what_needs_no_judge(system: str, against: str, wrong: str, exclude: str) -> None:
    assert settled(system, against, "wrong") == wrong
    assert settled(system, against, "exclude") == exclude


def test_the_same_text_is_a_tie_and_said_so(tmp_path: Path) -> None:
    system = write_texts(tmp_path / "s.json", OTHERS | {IDS[0]: f"  {HUMAN[IDS[0]]}\n", IDS[1]: HUMAN[IDS[1]]})
    report = scored(opened(system), longer)  # whatever it says of these
    same = [o for o in report.outcomes if o.groups["settled"]]
    assert [(o.groups["pair_id"], o.answer, o.status) for o in same] == [
        (i, "tie", "answered") for i in IDS[:2] for _ in range(2)
    ]
    assert value(report, "same_text") == pytest.approx(2 / 5)
    assert value(report, "empty") == 0
    expected = [judged(longer, (OTHERS[i], HUMAN[i]), i) for i in IDS[2:]]
    wins = sum(pair.side == "system" for pair in expected)
    assert value(report, "win_rate") == pytest.approx((wins + 0.5 * 2) / 5)
    assert value(report, "tie_rate") == pytest.approx(2 / 5)
    assert report.metrics["unparsed"].n == 2 * 3  # nobody was asked about the others
    assert report.metrics["inconsistent"].n == 3


@pytest.mark.parametrize("on_unparsed", ["wrong", "exclude"])
def test_empty_explanations(tmp_path: Path, on_unparsed: str) -> None:
    """The system is silent twice, once with the other; the other is silent once more."""
    texts = {"system": OTHERS | {IDS[0]: "", IDS[1]: "<think>Hm"}, "against": HUMAN | {IDS[1]: " ", IDS[2]: ""}}
    files = {name: write_texts(tmp_path / f"{name}.json", told) for name, told in texts.items()}
    report = scored(opened(**files, on_unparsed=on_unparsed), always("B"))  # type: ignore[arg-type]
    answers = {o.groups["pair_id"]: o.answer for o in report.outcomes if o.groups["first"] == "system"}
    lost = "left_out" if on_unparsed == "exclude" else None
    assert list(answers.values()) == [lost or "against", lost or "tie", lost or "system", "against", "against"]
    assert value(report, "empty") == pytest.approx((3 if lost else 2) / 5)
    assert value(report, "same_text") == pytest.approx((0 if lost else 1) / 5)
    # the two that were asked about are ties, for their orders disagree
    assert value(report, "win_rate") == pytest.approx(0.5 if lost else (0 + 0.5 + 1 + 0.5 + 0.5) / 5)
    assert value(report, "preferred") == pytest.approx(0 if lost else 1 / 5)
    assert report.metrics["win_rate"].n == (2 if lost else 5)
    assert (value(report, "inconsistent"), report.metrics["inconsistent"].n) == (1, 2)
    assert report.metrics["unparsed"].n == 4
    assert value(report, "unread") == 0


def test_ids_on_one_side_only_are_listed_and_left_out(tmp_path: Path) -> None:
    system = write_texts(tmp_path / "s.json", {i: OTHERS[i] for i in IDS[1:]} | {"elsewhere": "x"})
    against = write_texts(tmp_path / "a.json", {i: HUMAN[i] for i in IDS[:4]})
    with pytest.warns(UserWarning, match="left out") as warned:
        run = opened(system, against=against)
    told = [str(w.message) for w in warned]
    assert f"{system} has no text for 1 instance: {IDS[0]}; left out." in told
    assert f"{against} has no text for 1 instance: {IDS[4]}; left out." in told
    assert f"{system} has texts for ids outside the corpus: 1 instance: elsewhere; left out." in told
    assert len(told) == 3
    assert {r.groups["pair_id"] for r in run.records} == set(IDS[1:4])
    assert (run.data.provenance["pairs"], run.data.provenance["rows"]) == (3, 6)


@pytest.mark.filterwarnings("ignore:.*left out")
def test_sides_without_an_instance_in_common(tmp_path: Path) -> None:
    system = write_texts(tmp_path / "s.json", {IDS[0]: "x"})
    against = write_texts(tmp_path / "a.json", {IDS[1]: "y"})
    with pytest.raises(
        BadInput, match=f"{system} and {against} have no instance of split test, fold 0, in common: setting="
    ):
        opened(system, against=against)
    with pytest.raises(BadInput, match="and human have no instance of split validation, fold 0, in common: setting="):
        opened(system, split="validation")

"""Judges of explanation_preference against people: scripted ones, whose accuracy and biases are known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model
from standins.votes import cells, shown, tight, votes_on

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.scorers.correction import prediction_powered
from humor_tasks.studies.people.agreement import read_questions
from humor_tasks.studies.people.agreement_report import Analysis, analyse
from humor_tasks.studies.people.judge import Comparison, family, read_judge_log
from humor_tasks.tasks import explanation, explanation_preference

Rows = list[dict[str, Any]]

RECORDS = load("explanation", dataset="sample", fold="all").records
IDS = [record.id for record in RECORDS]
# Every second explanation is longer than the reference.
TEXTS = {r.id: f"{r.target} So it goes ({i})." if i % 2 else f"Short: {i}." for i, r in enumerate(RECORDS)}
PEOPLE = {identity: "AAB"[i % 3] for i, identity in enumerate(IDS)}


@pytest.fixture(scope="module")
def log_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A log of a scripted judge: what it says of (first text, second text), None for nothing that can be read."""
    made: dict[str, Path] = {}

    def make(
        says: Callable[[str, str], str | None],
        name: str = "judge",
        texts: dict[str, str] = TEXTS,
        order: str = "both",
        **more: Any,
    ) -> Path:
        key = repr((says, name, sorted(texts.items()), order, more))
        if key not in made:
            folder = tmp_path_factory.mktemp("judge")
            (folder / "made.json").write_text(json.dumps(texts))
            system = str(folder / "made.json")
            task = explanation_preference(system, dataset="sample", fold="all", order=order, cache=False)
            roles = {"grader": scripted_judge(says, name)}
            (log,) = eval(task, model="none/none", model_roles=roles, display="log", log_dir=str(folder), **more)
            assert log.status == "success", log.error
            made[key] = Path(log.location)
        return made[key]

    return make


def scripted_judge(says: Callable[[str, str], str | None], name: str) -> Model:
    def reply(messages: list[ChatMessage], *_: Any) -> ModelOutput:
        fields = (messages[-1].metadata or {}).get("fields", {})
        word = says(fields.get("first", ""), fields.get("second", ""))
        output = ModelOutput.from_content(name, f"<judgement>{word}</judgement>" if word else "Hard to tell.")
        output.usage = ModelUsage()
        return output

    return get_model(f"mockllm/{name}", custom_outputs=reply, memoize=False)


def votes_of(tmp_path: Path, wanted: dict[str, str]) -> Path:
    """Three raters; the third disagrees."""
    other = {"A": "B", "B": "A", "tie": "tie"}
    given = [(i, rater, word if rater != "eve" else other[word]) for i, word in wanted.items() for rater in RATERS]
    return votes_on(tmp_path / "votes.csv", *given)


RATERS = ("ann", "bob", "eve")


def items(texts: dict[str, str], turned: bool = False) -> Rows:
    """What people were asked: A is the made text, the reference where `turned`."""
    rows = []
    for record in RECORDS:
        options = [" ".join(text.split()) for text in (texts[record.id], record.target or "")]
        own = {"options": options[::-1] if turned else options, "cluster": record.cluster}
        rows.append({"id": record.id, "kind": "preference"} | own)
    return rows


def items_file(tmp_path: Path, rows: Rows | None = None) -> Path:
    write_json_lines(tmp_path / "pairs.jsonl", rows or items(TEXTS))
    return tmp_path / "pairs.jsonl"


def against(tmp_path: Path, *logs: Path, people: dict[str, str] = PEOPLE, rows: Rows | None = None) -> Analysis:
    return analyse(read_questions([votes_of(tmp_path, people)], [items_file(tmp_path, rows)]), logs)


def only(found: Analysis) -> Comparison:
    (one,) = found.judges
    return one


def is_made(text: str) -> bool:
    return text in TEXTS.values()


def like_people(first: str, second: str) -> str:
    """The majority's word on the pair."""
    made = first if is_made(first) else second
    (identity,) = [i for i, text in TEXTS.items() if text == made]
    return "A" if (PEOPLE[identity] == "A") == is_made(first) else "B"


def longer(first: str, second: str) -> str:
    return "A" if len(first) > len(second) else "B"


def own(first: str, second: str) -> str:
    return "A" if is_made(first) else "B"


def estimates_of(found: Comparison) -> dict[str, float]:
    return {name: e.value for name, e in found.estimates.items()}


@pytest.mark.slow
def test_a_judge_like_the_majority_is_right_throughout(log_of: Callable[..., Path], tmp_path: Path) -> None:
    found = only(against(tmp_path, log_of(like_people), rows=items(TEXTS)))
    assert (found.judge, found.pairs, found.systems, found.own) == ("mockllm/judge", 25, ("made", "human"), "")
    by = estimates_of(found)
    assert (by["accuracy"], by["gwet_ac1"], by["raw_agreement"], by["inconsistent"], by["unread"]) == (1, 1, 1, 0, 0)
    assert by["first_shown"] == 0.5
    assert by["human_ceiling"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert by["judge_win_rate"] == by["people_win_rate"] == by["prediction_powered"] == 17 / 25
    assert (by["length_effect"], by["longer"]) == (by["people_length_effect"], by["people_longer"])
    assert found.estimates["accuracy"].clusters == len({record.cluster for record in RECORDS})
    assert math.isnan(by["self_preference"])


def test_a_judge_that_always_takes_the_first_has_no_accuracy(log_of: Callable[..., Path], tmp_path: Path) -> None:
    found = only(against(tmp_path, log_of(lambda first, second: "A")))
    by = estimates_of(found)
    assert (by["first_shown"], by["inconsistent"], by["judge_win_rate"]) == (1, 1, 0.5)
    assert (found.estimates["accuracy"].n, found.estimates["raw_agreement"].value) == (0, 0)
    assert math.isnan(by["accuracy"])
    assert math.isnan(by["longer"])


def test_a_judge_that_takes_the_longer_is_told_from_people(log_of: Callable[..., Path], tmp_path: Path) -> None:
    found = only(against(tmp_path, log_of(longer)))
    by = estimates_of(found)
    wanted = [(PEOPLE[i] == "A") == (len(TEXTS[i]) > len(RECORDS[k].target or "")) for k, i in enumerate(IDS)]
    assert (by["longer"], by["missing_verdicts"]) == (1, 0)
    assert not [name for name in by if name.endswith(("_failed", "_passed"))]
    assert not [note for note in against(tmp_path, log_of(longer)).notes if "missing" in note]
    assert by["people_longer"] == by["accuracy"] == pytest.approx(sum(wanted) / len(wanted))
    assert by["length_effect"] > 3 > 1 > by["people_length_effect"]


def test_a_judge_prefers_its_own_family_more_than_people_do(log_of: Callable[..., Path], tmp_path: Path) -> None:
    votes, log = votes_of(tmp_path, PEOPLE), log_of(own, "gpt-9", order="random")
    pairs = ("--items", items_file(tmp_path))
    for explainers, side in ((["a=openai/gpt-4o"], "A"), (["a=claude-3", "b=gpt-5"], "B"), ([], ""), (["b=gpt"], "B")):
        flags = [flag for pair in explainers for flag in ("--explainer", pair)]
        judge = json.loads(shown(votes, *pairs, "--judge", log, *flags, "--json"))["judges"][0]
        expected = {"A": 8 / 25, "B": -8 / 25, "": None}[side]
        assert judge["own"] == side
        value = judge["estimates"]["self_preference"]["value"]
        assert value == (expected if expected is None else pytest.approx(expected))
    flags = ["--explainer", "a=gpt-4", "--explainer", "b=gpt-5"]
    assert json.loads(shown(votes, *pairs, "--judge", log, *flags, "--json"))["judges"][0]["own"] == ""


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("openai/gpt-4o-2024-11-20", "gpt"),
        ("openai/o3-mini", "gpt"),
        ("azureai/GPT-4", "gpt"),
        ("gpt4_5shot", "gpt"),
        ("anthropic/claude-sonnet-4", "claude"),
        ("bedrock/anthropic.claude-3-haiku", "claude"),
        ("google/gemini-2.5-pro", "gemini"),
        ("hf/google/gemma-2-9b-it", "gemini"),
        ("together/meta-llama/Llama-3.3-70B", "llama"),
        ("hf/deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "deepseek"),
        ("openai-api/dashscope/qwen-max", "qwen"),
        ("mistral/open-mixtral-8x22b", "mistral"),
        ("hf/mistralai/Ministral-8B", "mistral"),
        ("human", "human"),
        ("openai-api/moonshot/kimi-k2", "openai-api/moonshot/kimi-k2"),
    ],
)
def test_a_family_is_told_by_the_name(model: str, expected: str) -> None:
    assert family(model) == expected


def test_options_may_stand_in_the_other_order(log_of: Callable[..., Path], tmp_path: Path) -> None:
    log, swapped = log_of(longer), {i: {"A": "B", "B": "A"}[word] for i, word in PEOPLE.items()}
    straight = only(against(tmp_path, log, rows=items(TEXTS)))
    turned = only(against(tmp_path, log, people=swapped, rows=items(TEXTS, turned=True)))
    assert turned.systems == ("human", "made")
    for name in ("judge_win_rate", "people_win_rate", "prediction_powered"):
        assert turned.estimates[name].value == pytest.approx(1 - straight.estimates[name].value)
    for name in ("accuracy", "gwet_ac1", "longer", "people_longer", "first_shown", "length_effect"):
        assert turned.estimates[name].value == pytest.approx(straight.estimates[name].value), name
    mixed = [*items(TEXTS)[:12], *items(TEXTS, turned=True)[12:]]
    with pytest.raises(BadInput, match=r"option A is made's in item .* and human's in"):
        against(tmp_path, log, rows=mixed)


def test_a_pair_asked_in_one_order_has_its_texts_and_verdict(log_of: Callable[..., Path], tmp_path: Path) -> None:
    log = log_of(like_people, order="random")
    pairs = read_judge_log(log).pairs
    assert {i: pair.texts for i, pair in pairs.items()} == {r.id: (TEXTS[r.id], r.target) for r in RECORDS}
    assert {pair.outcomes[0].groups["first"] for pair in pairs.values()} == {"system", "against"}
    found = only(against(tmp_path, log, rows=items(TEXTS)))
    assert (found.pairs, found.estimates["accuracy"].value) == (25, 1)
    assert math.isnan(found.estimates["inconsistent"].value)


def test_the_win_rate_is_corrected_by_the_part_that_people_saw(log_of: Callable[..., Path], tmp_path: Path) -> None:
    some = {i: PEOPLE[i] for i in IDS[:15]}
    found = against(tmp_path, log_of(longer), people=some)
    said = [float(len(TEXTS[r.id]) > len(r.target or "")) for r in RECORDS]
    clusters, human = [r.cluster for r in RECORDS], [float(PEOPLE[i] == "A") for i in IDS[:15]]
    own = {"clusters": clusters[15:], "human_clusters": clusters[:15]}
    expected = prediction_powered(said[15:], said[:15], human, **own, proportion=True)
    assert only(found).estimates["prediction_powered"] == expected
    assert only(found).estimates["judge_win_rate"].value == pytest.approx(sum(said) / 25)
    assert only(found).pairs == 15
    assert any("15 pairs with votes and a verdict: below 30" in note for note in found.notes)


def test_verdicts_that_are_missing_and_pairs_not_asked_about_are_counted(
    log_of: Callable[..., Path], tmp_path: Path
) -> None:
    texts = TEXTS | {IDS[0]: RECORDS[0].target or ""}
    found = against(tmp_path, log_of(lambda a, b: None if "(5)" in a else like_people(a, b), texts=texts))
    assert only(found).pairs == 23
    assert only(found).estimates["accuracy"].value == 1
    assert only(found).estimates["unread"].value == 1 / 24
    assert (only(found).estimates["judge_win_rate"].n, only(found).estimates["prediction_powered"].n) == (23, 23)
    people = only(found).estimates["people_win_rate"]
    assert (people.value, people.n) == (sum(PEOPLE[i] == "A" for i in IDS[1:]) / 24, 24)
    assert any("1 of 24 pairs with votes have no verdict" in note for note in found.notes)
    assert any("1 of the log's pairs" in note for note in found.notes)
    assert any("1 of 48 verdicts are missing. 2.1% of the graders' verdicts" in note for note in found.notes)


def unread_on_5(first: str, second: str) -> str | None:
    return None if "(5)" in first + second else like_people(first, second)


@pytest.mark.parametrize("turned", [False, True])
def test_missing_verdicts_are_also_counted_as_failed_and_as_passed(
    log_of: Callable[..., Path], tmp_path: Path, turned: bool
) -> None:
    """25 pairs, A wins 17. The judge is right, except that it cannot be read on pair 5, which B wins."""
    people = {i: {"A": "B", "B": "A"}[word] for i, word in PEOPLE.items()} if turned else PEOPLE
    found = against(tmp_path, log_of(unread_on_5), people=people, rows=items(TEXTS, turned))
    by, won = estimates_of(only(found)), 8 if turned else 17
    lost = sum(word == "A" for i, word in people.items() if i != IDS[5])
    assert by["missing_verdicts"] == 1 / 25
    assert (by["accuracy_missing_failed"], by["accuracy"], by["accuracy_missing_passed"]) == (24 / 25, 1, 1)
    assert by["judge_win_rate_missing_failed"] == lost / 25 <= won / 25 <= (lost + 1) / 25
    assert by["judge_win_rate_missing_passed"] == (lost + 1) / 25
    (note,) = [note for note in found.notes if "missing" in note and "verdicts are missing." in note]
    assert "2 of 50 verdicts are missing. 4.0% of the graders' verdicts are missing" in note
    assert "accuracy is 0.960 with each of them counted as failed and 1.000 as passed" in note


def test_a_judge_that_cannot_be_read_at_all_is_told_as_that(log_of: Callable[..., Path], tmp_path: Path) -> None:
    found = against(tmp_path, log_of(lambda a, b: None))
    by = estimates_of(only(found))
    assert (only(found).pairs, by["unread"], by["people_win_rate"]) == (0, 1, 17 / 25)
    assert math.isnan(by["judge_win_rate"])
    assert "prediction_powered" not in by
    (note,) = found.notes
    assert "no verdict could be read, on any of 25 pairs" in note


def test_a_judge_that_read_other_texts_is_no_judge_of_these(log_of: Callable[..., Path], tmp_path: Path) -> None:
    log, others = log_of(longer), {i: f"Another text for {i}." for i in IDS}
    with pytest.raises(BadInput, match="judges no pair that people voted on"):
        against(tmp_path, log, rows=items(others))
    found = against(tmp_path, log, rows=[*items(others)[:4], *items(TEXTS)[4:]])
    assert only(found).pairs == 21
    assert any("4 pairs: " in note and "other texts" in note for note in found.notes)
    with pytest.raises(BadInput, match="judges no pair"):
        against(tmp_path, log, people={"nothing": "A"}, rows=[items(TEXTS)[0] | {"id": "nothing"}])


def test_several_judges_stand_side_by_side(log_of: Callable[..., Path], tmp_path: Path) -> None:
    logs = [log_of(like_people), log_of(own, "gpt-9", order="random")]
    pairs = ("--items", items_file(tmp_path))
    markdown = shown(votes_of(tmp_path, PEOPLE), *pairs, "--judge", logs[0], "--judge", logs[1])
    assert "| | mockllm/judge | mockllm/gpt-9 |" in tight(markdown)
    assert [cell[:5] for cell in cells(markdown, "accuracy")[1:]] == ["1.000", "0.680"]
    assert cells(markdown.partition("## Judges")[2], "A")[1:] == ["made", "made"]
    labels = [
        line[2:].split(" |")[0].strip() for line in markdown.partition("## Judges")[2].splitlines() if line[:2] == "| "
    ]
    for label in labels[6:]:
        assert f"\n- {label}: " in markdown


def test_logs_that_hold_no_such_verdicts_are_refused(log_of: Callable[..., Path], tmp_path: Path) -> None:
    (other,) = eval(explanation(dataset="sample"), model=scripted_judge(longer, "model"), limit=1, display="log")
    with pytest.raises(BadInput, match="is not of humor_tasks/explanation_preference"):
        against(tmp_path, Path(other.location))
    with pytest.raises(BadInput, match="several epochs"):
        against(tmp_path, log_of(longer, limit=2, epochs=2))
    same = {r.id: r.target or "" for r in RECORDS}
    with pytest.raises(BadInput, match="holds no pair that a judge was asked about"):
        against(tmp_path, log_of(longer, texts=same, limit=2))

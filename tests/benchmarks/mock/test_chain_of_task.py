"""Chain-of-Task: what is shown before a question, in which order, and that nothing of the question leaks into it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.chain_of_task import ASKED, INSTRUCTION, WANTED
from standins.mock_rows import mock_folder, row

from humor_tasks import load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock.chain_of_task import ORDER, samples
from humor_tasks.contract.definition import Data, Run
from humor_tasks.errors import BadInput
from humor_tasks.logs.signature import Signature, differing
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Record

SCENES = ("cartoon", "post", "comedy")


def opened(task: str, **more: Any) -> Run:
    return load(f"mock_{task}", **{"dataset": "sample", "chain_of_task": True} | more)


# ---- order and leaks ----------------------------------------------------------------------------

ANSWERED = {"detecting": ("Answer: yes", "Answer: no"), "matching": "Answer: ", "explaining": "Explanation: "}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "scene", "how"),
    [("detecting", "cartoon", "media"), ("matching", "comedy", "frames"), ("explaining", "post", "description")],
)
def test_the_other_two_come_first_in_the_published_order(task: str, scene: str, how: str) -> None:
    run, plain = (opened(task, scene=scene, input=how, chain_of_task=chained) for chained in (True, False))
    for record in run.records:
        turns = run.prompt(record).turns
        assert [turn.role for turn in turns] == ["system", *["user", "assistant"] * 5, "user"]
        order = [*WANTED[task], task]
        for place, each in enumerate(order):
            instruction, _, item, *answer = turns[1 + 4 * place : 5 + 4 * place]
            assert INSTRUCTION[each] in instruction.text
            assert ASKED[each] in item.text
            assert (item.picture is not None) == (scene != "comedy" and how != "description")
            assert (item.clip is not None) == (scene == "comedy" and how != "description")
            assert [turn.text.startswith(ANSWERED[each]) for turn in answer] == [True] * (each != task)
        assert [turns[0], *turns[9:]] == list(plain.prompt(record).turns)


def test_the_order_is_that_of_the_definition() -> None:
    assert {task: list(others) for task, others in ORDER.items()} == WANTED


@pytest.mark.slow
@pytest.mark.parametrize(("task", "scene"), product(ORDER, SCENES))
def test_no_row_of_the_sample_is_shown_anything_of_itself(task: str, scene: str) -> None:
    for split, seeds in {"train": (0, 1), "validation": (0,), "test": (1,)}.items():
        assert sum(check_no_leak(opened(task, scene=scene, split=split, seed=seed)) for seed in seeds) > 0


def check_no_leak(run: Run) -> int:
    """How many rows were shown samples: all, but for train's own, among whose few others there may be none to show."""
    task, count = run.benchmark.name.removeprefix("mock_"), 0
    for record in run.records:
        try:
            found = samples(run, record)
        except BadInput:
            assert run.options.split == "train"
            continue
        count += 1
        assert [other for other, _ in found] == WANTED[task]
        first, second = (sample for _, sample in found)
        for other, sample in found if task != "matching" else found[1:]:
            assert sample in run.pool(record.groups["scene"], other)[sample.cluster]
        shown = [record, first, second]
        for what in ([r.id for r in shown], [r.cluster for r in shown], [digest(r) for r in shown]):
            assert what[0] not in what[1:]
        if task == "explaining":
            assert not {first.cluster, digest(first)} & {second.cluster, digest(second)}
        else:  # the explanation is that of the line before it, which is humorous or sarcastic
            line = first.choices["ABCD".index(str(first.target))] if task == "detecting" else first.fields["punchline"]
            assert (first.cluster, line) == (second.cluster, second.fields["punchline"])
            assert task == "detecting" or (first.choices, first.target) == (("yes", "no"), "yes")
        prompt = run.prompt(record)
        before = "\n".join(turn.text for turn in prompt.turns[1:9])
        assert record.fields["said"] not in before or not record.fields["said"]
        secret = record.choices["ABCD".index(record.target or "")] if task == "matching" else record.target
        assert task == "detecting" or str(secret) not in before
        assert all(choice not in before for choice in record.choices if task == "matching")
    return count


def digest(record: Record) -> str:
    medium = record.clip or record.picture
    assert medium is not None
    return medium.sha256()


def test_what_is_drawn_hangs_on_seed_and_item_alone() -> None:
    def drawn(**more: Any) -> dict[str, list[str]]:
        run = opened("detecting", input="description", **more)
        return {r.id: [sample.id for _, sample in samples(run, r)] for r in run.records}

    every, cartoons = drawn(scene="all"), drawn(scene="cartoon")
    assert cartoons == {i: every[i] for i in cartoons}
    assert drawn(seed=7, scene="all") != every
    assert len({tuple(ids) for ids in cartoons.values()}) > 1


def item(identity: str, cluster: str, line: str, file: str | None = None, choices: tuple[str, ...] = ()) -> Record:
    picture = Picture(identity, file, lambda: b"") if file else None
    return Record(identity, cluster, {"punchline": line}, "", choices, "", {"scene": "post"}, picture)


def pooled(detecting: Sequence[Record], matching: Sequence[Record], seed: int = 1) -> Run:
    """A run of explaining, whose samples do not belong together."""
    pools: Mapping[str, Any] = {
        name: {cluster: [r for r in rows if r.cluster == cluster] for cluster in {r.cluster: 0 for r in rows}}
        for name, rows in (("detecting", detecting), ("matching", matching))
    }
    options = mock.MockOptions(dataset="sample", seed=seed, chain_of_task=True)
    return Run(BENCHMARKS["mock_explaining"], options, Data((), {}, lambda scene, task: pools[task]), {})


records = st.builds(
    lambda i, cluster, line, file, rest: item(f"r{i}", cluster, "" if rest else line, file, (line, *rest, "x", "y")),
    *(st.integers(0, 10**6), st.sampled_from("abcdef"), st.sampled_from("KLMNOP"), st.sampled_from(["1", "2", None])),
    st.sampled_from([(), ("Q",)]),
)


@given(records, st.lists(records, max_size=12), st.lists(records, max_size=12), st.integers(0, 3))
def test_samples_share_nothing_with_the_item_and_are_found_where_there_are_any(
    asked: Record, first: list[Record], second: list[Record], seed: int
) -> None:
    def lines(r: Record) -> set[str]:
        return {line.casefold() for line in (r.fields["punchline"], *r.choices) if line}

    def apart(one: Record, other: Record) -> bool:
        file = one.picture is None or other.picture is None or one.picture.path != other.picture.path
        return one.cluster != other.cluster and file and not lines(one) & lines(other)

    try:
        found = [sample for _, sample in samples(pooled(first, second, seed), asked)]
    except BadInput:
        # Nothing fits in the first place, or nothing beside the one that was drawn there.
        fits = [r for r in first if apart(r, asked)]
        assert not fits or any(not [s for s in second if apart(s, asked) and apart(s, r)] for r in fits)
        return
    assert found[0] in first
    assert found[1] in second
    assert apart(found[0], asked)
    assert apart(found[1], asked)
    assert apart(*found)


def test_a_large_pool_is_searched_to_its_end() -> None:
    same = [item(f"s{i}", f"c{i}", "the line") for i in range(200)]
    other = item("last", "d", "another line")
    found = samples(pooled([*same, other], [item("e", "f", "a third")]), item("asked", "q", "The Line"))
    assert [sample.id for _, sample in found] == ["last", "e"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Dialogue:\nA: How lovely.\nB: Is it?\nA: No.", False),  # the same dialogue, cut later
        ("Dialogue:\nA: Oh.\nA: HOW LOVELY\nB: (hidden)", False),
        ("Dialogue:\nA: Oh.\nB: How lovely is that?\nA: No.", True),
        ("Caption: How lovely.", False),
    ],
)
def test_what_is_said_in_a_sample_is_not_a_line_of_the_question(said: str, kept: bool) -> None:
    cut = item("cut", "a", "No.")
    cut = dataclasses.replace(cut, fields={**cut.fields, "said": said})
    first, second, asked = (
        [cut, item("other", "b", "two")],
        [item("e", "c", "three")],
        item("asked", "q", "How lovely!"),
    )
    drawn = {samples(pooled(first, second, seed), asked)[0][1].id for seed in range(20)}
    assert drawn == ({"cut", "other"} if kept else {"other"})


def test_too_few_samples_are_said() -> None:
    with pytest.raises(BadInput, match=r"train split of post has no samples of detecting and matching to show before"):
        samples(pooled([item("m", "a", "one")], [item("e", "a", "two")]), item("asked", "q", "three"))


def test_true_or_false() -> None:
    with pytest.raises(BadInput, match=r"chain_of_task must be true or false, not 'yes'"):
        opened("detecting", chain_of_task="yes")


def test_the_signature_tells_it() -> None:
    signatures = [str(opened("matching", chain_of_task=chained).signature("generate")) for chained in (True, False)]
    assert "|chain_of_task:True|" in signatures[0]
    assert "|chain_of_task:False|" in signatures[1]
    assert signatures[0].split("prompts:")[1] != signatures[1].split("prompts:")[1]


@pytest.mark.parametrize(("given", "changed"), [({"chain_of_task": True}, "matching"), ({"shots": 1}, "detecting")])
def test_the_signature_tells_what_worked_samples_are_drawn_from(
    given: dict[str, Any], changed: str, tmp_path: Path
) -> None:
    for task in ORDER:
        for split in ("train", "test"):
            mock_folder(tmp_path, "post", task, [row("post", task, id=f"{task}_{split}", media_id=split)], split)

    def signature(**more: Any) -> Signature:
        run = load("mock_detecting", dataset=str(tmp_path), scene="post", input="description", **more)
        return run.signature("generate")

    first, plain = signature(**given), signature()
    mock_folder(tmp_path, "post", changed, [row("post", changed, id="another", media_id="another")], "train")
    second = signature(**given)
    assert list(differing((first, second))) == ["worked"]
    assert signature() == plain
    assert "worked" not in plain

"""Worked examples as the released script of the caption contest draws them (shots_order=released)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from humor_tasks.api import load
from humor_tasks.benchmarks.caption_contest.corpus import shots
from humor_tasks.contract.definition import Run
from humor_tasks.contract.shots import released
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.rows.records import Record

SAMPLE = {"dataset": "sample", "shots": 2, "shots_order": "released"}


def record(identity: str, contest: int) -> Record:
    return Record(id=identity, cluster=str(contest), fields={}, context="", choices=("x", "y"), target="A", groups={})


def by_the_global_generator(rows: list[Record], train: list[Record], count: int) -> list[tuple[str, list[str]]]:
    """The order of the documented calls, on numpy's global generator and on lists of objects, as a script makes them.

    The generator's state is put back.
    """
    state = np.random.get_state()
    np.random.seed(2)
    held: dict[int, list[dict[str, str]]] = {}
    for each in train:
        held.setdefault(int(each.cluster), []).append({"id": each.id})
    contests = sorted(held)
    evaluated = [{"id": each.id} for each in rows]
    np.random.shuffle(evaluated)  # type: ignore[arg-type]
    found = []
    for row in evaluated:
        places = np.random.choice(len(contests), size=count, replace=False)
        found.append((row["id"], [np.random.choice(held[contests[p]])["id"] for p in places]))  # type: ignore[arg-type,index]
    np.random.set_state(state)
    return found


def drawn_ids(run: Run) -> dict[str, list[str]]:
    return {each.id: [shot.id for shot in shots(run, each)] for each in run.records}


@pytest.mark.parametrize(("rows", "contests", "each", "count"), [(1, 5, 1, 5), (7, 30, 3, 5), (40, 12, 6, 1)])
def test_the_draws_are_those_of_numpys_global_generator(rows: int, contests: int, each: int, count: int) -> None:
    evaluated = [record(f"v{i}", 1000 + i % 9) for i in range(rows)]
    train = [record(f"t{i}", 95 + i % contests) for i in range(contests * each)]  # 95 to 124: not in the order of texts
    pool: dict[str, list[Record]] = {}
    for one in train:
        pool.setdefault(one.cluster, []).append(one)
    found = released(evaluated, pool, count, "train")
    assert [(name, [shot.id for shot in drawn]) for name, drawn in found.items()] == by_the_global_generator(
        evaluated, train, count
    )


def test_a_part_has_the_examples_of_the_whole_and_each_fold_its_own() -> None:
    whole = drawn_ids(load("matching", **SAMPLE, fold="all"))
    parts = [drawn_ids(load("matching", **SAMPLE, fold="all", shard=f"{k}/2")) for k in (1, 2)]
    assert {name: drawn for part in parts for name, drawn in part.items()} == whole
    assert all(len(part) < len(whole) for part in parts)
    assert drawn_ids(load("matching", **SAMPLE, fold="3")).items() <= whole.items()  # the script is run once for each
    assert drawn_ids(load("matching", **SAMPLE | {"shots_order": "seeded"}, fold="all")) != whole


@pytest.mark.inspect_ai_versions
@pytest.mark.lm_eval_versions
def test_both_harnesses_show_them() -> None:
    run = load("ranking", **SAMPLE, cot=False)
    task = build("ranking", dict(SAMPLE))
    config = {"task": "t", "benchmark": "ranking", "output_type": "generate_until"}
    theirs = BenchmarkTask({**config, "metadata": {"dataset": "sample", "shots_order": "released"}})
    for sample, doc in zip(task.dataset, theirs.test_docs(), strict=True):
        turns = [turn.text for turn in run.prompt(next(r for r in run.records if r.id == sample.id)).turns]
        assert [message.text for message in sample.input] == turns  # type: ignore[union-attr]
        shown: Any = theirs.fewshot_context(
            doc, 2, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=lambda turns, **_: turns
        )
        assert [turn["content"] for turn in shown] == turns


def test_the_signature_says_so_only_where_it_matters() -> None:
    assert "|seed:1234|shots_order:released|" in str(load("ranking", **SAMPLE).signature("generate"))
    for same in ({"shots": 2}, {"shots": 0, "shots_order": "released"}):
        assert "shots_order" not in str(load("ranking", dataset="sample", **same).signature("generate"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"split": "train"}, "drawn from the train split; evaluate validation or test."),
        ({"setting": "pixels"}, "shows no pictures; use setting=description or caption_only."),
        ({"seed": 7}, r"has its own seed; leave out seed=7 \(lm-eval: --seed\)\."),
        ({"shots": 31}, r"shots=31: the train split of fold 0 has only 15 contests\."),
    ],
)
def test_what_the_script_cannot_do_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        drawn_ids(load("ranking", **SAMPLE | given))


def test_random_guesses_keep_their_seed() -> None:
    assert drawn_ids(load("ranking", **SAMPLE, seed=7, on_unparsed="random")) == drawn_ids(load("ranking", **SAMPLE))


def test_a_contest_in_both_splits_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^shots_order=released: contest 7 of v0 is also in train"):
        released([record("v0", 7)], {"7": [record("t", 7)]}, 1, "train")


@pytest.mark.slow
def test_the_draws_of_the_real_rows(real_corpus: str) -> None:
    run = load("ranking", dataset=real_corpus, split="validation", shots=5, shots_order="released")
    found = drawn_ids(run)
    train = [each for held in run.pool("0").values() for each in held]
    assert len(train) == run.benchmark.card.splits["train"] == 9576
    expected = by_the_global_generator(list(run.records), train, 5)
    assert dict(expected) == found
    assert run.data.drawn_examples is not None
    assert [name for name, _ in expected] == list(run.data.drawn_examples("0", 5))  # also the script's order of rows
    text = "\n".join(f"{name} {' '.join(drawn)}" for name, drawn in expected)
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == "3d6120a3287e"

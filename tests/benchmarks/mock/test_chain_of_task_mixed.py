"""Chain-of-Task over comedy of mixed sources: MUStARD's clips have no explanations; WITS' clips are a user's own."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from standins import mock_sources as made
from standins.judging import says
from standins.mock_sources import built, dialogue, dialogues

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import chain_of_task
from humor_tasks.tasks import mock_detecting

COMEDY = {"scene": "comedy", "chain_of_task": True}


def sources(tmp: Path) -> list[object]:
    """MUStARD with its clips and WITS without."""
    clips = made.mustard_clips(tmp / "clips", [f"1_{i}" for i in range(40)])
    wits = made.wits(
        tmp / "wits",
        train={str(i): dialogue(100 + i) for i in range(8)},
        test={str(i): dialogue(200 + i) for i in range(4)},
    )
    return ["--mustard", dialogues(tmp, 40), "--mustard-clips", clips, "--wits", wits]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MUStARD with its clips and WITS without."""
    tmp = tmp_path_factory.mktemp("mixed")
    built(tmp / "mock", *sources(tmp))
    return tmp / "mock"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")
@pytest.mark.parametrize("task", ["detecting", "matching"])
@pytest.mark.parametrize("how", ["media", "frames"])
def test_samples_are_shown_by_what_they_have_and_the_question_by_its_clip(task: str, how: str, mixed: Path) -> None:
    with pytest.warns(UserWarning, match=r"no explained row of comedy has a clip; worked samples without one show"):
        run = load(f"mock_{task}", dataset=str(mixed), input=how, split="train", **COMEDY)
    assert len(run.records) > 4
    for record in run.records:
        assert record.id.startswith("mustard_")
        turns = run.prompt(record).turns
        assert [turn.clip is not None for turn in turns if turn.role == "user"] == [False] * 5 + [True]
        shown = [turn.text for turn in turns[1:-3] if "Dialogue:" in turn.text]
        assert len(shown) == 2
        assert all("of dialogue number 10" in text for text in shown)  # WITS
        assert not any("shown in this message" in text or "pictures in this message" in text for text in shown)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*chain_of_task:UserWarning")
def test_the_solver_shows_the_same(mixed: Path) -> None:
    inside, after = says("inside", "Answer: yes"), says("after", "Answer: yes")
    given: dict[str, Any] = {"dataset": str(mixed), "scene": "comedy", "input": "frames", "frames": 2}
    for model, task, more in (
        (inside, mock_detecting(**given, chain_of_task=True), {}),
        (after, mock_detecting(**given), {"solver": chain_of_task()}),
    ):
        (log,) = eval(task, model=model.model, display="log", **more)
        assert log.status == "success"
    assert sorted(map(str, inside.asked)) == sorted(map(str, after.asked))


@pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")
@pytest.mark.parametrize("chain", [True, False])
def test_the_error_says_which_combinations_exist(chain: bool, mixed: Path) -> None:
    given = {**COMEDY, "chain_of_task": chain}
    with pytest.raises(BadInput) as problem:
        load("mock_explaining", dataset=str(mixed), input="frames", **given)
    said = str(problem.value)
    assert "MUStARD has clips without explanations, and WITS explanations without public clips" in said
    assert "explaining has input=description. With clips of WITS of your own (build mock --wits-clips)" in said
    assert "What can be read: split=test scene=comedy input=description" in said
    run = load("mock_explaining", dataset=str(mixed), input="description", **given)
    assert all(run.prompt(record).turns for record in run.records)


def test_where_explained_rows_have_clips_only_rows_with_clips_are_drawn() -> None:
    run = load("mock_detecting", dataset="sample", input="frames", **COMEDY)
    pools = [run.pool("comedy", other) for other in ("matching", "explaining")]
    assert all(record.clip for pool in pools for records in pool.values() for record in records)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")
@pytest.mark.parametrize("contexts", [True, False])
def test_with_clips_of_wits_the_scene_chains_with_explanations_and_clips(tmp_path: Path, contexts: bool) -> None:
    names = [f"train_{i}" for i in range(8)] + [f"test_{i}" for i in range(4)]
    clips = made.wits_clips(tmp_path / "wits_clips", *names)
    if not contexts:
        for name in names:
            (clips / f"{name}_c.mp4").unlink()
    built(tmp_path / "mock", *sources(tmp_path), "--wits-clips", clips, "--missing", "keep")
    for task in ("detecting", "matching", "explaining"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run = load(f"mock_{task}", dataset=str(tmp_path / "mock"), input="frames", split="train", **COMEDY)
            prompts = [run.prompt(record) for record in run.records[:6]]
        words = task == "detecting" and not contexts  # its worked sample of matching is shown without a clip
        assert any("no explained row of comedy has a clip" in str(each.message) for each in told) == words
        assert prompts
        for prompt in prompts:
            assert sum(turn.clip is not None for turn in prompt.turns) == (2 if words else 3)

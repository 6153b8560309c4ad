"""`describe_first`: a describer puts the pictures into words for a model of text, as `humor-tasks describe` does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import ContentImage
from standins.logs import replies
from standins.seeing import Seer, described

from humor_tasks.on_inspect import describe_first
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.testing import ChatServer


@pytest.fixture
def seer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seer]:
    seer = Seer()
    with ChatServer(seer) as server:
        monkeypatch.setenv("SEER_API_KEY", "not a key")
        monkeypatch.setenv("SEER_BASE_URL", server.url)
        yield seer


def described_within(name: str, seen: str = "openai-api/seer/eye", shots: int = 0, **how: Any) -> EvalLog:
    made = build(name, {"dataset": "sample", "setting": "pixels", "shots": shots})
    roles = {"describer": seen} if seen else {}
    (log,) = eval(made, model="baseline/overlap", model_roles=roles, solver=describe_first(**how), display="log")
    return log


@pytest.mark.slow
def test_describing_first_shows_what_a_described_dataset_shows(seer: Seer, tmp_path: Path) -> None:
    dataset = described(tmp_path / "described")
    assert set(seer.asked.values()) == {1}
    name, shots = "ranking", 2
    seer.asked.clear()
    inside = described_within(name, shots=shots, cache=False)
    assert set(seer.asked.values()) == {1}
    (before,) = eval(build(name, {"dataset": dataset, "shots": shots}), model="baseline/overlap", display="log")
    assert replies(inside) == replies(before)
    for a, b in zip(inside.samples or [], before.samples or [], strict=True):
        assert [m.text for m in a.messages] == [m.text for m in b.messages]
        assert not any(isinstance(part, ContentImage) for m in a.messages for part in m.content)
        assert len(a.metadata["described"]) == shots + 1
        assert a.metadata["described"][-1]["picture"] == a.metadata["pictures"][-1]["sha256"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("roles", "setting", "message"),
    [
        ({}, "pixels", "give one model with --model-role describer=MODEL; there is none"),
        ({"describer": ["baseline/first", "baseline/longest"]}, "pixels", "there are 2"),
        ({"describer": "baseline/first"}, "description", "has no picture to describe. It is for tasks with -T"),
    ],
)
def test_what_cannot_be_described_first(roles: dict[str, Any], setting: str, message: str) -> None:
    made = build("matching", {"dataset": "sample", "setting": setting})
    (log,) = eval(made, model="baseline/first", model_roles=roles, solver=describe_first(), display="log")
    assert log.status == "error"
    assert log.error
    assert message in " ".join(log.error.message.split())


def test_own_prompts_are_given_to_both(seer: Seer, tmp_path: Path) -> None:
    (tmp_path / "scene.pixels.txt").write_text("Look at it.")
    (tmp_path / "scene.description.txt").write_text("It is $location $description $uncanny $entities")
    made = build("ranking", {"dataset": "sample", "setting": "pixels", "prompts": str(tmp_path)})
    roles: Any = {"describer": "openai-api/seer/eye"}
    for solver in (describe_first(), describe_first(prompts=str(tmp_path))):
        (log,) = eval(made, model="baseline/first", model_roles=roles, solver=solver, display="log", limit=1)
    assert (log.samples or [])[0].messages[-2].text.startswith("It is In room")
    (first,) = eval(made, model="baseline/first", model_roles=roles, solver=describe_first(), display="log", limit=1)
    assert first.error
    assert "-S prompts=FOLDER" in first.error.message


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"prompts": "nowhere"}, "prompts=nowhere: there is no such folder"),
        ({"instruction": 5}, "instruction must be text, not 5"),
        ({"temperature": "hot"}, "temperature must be a number of at least 0 or none, not 'hot'"),
        ({"max_tokens": 0}, "max_tokens must be a whole number of at least 1 or none, not 0"),
        ({"max_tokens": True}, "max_tokens must be a whole number of at least 1 or none, not True"),
        ({"seed": "x"}, "seed must be a whole number or none, not 'x'"),
    ],
)
def test_settings_of_the_describer_that_cannot_be(how: dict[str, Any], message: str) -> None:
    with pytest.raises(PrerequisiteError, match=f"describe_first: {message}"):
        describe_first(**how)

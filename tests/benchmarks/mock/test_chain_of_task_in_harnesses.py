"""Chain-of-Task in both harnesses: the solver and the parameter, other people's tasks, and Inspect's command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, ContentImage, ContentText, ContentVideo
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
from lm_eval.models.api_models import create_image_prompt
from standins import commands
from standins.chain_of_task import ASKED, INSTRUCTION, WANTED
from standins.judging import says
from standins.mock_rows import ANSWERS, mock_folder, row

from humor_tasks import load
from humor_tasks.datasets_cards import folder
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect import chain_of_task
from humor_tasks.on_lm_eval.rendering import PLACEHOLDER
from humor_tasks.on_lm_eval.rendering import messages as rendered
from humor_tasks.rows.media.picture import Picture
from humor_tasks.tasks import explanation, matching, mock_detecting, mock_explaining, mock_matching
from humor_tasks.testing import ChatServer, ScriptedModel, text_of

INSPECT = {"detecting": mock_detecting, "matching": mock_matching, "explaining": mock_explaining}

# ---- Inspect ------------------------------------------------------------------------------------


def shown(messages: Sequence[ChatMessage]) -> list[tuple[str, str, list[str]]]:
    """Role, text and media of each message."""
    told = []
    for message in messages:
        parts = [] if isinstance(message.content, str) else message.content
        media = [p.image if isinstance(p, ContentImage) else p.video for p in parts if not isinstance(p, ContentText)]  # type: ignore[union-attr]
        told.append((message.role, message.text, media))
    return told


def run_of(task: Task, model: ScriptedModel, **more: Any) -> EvalLog:
    (log,) = eval(task, model=model.model, display="log", **more)
    return log


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "scene", "how"),
    [("detecting", "comedy", "media"), ("matching", "comedy", "frames"), ("explaining", "post", "description")],
)
def test_the_solver_shows_what_the_parameter_shows(task: str, scene: str, how: str) -> None:
    inside, after = says("inside", "Answer: A"), says("after", "Answer: A")
    parameters: dict[str, Any] = {"dataset": "sample", "scene": scene, "input": how, "frames": 2, "seed": 5}
    first = run_of(INSPECT[task](**parameters, chain_of_task=True), inside)
    second = run_of(INSPECT[task](**parameters), after, solver=chain_of_task())
    assert first.status == second.status == "success"
    assert sorted(map(str, map(shown, inside.messages))) == sorted(map(str, map(shown, after.messages)))
    media = [len(media) for _, _, media in shown(after.messages[0])]
    assert sum(media) == {"media": 3, "frames": 6, "description": 0}[how]
    videos = [p for m in after.messages[0] if isinstance(m.content, list) for p in m.content]
    assert sum(isinstance(part, ContentVideo) for part in videos) == 3 * (scene == "comedy" and how == "media")
    for sample in second.samples or []:
        told = sample.metadata["chain_of_task"]
        assert [each["task"] for each in told["samples"]] == WANTED[task]
        assert told["signature"].startswith(f"task:{task}|scene:{scene}|data:sample|rev:-|seed:5|input:{how}")
        assert first.eval.metadata
        worked = Signature.parse(first.eval.metadata["signature"])["worked"]
        assert told["signature"].endswith(f"|worked:{worked}")


def test_both_at_once_are_refused() -> None:
    model = says("m", "Answer: yes")
    log = run_of(
        mock_detecting(dataset="sample", input="description", chain_of_task=True), model, solver=chain_of_task()
    )
    assert log.status == "error"
    assert "the task already shows worked samples" in str(log.error and log.error.message)
    assert model.asked == []


def own_task(*content: Any, choices: list[str] | None = None) -> Task:
    messages: list[ChatMessage] = [ChatMessageSystem(content="Be brief."), ChatMessageUser(content=list(content))]
    return Task(dataset=[Sample(id="s", input=messages, target="yes", choices=choices)], scorer=includes())


@pytest.mark.inspect_ai_versions
def test_a_task_of_somebody_elses_and_another_that_generates() -> None:
    model = says("m", "yes")
    solver = chain_of_task(task="detecting", scene="cartoon", dataset="sample", generates=False)
    log = run_of(own_task(ContentText(text="Is this funny: a bear?")), model, solver=[solver, generate()])
    assert log.status == "success"
    assert len(model.asked) == 1
    roles = [role for role, _ in model.asked[0]]
    assert roles == ["system", *["user", "assistant"] * 4, "user"]
    assert model.asked[0][0] == ("system", "Be brief.")
    assert model.asked[0][-1] == ("user", "Is this funny: a bear?")
    assert INSTRUCTION["matching"] in model.asked[0][1][1]


@pytest.mark.inspect_ai_versions
def test_what_a_question_of_somebody_elses_shows_is_no_sample() -> None:
    """Its medium is known by its bytes."""
    images = Path(folder("mock")) / "images"
    seen = set()
    for name, as_file in (("cartoon_01.png", True), ("cartoon_02.png", False), ("cartoon_03.png", True)):
        path = images / name
        place = str(path) if as_file else Picture(name, str(path), path.read_bytes).data_uri()
        model = says("m", "yes")
        solver = chain_of_task(task="explaining", scene="cartoon", dataset="sample")
        log = run_of(own_task(ContentImage(image=place), ContentText(text="Which?")), model, solver=solver)
        assert log.status == "success"
        (sample,) = log.samples or []
        used = {each["media_id"] for each in sample.metadata["chain_of_task"]["samples"]}
        assert path.stem not in used
        seen |= used
    assert len(seen) == 3


def test_what_somebody_elses_question_lets_choose_from_is_in_no_sample() -> None:
    records = load("mock_detecting", dataset="sample", scene="cartoon", split="train").records
    for seed, place in product(range(2), (1, 2, 5)):  # those that are not meant to be funny
        line = records[place].fields["punchline"]
        model = says("m", "yes")
        solver = chain_of_task(task="explaining", scene="cartoon", dataset="sample", seed=seed)
        log = run_of(own_task(ContentText(text="Which?"), choices=["x", line, "y"]), model, solver=solver)
        assert log.status == "success"
        assert not any(line in text for _, text in model.asked[0])


def test_the_caption_contest_takes_cartoons() -> None:
    model = says("m", "Answer: A")
    log = run_of(matching(dataset="sample", cot=False), model, solver=chain_of_task(dataset="sample"))
    assert log.status == "success"
    assert INSTRUCTION["detecting"] in model.asked[0][1][1]
    assert INSTRUCTION["explaining"] in model.asked[0][5][1]


@pytest.mark.slow
@pytest.mark.parametrize(("task", "other"), [(explanation, "matching")])
def test_a_cartoon_of_the_caption_contest_is_known_by_its_contest(task: Any, other: str, tmp_path: Path) -> None:
    """In words, too, where no picture gives it away; and its caption, wherever it was posted."""
    asked = load(task.__name__, dataset="sample", cot=False).records
    lines = [record.fields.get("caption") or record.choices["ABCDE".index(str(record.target))] for record in asked]
    for each in ("detecting", other):
        rows = []
        for i, (record, line) in enumerate(zip([*asked, *asked[:4]], [*lines, *"wxyz"], strict=True)):
            said = ANSWERS[each] | {"caption": line}
            said |= {"options": ["One.", "Two.", line, "Four."]} if each == "matching" else {}
            media = f"newyorker-{record.cluster}" if i % 2 else f"another-{i}"
            rows.append(row("cartoon", each, id=f"{each}{i}", media_id=media, **said))
        mock_folder(tmp_path, "cartoon", each, rows, "train")
    model = says("m", "Answer: A")
    solver = chain_of_task(dataset=str(tmp_path), input="description")
    log = run_of(task(dataset="sample", cot=False), model, solver=solver)
    assert log.status == "success", log.error
    for sample in log.samples or []:
        line = lines[[record.id for record in asked].index(str(sample.id))]
        shown = sample.metadata["chain_of_task"]["samples"]
        assert f"newyorker-{sample.metadata['cluster']}" not in {each["media_id"] for each in shown}
        assert not any(line in message.text for message in sample.messages[1:9])


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "has no task in its metadata; give -S task=detecting|matching|explaining"),
        ({"task": "detecting"}, "has no scene in its metadata; give -S scene=cartoon|post|comedy"),
        ({"task": "detecting", "scene": "cartoon"}, "give the folder whose train splits contain worked samples"),
        ({"task": "ranking", "scene": "cartoon", "dataset": "sample"}, "there is no 'ranking'"),
        ({"task": "detecting", "scene": "circus", "dataset": "sample"}, "there is no 'circus'"),
        ({"task": "detecting", "scene": "post", "dataset": "/nowhere"}, "dataset=/nowhere"),
    ],
)
def test_what_the_solver_is_not_told(given: dict[str, Any], message: str) -> None:
    model = says("m", "yes")
    log = run_of(own_task(ContentText(text="?")), model, solver=chain_of_task(**given))
    assert log.status == "error"
    assert message in str(log.error and log.error.message)
    assert model.asked == []


def test_a_folder_without_the_other_sub_tasks_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    source = Path(folder("mock"))
    (tmp_path / "cartoon_detecting").mkdir()
    for name in ("train", "test"):
        data = (source / "cartoon_detecting" / f"{name}.jsonl").read_bytes()
        (tmp_path / "cartoon_detecting" / f"{name}.jsonl").write_bytes(data)
    with pytest.raises(PrerequisiteError, match="there is no config 'cartoon_matching'"):
        mock_detecting(dataset=str(tmp_path), scene="cartoon", input="description", chain_of_task=True)


# ---- by the real command lines ------------------------------------------------------------------


def inspect(url: str, tmp_path: Path, *args: str) -> EvalLog:
    model = ["--model", "openai-api/local/scripted", "--log-format", "json"]
    with patch.dict(os.environ, {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}):
        commands.inspect("eval", *args, "--log-dir", tmp_path / "logs", *model, cwd=tmp_path)
    (path,) = (tmp_path / "logs").glob("*.json")
    return read_eval_log(str(path))


def images_of(request: dict[str, Any]) -> list[list[str]]:
    """The pictures of each user message of a request."""
    parts = [m["content"] for m in request["messages"] if m["role"] == "user"]
    return [
        [p["image_url"]["url"] for p in part if p["type"] == "image_url"] for part in parts if isinstance(part, list)
    ]


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_a_server_receives_every_picture(tmp_path: Path) -> None:
    args = ["humor_tasks/mock_explaining", "-T", "scene=cartoon", "--solver", "humor_tasks/chain_of_task"]
    with ChatServer(lambda messages: "Answer: A") as server:
        log = inspect(server.url, tmp_path, *args, "-T", "dataset=sample")
    assert log.status == "success"
    assert len(server.requests) == 3
    for request in server.requests:
        pictures = images_of(request)
        assert [len(each) for each in pictures] == [1] * 3
        assert len({url for each in pictures for url in each}) == 3  # a sample of detecting is explained
        assert all(url.startswith("data:image/png;base64,") for each in pictures for url in each)
        assert ASKED["explaining"] in text_of(request["messages"][-1])


@pytest.mark.lm_eval_versions
def test_lm_evals_client_of_servers_puts_all_pictures_into_the_last_turn() -> None:
    """As docs/lm_eval.md warns: Inspect shows each picture in its own turn."""
    run = load("mock_matching", dataset="sample", scene="cartoon", chain_of_task=True)
    prompt = run.prompt(run.records[0])
    assert [len(turn.pictures) for turn in prompt.turns if turn.pictures] == [1, 1, 1]
    pictures = [picture.open() for picture in prompt.pictures]
    chat: list[dict[str, Any]] = [{**turn, "type": "text"} for turn in rendered(prompt)]  # as lm-eval's client has it
    sent: Any = create_image_prompt(pictures, chat)
    kinds = [[part["type"] for part in turn["content"]] for turn in sent if not isinstance(turn["content"], str)]
    assert kinds == [["image_url"] * 3 + ["text"]]
    assert sum(PLACEHOLDER in turn["content"] for turn in sent if isinstance(turn["content"], str)) == 2

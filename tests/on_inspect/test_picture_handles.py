"""Models in this process get pictures by their SHA-256; every other model, and every log, gets the pictures."""

from __future__ import annotations

import base64
import binascii
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, eval_retry, score
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    ContentImage,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
    modelapi,
)
from standins.bad_rows import dataset_folder, row
from standins.tiny_clip import drawing, encoded
from standins.waiting import wait_until

from humor_tasks import load
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.on_inspect import handles, multiple_choice
from humor_tasks.on_inspect.handles import handle, picture_by, with_pictures
from humor_tasks.on_inspect.local import fill_batches
from humor_tasks.on_inspect.messages import media_of, picture_of, question
from humor_tasks.on_inspect.providers.chooser import ChooserAPI
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.rows.media.picture import Picture
from humor_tasks.testing import ScriptedModel

PIXELS = {"dataset": "sample", "setting": "pixels"}


class Looking(Chooser):
    """Chooses the first; keeps the bytes of every picture that it is shown, and the sizes of its batches."""

    def __init__(self, batch_size: int) -> None:
        self.name, self.batch_size = "looking", batch_size
        self.seen: dict[str, bytes] = {}
        self.sizes: list[int] = []
        self.waits_for = 0
        self.arrived = 0

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        self.sizes.append(len(questions))
        if self.waits_for:
            wait_until(lambda: self.arrived >= self.waits_for)
        self.seen |= {q.id: q.picture.read() for q in questions}
        return [[-float(i) for i in range(len(q.choices))] for q in questions]


class LookingAPI(ChooserAPI):
    """`-M batch_size=N`."""

    def make(self, model_name: str, batch_size: int = 4) -> Looking:
        self.got: list[list[ChatMessage]] = []
        return Looking(batch_size)

    async def reply(self, messages: Sequence[ChatMessage], config: GenerateConfig) -> ModelOutput:
        self.got.append(list(messages))
        self.chooser.arrived += 1  # type: ignore[attr-defined]
        return await super().reply(messages, config)


@modelapi(name="looking")
def _looking() -> type[LookingAPI]:
    return LookingAPI


@pytest.fixture
def local() -> Model:
    return get_model("looking/x", memoize=False)


def pixels(model: Any, **more: Any) -> EvalLog:
    args = PIXELS | more.pop("task_args", {})
    log = eval("humor_tasks/matching", task_args=args, model=model, display="log", **more)[0]
    return read_eval_log(log.location, resolve_attachments="full")


def images(messages: Sequence[ChatMessage]) -> list[str]:
    contents = [message.content for message in messages if not isinstance(message.content, str)]
    return [part.image for content in contents for part in content if isinstance(part, ContentImage)]


def sample_run(**more: Any) -> Run:
    return load("matching", dataset="sample", setting="pixels", **more)


@pytest.fixture(scope="module")
def uris() -> dict[str, str]:
    return {r.id: r.picture.data_uri() for r in sample_run().records if r.picture}


def shot(log: EvalLog) -> dict[str, list[list[str]]]:
    """Sample -> the images of its messages, and of each of its model calls."""
    calls = {s.id: [e for e in s.events if isinstance(e, ModelEvent)] for s in log.samples or []}
    return {str(s.id): [images(s.messages), *(images(e.input) for e in calls[s.id])] for s in log.samples or []}


def test_a_model_in_this_process_gets_the_sha256_and_finds_the_picture(local: Model) -> None:
    log = pixels(local)
    assert log.status == "success"
    api: Any = local.api
    records = sample_run().records
    assert api.chooser.seen == {r.id: r.picture.read() for r in records if r.picture}
    shown = [image for messages in api.got for image in images(messages)]
    assert sorted(shown) == sorted(f"data:{r.picture.mime()};base64,sha256:{r.picture.sha256()}" for r in records)
    assert all(len(image) < 100 for image in shown)


def test_nothing_is_encoded_while_models_are_asked(local: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded_before: list[int] = []
    plain = Picture.data_uri

    def counted(self: Picture) -> str:
        encoded_before.append(len(local.api.got))  # type: ignore[attr-defined]
        return plain(self)

    monkeypatch.setattr(Picture, "data_uri", counted)
    pixels(local, max_samples=1)
    assert encoded_before == list(range(1, len(sample_run().records) + 1))  # once a sample, for its log, after it


@pytest.mark.parametrize("log_images", [None, False])
def test_the_log_has_the_pictures(local: Model, uris: dict[str, str], log_images: bool | None) -> None:
    log = pixels(local, log_images=log_images)
    found = shot(log)
    assert found.keys() == uris.keys()
    for identity, shown in found.items():
        assert shown == [[uris[identity]] if log_images is None else ["<base64-data-removed>"]] * 2
    for sample in log.samples or []:
        assert sample.metadata["pictures"][-1]["sha256"]
    rescored = score(log, multiple_choice(), display="log", action="overwrite")
    assert rescored.results
    assert log.results
    assert rescored.results.scores[0].metrics["accuracy"].value == log.results.scores[0].metrics["accuracy"].value


@pytest.mark.parametrize("hosted", ["model", "role"])
def test_where_one_model_is_elsewhere_all_get_the_pictures(local: Model, uris: dict[str, str], hosted: str) -> None:
    other = ScriptedModel("m", "Answer: A")
    roles = {"describer": other.model} if hosted == "role" else {"describer": local}
    log = pixels(local if hosted == "role" else other.model, model_roles=roles)
    assert log.status == "success"
    for identity, shown in shot(log).items():
        assert shown == [[uris[identity]]] * 2
    if hosted == "role":
        assert local.api.chooser.seen == {r.id: r.picture.read() for r in sample_run().records}  # type: ignore[attr-defined, union-attr]


def picture(seed: int = 0) -> Picture:
    data = encoded(drawing(seed))
    return Picture(f"drawing {seed}", None, lambda: data)


def test_a_handle_lives_as_long_as_any_picture_with_its_bytes() -> None:
    first, second = picture(), picture()
    shown = handle(first)
    assert handle(second) == shown
    del first
    gc.collect(1)
    found = picture_by(shown, "of q")
    assert found is not None
    assert found.read() == encoded(drawing(0))
    del second, found
    gc.collect(1)
    with pytest.raises(BadInput, match=r"Picture of q: .* no picture of this process has it"):
        picture_by(shown, "of q")


def test_a_handle_of_transparent_pixels_is_not_the_files_hash() -> None:
    """It stands in the key of Inspect's cache, where older code kept replies about other pixels of the same file."""
    clear = encoded(drawing(0, (60, 44), "RGBA"))
    one = Picture("clear", None, lambda: clear)
    shown = handle(one)
    assert one.sha256() not in shown
    found = picture_by(shown, "of q")
    assert found is not None
    assert found.open().tobytes() == one.open().tobytes()


def test_an_unknown_handle_is_an_error_and_never_no_picture() -> None:
    lost = f"data:image/png;base64,sha256:{'0' * 64}"
    asked = ChatMessageUser(content=[ContentImage(image=lost)], metadata={"id": "q1", "choices": ["a", "b"]})
    for looked in (
        lambda: question([asked]),
        lambda: picture_of(lost, "q1"),
        lambda: with_pictures(asked.content, "of q1"),
    ):  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="of q1"):
            looked()
    with pytest.raises(Exception, match=r"of sample 1.*Run the sample again"):
        media_of(asked, "of sample 1")
    with pytest.raises(binascii.Error):  # what a model elsewhere would have to decode
        base64.b64decode(lost.partition("base64,")[2], validate=True)


def test_a_judge_gets_the_picture_itself() -> None:
    one = picture()
    asked = ChatMessageUser(content=[ContentImage(image=handle(one))])
    assert [part.image for part in media_of(asked, "") if isinstance(part, ContentImage)] == [one.data_uri()]


@pytest.mark.parametrize("image", ["https://x/a.png", "data:image/png;base64,AAAA", "a.png", "sha256:00"])
def test_other_images_are_no_handles(image: str) -> None:
    assert handles.digest_in(image) is None
    assert picture_by(image, "") is None


def test_a_file_that_changes_after_its_check_is_an_error(tmp_path: Path, local: Model) -> None:
    file = tmp_path / "good.png"
    file.write_bytes(encoded(drawing(0)))
    dataset_folder(tmp_path, [row(image="good.png")], "matching_from_pixels")
    one = load("matching", dataset=str(tmp_path), setting="pixels").records[0].picture
    assert one is not None
    shown = handle(one)
    file.write_bytes(encoded(drawing(1)))
    with pytest.raises(BadInput, match=r"good\.png, .*: its content changed after it was checked"):
        picture_of(shown, "q").read()


@pytest.mark.slow
def test_two_batches_are_filled_unless_the_user_says_otherwise() -> None:
    model = get_model("looking/x", batch_size=16, memoize=False)
    chooser: Any = model.api.chooser  # type: ignore[attr-defined]
    chooser.waits_for = 32  # while the first batch is answered, Inspect sends all that it sends at once
    assert pixels(model, epochs=5).status == "success"
    assert chooser.sizes[1] == max(chooser.sizes) == 16
    few = get_model("looking/x", batch_size=16, memoize=False)
    assert pixels(few, epochs=2, max_connections=3).status == "success"
    assert max(few.api.chooser.sizes) <= 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "adaptive"),
    [
        ({}, False),
        ({"max_connections": 7}, None),
        ({"adaptive_connections": 30}, 30),
        ({"adaptive_connections": True}, True),
    ],
)
def test_only_models_in_this_process_are_changed(given: dict[str, Any], adaptive: Any) -> None:
    config = GenerateConfig(**given)
    here, there = get_model("looking/x", config=config, memoize=False), get_model("mockllm/model", config=config)
    fill_batches([here, there, None])
    assert here.config.adaptive_connections == adaptive
    assert here.config.max_connections == given.get("max_connections")
    assert there.config == config == GenerateConfig(**given)
    assert here.api.max_connections() == 8


@pytest.mark.slow
def test_a_retried_run_and_several_tasks_find_their_pictures(local: Model, uris: dict[str, str]) -> None:
    chooser: Any = local.api.chooser  # type: ignore[attr-defined]
    chooser.score, plain = (lambda questions: 1 / 0), chooser.score
    failed = eval("humor_tasks/matching", task_args=PIXELS, model=local, display="log", log_level="error", limit=3)[0]
    assert failed.status == "error"
    chooser.score = plain
    # Only what the log has: Inspect opens the model again by its name.
    again = eval_retry(failed, display="log", log_level="error")[0]
    assert again.status == "success"
    retried = read_eval_log(again.location, resolve_attachments="full")
    found = shot(retried)
    assert len(found) == 3
    assert {identity: shown[0] for identity, shown in found.items()} == {
        identity: [uris[identity]] for identity in found
    }
    both = [Task(dataset=made.dataset, setup=made.setup, cleanup=made.cleanup, name=name) for name, made in _two()]
    logs = eval(both, model=local, display="log", max_tasks=2, limit=3)
    assert [log.status for log in logs] == ["success"] * 2
    assert chooser.seen == {r.id: r.picture.read() for r in sample_run().records[:3] if r.picture}


def _two() -> list[tuple[str, Task]]:
    return [(name, build("matching", PIXELS)) for name in ("one", "other")]

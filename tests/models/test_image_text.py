"""Image-text models of transformers, with tiny random weights: their replies to pictures, videos and frames."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from PIL import Image
from standins.tiny_image_text import FAMILIES, tiny_image_text

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.models.image_text import ImageText, ModelTurn, text_of
from humor_tasks.models.text.language import Generation
from humor_tasks.tasks import mock_matching

TEXTS = [
    turn.text
    for r in load("mock_matching", dataset="sample").records
    for turn in load("mock_matching", dataset="sample").prompt(r).turns
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], str]:
    home = tmp_path_factory.mktemp("tiny")
    return {
        (family, template): tiny_image_text(home / f"{family}-{template}", family, TEXTS, template)
        for family, template in product(FAMILIES, (False, True))
    }


def matched(model: str, **given: Any) -> EvalLog:
    (log,) = eval(mock_matching(dataset="sample", **given), model=f"image_text/{model}", display="log", max_tokens=8)
    return log


@pytest.mark.parametrize(
    ("family", "template"), [*((family, True) for family in FAMILIES), ("llava", False), ("qwen2_vl", False)]
)
def test_a_family_answers_pictures_videos_and_frames(
    family: str, template: bool, folders: dict[tuple[str, bool], str]
) -> None:
    model = folders[family, template]
    assert matched(model, scene="post", chain_of_task=True).status == "success"
    if template:
        for scene, how in (("comedy", "frames"), ("cartoon", "description")):
            assert matched(model, scene=scene, input=how, frames=2).status == "success"
    log = matched(model, scene="comedy")
    if family == "llava":
        assert "the model takes no video; for video, show pictures: input=frames" in str(
            log.error and log.error.message
        )
        return
    assert log.status == "success"
    for sample in log.samples or []:
        usage = sample.output.usage
        assert usage is not None
        assert 0 < usage.output_tokens <= 8
        assert sample.output.completion.startswith("Answer:") or template


def picture(shade: int) -> Image.Image:
    return Image.linear_gradient("L").point(lambda p: (p * shade) % 256).convert("RGB")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_reply_depends_on_its_pictures_and_not_on_the_batch(
    family: str, temperature: float, folders: dict[tuple[str, bool], str]
) -> None:
    model = ImageText.load(folders[family, True], "cpu", "fp32")
    frames = [picture(shade) for shade in (1, 5, 9, 3)]
    asked = [
        [ModelTurn("user", f"Which caption {'of these ' * i}is it?", (picture(i + 1),) * (i % 3))] for i in range(5)
    ]
    asked += [] if family == "llava" else [[ModelTurn("user", "Which caption is it?", (), (frames,))]]
    how = Generation(8, temperature=temperature, seed=3)
    together = [each.text for each in model.generate(asked, how)]
    assert together == [model.generate([each], how)[0].text for each in asked]
    others = [[turn._replace(pictures=tuple(picture(7) for _ in turn.pictures)) for turn in turns] for turns in asked]
    assert [each.text for each in model.generate(others, how)] != together
    assert len(set(together)) > 1


def test_a_mark_in_a_caption_is_text(folders: dict[tuple[str, bool], str]) -> None:
    model = ImageText.load(folders["llava", True], "cpu")
    turns = [ModelTurn("user", "The caption is <image>.", (picture(1),))]
    assert text_of(model.processor, turns).count("<image>") == 1
    assert model.generate([turns], Generation(2))


@pytest.mark.parametrize("name", ["/nowhere", "config"])
def test_what_is_no_image_text_model_is_told(name: str, tmp_path: Path, folders: dict[tuple[str, bool], str]) -> None:
    if name == "config":
        (tmp_path / "config.json").write_text('{"model_type": "bert"}')
        name = str(tmp_path)
    with pytest.raises(
        BadInput, match=r"model .*: (there is no such folder, and it|the folder's model) cannot be loaded"
    ):
        ImageText.load(name, "cpu")


def test_settings_that_have_no_effect_are_refused(folders: dict[tuple[str, bool], str]) -> None:
    (log,) = eval(
        mock_matching(dataset="sample", scene="cartoon"),
        model=f"image_text/{folders['llava', True]}",
        display="log",
        frequency_penalty=1.0,
    )
    assert "frequency_penalty is not supported by image_text/" in str(log.error and log.error.message)

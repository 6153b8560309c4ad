"""Everything that Inspect's entry point registers.

Every Inspect command imports this module. It must not import torch, datasets, pandas or lm_eval; model providers import
them when used.
"""

from inspect_ai.model import ModelAPI, modelapi

from humor_tasks.on_inspect import *  # noqa: F403
from humor_tasks.on_inspect import __all__ as _parts
from humor_tasks.tasks import *  # noqa: F403
from humor_tasks.tasks import __all__ as _tasks

__all__ = [
    "baseline",
    "clip",
    "embedding",
    "humicroedit",
    "image_text",
    "ofa",
    "quality",
    "reward",
    "text",
    *_parts,
    *_tasks,
]


@modelapi(name="baseline")
def baseline() -> type[ModelAPI]:
    """`--model baseline/random|first|longest|overlap`."""
    from humor_tasks.on_inspect.providers.chooser import BaselineAPI

    return BaselineAPI


@modelapi(name="clip")
def clip() -> type[ModelAPI]:
    """`--model clip/<open_clip architecture>/<tag>` or `clip/<folder>`."""
    from humor_tasks.on_inspect.providers.chooser import ClipAPI

    return ClipAPI


@modelapi(name="humicroedit")
def humicroedit() -> type[ModelAPI]:
    """`--model humicroedit/<run folder of humor-tasks train humicroedit>`."""
    from humor_tasks.on_inspect.providers.humicroedit import HumicroeditAPI

    return HumicroeditAPI


@modelapi(name="image_text")
def image_text() -> type[ModelAPI]:
    """`--model image_text/<folder or hub id>`: models that read pictures or video, of transformers."""
    from humor_tasks.on_inspect.providers.text import ImageTextAPI

    return ImageTextAPI


@modelapi(name="ofa")
def ofa() -> type[ModelAPI]:
    """`--model ofa/<checkpoint folder>` or `ofa/<owner>/<name on the hub>`."""
    from humor_tasks.on_inspect.providers.ofa import OfaAPI

    return OfaAPI


@modelapi(name="quality")
def quality() -> type[ModelAPI]:
    """`--model quality/<folder of a quality model>`: captions alone, as trained by `humor-tasks build newyorker`."""
    from humor_tasks.on_inspect.providers.chooser import QualityAPI

    return QualityAPI


@modelapi(name="text")
def text() -> type[ModelAPI]:
    """`--model text/<folder or hub id>`: seq2seq models, and encoders trained by `humor-tasks train text`."""
    from humor_tasks.on_inspect.providers.text import TextAPI

    return TextAPI


@modelapi(name="embedding")
def embedding() -> type[ModelAPI]:
    """`--model embedding/<sentence-transformers model or folder>`."""
    from humor_tasks.on_inspect.providers.chooser import EmbeddingAPI

    return EmbeddingAPI


@modelapi(name="reward")
def reward() -> type[ModelAPI]:
    """`--model reward/<folder or hub id of a reward model, as TRL's RewardTrainer saves it>`."""
    from humor_tasks.on_inspect.providers.chooser import RewardAPI

    return RewardAPI

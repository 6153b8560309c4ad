"""CLIP: embeddings of pictures and captions, and a picture's logits over its captions. The extra `clip`.

    from humor_tasks.models.clip import Clip, ClipConfig

    clip = Clip.load(ClipConfig("ViT-L-14-336/openai"))
    clip.score([picture], [["first caption", "second caption"]])  # [[21.3, 24.9]]

| module | contents |
|---|---|
| `config` | `ClipConfig`: the model, and the preprocessing of pictures and captions |
| `weights` | loading and saving of models |
| `hugging_face` | configuration and weights of transformers' CLIP folders in open_clip's terms |
| `model` | `Clip`: embeddings, logits, batching; tokenization of captions |

Importing this package does not import torch or open_clip; accessing `Clip` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput
from humor_tasks.models.clip.config import ClipConfig

if TYPE_CHECKING:
    from humor_tasks.models.clip.model import Clip

__all__ = ["Clip", "ClipConfig"]


def __getattr__(name: str) -> Any:
    if name != "Clip":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    try:
        import open_clip  # noqa: F401

        from humor_tasks.models.clip.model import Clip
    except ModuleNotFoundError as problem:
        raise BadInput(f"CLIP needs the extra 'clip': pip install 'humor-tasks[clip]' ({problem}).") from None
    return Clip

"""OFA: a network that generates the answer to a question about a picture. The extra `ofa`.

    from humor_tasks.models.ofa import Describer, GenerationSettings, Ofa

    ofa = Ofa.load("OWNER/NAME")  # or a checkpoint's folder
    ofa.generate(patch_images, input_ids, GenerationSettings(beams=5))

    Describer(ofa).describe([picture])  # [Description(location="an office", ...)]
    Describer(ofa).answer([picture], ["what is on the table?"])

| module | contents |
|---|---|
| `config` | `OfaConfig`: a checkpoint's config.json |
| `backbone`, `positions`, `places`, `attention`, `few_rows`, `encoder`, `decoder`, `network` | the network |
| `weights` | loading from folders and the hub, and saving |
| `settings`, `generation`, `search` | beam search in two styles, greedy decoding, sampling |
| `cache`, `capture` | what a step of decoding reads, and steps as CUDA graphs |
| `reading` | pictures through the backbone, once each |
| `tokenizer`, `pixels` | preprocessing of texts and pictures |
| `model` | `Ofa`: a network on a device, and generation |
| `describe` | `Describer`: questions in, answers out; descriptions of pictures |

Wang et al. 2022, "OFA: Unifying architectures, tasks, and modalities through a simple sequence-to-sequence learning
framework". Importing this package does not import torch; accessing `Ofa` or `Describer` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import OfaConfig
from humor_tasks.models.ofa.settings import GenerationSettings

if TYPE_CHECKING:
    from humor_tasks.models.ofa.describe import Describer
    from humor_tasks.models.ofa.model import Ofa

__all__ = ["Describer", "GenerationSettings", "Ofa", "OfaConfig"]


def __getattr__(name: str) -> Any:
    if name not in ("Describer", "Ofa"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    try:
        import safetensors  # noqa: F401
        import tokenizers  # noqa: F401
        import torch  # noqa: F401

        from humor_tasks.models.ofa.describe import Describer
        from humor_tasks.models.ofa.model import Ofa
    except ModuleNotFoundError as problem:
        raise BadInput(f"OFA needs the extra 'ofa': pip install 'humor-tasks[ofa]' ({problem}).") from None
    return {"Describer": Describer, "Ofa": Ofa}[name]

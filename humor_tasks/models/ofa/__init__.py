"""OFA: a network that generates the answer to a question about a picture. The extra `ofa`.

    from humor_tasks.models.ofa import Describer, GenerationSettings, Ofa

    ofa = Ofa.load("OWNER/NAME")  # or a checkpoint's folder
    ofa.generate(patch_images, input_ids, GenerationSettings(beams=5))

    Describer(ofa).describe([picture])  # [Description(location="an office", ...)]
    Describer(ofa).answer([picture], ["what is on the table?"])

| module | contents |
|---|---|
| `config` | `OfaConfig`: a checkpoint's config.json; `GenerationSettings` |
| `layers`, `encoder`, `network` | the network |
| `generation` | beam search in two styles, greedy decoding, sampling; decoding steps as CUDA graphs |
| `preprocessing` | texts to tokens, pictures to pixels |
| `model` | `Ofa`: a network on a device; loading from folders and the hub, saving |
| `describe` | `Describer`: questions in, answers out; descriptions of pictures |

Wang et al. 2022, "OFA: Unifying architectures, tasks, and modalities through a simple sequence-to-sequence learning
framework". Importing this package does not import torch; accessing `Ofa` or `Describer` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.config import GenerationSettings, OfaConfig

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

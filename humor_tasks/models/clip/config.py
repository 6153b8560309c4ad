"""The configuration of a CLIP model. It imports no torch, so that a harness can validate arguments first."""

from __future__ import annotations

from dataclasses import dataclass

from humor_tasks.errors import BadInput, check_choice

DEFAULT = "ViT-L-14-336/openai"
# Hessel et al. 2023, section 3, for zero-shot; the colon and the space are from the released command
# (caption_contest_corpus, clip/README.md). Their fine-tuning uses no prefix.
ZERO_SHOT_PREFIX = "a new yorker cartoon with winning caption: "
FITS = ("pad", "crop")
ACTIVATIONS = ("gelu", "quick_gelu")
PRECISIONS = ("fp32", "fp16", "bf16")


@dataclass(frozen=True)
class ClipConfig:
    """A CLIP model and its preprocessing. None means the value saved in the model folder, or else the default.

    pretrained: one of
      ARCHITECTURE/TAG of open_clip, weights from the hub ("ViT-L-14-336/openai"); ARCHITECTURE/random for seeded
      random weights; hf-hub:OWNER/NAME, an open_clip repository; a folder that `Clip.save` or open_clip wrote, or
      a Hugging Face CLIP folder; a weight file (.safetensors, or a torch file of tensors) with `architecture`.
    architecture: open_clip's name, only for a weight file. OpenAI's weights, and those fine-tuned from them,
      need the names that end in -quickgelu.
    activation: gelu, only for a weight file of an architecture that has a -quickgelu twin: it confirms that the weights
      were trained with GELU. The file itself does not say, and the wrong activation changes scores silently.
    fit: pad (default): pad with black to a square, then resize, as in the paper; crop: resize the short side,
      then crop the centre, as the released code does by default.
    prefix: prepended to every caption; default `ZERO_SHOT_PREFIX`, or the prefix saved in the model folder.
    precision: of weights and computation, fp32, fp16 or bf16; by default bf16 on CUDA and fp32 elsewhere, or the half
      precision that was chosen for a saved folder. Cosines and logits are always fp32.
    device: auto (CUDA, else MPS, else the CPU), or cuda, cuda:1, mps, cpu.
    compile: torch.compile both encoders; the first batches are slow.
    batch_size: pictures per batch, with four times as many captions; 0 is automatic. Halved when memory runs out.
    cache_dir: folder in which embeddings are cached between runs, by weights and preprocessing. None: memory only.
    workers: threads that read and decode pictures; 0 is one per core, at most 16.
    """

    pretrained: str = DEFAULT
    architecture: str | None = None
    activation: str | None = None
    fit: str | None = None
    prefix: str | None = None
    precision: str | None = None
    device: str = "auto"
    compile: bool = False
    batch_size: int = 0
    cache_dir: str | None = None
    workers: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.pretrained, str):  # lm-eval converts `pretrained=2024` to a number
            raise BadInput(f"clip: pretrained is {self.pretrained!r}; for a folder of that name, prepend ./ to it.")
        if not self.pretrained:
            raise BadInput(f"clip: pretrained is empty; give ARCHITECTURE/TAG, such as {DEFAULT}, a folder or a file.")
        if self.activation is not None:
            check_choice("clip: activation", self.activation, ACTIVATIONS)
        if self.fit is not None:
            check_choice("clip: fit", self.fit, FITS)
        if self.precision is not None:
            check_choice("clip: precision", self.precision, PRECISIONS)
        for name in ("batch_size", "workers"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 0:
                raise BadInput(f"clip: {name} is {value!r}; give a whole number, 0 for automatic.")

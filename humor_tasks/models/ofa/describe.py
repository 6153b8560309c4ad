"""OFA as one that answers questions about a picture: `Describer`, texts in and texts out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.clip.pixels import Shown
from humor_tasks.models.descriptions import QUESTIONS, Description
from humor_tasks.models.devices import out_of_memory
from humor_tasks.models.ofa.model import Ofa
from humor_tasks.models.ofa.pixels import STRIDE, patch_images, recorded_size, square
from humor_tasks.models.ofa.settings import GenerationSettings
from humor_tasks.models.ofa.tokenizer import EOS, Tokenizer, prompt
from humor_tasks.models.weight_files import CONFIG

# People's longest description of a cartoon has 81 tokens. An empty answer is none.
ANSWER = GenerationSettings(max_len=100, min_len=1)
IMAGE_SIZE = 480  # of the published captioning and question answering
LOADING = ("device", "precision", "revision")
OWN = ("image_size", "batch_size")
SETTINGS = (*LOADING, *OWN, *(f.name for f in fields(GenerationSettings)))


@dataclass(frozen=True)
class Answer:
    """What was written: the n best texts, best first, and how much was read and written."""

    texts: tuple[str, ...]
    read: int
    """Patches of the picture and tokens of the question."""
    written: int
    """Tokens of the n texts, their ends among them."""
    cut: bool
    """Whether the best one came to its end only as it could go no further."""


class Describer:
    """An OFA with its vocabulary, pictures of one size, and settings that hold unless others are given."""

    def __init__(
        self, ofa: Ofa, image_size: int | None = None, batch_size: int = 0, settings: GenerationSettings = ANSWER
    ) -> None:
        """image_size: left out, what the checkpoint's folder records, else 480. batch_size: 0 suits the device."""
        self.ofa, self.settings, self.name = ofa, settings, f"ofa/{ofa.name}"
        if ofa.folder is None:
            raise BadInput(f"ofa: {ofa.name} has no vocabulary, and so no words; name a checkpoint's folder.")
        self.tokenizer = Tokenizer.load(ofa.folder)
        if self.tokenizer.size != ofa.config.vocab_size:
            raise BadInput(
                f"ofa: {ofa.folder}: the vocabulary has {self.tokenizer.size} words, codes and bins, and the network "
                f"is for {ofa.config.vocab_size}; they are of two checkpoints."
            )
        self.pixels = square(image_size or recorded_size(ofa.folder) or IMAGE_SIZE)
        self._patches = (self.pixels.size // STRIDE) ** 2
        most = ofa.config.image_bucket_size * STRIDE
        if self.pixels.size > most:
            raise BadInput(f"ofa: image_size is {self.pixels.size}; this network has positions for {most}.")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 0:
            raise BadInput(f"ofa: batch_size is {batch_size!r}; give a whole number, 0 for one that suits the device.")
        self.batch_size = batch_size or (8 if ofa.device.type == "cpu" else 32)

    @classmethod
    def load(cls, name: str | Path, given: Mapping[str, Any] | None = None) -> Describer:
        """The checkpoint called `name`, as `Ofa.load` takes it, under settings as a command line gives them."""
        values = {name: value for name, value in (given or {}).items() if value is not None}
        for setting in values:
            check_choice("ofa: setting", setting, SETTINGS)
        if isinstance(values.get("revision"), int):  # a short hash of digits
            values["revision"] = str(values["revision"])
        for setting in LOADING:
            if not isinstance(values.get(setting, ""), str):
                raise BadInput(f"ofa: {setting} is {values[setting]!r}; give a text.")
        how = {k: v for k, v in values.items() if k not in (*LOADING, *OWN)}
        settings = replace(ANSWER, **how)  # before a download
        ofa = Ofa.load(name, **{k: v for k, v in values.items() if k in LOADING})
        return cls(ofa, **{k: v for k, v in values.items() if k in OWN}, settings=settings)

    def describe(self, images: Sequence[Shown]) -> list[Description]:
        """Each picture in words, by the four questions. Raises BadInput naming a picture that cannot be used."""
        asked = [(image, question) for image in images for question in QUESTIONS.values()]
        wheres = [f"image {i + 1} of {len(images)}" for i in range(len(images)) for _ in QUESTIONS]
        said = self.answer([image for image, _ in asked], [question for _, question in asked], wheres=wheres)
        n = len(QUESTIONS)
        rows = [dict(zip(QUESTIONS, said[i : i + n], strict=True)) for i in range(0, len(said), n)]
        return [Description.of(row, f"image {i + 1} of {len(images)}") for i, row in enumerate(rows)]

    def answer(
        self,
        images: Sequence[Shown],
        questions: Sequence[str],
        settings: GenerationSettings | None = None,
        wheres: Sequence[str] = (),
    ) -> list[str]:
        """The best answer to each question about the image of the same place."""
        return [answer.texts[0] for answer in self.answers(images, questions, settings, wheres=wheres)]

    def answers(
        self,
        images: Sequence[Shown],
        questions: Sequence[str],
        settings: GenerationSettings | None = None,
        n: int = 1,
        wheres: Sequence[str] = (),
    ) -> list[Answer]:
        """The n best answers to each question, in batches. What is drawn (`sample`) does not depend on the batch.

        Raises BadInput naming the place, of `wheres`, of a picture that cannot be used, a question that is empty
        or longer than the network has positions for.
        """
        how = settings or self.settings
        if not 1 <= n <= how.beams:
            raise BadInput(f"ofa: {n} answers to a question; a search with {how.beams} beams has 1 to {how.beams}.")
        names = wheres or [f"question {i + 1} of {len(questions)}" for i in range(len(questions))]
        rows = [self.tokens(question, where) for question, where in zip(questions, names, strict=True)]
        if len(images) != len(rows):
            raise BadInput(f"ofa: {len(rows)} questions about {len(images)} images; give an image a question.")
        # Draws follow from the seed and the place in the batch: one at a time, the seed alone.
        size, found = 1 if how.sample else self.batch_size, []
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            pixels = patch_images(images[part], self.pixels, names[part])
            found += self._written(pixels, rows[part], how, n)
        return found

    def loglikelihoods(
        self, images: Sequence[Shown], questions: Sequence[str], texts: Sequence[str], wheres: Sequence[str] = ()
    ) -> list[tuple[float, bool]]:
        """The log-probability that each text is how the answer begins, and whether greedy choice would write it."""
        names = wheres or [f"question {i + 1} of {len(questions)}" for i in range(len(questions))]
        found = []
        for image, question, text, where in zip(images, questions, texts, names, strict=True):
            ids, said = self.tokens(question, where), self._encoded(text, where)[:-1]
            self._check_fits(len(said), f"{where}: the text")
            pixels = patch_images([image], self.pixels, [where])
            if len(said) == 1:  # an empty text: every answer begins with it
                found.append((0.0, True))
                continue
            place = self.ofa.device
            with torch.inference_mode():
                shown = pixels.to(place, self.ofa.dtype)
                read, before = (torch.tensor([row], device=place) for row in (ids, said[:-1]))
                logits = self.ofa.network(read, shown, before)[0]
            wanted = torch.tensor(said[1:])
            chances = logits.float().log_softmax(1).cpu()
            each = chances.gather(1, wanted[:, None])
            found.append((float(each.sum()), bool((chances.argmax(1) == wanted).all())))
        return found

    def tokens(self, question: str, where: str) -> list[int]:
        """The question as the network reads it; BadInput where it is empty or too long."""
        try:
            asked = prompt(question)
        except BadInput as problem:
            raise BadInput(f"{where}: {problem}") from None
        ids = self._encoded(asked, where)
        self._check_fits(len(ids), f"{where}: the question")
        return ids

    def _encoded(self, text: str, where: str) -> list[int]:
        try:
            return self.tokenizer.encode(text, marks=False)
        except BadInput as problem:
            raise BadInput(f"{where}: {problem}") from None

    def identity(self) -> dict[str, Any]:
        """All that answers depend on, as JSON: checkpoint, revision, a hash of the weights, picture size, settings."""
        ofa = self.ofa
        about = {"checkpoint": ofa.name, "revision": ofa.revision, "weights": self._weights, "dtype": str(ofa.dtype)}
        return about | {"image_size": self.pixels.size, "settings": asdict(self.settings)}

    @cached_property
    def _weights(self) -> str | None:
        """Once: it is asked for with every question, and reads gigabytes."""
        ofa = self.ofa
        return None if ofa.revision or ofa.folder is None else _hash(ofa.folder)

    def _check_fits(self, length: int, what: str) -> None:
        most = self.ofa.config.most_tokens
        if length > most:
            raise BadInput(f"{what} has {length} tokens; OFA has positions for {most}. Shorten it.")

    def _written(
        self, pixels: torch.Tensor, rows: Sequence[Sequence[int]], how: GenerationSettings, n: int
    ) -> list[Answer]:
        try:
            found = self.ofa.generate(pixels, self.tokenizer.pad(rows), how)
        except RuntimeError as problem:
            if not out_of_memory(problem) or len(rows) == 1:
                raise
            half = self.batch_size = len(rows) // 2
        else:
            return [
                Answer(
                    texts=tuple(self.tokenizer.decode(h.ids).strip() for h in hypotheses[:n]),
                    read=self._patches + len(row),
                    written=sum(len(h.ids) for h in hypotheses[:n]),
                    cut=len([i for i in hypotheses[0].ids if i != EOS]) >= how.max_len > 0,
                )
                for row, hypotheses in zip(rows, found, strict=True)
            ]
        return [
            *self._written(pixels[:half], rows[:half], how, n),
            *self._written(pixels[half:], rows[half:], how, n),
        ]


def _hash(folder: Path) -> str:
    """SHA-256 of a folder's weights, which its name does not tell: training may write to one folder again."""
    digest = hashlib.sha256()
    for path in sorted(p for kind in ("*.safetensors", "*.bin", CONFIG) for p in folder.glob(kind)):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()

"""`Describer`: question answering and picture description with OFA."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.caches import Recent
from humor_tasks.models.devices import in_halves
from humor_tasks.models.folders import CONFIG
from humor_tasks.models.ofa.config import GenerationSettings
from humor_tasks.models.ofa.model import Ofa
from humor_tasks.models.ofa.preprocessing import BOS, EOS, STRIDE, Tokenizer, prompt, recorded_size, square
from humor_tasks.models.pictures import (
    CheckedPixels,
    ImageInput,
    Loaded,
    Pixels,
    Source,
    load,
    stacked,
    threads,
    to_device,
)
from humor_tasks.rows.descriptions import QUESTIONS, Description
from humor_tasks.rows.media.picture import pillow_version

# ---- pictures ------------------------------------------------------------------------------------
# The backbone runs once per picture, and questions about a picture share its features.

KEPT = 512 * 2**20  # bytes of features kept between calls: 140 pictures of base at 480 pixels in fp32


class Features:
    """The backbone's features [C, h, w] of pictures by content, on the network's device.

    The most recent ones are kept between calls, up to `most` bytes, because concurrent questions about a picture may
    arrive one after another. It does not notice that weights have changed between calls. It is thread-safe.
    """

    def __init__(self, ofa: Ofa, pixels: Pixels, most: int = KEPT) -> None:
        self.ofa, self.pixels, self.checked = ofa, pixels, CheckedPixels(pixels)
        self.recent: Recent[torch.Tensor] = Recent(most)

    def batches(
        self, images: Sequence[ImageInput], wheres: Sequence[str], size: int
    ) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
        """Batches of at most `size` inputs: their places in `images`, features [P, C, h, w] of their P pictures, and
        the picture of each input [n].

        Inputs are in the order of their pictures' first places, so that a picture is needed in consecutive batches
        only. Pictures are read ahead by threads. Raises BadInput naming a picture that cannot be used.
        """
        first: dict[int, int] = {}
        for i, image in enumerate(images):
            first.setdefault(id(image), i)
        order = sorted(range(len(images)), key=lambda i: first[id(images[i])])
        arriving = load(images, self.pixels, wheres, threads(0), 2 * size, self.recent.get, self.checked)
        keys: dict[int, str] = {}
        held: dict[str, torch.Tensor] = {}
        for start in range(0, len(order), size):
            places = order[start : start + size]
            held = self._arrive(arriving, {id(images[i]) for i in places}, keys, held)
            needed = list(dict.fromkeys(keys[id(images[i])] for i in places))
            for key in needed:
                if key not in held:  # another image with these bytes came long before
                    source = next(Source(images[i], wheres[i]) for i in places if keys[id(images[i])] == key)
                    source.content()
                    held |= self._computed({key: source.pixels(self.pixels)})
            number = {key: k for k, key in enumerate(needed)}
            owners = torch.tensor([number[keys[id(images[i])]] for i in places])
            yield places, torch.stack([held[key] for key in needed]), owners
            held = {key: held[key] for key in needed[-1:]}  # the next batch may begin with the same picture

    def _arrive(
        self,
        arriving: Iterator[Loaded[torch.Tensor]],
        wanted: set[int],
        keys: dict[int, str],
        held: dict[str, torch.Tensor],
    ) -> dict[str, torch.Tensor]:
        """The features of the wanted images as far as they arrive now; adds their keys."""
        new: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]] = {}
        for identity in wanted - keys.keys():
            while identity not in keys:
                loaded = next(arriving)
                keys[loaded.identity] = loaded.key
                # A later image with the same bytes may have been decoded first, and this one computed since.
                features = loaded.known if loaded.known is not None else self.recent.get(loaded.key)
                if features is not None:
                    held[loaded.key] = features
                elif loaded.pixels is not None:
                    new[loaded.key] = loaded.pixels
        for key in {keys[identity] for identity in wanted} - held.keys() - new.keys():
            if (features := self.recent.get(key)) is not None:
                held[key] = features
        return held | self._computed(new)

    def _computed(self, pixels: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint8]]]) -> dict[str, torch.Tensor]:
        """The features of new pictures, which are kept."""
        if not pixels:
            return {}
        batch = stacked(list(pixels.values()), self.ofa.device.type == "cuda")

        def run(part: slice) -> list[torch.Tensor]:
            images = self.pixels.normalised(to_device(batch[part], self.ofa.device), self.ofa.dtype)
            return list(self.ofa.features(images))

        # A copy of each row: a view would keep the features of the whole batch.
        new = {key: row.clone() for key, row in zip(pixels, in_halves(run, len(batch)), strict=True)}
        for key, features in new.items():
            self.recent.put(key, features)
        return new


# ---- answers -------------------------------------------------------------------------------------

# The longest human description of a cartoon has 81 tokens. min_len=1, because an empty answer is useless.
ANSWER = GenerationSettings(max_len=100, min_len=1)
IMAGE_SIZE = 480  # as in the published captioning and visual question answering
LOAD_SETTINGS = ("device", "precision", "revision")
OWN_SETTINGS = ("image_size", "batch_size")
SETTINGS = (*LOAD_SETTINGS, *OWN_SETTINGS, *(f.name for f in fields(GenerationSettings)))


@dataclass(frozen=True)
class Answer:
    """The generated texts, best first, and the numbers of tokens read and written."""

    texts: tuple[str, ...]
    read: int
    """Input length: patches of the picture and tokens of the question."""
    written: int
    """Tokens of all n texts, including end tokens."""
    cut: bool
    """Whether the best text was truncated at max_len."""


class Describer:
    """An OFA model with its tokenizer, picture size, and default generation settings."""

    def __init__(
        self, ofa: Ofa, image_size: int | None = None, batch_size: int = 0, settings: GenerationSettings = ANSWER
    ) -> None:
        """image_size: by default the size recorded in the checkpoint's folder, else 480. batch_size: 0 is automatic.

        Raises BadInput for a model without a vocabulary, or with the vocabulary of another one, and for invalid sizes.
        """
        self.ofa, self.settings, self.name = ofa, settings, f"ofa/{ofa.name}"
        if ofa.folder is None:
            raise BadInput(f"ofa: {ofa.name} has no vocabulary; use a checkpoint's folder.")
        self.tokenizer = Tokenizer.load(ofa.folder)
        if self.tokenizer.size != ofa.config.vocab_size:
            raise BadInput(
                f"ofa: {ofa.folder}: the vocabulary has {self.tokenizer.size} words, codes and bins, and the network "
                f"has {ofa.config.vocab_size}; they are from different checkpoints."
            )
        self.pixels = square(image_size or recorded_size(ofa.folder) or IMAGE_SIZE)
        self.features = Features(ofa, self.pixels)
        self._patches = (self.pixels.size // STRIDE) ** 2
        most = ofa.config.image_bucket_size * STRIDE
        if self.pixels.size > most:
            raise BadInput(f"ofa: image_size is {self.pixels.size}; this network has positions for {most}.")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 0:
            raise BadInput(f"ofa: batch_size is {batch_size!r}; give a whole number, 0 for automatic.")
        self.batch_size = batch_size or (8 if ofa.device.type == "cpu" else 32)

    @classmethod
    def load(cls, name: str | Path, settings: Mapping[str, Any] | None = None) -> Describer:
        """The checkpoint `name`, as in `Ofa.load`, with settings from a command line. Raises BadInput for unknown
        settings.
        """
        values = {setting: value for setting, value in (settings or {}).items() if value is not None}
        for setting in values:
            check_choice("ofa: setting", setting, SETTINGS)
        if isinstance(values.get("revision"), int):  # an abbreviated hash that consists of digits
            values["revision"] = str(values["revision"])
        for setting in LOAD_SETTINGS:
            if not isinstance(values.get(setting, ""), str):
                raise BadInput(f"ofa: {setting} is {values[setting]!r}; give a text.")
        to_load = {setting: values.pop(setting) for setting in LOAD_SETTINGS if setting in values}
        to_describe = {setting: values.pop(setting) for setting in OWN_SETTINGS if setting in values}
        generation = replace(ANSWER, **values)  # validated before a download
        return cls(Ofa.load(name, **to_load), **to_describe, settings=generation)

    def describe(self, images: Sequence[ImageInput]) -> list[Description]:
        """A description of each picture, by the four questions. Raises BadInput naming a picture that is unusable."""
        n = len(QUESTIONS)
        wheres = [f"image {i + 1} of {len(images)}" for i in range(len(images))]
        answers = self.answer(
            [image for image in images for _ in range(n)],
            [*QUESTIONS.values()] * len(images),
            wheres=[where for where in wheres for _ in range(n)],
        )
        rows = [dict(zip(QUESTIONS, answers[n * i : n * i + n], strict=True)) for i in range(len(images))]
        return [Description.of(row, where) for row, where in zip(rows, wheres, strict=True)]

    def answer(
        self,
        images: Sequence[ImageInput],
        questions: Sequence[str],
        settings: GenerationSettings | None = None,
        wheres: Sequence[str] = (),
    ) -> list[str]:
        """The best answer to each question about the image with the same index."""
        return [answer.texts[0] for answer in self.answers(images, questions, settings, wheres=wheres)]

    def answers(
        self,
        images: Sequence[ImageInput],
        questions: Sequence[str],
        settings: GenerationSettings | None = None,
        n: int = 1,
        wheres: Sequence[str] = (),
    ) -> list[Answer]:
        """The n best answers to each question, in batches. Sampled answers (`sample`) do not depend on the batch.

        Raises BadInput naming, by `wheres`, a picture that cannot be used, an empty question, or one with more tokens
        than the network has positions.
        """
        how = settings or self.settings
        if not 1 <= n <= how.beams:
            raise BadInput(f"ofa: {n} answers to a question; a search with {how.beams} beams has 1 to {how.beams}.")
        names = wheres or [f"question {i + 1} of {len(questions)}" for i in range(len(questions))]
        rows = [self.tokens(question, where) for question, where in zip(questions, names, strict=True)]
        if len(images) != len(rows):
            raise BadInput(f"ofa: {len(rows)} questions about {len(images)} images; give an image a question.")
        # Random numbers depend on the seed and the index in the batch; with batches of one, on the seed only.
        size = 1 if how.sample else self.batch_size
        answers: dict[int, Answer] = {}
        with self.ofa.constant_weights():
            for places, features, owners in self.features.batches(images, names, size):
                batch = self._generate(features, owners, [rows[i] for i in places], how, n)
                answers |= dict(zip(places, batch, strict=True))
        return [answers[i] for i in range(len(rows))]

    def loglikelihoods(
        self, images: Sequence[ImageInput], questions: Sequence[str], texts: Sequence[str], wheres: Sequence[str] = ()
    ) -> list[tuple[float, bool]]:
        """The log-probability that the answer begins with each text, and whether greedy decoding would generate it.

        Each question about a picture is encoded once, whatever the number of its texts.
        """
        names = wheres or [f"question {i + 1} of {len(questions)}" for i in range(len(questions))]
        groups: dict[tuple[int, str], list[int]] = {}
        continuations = []
        for i, (image, question, text, where) in enumerate(zip(images, questions, texts, names, strict=True)):
            continuations.append(self._encoded(text, where)[:-1])
            self._check_fits(len(continuations[-1]), f"{where}: the text")
            groups.setdefault((id(image), question), []).append(i)
        members = list(groups.values())
        first = [group[0] for group in members]
        rows = [self.tokens(questions[i], names[i]) for i in first]
        likelihoods: dict[int, tuple[float, bool]] = {}
        with self.ofa.constant_weights():
            for places, features, owners in self.features.batches(
                [images[i] for i in first], [names[i] for i in first], self.batch_size
            ):
                texts_of = [[continuations[i] for i in members[place]] for place in places]
                batch = self._scored(features, owners, [rows[place] for place in places], texts_of)
                for place, group in zip(places, batch, strict=True):
                    likelihoods |= dict(zip(members[place], group, strict=True))
        return [likelihoods[i] for i in range(len(continuations))]

    def _scored(
        self,
        features: torch.Tensor,
        owners: torch.Tensor,
        rows: Sequence[Sequence[int]],
        continuations: Sequence[Sequence[Sequence[int]]],
    ) -> list[list[tuple[float, bool]]]:
        """The log-probability of each continuation of each row, in halves where memory runs out."""

        def run(part: slice) -> list[list[tuple[float, bool]]]:
            groups = continuations[part]
            most = max(map(len, groups))
            flat = [ids for group in groups for ids in [*group, *[[BOS]] * (most - len(group))]]
            padded = self.tokenizer.pad([*flat, [BOS, BOS]])[:-1].view(len(groups), most, -1)  # one token at least
            logs, first = self.ofa.loglikelihoods(features, owners[part], self.tokenizer.pad(rows[part]), padded)
            # The empty text is only the begin token: every answer begins with it.
            return [
                [
                    (float(logs[i, j, : len(ids) - 1].sum()), bool(first[i, j, : len(ids) - 1].all()))
                    for j, ids in enumerate(group)
                ]
                for i, group in enumerate(groups)
            ]

        return in_halves(run, len(rows), self._take_fewer)

    def _take_fewer(self, rows: int) -> None:
        self.batch_size = rows

    def tokens(self, question: str, where: str) -> list[int]:
        """The token ids of a question. Raises BadInput where it is empty or too long."""
        try:
            text = prompt(question)
        except BadInput as problem:
            raise BadInput(f"{where}: {problem}") from None
        ids = self._encoded(text, where)
        self._check_fits(len(ids), f"{where}: the question")
        return ids

    def _encoded(self, text: str, where: str) -> list[int]:
        try:
            return self.tokenizer.encode(text, marks=False)
        except BadInput as problem:
            raise BadInput(f"{where}: {problem}") from None

    def identity(self) -> dict[str, Any]:
        """Everything that answers depend on, as JSON: checkpoint, revision, a hash of the weights, picture size,
        settings.
        """
        ofa = self.ofa
        return {
            "checkpoint": ofa.name,
            "revision": ofa.revision,
            "weights": self._weights,
            "dtype": str(ofa.dtype),
            "image_size": self.pixels.size,
            "pillow": pillow_version(),
            "settings": asdict(self.settings),
        }

    @cached_property
    def _weights(self) -> str | None:
        """SHA-256 of the weights, which a folder's name does not identify, because training may overwrite them.

        Cached, because it is needed for every question and hashes gigabytes.
        """
        folder = self.ofa.folder
        if self.ofa.revision or folder is None:
            return None
        digest = hashlib.sha256()
        for path in sorted(p for kind in ("*.safetensors", "*.bin", CONFIG) for p in folder.glob(kind)):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def _check_fits(self, length: int, what: str) -> None:
        most = self.ofa.config.most_tokens
        if length > most:
            raise BadInput(f"{what} has {length} tokens; OFA has {most} positions. Shorten it.")

    def _generate(
        self,
        features: torch.Tensor,
        owners: torch.Tensor,
        rows: Sequence[Sequence[int]],
        how: GenerationSettings,
        n: int,
    ) -> list[Answer]:
        """The answers of a batch, in halves where memory runs out."""

        def run(part: slice) -> list[Answer]:
            searched = self.ofa.answer(features, owners[part], self.tokenizer.pad(rows[part]), how)
            return [
                Answer(
                    texts=tuple(self.tokenizer.decode(h.ids).strip() for h in hypotheses[:n]),
                    read=self._patches + len(row),
                    written=sum(len(h.ids) for h in hypotheses[:n]),
                    cut=len([i for i in hypotheses[0].ids if i != EOS]) >= how.max_len > 0,
                )
                for row, hypotheses in zip(rows[part], searched, strict=True)
            ]

        return in_halves(run, len(rows), self._take_fewer)

"""Text models as choosers: an encoder that scores choices, and language models, by likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, get_args

import torch
from torch import nn
from torch.nn.functional import cosine_similarity, linear

from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import Chooser, Question, answer, check_words
from humor_tasks.models.devices import Batches, padded, pick_device
from humor_tasks.models.text.causal import Causal
from humor_tasks.models.text.language import LanguageModel
from humor_tasks.models.text.pretrained import about, context_of, kind_of, open_network, open_tokenizer
from humor_tasks.models.text.seq2seq import Seq2Seq
from humor_tasks.models.text.templates import FOLDED, is_folding
from humor_tasks.models.weight_files import read_state

# ---- encoders -------------------------------------------------------------------------------------

Encoding = Literal["cross", "bi"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
HEAD = "head.safetensors"
_SCALE = 10.0  # initial factor of the cosine; its logits then differ by up to a few units


Padded = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]
"""Ids, mask and segments [texts, tokens]."""


class Tokens(NamedTuple):
    """A text, or a pair of texts: token ids, the segment of each, and whether the scene was cut."""

    ids: list[int]
    types: list[int]
    cut: bool


@dataclass(frozen=True)
class Layout:
    """The texts to encode for several questions: distinct (scene, choice), and the places of each choice among them.

    A text that is encoded alone has an empty scene or choice. first: the number of texts with a choice, which come
    first; scenes follow. scenes: the place of each choice's scene; None where no scene is encoded alone. counts:
    choices per question.
    """

    texts: tuple[tuple[str, str], ...]
    first: int
    choices: tuple[int, ...]
    scenes: tuple[int, ...] | None
    counts: tuple[int, ...]


def layout(questions: Sequence[Question], encoding: str, with_scene: bool) -> Layout:
    """The layout of these questions; without the scene, choices are encoded alone."""
    texts: dict[tuple[str, str], int] = {}
    alone: dict[tuple[str, str], int] = {}
    choices, scenes = [], []
    for question in questions:
        scene = scene_of(question) if with_scene else ""
        for choice in question.choices:
            text = (scene if encoding == "cross" else "", choice)
            choices.append(texts.setdefault(text, len(texts)))
            if encoding == "bi" and scene:
                scenes.append(alone.setdefault((scene, ""), len(alone)))
    counts = tuple(len(question.choices) for question in questions)
    after = tuple(len(texts) + place for place in scenes) or None
    return Layout((*texts, *alone), len(texts), tuple(choices), after, counts)


def scene_of(question: Question) -> str:
    """The text that choices are compared with: the scene, and the utterance that a yes-no question is about."""
    return "\n".join(part for part in (question.context, question.about) if part.strip())


class ChoiceHead(nn.Linear):
    """A score from `size` numbers, plus a scaled cosine; in float32, also where the weights are held in bfloat16."""

    def __init__(self, size: int) -> None:
        super().__init__(size, 1)
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)
        # With a dimension and inside of a layer, or FSDP could not divide it.
        self.scale = nn.Parameter(torch.tensor([_SCALE]).log())

    def forward(self, states: torch.Tensor, cosine: torch.Tensor | None = None) -> torch.Tensor:
        """Scores [choices] of states [choices, size]."""
        scores = linear(states.float(), self.weight.float(), self.bias.float()).squeeze(-1)
        return scores if cosine is None else scores + self.scale.float().exp() * cosine


class ChoiceNetwork(nn.Module):
    """An encoder's mean token states, and one linear layer to a score per choice.

    With `bi`, the layer reads [choice, scene * choice, |scene - choice|], and the scaled cosine is added.
    """

    def __init__(self, encoder: Any, encoding: str, with_scene: bool) -> None:
        super().__init__()
        self.encoder, self.encoding, self.with_scene = encoder, encoding, with_scene
        size = encoder.config.hidden_size
        self.dropout = nn.Dropout(getattr(encoder.config, "hidden_dropout_prob", 0.1))
        self.head = ChoiceHead(3 * size if self.compares else size)
        self._no_split_modules = getattr(encoder, "_no_split_modules", None)  # FSDP divides these layer by layer

    @property
    def compares(self) -> bool:
        """Whether vectors of scene and choice are compared."""
        return self.encoding == "bi" and self.with_scene

    def forward(self, texts: Sequence[Padded], choices: torch.Tensor, scenes: torch.Tensor | None) -> torch.Tensor:
        """Scores [choices]; texts: those with a choice, then the scenes; choices, scenes: places, as in `Layout`."""
        return self.compare(torch.cat([self.pooled(*group) for group in texts]), choices, scenes)

    def pooled(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor | None) -> torch.Tensor:
        """Mean token states [texts, size], in float32."""
        more = {} if types is None else {"token_type_ids": types}
        states = self.encoder(input_ids=ids, attention_mask=mask, **more).last_hidden_state.float()
        weights = mask.unsqueeze(-1).to(states.dtype)
        means: torch.Tensor = (states * weights).sum(1) / weights.sum(1)
        return means

    def compare(self, vectors: torch.Tensor, choices: torch.Tensor, scenes: torch.Tensor | None) -> torch.Tensor:
        """Scores [choices] from the texts' vectors [texts, size]."""
        with torch.autocast(vectors.device.type, enabled=False):  # in bfloat16, scores would have two digits
            choice = vectors[choices]
            if scenes is None or not self.compares:
                scores: torch.Tensor = self.head(self.dropout(choice))
                return scores
            scene = vectors[scenes]
            compared = torch.cat([choice, scene * choice, (scene - choice).abs()], -1)
            scores = self.head(self.dropout(compared), cosine_similarity(scene, choice))
            return scores


class TextTokenizer:
    """Texts as tokens, at most `limit` of them (None: no limit). A scene that is too long loses its end."""

    def __init__(self, tokenizer: Any, limit: int | None) -> None:
        self.tokenizer, self.limit = tokenizer, limit
        self.has_types = "token_type_ids" in tokenizer.model_input_names

    def __call__(self, texts: Sequence[tuple[str, str]]) -> list[Tokens]:
        """The tokens of each (scene, choice); one of both may be empty.

        Raises BadInput for a choice that alone is longer than the limit: choices are never cut.
        """
        rows: dict[int, Tokens] = {}
        for pairs in (False, True):
            places = [i for i, (scene, choice) in enumerate(texts) if bool(scene and choice) == pairs]
            if places:
                firsts = [texts[i][0] or texts[i][1] for i in places]
                whole = self._encode(firsts, [texts[i][1] for i in places] if pairs else None)
                rows |= {i: Tokens(*both, False) for i, both in zip(places, whole, strict=True)}
        return [self._fitted(tokens, *texts[i]) for i, tokens in sorted(rows.items())]

    def _encode(self, firsts: Any, seconds: Any, **how: Any) -> list[tuple[list[int], list[int]]]:
        coded = self.tokenizer(firsts, seconds, return_token_type_ids=True, verbose=False, **how)
        return list(zip(coded["input_ids"], coded["token_type_ids"], strict=True))

    def _fitted(self, tokens: Tokens, scene: str, choice: str) -> Tokens:
        if self.limit is None or len(tokens.ids) <= self.limit:
            return tokens
        alone = self._encode([choice], None)[0][0] if choice else []
        if len(alone) + bool(scene and choice) > self.limit:
            raise BadInput(
                f"'{choice:.60}': the choice has {len(alone)} tokens and the model reads {self.limit}; choices are not "
                "cut: shorten it, or use a model with a longer context."
            )
        how = {"truncation": "only_first", "max_length": self.limit}
        return Tokens(*self._encode([scene], [choice] if choice else None, **how)[0], True)

    def tensors(self, rows: Sequence[Tokens], device: Any) -> Padded:
        """Padded ids and mask [rows, tokens], and segments where the model has them."""
        ids = padded([row.ids for row in rows], self.tokenizer.pad_token_id)
        mask = padded([[1] * len(row.ids) for row in rows], 0)
        types = padded([row.types for row in rows], 0).to(device) if self.has_types else None
        return ids.to(device), mask.to(device), types


class Ranker(Chooser):
    """A network with its tokenizer as a Chooser; `cut` counts the distinct texts whose scene was cut.

    Scores are logits. Each distinct text is encoded once a call, in batches of similar length.
    """

    def __init__(self, network: ChoiceNetwork, tokenizer: Any, name: str, device: Any, batch_size: int = 0) -> None:
        self.network, self.name, self.device, self.cut = network, name, torch.device(device), 0
        self.tokens = TextTokenizer(tokenizer, context_of(tokenizer, network.encoder.config))
        self.batches = Batches(name, self.device, batch_size)

    @classmethod
    def load(cls, folder: str, device: str = "auto", batch_size: int = 0) -> Self:
        """The encoder of a folder of `humor-tasks train text`. Raises BadInput for another folder and a damaged one."""
        notes, home = about(folder), Path(folder).expanduser()
        if notes.get("kind") != "encoder":
            raise BadInput(
                f"{folder}: holds no encoder that scores choices; train one: `humor-tasks train text --model {folder}`."
            )
        try:
            network = ChoiceNetwork(
                open_network(str(home), "encoder"), notes["encoding"], notes["setting"] != "caption_only"
            )
            head = read_state(home / HEAD, f"text/{folder}")
            head = {name.removeprefix("head."): tensor for name, tensor in head.items()}
            network.head.load_state_dict(head)
        except (OSError, KeyError, RuntimeError, ValueError) as problem:
            raise BadInput(f"{folder}: is incomplete ({problem}); copy or train the model again.") from None
        where = pick_device(device, f"text/{folder}")
        return cls(network.to(where).eval(), open_tokenizer(str(home)), f"text/{folder}", where, batch_size)

    def check(self, question: Question) -> None:
        """Raise BadInput where there are no choices, or no scene for a model that was trained with scenes."""
        if len(question.choices) < 2:
            raise BadInput(f"{question.id:.60}: {self.name} scores choices and cannot write an explanation.")
        if self.network.with_scene:
            check_words(question, self.name)

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        if not questions:
            return []
        batch = layout(questions, self.network.encoding, self.network.with_scene)
        rows = self.tokens(batch.texts)
        self.cut += sum(row.cut for row in rows)
        self.network.eval()
        with torch.inference_mode():
            vectors = torch.stack(self.batches.run(self._pooled, rows, [len(row.ids) for row in rows]))
            scores = self.network.compare(vectors, *places(batch, self.device)).float().cpu()
        return [row.tolist() for row in torch.split(scores, list(batch.counts))]

    def _pooled(self, rows: Sequence[Tokens]) -> Sequence[torch.Tensor]:
        return list(self.network.pooled(*self.tokens.tensors(rows, self.device)))


def places(batch: Layout, device: Any) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The indices of a layout as tensors, for `ChoiceNetwork.compare`."""
    scenes = None if batch.scenes is None else torch.tensor(batch.scenes, device=device)
    return torch.tensor(batch.choices, device=device), scenes


# ---- language models, and opening by name ---------------------------------------------------------


class LanguageChooser(Chooser):
    """A language model as a Chooser: scores are log-likelihoods of the letters, or words, after the prompt."""

    reads_prompt = True

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = f"text/{model.name}"

    @property
    def signed(self) -> dict[str, str]:  # type: ignore[override]  # known once a template was asked
        """See `Chooser`."""
        folds = isinstance(self.model, Causal) and is_folding(self.model.tokenizer)
        return {"chat_template": FOLDED} if folds else {}

    def check(self, question: Question) -> None:
        """Raise BadInput for a question about a picture, which the model would not see."""
        if question.picture is not None:
            raise BadInput(
                f"{question.id:.60}: {self.name} reads only text, and this question has a picture: use "
                "setting=description or setting=caption_only (in MOCK input=description)."
            )

    def score(self, questions: Sequence[Question]) -> list[list[float]]:
        """See `Chooser.score`."""
        labels = [[f" {answer(question, i)}" for i in range(len(question.choices))] for question in questions]
        rows = self.model.loglikelihoods([question.prompt for question in questions], labels)
        return [[likelihood.logprob for likelihood in row] for row in rows]


def open_text(
    name: str,
    device: str = "auto",
    precision: str = "fp32",
    batch_size: int = 0,
    revision: str | None = None,
) -> Chooser:
    """The language model, or the encoder with a trained head, of a folder or hub id; see `Seq2Seq.load`.

    Raises BadInput for an unknown model, and an encoder without a head.
    """
    kind = about(name).get("kind") or kind_of(name, revision)
    if kind != "encoder":
        return LanguageChooser(
            (Seq2Seq if kind == "seq2seq" else Causal).load(name, device, precision, batch_size, revision)
        )
    if precision != "fp32":
        raise BadInput(f"text/{name}: precision is '{precision}'; encoders compute in fp32. Leave it out.")
    return Ranker.load(name, device, batch_size)

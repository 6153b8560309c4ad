"""`--model humor-ofa --model_args pretrained=FOLDER`: OFA in lm-eval, for tasks that show one picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import cut_at
from humor_tasks.models.ofa.config import GenerationSettings, settings_for
from humor_tasks.on_lm_eval.harness import Instance, pictures_of
from humor_tasks.on_lm_eval.providers.local import LocalLM, batch_size_of, place, read_arguments
from humor_tasks.on_lm_eval.rendering import PLACEHOLDER

WHO = "--gen_kwargs of humor-ofa"
GENERATION = ("max_gen_toks", "temperature", "top_p", "top_k", "seed")


class OfaLM(LocalLM):
    """Model arguments are `Describer`'s settings; `--device` and `--batch_size` (1: automatic) are lm-eval's.

    The question is the prompt without the image placeholder; with `--apply_chat_template` it is only the last user
    turn. `accelerate launch -m lm_eval ...` divides the documents among processes.
    """

    MULTIMODAL = True
    tokenizer_name = "ofa"

    def __init__(
        self,
        pretrained: str,
        device: str | None = None,
        batch_size: Any = 1,
        max_batch_size: Any = None,
        **settings: Any,
    ) -> None:
        from humor_tasks.models.ofa import Describer

        super().__init__()
        accelerator, assigned = place(device)
        place_settings = {"device": assigned, "batch_size": batch_size_of(batch_size)}
        self.describer = Describer.load(pretrained, settings | place_settings)
        self.describer.features.checked.receive()
        self.weights = pretrained
        self._chosen = settings.get("max_len") is not None
        self._device = self.describer.ofa.device
        self.batch_size = self.describer.batch_size
        self.join(accelerator)

    def get_model_info(self) -> dict[str, Any]:
        """Entries for lm-eval's results, in addition to the model arguments."""
        return {"ofa": self.describer.identity() | {"device": str(self._device)}}

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """See LM.generate_until; requests with the same generation arguments are batched."""
        self.check_unseen(requests)
        questions = [self._question(request) for request in requests]
        settings = [self._how(request.args[1]) for request in requests]
        replies: dict[int, str] = {}
        with self.bar(self.describer.name, len(requests), disable_tqdm) as bar:
            for how, stops in dict.fromkeys(settings):
                places = [i for i, other in enumerate(settings) if other == (how, stops)]
                for start in range(0, len(places), self.batch_size):
                    part = places[start : start + self.batch_size]
                    images, texts, wheres = zip(*(questions[i] for i in part), strict=True)
                    answers = self.describer.answer(images, texts, how, wheres)
                    replies |= {i: cut_at(text, stops) for i, text in zip(part, answers, strict=True)}
                    bar.update(len(part))
        return [replies[i] for i in range(len(requests))]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """The log-probability that the answer begins with the continuation; a document is read once for all of them."""
        self.check_unseen(requests)
        questions = [self._question(request) for request in requests]
        texts = [str(request.args[1]) for request in requests]
        likelihoods: list[tuple[float, bool]] = []
        with self.bar(self.describer.name, len(requests), disable_tqdm) as bar:
            for part in _whole_documents(requests, self.batch_size):
                images, prompts, wheres = zip(*questions[part], strict=True)
                likelihoods += self.describer.loglikelihoods(images, prompts, texts[part], wheres)
                bar.update(len(images))
        return likelihoods

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError(f"{self.describer.name} answers questions about pictures; it does not score texts.")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The last user turn, because OFA has no conversations."""
        texts = [turn["content"] for turn in chat_history if turn["role"] == "user"]
        if not texts:
            raise BadInput(f"{self.describer.name}: there is no user turn to answer.")
        return texts[-1]

    def _question(self, request: Instance) -> tuple[Any, str, str]:
        """The image, the question, and a name for messages."""
        doc = request.doc if isinstance(request.doc, dict) else {}
        where = f"{request.task_name}, document {doc.get('id', request.doc_id)}"
        pictures = pictures_of(request)
        if len(pictures) != 1:
            number = f"are {len(pictures)} pictures" if pictures else "is no picture"
            raise BadInput(
                f"{where}: there {number}. OFA needs exactly one: use tasks such as nyc_matching_pixels_gen, without "
                "worked examples."
            )
        return getattr(pictures[0], "picture", pictures[0]), str(request.args[0]).replace(PLACEHOLDER, " "), where

    def _how(self, arguments: Mapping[str, Any]) -> tuple[GenerationSettings, tuple[str, ...]]:
        how, stops = read_arguments(WHO, arguments, self.describer.settings.max_len, self._chosen, GENERATION)
        most = self.describer.ofa.config.most_tokens - 1
        renamed = {"max_tokens" if name == "max_gen_toks" else name: value for name, value in how.items()}
        return settings_for(self.describer.settings, most, **renamed), stops


def _whole_documents(requests: Sequence[Instance], most: int) -> Iterator[slice]:
    """Consecutive requests of at most `most` documents each."""
    starts = [0]
    for i, request in enumerate(requests):
        if i and (request.task_name, request.doc_id) != (requests[i - 1].task_name, requests[i - 1].doc_id):
            starts.append(i)
    for start, end in zip(starts[::most], [*starts[most::most], len(requests)], strict=True):
        if start < end:
            yield slice(start, end)

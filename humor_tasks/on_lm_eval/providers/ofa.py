"""`--model humor-ofa --model_args pretrained=FOLDER`: OFA in lm-eval, for tasks that show one picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from humor_tasks.data.reading import cut_at
from humor_tasks.errors import BadInput
from humor_tasks.models.ofa.arguments import settings_for
from humor_tasks.models.ofa.settings import GenerationSettings
from humor_tasks.on_lm_eval.checks import check_requests
from humor_tasks.on_lm_eval.harness import Instance, pictures_of
from humor_tasks.on_lm_eval.providers.generating import read_arguments
from humor_tasks.on_lm_eval.providers.processes import InProcess, batch_size_of, place
from humor_tasks.on_lm_eval.rendering import PLACEHOLDER

WHO = "--gen_kwargs of humor-ofa"
GENERATION = ("max_gen_toks", "temperature", "top_p", "top_k", "seed")


class OfaLM(InProcess):
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
        given = settings | {"device": assigned, "batch_size": batch_size_of(batch_size)}
        self.describer = Describer.load(pretrained, given)
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
        check_requests(self.weights, requests)
        asked = [self._asked(request) for request in requests]
        hows = [self._how(request.args[1]) for request in requests]
        found: dict[int, str] = {}
        bar = tqdm(total=len(requests), disable=disable_tqdm or self.rank != 0, desc=self.describer.name)
        for how in dict.fromkeys(hows):
            settings, stops = how
            places = [i for i, other in enumerate(hows) if other == how]
            for start in range(0, len(places), self.batch_size):
                part = places[start : start + self.batch_size]
                images, questions, wheres = zip(*(asked[i] for i in part), strict=True)
                texts = self.describer.answer(images, questions, settings, wheres)
                found |= {i: cut_at(text, stops) for i, text in zip(part, texts, strict=True)}
                bar.update(len(part))
        bar.close()
        return [found[i] for i in range(len(requests))]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """The log-probability that the answer begins with the continuation; a document is read once for all of them."""
        check_requests(self.weights, requests)
        asked = [self._asked(request) for request in requests]
        texts = [str(request.args[1]) for request in requests]
        found: list[tuple[float, bool]] = []
        with tqdm(total=len(requests), disable=disable_tqdm or self.rank != 0, desc=self.describer.name) as bar:
            for part in _whole_documents(requests, self.batch_size):
                images, questions, wheres = zip(*asked[part], strict=True)
                found += self.describer.loglikelihoods(images, questions, texts[part], wheres)
                bar.update(len(images))
        return found

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Not supported."""
        raise NotImplementedError(f"{self.describer.name} answers questions about pictures; it does not score texts.")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The last user turn, because OFA has no conversations."""
        asked = [turn["content"] for turn in chat_history if turn["role"] == "user"]
        if not asked:
            raise BadInput(f"{self.describer.name}: there is no user turn to answer.")
        return asked[-1]

    def _asked(self, request: Instance) -> tuple[Any, str, str]:
        """The image, the question, and a name for messages."""
        doc = request.doc if isinstance(request.doc, dict) else {}
        where = f"{request.task_name}, document {doc.get('id', request.doc_id)}"
        shown = pictures_of(request)
        if len(shown) != 1:
            raise BadInput(
                f"{where}: there {f'are {len(shown)} pictures' if shown else 'is no picture'}. OFA needs exactly one: "
                "use tasks such as nyc_matching_pixels_gen, without worked examples."
            )
        return getattr(shown[0], "picture", shown[0]), str(request.args[0]).replace(PLACEHOLDER, " "), where

    def _how(self, given: Mapping[str, Any]) -> tuple[GenerationSettings, tuple[str, ...]]:
        how, stops = read_arguments(WHO, given, self.describer.settings.max_len, self._chosen, GENERATION)
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

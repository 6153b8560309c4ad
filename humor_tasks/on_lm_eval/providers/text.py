"""`--model humor-text --model_args pretrained=<folder or hub id>`: language models and trained encoders in lm-eval."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from humor_tasks.files.reading import cut_at
from humor_tasks.models.text.causal import Causal
from humor_tasks.models.text.choosing import LanguageChooser, open_text
from humor_tasks.models.text.language import Generation
from humor_tasks.on_lm_eval.contributions import Loglikelihood
from humor_tasks.on_lm_eval.harness import Instance
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.local import batch_size_of, place, prefix_of, prompt_of, read_arguments

WHO = "--gen_kwargs of humor-text"
GENERATION = {
    "max_gen_toks": "max_tokens",
    "num_beams": "beams",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
}


class TextLM(ChooserLM):
    """Model arguments: `pretrained`, `precision` (fp32, fp16, bf16) and `revision`; the others are lm-eval's.

    A language model reads each prompt once for all of its continuations, and reports the number of tokens of each. It
    really generates for tasks of replies: a seq2seq model after the answer's prefix, a causal one after the prompt as
    it is, under its own template with `--apply_chat_template`. An encoder scores the choices, as any Chooser.
    `accelerate launch -m lm_eval ...` divides the documents among processes.
    """

    MULTIMODAL = False

    def __init__(
        self,
        pretrained: str,
        device: str | None = None,
        batch_size: Any = 1,
        max_batch_size: Any = None,
        precision: str = "fp32",
        revision: Any = None,
        **unknown: Any,
    ) -> None:
        accelerator, assigned = place(device)
        named = None if revision is None else str(revision)
        chooser = open_text(str(pretrained), assigned or "auto", precision, batch_size_of(batch_size), named)
        super().__init__(chooser, unknown, ("pretrained", "device", "batch_size", "precision", "revision"))
        self.precision, self.weights = precision, str(pretrained)
        self.language = chooser.model if isinstance(chooser, LanguageChooser) else None
        self.join(accelerator)

    def get_model_info(self) -> dict[str, Any]:
        """Entries for lm-eval's results, in addition to the model arguments."""
        model: Any = self.language or self.chooser
        kind = self.language.kind if self.language else "encoder"
        return {
            "text": {"kind": kind, "precision": self.precision, "device": str(model.device), "prompts_cut": model.cut}
        }

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """See LM.loglikelihood; each value of a language model is a `Loglikelihood`."""
        if self.language is None:
            return super().loglikelihood(requests, disable_tqdm)
        self.check_unseen(requests)
        texts_of: dict[str, dict[str, None]] = {}
        for request in requests:
            texts_of.setdefault(str(request.args[0]), {}).setdefault(str(request.args[1]))
        model, rows = self.language, [(prompt, list(texts)) for prompt, texts in texts_of.items()]

        def scored(part: Sequence[tuple[str, list[str]]]) -> list[Any]:
            return model.loglikelihoods([prompt for prompt, _ in part], [texts for _, texts in part])

        scores = self.in_steps(rows, scored, disable_tqdm)
        known = {
            (prompt, text): likelihood
            for (prompt, texts), likelihoods in zip(rows, scores, strict=True)
            for text, likelihood in zip(texts, likelihoods, strict=True)
        }
        values = [known[str(request.args[0]), str(request.args[1])] for request in requests]
        return [(Loglikelihood(value.logprob, value.tokens), value.greedy) for value in values]

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """See LM.apply_chat_template; as plain text for a model without a template."""
        if not isinstance(self.language, Causal):
            return super().apply_chat_template(chat_history, add_generation_prompt)
        if add_generation_prompt:
            return self.language.prompt(chat_history, "")
        return self.language.prompt(chat_history[:-1], chat_history[-1]["content"])  # which begins the answer

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """See LM.generate_until; a reply begins with the prefix of the task's answers, which ends the prompt."""
        if self.language is None:
            return super().generate_until(requests, disable_tqdm)
        self.check_unseen(requests)
        prefixes = [prefix_of(request) for request in requests]
        if isinstance(self.language, Causal):
            prompts = [str(request.args[0]) for request in requests]
            prefixes = [prefix if text.endswith(prefix) else "" for text, prefix in zip(prompts, prefixes, strict=True)]
        else:
            prompts = [prompt_of(request, prefix) for request, prefix in zip(requests, prefixes, strict=True)]
        settings = [_how(request.args[1]) for request in requests]
        replies: dict[int, str] = {}
        for how, stops in dict.fromkeys(settings):
            places = [i for i, other in enumerate(settings) if other == (how, stops)]
            write = functools.partial(self.language.generate, how=how)
            for i, reply in zip(places, self.in_steps([prompts[i] for i in places], write, disable_tqdm), strict=True):
                text = cut_at(reply.text, stops).strip()
                replies[i] = text if text.startswith(prefixes[i]) else f"{prefixes[i]} {text}"
        return [replies[i] for i in range(len(requests))]


def _how(arguments: Mapping[str, Any]) -> tuple[Generation, tuple[str, ...]]:
    """The settings and the stop sequences of a request."""
    how, stops = read_arguments(WHO, arguments, Generation.max_tokens, False, tuple(GENERATION))
    return Generation.of({GENERATION[name]: value for name, value in how.items()}), stops

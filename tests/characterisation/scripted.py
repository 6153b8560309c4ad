"""Models and judges that answer by a hash of what they are asked, in both harnesses.

One reply in three cannot be read, is empty, refused or cut off, so that every way of counting is reached.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprob,
    Logprobs,
    Model,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    get_model,
)
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

REFUSAL = "I'm sorry, but I can't help with that."
ODD = ("", REFUSAL, "Hard to say.", "<think>Well, it could be")
LETTERS = {"matching": "ABCDE", "ranking": "AB", "pairs": "AB", "mock_matching": "ABCD"}
FIELDS = ("Concepts: sea; night; {0}", "Chosen: sea; {0}", "Caption: No {0} for me.", "Explanation: They {0} {1}.")
SETTINGS = ("temperature", "seed", "top_p", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs")


def number(text: str) -> int:
    """Anything, and always the same."""
    return int(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12], 16)


def words(text: str, n: int) -> list[str]:
    """Some words of the question, so that overlaps with references differ."""
    found = re.findall(r"[A-Za-z']{3,}", text[-900:]) or ["nothing", "at", "all"]
    start = n % len(found)
    return [*found[start:], *found[:start]][: 6 + n % 23]


def reply(kind: str, asked: str, salt: str = "", odd: int = 12) -> str:
    """What is answered to a question; of `odd` replies four are none."""
    n = number(salt + asked)
    if kind == "judge":
        return judgement(asked, n)
    if kind != "plain" and n % odd < len(ODD):
        return ODD[n % odd]
    n //= odd
    if letters := LETTERS.get(kind, kind if kind.isupper() else ""):
        letter = letters[n % len(letters)]
        return (f"Answer: {letter}", letter, f"Both have something.\n\nAnswer: ({letter})", f"**Answer: {letter}**")[
            n % 4
        ]
    if kind == "yes_no":
        return ("Answer: yes", "Answer: no", "No.", "It is meant.\nAnswer: Yes")[n % 4]
    if kind == "rating":
        return (f"Rating: {n % 31 / 10}", f"Rating: {n % 4}", str(n % 4), "Rating: 7")[n // 31 % 4]
    text = " ".join(words(asked, n))
    if kind == "humorbench":
        said = f"<explanation>{text}</explanation>"
        return (said, said, f"So: {said}", text, f"<explanation>{'ha ' * 300}</explanation>")[n % 5]
    if kind == "brainstorm":
        seen = ("Place: {1}", "Scene: {0}", "Unusual: {1}", "Entities: {0}") if "Scene: what" in asked else ()
        lines = [line.format(*text.split()[:2]) for line in (*seen, *FIELDS)]
        return "\n".join(lines if n % 5 else lines[:2])
    if kind == "captions":
        return "\n".join(f"{i}. {i} {text} {i}" for i in range(1, 11 - (n % 7 == 0)))
    return f"Explanation: {text}." if kind == "explanation" else f"{text}."


def judgement(asked: str, n: int) -> str:
    """A verdict on an element, a choice of two, or a rating, by what is asked; some cannot be read."""
    known = ("PASS", "FAIL", "PASS") if "<point>" in asked else ("A", "B", "TIE") if "_a>" in asked else "12345"
    if "<group_a>" in asked:
        return f"Answer: {'AB'[n % 2]}" if n % 13 else "Hard to say."
    if n % 13 == 0:
        return "Hard to say: there is something in it."
    if n % 29 == 1:
        return REFUSAL
    word = known[n // 377 % len(known)]
    if "one JSON object" in asked:
        return json.dumps({"reasoning": "So it is.", "judgement": word})
    return f"<reasoning>So it is.</reasoning>\n<judgement>{word}</judgement>"


def told(messages: list[Any]) -> list[list[str]]:
    """Role, text and SHA-256 of media of each message."""
    found = []
    for message in messages:
        parts = [] if isinstance(message.content, str) else message.content
        media = [getattr(part, part.type) for part in parts if part.type != "text"]
        found.append([message.role, message.text, *(hashlib.sha256(str(m).encode()).hexdigest() for m in media)])
    return found


def in_inspect(kind: str, name: str = "model", salt: str = "", asked: list[Any] | None = None) -> Model:
    """A mock model with usage of its own; `asked` collects every request."""

    def answer(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        seen = told(messages)
        if asked is not None:
            schema = config.response_schema.model_dump(mode="json") if config.response_schema else None
            asked.append([name, seen, {key: getattr(config, key) for key in SETTINGS}, schema])
        question = "\n".join(part for turn in seen[-1:] for part in turn[1:])
        n = number(salt + question)
        stop: Any = {3: "content_filter", 5: "max_tokens"}.get(n // 12 % 17 if kind != "plain" else 0, "stop")
        output = (
            rating_with_digits(n)
            if kind == "digits"
            else ModelOutput.from_content(name, reply(kind, question, salt), stop)
        )
        output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def rating_with_digits(n: int) -> ModelOutput:
    """A rating with probabilities of the digits."""
    top = [TopLogprob(token=str(d), logprob=-0.5 - (n >> 3 * d) % 7) for d in range(4)]
    tokens = [Logprob(token=token, logprob=-0.1, top_logprobs=[]) for token in ("Rating", ":")]
    tokens.append(Logprob(token="2" if n % 7 else "odd", logprob=-0.5, top_logprobs=top))
    message = ChatMessageAssistant(content="Rating: 2" if n % 7 else "Rating: odd")
    return ModelOutput(
        model="model", choices=[ChatCompletionChoice(message=message, logprobs=Logprobs(content=tokens))]
    )


class InLmEval(LM):
    """Answers by the same rule; likelihoods are a hash of context and continuation, some of them no number."""

    MULTIMODAL = True
    tokenizer_name = "scripted"

    def __init__(self, kind: Callable[[str], str]) -> None:
        super().__init__()
        self.kind = kind

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Of one context in twelve that is followed by a choice, none."""
        found = []
        for request in requests:
            context, continuation = request.args[:2]
            n = number(context + continuation)
            none = number(context) % 12 == 0 and len(continuation) < 5
            found.append((math.nan if none else -len(continuation) * (1 + n % 997 / 997), n % 3 == 0))
        return found

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """A reply of the kind that the request's task asks for."""
        return [reply(self.kind(str(request.task_name)), request.args[0]) for request in requests]

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Never asked for."""
        raise NotImplementedError

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """Roles and texts."""
        turns = "".join(f"<{turn['role']}>{turn['content']}" for turn in chat_history)
        return turns + "<assistant>" * add_generation_prompt

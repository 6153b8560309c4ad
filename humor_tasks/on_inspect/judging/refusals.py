"""What a provider's refusals tell about a grader: a setting that it does not take, or an error of every request."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai.model import GenerateConfig, Model

from humor_tasks.files.secrets import without_credentials
from humor_tasks.on_inspect.errors import cannot_run

logger = logging.getLogger(__name__)

FIRST = 3
"""So many questions to a grader that has answered none yet, all refused alike, end the run."""
OURS = ("temperature", "seed")
"""Sampling settings that this package sends."""
OTHERS = (
    *("top_p", "top_k", "max_tokens", "max_completion_tokens", "frequency_penalty", "presence_penalty"),
    *("logprobs", "top_logprobs", "reasoning_effort", "stop", "logit_bias"),
)
"""Settings that only a model's own configuration has, and log-probabilities, which are sent where they are needed."""
UNUSABLE = (401, 402, 403, 404)
"""Statuses of a wrong key, an empty account, and a model that is not there."""
TRANSIENT = (408, 409, 425, 429)
MALFORMED = ("TypeError:", "IndexError:", "AttributeError:", "KeyError:")
"""Errors of a client that reads an answer without choices, or with a text in another form."""
LONGEST = 500
"""So many characters of a provider's sentence are shown."""

# Wordings of OpenAI, Anthropic, Google, Mistral, Groq, Cohere, LiteLLM and vLLM for a setting that is not taken.
_REFUSES = re.compile(
    r"unsupported|not supported?\b|(?:does|do)(?:n't| not) support|unrecogni[sz]ed|unknown|unexpected|extra|"
    r"not (?:be )?(?:permitted|allowed|set|a valid)|may only|only .{0,40}(?:supported|allowed)|deprecated|"
    r"cannot (?:both )?be|(?:must|should) be|invalid|\brange\b|between|(?:less|greater) than|not enabled",
    re.IGNORECASE,
)
_NAMED = (
    r"""[`'"](?:[\w.]+\.)?NAME[`'"]|\[NAME\]|\bNAME=|^NAME\b|:\s*NAME\W*$|(?<!\w)[\w.]+\.NAME:|: NAME: """
    r"|\b(?:parameters?|arguments?(?: supplied:)?|field|option|key|property):? NAME\b"
    r"|\bNAME (?:parameter|value|field)\b"
    r"|\b(?:invalid|custom|random|setting|supports?|per[- ]request) NAME\b|\(NAME\b"
    r"|\bNAME (?:(?:is|are) (?:not|un|deprecated)|not (?:supported|allowed)|(?:must|should|may only|can only) be)"
)
_EMPTY_ACCOUNT = re.compile(r"insufficient[_ ](?:quota|balance|funds|credit)|credit balance is too low", re.IGNORECASE)
_OF_ITEM = re.compile(
    r"content[ _-]?(?:filter|management|policy)|responsible[ _]?ai|moderation|safety|flagged|prohibited|usage polic|"
    r"context[ _](?:length|window)|(?:prompt|input|request)s? (?:is |are )?too (?:long|large)|too many tokens",
    re.IGNORECASE,
)
_VARYING = re.compile(r"[\w-]*\d[\w-]*")  # numbers and identifiers of requests


class Refusal(NamedTuple):
    """A provider's answer to a request that it does not carry out.

    status: the HTTP status; None where the error has none, as where the connection failed. sentence: the provider's, in
    one line. setting: the setting of `OURS` or `OTHERS` that it names; "" where it names none.
    """

    status: int | None
    sentence: str
    setting: str

    @property
    def kind(self) -> tuple[int | None, str]:
        """What is equal in refusals for the same reason."""
        return self.status, _VARYING.sub("#", self.sentence)

    @property
    def of_item(self) -> bool:
        """Whether the reason is this question, such as a content filter or its length."""
        return _OF_ITEM.search(self.sentence) is not None

    @property
    def permanent(self) -> bool:
        """Whether the same request would fail again: it was refused, or its answer has not the form of the API."""
        if self.status is None:
            return self.sentence.startswith(MALFORMED)
        return 400 <= self.status < 500 and self.status not in TRANSIENT

    @property
    def of_account(self) -> bool:
        """Whether no request of this account can be answered."""
        return self.status in UNUSABLE or _EMPTY_ACCOUNT.search(self.sentence) is not None

    def __str__(self) -> str:
        return self.sentence if self.status is None else f"status {self.status}: {self.sentence}"


def refusal(problem: BaseException) -> Refusal:
    """The refusal in an error of Inspect or of a provider's client.

    Inspect wraps some errors of clients in one that shows the whole request; the client's own is then its cause.
    """
    told = [each for each in _chain(problem) if _status(each) is not None]
    if not told:
        said = without_credentials(" ".join(f"{type(problem).__name__}: {problem}".split()))
        return Refusal(None, said[:LONGEST], "")
    own = next(filter(_body, told), told[0])
    error = _body(own)
    sentence = " ".join(str(error.get("message") or _detail(own) or own).split()).rstrip(".") or type(own).__name__
    if _EMPTY_ACCOUNT.search(code := str(error.get("code"))) and code not in sentence:
        sentence = f"{code}: {sentence}"
    setting = str(error.get("param") or named_setting(sentence))
    sentence = without_credentials(sentence)
    return Refusal(_status(own), sentence[:LONGEST], setting if setting in (*OURS, *OTHERS) else "")


def _chain(problem: BaseException | None) -> Iterator[BaseException]:
    """The causes of an error, the first one first, and the error itself."""
    if problem is not None:
        yield from _chain(problem.__cause__)
        yield problem


def _status(problem: BaseException) -> int | None:
    """The HTTP status, under the names of the providers' clients."""
    response = getattr(problem, "response", None)
    if isinstance(response, Mapping):  # Amazon's
        places: list[Any] = [(response.get("ResponseMetadata") or {}).get("HTTPStatusCode")]
    else:
        places = [getattr(problem, name, None) for name in ("status_code", "code", "status")]
        places.append(getattr(response, "status_code", None))
    return next((value for value in places if type(value) is int), None)


def _body(problem: BaseException) -> Mapping[str, Any]:
    """The error in the body of a provider's response; empty where there is none of the common form."""
    body = getattr(problem, "body", None)
    error = body.get("error", body) if isinstance(body, Mapping) else None
    return error if isinstance(error, Mapping) else {}


def _detail(problem: BaseException) -> str:
    """What a body of another form says: FastAPI's, as of vLLM and Mistral, a text, or an error that is a text."""
    body = getattr(problem, "body", None)
    body = (
        next((body[name] for name in ("error", "detail") if body.get(name)), "") if isinstance(body, Mapping) else body
    )
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    found = [part for part in body if isinstance(part, Mapping)] if isinstance(body, list) else []
    return "; ".join(f"{'.'.join(map(str, part.get('loc') or ()))}: {part.get('msg', '')}" for part in found)


def named_setting(sentence: str) -> str:
    """The setting that a provider's sentence says it does not take; one of `OURS` before others."""
    if not _REFUSES.search(sentence):
        return ""
    named = (name for name in (*OURS, *OTHERS) if re.search(_NAMED.replace("NAME", name), sentence, re.I))
    return next(named, "")


class Standing:
    """What one run has learned about a grader from its first requests.

    left_out: the settings of `OURS` that its provider refuses by name, and which are not sent any more.
    """

    def __init__(self) -> None:
        self.left_out: tuple[str, ...] = ()
        self._answers = False
        self._refused: defaultdict[tuple[int | None, str], int] = defaultdict(int)

    def answered(self, grader: Model, left_out: Sequence[str], why: str, new: bool) -> None:
        """Take down that a request without these settings was answered.

        why: the provider's sentence about them. new: whether the answer is not from the cache.
        """
        self._answers = self._answers or new
        if found := [name for name in left_out if name not in self.left_out]:
            self.left_out = (*self.left_out, *found)
            names = " and ".join(found)
            logger.warning("grader %s does not take %s (%s): left out, as the signature says.", grader, names, why)

    def failed(self, grader: Model, why: Refusal, sent: GenerateConfig, again: bool = False) -> str:
        """Take down that a question got no reply; returns why. Raises CannotRun where no other would get one.

        sent: the settings of the request. again: whether the same question was refused before.
        """
        if why.of_item or not (why.permanent or why.of_account):
            return str(why)
        if why.of_account:
            cannot_run(f"grader {grader} cannot be used ({why}).")
        if why.setting in OTHERS or (why.setting and getattr(sent, why.setting) is not None):
            cannot_run(f"grader {grader} does not take {why.setting} ({why}). {_remedy(grader, why.setting)}")
        if sent.response_schema is not None and why.status in (400, 422) and not self._answers:
            cannot_run(f"grader {grader} rejected the schema; use structured=false. Its error: {why}")
        self._refused[why.kind] += not again
        if self._refused[why.kind] == 1 and not again:
            logger.warning("grader %s refused a question (%s).", grader, why)
        if self._refused[why.kind] >= FIRST and not self._answers:
            cannot_run(
                f"grader {grader} answered none of its first {FIRST} questions ({why}). Put right what its provider "
                "names, or use another grader. A later run asks only for the verdicts that are missing."
            )
        return str(why)


def _remedy(grader: Model, name: str) -> str:
    """What to do where a provider does not take a setting that was asked for."""
    if name in OURS and getattr(grader.config, name) is None:
        return f"Give {name}=none: -T in a task, -S in inspect score, --{name} none in humor-tasks grade."
    if name in ("logprobs", "top_logprobs"):
        return "Log-probabilities are needed; use another grader, or no setting that needs them."
    return f"Leave {name} out of the grader's own configuration."

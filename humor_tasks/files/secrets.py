"""What no log, report, cache key, command or file name may show: values of secret names, and secrets within texts.

No other module has a list of such names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "SECRET"
"""What stands in the place of a secret."""

# Names in words joined by underscores, as `_words` gives them.
_SECRET = re.compile(
    r"""(?:^|_)(?:
      (?:[a-z]*?(?:api|access|secret|private|auth|account|subscription|shared|signing|encryption|master))?keys?(?!_value)
    | (?!tik)[a-z]*token(?!_(?:ids?|types?|limit|budget|counts?|length|usage|level)(?:_|$))
    | (?:api|access|auth|hf)_tokens
    | [a-z]*secrets? | [a-z]*passw(?:or)?d | passwort | passphrase | pass(?=$) | pwd | [a-z]*pwd | pw | pat
    | credentials? | creds? | o?auth2?(?!or) | authn | authz | authori[sz]ation | authenticat[a-z]* | bearer
    | cookies? | jwt | sas | sig | sessionid | session_id | connection_string | dsn
    )(?=_|$)""",
    re.X,
)
# Tokens of texts, which models and harnesses have arguments for, such as add_bos_token and think_end_token.
_OF_TEXTS = re.compile(
    r"(?:^|_)(?:bos|eos|sos|pad|unk|mask|sep|cls|start|end|stop|image|video|audio|think|special)_token(?=_|$)"
)
_HEADERS = re.compile(r"(?:^|_)headers?(?=_|$)")
_IN_QUERY = re.compile(r"(?:^|_)(?:signature|code)$")

_IN_URL = re.compile(r"(?<=://)(?:[^/?#\s]*@|[^/?#\s:@]+:(?!\d*(?:[/?#]|$))[^?#\s@]*@)")
_QUERY = re.compile(r"(?<=[?&;#])([\w.~-]+)=([^&;#\s\"'<>]+)")
_BEARER = re.compile(r"\b(bearer)\s+[\w.~+/=-]{6,}", re.I)
_NAME = re.compile(
    r"""(?P<quote>\\?["'])(?P<quoted>[\w.\ -]+?)(?P=quote)\s*[:=]\s*       # "api_key": of JSON
    | (?:(?<=[\s,;{(\["'=])|^)(?P<pair>[\w.-]+)=                           # api_key=
    | (?:(?<=[,{"'])\s*|^)(?P<entry>[\w.-]+):\s+                             # api_key: of YAML and of HTTP""",
    re.X | re.M,
)
_VALUE = re.compile(
    r"""(?P<mark>\\?["'])(?:(?!(?P=mark))(?:\\.|.))*(?P=mark) | \{[^{}]*\} | \[[^\[\]]*\]
    | (?:(?:bearer|basic|digest|token)\s+)?[^\s,;&}\]"']+(?:;\s*[\w.-]+=[^\s,;&}\]"']*)*""",
    re.X | re.I | re.S,
)
_SAID = re.compile(
    r"\b((?:(?:api|access|secret|auth)[ _-]?(?:key|token)|password)(?: provided)?(?:\s*[:=]\s*|\s+)\\?[\"']?)"
    r"(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}",
    re.I,
)
"""A long word with a digit after such words: in --api-key x, api_key = 'x' and "Incorrect API key provided: x"."""
_KEYS = re.compile(
    r"\b(?:sk-[\w-]{16,}|hf_[A-Za-z0-9]{16,}|gh[opsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|A[KS]IA[0-9A-Z]{16}|(?:gsk|r8|fw|tgp_v1|[sr]k_live)_[\w-]{20,}|(?:xai|nvapi|pplx|glpat)-[\w-]{20,}"
    r"|xox[abps]-[\w-]{10,}|AIza[\w-]{30,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+)"
)


def is_secret(name: str, headers: bool = True) -> bool:
    """Whether a value of this name may be a secret: api_key, HF_TOKEN, sasToken, x-api-key; not max_tokens, tokenizer.

    headers: whether HTTP headers are, whatever their names. A kind of exception, such as KeyError, names no secret.
    """
    words = _words(name)
    if words.endswith(("_error", "_exception")):
        return False
    found = _SECRET.search(_OF_TEXTS.sub("", words)) or (headers and _HEADERS.search(words))
    return bool(found)


def _words(name: str) -> str:
    """The name in small letters, with underscores between its words."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name)).lower())


def without_secrets(value: Any, drop: bool = False, headers: bool = True) -> Any:
    """The value, and all that is nested in it, without secrets.

    drop: whether entries of secret names are left out; otherwise HIDDEN is their value. headers: as for `is_secret`.
    """
    if isinstance(value, Mapping):
        kept = {n: each for n, each in value.items() if not (drop and is_secret(n, headers))}
        return {
            n: HIDDEN if is_secret(n, headers) and each is not None else without_secrets(each, drop, headers)
            for n, each in kept.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(each, drop, headers) for each in value]
    return without_credentials(value) if isinstance(value, str) else value


def without_credentials(text: str) -> str:
    """The text without what is secret in it: users and passwords of URLs, and secrets in their queries; NAME=VALUE and
    entries of JSON or YAML under secret names; long words after "API key" or "password"; bearer tokens, and keys in the
    form of known providers.
    """
    text = _IN_URL.sub("", text)
    text = _QUERY.sub(lambda m: f"{m[1]}={HIDDEN}" if is_secret(m[1]) or _IN_QUERY.search(_words(m[1])) else m[0], text)
    text = _without_pairs(text)
    text = _SAID.sub(rf"\1{HIDDEN}", text)
    return _KEYS.sub(HIDDEN, _BEARER.sub(rf"\1 {HIDDEN}", text))


def _without_pairs(text: str) -> str:
    """The text with HIDDEN, quoted as the value was, for the values of secret names."""
    parts, done, at = [], 0, 0
    while name := _NAME.search(text, at):
        at = name.end()  # a value under another name may hold pairs itself
        value = is_secret(name["quoted"] or name["pair"] or name["entry"]) and _VALUE.match(text, at)
        if value:
            mark = value["mark"] or ""
            parts.append(f"{text[done:at]}{mark}{HIDDEN}{mark}")
            done = at = value.end()
    return "".join(parts) + text[done:]

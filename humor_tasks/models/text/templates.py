"""Chat templates: turns as a model's own template shows them, also by templates without a system turn.

A template is asked once what it takes. Where it refuses a system turn, as Gemma 2's does, or leaves out its text, the
system text begins the first user turn. The rule becomes part of the template, so that a model that is trained and saved
with it is asked in the same form by every program.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from humor_tasks.errors import BadInput, one_line

logger = logging.getLogger(__name__)

FOLDED = "folded"
"""The entry `chat_template` of a signature where system text begins the first user turn."""
_FOLD = (
    "{%- if messages|length > 1 and messages[0]['role'] == 'system' and messages[1]['role'] == 'user' %}"
    "{%- set folded_system, folded_user = messages[0]['content'], messages[1]['content'] %}"
    "{%- if folded_system is not string %}"
    "{%- set folded_system = folded_system|map(attribute='text')|join %}{%- endif %}"
    "{%- if folded_user is string %}{%- set folded_user = folded_system + '\n\n' + folded_user %}"
    "{%- else %}{%- set folded_user = [{'type': 'text', 'text': folded_system + '\n\n'}] + folded_user %}{%- endif %}"
    "{%- set messages = [{'role': 'user', 'content': folded_user}] + messages[2:] %}{%- endif %}"
)
_SYSTEM, _USER = "humor tasks asks by system", "humor tasks asks by user"  # texts that no template writes itself


class Form(NamedTuple):
    """What a template takes: whether system text is folded into the user's turn, and content as lists of parts."""

    folded: bool
    parts: bool


_forms: weakref.WeakKeyDictionary[Any, tuple[Any, bool, Form]] = weakref.WeakKeyDictionary()


def fit_template(owner: Any, parts: bool = False) -> Form:
    """What the template of a tokenizer or processor takes, asked once; folding becomes part of its `chat_template`.

    parts: whether content is given as lists of parts; the other kind is taken where the template shows only that.
    """
    template, asked, form = _forms.get(owner, (None, parts, Form(False, parts)))
    if template is None or template != owner.chat_template or asked != parts:
        form = _asked(owner, parts)
        _forms[owner] = owner.chat_template, parts, form
    return form


def is_folding(owner: Any) -> bool:
    """Whether the template folds system text, by `fit_template` now or when the model was trained."""
    return _FOLD in str(_default(owner) or "")


def _default(owner: Any) -> str | None:
    """The template that is applied; None where there is none, or several without a default."""
    template = getattr(owner, "chat_template", None)
    return template.get("default") if isinstance(template, Mapping) else template


def _asked(owner: Any, parts: bool) -> Form:
    template, lost = _default(owner) or "", False
    for folded in (False, True) if template else ():
        for kind in (parts, not parts):
            turns = [{"role": role, "content": shaped(text, kind)} for role, text in _PROBE]
            try:
                shown = _shown(owner, turns, chat_template=_FOLD + template if folded else template)
            except Exception:  # jinja2's errors, and what a template raises itself
                continue
            lost = lost or (not folded and kind == parts and _bare(_USER) not in _bare(shown))
            if (
                _SYSTEM in shown and _USER in shown and "'text'" not in shown
            ):  # else a list is shown as Python writes it
                if folded:
                    _fold(owner, template)
                return Form(folded, kind)
    if lost:  # else the turns' own error says why
        raise BadInput(
            f"the model's chat template leaves out the text of the user's turn. Change the template, {place_of(owner)}."
        )
    return Form(False, parts)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


_PROBE = (("system", _SYSTEM), ("user", _USER))


def _fold(owner: Any, template: str) -> None:
    whole = owner.chat_template
    owner.chat_template = {**whole, "default": _FOLD + template} if isinstance(whole, Mapping) else _FOLD + template
    logger.warning(
        "%s: the chat template has no system turn; the system text begins the first user turn.", place_of(owner)
    )


def shaped(text: str, parts: bool) -> Any:
    """The content of a turn as one text, or as a list with one part."""
    return [{"type": "text", "text": text}] if parts else text


def place_of(owner: Any) -> str:
    """The file of the template in a folder; the model's name for one of the hub."""
    name = str(getattr(getattr(owner, "tokenizer", owner), "name_or_path", "") or "the model")
    files = (Path(name).expanduser() / file for file in ("chat_template.jinja", "tokenizer_config.json"))
    return next((str(file) for file in files if file.is_file()), name)


def _shown(owner: Any, turns: Sequence[Mapping[str, Any]], **how: Any) -> str:
    text: str = owner.apply_chat_template(list(turns), add_generation_prompt=True, tokenize=False, **how)
    return text


def refused(owner: Any, turns: Sequence[Mapping[str, Any]], problem: Exception, remedy: str = "") -> BadInput:
    """The error for turns that a template does not show; remedy: a setting with which none is needed."""
    roles = ", ".join(str(turn["role"]) for turn in turns)
    return BadInput(
        f"the model's chat template cannot show the benchmark's turns ({roles}): {one_line(problem, 200).rstrip('.')}. "
        f"Change the template, {place_of(owner)}{remedy}."
    )


def chat_text(owner: Any, turns: Sequence[Mapping[str, str]]) -> str:
    """The turns (role, text) as the chat template of a tokenizer shows them, up to where the answer begins.

    Raises BadInput for turns that it refuses.
    """
    parts = fit_template(owner).parts
    return shown(owner, [{**turn, "content": shaped(turn["content"], parts)} for turn in turns])


def shown(owner: Any, turns: Sequence[Mapping[str, Any]]) -> str:
    """The turns in the form of `fit_template`, up to where the answer begins. Raises BadInput as `chat_text` does."""
    try:
        return _shown(owner, turns)
    except Exception as problem:  # jinja2's errors, and what a template raises itself
        raise refused(owner, turns, problem) from None

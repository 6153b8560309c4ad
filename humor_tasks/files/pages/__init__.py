"""HTML pages that load nothing, from Jinja2 templates: every text is escaped, made visible, and cut where it is long.

A template is named by its path in the package. `base.html` is the frame of a page, `parts.html` has the macros that
pages share, and `page.css` is their style.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from humor_tasks._version import __version__

PACKAGE = Path(__file__).parents[2]
MOST_OF_A_TEXT = 2000  # characters
MOST_OF_A_NAME = 120
_SEPARATORS = re.compile(r"(?<=[/_=:-])(?=\w)")
# Control characters but tab and line feed, bidirectional and other invisible format characters, and halves of surrogate
# pairs, which UTF-8 does not have. The joiners U+200C and U+200D stay: scripts and emoji are written with them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)

# ---- texts ---------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """The text with each invisible character as its code, such as ‹U+202E›, so that it can neither hide nor reorder."""
    return _INVISIBLE.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text.replace("\r\n", "\n"))


def cut(text: str, most: int) -> str:
    """At most `most` characters of a text; where it is longer, its end is replaced by its length."""
    return text if len(text) <= most else f"{text[:most]}… [cut here; {len(text):,} characters in all]"


def _finalized(value: object) -> object:
    """What a template writes for a value, which Jinja2 then escapes; HTML from macros and filters stays."""
    return value if isinstance(value, Markup) else visible(cut(str(value), MOST_OF_A_TEXT))


def _breakable(name: object) -> list[str]:
    """A name in parts, between which a line may break."""
    return _SEPARATORS.split(visible(cut(str(name), MOST_OF_A_NAME)))


# ---- data and scripts ----------------------------------------------------------------------------


def packed(value: Any) -> str:
    """JSON, compressed, in base64."""
    return base64.b64encode(gzip.compress(_as_json(value).encode("utf-8", "replace"), 6, mtime=0)).decode()


def json_in_html(value: Any) -> Markup:
    """JSON for a script element, which no text in it can end."""
    return Markup(_as_json(value).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def script_in_html(source: str) -> Markup:
    """A script for a script element: escaped where HTML would take it for markup, which only strings hold."""
    return Markup(source.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _source_hash(script: Markup) -> str:
    """The script's entry in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


# ---- templates -----------------------------------------------------------------------------------

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(PACKAGE),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_finalized,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.globals["version"] = __version__
_ENVIRONMENT.filters |= {
    "as_is": escape,  # escaped, but neither cut nor made visible
    "breakable": _breakable,
    "cut": cut,
    "json": json_in_html,
    "source_hash": _source_hash,
}


def render(template: str, **data: Any) -> str:
    """The page of a template with this data. `scripts` of `base.html` are results of `script_in_html`."""
    return _ENVIRONMENT.get_template(template).render(data)


def style() -> str:
    """The style sheet of pages."""
    return (PACKAGE / "files/pages/page.css").read_text(encoding="utf-8")


def fragment(template: str, macro: str, *values: Any) -> str:
    """The HTML of one macro of a template."""
    return str(getattr(_ENVIRONMENT.get_template(template).module, macro)(*values))

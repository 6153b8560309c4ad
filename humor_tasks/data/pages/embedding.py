"""Data and scripts inside an HTML page, safe whatever they hold."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from typing import Any


def json_block(identity: str, value: Any) -> str:
    """A block of JSON that no text in it can end."""
    text = _as_json(value).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json" id="{identity}">{text}</script>'


def packed(value: Any) -> str:
    """JSON, compressed, in base64."""
    return base64.b64encode(gzip.compress(_as_json(value).encode("utf-8", "replace"), 6, mtime=0)).decode()


def block(identity: str, data: str) -> str:
    """A block of base64."""
    return f'<script type="text/plain" id="{identity}">{data}</script>'


def script(source: str) -> str:
    """A script that runs. Its text is escaped where HTML would take it for markup, which only strings hold."""
    safe = source.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f'<script type="module">{safe}</script>'


def policy(scripts: list[str]) -> str:
    """The content security policy: these scripts run, and nothing is loaded from anywhere."""
    hashes = " ".join(f"'sha256-{_digest(each)}'" for each in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(tag: str) -> str:
    inside = tag.partition(">")[2].removesuffix("</script>")
    return base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

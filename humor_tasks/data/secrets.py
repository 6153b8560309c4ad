"""What no log, cache key or command may show: values under the names of secrets, and credentials in addresses."""

from __future__ import annotations

import re

SECRET = re.compile(r"key|token(?!iz|s\b)|secret|passw|passphrase|pwd|credential|auth|bearer|cookie", re.I)
"""Names of arguments that suggest a secret."""


def without_credentials(text: str) -> str:
    """The text without user names and passwords in its URLs."""
    return re.sub(r"(?<=://)[^/@\s]+@", "", text)

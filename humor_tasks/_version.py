"""The version of this package; `pyproject.toml` and `register/release.py` read it here."""

__version__ = "0.2.0"

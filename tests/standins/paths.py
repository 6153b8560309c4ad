"""Where the repository's own files lie, for tests in any room."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
GOLDEN = TESTS / "golden"

"""What the caption contest's leaderboard takes: one letter for every instance."""

from __future__ import annotations

from collections.abc import Mapping

from humor_tasks.errors import BadInput, listed
from humor_tasks.scorers.guess import seeded_guess


def complete(
    answers: Mapping[str, str | None], letters: str, fill: str | None, seed: int, where: str
) -> dict[str, str]:
    """`answers` with every gap filled as `fill` says: one of `letters`, `random`, or None to refuse gaps.

    The leaderboard's own script would count a gap as E (matching) or B (ranking).
    """
    if letters not in ("ABCDE", "AB"):
        raise BadInput(f"{where}: a submission needs a log of matching (five choices) or ranking (two).")
    if fill is not None and fill not in (*letters, "random"):
        raise BadInput(f"--fill {fill}: choose random or one of {', '.join(letters)}.")
    gaps = [identity for identity, letter in answers.items() if not letter]
    if gaps and fill is None:
        raise BadInput(f"{where}: {listed('instance', gaps)} without an answer; choose --fill random or --fill LETTER.")

    def filled(identity: str) -> str:
        return seeded_guess(seed, identity, letters) if fill == "random" else str(fill)

    return {identity: letter or filled(identity) for identity, letter in answers.items()}

"""What the caption contest's leaderboard takes: one letter for every instance."""

from __future__ import annotations

from collections.abc import Mapping

from humor_tasks.errors import BadInput
from humor_tasks.files import listed
from humor_tasks.scorers.guess import seeded_guess

# Instances on the leaderboard (its own count), by the letters an instance has.
LEADERBOARD = {"ABCDE": 830, "AB": 664}


def complete(answers: Mapping[str, str | None], fill: str | None, seed: int, where: str) -> dict[str, str]:
    """`answers` with every gap filled as `fill` says: a letter, `random`, or None to refuse gaps.

    The leaderboard's own script would count a gap as E (matching) or B (ranking).
    """
    given = {letter for letter in answers.values() if letter}
    letters = "AB" if given <= set("AB") else "ABCDE"
    if not given <= set(letters):
        raise BadInput(
            f"{where}: {', '.join(sorted(given))[:80]} are no letters; a submission needs matching or ranking."
        )
    gaps = [identity for identity, letter in answers.items() if not letter]
    if gaps and fill is None:
        raise BadInput(f"{where}: {listed('instance', gaps)} without an answer; choose --fill random or --fill LETTER.")
    if fill is not None and fill not in (*letters, "random"):
        raise BadInput(f"--fill {fill}: choose random or one of {', '.join(letters)}.")

    def filled(identity: str) -> str:
        return seeded_guess(seed, identity, letters) if fill == "random" else str(fill)

    return {identity: letter or filled(identity) for identity, letter in answers.items()}

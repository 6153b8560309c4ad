"""What Chain-of-Task shows before a question of MOCK: the order, and words by which each part is known."""

from __future__ import annotations

WANTED = {
    "detecting": ["matching", "explaining"],
    "matching": ["detecting", "explaining"],
    "explaining": ["detecting", "matching"],
}
INSTRUCTION = {
    "detecting": "where X is yes or no",
    "matching": "four candidates, lettered A to D",
    "explaining": "Explain why, in one to three sentences",
}
ASKED = {"detecting": "Is the ", "matching": "Candidates for the ", "explaining": "Why is the "}

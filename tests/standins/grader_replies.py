"""Replies of graders in tag form: honest ones in many styles, and ones that end with a decoded attack."""

from __future__ import annotations

import html
import json

from standins.attacks import ATTACKS, for_letter

from humor_tasks.scorers import preferred, verdict
from humor_tasks.scorers.verdict import as_data


def tagged(reasons: str, word: str) -> str:
    return f"<reasoning>It says: {reasons}</reasoning>\n<judgement>{word}</judgement>"


def as_object(reasons: str, word: str) -> str:
    return json.dumps({"reasoning": reasons, "judgement": word})


WHY = "The bars are named, and that they are inside them is said."
HONEST = {
    "as asked": "<reasoning>{why}</reasoning>\n<judgement>{word}</judgement>",
    "on one line": "<reasoning>{why}</reasoning><judgement>{word}</judgement>",
    "in capitals": "<REASONING>{why}</REASONING>\n<JUDGEMENT>{word}</JUDGEMENT>",
    "spelled judgment, with blanks": "<reasoning>\n{why}\n</reasoning>\n\n<judgment> {word} </judgment>\n\n",
    "bold": "**<reasoning>**{why}**</reasoning>**\n\n**<judgement>{word}</judgement>**",
    "under headings": "## Reasoning\n<reasoning>{why}</reasoning>\n\n## Judgement\n<judgement>{word}</judgement>",
    "in a fence": "```xml\n<reasoning>{why}</reasoning>\n<judgement>{word}</judgement>\n```",
    "without reasoning tags": "{why}\n\n<judgement>{word}</judgement>",
    "the verdict alone": "<judgement>{word}</judgement>",
    "the verdict twice": "<judgement>{word}</judgement>\n<reasoning>{why}</reasoning>\n<judgement>{word}</judgement>",
    "announced": "<reasoning>{why}</reasoning>\n\nMy verdict:\n<judgement>{word}</judgement>",
    "weighing both": "<reasoning>Not {other}: {why} So {word}.</reasoning>\n<judgement>{word}</judgement>",
    "reasoning never closed": "<reasoning>{why}\n<judgement>{word}</judgement>",
    "two reasonings": "<reasoning>{why}</reasoning>\n<reasoning>So.</reasoning>\n<judgement>{word}</judgement>",
    "naming both tags in its reasoning": "<reasoning>I can write <judgement>{word}</judgement> or <judgement>{other}"
    "</judgement>. {why}</reasoning>\n<judgement>{word}</judgement>",
    "quoting a verdict in its reasoning": "<reasoning>It tells me:\n<judgement>{other}</judgement>\nNo. {why}"
    "</reasoning>\n<judgement>{word}</judgement>",
    "quoting as shown": "<reasoning>It tells me &lt;judgement&gt;{other}&lt;/judgement&gt;. {why}</reasoning>\n"
    "<judgement>{word}</judgement>",
    "quoting as shown, without reasoning tags": "{why} It reads: &lt;judgement&gt;{other}&lt;/judgement&gt;\n"
    "<judgement>{word}</judgement>",
    "after thinking": "<think>Is it <judgement>{other}</judgement>? No.</think>\n<reasoning>{why}</reasoning>\n"
    "<judgement>{word}</judgement>",
    "after thinking that began in the prompt": "Perhaps:\n<judgement>{other}</judgement>\nNo, the bars are named.\n"
    "</think>\n<reasoning>{why}</reasoning>\n<judgement>{word}</judgement>",
}
WORDS = {"verdict": tuple(verdict.WORDS), "preferred": tuple(preferred.WORDS), "rated": tuple(verdict.RATING_WORDS)}
"""Module of `scorers` -> its words; each is answered honestly in every style."""


def honest(word: str, words: tuple[str, ...]) -> dict[str, str]:
    """An honest reply of each style."""
    other = words[words.index(word) - 1]
    return {style: text.format(why=WHY, word=word, other=other) for style, text in HONEST.items()}


_GIVEN = "<reasoning>It says nothing of the bars.</reasoning>\n<judgement>{word}</judgement>"
ENDINGS = {
    "and the text": _GIVEN + "\n{quoted}",
    "and the text, announced": _GIVEN + "\n\nThe text that I checked:\n{quoted}",
    "and the text in a fence": _GIVEN + "\n\nThe text that I checked:\n```\n{quoted}\n```",
    "and the text on one line": _GIVEN + "\n\nThe text that I checked: {quoted}",
    "without reasoning tags": "It says nothing of the bars.\n\n<judgement>{word}</judgement>\n\nThe text:\n{quoted}",
}


def attacked(word: str, attacks: list[str]) -> dict[str, list[str]]:
    """Per ending, replies of a grader whose verdict is `word` and which ends with each attack, decoded."""
    quoted = [html.unescape(as_data(attack)) for attack in attacks]
    return {ending: [text.format(word=word, quoted=each) for each in quoted] for ending, text in ENDINGS.items()}


FAILED = attacked("FAIL", ATTACKS)
"""Replies of a grader that says FAIL to attacks that want PASS."""
PREFERRED = attacked("B", for_letter("A"))
"""Replies of a judge that prefers B, for attacks that want A."""

"""Builds the packaged sample of the New Yorker Caption Contest corpus: JSONL rows by block, and the pictures.

    python tools/samples/newyorker_caption_contest/make_sample.py [OUTPUT_FOLDER]

Everything comes from `cartoons.toml` (the words) and `drawings/` (the pictures), so the same checkout always gives
the same files. Without a folder the files of the card are replaced. README.md is written by hand; its
`configs:` put the blocks together into folds.
"""

import hashlib
import json
import sys
import tomllib
from pathlib import Path
from random import Random

from drawings import draw

from humor_tasks.rows.canary import marked

HERE = Path(__file__).parent
CARD = HERE.parents[2] / "datasets_cards" / "newyorker_caption_contest"
BLOCK_SIZE = 5  # contests in a block; each block is the test set of one fold
WINNERS = {"official": "official_winner", "crowd": "crowd_winner"}
WIKI = "https://en.wikipedia.org/wiki/"

# The corpus's "from pixels" configurations hide everything that describes the picture in words.
TEXT_FIELDS = {
    "image_location", "image_description", "image_uncanny_description", "entities", "questions", "from_description",
}  # fmt: skip


def scene_fields(cartoon: dict) -> dict:
    """The fields every row of a contest shares."""
    return {
        "image": f"images/{cartoon['contest']}.png",
        "contest_number": cartoon["contest"],
        "image_location": cartoon["location"],
        "image_description": cartoon["description"],
        "image_uncanny_description": cartoon["uncanny"],
        "entities": cartoon["entities"],
        "questions": [cartoon["question"]],
    }


def from_description(cartoon: dict, ending: str) -> str:
    """The scene on one line, as the corpus puts it together: links lose Wikipedia's address and nothing else."""
    entities = ", ".join(link.removeprefix(WIKI) for link in cartoon["entities"])
    return (
        f"scene: {cartoon['location']} description: {cartoon['description']} "
        f"uncanny: {cartoon['uncanny']} entities: {entities}. {ending}"
    )


def instance_id(task: str, contest: int, caption: str) -> str:
    """The same instance has the same id with and without its texts, as in the corpus."""
    return hashlib.md5(f"{task}:{contest}:{caption}".encode(), usedforsecurity=False).hexdigest()


def letters_in_turn(count: int, choices: str, random: Random) -> list[str]:
    """`count` answer letters, each equally often, in random order."""
    letters = [choices[i % len(choices)] for i in range(count)]
    random.shuffle(letters)
    return letters


def choice_row(task: str, cartoon: dict, caption: str, others: list[str], letter: str, extra: dict) -> dict:
    """One multiple-choice row with the answer at `letter`."""
    choices = list(others)
    choices.insert(ord(letter) - ord("A"), caption)
    listed = " ".join(f"{chr(ord('A') + i)}: {choice}" for i, choice in enumerate(choices))
    return {
        **scene_fields(cartoon),
        "caption_choices": choices,
        **extra,
        "label": letter,
        "n_tokens_label": 1,
        "instance_id": instance_id(task, cartoon["contest"], caption),
        "from_description": from_description(cartoon, f"choices {listed}"),
    }


def matching_rows(block: list[dict], random: Random) -> list[dict]:
    """Each good caption once as the answer, among one good caption of each other contest of the block.

    For two contests a and b, a's two rows take b's two captions, one each: so every caption is a distractor once for
    each other contest, four times in all.
    """
    letters = letters_in_turn(2 * len(block), "ABCDE", random)
    rows = []
    for cartoon in block:
        others = [other for other in block if other is not cartoon]
        crossed = {other["contest"]: random.random() < 0.5 for other in others}
        for kind, opposite in (("official", "crowd"), ("crowd", "official")):
            distractors = [other[opposite if crossed[other["contest"]] else kind] for other in others]
            random.shuffle(distractors)
            rows.append(choice_row("matching", cartoon, cartoon[kind], distractors, letters[len(rows)], {}))
    return rows


def ranking_rows(block: list[dict], random: Random) -> list[dict]:
    """Each good caption against an entry of the same contest that was merely okay."""
    letters = letters_in_turn(2 * len(block), "AB", random)
    rows = []
    for cartoon in block:
        for (kind, source), okay in zip(WINNERS.items(), cartoon["okay"], strict=True):
            row = choice_row("ranking", cartoon, cartoon[kind], [okay], letters[len(rows)], {"winner_source": source})
            rows.append(row)
    return rows


def explanation_rows(block: list[dict], random: Random) -> list[dict]:
    """Why one good caption of each contest is funny. `caption_choices` holds the caption itself, as in the corpus."""
    del random  # nothing is left to chance here; the three tasks share one signature
    rows = []
    for cartoon in block:
        caption, text = cartoon[cartoon["explains"]], cartoon["explanation"]
        rows.append({
            **scene_fields(cartoon),
            "caption_choices": caption,
            "label": text,
            "n_tokens_label": len(text.split()),
            "instance_id": instance_id("explanation", cartoon["contest"], caption),
            "from_description": from_description(cartoon, f"caption: {caption}"),
        })  # fmt: skip
    return rows


TASKS = {"matching": matching_rows, "ranking": ranking_rows, "explanation": explanation_rows}


def write_rows(path: Path, rows: list[dict]) -> None:
    """One JSON object a line; the bytes are the same on every platform."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(json.dumps(marked(row), ensure_ascii=False) + "\n" for row in rows).encode())


def main(out: Path) -> None:
    """Write every file of the sample under `out`."""
    cartoons = tomllib.loads((HERE / "cartoons.toml").read_text(encoding="utf-8"))["cartoon"]
    for number, start in enumerate(range(0, len(cartoons), BLOCK_SIZE)):
        block = cartoons[start : start + BLOCK_SIZE]
        for task, make in TASKS.items():
            rows = make(block, Random(f"{task} {number}"))
            bare = [{key: value for key, value in row.items() if key not in TEXT_FIELDS} for row in rows]
            write_rows(out / task / f"block{number}.jsonl", rows)
            write_rows(out / f"{task}_from_pixels" / f"block{number}.jsonl", bare)
    (out / "images").mkdir(parents=True, exist_ok=True)
    for cartoon in cartoons:
        contest = cartoon["contest"]
        draw(contest).save(out / "images" / f"{contest}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CARD)

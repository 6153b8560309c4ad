"""Builds the packaged sample of the caption contest's crowd ratings: `ranking/` and `gpt4o_description/`.

    python tools/samples/newyorker_caption_ranking/make_sample.py [OUTPUT_FOLDER]

The captions are in `captions_a.toml` and `captions_b.toml`, the scenes in `cartoons.toml` of the card
newyorker_caption_contest. Votes are drawn with the contest's number as seed, from sums and products alone, so the same
checkout gives the same bytes on every platform. Without a folder the files of the card are replaced. README.md
is written by hand.
"""

import csv
import io
import json
import math
import sys
import tomllib
from pathlib import Path
from random import Random
from urllib.parse import unquote

from humor_tasks.rows.canary import marked

HERE = Path(__file__).parent
CARD = HERE.parents[2] / "datasets_cards" / "newyorker_caption_ranking"
CARTOONS = HERE.parent / "newyorker_caption_contest" / "cartoons.toml"
SPLITS = {"train": range(9001, 9010), "validation": range(9010, 9018), "test": range(9018, 9026)}
COLUMNS = (
    "contest_number", "rank", "caption", "mean", "precision", "votes", "not_funny", "somewhat_funny", "funny",
)  # fmt: skip
BANDS = {
    "top": (range(10), 0.88, 0.21, 5300),
    "r200": (range(200, 210), 0.45, 0.008, 300),
    "median": (range(745, 755), 0.33, 0.006, 170),
    "r1000": (range(1000, 1010), 0.28, 0.006, 140),
    "last": (range(1499, 1500), 0.0, 0.0, 125),
}
"""Of each band of a contest with 1,500 entries: ranks, mean rating above 1, half the range of the means, votes."""


def rated(contest: dict) -> list[tuple[int, str, int, int, int]]:
    """(rank, caption, not funny, somewhat funny, funny) of a contest's captions, in the order of rank.

    A vote for somewhat funny is one point above 1, one for funny two. The share of the points that funny votes give is
    that of the real data, 40 to 62 %.
    """
    random = Random(f"crowd {contest['number']}")
    level = random.uniform(0.85, 1.15)  # some contests are funnier than others
    rows: list[tuple[int, str, int, int, int]] = []
    best = (2, 1)  # points, votes of the caption before, which is at least as funny
    for band, (ranks, centre, spread, typical) in BANDS.items():
        captions = [contest[band]] if band == "last" else contest[band]
        targets = sorted((level * random.uniform(centre - spread, centre + spread) for _ in ranks), reverse=True)
        for i, (rank, caption, target) in enumerate(zip(ranks, captions, targets, strict=True)):
            # The bandit that chose what to show spent most votes on the captions that led.
            lead = 1.8 - 1.4 * i / 9 if band == "top" else 1.0
            votes = round(typical * lead * random.uniform(0.93, 1.07))
            points = min(round(target * votes), best[0] * votes // best[1])
            funny = round(points / 2 * random.uniform(0.4, 0.62))
            somewhat = points - 2 * funny
            rows.append((rank, caption, votes - somewhat - funny, somewhat, funny))
            best = points, votes
    return rows


def cells(number: int, rank: int, caption: str, not_funny: int, somewhat: int, funny: int) -> tuple:
    """A row of the CSV file. precision is one standard error: sqrt(max(1, SS) / (v (v - 1))) of v votes."""
    votes = not_funny + somewhat + funny
    total, squares = not_funny + 2 * somewhat + 3 * funny, not_funny + 4 * somewhat + 9 * funny
    deviations = (votes * squares - total**2) / votes
    precision = math.sqrt(max(1.0, deviations) / (votes * (votes - 1)))
    return number, rank, caption, total / votes, precision, votes, not_funny, somewhat, funny


def entity(link: str) -> str:
    """The name of an entity from its Wikipedia link, without section and disambiguation."""
    title = link.partition("title=")[2] or link.rpartition("/wiki/")[2]
    return unquote(title.partition("#")[0].partition("&")[0].partition("_(")[0]).replace("_", " ")


def description(cartoon: dict) -> dict:
    """A row of the descriptions."""
    return {
        "contest_number": cartoon["contest"],
        "location": cartoon["location"],
        "canny": cartoon["description"],
        "uncanny": cartoon["uncanny"],
        "entities": [entity(link) for link in cartoon["entities"]],
    }


def write(path: Path, text: str) -> None:
    """Write a file; the bytes are the same on every platform."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def main(out: Path) -> None:
    """Write every file of the sample under `out`."""
    sources = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("captions_*.toml"))]
    contests = {contest["number"]: contest for source in sources for contest in source["contest"]}
    scenes = tomllib.loads(CARTOONS.read_text(encoding="utf-8"))["cartoon"]
    cartoons = {cartoon["contest"]: cartoon for cartoon in scenes}
    for split, numbers in SPLITS.items():
        kept = [number for number in numbers if number in contests]
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(cells(number, *row) for number in kept for row in rated(contests[number]))
        write(out / "ranking" / f"{split}.csv", table.getvalue())
        lines = [json.dumps(marked(description(cartoons[number])), ensure_ascii=False) + "\n" for number in kept]
        write(out / "gpt4o_description" / f"{split}.jsonl", "".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CARD)

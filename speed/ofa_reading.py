"""OFA's log-likelihoods of five letters, and its descriptions, beside the work that they need: processor time.

    python speed/ofa_reading.py [--size base] [--image 384] [--rows 4]

Letters: a question about each picture, and the log-likelihoods of five letters, over encoding questions and pictures
once. Describe: four questions about each picture, over one pass of the backbone, one encoding of the four questions and
four answers. Pictures are decoded in both. On a GPU seconds are those of the clock.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from clip_workload import pictures
from ofa_workload import QUESTION, checkpoint, describer

from humor_tasks.models.ofa import Describer, GenerationSettings
from humor_tasks.models.ofa.describe import Features
from humor_tasks.models.ofa.generation import generate
from humor_tasks.models.pictures import decoded, stacked, to_device
from humor_tasks.rows.descriptions import QUESTIONS

LETTERS = [f" {letter}" for letter in "ABCDE"]
TOKENS = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="base")
    parser.add_argument("--image", type=int, default=384)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = describer(checkpoint(Path(folder), given.size), given.image, given.device, batch=4 * given.rows)
    model.ofa.network.requires_grad_(False)
    shown = pictures(given.rows)
    print(f"{given.size}, {given.image} x {given.image}, {given.rows} pictures, {model.ofa.dtype}, {model.ofa.device}")

    def letters() -> None:
        many = [picture for picture in shown for _ in LETTERS]
        fresh(model).loglikelihoods(many, [QUESTION] * len(many), LETTERS * len(shown))

    def one_encoding() -> None:
        encoded(model, shown, [QUESTION] * len(shown), range(len(shown)))

    compare("five letters", letters, "one encoding", one_encoding, 1.3, given.repeats)
    # The end is barred until all tokens are there, so that both write the same.
    how = GenerationSettings(max_len=TOKENS - 1, min_len=TOKENS - 1)
    many = [picture for picture in shown for _ in QUESTIONS]
    asked = [*QUESTIONS.values()] * len(shown)

    def describe() -> None:
        fresh(model).answers(many, asked, how)

    def needed() -> None:
        owners = [i for i in range(len(shown)) for _ in QUESTIONS]
        with torch.inference_mode():
            generate(model.ofa.network, encoded(model, shown, asked, owners), how)

    compare("describe", describe, "its necessary work", needed, 1.1, given.repeats)


def fresh(model: Describer) -> Describer:
    """The same model without features of earlier calls."""
    model.features = Features(model.ofa, model.pixels)
    return model


def encoded(model: Describer, shown: Any, asked: list[str], owners: Any) -> Any:
    """One pass of the backbone over the pictures, and one of the encoder over the questions."""
    batch = stacked(decoded(shown, model.pixels, [""] * len(shown), 1), pinned=False)
    images = model.pixels.normalised(to_device(batch, model.ofa.device), model.ofa.dtype)
    ids = model.tokenizer.pad([model.tokens(question, "") for question in asked]).to(model.ofa.device)
    with torch.inference_mode():
        features = model.ofa.network.encoder.features(images)
        return model.ofa.network.encoder(ids, features=features, owners=torch.tensor(list(owners)).to(model.ofa.device))


def compare(
    what: str, whole: Callable[[], Any], part_name: str, part: Callable[[], Any], goal: float, repeats: int
) -> None:
    found = {}
    for name, work in ((part_name, part), (what, whole)) * repeats:
        found[name] = min(seconds(work), found.get(name, float("inf")))
    print(
        f"{what}: {found[what]:.2f} s; {part_name}: {found[part_name]:.2f} s; "
        f"{found[what] / found[part_name]:.2f} times (goal: at most {goal})"
    )


def seconds(work: Callable[[], Any]) -> float:
    cuda = torch.cuda.is_available()
    clock = time.perf_counter if cuda else time.process_time
    if cuda:
        torch.cuda.synchronize()
    start = clock()
    work()
    if cuda:
        torch.cuda.synchronize()
    return clock() - start


if __name__ == "__main__":
    main()

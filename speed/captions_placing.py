"""crowd_rank: placing captions among all rated captions of their contests by embedding and by a quality model.

`python speed/captions_placing.py --dataset FOLDER --quality FOLDER written.csv` prints seconds, memory, and the
number of texts that were embedded beside that of distinct ones. `--contests 536-560` takes fewer. Without files, the
best ten captions of the contest before are placed; without --quality, that model is left out.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus_workload import minilm

from humor_tasks.benchmarks.crowd.corpus import Cartoon, CrowdOptions, open_crowd
from humor_tasks.models.choosers.chooser import Chooser
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality.model import QualityChooser
from humor_tasks.studies.captions.files import read_all
from humor_tasks.studies.captions.placing import place, with_human


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--dataset", default="sample")
    parser.add_argument("--split", default="validation")
    parser.add_argument("--contests")
    parser.add_argument("--embedding", default=None)
    parser.add_argument("--quality")
    given = parser.parse_args()
    encoder = given.embedding or minilm()
    cartoons = open_crowd(CrowdOptions(dataset=given.dataset, split=given.split, contests=given.contests)).cartoons
    texts = written(cartoons, given.files)
    rated = sum(len(cartoon.contest.caption) for cartoon in cartoons)
    of = [{*c.contest.caption, *with_human(c, texts)} for c in cartoons]
    distinct = len(set().union(*of, (c.context for c in cartoons)))
    print(f"{len(cartoons)} contests, {rated:,} rated captions, {sum(map(len, texts.values())):,} placed")
    by_embedding = Embedding(encoder, "cpu")
    models: list[tuple[Chooser, Embedding]] = [(by_embedding, by_embedding)]
    if given.quality:
        quality = QualityChooser(given.quality, encoder, "cpu")
        assert quality.quality.embedding is not None
        models.append((quality, quality.quality.embedding))
    for chooser, embedding in models:
        count = counted(embedding)
        before, cpu, clock = memory(), time.process_time(), time.perf_counter()
        done = place(chooser, cartoons, texts)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
        print(f"{chooser.name}: CPU {cpu:.0f} s, {clock:.0f} s, {count[0] / cpu:.0f} texts/s")
        print(f"  memory {before:,} MiB before, {memory():,} MiB at most; Spearman {done.agreement.value:.3f}")
        print(f"  {count[0]:,} texts embedded; {distinct:,} distinct captions and scenes")


def written(cartoons: Sequence[Cartoon], files: Sequence[Path]) -> dict[int, list[str]]:
    """Contest -> captions to place: those of the files, otherwise the best ten of the contest before."""
    found: dict[int, list[str]] = {cartoon.number: [] for cartoon in cartoons}
    for group in read_all(files):
        found.get(group.contest, []).extend(group.captions)
    if not files:
        found = {c.number: cartoons[i - 1].contest.caption[:10] for i, c in enumerate(cartoons)}
    return found


def counted(embedding: Embedding) -> list[int]:
    """The number of texts that reach the network from now on."""
    count, encode = [0], embedding._model.encode

    def counting(texts: Sequence[str], **how: Any) -> Any:
        count[0] += len(texts)
        return encode(texts, **how)

    embedding._model.encode = counting
    return count


def memory() -> int:
    """The most memory held so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()

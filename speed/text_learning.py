"""What a small encoder learns from the caption contest's real rows: rankers and a matching ranker, several seeds each.

    python speed/text_learning.py CORPUS --model MODEL [--seeds 0,1,2] [-o OUTPUT]

CORPUS is a dataset folder with `ranking` (train, validation) and `matching` (validation). Where it has no train split
of `matching`, one is made from the rows of ranking: each better caption with four of other contests.
"""

from __future__ import annotations

import argparse
import random
import warnings
from pathlib import Path
from statistics import fmean, stdev

import pyarrow as pa
import pyarrow.parquet as pq

from humor_tasks.lab.training.text.finetune import train
from humor_tasks.lab.training.text.settings import TextTrainConfig

PUBLISHED = {
    "ranking, caption_only": "caption only (T5-11B): NYAcc 64.5, CrowdAcc 59.4",
    "ranking, description": "T5-Large 64.8, 61.8; T5-11B 65.6, 62.3",
    "matching, description": "T5-Large 59.6, T5-11B 70.8 (trained on matching's own rows)",
}
SHOWN = {"ny_accuracy": "NYAcc", "crowd_accuracy": "CrowdAcc", "accuracy": "accuracy"}


def matching_folder(corpus: Path, output: Path, seed: int = 0) -> Path:
    """A dataset folder with the validation rows of matching, and train rows made from those of ranking."""
    home = output / "matching_rows" / "matching"
    home.mkdir(parents=True, exist_ok=True)
    rows = pq.read_table(corpus / "ranking" / "train.parquet").to_pylist()
    better = [row["caption_choices"]["AB".index(row["label"])] for row in rows]
    contests: dict[int, list[str]] = {}
    for row, caption in zip(rows, better, strict=True):
        if caption not in contests.setdefault(row["contest_number"], []):
            contests[row["contest_number"]].append(caption)
    numbers, generator = sorted(contests), random.Random(seed)
    made = []
    for row, caption in zip(rows, better, strict=True):
        others = generator.sample([number for number in numbers if number != row["contest_number"]], 4)
        choices = [caption, *(generator.choice(contests[number]) for number in others)]
        generator.shuffle(choices)
        label = "ABCDE"[choices.index(caption)]
        kept = {name: value for name, value in row.items() if name not in ("winner_source", "from_description")}
        made.append(kept | {"caption_choices": choices, "label": label})
    pq.write_table(pa.Table.from_pylist(made), home / "train.parquet")
    (home / "validation.parquet").write_bytes((corpus / "matching" / "validation.parquet").read_bytes())
    return home.parent


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("corpus", type=Path)
    asked.add_argument("--model", required=True)
    asked.add_argument("--seeds", default="0,1,2")
    asked.add_argument("--systems", default="ranking:caption_only:cross,ranking:description:bi,matching:description:bi")
    asked.add_argument("--lr", default="5e-5")
    asked.add_argument("--precision", default="no")
    asked.add_argument("-o", "--output", type=Path, default=Path("text_learning"))
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    for system in given.systems.split(","):
        task, setting, encoding = system.split(":")
        own = task == "ranking" or (given.corpus / "matching" / "train.parquet").is_file()
        dataset = given.corpus if own else matching_folder(given.corpus, given.output)
        found: dict[str, list[float]] = {}
        print(f"== {task}, {setting}, {encoding}; published: {PUBLISHED[f'{task}, {setting}']}", flush=True)
        for seed in map(int, given.seeds.split(",")):
            config = TextTrainConfig(
                task,
                given.model,
                dataset=str(dataset),
                setting=setting,
                encoding=encoding,
                evaluate=("validation",),
                lr=tuple(float(rate) for rate in given.lr.split(",")),
                epochs=2,
                validations=6,
                patience=4,
                precision=given.precision,
                seed=seed,
            )
            folder = given.output / f"{task}-{setting}-{encoding}-{given.lr}-{seed}"
            metrics = train(config, folder, progress=False)
            told = [f"seed {seed}: best after {metrics['best_epoch']} of {metrics['epochs_run']} sixths of an epoch"]
            for name, shown in SHOWN.items():
                if name in metrics["validation"]["metrics"]:
                    e = metrics["validation"]["metrics"][name]
                    found.setdefault(shown, []).append(e["value"])
                    told.append(f"{shown} {e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}] (n={e['n']})")
            print(f"{'; '.join(told)}; lr {metrics['lr']}; {metrics['seconds']:.0f} s", flush=True)
        for shown, values in found.items():
            spread = f", standard deviation {stdev(values):.3f}" if len(values) > 1 else ""
            print(f"{shown}: mean of {len(values)} seeds {fmean(values):.3f}{spread}", flush=True)


if __name__ == "__main__":
    main()

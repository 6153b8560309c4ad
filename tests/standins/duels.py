"""An invented benchmark of groups of captions, with a parameter that needs log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.contract.answers import Choice
from humor_tasks.contract.card import Card
from humor_tasks.contract.choice import outcome
from humor_tasks.contract.definition import Benchmark, Data, Options, Run
from humor_tasks.contract.metric import ACCURACY, REPLY_RATES
from humor_tasks.contract.options import parameter
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Grouped, Prompt, Record, Turn

NAME = "duels"
SCENES = (
    "A lighthouse sits on a couch. A doctor takes notes.",
    "Two snails race past a parked sports car.",
    "A knight queues at a cheese counter.",
    "A whale waits in a lift with an office crowd.",
)
_GROUPS = (
    ("You never switch off, do you?\nI see.\nNotes, please.", "Lie down.\nSo it blinks at night.\nA doctor, a couch"),
    ("Slow down!\nWe had a head start.\nIt is a rental", "At least the snails park well\n\nVroom"),
    ("One sword's length of brie.\nNext!", "My horse had the last one.\nI queued for the grail for less, knight"),
    ("Going down.\nWhich floor is the sea?\nWhale, hello there", "Not again\nWide load\nAfter you\nEveryone out"),
)
GROUPS = tuple(tuple(tuple(group.split("\n")) for group in groups) for groups in _GROUPS)
"""For each scene, two groups of captions: of different sizes, one with an empty caption."""


@dataclass(frozen=True)
class DuelsOptions(Options):
    """Parameters of the duels."""

    dataset: str = parameter("sample", "None but the sample.")
    combine: Literal["mean", "max"] = parameter("mean", "How single captions' scores combine.")
    setting: Literal["words", "pixels"] = parameter("words", "Whether the scene is in words or a picture.")
    tau: str = parameter("none", "Threshold of the log-odds, or `none`.")

    @property
    def needs_logprobs(self) -> str:
        """With a threshold."""
        return "" if self.tau == "none" else f"tau={self.tau}"

    def scoring(self) -> dict[str, Any]:
        """Also what needs log-probabilities."""
        return super().scoring() | {"tau": self.tau}


def load(benchmark: Benchmark, options: Options) -> Data:
    """One record per scene."""
    o = cast(DuelsOptions, options)
    records = [
        Record(
            id=f"duel-{i}",
            cluster=str(i),
            fields={},
            context="" if o.setting == "pixels" else scene,
            choices=("\n".join(groups[0]), "\n".join(groups[1])),
            target="AB"[i % 2],
            groups={},
            picture=picture(i) if o.setting == "pixels" else None,
            grouped=Grouped(groups, o.combine),
        )
        for i, (scene, groups) in enumerate(zip(SCENES, GROUPS, strict=True))
    ]
    source = {"dataset": o.dataset, "revision": None, "rows": len(records), "fingerprint": "0" * 64}
    return Data(tuple(records), source)


def picture(i: int) -> Picture:
    """A drawing."""
    from standins.tiny_clip import drawing, encoded

    return Picture(f"drawing {i}", None, lambda: encoded(drawing(i)))


def prompt(run: Run, record: Record) -> Prompt:
    """The scene and both groups, which are no lettered lines."""
    text = f"{record.context}\n\nGroup A\n{record.choices[0]}\n\nGroup B\n{record.choices[1]}\n\nWhich is funnier?"
    return Prompt((Turn("user", text, record.picture),))


DUELS = Benchmark(
    name=NAME,
    card=Card(title="Duels of groups of captions"),
    version="1-A",
    answer=Choice("AB"),
    metrics=(ACCURACY, *REPLY_RATES),
    options=DuelsOptions,
    templates=(),
    load=load,
    prompt=prompt,
    outcome=outcome,
    letter_metrics=frozenset({"logprobs", "scores"}),
)


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, benchmark: Benchmark = DUELS) -> Path:
    """Make the benchmark known; returns the folder of its lm-eval tasks `duels` and `duels_gen`."""
    monkeypatch.setitem(BENCHMARKS, NAME, benchmark)
    find_benchmark.cache_clear()
    kinds: Mapping[str, str] = {NAME: "multiple_choice", f"{NAME}_gen": "generate_until"}
    for task, output in kinds.items():
        (folder / f"{task}.yaml").write_text(
            f"task: {task}\nclass: !function humor_tasks.on_lm_eval.task.BenchmarkTask\n"
            f"benchmark: {NAME}\noutput_type: {output}\n"
        )
    return folder

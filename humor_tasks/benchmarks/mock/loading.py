"""Reading of a MOCK folder: what it holds of a split is evaluated, and what it lacks is left out and told.

No public source has cartoons that are not humorous, and few folders have pictures, clips or descriptions for every row.
With several scenes, those without rows in the split are left out. Rows without what `input` shows are left out, too.
Where nothing remains, the error names parameters that read something from the same folder.

Of comedy, MUStARD has clips and no explanations, and WITS explanations and no public clips. Where clips are shown and
no explained line of the train split has those that are needed, worked samples of Chain-of-Task are of all its rows: a
row without a clip is shown by its dialogue.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

from humor_tasks.benchmarks.mock import corpus
from humor_tasks.benchmarks.mock.corpus import CARD, CHOICES, EVERY, NEEDS, SCENES, MockOptions
from humor_tasks.contract.definition import Benchmark, Data
from humor_tasks.contract.options import Split
from humor_tasks.contract.shots import by_cluster
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.rows import Absent, Rows, open_rows, provenance_of, skipped_in
from humor_tasks.rows.media.checking import check_rows
from humor_tasks.rows.records import Record

DIFFERENCES = (
    "MOCK's corpus is not public, so that no row of its Table 2 is computed; `humor-tasks reproduce` scores the "
    "predictions or the log of who has it.",
    "Of the models of Table 2, those that need code of their own do not load (CogVLM2, GLM-4V-9B, Video-ChatGPT, "
    "Valley2, VideoLLaMA2, VideoChat2); `image_text/MODEL` takes those that transformers has.",
)
"""What all sub-tasks do otherwise than the paper."""

CLIPS_OR_EXPLANATIONS = (
    "MUStARD has clips without explanations, and WITS explanations without public clips: with input=media or frames "
    "there are detecting and matching, also with chain_of_task, which then shows WITS by its dialogues; explaining has "
    "input=description. With clips of WITS of your own (build mock --wits-clips), all three have all inputs."
)
"""Which scenes of comedy, inputs and Chain-of-Task can exist together."""
IN_LM_EVAL = "in lm-eval, tasks ending in _pixels have input=media, and the others input=description"


@dataclass(frozen=True)
class Part:
    """The rows of one scene; by place, the records of those that `input` can show, and the ids of the others."""

    rows: Rows
    records: dict[int, Record]
    left_out: dict[int, str]


def load(benchmark: Benchmark[MockOptions], o: MockOptions) -> Data:
    """The records of one or several scenes; each scene and sub-task has a pool of training records."""
    task = benchmark.name.removeprefix("mock_")
    if not o.dataset:
        raise BadInput(
            "dataset: run `humor-tasks build mock ... -o mock`, which builds the corpus from its public sources "
            "(docs/mock.md), and then this command with `-T dataset=mock` (in lm-eval, `--metadata dataset=mock`). "
            "`dataset=sample` shows packaged, invented rows instead. MOCK's corpus is not public."
        )
    parts: dict[str, Part] = {}
    absent: dict[str, Absent] = {}
    for scene in CHOICES[o.scene]:
        try:
            parts[scene] = read(task, o, scene, o.split)
        except Absent as problem:
            absent[scene] = problem
    if not any(part.records for part in parts.values()):
        raise BadInput(_nothing(task, o, parts, absent))
    left_out: dict[str, Any] = dict.fromkeys(absent, EVERY)
    left_out |= {scene: len(part.left_out) for scene, part in parts.items() if part.left_out}
    if left_out:
        evaluated = ", ".join(f"{len(part.records):,} of {scene}" for scene, part in parts.items() if part.records)
        warnings.warn(
            f"{benchmark.name}: {_lacks(task, o, parts, absent)} Left out. Evaluated: {evaluated}.", stacklevel=2
        )
    records: dict[str, tuple[Record, str]] = {}
    for part in parts.values():
        for i, record in part.records.items():
            first, place = records.setdefault(record.id, (record, part.rows.where(i)))
            if first is not record:
                raise BadInput(f"{part.rows.where(i)}: id {record.id} is also that of {place}.")
    read_rows = [part.rows for part in parts.values()]
    provenance = provenance_of(read_rows, o.dataset, o.split, o.revision, len(records))
    facts = {"left_out": left_out} if left_out else {}
    dropped = frozenset(identity for part in parts.values() for identity in part.left_out.values())
    found = tuple(replace(record, facts=facts) for record, _ in records.values())
    return Data(found, provenance | facts, pools(task, o), dropped | skipped_in(read_rows))


def pools(task: str, o: MockOptions) -> Callable[[str, str], Mapping[str, Sequence[Record]]]:
    """A function that returns the training records of a scene and sub-task by medium; each is read once, on demand.

    task: the sub-task that is asked, before which the records are shown.
    """

    @cache
    def pool(scene: str, shown: str) -> Mapping[str, Sequence[Record]]:
        try:
            part = read(shown, o, scene, "train", every=shown != task and every_row(scene))
        except Absent as problem:
            hint = f" {CLIPS_OR_EXPLANATIONS}" if scene == "comedy" and o.chain_of_task else ""
            raise BadInput(
                f"{problem} Worked examples come from the train split: leave out shots (lm-eval: --num_fewshot) and "
                f"chain_of_task, or choose another scene.{hint}"
            ) from None
        return by_cluster(list(part.records.values()))

    @cache
    def every_row(scene: str) -> bool:
        """Whether worked samples of a scene are of all rows, because clips are shown and no explained line has one."""
        if scene != "comedy" or not o.chain_of_task or o.input == "description" or task == "explaining":
            return False
        worked = ("explaining", "matching") if task == "detecting" else ("explaining",)
        media = [{r.cluster for r in read(other, o, scene, "train").records.values()} for other in worked]
        if set.intersection(*media):
            return False
        warnings.warn(
            "chain_of_task: no explained row of comedy has a clip; worked samples without one show their dialogue.",
            stacklevel=2,
        )
        return True

    return pool


def read(task: str, o: MockOptions, scene: str, split: str, every: bool = False) -> Part:
    """The rows of one scene, sub-task and split. Raises Absent where the folder has none.

    every: whether rows without what `input` shows are records, too.
    """
    said = "dialogue" if scene == "comedy" else "caption"
    columns = ["id", "scene", "media_id", said, *NEEDS[task]] + ["description"] * (o.input == "description")
    rows = open_rows(
        o.dataset,
        hub=None,
        cards=Path(folder(CARD)),
        config=f"{scene}_{task}",
        split=split,
        columns=columns,
        pictures=o.input != "description",
        media="media",
        nulls=True,
        revision=o.revision,
        on_bad_picture=o.on_bad_picture,
        clips=scene == "comedy",
    )
    part = Part(rows, {}, {})
    for i, row in enumerate(rows.rows):
        if every or can_show(o.input, row, scene):
            part.records[i] = corpus.record(task, o, row, scene, rows.where(i))
        else:
            part.left_out[i] = str(row["id"])
    return part


def can_show(shown: str, row: Mapping[str, Any], scene: str) -> bool:
    """Whether a row has what an `input` shows: its picture or clip, or a description (of comedy, the dialogue)."""
    if shown == "description":
        return scene == "comedy" or bool(row.get("description"))
    return bool(row.get("media"))


# ---- what is left out, in words -----------------------------------------------------------------


def _lacks(task: str, o: MockOptions, parts: Mapping[str, Part], absent: Mapping[str, Absent]) -> str:
    """A sentence for each scene that is not there, and for each with rows that cannot be shown."""
    what = "description" if o.input == "description" else "picture or clip"
    missing = [f"{scene}: there is no {scene}_{task}/{o.split}." for scene in absent]
    short = [
        f"{scene}: {len(part.left_out):,} of {len(part.rows.rows):,} rows have no {what}, such as "
        f"{part.rows.where(next(iter(part.left_out)))}."
        for scene, part in parts.items()
        if part.left_out
    ]
    return " ".join([*missing, *short])


def _nothing(task: str, o: MockOptions, parts: Mapping[str, Part], absent: Mapping[str, Absent]) -> str:
    """The error where no row can be evaluated, with parameters that read rows of the same folder."""
    asked = f"dataset={o.dataset}, split={o.split}, scene={o.scene}, input={o.input}"
    single = not parts and len(absent) == 1
    reason = str(*absent.values()) if single else f"{asked}: nothing to evaluate. {_lacks(task, o, parts, absent)}"
    if task == "explaining" and "comedy" in parts and o.input != "description":
        reason += f" {CLIPS_OR_EXPLANATIONS}"
    readable = _readable(task, o)
    if readable:
        return f"{reason} What can be read: {'; '.join(readable)} ({IN_LM_EVAL})."
    if not parts:
        return reason
    return (
        f"{reason} Build the folder again with pictures (`--more-images`, `--cai-images`, `--mustard-clips`, "
        "`--wits-clips`) or with `--descriptions FILE`, a JSON object {media_id: text}."
    )


def _readable(task: str, o: MockOptions) -> list[str]:
    """The splits, scenes and inputs of a local folder that have rows: those of the requested split, else all."""
    if o.dataset != "sample" and not Path(o.dataset).expanduser().is_dir():
        return []  # a hub dataset, which this would download
    splits: dict[str, list[str]] = {}
    for split in dict.fromkeys([o.split, *get_args(Split)]):
        for scene in SCENES:
            for shown in ("description", "media"):
                try:
                    part = read(task, replace(o, input=shown), scene, split)
                    check_rows([record.media for record in part.records.values()], scene, len(part.rows.rows))
                except BadInput:
                    continue
                if part.records:
                    splits.setdefault(split, []).append(f"split={split} scene={scene} input={shown}")
    return splits.get(o.split) or [name for every in splits.values() for name in every]

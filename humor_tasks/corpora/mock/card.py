"""The card of a built MOCK folder: its rows, what was left out, and what the sources do not record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humor_tasks._version import __version__
from humor_tasks.benchmarks.mock.corpus import PUBLISHED
from humor_tasks.corpora.mock.items import SPLITS
from humor_tasks.corpora.mock.tables import OWN
from humor_tasks.corpora.options.shortcuts import section

if TYPE_CHECKING:
    from humor_tasks.corpora.mock.items import Built

LICENCES = {
    "New Yorker": "annotations and explanations CC BY 4.0; cartoons belong to their artists",
    "Cai et al. 2019": "none stated; posts and pictures belong to their authors",
    "MORE": "MIT; posts and pictures belong to their authors",
    "MUStARD": "MIT; dialogues and clips belong to the producers of the series",
    "WITS": "none stated; dialogues belong to the producers of the series",
    **{name: "your own copy; pictures and captions belong to their authors" for name, _ in OWN.values()},
}
"""Source -> licence as stated in its publication."""
_UNKNOWN = """\
## What the sources do not record, and what was done instead

- How MOCK made its distractors. Published: two by models, one from an unrelated item, weaker human-written ones in
  15 % of the items. Here all three are lines of other items of the same source and script. Four items of similar length
  share their four lines, each the answer of one, so that the options alone give nothing away. Lines that fit what the
  other items show are put together. `humor-tasks build options` makes the published kind.
- Which items MOCK uses for matching. Here: those that are humorous or sarcastic.
- Where MOCK's cartoons that are not humorous come from, and its comedy beyond MUStARD and WITS. They are missing here,
  except for cartoons of yours with the label no.
- How MOCK split sources without splits. Here 80:10:10, seeded, by footage: MUStARD's dialogues that share an utterance
  of five words or more are in the same split.
- Which part of a clip MOCK shows. Here: for detecting the utterance in question, for matching what was said before it.
- MORE and Cai et al. use the same tweets with different splits. A picture that is in two splits is kept in the later
  one (train < validation < test).
"""


def card(built: Built) -> str:
    """The folder's README.md, with the front matter that `datasets` reads."""
    configs = []
    for scene, subtask in dict.fromkeys((scene, subtask) for scene, subtask, _ in sorted(built.rows)):
        configs += [f"- config_name: {scene}_{subtask}", "  data_files:"]
        splits = [split for split in ("train", "validation", "test") if (scene, subtask, split) in built.rows]
        configs += [f"  - {{split: {split}, path: {scene}_{subtask}/{split}.jsonl}}" for split in splits]
    header = ["---", "license: other", "configs:", *configs, "---"]
    title = ["", "# MOCK, built from public sources", ""]
    about = [
        f"Built by `humor-tasks build mock` {__version__} with seed {built.seed}. Rows belong to their sources, whose "
        "licences differ; check them before you redistribute anything:",
        "",
        *(f"- {source.name}: {LICENCES[source.name]}." for source in built.sources),
        "",
    ]
    parts = ["## Sizes", "", sizes(built), "", kept(built), "", section(built.shortcuts), "", _UNKNOWN]
    return "\n".join([*header, *title, *about, *parts])


def sizes(built: Built) -> str:
    """A table of the number of rows of every cell, with MOCK's in parentheses."""
    lines = ["| scene, sub-task | " + " | ".join(f"{split} (MOCK)" for split in SPLITS) + " |", "|---|---|---|---|"]
    for scene, subtasks in PUBLISHED.items():
        for subtask, published in subtasks.items():
            cells = [
                f"{built.size(scene, subtask, split):,} ({size:,})"
                for split, size in zip(SPLITS, published, strict=True)
            ]
            lines.append(f"| {scene}, {subtask} | {' | '.join(cells)} |")
    return "\n".join(lines)


def kept(built: Built) -> str:
    """The number of rows read and kept per source, and the reasons for leaving rows out."""
    lines = ["## Kept and left out", ""]
    for source in built.sources:
        lines.append(f"- {source.name}: {len(source.items):,} of {source.rows:,} rows kept.")
        lines += [f"  Left out: {count:,}, {reason}." for reason, count in source.dropped.items() if count]
        lines += [f"  {note}" for note in source.notes]
    for (scene, subtask, reason), count in sorted(built.left_out.items()):
        lines.append(f"- {scene}, {subtask}: left out {count:,}, {reason}.")
    if built.without_media:
        lines.append(f"- {built.without_media:,} rows have no picture or clip: use input=description.")
    if built.unseen:
        lines.append(
            f"- {built.unseen:,} of them have no description either, so nothing shows them: name their pictures "
            "(--more-images, --cai-images), or describe them (--descriptions)."
        )
    return "\n".join(lines)

"""The card of a built MOCK folder: what is in it, what was left out, what nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humor_tasks import __version__
from humor_tasks.studies.corpus.mock_items import PUBLISHED, SPLITS

if TYPE_CHECKING:
    from humor_tasks.studies.corpus.mock_items import Built

LICENCES = {
    "New Yorker": "annotations and explanations CC BY 4.0; cartoons belong to their artists",
    "Cai et al. 2019": "none stated; posts and pictures belong to who posted them",
    "MORE": "MIT; posts and pictures belong to who posted them",
    "MUStARD": "MIT; dialogues and clips belong to the series' makers",
    "WITS": "none stated; dialogues belong to the series' makers",
}
"""Source -> its licence as it is stated where it is published."""
_UNKNOWN = """\
## What the sources do not say, and what was done instead

- How MOCK made its options. Published: two by models, one of an unrelated item, weaker ones by people in 15 % of the
  items. Here all three are lines of other items; `humor-tasks build options` makes the published kind.
- Which items MOCK matches. Here: those that are humorous or sarcastic.
- Where MOCK's cartoons that are not humorous come from, and its comedy beyond MUStARD and WITS. They are not here.
- How MOCK split what has no splits. Here 80:10:10, seeded, by footage: dialogues of MUStARD that share an utterance of
  five words or more are one.
- Which part of a clip MOCK shows. Here: for detecting what is asked about, for matching what was said before it.
- MORE and Cai et al. are of the same tweets and were split apart from each other. A picture that stands in two splits
  is kept in the one that is held out further.
"""


def card(built: Built) -> str:
    """README.md of the folder, whose front matter `datasets` reads."""
    configs = []
    for scene, subtask in dict.fromkeys((scene, subtask) for scene, subtask, _ in sorted(built.rows)):
        configs += [f"- config_name: {scene}_{subtask}", "  data_files:"]
        splits = [split for split in ("train", "validation", "test") if (scene, subtask, split) in built.rows]
        configs += [f"  - {{split: {split}, path: {scene}_{subtask}/{split}.jsonl}}" for split in splits]
    header = ["---", "license: other", "configs:", *configs, "---"]
    title = ["", "# MOCK, built of public sources", ""]
    about = [
        f"Built by `humor-tasks build mock` {__version__} with seed {built.seed}. Rows belong to their sources, whose "
        "licences differ, and are not to be passed on without looking there:",
        "",
        *(f"- {source.name}: {LICENCES[source.name]}." for source in built.sources),
        "",
    ]
    return "\n".join([*header, *title, *about, "## Sizes", "", sizes(built), "", kept(built), "", _UNKNOWN])


def sizes(built: Built) -> str:
    """Rows of every cell beside MOCK's."""
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
    """Rows read and kept of every source, and every reason for which others were not."""
    lines = ["## Kept and left out", ""]
    for source in built.sources:
        lines.append(f"- {source.name}: {len(source.items):,} of {source.rows:,} rows kept.")
        lines += [f"  Left out: {count:,}, {reason}." for reason, count in source.dropped.items()]
    for (scene, subtask, reason), count in sorted(built.left_out.items()):
        lines.append(f"- {scene}, {subtask}: left out {count:,}, {reason}.")
    if built.without_media:
        lines.append(f"- {built.without_media:,} rows have no picture or clip: use input=description.")
    return "\n".join(lines)

"""How `inspect view` lists the samples of a task.

Inspect's list of samples has fixed columns, and none for a sample's metadata. `input` begins with the instructions,
which are the same in every row, so it is hidden until a reader chooses it; target, answer and scores tell the rows
apart.
"""

from __future__ import annotations

from collections.abc import Collection

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

SHOWN = ("sampleStatus", "sampleId", "target", "answer")
HIDDEN = ("input", "tokens", "duration")
LONGEST_WORD = 20  # characters of a target that is a letter, a number or a word
LABELS = {"element_coverage": "covered"}
"""Scorer -> the heading of its column, where it differs from the name."""
RANGES = {"element_coverage": (0, 1), "reference_overlap": (0, 1), "story_ratings": (1, 5)}
"""Scorer -> the lowest and the highest score, of those where a higher score is better."""


def viewer_of(targets: Collection[str]) -> ViewerConfig:
    """The columns of a task's samples: id, target, answer, and then the scores.

    targets: those of all samples. A target that all have in common is hidden. Rows have several lines where targets are
    texts, and where there are none, because answers are texts then.
    """
    differ, longest = len(set(targets)) > 1, max(map(len, targets), default=0)
    shown = [TaskSamplesColumn(id=name, visible=differ or name != "target") for name in SHOWN]
    view = TaskSamplesView(
        name="humor_tasks",
        columns=shown + [TaskSamplesColumn(id=name, visible=False) for name in HIDDEN],
        multiline=not 0 < longest <= LONGEST_WORD,
        score_labels=LABELS,
        score_color_scales={
            name: ScoreColorScale(palette="good-high", min=low, max=high) for name, (low, high) in RANGES.items()
        },
    )
    return ViewerConfig(task_samples_view=view)

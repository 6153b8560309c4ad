"""How `inspect view` lists the samples of a task.

Inspect's list of samples has fixed columns, and none for a sample's metadata. `input` begins with the instructions,
which are the same in every row, so it is hidden until a reader chooses it; target, answer and scores tell the rows
apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from humor_tasks.contract.card import Column

SHOWN = ("sampleStatus", "sampleId", "target", "answer")
HIDDEN = ("input", "tokens", "duration")
LONGEST_WORD = 20  # characters of a target that is a letter, a number or a word


def viewer_of(targets: Collection[str], scored: Sequence[Column] = ()) -> ViewerConfig:
    """The columns of a task's samples: id, target, answer, and then the scores.

    targets: those of all samples. A target that all have in common is hidden. Rows have several lines where targets are
    texts, and where there are none, because answers are texts then. scored: the columns of the benchmark's scorers.
    """
    differ, longest = len(set(targets)) > 1, max(map(len, targets), default=0)
    columns = [TaskSamplesColumn(id=name, visible=differ or name != "target") for name in SHOWN]
    view = TaskSamplesView(
        name="humor_tasks",
        columns=columns + [TaskSamplesColumn(id=name, visible=False) for name in HIDDEN],
        multiline=not 0 < longest <= LONGEST_WORD,
        score_labels={column.scorer: column.heading for column in scored if column.heading},
        score_color_scales={
            column.scorer: ScoreColorScale(palette="good-high", min=column.scale[0], max=column.scale[1])
            for column in scored
            if column.scale
        },
    )
    return ViewerConfig(task_samples_view=view)

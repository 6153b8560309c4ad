"""How `inspect view` lists the samples of a task.

Inspect's list of samples has fixed columns, and none for a sample's metadata. `input` begins with the instructions,
which are the same in every row, so it is hidden until a reader chooses it; target, answer and scores tell the rows
apart.
"""

from __future__ import annotations

from inspect_ai.viewer import ScoreColorScale, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from humor_tasks.benchmarks.answers import AnswerForm, Rating

SHOWN = ("sampleStatus", "sampleId", "target", "answer")
HIDDEN = ("input", "tokens", "duration")
LABELS = {"element_coverage": "covered", "explanation_form": "words"}
"""Scorer -> the heading of its column, where a task has several."""
RANGES = {"element_coverage": (0, 1), "reference_overlap": (0, 1), "story_ratings": (1, 5)}
"""Scorer -> the lowest and the highest score, of those where a higher score is better."""


def viewer_of(form: AnswerForm, targets: bool) -> ViewerConfig:
    """The columns of a task's samples: id, target, answer, and then the scores. Rows of texts have several lines.

    targets: whether any sample has a target.
    """
    shown = [TaskSamplesColumn(id=name, visible=targets or name != "target") for name in SHOWN]
    view = TaskSamplesView(
        name="humor_tasks",
        columns=shown + [TaskSamplesColumn(id=name, visible=False) for name in HIDDEN],
        multiline=not (form.labels or isinstance(form, Rating)),
        score_labels=LABELS,
        score_color_scales={
            name: ScoreColorScale(palette="good-high", min=low, max=high) for name, (low, high) in RANGES.items()
        },
    )
    return ViewerConfig(task_samples_view=view)

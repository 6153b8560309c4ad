"""The comparison of explanations, or stories, as an Inspect task."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.benchmarks.caption_contest.corpus import HUB, Fold
from humor_tasks.benchmarks.mock.corpus import Scene
from humor_tasks.benchmarks.options import Split
from humor_tasks.benchmarks.preference import Of, Order, Setting
from humor_tasks.benchmarks.systems import HUMAN
from humor_tasks.on_inspect.judging.preference import left_to_judges, preference
from humor_tasks.on_inspect.tasks.building import build

__all__ = ["explanation_preference"]


@task
def explanation_preference(
    system: str = "",
    against: str = HUMAN,
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    of: Of = "explanation",
    scene: Scene = "all",
    order: Order = "both",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    structured: bool = False,
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
) -> Task:
    """Which of two explanations judges prefer (Hessel et al., ACL 2023, Table 3; MOCK's EXPAcc).

    Name the judge: `--model-role grader=openai/gpt-4o`, or several for a panel. No other model is asked.

    Args:
        system: Whose explanations: an Inspect log, lm-eval's samples, {instance_id: text} as JSON, or `human`.
        against: The other side's, named in the same way; `human`: the references.
        dataset: Hub id of the corpus, a dataset folder, one in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates the five and reports their unweighted mean, as published.
        setting: What judges see: `description`, `pixels` (pictures, whole clips), `caption_only`; of MOCK also
            `frames`.
        of: Whose explanations are compared: of the contest or of MOCK; or stories (`mock_generation`).
        scene: Of MOCK: which scenes.
        order: `both` asks twice, `random` once in an order drawn with `seed`, `fixed` shows the system first.
        prompts: Folder whose `prefer.txt` and `verdict.*.txt` replace the packaged templates.
        on_unparsed: An empty explanation loses against another (`wrong`) or leaves the pairs (`exclude`).
        structured: Ask judges for a JSON verdict by the provider's structured output.
        temperature: Temperature of judges whose own configuration sets none; `none` leaves it to the provider.
        seed: Seed of the orders drawn, and of judges.
        cache: Keep every verdict in Inspect's model cache and never pay for it twice.
        retries: How often an unreadable verdict is asked for again, each time with the next seed.
    """
    built = build("explanation_preference", locals(), graded_by=lambda how: [preference(**how)], asks=False)
    built.solver = left_to_judges()
    return built

"""The comparison of explanations, or stories, as an Inspect task."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.benchmarks.caption_contest.corpus import HUB, Fold
from humor_tasks.benchmarks.mock.corpus import Scene
from humor_tasks.benchmarks.options import OnBadPicture, Split
from humor_tasks.benchmarks.preference import Of, Order, Setting
from humor_tasks.benchmarks.systems import HUMAN
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
    on_bad_picture: OnBadPicture = "stop",
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
    shard: str | None = None,
) -> Task:
    """Which of two explanations judges prefer (Hessel et al., ACL 2023, Table 3; MOCK's EXPAcc).

    Give the judge with `--model-role grader=openai/gpt-4o`; several models form a panel. No other model is called.

    Args:
        system: Explanations to evaluate: an Inspect log, lm-eval's samples, {instance_id: text} as JSON, or `human`.
        against: Explanations to compare with, named in the same way; `human`: the references.
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: What judges see: `description`, `pixels` (pictures, whole clips), `caption_only`; for MOCK also
            `frames`.
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        of: Benchmark of the compared texts: explanations of the contest or of MOCK, or stories (`mock_generation`).
        scene: For MOCK: scenes to evaluate.
        order: `both` judges each pair in both orders, `random` in one, drawn by `seed`; `fixed`: the system first.
        prompts: Folder whose `prefer.txt` and `verdict.*.txt` replace the packaged templates.
        on_unparsed: An empty explanation loses against a non-empty one (`wrong`), or its pair is left out (`exclude`).
        structured: Request a JSON verdict through the provider's structured output.
        temperature: Temperature of judges whose configuration does not set one; `none`: the provider's default.
        seed: Seed of random orders and of the judges.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("explanation_preference", locals())

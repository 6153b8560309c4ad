"""Inspect tasks of Hessel et al., ACL 2023, arXiv 2209.06293. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["explanation_preference"]


@task
def explanation_preference(
    system: str = "",
    against: str = "human",
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    scene: Literal["all", "stills", "cartoon", "post", "comedy"] = "all",
    setting: Literal["description", "pixels", "caption_only", "frames"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["both", "random", "fixed"] = "both",
    thinking: str | None = None,
    budget: int | str | None = None,
    of: Literal["explanation", "mock_explaining", "mock_generation"] = "explanation",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    structured: bool = False,
    judge_first: Literal["none", "commit"] = "none",
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
    shard: str | None = None,
) -> Task:
    """Explanation preference: which of two explanations of a joke is better, as judged by grader models (Hessel et al.,
    ACL 2023, arXiv 2209.06293, Table 3, by people; MOCK's EXPAcc is by a judge model)?

    Give the grader with `--model-role grader=openai/gpt-4o`; several models form a panel. No other model is called.

    Args:
        system: Explanations to evaluate: an Inspect log, lm-eval's samples, {instance_id: text} as JSON, or `human`.
        against: Explanations to compare with, named in the same way; `human`: the references.
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        scene: For MOCK: scenes to evaluate.
        setting: What judges see: `description`, `pixels` (pictures, whole clips), `caption_only`; for MOCK also
            `frames`.
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: `both` judges each pair in both orders, `random` in one, drawn by `seed`; `fixed`: the system first.
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        of: Benchmark of the compared texts: explanations of the contest or of MOCK, or stories (`mock_generation`).
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder whose `prefer.txt` and
            `verdict.*.txt` replace those of set A (docs/wordings.md).
        on_unparsed: An empty explanation loses against a non-empty one (`wrong`), or its pair is left out (`exclude`).
        structured: Request a JSON verdict through the provider's structured output.
        judge_first: What a judge writes before it sees what it judges: nothing (`none`), or its own view of the joke
            (`commit`), in one more request.
        temperature: Temperature of judges whose configuration does not set one; `none`: the provider's default.
        seed: Seed of random orders and of the judges.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("explanation_preference", locals())

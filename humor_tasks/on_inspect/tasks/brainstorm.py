"""Brainstorm as an Inspect task."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks.caption_contest.brainstorm import EXAMPLES, SAMPLING, BrainstormOptions, own
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.on_inspect.outcomes import benchmark_metrics, read_reply, run_of, score_of
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.fields import read_fields


@task
def brainstorm(
    dataset: str = HUB,
    revision: str | None = None,
    split: str = "test",
    fold: int | str = 0,
    setting: str = "description",
    examples: int = EXAMPLES,
    temperature: float | str | None = SAMPLING["temperature"],
    top_p: float | str | None = SAMPLING["top_p"],
    frequency_penalty: float | str | None = SAMPLING["frequency_penalty"],
    presence_penalty: float | str | None = SAMPLING["presence_penalty"],
    prompts: str | None = None,
) -> Task:
    """Concepts, a caption and why it is funny, for each cartoon (Hessel et al., ACL 2023, Appendix G).

    Several captions a cartoon: `--epochs N`. They are ranked by `humor-tasks rank-captions LOG --model MODEL`.

    Args:
        dataset: Hub id of the corpus, a local dataset folder, or `sample` (packaged, invented).
        revision: Branch, tag or commit of a hub dataset.
        split: `test`, `validation` or `train`.
        fold: Cross-validation fold 0..4, or `all`.
        setting: `description` gives scene, unusual part and entities; `pixels` the picture, and asks for them.
        examples: How many of the worked examples are shown.
        temperature: Of the sampling, as published; `none` leaves it to the provider.
        top_p: The same.
        frequency_penalty: The same.
        presence_penalty: The same.
        prompts: Folder whose `brainstorm.*.txt` and `examples.txt` replace the packaged templates.
    """
    parameters: dict[str, Any] = {"dataset": dataset or HUB, "revision": revision, "split": split, "fold": fold}
    parameters |= {"setting": setting, "examples": examples, "prompts": prompts}
    sampling: dict[str, Any] = {"temperature": temperature, "top_p": top_p}
    sampling |= {"frequency_penalty": frequency_penalty, "presence_penalty": presence_penalty}
    built = build("brainstorm", parameters | sampling, [brainstormed()])
    asked = BrainstormOptions(**sampling)  # with none read as it is meant
    built.config = built.config.merge(GenerateConfig(**{name: getattr(asked, name) for name in SAMPLING}))
    return built


@scorer(metrics=[benchmark_metrics("brainstorm")])
def brainstormed() -> Scorer:
    """Whether every line of a brainstorm can be read; the caption is its answer, all lines are in its metadata."""

    async def score(state: TaskState, target: Target) -> Score:
        run = run_of(state.metadata, "brainstorm")
        outcome = read_reply(run, state, target)
        texts = read_fields(state.output.completion, own(run).labels).texts if outcome.answer else {}
        return score_of(outcome, outcome.values["parsed"], texts.get("Explanation"), fields=dict(texts))

    return score

"""The New Yorker Caption Contest as Inspect tasks."""

from __future__ import annotations

from inspect_ai import Task, task

from humor_tasks.benchmarks.caption_contest.brainstorm import EXAMPLES, SAMPLING, Shown
from humor_tasks.benchmarks.caption_contest.corpus import HUB, Fold, Setting
from humor_tasks.benchmarks.options import OnUnparsed, Split
from humor_tasks.on_inspect.scorers import brainstormed
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.answer import Mode

__all__ = ["brainstorm", "explanation", "matching", "ranking"]


@task
def matching(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    shots: int = 0,
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
) -> Task:
    """Which of five captions belongs to a cartoon (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, one in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates the five and reports their unweighted mean, as published.
        setting: Shows the scene in words (`description`), the picture (`pixels`) or neither (`caption_only`).
        shots: Worked examples in the prompt, each from another train contest.
        cot: Reason before answering; by default yes without shots, no with shots.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: How a letter is read: `strict`, or by the rules released with the paper.
        seed: Seed of shots and random guesses.
    """
    return build("matching", locals())


@task
def ranking(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    shots: int = 0,
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
) -> Task:
    """Which of two captions is the funnier (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, one in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates the five and reports their unweighted mean, as published.
        setting: Shows the scene in words (`description`), the picture (`pixels`) or neither (`caption_only`).
        shots: Worked examples in the prompt, each from another train contest.
        cot: Reason before answering; by default yes without shots, no with shots.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: How a letter is read: `strict`, or by the rules released with the paper.
        seed: Seed of shots and random guesses.
    """
    return build("ranking", locals())


@task
def explanation(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    shots: int = 0,
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
) -> Task:
    """Why is a caption funny (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, one in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates the five and reports their unweighted mean, as published.
        setting: Shows the scene in words (`description`), the picture (`pixels`) or neither (`caption_only`).
        shots: Worked examples in the prompt, each from another train contest.
        cot: Reason before answering; by default yes without shots, no with shots.
        prompts: Folder whose template files replace packaged ones of the same name.
        on_unparsed: Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: How a letter is read: `strict`, or by the rules released with the paper.
        seed: Seed of shots and random guesses.
    """
    return build("explanation", locals())


@task
def brainstorm(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Shown = "description",
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
        dataset: Hub id of the corpus, a dataset folder, one in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates the five and reports their unweighted mean, as published.
        setting: Gives scene, unusual part and entities (`description`), or the picture and asks for them too
            (`pixels`).
        examples: How many of the worked examples are shown.
        temperature: Sampling temperature, as published; `none` leaves it to the provider.
        top_p: Nucleus sampling, as published; `none` leaves it to the provider.
        frequency_penalty: Frequency penalty, as published; `none` leaves it to the provider.
        presence_penalty: Presence penalty, as published; `none` leaves it to the provider.
        prompts: Folder whose `brainstorm.*.txt` and `examples.txt` replace the packaged templates.
    """
    return build("brainstorm", locals(), [brainstormed()])

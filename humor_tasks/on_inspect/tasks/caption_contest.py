"""The New Yorker Caption Contest as Inspect tasks."""

from __future__ import annotations

from inspect_ai import Task, task

from humor_tasks.benchmarks.caption_contest.brainstorm import EXAMPLES, SAMPLING, Shown
from humor_tasks.benchmarks.caption_contest.corpus import HUB, Fold, Setting, ShotsOrder
from humor_tasks.benchmarks.options import OnBadPicture, OnUnparsed, Split
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
    on_bad_picture: OnBadPicture = "stop",
    shots: int = 0,
    shots_order: ShotsOrder = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Which of five captions belongs to a cartoon (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("matching", locals())


@task
def ranking(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    on_bad_picture: OnBadPicture = "stop",
    shots: int = 0,
    shots_order: ShotsOrder = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Which of two captions is funnier (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("ranking", locals())


@task
def explanation(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Setting = "description",
    on_bad_picture: OnBadPicture = "stop",
    shots: int = 0,
    shots_order: ShotsOrder = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Mode = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Why is a caption funny (Hessel et al., ACL 2023, arXiv 2209.06293)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("explanation", locals())


@task
def brainstorm(
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "test",
    fold: Fold | int = "0",
    setting: Shown = "description",
    on_bad_picture: OnBadPicture = "stop",
    examples: int = EXAMPLES,
    temperature: float | str | None = SAMPLING["temperature"],
    top_p: float | str | None = SAMPLING["top_p"],
    frequency_penalty: float | str | None = SAMPLING["frequency_penalty"],
    presence_penalty: float | str | None = SAMPLING["presence_penalty"],
    prompts: str | None = None,
    shard: str | None = None,
) -> Task:
    """Concepts, a caption and its explanation for each cartoon (Hessel et al., ACL 2023, Appendix G).

    `--epochs N` gives N captions per cartoon; `humor-tasks rank-captions LOG --model MODEL` ranks them.

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show scene, unusual part and entities as text (`description`), or the picture and also ask for them
            (`pixels`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        examples: Number of worked examples in the prompt.
        temperature: Sampling temperature, by default as published; `none`: the provider's default.
        top_p: Nucleus sampling, by default as published; `none`: the provider's default.
        frequency_penalty: Frequency penalty, by default as published; `none`: the provider's default.
        presence_penalty: Presence penalty, by default as published; `none`: the provider's default.
        prompts: Folder whose `brainstorm.*.txt` and `examples.txt` replace the packaged templates.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("brainstorm", locals(), [brainstormed()])

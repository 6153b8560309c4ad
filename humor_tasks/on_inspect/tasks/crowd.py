"""The crowd benchmark of the New Yorker Caption Contest as Inspect tasks."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.benchmarks.caption_contest import corpus as contest
from humor_tasks.benchmarks.caption_contest.corpus import Setting
from humor_tasks.benchmarks.crowd.corpus import Doubtful
from humor_tasks.benchmarks.crowd.groups import Against, Mode
from humor_tasks.benchmarks.crowd.pairs import Pairs
from humor_tasks.benchmarks.options import OnBadPicture, OnUnparsed
from humor_tasks.data.contests.source import HUB
from humor_tasks.data.contests.splits import Split
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.scorers.answer import Mode as Extraction

__all__ = ["caption_writing", "crowd_groups", "crowd_pairs"]


@task
def crowd_pairs(
    pairs: Pairs = "top_against_1000",
    per_contest: int = 10,
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Doubtful = "keep",
    setting: Setting = "description",
    on_bad_picture: OnBadPicture = "stop",
    shots: int = 0,
    shots_from: str = contest.HUB,
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Extraction = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Which of two captions the crowd found funnier (Zhang et al., NeurIPS 2024, arXiv 2406.10522).

    Args:
        pairs: Pairs: top 10 with #1000-1009 (`top_against_1000`), any that differ by 3 standard errors (`rule`), or
            such pairs of adjacent deciles (`hard`).
        per_contest: Number of pairs drawn from each contest, without repetition.
        dataset: Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        shots: Number of worked examples in the prompt.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of the pairs, of worked examples and of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("crowd_pairs", locals())


@task
def crowd_groups(
    against: Against | int = "1000",
    mode: Mode = "overall",
    tau: str | float = "none",
    fit_contests: int = 50,
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Doubtful = "keep",
    setting: Setting = "description",
    on_bad_picture: OnBadPicture = "stop",
    shots: int = 0,
    shots_from: str = contest.HUB,
    prompts: str | None = None,
    on_unparsed: OnUnparsed = "wrong",
    extraction: Extraction = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Which of two groups of ten captions the crowd found funnier (Zhang et al., NeurIPS 2024, arXiv 2406.10522).

    Args:
        against: Group that the top 10 is compared with: ranks 200-209 (`200`), 1000-1009 (`1000`, published), around
            the `median`, or each of them (`all`).
        mode: `overall`: the funnier group, one letter without reasoning; `best_pick`: the group with the funnier best
            caption, with reasons.
        tau: Threshold of log P(A) - log P(B) for recalibrated answers: a number, `fit` on contests that are not
            evaluated, or `none`. Needs log-probabilities and mode=overall.
        fit_contests: With tau=fit: number of other contests, at most, about which the judge is asked as well.
        dataset: Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        shots: Number of worked examples in the prompt, each of two single captions; 5 as published.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("crowd_groups", locals())


@task
def caption_writing(
    mode: Mode = "overall",
    exam: bool = True,
    tau: str | float = "none",
    dataset: str = HUB,
    revision: str | int | None = None,
    split: Split = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Doubtful = "keep",
    setting: Setting = "description",
    on_bad_picture: OnBadPicture = "stop",
    judge_shots: int = 0,
    shots_from: str = contest.HUB,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
    shard: str | None = None,
) -> Task:
    """Whether judges prefer a model's ten captions to people's (Zhang et al., NeurIPS 2024, arXiv 2406.10522).

    Give the judge with `--model-role grader=openai/gpt-4o`; several models form a panel.

    Args:
        mode: The judges' question: the funnier group (`overall`), or the group with the funnier best caption
            (`best_pick`).
        exam: Also ask the judges which of the top 10 and #1000-1009 is better.
        tau: Threshold of log P(A) - log P(B) for recalibrated verdicts of mode=overall, such as crowd_groups fits; or
            `none`. Needs judges with log-probabilities.
        dataset: Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        judge_shots: Number of worked examples in the judges' prompt; 5 in the paper.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        prompts: Folder of template files, which replace the packaged templates of the same names.
        on_unparsed: A reply without exactly ten captions loses (`wrong`), or is left out (`exclude`).
        temperature: Temperature of judges whose configuration sets none; or `none`.
        seed: Seed of the judges.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("caption_writing", locals())

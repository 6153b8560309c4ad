"""Inspect tasks of Zhang et al., NeurIPS 2024, arXiv 2406.10522. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["caption_writing", "crowd_groups", "crowd_pairs"]


@task
def crowd_pairs(
    pairs: Literal["top_against_1000", "rule", "hard"] = "top_against_1000",
    per_contest: int = 10,
    dataset: str = "yguooo/newyorker_caption_ranking",
    revision: str | int | None = None,
    split: Literal["held_out", "validation", "test", "train", "all"] = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Literal["keep", "skip"] = "keep",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    shots_from: str = "jmhessel/newyorker_caption_contest",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    extraction: Literal["strict", "released_chat", "released_leaderboard"] = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Crowd pairs: which of two captions for one cartoon did the crowd find funnier (Zhang et al., NeurIPS 2024, arXiv
    2406.10522, Tables 2 and 8)?

    Args:
        pairs: Pairs: top 10 with #1000-1009 (`top_against_1000`), any that differ by 3 standard errors (`rule`), or
            such pairs of adjacent deciles (`hard`).
        per_contest: Number of pairs drawn from each contest, without repetition.
        dataset: Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of the pairs, of worked examples and of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("crowd_pairs", locals())


@task
def crowd_groups(
    against: Literal["1000", "200", "median", "all"] | int = "1000",
    mode: Literal["overall", "best_pick"] = "overall",
    tau: str | float = "none",
    fit_contests: int = 50,
    dataset: str = "yguooo/newyorker_caption_ranking",
    revision: str | int | None = None,
    split: Literal["held_out", "validation", "test", "train", "all"] = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Literal["keep", "skip"] = "keep",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    shots_from: str = "jmhessel/newyorker_caption_contest",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    extraction: Literal["strict", "released_chat", "released_leaderboard"] = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Crowd groups: which of two groups of ten captions for one cartoon did the crowd find funnier (Zhang et al.,
    NeurIPS 2024, arXiv 2406.10522, Table 2)?

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
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each of two single captions; 5 as published.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("crowd_groups", locals())


@task
def caption_writing(
    mode: Literal["overall", "best_pick"] = "overall",
    exam: bool = True,
    tau: str | float = "none",
    dataset: str = "yguooo/newyorker_caption_ranking",
    revision: str | int | None = None,
    split: Literal["held_out", "validation", "test", "train", "all"] = "held_out",
    contests: str | int | None = None,
    annotations: str | None = None,
    images: str | None = None,
    doubtful: Literal["keep", "skip"] = "keep",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    judge_shots: int = 0,
    shots_from: str = "jmhessel/newyorker_caption_contest",
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude"] = "wrong",
    temperature: float | str | None = 0.0,
    seed: int = 1234,
    cache: bool = True,
    retries: int = 0,
    shard: str | None = None,
) -> Task:
    """Caption writing: can a model write captions that beat people's (Zhang et al., NeurIPS 2024, arXiv 2406.10522,
    Tables 3, 4 and 6)?

    Give the grader with `--model-role grader=openai/gpt-4o`; several models form a panel.

    Args:
        mode: The judges' question: the funnier group (`overall`), or the group with the funnier best caption
            (`best_pick`).
        exam: Also ask the judges which of the top 10 and #1000-1009 is better.
        tau: Threshold of log P(A) - log P(B) for recalibrated verdicts of mode=overall, such as crowd_groups fits; or
            `none`. Needs judges with log-probabilities.
        dataset: Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others
            (`train`), or `all`.
        contests: Only these contests of the split: numbers and ranges, such as 536,600-610.
        annotations: File of descriptions in the form of the public annotations, in the place of the dataset's own.
        images: Folder of pictures, NUMBER.jpg, in the place of the dataset's own.
        doubtful: Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`).
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        judge_shots: Number of worked examples in the judges' prompt; 5 in the paper.
        shots_from: Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged
            ones.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: A reply without exactly ten captions loses (`wrong`), or is left out (`exclude`).
        temperature: Temperature of judges whose configuration sets none; or `none`.
        seed: Seed of the judges.
        cache: Keep verdicts in Inspect's model cache, so that none is paid for twice.
        retries: Number of retries for an unreadable verdict, each with the next seed.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("caption_writing", locals())

"""Inspect tasks of Hessel et al., ACL 2023, arXiv 2209.06293. Written by tools/generate.py."""

from __future__ import annotations

from typing import Literal

from inspect_ai import Task, task

from humor_tasks.on_inspect.tasks.late import build

__all__ = ["brainstorm", "explanation", "matching", "ranking", "recitation"]


@task
def matching(
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    shots_order: Literal["seeded", "released"] = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    extraction: Literal["strict", "released_chat", "released_leaderboard"] = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Matching: which of five captions was entered for this cartoon (Hessel et al., ACL 2023, arXiv 2209.06293, section
    2)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("matching", locals())


@task
def ranking(
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    shots_order: Literal["seeded", "released"] = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    extraction: Literal["strict", "released_chat", "released_leaderboard"] = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Ranking: which of two captions for one cartoon was rated funnier (Hessel et al., ACL 2023, arXiv 2209.06293,
    section 2)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("ranking", locals())


@task
def explanation(
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    setting: Literal["description", "pixels", "caption_only"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    shots: int = 0,
    shots_order: Literal["seeded", "released"] = "seeded",
    cot: bool | None = None,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    extraction: Literal["strict", "released_chat", "released_leaderboard"] = "strict",
    seed: int = 1234,
    shard: str | None = None,
) -> Task:
    """Explanation: why are the caption and the cartoon funny together (Hessel et al., ACL 2023, arXiv 2209.06293,
    section 2)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show the scene as text (`description`), the picture (`pixels`) or neither (`caption_only`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        shots: Number of worked examples in the prompt, each from a different contest of the train split.
        shots_order: Sampling of worked examples: for each row alone, by `seed` (`seeded`), or by the released script's
            random stream over the whole split (`released`, docs/shots.md).
        cot: Ask for reasoning before the answer; by default only without worked examples.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        extraction: Rule for reading the letter in a reply: `strict`, or the rules released with the paper.
        seed: Seed of worked examples and random guesses.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("explanation", locals())


@task
def brainstorm(
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    setting: Literal["description", "pixels"] = "description",
    on_bad_picture: Literal["stop", "skip"] = "stop",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    unconditional: bool = False,
    examples: int = 9,
    prompts: str | None = None,
    temperature: float | str | None = 0.8,
    top_p: float | str | None = 0.9,
    frequency_penalty: float | str | None = 0.2,
    presence_penalty: float | str | None = 0.05,
    shard: str | None = None,
) -> Task:
    """Brainstorm: can a model list concepts for a cartoon, choose among them, and write a caption (Hessel et al., ACL
    2023, arXiv 2209.06293, Appendix G)?

    `--epochs N` gives N captions per cartoon; `humor-tasks captions rank LOG --model MODEL` ranks them.

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        setting: Show place, scene, unusual part and entities as text (`description`), or the picture and also ask for
            them (`pixels`).
        on_bad_picture: Pictures and clips are checked before the first request: a missing, damaged or too large one
            ends the run (`stop`), or its rows are left out and counted (`skip`).
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        unconditional: Show no cartoon: the model invents one and its caption, once an epoch. No rows are read.
        examples: Number of worked examples in the prompt.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder whose `brainstorm.*.txt`,
            `examples.txt` and `labels.txt` replace those of set A (docs/wordings.md).
        temperature: Sampling temperature, by default as published; `none`: the provider's default.
        top_p: Nucleus sampling, by default as published; `none`: the provider's default.
        frequency_penalty: Frequency penalty, by default as published; `none`: the provider's default.
        presence_penalty: Presence penalty, by default as published; `none`: the provider's default.
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("brainstorm", locals())


@task
def recitation(
    dataset: str = "jmhessel/newyorker_caption_contest",
    revision: str | int | None = None,
    split: Literal["train", "validation", "test"] = "test",
    fold: Literal["0", "1", "2", "3", "4", "all"] | int = "0",
    order: Literal["as_given", "rotated"] = "as_given",
    thinking: str | None = None,
    budget: int | str | None = None,
    least_words: int = 8,
    prompts: str | None = None,
    on_unparsed: Literal["wrong", "exclude", "random"] = "wrong",
    shard: str | None = None,
) -> Task:
    """Recitation: does a model complete captions of the corpus word for word (Golchin and Surdeanu, ICLR 2024, arXiv
    2308.08493, guided instruction)?

    Args:
        dataset: Hub id of the corpus, a dataset folder, a folder in the leaderboard's format, or `sample` (packaged,
            invented).
        revision: Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.
        split: Split to evaluate.
        fold: Cross-validation fold; `all` evaluates all five and reports their unweighted mean, as published.
        order: Order of the choices: as the data has it, or every item once for each rotation of its letters
            (`rotated`).
        thinking: Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated
            by commas.
        budget: Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).
        least_words: Captions of fewer words are left out: what is missing of them can be guessed.
        prompts: Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace
            those of set A (docs/wordings.md).
        on_unparsed: Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`).
        shard: Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).
    """
    return build("recitation", locals())

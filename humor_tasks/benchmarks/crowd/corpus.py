"""Shared code of the crowd benchmarks: parameters, contests with the crowd's ratings, and what is left out of them.

Zhang et al., NeurIPS 2024, arXiv 2406.10522. Corpus: yguooo/newyorker_caption_ranking.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, Literal

from humor_tasks.benchmarks.caption_contest import corpus as contest_corpus
from humor_tasks.benchmarks.caption_contest import rows as contest_rows
from humor_tasks.benchmarks.caption_contest.corpus import NyccOptions
from humor_tasks.benchmarks.caption_contest.ranking import RANKING
from humor_tasks.benchmarks.caption_contest.rows import entity_name, scene_context
from humor_tasks.contract.card import Card, Source
from humor_tasks.contract.options import Options, absent, parameter
from humor_tasks.contract.shots import by_cluster
from humor_tasks.errors import BadInput, listed
from humor_tasks.papers import papers
from humor_tasks.rows import pins
from humor_tasks.rows.contests.annotations import Scene
from humor_tasks.rows.contests.contest_csv import Contest, Defect
from humor_tasks.rows.contests.source import HELD_OUT, HUB, TEST, VALIDATION, Contests, Split, numbers, open_contests
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Record

SAMPLING = "judges with temperature 0, as lm-eval's tasks; in Inspect `--temperature 0`."
card = partial(
    Card,
    paper=papers.CROWD,
    source=Source(
        HUB,
        pins.about(HUB),
        licence="CC BY-NC 4.0; its ratings are published as CC BY 4.0 by the NEXT project. Cartoons belong to their "
        "artists.",
        rows="91 held-out contests.",
    ),
    splits={"held_out": len(HELD_OUT), "validation": len(VALIDATION), "test": len(TEST), "train": 271, "all": 362},
    counted="contests of the release",
    dates="Contests 530 to 895, of about July 2016 to May 2024; those held out are 536 to 761, until about June 2021.",
    needs="hub",
)
"""The card of a benchmark of this corpus, with what all of them share."""
Doubtful = Literal["keep", "skip"]
GROUP_SIZE = 10
WITH_GROUPS = 1010
"""Entries of a contest that has all groups by rank."""
TOP = "top10"
RANKS: dict[str, Callable[[int], int]] = {
    TOP: lambda entries: 0,
    "rank200": lambda entries: 200,
    "rank1000": lambda entries: 1000,
    "median": lambda entries: entries // 2 - 5,
}
"""Group -> its first rank, from 0, in a contest with that many entries."""
HUMAN_GROUPS = tuple(RANKS)
LM_EVAL_SETTINGS = {"": {}, "_pixels": {"setting": "pixels"}}
"""What the tasks in lm-eval fix, by the ends of their names."""


@dataclass(frozen=True)
class CrowdOptions(NyccOptions):
    """Parameters of the crowd benchmarks."""

    scored = Options.scored

    dataset: str = parameter(
        HUB,
        "Hub id of the corpus, a folder with the contests' ratings (docs/crowd.md), or `sample` (packaged, invented).",
    )
    split: Split = parameter(  # type: ignore[assignment]
        "held_out",
        "Contests to evaluate: the paper's 91 (`held_out`), its 44 in `validation` or 47 in `test`, all others "
        "(`train`), or `all`.",
    )
    contests: str | None = parameter(
        None, "Only these contests of the split: numbers and ranges, such as 536,600-610.", also=int
    )
    annotations: str | None = parameter(
        None, "File of descriptions in the form of the public annotations, in the place of the dataset's own."
    )
    images: str | None = parameter(None, "Folder of pictures, NUMBER.jpg, in the place of the dataset's own.")
    doubtful: Doubtful = parameter(
        "keep", "Contests with thin votes or broken scoring are evaluated and named (`keep`), or left out (`skip`)."
    )
    shots: int = parameter(0, "Number of worked examples in the prompt.", least=0)
    shots_from: str = parameter(
        contest_corpus.HUB,
        "Dataset of the worked examples: ranking's train rows of fold 0. With dataset=sample, the packaged ones.",
    )
    shots_order: contest_corpus.ShotsOrder = absent("seeded", "worked examples are those of shots_from; leave it out.")
    fold: contest_corpus.Fold = absent("0", "the crowd's contests have no folds; choose a split or contests.")

    def without_effect(self) -> set[str]:
        """Also paths."""
        idle = super().without_effect() | {"fold", "shots_order", "annotations", "images"}
        idle |= set() if self.shots else {"shots_from"}
        return idle if self.contests else idle | {"contests"}


@dataclass(frozen=True)
class Cartoon:
    """A contest: its captions, and its cartoon in the words and the picture that the setting shows."""

    number: int
    contest: Contest
    fields: Mapping[str, str] = field(repr=False)
    picture: Picture | None = None

    @property
    def context(self) -> str:
        """The scene as one text; "" where none is shown."""
        return context_of(self.fields)

    @property
    def record(self) -> Record:
        """The cartoon as an item without a question."""
        number = str(self.number)
        return Record(f"contest-{number}", number, self.fields, self.context, (), None, {}, picture=self.picture)


def context_of(fields: Mapping[str, str]) -> str:
    """The scene of a cartoon's fields as one text; "" where none is shown."""
    return scene_context(fields) if fields else ""


@dataclass(frozen=True)
class Crowd:
    """The contests to evaluate, those that are left out, by reason, and the defects of doubtful ones, by contest."""

    source: Contests
    cartoons: tuple[Cartoon, ...]
    left_out: Mapping[str, Sequence[int]]
    doubtful: Mapping[int, Sequence[Defect]]

    def provenance(self, records: int) -> dict[str, Any]:
        """The provenance of a run, with the contests that are left out or doubtful."""
        numbers = [cartoon.number for cartoon in self.cartoons]
        doubtful = {str(number): list(map(str, self.doubtful[number])) for number in numbers if number in self.doubtful}
        about: dict[str, Any] = {**self.source.provenance(numbers, records), "contests": len(numbers)}
        about |= {"doubtful": doubtful} if doubtful else {}
        left = {why: [str(number) for number in held] for why, held in self.left_out.items()}
        return about | ({"left_out": left} if left else {})


def open_crowd(o: CrowdOptions, needed: int = 2) -> Crowd:
    """The contests that the options select; see `crowd_of`."""
    return crowd_of(open_source(o), o, needed)


def open_source(o: CrowdOptions, split: Split | None = None) -> Contests:
    """The contests of the options' split, or of another one."""
    chosen = numbers(o.contests, "contests") if o.contests and split is None else None
    return open_contests(
        o.dataset,
        split=split or o.split,
        revision=o.revision,
        annotations=o.annotations,
        images=o.images,
        numbers=chosen,
        pictures=o.setting == "pixels",
    )


def crowd_of(source: Contests, o: CrowdOptions, needed: int = 2) -> Crowd:
    """The contests of a source that can be evaluated. needed: a contest with fewer entries is left out.

    Contests are left out, with a warning, without a description or picture that the setting shows (a missing picture
    ends the run unless on_bad_picture=skip), and with doubtful=skip. Raises BadInput where none is left.
    """
    cartoons: list[Cartoon] = []
    left_out: dict[str, list[int]] = {}
    for number in source.numbers:
        opened = cartoon_of(source, number, o, needed)
        if isinstance(opened, Cartoon):
            cartoons.append(opened)
        else:
            left_out.setdefault(opened, []).append(number)
    if reasons := reasons_text(left_out):
        warnings.warn(f"{o.dataset}, split {source.split}: left out: {reasons}.", stacklevel=3)
    if not cartoons:
        raise BadInput(f"{o.dataset}, split {source.split}: no contest can be evaluated; left out: {reasons}.")
    doubtful = {cartoon.number: why for cartoon in cartoons if (why := source.defects(cartoon.number))}
    if doubtful:
        kinds: dict[str, list[int]] = {}
        for number, defects in doubtful.items():
            for defect in defects:
                kinds.setdefault(defect.kind, []).append(number)
        reasons = reasons_text(kinds)
        warnings.warn(f"{o.dataset}: doubtful ratings: {reasons}. doubtful=skip leaves them out.", stacklevel=3)
    return Crowd(source, tuple(cartoons), left_out, doubtful)


def reasons_text(left_out: Mapping[str, Sequence[int]]) -> str:
    """Reasons with their contests, for a message."""
    return "; ".join(f"{why}: {listed('contest', map(str, held), most=8)}" for why, held in left_out.items())


def cartoon_of(source: Contests, number: int, o: CrowdOptions, needed: int) -> Cartoon | str:
    """The cartoon of a contest, or why it is left out."""
    contest = source.contest(number)
    if contest.entries < needed:
        return f"fewer than {needed:,} entries"
    if o.doubtful == "skip" and (doubts := source.defects(number)):
        return doubts[0].kind
    if o.setting == "description":
        scene = source.scenes.get(number)
        return "without a description" if scene is None else Cartoon(number, contest, _fields(scene))
    if o.setting == "caption_only":
        return Cartoon(number, contest, {})
    try:
        picture = source.picture(number)
        if picture is None:
            raise BadInput(f"{o.dataset}: there is no picture of contest {number}; give its folder as images=FOLDER.")
        if o.on_bad_picture == "skip":
            picture.read()
    except BadInput as problem:
        if o.on_bad_picture == "stop":
            raise BadInput(f"{problem} on_bad_picture=skip leaves such contests out.") from None
        return "without a usable picture"
    return Cartoon(number, contest, {}, picture)


def _fields(scene: Scene) -> dict[str, str]:
    words = {"location": scene.location, "description": scene.description, "uncanny": scene.uncanny}
    fields = {name: " ".join(text.split()) for name, text in words.items()}
    return fields | {"entities": ", ".join(map(entity_name, scene.entities))}


@lru_cache(maxsize=4)
def examples(dataset: str, setting: str, on_bad_picture: str = "stop") -> tuple[Record, ...]:
    """The train rows of `ranking`, fold 0, in the dataset's order, for worked examples.

    on_bad_picture: with "skip", rows without a usable picture are left out.
    """
    o = NyccOptions(dataset=dataset, split="train", setting=setting, on_bad_picture=on_bad_picture)  # type: ignore[arg-type]
    return contest_rows.load(RANKING, o, extra=("winner_source",)).records


def examples_of(o: CrowdOptions) -> tuple[Record, ...]:
    """The worked examples that the options name."""
    bad = o.on_bad_picture if o.setting == "pixels" else "stop"
    return examples("sample" if o.dataset == "sample" else o.shots_from, o.setting, bad)


def pool(o: CrowdOptions) -> dict[str, list[Record]]:
    """The worked examples by contest."""
    return by_cluster(examples_of(o))


# ---- worked examples -------------------------------------------------------------------------------


SAMPLED = 600
SAMPLING_SEED = 42


def worked_examples(o: CrowdOptions, records: Sequence[Record]) -> Callable[[str, int], Mapping[str, Sequence[Record]]]:
    """The published draw of worked examples, as `Data.drawn`: 600 train rows of `ranking` in blocks, one a contest.

    The rows are pandas' sample of the seed 42. With n examples, contest i in the order of `records` has those from row
    (n + 1) i on, as in the released code, where the last row of a block is the query of another task. Rows of the
    contest itself are passed over, and after the last row comes the first one.
    """

    @cache
    def drawn(fold: str, count: int) -> dict[str, Sequence[Record]]:
        contests = dict.fromkeys(record.cluster for record in records)
        by_contest = {contest: examples_block(o, i, contest, count) for i, contest in enumerate(contests)}
        return {record.id: by_contest[record.cluster] for record in records}

    return drawn


def examples_block(o: CrowdOptions, place: int, contest: str, count: int) -> list[Record]:
    """The worked examples of one contest; `place` is its position in the order of all, from 0."""
    from numpy.random import RandomState

    rows = examples_of(o)
    drawn = RandomState(SAMPLING_SEED).choice(len(rows), min(SAMPLED, len(rows)), replace=False)
    sampled = [rows[i] for i in drawn]
    start = (count + 1) * place % len(sampled)
    rows_of_others = [row for row in (*sampled[start:], *sampled[:start]) if row.cluster != contest][:count]
    if len(rows_of_others) < count:
        raise BadInput(f"shots={count}: there are only {len(rows_of_others)} train rows of other contests.")
    return rows_of_others

"""Contests with captions, ratings, descriptions and pictures, from a folder, the hub or the packaged sample.

A folder holds files of captions (NUMBER.csv, or train.csv, validation.csv and test.csv with a column of contest
numbers; in the folder itself, in `crowd`, `ranking` or `ranking/source`), descriptions of the cartoons (the public
annotations as *annotations*.json, or `gpt4o_description/*.jsonl`), and pictures (NUMBER.jpg in `cartoons` or `images`).
The hub's yguooo/newyorker_caption_ranking is such a folder in both of its layouts.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from humor_tasks.datasets_cards import folder as card
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import check_text, json_lines
from humor_tasks.rows.contests.annotations import Scene, read_annotations
from humor_tasks.rows.contests.contest_csv import Contest, Defect, contest_files, defects, read_contest, read_contests
from humor_tasks.rows.folder import as_bad_input
from humor_tasks.rows.hub import known_commit
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.opening import local_folder
from humor_tasks.rows.table import Request, join_fingerprints

Split = Literal["held_out", "validation", "test", "train", "all"]
FIRST_CONTEST = 530
"""The paper's contests begin here."""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


TEST = _numbers(
    "543 544 548 553 568 575 576 578 579 590 600 603 604 615 617 621 632 633 634 640 643 649 652 655 662 664 666 669 "
    "671 672 676 677 682 684 690 694 699 710 713 724 731 744 747 751 752 758 761"
)
"""47 contests: those from FIRST_CONTEST on in the test split of fold 0 of jmhessel/newyorker_caption_contest."""
VALIDATION = _numbers(
    "536 537 545 550 551 557 558 561 564 567 573 574 586 598 607 609 610 611 613 616 629 636 637 646 661 663 681 685 "
    "695 696 697 700 701 706 709 717 721 729 730 746 748 750 754 757"
)
"""44 contests: those from FIRST_CONTEST on in its validation split."""
HELD_OUT = tuple(sorted(VALIDATION + TEST))
"""The 91 contests on which the paper compares models with people."""
TWINS = {644: 643, 647: 646, 656: 655}
"""Contests with the captions of a held-out one -> that one. They are no training data, even without its file."""
WRONG_PICTURES = {607: 605, 644: 645}
"""Contests whose published picture is another contest's -> that contest."""


def numbers(text: str | None, option: str) -> frozenset[int]:
    """Contest numbers of a text such as 510-526,600; none for "none". Raises BadInput for another form."""
    selected: set[int] = set()
    for part in (text or "none").replace("none", "").split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?|\s*", part)
        if match is None:
            raise BadInput(f"{option}: '{part.strip()}' is no contest; give numbers and ranges, such as 510-526,600.")
        if match[1]:
            selected.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(selected)


# ---- descriptions --------------------------------------------------------------------------------
# Those of a model, as in `gpt4o_description/*.jsonl` of yguooo/newyorker_caption_ranking.


def read_descriptions(folder: Path) -> dict[int, Scene]:
    """Contest number -> description; {} without the folder. Raises BadInput naming file, line and field."""
    scenes: dict[int, Scene] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for where, row in json_lines(path):
            number, scene = _scene(row, where)
            if scenes.setdefault(number, scene) != scene:
                raise BadInput(f"{where}: contest {number} is described twice; keep one description.")
    return scenes


def _scene(row: Any, where: str) -> tuple[int, Scene]:
    if not isinstance(row, dict):
        raise BadInput(f"{where}: must be an object with contest_number, location, canny, uncanny and entities.")
    number = row.get("contest_number")
    if isinstance(number, bool) or not isinstance(number, int | str) or not str(number).isdecimal():
        raise BadInput(f"{where}: contest_number is {number!r:.40}; it must be a whole number.")
    texts = {name: check_text(row.get(name), f"{where}: {name}") for name in ("location", "canny", "uncanny")}
    entities = row.get("entities")
    if isinstance(entities, str):
        entities = [entity.strip() for entity in entities.split(",") if entity.strip()]
    if not isinstance(entities, list) or not all(isinstance(entity, str) for entity in entities):
        raise BadInput(f"{where}: entities is {entities!r:.40}; it must be a list of texts.")
    return int(number), Scene(texts["location"], texts["canny"], texts["uncanny"], tuple(entities), ())


# ---- contests ------------------------------------------------------------------------------------

HUB = "yguooo/newyorker_caption_ranking"
CARD = "newyorker_caption_ranking"
PICTURES_OF_SAMPLE = "newyorker_caption_contest"
SPLIT_FILES = ("train", "validation", "test")
PLACES = ("", "crowd", "ranking", "ranking/source")
IMAGES = (".jpg", ".jpeg", ".png")


@dataclass(frozen=True)
class Contests:
    """The contests of a split, in ascending order; each is read when it is asked for.

    numbers: of these contests. files: contest number -> its own file, or the file of its split. scenes: contest number
    -> description of the cartoon. pictures: contest number -> file. commit: of a hub dataset.
    """

    dataset: str
    split: Split
    numbers: tuple[int, ...]
    files: Mapping[int, Path]
    scenes: Mapping[int, Scene]
    pictures: Mapping[int, Path]
    revision: str | None = None
    commit: str | None = None
    _read: dict[int, Contest] = field(default_factory=dict, repr=False, compare=False)

    def contest(self, number: int) -> Contest:
        """The captions of a contest. Raises BadInput for a file that cannot be read or without ratings."""
        if number not in self._read:
            self._read[number] = read_contest(self.files[number])
        contest = self._read[number]
        if not contest.rated:
            raise BadInput(f"{self.files[number]}: contest {number} has no ratings; give a file with mean and votes.")
        return contest

    def defects(self, number: int) -> tuple[Defect, ...]:
        """What makes the ratings of a contest doubtful."""
        return defects(self.contest(number))

    def picture(self, number: int) -> Picture | None:
        """The contest's cartoon. Raises BadInput for a picture that is known to be another contest's."""
        path = self.pictures.get(number)
        if path is None:
            return None
        other = self.pictures.get(WRONG_PICTURES.get(number, -1))
        if other is not None and _sha256(path) == _sha256(other):
            raise BadInput(
                f"{path}: is the picture of contest {WRONG_PICTURES[number]} (equal SHA-256). Put the cartoon of "
                f"contest {number} in its place, or leave the contest out."
            )
        return Picture(f"{path.parent.name}/{path.name}", str(path), path.read_bytes)

    def fingerprint(self, numbers: Iterable[int]) -> str:
        """A hash of the files of these contests, and of their descriptions."""
        digests = {number: self.contest(number).sha256 for number in numbers}
        scenes = repr([(number, self.scenes.get(number)) for number in digests])
        return join_fingerprints([*dict.fromkeys(digests.values()), hashlib.sha256(scenes.encode()).hexdigest()])

    def provenance(self, numbers: Iterable[int], rows: int) -> dict[str, Any]:
        """The provenance of a run with `rows` records of these contests, as `rows.provenance_of`."""
        return {
            "dataset": self.dataset,
            "configs": ["ranking"],
            "split": self.split,
            "requested_revision": self.revision,
            "revision": self.commit,
            "rows": rows,
            "fingerprint": self.fingerprint(numbers),
        }


def open_contests(
    dataset: str,
    *,
    split: Split = "held_out",
    revision: str | None = None,
    annotations: str | None = None,
    images: str | None = None,
    numbers: Iterable[int] | None = None,
    pictures: bool = False,
) -> Contests:
    """The contests of a split, or those `numbers` of it.

    dataset: "sample", a folder, or a hub id. annotations: a file in the form of the public annotations, in the place of
    the folder's descriptions. images: a folder of pictures. pictures: whether a hub dataset's are downloaded.

    Raises BadInput where there is no such dataset, split or contest, and as the readers do.
    """
    commit = None
    if dataset == "sample":
        home = Path(card(CARD))
    elif (local := local_folder(dataset, HUB)) is not None:
        home = local
    else:
        home, commit = download(dataset, revision, split, pictures)
    if revision is not None and commit is None:
        raise BadInput(f"revision={revision} is for hub datasets, and dataset={dataset} is local: leave revision out.")
    files = _Files(home, dataset)
    known, paths, read = files.of(split)
    if numbers is not None:
        if lacking := sorted(set(numbers) - set(known)):
            raise BadInput(f"{dataset}: split {split} has no {listed('contest', map(str, lacking), most=5)}.")
        known = [number for number in known if number in set(numbers)]
    if not known:
        raise BadInput(f"{dataset}: has no contest of split {split}; choose another split, such as split=all.")
    scenes = _annotated(Path(annotations)) if annotations else files.scenes
    picture_folder = Path(images) if images else files.pictures
    picture_files = contest_files(picture_folder, IMAGES) if picture_folder is not None else {}
    return Contests(dataset, split, tuple(known), paths, scenes, picture_files, revision, commit, read)


def _annotated(path: Path) -> dict[int, Scene]:
    return {number: contest.fixed for number, contest in read_annotations(path).items() if contest.fixed is not None}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class _Files:
    """What a dataset folder holds."""

    home: Path
    dataset: str

    @cached_property
    def place(self) -> Path:
        """The folder with the captions."""
        for name in PLACES:
            place = self.home / name
            if any(p.stem in SPLIT_FILES or p.stem[:1].isdigit() for p in place.glob("*.csv")):
                return place
        raise BadInput(
            f"{self.dataset}: holds no captions; there must be NUMBER.csv, or train.csv, validation.csv and test.csv, "
            "in the folder itself, in crowd/ or in ranking/."
        )

    @cached_property
    def by_split(self) -> bool:
        """Whether the captions are in a file for each split, and not for each contest."""
        return any((self.place / f"{name}.csv").is_file() for name in SPLIT_FILES)

    def of(self, split: Split) -> tuple[list[int], dict[int, Path], dict[int, Contest]]:
        """The contests of a split in ascending order, their files, and those that are read already.

        A contest with a held-out one's captions is in `all` alone.
        """
        if self.by_split:
            files, read = self._split_files(split)
            parts = {split: set(files)}
        else:
            files, read = contest_files(self.place), {}
            known = set(files)
            parts = {"validation": known & set(VALIDATION), "test": known & set(TEST), "all": known}
            parts |= {"held_out": known & set(HELD_OUT), "train": known - set(HELD_OUT)}
        if split == "train":
            parts["train"] -= {number for number, twin in TWINS.items() if twin in HELD_OUT}
        return sorted(parts[split]), files, read

    def _split_files(self, split: Split) -> tuple[dict[int, Path], dict[int, Contest]]:
        names = {"held_out": SPLIT_FILES[1:], "all": SPLIT_FILES}.get(split, (split,))
        files: dict[int, Path] = {}
        read: dict[int, Contest] = {}
        for path in (self.place / f"{name}.csv" for name in names):
            contests = read_contests(path) if path.is_file() else {}
            if repeated := sorted(set(contests) & set(read)):
                other = files[repeated[0]].name
                raise BadInput(f"{path}: contest {repeated[0]} is also in {other}; keep it in one split.")
            files |= dict.fromkeys(contests, path)
            read |= contests
        return files, read

    @cached_property
    def scenes(self) -> dict[int, Scene]:
        """Contest number -> description, from the folder's own descriptions."""
        found = sorted(self.home.glob("*annotations*.json"))
        if len(found) > 1:
            raise BadInput(f"{self.dataset}: has {len(found)} files of annotations; name one with annotations=FILE.")
        return _annotated(found[0]) if found else read_descriptions(self.home / "gpt4o_description")

    @cached_property
    def pictures(self) -> Path | None:
        """The folder of pictures."""
        home = Path(card(PICTURES_OF_SAMPLE)) if self.dataset == "sample" else self.home
        return next((home / name for name in ("cartoons", "images") if (home / name).is_dir()), None)


# ---- download --------------------------------------------------------------------------------------


_NUMBERS: dict[str, tuple[int, ...]] = {"held_out": HELD_OUT, "validation": VALIDATION, "test": TEST}
_FILES = {"held_out": ("validation", "test"), "validation": ("validation",), "test": ("test",)}


def download(dataset: str, revision: str | None, split: Split, pictures: bool) -> tuple[Path, str]:
    """A local folder with the files of a split, and the commit that `revision` points to.

    With the layout of one file a contest, only the contests of the split are downloaded. Raises BadInput where the
    dataset or the revision does not exist, or the hub cannot be reached.
    """
    from huggingface_hub import snapshot_download

    commit, unreachable = known_commit(dataset, revision)
    if unreachable is not None:
        warnings.warn(f"{dataset}: the hub cannot be reached ({unreachable}); files of commit {commit}.", stacklevel=3)
    with as_bad_input(Request(dataset, "ranking", split, (), pictures), remedy="Try again, or use dataset=<folder>."):
        folder = snapshot_download(
            dataset,
            repo_type="dataset",
            revision=commit,
            allow_patterns=_patterns(split, pictures),
            local_files_only=unreachable is not None,
        )
    return Path(folder), commit


def _patterns(split: Split, pictures: bool) -> list[str]:
    numbers = _NUMBERS.get(split)
    stems = ["*"] if numbers is None else [*map(str, numbers), *_FILES[split]]
    patterns = ["gpt4o_description/*"]
    patterns += [f"{place}/{stem}.csv" for place in ("ranking", "ranking/source") for stem in stems]
    if pictures:  # with 605, whose picture the public 607 has
        patterns += ["cartoons/*"] if numbers is None else [f"cartoons/{stem}.*" for stem in (*stems, "605")]
    return patterns

"""The voting session, independent of the web page: the file of votes, each annotator's next item, and recording.

No acknowledged vote is lost. A vote is one line, appended and flushed to disk before the annotator sees the next item.
Undo writes a new file and renames it. A partial last line, left by an interrupted process, was never acknowledged; it
is removed and reported when the file is opened again.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from humor_tasks.errors import BadInput
from humor_tasks.files.append_log import AppendLog
from humor_tasks.files.csv_files import split_cells
from humor_tasks.files.writing import write_bytes
from humor_tasks.studies.people.items import Answers, Item, choices_of, plain, same_text
from humor_tasks.studies.people.vote_files import read_votes
from humor_tasks.studies.people.votes import COLUMNS, TIE, Vote, csv_text, stripped, utc

# ---- assignment ----------------------------------------------------------------------------------
# Who gets which items, and the order of items and options. All of it is derived from seed, annotator and item by
# SHA-256, so it is the same after a restart, on every machine, and independently of the other annotators.


def shown_order(seed: int, rater: str, item: Item, shuffle: bool = True) -> tuple[int, ...]:
    """The options' indices in the file, in the order in which the annotator sees them."""
    places = range(len(item.options))
    if item.fixed or not shuffle:
        return tuple(places)
    return tuple(sorted(places, key=lambda i: _random_key(seed, rater, item.id, str(i))))


def assigned(
    items: Sequence[Item],
    rater: str,
    seed: int,
    limit: int | None = None,
    done: Collection[str] = (),
    full: Collection[str] = (),
) -> list[Item]:
    """The annotator's items: those already voted on, in the order of the votes, then the others in random order.

    `limit` is the maximum number of items, including those voted on; those in `full` are left out. As in Hessel et al.
    (2023), no matching or ranking item is assigned that repeats an option of another one, because a caption seen before
    would give the answer away. Items are selected greedily in the annotator's order; the selection is the same when it
    continues after `done` items.
    """
    known = {item.id: item for item in items}
    first = [known[identity] for identity in done if identity in known]
    without = {*done, *full}
    rest = sorted(
        (item for item in items if item.id not in without), key=lambda item: _random_key(seed, rater, item.id)
    )
    selected = list(first)
    seen = {text for item in first for text in _option_texts(item)}
    for item in rest:
        texts = _option_texts(item)
        if limit is not None and len(selected) >= limit:
            break
        if seen.isdisjoint(texts):
            selected.append(item)
            seen |= texts
    return selected


def _option_texts(item: Item) -> set[str]:
    return set() if item.repeats else {same_text(option) for option in item.options}


def _random_key(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()


# ---- sessions ------------------------------------------------------------------------------------

ANNOTATOR_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
MAX_REASON = 2000  # characters
_OUT_OF_DATE = "Your last choice was not counted, because the page was out of date. Here is the current item."


@dataclass(frozen=True)
class View:
    """The state of one annotator's page: `item` is None when nothing is left; `order` holds the options' indices in the
    file.
    """

    rater: str
    done: int
    total: int
    item: Item | None
    order: tuple[int, ...] = ()
    reason: str = ""
    note: str = ""
    filled: Mapping[str, str] = field(default_factory=dict)
    """The texts that a form begins with: those just withdrawn, or the item's draft."""

    @property
    def key(self) -> str:
        """A hash of the item's id and its options in the order shown; empty where nothing is left."""
        if self.item is None:
            return ""
        of = (self.item.id, self.item.headline) if self.item.headline else (self.item.id,)
        texts = "\0".join((*of, *(self.item.options[i] for i in self.order)))
        return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Session:
    """Assigns items and records votes. Annotators are identified by their id only.

    per_item: an item with votes of so many annotators is not shown to others. qualified: the annotators who may take
    part; None for everybody.
    """

    def __init__(
        self,
        items: Sequence[Item],
        store: VoteStore,
        seed: int = 0,
        limit: int | None = None,
        ties: bool = False,
        shuffle: bool = True,
        per_item: int | None = None,
        qualified: Collection[str] | None = None,
    ) -> None:
        self.items, self.store = {item.id: item for item in items}, store
        self.seed, self.limit, self.ties, self.shuffle, self.per_item = seed, limit, ties, shuffle, per_item
        self.qualified = None if qualified is None else {name.casefold() for name in qualified}
        self._shown: dict[str, str] = {}  # what an annotator is busy with stays theirs

    def enter(self, name: str) -> View:
        """The page of a new or returning annotator.

        An id that differs only in case from one with votes is treated as that one, because phones capitalise input.
        Raises BadInput for an invalid id.
        """
        name = name.strip()
        if not ANNOTATOR_ID.fullmatch(name):
            raise BadInput(f"'{name[:40]}' is not a valid id; use 1 to 40 letters, digits, '-', '_' and '.'.")
        if self.qualified is not None and name.casefold() not in self.qualified:
            raise BadInput(f"'{name}' is not among the annotators who may take part in this round.")
        same = [rater for rater in sorted(self.store.raters()) if rater.casefold() == name.casefold()]
        return self.view(name if name in same or not same else same[0])

    def view(self, rater: str, note: str = "", reason: str = "") -> View:
        """The annotator's next item."""
        done = [vote.item for vote in self.store.of(rater)]
        full = self.store.full(self.per_item) - {self._shown.get(rater)} if self.per_item else ()
        mine = assigned(list(self.items.values()), rater, self.seed, self.limit, done, full)
        rest = mine[len(done) :]
        item = next((one for one in rest if one.id == self._shown.get(rater)), rest[0] if rest else None)
        self._shown[rater] = item.id if item else ""
        order = shown_order(self.seed, rater, item, self.shuffle) if item else ()
        return View(rater, len(done), len(mine), item, order, reason, note, item.draft if item else {})

    def vote(self, rater: str, key: str, place: int | None, reason: str = "") -> View:
        """Record the vote for the option shown at `place` (from 0; None is a tie), and return the next page.

        key: of the view that was voted on. A vote on any other than the annotator's current one is not recorded, as
        from a second window, or from before a restart with another order. Raises BadInput for a choice that is not
        offered.
        """
        current = self.enter(rater)
        if current.item is None or current.key != key:
            return self.view(current.rater, _OUT_OF_DATE)
        if place is None and (not self.ties or current.item.fixed):
            raise BadInput("ties are not allowed.")
        if place is not None and not 0 <= place < len(current.order):
            raise BadInput(f"there is no option {place + 1}.")
        labels = current.item.labels
        choice = TIE if place is None else labels[current.order[place]]
        order = "".join(labels[i] for i in current.order)
        return self._add(current, current.item, choice, reason, order)

    def fill(self, rater: str, key: str, texts: Mapping[str, str]) -> View:
        """Record the texts of a form, as `vote` records a choice. Raises BadInput for texts that it does not take."""
        current = self.enter(rater)
        if current.item is None or current.key != key:
            return self.view(current.rater, _OUT_OF_DATE)
        answers = self.store.choices[current.item.id]
        if not isinstance(answers, Answers):
            raise BadInput("this item is no form.")
        return self._add(current, current.item, answers.written(texts))

    def _add(self, current: View, item: Item, choice: str, reason: str = "", order: str = "") -> View:
        time = utc(datetime.now(UTC).isoformat(timespec="milliseconds"))
        self.store.add(Vote(item.id, current.rater, choice, time, plain(reason, MAX_REASON), order))
        return self.view(current.rater)

    def undo(self, rater: str) -> View:
        """Withdraw the annotator's last vote, and show its item again with the reason."""
        current = self.enter(rater)
        withdrawn = self.store.undo(current.rater)
        if withdrawn is None:
            return self.view(current.rater, "There is no vote to undo.")
        self._shown[current.rater] = withdrawn.item
        view = self.view(current.rater, "Your last vote was withdrawn.", withdrawn.reason)
        form = view.item.form if view.item else None
        return replace(view, filled=form.read(withdrawn.choice)) if form else view


_HEADER = ",".join(COLUMNS)


class VoteStore:
    """The votes on `items` in a CSV file, which is created if it does not exist.

    It is thread-safe, but two processes must not use the same file: a file that another program has changed is not
    written to. Raises BadInput for a file that cannot be used.
    """

    def __init__(self, path: Path, items: Sequence[Item]) -> None:
        self.path = path.resolve()
        self._file = AppendLog(self.path)
        self.choices = choices_of(items)
        self.repaired = ""
        self._votes: list[Vote] = []
        self._lock = threading.Lock()
        try:
            self._open()
        except OSError as problem:
            raise BadInput(f"{path}: cannot be used for votes ({problem}).") from None

    def of(self, rater: str) -> list[Vote]:
        """The annotator's votes, oldest first."""
        with self._lock:
            return [vote for vote in self._votes if vote.rater == rater]

    def raters(self) -> set[str]:
        """All annotators with votes."""
        with self._lock:
            return {vote.rater for vote in self._votes}

    def full(self, votes: int) -> set[str]:
        """The items with at least so many votes."""
        with self._lock:
            counts = Counter(vote.item for vote in self._votes)
        return {item for item, count in counts.items() if count >= votes}

    def add(self, vote: Vote) -> bool:
        """Record a vote; returns False, without recording, if the annotator has already voted on the item."""
        with self._lock:
            if any((old.item, old.rater) == (vote.item, vote.rater) for old in self._votes):
                return False
            self._file.append(_table([vote]).encode(), flush=True)
            self._votes.append(vote)
            return True

    def undo(self, rater: str) -> Vote | None:
        """Withdraw the annotator's last vote and return it; None where there is none."""
        with self._lock:
            last = next((i for i in reversed(range(len(self._votes))) if self._votes[i].rater == rater), None)
            if last is None:
                return None
            remaining = self._votes[:last] + self._votes[last + 1 :]
            self._replace(f"{_HEADER}\n{_table(remaining)}".encode())
            withdrawn, self._votes = self._votes[last], remaining
            return withdrawn

    # ---- the file -------------------------------------------------------------------------------

    def _open(self) -> None:
        data = self.path.read_bytes() if self.path.exists() else b""
        self._file.size = len(data)
        header = f"{_HEADER}\n".encode()
        if header.startswith(data) and data != header:  # no file yet, or one with a partial header
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(header)
        elif data.splitlines()[0].decode("utf-8", "replace") != _HEADER:
            raise BadInput(f"{self.path}: its columns are not {_HEADER}; use another file for the votes.")
        elif not data.endswith(b"\n"):
            self._repair(data)
        self._votes = self._read()

    def _repair(self, data: bytes) -> None:
        whole, _, tail = data.rpartition(b"\n")
        line = tail.decode("utf-8", "replace")
        if self._complete(line):
            self._file.append(b"\n", flush=True)
        else:
            self.repaired = f"{self.path}: the last line was incomplete and is left out: {line!r}"
            self._replace(whole + b"\n")

    def _complete(self, line: str) -> bool:
        """Whether a last line without newline is otherwise complete, that is, its last column is a complete order.

        A form has no order: its line is complete with the comma before it.
        """
        try:
            ((_, cells),) = split_cells(self.path, line, ",")
        except ValueError:  # BadInput is one
            return False
        row = dict(zip(COLUMNS, map(stripped, cells), strict=False))
        labels = [choice for choice in self.choices.get(row.get("item", ""), ()) if len(choice) == 1]
        known = row.get("item") in self.choices
        return len(cells) == len(COLUMNS) and known and sorted(row["order"]) == labels

    def _read(self) -> list[Vote]:
        if self._file.size == len(_HEADER) + 1:
            return []
        return list(read_votes(self.path, self.choices, choices=self.choices).votes)

    def _replace(self, data: bytes) -> None:
        try:
            if self._file.size:
                self._file.check_unchanged()
        except OSError as problem:
            raise BadInput(f"{self.path}: cannot be written ({problem}).") from None
        write_bytes(self.path, data, durable=True)
        self._file.size = len(data)


def _table(votes: Iterable[Vote]) -> str:
    """The lines of a CSV file, without its header."""
    return csv_text(votes).removeprefix(f"{_HEADER}\n")

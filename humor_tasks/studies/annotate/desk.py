"""What each rater has in front of them, apart from how a page shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from humor_tasks.errors import BadInput
from humor_tasks.studies.annotate.assignment import assigned, shown_order
from humor_tasks.studies.annotate.pairs import Item
from humor_tasks.studies.annotate.store import VoteStore
from humor_tasks.studies.annotate.vote import TIE, Vote, utc

RATER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
LONGEST_REASON = 2000


@dataclass(frozen=True)
class View:
    """One rater's page: `item` is None when nothing is left. `order` holds the options' places in the file."""

    rater: str
    done: int
    total: int
    item: Item | None
    order: tuple[int, ...] = ()
    reason: str = ""
    note: str = ""


class Desk:
    """Hands out items and takes votes; raters are told apart by their id only."""

    def __init__(
        self,
        items: Sequence[Item],
        store: VoteStore,
        seed: int = 0,
        limit: int | None = None,
        ties: bool = False,
        shuffle: bool = True,
    ) -> None:
        self.items, self.store = {item.id: item for item in items}, store
        self.seed, self.limit, self.ties, self.shuffle = seed, limit, ties, shuffle

    def enter(self, name: str) -> View:
        """Begin or go on. An id that differs in capitals from one that has voted is that one: phones write them."""
        name = name.strip()
        if not RATER.fullmatch(name):
            raise BadInput(f"'{name[:40]}' is no rater id; use 1 to 40 letters, digits, '-', '_' and '.'.")
        same = [rater for rater in sorted(self.store.raters()) if rater.casefold() == name.casefold()]
        return self.view(name if name in same or not same else same[0])

    def view(self, rater: str, note: str = "", reason: str = "") -> View:
        """The rater's next item."""
        done = [vote.item for vote in self.store.of(rater)]
        mine = assigned(list(self.items.values()), rater, self.seed, self.limit, done)
        item = mine[len(done)] if len(done) < len(mine) else None
        order = shown_order(self.seed, rater, item, self.shuffle) if item else ()
        return View(rater, len(done), len(mine), item, order, reason, note)

    def vote(self, rater: str, item: str, place: int | None, reason: str = "") -> View:
        """Keep the vote for the option shown at `place` (from 0), None for a tie, and go on.

        A vote on an item that is no longer the rater's next, as from a second window, is not kept.
        """
        now = self.enter(rater)
        if now.item is None or now.item.id != item:
            return self.view(now.rater, "This item was already voted on; here is the next one.")
        if place is None and not self.ties:
            raise BadInput("ties are not asked for.")
        if place is not None and not 0 <= place < len(now.order):
            raise BadInput(f"there is no option {place + 1}.")
        labels = now.item.labels
        choice = TIE if place is None else labels[now.order[place]]
        time = utc(datetime.now(UTC).isoformat(timespec="milliseconds"))
        vote = Vote(item, now.rater, choice, time, _plain(reason), "".join(labels[i] for i in now.order))
        self.store.add(vote)
        return self.view(now.rater)

    def undo(self, rater: str) -> View:
        """Withdraw the rater's last vote and show its item again, with the reason."""
        now = self.enter(rater)
        withdrawn = self.store.undo(now.rater)
        if withdrawn is None:
            return self.view(now.rater, "There is no vote to undo.")
        return self.view(now.rater, "Your last vote was withdrawn.", withdrawn.reason)


def _plain(text: str) -> str:
    """One line without control characters: a vote stays one line of the file."""
    line = " ".join(text.split())
    return "".join(c for c in line if c.isprintable() or c == "\u200d")[:LONGEST_REASON].strip()

"""What is known of words besides their vectors: a graph of related words, and how often words occur together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.data.reading import decode, lines_of
from humor_tasks.errors import BadInput

FREQUENT = 20_000  # words of a corpus that are counted
_FILES = ("words.json", "counts.npz")


class Matrix:
    """A sparse square matrix over words."""

    def __init__(self, words: Sequence[str], counts: Any) -> None:
        self.words, self.counts = list(words), counts
        self.place = {word: i for i, word in enumerate(self.words)}

    def save(self, folder: Path) -> None:
        """Save words and counts."""
        from scipy.sparse import save_npz

        folder.mkdir(parents=True, exist_ok=True)
        (folder / _FILES[0]).write_text(json.dumps(self.words, ensure_ascii=False), encoding="utf-8")
        save_npz(folder / _FILES[1], self.counts)

    @classmethod
    def saved(cls, folder: Path) -> Any:
        """Load what `save` wrote."""
        from scipy.sparse import load_npz

        return cls(json.loads((folder / _FILES[0]).read_text(encoding="utf-8")), load_npz(folder / _FILES[1]))


class Graph(Matrix):
    """Which words are related in a knowledge base."""

    @classmethod
    def read(cls, path: Path) -> Graph:
        """WordNet's folder (its data files), or a file of relations: `word TAB relation TAB word`, or ConceptNet's.

        Raises BadInput naming what is not there or holds no relation.
        """
        import numpy as np
        from scipy.sparse import coo_matrix

        if not path.exists():
            raise BadInput(f"knowledge {path}: there is no such file or folder.")
        place: dict[str, int] = {}
        pairs = [
            (place.setdefault(a, len(place)), place.setdefault(b, len(place)))
            for a, b in (_wordnet(path) if path.is_dir() else _relations(path))
        ]
        if not pairs:
            raise BadInput(f"knowledge {path}: has no relation of two English words.")
        rows, columns = np.array(pairs, np.int32).T
        one = coo_matrix((np.ones(len(pairs), np.float32), (rows, columns)), shape=(len(place), len(place))).tocsr()
        return cls(list(place), ((one + one.T) > 0).astype(np.float32).tocsr())

    def related(self, word: str) -> frozenset[str]:
        """The words related to `word`; none for a word that is not known, also not without its plural's s."""
        at = next((i for name in _forms(word) if (i := self.place.get(name)) is not None), None)
        if at is None:
            return frozenset()
        found = self.counts.indices[self.counts.indptr[at] : self.counts.indptr[at + 1]]
        return frozenset(self.words[i] for i in found)


def _forms(word: str) -> Iterator[str]:
    lower = word.lower()
    yield lower
    for ending, bare in (("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("ing", "")):
        if lower.endswith(ending) and len(lower) > len(ending) + 2:
            yield lower[: -len(ending)] + bare


def _wordnet(folder: Path) -> Iterator[tuple[str, str]]:
    """Words of one synset, and of synsets with a pointer between them (wndb(5WN): fields of a data file)."""
    words: dict[tuple[str, str], list[str]] = {}
    pointers: list[tuple[tuple[str, str], tuple[str, str]]] = []
    for path in sorted(folder.glob("data.*")):
        for where, line in lines_of(path):
            if line.startswith(" "):  # the licence
                continue
            fields = line.split(" | ")[0].split()
            try:
                size = int(fields[3], 16)
                key = fields[0], fields[2].replace("s", "a")
                words[key] = [word.lower().split("(")[0].replace("_", " ") for word in fields[4 : 4 + 2 * size : 2]]
                to = fields[5 + 2 * size :]
                pointers += [(key, (to[4 * i + 1], to[4 * i + 2])) for i in range(int(fields[4 + 2 * size]))]
            except (IndexError, ValueError):
                raise BadInput(f"knowledge {where}: is no synset of WordNet's data files: {line!r:.60}.") from None
    for names in filter(None, words.values()):
        yield from ((names[0], name) for name in names[1:])
    for one, other in pointers:
        yield from ((a, b) for a in words[one] for b in words.get(other, ()))


def _relations(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as lines:
        for i, raw in enumerate(lines, 1):
            cells = decode(path, raw).rstrip("\r\n").split("\t")
            if len(cells) not in (3, 5) and cells != [""]:
                raise BadInput(
                    f"knowledge {path}, line {i}: has {len(cells)} columns; a relation has 3, ConceptNet's 5."
                )
            if len(cells) == 3:
                yield cells[0].lower(), cells[2].lower()
            elif len(cells) == 5 and all(cell.startswith("/c/en/") for cell in cells[2:4]):
                one, other = (cell.split("/")[3].replace("_", " ") for cell in cells[2:4])
                yield one, other


class Together(Matrix):
    """In how many lines of a corpus two words occur together; on the diagonal, in how many a word occurs."""

    @classmethod
    def counted(cls, lines: Iterable[str]) -> Together:
        """The counts of a corpus, a headline or sentence a line. Raises BadInput where no word occurs in it."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(binary=True, max_features=FREQUENT, token_pattern=r"[^\W_]+")
        try:
            found = counter.fit_transform(lines).astype("float32")
        except ValueError:
            raise BadInput("corpus: there is no word in it.") from None
        return cls(counter.get_feature_names_out().tolist(), (found.T @ found).tocsr())

    def expected(self, word: str, context: Sequence[str]) -> float:
        """The mean log probability of a line with a word of the context to have `word`, with add-one smoothing."""
        import math

        at, total = self.place.get(word), len(self.words)
        logs = []
        for other in context:
            place = self.place.get(other)
            if place is not None:
                both = 0.0 if at is None else float(self.counts[place, at])
                logs.append(math.log((both + 1.0) / (float(self.counts[place, place]) + total)))
        return sum(logs) / len(logs) if logs else -math.log(total)

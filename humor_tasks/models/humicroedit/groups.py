"""Features of an edited headline that people thought of, in named groups; see `GROUPS`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from humor_tasks.errors import check_choice
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_json
from humor_tasks.models.humicroedit.resources import FrozenEncoder, Graph, Together, WordVectors
from humor_tasks.models.humicroedit.texts import Edit, english, missing_extra


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without symbols."""
    return [bare for word in text.split() if (bare := "".join(filter(str.isalnum, word)).lower())]


# ---- groups that depend on the headline alone -----------------------------------------------------


def _log(word: str, before: str | None = None) -> float:
    import math

    return math.log10(english().score(word, before)) if word else 0.0


def lexical(e: Edit) -> list[float]:
    """Log frequencies on the web of both words and of the context; capitals, digits, number of words."""
    edit, word, context = (words_of(text) for text in (e.edit, e.word, e.context))
    of_edit, of_word, around = (sum(map(_log, words)) / max(1, len(words)) for words in (edit, word, context))
    return [of_edit, of_word, around, of_edit - of_word, len(edit), len(word), float(any(map(str.isdigit, e.edit)))]


def entity(e: Edit) -> list[float]:
    """Names, as far as capitals show them: of the replaced and the replacing word, and the share in the context."""
    context = e.context.split()
    return [
        *(float(text[:1].isupper()) for text in (e.word, e.edit)),
        *(float(len(text) > 1 and text.isupper()) for text in (e.word, e.edit)),
        sum(word[:1].isupper() for word in context) / max(1, len(context)),
        float(len(e.word.split()) > 1),
    ]


def _syllables(word: str) -> int:
    vowels = [c in "aeiouy" for c in word.lower()]
    return max(1, sum(now and not last for last, now in zip([False, *vowels], vowels, strict=False)))


def _flesch(text: str) -> float:
    words = words_of(text) or ["a"]
    return 206.835 - 1.015 * len(words) - 84.6 * sum(map(_syllables, words)) / len(words)


def readability(e: Edit) -> list[float]:
    """Flesch's reading ease of both headlines; syllables of both words."""
    ease, original = _flesch(e.edited), _flesch(e.original)
    return [ease, ease - original, _syllables(e.edit), _syllables(e.word)]


def length(e: Edit) -> list[float]:
    """Characters and words of the headline and of both words."""
    return [len(e.edited), len(e.edited.split()), len(e.edit), len(e.word), len(e.edit) - len(e.word)]


def position(e: Edit) -> list[float]:
    """Where the edit stands."""
    before, after = len(e.before.split()), len(e.after.split())
    return [before, after, before / max(1, before + after), float(not before), float(not after)]


def string(e: Edit) -> list[float]:
    """How alike both words are written, whether they rhyme, and whether the edit alliterates with its neighbours."""
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    new, old = e.edit.lower(), e.word.lower()
    near = words_of(" ".join(e.before.split()[-2:])) + words_of(" ".join(e.after.split()[:2]))
    return [
        Levenshtein.normalized_similarity(new, old),
        JaroWinkler.similarity(new, old),
        float(new[:1] == old[:1]),
        float(new[-3:] == old[-3:]),
        float(sum(word[:1] == new[:1] for word in near)),
        float(new in words_of(e.context)),
    ]


def phonemes(e: Edit) -> list[float]:
    """How alike both words sound (metaphone)."""
    try:
        from jellyfish import metaphone
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) from None
    from rapidfuzz.distance import Levenshtein

    new, old = (metaphone(" ".join(words_of(text))) for text in (e.edit, e.word))
    return [Levenshtein.distance(new, old), Levenshtein.normalized_similarity(new, old), float(new[-2:] == old[-2:])]


def perplexity(e: Edit) -> list[float]:
    """Log probabilities of word pairs on the web: of both headlines, and around both words."""
    before, after = words_of(e.before)[-1:], words_of(e.after)[:1]
    edited, original = (words_of(text) for text in (e.edited, e.original))
    around = [before + words_of(text) + after for text in (e.edit, e.word)]
    wholes = [_chain(words) / max(1, len(words)) for words in (edited, original)]
    parts = [_chain(words) for words in around]
    return [*wholes, *parts, wholes[0] - wholes[1], parts[0] - parts[1]]


def _chain(words: Sequence[str]) -> float:
    return sum(_log(word, before) for before, word in zip([None, *words], words, strict=False))


@cache
def _vader() -> Any:
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) from None
    return SentimentIntensityAnalyzer()


def sentiment(e: Edit) -> list[float]:
    """Polarity by VADER's lexicon: both headlines, both words, and the differences."""
    new, old, edit, word = (
        _vader().polarity_scores(text)["compound"] for text in (e.edited, e.original, e.edit, e.word)
    )
    return [new, old, edit, word, new - old, abs(edit - word)]


PLAIN: dict[str, Callable[[Edit], list[float]]] = {
    f.__name__: f for f in (lexical, entity, readability, length, position, string, phonemes, perplexity, sentiment)
}


# ---- groups that have data ------------------------------------------------------------------------


class Embeds(Protocol):
    """Texts as vectors: an encoder or word vectors."""

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 numpy array [len(texts), dimensions]."""
        ...

    def save(self, folder: Path) -> None:
        """Save what `embed` needs."""
        ...


class History:
    """`history`: the lowest, mean and highest grade of train's headlines with the same replacing or replaced word."""

    def __init__(self, grades: dict[str, list[float]]) -> None:
        self.grades = grades  # "edit:word" -> lowest, mean, highest, number

    @classmethod
    def fitted(cls, edits: Sequence[Edit], grades: Sequence[float], groups: Sequence[str]) -> tuple[History, Any]:
        """The history, and the features of the training rows, each computed without its own headline."""
        import numpy as np

        seen: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for e, grade, group in zip(edits, grades, groups, strict=True):
            for key in cls.keys(e):
                seen[key].append((group, grade))
        base = [min(grades), sum(grades) / len(grades), max(grades), 0.0]
        rows = [
            [x for key in cls.keys(e) for x in _summary([g for other, g in seen[key] if other != group], base)]
            for e, group in zip(edits, groups, strict=True)
        ]
        known = {key: _summary([grade for _, grade in graded], base) for key, graded in seen.items()}
        return cls(known | {"": base}), np.array(rows, np.float32)

    @staticmethod
    def keys(e: Edit) -> tuple[str, str]:
        """The names of an edit's words in `grades`."""
        return f"edit:{e.edit.lower()}", f"word:{e.word.lower()}"

    def columns(self, edits: Sequence[Edit]) -> list[list[float]]:
        """A row per edit."""
        return [[x for key in self.keys(e) for x in self.grades.get(key, self.grades[""])] for e in edits]


def _summary(grades: Sequence[float], base: list[float]) -> list[float]:
    """Lowest, mean and highest; the mean is drawn to that of train as by one more grade."""
    if not grades:
        return base
    return [min(grades), (sum(grades) + base[1]) / (len(grades) + 1), max(grades), float(len(grades))]


def similarity(vectors: Embeds, edits: Sequence[Edit]) -> Any:
    """`similarity`: cosines of both words with one another and with the context, and of both headlines."""
    import numpy as np

    texts = [[getattr(e, name) for e in edits] for name in ("edit", "word", "context", "edited", "original")]
    edit, word, context, edited, original = (_unit(vectors.embed(column)) for column in texts)
    pairs = ((edit, word), (edit, context), (word, context), (edited, original))
    cosines = np.stack([(a * b).sum(1) for a, b in pairs], 1)
    return np.hstack([cosines, cosines[:, 1:2] - cosines[:, 2:3]])


def _unit(vectors: Any) -> Any:
    import numpy as np

    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def embedded(vectors: Embeds, edits: Sequence[Edit], names: Sequence[str]) -> Any:
    """The vectors themselves of some texts."""
    import numpy as np

    return np.hstack([vectors.embed([getattr(e, name) for e in edits]) for name in names])


def knowledge(graph: Graph, e: Edit) -> list[float]:
    """`knowledge`: what both words and their context have to do with one another in a knowledge base."""
    edit, word = graph.related(e.edit), graph.related(e.word)
    context = [frozenset((name, *graph.related(name))) for name in words_of(e.context) if len(name) > 3]
    linked = [sum(bool(name in near) for near in context) for name in (e.edit.lower(), e.word.lower())]
    shared = [sum(len(words & near) for near in context) for words in (edit, word)]
    count = max(1, len(context))
    return [
        float(e.word.lower() in edit),
        len(edit & word) / max(1, len(edit | word)),
        *(min(len(words), 100) / 100 for words in (edit, word)),
        *(number / count for number in (*linked, *shared)),
        (shared[0] - shared[1]) / count,
    ]


def cooccurrence(together: Together, e: Edit) -> list[float]:
    """`cooccurrence`: how unexpected the replacing word is among the context's words."""
    context = words_of(e.context)
    words = words_of(e.edit) or [""]
    return [-sum(together.expected(word, context) for word in words) / len(words)]


_EMBEDDED = {"words": ("edit", "word"), "sentence": ("edited",)}
GROUPS = (*PLAIN, "similarity", *_EMBEDDED, "lexicon", "history", "knowledge", "cooccurrence")


def check_features(features: str) -> None:
    """Raise BadInput for a name in `features`, such as "lexical+string", that is no group."""
    for name in features.split("+") if features else ():
        check_choice("features", name, GROUPS)


class Groups:
    """The columns of some groups, side by side. `vectors`, `lexicon`, `graph`, `together` are what the groups need."""

    def __init__(
        self,
        names: Sequence[str],
        vectors: Embeds | None = None,
        lexicon: WordVectors | None = None,
        graph: Graph | None = None,
        together: Together | None = None,
        history: History | None = None,
    ) -> None:
        self.names, self.vectors, self.lexicon, self.graph = tuple(names), vectors, lexicon, graph
        self.together, self.history = together, history

    def rows(self, edits: Sequence[Edit], history: Any = None) -> Any:
        """Features [edits, columns]. history: in training, that group's columns, as of `History.fitted`."""
        import numpy as np

        columns = [self._group(name, edits, history) for name in self.names]
        return np.hstack([np.asarray(part, np.float32) for part in columns])

    def _group(self, name: str, edits: Sequence[Edit], history: Any) -> Any:
        if name in PLAIN:
            return [PLAIN[name](e) for e in edits]
        if name == "history" and self.history:
            return self.history.columns(edits) if history is None else history
        if name == "knowledge" and self.graph:
            return [knowledge(self.graph, e) for e in edits]
        if name == "cooccurrence" and self.together:
            return [cooccurrence(self.together, e) for e in edits]
        if name == "lexicon" and self.lexicon:
            return embedded(self.lexicon, edits, ("edit", "word", "context"))
        assert self.vectors is not None, name
        return (
            similarity(self.vectors, edits) if name == "similarity" else embedded(self.vectors, edits, _EMBEDDED[name])
        )

    def save(self, folder: Path) -> None:
        """Save what the groups need."""
        write_json(folder / "groups.json", {"names": self.names, "encoder": isinstance(self.vectors, FrozenEncoder)})
        for name in ("vectors", "lexicon", "graph", "together"):
            if part := getattr(self, name):
                part.save(folder / name)
        if self.history:
            write_json(folder / "history.json", self.history.grades)

    @classmethod
    def saved(cls, folder: Path) -> Groups:
        """Load what `save` wrote."""
        about = json_object(folder / "groups.json")

        def part(name: str, load: Callable[[Path], Any]) -> Any:
            return load(folder / name) if (folder / name).is_dir() else None

        history = folder / "history.json"
        return cls(
            about["names"],
            part("vectors", lambda path: FrozenEncoder(str(path)) if about["encoder"] else WordVectors.saved(path)),
            part("lexicon", WordVectors.saved),
            part("graph", Graph.saved),
            part("together", Together.saved),
            History(json_object(history)) if history.is_file() else None,
        )

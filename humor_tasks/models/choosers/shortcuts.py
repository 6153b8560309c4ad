"""Shortcut rules: they look at choices, at the scene's words and at how often texts occur, and understand nothing.

`RULES` score the choices of rows as they stand. The other rules are learnt: they are fitted on other groups of rows
than those that they score. The baseline models, the cards of built corpora, audits and analyses take their rules here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from humor_tasks.files.reading import as_seen
from humor_tasks.files.writing import encodable

FOLDS = 5
TOKENS = r"\w+|[^\w\s]"
"""Words and single signs, so that no text is without tokens."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Function words, which carry no information about the scene; without this list overlap would count "the" and "a".
_STOP = frozenset(
    (
        "a an and are as at be but by can could did do does for from had has have he her him his how i i'm if in is it "
        "it's its just me my no not of on or our out she so than that that's the their them then there they this to "
        "up was we were what when where which who will with would you your you're"
    ).split()
)

Options = Sequence[Sequence[str]]
Scores = list[list[float]]


def credit(scores: Sequence[float], right: int) -> float:
    """1 where the right choice alone has the highest score, 1/k where k choices have it and it is one of them, else 0.

    So a rule that cannot tell choices apart is right by chance, whatever their order.
    """
    top = max(scores)
    return 1 / sum(score == top for score in scores) if scores[right] == top else 0.0


# ---- rules --------------------------------------------------------------------------------------


def content_words(text: str) -> set[str]:
    """The distinct words of a text in lower case, without function words."""
    return {word for word in _WORD.findall(text.lower().replace("’", "'")) if word not in _STOP}


def overlap(choice: str, scene: str) -> float:
    """The share of the choice's content words that the scene has."""
    words = content_words(choice)
    return len(words & content_words(scene)) / len(words) if words else 0.0


def yes_no_overlap(about: str, scene: str) -> list[float]:
    """The scores of yes and no: yes where the text in question shares a content word with the scene."""
    shares = not content_words(about).isdisjoint(content_words(scene))
    return [float(shares), float(not shares)]


def punctuation(text: str) -> int:
    """The number of punctuation marks of a text (Unicode's category P)."""
    return sum(unicodedata.category(c).startswith("P") for c in text)


def occurrences(options: Options) -> list[list[int]]:
    """How often each choice occurs among the choices of all rows, as a reader sees it."""
    seen = {text: as_seen(text) for text in dict.fromkeys(text for row in options for text in row)}
    counts = Counter(seen[text] for row in options for text in row)
    return [[counts[seen[text]] for text in row] for row in options]


def likeness(options: Options, scenes: Sequence[str]) -> Scores:
    """The cosine of each choice with its row's scene, both weighted by TF-IDF over words and signs."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, sizes = [text for row in options for text in row], [len(row) for row in options]
    tfidf = TfidfVectorizer(sublinear_tf=True, token_pattern=TOKENS).fit([*texts, *scenes])
    beside = tfidf.transform(scenes)[np.repeat(np.arange(len(sizes)), sizes)]
    cosines = np.asarray(tfidf.transform(texts).multiply(beside).sum(axis=1)).ravel()
    return [part.tolist() for part in np.split(cosines.round(9), np.cumsum(sizes)[:-1])]


def _each(measure: Callable[[str], float]) -> Callable[[Options, Sequence[str]], Scores]:
    return lambda options, scenes: [[measure(text) for text in row] for row in options]


RULES: Mapping[str, Callable[[Options, Sequence[str]], Scores]] = {
    "first": lambda options, scenes: [[-float(i) for i in range(len(row))] for row in options],
    "longest": _each(lambda text: float(len(text))),
    "shortest": _each(lambda text: -float(len(text))),
    "most words": _each(lambda text: float(len(text.split()))),
    "fewest words": _each(lambda text: -float(len(text.split()))),
    "most punctuation": _each(lambda text: float(punctuation(text))),
    "most frequent": lambda options, scenes: [[float(n) for n in row] for row in occurrences(options)],
    "rarest": lambda options, scenes: [[-float(n) for n in row] for row in occurrences(options)],
    "overlap": lambda options, scenes: [
        [overlap(text, scene) for text in row] for row, scene in zip(options, scenes, strict=True)
    ],
    "TF-IDF": likeness,
}
"""Rule -> the score of each choice, from the choices of all rows and the scene of each row as text."""


# ---- learnt rules -------------------------------------------------------------------------------


def classified(texts: Sequence[str], labels: Sequence[str], groups: Sequence[Hashable]) -> list[str] | None:
    """A label for each text by logistic regression over TF-IDF of one and two words, fitted on other groups.

    Five folds keep a group together. None where fewer than five groups have a label, or a fold lacks one.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold
    from sklearn.pipeline import make_pipeline

    every = sorted(set(labels))
    if min(len({g for g, x in zip(groups, labels, strict=True) if x == y}) for y in every) < FOLDS or len(every) < 2:
        return None
    found = [""] * len(texts)
    for train, test in StratifiedGroupKFold(FOLDS).split(texts, labels, groups):
        if len({labels[i] for i in train}) < len(every):
            return None
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=TOKENS)
        model = make_pipeline(words, LogisticRegression(max_iter=1000))
        model.fit([texts[i] for i in train], [labels[i] for i in train])
        for i, label in zip(test, model.predict([texts[i] for i in test]), strict=True):
            found[i] = str(label)
    return found


def answer_only(options: Options, right: Sequence[int], groups: Sequence[Hashable], keys: Options) -> Scores | None:
    """The score of each choice by its text alone: logistic regression of "is the answer" over its character n-grams.

    Five folds keep a group together. A text of a row that is scored is not fitted on, in whatever row it stands:
    otherwise a caption that is the answer of one row and a distractor of others would be known from those. `keys` are
    the choices as they are compared. None where there are fewer than two groups.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    sizes = np.array([len(row) for row in options])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    is_answer = np.zeros(starts[-1], dtype=bool)
    is_answer[starts[:-1] + np.asarray(right)] = True
    texts, of_text = _distinct(options)
    _, of_key = _distinct(keys)
    grams = _ngrams(texts)
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    scores = np.zeros(starts[-1])
    for test in _folds(groups):
        inside = np.isin(of_row, test)
        fitted = ~inside & ~np.isin(of_key, of_key[inside])
        # Each distinct text once as an answer and once as none, by how often it is.
        weights = [np.bincount(of_text[fitted & each], minlength=len(texts)) for each in (is_answer, ~is_answer)]
        if not all(weight.any() for weight in weights):
            return None
        kept = [np.flatnonzero(weight) for weight in weights]
        model = LogisticRegression(solver="liblinear", dual=True, max_iter=1000, random_state=0).fit(
            grams[np.concatenate(kept)],
            np.repeat([True, False], [len(each) for each in kept]),
            sample_weight=np.concatenate([weight[each] for weight, each in zip(weights, kept, strict=True)]),
        )
        scores[inside] = model.decision_function(grams)[of_text[inside]]
    return [part.tolist() for part in np.split(scores.round(9), starts[1:-1])] if len(set(groups)) > 1 else None


def _distinct(options: Options) -> tuple[list[str], Any]:
    """The distinct texts, and the number of each choice's text."""
    import numpy as np

    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(text, len(numbers)) for row in options for text in row])
    return list(numbers), codes


def ridge(features: Any, values: Sequence[float], groups: Sequence[Hashable]) -> list[float] | None:
    """Values predicted by ridge regression fitted on other groups, five folds. None with fewer than two groups.

    features: a matrix [rows, features], or texts, whose character n-grams are used.
    """
    import numpy as np
    from sklearn.linear_model import Ridge

    matrix = features if hasattr(features, "shape") else _ngrams(features)
    y, found = np.asarray(values, dtype=float), np.zeros(len(values))
    if len(set(groups)) < 2:
        return None
    for test in _folds(groups):
        train = np.setdiff1d(np.arange(len(y)), test)
        model = Ridge(solver="lsqr").fit(matrix[train], y[train])
        found[test] = model.predict(matrix[test])
    return [float(value) for value in found.round(9)]


def _folds(groups: Sequence[Hashable]) -> list[Any]:
    """The rows of each fold; groups stay whole, and folds are as equal as the groups' sizes admit."""
    from sklearn.model_selection import GroupKFold

    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(group, len(numbers)) for group in groups]
    if len(numbers) < 2:
        return []
    return [test for _, test in GroupKFold(min(FOLDS, len(numbers))).split(codes, groups=codes)]


def _ngrams(texts: Sequence[str]) -> Any:
    """Rows of hashed character n-grams (2 to 4, within words) of unit length; hashing sees no text but its own."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(analyzer="char_wb", ngram_range=(2, 4), n_features=2**18).transform(map(encodable, texts))

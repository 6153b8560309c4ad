"""Resources of features and networks: frozen encoders, static word vectors, graphs of related words, word counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import decode, lines_of
from humor_tasks.models.folders import not_loaded
from humor_tasks.models.humicroedit.encodings import Encodings, identity
from humor_tasks.models.weight_files import check_weights
from humor_tasks.rows.pins import WEIGHTS

# ---- encoders and word vectors --------------------------------------------------------------------

MAX_TOKENS = 128
WORDS = 400_000  # vectors read from a file: the first ones, because such files are sorted by frequency


def open_encoder(name: str) -> tuple[Any, Any]:
    """(tokenizer, float32 model) of a hub id or a folder; its code is not executed. Raises BadInput where loading
    fails.
    """
    from transformers import AutoModel, AutoTokenizer

    revision = WEIGHTS.get(name, "main")
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision, trust_remote_code=False)
        model = AutoModel.from_pretrained(
            name, revision=revision, trust_remote_code=False, use_safetensors=True
        ).float()
    except Exception as problem:  # transformers, safetensors and pickle raise different classes
        raise not_loaded(f"encoder {name}", name, problem) from None
    if not tokenizer.is_fast:
        raise BadInput(f"encoder {name}: its tokenizer has no character offsets; a fast tokenizer is needed.")
    return tokenizer, model


class FrozenEncoder:
    """Unit vectors of texts: the mean of an encoder's last hidden states. Each distinct text is encoded once.

    encodings: a folder that keeps the vectors, for further processes.
    """

    def __init__(self, name: str, batch_size: int = 64, encodings: Path | None = None) -> None:
        import torch

        self.tokenizer, self.model = open_encoder(name)
        self.batch_size = batch_size
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.to(self.device).eval()
        self._kept = Encodings(encodings, identity(self.tokenizer, self.model, MAX_TOKENS)) if encodings else None
        self._cache: dict[str, Any] = self._kept.read() if self._kept else {}

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 numpy array [len(texts), dimensions]."""
        import numpy as np

        new = sorted({text for text in texts if text not in self._cache}, key=lambda text: (len(text), text))
        for start in range(0, len(new), self.batch_size):
            batch = new[start : start + self.batch_size]
            self._cache.update(zip(batch, self._vectors(batch), strict=True))
        if self._kept and new:
            self._kept.keep({text: self._cache[text] for text in new})
        return np.stack([self._cache[text] for text in texts])

    def _vectors(self, texts: list[str]) -> Any:
        import torch

        read = self.tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        read = read.to(self.device)
        with torch.inference_mode():
            states = self.model(**read).last_hidden_state  # [texts, tokens, dimensions]
        weights = read["attention_mask"].unsqueeze(-1).to(states.dtype)
        means = (states * weights).sum(1) / weights.sum(1).clamp(min=1)
        return torch.nn.functional.normalize(means, dim=-1).cpu().numpy()

    def save(self, folder: Path) -> None:
        """Save tokenizer and weights, as `open_encoder` reads them."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


class WordVectors:
    """Static word vectors. Several words get their mean vector, without unknown words; no known word gives zeros."""

    def __init__(self, words: Sequence[str], table: Any) -> None:
        self.words = list(words)
        self.table = table  # [words, dimensions], float16
        self._index = {word: i for i, word in reversed(list(enumerate(self.words)))}

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 numpy array [len(texts), dimensions]."""
        import numpy as np

        vectors = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for row, text in enumerate(texts):
            found_rows = [place for word in text.split() if (place := self._row_of(word)) is not None]
            if found_rows:
                vectors[row] = self.table[found_rows].astype(np.float32).mean(0)
        return vectors

    def _row_of(self, word: str) -> int | None:
        return self._index.get(word, self._index.get(word.lower()))

    def save(self, folder: Path) -> None:
        """Write words.json and vectors.safetensors."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        (folder / "words.json").write_text(json.dumps(self.words, ensure_ascii=False), encoding="utf-8")
        save_file({"vectors": self.table}, folder / "vectors.safetensors")

    @classmethod
    def saved(cls, folder: Path) -> WordVectors:
        """Load what `save` wrote."""
        from safetensors.numpy import load_file

        check_weights(folder / "vectors.safetensors", "humicroedit")
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return cls(words, load_file(folder / "vectors.safetensors")["vectors"])

    @classmethod
    def read(cls, path: Path) -> WordVectors:
        """Read a text file with a word and its numbers per line, with word2vec's header or without, as GloVe's.

        Raises BadInput naming file and line.
        """
        import numpy as np

        if not path.is_file():
            raise BadInput(f"vectors {path}: there is no such file.")
        words: list[str] = []
        rows: list[Any] = []
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                cells = line.rstrip("\n").rstrip(" ").split(" ")
                if len(words) == WORDS or (number == 1 and len(cells) == 2 and all(map(str.isdecimal, cells))):
                    continue
                size = rows[0].size if rows else len(cells) - 1
                try:
                    row = np.array([float(cell) for cell in cells[-size:]], np.float16)
                except ValueError:
                    row = np.zeros(0, np.float16)
                if len(cells) <= size or not row.size or not np.isfinite(row).all():
                    raise BadInput(f"vectors {path}, line {number}: is not a word with {size} numbers.")
                words.append(" ".join(cells[:-size]))
                rows.append(row)
        if not rows:
            raise BadInput(f"vectors {path}: there are no vectors.")
        return cls(words, np.stack(rows))

    @classmethod
    def of_encoder(cls, name: str, words: Sequence[str]) -> WordVectors:
        """The vectors of `words` from an encoder's embedding layer: the mean over a word's subword tokens, without
        context.
        """
        import numpy as np
        import torch

        tokenizer, model = open_encoder(name)
        layer = model.get_input_embeddings().weight.detach()
        distinct = sorted({word for text in words for word in text.split()})
        pieces = tokenizer(distinct, add_special_tokens=False)["input_ids"]
        blank = torch.zeros(layer.shape[1])
        table = [layer[torch.tensor(p)].mean(0) if p else blank for p in pieces]
        return cls(distinct, torch.stack(table).numpy().astype(np.float16))


# ---- relations of words ---------------------------------------------------------------------------

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

        Raises BadInput naming a place that does not exist or holds no relation.
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
        neighbours = self.counts.indices[self.counts.indptr[at] : self.counts.indptr[at + 1]]
        return frozenset(self.words[i] for i in neighbours)


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
            cells = decode(path, raw, i).rstrip("\r\n").split("\t")
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
            counts = counter.fit_transform(lines).astype("float32")
        except ValueError:
            raise BadInput("corpus: there is no word in it.") from None
        return cls(counter.get_feature_names_out().tolist(), (counts.T @ counts).tocsr())

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

"""Frozen text representations: sentence embeddings of an encoder, and static word vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.models.folders import not_loaded

MAX_TOKENS = 128
WORDS = 400_000  # vectors read from a file: the first ones, because such files are sorted by frequency


def open_encoder(name: str) -> tuple[Any, Any]:
    """(tokenizer, float32 model) of a hub id or a folder; its code is not executed. Raises BadInput where loading
    fails.
    """
    from transformers import AutoModel, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        model = AutoModel.from_pretrained(name, trust_remote_code=False, use_safetensors=True).float()
    except Exception as problem:  # transformers, safetensors and pickle raise different classes
        raise not_loaded(f"encoder {name}", name, problem) from None
    if not tokenizer.is_fast:
        raise BadInput(f"encoder {name}: its tokenizer has no character offsets; a fast tokenizer is needed.")
    return tokenizer, model


class FrozenEncoder:
    """Unit vectors of texts: the mean of an encoder's last hidden states. Each distinct text is encoded once."""

    def __init__(self, name: str, batch_size: int = 64) -> None:
        import torch

        self.tokenizer, self.model = open_encoder(name)
        self.batch_size = batch_size
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.to(self.device).eval()
        self._cache: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """float32 numpy array [len(texts), dimensions]."""
        import numpy as np

        new = sorted({text for text in texts if text not in self._cache}, key=lambda text: (len(text), text))
        for start in range(0, len(new), self.batch_size):
            batch = new[start : start + self.batch_size]
            self._cache.update(zip(batch, self._vectors(batch), strict=True))
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

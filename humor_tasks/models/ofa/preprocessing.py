"""OFA's preprocessing of texts and pictures.

Texts: GPT-2's byte-level BPE with fairseq's ids, image codes and location bins. `<s>` 0, `<pad>` 1, `</s>` 2,
`<unk>` 3, the words of the dictionary from 4, `<mask>` after them, then `<code_0>` to `<code_8191>` and `<bin_0>` to
`<bin_999>`: 59,457 in the published vocabulary.

Pictures: RGB, resized to a square without keeping the aspect ratio, values in -1..1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import write_json
from humor_tasks.models.pictures import Pixels

if TYPE_CHECKING:
    import torch

BOS, PAD, EOS, UNK = range(4)
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
CODES, BINS = 8192, 1000
HUGGING_FACE = ("vocab.json", "merges.txt")
FAIRSEQ = ("dict.txt", "encoder.json", "vocab.bpe")


class Tokenizer:
    """Conversion of texts to token ids and back; `load` reads a checkpoint folder's vocabulary."""

    def __init__(self, words: dict[str, int], merges: Sequence[tuple[str, str]], where: str) -> None:
        """`words` maps the four special tokens, the dictionary and `<mask>` to ids from 0; `where` names the files.

        Raises BadInput for a vocabulary that is incomplete or inconsistent.
        """
        from tokenizers import AddedToken, pre_tokenizers
        from tokenizers import Tokenizer as Library
        from tokenizers.decoders import ByteLevel
        from tokenizers.models import BPE

        _check(words, pre_tokenizers.ByteLevel.alphabet(), where)
        self.mask = words["<mask>"]
        self.code = self.mask + 1
        self.bin = self.code + CODES
        self.size = self.bin + BINS
        for left, right in merges:
            if not {left, right, left + right} <= words.keys():
                raise BadInput(
                    f"{where}: lacks a word of the pair '{left} {right}'; the files are of two vocabularies."
                )
        produced = {left + right for left, right in merges}
        lacking = [w for w in words if len(w) > 1 and w not in produced and not re.fullmatch(r"<.+>|madeupword\d+", w)]
        if len(lacking) > len(produced) / 100:  # a few may be added words
            missing = listed("word", lacking, most=3)
            raise BadInput(f"{where}: no merge produces {missing}. The merges file is truncated; copy it again.")
        model = BPE(words, list(merges))
        self._plain, self._marked = Library(model), Library(model)
        for library in (self._plain, self._marked):
            library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            library.decoder = ByteLevel()
        # As in the published tokenizer, codes and bins absorb the spaces on both sides, <mask> those before it.
        both = [f"<code_{i}>" for i in range(CODES)] + [f"<bin_{i}>" for i in range(BINS)]
        marks = [AddedToken(name, lstrip=True, rstrip=True, normalized=False) for name in (*SPECIAL, *both)]
        marks.insert(len(SPECIAL), AddedToken("<mask>", lstrip=True, normalized=False))
        self._marked.add_tokens(marks)

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        """The tokenizer of a checkpoint folder, in Hugging Face's or fairseq's format.

        Raises BadInput naming the files looked for.
        """
        if all((folder / name).is_file() for name in HUGGING_FACE):
            words = _read_json(folder / HUGGING_FACE[0])
            # Some copies also list the codes and bins.
            words = {word: i for word, i in words.items() if not re.fullmatch(r"<(code|bin)_\d+>", word)}
            return cls(words, _read_merges(folder / HUGGING_FACE[1]), str(folder / HUGGING_FACE[0]))
        if all((folder / name).is_file() for name in FAIRSEQ):
            return cls(_renumbered(folder), _read_merges(folder / FAIRSEQ[2]), str(folder / FAIRSEQ[0]))
        raise BadInput(
            f"{folder}: there is no vocabulary. Looked for {' and '.join(HUGGING_FACE)}, and for "
            f"{', '.join(FAIRSEQ)}; copy one of the two sets from the published checkpoint into the folder."
        )

    def encode(self, text: str, marks: bool = True) -> list[int]:
        """`<s>`, the text, `</s>`. Without `marks`, "<bin_5>" and the like in the text are plain text.

        Raises BadInput for a lone surrogate.
        """
        if lone := re.search("[\ud800-\udfff]", text):
            raise BadInput(f"the text contains a lone surrogate ({lone[0]!r}); remove it.")
        library = self._marked if marks else self._plain
        return [BOS, *library.encode(text, add_special_tokens=False).ids, EOS]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` without special tokens; codes and bins become their names, separated by spaces."""
        parts: list[str] = []
        run: list[int] = []
        for i in ids:
            if not 0 <= i < self.size:
                raise BadInput(f"token {i} is outside OFA's vocabulary of {self.size}.")
            if i >= self.code:
                parts += [self._text(run), self._name(i)]
                run = []
            elif i != self.mask and i >= len(SPECIAL):
                run.append(i)
        return " ".join(part for part in (*parts, self._text(run)) if part)

    def pad(self, rows: Sequence[Sequence[int]]) -> torch.Tensor:
        """int64 [rows, longest], padded on the right."""
        from humor_tasks.models.devices import padded

        return padded(rows, PAD)

    def _text(self, ids: Sequence[int]) -> str:
        return str(self._plain.decode(list(ids), skip_special_tokens=False)) if ids else ""

    def _name(self, i: int) -> str:
        return f"<bin_{i - self.bin}>" if i >= self.bin else f"<code_{i - self.code}>"


def clean(text: str, most_words: int | None = None, caption: bool = False) -> str:
    """The text preprocessing of OFA's training, for a question or a caption.

    Lower case, without `,.!?*#:;~` at the start; hyphens and slashes become spaces, and runs of whitespace one space.
    In a caption `<person>` becomes "person".
    """
    text = text.lower().lstrip(",.!?*#:;~").replace("-", " ").replace("/", " ")
    if caption:
        text = text.replace("<person>", "person")
    text = re.sub(r"\s{2,}", " ", text).rstrip("\n").strip(" ")
    return " ".join(text.split(" ")[:most_words])


def prompt(question: str) -> str:
    """The question in OFA's input format: cleaned, after one space, with a question mark at its end."""
    if not isinstance(question, str):
        raise BadInput(f"the question is of type {type(question).__name__}; it must be text.")
    cleaned = clean(question).strip()
    if not cleaned.strip("? "):
        raise BadInput("the question is empty; OFA needs a question about the picture.")
    return f" {cleaned}" if cleaned.endswith("?") else f" {cleaned}?"


def _check(words: dict[str, int], letters: Sequence[str], where: str) -> None:
    expected = dict(zip(SPECIAL, range(len(SPECIAL)), strict=True)) | {"<mask>": len(words) - 1}
    for word, i in expected.items():
        if words.get(word) != i:
            raise BadInput(f"{where}: {word} is {words.get(word)} and not {i}; this is not OFA's vocabulary.")
    if sorted(words.values()) != list(range(len(words))):
        raise BadInput(f"{where}: the numbers of its {len(words)} words do not run from 0 to {len(words) - 1}.")
    if lacking := sorted(set(letters) - words.keys()):
        raise BadInput(
            f"{where}: lacks {len(lacking)} of the 256 bytes ({' '.join(lacking[:5])}); some text cannot be encoded."
        )


def _renumbered(folder: Path) -> dict[str, int]:
    """fairseq's ids: dict.txt lists GPT-2's id of each word, and the line number determines the new id."""
    numbers = {str(number): word for word, number in _read_json(folder / "encoder.json").items()}
    words = dict(zip(SPECIAL, range(len(SPECIAL)), strict=True))
    for line, text in enumerate(_read_text(folder / "dict.txt").splitlines(), 1):
        symbol = text.rsplit(" ", 1)[0]
        word = numbers.get(symbol, symbol)
        if word in words:
            raise BadInput(f"{folder / 'dict.txt'}, line {line}: {symbol} is repeated.")
        words[word] = len(words)
    return words | {"<mask>": len(words)}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"{path}: cannot be read as UTF-8 text ({problem}).") from None


def _read_json(path: Path) -> dict[str, int]:
    try:
        ids = json.loads(_read_text(path))
    except (ValueError, RecursionError) as problem:
        if isinstance(problem, BadInput):
            raise
        raise BadInput(f"{path}: is not JSON ({problem}).") from None
    if not isinstance(ids, dict) or not all(type(number) is int for number in ids.values()):
        raise BadInput(f"{path}: must be an object that maps words to ids.")
    return ids


def _read_merges(path: Path) -> list[tuple[str, str]]:
    pairs = []
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise BadInput(f"{path}, line {number}: {line!r} is not a pair.")
        pairs.append((left, right))
    return pairs


# ---- pictures -------------------------------------------------------------------------------------

STRIDE = 16  # pixels of one patch
RECORD = "preprocessor_config.json"


def square(size: int) -> Pixels:
    """Preprocessing to `size` x `size` with PIL's antialiased bicubic filter; mean and standard deviation .5.

    Raises BadInput for a size that is not a multiple of 16.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < STRIDE or size % STRIDE:
        raise BadInput(f"image size is {size!r}; it must be a multiple of {STRIDE} pixels, such as 384 or 480.")
    return Pixels(size, "stretch", (0.5,) * 3, (0.5,) * 3)


def recorded_size(folder: Path) -> int | None:
    """The picture size recorded in a checkpoint's folder; None where none is recorded, as in published checkpoints.

    Raises BadInput for a record that is unreadable or not square, because another size would change the model's input.
    """
    path = folder / RECORD
    if not path.is_file():
        return None
    record = json_object(path)
    if "size" not in record:
        return None
    size = record["size"]
    height, width = (size.get("height"), size.get("width")) if isinstance(size, dict) else (size, size)
    if height is None or height != width:
        raise BadInput(f"{path}: size is {size}; only squares are supported. Give image_size to override it.")
    try:
        return square(height).size
    except BadInput as problem:
        raise BadInput(f"{path}: {problem}") from None


def record_size(folder: Path, size: int) -> None:
    """Record the picture size in a checkpoint's folder."""
    write_json(
        folder / RECORD, {"size": {"height": size, "width": size}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    )

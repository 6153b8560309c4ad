"""BBEH, nycc: which of ten captions for a described cartoon won?

Kazemi et al., ACL 2025, arXiv 2502.19187. A row is a question as one text; description and captions are read from it,
so that models of any kind see them apart.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from humor_tasks.contract.answers import Choice
from humor_tasks.contract.card import UNNAMED, Card, Source, guessed
from humor_tasks.contract.card import Level as Level
from humor_tasks.contract.choice import lettered, outcome, rotate
from humor_tasks.contract.definition import Benchmark, Data, Run
from humor_tasks.contract.metric import ACCURACY, REPLY_RATES
from humor_tasks.contract.options import Options, absent, parameter
from humor_tasks.contract.prompts import Template, filled_turns
from humor_tasks.contract.variants import variants
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import parse_json, read_body
from humor_tasks.papers.considerations import considerations
from humor_tasks.papers.papers import Paper
from humor_tasks.rows import fetch
from humor_tasks.rows.records import Prompt, Record

PUBLIC = "google-deepmind/bbeh"
COMMIT = "80d12ca916b7158f22293fcf3144f4d3d854d4be"
SHA256 = "67c9a9dca40e6ec820a279da19a019cedd5427fbaaae3fd175cdb74965474b08"
FILE = "task.json"
URL = f"https://raw.githubusercontent.com/{PUBLIC}/{COMMIT}/bbeh/benchmark_tasks/bbeh_nycc/{FILE}"
LETTERS = "ABCDEFGHIJ"
ASK = Template("bbeh", "nycc.txt", required=("description", "choices"))
_DESCRIPTION = re.compile(r"^ *Description: (.+?)\n\n", re.M | re.S)
_CAPTION = re.compile(r"^\(([A-Z])\) ", re.M)


@dataclass(frozen=True)
class NyccOptions(Options):
    """Parameters of BBEH's nycc."""

    dataset: str = parameter(
        PUBLIC, "The public questions (downloaded once, pinned), a file task.json, a folder with it, or `sample`."
    )
    revision: str | None = absent(None, "the public file is pinned by SHA-256; for another file use dataset=<file>.")
    split: Literal["test"] = "test"
    shots: int = absent(0, "BBEH has no training rows and therefore no worked examples; leave shots out.")
    extraction: Literal["strict"] = "strict"
    seed: int = parameter(1234, "Seed of random guesses.")


def load(benchmark: Benchmark[NyccOptions], o: NyccOptions) -> Data:
    """One record per question."""
    path = _path(o.dataset)
    text = read_body(path)
    document = parse_json(path, text)
    rows = document.get("examples") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or not rows:
        raise BadInput(f'{path}: must be JSON with a list of questions, {{"examples": [{{"input", "target"}}]}}.')
    records: dict[str, Record] = {}
    for i, row in enumerate(rows, 1):
        made = record(row, f"{path}, example {i}")
        if made.id in records:
            raise BadInput(f"{path}, example {i}: the same question as an earlier one. Remove one of them.")
        records[made.id] = made
    source: dict[str, Any] = {"dataset": o.dataset, "configs": [path.name], "split": o.split}
    source |= {"requested_revision": None, "revision": COMMIT if o.dataset == PUBLIC else None, "rows": len(records)}
    return Data(tuple(records.values()), source | {"fingerprint": hashlib.sha256(text.encode()).hexdigest()})


def _path(dataset: str) -> Path:
    if dataset == PUBLIC:
        return fetch(FILE, SHA256, (URL,))
    path = Path(folder("bbeh")) if dataset == "sample" else Path(dataset).expanduser()
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise BadInput(
            f"dataset={dataset} is neither '{PUBLIC}' (the public file, downloaded once), nor 'sample', nor a JSON "
            f"file, nor a folder with {FILE}.{nearest(dataset, [PUBLIC, 'sample'])}"
        )
    return path


def record(row: Any, where: str) -> Record:
    """A question as a record. Raises BadInput, naming it, for one of another form."""
    if not isinstance(row, Mapping) or not all(isinstance(row.get(name), str) for name in ("input", "target")):
        raise BadInput(f"{where}: must have the texts 'input' and 'target'.")
    described, parts = _DESCRIPTION.search(row["input"]), _CAPTION.split(row["input"])
    if described is None:
        raise BadInput(f"{where}: input has no line 'Description: ...' with a blank line after it.")
    if "".join(parts[1::2]) != LETTERS or not all(caption.strip() for caption in parts[2::2]):
        raise BadInput(f"{where}: input must have ten captions, lines that begin with (A) to (J), in order.")
    if row["target"].strip("() ") not in tuple(LETTERS):
        raise BadInput(f"{where}: target is {row['target']!r}; it must be a letter from (A) to (J).")
    description = " ".join(described[1].split())
    captions = tuple(" ".join(caption.split()) for caption in parts[2::2])
    identity = f"nycc-{hashlib.sha256(row['input'].encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return Record(
        id=identity,
        cluster=identity,
        fields={"description": description, "choices": lettered(captions)},
        context=description,
        choices=captions,
        target=row["target"].strip("() "),
        groups={},
    )


def prompt(run: Run[NyccOptions], record: Record) -> Prompt:
    """The prompt with the description and the captions."""
    return Prompt(tuple(filled_turns(run.templates[ASK.name], record.fields, ASK.name)))


BBEH = Paper(
    key="bbeh",
    citation="Kazemi et al., ACL 2025, arXiv 2502.19187",
    title="BIG-Bench Extra Hard",
    arxiv="2502.19187",
    code="https://github.com/google-deepmind/bbeh",
    bibtex="""@misc{kazemi2025bbeh,
  title = {{BIG}-Bench Extra Hard},
  author = {Kazemi, Mehran and others},
  year = {2025},
  eprint = {2502.19187},
  archivePrefix = {arXiv}
}""",
)

BBEH_NYCC = Benchmark(
    name="bbeh_nycc",
    card=Card(
        title="BBEH: the caption that won",
        considerations=considerations("bbeh", "bbeh_nycc"),
        paper=BBEH,
        source=Source(
            PUBLIC,
            f"The file is pinned by SHA-256, at commit {COMMIT}.",
            {FILE: SHA256},
            "CC BY 4.0 for the data, Apache 2.0 for the software.",
            "`bbeh/benchmark_tasks/bbeh_nycc/task.json`.",
        ),
        question="BBEH, nycc: which of ten captions for a described cartoon won?",
        claim="A model with a sense of what people find funny picks the caption that won among ten.",
        prompt="The cartoon in words and ten captions; the model reasons before it answers.",
        metrics="Accuracy; each question is a cluster of its own, because no cartoon repeats.",
        sampling=UNNAMED,
        splits={"test": 200},
        dates="The captions are of contests before 2025; the file does not say which.",
        chance=guessed(0.1, "one of ten captions is right", "accuracy"),
        wordings="On the 200 questions in ten orders, MiniLM (`embedding/`) has .110 at every letter, "
        "`baseline/overlap` .355 where A is right and .07 to .08 elsewhere. Neither reads the prompt, so that "
        "`spread` is 0 [0, .02].",
        related=("ranking", "crowd_pairs", "crowd_groups"),
        needs="one public file",
    ),
    corpus="bbeh",
    version="1-A",
    answer=Choice(LETTERS),
    metrics=(ACCURACY, *REPLY_RATES),
    options=NyccOptions,
    templates=(ASK,),
    load=load,
    prompt=prompt,
    outcome=outcome,
    rotate=rotate,
    lm_eval=variants("bbeh_nycc_humor", "multiple_choice", "generate_until", wordings=True),
    suites={"text": {}},
    ability="funnier",
)

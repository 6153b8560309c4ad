"""Input of the Humicroedit analysis: systems (Inspect logs, lm-eval samples, submission files) and embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from humor_tasks.api import check_ids, load
from humor_tasks.benchmarks.humicroedit.corpus import PUBLIC, headlines_of
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.logs.predictions import read_predictions
from humor_tasks.results.analysis.humicroedit import ALL, MEAN, Embed, Headline, Pair, System
from humor_tasks.results.submission import picks, read_answers
from humor_tasks.rows.records import Record


@dataclass(frozen=True)
class Corpus:
    """One split of both subtasks."""

    rating: Run
    pairwise: Run
    headlines: tuple[Headline, ...]
    pairs: tuple[Pair, ...]


def read_corpus(dataset: str = PUBLIC, split: str = "test") -> Corpus:
    """The rows of both subtasks; raises BadInput for a split without labels."""
    rating, pairwise = (
        load(f"humicroedit_{subtask}", dataset=dataset, split=split) for subtask in ("rating", "pairwise")
    )
    bare = [r.id for run in (rating, pairwise) for r in run.records if r.target is None]
    if bare:
        raise BadInput(f"{dataset}, split {split}: row {bare[0]} has no label; an analysis needs a labelled split.")
    headlines = tuple(Headline(r.id, r.cluster, _marked(r), float(str(r.target))) for r in rating.records)
    return Corpus(rating, pairwise, headlines, tuple(_pair(r) for r in pairwise.records))


def _marked(r: Record) -> str:
    parts = (r.fields["before"], f"[{r.fields['word']} → {r.fields['edit']}]", r.fields["after"])
    return " ".join(part for part in parts if part)


def _pair(r: Record) -> Pair:
    f = r.fields
    words, edits = (f["word1"], f["word2"]), (f["edit1"], f["edit2"])
    return Pair(
        r.id, headlines_of(r.id), r.cluster, 1 if r.target == "A" else 2, words, edits, float(r.facts["difference"])
    )


def read_systems(named: Sequence[str], corpus: Corpus) -> list[System]:
    """Systems from NAME=FILE; a file is an Inspect log, lm-eval's samples_*.jsonl or a submission's CSV.

    The files may be of either subtask. Raises BadInput for a malformed or repeated name, and as `read_system`.
    """
    systems: list[System] = []
    for pair in named:
        name, _, file = pair.partition("=")
        name = name.strip()
        if not (name and file):
            raise BadInput(f"{pair}: name a system and its file, as in gpt=logs/RUN.eval.")
        if name in (ALL, MEAN, *(system.name for system in systems)):
            raise BadInput(f"{pair}: there is another system called {name}.")
        systems.append(read_system(name, Path(file), corpus))
    return systems


def read_system(name: str, path: Path, corpus: Corpus) -> System:
    """The answers in one file. Raises BadInput for a file of another task, and for ids that do not match the split."""
    try:
        return _submitted(name, path, corpus) if path.suffix == ".csv" else _logged(name, path, corpus)
    except BadInput as problem:
        raise BadInput(str(problem) if str(path) in str(problem) else f"{path}: {problem}") from None


def _submitted(name: str, path: Path, corpus: Corpus) -> System:
    ids = set(read_predictions(path))
    of_pairs = ids & ({record.id for record in corpus.pairwise.records} | corpus.pairwise.data.dropped)
    run = corpus.pairwise if of_pairs else corpus.rating
    check_ids(run, ids)
    replies = read_predictions(path, run.form.from_submission)
    answers = {record.id: run.scored(record, replies[record.id]).answer for record in run.records}
    if of_pairs:
        places = {"A": 1, "B": 2}  # a submitted 0 (a tie) becomes None
        return System(name, {}, {identity: places.get(str(answer)) for identity, answer in answers.items()})
    return System(name, {identity: float(str(answer)) for identity, answer in answers.items()}, {})


def _logged(name: str, path: Path, corpus: Corpus) -> System:
    logged = read_answers(path)
    if not logged.subtask:
        raise BadInput(f"{path}: is no log of humicroedit_rating or humicroedit_pairwise.")
    if logged.subtask == "rating":
        check_ids(corpus.rating, logged.answers)
        return System(name, {i: None if a is None else float(a) for i, a in logged.answers.items()}, {})
    picked = picks(logged)
    check_ids(corpus.pairwise, picked)
    return System(name, {}, {identity: None if place is None else int(place) for identity, place in picked.items()})


def open_embedding(name: str) -> Embed:
    """An embedding of words: a text file of word vectors, or a sentence-transformers model (hub name or folder)."""
    if Path(name).is_file():
        from humor_tasks.models.humicroedit.resources import WordVectors

        vectors: Embed = WordVectors.read(Path(name)).embed
        return vectors
    from humor_tasks.models.choosers.embedding import Embedding

    return Embedding(name).embed

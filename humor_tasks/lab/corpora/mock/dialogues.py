"""Comedy: MUStARD (Castro et al., ACL 2019) and WITS (Kumar et al., ACL 2022) in their published formats.

MUStARD: `sarcasm_data.json`, {id: utterance, speaker, context, context_speakers, sarcasm}. Its clips, published
separately, are `utterances_final/ID.mp4` and, for the context, `context_final/ID_c.mp4`. WITS: `train_`, `val_` and
`test_data_final_plain.json`, {id: target_utterance, target_speaker, context_utterances, context_speakers,
english_explanation, code_mixed_explanation, episode_name, start_time, end_time}. All of WITS is sarcastic. Its clips
are not published; whoever has them names them by the file of the dialogue and its id: `val_ID.mp4` for the whole
dialogue, and `val_ID_c.mp4` for what is said before the last utterance. Dialogues with fewer than three utterances are
left out, as in MOCK, unless they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import json_object
from humor_tasks.lab.corpora.mock.items import Item, Media, Source, one_line, safe_id, split_files
from humor_tasks.rows.media.picture import Picture

MIN_UTTERANCES = 3
TOO_SHORT = f"fewer than {MIN_UTTERANCES} utterances"
SHARED_WORDS = 5
"""Dialogues that share an utterance of at least this many words are treated as one scene."""
WITS_FILES = {
    "train": ("train_data_final_plain.json", "train_text.json"),
    "validation": ("val_data_final_plain.json", "val_text.json"),
    "test": ("test_data_final_plain.json", "test_text.json"),
}
LANGUAGES = ("english", "code_mixed")
Turns = list[tuple[str, str]]
"""(speaker, text) of every utterance."""
# The apostrophe of Mac OS Roman (byte D5) read as Latin-1: "donÕt", "ThatÕs". ftfy leaves it, as it is a letter.
_MAC_APOSTROPHE = re.compile(r"(?<=[A-Za-z])Õ(?=[a-z])")


def read_mustard(path: Path, clips: Path | None, media: Media, keep_short: bool = False) -> Source:
    """The labelled dialogues of `sarcasm_data.json`; those that share an utterance share a media id.

    Wrongly decoded characters are mended; the source's notes say in how many dialogues, and in which they are left.
    keep_short: also dialogues of fewer than three utterances.
    """
    source = Source("MUStARD")
    dialogues: list[tuple[str, Turns, Turns, bool, str]] = []
    for identity, row, where in _rows(path):
        source.rows += 1
        names = ("context", "context_speakers", "utterance", "speaker")
        written = _turns(row, names, where)
        if not isinstance(row.get("sarcasm"), bool):
            raise BadInput(f"{where}: sarcasm is {row.get('sarcasm')!r:.60}; the label must be true or false.")
        if _is_kept(source, written, keep_short):
            turns = [(speaker, _decoded(text)) for speaker, text in written]
            dialogues.append((safe_id(identity, where), written, turns, row["sarcasm"], where))
    scenes = shared_footage({identity: [spoken for _, spoken in turns] for identity, _, turns, _, _ in dialogues})
    mended, wrong = 0, []
    for identity, written, turns, sarcastic, where in dialogues:
        folders = (clips / "utterances_final", clips / "context_final") if clips else None
        item_clips = _clips(source, identity, folders, "detecting", media, where)
        if item_clips is None:
            continue
        mended += turns != written
        wrong += [identity] if any(_is_wrongly_decoded(text) for _, text in turns) else []
        source.items.append(
            Item(
                id=f"mustard_{identity}",
                scene="comedy",
                source=source.name,
                media_id=f"mustard-{scenes[identity]}",
                line=turns[-1][1],
                turns=tuple(turns),
                label="yes" if sarcastic else "no",
                funny=sarcastic,
                media=item_clips,
            )
        )
    if mended:
        source.notes.append(f'Wrongly decoded characters mended: {mended:,} dialogues, such as "donÕt", now "don’t".')
    if wrong:
        source.notes.append(f"Wrongly decoded characters kept as written: {listed('dialogue', wrong)}.")
    return source


def _decoded(text: str) -> str:
    import ftfy

    return _MAC_APOSTROPHE.sub("’", ftfy.fix_encoding(text))


def _is_wrongly_decoded(text: str) -> bool:
    from ftfy.badness import is_bad

    return "Õ" in text or "�" in text or is_bad(text)


def _clips(
    source: Source, name: str, folders: tuple[Path, Path] | None, task: str, media: Media, where: str
) -> dict[str, Picture] | None:
    """Sub-task -> clip: for `task` the whole, for matching that of the context, because the last utterance is hidden.

    folders: those of whole clips and of contexts; None where no clips are given. Returns None for a row to leave out.
    """
    if folders is None:
        return {}
    whole = media.find(source, folders[0], f"{name}.mp4", where)
    before = media.find(source, folders[1], f"{name}_c.mp4", where) if whole is not None else None
    found = {of: clip for of, clip in ((task, whole), ("matching", before)) if clip is not None}
    return None if len(found) < 2 and media.missing == "drop" else found


def read_wits(path: Path, clips: Path | None, language: str, media: Media, keep_short: bool = False) -> Source:
    """The explained dialogues of WITS, with its splits; `language` of the explanations is english or code_mixed.

    clips: a folder with SPLIT_ID.mp4 and SPLIT_ID_c.mp4, where SPLIT is train, val or test. keep_short: also dialogues
    of fewer than three utterances.
    """
    source = Source("WITS")
    for split, file in split_files(path, WITS_FILES).items():
        for identity, row, where in _rows(file):
            source.rows += 1
            names = ("context_utterances", "context_speakers", "target_utterance", "target_speaker")
            turns = _turns(row, names, where)
            if not _is_kept(source, turns, keep_short):
                continue
            if f"{language}_explanation" not in row:
                known = [name for name in LANGUAGES if f"{name}_explanation" in row]
                raise BadInput(f"{where}: has no {language}_explanation; choose --wits-explanations {known or '?'}.")
            name = f"{WITS_FILES[split][0].partition('_')[0]}_{safe_id(identity, where)}"
            item_clips = _clips(source, name, (clips, clips) if clips else None, "explaining", media, where)
            if item_clips is None:
                continue
            times = [one_line(row.get(name), name, where) for name in ("episode_name", "start_time", "end_time")]
            source.items.append(
                Item(
                    id=f"wits_{split}_{safe_id(identity, where)}",
                    scene="comedy",
                    source=source.name,
                    media_id="wits-" + " ".join(times),
                    line=turns[-1][1],
                    turns=tuple(turns),
                    split=split,
                    funny=True,
                    explanation=one_line(row[f"{language}_explanation"], f"{language}_explanation", where),
                    media=item_clips,
                )
            )
    return source


def _is_kept(source: Source, turns: Sequence[object], keep_short: bool) -> bool:
    """Whether a dialogue is kept; one that is not is counted."""
    long_enough = keep_short or len(turns) >= MIN_UTTERANCES
    source.dropped[TOO_SHORT] += not long_enough
    return long_enough


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """(id, row, location) of a file with one JSON object of rows."""
    for identity, row in json_object(path, "dialogues by id").items():
        where = f"{path}, id {identity:.60}"
        if not isinstance(row, dict):
            raise BadInput(f"{where}: must be a dialogue, not {row!r:.60}.")
        yield identity, row, where


def _turns(row: Mapping[str, Any], names: Sequence[str], where: str) -> Turns:
    """(speaker, text) of every utterance; `names` are the fields of context, its speakers, last utterance and its
    speaker.
    """
    spoken, speakers = (row.get(name) for name in names[:2])
    if not isinstance(spoken, list) or not isinstance(speakers, list) or len(spoken) != len(speakers):
        raise BadInput(f"{where}: {names[0]} and {names[1]} must be lists of the same length.")
    utterances_with_speakers = [*zip(speakers, spoken, strict=True), (row.get(names[3]), row.get(names[2]))]
    return [
        (one_line(speaker, "a speaker", where), one_line(text, "an utterance", where))
        for speaker, text in utterances_with_speakers
    ]


def shared_footage(dialogues: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Dialogue -> the first dialogue connected with it by shared utterances of SHARED_WORDS words or more."""
    parent = {identity: identity for identity in dialogues}

    def root(identity: str) -> str:
        while parent[identity] != identity:
            parent[identity] = identity = parent[parent[identity]]
        return identity

    seen: dict[str, str] = {}
    for identity, utterances in dialogues.items():
        for utterance in utterances:
            if len(utterance.split()) >= SHARED_WORDS:
                first = seen.setdefault(utterance.casefold(), identity)
                parent[root(identity)] = root(first)
    return {identity: root(identity) for identity in dialogues}

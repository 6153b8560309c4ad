"""Small files in the published formats of MOCK's sources; every word is invented."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from PIL import Image
from standins.clips import clip

from humor_tasks.cli import main

Turns = Sequence[tuple[str, str]]


def dialogue(n: int, utterances: int = 3) -> Turns:
    """A dialogue of its own, by its number."""
    return [("ANN" if i % 2 else "BO", f"Utterance {i} of dialogue number {n}.") for i in range(utterances)]


def mustard(path: Path, dialogues: Mapping[str, tuple[Turns, Any]], **more: Any) -> Path:
    """`sarcasm_data.json` of {id: (turns, sarcasm)}."""
    made = {}
    for identity, (turns, label) in dialogues.items():
        *before, (speaker, utterance) = turns
        made[identity] = {"utterance": utterance, "speaker": speaker, "show": "BBT", "sarcasm": label}
        made[identity] |= {"context": [text for _, text in before], "context_speakers": [who for who, _ in before]}
        made[identity] |= more
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def mustard_clips(folder: Path, ids: Sequence[str]) -> Path:
    """`utterances_final/ID.mp4` and `context_final/ID_c.mp4`."""
    for place, ending in (("utterances_final", ""), ("context_final", "_c")):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for i, identity in enumerate(ids):
            (folder / place / f"{identity}{ending}.mp4").write_bytes(clip(3 + i + len(ending)))
    return folder


def wits(folder: Path, **splits: Mapping[str, Turns]) -> Path:
    """`{train,val,test}_data_final_plain.json` of {id: turns}."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, dialogues in splits.items():
        made = {}
        for identity, turns in dialogues.items():
            *before, (speaker, utterance) = turns
            made[identity] = {
                "episode_name": f"Episode of {name}",
                "target_speaker": speaker,
                "target_utterance": utterance,
                "context_speakers": [who for who, _ in before],
                "context_utterances": [text for _, text in before],
                "english_explanation": f"{speaker} mocks the number {identity}.",
                "code_mixed_explanation": f"{speaker} number {identity} ka mazak udata hai.",
                "sarcasm_target": "BO",
                "start_time": f"00:00:{int(identity):02}",
                "end_time": f"00:01:{int(identity):02}",
            }
        (folder / f"{name}_data_final_plain.json").write_text(json.dumps(made))
    return folder


def wits_clips(folder: Path, *names: str) -> Path:
    """`SPLIT_ID.mp4` of these names, and `SPLIT_ID_c.mp4`."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(names):
        for ending in ("", "_c"):
            (folder / f"{name}{ending}.mp4").write_bytes(clip(3 + i + len(ending)))
    return folder


def more(folder: Path, **splits: Sequence[Sequence[str]]) -> Path:
    """`{train,val,test}_df.tsv` of rows, without a header; fields with a quotation mark are quoted, as published."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in splits.items():
        with (folder / f"{name}_df.tsv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows)
    return folder


def cai(folder: Path, **splits: Sequence[Sequence[Any]]) -> Path:
    """`text/{train,valid2,test2}.txt`, a Python list a line."""
    (folder / "text").mkdir(parents=True, exist_ok=True)
    for name, rows in splits.items():
        (folder / "text" / f"{name}.txt").write_text("".join(f"{list(row)!r}\n" for row in rows), encoding="utf-8")
    return folder


def pictures(folder: Path, ids: Sequence[str]) -> Path:
    """`ID.jpg`, each of its own grey."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, identity in enumerate(ids):
        out = io.BytesIO()
        Image.new("L", (8, 8), 10 * i % 256).save(out, "JPEG")
        (folder / f"{identity}.jpg").write_bytes(out.getvalue())
    return folder


def build(out: Path, *arguments: object) -> Result:
    return CliRunner().invoke(main, ["build", "mock", "-o", str(out), *map(str, arguments)])


def built(out: Path, *arguments: object) -> str:
    done = build(out, *arguments)
    assert done.exit_code == 0, done.output
    return done.output


def rows(out: Path, config: str, split: str | None = None) -> list[dict[str, Any]]:
    files = sorted((out / config).glob("*.jsonl")) if split is None else [out / config / f"{split}.jsonl"]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def posts(folder: Path, n: int = 8) -> list[str]:
    """MORE's and Cai's files of n posts each; the ids of Cai's, the first two of which are MORE's too."""
    ids = [str(100 + i) for i in range(n)]
    labelled = [[identity, f'caption of n{identity} is "so" nice \'s', i % 2] for i, identity in enumerate(ids)]
    cai(folder / "cai", train=labelled[:-4], valid2=[[*r, r[2]] for r in labelled[-4:-2]],
             test2=[[*r[:2], 1 - r[2], r[2]] for r in labelled[-2:]])  # fmt: skip
    pictures(folder / "cai" / "dataset_image", ids)
    explained = [[ids[0], "caption of it", "why it is"], *([f"9{i}", f"more {i}", f"why {i}"] for i in range(4))]
    more(folder / "more", train=explained[1:], test=explained[:1])
    pictures(folder / "more" / "images", [row[0] for row in explained])
    return ids


def mustard_of(**wrong: Any) -> Any:
    return lambda p: ["--mustard", mustard(p / "m.json", {"1_1": (dialogue(1), True)}, **wrong)]


# ---- folders ------------------------------------------------------------------------------------


def dialogues(tmp: Path, n: int = 24) -> Path:
    """MUStARD's file of n dialogues, every second of which is sarcastic."""
    return mustard(tmp / "m.json", {f"1_{i}": (dialogue(i), bool(i % 2)) for i in range(n)})


def comedy_only(tmp: Path, *more: object) -> Path:
    """What `build mock --mustard FILE` writes: no cartoons, no posts, no clips."""
    built(tmp / "mock", "--mustard", dialogues(tmp), *more)
    return tmp / "mock"


def without_pictures(tmp: Path, *more: object) -> Path:
    """Comedy, and posts with neither pictures nor descriptions."""
    posts(tmp, 20)
    shutil.rmtree(tmp / "cai" / "dataset_image")
    return comedy_only(tmp, "--cai", tmp / "cai", "--missing", "keep", *more)


def build_refused(out: Path, *arguments: object) -> str:
    done = build(out, *arguments)
    assert done.exit_code == 2, done.output
    assert not out.exists()
    assert not list(out.parent.glob(f".{out.name}*"))
    return " ".join(done.output.replace("│", " ").split())


def own(folder: Path, lines: list[str], names: list[str]) -> Path:
    """A folder of a user's own pictures with items.csv."""
    pictures(folder, names)
    (folder / "items.csv").write_text("\n".join(["image,caption,label,explanation,split,id", *lines, ""]))
    return folder


def own_rows(*lines: str) -> Any:
    return lambda folder: ["--cartoonstock", own(folder / "cs", list(lines), ["0"])]

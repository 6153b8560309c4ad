"""Builds the packaged sample of MOCK: JSONL rows by scene, sub-task and split, and the pictures.

    python tools/samples/mock/make_sample.py [OUTPUT_FOLDER]

Everything comes from `items.toml` and `clips.json` (the words) and `cartoons.py` and `posts.py` (the pictures, drawn
with the pen of the caption contest's sample), so the same checkout always gives the same files. Without a folder the
files of the card are replaced. README.md is written by hand; the clips are made by `make_clips.py`.
"""

import json
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
CARD = HERE.parents[2] / "datasets_cards" / "mock"
sys.path.insert(0, str(HERE.parent / "newyorker_caption_contest"))

from cartoons import CARTOONS  # noqa: E402
from drawings.pen import Pen  # noqa: E402
from posts import POSTS  # noqa: E402

from humor_tasks.rows.canary import marked  # noqa: E402

# Of the eight media of a scene.
SPLITS = ("train", "train", "train", "validation", "validation", "test", "test", "test")
# The answer's place, over the media of a scene: each letter twice, and no pattern in a split.
ANSWERS = "BDACDBCA"
FIELDS = ("id", "scene", "media_id", "media", "caption", "dialogue", "description")
SUBTASKS = {"detecting": ("label",), "matching": ("options", "answer"), "explaining": ("explanation",)}


def items(scene: str) -> list[dict]:
    """The items of a scene with their media."""
    found = tomllib.loads((HERE / "items.toml").read_text(encoding="utf-8"))[scene]
    clips = {clip["file"]: clip for clip in json.loads((CARD / "clips.json").read_text(encoding="utf-8"))["clips"]}
    for number, item in enumerate(found, 1):
        item |= {"scene": scene, "media_id": f"{scene}_{number:02}", "split": SPLITS[number - 1]}
        if scene == "comedy":
            item |= {"media": f"clips/{item['clip']}", "turns": clips[item["clip"]]["turns"]}
        else:
            item |= {"media": f"images/{item['media_id']}.png", "turns": None}
    for item in found:  # the unrelated option is the next one's line, of the same split
        mates = [other for other in found if other["split"] == item["split"]]
        item["unrelated"] = mates[(mates.index(item) + 1) % len(mates)]["funny"]
    return found


def row(item: dict, line: str, kind: str) -> dict:
    """What the rows of all sub-tasks have in common: an item that says `line`."""
    base = {name: item[name] for name in ("scene", "media_id", "media", "description")}
    said: dict = {"caption": line, "dialogue": None}
    if item["turns"]:
        turns = [{"speaker": turn["speaker"], "text": turn["text"] or line} for turn in item["turns"]]
        said = {"caption": None, "dialogue": turns}
    whole = {"id": f"{item['media_id']}_{kind}", **base, **said}
    return {name: whole[name] for name in FIELDS}


def rows(item: dict, number: int) -> dict[str, list[dict]]:
    """Sub-task -> the rows of one item. The plain line stands in every second picture's first row."""
    funny, plain = (row(item, item[kind], f"detecting_{kind}") for kind in ("funny", "plain"))
    pair = [funny | {"label": "yes"}, plain | {"label": "no"}]
    answer = ANSWERS[number]
    options = [*item["others"], item["unrelated"]]
    if number % 2:
        options.reverse()
    options.insert("ABCD".index(answer), item["funny"])
    return {
        "detecting": pair[::-1] if number % 2 else pair,
        "matching": [row(item, item["funny"], "matching") | {"options": options, "answer": answer}],
        "explaining": [row(item, item["funny"], "explaining") | {"explanation": item["why"]}],
    }


def write_rows(path: Path, written: list[dict]) -> None:
    """One JSON object a line, source and canary last; the bytes are the same on every platform."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(marked(one | {"source": "humor-tasks sample"}), ensure_ascii=False) for one in written]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def main(out: Path) -> None:
    """Write every file of the sample under `out`."""
    for scene in ("cartoon", "post", "comedy"):
        files: dict[tuple[str, str], list[dict]] = {}
        for number, item in enumerate(items(scene)):
            for subtask, made in rows(item, number).items():
                files.setdefault((subtask, item["split"]), []).extend(made)
        for (subtask, split), written in files.items():
            write_rows(out / f"{scene}_{subtask}" / f"{split}.jsonl", written)
    (out / "images").mkdir(parents=True, exist_ok=True)
    for scene, drawings in (("cartoon", CARTOONS), ("post", POSTS)):
        for number, draw in enumerate(drawings, 1):
            pen = Pen(number)
            draw(pen)
            pen.save(out / "images" / f"{scene}_{number:02}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CARD)

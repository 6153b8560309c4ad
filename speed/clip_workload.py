"""Pictures, captions and instances of the caption contest's shape, for clip_speed.py and clip_lm_eval.py."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

from PIL import Image, ImageDraw

from humor_tasks.rows.media.picture import Picture

INSTANCES, CONTESTS = 2_651, 704  # of matching, all folds
LETTERS = "ABCDE"
WORDS = (
    "I the a you it to of and my we in is that for on he me this but not have with your what no all be was "
    "think know just said never again office lawyer therapist whale penguin elevator weather meeting mother dinner "
    "vacation honey doctor insurance parking coffee union retirement unfortunately technically apparently"
).split()


def drawn(seed: int, size: tuple[int, int] = (700, 500)) -> bytes:
    """A grey picture's file, JPEG and PNG by turns: soft shades under some noise, and lines over them."""
    rng = random.Random(seed)
    shades = Image.frombytes("L", (28, 20), rng.randbytes(560)).resize(size, Image.Resampling.BICUBIC)
    noise = Image.frombytes("L", (350, 250), rng.randbytes(87_500)).resize(size, Image.Resampling.BILINEAR)
    picture = Image.blend(shades, noise, 0.15)
    pen = ImageDraw.Draw(picture)
    for _ in range(60):
        pen.line([(rng.randrange(size[0]), rng.randrange(size[1])) for _ in range(4)], fill=0, width=2)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG" if seed % 2 else "JPEG")
    return buffer.getvalue()


def files(count: int, different: int = 64) -> list[bytes]:
    """Files of different bytes, each to be decoded: what follows the picture in a file is not looked at."""
    made = [drawn(i) for i in range(min(count, different))]
    return [made[i % len(made)] + str(i).encode() for i in range(count)]


def pictures(count: int) -> list[Picture]:
    """`files` in memory."""
    return [Picture(f"drawing {i}", None, lambda data=data: data) for i, data in enumerate(files(count))]  # type: ignore[misc]


def caption(rng: random.Random) -> str:
    """4 to 18 words."""
    return " ".join(rng.choices(WORDS, k=rng.randint(4, 18))).capitalize() + "."


def write_corpus(folder: Path, instances: int) -> str:
    """A dataset folder of matching instances, as many a contest as in the corpus, with its pictures as files.

    As there, a caption is right once and wrong four times, among another contest's.
    """
    rng, contests = random.Random(0), max(2, instances * CONTESTS // INSTANCES)
    (folder / "pictures").mkdir(parents=True)
    for i, data in enumerate(files(contests)):
        (folder / "pictures" / f"{i}").write_bytes(data)
    captions = [caption(rng) for _ in range(instances)]
    shifts = rng.sample(range(1, instances), 4)
    rows = []
    for i, own in enumerate(captions):
        place = rng.randrange(5)
        choices = [captions[(i + shift) % instances] for shift in shifts]
        choices.insert(place, own)
        about = {"contest_number": i % contests, "image": f"pictures/{i % contests}", "instance_id": f"m{i}"}
        rows.append(json.dumps(about | {"caption_choices": choices, "label": LETTERS[place]}))
    rng.shuffle(rows)
    (folder / "matching.jsonl").write_text("\n".join(rows) + "\n")
    files_of = "  data_files:\n  - split: test\n    path: matching.jsonl\n"
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: matching_from_pixels\n{files_of}---\n")
    return str(folder)

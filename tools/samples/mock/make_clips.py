"""Draws and encodes the clips of the MOCK sample.

    python tools/samples/mock/make_clips.py [OUTPUT_FOLDER]

Everything comes from `clips.json`: backdrop, props, who stands where and who says what, when. Whoever speaks moves, and
hums in a voice of their own; the words are subtitles, except the punchline's, which is a speech bubble of three dots.
The number of each frame stands in the upper right corner, for tests and for people. H.264 and AAC in MP4, the index
first, as every browser plays them; the same versions of Pillow and PyAV always give the same bytes. Without a folder
the files in the card's `clips/` are replaced. Needs the extra `video`.
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).parent
CARD = HERE.parents[2] / "datasets_cards" / "mock"
SCALE = 3  # drawn three times larger and reduced, for smooth edges
FLOOR, FEET = 178, 205
INK, SKIN = "#222222", "#f2cfa8"
HAIR = ("#4a3222", "#8f8f8f", "#c08a3e", "#2a2a2a", "#a4532b")
RATE, SOUND_FRAME = 22_050, 1024

# Digits 3 wide and 5 high, a row an octal digit: 7 is a full row, 5 its two ends.
DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")
DOT = 3
NUMBER_AT = (280, 6)  # of three digits, each 3 dots wide and one apart


class Pen:
    """Draws in the coordinates of the finished frame."""

    def __init__(self, width: int, height: int, backdrop: str) -> None:
        self.image = Image.new("RGB", (width * SCALE, height * SCALE), backdrop)
        self.draw = ImageDraw.Draw(self.image)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: str, round: float = 0) -> None:
        place = tuple(SCALE * value for value in (x0, y0, x1, y1))
        self.draw.rounded_rectangle(place, round * SCALE, fill, INK, SCALE)

    def oval(self, x0: float, y0: float, x1: float, y1: float, fill: str) -> None:
        self.draw.ellipse([SCALE * value for value in (x0, y0, x1, y1)], fill, INK, SCALE)

    def cap(self, x0: float, y0: float, x1: float, y1: float, fill: str) -> None:
        """The upper part of an oval."""
        self.draw.chord([SCALE * value for value in (x0, y0, x1, y1)], 200, 340, fill, INK, SCALE)

    def triangle(self, x0: float, y0: float, x1: float, y1: float, fill: str) -> None:
        points = [(x0, y1), ((x0 + x1) / 2, y0), (x1, y1), (x0, y1)]
        self.draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill)
        self.line(points, INK, 1)

    def line(self, points: list[tuple[float, float]], fill: str, width: float) -> None:
        self.draw.line([(x * SCALE, y * SCALE) for x, y in points], fill, round(width * SCALE), "curve")


def figure(pen: Pen, who: dict, face: int, hair: str, time: float, talks: bool) -> tuple[float, float]:
    """A figure looking to the left (-1) or right (1); returns the middle of its head."""
    beat = math.sin(time * 2 * math.pi * 2) if talks else 0
    x, tall = who["x"], 65 if who.get("seated") else 100
    top = FEET - tall + 2 * beat
    head, hips = top + 14, FEET - (12 if who.get("seated") else 38)
    for side in (-1, 1):
        if who.get("seated"):
            pen.line([(x + 6 * side, hips), (x + 6 * side + 24 * face, hips + 1)], INK, 6)
            pen.line([(x + 6 * side + 24 * face, hips), (x + 6 * side + 24 * face, FEET)], INK, 6)
        else:
            pen.line([(x + 6 * side, hips), (x + 8 * side, FEET - 2)], INK, 6)
    pen.box(x - 15, head + 10, x + 15, hips + 4, who["fill"], round=8)
    raised = 22 + 12 * beat if talks else 0
    for hand in ((x + 30 * face, head + 31 - raised / 2), (x - 18 * face, head + 46)):
        pen.line([(x + math.copysign(11, hand[0] - x), head + 19), hand], who["fill"], 7)
        pen.oval(hand[0] - 4, hand[1] - 4, hand[0] + 4, hand[1] + 4, SKIN)
    pen.oval(x - 13, head - 14, x + 13, head + 14, SKIN)
    pen.cap(x - 14, head - 16, x + 14, head + 12, hair)
    blinks = time % 3 < 0.15
    for eye in (2, 9):
        at = x + eye * face
        pen.box(at - 1.2, head - (2.5 if blinks else 5), at + 1.2, head - 1.5, INK)
    wide = 4 if talks and beat > -0.3 else 0.8
    pen.oval(x + 5 * face - 4, head + 5 - wide / 2, x + 5 * face + 4, head + 6 + wide, "#7a2b2b")
    return x, head


def bubble(pen: Pen, x: float, y: float) -> None:
    """Something is said that nobody subtitles."""
    pen.triangle(x - 4, y - 34, x + 8, y - 18, "white")
    pen.oval(x - 26, y - 62, x + 26, y - 28, "white")
    for dot in (-12, 0, 12):
        pen.oval(x + dot - 3, y - 48, x + dot + 3, y - 42, INK)


def subtitle(image: Image.Image, turn: dict) -> None:
    """The speaker and the words, on one or two lines at the foot of the frame."""
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(13)
    lines = [""]
    for word in f"{turn['speaker']}: {turn['text']}".split():
        longer = f"{lines[-1]} {word}".strip()
        if draw.textlength(longer, font) > image.width - 16:
            lines.append(word)
        else:
            lines[-1] = longer
    assert len(lines) <= 2, turn
    draw.rectangle((0, image.height - 3 - 16 * len(lines), image.width, image.height), "#101010")
    for i, line in enumerate(reversed(lines)):
        draw.text((image.width / 2, image.height - 10 - 16 * i), line, "white", font, "mm")


def number(image: Image.Image, value: int) -> None:
    """Three digits in white blocks on black."""
    draw, (left, top) = ImageDraw.Draw(image), NUMBER_AT
    draw.rectangle((left - DOT, top - DOT, left + 12 * DOT - 1, top + 6 * DOT - 1), "black")
    for place, digit in enumerate(f"{value:03}"):
        for y, row in enumerate(DIGITS[int(digit)]):
            for x in range(3):
                if int(row, 8) >> (2 - x) & 1:
                    at = left + (4 * place + x) * DOT, top + y * DOT
                    draw.rectangle((*at, at[0] + DOT - 1, at[1] + DOT - 1), "white")


def frame(about: dict, clip: dict, index: int) -> Image.Image:
    """Frame `index` of a clip."""
    time = index / about["fps"]
    turn = next((turn for turn in clip["turns"] if turn["start"] <= time < turn["end"]), None)
    pen = Pen(about["width"], about["height"], clip["backdrop"])
    pen.box(-5, FLOOR, about["width"] + 5, about["height"] + 5, clip["floor"])
    for prop in clip["props"]:
        {"box": pen.box, "oval": pen.oval, "triangle": pen.triangle}[prop["shape"]](*prop["at"], prop["fill"])
    before = sum(len(other["figures"]) for other in about["clips"][: about["clips"].index(clip)])
    for place, who in enumerate(clip["figures"], before):
        talks = turn is not None and turn["speaker"] == who["speaker"]
        face = 1 if who["x"] < about["width"] / 2 else -1
        x, head = figure(pen, who, face, HAIR[place % len(HAIR)], time, talks)
        if talks and turn["text"] is None:
            bubble(pen, x, head)
    image = pen.image.reduce(SCALE)
    if turn is not None and turn["text"] is not None:
        subtitle(image, turn)
    number(image, index)
    return image


def voices(clip: dict) -> np.ndarray:
    """A hum in syllables for each turn, in each speaker's own pitch."""
    wave = np.zeros(int(clip["seconds"] * RATE), np.float32)
    pitch = {who["speaker"]: 150 + 90 * i for i, who in enumerate(clip["figures"])}
    for turn in clip["turns"]:
        at = np.arange(int((turn["end"] - turn["start"] - 0.3) * RATE)) / RATE
        hum = 0.08 * np.sin(2 * np.pi * pitch[turn["speaker"]] * at) * np.sin(2 * np.pi * 2 * at) ** 2
        start = int(turn["start"] * RATE)
        wave[start : start + len(hum)] = hum
    return wave


def encode(about: dict, clip: dict, path: Path) -> None:
    """One clip as a file."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        container.flags |= av.container.core.Flags.bitexact.value  # no version of anything in the file's header
        settings = {"preset": "slow", "crf": "28", "x264-params": "threads=1:sync-lookahead=0"}
        pictures = container.add_stream("libx264", rate=about["fps"], options=settings)
        pictures.width, pictures.height, pictures.pix_fmt = about["width"], about["height"], "yuv420p"
        sound = container.add_stream("aac", rate=RATE, layout="mono")
        sound.bit_rate = 32_000
        for index in range(int(clip["seconds"] * about["fps"])):
            shown = av.VideoFrame.from_image(frame(about, clip, index))
            shown.pts, shown.time_base = index, Fraction(1, about["fps"])
            container.mux(pictures.encode(shown))
        container.mux(pictures.encode(None))
        wave = voices(clip)
        for start in range(0, len(wave), SOUND_FRAME):
            heard = av.AudioFrame.from_ndarray(wave[None, start : start + SOUND_FRAME], format="fltp", layout="mono")
            heard.sample_rate, heard.pts, heard.time_base = RATE, start, Fraction(1, RATE)
            container.mux(sound.encode(heard))
        container.mux(sound.encode(None))


def main() -> None:
    """Every clip of `clips.json`."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CARD / "clips"
    folder.mkdir(parents=True, exist_ok=True)
    about = json.loads((CARD / "clips.json").read_text(encoding="utf-8"))
    for clip in about["clips"]:
        encode(about, clip, folder / clip["file"])


if __name__ == "__main__":
    main()

"""A pen that draws slightly unsteady ink lines over flat grey washes.

Coordinates are those of the finished 640 x 480 picture, y pointing down; the pen works three times larger inside, so
that lines come out smooth when the picture is reduced. Greys run from 0 (black) to 255 (white). All unsteadiness comes
from one seeded generator for each picture: the same seed always gives the same picture.
"""

import math
from itertools import pairwise
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw

WIDTH, HEIGHT, SCALE = 640, 480, 3
INK, WHITE = 25, 255
GREYS = 12  # levels kept in the saved file: enough for smooth edges, few enough for a small PNG

Point = tuple[float, float]


def smooth(points: list[Point], closed: bool = False) -> list[Point]:
    """A Catmull-Rom curve through the points."""
    count = len(points)
    if count < 3:
        return points

    def at(index: int) -> Point:
        return points[index % count] if closed else points[min(max(index, 0), count - 1)]

    curve = []
    for i in range(count if closed else count - 1):
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = at(i - 1), at(i), at(i + 1), at(i + 2)
        for step in range(12):
            t = step / 12
            curve.append(
                tuple(
                    0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - a - 3 * c + d) * t**3)
                    for a, b, c, d in ((ax, bx, cx, dx), (ay, by, cy, dy))
                )
            )
    return curve if closed else [*curve, points[-1]]


def oval(x: float, y: float, rx: float, ry: float, turn: float = 0, start: float = 0, end: float = 360) -> list[Point]:
    """Points on an ellipse, turned by some degrees; an arc when start and end say so."""
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    count = max(12, int((rx + ry) * abs(end - start) / 360))
    points = []
    for i in range(count + 1):
        angle = math.radians(start + (end - start) * i / count)
        px, py = rx * math.cos(angle), ry * math.sin(angle)
        points.append((x + px * cos - py * sin, y + px * sin + py * cos))
    return points


def box(x0: float, y0: float, x1: float, y1: float) -> list[Point]:
    """The corners of an upright rectangle."""
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def placed(points: list[Point], x: float, y: float, turn: float = 0, size: float = 1, flip: int = 1) -> list[Point]:
    """Points of a part drawn about (0, 0), moved to (x, y), turned by some degrees, mirrored when flip is -1."""
    cos, sin = math.cos(math.radians(turn)) * size, math.sin(math.radians(turn)) * size
    return [(x + flip * px * cos - py * sin, y + flip * px * sin + py * cos) for px, py in points]


def resample(points: list[Point], step: float) -> list[Point]:
    """The same path with a point about every `step`."""
    path = [points[0]]
    for (ax, ay), (bx, by) in pairwise(points):
        pieces = max(1, int(math.dist((ax, ay), (bx, by)) / step))
        path += [(ax + (bx - ax) * i / pieces, ay + (by - ay) * i / pieces) for i in range(1, pieces + 1)]
    return path


class Pen:
    """Draws on one picture. Later marks cover earlier ones, so scenes are drawn from the back to the front."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.image = Image.new("L", (WIDTH * SCALE, HEIGHT * SCALE), WHITE)
        self.draw = ImageDraw.Draw(self.image)

    def unsteady(self, points: list[Point], amount: float) -> list[Point]:
        """The path as a human hand would follow it: two slow waves and two quick ones, of random phase."""
        p, q, u, v = (self.random.uniform(0, 2 * math.pi) for _ in range(4))
        waved = []
        travelled, before = 0.0, points[0]
        for x, y in resample(points, 4):
            travelled += math.dist(before, (x, y))
            before = (x, y)
            dx = math.sin(travelled / 23 + p) + 0.4 * math.sin(travelled / 7 + u)
            dy = math.sin(travelled / 19 + q) + 0.4 * math.sin(travelled / 8 + v)
            waved.append((x + amount * dx, y + amount * dy))
        return waved

    def _stamp(self, path: list[Point], width: float, ink: int, even: bool = False) -> None:
        """Ink along the path; the nib presses a little harder in the middle of a stroke than at its ends."""
        path = resample(path, 0.6)
        phase = self.random.uniform(0, 6)
        for i, (x, y) in enumerate(path):
            ends = min(1.0, 0.55 + min(i, len(path) - 1 - i) / 22)
            pressure = 1.0 if even else ends * (1 + 0.18 * math.sin(i / 31 + phase))
            radius, cx, cy = width * pressure * SCALE / 2, x * SCALE, y * SCALE
            self.draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=ink)

    def flat(self, path: list[Point], grey: int) -> None:
        """A patch of one grey without an outline."""
        self.draw.polygon([(x * SCALE, y * SCALE) for x, y in path], fill=grey)

    def line(self, points: list[Point], width: float = 2.0, ink: int = INK, wobble: float = 0.6) -> None:
        """Straight pieces from point to point."""
        self._stamp(self.unsteady(points, wobble), width, ink)

    def curve(self, points: list[Point], width: float = 2.0, ink: int = INK, wobble: float = 0.5) -> None:
        """A smooth line through the points."""
        self.line(smooth(points), width, ink, wobble)

    def shape(
        self, points: list[Point], fill: int | None = WHITE, width: float = 2.0, ink: int = INK, wobble: float = 0.6
    ) -> None:
        """A closed outline with corners, filled with one grey (None: not filled; width 0: no line)."""
        path = self.unsteady([*points, points[0]], wobble)
        if fill is not None:
            self.flat(path, fill)
        if width:
            self._stamp(path, width, ink)

    def blob(self, points: list[Point], fill: int | None = WHITE, width: float = 2.0, ink: int = INK) -> None:
        """A closed smooth outline."""
        self.shape(smooth(points, closed=True), fill, width, ink)

    def rect(self, x0: float, y0: float, x1: float, y1: float, fill: int | None = WHITE, width: float = 2.0) -> None:
        """An upright box."""
        self.shape(box(x0, y0, x1, y1), fill, width)

    def ellipse(
        self, x: float, y: float, rx: float, ry: float, fill: int | None = WHITE, width: float = 2.0, turn: float = 0
    ) -> None:
        """An ellipse about (x, y)."""
        self.shape(oval(x, y, rx, ry, turn), fill, width, wobble=min(0.6, (rx + ry) / 40))

    def dot(self, x: float, y: float, radius: float = 1.8, ink: int = INK) -> None:
        """A small round mark: an eye, a button."""
        self.flat(oval(x, y, radius, radius), ink)

    def tube(self, points: list[Point], width: float, fill: int = WHITE, outline: float = 1.9) -> None:
        """A limb: a thick smooth stroke of one grey between two ink lines."""
        path = self.unsteady(smooth(points), 0.4)
        self._stamp(path, width + 2 * outline, INK, even=True)
        self._stamp(path, width, fill, even=True)

    def wash(self, points: list[Point], grey: int) -> None:
        """A transparent grey laid over whatever is there: shade, glass, water."""
        mask = Image.new("1", self.image.size)
        ImageDraw.Draw(mask).polygon([(x * SCALE, y * SCALE) for x, y in points], fill=1)
        self.image.paste(self.image.point(lambda value: value * grey // 255), mask=mask)

    def hatch(self, points: list[Point], gap: float = 6, slope: float = 1.0, ink: int = 90, width: float = 1.1) -> None:
        """Parallel pen strokes inside an outline."""
        xs, ys = [x for x, _ in points], [y for _, y in points]
        tall = max(ys) - min(ys)
        kept, mask = self.image.copy(), Image.new("1", self.image.size)
        ImageDraw.Draw(mask).polygon([(x * SCALE, y * SCALE) for x, y in points], fill=1)
        x = min(xs) - abs(slope) * tall
        while x < max(xs) + abs(slope) * tall:
            run = [(x, max(ys)), (x + slope * tall, min(ys))]
            self.line(run, width, ink, wobble=0.8)
            x += gap * self.random.uniform(0.8, 1.2)
        kept.paste(self.image, mask=mask)
        self.image.paste(kept)

    def save(self, path: Path) -> None:
        """Frame the picture, reduce it, and write it with few greys."""
        margin = 7 * SCALE
        frame = Image.new("L", self.image.size, WHITE)
        frame.paste(self.image.crop((margin, margin, frame.width - margin, frame.height - margin)), (margin, margin))
        self.image.paste(frame)
        self.shape(box(7, 7, WIDTH - 7, HEIGHT - 7), None, 2.4)
        small = self.image.reduce(SCALE)
        step = 255 / (GREYS - 1)
        levels = small.point(lambda value: round(value / step))
        indexed = Image.frombytes("P", small.size, levels.tobytes())
        indexed.putpalette([round(level * step) for level in range(GREYS) for _ in range(3)])
        indexed.save(path, optimize=True, bits=4)

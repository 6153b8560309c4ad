"""A pen that draws slightly unsteady ink lines over flat grey washes, and the parts the sample's cartoons share.

Coordinates are those of the finished 640 x 480 picture, y pointing down; the pen works three times larger inside, so that
lines come out smooth when the picture is reduced. Greys run from 0 (black) to 255 (white). All unsteadiness comes from
one seeded generator for each picture: the same seed always gives the same picture.
"""

import math
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


def resample(points: list[Point], step: float) -> list[Point]:
    """The same path with a point about every `step`."""
    path = [points[0]]
    for (ax, ay), (bx, by) in zip(points, points[1:], strict=False):
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
        """The path as a human hand would follow it: two slow waves of random phase, sideways to nothing in particular."""
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

    def _fill(self, path: list[Point], grey: int) -> None:
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
        """A closed outline with corners, filled with one grey (None leaves what is behind it; width 0 draws no line)."""
        path = self.unsteady([*points, points[0]], wobble)
        if fill is not None:
            self._fill(path, fill)
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
        self._fill(oval(x, y, radius, radius), ink)

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
        indexed = Image.new("P", small.size)
        indexed.putdata(list(levels.getdata()))
        indexed.putpalette([round(level * step) for level in range(GREYS) for _ in range(3)])
        indexed.save(path, optimize=True, bits=4)


# ---------------------------------------------------------------------------------------------------------- people


def head(
    pen: Pen, x: float, y: float, r: float, face: int = 1, hair: str = "short", mouth: str = "flat", skin: int = WHITE,
    glasses: bool = False, brow: float = 0.0,
) -> None:
    """A head in profile with a good big nose; `face` is 1 to look right, -1 to look left; brow > 0 frowns."""

    def at(*pairs: Point) -> list[Point]:
        return [(x + face * px * r, y + py * r) for px, py in pairs]

    locks = 60 if hair in ("short", "long", "bun") else 150
    if hair == "long":
        pen.blob(at((0.35, -1.0), (-0.7, -1.0), (-1.1, 0.0), (-1.05, 1.3), (-0.4, 1.45), (0.1, 0.6)), locks)
    if hair == "bun":
        pen.ellipse(x - face * 1.0 * r, y - 0.75 * r, 0.42 * r, 0.42 * r, locks)
    profile = at(
        (-0.78, -0.05), (-0.62, -0.72), (0.0, -1.0), (0.55, -0.82), (0.74, -0.4), (0.86, -0.18), (1.28, 0.12), (1.2, 0.3),
        (0.84, 0.3), (0.86, 0.55), (0.72, 0.88), (0.25, 1.0), (-0.3, 0.8),
    )
    pen.blob(profile, skin)
    if hair in ("short", "bun", "long"):
        pen.blob(at((0.6, -0.72), (0.1, -1.2), (-0.65, -0.95), (-0.98, -0.2), (-0.7, 0.35), (-0.42, -0.1), (-0.2, -0.5)), locks)
    elif hair == "bald":
        pen.blob(at((-0.8, -0.35), (-0.98, 0.1), (-0.7, 0.5), (-0.45, 0.3), (-0.5, -0.2)), locks)
    elif hair == "curly":
        for px, py in ((0.45, -0.95), (0.0, -1.15), (-0.45, -1.0), (-0.8, -0.6), (-0.95, -0.1), (-0.8, 0.35), (-0.35, -0.5)):
            pen.ellipse(x + face * px * r, y + py * r, 0.36 * r, 0.34 * r, 120, 1.5)
    pen.curve(at((-0.05, -0.08), (-0.3, -0.12), (-0.32, 0.28), (-0.06, 0.3)), 1.6)  # ear
    pen.dot(x + face * 0.52 * r, y - 0.16 * r, max(1.5, r * 0.1))
    pen.curve(at((0.32, -0.42 - brow * 0.15), (0.72, -0.44 + brow * 0.2)), 1.8)
    if glasses:
        pen.ellipse(x + face * 0.55 * r, y - 0.14 * r, 0.3 * r, 0.28 * r, None, 1.5)
        pen.line(at((0.25, -0.16), (-0.2, -0.1)), 1.3)
    if mouth == "talk":
        pen.blob(at((0.84, 0.46), (0.42, 0.48), (0.5, 0.76), (0.76, 0.74)), 50, 1.4)
    else:
        corner = {"flat": 0.56, "smile": 0.44, "frown": 0.74}[mouth]
        pen.curve(at((0.84, 0.56), (0.6, 0.6), (0.38, corner)), 1.6)


def arm(pen: Pen, shoulder: Point, hand: Point, reach: float, sleeve: int, skin: int = WHITE, bend: int = 1) -> None:
    """Shoulder, elbow, hand: the elbow goes where two bones of half the reach put it, to the side `bend` says."""
    (sx, sy), (hx, hy) = shoulder, hand
    span = math.dist(shoulder, hand) or 1
    out = math.sqrt(max(0.0, (reach / 2) ** 2 - (span / 2) ** 2)) * bend
    elbow = ((sx + hx) / 2 - (hy - sy) / span * out, (sy + hy) / 2 + (hx - sx) / span * out)
    thick = reach * 0.17
    pen.ellipse(hx, hy, thick * 0.62, thick * 0.56, skin, 1.7)
    wrist = (hx + (elbow[0] - hx) * 0.22, hy + (elbow[1] - hy) * 0.22)
    pen.tube([shoulder, elbow, wrist], thick, sleeve)
    pen._fill(oval(sx, sy, thick * 0.56, thick * 0.56), sleeve)  # lets the sleeve grow out of the jacket


def person(
    pen: Pen, x: float, y: float, h: float, face: int = 1, *, sit: bool = False, top: int = 150, bottom: int = 90,
    near: Point | None = None, far: Point | None = None, bend: int | None = None, skin: int = WHITE, suit: bool = True,
    dress: bool = False, lean: float = 0.0, legs: bool = True, **looks,
) -> Point:
    """A person of height h: (x, y) is between the feet, or the seat when sitting. Hands are given from the neck, in
    heights, forward being positive. Returns the middle of the head, for hats and the like.
    """
    hip_x, hip_y = (x, y) if sit else (x, y - 0.44 * h)
    neck = (hip_x + face * lean * h, hip_y - 0.34 * h)
    bend = face if bend is None else bend
    reach = 0.4 * h

    def hand(offset: Point | None, rest: Point) -> Point:
        dx, dy = offset or rest
        return (neck[0] + face * dx * h, neck[1] + dy * h)

    shoulder_y = neck[1] + 0.05 * h
    if far is not None:
        arm(pen, (neck[0] + face * 0.06 * h, shoulder_y), hand(far, (0, 0)), reach, top, skin, bend)
    if legs and sit:
        for shift in (0.025, -0.02):
            knee = (x + face * (0.22 + shift) * h, y - 0.01 * h)
            foot = (knee[0] + face * 0.01 * h, y + 0.24 * h)
            pen.blob([(foot[0] - face * 0.035 * h, foot[1] - 0.02 * h), (foot[0] + face * 0.05 * h, foot[1] - 0.015 * h),
                      (foot[0] + face * 0.08 * h, foot[1] + 0.015 * h), (foot[0] - face * 0.03 * h, foot[1] + 0.018 * h)], 45)
            pen.tube([(x, y), knee], 0.075 * h, bottom)
            pen.tube([knee, (foot[0], foot[1] - 0.02 * h)], 0.06 * h, bottom if not dress else skin)
    elif legs:
        for side in (0.05, -0.045):
            foot_x = x + side * h
            pen.blob([(foot_x - face * 0.035 * h, y - 0.035 * h), (foot_x + face * 0.04 * h, y - 0.025 * h),
                      (foot_x + face * 0.085 * h, y + 0.005 * h), (foot_x - face * 0.035 * h, y + 0.008 * h)], 45)
            pen.tube([(hip_x + side * 0.75 * h, hip_y), (foot_x, y - 0.03 * h)], 0.07 * h, skin if dress else bottom)
    hem = 0.22 if dress and not sit else 0.06
    wide = 0.15 if dress and not sit else 0.1
    pen.tube([(neck[0], neck[1] + 0.03 * h), (neck[0] + face * 0.01 * h, neck[1] - 0.05 * h)], 0.045 * h, skin)
    body = [(neck[0] - 0.05 * h, neck[1]), (neck[0] + 0.05 * h, neck[1]), (neck[0] + 0.1 * h, neck[1] + 0.05 * h),
            (hip_x + 0.085 * h, hip_y - 0.1 * h), (hip_x + wide * h, hip_y + hem * h), (hip_x - wide * h, hip_y + hem * h),
            (hip_x - 0.085 * h, hip_y - 0.1 * h), (neck[0] - 0.1 * h, neck[1] + 0.05 * h)]
    pen.shape(smooth(body, closed=True), top)
    if suit:
        front = neck[0] + face * 0.035 * h
        pen.shape([(front - 0.03 * h, neck[1]), (front + 0.03 * h, neck[1]), (front + face * 0.01 * h, neck[1] + 0.12 * h)], WHITE, 1.4)
        pen.shape([(front - 0.008 * h, neck[1] + 0.01 * h), (front + 0.012 * h, neck[1] + 0.01 * h),
                   (front + face * 0.008 * h, neck[1] + 0.11 * h)], 50, 1.2)
        pen.line([(front + face * 0.008 * h, neck[1] + 0.12 * h), (hip_x + face * 0.03 * h, hip_y + 0.05 * h)], 1.3)
    r = h * 0.088
    middle = (neck[0] + face * 0.022 * h, neck[1] - 0.105 * h)
    head(pen, *middle, r, face, skin=skin, **looks)
    if near != "hidden":
        arm(pen, (neck[0] - face * 0.055 * h, shoulder_y + 0.005 * h), hand(near, (0.05, 0.37)), reach, top, skin, bend)
    return middle


# ------------------------------------------------------------------------------------------------ rooms and furniture


def room(pen: Pen, floor: float = 350, wall: int = 232, ground: int = 205, skirting: bool = True) -> None:
    """A wall and a floor."""
    edge = [(x, 26 + pen.random.uniform(-11, 11)) for x in range(60, 600, 60)]
    loose = [(30, 90), *edge, (612, 80), (622, 210), (650, floor), (-10, floor), (20, 220)]
    pen._fill(smooth(loose, closed=True), wall)  # a brushed wash that stops short of the frame
    pen._fill(box(-5, floor, 645, 485), ground)
    pen.line([(-5, floor), (645, floor)], 1.8)
    if skirting:
        pen.line([(-5, floor - 12), (645, floor - 12)], 1.2)


def window(pen: Pen, x: float, y: float, w: float, h: float, sky: int = WHITE) -> None:
    """A window with four panes."""
    pen.rect(x - 6, y - 6, x + w + 6, y + h + 6, WHITE)
    pen.rect(x, y, x + w, y + h, sky, 1.6)
    pen.line([(x + w / 2, y), (x + w / 2, y + h)], 3)
    pen.line([(x, y + h / 2), (x + w, y + h / 2)], 3)
    pen.rect(x - 12, y + h + 6, x + w + 12, y + h + 14, WHITE)


def picture(pen: Pen, x: float, y: float, w: float, h: float) -> None:
    """A framed landscape for a bare wall."""
    pen.rect(x, y, x + w, y + h, 150)
    pen.rect(x + 6, y + 6, x + w - 6, y + h - 6, WHITE, 1.4)
    pen.curve([(x + 7, y + h * 0.7), (x + w * 0.35, y + h * 0.4), (x + w * 0.55, y + h * 0.65), (x + w * 0.75, y + h * 0.5),
               (x + w - 7, y + h * 0.72)], 1.4)


def diploma(pen: Pen, x: float, y: float, w: float = 54, h: float = 42) -> None:
    """A framed certificate: lines nobody reads and a seal."""
    pen.rect(x, y, x + w, y + h, 110)
    pen.rect(x + 5, y + 5, x + w - 5, y + h - 5, WHITE, 1.3)
    for i in range(3):
        pen.line([(x + 12, y + 13 + i * 6), (x + w - 12, y + 13 + i * 6)], 1.1, 90)
    pen.dot(x + w - 15, y + h - 11, 3, 90)


def table(pen: Pen, x0: float, x1: float, y: float, floor: float, top: int = 190, thick: float = 9) -> None:
    """A table seen from the side."""
    for leg in (x0 + 14, x1 - 22):
        pen.rect(leg, y + thick, leg + 8, floor, top - 30)
    pen.rect(x0, y, x1, y + thick, top)


def desk(pen: Pen, x0: float, x1: float, y: float, floor: float, fill: int = 165) -> None:
    """A solid desk or shop counter seen from the front."""
    pen.rect(x0 + 6, y + 10, x1 - 6, floor, fill)
    pen.rect(x0, y, x1, y + 11, fill + 35)
    pen.rect(x0 + 22, y + 24, x1 - 22, floor - 14, None, 1.3)


def chair(pen: Pen, x: float, y: float, h: float, face: int = 1, fill: int = 140) -> None:
    """A plain chair in profile: (x, y) is the middle of the seat, the back is behind whoever faces `face`."""
    pen.line([(x - face * 24, y), (x - face * 28, y + h)], 4)
    pen.line([(x + face * 22, y), (x + face * 26, y + h)], 4)
    pen.tube([(x - face * 25, y), (x - face * 33, y - 72)], 6, fill)
    pen.rect(min(x - 28, x + 28), y, max(x - 28, x + 28), y + 8, fill)


def armchair(pen: Pen, x: float, y: float, face: int = 1, fill: int = 170) -> None:
    """An upholstered chair, (x, y) the middle of the seat; draw `armrest` after whoever sits in it."""
    pen.blob([(x - face * 30, y - 98), (x - face * 62, y - 92), (x - face * 66, y + 20), (x - face * 60, y + 58),
              (x + face * 46, y + 58), (x + face * 52, y + 8), (x - face * 14, y + 2), (x - face * 16, y - 80)], fill)
    for px in (-50, 38):
        pen.line([(x + face * px, y + 58), (x + face * px, y + 74)], 5)


def armrest(pen: Pen, x: float, y: float, face: int = 1, fill: int = 170) -> None:
    """The near side of an armchair."""
    pen.blob([(x - face * 50, y - 22), (x + face * 36, y - 24), (x + face * 56, y - 12), (x + face * 50, y + 56),
              (x - face * 48, y + 57), (x - face * 56, y + 10)], fill)
    pen.curve([(x + face * 40, y - 20), (x + face * 34, y - 6), (x + face * 46, y)], 1.5)


def plant(pen: Pen, x: float, y: float, size: float = 1.0) -> None:
    """A potted plant standing on y."""
    for angle in (-65, -40, -15, 10, 35, 62):
        tip_x = x + math.sin(math.radians(angle)) * 62 * size
        tip_y = y - 30 * size - math.cos(math.radians(angle)) * 72 * size
        mid = ((x + tip_x) / 2, (y - 30 * size + tip_y) / 2)
        pen.blob([(x, y - 28 * size), (mid[0] - 8 * size, mid[1] - 4 * size), (tip_x, tip_y), (mid[0] + 8 * size, mid[1] + 4 * size)], 120, 1.5)
    pen.shape([(x - 22 * size, y - 34 * size), (x + 22 * size, y - 34 * size), (x + 16 * size, y), (x - 16 * size, y)], 200)


def cloud(pen: Pen, x: float, y: float, size: float = 1.0, fill: int = WHITE) -> None:
    """A fair-weather cloud."""
    pen.blob([(x + px * size, y + py * size) for px, py in
              ((-60, 8), (-52, -12), (-26, -14), (-10, -32), (18, -28), (30, -12), (56, -10), (62, 10), (0, 14))], fill, 1.6)

"""What the sample's cartoons share: people, rooms, furniture, lettering. Drawn with the pen of `pen.py`."""

import math

from .pen import WHITE, Pen, Point, box, oval, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.

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
        (-0.78, -0.05), (-0.62, -0.72), (0.0, -1.0), (0.55, -0.82), (0.74, -0.4), (0.86, -0.18), (1.28, 0.12),
            (1.2, 0.3),
        (0.84, 0.3), (0.86, 0.55), (0.72, 0.88), (0.25, 1.0), (-0.3, 0.8),
    )
    pen.blob(profile, skin)
    if hair in ("short", "bun", "long"):
        pen.blob(at((0.6, -0.72), (0.1, -1.2), (-0.65, -0.95), (-0.98, -0.2), (-0.7, 0.35), (-0.42, -0.1),
            (-0.2, -0.5)), locks)
    elif hair == "bald":
        pen.blob(at((-0.8, -0.35), (-0.98, 0.1), (-0.7, 0.5), (-0.45, 0.3), (-0.5, -0.2)), locks)
    elif hair == "curly":
        for px, py in ((0.45, -0.95), (0.0, -1.15), (-0.45, -1.0), (-0.8, -0.6), (-0.95, -0.1), (-0.8, 0.35),
            (-0.35, -0.5)):
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
    pen.flat(oval(sx, sy, thick * 0.64, thick * 0.64), sleeve)  # lets the sleeve grow out of the jacket


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
            pen.blob([(foot[0] - face * 0.035 * h, foot[1] - 0.02 * h),
                (foot[0] + face * 0.05 * h, foot[1] - 0.015 * h),
                      (foot[0] + face * 0.08 * h, foot[1] + 0.015 * h),
                          (foot[0] - face * 0.03 * h, foot[1] + 0.018 * h)], 45)
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
            (hip_x + 0.085 * h, hip_y - 0.1 * h), (hip_x + wide * h, hip_y + hem * h),
                (hip_x - wide * h, hip_y + hem * h),
            (hip_x - 0.085 * h, hip_y - 0.1 * h), (neck[0] - 0.1 * h, neck[1] + 0.05 * h)]
    pen.shape(smooth(body, closed=True), top)
    if suit:
        front = neck[0] + face * 0.035 * h
        pen.shape([(front - 0.03 * h, neck[1]), (front + 0.03 * h, neck[1]),
            (front + face * 0.01 * h, neck[1] + 0.12 * h)], WHITE, 1.4)
        pen.shape([(front - 0.008 * h, neck[1] + 0.01 * h), (front + 0.012 * h, neck[1] + 0.01 * h),
                   (front + face * 0.008 * h, neck[1] + 0.11 * h)], 50, 1.2)
        pen.line([(front + face * 0.008 * h, neck[1] + 0.12 * h), (hip_x + face * 0.03 * h, hip_y + 0.05 * h)], 1.3)
    middle = (neck[0] + face * 0.022 * h, neck[1] - 0.105 * h)
    if looks.get("hair") != "none":  # "none" leaves the head to the scene: scarecrows, birds, mummies
        head(pen, *middle, h * 0.088, face, skin=skin, **looks)
    if near != "hidden":
        arm(pen, (neck[0] - face * 0.055 * h, shoulder_y + 0.005 * h), hand(near, (0.05, 0.37)), reach, top, skin, bend)
    return middle


# ------------------------------------------------------------------------------------------------ rooms and furniture


def room(pen: Pen, floor: float = 350, wall: int = 232, ground: int = 205, skirting: bool = True) -> None:
    """A wall and a floor."""
    edge = [(x, 26 + pen.random.uniform(-11, 11)) for x in range(60, 600, 60)]
    loose = [(30, 90), *edge, (612, 80), (622, 210), (650, floor), (-10, floor), (20, 220)]
    pen.flat(smooth(loose, closed=True), wall)  # a brushed wash that stops short of the frame
    pen.flat(box(-5, floor, 645, 485), ground)
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
    pen.curve([(x + 7, y + h * 0.7), (x + w * 0.35, y + h * 0.4), (x + w * 0.55, y + h * 0.65),
        (x + w * 0.75, y + h * 0.5),
               (x + w - 7, y + h * 0.72)], 1.4)


def diploma(pen: Pen, x: float, y: float, w: float = 54, h: float = 42) -> None:
    """A framed certificate: lines nobody reads and a seal."""
    pen.rect(x, y, x + w, y + h, 110)
    pen.rect(x + 5, y + 5, x + w - 5, y + h - 5, WHITE, 1.3)
    for i in range(3):
        pen.line([(x + 12, y + 13 + i * 6), (x + w - 12, y + 13 + i * 6)], 1.1, 90)
    pen.dot(x + w - 15, y + h - 11, 3, 90)


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
        pen.blob([(x, y - 28 * size), (mid[0] - 8 * size, mid[1] - 4 * size), (tip_x, tip_y),
            (mid[0] + 8 * size, mid[1] + 4 * size)], 120, 1.5)
    pen.shape([(x - 22 * size, y - 34 * size), (x + 22 * size, y - 34 * size), (x + 16 * size, y),
        (x - 16 * size, y)], 200)


def cloud(pen: Pen, x: float, y: float, size: float = 1.0, fill: int = WHITE) -> None:
    """A fair-weather cloud."""
    pen.blob([(x + px * size, y + py * size) for px, py in
              ((-60, 8), (-52, -12), (-26, -14), (-10, -32), (18, -28), (30, -12), (56, -10), (62, 10),
                  (0, 14))], fill, 1.6)


# ---------------------------------------------------------------------------------------------------------- lettering

# Capitals as pen strokes on a grid 4 wide and 6 high: strokes are parted by spaces, a point is two digits (x, then y).
LETTERS = {
    "A": "062046 1434",
    "B": "06003041423303 3344453606",
    "C": "4130100105163645",
    "D": "06003041453606",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "I": "2026",
    "K": "0006 400346",
    "L": "000646",
    "M": "0600234046",
    "N": "06004640",
    "O": "103041453616050110",
    "P": "06003041423303",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "Y": "002340 2326",
    "Z": "00400646",
}


def lettering(pen: Pen, text: str, x: float, y: float, size: float, width: float = 2.0) -> None:
    """Hand-drawn capitals `size` high, starting at (x, y)."""
    for letter in text:
        for stroke in LETTERS.get(letter, "").split():
            points = [(x + int(a) * size / 7, y + int(b) * size / 6) for a, b in zip(stroke[::2], stroke[1::2],
                strict=True)]
            pen.line(points, width, wobble=size / 60)
        x += size * 0.85

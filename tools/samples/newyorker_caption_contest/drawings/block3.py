"""The drawings of contests 9016 to 9020, one function each, from the back of the picture to the front."""

import math

from .parts import cloud, head, lettering, person, plant, room, window
from .pen import WHITE, Pen, box, oval, placed, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def bottle(pen: Pen, x: float, y: float, turn: float, size: float, fill: int) -> None:
    """A bottle with a letter in it."""
    pen.blob(placed([(-11, 26), (-12, -8), (-5, -18), (-5, -32), (5, -32), (5, -18), (12, -8),
        (11, 26)], x, y, turn, size), fill, 1.7)
    pen.shape(placed([(-6, 20), (-5, -8), (6, -8), (5, 20)], x, y, turn, size), WHITE, 1.2)
    pen.shape(placed([(-4, -32), (4, -32), (4, -39), (-4, -39)], x, y, turn, size), 110, 1.4)


def mail_for_the_island(pen: Pen) -> None:
    """Contest 9016."""
    pen.flat(box(0, 0, 640, 250), 240)
    pen.flat(box(0, 250, 640, 480), 200)
    pen.line([(0, 250), (640, 250)], 1.6)
    pen.ellipse(548, 82, 32, 32, WHITE)
    cloud(pen, 410, 90, 0.9)
    cloud(pen, 90, 66, 0.7)
    for _ in range(34):
        x, y = pen.random.uniform(10, 610), pen.random.uniform(262, 470)
        pen.curve([(x, y), (x + 9, y - 4), (x + 18, y), (x + 27, y - 4)], 1.2, 110)
    # island and palm
    pen.blob([(20, 386), (70, 342), (160, 326), (250, 342), (308, 388), (240, 414), (90, 414)], 245)
    for x, y in ((90, 380), (130, 396), (200, 392), (240, 376), (110, 358), (170, 404)):
        pen.dot(x, y, 1.3, 120)
    pen.tube([(110, 360), (96, 280), (110, 200), (140, 150)], 17, 165)
    for i in range(9):
        y = 340 - i * 20
        pen.curve([(92 + i * i * 0.4, y), (104 + i * i * 0.4, y + 5), (116 + i * i * 0.4, y - 1)], 1.3)
    for angle in (-170, -140, -105, -60, -25, 5):
        a = math.radians(angle)
        tip = (142 + 96 * math.cos(a), 150 + 66 * math.sin(a) + 24)
        mid = (142 + 56 * math.cos(a), 136 + 60 * math.sin(a))
        pen.blob([(142, 148), (mid[0], mid[1] - 9), tip, (mid[0] - 2, mid[1] + 13)], 130, 1.7)
        pen.line([(142, 148), mid, tip], 1)
    for x, y in ((134, 164), (150, 166)):
        pen.ellipse(x, y, 9, 9, 90)
    # the castaway
    x, y = person(pen, 226, 392, 232, 1, hair="curly", mouth="flat", suit=False, top=235, bottom=170, near=(0.27,
        0.08), far=(0.1, 0.3))
    pen.blob([(x + 17, y + 8), (x + 4, y + 8), (x - 12, y + 2), (x - 8, y + 30), (x + 8, y + 52),
        (x + 20, y + 28)], 120)
    for px in (200, 214, 228, 242):
        pen.shape([(px - 4, 296), (px + 5, 296), (px, 308)], 170, 1.3)
    # boat and mail carrier
    mx, my = person(pen, 440, 376, 270, -1, sit=True, hair="short", mouth="talk", legs=False, top=110, near=(0.34,
        -0.03), far=(0.1, 0.3), skin=225)
    pen.blob([(mx - 32, my - 14), (mx - 24, my - 24), (mx + 24, my - 24), (mx + 24, my - 13)], 40)
    pen.blob([(mx - 22, my - 22), (mx - 26, my - 40), (mx + 4, my - 46), (mx + 26, my - 36), (mx + 24, my - 20)], 110)
    pen.line([(468, 286), (424, 370)], 5)
    for i, (bx, by, turn) in enumerate(((510, 366, -20), (530, 360, 15), (552, 366, -5), (522, 340, 40),
        (544, 338, -30), (570, 362, 25), (492, 372, 10), (534, 322, 5))):
        bottle(pen, bx, by, turn, 0.9, 200 if i % 2 else 225)
    hull = [(352, 372), (400, 384), (520, 388), (612, 364), (596, 410), (560, 432), (410, 432), (376, 412)]
    pen.shape(smooth(hull, closed=True), 175)
    pen.curve([(366, 392), (420, 404), (530, 406), (604, 384)], 1.4)
    lettering(pen, "MAIL", 446, 410, 16, 2)
    pen.line([(400, 380), (372, 452)], 4)
    pen.blob([(376, 442), (384, 446), (370, 474), (358, 470)], 150)
    bottle(pen, 318, 262, 60, 1.1, 235)
    pen.curve([(360, 436), (400, 444), (480, 436), (560, 444), (620, 434)], 1.6)


def shark_in_the_pit(pen: Pen) -> None:
    """Contest 9017."""
    pen.flat(box(0, 0, 640, 480), 215)
    for side in (0, 1):  # curtains
        for i in range(4):
            x = i * 30 if not side else 640 - i * 30
            step = 34 if not side else -34
            pen.blob([(x - step * 0.1, -10), (x + step, -10), (x + step * 0.9, 130), (x + step * 1.05, 290),
                (x - step * 0.1, 290)], 120)
    pen.shape([(-5, -5), (645, -5), (645, 40), *[(600 - i * 80 + dx, 40 + dy) for i in range(8) for dx, dy in ((0, 0),
        (-40, 22))], (-5, 40)], 95)
    pen.rect(-5, 286, 645, 318, 235)
    for x in range(20, 640, 44):
        pen.line([(x, 290), (x - 10, 316)], 0.9, 150)
    # two survivors on stage
    pen.rect(214, 270, 316, 292, 165)
    person(pen, 262, 272, 210, 1, hair="bald", mouth="frown", brow=-1, top=50, bottom=50, near=(0.28, -0.06),
        far=(0.12, 0.3))
    pen.line([(322, 96), (372, 62)], 2.6)
    person(pen, 462, 288, 214, -1, hair="long", mouth="talk", brow=-1, top=90, dress=True, suit=False, near=(0.27,
        0.0), far=(0.2, 0.02))
    pen.blob(placed([(-34, 0), (-26, -15), (-9, -9), (5, -13), (19, 0), (5, 13), (-9, 9),
        (-26, 15)], 426, 128, 168), 150)
    pen.line(placed([(14, 0), (48, 0)], 426, 128, 168), 4)
    pen.line([(412, 176), (398, 78)], 2)
    # the pit
    pen.flat(box(0, 318, 640, 480), 165)
    pen.rect(-5, 318, 645, 330, 110)
    for y, phase in ((350, 0), (384, 22), (420, 8), (454, 30)):
        for x in range(-20, 640, 52):
            pen.curve([(x + phase, y), (x + 13 + phase, y - 6), (x + 26 + phase, y), (x + 39 + phase, y + 4)], 1.5, 235)
    pen.blob([(286, 420), (300, 372), (328, 342), (360, 330), (350, 372), (366, 420)], 90)
    pen.flat([(276, 414), (376, 414), (376, 432), (276, 432)], 165)
    pen.curve([(250, 420), (286, 412), (330, 417), (372, 410), (410, 420)], 3, 250)
    pen.curve([(262, 432), (320, 426), (392, 434)], 2, 250)
    # what is left of the cellos
    pen.blob(placed([(-62, 0), (-50, -26), (-24, -18), (0, -14), (22, -22), (40, -10), (42, 8), (0, 14),
        (-60, 14)], 148, 404, -8), 200)
    pen.line(placed([(40, -2), (108, -14)], 148, 404, -8), 7)
    pen.blob(placed([(104, -18), (120, -26), (128, -14), (116, -8)], 148, 404, -8), 120)
    pen.curve(placed([(-14, -10), (-8, -4), (-16, 4)], 148, 404, -8), 1.6)
    for y in (-6, 0):
        pen.line(placed([(-30, y), (100, y - 12)], 148, 404, -8), 1)
    pen.curve([(70, 418), (120, 424), (180, 416), (210, 420)], 2.4, 250)
    pen.line([(508, 450), (520, 388)], 4)  # a music stand going under
    pen.shape(placed([(-38, -24), (38, -24), (34, 18), (-34, 18)], 526, 370, 14), 60)
    pen.shape(placed([(-30, -20), (0, -18), (30, -20), (28, 8), (0, 10), (-28, 8)], 526, 366, 14), WHITE, 1.5)
    for i in range(3):
        pen.line(placed([(-24, -12 + i * 6), (24, -12 + i * 6)], 526, 366, 14), 0.9)
    pen.curve([(480, 450), (508, 444), (540, 452)], 2.4, 250)
    pen.shape(placed([(-20, -10), (16, -14), (20, 8), (-18, 12)], 428, 448, 12), WHITE, 1.5)
    pen.line([(580, 430), (628, 414)], 2.6)


def alien(pen: Pen, x: float, y: float, h: float, face: int, far_hand: bool) -> None:
    """A visitor standing on (x, y): big head, thin everything else."""
    for side in (-8, 8):
        pen.tube([(x + side, y - 0.34 * h), (x + side * 1.2, y - 6)], 9, 190)
        pen.ellipse(x + side * 1.2 + face * 5, y - 4, 11, 5, 190)
    pen.blob([(x - 11, y - 0.62 * h), (x + 11, y - 0.62 * h), (x + 16, y - 0.36 * h), (x, y - 0.28 * h),
        (x - 16, y - 0.36 * h)], 190)
    pen.tube([(x - face * 4, y - 0.58 * h), (x + face * 14, y - 0.4 * h),
        (x + face * (48 if far_hand else 36), y - 0.44 * h)], 8, 190)
    pen.blob(placed([(-30, -20), (-18, -44), (12, -46), (32, -24), (24, 8), (6, 24), (-10, 20),
        (-26, 4)], x + face * 4, y - 0.74 * h, 0, 1.1, face), 205)
    pen.blob(placed([(2, -12), (14, -20), (24, -12), (14, 2)], x + face * 4, y - 0.74 * h, 0, 1.1, face), 40)
    pen.blob(placed([(-18, -8), (-8, -18), (-4, -8), (-8, 2)], x + face * 4, y - 0.74 * h, 0, 1.1, face), 40)
    pen.curve(placed([(-2, 12), (6, 16), (16, 10)], x + face * 4, y - 0.74 * h, 0, 1.1, face), 2)
    for dx in (-12, 14):
        pen.line([(x + dx, y - 0.74 * h - 46), (x + dx * 1.8, y - 0.74 * h - 70)], 2)
        pen.ellipse(x + dx * 1.8, y - 0.74 * h - 73, 5, 5, 120, 1.5)


def neighbours_from_space(pen: Pen) -> None:
    """Contest 9018."""
    pen.flat(box(0, 0, 640, 480), 120)
    for _ in range(40):
        pen.dot(pen.random.uniform(12, 400), pen.random.uniform(12, 180), pen.random.choice((1, 1.5)), 250)
    pen.shape([(-8, 330), (200, 320), (650, 328), (650, 490), (-8, 490)], 185)
    for _ in range(40):
        x, y = pen.random.uniform(14, 400), pen.random.uniform(345, 465)
        pen.line([(x, y), (x + 3, y - 7), (x + 6, y)], 1.1, 110)
    # next door, and what is parked before it
    pen.shape([(20, 330), (20, 236), (82, 188), (144, 236), (144, 330)], 165)
    pen.rect(44, 258, 66, 288, 245, 1.5)
    pen.rect(98, 270, 122, 330, 90, 1.5)
    for x, top in ((160, 330), (228, 340), (296, 330)):
        pen.line([(228 + (x - 228) * 0.5, 276), (x, top + 24)], 4)
        pen.ellipse(x, top + 26, 12, 4, 90)
    pen.blob(oval(228, 236, 54, 50, 0, 180, 360), 225)
    pen.curve([(196, 226), (202, 206), (216, 196)], 2, WHITE)
    pen.blob([(118, 256), (160, 232), (228, 224), (300, 232), (342, 256), (300, 280), (228, 290), (158, 282)], 205)
    for i in range(5):
        pen.ellipse(152 + i * 38, 258 + (0, 7, 10, 7, 0)[i], 9, 7, 250, 1.6)
    # the house
    pen.rect(440, 60, 650, 440, 235)
    for y in range(80, 440, 22):
        pen.line([(442, y), (640, y)], 0.9, 160)
    pen.shape([(404, 74), (640, 20), (650, 20), (650, 74)], 90)
    pen.rect(410, 74, 422, 430, WHITE)
    pen.rect(480, 130, 612, 432, 250)
    pen.rect(492, 142, 600, 432, 215)
    pen.shape([(600, 142), (638, 128), (638, 452), (600, 432)], 150)
    pen.dot(610, 300, 5)
    pen.ellipse(456, 178, 10, 15, 250)
    pen.rect(400, 430, 650, 446, 205)
    pen.rect(380, 446, 650, 470, 175)
    person(pen, 546, 432, 278, -1, hair="curly", mouth="flat", brow=-1, suit=False, top=165, bottom=90, near=(0.08,
        0.34), far=(0.1, 0.3))
    plant(pen, 446, 432, 0.6)
    alien(pen, 318, 462, 196, 1, False)
    alien(pen, 206, 462, 226, 1, False)
    # the casserole
    pen.ellipse(342, 362, 56, 12, 245)
    pen.shape([(288, 362), (396, 362), (386, 392), (298, 392)], 225)
    pen.blob([(300, 360), (318, 346), (344, 350), (362, 344), (384, 360), (342, 370)], 150)
    for x in (320, 344, 368):
        pen.curve([(x, 338), (x - 6, 326), (x + 5, 314), (x - 3, 302)], 1.8, 235)
    for x in (282, 398):
        pen.ellipse(x, 374, 9, 7, 190)


def vampire_at_the_tailor(pen: Pen) -> None:
    """Contest 9019."""
    room(pen, 376)
    pen.line([(30, 104), (206, 104)], 4)  # a rack of coats
    for x in (40, 196):
        pen.line([(x, 104), (x, 390)], 3)
    for i, fill in enumerate((90, 185, 130, 220, 70)):
        x = 62 + i * 28
        pen.curve([(x, 104), (x, 112), (x - 3, 118)], 2)
        pen.blob([(x - 4, 118), (x + 6, 118), (x + 17, 134), (x + 16, 276), (x - 16, 276), (x - 16, 134)], fill, 1.6)
        pen.line([(x, 124), (x + 1, 270)], 1)
    # the mirror, with the room in it and nobody else
    pen.shape([(458, 76), (604, 60), (612, 436), (462, 420)], 120)
    pen.shape([(470, 90), (592, 76), (599, 420), (474, 408)], 242, 1.6)
    pen.flat([(473, 352), (598, 358), (598, 419), (475, 407)], 215)
    pen.line([(473, 352), (598, 358)], 1.3)
    pen.line([(492, 250), (560, 120)], 1.4, 150)
    pen.line([(508, 270), (582, 130)], 1.4, 150)
    pen.rect(270, 404, 420, 430, 165)
    # the vampire
    pen.blob([(300, 178), (348, 172), (390, 184), (402, 280), (420, 404), (336, 412), (250, 404), (284, 280)], 45)
    x, y = person(pen, 342, 404, 284, 1, hair="none", mouth="flat", top=60, bottom=50, near=(0.2, 0.12), far=(0.25,
        0.1), skin=240)
    head(pen, x, y, 26, 1, "none", "smile", 240, brow=-0.5)
    pen.blob(placed([(0.72, -0.42), (0.3, -0.5), (0.62, -1.0), (0.1, -1.2), (-0.65, -0.98), (-1.0, -0.2),
        (-0.8, 0.4), (-0.5, -0.1), (-0.1, -0.5)], x, y, 0, 26), 30)
    pen.shape([(x + 17, y + 15), (x + 21, y + 15), (x + 19, y + 23)], WHITE, 1.2)
    pen.shape([(x - 22, y + 44), (x - 40, y + 4), (x - 12, y + 20)], 235)  # the collar
    pen.shape([(x + 2, y + 42), (x + 30, y + 12), (x + 18, y + 42)], 235)
    pen.blob([(298, 190), (318, 186), (314, 280), (302, 402), (252, 404), (282, 290)], 45)
    pen.curve([(304, 200), (298, 290), (282, 398)], 1.6, 150)
    pen.ellipse(x + 4, y + 44, 6, 5, WHITE, 1.4)
    # the tailor
    person(pen, 208, 456, 262, 1, hair="bald", mouth="talk", glasses=True, suit=False, top=205, bottom=110,
        near=(0.28, 0.08), far=(0.3, 0.16))
    pen.curve([(196, 236), (204, 276), (196, 330)], 7, 90)
    pen.curve([(196, 236), (204, 276), (196, 330)], 4.6, 235)
    pen.curve([(220, 236), (226, 280), (222, 320)], 7, 90)
    pen.curve([(220, 236), (226, 280), (222, 320)], 4.6, 235)
    for i in range(5):
        pen.line([(200, 258 + i * 15), (206, 258 + i * 15)], 1.2)
        pen.line([(221, 252 + i * 14), (227, 252 + i * 14)], 1.2)


def chess_piece(pen: Pen, x: float, y: float, fill: int, king: bool, face: int) -> None:
    """The upper half of a king or a queen, standing up out of the blanket at (x, y)."""
    pen.blob([(x - 46, y + 20), (x - 30, y - 50), (x - 24, y - 92), (x + 24, y - 92), (x + 30, y - 50),
        (x + 46, y + 20)], fill)
    pen.ellipse(x, y - 98, 44, 10, fill)
    pen.ellipse(x, y - 110, 32, 8, fill)
    if king:
        pen.shape([(x - 28, y - 114), (x - 40, y - 186), (x + 40, y - 186), (x + 28, y - 114)], fill)
        pen.blob(oval(x, y - 186, 40, 16, 0, 180, 360), fill)
        pen.shape([(x - 5, y - 200), (x - 5, y - 214), (x - 16, y - 214), (x - 16, y - 224), (x - 5, y - 224),
            (x - 5, y - 238),
                   (x + 5, y - 238), (x + 5, y - 224), (x + 16, y - 224), (x + 16, y - 214), (x + 5, y - 214),
                       (x + 5, y - 200)], fill)
    else:
        crown = [(x - 28, y - 114), (x - 46, y - 204), (x - 26, y - 180), (x - 16, y - 210), (x, y - 182),
            (x + 16, y - 210),
                 (x + 26, y - 180), (x + 46, y - 204), (x + 28, y - 114)]
        pen.shape(crown, fill)
        for px, py in ((-46, -208), (-16, -214), (16, -214), (46, -208)):
            pen.ellipse(x + px, y + py, 6, 6, fill)
    ink = WHITE if fill < 120 else 25
    for px in (-4, 20):
        pen.dot(x + face * px, y - 156, 3.6, ink)
        pen.line([(x + face * (px - 7), y - 168), (x + face * (px + 7), y - 166 + (4 if px < 0 else -2))], 2, ink)
    pen.curve([(x + face * -4, y - 130), (x + face * 8, y - 137), (x + face * 20, y - 130)], 2.2, ink)


def chess_couple_in_bed(pen: Pen) -> None:
    """Contest 9020."""
    room(pen, 336, wall=205)
    window(pen, 270, 48, 100, 110, 90)
    pen.ellipse(300, 80, 13, 13, 250, 0)
    for row in range(5):  # the floor is a chessboard, in perspective
        y0, y1 = 336 + 144 * (row / 5) ** 1.3, 336 + 144 * ((row + 1) / 5) ** 1.3
        for column in range(-8, 16):
            if (row + column) % 2:
                spread0, spread1 = 0.72 + (y0 - 336) / 300, 0.72 + (y1 - 336) / 300
                xs = [320 + (column - 4) * 80 * spread0, 320 + (column - 3) * 80 * spread0,
                      320 + (column - 3) * 80 * spread1, 320 + (column - 4) * 80 * spread1]
                pen.flat([(xs[0], y0), (xs[1], y0), (xs[2], y1), (xs[3], y1)], 90)
    pen.blob([(76, 330), (74, 190), (110, 168), (320, 150), (530, 168), (566, 190), (564, 330)], 110)
    pen.blob([(96, 330), (96, 204), (320, 176), (544, 204), (544, 330)], 140, 1.5)
    for x in (158, 482):
        pen.blob([(x - 66, 316), (x - 72, 268), (x, 256), (x + 72, 268), (x + 66, 316)], WHITE)
    chess_piece(pen, 158, 344, 245, True, -1)
    chess_piece(pen, 482, 344, 65, False, 1)
    pen.blob([(64, 330), (160, 318), (320, 336), (480, 318), (576, 330), (592, 430), (320, 446), (48, 430)], 225)
    pen.curve([(62, 348), (160, 338), (320, 356), (480, 338), (580, 348)], 1.6)
    for x in (230, 320, 410):
        pen.curve([(320 + (x - 320) * 0.8, 362), (x, 400), (x + (x - 320) * 0.1, 436)], 1.2, 110)
    for x in (70, 570):
        pen.rect(x - 8, 428, x + 8, 456, 90)
    for x in (26, 614):
        pen.line([(x, 268), (x, 320)], 4)
        pen.shape([(x - 18, 268), (x + 18, 268), (x + 11, 234), (x - 11, 234)], 245)
        pen.rect(x - 26, 320, x + 26, 400, 150)


SCENES = {
    9016: mail_for_the_island,
    9017: shark_in_the_pit,
    9018: neighbours_from_space,
    9019: vampire_at_the_tailor,
    9020: chess_couple_in_bed,
}

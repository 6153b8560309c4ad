"""The drawings of contests 9011 to 9015, one function each, from the back of the picture to the front."""

import math

from .parts import armchair, armrest, diploma, head, person, picture, room, window
from .pen import WHITE, Pen, box, oval, placed, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def fish_with_arms(pen: Pen, x: float, y: float, face: int, fill: int, talk: bool) -> None:
    """A big fish upright in an armchair at (x, y), facing its company."""

    def at(*points):
        return placed(list(points), x, y, flip=face)

    pen.blob(at((-6, 30), (22, 44), (58, 40), (76, 66), (48, 62), (30, 74),
        (10, 60)), fill)  # tail over the seat's edge
    pen.blob(at((-18, -130), (-52, -104), (-56, -40), (-30, -20)), 130)  # back fin
    pen.blob(at((16, -186), (46, -168), (56, -120), (44, -40), (20, 40), (-18, 44), (-36, -10), (-40, -80),
        (-20, -160)), fill)
    for row in range(6):
        for column in range(3):
            px, py = -18 + column * 20 + (row % 2) * 8, -96 + row * 19
            pen.curve(at((px - 8, py), (px, py + 8), (px + 8, py)), 1.2, 90)
    pen.curve(at((-24, -122), (0, -112), (14, -126), (12, -160)), 1.6)
    pen.ellipse(*at((28, -146))[0], 13, 13, WHITE)
    pen.dot(*at((32, -145))[0], 5)
    if talk:
        pen.blob(at((58, -120), (38, -122), (36, -108), (54, -104)), 60)
    else:
        pen.curve(at((54, -106), (42, -110), (32, -104)), 2.2)
    pen.blob(at((6, -78), (44, -72), (66, -48), (58, -34), (30, -44), (6, -56)), 130)  # fin as a hand


def fish_with_a_bowl(pen: Pen) -> None:
    """Contest 9011."""
    room(pen, 372)
    picture(pen, 268, 54, 110, 76)
    window(pen, 90, 60, 92, 110, 225)
    pen.line([(580, 120), (580, 440)], 4)
    pen.shape([(556, 76), (604, 76), (626, 132), (534, 132)], 245)
    armchair(pen, 128, 372, 1)
    fish_with_arms(pen, 134, 352, 1, 200, True)
    armrest(pen, 128, 372, 1)
    armchair(pen, 520, 372, -1)
    fish_with_arms(pen, 514, 352, -1, 215, False)
    armrest(pen, 520, 372, -1)
    # table and bowl
    pen.rect(312, 356, 332, 440, 120)
    pen.ellipse(322, 442, 50, 9, 120)
    pen.ellipse(322, 352, 92, 15, 185)
    bowl = smooth([(276, 202), (244, 240), (240, 294), (270, 340), (322, 350), (374, 340), (404, 294), (400, 240),
        (368, 202)])
    pen.shape(bowl, 245)
    pen.flat([(247, 314), (270, 338), (322, 348), (374, 338), (397, 314), (322, 306)], 190)  # gravel
    pen.shape([(344, 320), (344, 246), (352, 246), (352, 254), (360, 254), (360, 246), (368, 246), (368, 254),
        (376, 254), (376, 246), (384, 246), (384, 320)], 165, 1.5)
    pen.shape([(356, 320), (356, 296), (364, 288), (372, 296), (372, 320)], 60, 1.3)
    pen.rect(360, 266, 368, 278, 60, 1.2)
    person(pen, 276, 328, 84, 1, hair="long", dress=True, suit=False, top=120, near=(0.3, -0.2))
    person(pen, 318, 330, 88, -1, hair="short", suit=False, top=100, near=(0.1, 0.3))
    pen.curve(oval(322, 204, 46, 9, 0, 0, 360), 2)
    pen.wash([(244, 236), (322, 228), (400, 236), (404, 294), (374, 340), (322, 350), (270, 340), (240, 294)], 225)
    pen.curve([(254, 250), (250, 280), (262, 312)], 2.4, WHITE)
    for x, y in ((300, 240), (306, 228), (298, 222)):
        pen.ellipse(x, y, 4, 4, WHITE, 1.2)


def clock_at_the_doctor(pen: Pen) -> None:
    """Contest 9012."""
    room(pen, 372)
    diploma(pen, 506, 70, 66, 50)
    diploma(pen, 430, 84)
    pen.rect(58, 60, 96, 300, WHITE, 1.6)  # height scale
    for i in range(12):
        pen.line([(96, 70 + i * 19), (82 if i % 2 else 72, 70 + i * 19)], 1.3)
    # the examination table
    pen.rect(126, 330, 378, 350, 190)
    pen.shape([(142, 350), (362, 350), (350, 446), (156, 446)], 150)
    for y in (382, 414):
        pen.line([(152, y), (354, y)], 1.4)
    for x in (182, 324):
        pen.dot(x, 368, 4)
    pen.rect(170, 322, 344, 332, WHITE, 1.5)  # paper sheet
    # the clock
    for x in (232, 276):
        pen.tube([(x, 330), (x + 44, 346), (x + 46, 400)], 13, 120)
        pen.blob([(x + 36, 398), (x + 56, 396), (x + 74, 408), (x + 38, 412)], 50)
    pen.rect(208, 290, 302, 334, 110)
    pen.rect(220, 186, 290, 292, 125)
    pen.rect(232, 198, 278, 280, 235, 1.6)
    pen.line([(255, 198), (266, 254)], 2.4)
    pen.ellipse(268, 260, 12, 12, 165)
    pen.shape([(206, 186), (206, 92), (222, 80), (255, 60), (288, 80), (304, 92), (304, 186)], 125)
    pen.ellipse(255, 58, 8, 9, 150)
    pen.ellipse(255, 132, 41, 41, WHITE)
    for hour in range(12):
        a = math.radians(hour * 30)
        pen.line([(255 + 34 * math.sin(a), 132 - 34 * math.cos(a)),
            (255 + 38 * math.sin(a), 132 - 38 * math.cos(a))], 2)
    for x in (242, 270):
        pen.dot(x, 120, 3.4)
    pen.line([(255, 134), (232, 144)], 3)  # the hands droop like a moustache
    pen.line([(255, 134), (280, 148)], 3)
    pen.curve([(244, 160), (255, 155), (267, 160)], 2)
    pen.line([(232, 114), (247, 107)], 2)
    pen.line([(280, 114), (265, 107)], 2)
    pen.tube([(220, 210), (186, 252), (196, 318)], 12, 120)
    pen.ellipse(196, 322, 10, 8, WHITE, 1.7)
    # the doctor
    x, y = person(pen, 446, 452, 308, -1, hair="short", mouth="talk", glasses=True, top=WHITE, bottom=80, near=(0.31,
        0.06), skin=225)
    pen.curve([(x + 6, y + 4), (x - 6, y + 48), (x - 34, y + 88), (356, 264), (312, 236), (292, 224)], 3.2)
    pen.ellipse(292, 222, 9, 9, 120)
    pen.rect(548, 300, 622, 316, 190)
    pen.rect(556, 316, 614, 452, 235)
    for x, tall in ((562, 30), (584, 22), (604, 34)):
        pen.rect(x - 7, 300 - tall, x + 7, 300, 225, 1.5)


def bear(pen: Pen, x: float, y: float, face: int, fill: int, talk: bool) -> None:
    """A bear sitting on (x, y)."""

    def at(*points):
        return placed(list(points), x, y, flip=face)

    pen.blob(at((-50, 6), (-60, -50), (-36, -112), (14, -120), (44, -70), (52, -10), (40, 10), (-10, 16)), fill)
    pen.blob(at((10, -6), (56, -30), (80, -10), (86, 26), (102, 36), (58, 40), (50, 16), (14, 22)), fill)
    pen.blob(at((4, -70), (24, -84), (30, -40), (16, -6), (-4, -30)), min(fill + 50, 240), 0)
    pen.tube(at((-6, -92), (32, -64), (66, -78)), 27, fill)
    for ear in (-30, 16):
        pen.ellipse(*at((ear, -172))[0], 13, 13, fill)
        pen.ellipse(*at((ear, -171))[0], 6, 6, 210, 1.2)
    pen.blob(at((-42, -132), (-36, -164), (-8, -176), (22, -164), (36, -140), (28, -112), (0, -102), (-30, -110)), fill)
    pen.blob(at((14, -146), (44, -142), (58, -130), (50, -116), (22, -112), (10, -128)), 215)
    pen.blob(at((46, -144), (60, -140), (58, -130), (48, -132)), 30)
    pen.dot(*at((12, -150))[0], 3.4)
    if talk:
        pen.blob(at((48, -118), (26, -116), (32, -104), (44, -106)), 40, 1.5)
    else:
        pen.curve(at((50, -118), (36, -120), (28, -114)), 1.8)


def bears_camping(pen: Pen) -> None:
    """Contest 9013."""
    pen.flat(box(0, 0, 640, 480), 200)
    pen.ellipse(86, 76, 36, 36, 252, 0)
    for _ in range(26):
        pen.dot(pen.random.uniform(14, 626), pen.random.uniform(14, 150), 1.2, 252)
    for x, tall, wide in ((40, 190, 42), (120, 230, 50), (210, 180, 40), (296, 224, 48), (380, 190, 44),
        (590, 210, 50)):
        for i in range(4):
            top = 350 - tall + i * tall * 0.2
            half = wide * (0.4 + 0.2 * i)
            pen.flat([(x, top), (x - half, top + tall * 0.34), (x + half, top + tall * 0.34)], 168)
    pen.shape([(-8, 346), (180, 336), (400, 344), (650, 334), (650, 490), (-8, 490)], 225)
    # tent
    pen.shape([(30, 372), (112, 236), (206, 366)], 245)
    pen.shape([(86, 370), (112, 238), (142, 368)], 60)
    pen.shape([(86, 370), (112, 238), (104, 300), (72, 372)], 235, 1.6)
    pen.line([(112, 238), (112, 224)], 3)
    # the tree and its campers
    pen.blob([(536, 400), (552, 300), (548, 120), (542, -20), (604, -20), (600, 120), (604, 300), (622, 404),
        (580, 392)], 120)
    for x, y0, y1 in ((566, 60, 130), (584, 150, 240), (568, 250, 330), (590, 20, 70)):
        pen.curve([(x, y0), (x + 4, (y0 + y1) / 2), (x - 2, y1)], 1.3)
    pen.tube([(556, 96), (440, 66), (330, 58), (262, 66)], 17, 120)
    pen.tube([(400, 62), (370, 40), (350, 34)], 8, 120)
    for x, fill, hair, mouth, brow in ((312, 150, "long", "frown", -1), (446, 235, "bald", "frown", -1)):
        pen.line([(x, 62), (x, 118)], 2.6)
        pen.curve([(x - 9, 66), (x, 74), (x + 9, 64)], 2.4)
        pen.line([(x, 112), (x - 20, 168)], 1.8)
        pen.line([(x, 112), (x + 20, 168)], 1.8)
        head(pen, x - 2, 142, 21, -1 if x > 400 else 1, hair, mouth, brow=brow)
        pen.blob([(x - 27, 164), (x + 27, 164), (x + 32, 220), (x + 24, 288), (x, 300), (x - 24, 288),
            (x - 32, 220)], fill)
        pen.curve([(x - 26, 172), (x, 180), (x + 26, 172)], 1.5)
        pen.line([(x + 6, 180), (x + 4, 280)], 1.2)
        for y in (206, 236, 264):
            pen.curve([(x - 29, y), (x, y + 8), (x + 30, y)], 1.1, 80)
    # fire and bears
    for turn in (-16, 14):
        pen.shape(placed([(-48, -7), (48, -7), (48, 7), (-48, 7)], 330, 428, turn), 110)
    pen.blob([(300, 420), (296, 388), (312, 368), (316, 386), (328, 340), (342, 380), (352, 362), (364, 392),
        (356, 420), (328, 426)], 250)
    pen.blob([(316, 418), (314, 398), (326, 378), (336, 396), (346, 390), (344, 416)], 205, 1.4)
    for x, r in ((276, 13), (300, 12), (360, 12), (386, 13), (330, 14)):
        pen.ellipse(x, 442, r, r * 0.7, 175)
    pen.shape([(120, 414), (228, 410), (230, 436), (122, 442)], 140)
    pen.shape([(428, 412), (530, 414), (532, 440), (430, 436)], 140)
    bear(pen, 172, 412, 1, 95, True)
    bear(pen, 480, 412, -1, 110, False)
    pen.line([(236, 334), (300, 372)], 2.2)
    pen.ellipse(304, 374, 8, 7, WHITE, 1.6)


def caveman(pen: Pen, x: float, y: float, h: float, face: int, **more) -> tuple[float, float]:
    """Someone in a fur, with a beard and uncombed hair."""
    skin = more.pop("skin", 240)
    mx, my = person(pen, x, y, h, face, dress=True, suit=False, top=150, skin=skin, hair="none", **more)
    r = h * 0.088
    pen.blob(placed([(-1.4, -0.9), (-0.4, -1.6), (0.5, -1.3), (0.9, -0.7), (0, 0.6), (-0.9, 1.3),
        (-1.5, 0.6)], mx, my, 0, r, face), 70)
    head(pen, mx, my, r, face, "wild", "flat", skin)
    pen.blob(placed([(0.9, 0.4), (0.5, 0.45), (-0.2, 0.2), (-0.5, 0.7), (0.2, 1.7), (0.7, 1.5),
        (0.95, 0.9)], mx, my, 0, r, face), 70)
    pen.blob(placed([(0.7, -0.5), (0.2, -1.3), (-0.6, -1.1), (-1.0, -0.3), (-0.6, 0.3), (-0.4, -0.3),
        (0.1, -0.6)], mx, my, 0, r, face), 70)
    return mx, my


def meeting_in_a_cave(pen: Pen) -> None:
    """Contest 9014."""
    pen.flat(box(0, 0, 640, 480), 110)
    cave = [(40, 400), (24, 240), (60, 110), (150, 46), (320, 26), (490, 44), (588, 110), (618, 250), (604, 400),
        (320, 424)]
    pen.blob(cave, 222)
    for x, y, side in ((30, 130, 1), (22, 220, 1), (34, 320, 1), (606, 120, -1), (616, 230, -1), (608, 330, -1)):
        pen.curve([(x - 14 * side, y - 30), (x, y), (x - 8 * side, y + 24), (x + 4 * side, y + 48)], 2, 50)
    for x in (130, 240, 400, 500):
        pen.curve([(x, 12), (x + 10, 24), (x + 26, 16), (x + 44, 30)], 2, 50)
    pen.blob([(-10, 380), (200, 370), (420, 378), (650, 366), (650, 490), (-10, 490)], 190)
    # the chart
    pen.line([(290, 96), (292, 286), (520, 282)], 4, 50)
    for i, tall in enumerate((160, 122, 66, 26)):
        x = 308 + i * 52
        pen.shape(placed([(0, 0), (36, 0), (35, -tall), (1, -tall + 3)], x, 280), 90)
    pen.curve([(300, 106), (380, 154), (440, 208), (500, 248)], 3, 50)
    pen.line([(484, 248), (502, 250), (500, 232)], 3, 50)
    # the mammoth
    pen.blob(placed([(-50, 10), (-46, -26), (-18, -40), (6, -52), (26, -56), (44, -38), (46, -14), (26, 0),
        (24, 30), (12, 30), (8, 10), (-18, 10), (-22, 30), (-36, 30), (-38, 12)], 158, 152), 120)
    pen.curve([(200, 128), (214, 152), (206, 176), (218, 180)], 5, 60)
    pen.curve([(198, 140), (226, 158), (236, 136)], 3, 60)
    pen.dot(188, 116, 2.6)
    for x in (118, 134, 150, 166):
        pen.line([(x, 160), (x - 3, 174)], 1.8, 60)
    for x0, y0 in ((76, 176), (66, 146)):  # hunters
        pen.line([(x0, y0), (x0 + 2, y0 + 22), (x0 - 6, y0 + 36)], 2, 60)
        pen.line([(x0 + 2, y0 + 22), (x0 + 9, y0 + 36)], 2, 60)
        pen.line([(x0 - 10, y0 + 12), (x0 + 28, y0 + 2)], 1.8, 60)
        pen.dot(x0, y0 - 4, 4, 60)
    # the speaker
    caveman(pen, 222, 430, 260, 1, near=(0.28, -0.02), far=(0.08, 0.3))
    pen.line([(276, 244), (398, 204)], 4)
    # the audience
    for x, y, face in ((420, 428, -1), (504, 416, -1), (588, 430, -1)):
        pen.blob([(x - 40, y + 30), (x - 46, y - 2), (x - 10, y - 16), (x + 34, y - 8), (x + 42, y + 30)], 150)
        caveman(pen, x, y - 6, 210, face, sit=True, near=(0.16, 0.2))


def mummy_at_security(pen: Pen) -> None:
    """Contest 9015."""
    room(pen, 380, skirting=False)
    for x in range(30, 640, 76):
        pen.line([(x, 380), (x - 40, 480)], 0.9, 150)
    pen.rect(30, 46, 150, 92, 60)
    pen.line([(56, 78), (112, 62), (122, 64), (60, 82)], 2, WHITE)
    pen.line([(84, 70), (70, 56)], 3, WHITE)
    pen.line([(90, 70), (104, 82)], 3, WHITE)
    window(pen, 478, 60, 118, 88)
    # conveyor and scanner
    pen.rect(8, 322, 206, 342, 120)
    for x in range(20, 204, 22):
        pen.ellipse(x, 332, 7, 7, 200, 1.4)
    for x in (34, 176):
        pen.rect(x, 342, x + 12, 440, 150)
    pen.rect(20, 214, 118, 322, 185)
    pen.rect(86, 250, 122, 322, 50)
    for x in (92, 101, 110):
        pen.line([(x, 252), (x, 320)], 2.2, 120)
    pen.shape([(142, 304), (200, 304), (194, 322), (148, 322)], 225)
    pen.ellipse(170, 300, 20, 9, 245)  # what has unrolled so far
    pen.curve(oval(170, 299, 12, 5), 1.3)
    # the gate, back post
    pen.rect(250, 116, 276, 428, 205)
    pen.rect(250, 92, 446, 128, 225)
    for i in range(5):
        pen.dot(300 + i * 24, 110, 5, 60 if i != 2 else 150)
    # the mummy
    def wrap(outline, gap, slope):
        pen.hatch(outline, gap, slope, 60, 1.3)

    x, y = person(pen, 342, 446, 292, 1, hair="none", suit=False, top=238, bottom=238, near=(0.3, 0.04), far=(0.33,
        -0.04), skin=238)
    pen.ellipse(x, y, 27, 33, 238)
    wrap(oval(x, y, 25, 31), 16, 3.2)
    pen.blob([(x - 14, y - 10), (x + 26, y - 12), (x + 26, y - 1), (x - 12, y + 2)], 60, 1.6)
    pen.ellipse(x + 6, y - 5, 6, 5, WHITE, 1)
    pen.ellipse(x + 20, y - 6, 5, 5, WHITE, 1)
    pen.dot(x + 8, y - 5, 2)
    pen.dot(x + 21, y - 6, 2)
    for dx in (22, 34, 46, 58, 70):
        pen.line([(342 + dx, 256 - dx * 0.35), (348 + dx, 280 - dx * 0.35)], 1.3, 60)
    wrap([(318, 226), (366, 226), (366, 330), (314, 330)], 30, 4)
    wrap([(322, 332), (340, 332), (338, 430), (322, 430)], 26, 4)
    wrap([(346, 332), (364, 332), (364, 430), (350, 430)], 26, 4)
    pen.tube([(320, 300), (286, 360), (236, 372), (210, 340), (184, 306)], 9, 245, 1.5)
    pen.tube([(330, 440), (300, 462), (262, 450), (232, 462)], 8, 245, 1.5)
    pen.rect(420, 116, 446, 440, 205)
    # the guard
    gx, gy = person(pen, 560, 456, 308, -1, hair="short", mouth="talk", top=90, bottom=60, near=(0.25, -0.05), skin=215)
    pen.blob([(gx - 34, gy - 20), (gx - 26, gy - 30), (gx + 26, gy - 30), (gx + 26, gy - 18)], 40)
    pen.blob([(gx - 24, gy - 28), (gx - 30, gy - 46), (gx + 4, gy - 54), (gx + 30, gy - 42), (gx + 26, gy - 26)], 90)
    pen.shape(placed([(0, -8), (7, -2), (5, 8), (-5, 8), (-7, -2)], 574, 244), 235, 1.4)


SCENES = {
    9011: fish_with_a_bowl,
    9012: clock_at_the_doctor,
    9013: bears_camping,
    9014: meeting_in_a_cave,
    9015: mummy_at_security,
}

"""The drawings of contests 9006 to 9010, one function each, from the back of the picture to the front."""

import math

from .parts import chair, desk, lettering, person, room, window
from .pen import WHITE, Pen, box, oval, placed, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def shoe(pen: Pen, x: float, y: float, face: int = 1, size: float = 1, fill: int = 60, heel: bool = False) -> None:
    """One shoe in profile, its opening at (x, y)."""
    sole = [(-14, 0), (8, 0), (14, 12), (38, 20), (42, 30), (-16, 30)]
    pen.blob(placed(sole, x, y, 0, size, face), fill)
    if heel:
        pen.line(placed([(-12, 30), (-13, 42)], x, y, 0, size, face), 5)
    pen.line(placed([(-16, 31), (42, 31)], x, y, 0, size, face), 2.6)
    pen.line(placed([(12, 12), (18, 8)], x, y, 0, size, face), 1.6, WHITE)


def octopus_buys_shoes(pen: Pen) -> None:
    """Contest 9006."""
    room(pen, 360)
    for y in (110, 176, 242):
        pen.rect(24, y, 616, y + 7, 170)
    for y in (110, 176, 242):
        x = 36
        while x < 570:
            wide = pen.random.randint(40, 62)
            if pen.random.random() < 0.75:
                tall = pen.random.randint(18, 26)
                pen.rect(x, y - tall, x + wide, y, pen.random.choice((WHITE, 210, 185, 140)), 1.5)
                pen.rect(x + wide / 2 - 8, y - tall + 6, x + wide / 2 + 8, y - 6, WHITE, 1)
            else:
                shoe(pen, x + 18, y - 25, 1, 0.75, pen.random.choice((60, 120)))
            x += wide + 6
    for i, (x, wide) in enumerate(((520, 74), (528, 66), (516, 76), (530, 62))):
        pen.rect(x, 424 - 26 * i, x + wide, 450 - 26 * i, (WHITE, 190, 220, 150)[i])
        pen.rect(x + 24, 431 - 26 * i, x + 44, 443 - 26 * i, WHITE, 1.1)
    # the octopus on its chair
    pen.tube([(112, 350), (94, 228)], 8, 120)
    pen.rect(104, 346, 262, 358, 120)
    for x in (116, 250):
        pen.line([(x, 358), (x, 440)], 5)
    legs = [
        [(150, 330), (90, 330), (52, 380), (62, 420)], [(160, 330), (120, 380), (112, 412), (128, 436)],
        [(215, 330), (256, 360), (250, 412), (262, 436)], [(220, 320), (290, 330), (312, 390), (330, 418)],
        [(225, 310), (300, 296), (352, 330), (392, 356)], [(150, 310), (84, 300), (46, 262), (60, 226)],
        [(190, 334), (186, 380), (192, 410), (196, 436)],
    ]
    for leg in legs:
        pen.tube(leg, 21, 165)
        for px, py in smooth(leg)[8::7]:
            pen.ellipse(px, py + 5, 3, 2.4, 225, 1)
    pen.blob([(116, 320), (130, 262), (112, 200), (140, 136), (192, 122), (246, 142), (266, 204), (246, 262),
        (256, 322), (188, 344)], 165)
    pen.wash(smooth([(116, 320), (130, 262), (112, 200), (130, 150), (138, 200), (150, 270),
        (150, 330)], closed=True), 205)
    for x in (206, 244):
        pen.ellipse(x, 252, 12, 14, WHITE)
        pen.dot(x + 4, 255, 4.5)
        pen.curve([(x - 12, 236), (x, 233), (x + 11, 237)], 1.8)
    pen.curve([(210, 288), (226, 294), (242, 286)], 2)
    shoe(pen, 62, 416, -1, 1, 70)
    shoe(pen, 128, 424, 1, 0.9, 200)
    shoe(pen, 196, 430, 1, 0.85, 60, heel=False)
    shoe(pen, 262, 424, 1, 0.9, 120)
    shoe(pen, 332, 412, 1, 1, 60)
    shoe(pen, 60, 196, 1, 0.9, 220, heel=True)
    # the salesman, kneeling on his stool
    pen.shape([(442, 404), (506, 404), (498, 450), (450, 450)], 150)
    person(pen, 474, 402, 236, -1, sit=True, hair="bald", mouth="smile", glasses=True, top=90, bottom=60, near=(0.3,
        0.24), far=(0.32, 0.12))
    shoe(pen, 394, 352, -1, 1, 60)


def astronaut(pen: Pen, x: float, y: float, face: int, hand: tuple[float, float]) -> None:
    """Standing on (x, y); `hand` is where the near glove is, measured from the feet."""
    pen.blob([(x - face * 30, y - 132), (x - face * 54, y - 126), (x - face * 54, y - 66),
        (x - face * 28, y - 62)], 175)
    for side in (-13, 13):
        pen.tube([(x + side, y - 56), (x + side * 1.3, y - 10)], 21, 235)
        pen.ellipse(x + side * 1.3 + face * 6, y - 4, 18, 8, 120)
    pen.blob([(x - 30, y - 134), (x + 30, y - 134), (x + 32, y - 60), (x, y - 46), (x - 32, y - 60)], 240)
    pen.rect(x + face * 4 - 14, y - 112, x + face * 4 + 14, y - 92, 200, 1.5)
    pen.ellipse(x, y - 158, 33, 32, WHITE)
    pen.blob([(x + face * 30, y - 174), (x - face * 6, y - 176), (x - face * 10, y - 150), (x + face * 8, y - 138),
        (x + face * 30, y - 142)], 60)
    pen.curve([(x + face * 22, y - 168), (x + face * 8, y - 168), (x + face * 2, y - 160)], 2, 220)
    pen.tube([(x - face * 14, y - 122), (x + (hand[0] * 0.4), y - 84), (x + hand[0], y + hand[1])], 18, 235)
    pen.ellipse(x + hand[0], y + hand[1], 11, 10, 150)


def meter_on_the_moon(pen: Pen) -> None:
    """Contest 9007."""
    pen.flat(box(0, 0, 640, 480), 40)
    for _ in range(90):
        pen.dot(pen.random.uniform(10, 630), pen.random.uniform(10, 300), pen.random.choice((0.8, 1.1, 1.7)), 240)
    pen.ellipse(508, 104, 60, 60, 225)
    for land in ([(470, 70), (500, 58), (512, 84), (492, 108), (474, 100)], [(516, 116), (548, 104), (556, 130),
        (526, 150)], [(530, 66), (552, 74), (546, 90), (530, 84)]):
        pen.blob(land, 120, 1.4)
    pen.wash([*oval(508, 104, 59, 59, 0, 60, 240), *oval(530, 92, 62, 66, 0, 220, 80)], 120)
    ground = [(-10, 318), (90, 306), (230, 318), (380, 300), (520, 314), (650, 302), (650, 490), (-10, 490)]
    pen.shape(smooth(ground[:6]) + ground[6:], 205)
    for x, y, r in ((90, 440, 48), (440, 452, 62), (570, 366, 40), (316, 346, 22), (250, 450, 20)):
        pen.ellipse(x, y, r, r * 0.28, 165, 1.8)
        pen.curve(oval(x, y + 2, r * 0.8, r * 0.17, 0, 190, 350), 1.3, 90)
    # the lander
    for foot in (42, 214):
        pen.line([(128 + (foot - 128) * 0.55, 262), (foot, 372)], 5)
        pen.line([(128 + (foot - 128) * 0.75, 310), (128, 300)], 3)
        pen.ellipse(foot, 376, 20, 6, 150)
    pen.shape([(78, 242), (178, 242), (192, 300), (64, 300)], 130)
    for x in range(84, 190, 18):
        pen.line([(x, 244), (x + 2, 298)], 1, 60)
    pen.shape([(112, 300), (146, 300), (158, 332), (100, 332)], 100)
    pen.shape([(92, 168), (160, 164), (186, 200), (180, 242), (76, 242), (70, 202)], 235)
    pen.shape([(98, 190), (120, 188), (116, 210), (96, 208)], 50, 1.6)
    pen.shape([(142, 188), (164, 192), (160, 210), (140, 208)], 50, 1.6)
    pen.line([(126, 164), (126, 132)], 3, 220)
    pen.blob([(108, 130), (144, 124), (138, 140), (116, 143)], 220)
    pen.shape([(194, 268), (214, 260), (220, 280), (200, 287)], WHITE, 1.6)  # the ticket
    pen.line([(200, 272), (212, 268)], 1.2)
    # the meter
    pen.ellipse(352, 420, 24, 7, 120)
    pen.rect(346, 286, 358, 420, 170)
    pen.blob([(320, 290), (322, 226), (352, 206), (382, 226), (384, 290)], 225)
    pen.shape(oval(352, 238, 22, 18, 0, 180, 360), WHITE)
    pen.line([(352, 237), (338, 228)], 2.4)
    pen.rect(346, 256, 358, 262, 40, 1.2)
    pen.rect(336, 270, 368, 282, 120, 1.4)
    astronaut(pen, 256, 436, 1, (52, -72))
    astronaut(pen, 470, 420, -1, (-70, -138))


def knight_at_the_laundromat(pen: Pen) -> None:
    """Contest 9008."""
    room(pen, 366)
    lettering(pen, "COIN", 60, 42, 30, 3)
    lettering(pen, "LAUNDRY", 176, 42, 30, 3)
    for i in range(4):
        x = 28 + i * 150
        pen.rect(x, 116, x + 142, 376, 240)
        pen.rect(x + 8, 124, x + 134, 156, 205, 1.5)
        pen.ellipse(x + 28, 140, 8, 8, WHITE, 1.5)
        pen.rect(x + 92, 132, x + 124, 147, 90, 1.3)
        pen.ellipse(x + 71, 236, 60, 60, 200)
        pen.ellipse(x + 71, 236, 48, 48, 110 if i == 1 else 170, 1.8)
        pen.curve(oval(x + 71, 236, 39, 39, 0, 200, 260), 2, WHITE)
    # armour going round: a breastplate, a gauntlet, a boot
    cx, cy = 249, 236
    pen.blob(placed([(-20, -16), (20, -16), (16, 14), (0, 22), (-16, 14)], cx + 16, cy - 18, 30), 225, 1.7)
    pen.line(placed([(0, -16), (0, 21)], cx + 16, cy - 18, 30), 1.3)
    pen.blob(placed([(-9, -18), (9, -18), (10, 6), (14, 18), (2, 14), (-10, 18)], cx - 22, cy - 12, -50), 225, 1.7)
    pen.blob(placed([(-8, -20), (8, -20), (8, 4), (26, 10), (26, 18), (-10, 18)], cx - 4, cy + 26, 160, 0.9), 225, 1.7)
    for start in (20, 140, 260):
        pen.curve(oval(cx, cy, 44, 44, 0, start, start + 50), 1.3, WHITE)
    # the knight, waiting
    chair(pen, 122, 372, 76, 1, 110)
    x, y = person(
        pen, 122, 368, 282, 1, sit=True, hair="none", suit=False, top=WHITE, bottom=WHITE, near=(0.24, 0.24),
            far=(0.26, 0.2)
    )
    pen.blob(placed([(-30, -16), (26, -22), (48, -16), (48, 16), (16, 20), (-24, 22)], 122, 368), 215)  # boxer shorts
    for dx, dy in ((-18, -4), (-2, 8), (12, -8), (30, 6), (38, -8)):
        pen.dot(122 + dx, 368 + dy, 3.4, 90)
    pen.blob([(x - 27, y + 24), (x - 30, y - 8), (x - 16, y - 34), (x + 10, y - 35), (x + 26, y - 14),
        (x + 38, y + 6), (x + 22, y + 30)], 185)
    pen.shape([(x - 2, y - 12), (x + 26, y - 14), (x + 42, y + 6), (x + 22, y + 26), (x - 2, y + 18)], 205)
    for i in range(3):
        pen.line([(x + 10, y - 4 + i * 6), (x + 29, y - 4 + i * 6)], 2)
    pen.dot(x - 2, y + 3, 3)
    pen.blob([(x - 8, y - 34), (x - 20, y - 62), (x - 54, y - 58), (x - 62, y - 34), (x - 40, y - 44),
        (x - 22, y - 30)], 130)
    pen.line([(318, 452), (334, 270)], 5)  # his sword, leaning
    pen.line([(318, 298), (348, 301)], 5)
    # the woman with the basket
    person(pen, 520, 456, 298, -1, hair="curly", mouth="flat", dress=True, suit=False, top=120, near=(0.2, 0.2),
        far=(0.28, 0.2), skin=225)
    pen.blob([(404, 288), (440, 270), (474, 280), (494, 274), (500, 294), (406, 298)], WHITE)
    pen.shape([(398, 292), (506, 292), (496, 344), (408, 344)], 190)
    for i in range(5):
        pen.line([(414 + i * 19, 296), (416 + i * 17, 342)], 1.1)
    pen.ellipse(470, 310, 9, 8, 225, 1.6)


def cat_in_charge(pen: Pen) -> None:
    """Contest 9009."""
    room(pen, 372)
    window(pen, 52, 56, 100, 120)
    pen.rect(250, 60, 330, 130, 130)
    pen.rect(257, 67, 323, 123, WHITE, 1.4)
    pen.blob([(268, 96), (284, 84), (302, 92), (314, 84), (312, 108), (300, 99), (284, 107)], 170, 1.5)
    pen.dot(278, 94)
    # the cat
    pen.tube([(590, 360), (622, 300), (602, 240), (620, 206)], 24, 150)
    pen.blob([(370, 370), (372, 262), (408, 200), (510, 196), (556, 262), (566, 370)], 150)
    pen.blob([(430, 370), (428, 280), (464, 248), (500, 280), (504, 370)], 235, 0)
    pen.shape([(386, 118), (384, 48), (432, 86)], 150)
    pen.shape([(536, 118), (544, 46), (492, 84)], 150)
    pen.shape([(394, 104), (394, 66), (418, 88)], 215, 1.2)
    pen.shape([(528, 104), (534, 64), (506, 86)], 215, 1.2)
    pen.blob([(366, 150), (388, 100), (430, 80), (496, 80), (538, 100), (556, 150), (528, 202), (462, 216),
        (394, 202)], 150)
    pen.blob([(424, 180), (440, 154), (460, 150), (482, 154), (498, 180), (462, 206)], 235, 0)
    for x in (422, 500):
        pen.ellipse(x, 140, 20, 13, 245)
        pen.ellipse(x - 4, 141, 4, 11, 30)
        pen.line([(x - 22, 128), (x + 20, 126)], 3)  # unimpressed
    pen.shape([(452, 158), (472, 158), (462, 168)], 60)
    pen.curve([(440, 180), (452, 184), (462, 170), (472, 184), (486, 178)], 2)
    for side, y in ((-1, 166), (-1, 176), (-1, 186), (1, 166), (1, 176), (1, 186)):
        pen.line([(462 + side * 44, y), (462 + side * 118, y - 14 + (y - 166) * 1.6)], 1.3)
    for x in (446, 462, 478):
        pen.line([(x, 84), (x + (x - 462) * 0.1, 106)], 4, 90)
    for y in (290, 316, 342):
        pen.line([(560, y), (534, y + 4)], 4, 90)
    pen.shape([(440, 222), (486, 222), (464, 234)], 60)  # bow tie
    pen.shape([(440, 214), (462, 226), (440, 240)], 60)
    pen.shape([(486, 214), (464, 226), (486, 240)], 60)
    # the desk, swept nearly clean
    desk(pen, 330, 620, 352, 456, 135)
    pen.tube([(410, 268), (378, 320), (346, 344)], 34, 150)
    pen.ellipse(340, 343, 26, 14, 235)
    for x in (328, 339, 350):
        pen.line([(x, 343), (x - 2, 352)], 1.4)
    pen.ellipse(540, 347, 30, 13, 235)
    for x in (530, 542, 554):
        pen.line([(x, 348), (x, 357)], 1.4)
    # what was on it
    pen.shape(placed([(-15, -20), (15, -20), (15, 20), (-15, 20)], 298, 326, -35), WHITE)  # a mug in the air
    pen.curve(oval(*placed([(-21, 0)], 298, 326, -35)[0], 9, 10), 2)
    for x, y in ((274, 350), (286, 366), (270, 374)):
        pen.dot(x, y, 2.6, 60)
    for x, y, turn in ((296, 412, 10), (196, 426, -20), (302, 446, 30), (182, 456, -8)):
        pen.shape(placed([(-20, -8), (20, -8), (26, 8), (-14, 8)], x, y, turn), WHITE, 1.5)
        pen.line(placed([(-12, -2), (14, -2)], x, y, turn), 1)
    pen.shape(placed([(-26, 0), (26, 0), (14, -34), (-14, -34)], 262, 442, 80), 200)  # lamp
    pen.line(placed([(0, 0), (0, 30), (20, 46)], 262, 442, 80), 4)
    pen.ellipse(*placed([(20, 48)], 262, 442, 80)[0], 7, 14, 150)
    person(pen, 122, 452, 300, 1, hair="bald", mouth="frown", brow=-1, top=95, bottom=70, near=(0.12, 0.3), far=(0.14,
        0.3), skin=240)


def tree_at_the_barber(pen: Pen) -> None:
    """Contest 9010."""
    room(pen, 380)
    for y in range(400, 480, 26):
        pen.line([(8, y), (632, y)], 0.9, 150)
    pen.rect(430, 62, 616, 266, 140)  # mirror and shelf
    pen.rect(442, 74, 604, 254, 240, 1.5)
    for x in (470, 486, 560):
        pen.line([(x, 230), (x + 60, 100)], 1.2, 170)
    pen.rect(420, 284, 626, 294, 180)
    for x, tall, fill in ((450, 34, 120), (474, 26, 235), (552, 38, 200), (580, 24, 90)):
        pen.rect(x, 284 - tall, x + 15, 284, fill, 1.5)
        pen.rect(x + 4, 276 - tall, x + 11, 284 - tall, 60, 1.2)
    pen.rect(50, 70, 84, 236, WHITE)  # the pole
    for y in range(84, 250, 34):
        pen.shape([(50, y), (84, y - 20), (84, y - 4), (50, y + 16 if y < 220 else y + 6)], 90, 1)
    pen.rect(44, 58, 90, 72, 150)
    pen.rect(44, 236, 90, 250, 150)
    # chair
    pen.rect(322, 398, 346, 448, 150)
    pen.ellipse(334, 450, 52, 10, 120)
    pen.tube([(404, 372), (424, 250)], 26, 90)
    pen.rect(262, 374, 416, 402, 100)
    pen.tube([(290, 402), (262, 440), (226, 444)], 8, 90)
    # tree under its cape
    for root in ((300, 454), (262, 446), (286, 466)):
        pen.tube([(312, 396), (286, 424), root], 10, 130)
    pen.shape([(310, 250), (358, 250), (366, 380), (300, 380)], 130)
    pen.blob([(336, 254), (296, 262), (256, 340), (246, 400), (300, 412), (380, 412), (414, 396), (396, 320),
        (376, 262)], WHITE)
    for x0, x1 in ((312, 284), (334, 330), (358, 378)):
        pen.curve([(x0, 284), ((x0 + x1) / 2 - 3, 340), (x1, 402)], 1.3)
    pen.rect(308, 242, 360, 258, WHITE, 1.6)
    crown = [(334, 246), (262, 238), (214, 208), (218, 166), (240, 150), (236, 106), (280, 84), (310, 54),
        (356, 56), (386, 84), (424, 104), (426, 146), (452, 172), (440, 214), (398, 240)]
    pen.blob(crown, 165)
    for _ in range(46):
        x, y = pen.random.uniform(232, 432), pen.random.uniform(74, 226)
        if math.hypot((x - 334) / 100, (y - 152) / 80) < 1:
            pen.curve([(x - 6, y), (x - 2, y + 6), (x + 4, y + 5), (x + 7, y - 1)], 1.3, 80)
    for x in (346, 382):  # a face in the leaves
        pen.ellipse(x, 176, 9, 10, WHITE)
        pen.dot(x - 2, 178, 4)
    pen.curve([(346, 208), (362, 212), (378, 206)], 2.4)
    pen.curve([(360, 184), (350, 196), (362, 198)], 2)
    # nest and tenant
    pen.blob([(384, 106), (392, 82), (412, 84), (420, 104), (402, 112)], 235, 1.6)
    pen.ellipse(414, 80, 10, 9, 235, 1.6)
    pen.shape([(423, 78), (434, 82), (422, 85)], 90, 1.3)
    pen.dot(416, 78)
    pen.blob([(366, 100), (440, 98), (428, 124), (378, 126)], 110)
    for _ in range(12):
        x = pen.random.uniform(372, 428)
        pen.line([(x - 12, 102 + pen.random.uniform(0, 14)), (x + 12, 104 + pen.random.uniform(0, 14))], 1.1)
    # barber
    person(pen, 158, 456, 306, 1, hair="short", mouth="smile", glasses=True, suit=False, top=WHITE, bottom=100,
        near=(0.25, -0.0), far=(0.24, -0.12), skin=235)
    for sign in (-1, 1):
        pen.tube(placed([(0, sign * 12), (40, sign * -2)], 240, 186, -34), 6, 110)
        pen.shape(placed([(40, -sign * 2), (118, -sign * 26), (112, -sign * 12), (44, sign * 4)], 240, 186, -34), 225)
    pen.dot(*placed([(42, 0)], 240, 186, -34)[0], 3.4)
    for x, y in ((226, 440), (248, 458), (204, 462), (372, 462), (392, 446), (420, 460)):
        pen.blob([(x - 7, y), (x, y - 4), (x + 8, y), (x, y + 3)], 150, 1.2)


SCENES = {
    9006: octopus_buys_shoes,
    9007: meter_on_the_moon,
    9008: knight_at_the_laundromat,
    9009: cat_in_charge,
    9010: tree_at_the_barber,
}

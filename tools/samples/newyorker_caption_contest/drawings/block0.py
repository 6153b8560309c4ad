"""The drawings of contests 9001 to 9005, one function each, from the back of the picture to the front."""

import math
from itertools import pairwise

from .parts import armchair, armrest, chair, desk, head, lettering, person, picture, plant, room, window
from .pen import INK, WHITE, Pen, box, oval, placed, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def lighthouse_on_a_couch(pen: Pen) -> None:
    """Contest 9001."""
    room(pen, 352)
    window(pen, 70, 60, 100, 120)
    picture(pen, 250, 66, 90, 70)
    plant(pen, 45, 400, 1.1)
    pen.flat([(425, 290), (632, 130), (632, 262)], 253)  # the beam, straight at the therapist
    armchair(pen, 545, 362, -1)
    person(pen, 545, 356, 262, -1, sit=True, hair="bun", mouth="talk", glasses=True, top=105, bottom=60, near=(0.2,
        0.24), far=(0.2, 0.2))
    armrest(pen, 545, 362, -1)
    pen.shape([(492, 308), (526, 300), (534, 334), (500, 342)], WHITE)  # notepad
    for i in range(3):
        pen.line([(500, 316 + i * 7), (524, 310 + i * 7)], 1)
    # couch
    for x in (92, 420):
        pen.line([(x, 420), (x, 446)], 7)
    pen.blob([(70, 352), (300, 350), (390, 345), (418, 250), (452, 240), (462, 262), (446, 400), (430, 424),
        (80, 424), (62, 400)], 125)
    pen.curve([(66, 372), (250, 368), (400, 366), (440, 290)], 1.5)

    def tower(points):
        return placed(points, 84, 324, -6)

    bands = [(0, 42), (62, 37), (124, 32), (186, 27), (248, 23)]
    pen.shape(tower([(-14, -46), (0, -46), (0, 46), (-14, 46)]), 200)
    for i, ((u0, r0), (u1, r1)) in enumerate(pairwise(bands)):
        pen.shape(tower([(u0, -r0), (u1, -r1), (u1, r1), (u0, r0)]), WHITE if i % 2 else 80)
    pen.shape(tower([(28, -8), (46, -8), (46, 8), (28, 8)]), WHITE, 1.4)
    pen.shape(tower([(150, -8), (164, -8), (164, 8), (150, 8)]), 60, 1.4)
    pen.shape(tower([(248, -34), (258, -34), (258, 34), (248, 34)]), 150)
    pen.shape(tower([(258, -25), (306, -25), (306, 25), (258, 25)]), 255)
    pen.shape(smooth(tower([(306, -31), (318, -27), (336, -8), (342, 0), (336, 8), (318, 27), (306, 31)])), 80)
    pen.dot(*tower([(346, 0)])[0], 5)
    for v in (-9, 9):  # a worried face in the lantern
        pen.dot(*tower([(290, v)])[0], 3)
    pen.curve(tower([(300, -16), (297, -10), (300, -5)]), 1.8)
    pen.curve(tower([(300, 16), (297, 10), (300, 5)]), 1.8)
    pen.curve(tower([(268, -9), (274, 0), (268, 9)]), 2)


def crow_and_scarecrow(pen: Pen) -> None:
    """Contest 9002."""
    room(pen, 356)
    window(pen, 420, 60, 120, 110)
    picture(pen, 90, 70, 100, 76)
    # the scarecrow
    chair(pen, 170, 350, 90, 1)
    x, y = person(pen, 170, 346, 290, 1, sit=True, hair="none", suit=False, top=175, bottom=140, near=(0.24, 0.26),
        far=(0.27, 0.22), skin=215)
    pen.ellipse(x, y, 29, 32, 220)
    for px in (-4, 14):
        pen.line([(x + px - 4, y - 10), (x + px + 4, y - 2)], 2)
        pen.line([(x + px + 4, y - 10), (x + px - 4, y - 2)], 2)
    pen.curve([(x - 10, y + 14), (x + 6, y + 19), (x + 20, y + 12)], 1.6)
    for i in range(5):
        pen.line([(x - 7 + i * 6, y + 11), (x - 6 + i * 6, y + 21)], 1.3)
    pen.shape([(x + 6, y), (x + 16, y + 7), (x + 4, y + 8)], 120, 1.3)
    for hx, hy, spread in ((240, 330, 0), (249, 317, 0), (x - 6, y + 36, 90), (236, 418, 30)):
        for angle in (-40, -20, 0, 20, 40):
            a = math.radians(angle + spread)
            pen.line([(hx, hy), (hx + 17 * math.cos(a), hy + 17 * math.sin(a))], 1.4)
    pen.shape([(172, 312), (190, 309), (192, 328), (175, 330)], 110, 1.5)  # patch
    pen.blob([(x - 52, y - 22), (x - 20, y - 28), (x - 14, y - 58), (x + 12, y - 62), (x + 22, y - 30),
        (x + 54, y - 20), (x, y - 14)], 195)
    pen.curve([(x - 19, y - 32), (x, y - 27), (x + 22, y - 32)], 3)
    # the crow
    body = person(pen, 490, 376, 292, -1, sit=True, hair="none", top=165, legs=False, near=(0.3, 0.2), far=(0.31,
        0.17), skin=40)
    crow_x, crow_y = body
    pen.blob(placed([(-62, -4), (-26, -20), (-22, 14), (-34, 8)], crow_x, crow_y), 110)  # beak
    pen.line(placed([(-60, -3), (-24, -2)], crow_x, crow_y), 1.6)
    pen.blob(placed([(-24, -24), (4, -36), (32, -24), (38, 8), (28, 40), (-14, 40), (-28, 10)], crow_x, crow_y), 45)
    pen.ellipse(crow_x - 10, crow_y - 8, 7, 7, WHITE, 1.4)
    pen.dot(crow_x - 12, crow_y - 8, 3)
    for i in range(3):
        pen.curve(placed([(26, -22 + i * 5), (38, -28 + i * 6), (44, -26 + i * 8)], crow_x, crow_y), 2)
    # desk and application
    desk(pen, 340, 610, 356, 452, 140)
    pen.shape([(372, 318), (410, 308), (422, 356), (384, 364)], WHITE)
    for i in range(5):
        pen.line([(382, 322 + i * 8), (406, 316 + i * 8)], 1, 80)
    pen.rect(540, 336, 592, 356, 210)
    pen.curve([(548, 336), (560, 320), (580, 318)], 1.6)


def periscope_in_the_bath(pen: Pen) -> None:
    """Contest 9003."""
    room(pen, 372, skirting=False)
    for x in range(40, 640, 42):  # tiles
        pen.line([(x, 232), (x, 372)], 0.9, 150)
    for y in (232, 267, 302, 337):
        pen.line([(8, y), (632, y)], 0.9, 150)
    window(pen, 330, 52, 96, 96)
    pen.tube([(575, 120), (575, 210)], 8, 190)
    pen.blob([(545, 130), (606, 130), (600, 215), (575, 222), (550, 215)], 235)  # towel
    person(pen, 92, 452, 300, 1, hair="long", mouth="talk", dress=True, suit=False, top=170, near=(0.22, 0.02),
        far=(0.02, 0.3), skin=235)
    # tub, seen a little from above
    pen.ellipse(372, 300, 208, 44, WHITE)
    pen.ellipse(372, 304, 192, 36, 190, 1.6)
    for x, y, w in ((260, 312, 30), (330, 296, 24), (420, 322, 34), (400, 300, 18)):
        pen.curve([(x, y), (x + w / 2, y - 3), (x + w, y)], 1.2)
    # the man
    pen.blob([(470, 306), (466, 254), (488, 226), (528, 228), (548, 258), (550, 300), (510, 314)], WHITE)
    head(pen, 500, 196, 29, -1, "bald", "flat", brow=-0.6)
    pen.tube([(540, 250), (566, 272), (574, 292)], 18, WHITE)
    for x in (402, 432):
        pen.blob([(x - 18, 318), (x - 12, 284), (x + 4, 272), (x + 18, 288), (x + 22, 318)], WHITE)
    pen.curve([(480, 262), (488, 266), (496, 263)], 1.3)
    # the periscope
    pen.tube([(262, 312), (262, 196)], 24, 120)
    pen.tube([(262, 198), (268, 182), (292, 180)], 24, 120)
    pen.ellipse(304, 180, 8, 18, 225)
    pen.ellipse(305, 180, 4, 9, 60, 1.2)
    pen.rect(246, 226, 278, 236, 80, 1.5)
    for rx in (28, 42):
        pen.curve(oval(262, 314, rx, rx * 0.22, 0, -20, 200), 1.4)
    # the duck
    pen.blob([(334, 320), (336, 300), (356, 304), (372, 298), (376, 316), (356, 328)], 235)
    pen.ellipse(344, 292, 11, 11, 235)
    pen.shape([(334, 292), (323, 295), (334, 299)], 130, 1.4)
    pen.dot(342, 289)
    # front of the tub
    sides = smooth([(580, 302), (574, 350), (545, 400), (480, 426), (372, 430), (264, 426), (200, 400), (170, 350),
        (164, 302)])
    front = sides + oval(372, 302, 208, 44, 0, 180, 0)
    pen.shape(front, WHITE)
    pen.wash([(580, 302), (572, 360), (545, 405), (480, 426), (430, 426), (520, 390), (550, 322)], 215)
    for x, flip in ((236, 1), (508, -1)):
        pen.blob(placed([(0, 0), (22, 2), (6, 30), (-14, 34), (-6, 16)], x, 418, flip=flip), 140)


def snowmen_in_a_sauna(pen: Pen) -> None:
    """Contest 9004."""
    pen.flat(box(0, 0, 640, 480), 205)
    for y in range(40, 350, 34):
        pen.line([(0, y), (640, y)], 1.2, 110)
    pen.flat(box(0, 372, 640, 480), 175)
    pen.line([(0, 372), (640, 372)], 2)
    pen.rect(500, 70, 552, 170, WHITE)  # thermometer
    pen.curve(oval(526, 112, 18, 18, 0, 140, 400), 2)
    pen.line([(526, 112), (537, 100)], 2.5)
    pen.rect(520, 138, 532, 162, 90, 1.3)
    pen.rect(40, 330, 430, 350, 150)  # bench
    for x in (70, 390):
        pen.rect(x, 350, x + 16, 428, 130)
    pen.line([(44, 340), (426, 340)], 1.2)
    for x, face in ((140, 1), (300, -1)):
        pen.ellipse(x, 288, 64, 56, WHITE)
        pen.ellipse(x, 202, 43, 40, WHITE)
        pen.blob([(x - 62, 300), (x, 286), (x + 62, 300), (x + 66, 340), (x, 350), (x - 66, 340)], 140)  # towel
        for i in range(3):
            pen.line([(x - 48 + i * 10, 306), (x - 50 + i * 10, 340)], 1.2, 80)
        pen.dot(x + face * 6, 192, 4.4)
        pen.dot(x + face * 26, 194, 4.4)
        pen.shape([(x + face * 16, 200), (x + face * 64, 210), (x + face * 15, 212)], 130)
        for i in range(5):
            pen.dot(x + face * (2 + i * 7), 221 + (4, 1, 0, 1, 4)[i] * (1 if face == 1 else -1) * 0.8, 2.4)
        for y in (254, 272):
            pen.dot(x + face * 8, y, 4)
        for dx in (-50, -36, 40):  # melting
            pen.blob([(x + dx - 4, 222), (x + dx, 210), (x + dx + 4, 222), (x + dx, 229)], 240, 1.3)
    pen.line([(82, 276), (40, 306), (24, 300)], 3.4)
    pen.line([(40, 306), (26, 316)], 2.6)
    pen.line([(194, 270), (222, 300), (218, 318)], 3.4)
    pen.line([(360, 276), (396, 300), (414, 292)], 3.4)
    pen.line([(396, 300), (410, 312)], 2.6)
    pen.ellipse(140, 164, 40, 7, 60)
    pen.shape([(116, 162), (120, 122), (162, 122), (165, 162)], 60)
    # stove and steam
    pen.rect(480, 300, 604, 420, 90)
    for i in range(7):
        pen.line([(492 + i * 17, 330), (492 + i * 17, 412)], 1.4, 190)
    for x, y, r in ((496, 298, 17), (524, 292, 19), (556, 296, 18), (584, 297, 16), (540, 278, 16), (512, 282, 14),
        (572, 282, 13)):
        pen.ellipse(x, y, r, r * 0.8, 150)
    for x in (500, 540, 580):
        pen.curve([(x, 258), (x - 12, 238), (x + 8, 216), (x - 8, 190), (x + 4, 176)], 2, 120)
    # the cousin
    pen.blob([(150, 444), (190, 424), (280, 430), (340, 422), (420, 440), (380, 462), (260, 466), (180, 462)], 245)
    pen.ellipse(240, 438, 36, 7, 60)
    pen.shape([(220, 436), (216, 404), (258, 402), (260, 436)], 60)
    pen.shape([(312, 442), (364, 448), (312, 454)], 130)
    for x, y in ((296, 456), (284, 446), (340, 432)):
        pen.dot(x, y, 3.6)
    pen.line([(366, 434), (404, 452), (416, 446)], 2.6)


def piggy_bank_robbery(pen: Pen) -> None:
    """Contest 9005."""
    room(pen, 390, skirting=False)
    pen.rect(380, 20, 632, 66, 205)
    lettering(pen, "BANK", 448, 30, 26, 3)
    for x in (380, 606):
        pen.rect(x, 66, x + 26, 392, 220)
        for dx in (8, 17):
            pen.line([(x + dx, 74), (x + dx, 386)], 1.1)
    person(pen, 520, 330, 262, -1, sit=True, hair="curly", mouth="talk", legs=False, dress=True, suit=False, top=130,
        near=(-0.25, -0.25), far=(0.28, -0.24), brow=-1)
    for x in (412, 434, 574, 594):
        pen.line([(x, 72), (x, 296)], 2)
    pen.rect(380, 296, 632, 312, 200)
    pen.rect(380, 312, 632, 436, 150)
    pen.rect(400, 330, 612, 420, None, 1.4)
    # the pig
    for x in (130, 270):
        pen.shape([(x - 24, 372), (x + 26, 372), (x + 20, 432), (x - 20, 432)], 205)
        pen.ellipse(x, 432, 22, 7, 120)
    pen.curve([(64, 300), (40, 292), (36, 270), (52, 268), (48, 288), (28, 282)], 3)
    pen.ellipse(190, 290, 130, 112, 225)
    pen.wash([*oval(190, 290, 128, 110, 0, 20, 175), *oval(190, 262, 128, 100, 0, 175, 20)], 215)
    pen.shape(placed([(-30, -5), (30, -5), (30, 5), (-30, 5)], 172, 192, -6), INK)
    for x, y in ((120, 330), (150, 352), (240, 356)):  # china flowers
        for k in range(5):
            a = math.radians(72 * k)
            pen.ellipse(x + 8 * math.cos(a), y + 8 * math.sin(a), 5, 5, WHITE, 1.2)
        pen.dot(x, y, 3)
    pen.blob([(208, 208), (204, 164), (226, 172), (246, 202)], 205)
    pen.blob([(268, 206), (280, 168), (300, 186), (296, 222)], 205)
    pen.blob([(196, 232), (250, 212), (306, 226), (310, 256), (286, 262), (262, 250), (236, 264),
        (200, 258)], 35)  # mask
    pen.curve([(198, 244), (150, 236), (100, 250)], 4)
    for x in (232, 284):
        pen.ellipse(x, 240, 11, 9, WHITE, 1.2)
        pen.dot(x + 3, 240, 4)
    pen.ellipse(308, 286, 26, 32, 205)
    for y in (276, 296):
        pen.ellipse(314, y, 5, 7, 70, 1.2)
    pen.curve([(248, 318), (268, 330), (290, 322)], 2.2)
    # sack and note
    pen.tube([(250, 356), (300, 356), (330, 340)], 30, 205)
    pen.blob([(318, 326), (368, 322), (382, 392), (372, 432), (306, 434), (298, 390)], 180)
    pen.ellipse(344, 326, 28, 8, 80)
    pen.line([(356, 364), (340, 362), (334, 374), (352, 384), (352, 396), (334, 400)], 3)
    pen.line([(344, 354), (344, 408)], 2.4)
    pen.shape([(398, 276), (432, 270), (436, 292), (402, 298)], WHITE)
    pen.line([(404, 284), (428, 279)], 1.4)


SCENES = {
    9001: lighthouse_on_a_couch,
    9002: crow_and_scarecrow,
    9003: periscope_in_the_bath,
    9004: snowmen_in_a_sauna,
    9005: piggy_bank_robbery,
}

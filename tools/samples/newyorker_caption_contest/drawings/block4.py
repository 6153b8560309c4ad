"""The drawings of contests 9021 to 9025, one function each, from the back of the picture to the front."""

import math

from .parts import cloud, desk, diploma, head, lettering, person, plant, room, window
from .pen import WHITE, Pen, placed, smooth

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def baby_on_the_bench(pen: Pen) -> None:
    """Contest 9021."""
    room(pen, 400, skirting=False)
    for x in (40, 150, 490, 600):
        pen.rect(x - 20, 30, x + 20, 400, 222, 1.6)
        for dx in (-8, 4):
            pen.line([(x + dx, 50), (x + dx, 396)], 1, 150)
    pen.rect(240, 34, 400, 180, 175)  # high back of the chair
    pen.ellipse(320, 30, 60, 12, 175)
    # the judge
    pen.blob([(236, 266), (250, 214), (290, 192), (350, 192), (390, 214), (404, 266)], 50)
    pen.shape([(306, 194), (334, 194), (340, 236), (320, 228), (300, 236)], WHITE, 1.6)
    pen.blob([(262, 116), (274, 70), (320, 54), (366, 70), (378, 116), (386, 190), (366, 206), (340, 180),
        (300, 180), (274, 206), (254, 190)], 235)
    for y in (112, 132, 152, 172):
        for x in (264, 374):
            pen.ellipse(x + (4 if x < 300 else -4) * (y > 150), y, 11, 9, WHITE, 1.5)
    pen.ellipse(320, 132, 43, 46, WHITE)
    for x in (302, 338):
        pen.dot(x, 126, 4)
        pen.curve([(x - 8, 112), (x, 108), (x + 8, 112)], 1.8)
        pen.ellipse(x + (x - 320) * 0.6, 146, 7, 5, 215, 0)
    pen.ellipse(320, 139, 5, 4, WHITE, 1.5)
    pen.curve([(306, 156), (320, 163), (334, 154)], 2)
    pen.curve([(318, 90), (324, 80), (330, 88)], 2)
    pen.tube([(376, 226), (420, 214), (438, 176)], 26, 50)
    pen.ellipse(440, 166, 12, 11, WHITE)
    pen.line([(440, 164), (456, 120)], 5)
    pen.ellipse(462, 104, 22, 20, 150)
    pen.curve([(442, 100), (462, 110), (484, 100)], 1.6)
    for x0, y0, x1, y1 in ((492, 84, 506, 74), (496, 104, 512, 104), (444, 78, 436, 66)):
        pen.line([(x0, y0), (x1, y1)], 2)
    pen.tube([(262, 232), (236, 248), (252, 262)], 26, 50)
    pen.ellipse(262, 262, 11, 9, WHITE)
    # the bench
    pen.rect(120, 262, 520, 282, 190)
    pen.rect(136, 282, 504, 440, 130)
    for x in (156, 272, 388):
        pen.rect(x, 300, x + 98, 422, None, 1.6)
    pen.rect(286, 246, 304, 262, 225, 1.5)
    pen.shape([(284, 246), (306, 246), (299, 236), (291, 236)], 225, 1.5)
    pen.rect(340, 236, 366, 262, 110, 1.6)  # a block with a letter
    lettering(pen, "A", 348, 242, 14, 1.8)
    # the lawyers
    person(pen, 186, 462, 262, 1, hair="bald", mouth="flat", brow=-1, top=80, bottom=60, near=(0.06, 0.36),
        glasses=True)
    person(pen, 96, 462, 276, 1, hair="long", mouth="talk", top=165, bottom=110, near=(0.2, -0.06), skin=225)
    pen.rect(196, 362, 240, 396, 100)
    pen.curve([(208, 362), (218, 352), (228, 362)], 2.4)


def horse_at_the_cleaner(pen: Pen) -> None:
    """Contest 9022."""
    room(pen, 380, skirting=False)
    lettering(pen, "DRY", 60, 34, 30, 3)
    lettering(pen, "CLEANING", 154, 34, 30, 3)
    pen.line([(330, 112), (632, 104)], 4)  # finished orders in their bags
    for i in range(7):
        x = 352 + i * 42
        pen.curve([(x, 112 - i), (x + 2, 122 - i), (x - 2, 128 - i)], 2)
        pen.blob([(x - 5, 128 - i), (x + 5, 128 - i), (x + 19, 146), (x + 18, 246), (x - 18, 246),
            (x - 19, 146)], (225, 150, 240, 110)[i % 4], 1.5)
        pen.line([(x - 8, 150), (x - 11, 238)], 1, WHITE if i % 2 else 150)
    # the customer
    pen.blob([(36, 250), (20, 300), (30, 360), (44, 340), (52, 280)], 215)
    for x, knee in ((64, 4), (100, -2), (208, 6), (240, 0)):
        pen.tube([(x, 330), (x + knee, 390), (x, 444)], 21, 245 if x in (64, 240) else 225)
        pen.shape([(x - 13, 444), (x + 13, 444), (x + 16, 460), (x - 14, 460)], 70)
    pen.blob([(40, 268), (80, 242), (160, 248), (212, 226), (262, 262), (266, 318), (230, 350), (120, 352),
        (56, 342)], 248)
    pen.blob([(196, 252), (226, 196), (238, 146), (268, 132), (292, 152), (290, 200), (272, 250), (262, 290),
        (214, 290)], 248)
    pen.flat(smooth([(208, 258), (236, 224), (262, 252), (254, 300), (206, 296)], closed=True), 248)
    pen.blob([(236, 150), (252, 118), (284, 112), (312, 140), (346, 168), (350, 192), (330, 202), (298, 188),
        (262, 188)], 248)
    pen.blob([(318, 152), (348, 170), (350, 192), (330, 202), (316, 188)], 175)
    pen.dot(338, 176, 3)
    pen.curve([(318, 192), (330, 188), (342, 192)], 1.8)
    for x in (248, 268):
        pen.blob([(x, 124), (x - 4, 92), (x + 10, 96), (x + 14, 118)], 245)
    pen.ellipse(290, 142, 7, 8, WHITE)
    pen.dot(292, 144, 3.6)
    pen.curve([(278, 130), (290, 124), (300, 130)], 2.2)
    for i in range(8):  # an upright mane, zebra fashion
        x, y = 196 + i * 6, 246 - i * 15
        pen.line([(x + 4, y + 4), (x - 12, y - 8)], 4, 60)
    # the clerk, with what came off
    person(pen, 572, 344, 290, -1, sit=True, hair="bun", mouth="talk", legs=False, suit=False, dress=True, top=165,
        glasses=True, near=(0.34, -0.1), far=(0.06, 0.3), skin=225)
    pen.curve([(466, 226), (470, 214), (464, 206), (457, 212)], 2.6)
    pen.line([(466, 226), (410, 250), (518, 250), (466, 226)], 3)
    for i in range(7):
        x = 416 + i * 16
        long = (86, 98, 90, 104, 88, 96, 80)[i]
        pen.blob([(x - 4, 250), (x + 4, 250), (x + 9, 250 + long * 0.4), (x + 2, 250 + long),
            (x - 4, 250 + long * 0.55)], 25, 1)
    desk(pen, 330, 636, 360, 462, 140)
    pen.rect(350, 332, 396, 360, 90)
    pen.shape([(354, 332), (392, 332), (386, 318), (360, 318)], 205)
    pen.shape([(560, 350), (600, 346), (606, 358), (566, 362)], WHITE, 1.5)


def reaper_teaches_yoga(pen: Pen) -> None:
    """Contest 9023."""
    room(pen, 320)
    window(pen, 60, 54, 110, 120)
    window(pen, 470, 54, 110, 120)
    plant(pen, 598, 330, 1.1)
    pen.rect(26, 296, 90, 320, 165)
    for x in (40, 56, 72):  # candles
        pen.rect(x - 5, 276, x + 5, 296, WHITE, 1.4)
        pen.blob([(x, 274), (x - 4, 268), (x, 258), (x + 4, 268)], 245, 1.3)
    for y in range(346, 480, 24):
        pen.line([(8, y), (632, y)], 0.8, 165)
    # the teacher
    pen.shape([(230, 328), (410, 328), (424, 352), (216, 352)], 120)
    pen.line([(430, 348), (404, 70)], 6)
    pen.blob([(404, 78), (362, 58), (316, 66), (282, 98), (326, 84), (370, 84), (404, 96)], 215)
    pen.blob([(320, 96), (286, 112), (276, 160), (250, 220), (242, 344), (320, 352), (398, 344), (388, 220),
        (362, 160), (354, 112)], 45)
    pen.blob([(320, 112), (296, 126), (292, 158), (320, 178), (348, 158), (344, 126)], 20, 1)
    pen.blob([(320, 122), (302, 132), (302, 152), (310, 162), (312, 172), (328, 172), (330, 162), (338, 152),
        (338, 132)], WHITE, 1.5)
    for x in (312, 328):
        pen.ellipse(x, 144, 5, 6, 30, 1)
    pen.shape([(320, 152), (317, 158), (323, 158)], 30, 1)
    for x in (316, 320, 324):
        pen.line([(x, 164), (x, 171)], 1)
    for x0, x1 in ((300, 280), (330, 334), (350, 370)):
        pen.curve([(x0, 200), ((x0 + x1) / 2, 270), (x1, 340)], 1.6, 130)
    pen.tube([(362, 190), (398, 222), (414, 214)], 26, 45)
    pen.ellipse(417, 213, 9, 8, WHITE)
    pen.tube([(278, 190), (232, 226), (204, 204)], 26, 45)
    for angle in (-150, -120, -95, -65):  # a bony hand, raised in blessing
        a = math.radians(angle)
        pen.line([(196, 198), (196 + 20 * math.cos(a), 198 + 20 * math.sin(a))], 3)
    pen.ellipse(197, 199, 8, 7, WHITE)
    # the class, resting
    for x, y, shirt, trousers, hair in ((180, 392, 200, 110, 60), (470, 388, 120, 200, 150), (316, 442, 235, 80, 60)):
        pen.shape([(x - 130, y + 12), (x + 118, y + 12), (x + 138, y + 30), (x - 150, y + 30)], 160)
        for dy in (2, 12):
            pen.tube([(x + 10, y + dy), (x + 70, y + dy + 2), (x + 108, y + dy + 2)], 15, trousers)
            pen.blob([(x + 108, y + dy + 8), (x + 108, y + dy - 14), (x + 116, y + dy - 20),
                (x + 122, y + dy + 8)], WHITE, 1.7)
        pen.blob([(x - 72, y - 12), (x - 20, y - 16), (x + 22, y - 8), (x + 22, y + 18), (x - 70, y + 18)], shirt)
        pen.blob(placed([(-24, 14), (-30, -4), (-18, -20), (4, -22), (18, -6), (14, 14)], x - 96, y), hair)
        pen.blob(placed([(-14, 14), (-20, -2), (-8, -12), (-2, -24), (4, -14), (16, -8), (20, 8),
            (12, 15)], x - 92, y), WHITE)
        pen.curve(placed([(-12, -2), (-8, 0), (-6, -4)], x - 92, y), 1.6)
        pen.curve(placed([(9, -4), (12, 0), (10, 3)], x - 92, y), 1.6)
        pen.tube([(x - 56, y + 2), (x - 30, y + 20), (x + 4, y + 22)], 12, shirt)
        pen.ellipse(x + 10, y + 22, 8, 6, WHITE)


def pirate_eye_test(pen: Pen) -> None:
    """Contest 9024."""
    room(pen, 376)
    diploma(pen, 62, 76, 64, 50)
    window(pen, 160, 58, 90, 100)
    pen.rect(440, 44, 586, 300, WHITE)
    for text, y, size in (("E", 58, 48), ("FP", 120, 34), ("TOZ", 168, 26), ("LPED", 208, 20), ("PECFD", 240, 15),
        ("RARRRR", 266, 11)):
        lettering(pen, text, 513 - len(text) * size * 0.425 + size * 0.14, y, size, max(1.3, size / 9))
    # chair
    pen.rect(150, 404, 176, 444, 150)
    pen.ellipse(163, 448, 56, 9, 120)
    pen.tube([(112, 372), (96, 262)], 24, 100)
    pen.rect(96, 366, 232, 404, 110)
    # pirate
    x, y = person(pen, 158, 366, 294, 1, sit=True, hair="none", suit=False, top=110, bottom=200, near=(0.26, 0.22),
        far=(0.22, 0.3), skin=235)
    for i in range(5):
        pen.curve([(132, 276 + i * 18), (158, 281 + i * 18), (182, 276 + i * 18)], 4, 235)
    head(pen, x, y, 27, 1, "short", "flat", 235)
    pen.blob(placed([(0.84, 0.36), (0.5, 0.4), (-0.1, 0.3), (-0.4, 0.8), (0.1, 1.5), (0.6, 1.7),
        (0.9, 1.0)], x, y, 0, 26), 70)
    pen.ellipse(x + 14, y - 4, 9, 9, 25)
    pen.line([(x + 18, y - 12), (x - 24, y - 18)], 2.4)
    pen.blob([(x - 52, y - 10), (x - 36, y - 34), (x - 20, y - 58), (x + 10, y - 64), (x + 34, y - 44),
        (x + 50, y - 12), (x + 10, y - 24), (x - 20, y - 22)], 45)
    pen.ellipse(x + 8, y - 42, 8, 8, WHITE, 1.2)
    for dx in (-3, 3):
        pen.dot(x + 8 + dx, y - 43, 1.9)
    pen.line([(x - 4, y - 30), (x + 20, y - 36)], 2, WHITE)
    pen.line([(x - 4, y - 36), (x + 20, y - 30)], 2, WHITE)
    pen.tube([(150, 264), (156, 312), (216, 326)], 20, 110)
    pen.rect(214, 314, 228, 338, 60, 1.6)
    pen.curve([(228, 326), (246, 326), (254, 312), (244, 300), (234, 306)], 4.4)
    # parrot
    px, py = x - 44, y + 16

    def bird(*points):
        return placed(list(points), px, py, 0, 1.25)

    pen.blob(bird((-16, 14), (-30, 52), (-20, 60), (-4, 26)), 130, 1.7)
    pen.blob(bird((-20, 18), (-20, -22), (-6, -44), (12, -38), (14, -10), (4, 24)), 240, 1.8)
    pen.blob(bird((-17, 18), (-18, -12), (-4, -6), (-1, 18)), 130, 1.6)
    pen.blob(bird((8, -37), (25, -30), (18, -15), (10, -22)), 70, 1.6)
    pen.dot(*bird((3, -30))[0], 3)
    pen.curve(bird((-6, -42), (-14, -54), (-4, -50), (-8, -62), (2, -52), (4, -44)), 1.8)
    # doctor
    person(pen, 366, 456, 304, -1, hair="bun", mouth="talk", glasses=True, top=WHITE, bottom=90, near=(-0.26, 0.0),
        far=(0.12, 0.32), bend=1, skin=215)
    pen.line([(440, 248), (490, 148)], 4)


def dragon_buys_a_bed(pen: Pen) -> None:
    """Contest 9025."""
    room(pen, 370)
    pen.shape(placed([(-110, -44), (110, -48), (112, 44), (-108, 46)], 148, 86), WHITE)
    lettering(pen, "SALE", 66, 62, 50, 6)
    for x in (70, 226):
        pen.line([(x, 8), (x, 42)], 1.6)
    for x0 in (414, 540):  # more beds
        pen.rect(x0, 262, x0 + 110, 292, 245)
        pen.rect(x0, 292, x0 + 110, 316, 190)
        pen.blob([(x0 + 8, 262), (x0 + 12, 246), (x0 + 46, 246), (x0 + 50, 262)], WHITE, 1.6)
        pen.line([(x0 + 8, 316), (x0 + 8, 332)], 4)
        pen.line([(x0 + 102, 316), (x0 + 102, 332)], 4)
    # tail and wing behind the bed
    pen.tube([(130, 330), (70, 350), (46, 398), (70, 440), (110, 446)], 20, 130)
    pen.shape([(104, 436), (142, 444), (108, 462)], 130)
    pen.shape([(200, 260), (120, 150), (176, 174), (206, 130), (238, 176), (284, 156), (270, 256)], 165)
    for tip in ((120, 150), (206, 130), (284, 156)):
        pen.line([(234, 256), tip], 1.5)
    # mattress
    pen.rect(90, 338, 446, 384, 248)
    pen.rect(90, 384, 446, 428, 175)
    for x in range(110, 446, 34):
        pen.curve([(x, 340), (x + 8, 360), (x, 382)], 1, 150)
    for x in (104, 424):
        pen.line([(x, 428), (x, 452)], 6)
    pen.blob([(106, 340), (110, 314), (160, 308), (176, 338)], WHITE)
    # the dragon
    pen.blob([(130, 340), (132, 290), (190, 252), (270, 252), (330, 282), (346, 338)], 130)
    for i in range(7):
        x = 146 + i * 26
        y = (294, 272, 256, 250, 250, 256, 268)[i]
        pen.shape([(x - 9, y + 6), (x + 4, y - 16), (x + 13, y + 4)], 90, 1.6)
    pen.blob([(180, 340), (190, 306), (250, 296), (316, 306), (334, 340)], 205, 1.6)
    for x in (214, 244, 274, 302):
        pen.curve([(x, 300), (x + 4, 318), (x, 338)], 1.2)
    pen.blob([(282, 292), (300, 230), (300, 196), (330, 186), (350, 204), (348, 250), (344, 300), (310, 320)], 130)
    pen.blob([(290, 204), (294, 164), (326, 150), (362, 160), (404, 176), (416, 196), (400, 214), (360, 216),
        (320, 222)], 130)
    pen.curve([(412, 202), (376, 204), (352, 196)], 2)
    for x in (366, 384):
        pen.shape([(x - 4, 203), (x + 4, 203), (x, 212)], WHITE, 1.3)
    pen.ellipse(402, 184, 4, 3, 40, 1)
    pen.ellipse(340, 176, 10, 10, WHITE)
    pen.dot(343, 178, 4)
    pen.curve([(328, 166), (340, 160), (352, 168)], 2.6)
    for x in (302, 318):
        pen.shape([(x, 166), (x - 16, 128), (x + 12, 158)], 220)
    for x, y in ((330, 250), (316, 232), (330, 214)):
        pen.curve([(x - 8, y), (x, y + 6), (x + 8, y)], 1.3)
    pen.tube([(306, 304), (336, 322), (376, 334)], 21, 130)
    for x in (372, 382, 392):
        pen.shape([(x - 4, 334), (x + 4, 330), (x + 7, 344)], WHITE, 1.3)
    pen.tube([(176, 316), (160, 352), (180, 392)], 24, 130)
    pen.blob([(166, 388), (196, 384), (214, 400), (172, 404)], 130)
    pen.curve([(406, 180), (424, 172), (420, 160), (436, 152), (434, 140)], 2.2, 90)
    pen.curve([(408, 186), (432, 182), (432, 168), (450, 160), (446, 146)], 2.2, 90)
    cloud(pen, 452, 122, 0.62, 205)
    cloud(pen, 496, 84, 0.42, 220)
    # the salesman
    person(pen, 548, 458, 296, -1, hair="short", mouth="talk", top=100, bottom=70, near=(0.27, 0.12), far=(0.3, 0.04))
    pen.shape([(498, 300), (528, 296), (532, 336), (502, 340)], WHITE, 1.6)
    for i in range(3):
        pen.line([(504, 310 + i * 8), (524, 307 + i * 8)], 1)


SCENES = {
    9021: baby_on_the_bench,
    9022: horse_at_the_cleaner,
    9023: reaper_teaches_yoga,
    9024: pirate_eye_test,
    9025: dragon_buys_a_bed,
}

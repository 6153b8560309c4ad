"""The sample's eight posted pictures, one function each, from the back of the picture to the front."""

from drawings.parts import cloud, lettering, person
from drawings.pen import WHITE, Pen, box, oval

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def drowned_grill(pen: Pen) -> None:
    """A grill in the rain."""
    pen.flat(box(7, 7, 633, 473), 190)
    pen.flat(box(7, 330, 633, 473), 150)
    for x in (120, 330, 520):
        cloud(pen, x, 70, 1.5, 130)
    pen.ellipse(310, 420, 280, 42, 215)
    for side in (-1, 1):
        pen.line([(310 + side * 40, 280), (310 + side * 74, 426)], 5)
    pen.line([(310, 290), (310, 430)], 5)
    pen.blob([(210, 214), (220, 282), (310, 304), (400, 282), (410, 214)], 70)
    pen.ellipse(310, 214, 102, 24, 215)
    pen.blob([(280, 212), (300, 204), (340, 206), (346, 216), (316, 222)], 110)
    for x, turn in ((90, 1), (540, -1)):
        pen.line([(x - 50, 400), (x + 40, 396)], 6)
        pen.line([(x + turn * 40, 396), (x + turn * 60, 340)], 6)
        pen.line([(x, 398), (x + turn * 20, 430)], 4)
    for _ in range(46):
        x, y = pen.random.uniform(20, 620), pen.random.uniform(110, 400)
        pen.line([(x, y), (x - 8, y + 26)], 1.4, 90)


def one_till_of_six(pen: Pen) -> None:
    """A long line, one cashier, five closed tills."""
    pen.flat(box(7, 7, 633, 473), 235)
    pen.flat(box(7, 390, 633, 473), 205)
    for i in range(6):
        x = 60 + i * 96
        pen.rect(x, 150, x + 72, 220, 170 if i == 5 else 90)
        pen.line([(x + 36, 150), (x + 36, 96)], 3)
        pen.rect(x + 2, 66, x + 70, 98, WHITE if i == 5 else 60)
        if i == 5:
            lettering(pen, "OPEN", x + 10, 74, 15, 1.6)
        else:
            pen.flat(box(x + 6, 112, x + 66, 132), 250)
            lettering(pen, "CLOSED", x + 8, 116, 11, 1.3)
    person(pen, 576, 210, 130, -1, sit=True, hair="long", top=110, legs=False)
    pen.rect(540, 180, 612, 222, 190)
    for i in range(9):
        x = 590 - i * 68
        hair = ("short", "long", "bun", "bald", "curly")[i % 5]
        person(pen, x, 446 - (i % 2) * 10, 190, 1, hair=hair, mouth="frown", suit=False, top=90 + 14 * (i % 7))
        pen.shape([(x + 14, 360), (x + 50, 360), (x + 44, 388), (x + 20, 388)], 215)


def crushed_parcel(pen: Pen) -> None:
    """A flattened parcel on a doorstep."""
    pen.flat(box(7, 7, 633, 473), 215)
    pen.rect(80, 7, 560, 340, 130)
    for x in (110, 340):
        pen.rect(x, 40, x + 190, 300, 145)
    pen.ellipse(312, 180, 9, 9, 220)
    pen.shape([(30, 340), (610, 340), (640, 460), (0, 460)], 185)
    pen.shape([(150, 420), (146, 320), (230, 262), (420, 300), (470, 366), (476, 424)], 165)
    pen.line([(146, 320), (330, 350), (470, 366)], 2)
    pen.line([(330, 350), (332, 424)], 2)
    pen.blob([(236, 280), (286, 274), (312, 296), (300, 322), (262, 326), (240, 306)], 95)
    for y in (286, 298, 310):
        pen.line([(246, y), (298, y + 2)], 3, 160)
    pen.shape([(350, 372), (458, 382), (458, 414), (350, 406)])
    lettering(pen, "FRAGILE", 356, 384, 16, 1.7)
    for x, y in ((120, 430), (500, 440), (540, 420)):
        pen.shape([(x, y), (x + 16, y - 8), (x + 12, y + 8)], 200, 1.2)


def three_spaces(pen: Pen) -> None:
    """A car across three spaces, a bicycle beside it."""
    pen.flat(box(7, 7, 633, 473), 150)
    for i in range(5):
        pen.line([(60 + i * 130, 60), (60 + i * 130, 420)], 6, 250)
    pen.line([(10, 60), (630, 60)], 6, 250)
    pen.shape([(110, 300), (190, 130), (470, 110), (500, 170), (420, 350), (150, 370)], 85)
    pen.shape([(210, 250), (246, 174), (400, 162), (416, 186), (380, 270), (230, 284)], 205)
    pen.line([(316, 168), (300, 278)], 3)
    for x, y in ((150, 330), (216, 128), (450, 124), (404, 340)):
        pen.ellipse(x, y, 22, 14, 40)
    for x in (126, 142):
        pen.dot(x, 300 - x / 8, 6, 250)
    for x in (516, 604):
        pen.ellipse(x, 330, 34, 34, None, 3)
    pen.line([(516, 330), (548, 272), (590, 272), (604, 330)], 3)
    pen.line([(516, 330), (566, 330), (590, 272)], 3)
    pen.line([(548, 272), (566, 330)], 3)
    pen.line([(536, 262), (560, 262)], 5)
    pen.line([(590, 272), (584, 252), (604, 248)], 3)


def everything_delayed(pen: Pen) -> None:
    """A station's board and a sleeper."""
    pen.flat(box(7, 7, 633, 473), 225)
    pen.flat(box(7, 400, 633, 473), 185)
    pen.rect(60, 30, 580, 270, 45)
    for i, place in enumerate(("EAST", "SEA", "PORT", "CITY")):
        y = 52 + i * 54
        pen.flat(box(74, y - 8, 566, y + 34), 70)
        pen.flat(box(330, y - 4, 556, y + 30), 235)
        lettering(pen, "DELAYED", 344, y + 2, 22, 2)
        for k, letter in enumerate(place):
            pen.flat(box(90 + k * 32, y - 2, 116 + k * 32, y + 28), 240)
            lettering(pen, letter, 96 + k * 32, y + 3, 20, 2)
    pen.rect(180, 330, 420, 440, 120)
    pen.curve([(270, 330), (300, 306), (330, 330)], 4)
    pen.tube([(180, 316), (300, 312), (390, 318)], 46, 165)
    pen.tube([(390, 318), (450, 370), (470, 432)], 30, 90)
    pen.ellipse(156, 304, 28, 26)
    pen.curve([(146, 300), (152, 304), (158, 300)], 2)
    pen.ellipse(160, 318, 5, 6, 60, 1)
    for i, size in enumerate((14, 20, 26)):
        lettering(pen, "Z", 110 - i * 26, 270 - i * 2 - i * size, size, 2)


def lonely_ravioli(pen: Pen) -> None:
    """A huge plate with very little on it."""
    pen.flat(box(7, 7, 633, 473), 120)
    for x in range(30, 640, 60):
        pen.line([(x, 10), (x, 470)], 1, 100)
    pen.ellipse(290, 250, 230, 190)
    pen.ellipse(290, 250, 160, 128, 246, 1.6)
    pen.shape([(266, 232), (316, 228), (322, 272), (270, 276)], 215)
    pen.shape([(275, 240), (309, 237), (313, 264), (278, 267)], None, 1.2)
    pen.blob([(284, 226), (300, 212), (318, 216), (304, 230)], 95, 1.4)
    pen.line([(34, 120), (34, 400)], 7)
    for x in (22, 34, 46):
        pen.line([(x, 90), (x, 150)], 3)
    pen.shape([(536, 110), (610, 104), (618, 250), (542, 254)], 250)
    pen.shape([(544, 270), (620, 266), (626, 400), (548, 402)], 250)
    for y in range(128, 240, 14):
        pen.line([(548, y), (604, y - 3)], 1.2, 90)
    for y in range(286, 392, 14):
        pen.line([(556, y), (612, y - 2)], 1.2, 90)


def first_tomato(pen: Pen) -> None:
    """A big pot, a thin stalk, one tiny tomato, a basket."""
    pen.flat(box(7, 7, 633, 473), 238)
    for x in range(20, 640, 34):
        pen.line([(x, 180), (x, 400)], 2.4, 120)
    pen.line([(8, 180), (632, 180)], 6, 90)
    pen.flat(box(7, 400, 633, 473), 195)
    pen.shape([(110, 260), (370, 260), (330, 440), (150, 440)], 150)
    pen.rect(96, 236, 384, 268, 170)
    pen.curve([(240, 236), (236, 170), (246, 100), (240, 60)], 3.4)
    for y, side in ((190, 1), (150, -1), (110, 1)):
        pen.blob([(241, y), (241 + side * 30, y - 14), (241 + side * 44, y), (241 + side * 24, y + 8)], 130, 1.4)
    pen.curve([(242, 84), (262, 84), (268, 96)], 2)
    pen.ellipse(268, 104, 9, 9, 70)
    pen.blob([(430, 440), (416, 350), (600, 350), (586, 440)], 180)
    for y in (370, 392, 414):
        pen.curve([(420, y), (508, y + 8), (598, y)], 1.6)
    pen.curve([(430, 350), (508, 240), (588, 350)], 6)
    for side in (-1, 1):
        pen.blob([(508, 252), (508 + side * 44, 228), (508 + side * 48, 262)], 225)
    pen.ellipse(508, 252, 9, 9, 200)


def one_day_off(pen: Pen) -> None:
    """A desk under a mountain of paper."""
    pen.flat(box(7, 7, 633, 473), 230)
    pen.rect(40, 360, 600, 384, 140)
    for x in (70, 570):
        pen.line([(x, 384), (x, 466)], 10)
    for i in range(58):
        height = 360 - 4.6 * i
        reach = 190 - 2.6 * i
        x = 240 + pen.random.uniform(-1, 1) * 16
        pen.shape([(x - reach, height - 5), (x + reach, height - 8), (x + reach, height), (x - reach, height)],
            pen.random.choice((255, 245, 225)), 1.1)
    pen.shape([(206, 62), (276, 54), (282, 92), (212, 100)], 245)
    pen.curve([(214, 86), (236, 80), (262, 84), (276, 80)], 1.6)
    pen.ellipse(258, 70, 7, 7, 180, 1.2)
    pen.line([(480, 360), (500, 250), (446, 190)], 5)
    pen.shape([(420, 208), (452, 170), (476, 196), (444, 230)], 110)
    pen.rect(470, 262, 590, 346, 60)
    pen.rect(480, 270, 580, 336, 200)
    pen.flat(oval(530, 352, 30, 6), 60)
    pen.rect(500, 282, 560, 320)
    lettering(pen, "MISSED", 506, 288, 8, 1.2)
    lettering(pen, "YOU", 517, 304, 8, 1.2)


POSTS = (
    drowned_grill, one_till_of_six, crushed_parcel, three_spaces,
    everything_delayed, lonely_ravioli, first_tomato, one_day_off,
)

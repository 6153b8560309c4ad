"""The sample's eight cartoons, one function each, from the back of the picture to the front."""

from drawings.parts import armchair, armrest, chair, desk, head, lettering, person, picture, plant, room, window
from drawings.pen import WHITE, Pen, box, oval

# fmt: off
# Lists of coordinates stay as they are: one point a line would bury the picture.


def snowmen_in_a_sauna(pen: Pen) -> None:
    """Two snowmen on a bench beside a stove."""
    pen.flat(box(7, 7, 633, 473), 205)
    for y in range(40, 400, 36):  # boards
        pen.line([(8, y), (632, y)], 1.2, 120)
    pen.flat(box(7, 380, 633, 473), 170)
    pen.rect(60, 330, 420, 352, 150)
    for x in (90, 390):
        pen.line([(x, 352), (x, 430)], 8)
    for x, face in ((160, 1), (310, -1)):
        pen.ellipse(x, 280, 66, 60)
        pen.ellipse(x, 190, 46, 44)
        pen.ellipse(x, 118, 32, 32)
        pen.shape([(x - 62, 262), (x + 62, 262), (x + 58, 312), (x - 58, 312)], 225)
        pen.shape([(x + face * 4, 116), (x + face * 52, 122), (x + face * 4, 128)], 120, 1.5)
        pen.dot(x - 9, 106, 3)
        pen.dot(x + 12, 106, 3)
        pen.curve([(x - 12, 136), (x, 141), (x + 12, 136)], 2)
        for shift in (-30, 8, 34):
            pen.blob([(x + shift, 340), (x + shift + 5, 372), (x + shift - 5, 372)], WHITE, 1.2)
        pen.ellipse(x, 428, 84, 14, 235)
    pen.rect(480, 280, 590, 400, 95)
    for x, y in ((500, 276), (530, 270), (560, 276), (515, 258), (546, 256)):
        pen.ellipse(x, y, 18, 13, 145)
    for x in (500, 532, 564):
        pen.curve([(x, 236), (x - 12, 200), (x + 10, 160), (x - 4, 120)], 1.6, 110)


def cat_interviews_mouse(pen: Pen) -> None:
    """A cat behind a desk, a mouse on a chair."""
    room(pen, 360)
    picture(pen, 360, 60, 120, 84)
    pen.blob([(430, 380), (420, 250), (450, 190), (520, 190), (556, 250), (560, 380)], 110)
    pen.blob([(428, 150), (432, 84), (462, 116), (510, 116), (540, 84), (546, 150), (522, 200), (452, 200)], 110)
    for x in (462, 508):
        pen.ellipse(x, 146, 11, 14)
        pen.dot(x - 4, 148, 5)
    pen.shape([(480, 168), (492, 168), (486, 176)], 50, 1.2)
    for y in (168, 176, 184):
        pen.line([(470, 174), (410, y)], 1.1)
        pen.line([(502, 174), (566, y)], 1.1)
    pen.shape([(480, 206), (494, 206), (502, 262), (487, 282), (472, 262)], 60)
    desk(pen, 330, 620, 318, 452)
    pen.shape([(380, 298), (436, 292), (444, 318), (386, 318)])
    chair(pen, 150, 372, 80, 1)
    pen.blob([(130, 372), (128, 322), (152, 300), (178, 322), (180, 372)], 190)
    for x in (134, 172):
        pen.ellipse(x, 264, 18, 18, 200)
    pen.ellipse(154, 286, 25, 22, 190)
    pen.dot(162, 282, 3)
    pen.dot(180, 291, 4)
    pen.curve([(132, 366), (92, 372), (84, 420), (60, 432)], 2.4)
    pen.rect(196, 424, 250, 460, 90)
    pen.curve([(212, 424), (223, 410), (234, 424)], 2.4)


def knight_at_the_airport(pen: Pen) -> None:
    """A knight in a metal detector, a guard, a tray with a glove."""
    room(pen, 392)
    lettering(pen, "GATES", 40, 50, 34)
    pen.rect(226, 70, 250, 430, 165)
    pen.rect(410, 70, 434, 430, 165)
    pen.rect(226, 52, 434, 84, 140)
    pen.dot(330, 68, 8, 40)
    x = 330
    for shift in (-24, 24):
        pen.tube([(x + shift, 290), (x + shift, 420)], 34, 190)
        pen.blob([(x + shift - 18, 418), (x + shift + 24, 416), (x + shift + 30, 436), (x + shift - 18, 436)], 170)
    pen.blob([(x - 56, 300), (x - 60, 200), (x, 184), (x + 60, 200), (x + 56, 300)], 205)
    for y in (230, 256, 282):
        pen.curve([(x - 56, y), (x, y + 10), (x + 56, y)], 1.3)
    for side in (-1, 1):
        pen.ellipse(x + side * 62, 208, 22, 20, 185)
        pen.tube([(x + side * 68, 220), (x + side * 72, 300)], 24, 190)
    pen.blob([(x - 34, 178), (x - 36, 120), (x, 98), (x + 36, 120), (x + 34, 178)], 195)
    for y in (136, 144, 152):
        pen.line([(x - 6, y), (x + 32, y)], 2.4)
    pen.curve([(x, 98), (x - 20, 78), (x - 48, 92)], 5, 60)
    person(pen, 540, 440, 250, -1, hair="short", mouth="talk", top=80, bottom=50, near=(0.24, 0.06), far=(0.1, 0.3))
    pen.rect(20, 352, 200, 440, 150)
    pen.shape([(50, 334), (170, 334), (182, 354), (38, 354)], 215)
    pen.blob([(92, 332), (88, 318), (120, 316), (140, 322), (138, 334)], 175)


def tortoise_with_pizza(pen: Pen) -> None:
    """A tortoise with a box at the door of a very old man."""
    pen.flat(box(7, 7, 633, 473), 240)
    pen.flat(box(7, 400, 633, 473), 195)
    pen.rect(380, 7, 633, 404, 215)
    pen.rect(440, 110, 570, 404, 120)
    for y in (40, 80):
        pen.line([(384, y), (630, y)], 1, 130)
    person(pen, 500, 420, 260, -1, hair="bald", mouth="talk", glasses=True, top=175, near=(0.16, 0.18))
    pen.blob([(470, 196), (456, 260), (440, 350), (446, 424), (472, 428), (492, 330), (496, 200)], 246)
    for x in (458, 468, 478):
        pen.curve([(x + 10, 220), (x, 310), (x - 4, 416)], 1.1, 120)
    pen.blob([(120, 400), (110, 340), (170, 290), (250, 286), (306, 340), (304, 400)], 150)
    for x, y in ((160, 350), (210, 330), (258, 350)):
        pen.shape([(x - 20, y), (x - 8, y - 18), (x + 12, y - 18), (x + 22, y), (x + 8, y + 18), (x - 10, y + 18)],
            175, 1.5)
    for x in (140, 270):
        pen.tube([(x, 396), (x + 6, 430)], 26, 190)
    pen.blob([(300, 380), (316, 330), (346, 318), (366, 334), (356, 358), (328, 400)], 200)
    pen.dot(346, 334, 3)
    pen.curve([(344, 352), (354, 352), (361, 344)], 1.6)
    pen.rect(150, 256, 270, 284, 235)
    lettering(pen, "PIZZA", 170, 262, 15, 1.5)


def goldfish_watches_the_sea(pen: Pen) -> None:
    """A bowl in front of a television set."""
    room(pen, 330)
    plant(pen, 590, 400)
    pen.rect(330, 120, 570, 300, 70)
    pen.rect(348, 136, 552, 284, 245)
    for i, y in enumerate((200, 226, 254)):
        pen.curve([(350 + 40 * n, y + (-1) ** (n + i) * 8) for n in range(6)], 2, 90)
    pen.ellipse(500, 164, 14, 14, 225)
    pen.rect(360, 300, 540, 330, 150)
    pen.rect(40, 372, 300, 390, 140)
    for x in (60, 280):
        pen.line([(x, 390), (x, 460)], 6)
    pen.ellipse(170, 290, 104, 88, 250)
    pen.flat(oval(170, 296, 98, 76), 222)
    pen.line([(84, 246), (256, 246)], 1.6)
    pen.blob([(130, 310), (150, 284), (190, 286), (212, 304), (190, 324), (150, 328)], 130)
    pen.shape([(134, 308), (98, 284), (104, 308), (98, 334)], 130)
    pen.ellipse(194, 302, 6, 7)
    pen.dot(196, 302, 3)
    pen.shape([(120, 352), (160, 344), (164, 358), (124, 366)], 60, 1.4)
    for x in (232, 240, 228):
        pen.ellipse(x, 270 - (x - 228) * 2, 4, 4, None, 1.2)


def ghost_at_the_tailor(pen: Pen) -> None:
    """A sheet on a stool, a tailor at its hem."""
    room(pen, 380)
    window(pen, 60, 70, 110, 120)
    lettering(pen, "TAILOR", 400, 50, 30)
    for x in (440, 500, 560):
        pen.rect(x, 120, x + 44, 250, 130 + (x - 440))
    pen.rect(250, 400, 390, 430, 150)
    pen.blob([(250, 398), (262, 200), (290, 120), (330, 104), (368, 124), (384, 210), (394, 398), (360, 384),
        (322, 400), (288, 384)])
    for x in (308, 342):
        pen.ellipse(x, 160, 9, 13, 45)
    pen.ellipse(325, 196, 10, 8, 45)
    for x in (290, 322, 356):
        pen.curve([(x, 240), (x - 6, 310), (x + 4, 380)], 1.2, 140)
    person(pen, 486, 436, 220, -1, sit=True, hair="bald", mouth="flat", glasses=True, top=90,
        near=(0.3, 0.3), far=(0.28, 0.2))
    pen.line([(398, 300), (402, 396)], 4, 90)
    pen.curve([(470, 340), (482, 372), (498, 344)], 3, 150)


def clamped_lander(pen: Pen) -> None:
    """Two astronauts beside a lander with a wheel clamp."""
    pen.flat(box(7, 7, 633, 473), 35)
    for x, y in ((60, 60), (130, 120), (210, 50), (300, 90), (420, 50), (590, 150), (40, 200), (380, 140)):
        pen.dot(x, y, 2.2, 250)
    pen.ellipse(530, 84, 48, 48, 190)
    pen.blob([(500, 70), (520, 54), (548, 66), (540, 96), (512, 104)], 130, 1.2)
    pen.blob([(-10, 380), (160, 350), (330, 366), (650, 340), (650, 490), (-10, 490)], 205)
    for x, y in ((90, 420), (330, 440), (560, 410)):
        pen.ellipse(x, y, 40, 11, 175)
    pen.shape([(330, 330), (350, 230), (470, 230), (490, 330)], 165)
    pen.shape([(360, 230), (372, 170), (448, 170), (460, 230)], 215)
    pen.ellipse(410, 200, 15, 15, 60)
    for x, foot in ((340, 296), (480, 530)):
        pen.line([(x, 320), (foot, 392)], 5)
        pen.ellipse(foot, 396, 26, 8, 160)
    pen.rect(276, 366, 316, 408, 235)
    lettering(pen, "CLAMP", 277, 382, 9, 1.3)
    pen.rect(386, 262, 434, 310)
    for y in (272, 282, 292):
        pen.line([(392, y), (426, y)], 1.2)
    for x, face in ((120, 1), (220, -1)):
        for shift in (-14, 14):
            pen.tube([(x + shift, 340), (x + shift, 420)], 26, 240)
        pen.blob([(x - 38, 350), (x - 36, 260), (x, 248), (x + 36, 260), (x + 38, 350)], 240)
        pen.tube([(x + face * 34, 276), (x + face * 56, 310)], 20, 240)
        pen.ellipse(x, 216, 40, 40, 245)
        pen.ellipse(x + face * 8, 218, 27, 24, 110)


def dog_in_the_armchair(pen: Pen) -> None:
    """A dog with a newspaper, a man with a slipper."""
    room(pen, 380)
    window(pen, 80, 60, 110, 110)
    picture(pen, 270, 70, 110, 80)
    armchair(pen, 500, 370, -1)
    pen.blob([(470, 380), (452, 290), (480, 236), (530, 240), (552, 300), (548, 380)], 170)
    pen.ellipse(492, 190, 42, 38, 185)
    pen.blob([(462, 196), (424, 204), (420, 224), (464, 226)], 205)
    pen.dot(426, 208, 6)
    pen.blob([(508, 164), (546, 170), (548, 226), (526, 224)], 90)
    pen.ellipse(474, 182, 14, 13, None)
    pen.dot(474, 183, 3)
    pen.line([(488, 180), (520, 174)], 1.5)
    armrest(pen, 500, 370, -1)
    pen.shape([(372, 236), (436, 256), (438, 346), (374, 330)])
    pen.shape([(436, 256), (490, 240), (490, 332), (438, 346)])
    for y in (262, 276, 290, 304):
        pen.line([(382, y - 10), (428, y + 4)], 1.1, 100)
    # the man on hands and knees
    pen.tube([(110, 330), (100, 430), (64, 434)], 30, 90)
    pen.tube([(146, 334), (138, 430), (100, 438)], 30, 90)
    pen.tube([(246, 316), (262, 430)], 26, 200)
    pen.blob([(90, 340), (104, 296), (180, 284), (262, 286), (276, 316), (250, 346), (150, 358)], 200)
    head(pen, 296, 270, 32, 1, "short", "flat")
    pen.blob([(312, 288), (360, 284), (380, 298), (356, 312), (316, 304)], 70)
    pen.blob([(340, 448), (376, 438), (404, 446), (402, 456), (340, 458)], 70)


CARTOONS = (
    snowmen_in_a_sauna, cat_interviews_mouse, knight_at_the_airport, tortoise_with_pizza,
    goldfish_watches_the_sea, ghost_at_the_tailor, clamped_lander, dog_in_the_armchair,
)

"""Which drawing belongs to which contest."""

from _drawing import Pen
from _scenes_a import FIRST_SCENES
from _scenes_b import LAST_SCENES

SCENES = FIRST_SCENES | LAST_SCENES


def draw(contest: int) -> Pen:
    """The finished drawing of one contest; the contest number is also the seed of its unsteady lines."""
    pen = Pen(contest)
    SCENES[contest](pen)
    return pen

"""The sample's 25 pictures, drawn from code: `draw(contest)` gives a finished one.

`pen.py` holds the line and the wash, `parts.py` what several cartoons share, `block0.py` to `block4.py` the cartoons.
"""

from . import block0, block1, block2, block3, block4
from .pen import Pen

SCENES = block0.SCENES | block1.SCENES | block2.SCENES | block3.SCENES | block4.SCENES


def draw(contest: int) -> Pen:
    """The finished drawing of one contest; the contest number is also the seed of its unsteady lines."""
    pen = Pen(contest)
    SCENES[contest](pen)
    return pen

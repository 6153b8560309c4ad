"""The splits of Zhang et al. 2024 (arXiv 2406.10522, v2), and what is known of single contests."""

from __future__ import annotations

import re
from typing import Literal

from humor_tasks.errors import BadInput

Split = Literal["held_out", "validation", "test", "train", "all"]
FIRST = 530
"""The paper's contests begin here."""


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


TEST = _numbers(
    "543 544 548 553 568 575 576 578 579 590 600 603 604 615 617 621 632 633 634 640 643 649 652 655 662 664 666 669 "
    "671 672 676 677 682 684 690 694 699 710 713 724 731 744 747 751 752 758 761"
)
"""47 contests: those from FIRST on in the test split of fold 0 of jmhessel/newyorker_caption_contest."""
VALIDATION = _numbers(
    "536 537 545 550 551 557 558 561 564 567 573 574 586 598 607 609 610 611 613 616 629 636 637 646 661 663 681 685 "
    "695 696 697 700 701 706 709 717 721 729 730 746 748 750 754 757"
)
"""44 contests: those from FIRST on in its validation split."""
HELD_OUT = tuple(sorted(VALIDATION + TEST))
"""The 91 contests on which the paper compares models with people."""
TWINS = {644: 643, 647: 646, 656: 655}
"""Contests with the captions of a held-out one -> that one. They are no training data, even without its file."""
WRONG_PICTURES = {607: 605}
"""Contests whose published picture is another contest's -> that contest."""


def numbers(text: str | None, option: str) -> frozenset[int]:
    """Contest numbers of a text such as 510-526,600; none for "none". Raises BadInput for another form."""
    found: set[int] = set()
    for part in (text or "none").replace("none", "").split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?|\s*", part)
        if match is None:
            raise BadInput(f"{option}: '{part.strip()}' is no contest; give numbers and ranges, such as 510-526,600.")
        if match[1]:
            found.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return frozenset(found)

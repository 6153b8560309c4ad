"""Tables of ratings that were published with their coefficients of agreement, in the form that the scorers take."""

from __future__ import annotations

from collections.abc import Sequence

N = None
Table = list[list[int | str | None]]


def by_letter(*raters: str) -> Table:
    """A rater a text, an item a letter, "." for a missing rating."""
    return [[None if letter == "." else letter for letter in row] for row in zip(*raters, strict=True)]


def by_digit(*raters: str) -> Table:
    return [[None if letter is None else int(letter) for letter in row] for row in by_letter(*raters)]


def by_category(rows: Sequence[Sequence[int]]) -> Table:
    """From the number of ratings of each item in categories 1, 2, 3 and so on."""
    return [[k for k, count in enumerate(row, 1) for _ in range(count)] for row in rows]


def crossed(counts: Sequence[Sequence[int]]) -> Table:
    """Two raters, from the number of items that the first gave the row's category, the second the column's."""
    return [[i, j] for i, row in enumerate(counts, 1) for j, count in enumerate(row, 1) for _ in range(count)]


# Krippendorff 2011, part C: 12 units, 4 observers, 5 values, 7 missing; in Gwet 2014, too ("cac.raw4raters").
FOUR_RATERS: Table = [
    [1, 1, N, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [N, 5, 5, 5],
    [N, N, 1, 1],
    [N, N, 3, N],
]

# Fleiss 1971 (Psychological Bulletin 76), table 1: 30 patients, six psychiatrists, five diagnoses.
PSYCHIATRISTS_30 = by_category(
    [
        [int(count) for count in row]
        for row in (
            "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
            "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
        ).split()
    ]
)
# Its first half, as irrCAC has it ("distrib.6raters").
PSYCHIATRISTS_15 = PSYCHIATRISTS_30[:15]

# Hayes and Krippendorff 2007 (Communication Methods and Measures 1), table 1: 40 articles, five observers.
NEWS = by_digit(
    "112.001122.01311211000201001111223222221",
    "1130000.21102311121000302102111122222221",
    "203000222100221123001.30.1012202.2232.21",
    ".13....0.10022...31.103021122..122...12.",
    "2..0001.2....3112..0.0..2.0..20.2.2222.1",
)
# Its first 15 articles, as irrCAC has them ("cac.raw5obser").
FIVE_OBSERVERS = NEWS[:15]

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", part B.
TWO_OBSERVERS = by_letter("aabbdcccedda", "babbbccceddd")

# Gwet 2014: pregnancies of 100 women by two abstractors; 223 psychiatric patients by two methods.
ABSTRACTORS = crossed([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
DIAGNOSES = crossed([[40, 4, 4, 17], [6, 25, 2, 13], [4, 1, 21, 12], [15, 5, 9, 45]])

# Dawid and Skene 1979 (Applied Statistics 28), table 1: 45 patients, anaesthetist 1 three times and 2 to 5 once.
ANAESTHETISTS = by_digit(
    "131222132242121111222222112111131224223111212",
    "131222232342122111222222113111131223233112322",
    "132222232242121111222221112112131223123111212",
    "142333232243131211212232112111131234233112212",
    "131123142243121111232222112111121223224111212",
    "132222132244111111222222112112131234333111212",
    "142122133343121111122122112111131223232111212",
)
ANAESTHETIST = (1, 1, 1, 2, 3, 4, 5)

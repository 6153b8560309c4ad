"""Tables of bad inputs: how each is made, the command that is given it, and what its one clear message names."""

from bad_inputs import datasets, disks, files, parameters

CASES = [
    (room.__name__.rsplit(".", 1)[-1], case) for room in (datasets, parameters, files, disks) for case in room.CASES
]

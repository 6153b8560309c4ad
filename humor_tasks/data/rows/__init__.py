"""Where rows come from: the packaged sample, a local dataset folder, or a dataset of the Hugging Face hub.

All three are dataset folders and are read through `datasets`. A source says where its rows are and checks that config,
split and columns exist; the values in the rows are the benchmark's to check. Two things are not `datasets`' defaults:
of a hub dataset only the wanted columns of the wanted split are fetched (a text setting never downloads pictures), and
a picture's bytes are read when it is used.

Rows are counted from 0, as `datasets` counts them. Importing this imports nothing heavy.

Corpora that are one public CSV file are read by `read_csv`, their public copy fetched by `fetch`.
"""

from humor_tasks.data.rows.catalogue import Catalogue, catalogue
from humor_tasks.data.rows.csv_file import CsvRows, read_csv
from humor_tasks.data.rows.described import described_by
from humor_tasks.data.rows.download import fetch
from humor_tasks.data.rows.leaderboard import is_leaderboard, read_leaderboard
from humor_tasks.data.rows.opening import open_rows
from humor_tasks.data.rows.table import Absent, Rows, fingerprint, join_fingerprints, provenance_of

__all__ = [
    "Absent",
    "Catalogue",
    "CsvRows",
    "Rows",
    "catalogue",
    "described_by",
    "fetch",
    "fingerprint",
    "is_leaderboard",
    "join_fingerprints",
    "open_rows",
    "provenance_of",
    "read_csv",
    "read_leaderboard",
]

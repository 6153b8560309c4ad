"""Dataset sources: the packaged sample, a local dataset folder, or a dataset on the Hugging Face hub.

All three are dataset folders and are read through `datasets`. This package checks that config, split and columns exist;
the benchmark validates the values. It differs from the defaults of `datasets` in two ways: only the requested columns
of the requested split of a hub dataset are downloaded (a text setting never downloads pictures), and a picture's bytes
are read when it is used.

Rows are numbered from 0, as in `datasets`. Importing this package imports no heavy dependency.

Corpora that consist of one public CSV file are read by `read_csv` and downloaded by `fetch`.
"""

from humor_tasks.files.csv_files import CsvRows, read_csv
from humor_tasks.rows.download import fetch
from humor_tasks.rows.opening import (
    Catalogue,
    catalogue,
    described_by,
    is_leaderboard,
    open_rows,
    read_leaderboard,
)
from humor_tasks.rows.table import Absent, Rows, fingerprint, join_fingerprints, provenance_of, skipped_in

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
    "skipped_in",
]

"""What `prompts=all` and `order=rotated` cost beside one prompt set: opening, prompts and metrics of 5,000 items.

Ratios are to a run of set A in the same process. Rows are read once whatever the number of askings, and prompts and
scores grow with it; the intervals of `spread` and `order_effect` leave out 50 groups of contests for each setting.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from shards import write_rows

from humor_tasks.api import load
from humor_tasks.benchmarks.caption_contest import rows as corpus

WAYS: dict[str, dict[str, str]] = {
    "set A": {},
    "prompts=all": {"prompts": "all"},
    "order=rotated": {"order": "rotated"},
    "both": {"prompts": "all", "order": "rotated"},
}


def measured(rows: str, **more: Any) -> tuple[float, float, float, int, int]:
    """Seconds to open, to make all prompts, and to score all replies; the numbers of requests and of tables read."""
    with patch.object(corpus, "open_rows", wraps=corpus.open_rows) as reading:
        start = time.perf_counter()
        run = load("matching", dataset=rows, cot=False, **more)
        opened = time.perf_counter()
        for record in run.records:
            run.prompt(record)
        asked = time.perf_counter()
    run.metrics([run.outcome(record, "Answer: A") for record in run.records])
    return opened - start, asked - opened, time.perf_counter() - asked, len(run.records), reading.call_count


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        write_rows(Path(home))
        measured(home)  # imports
        first = measured(home)
        print(
            f"{'':14}{'requests':>9}{'tables':>8}{'open':>8}{'ratio':>7}{'prompts':>9}{'a request':>11}{'metrics':>9}"
        )
        for name, more in WAYS.items():
            opening, prompting, scoring, requests, tables = measured(home, **more)
            a_request = prompting / requests / (first[1] / first[3])
            print(
                f"{name:14}{requests:>10,}{tables:>8}{opening:>7.2f}s{opening / first[0]:>7.2f}{prompting:>8.2f}s"
                f"{a_request:>11.2f}{scoring:>8.1f}s"
            )


if __name__ == "__main__":
    main()

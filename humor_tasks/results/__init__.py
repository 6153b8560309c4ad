"""From the files of finished runs to scores that can be compared.

| module | holds |
|---|---|
| `result` | `Result`, `Results`, `LeftOut` |
| `read` | `read_results`: files and folders of both harnesses, and prediction files |
| `comparable` | why two results do not compare, and what else tells them apart |
| `labels` | names that tell results apart |
| `compare` | `compare`: systems compared on the same items; `compare_report` |
"""

from humor_tasks.results.comparable import differences, refusals
from humor_tasks.results.read import read_results
from humor_tasks.results.result import LeftOut, Result, Results

__all__ = ["LeftOut", "Result", "Results", "differences", "read_results", "refusals"]

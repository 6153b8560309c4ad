"""From the files of finished runs to scores that can be compared.

| module | holds |
|---|---|
| `result` | `Result`, `Results`, `LeftOut` |
| `read` | `read_results`: files and folders of both harnesses, and prediction files |
| `comparable` | why two results do not compare, what else differs, and names that tell them apart |
| `compare`, `pairing` | systems compared on the same items |
| `report`, `analysis` | scorecard, tables and page of many runs; what makes items hard, and how systems agree |
| `reproduce` | published rows run again, and finished runs scored again |
| `grade`, `submission`, `export` | logged replies graded; leaderboard files; the forms of other places |
| `captions` | systems' captions measured, ranked and picked |
"""

from humor_tasks.results.comparable import differences, refusals
from humor_tasks.results.read import read_results
from humor_tasks.results.result import LeftOut, Result, Results

__all__ = ["LeftOut", "Result", "Results", "differences", "read_results", "refusals"]

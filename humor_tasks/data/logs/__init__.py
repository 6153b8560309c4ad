"""Finished runs: Inspect logs, lm-eval samples and prediction files, read into one typed record.

| module | holds |
|---|---|
| `record` | `FinishedRun`, `LoggedSample`, `Scored`, `Usage` |
| `reading` | `read_run`, and the checks of a run |
| `inspect_logs` | Inspect's .eval and .json; the only module of data that imports inspect_ai |
| `lm_eval_samples` | lm-eval's samples_*.jsonl, with the results file beside them |
| `prediction_files` | texts by instance id |
| `metadata` | what a sample says of its task, in the metadata of Inspect or the document of lm-eval |
| `before` | what logs of humor-tasks 0.1 do not say themselves |
"""

from humor_tasks.data.logs.reading import read_run
from humor_tasks.data.logs.record import FinishedRun, LoggedSample, Scored, Usage

__all__ = ["FinishedRun", "LoggedSample", "Scored", "Usage", "read_run"]

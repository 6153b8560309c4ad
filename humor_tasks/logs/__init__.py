"""Readers of finished runs: Inspect logs, lm-eval samples and prediction files, as one typed record.

| module | holds |
|---|---|
| `record` | `FinishedRun`, `LoggedSample`, `Scored`, `Usage` |
| `reading` | `read_run`, and the checks of a run |
| `inspect_logs` | Inspect's .eval and .json; only this and `invocation` know inspect_ai in `data` |
| `lm_eval_samples` | lm-eval's samples_*.jsonl, with the results file in the same folder |
| `invocation` | the command that starts a run again, and the versions that ran |
| `predictions` | texts by instance id |
| `parts` | `joined`: the parts of a run (`shard=k/n`) as one run |
"""

from humor_tasks.logs.reading import check_asked_once, read_run
from humor_tasks.logs.record import FinishedRun, LoggedSample, Scored, Usage

__all__ = ["FinishedRun", "LoggedSample", "Scored", "Usage", "check_asked_once", "read_run"]

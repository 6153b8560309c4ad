"""Published rows run again, and finished runs scored again.

| module | holds |
|---|---|
| `rows` | the rows: what is published, how it is computed, what that needs |
| `recipes` | the few ways to compute a row |
| `query_cache` | the replies that the authors of the caption contest's paper released |
| `verdict` | reproduced, differs, or cannot run here; consistent or inconsistent |
| `rescore` | the scores of a log, computed again without a model |
"""

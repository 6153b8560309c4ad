"""Captions that systems wrote for contests: measured, ranked by pairwise comparison, and the best ones picked.

| module | holds |
|---|---|
| `files` | captions from JSON lines, tables and logs |
| `pairwise` | every two captions compared by a model: ranks, win rates and strengths |
| `placing` | crowd_rank, and the best k of n captions |
| `against` | ten captions against people's, by the judges of `caption_writing` |
| `figures` | length, diversity, recitation and crowd_rank of each system, and the report of `captions score` |
"""

"""The caption contest's corpus from raw contests: `humor-tasks build newyorker` (Hessel et al. 2023, Appendix C).

| module | contents |
|---|---|
| `building` | inputs, settings, and the stages in order |
| `work`, `workers` | the work folder, whose units are named by what they depend on; processes and Ray |
| `stages` | the stages, each with the files that it reads and writes |
| `captions`, `contest_csv`, `annotations`, `ingest` | reading, mending and checking of raw contests |
| `select`, `embedding`, `clusters`, `pool`, `twins` | which captions are taken |
| `quality` | training and precision of the quality model, which is in `humor_tasks.models.quality` |
| `matching`, `ranking` | the two assignments |
| `rows`, `folder`, `card`, `dataset` | the dataset folder |
"""

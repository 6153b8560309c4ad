"""The caption contest's corpus from raw contests: `humor-tasks build newyorker` (Hessel et al. 2023, Appendix C).

| module | contents |
|---|---|
| `building` | inputs, settings, the stages in order, and the dataset folder from what they made |
| `work` | the work folder, whose units are named by what they depend on; processes |
| `stages` | the stages, each with the files that it reads and writes |
| `pool` | which captions are taken: selection, sentence vectors, clusters, pools |
| `matching`, `ranking` | the two assignments |
| `rows`, `folder`, `card` | the rows, the dataset folder and its card |

Raw contests are read, mended and checked by `humor_tasks.rows.contests`; the quality model is in
`humor_tasks.models.quality`.
"""

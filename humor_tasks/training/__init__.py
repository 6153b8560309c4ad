"""Training of the systems that a benchmark's paper compares: `humor-tasks train BENCHMARK` (the extra `train`).

| module | contents |
|---|---|
| `cli` | the commands |
| `flags` | command-line options shared by the commands |
| `settings` | validation shared by the configurations |
| `loop` | `Epochs`: the training loop by epochs, on one or several devices |
| `checkpoint` | checkpoints without pickle |
| `folder` | run folders: one run each |
| `humicroedit` | baselines, feature models, fine-tuned encoders and their ensemble |
| `clip` | fine-tuning CLIP for the caption contest |
| `ofa` | fine-tuning OFA to describe the contest's cartoons |

`humor_tasks.models.humicroedit` loads and runs the trained Humicroedit systems.
"""

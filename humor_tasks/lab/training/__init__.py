"""Training of the systems that a benchmark's paper compares: `humor-tasks train SYSTEM` (the extra `train`).

| module | contents |
|---|---|
| `settings` | how a setting is declared, and the settings that systems share |
| `loop` | `Epochs`: the training loop by epochs, on one or several devices |
| `checkpoint`, `sharding` | checkpoints without pickle; networks divided among processes |
| `run_folders` | one run a folder, resumed after an interruption; what its model was trained on |
| `evaluation` | runs by fold and learning rate, and what the trained models answer |
| `clip`, `ofa`, `text`, `image_text` | fine-tuning: `settings`, rows in `data`, training and run in `finetune` |
| `humicroedit` | baselines, feature models, fine-tuned encoders and their ensemble |
| `quality` | the classifiers of the quality model |
| `hosted`, `preferences` | training elsewhere: hosted fine-tuning, and preference pairs |
"""

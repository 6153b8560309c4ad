"""Fine-tuning OFA to describe cartoons: `humor-tasks train ofa` (the extras `train` and `ofa`).

The first half of the system "OFA-Huge -> T5" of Hessel et al., ACL 2023, arXiv 2209.06293: four questions about a
cartoon, with the annotators' answers as targets. The trained model is `ofa/RUN/model`; `humor-tasks describe` replaces
the annotators' descriptions with its answers.

| module | contents |
|---|---|
| `cli` | the command |
| `config` | `OfaTrainConfig`: every value of a run, each a flag; which parts of the recipe are published |
| `data` | `read_splits`: (cartoon, question, annotation) of a fold; `Batches`: the same as tensors |
| `features` | `Features`: what a frozen backbone computes of each picture, kept for all epochs |
| `network` | the loss, and activation checkpointing |
| `finetune` | `Trainer`: one fold, on several devices and with early stopping; `losses` of a split |
| `run` | `train`: a run folder from config to metrics; folds are run folders within it |
"""

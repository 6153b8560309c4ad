"""Fine-tuning CLIP to choose captions: `humor-tasks train clip` (the extras `train` and `clip`).

The system "CLIP ViT-L/14@336px fine-tuned" of Hessel et al., ACL 2023, arXiv 2209.06293, and variants of it.

| module | contents |
|---|---|
| `cli` | the command |
| `config` | `ClipTrainConfig`: every value of a run, each a flag; the paper's recipe and the released code's |
| `data` | `Splits`: the rows of a fold; `Rows`: training rows with tokens |
| `augment` | data augmentation of pictures, seeded by seed, epoch and row |
| `network` | logits over each picture's captions, their loss, the learning-rate schedule |
| `lora` | low-rank adapters, and merging them into the model |
| `finetune` | `Trainer`: one training, on several devices and with early stopping |
| `run` | `train`: a run folder from config to metrics; learning rates and folds are run folders within it |
"""

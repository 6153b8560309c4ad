"""Training image-text models on sub-tasks of MOCK (section 5.2), from pictures, clips or descriptions.

| module | contents |
|---|---|
| `config` | the settings of a run |
| `data` | the rows of all sub-tasks, as the benchmarks define them |
| `finetune` | rows with pictures as tensors, and one training with one learning rate |
| `run` | a run folder from settings to a checkpoint |
"""

"""Training text systems: T5, causal models and encoders, from descriptions or from captions alone.

| module | contents |
|---|---|
| `config` | the settings of a run |
| `data` | the rows of a fold, as the benchmark defines them |
| `systems` | what is trained: a language model that writes the answer, or an encoder that scores the choices |
| `finetune` | one training with one learning rate |
| `run` | a run folder from settings to predictions and scores |
"""

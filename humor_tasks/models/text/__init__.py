"""Text models of Hugging Face: seq2seq (T5), causal, and encoders that score choices. The extra `text`.

| module | contents |
|---|---|
| `language` | the interface of models that score and write texts |
| `pretrained` | loading by kind, without executing a model's code; generation |
| `seq2seq` | T5, BART: log-likelihoods of continuations, and generation |
| `causal` | the same of causal models, and the prompts that they are trained on |
| `templates` | chat templates: turns as a model's own template shows them |
| `choosing` | encoders that score choices; what both harnesses open by name |
"""

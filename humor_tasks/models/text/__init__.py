"""Text models of Hugging Face: seq2seq (T5), causal, and encoders that score choices. The extra `text`.

| module | contents |
|---|---|
| `language` | the interface of models that score and write texts |
| `opening` | loading by kind, without executing a model's code |
| `seq2seq` | T5, BART: log-likelihoods of continuations, and generation |
| `choosing` | what both harnesses open by name: seq2seq models and encoders as answerers |
| `batches` | length-sorted batches that fit into memory |
| `sampling` | settings of generation; random numbers of each prompt's own |
"""

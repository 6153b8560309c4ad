"""Models for lm-eval: baselines, embeddings, CLIP, OFA, trained Humicroedit systems."""

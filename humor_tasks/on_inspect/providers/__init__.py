"""Model providers for Inspect: baselines, embeddings, CLIP, OFA, trained Humicroedit systems."""

"""Model providers for Inspect: baselines, embeddings, CLIP, OFA, text models, trained Humicroedit systems."""

"""Models that choose among options: shortcut baselines, sentence embeddings, CLIP."""

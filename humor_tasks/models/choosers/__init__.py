"""Models that pick among choices: shortcut baselines, sentence embeddings, CLIP."""

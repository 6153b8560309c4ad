"""Training of the Humicroedit systems: baselines, feature models, fine-tuned encoders and their ensemble."""

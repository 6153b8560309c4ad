"""Training text systems: T5, causal models and encoders, from descriptions or from captions alone."""

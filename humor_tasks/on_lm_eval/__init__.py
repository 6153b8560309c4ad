"""The thin side towards lm-evaluation-harness: a task class, YAML stubs and models."""

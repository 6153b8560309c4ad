"""The adapter to lm-evaluation-harness: a task class, YAML files of tasks, and models."""

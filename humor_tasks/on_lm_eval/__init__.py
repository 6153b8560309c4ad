"""The adapter to lm-evaluation-harness: a task class, YAML files of tasks, and models."""

from humor_tasks.on_lm_eval.errors import install

install()

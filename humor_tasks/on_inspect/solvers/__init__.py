"""Solvers: Chain-of-Task, and description of pictures before the question."""

"""Solvers: Chain-of-Task, descriptions of pictures before the question, expected ratings."""

"""Inspect tasks, a module a corpus."""

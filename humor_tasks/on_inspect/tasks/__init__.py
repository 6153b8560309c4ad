"""Inspect tasks, one module per corpus."""

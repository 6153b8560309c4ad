"""Rows, media, files written and read, and the logs of finished runs: everything below models and benchmarks."""

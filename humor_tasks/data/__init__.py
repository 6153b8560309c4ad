"""Dataset rows, media, file input and output, and logs of finished runs; used by models and benchmarks."""

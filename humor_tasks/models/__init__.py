"""Models in plain Python, independent of a harness: they choose among options, rate headlines or generate text."""

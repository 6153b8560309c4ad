"""Models as plain Python, without a harness: each picks among choices or answers in text."""

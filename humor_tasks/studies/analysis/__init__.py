"""What is computed from finished logs: reports, hard subsets, corrections for the judge."""

"""Scorers that use grader models: element coverage, pairwise preference, story ratings."""

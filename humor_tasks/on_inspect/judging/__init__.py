"""Scorers that ask grader models: element coverage, preference, story ratings."""

"""Analyses of finished logs and human votes: agreement, judge comparison, hard subsets, corrections for the judge."""

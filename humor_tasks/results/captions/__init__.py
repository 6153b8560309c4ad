"""Ranking of several systems' captions by pairwise comparison."""

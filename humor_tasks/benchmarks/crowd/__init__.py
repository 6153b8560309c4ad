"""The crowd benchmark: captions against the ratings of the contest's readers (Zhang et al. 2024, arXiv 2406.10522)."""

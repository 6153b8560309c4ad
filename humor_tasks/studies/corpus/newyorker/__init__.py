"""The caption contest's corpus from raw contests: `humor-tasks build newyorker` (Hessel et al. 2023, Appendix C)."""

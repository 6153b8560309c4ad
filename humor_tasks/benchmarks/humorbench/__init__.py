"""HumorBench (Narad et al. 2025): element coverage, and the exam of its autograder."""

"""Humicroedit (Hossain et al., SemEval-2020 Task 7): rating and pairwise comparison of edited headlines."""

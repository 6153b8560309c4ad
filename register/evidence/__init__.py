"""Evaluation reports of finished runs, for registers of evaluations."""

"""The arena: systems and people's groups of captions as players, compared in battles that judges decide.

players -> battles (rounds) -> verdicts (store) -> strengths and ranks (ladder) -> page. SemEval-2026 Task 1 ranks
systems in this way.
"""

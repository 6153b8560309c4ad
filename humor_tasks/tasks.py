"""The Inspect tasks, for use in Python code: `from humor_tasks.tasks import matching`.

On the command line they are `humor_tasks/matching` and so on. `humor-tasks parameters` prints tables of the
parameters. Written by tools/generate.py.
"""

from humor_tasks.on_inspect.tasks.bbeh import bbeh_nycc
from humor_tasks.on_inspect.tasks.caption_contest import brainstorm, explanation, matching, ranking, recitation
from humor_tasks.on_inspect.tasks.crowd import caption_writing, crowd_groups, crowd_pairs
from humor_tasks.on_inspect.tasks.humicroedit import humicroedit_pairwise, humicroedit_rating
from humor_tasks.on_inspect.tasks.humorbench import humorbench, humorbench_autograder
from humor_tasks.on_inspect.tasks.mock import mock_detecting, mock_explaining, mock_generation, mock_matching
from humor_tasks.on_inspect.tasks.preference import explanation_preference
from humor_tasks.on_inspect.tasks.requests import humor_writing

__all__ = [
    "bbeh_nycc",
    "brainstorm",
    "caption_writing",
    "crowd_groups",
    "crowd_pairs",
    "explanation",
    "explanation_preference",
    "humicroedit_pairwise",
    "humicroedit_rating",
    "humor_writing",
    "humorbench",
    "humorbench_autograder",
    "matching",
    "mock_detecting",
    "mock_explaining",
    "mock_generation",
    "mock_matching",
    "ranking",
    "recitation",
]

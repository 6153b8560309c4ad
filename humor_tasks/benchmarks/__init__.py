"""The index of benchmarks, by the name both harnesses know them by."""

from humor_tasks.benchmarks.caption_contest.brainstorm import BRAINSTORM
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.caption_contest.matching import MATCHING
from humor_tasks.benchmarks.caption_contest.ranking import RANKING
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.humicroedit.pairwise import PAIRWISE
from humor_tasks.benchmarks.humicroedit.rating import RATING
from humor_tasks.benchmarks.humorbench.coverage import HUMORBENCH
from humor_tasks.benchmarks.humorbench.exam import AUTOGRADER
from humor_tasks.benchmarks.mock.detecting import MOCK_DETECTING
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.generation import MOCK_GENERATION
from humor_tasks.benchmarks.mock.matching import MOCK_MATCHING
from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE

_ALL = (
    *(MATCHING, RANKING, EXPLANATION, EXPLANATION_PREFERENCE, BRAINSTORM),
    *(HUMORBENCH, AUTOGRADER),
    *(RATING, PAIRWISE),
    *(MOCK_DETECTING, MOCK_MATCHING, MOCK_EXPLAINING, MOCK_GENERATION),
)

BENCHMARKS: dict[str, Benchmark] = {b.name: b for b in _ALL}
"""Benchmark name -> definition."""

NAMES = tuple(BENCHMARKS)

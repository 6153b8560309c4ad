"""The sub-tasks of MOCK by their short names, as Chain-of-Task has them."""

from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.benchmarks.mock.corpus import MockOptions
from humor_tasks.benchmarks.mock.detecting import MOCK_DETECTING
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.matching import MOCK_MATCHING

SUBTASKS: dict[str, Benchmark[MockOptions]] = {
    "detecting": MOCK_DETECTING,
    "matching": MOCK_MATCHING,
    "explaining": MOCK_EXPLAINING,
}

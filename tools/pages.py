"""Documents with parts that the definitions say: the README's table of tasks, and the tables of parameters."""

from __future__ import annotations

from pathlib import Path

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.contract import Benchmark
from humor_tasks.errors import BadInput
from humor_tasks.studies.parameters import tables

BEGIN, END = "<!-- tasks: written by tools/generate.py -->", "<!-- end of tasks -->"
HEAD = "| question | task in Inspect | in lm-eval | needs |\n|---|---|---|---|\n"


def files(root: Path) -> dict[str, str]:
    """Path in the repository -> text. The README keeps what is around its table."""
    held = (root / "README.md").read_text(encoding="utf-8")
    before, begin, rest = held.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BadInput(f"README.md: the table of tasks stands between the lines {BEGIN} and {END}; one is missing.")
    table = HEAD + "".join(map(row, BENCHMARKS.values()))
    return {"README.md": f"{before}{BEGIN}\n\n{table}\n{END}{after}", "docs/parameters.md": tables()}


def row(benchmark: Benchmark) -> str:
    """A benchmark's line in the README."""
    task = f"[`{benchmark.name}`](docs/benchmarks/{benchmark.name}.md)"
    other = f" `{benchmark.lm_eval[0].name}`" if benchmark.lm_eval else ""
    needs = ", ".join([benchmark.needs, *["a judge"] * benchmark.judged])
    return f"| {benchmark.question} | {task} |{other} | {needs} |\n"

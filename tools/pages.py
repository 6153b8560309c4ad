"""Documents with parts from the definitions: the README's table, tables of parameters, the site's pages."""

from __future__ import annotations

from pathlib import Path

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.definition import Benchmark
from humor_tasks.errors import BadInput
from humor_tasks.parameters import tables
from humor_tasks.results.reproduce.rows import rows

BEGIN, END = "<!-- tasks: written by tools/generate.py -->", "<!-- end of tasks -->"
ABOUT, REFERENCE = "<!-- about: {} -->", "## Parameters\n"
"""The lines of a benchmark's page that enclose the part written by hand."""
HEAD = "| question | task in Inspect | in lm-eval | needs |\n|---|---|---|---|\n"


def files(root: Path) -> dict[str, str]:
    """Path in the repository -> text. The README's text around the table is kept."""
    held = (root / "README.md").read_text(encoding="utf-8")
    before, begin, rest = held.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BadInput(f"README.md: the table of tasks stands between the lines {BEGIN} and {END}; one is missing.")
    table = HEAD + "".join(map(row, BENCHMARKS.values()))
    made = {"README.md": f"{before}{BEGIN}\n\n{table}\n{END}{after}", "docs/parameters.md": tables()}
    for benchmark in BENCHMARKS.values():
        place = f"docs/benchmarks/{benchmark.name}.md"
        file = root / place
        made[place] = page(benchmark, file.read_text(encoding="utf-8") if file.is_file() else "")
    return made


def row(benchmark: Benchmark) -> str:
    """A benchmark's line in the README."""
    task = f"[`{benchmark.name}`](docs/benchmarks/{benchmark.name}.md)"
    other = f" `{benchmark.lm_eval[0].name}`" if benchmark.lm_eval else ""
    needs = ", ".join([benchmark.card.needs, *["a judge"] * bool(benchmark.judging)])
    return f"| {benchmark.card.question.rpartition(': ')[2]} | {task} |{other} | {needs} |\n"


def page(benchmark: Benchmark, held: str) -> str:
    """A benchmark's page: its title, the part written by hand, and the marks that website/ replaces by tables."""
    name, about = benchmark.name, ABOUT.format(benchmark.name)
    told = held.partition(about)[2].partition(REFERENCE)[0].strip("\n")
    parts = [f"# {benchmark.card.title}", about, *([told] if told else []), REFERENCE.rstrip("\n")]
    parts += [f"<!-- parameters: {name} -->"]
    parts += [f"[All parameters](../parameters.md); `humor-tasks parameters {name}` prints these."]
    parts += ["## Metrics", f"<!-- metrics: {name} -->"]
    parts += ["[Intervals](../intervals.md) says how errors are computed."]
    parts += ["## Published figures", f"<!-- published: {name} -->"]
    if any(row.benchmark == name for row in rows().values()):
        parts += ["`humor-tasks reproduce` computes these rows ([Reproducing](../reproduce.md)):"]
        parts += [f"<!-- reproducible: {name} -->"]
    if benchmark.card.differences:
        parts += ["## Differences from the paper", "\n".join(f"- {each}" for each in benchmark.card.differences)]
    return "\n\n".join(parts) + "\n"

"""Files with parts from the definitions: README, dataset cards, parameters, the site's pages, exported names."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.definition import Benchmark
from humor_tasks.errors import BadInput
from humor_tasks.parameters import tables
from humor_tasks.results.reproduce.rows import rows

BEGIN, END = "<!-- {}: written by tools/generate.py -->", "<!-- end of {} -->"
"""The lines that enclose a part of a document that is written by hand."""
BEGIN_CODE, END_CODE = "# {}: written by tools/generate.py", "# end of {}"
"""The same in Python source."""
OWN_NAMES = ("__version__", "clip_predict", "evaluate", "load")
"""What the package exports besides the tasks."""
ABOUT, REFERENCE = "<!-- about: {} -->", "## What a score means\n"
"""The lines of a benchmark's page that enclose the part written by hand."""
DIFFERENCES = "## Differences from the paper"
HEAD = "| question | task in Inspect | in lm-eval | needs |\n|---|---|---|---|\n"


def files(root: Path) -> dict[str, str]:
    """Path in the repository -> text. The README's text around the table is kept."""
    table = HEAD + "".join(map(row, BENCHMARKS.values()))
    made = {"README.md": between(root, "README.md", "tasks", table), "docs/parameters.md": tables()}
    # A literal, because the linter of Inspect's register reads the source.
    names = "".join(f"    {json.dumps(name)},\n" for name in sorted([*OWN_NAMES, *BENCHMARKS]))
    package = "humor_tasks/__init__.py"
    made[package] = between(root, package, "tasks", f"__all__ = [\n{names}]\n", BEGIN_CODE, END_CODE)
    for card, benchmarks in by_card().items():
        place = f"datasets_cards/{card}/README.md"
        made[place] = between(root, place, "considerations", considerations(benchmarks))
    for benchmark in BENCHMARKS.values():
        place = f"docs/benchmarks/{benchmark.name}.md"
        file = root / place
        made[place] = page(benchmark, file.read_text(encoding="utf-8") if file.is_file() else "")
    return made


def between(root: Path, place: str, part: str, text: str, begin_line: str = BEGIN, end_line: str = END) -> str:
    """A file with the text between the lines of a part. Raises BadInput where one of the two is missing."""
    first, last = begin_line.format(part), end_line.format(part)
    before, begin, rest = (root / place).read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise BadInput(f"{place}: the part `{part}` stands between the lines {first} and {last}; one is missing.")
    return f"{before}{begin}\n\n{text}\n{end}{after}"


def by_card() -> dict[str, list[Benchmark]]:
    """Folder of a dataset card -> the benchmarks whose corpus it describes."""
    found: dict[str, list[Benchmark]] = {}
    for benchmark in BENCHMARKS.values():
        found.setdefault(benchmark.card.considerations.card, []).append(benchmark)
    return {card: benchmarks for card, benchmarks in found.items() if card}


def considerations(benchmarks: Sequence[Benchmark]) -> str:
    """The part of a dataset card on people, content and limitations, from the cards of its benchmarks."""
    shared = benchmarks[0].card.considerations
    parts = [f"**{label}.** {text}" for label, text in shared.of_corpus.items()]
    parts += [f"**Representativeness.** {shared.coverage}", "**Limitations**, by benchmark:"]
    parts += ["\n".join(f"- `{each.name}`: {each.card.considerations.limits}" for each in benchmarks)]
    return "\n\n".join(map(wrapped, parts)) + "\n"


def wrapped(text: str) -> str:
    """A paragraph or a list in lines of at most 120 characters."""
    return "\n".join(
        textwrap.fill(
            line, 120, subsequent_indent="  " * line.startswith("- "), break_long_words=False, break_on_hyphens=False
        )
        for line in text.splitlines()
    )


def row(benchmark: Benchmark) -> str:
    """A benchmark's line in the README."""
    task = f"[`{benchmark.name}`](docs/benchmarks/{benchmark.name}.md)"
    other = f" `{benchmark.lm_eval[0].name}`" if benchmark.lm_eval else ""
    needs = ", ".join([benchmark.card.needs, *["a judge"] * bool(benchmark.judging)])
    return f"| {benchmark.card.question.rpartition(': ')[2]} | {task} |{other} | {needs} |\n"


def page(benchmark: Benchmark, held: str) -> str:
    """A benchmark's page: its title, the part written by hand, and the marks that website/ replaces by tables.

    held: the page as it is, of which the part written by hand is kept. Raises BadInput where that part has a heading of
    the generated one, which the page would say twice, and where the generated part has a line written by hand, which
    would be lost.
    """
    name, about = benchmark.name, ABOUT.format(benchmark.name)
    told = held.partition(about)[2].partition(REFERENCE)[0].strip("\n")
    generated = reference(benchmark)
    for heading in (line for line in told.splitlines() if line.startswith("## ") and line in generated):
        raise BadInput(
            f"docs/benchmarks/{name}.md: the section `{heading}` is generated. Delete the one between {about} and "
            f"`{REFERENCE.strip()}`."
        )
    if foreign := by_hand(held.partition(REFERENCE)[2], generated):
        raise BadInput(
            f"docs/benchmarks/{name}.md: the part below `{REFERENCE.strip()}` is generated, and has a line that is "
            f"not: {foreign!r:.100}. Move it above that heading, or delete it."
        )
    return "\n\n".join([f"# {benchmark.card.title}", about, *([told] if told else []), *generated]) + "\n"


def by_hand(text: str, generated: Sequence[str]) -> str:
    """The first line that no definition says, or "". Headings, marks and the list of differences come and go."""
    known = {line for part in generated for line in part.splitlines()}
    above, _, listed = text.partition(DIFFERENCES)
    lines = [*above.splitlines(), *(line for line in listed.splitlines() if not line.startswith("- "))]
    return next((line for line in lines if line.strip() and line not in known and line[0] not in "#<"), "")


def reference(benchmark: Benchmark) -> list[str]:
    """The paragraphs of a benchmark's page that follow the part written by hand."""
    name = benchmark.name
    parts = [REFERENCE.strip(), f"<!-- meaning: {name} -->", "## Limitations", f"<!-- limitations: {name} -->"]
    parts += ["## People and content", f"<!-- material: {name} -->"]
    parts += ["## Parameters", f"<!-- parameters: {name} -->"]
    parts += [f"[All parameters](../parameters.md); `humor-tasks parameters {name}` prints these."]
    parts += ["## Metrics", f"<!-- metrics: {name} -->"]
    parts += ["[Intervals](../intervals.md) says how errors are computed."]
    parts += ["## Floors, people and ceilings", f"<!-- levels: {name} -->"]
    parts += ["## Published figures", f"<!-- published: {name} -->"]
    if any(row.benchmark == name for row in rows().values()):
        parts += ["`humor-tasks reproduce` computes these rows ([Reproducing](../reproduce.md)):"]
        parts += [f"<!-- reproducible: {name} -->"]
    if benchmark.card.differences:
        parts += [DIFFERENCES, "\n".join(f"- {each}" for each in benchmark.card.differences)]
    return parts

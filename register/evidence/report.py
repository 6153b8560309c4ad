"""An evaluation report of finished runs, with what two registers ask for, as Markdown.

inspect_evals' guide ("Evaluation Report Guidelines", and the checklist "Evaluation report") asks for deviations from
the reference and known limitations; a table of results beside published ones, or a sentence that there are none;
samples of how many; dates; commands; versions of models and of the evaluation; a reason for each parameter; at most
10 % invalid samples; two models. lm-eval's templates/new_yaml_task/README.md asks for the
paper, what each variant adds, and which published setups it matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evidence import facts
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.metric import FALLBACK, Metric
from humor_tasks.files.tables import percent, safe, short, table
from humor_tasks.papers.levels import Level
from humor_tasks.papers.published import Figure
from humor_tasks.results.comparable import labels
from humor_tasks.results.report.build import Report
from humor_tasks.results.report.markdown import left_out_text
from humor_tasks.results.report.scorecard import Column, best_published, has_main_metric, mark
from humor_tasks.results.report.table import estimate_text, group_table, unit, value_text
from humor_tasks.results.result import Result

MODELS = 2  # that inspect_evals wants results of
NO_FIGURE = "No published figure of this estimate is known to this package, so that nothing is compared."
SAMPLE = "This is the packaged sample of invented rows: it shows that the task runs, and says nothing about the corpus."


def evaluation_report(report: Report, notes: Sequence[str] = ()) -> str:
    """The report. notes: the author's own sentences, such as why a parameter was set.

    Raises BadInput for a run that did not end.
    """
    facts.check_finished(report.results)
    parts = ["# Evaluation report", *listed(notes)]
    for benchmark in report.results.benchmarks:
        results = [r for r in report.results.of(benchmark.name) if has_main_metric(r)]
        if results:
            parts += _of_benchmark(report, benchmark, results)
    ends = [*report.warnings, *(f"Left out: {left_out_text(file)}" for file in report.results.left_out)]
    parts += ["## Beware", *listed(ends)] if ends else []
    text = facts.without_places("\n\n".join(parts))
    if facts.ELSEWHERE in text:
        text += f"\n\n`{facts.ELSEWHERE}` stands for a folder of the machine that ran this."
    return text + "\n"


def listed(sentences: Iterable[str]) -> list[str]:
    """One list, or nothing."""
    lines = [f"- {safe(sentence)}" for sentence in sentences]
    return ["\n".join(lines)] if lines else []


def _of_benchmark(report: Report, benchmark: Benchmark, results: Sequence[Result]) -> list[str]:
    card = benchmark.card
    columns = [column for column in report.scorecard.columns if column.benchmark is benchmark]
    paper = (
        f"Paper: {', '.join(filter(None, (card.paper.citation, card.paper.address)))}." if card.paper.citation else ""
    )
    rows = f"Rows: {', '.join(filter(None, (card.source.name, card.source.pin)))}." if card.source.name else ""
    return [
        f"## {safe(card.title)} (`{benchmark.name}`)",
        safe(" ".join(filter(None, (card.question, card.claim, paper, rows)))),
        "### Implementation",
        "\n".join(f"- {text}" for text in card.differences) or "The card names no deviation from the paper.",
        *([limits] if (limits := card.considerations.limits) else []),
        "### Results",
        *_tables(report, benchmark, results),
        "### Published figures",
        *map(compared, columns),
        *listed(dict.fromkeys(sentence for column in columns for sentence in column.beside)),
        "### Invalid samples",
        *invalid(results),
        "### Reproduction",
        *reproduction(results),
    ]


# ---- results ----------------------------------------------------------------------------------------------


def _tables(report: Report, benchmark: Benchmark, results: Sequence[Result]) -> Iterator[str]:
    """The main metric, one table a group of results that compare; then every metric."""
    for group in report.scorecard.groups:
        if group.benchmark is not benchmark:
            continue
        if group.name:
            yield safe(
                f"Group {group.name}" + (f" does not compare with A: {'; '.join(group.apart)}" * bool(group.apart))
            )
        yield safe("; ".join(f"{name} {value}" for name, value in group.about.items()))
        yield table(*group_table(group, report.scorecard.columns, report.results.results, report.spent))
    if len({result.system for result in results}) < MODELS:
        yield "These are runs of one model; the register of inspect_evals wants two, or the reason why not."
    named = dict.fromkeys(name for result in results for name in result.estimates)
    metrics = {e: m for result in results for m in result.opened.reported for e in result.summaries.get(m.name, ())}
    rows = [
        (name, *(estimate_text(r.estimates[name], metrics[name]) if name in r.estimates else "-" for r in results))
        for name in named
        if name in metrics
    ]
    head = ("metric, percent of a share", *map(short, labels(results)))
    yield table(head, rows)
    yield "Brackets are intervals of 95 %, from standard errors clustered by contest, cartoon or headline."


# ---- published figures --------------------------------------------------------------------------------------


def compared(column: Column) -> str:
    """Published figures and the levels of chance and of people, each with the differences of the runs from it."""
    held = [cell.result for cell in column.cells]
    metric, card = column.metric, column.benchmark.card
    figures = [best_published(metric, column.part, held, kind) for kind in ("human", "model", "baseline")]
    known = {(figure.value, figure.source) for figure in figures if figure}
    levels = [level for level in (*card.chance, *card.human) if level.estimate == column.estimate]
    rows = [_row(column, level.reached_by, level, "") for level in levels if (level.value, level.source) not in known]
    rows += [_row(column, figure.system, figure, mark(figure, held)) for figure in figures if figure]
    if not rows:
        return f"`{column.estimate}`: {NO_FIGURE}"
    names = (short(cell.result.system) + (f" ({cell.label})" if cell.label else "") for cell in column.cells)
    head = (f"{column.estimate} {unit(metric)}".strip(), "published", "apart", *(f"{name} less it" for name in names))
    return table((*head, "source"), rows)


def _row(column: Column, who: str, figure: Level | Figure, apart: str) -> tuple[str, ...]:
    metric = column.metric
    less = (_difference(cell.estimate.value - figure.value, metric) for cell in column.cells)
    return who, value_text(figure.value, metric), apart or "-", *less, figure.source


def _difference(value: float, metric: Metric) -> str:
    text = value_text(value, metric)
    return text if text == "-" or value < 0 else f"+{text}"


# ---- invalid samples --------------------------------------------------------------------------------------


def invalid(results: Sequence[Result]) -> list[str]:
    """The invalid samples of each run, and what they mean for the register."""
    rows, too_many = [], []
    for name, result in zip(labels(results), results, strict=True):
        s = facts.samples_of(result)
        kinds = (str(s.invalid.get(kind, 0)) for kind in ("unparsed", "refused", "empty"))
        missing = "-" if s.missing is None else f"{100 * s.missing:.1f} %"
        rows.append((short(name), f"{s.scored} of {s.asked}", *kinds, str(s.failed), missing, f"{100 * s.share:.1f} %"))
        if max(s.share, s.missing or 0.0) > facts.MOST_INVALID:
            too_many.append(
                f"{name}: more than {facts.MOST_INVALID:.0%} are invalid, the most that inspect_evals takes."
            )
    head = ("system", "scored", "unparsed", "refused", "empty", "failed", "missing verdicts", "invalid")
    notes = [f"{result.system}: {note}" for result in results for note in result.notes]
    notes += [
        f"{result.system}: {percent(fallback)} % of the replies have no letter where the rule looks; it took the last."
        for result in results
        if (fallback := result.estimates.get(FALLBACK.name)) and fallback.value > 0
    ]
    return [table(head, rows), *listed((*too_many, *notes))]


# ---- reproduction -----------------------------------------------------------------------------------------


def reproduction(results: Sequence[Result]) -> list[str]:
    """Models, dates, versions, parameters and commands."""
    rows = [
        (
            short(name),
            short(result.run.invocation.answered_by) or "-",
            facts.provider_of(result) or "-",
            result.run.harness,
            facts.date_of(result) or "-",
            facts.time_of(result) or "-",
            str(result.run.epochs),
        )
        for name, result in zip(labels(results), results, strict=True)
    ]
    head = ("system", "model in its replies", "provider", "harness", "date", "time", "epochs")
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions_of(results).items())
    of_task = ", ".join(dict.fromkeys(result.run.version for result in results))
    parts = [table(head, rows), safe(f"Version of the evaluation: {of_task}. Packages: {versions}.")]
    if parameters := list(facts.explained(results)):
        parts.append(table(("parameter", "given", "what it sets"), parameters))
    if any((result.run.source.get("dataset") or result.signature.get("data")) == "sample" for result in results):
        parts.append(SAMPLE)
    commands = list(dict.fromkeys(filter(None, map(facts.command_of, results))))
    return [*parts, "```bash\n" + "\n".join(commands) + "\n```"] if commands else parts

"""Tables of a benchmark's page, as Markdown, from its declarations and from the published figures of the cards."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from humor_tasks.benchmarks import BENCHMARKS, Benchmark, Card, Level, Source, related
from humor_tasks.contract.options import declared, parameters_of
from humor_tasks.papers.considerations import MISUSE
from humor_tasks.papers.published import Figure, published
from humor_tasks.parameters import tables
from humor_tasks.results.levels import levels
from humor_tasks.results.reproduce.rows import rows


def problems(benchmark: Benchmark) -> list[str]:
    """What is declared without documentation: parameters and metrics, each with what to do."""
    shown = {
        name
        for base in benchmark.options.__mro__[1:]
        if hasattr(base, "signature_entries")
        for name in parameters_of(base)
    }
    bare = (e for e in declared(benchmark.options) if not (e.info.text or e.info.absent or e.info.derived))
    return [
        *(
            f"{benchmark.name}: parameter {each.name} has no documentation; declare it by parameter(default, text)"
            for each in bare
            if each.name not in shown  # a documented parameter of a base, which this benchmark does not show
        ),
        *(
            f"{benchmark.name}: metric {metric.name} has no documentation; give its `about`"
            for metric in benchmark.reported
            if not metric.about
        ),
    ]


def about(name: str) -> str:
    """What the card says before a benchmark is run: claim, paper, source, licence, splits, dates, prompt and levels."""
    card = BENCHMARKS[name].card
    linked = ", ".join(f"[`{other}`]({other}.md)" for other in related(name))
    told = {
        "Claim": _text(card.claim),
        "Use cases": _text(card.considerations.use_cases),
        "Users": f"{'; '.join(card.considerations.users)}." if card.considerations.use_cases else "",
        "Paper": _paper(card),
        "Source": _text(": ".join(filter(None, (card.source.name, card.source.rows)))),
        "Pinned": " ".join(filter(None, (_text(card.source.pin), _files(card.source)))),
        "Licence": _text(card.source.licence),
        "Splits": _splits(card),
        "Dates": _text(card.dates),
        "Languages": f"{', '.join(card.languages)}.",
        "Prompt": _text(card.prompt),
        "Published sampling": _text(card.sampling),
        "Levels": _first_levels(card) if card.claim else "",
        "Related": f"{linked}." if linked else "",
    }
    return "\n\n".join(f"**{label}.** {text}" for label, text in told.items() if text)


def _first_levels(card: Card) -> str:
    """The main level of chance and of people, or that there is none."""
    of = (("Chance", card.chance), ("people", card.human))
    told = (f"{kind} {_value_of(known[0])} (`{known[0].estimate}`)" if known else f"{kind}: none" for kind, known in of)
    return f"{'; '.join(told)}; [all, and why not](#floors-people-and-ceilings)."


def _value_of(level: Level) -> str:
    return f"{level.value:g}, {_escaped(level.reached_by)}"


def meaning(name: str) -> str:
    """What a score means, and how it depends on wording and order."""
    card = BENCHMARKS[name].card
    told = card.considerations.meaning
    known = card.wordings or "No pretrained language model has been run under all prompt sets here."
    wordings = f"**Wording and order.** {_text(known)} See [Wordings and orders](../wordings.md)."
    return "\n\n".join(filter(None, (_text(told), wordings if told else "")))


def limitations(name: str) -> str:
    """What a score does not mean, what it is not for, and whom the rows represent."""
    card = BENCHMARKS[name].card
    misuse = "\n".join(f"- {_text(each)}" for each in (*card.considerations.misuse, *MISUSE))
    told = {"What it does not mean": card.considerations.limits, "Representativeness": card.considerations.coverage}
    parts = [f"**{label}.** {_text(text)}" for label, text in told.items() if text]
    return "\n\n".join([*parts, f"**What a score is not for.**\n\n{misuse}"])


def material(name: str) -> str:
    """Whose humour it is, annotation, people and content."""
    return "\n\n".join(
        f"**{label}.** {_text(text)}" for label, text in BENCHMARKS[name].card.considerations.of_corpus.items()
    )


def ends(name: str) -> str:
    """The worst value, chance, people and the best value of every metric, and why one is missing; sources below.

    Metrics with the same in all columns share a row.
    """
    notes: dict[str, int] = {}
    alike: dict[tuple[str, ...], list[str]] = {}
    for x in levels(BENCHMARKS[name]):
        for why in filter(None, (x.no_chance, x.no_people)):
            notes.setdefault(why, len(notes) + 1)
        chance, people = _values(x.chance, notes.get(x.no_chance)), _values(x.people, notes.get(x.no_people))
        alike.setdefault((_end(x.worst), chance, people, _end(x.best)), []).append(f"`{x.metric.name}`")
    table = _table(
        ("metric", "worst", "chance", "people", "best"), [(", ".join(m), *cells) for cells, m in alike.items()]
    )
    told = "\n".join(f"{number}. {_text(why)}" for why, number in notes.items())
    return "\n\n".join(filter(None, (table, told and f"Notes:\n\n{told}", _sources(BENCHMARKS[name].card))))


def _end(value: float | None) -> str:
    return "" if value is None else "no limit" if math.isinf(value) else f"{value:g}"


def _values(known: Sequence[Level], note: int | None) -> str:
    return ", ".join(dict.fromkeys(f"{level.value:g}" for level in known)) or f"none: note {note}"


def _sources(card: Card) -> str:
    """Who reaches the levels of chance and of people, and how this is known."""
    of: dict[tuple[str, ...], list[str]] = {}
    for kind, known in (("chance", card.chance), ("people", card.human)):
        for level in known:
            row = (kind, _escaped(level.reached_by), f"{level.value:g}", _escaped(level.source))
            of.setdefault(row, []).append(f"`{level.estimate}`")
    rows = [(kind, who, ", ".join(estimates), value, source) for (kind, who, value, source), estimates in of.items()]
    return _table(("level", "of", "estimate", "value", "source"), rows) if rows else ""


def _text(text: str) -> str:
    """A text of a card as Markdown."""
    return _begun(_escaped(text))


def _paper(card: Card) -> str:
    """The citation with its address, and the place in the paper."""
    cited, address = _escaped(card.paper.citation), card.paper.address
    parts = (f"[{cited}]({address})" if address else f"{cited}, not public", card.section)
    return f"{', '.join(filter(None, parts))}." if cited else ""


def _files(source: Source) -> str:
    """The pinned files, each with the beginning of its SHA-256."""
    shown = (f"`{name}` {digest[:12]}" for name, digest in source.files.items())
    return f"Beginnings of the SHA-256: {', '.join(shown)}." if source.files else ""


def _splits(card: Card) -> str:
    """The number of items of each split, as far as it is known."""
    counts = (f"{split} {count:,}" if count else f"{split} (not counted)" for split, count in card.splits.items())
    unit = f"; {card.counted}" if card.counted else ""
    return f"{_escaped(', '.join(counts))}{unit}." if card.splits else ""


def parameters(name: str) -> str:
    """The names in both harnesses and the table of parameters."""
    return tables(name).partition("\n\n")[2]


def metrics(name: str) -> str:
    """What the card says of its metrics, and their table, the primary one first."""
    heads = ("metric", "better", "meaning", "in lm-eval")
    found = (
        (
            f"`{m.name}`",
            "" if m.neutral else m.direction,
            m.about,
            f"`{m.lm_eval_name}`" if m.lm_eval_name not in ("", m.name) else "",
        )
        for m in BENCHMARKS[name].reported
    )
    return "\n\n".join(filter(None, (_text(BENCHMARKS[name].card.metrics), _table(heads, found))))


def published_figures(name: str) -> str:
    """The published figures of a benchmark, and below them those of studies of its results."""
    figures = published(BENCHMARKS[name].name)
    if not figures:
        return "None: no paper gives a figure in the unit of this package's metrics."
    of_runs, of_studies = ([f for f in figures if bool(f.study) == studied] for studied in (False, True))
    parts = [_figures_of_runs(of_runs)] if of_runs else []
    if of_studies:
        rows = [(f"`{f.study}`", f"`{f.estimate}`", f.system, _value(f), f"{f.n or ''}", f.source) for f in of_studies]
        heads = ("computed by", "quantity", "system", "published", "n", "source")
        parts.append(_table(heads, ([_escaped(cell) for cell in row] for row in rows)))
    return "\n\n".join(parts)


def _figures_of_runs(figures: Sequence[Figure]) -> str:
    """A row a system, a column a metric; below it the sources by number."""
    estimates = list(dict.fromkeys(figure.estimate for figure in figures))
    sources = list(dict.fromkeys(map(_source, figures)))
    heads = ("system", "kind", "setting", "shots", "split, fold", *(f"`{each}`" for each in estimates), "source")
    body = [
        (
            *_protocol(next(iter(row.values()))),
            *(_value(row[each]) if each in row else "" for each in estimates),
            ", ".join(str(1 + sources.index(told)) for told in dict.fromkeys(map(_source, row.values()))),
        )
        for row in _published_rows(figures)
    ]
    kept = [i for i in range(len(heads)) if any(row[i] for row in body)]
    table = _table([heads[i] for i in kept], ([_escaped(row[i]) for i in kept] for row in body))
    return "\n".join([table, "", "Sources:", "", *(f"{i}. {_escaped(told)}" for i, told in enumerate(sources, 1))])


def _value(figure: Figure) -> str:
    return f"{figure.bound or ''} {figure.value:g}".strip()


def _published_rows(figures: Iterable[Figure]) -> list[dict[str, Figure]]:
    """Figures by estimate, of one system under one protocol; a second value of an estimate begins another row."""
    found: list[dict[str, Figure]] = []
    for figure in figures:
        free = [
            row
            for row in found
            if figure.estimate not in row and _protocol(next(iter(row.values()))) == _protocol(figure)
        ]
        alike = [row for row in free if _source(figure) in map(_source, row.values())]
        row = next(iter(alike or free), None)
        if row is None:
            found.append(row := {})
        row[figure.estimate] = figure
    return found


def reproducible(name: str) -> str:
    """The rows of `humor-tasks reproduce` for a benchmark: the command that computes each in full, and its needs."""
    found = [
        (f"`{row.name}`", f"`{row.command}`", "; ".join(row.needs))
        for row in rows().values()
        if row.benchmark == BENCHMARKS[name].name
    ]
    return _table(("row", "command", "needs"), found) if found else ""


def index() -> str:
    """All benchmarks with their pages, versions and papers."""
    found = (
        (f"[`{b.name}`]({b.name}.md)", b.card.title, b.version, _escaped(b.card.paper.citation))
        for b in BENCHMARKS.values()
    )
    return _table(("benchmark", "title", "version", "paper"), found)


def cards() -> str:
    """What each benchmark's card fills: metrics with their levels, licence and pin."""
    found = []
    for b in BENCHMARKS.values():
        known = levels(b)
        bounded = sum(x.worst is not None and x.best is not None for x in known)
        counts = (len(known), bounded, sum(bool(x.chance) for x in known), sum(bool(x.people) for x in known))
        pin = "SHA-256" if b.card.source.files else "commit" if b.card.source.name else "none, not public"
        found.append((f"[`{b.name}`](benchmarks/{b.name}.md)", *map(str, counts), pin))
    return _table(("benchmark", "metrics", "worst and best", "chance", "people", "pin"), found)


def _protocol(figure: Figure) -> tuple[str, ...]:
    """System, kind, setting, shots, split and fold."""
    where = ", ".join(each for each in (figure.split, figure.fold) if each)
    shots = "" if figure.shots is None else str(figure.shots)
    setting = ", ".join(each for each in (figure.setting, figure.protocol) if each)
    return (figure.system, figure.kind, setting, shots, where)


def _source(figure: Figure) -> str:
    """Paper and table, without the row."""
    return figure.source.partition(", row ")[0]


def _table(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *body]
    return "\n".join(f"| {' | '.join(_outside_code(r'[|]', cell) for cell in line)} |" for line in lines)


def _begun(text: str) -> str:
    """A sentence with a capital, unless it begins with a name such as OWNER/DATASET."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+[ ,;']", text) else text


def _escaped(text: str) -> str:
    """Text without Markdown's marks, but for code."""
    return _outside_code(r"[*_>\[\]]", "".join(_pieces(text, lambda piece: piece.replace("<", "&lt;"))))


def _outside_code(marks: str, text: str) -> str:
    """The text with a backslash before each of these marks, but for code, in which Markdown knows no escape."""
    return "".join(_pieces(text, lambda piece: re.sub(f"({marks})", r"\\\1", piece)))


def _pieces(text: str, change: Callable[[str], str]) -> Iterator[str]:
    """The pieces of a text, those outside code changed."""
    for piece in re.split(r"(`[^`]*`)", text):
        yield piece if piece.startswith("`") else change(piece)

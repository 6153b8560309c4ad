"""The analyses of items as Markdown and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from humor_tasks.errors import BadInput
from humor_tasks.files.tables import interval, safe, short, table, to_json
from humor_tasks.files.writing import write_text
from humor_tasks.results import LeftOut
from humor_tasks.results.analysis.difficulty import Difficulty
from humor_tasks.results.analysis.items import Analysis, Cutoff, Factor, Pair
from humor_tasks.scorers.association import Conditional

SPEARMAN = ("Spearman, items", "Spearman, clusters")
_Table = tuple[str, Sequence[str], list[Sequence[object]]]


def as_markdown(analyses: Sequence[Analysis], left_out: Sequence[LeftOut] = ()) -> str:
    """One section per benchmark; a table without rows is left out."""
    parts = []
    for analysis in analyses:
        parts.append(f"# {analysis.benchmark}: {analysis.metric}")
        for title, head, rows in _tables(analysis):
            if rows:
                parts += [f"## {title}", table(head, [[short(str(cell)) for cell in row] for row in rows])]
        parts += [f"Note: {safe(note)}" for note in analysis.notes]
    parts += [f"Left out: {safe(f'{file.path}: {file.why}')}" for file in left_out]
    return "\n\n".join(parts) + "\n"


def _tables(a: Analysis) -> list[_Table]:
    return [
        (
            "Systems",
            ("system", a.metric, "n", "clusters"),
            [(name, interval(e), e.n, e.clusters) for name, e in zip(a.systems, a.means, strict=True)],
        ),
        (
            f"Groupings of the items and the {a.metric} (chi-square; the p-values by permutation count)",
            ("system", "grouping", "groups", "chi-square", "V", "p", "p, permuted", "p, Holm", "permuted"),
            [_factor(f) for f in a.factors],
        ),
        (
            "Systems in pairs",
            ("first", "second", "n", "same answer", "right if same", "kappa", *SPEARMAN, "p"),
            [_pair(p) for p in a.pairs],
        ),
        (
            "Right where the other is wrong",
            ("system", "where this one is wrong", "items", "right", "if independent", "p", "p, clusters permuted"),
            [
                row
                for p in a.pairs
                if p.first and p.second
                for row in (_conditional(*p.systems, p.first), _conditional(*p.systems[::-1], p.second))
            ],
        ),
        (
            "Contest date",
            ("system", "Spearman of date and mean", "p"),
            [(t.system, interval(t.found), _p(t.p)) for t in a.trends],
        ),
        (
            "Before and after the cut-off (a difference, not a proof of contamination)",
            ("system", "before", "after", "after - before", "items before", "items after", "too close"),
            [_cutoff(c) for c in a.cutoffs],
        ),
        (
            "Contests with a picture of low resolution",
            ("system", "low resolution", "others", "difference", "items of these", "items of others"),
            [(r.system, *map(interval, (r.low, r.others, r.difference)), r.low.n, r.others.n) for r in a.resolutions],
        ),
        (
            "Shortcuts: how much of the accuracy goes with them",
            ("system", "shortcut", "shortcut right", "system there", "system elsewhere", "goes with the shortcut"),
            [
                (s.system, s.shortcut, interval(s.solved), interval(s.on), interval(s.off), interval(s.gain))
                for s in a.shortcuts
            ],
        ),
        *(_difficulty(a.difficulty) if a.difficulty else ()),
        (
            "Published, beside the same quantities here",
            ("quantity", "published for", "published", "here", "source"),
            [
                (b.quantity, b.system, f"{b.bound} {b.published:g}".strip(), _here(b.here), b.source)
                for b in a.published
                if b.here
            ],
        ),
        (
            "Hardest and easiest clusters, by the empirical Bayes mean over the systems",
            ("", "cluster", "items", "mean", "empirical Bayes"),
            [
                (side, c.name, c.items, _number(c.mean), _number(c.shrunk))
                for side, clusters in (("hard", a.hardest), ("easy", a.easiest))
                for c in clusters
            ],
        ),
    ]


def _factor(f: Factor) -> Sequence[object]:
    a = f.found
    tests = _number(a.statistic, 1), _number(a.v), _p(a.p), _p(a.p_permutation), _p(f.holm)
    return f.system, f.name, a.groups, *tests, "clusters" if a.by_cluster else "items"


def _pair(p: Pair) -> Sequence[object]:
    estimates = p.same_answer, p.right_if_same, p.kappa, p.by_item, p.by_cluster
    return *p.systems, p.n, *map(interval, estimates), _p(p.by_cluster_p)


def _cutoff(c: Cutoff) -> Sequence[object]:
    return c.system, *map(interval, (c.before, c.after, c.difference)), c.before.n, c.after.n, c.between


def _conditional(system: str, other: str, c: Conditional) -> Sequence[object]:
    return system, other, c.n, _number(c.share), _number(c.expected), _p(c.p), _p(c.p_clusters)


def _difficulty(d: Difficulty) -> list[_Table]:
    return [
        (
            "Predictors of how easy a cluster is",
            ("predictor", "Spearman", "p", "p, Holm"),
            [(x.name, interval(x.found), _p(x.p), _p(x.holm)) for x in d.predictors],
        ),
        (
            f"Classifiers of {d.hard} hard and {d.easy} easy clusters, on clusters held out",
            ("predictors", "features", "accuracy", "chance", "AUC", "p, permuted"),
            [
                (x.predictors, x.features, _number(x.accuracy), _number(x.chance), _number(x.auc), _p(x.p))
                for x in d.classifiers
            ],
        ),
    ]


def _here(values: Mapping[str, float]) -> str:
    return "; ".join(f"{_number(value)} {name}" for name, value in values.items())


def _number(value: float, digits: int = 3) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _p(value: float) -> str:
    return "-" if math.isnan(value) else "<.0001" if value < 1e-4 else f"{value:.4f}"


def as_json(analyses: Sequence[Analysis], left_out: Sequence[LeftOut] = ()) -> str:
    """The analyses and the files that were left out; a value that is not known is null."""
    left = [{"path": str(file.path), "why": file.why} for file in left_out]
    return json.dumps({"analyses": to_json(analyses), "left_out": left}, indent=2) + "\n"


WRITERS: dict[str, Callable[[Sequence[Analysis], Sequence[LeftOut]], str]] = {".md": as_markdown, ".json": as_json}


def check_ending(path: Path | None) -> None:
    """Raise BadInput for another ending than .md or .json, before anything is computed."""
    if path and path.suffix not in WRITERS:
        raise BadInput(f"{path}: an analysis ends in {' or '.join(WRITERS)}.")


def write_analyses(path: Path, analyses: Sequence[Analysis], left_out: Sequence[LeftOut]) -> None:
    """Write Markdown or JSON, by the file's ending."""
    check_ending(path)
    write_text(path, WRITERS[path.suffix](analyses, left_out))

"""A benchmark's card in the form of BenchmarkCards (Sokol et al., arXiv 2410.12974): sections and fields of their JSON.

The fields are those of the cards in `BenchmarkCards_JSON/` of SokolAnn/BenchmarkCards. A field that nothing here can
fill says so and why, because an empty one would read as forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS, related
from humor_tasks.contract.answers import Choice, FreeText, Rating
from humor_tasks.contract.card import Card
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.papers.considerations import MISUSE
from humor_tasks.results.levels import levels

LANGUAGES = {"en": "English", "hi": "Hindi"}
SHOWN = {"pixels", "media", "frames"}
"""Values of `setting` and `input` that show pictures."""
NO_FIELD = "the benchmark's card has no"


def benchmark_card(benchmark: Benchmark[Any]) -> dict[str, dict[str, Any]]:
    """Section -> field -> text or list of texts, none empty; `atlas_risks` alone is nested, and holds no risk."""
    card = benchmark.card
    known = card.considerations
    sensitive = filter(None, (known.sensitive, known.outputs))
    return {
        "benchmark_details": {
            "name": card.title,
            "overview": " ".join(filter(None, (card.question, card.claim))) or _not_stated(f"{NO_FIELD} question"),
            "data_type": _modalities(benchmark),
            "domains": ["Humour understanding"],
            "languages": [LANGUAGES.get(code, code) for code in card.languages],
            "similar_benchmarks": _listed(
                (BENCHMARKS[name].card.title for name in related(benchmark.name)), "no benchmark is named as related"
            ),
            "resources": _listed((card.paper.address, card.paper.code, card.source.name), "nothing of it is public"),
        },
        "purpose_and_intended_users": {
            "goal": " ".join(filter(None, (card.claim, known.use_cases))) or _not_stated(f"{NO_FIELD} claim"),
            "audience": list(known.users),
            "tasks": _listed((card.question,), f"{NO_FIELD} question"),
            "limitations": known.limits or _not_stated(f"{NO_FIELD} limits"),
            "out_of_scope_uses": [*known.misuse, *MISUSE],
        },
        "data": {
            "source": ": ".join(filter(None, (card.source.name, card.source.rows)))
            or _not_stated("no corpus is public"),
            "size": _size(card),
            "format": _form(benchmark),
            "annotation": known.annotation or _not_stated(f"{NO_FIELD} annotation"),
        },
        "methodology": {
            "methods": _listed((card.prompt,), f"{NO_FIELD} prompt"),
            "metrics": [metric.name for metric in benchmark.reported],
            "calculation": card.metrics or _not_stated(f"{NO_FIELD} metrics"),
            "interpretation": known.meaning or _not_stated(f"{NO_FIELD} meaning"),
            "baseline_results": _levels(benchmark),
            "validation": card.wordings or _not_stated("no model has been run under all prompt sets and orders"),
        },
        "targeted_risks": {
            "risk_categories": ["None: the benchmark measures humour understanding and no risk"],
            "atlas_risks": {"risks": []},
            "demographic_analysis": " ".join(filter(None, (known.humour, known.coverage)))
            or _not_stated("no metric compares groups of people"),
            "harm": _listed(sensitive, "nobody has assessed it"),
        },
        "ethical_and_legal_considerations": {
            "privacy_and_anonymity": known.privacy or _not_stated(f"{NO_FIELD} privacy"),
            "data_licensing": card.source.licence or _not_stated(f"{NO_FIELD} licence"),
            "consent_procedures": known.consent or _not_stated(f"{NO_FIELD} consent"),
            "compliance_with_regulations": _not_stated("nobody has assessed it"),
        },
    }


def _not_stated(why: str) -> str:
    return f"Not stated: {why}."


def _listed(texts: Iterable[str], why: str) -> list[str]:
    return list(filter(None, texts)) or [_not_stated(why)]


def _modalities(benchmark: Benchmark[Any]) -> str:
    parameters = parameters_of(benchmark.options)
    values = {value for name in ("setting", "input") if name in parameters for value in parameters[name].choices or ()}
    kinds = ["text", *(["images"] if values & SHOWN else []), *(["video"] if benchmark.uses.clips else [])]
    return ", ".join(kinds)


def _size(card: Card) -> str:
    counts = (f"{split} {count:,}" if count else f"{split} (not counted)" for split, count in card.splits.items())
    unit = f" ({card.counted})" if card.counted else ""
    return f"{', '.join(counts)}{unit}" if card.splits else _not_stated(f"{NO_FIELD} splits")


def _form(benchmark: Benchmark[Any]) -> str:
    try:
        form = benchmark.reopen(None, {}).form
    except BadInput:
        return _not_stated("it depends on a parameter without a default")
    if isinstance(form, Choice):
        return f"Multiple choice of {len(form.letters)}"
    if isinstance(form, Rating):
        return f"A number from {form.scale[0]} to {form.scale[-1]}"
    return "Free text" if isinstance(form, FreeText) else "Yes or no"


def _levels(benchmark: Benchmark[Any]) -> str:
    card = benchmark.card
    told = [
        f"{each.reached_by}: {each.estimate} {each.value:g} ({each.source})" for each in (*card.chance, *card.human)
    ]
    ranges = [f"{x.metric.name} from {x.worst:g} to {x.best:g}" for x in levels(benchmark) if x.worst is not None]
    parts = (
        "; ".join(told),
        " ".join(filter(None, (card.considerations.no_chance, card.considerations.no_human))),
        f"Worst to best: {', '.join(ranges)}",
    )
    return ". ".join(part.rstrip(".") for part in parts if part) + "."

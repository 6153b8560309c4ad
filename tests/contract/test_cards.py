"""What the benchmarks of this package say of themselves: whole, sourced, and in agreement with rows and figures."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import yaml
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.benchmarks import ACCURACY, BENCHMARKS, Card, FreeText, Level, Paper, Template, by_points
from humor_tasks.contract.card import Uses
from humor_tasks.contract.variants import variants
from humor_tasks.papers.papers import MOCK, PAPERS
from humor_tasks.papers.published import published
from humor_tasks.results.levels import levels
from humor_tasks.scorers.judge import judge_exam

PLAIN: Any = BENCHMARKS["matching"]


def may_be_empty(name: str) -> set[str]:
    """The fields of a card and its source that say nothing here, each for a reason that the definition gives."""
    benchmark = BENCHMARKS[name]
    card, found = benchmark.card, {"counted", "dated", "pictures", "usage", "differences", "wordings"}  # nothing to add
    if not card.paper.address:
        found |= {"section", "name"}  # neither paper nor corpus is public
    if name == "humor_writing":
        found |= {"name"}  # its rows are a file of the user
    if card.paper.key in ("humorbench", "bbeh"):
        found |= {"section"}  # a paper whose versions differ in sections, and one with a part for each task
    written = benchmark.judging.judges_replies if benchmark.judging else not benchmark.verdicts
    if written and isinstance(benchmark.form(benchmark.options()), FreeText):
        found |= {"chance"}  # texts that are written: no guess need have a score
    if not any(figure.kind == "human" and not figure.study for figure in published(name)):
        found |= {"human"}  # no paper says what people reach
    without = [x for x in levels(benchmark) if not x.metric.no_level and not x.metric.neutral]
    found |= {"no_chance"} if all(x.chance for x in without) else set()
    found |= {"no_human"} if all(x.people for x in without) else set()
    return found if "SHA-256" in card.source.pin else found | {"files"}  # the hub's, or not public


def test_every_field_is_filled() -> None:
    for name, benchmark in BENCHMARKS.items():
        told = (benchmark.card, benchmark.card.source, benchmark.card.considerations)
        empty = {field.name for each in told for field in fields(each) if not getattr(each, field.name)}
        assert empty <= may_be_empty(name), name


@pytest.mark.parametrize("name", BENCHMARKS)
def test_texts_are_sentences_and_names_are_known(name: str) -> None:
    card = BENCHMARKS[name].card
    told = card.considerations
    texts = [card.question, card.claim, card.prompt, card.metrics, card.sampling, card.dates]
    texts += [*card.differences, told.use_cases, told.meaning, told.limits, *told.misuse]
    texts += [*told.of_corpus.values(), told.coverage]
    texts += filter(None, [card.wordings, told.no_chance, told.no_human])
    for text in (*texts, card.source.pin, card.source.licence, card.source.rows):
        assert re.fullmatch(r"[^ ].*[.?]", text), text
        assert "  " not in text
    assert set(card.related) < set(BENCHMARKS) - {name}
    assert set(card.splits) == set(get_args(get_type_hints(BENCHMARKS[name].options)["split"]))
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in card.source.files.values())
    assert bool(card.source.files) == ("SHA-256" in card.source.pin)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_levels_are_of_a_metric_and_peoples_are_published(name: str) -> None:
    benchmark = BENCHMARKS[name]
    card = benchmark.card
    found = levels(benchmark)
    assert {level for x in found for level in (*x.chance, *x.people)} == {*card.chance, *card.human}
    figures = {(f.estimate, f.value, f.source) for f in published(name) if f.kind == "human"}
    assert {(level.estimate, level.value, level.source) for level in card.human} <= figures


def test_chance_is_what_the_protocol_or_a_baseline_gives() -> None:
    choices = {"matching": 5, "mock_matching": 4} | dict.fromkeys(("ranking", "crowd_pairs", "mock_detecting"), 2)
    for name, number in choices.items():
        assert BENCHMARKS[name].card.chance[0].value == 1 / number
    baselines = {(f.estimate, f.value) for f in published("humicroedit_rating") if f.kind == "baseline"}
    *of_mean, pearson, spearman = BENCHMARKS["humicroedit_rating"].card.chance
    assert {(level.estimate, level.value) for level in of_mean} <= baselines
    assert (pearson.value, spearman.value) == (0, 0)
    caption_only = {(f.estimate, f.value) for f in published("explanation") if f.setting == "caption_only"}
    assert {(level.estimate, level.value) for level in BENCHMARKS["explanation"].card.chance} <= caption_only


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_metric_has_a_range_and_levels_or_says_why_not(name: str) -> None:
    for x in levels(BENCHMARKS[name]):
        assert x.metric.neutral or x.worst != x.best, x.metric.name
        assert x.chance or x.no_chance.endswith("."), x.metric.name
        assert x.people or x.no_people.endswith("."), x.metric.name
        low, high = sorted((x.worst, x.best)) if x.worst is not None else (-math.inf, math.inf)
        assert all(low <= level.value <= high for level in (*x.chance, *x.people)), x.metric.name


ROWS = [("matching", "validation"), ("ranking", "validation"), ("explanation", "validation")]


@pytest.mark.parametrize(("name", "split"), [*ROWS, ("brainstorm", "validation"), ("recitation", "validation")])
def test_numbers_of_items_are_those_of_the_real_rows(name: str, split: str, real_corpus: str) -> None:
    """Those of Humicroedit, HumorBench and the crowd are looked at where their rows are read."""
    assert BENCHMARKS[name].card.splits[split] == len(load(name, dataset=real_corpus, split=split).records)


def test_labels_that_pass_everything_are_those_of_the_real_rubrics(real_data: Path) -> None:
    files = [str(real_data / "humorbench" / f"{name}_rubric.csv") for name in ("gpt_4o", "gemini_2.5_pro")]
    labels = [record.target for record in load("humorbench_autograder", dataset=",".join(files)).records]
    card = BENCHMARKS["humorbench_autograder"].card
    assert card.splits["test"] == len(labels)
    exam = judge_exam([label == "PASS" for label in labels], [True] * len(labels), list(map(str, range(len(labels)))))
    assert {level.estimate: level.value for level in card.chance} == {
        metric: pytest.approx(estimate.value, abs=5e-4) for metric, estimate in exam.items()
    }


# ---- papers ------------------------------------------------------------------------------------------------------


def test_every_paper_that_is_public_is_in_the_citation_file() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    public = {paper.title: paper for paper in PAPERS if paper.address}
    assert set(PAPERS) - set(public.values()) == {MOCK}
    (review,) = (reference for reference in cited if "url" not in reference)
    assert (review["title"], review["status"]) == (MOCK.title, "submitted")
    cited.remove(review)
    assert {reference["title"]: reference["url"] for reference in cited} == {
        title: paper.address for title, paper in public.items()
    }
    for reference in cited:
        bibtex = public[reference["title"]].bibtex.replace("{\\'c}", "ć")
        assert f"year = {{{reference['year']}}}" in bibtex
        authors = re.search(r"author = \{(.*?)\}", bibtex, re.S)[1]
        named = [f"{author['family-names']}, {author['given-names']}" for author in reference["authors"]]
        assert authors.split() == " and ".join(named).split()


def test_documents_cite_a_paper_by_its_one_entry() -> None:
    for document in (
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("datasets_cards/*/*.md"),
    ):
        for block in re.findall(r"```bibtex\n(.*?)\n```", document.read_text(encoding="utf-8"), re.S):
            assert block in {paper.bibtex for paper in PAPERS}, document


# ---- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Card(title=" "), "has an empty title"),
        (lambda: Card(title=None), "has None as title; give a text"),
        (lambda: Card(title="Puns", splits=["test"]), "splits is ['test']; give a Mapping"),
        (lambda: Card(title="Puns", splits={"test": "5"}), "split test has 5 items"),
        (lambda: Card(title="Puns", chance=(0.1,)), "chance and human are tuples of Level"),
        (lambda: Card(title="Puns", chance=Level(0.1, "accuracy", "a guess", "ours")), "chance is one value"),
        (lambda: Card(title="Puns", considerations="New Yorker"), "considerations is 'New Yorker'"),
        (lambda: Card(title="Puns", paper="arXiv"), "paper is 'arXiv'; give a Paper"),
        (lambda: Level("0.1", "accuracy", "people", "ours"), "the value is '0.1'"),
        (lambda: Uses(trains="clip"), "trains is 'clip'; give a set of systems from clip, ofa"),
        (lambda: Uses(trains=frozenset({"clop"})), "give a set of systems from clip, ofa"),
        (lambda: replace(PLAIN, card="Puns"), "matching: card is 'Puns'; give a Card"),
        (lambda: replace(PLAIN, judging=by_points), "matching: judging is <function by_points"),
        (lambda: replace(PLAIN, metrics=ACCURACY), "matching: metrics is one value; give a tuple"),
        (lambda: replace(PLAIN, templates=Template("x", "x.txt")), "matching: templates is one value; give a tuple"),
        (
            lambda: replace(PLAIN, lm_eval=variants("m", "loglikelihood", settings={"": {"fld": "all"}})),
            "parameter of matching, fixed by m: there is no 'fld'",
        ),
        (lambda: Card(title="Puns", related="matching"), "related is one value; give a tuple"),
        (
            lambda: Card(title="Puns", human=Level(0.9, "accuracy", "people", "ours")),
            "human is one value; give a tuple",
        ),
        (lambda: Card(title="Puns", splits={"test": 0}), "split test has 0 items; None is an unknown number"),
        (lambda: Level(math.nan, "accuracy", "people", "ours"), "the value is nan; give a finite number"),
        (lambda: Level(0.9, "accuracy", "people", ""), "source is empty"),
        (lambda: Paper("puns", arxiv="https://arxiv.org/abs/2209.06293"), "give the number, such as 2209.06293"),
        (lambda: Paper("puns", url="aclanthology.org/1"), "give an address that begins with https://"),
    ],
)
def test_what_would_be_wrong_in_silence_is_refused(made: Any, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        made()

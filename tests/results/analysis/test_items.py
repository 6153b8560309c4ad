"""`humor-tasks analyse`: what makes items hard, how systems agree, dates, and shortcuts."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from standins.sample_runs import sample_runs

from humor_tasks import load
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.cli import main
from humor_tasks.contract.metric import ACCURACY, rate
from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun, LoggedSample
from humor_tasks.logs.signature import Signature
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, best
from humor_tasks.results import LeftOut, Result, Results, read_results
from humor_tasks.results.analysis import difficulty
from humor_tasks.results.analysis.items import Analysis, analyse, analyse_all
from humor_tasks.results.analysis.items_report import as_json, as_markdown
from humor_tasks.results.analysis.systems import System
from humor_tasks.rows.contests.annotations import LOW_RESOLUTION
from humor_tasks.rows.contests.dates import contest_date, read_date
from humor_tasks.rows.records import Outcome

LETTERS = "ABCDE"


def result(name: str, answer: Callable[[int], str], n: int = 200, **more: Any) -> Result:
    """`name` answers item i, of contest 100 + i // 4, with `answer(i)`; the right letter is i % 5."""
    samples, outcomes = [], []
    for i in range(n):
        target, said, contest = LETTERS[i % 5], answer(i), str(100 + i // 4)
        groups = {"fold": str(i // 4 % 5)}
        values = {"accuracy": float(said == target), "unparsed": 0.0, "refused": 0.0}
        outcomes.append(Outcome(f"s{i}", contest, groups, "answered", said, target, values))
        choices = tuple(f"word{i}{letter}" + "x" * (letter == target and i % 2) for letter in LETTERS)
        scene = f"A scene with word{i}{target}" if i % 4 == 0 else "A scene"
        samples.append(_sample(outcomes[-1], choices, scene))
    run = FinishedRun(Path(f"{name}.eval"), "inspect", "matching", "2-A", Signature(), name, n, samples)
    opened = find_benchmark("matching").reopen("2-A", {"fold": "0"})
    held = {"epochs": (1,) * n, "paths": (run.path,)} | more
    return Result(run, opened, "multiple_choice", name, tuple(outcomes), **held)


def _sample(o: Outcome, choices: tuple[str, ...], context: str) -> LoggedSample:
    told: Mapping[str, Any] = {"where": o.id, "id": o.id, "epoch": 1, "cluster": o.cluster, "groups": o.groups}
    empty = {"options": {}, "fields": {}, "points": (), "prompt": "", "reply": o.answer}
    return LoggedSample(benchmark="matching", version="2-A", choices=choices, context=context, **told, **empty)


def right(i: int) -> str:
    return LETTERS[i % 5]


def wrong(i: int) -> str:
    return LETTERS[(i + 1) % 5]


def factor(found: Analysis, system: str, name: str) -> Any:
    return next(f for f in found.factors if (f.system, f.name) == (system, name))


def test_planted_effects_are_found_and_others_are_not() -> None:
    hard_contests = result("contests", lambda i: wrong(i) if i // 4 % 3 == 0 else right(i))
    rng = random.Random(1)
    coin = [rng.random() < 0.6 for _ in range(200)]
    chance = result("chance", lambda i: right(i) if coin[i] else wrong(i))
    only_a = result("only_a", lambda i: "A")
    found = analyse([hard_contests, chance, only_a], draws=499)
    assert found.systems == ("contests", "chance", "only_a")
    assert factor(found, "contests", "cluster").holm <= 0.05
    assert factor(found, "only_a", "place of the right choice").found.v == pytest.approx(1)
    for name in ("cluster", "fold", "place of the right choice"):
        assert factor(found, "chance", name).found.p_permutation > 0.05
    assert factor(found, "contests", "fold").found.by_cluster
    assert factor(found, "contests", "fold").found.p_permutation > 0.05


def test_a_hard_distractor_is_found() -> None:
    """Every tenth item shows the same wrong choice, and the system takes it."""
    made = result("m", lambda i: wrong(i) if i % 10 == 0 else right(i))
    samples = []
    for i, sample in enumerate(made.run.samples):
        others = [f"caption {(i + k) % 40}" for k in range(1, 5)]
        if i % 10 == 0:
            others[0] = "the tempting one"
        choices = [*others[: i % 5], f"right {i}", *others[i % 5 :]]
        samples.append(_sample(made.outcomes[i], tuple(choices), sample.context))
    object.__setattr__(made.run, "samples", samples)
    assert factor(analyse([made], draws=999), "m", "distractor").found.p_permutation == 1 / 1000


def test_pairs_of_systems() -> None:
    """b is right on the last 40 of 100 items that a gets wrong, and on the first 60 of 100 that a gets right."""
    a = result("a", lambda i: right(i) if i < 100 else wrong(i))
    b = result("b", lambda i: right(i) if i < 60 or i >= 160 else wrong(i))
    (pair,) = analyse([a, b], draws=99).pairs
    assert (pair.systems, pair.n) == (("a", "b"), 200)
    assert pair.same_answer is not None
    assert pair.right_if_same is not None
    assert (pair.same_answer.value, pair.right_if_same.value) == (0.6, 0.5)
    assert pair.first is not None
    assert pair.second is not None
    assert (pair.first.n, pair.first.share, pair.first.expected) == (100, 0.4, 0.5)
    assert (pair.second.n, pair.second.share, pair.second.expected) == (100, 0.4, 0.5)
    assert pair.kappa is not None
    assert pair.kappa.value == pytest.approx(0.2)
    assert pair.by_item.value == pytest.approx(0.2)
    assert pair.by_cluster is not None


def test_published_results_stand_beside_the_same_quantities() -> None:
    """Section 3.3 of Hessel et al.: every printed number, beside what is computed of the systems here."""
    random.seed(4)
    names = ("one", "two")
    found = analyse([result(name, lambda i: random.choice([LETTERS[i % 5], "A"])) for name in names], draws=99)
    by = {(each.quantity, each.system): each for each in found.published}
    assert len(by) == 16
    quantities = {each.quantity: each.here for each in found.published if each.here}
    assert quantities["cluster_p"].keys() == set(names)
    assert quantities["right_if_same"] == {"one and two": found.pairs[0].right_if_same.value}
    wrong = found.pairs[0].second
    assert quantities["right_when_wrong"]["two where one is wrong"] == wrong.share
    assert quantities["right_when_wrong_p"]["two where one is wrong"] == wrong.p_clusters != wrong.p
    assert quantities["cluster_spearman_p"] == {"one and two": found.pairs[0].by_cluster_p}
    text = as_markdown([found])
    assert "| right_when_wrong_expected | CLIP ViT-L/14@336px, fine-tuned, where GPT-3" in text.replace("\\_", "_")
    assert "| < 0.001" in text.replace("\\<", "<")


def planted(name: str, answer: Callable[[int], str]) -> Result:
    """As `result`, but the right caption of every second contest ends in a question mark."""
    held = result(name, answer, n=240)
    samples = []
    for i, each in enumerate(held.run.samples):
        marked = i // 4 % 2 == 1
        choices = tuple(
            c + "?" * (marked and letter == LETTERS[i % 5]) for letter, c in zip(LETTERS, each.choices, strict=True)
        )
        samples.append(dataclasses.replace(each, choices=choices))
    return dataclasses.replace(held, run=dataclasses.replace(held.run, samples=samples))


def test_a_planted_predictor_of_difficulty_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difficulty, "PERMUTATIONS", 19)
    random.seed(3)
    by_mark = planted("by mark", lambda i: LETTERS[i % 5] if random.random() < (0.9 if i // 4 % 2 else 0.4) else "?")
    analysis = analyse([by_mark], draws=99, predictors=True)
    found = analysis.difficulty
    assert found is not None
    of = {each.name: each for each in found.predictors}
    assert of["question"].holm < 0.001
    marks = next(each for each in found.classifiers if each.predictors == "form of the right caption")
    assert marks.accuracy > marks.chance + 0.2
    assert (marks.auc > 0.8, marks.p) == (True, 1 / 20)
    assert found.hard + found.easy <= 60
    text = as_markdown([analysis])
    assert "Classifiers of" in text
    assert "no pictures; give the rows with --task" in text


def test_difficulty_without_an_effect_or_with_few_clusters_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difficulty, "PERMUTATIONS", 3)
    random.seed(2)  # with most seeds the clusters do not differ at all, and nothing is computed
    chance = planted("chance", lambda i: LETTERS[i % 5] if random.random() < 0.6 else "?")
    found = analyse([chance], draws=99, predictors=True).difficulty
    assert found is not None
    assert [each.holm > 0.05 for each in found.predictors if each.holm == each.holm] == [True] * 5
    assert len(found.classifiers) == 4
    assert all(0.25 < each.auc < 0.75 for each in found.classifiers)
    few = analyse([result("few", lambda i: "A", n=40)], draws=99, predictors=True)
    assert few.difficulty is not None
    assert few.difficulty.classifiers == ()
    assert any("classifiers need 10 of each" in note for note in few.notes)


def test_before_and_after_a_cutoff() -> None:
    """Contests 100 to 149 lie between June 2007 and June 2008; the system knows those before contest 120."""
    knows = result("knows", lambda i: right(i) if i < 80 else wrong(i))
    cutoff = contest_date(119)
    (split,) = analyse([knows], cutoff=cutoff, draws=99).cutoffs
    assert (split.before.value, split.after.value) == (1.0, 0.0)
    assert split.difference.value == -1
    assert split.before.n + split.after.n + split.between == 200
    assert 80 < split.between < 110  # three months to each side, of a contest each week or so


def test_contests_with_a_picture_of_low_resolution_stand_apart() -> None:
    """Contests are 100 to 149; newer ones have none of them."""
    made = result("m", lambda i: wrong(i) if 100 + i // 4 in LOW_RESOLUTION else right(i))
    found = analyse([made], draws=99)
    (apart,) = found.resolutions
    assert (apart.low.value, apart.others.value, apart.difference.value) == (0, 1, -1)
    assert (apart.low.n, apart.others.n) == (4 * sum(100 <= c < 150 for c in LOW_RESOLUTION), 200 - apart.low.n)
    assert "## Contests with a picture of low resolution" in as_markdown([found])
    newer = tuple(dataclasses.replace(o, cluster=str(int(o.cluster) + 400)) for o in made.outcomes)
    assert analyse([dataclasses.replace(made, outcomes=newer)], draws=99).resolutions == ()


def test_contests_of_low_resolution_are_those_of_the_published_annotations(real_data: Path) -> None:
    path = real_data / "newyorker_raw" / "all_newyorker_contest_annotations.json"
    types = {int(n): each["contest_type"] for n, each in json.loads(path.read_text(encoding="utf-8")).items()}
    assert {number for number, kind in types.items() if kind == "bob_small"} == LOW_RESOLUTION
    assert len(LOW_RESOLUTION) == 80


def test_shortcuts_explain_what_goes_with_them() -> None:
    """`overlap` solves every fourth item, and the system solves just these; another solves all."""
    shortcut_only = result("shortcut_only", lambda i: right(i) if i % 4 == 0 else wrong(i))
    all_right = result("all_right", right)
    found = {(s.system, s.shortcut): s for s in analyse([shortcut_only, all_right], draws=99).shortcuts}
    alone, everything = found["shortcut_only", "overlap"], found["all_right", "overlap"]
    # where no choice shares a word with the scene, overlap takes A: right in one of five of the other items
    assert alone.solved.value == everything.solved.value == pytest.approx(0.25 + 0.75 / 5)
    assert everything.gain.value == pytest.approx(0)
    assert alone.off.value == 0
    assert alone.gain.value == pytest.approx(0.25)
    assert {name for _, name in found} == {"overlap", "longest", "first", "any of these"}


def test_runs_of_baselines_are_shortcuts_for_others() -> None:
    baseline = result("embedding/mini", lambda i: right(i) if i < 50 else wrong(i))
    model = result("model", lambda i: right(i) if i < 100 else wrong(i))
    found = [s for s in analyse([baseline, model], draws=99).shortcuts if s.shortcut == "embedding/mini"]
    assert [(s.system, s.on.value, s.off.value) for s in found] == [("model", 1.0, pytest.approx(1 / 3))]


def test_hardest_clusters_are_ranked_by_shrunken_means() -> None:
    found = analyse([result("m", lambda i: wrong(i) if i in (0, 1, 2, 3, 5) else right(i))], most=2, draws=99)
    assert [c.name for c in found.hardest] == ["100", "101"]
    assert found.hardest[0].mean == 0 < found.hardest[0].shrunk
    assert len(found.easiest) == 2


def test_values_between_0_and_1_have_no_table_of_right_and_wrong() -> None:
    halves = [Outcome(f"s{i}", str(i % 9), {}, "answered", "text", None, {"rouge_l": i % 7 / 7}) for i in range(60)]
    run = FinishedRun(Path("e.eval"), "inspect", "explanation", "1-A", Signature(), "m", 60, [])
    opened = find_benchmark("explanation").reopen("1-A", {})
    made = Result(run, opened, "reference_overlap", "m", tuple(halves), (1,) * 60, (run.path,))
    found = analyse([made, dataclasses.replace(made, paths=(Path("f.eval"),))], draws=99)
    assert found.metric == "rouge_l"
    assert found.systems == ("m, e.eval", "m, f.eval")
    (pair,) = found.pairs
    assert (pair.same_answer, pair.kappa, pair.first) == (None, None, None)
    assert pair.by_item.value == pytest.approx(1)
    assert found.shortcuts == ()


def test_runs_that_do_not_compare_or_are_incomplete_are_refused() -> None:
    a, other = result("a", right), result("b", right, n=100)
    with pytest.raises(BadInput, match=r"a\.eval and b\.eval do not compare: rows: 100 of 200"):
        analyse([a, other])
    short = result("a", right, notes=("incomplete: 4 of 200 items.",), complete=False)
    with pytest.raises(BadInput, match=r"incomplete: 4 of 200 items\. Finish the run first"):
        analyse([short])
    with pytest.raises(BadInput, match=r"there is no 'accurracy'.*Did you mean 'accuracy'"):
        analyse([a], metric="accurracy")


def test_every_two_systems_must_compare() -> None:
    """The second and third do not compare, though each of them does with the first, which has other settings."""
    made = [result(name, right) for name in "abc"]
    for each, signature in zip(made, ("shots:0|prompts:p", "shots:5|prompts:q", "shots:5|prompts:r"), strict=True):
        object.__setattr__(each.run, "signature", Signature.parse(signature))
    with pytest.raises(BadInput, match=r"b\.eval and c\.eval do not compare: prompt set: q and r\. Analyse"):
        analyse(made)


def test_runs_that_do_not_compare_are_analysed_apart_and_unfinished_ones_left_out() -> None:
    short = result("short", right, notes=("incomplete: 4 of 200 items.",), complete=False)
    files = LeftOut(Path("x"), "is empty.")
    made, left = analyse_all(Results((short, result("a", right), result("b", right, n=100)), (files,)), draws=99)
    assert [each.systems for each in made] == [("a",), ("b",)]
    assert made[0].notes == ()
    assert made[1].notes[0].startswith("These runs do not compare with those above: rows: 100 of 200")
    assert left == [files, LeftOut(Path("short.eval"), "incomplete: 4 of 200 items.")]
    with pytest.raises(BadInput, match=r"no run to analyse\.\nshort\.eval: incomplete: 4 of 200 items\."):
        analyse_all(Results((short,)))


def test_a_shortcut_counts_on_items_without_a_value_of_the_first_system() -> None:
    """The first system has no value of the first hundred items, whose replies were excluded."""
    answers = result("b", right)
    kept = [dataclasses.replace(o, values={}) if i < 100 else o for i, o in enumerate(answers.outcomes)]
    partly = dataclasses.replace(answers, system="a", outcomes=tuple(kept))
    found = {(s.system, s.shortcut): s for s in analyse([partly, answers], draws=99).shortcuts}
    assert found["b", "first"].solved.value == 0.2
    assert found["b", "first"].solved.n == 200


def test_no_cluster_is_among_the_hardest_and_the_easiest() -> None:
    few = analyse([result("m", lambda i: wrong(i) if i < 4 else right(i), n=20)], draws=99)
    assert [c.name for c in few.hardest] == ["100", "101"]
    assert {c.name for c in few.hardest}.isdisjoint(c.name for c in few.easiest)


def test_clusters_that_do_not_differ_are_ranked_by_their_means_and_said_so() -> None:
    """One item in four is wrong, or one in two: less than items of one cluster differ by themselves."""
    found = analyse([result("m", lambda i: wrong(i) if i % 4 == 0 or i == 157 else right(i))], most=1, draws=99)
    assert found.hardest[0].name == "139"
    assert found.notes == ("The clusters differ no more than the items within them: their order may be chance.",)


def test_a_metric_of_which_less_is_better_has_no_right_and_wrong() -> None:
    made = result("m", right)
    assert System(made, "m", rate("tied", "Share of ties."), {"s0": 1.0}, {}, {}, ()).right_or_wrong is False
    assert System(made, "m", ACCURACY, {"s0": 1.0}, {}, {}, ()).right_or_wrong is True


def test_runs_of_one_model_are_named_by_their_settings() -> None:
    made = [result("m", right), result("m", right)]
    for each, shots in zip(made, (0, 5), strict=True):
        object.__setattr__(each.run, "signature", Signature({"shots": shots}))
    assert analyse(made, draws=99).systems == ("m, shots=0", "m, shots=5")


def test_names_of_files_that_were_left_out_are_escaped() -> None:
    left = [LeftOut(Path("a\u202e*<b>\n# c.eval"), "is empty.")]
    assert as_markdown([], left) == "Left out: a\\*\\<b\\> # c.eval: is empty.\n"


def test_reports_escape_names_and_hold_the_same_values() -> None:
    found = [analyse([result("a|b*c", right), result("d", wrong)], draws=99)]
    assert r"a\|b\*c" in as_markdown(found)
    told = json.loads(as_json(found))["analyses"][0]
    assert told["means"][0]["value"] == 1.0
    assert told["pairs"][0]["first"]["share"] == 1.0
    assert told["factors"][0]["found"]["statistic"] is None  # all right: nothing varies


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [sample_runs(tmp_path_factory) / name for name in ("overlap", "lm")]


def analysed(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["analyse", *map(str, arguments)])


def test_the_command_reads_both_harnesses_and_writes_its_report(runs: list[Path], tmp_path: Path) -> None:
    done = analysed(*runs, "--draws", 99, "-o", tmp_path / "a.md", "--cutoff", "2023-09")
    assert done.exit_code == 0, done.output
    assert "baseline/overlap" in done.output
    assert "humor-baseline strategy=longest" in done.output
    assert "distractor" in done.output
    assert "Note: The items have no dates" in done.output
    assert (tmp_path / "a.md").read_text() == done.stdout
    assert json.loads(analysed(*runs, "--draws", 99, "--json").stdout)["analyses"][0]["benchmark"] == "matching"


def test_predictions_are_analysed_with_their_task(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({record.id: "A" for record in load("matching", dataset="sample").records}))
    done = analysed(path, "--task", "matching", "--dataset", "sample", "--draws", 99, "--json")
    (found,) = json.loads(done.stdout)["analyses"]
    assert (found["systems"], found["means"][0]["value"]) == (["mine"], 0.2)
    assert {each["shortcut"] for each in found["shortcuts"]} >= {"overlap", "longest", "first"}


def test_rows_of_a_task_without_a_dataset_are_those_of_its_log(runs: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({record.id: "A" for record in load("matching", dataset="sample").records}))
    done = analysed(path, runs[0], "--task", "matching", "--draws", 99, "--json")
    (found,) = json.loads(done.stdout)["analyses"]
    assert "mine" in found["systems"]
    assert len(found["systems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["RUNS", "--dataset", "sample"], "name their benchmark with --task"),
        (["RUNS", "-o", "a.txt"], "ends in .md or .json"),
        (["RUNS", "--cutoff", "soon"], "write a month"),
        (["RUNS", "--metric", "rmse"], "there is no 'rmse'"),
        (["nowhere"], "there is no such file or folder"),
        (["items"], "Missing argument 'RUNS...'"),
    ],
)
def test_bad_input_is_one_line(runs: list[Path], arguments: Sequence[str], says: str) -> None:
    done = analysed(*(path for each in arguments for path in (runs if each == "RUNS" else [each])))
    assert done.exit_code == 2
    assert says in " ".join(done.output.split())
    assert "Traceback" not in done.output


@pytest.mark.filterwarnings("ignore:.*the same caption twice")
def test_baselines_over_the_real_rows(real_corpus: str, tmp_path: Path) -> None:
    """The right choice's place explains most of overlap, which takes the first of equal choices; contests do not."""
    opened = load("matching", dataset=real_corpus, split="validation")
    files = []
    for name in ("overlap", "first"):
        questions = [Question(r.id, r.context, r.choices) for r in opened.records]
        chosen = [LETTERS[best(scores)] for scores in Baseline(name).score(questions)]
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps({q.id: c for q, c in zip(questions, chosen, strict=True)}))
    found = analyse(read_results(files, opened).results, cutoff=read_date("2019-06"), draws=999)
    assert [e.value for e in found.means] == [141 / 531, 111 / 531]
    place = factor(found, "overlap", "place of the right choice")
    assert (place.found.v, place.holm) == (pytest.approx(0.588, abs=5e-4), pytest.approx(0.006))
    assert factor(found, "overlap", "cluster").found.p_permutation == pytest.approx(0.59, abs=0.05)
    assert [(c.before.n, c.after.n, c.between) for c in found.cutoffs] == [(417, 108, 6)] * 2

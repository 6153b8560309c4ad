"""`humor-tasks build newyorker` from end to end on invented contests, and the corpus in both harnesses."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image
from standins import commands
from standins.contests import COLUMNS, invent, tiny_encoder
from standins.newyorker_stages import files_in
from standins.tiny_text import tiny_folder

from humor_tasks.cli import main
from humor_tasks.files.writing import write_table
from humor_tasks.models.quality import load
from humor_tasks.rows.contests.captions import key_of

BLOCKS = range(5)
FIRST = 101


def build_corpus(folder: Path, encoder: Path, output: str = "corpus", *more: str) -> Result:
    """The command on a folder of raw contests."""
    given = ["--crowd", folder / "crowd", "--embedding", encoder, "--workers", "1", "-o", folder / output, *more]
    if (folder / "annotations.json").exists():
        given += ["--annotations", folder / "annotations.json"]
    return CliRunner().invoke(main, ["build", "newyorker", *map(str, given)])


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, encoder: Path) -> Path:
    """Twelve invented contests and the corpus built from them, with pictures and an explanation of each contest."""
    folder = invent(tmp_path_factory.mktemp("contests"))
    finalists = {n: e["official_newyorker_finalists"] for n, e in _json(folder / "annotations.json").items()}
    (folder / "images").mkdir()
    with (folder / "explanations.jsonl").open("w", encoding="utf-8") as file:
        for number, held in finalists.items():
            Image.new("RGB", (8, 8), (int(number), 90, 20)).save(folder / "images" / f"{number}.png")
            caption = held[0].strip("“”") if held != "UNKNOWN" else "The room has no doors."
            file.write(
                json.dumps({"contest_number": int(number), "caption": caption, "explanation": "No doors."}) + "\n"
            )
    more = ["--images", folder / "images", "--explanations", folder / "explanations.jsonl"]
    result = build_corpus(folder, encoder, "corpus", *map(str, more))
    assert result.exit_code == 0, result.output
    assert re.search(r"select: 12 units, .* s, \S+ MiB in a process at most", result.output)
    assert "  contests_rated: 12 (published: 250)\n  captions_rated: " in result.output
    assert re.search(r"  captions_mean_rated: \d+ \(published: 6,100\)", result.output)
    assert "| ingest | contests_rated | 12 (published: 250) |" in (folder / "corpus" / "README.md").read_text()
    return folder


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(corpus: Path, config: str, kind: str = "") -> list[list[dict[str, Any]]]:
    """The rows of a configuration by block."""
    from pyarrow.parquet import read_table

    return [read_table(corpus / config / f"block{k}{kind}.parquet").to_pylist() for k in BLOCKS]


# ---- properties ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_matching_uses_each_caption_once_as_answer_and_four_times_as_distractor(built: Path) -> None:
    blocks = rows_of(built / "corpus", "matching")
    assert sum(map(len, blocks)) == 69
    for rows in blocks:
        answers = Counter(row["caption_choices"]["ABCDE".index(row["label"])] for row in rows)
        shown = Counter(choice for row in rows for choice in row["caption_choices"])
        assert set(answers.values()) == {1}
        assert shown == Counter(dict.fromkeys(answers, 5))
        contest = {row["caption_choices"]["ABCDE".index(row["label"])]: row["contest_number"] for row in rows}
        for row in rows:
            assert len({key_of(choice) for choice in row["caption_choices"]}) == 5
            assert sum(contest[choice] == row["contest_number"] for choice in row["caption_choices"]) == 1
        letters = Counter(row["label"] for row in rows)
        assert max(letters.values()) - min(letters[letter] for letter in "ABCDE") <= 1
    assert _disjoint(blocks)


@pytest.mark.slow
def test_ranking_pairs_a_high_quality_caption_with_an_okay_one(built: Path) -> None:
    blocks = rows_of(built / "corpus", "ranking")
    annotated = _json(built / "annotations.json")
    for row in (row for rows in blocks for row in rows):
        crowd = _crowd(built, row["contest_number"])
        place = {"A": 0, "B": 1}[row["label"]]
        high, okay = row["caption_choices"][place], row["caption_choices"][1 - place]
        finalists = annotated[str(row["contest_number"])]["official_newyorker_finalists"]
        official = finalists != "UNKNOWN" and f"“{high}”" in finalists
        assert row["winner_source"] == ("official_winner" if official else "crowd_winner")
        assert official or high in crowd[:5]
        assert okay in crowd[15:45]  # the middle tertile, give or take the duplicates
    letters = Counter(row["label"] for rows in blocks for row in rows)
    assert abs(letters["A"] - letters["B"]) <= 5
    assert _disjoint(blocks)
    assert [{row["contest_number"] for row in rows} for rows in blocks] == [
        {row["contest_number"] for row in rows} for rows in rows_of(built / "corpus", "matching")
    ]


def _crowd(folder: Path, number: int) -> list[str]:
    lines = (folder / "crowd" / f"{number}.csv").read_text(encoding="utf-8").splitlines()
    return [line.split(",")[0] for line in lines[1:]]


def _disjoint(blocks: list[list[dict[str, Any]]]) -> bool:
    held = [{row["contest_number"] for row in rows} for rows in blocks]
    return sum(map(len, held)) == len(set().union(*held)) == 12


@pytest.mark.slow
def test_no_quality_model_judges_a_contest_that_it_saw(built: Path) -> None:
    model = load(built / "corpus" / "quality", vectors_only=True)
    assert model.contests == (tuple(range(102, 113, 2)), tuple(range(101, 113, 2)))
    assert {model.judge(number) for number in model.contests[0]} == {1}
    assert {model.judge(number) for number in model.contests[1]} == {0}
    assert model.judge(99) is None


@pytest.mark.slow
def test_two_text_models_may_be_the_quality_model(encoder: Path, tmp_path: Path) -> None:
    """A tiny T5 a parity."""
    texts = [f"{c} {w}" for w in ("dog", "room", "doors") for c in ("a", "the")]
    model = tiny_folder(tmp_path / "t5", texts, layers=1, width=16)
    folder = invent(tmp_path, contests=12, captions=24)
    result = build_corpus(folder, encoder, "corpus", "--quality-model", model)
    assert result.exit_code == 0, result.output
    read = load(folder / "corpus" / "quality", device="cpu")
    assert read.contests == (tuple(range(102, 113, 2)), tuple(range(101, 113, 2)))
    card = (folder / "corpus" / "README.md").read_text(encoding="utf-8")
    assert "| precision at 5 of the worst |" in card
    assert f"trained in this build from {model}" in card


@pytest.mark.slow
def test_the_card_and_provenance(built: Path) -> None:
    card = (built / "corpus" / "README.md").read_text(encoding="utf-8")
    for said in (
        "| precision at 5 of the best |",
        "| precision at 5 of the worst |",
        "| accuracy |",
        "## Balance of ranking",
        "12 contests",
        "| entries | 720 |",
        "CC BY 4.0",
    ):
        assert said in card
    provenance = _json(built / "corpus" / "provenance.json")
    assert provenance["settings"] == {"seed": 1234, "since": None}
    assert len(provenance["files"]) == 26


# ---- the same whatever happens ------------------------------------------------------------------


@pytest.mark.slow
def test_another_seed_does_again_only_the_last_step(built: Path, encoder: Path) -> None:
    before = files_in(built / "corpus.work")
    result = build_corpus(built, encoder, "seeded", "--seed", "2", "--work", str(built / "corpus.work"))
    assert result.exit_code == 0, result.output
    assert result.output.count("done before") == 8
    assert files_in(built / "corpus.work") == before
    assert rows_of(built / "seeded", "matching") != rows_of(built / "corpus", "matching")


@pytest.mark.slow
def test_stages_one_by_one(tmp_path: Path, encoder: Path) -> None:
    folder = invent(tmp_path, contests=2, captions=30)
    for stage in ("ingest", "select"):
        result = build_corpus(folder, encoder, "corpus", "--until", stage)
        assert f"done until {stage}" in result.output
        assert not (folder / "corpus").exists()
        assert {path.name for path in (folder / "corpus.work").iterdir()} >= {stage}
    assert "ingest: 2 units, done before" in result.output


# ---- other inputs -------------------------------------------------------------------------------


@pytest.mark.slow
def test_later_contests_only_with_a_trained_quality_model(tmp_path: Path, encoder: Path) -> None:
    """Contests after a number get rows; the earlier ones train the quality model, unless there is one."""
    folder = invent(tmp_path, contests=18, captions=30)
    one = build_corpus(folder, encoder, "later", "--since", str(FIRST + 1))
    assert one.exit_code == 0, one.output
    found = {row["contest_number"] for rows in rows_of(folder / "later", "ranking") for row in rows}
    assert found == set(range(FIRST + 2, FIRST + 18))
    assert load(folder / "later" / "quality", vectors_only=True).contests[1][0] == FIRST
    two = build_corpus(
        folder, encoder, "later2", "--since", str(FIRST + 1), "--quality", str(folder / "later" / "quality")
    )
    assert two.exit_code == 0, two.output
    assert "ingest: 16 units" in two.output
    assert files_in(folder / "later2" / "quality") == files_in(folder / "later" / "quality")


@pytest.mark.slow
def test_odd_contests(tmp_path: Path, encoder: Path) -> None:
    """Two without ratings, one of one caption, one of unusable captions, and two with the same captions."""
    folder = invent(tmp_path, contests=25, captions=30, unrated=(105, 106))
    annotated = _json(folder / "annotations.json")
    twin = [line.split(",") for line in (folder / "crowd" / "107.csv").read_text(encoding="utf-8").splitlines()[1:]]
    write_table(folder / "crowd" / "108.csv", COLUMNS, twin, exact=True)
    for number, texts in ((102, ["A room without a door."]), (103, ["xx", "write to a@example.com"])):
        write_table(folder / "crowd" / f"{number}.csv", COLUMNS, [(t, 2.0, 0.1, 4, 1, 2, 1) for t in texts], exact=True)
        annotated[str(number)]["official_newyorker_finalists"] = "UNKNOWN"
    (folder / "annotations.json").write_text(json.dumps(annotated))
    result = build_corpus(folder, encoder)
    assert result.exit_code == 0, result.output
    assert "1 pairs of contests with the same captions" in result.output
    assert "12 left out: lowest quality" in result.output  # a quarter of those without ratings
    assert {107, 108} <= set(load(folder / "corpus" / "quality", vectors_only=True).contests[1])
    blocks = rows_of(folder / "corpus", "ranking")
    assert {len({row["contest_number"] for row in rows} & {107, 108}) for rows in blocks} == {0, 2}
    ranked = [row for rows in blocks for row in rows]
    of_unrated = [row["winner_source"] for row in ranked if row["contest_number"] in (105, 106)]
    assert Counter(of_unrated) == {"official_winner": 6}
    matched = Counter(row["contest_number"] for rows in rows_of(folder / "corpus", "matching") for row in rows)
    assert (matched[102], matched[103]) == (1, 0)
    assert not {102, 103} & {row["contest_number"] for row in ranked}


@pytest.mark.slow
def test_pictures_alone(tmp_path: Path, encoder: Path) -> None:
    """Without annotations the corpus has the configurations from pixels only."""
    folder = invent(tmp_path, contests=18, captions=30)
    (folder / "annotations.json").unlink()
    (folder / "images").mkdir()
    for number in range(FIRST, FIRST + 17):
        Image.new("L", (8, 8)).save(folder / "images" / f"{number}.png")
    result = build_corpus(folder, encoder, "corpus", "--images", str(folder / "images"))
    assert result.exit_code == 0, result.output
    held = {path.name for path in (folder / "corpus").iterdir() if "_" in path.name or path.name == "matching"}
    assert held == {"matching_from_pixels", "ranking_from_pixels"}
    assert "contests left out | contests without a picture | 1" in (folder / "corpus" / "README.md").read_text()


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--crowd", "nowhere"], "nowhere: is no folder"),
        (["--since", "soon"], "--since: cutoff is 'soon'.*A contest's number is possible, too"),
        (["--since", "900"], "no contest is left: 3 contests up to 900"),
        (["--until", "embedding"], "--until: stage: there is no 'embedding'"),
        (["--images", "{folder}/crowd"], r"holds no NUMBER\.jpg"),
        (["--quality", "{folder}/crowd"], "quality.json: there is no such file"),
        (["-o", "{folder}/crowd"], "exists already; name a new folder"),
        (["-o", "{folder}/dangling"], "exists already; name a new folder"),
        (["--work", "{folder}/corpus"], "are in each other; name two folders"),
        (["--work", "{folder}/corpus/work"], "are in each other; name two folders"),
        (["--work", "{folder}/w", "-o", "{folder}/w/ingest"], "are in each other; name two folders"),
        (["--work", "{folder}/annotations.json"], "annotations.json is no folder"),
        (["--explanations", "{folder}/none.jsonl"], r"none\.jsonl: there is no such file"),
    ],
)
def test_bad_options(tmp_path: Path, encoder: Path, more: list[str], message: str) -> None:
    folder = invent(tmp_path, contests=3, captions=9)
    (folder / "dangling").symlink_to("nowhere")
    result = build_corpus(folder, encoder, "corpus", *(each.format(folder=folder) for each in more))
    assert result.exit_code == 2, result.output
    assert re.search(message, " ".join(result.output.split())), result.output
    assert not (folder / "corpus").exists()


def test_without_the_extra(tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "threadpoolctl" else name)
    result = build_corpus(invent(tmp_path, contests=3, captions=9), encoder)
    assert result.exit_code == 2
    assert "pip install 'humor-tasks[corpus]' (1 missing package: threadpoolctl)" in " ".join(result.output.split())


@pytest.mark.slow
@pytest.mark.parametrize("task", ["matching", "ranking"])
def test_the_audit_finds_nothing_wrong(built: Path, task: str) -> None:
    """Rules over few contests have wide intervals; the quality model is one of the rules."""
    corpus = built / "corpus"
    given = ["--task", task, "--quality", str(corpus / "quality"), "--json"]
    done = CliRunner().invoke(main, ["audit", str(corpus), *given], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {part["part"] for part in found["parts"]} >= {"train of fold 0", "test of fold 4"}
    assert [each for each in found["findings"] if each["severity"] == "error"] == []
    assert "shared_between_folds" in {each["kind"] for each in found["findings"]}
    assert f"quality/{corpus / 'quality'}" in {each["rule"] for each in found["shortcuts"]}


# ---- both harnesses -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_quality_model_in_both_harnesses(built: Path, tmp_path: Path) -> None:
    corpus = built / "corpus"
    model = corpus / "quality"
    commands.inspect(
        *("eval", "humor_tasks/ranking", "--model", f"quality/{model}", "-T", f"dataset={corpus}", "-T", "fold=all"),
        *("--log-dir", str(tmp_path), "--display", "none"),
        cwd=tmp_path,
    )
    from inspect_ai.log import read_eval_log

    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    assert log.status == "success"
    answers = {sample.id: sample.output.completion for sample in log.samples or ()}
    held = load(model)
    for rows in rows_of(corpus, "ranking"):
        for row in rows:
            scores = held.score(row["caption_choices"], [row["contest_number"]] * 2)
            assert answers[row["instance_id"]] == f"Answer: {'AB'[int(np.argmax(scores))]}"
    told = commands.lm_eval(
        *("--tasks", "nyc_ranking", "--model", "humor-quality", "--model_args", f"pretrained={model}"),
        *("--device", "cpu"),
        *("--metadata", f"dataset={corpus}"),
        cwd=tmp_path,
    )
    assert "nyc_ranking" in str(told)

"""`humor-tasks captions score`: length, diversity and recitation of captions from files, and its table and rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from standins import commands
from standins.contests import invent
from standins.corpus import write_lines
from standins.tiny_text import tiny_folder

from humor_tasks.benchmarks.crowd.corpus import Cartoon, Crowd, CrowdOptions, open_crowd
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.embedding import Embedding
from humor_tasks.models.quality import fit, sums
from humor_tasks.models.quality.model import Encoder
from humor_tasks.scorers.diversity import average_ead
from humor_tasks.studies.captions import figures, placing
from humor_tasks.studies.captions.files import CaptionGroup, read_groups
from humor_tasks.testing import ChatServer

OPTIONS = CrowdOptions(dataset="sample", split="validation", contests="9010-9012")
TEN = tuple(f"A caption with the number {i}." for i in range(10))


@pytest.fixture(scope="module")
def crowd() -> Crowd:
    return open_crowd(OPTIONS)


# ---- figures ------------------------------------------------------------------------------------


def groups_of(crowd: Crowd, system: str, texts: Callable[[Cartoon], Sequence[str]]) -> list[CaptionGroup]:
    return [CaptionGroup(system, c.number, tuple(texts(c))) for c in crowd.cartoons]


def test_figures_of_systems(crowd: Crowd) -> None:
    groups = groups_of(crowd, "long", lambda c: [f"{text} {'x' * 40}" for text in TEN])
    groups += groups_of(crowd, "few", lambda c: ["One two.", "Three!"])
    groups.append(CaptionGroup("few", 510, TEN))
    rows = figures.written(crowd, groups)
    long, few = figures.systems(crowd, groups, rows)
    assert (long.contests, long.captions, long.not_whole, long.elsewhere) == (3, 30, [], [])
    assert long.estimates["words"].value == 7
    assert long.estimates["characters"].value == 69
    assert long.estimates["average_ead"].value == pytest.approx(average_ead(groups[0].captions))
    assert (long.estimates["recited_exactly"].value, long.matched) == (0, {"exact": 0, "near": 0})
    assert "crowd_rank" not in long.estimates
    assert (few.contests, few.captions, few.elsewhere) == (3, 6, [510])
    assert [(each["contest"], each["captions"]) for each in few.not_whole] == [(9010, 2), (9011, 2), (9012, 2)]
    assert "average_ead" not in few.estimates  # a diversity depends on the number of captions
    assert few.estimates["words"].value == 1.5


def test_diversity_by_embeddings_is_of_whole_groups(crowd: Crowd) -> None:
    class Encoder:
        def embed(self, texts: Sequence[str]) -> Any:
            import numpy as np

            return np.eye(10)[: len(texts)]

    groups = groups_of(crowd, "s", lambda c: TEN if c.number > 9010 else TEN[:3])
    (system,) = figures.systems(crowd, groups, figures.written(crowd, groups), Encoder())  # type: ignore[arg-type]
    assert system.estimates["embedding_diversity"].value == pytest.approx(0.9)
    assert system.estimates["embedding_diversity"].clusters == 2


def test_recitation_names_the_entry_and_its_rank(crowd: Crowd) -> None:
    first = crowd.cartoons[0].contest
    at = first.place.index(203)
    changed = first.caption[at + 1] + " Eh"
    group = CaptionGroup("s", 9010, (f"«{first.caption[at].upper()}»!", changed, "Nothing of the kind at all."))
    exact, near, none = figures.written(crowd, [group])
    assert (exact.match, exact.entry, exact.entry_rank, exact.similarity) == ("exact", first.caption[at], 203, 1)
    assert (near.match, near.entry, near.entry_rank) == ("near", first.caption[at + 1], 204)
    assert 0.9 <= near.similarity < 1
    assert (none.match, none.entry, none.entry_rank) == ("", None, None)


# ---- the command --------------------------------------------------------------------------------


def test_the_command_writes_a_table_and_every_caption(tmp_path: Path, crowd: Crowd) -> None:
    contest = crowd.cartoons[0].contest
    path = write_lines(
        tmp_path / "c.jsonl",
        [
            {"contest": 9010, "captions": [contest.caption[0], *TEN[1:]], "system": "s"},
            {"contest": 9011, "captions": TEN[:9], "system": "s"},
            {"contest": 510, "captions": TEN, "system": "s"},
        ],
    )
    out = tmp_path / "out.json"
    told = commands.humor_tasks(
        "captions", "score", path, "--dataset", "sample", "--split", "validation",
        "--place-by", "baseline/longest", "-o", out,
    )  # fmt: skip
    assert "s: not in the split, or left out of it: 1 contest: 510." in told
    assert "s: not 10 captions: contest 9011: 9." in told
    assert "no captions for 6 contests: 9012" in told
    assert "crowd_rank: baseline/longest places captions by its scores" in told
    made = json.loads(out.read_text())
    assert made["provenance"]["dataset"] == "sample"
    (system,) = made["systems"]
    assert (system["contests"], system["captions"]) == (2, 19)
    assert {"characters", "words", "average_ead", "recited_exactly", "crowd_rank"} <= set(system["estimates"])
    assert set(made["place_by"]["human_groups"]) == {"top10", "rank200", "rank1000", "median"}
    assert made["place_by"]["spearman"]["clusters"] == 2
    rows = made["rows"]
    assert [row["caption"] for row in rows] == [contest.caption[0], *TEN[1:], *TEN[:9]]
    assert (rows[0]["match"], rows[0]["entry_rank"]) == ("exact", 0)
    lengths = [len(text) for text in contest.caption]
    mine = len(TEN[1])
    slowly = 100 * (sum(x < mine for x in lengths) + lengths.count(mine) / 2) / len(lengths)
    assert rows[1]["percentile"] == pytest.approx(slowly)


@pytest.mark.slow
def test_embedding_and_quality_models_place_by_their_scores(tmp_path: Path, crowd: Crowd) -> None:
    """The quality model is trained here on two of the sample's train contests: the crowd's best against its worst."""
    cartoon = crowd.cartoons[0]
    texts = [*TEN, cartoon.context, *cartoon.contest.caption]
    tiny = str(tiny_folder(tmp_path / "tiny", texts, "encoder", layers=1))
    encoder = Embedding(tiny, "cpu")
    trained = []
    for c in open_crowd(CrowdOptions(dataset="sample", split="train")).cartoons[:2]:
        texts = [*c.contest.caption[:5], *c.contest.caption[-5:]]
        trained.append((c.number, sums(encoder.embed(texts), texts, [True] * 5 + [False] * 5)))
    fit(trained, Encoder.of(encoder, tiny), ()).save(tmp_path / "quality")
    path = write_lines(tmp_path / "c.jsonl", [{"contest": cartoon.number, "captions": TEN}])
    command = ("captions", "score", path, "--dataset", "sample", "--split", "validation", "--contests", cartoon.number)
    made = {}
    for model, more in ((f"embedding/{tiny}", ("--encoder", tiny)), (f"quality/{tmp_path / 'quality'}", ())):
        out = tmp_path / "out.json"
        commands.humor_tasks(*map(str, command), *more, "--place-by", model, "-M", "device=cpu", "-o", out)
        made[model] = json.loads(out.read_text())
    first, second = made.values()
    assert 0 < first["systems"][0]["estimates"]["embedding_diversity"]["value"] < 1
    assert "embedding_diversity" not in second["systems"][0]["estimates"]
    scene, *vectors = encoder.embed([cartoon.context, TEN[0], *cartoon.contest.caption])
    cosines = [float(vector @ scene) for vector in vectors]
    slowly = 100 * sum(x < cosines[0] for x in cosines[1:]) / len(cosines[1:])
    assert first["rows"][0]["percentile"] == pytest.approx(slowly)
    assert all(0 <= row["percentile"] <= 100 for row in second["rows"])
    assert first["place_by"]["spearman"]["n"] == second["place_by"]["spearman"]["n"] == 41


def test_without_a_model_nothing_is_placed_and_no_description_is_needed(tmp_path: Path) -> None:
    folder = invent(tmp_path / "corpus", contests=2, captions=40)
    (folder / "annotations.json").unlink()
    path = write_lines(tmp_path / "c.jsonl", [{"contest": n, "captions": TEN} for n in (101, 102)])
    out = tmp_path / "out.json"
    told = commands.humor_tasks("captions", "score", path, "--dataset", folder, "--split", "all", "-o", out)
    made = json.loads(out.read_text())
    assert made["place_by"] is None
    assert {row["percentile"] for row in made["rows"]} == {None}
    assert "crowd" not in told
    refused = commands.refused(
        "captions", "score", path, "--dataset", folder, "--split", "all", "--place-by", "baseline/overlap"
    )
    assert "without a description: 2 contests: 101, 102" in refused


def test_contests_that_cannot_be_shown_are_left_out_and_named(tmp_path: Path) -> None:
    folder = invent(tmp_path / "corpus", contests=2, captions=40)
    known = json.loads((folder / "annotations.json").read_text())
    (folder / "annotations.json").write_text(json.dumps({"101": known["101"]}))
    path = write_lines(tmp_path / "c.jsonl", [{"contest": n, "captions": TEN} for n in (101, 102)])
    told = commands.humor_tasks(
        "captions", "score", path, "--dataset", folder, "--split", "all", "--place-by", "baseline/longest"
    )
    assert "split all: left out: without a description: 1 contest: 102." in told
    assert "c: not in the split, or left out of it: 1 contest: 102." in told


def test_a_contest_with_fewer_than_1010_captions_has_fewer_human_groups(tmp_path: Path) -> None:
    folder = invent(tmp_path / "corpus", contests=2, captions=40)
    path = write_lines(tmp_path / "c.jsonl", [{"contest": 101, "captions": TEN}])
    out = tmp_path / "out.json"
    commands.humor_tasks(
        "captions", "score", path, "--dataset", folder, "--split", "all", "--place-by", "baseline/random", "-o", out
    )
    assert set(json.loads(out.read_text())["place_by"]["human_groups"]) == {"top10", "median"}


@pytest.mark.slow
def test_a_hosted_model_places_by_comparing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = invent(tmp_path / "corpus", contests=1, captions=12)
    path = write_lines(tmp_path / "c.jsonl", [{"contest": 101, "captions": TEN[:2]}])
    with ChatServer(lambda messages: "Answer: A") as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        monkeypatch.setenv("LOCAL_API_KEY", "x")
        told = commands.humor_tasks(
            "captions", "score", path, "--dataset", folder, "--split", "all",
            "--place-by", "openai-api/local/judge", "--log-dir", tmp_path / "logs",
        )  # fmt: skip
    assert server.requests
    assert "crowd_rank: openai-api/local/judge" in told


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            [{"contest": 510, "captions": TEN}],
            (),
            "has none of the 1 contest: 510 of the files; choose another --split",
        ),
        ([{"contest": 101, "captions": TEN}], ("--place-by", "baseline/first"), "baseline/first scores the places"),
        ([{"contest": 101, "captions": TEN}], ("--place-by", "baseline/other"), "there is no 'other'"),
        ([{"contest": 101, "captions": TEN}], ("--place-by", "nowhere/model"), "nowhere"),
        (
            [{"contest": 101, "captions": TEN}],
            ("--place-by", "baseline/overlap", "--setting", "caption_only"),
            "overlap needs the scene in words",
        ),
        ([{"contest": 103, "captions": TEN}], (), "contest 103 has no ratings; give a file with mean and votes"),
        ([{"contest": 101, "captions": TEN}], ("--setting", "loud"), "there is no 'loud'"),
        ([{"contest": 101, "captions": TEN}], ("--split", "some"), "there is no 'some'"),
        ([{"contest": "x", "captions": TEN}], (), "c.jsonl, line 1: contest is 'x'"),
    ],
)
def test_bad_input(rows: list[dict[str, Any]], options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    folder = invent(tmp_path / "corpus", contests=3, captions=40, unrated=(103,))
    path, out = write_lines(tmp_path / "c.jsonl", rows), tmp_path / "out.json"
    split = () if "--split" in options else ("--split", "all")
    said = commands.refused("captions", "score", path, "--dataset", folder, *split, *options, "-o", out)
    assert " ".join(message.split()) in said
    assert not out.exists()


def test_the_output_is_no_input(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "c.jsonl", [{"contest": 9010, "captions": TEN}])
    assert "is also an input file" in commands.refused("captions", "score", path, "--dataset", "sample", "-o", path)
    assert len(read_groups(path)) == 1


# ---- the released captions ----------------------------------------------------------------------

RECITED = {
    "claude": (4, 5),
    "gpt4o": (0, 3),
    "llava_zs": (0, 0),
    "llava_sft": (0, 0),
    "zs": (0, 0),
    "zs_BoN": (0, 0),
    "sft": (0, 1),
    "dpo": (0, 0),
    "ppo": (0, 0),
}
"""System -> exact and near matches with the rated captions of the 44 contests, of 440 captions."""
HOLDING = "557,609,611,613,661,697,701,709"
"""The contests with a match; the other 36 take most of the time to read."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*doubtful ratings")
def test_recitation_and_places_of_the_released_systems(real_data: Path) -> None:
    home = real_data / "newyorker_raw"
    groups = [g for name in RECITED for g in read_groups(home / "generations" / f"{name}.csv")]
    options = CrowdOptions(dataset=str(home), split="validation", setting="caption_only", contests=HOLDING)
    crowd = open_crowd(options)
    rows = figures.written(crowd, groups)
    found = {s.name: (s.matched["exact"], s.matched["near"]) for s in figures.systems(crowd, groups, rows)}
    assert found == RECITED
    best = min((row for row in rows if row.match == "exact"), key=lambda row: row.entry_rank or 0)
    assert (best.contest, best.caption, best.entry_rank) == (613, "We've got ways of making you laugh.", 111)
    texts: dict[int, list[str]] = {}
    for row in rows:
        texts.setdefault(row.contest, []).append(row.caption)
    placement = placing.place(Baseline("longest"), crowd.cartoons, texts)
    ranks = {s.name: s.estimates for s in figures.systems(crowd, groups, figures.placed(rows, placement))}
    assert round(ranks["claude"]["crowd_rank"].value, 1) == 52.3
    assert round(ranks["zs_BoN"]["crowd_rank"].value, 1) == 88.6
    assert round(placement.agreement.value, 3) == -0.027
    known = {each.name: round(each.crowd.value, 1) for each in figures.human_groups(crowd, placement)}
    assert known == {"top10": 99.9, "rank200": 96.8, "rank1000": 84.0, "median": 49.7}

"""`humor-tasks captions arena`: files and human groups, a judge behind a server, a second run that asks nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inspect_ai.log import list_eval_logs, read_eval_log
from standins import commands
from standins.corpus import write_lines

from humor_tasks.testing import ChatServer
from humor_tasks.testing.judges import material, verdict_reply

CONTESTS = tuple(range(9001, 9005))


@pytest.fixture
def captions(tmp_path: Path) -> tuple[Path, Path]:
    """Two systems, each with ten captions for four contests of the sample; the second one is short-spoken."""
    lines = {
        "ours": [f"A long caption with the number {i}, as everybody can see." for i in range(10)],
        "theirs": [f"Short {i}." for i in range(10)],
    }
    for name, texts in lines.items():
        rows = [{"contest": number, "captions": texts, "system": name} for number in CONTESTS]
        write_lines(tmp_path / f"{name}.jsonl", rows)
    return tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"


def longer(messages: list[dict[str, str]]) -> str:
    shown = material(messages[-1]["content"])
    return verdict_reply(max("AB", key=lambda side: len(shown[f"text_{side.lower()}"])))  # type: ignore[arg-type]


def test_an_arena_with_a_judge_behind_a_server(
    tmp_path: Path, captions: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCAL_API_KEY", "x")
    judges = "openai-api/local/judge,baseline/longest"
    given = ["captions", "arena", *captions, "--dataset", "sample", "--split", "all", "--budget", "30", "--elo"]
    given += ["--judge", judges, "-o", tmp_path / "arena"]
    with ChatServer(longer) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        told = commands.humor_tasks(*given)
        asked = len(server.requests)
        again = commands.humor_tasks(*given)
        assert len(server.requests) == asked
    assert told.splitlines()[-20:] == again.splitlines()[-20:]
    assert "| ours " in told
    assert "people/median" in told
    folder = tmp_path / "arena"
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    prompted = [verdict for verdict in verdicts if verdict["judge"] == "openai-api/local/judge"]
    assert asked == len(prompted) == 2 * (len(verdicts) - len(prompted))
    assert {verdict["reasons"] for verdict in prompted} == {"So it is."}
    samples = [sample for log in list_eval_logs(str(folder / "logs")) for sample in read_eval_log(log).samples or []]
    assert len(samples) == len({(v["contest"], v["first"], v["second"]) for v in verdicts})
    assert all(sample.scores for sample in samples)
    page = (folder / "index.html").read_text()
    assert page.count("So it is.") == len(prompted)
    assert "tokens in" in page


def test_contests_that_take_no_part_are_told(tmp_path: Path) -> None:
    """Only lists that take part are counted; the others are named, on the terminal and on the page."""
    for name, length in (("ours", 30), ("theirs", 5)):
        rows = [
            {"contest": number, "captions": [f"{'x' * length} {number}", "Another."], "system": name}
            for number in (*CONTESTS, *range(101, 110))
        ]
        write_lines(tmp_path / f"{name}.jsonl", rows)
    given = ["captions", "arena", tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl", "--dataset", "sample"]
    given += ["--split", "all", "--budget", "12", "--judge", "baseline/longest", "-o", tmp_path / "arena"]
    told = " ".join(commands.humor_tasks(*given).split())
    page = " ".join((tmp_path / "arena" / "index.html").read_text().split())
    for shown in (told, page):
        assert "18 lists of 9 other contests: 101, 102, 103, 104, 105 and 4 more take no part" in shown
        assert "4 of the 13 contests in the files are of the arena." in shown
        assert "8 lists hold several captions; the first is shown." in shown


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "an arena needs a judge"),
        (("--judge", "baseline/longest", "--budget", "0"), "--budget 0: 6 players need at least 6 battles"),
        (
            ("--judge", "baseline/longest", "--show", "ten", "--picker", "baseline/longest"),
            "leave it out with --show ten",
        ),
        (("--judge", "baseline/longest", "--contests", "9012"), "has none of the 4 contests"),
        (("--judge", "baseline/longest", "--prompts", "Z"), "Z"),
        (("--judge", "baseline/overlap", "--setting", "caption_only"), "overlap needs the scene in words"),
        (("--judge", "baseline/longest", "--contests", "9001"), "meet in the contest 9001 alone"),
    ],
)
def test_bad_input(tmp_path: Path, captions: tuple[Path, Path], more: tuple[str, ...], message: str) -> None:
    given = ["captions", "arena", *captions, "--dataset", "sample", "--split", "all", *more, "-o", tmp_path / "arena"]
    assert message in commands.refused(*given)
    assert not (tmp_path / "arena").exists()


def test_the_same_system_twice(tmp_path: Path, captions: tuple[Path, Path]) -> None:
    again = tmp_path / "again.jsonl"
    again.write_bytes(captions[0].read_bytes())
    told = commands.refused("captions", "arena", *captions, again, "--judge", "baseline/longest", "-o", tmp_path / "a")
    assert "contest 9001 of ours is also in" in told


def test_an_arena_of_requests(tmp_path: Path) -> None:
    requests = [{"id": f"en_{n}", "text": f"A lighthouse that fears {n} o'clock."} for n in range(6)]
    asked = write_lines(tmp_path / "requests.jsonl", requests)
    files = []
    for system, text in (("long", "It has asked for a night light, and twice."), ("short", "So do I.")):
        rows = [{"request": f"en_{n}", "captions": [f"{text} {n}", "Another."], "system": system} for n in range(6)]
        files.append(write_lines(tmp_path / f"{system}.jsonl", rows))
    given = ["captions", "arena", *files, "--prompts-file", asked, "--judge", "baseline/longest", "-o", tmp_path / "a"]
    told = commands.humor_tasks(*given)
    assert "There are no human groups for requests" in told
    assert "12 lists hold several texts; the first is shown." in told
    assert told.index("| long") < told.index("| short")
    assert "lighthouse that fears 5" in (tmp_path / "a" / "index.html").read_text()
    assert "leave out --split" in commands.refused(*given, "--split", "all")
    assert "use `captions pick`" in commands.refused(*given, "--picker", "baseline/longest")


def test_the_best_caption_by_a_picker(tmp_path: Path, captions: tuple[Path, Path]) -> None:
    told = commands.humor_tasks(
        "captions", "arena", *captions, "--dataset", "sample", "--split", "all", "--judge", "baseline/longest",
        "--picker", "baseline/longest", "--no-people", "--budget", "4", "-o", tmp_path / "a",
    )  # fmt: skip
    assert "2 players" in told
    assert "It ended because every battle has been asked for." in told
    players = json.loads((tmp_path / "a" / "arena.json").read_text())["players"]
    assert players["theirs"]["9001"] == ["Short 0."]

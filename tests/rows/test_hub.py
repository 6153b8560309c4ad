"""Rows from a stand-in for the hub: what is fetched, what is kept, what is said."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from standins.corpus import COLUMNS, HUB, SPLITS, as_parquet, make_folder, make_hub_repo, matching_row, noise_png
from standins.paths import TESTS

from humor_tasks.rows.pins import DATASETS
from humor_tasks.testing import HubServer

OFFLINE = {"HF_HUB_OFFLINE": "1"}
NO_NETWORK = {"HF_ENDPOINT": "http://127.0.0.1:1"}

# Each state of the world is a process of its own: one host imports what all need, and forks for every state.
HOST = """
import gc, json, os, sys
gc.disable()
import aiohttp, datasets, fsspec, huggingface_hub, pandas, pyarrow.dataset, pyarrow.parquet, PIL.Image, scipy.io
from huggingface_hub import HfApi, HfFileSystem, snapshot_download
import fsspec.implementations.http, encodings.idna
import humor_tasks.rows.contests.source, humor_tasks.rows.folder, humor_tasks.rows.hub
from standins.hub_client import hub_client

def answer(job):
    import logging
    from humor_tasks.rows import open_rows
    logging.basicConfig(level=logging.WARNING, stream=sys.stdout, format="log: %(message)s")
    logging.getLogger("humor_tasks").setLevel(logging.INFO)
    for asked in job["asked"]:
        if "run" in asked:
            exec(asked["run"], {})
            continue
        try:
            rows = open_rows(**asked)
            pictures = [row.pop("image").sha256() for row in rows.rows if "image" in row]
            print(json.dumps({"rows": rows.rows, "revision": rows.revision, "requested": rows.requested_revision,
                              "fingerprint": rows.fingerprint, "pictures": pictures, "where": rows.where(0)}))
        except Exception as error:
            print(json.dumps({"error": type(error).__name__ + ": " + str(error)}))

gc.freeze()  # what is imported stays shared with the forks
for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            with hub_client(**job["env"]):
                answer(job)
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)
    print("done", flush=True)
"""


class World:
    """A stand-in hub and one user's cache folder."""

    def __init__(self, host: subprocess.Popen[str], hub: HubServer, home: Path, repo: Path) -> None:
        self.host, self.hub, self.home, self.repo = host, hub, home, repo
        self.commit = hub.add(HUB, repo)
        self.said: list[str] = []

    def ask(self, *changes: dict[str, Any], **env: str) -> list[dict[str, Any]]:
        """What open_rows answers in a new process, once for every change of what is asked."""
        usual = {"dataset": HUB, "hub": HUB, "cards": "nowhere", "config": "matching", "split": "test"}
        asked = [change if "run" in change else usual | {"columns": COLUMNS} | change for change in changes]
        mine = {"HF_ENDPOINT": self.hub.endpoint, "HF_HOME": str(self.home), "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
        assert self.host.stdin
        assert self.host.stdout
        self.host.stdin.write(json.dumps({"env": mine | env, "asked": asked}) + "\n")
        self.host.stdin.flush()
        lines = list(iter(self.host.stdout.readline, "done\n"))
        self.said = [line for line in lines if not line.startswith("{")]
        return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.fixture(scope="module")
def host() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOST]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        yield process
        assert process.stdin
        process.stdin.close()


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_hub_repo(tmp_path_factory.mktemp("repo"))


@pytest.fixture
def world(host: subprocess.Popen[str], repo: Path, tmp_path: Path) -> Iterator[World]:
    with HubServer() as hub:
        yield World(host, hub, tmp_path / "home", repo)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "data")


def expected_rows(split: str = "test", rows: int = 24) -> list[dict[str, Any]]:
    return [{name: matching_row(i, split)[name] for name in COLUMNS} for i in range(rows)]


@pytest.mark.slow
def test_text_fetches_text_alone_and_once(world: World) -> None:
    file = "matching/test-00000-of-00001.parquet"
    first, second, by_commit = world.ask({}, {}, {"revision": world.commit})
    assert first["rows"] == expected_rows()
    assert (first["revision"], first["requested"]) == (world.commit, None)
    assert first["where"] == f"row 0 (instance_id test-0000) of matching/test in {HUB}"
    assert second == first
    assert by_commit == first | {"requested": world.commit}
    size, sent = (world.repo / file).stat().st_size, world.hub.bytes_of(file)
    print(f"{sent:,} of {size:,} bytes fetched for three runs")
    assert 0 < sent < size / 10
    assert set(world.hub.served()) == {"README.md", file}

    for env in (OFFLINE, NO_NETWORK):
        world.hub.forget_requests()
        again, by_commit, missing, unknown = world.ask(
            {}, {"revision": world.commit}, {"split": "train"}, {"revision": "v2"}, **env
        )
        assert again == first
        assert by_commit == first | {"requested": world.commit}
        assert "the hub cannot be reached" in world.said[0]
        assert f"commit {world.commit}" in world.said[0]
        for answer in (missing, unknown):
            assert "these rows are not cached" in answer["error"]
        assert not world.hub.log


@pytest.mark.slow
def test_a_second_process_fetches_no_data(world: World) -> None:
    (first,) = world.ask({})
    world.hub.forget_requests()
    second, other = world.ask({}, {"columns": ["label"]})
    assert second == first
    assert [row["label"] for row in other["rows"]] == [row["label"] for row in first["rows"]]
    assert 0 < len(world.hub.data_requests()) <= 5  # for the other columns alone


@pytest.mark.slow
def test_a_new_commit_is_seen_and_the_old_one_kept(world: World, tmp_path: Path) -> None:
    old = world.commit
    (first,) = world.ask({})
    changed = tmp_path / "changed"
    shutil.copytree(world.repo, changed)
    swap = changed / "matching"
    (swap / "train-00000-of-00001.parquet").replace(swap / "test-00000-of-00001.parquet")
    shutil.copy(world.repo / "matching" / "train-00000-of-00001.parquet", swap)
    new = world.hub.add(HUB, changed)
    main, before = world.ask({}, {"revision": old})
    assert (main["revision"], main["rows"]) == (new, expected_rows("train", rows=4))
    assert (before["revision"], before["rows"]) == (old, first["rows"])
    assert main["fingerprint"] != before["fingerprint"]


@pytest.mark.slow
def test_pictures_of_one_split(world: World) -> None:
    asked = {"config": "matching_from_pixels", "pictures": True}
    (first,) = world.ask(asked)
    assert first["rows"] == expected_rows()
    assert first["pictures"] == [hash_of(noise_png(2000 + i, 160)) for i in range(24)]
    assert set(world.hub.served()) == {"README.md", "matching_from_pixels/test-00000-of-00001.parquet"}
    world.hub.forget_requests()
    (second,) = world.ask(asked)
    assert second == first
    assert not world.hub.data_requests()
    (third,) = world.ask(asked, **OFFLINE)
    assert third == first


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.mark.slow
def test_what_the_hub_does_not_have(world: World, tmp_path: Path) -> None:
    world.hub.add("shut/away", world.repo, gated=True)
    script = tmp_path / "script"
    script.mkdir()
    (script / "made.py").write_text("raise SystemExit('a loading script must never run')")
    world.hub.add("old/made", script)
    answers = world.ask(
        {"dataset": "no/such"},
        {"dataset": "shut/away"},
        {"revision": "v9"},
        {"dataset": "old/made"},
        {"config": "matchin"},
        {"split": "tests"},
        {"columns": ["labels"]},
        {"columns": ["image_locations"], "config": "matching", "pictures": True},
    )
    said = [
        "no such folder here and no such dataset on the hub",
        "shut/away is gated: ask for access",
        "noisy/captions: there is no revision 'v9'",
        "old/made is made by a loading script, which is never run. Name its parquet branch: revision=refs/convert/parq",
        "no config 'matchin'; there are: matching, matching_from_pixels. Did you mean 'matching'?",
        "no split 'tests'; there are: train, validation, test. Did you mean 'test'?",
        "no column 'labels'; there are: image, contest_number,",
        "Did you mean 'image_location'?",
    ]
    for answer, part in zip(answers, said, strict=True):
        assert answer["error"].startswith(("BadInput: ", "Absent: "))  # the latter is a kind of the former
        assert part in answer["error"]
    assert not [file for file in world.home.glob("humor_tasks/**/*") if file.suffix in (".arrow", ".part")]


@pytest.mark.slow
@pytest.mark.parametrize("env", [OFFLINE, NO_NETWORK], ids=["offline", "no-network"])
def test_no_network_and_nothing_kept(world: World, env: dict[str, str]) -> None:
    for answer in world.ask({}, {"revision": "a" * 40}, **env):
        for part in ("BadInput: matching/test in noisy/captions", "cannot be reached", "dataset=sample", "hf download"):
            assert part in answer["error"]


@pytest.mark.slow
def test_parquet_branch_without_a_card(world: World, tmp_path: Path) -> None:
    branch = tmp_path / "branch"
    for split in SPLITS:
        (branch / "matching" / split).mkdir(parents=True)
        shutil.copy(
            world.repo / "matching" / f"{split}-00000-of-00001.parquet", branch / "matching" / split / "0000.parquet"
        )
        (branch / "ranking" / split).mkdir(parents=True)
        shutil.copy(branch / "matching" / split / "0000.parquet", branch / "ranking" / split)
    commit = world.hub.add(HUB, branch, branch="refs/convert/parquet")
    asked = {"revision": "refs/convert/parquet"}
    found, wrong = world.ask(asked, asked | {"config": "rankings"})
    assert (found["rows"], found["revision"]) == (expected_rows(), commit)
    assert "there are: matching, ranking. Did you mean 'ranking'?" in wrong["error"]
    assert world.ask(asked, **OFFLINE)[0]["rows"] == expected_rows()


@pytest.mark.slow
def test_json_and_picture_files_on_the_hub(world: World, folder: Path) -> None:
    world.hub.add("some/sample", folder)
    text, pixels = {"dataset": "some/sample"}, {"dataset": "some/sample", "pictures": True}
    (first,) = world.ask(text)
    assert first["rows"] == expected_rows(rows=3)
    assert not [path for path in world.hub.served() if path.endswith(".png")]
    (second,) = world.ask(pixels)
    assert second["pictures"] == [hash_of(noise_png(i, 16)) for i in range(3)]
    assert world.ask(text, pixels, **OFFLINE) == [first, second]


@pytest.mark.slow
def test_what_datasets_itself_kept(world: World) -> None:
    world.ask({"run": f"import datasets; datasets.load_dataset('{HUB}', 'matching')"})
    asked = [{}, {"pictures": True}, {"revision": world.commit}, {"revision": "b" * 40}, {"split": "tset"}]
    text, pixels, by_commit, another, wrong = world.ask(*asked, **OFFLINE)
    assert (text["rows"], text["revision"]) == (expected_rows(), world.commit)
    assert len(pixels["pictures"]) == 24
    assert by_commit["rows"] == text["rows"]
    assert "not cached" in another["error"]
    assert "no split 'tset'" in wrong["error"]


@pytest.mark.slow
def test_a_damaged_copy_is_fetched_again(world: World) -> None:
    (first,) = world.ask({})
    (kept,) = world.home.glob("humor_tasks/**/*.arrow")
    kept.write_bytes(b"not arrow")
    assert world.ask({})[0] == first
    kept.write_bytes(b"not arrow")
    assert "not cached" in world.ask({}, **OFFLINE)[0]["error"]


@pytest.mark.slow
def test_an_interrupted_fetch_leaves_nothing_behind(world: World) -> None:
    world.hub.data_requests_left = 3  # two footers and the first of three row groups
    (broken,) = world.ask({})
    assert "BadInput: matching/test in noisy/captions" in broken["error"]
    assert "test-00000-of-00001.parquet" in broken["error"]
    assert "Try again" in broken["error"]
    assert not [file for file in world.home.glob("humor_tasks/**/*") if file.suffix in (".arrow", ".part")]
    world.hub.data_requests_left = None
    assert world.ask({})[0]["rows"] == expected_rows()


@pytest.mark.slow
def test_rows_need_no_torch(world: World, folder: Path) -> None:
    packed = folder.parent / "packed"
    shutil.copytree(folder, packed)
    as_parquet(packed, pa.array([f"images/{i}.png" for i in range(3)]))
    local = [{"dataset": str(place), "pictures": pictures} for place in (folder, packed) for pictures in (True, False)]
    told = {"run": "import datasets, sys; print([datasets.config.TORCH_AVAILABLE, 'torch' in sys.modules])"}
    answers = world.ask(*local, {}, {"config": "matching_from_pixels", "pictures": True}, told)
    assert [len(answer["rows"]) for answer in answers] == [3, 3, 3, 3, 24, 24]
    if world.said[-1] == "[False, False]\n":
        pytest.skip("torch is not installed, so it could not have been imported")
    assert world.said[-1] == "[True, False]\n"


@pytest.mark.slow
def test_a_default_is_read_at_its_pin(world: World, tmp_path: Path) -> None:
    """The stand-in has the pin and a newer commit; without network the pin is read from what was kept."""
    corpus = "jmhessel/newyorker_caption_contest"
    asked, newest = {"dataset": corpus}, {"dataset": corpus, "revision": "main"}
    head = world.hub.add(corpus, world.repo)
    (unknown,) = world.ask(asked)
    assert unknown["error"] == (
        f"BadInput: {corpus}: the hub does not have commit {DATASETS[corpus]}, the default; take the newest rows with "
        "-T revision=main (lm-eval: --metadata dataset_revision=main)."
    )
    old = tmp_path / "old"
    shutil.copytree(world.repo, old)
    folder = old / "matching"
    shutil.copy(folder / "train-00000-of-00001.parquet", folder / "test-00000-of-00001.parquet")
    world.hub.add(corpus, old, branch="old", commit=DATASETS[corpus])
    at_pin, by_name, at_head = world.ask(asked, {"dataset": corpus, "revision": "old"}, newest)
    assert (at_pin["revision"], at_pin["requested"], len(at_pin["rows"])) == (DATASETS[corpus], None, 4)
    assert by_name == at_pin | {"requested": "old"}
    assert (at_head["revision"], at_head["requested"], at_head["rows"]) == (head, "main", expected_rows())
    assert world.ask(asked, newest, **OFFLINE) == [at_pin, at_head]


CONTESTS = """
import json
from humor_tasks.rows.contests.source import open_contests
for how in {asked}:
    try:
        found = open_contests("yguooo/newyorker_caption_ranking", **how)
        first = found.contest(found.numbers[0])
        pictures, scene = sorted(path.name for path in found.pictures.values()), found.scenes[536].location
        told = {{"numbers": found.numbers, "first": first.caption, "commit": found.commit}}
        print(json.dumps(told | {{"scene": scene, "pictures": pictures}}))
    except Exception as error:
        print(json.dumps({{"error": type(error).__name__ + ": " + str(error)}}))
"""


def contests_of(world: World, *asked: dict[str, Any], **env: str) -> list[dict[str, Any]]:
    return world.ask({"run": CONTESTS.format(asked=asked)}, **env)


@pytest.mark.slow
@pytest.mark.cpu(10, "the last test of the file: the processes of all of them are counted when the host ends")
@pytest.mark.parametrize("layout", ["a file a contest", "a file a split"])
def test_contests_from_the_hub(world: World, tmp_path: Path, layout: str) -> None:
    repo, head = tmp_path / "contests", "caption,mean,precision,votes,not_funny,somewhat_funny,funny"
    for folder in ("ranking", "gpt4o_description", "cartoons"):
        (repo / folder).mkdir(parents=True)
    contests = {536: "validation", 543: "test", 605: "train", 800: "train"}
    for split in ("train", "validation", "test"):
        held = [number for number, of in contests.items() if of == split]
        lines = {number: f"Joke {number},1.5,0.1,20,10,10,0\n" for number in held}
        if layout == "a file a split":
            rows = "".join(f"{number},{line}" for number, line in lines.items())
            (repo / "ranking" / f"{split}.csv").write_text(f"contest_number,{head}\n{rows}")
        else:
            for number, line in lines.items():
                (repo / "ranking" / f"{number}.csv").write_text(f"{head}\n{line}")
        scenes = [
            {"contest_number": n, "location": f"bar {n}", "canny": "a", "uncanny": "b", "entities": []} for n in held
        ]
        text = "".join(json.dumps(scene) + "\n" for scene in scenes)
        (repo / "gpt4o_description" / f"{split}.jsonl").write_text(text)
        for number in held:
            (repo / "cartoons" / f"{number}.jpg").write_bytes(noise_png(number, 8))
    corpus = "yguooo/newyorker_caption_ranking"
    commit = world.hub.add(corpus, repo, commit=DATASETS[corpus])
    (found,) = contests_of(world, {"split": "validation"})
    assert found == {"numbers": [536], "first": ["Joke 536"], "commit": commit, "scene": "bar 536", "pictures": []}
    assert not any("800" in path or "train.csv" in path or "cartoons" in path for path in world.hub.served())
    asked = [{"split": "held_out", "pictures": True}, {"split": "all"}, {"split": "test", "revision": "gone"}]
    held_out, every, gone = contests_of(world, *asked)
    assert (held_out["numbers"], held_out["pictures"]) == ([536, 543], ["536.jpg", "543.jpg", "605.jpg"])
    assert every["numbers"] == [536, 543, 605, 800]
    assert "there is no revision 'gone'" in gone["error"]
    (offline,) = contests_of(world, {"split": "held_out"}, **NO_NETWORK)
    assert (offline["numbers"], offline["commit"]) == ([536, 543], commit)

"""MOCK's benchmarks: the sample, how items are shown and hidden, what is wrong with a row, figures by scene."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from standins.clips import clip
from standins.mock_rows import TURNS, dialogue, mock_folder, row
from standins.paths import REPOSITORY

from humor_tasks import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.mock.corpus import CHOICES, SCENES
from humor_tasks.contract.definition import Run
from humor_tasks.errors import BadInput
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.frames import probe
from humor_tasks.rows.media.picture import check_picture
from humor_tasks.rows.records import Record

CARD = REPOSITORY / "datasets_cards" / "mock"
SCRIPT = REPOSITORY / "tools" / "samples" / "mock" / "make_sample.py"
TASKS = ("detecting", "matching", "explaining")
SPLITS = ("train", "validation", "test")


def rows(scene: str, task: str, *splits: str) -> list[dict[str, Any]]:
    files = [CARD / f"{scene}_{task}" / f"{split}.jsonl" for split in splits or SPLITS]
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def shown(run: Run, record: Record) -> str:
    """Everything a model reads."""
    return "\n".join(turn.text for turn in run.prompt(record).turns)


# ---- the sample ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_sample_is_what_its_script_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    written = {str(path.relative_to(tmp_path)): path for path in tmp_path.rglob("*") if path.is_file()}
    kept = [path for folder in (*CARD.glob("*_*ing"), CARD / "images") for path in folder.iterdir()]
    assert sorted(written) == sorted(str(path.relative_to(CARD)) for path in kept)
    for name, path in written.items():
        if name.endswith(".jsonl"):
            assert path.read_bytes() == (CARD / name).read_bytes()
        else:
            assert check_picture(path.read_bytes(), name).kind == "PNG"


@pytest.mark.parametrize("scene", SCENES)
def test_no_medium_of_the_sample_stands_in_two_splits_and_each_is_there(scene: str) -> None:
    of = {split: [one for task in TASKS for one in rows(scene, task, split)] for split in SPLITS}
    media = {split: {one["media_id"] for one in found} for split, found in of.items()}
    for a, b in itertools.combinations(SPLITS, 2):
        assert not media[a] & media[b]
    lines = {split: {said for one in found for said in one.get("options", ())} for split, found in of.items()}
    assert not any(lines[a] & lines[b] for a, b in itertools.combinations(SPLITS, 2))
    for one in itertools.chain(*of.values()):
        path = CARD / one["media"]
        if scene == "comedy":
            assert probe(path).seconds > 5
        else:
            check_picture(path.read_bytes(), one["media"])


def test_the_card_names_every_config_and_split() -> None:
    front = yaml.safe_load((CARD / "README.md").read_text(encoding="utf-8").split("---")[1])
    found = {c["config_name"]: {f["split"]: f["path"] for f in c["data_files"]} for c in front["configs"]}
    names = [f"{scene}_{task}" for scene in SCENES for task in TASKS]
    assert found == {name: {split: f"{name}/{split}.jsonl" for split in SPLITS} for name in names}


# ---- how an item is shown -----------------------------------------------------------------------


@pytest.mark.parametrize(("task", "how"), zip(TASKS, ("media", "frames", "description"), strict=True))
def test_every_item_of_the_sample_is_shown_by_every_input(task: str, how: str) -> None:
    run = load(f"mock_{task}", dataset="sample", input=how, shots=2)
    for record in run.records:
        prompt = run.prompt(record)
        assert len(prompt.media) == (0 if how == "description" else 3)
        comedy = record.groups["scene"] == "comedy"
        assert all(isinstance(one, Clip) == comedy for one in prompt.media)
        assert {one.frames for one in prompt.media if isinstance(one, Clip)} <= {8 if how == "frames" else 0}
        if how == "description":
            assert record.fields["description"] in prompt.turns[-1].text


@pytest.mark.parametrize("scene", SCENES)
def test_matching_hides_what_is_looked_for(scene: str) -> None:
    run = load("mock_matching", dataset="sample", scene=scene, input="description")
    for record in run.records:
        answer = record.choices["ABCD".index(str(record.target))]
        text = shown(run, record)
        assert text.count(answer) == 1
        assert f"{record.target}) {answer}" in text
        assert answer not in {**record.fields, "choices": ""}.values()
        assert answer not in record.context


def test_a_dialogue_keeps_its_speakers(tmp_path: Path) -> None:
    made = {task: mock_folder(tmp_path, "comedy", task, [row("comedy", task)]) for task in ("detecting", "matching")}
    texts = {}
    for task, dataset in made.items():
        run = load(f"mock_{task}", dataset=dataset, scene="comedy", input="description")
        texts[task] = run.prompt(run.records[0]).turns[-1].text
    assert "Dialogue:\nANN: The oven is on fire.\nBO: Dinner is at eight.\nANN: How lovely.\n" in texts["detecting"]
    assert "BO: Dinner is at eight.\nANN: (hidden)\n" in texts["matching"]
    assert "Candidates for the last utterance:\nA) One.\nB) Two.\nC) How lovely.\nD) Four." in texts["matching"]


def test_a_scene_without_a_description_is_told_by_its_dialogue(tmp_path: Path) -> None:
    dataset = mock_folder(tmp_path, "comedy", "detecting", [row("comedy", "detecting", description=None)])
    run = load("mock_detecting", dataset=dataset, scene="comedy", input="description")
    assert "given by what is said in it.\n\nDialogue:\nANN: " in shown(run, run.records[0])


def test_shots_are_of_the_same_scene_and_of_other_media() -> None:
    run = load("mock_matching", dataset="sample", split="train", shots=2, input="description")
    from humor_tasks.benchmarks.mock.corpus import shots

    for record in run.records:
        drawn = shots(run, record)
        assert {shot.groups["scene"] for shot in drawn} == {record.groups["scene"]}
        assert len({record.cluster, *(shot.cluster for shot in drawn)}) == 3
    with pytest.raises(BadInput, match="shots=3: the train split of cartoon has only 2 other media"):
        run.with_options(shots=3).prompt(run.records[0])


def test_a_clip_is_read_late_and_whole_or_as_frames(tmp_path: Path) -> None:
    dataset = mock_folder(tmp_path, "comedy", "detecting", [row("comedy", "detecting")])
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "m1.mp4").write_bytes(clip(30))
    run = load("mock_detecting", dataset=dataset, scene="comedy", input="frames", frames=3)
    (frames,) = run.prompt(run.records[0]).media
    assert isinstance(frames, Clip)
    assert [picture.mime() for picture in frames.pictures()] == ["image/jpeg"] * 3
    whole = load("mock_detecting", dataset=dataset, scene="comedy").records[0].clip
    assert whole is not None
    uri, kind = whole.whole()
    assert (uri[:22], kind) == ("data:video/mp4;base64,", "mp4")
    assert whole.sha256() == frames.sha256()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Video media/m1.mp4, row 0 (id r1) of comedy_detecting/test in"),
        (clip(12)[:900], "Video media/m1.mp4"),
        ((CARD / "images" / "post_01.png").read_bytes(), "Video media/m1.mp4"),
        (clip(12, kind="matroska"), "only mp4, mov can be sent whole; convert it. Or use frames: input="),
    ],
)
def test_a_clip_that_cannot_be_shown_whole_says_why(tmp_path: Path, data: bytes, said: str) -> None:
    dataset = mock_folder(tmp_path, "comedy", "detecting", [row("comedy", "detecting")])
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "m1.mp4").write_bytes(data)
    broken = BENCHMARKS["mock_detecting"].open(dataset=dataset, scene="comedy").records[0].clip
    assert broken is not None
    with pytest.raises(BadInput) as problem:
        broken.whole()
    assert said in str(problem.value)


# ---- bad input ----------------------------------------------------------------------------------

WRONG_ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    ("cartoon", "detecting", {"label": None}, "label is None; it must be 'yes' or 'no'"),
    ("cartoon", "detecting", {"label": True}, "label is True; it must be"),
    ("cartoon", "detecting", {"label": ...}, "there is no column 'label'"),
    ("cartoon", "detecting", {"caption": " "}, "caption is empty; it must be text"),
    ("cartoon", "detecting", {"caption": None}, "caption is empty; it must be text"),
    ("cartoon", "detecting", {"scene": "post"}, "scene is 'post'; in this config it must be cartoon"),
    ("cartoon", "detecting", {"media_id": ""}, "media_id is empty"),
    ("cartoon", "detecting", {"description": None}, "cartoon: 1 of 1 rows have no description, such as row 0"),
    ("post", "matching", {"options": ["One.", "How lovely.", "Three."]}, "options has 3; four texts are needed"),
    ("post", "matching", {"options": None}, "options has None; four"),
    ("post", "matching", {"options": ["1", "2", "How lovely.", " "]}, "four texts are needed"),
    ("post", "matching", {"options": ["1", "one", "How lovely.", "ONE"]}, "options contains the same text twice"),
    (
        "post",
        "matching",
        {"options": ["\u00e9", "e\u0301", "How lovely.", "4"]},
        "options contains the same text twice",
    ),
    ("post", "matching", {"options": ["1", "1\u200b", "How lovely.", "4"]}, "options contains the same text twice"),
    ("post", "matching", {"options": ["1", "\u200b", "How lovely.", "4"]}, "four texts are needed"),
    ("post", "matching", {"answer": "E"}, "answer is 'E'; it must be A, B, C or D"),
    ("post", "matching", {"answer": "A"}, "option A, the answer, is not the row's own line: 'How lovely.'"),
    ("post", "explaining", {"explanation": ""}, "explanation is empty; it must be text"),
    ("comedy", "detecting", {"dialogue": []}, "dialogue has no utterance; the question is about the last one"),
    ("comedy", "matching", {"dialogue": dialogue(TURNS[2:])}, "where the last is hidden, there must be one before it"),
    ("comedy", "detecting", {"dialogue": None}, "dialogue is None; it must be a list of turns"),
    ("comedy", "detecting", {"dialogue": ["a", "b", "c"]}, "it must be a list of turns with speaker and text"),
    ("comedy", "detecting", {"dialogue": dialogue([*TURNS[:2], ("", "x")])}, "dialogue: speaker is empty"),
    ("comedy", "detecting", {"dialogue": dialogue([*TURNS[:2], ("ANN", " ")])}, "dialogue: text is empty"),
    ("comedy", "detecting", {"dialogue": [{"text": "x"}] * 3}, "every turn needs speaker and text"),
]


@pytest.mark.parametrize(("scene", "task", "changes", "said"), WRONG_ROWS)
def test_a_wrong_row_is_named(tmp_path: Path, scene: str, task: str, changes: dict[str, Any], said: str) -> None:
    dataset = mock_folder(tmp_path, scene, task, [row(scene, task, **changes)])
    with pytest.raises(BadInput) as problem:
        load(f"mock_{task}", dataset=dataset, scene=scene, input="description")
    assert said in str(problem.value)
    assert f"{scene}_{task}/test" in str(problem.value)


WRONG_MEDIA = [
    (None, "post: 1 of 1 rows have no picture or clip, such as row 0 (id r1) of post_detecting/test in"),
    ("../secret.png", "leaves the dataset folder"),
    ("m" * 5000, "is not a valid file name (File name too long). Correct the row"),
    ("loop.png", "is not a valid file name"),
    ("media", "there is no picture file 'media'"),
    ({"path": "loop.png", "bytes": "aGVsbG8="}, "it must hold pictures, or paths of picture files"),
]


@pytest.mark.parametrize(("media", "said"), WRONG_MEDIA)
def test_a_medium_that_cannot_be_had_is_told_before_anything_runs(tmp_path: Path, media: Any, said: str) -> None:
    (tmp_path / "secret.png").write_bytes(b"x")
    dataset = mock_folder(tmp_path / "data", "post", "detecting", [row("post", "detecting", media=media)])
    (tmp_path / "data" / "loop.png").symlink_to("loop.png")
    (tmp_path / "data" / "media").mkdir()
    with pytest.raises(BadInput) as problem:
        load("mock_detecting", dataset=dataset, scene="post")
    assert "post_detecting/test in" in str(problem.value)
    assert isinstance(media, dict) or "row 0 (id r1) of " in str(problem.value)
    assert said in str(problem.value)
    assert load("mock_detecting", dataset=dataset, scene="post", input="description").records


def test_a_picture_of_the_wrong_type_is_named(tmp_path: Path) -> None:
    dataset = mock_folder(tmp_path, "post", "detecting", [row("post", "detecting")])
    (tmp_path / "media").mkdir()
    shutil.copyfile(CARD / "clips" / "clip_01.mp4", tmp_path / "media" / "m1.png")
    with pytest.raises(
        BadInput, match=r"media/m1.png, row 0 .*: not a picture in a supported format; it is .* or video\)"
    ):
        load("mock_detecting", dataset=dataset, scene="post")


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({}, "dataset: run `humor-tasks build mock ... -o mock`, which builds the corpus from its public sources (docs/"),
    ({}, "docs/mock.md), and then this command with `-T dataset=mock` (in lm-eval, `--metadata dataset=mock`). "),
    ({"dataset": "sample", "input": "pixels"}, "input: there is no 'pixels'; choose from media, description, frames"),
    ({"dataset": "sample", "frames": 0}, "frames must be a whole number from 1 to 64"),
]


@pytest.mark.parametrize(("parameters", "said"), WRONG_OPTIONS)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as problem:
        load("mock_detecting", **parameters)
    assert said in str(problem.value)


def test_pictures_may_be_bytes_in_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = (CARD / "images" / "post_01.png").read_bytes()
    made = row("post", "detecting", media={"bytes": data, "path": None})
    (tmp_path / "post_detecting").mkdir()
    pq.write_table(pa.Table.from_pylist([made]), tmp_path / "post_detecting" / "test.parquet")
    run = load("mock_detecting", dataset=str(tmp_path), scene="post")
    (picture,) = run.prompt(run.records[0]).pictures
    assert picture.read() == data


def test_the_same_id_twice_is_named(tmp_path: Path) -> None:
    dataset = mock_folder(tmp_path, "post", "detecting", [row("post", "detecting")] * 2)
    with pytest.raises(BadInput, match=r"row 1 \(id r1\) .*: id r1 is also that of row 0 \(id r1\)"):
        load("mock_detecting", dataset=dataset, scene="post", input="description")


# ---- figures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", ["comedy", "all"])
def test_figures_are_of_all_items_and_of_each_scene(scene: str) -> None:
    run = load("mock_detecting", dataset="sample", scene=scene, input="description")
    replies = {r.id: "Answer: yes" if r.groups["scene"] == "comedy" else f"Answer: {r.target}" for r in run.records}
    metrics = evaluate(run, replies).metrics
    of = {name: 0.5 if name == "comedy" else 1.0 for name in CHOICES[scene]}
    assert metrics["accuracy"].value == pytest.approx(sum(of.values()) / len(of))
    assert metrics["accuracy"].n == len(run.records)
    assert metrics["accuracy"].clusters == 3 * len(of)
    own = {name: metrics[f"accuracy_{name}"].value for name in SCENES if f"accuracy_{name}" in metrics}
    assert own == (of if len(of) > 1 else {})


@pytest.mark.parametrize(("on_unparsed", "expected"), [("wrong", 0.5), ("exclude", 1.0)])
def test_a_reply_that_says_neither_is_counted(on_unparsed: str, expected: float) -> None:
    given = {"dataset": "sample", "scene": "post", "input": "description", "on_unparsed": on_unparsed}
    run = load("mock_detecting", **given)
    replies = {r.id: "Answer: yes" if r.target == "yes" else "Hard to say." for r in run.records}
    metrics = evaluate(run, replies).metrics
    assert (metrics["accuracy"].value, metrics["unparsed"].value) == (expected, 0.5)


def test_a_guess_is_yes_or_no() -> None:
    given = {"dataset": "sample", "input": "description", "on_unparsed": "random"}
    run = load("mock_detecting", **given)
    outcomes = [run.outcome(record, "Hm.") for record in run.records]
    assert {o.values["accuracy"] for o in outcomes} == {0.0, 1.0}
    assert [o.values for o in outcomes] == [run.outcome(record, "Hm.").values for record in run.records]

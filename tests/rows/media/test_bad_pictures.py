"""Pictures are checked before the first request; baselines that need words are refused where there are none."""

from __future__ import annotations

import io
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import pytest
from inspect_ai import eval
from standins.mock_rows import mock_folder, row
from standins.waiting import LIMIT

from humor_tasks import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.crowd.corpus import examples_of
from humor_tasks.benchmarks.crowd.groups import GroupsOptions
from humor_tasks.datasets_cards import folder as card
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.rows.media import checking, frames, picture
from humor_tasks.rows.media.checking import check_media
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import MAX_BYTES, Picture
from humor_tasks.rows.media.video_file import OpenVideo
from humor_tasks.tasks import matching
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

PIXELS: dict[str, Any] = {"setting": "pixels"}
GOOD = (Path(card("newyorker_caption_contest")) / "images" / "9001.png").read_bytes()


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A copy of the sample."""
    return shutil.copytree(card("newyorker_caption_contest"), tmp_path / "data")


def harm(dataset: Path, *, with_bytes: bytes | None) -> list[str]:
    """Damage the picture of the first row, or delete it; the ids of the rows that show it."""
    records = load("matching", dataset=str(dataset), **PIXELS).records
    shown = records[0].picture
    assert shown is not None
    assert shown.path is not None
    if with_bytes is None:
        Path(shown.path).unlink()
    else:
        Path(shown.path).write_bytes(with_bytes)
    return [r.id for r in records if r.picture is not None and r.picture.path == shown.path]


def test_a_bad_picture_stops_the_run_before_it_begins(dataset: Path) -> None:
    """Of each kind of damage in tests/bad_inputs/datasets.py."""
    bad = harm(dataset, with_bytes=bytes(MAX_BYTES + 1))
    with pytest.raises(BadInput, match="bytes; at most") as problem:
        load("matching", dataset=str(dataset), **PIXELS)
    assert f"{len(bad)} of " in str(problem.value)
    assert bad[0] in str(problem.value)
    assert "on_bad_picture=skip" in str(problem.value)
    assert load("matching", dataset=str(dataset)).records  # words need no picture


@pytest.mark.slow
def test_skipped_pictures_are_counted_in_both_harnesses(dataset: Path, tmp_path: Path) -> None:
    whole = [record.id for record in load("matching", dataset=str(dataset), **PIXELS).records]
    bad = harm(dataset, with_bytes=GOOD[:100])
    left = [identity for identity in whole if identity not in bad]
    given = {"dataset": str(dataset), "on_bad_picture": "skip"}
    model = ScriptedModel("m", "Answer: A")
    with pytest.warns(UserWarning, match=f"{len(bad)} of {len(whole)} rows .* are left out"):
        (log,) = eval(matching(**given, **PIXELS), model=model.model, log_dir=str(tmp_path / "logs"), display="log")
    assert {sample.id for sample in log.samples or []} == set(left)
    assert (log.eval.metadata or {})["source"]["skipped"] == len(bad)
    with pytest.warns(UserWarning, match="are left out"):
        found = run_lm_eval(ScriptedLM("Answer: A"), "nyc_matching_pixels_gen", metadata=given)
    assert [s["doc"]["id"] for s in found["samples"]["nyc_matching_pixels_gen"]] == left
    about = found["configs"]["nyc_matching_pixels_gen"]["metadata"]
    assert about["source"]["skipped"] == len(bad)
    for signature in (about["signature"], (log.eval.metadata or {})["signature"]):
        assert f"|n:{len(left)}|" in signature
        assert f"|skipped:{len(bad)}|" in signature
        assert "|on_bad_picture:skip" in signature


def test_predictions_may_hold_skipped_rows(dataset: Path) -> None:
    ids = [record.id for record in load("matching", dataset=str(dataset), **PIXELS).records]
    bad = harm(dataset, with_bytes=b"")
    with pytest.warns(UserWarning, match="are left out"):
        run = load("matching", dataset=str(dataset), on_bad_picture="skip", **PIXELS)
    report = evaluate(run, dict.fromkeys(ids, "A"))
    assert report.metrics["accuracy"].n == len(ids) - len(bad)


def test_a_run_without_a_usable_picture_is_refused(dataset: Path) -> None:
    for file in (dataset / "images").iterdir():
        file.write_bytes(b"GIF89a")
    with pytest.raises(BadInput, match=r"No row is left\. Restore the pictures"):
        load("matching", dataset=str(dataset), on_bad_picture="skip", **PIXELS)


def test_messages_after_a_skip_name_the_place_in_the_file(tmp_path: Path) -> None:
    rows = [row("post", "detecting", id=f"r{i}", media=f"media/m{i}.png") for i in range(3)]
    rows[2]["label"] = "maybe"
    dataset = mock_folder(tmp_path, "post", "detecting", rows)
    (tmp_path / "media").mkdir(exist_ok=True)
    for i in (1, 2):
        (tmp_path / "media" / f"m{i}.png").write_bytes(GOOD)
    (tmp_path / "media" / "m0.png").unlink(missing_ok=True)
    with (
        pytest.warns(UserWarning, match="1 of 3 rows"),
        pytest.raises(BadInput, match=r"row 2 \(id r2\).*label is 'maybe'"),
    ):
        load("mock_detecting", dataset=dataset, scene="post", on_bad_picture="skip")


def pictures(
    count: int, distinct: int, read: Callable[[int], bytes] = lambda i: GOOD, path: str | None = None
) -> dict[int, Picture]:
    def one(i: int) -> Picture:
        return Picture(f"row {i}", path and f"{path}{i % distinct}", lambda: read(i))

    return {i: one(i) for i in range(count)}


def test_each_file_is_read_once_and_each_picture_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    decoded: list[str] = []
    decode = picture.decode_picture
    for module in (picture, checking):
        monkeypatch.setattr(
            module, "decode_picture", lambda data, where: (decoded.append(where), decode(data, where))[1]
        )
    many = 8 * checking.THREADS  # more than are read at once

    def of(i: int) -> bytes:
        read.append(i)
        return GOOD + bytes(i % 3)

    in_table = pictures(many, many, of)
    assert check_media(in_table, "") == {}
    assert (sorted(read), sorted(decoded)) == (list(range(many)), ["row 0", "row 1", "row 2"])
    assert len({each.sha256() for each in in_table.values()}) == 3
    assert len(in_table[5].read()) == len(GOOD) + 2
    assert len(decoded) == 3  # what was checked is not decoded again when it is used
    read.clear()
    in_files = {i: Picture(f"row {i}", __file__, lambda: of(0)) for i in range(many)}
    assert check_media(in_files, "") == {}
    assert (read, decoded[3:]) == ([0], ["row 0"])


def test_every_row_of_a_bad_file_is_told() -> None:
    def read(i: int) -> bytes:
        if i == 3:
            raise OSError("gone")
        return GOOD if i % 2 else b"no"

    found = check_media(pictures(6, 6, read), "")
    assert list(found) == [0, 2, 3, 4]
    assert "cannot be read (gone)" in found[3]
    assert "beginning b'no'" in found[4]


def test_pictures_are_read_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "THREADS", 2)
    together = threading.Barrier(2, timeout=LIMIT)  # passes only if two reads wait at the same time
    read: list[int] = []

    def wait(i: int) -> bytes:
        if len(read) < 2:
            read.append(i)
            together.wait()
        return GOOD

    assert check_media(pictures(2, 2, wait), "") == {}


# ---- --limit and clips --------------------------------------------------------------------------


def damaged_after_the_first(dataset: Path) -> list[str]:
    """The ids in order, after all pictures but that of the first row were damaged."""
    records = load("matching", dataset=str(dataset), **PIXELS).records
    first = records[0].picture
    assert first is not None
    for file in (dataset / "images").iterdir():
        if str(file) != first.path:
            file.write_bytes(GOOD[:100])
    return [record.id for record in records]


def test_lm_eval_checks_only_the_rows_that_it_asks(dataset: Path) -> None:
    ids = damaged_after_the_first(dataset)
    how: dict[str, Any] = {"metadata": {"dataset": str(dataset)}}
    found = run_lm_eval(ScriptedLM("Answer: A"), "nyc_matching_pixels_gen", limit=1, **how)
    assert [s["doc"]["id"] for s in found["samples"]["nyc_matching_pixels_gen"]] == ids[:1]
    model = ScriptedLM("Answer: A")
    with pytest.raises(BadInput, match=r"\d+ of 10 rows of matching: .* no usable picture: .*on_bad_picture=skip"):
        run_lm_eval(model, "nyc_matching_pixels_gen", **how)
    assert model.asked == []


def test_a_run_checks_the_rows_that_it_is_given(dataset: Path) -> None:
    damaged_after_the_first(dataset)
    run = BENCHMARKS["matching"].open(dataset=str(dataset), **PIXELS)
    run.check_media(run.records[:1])
    with pytest.raises(BadInput, match="1 of 1 rows of matching: split test"):
        run.check_media(run.records[-1:])


def test_worked_examples_are_checked_with_the_rows_that_show_them(dataset: Path) -> None:
    shown = BENCHMARKS["matching"].open(dataset=str(dataset), shots=2, **PIXELS)
    record = shown.records[0]
    example = shown.prompt(record).pictures[0]
    assert example.path is not None
    Path(example.path).write_bytes(b"")
    run = BENCHMARKS["matching"].open(dataset=str(dataset), shots=2, **PIXELS)
    with pytest.raises(BadInput, match="there are no bytes"):
        run.check_media([record])
    run.with_options(shots=0).check_media([record])


CLIP = (Path(card("mock")) / "clips" / "clip_01.mp4").read_bytes()
BAD_CLIPS: list[tuple[Callable[[], bytes | None], str]] = [
    (lambda: None, "there is no picture file"),
    (lambda: GOOD, "not a video in a supported format"),
    (lambda: sound(), "it has no video stream, only audio"),
    (lambda: without_duration(), "its duration is 0"),
]


def without_duration() -> bytes:
    """The clip with durations of 0 in the headers of the film and its tracks (ISO/IEC 14496-12, 8.2.2 to 8.4.2)."""
    data = bytearray(CLIP)
    for name, offset in ((b"mvhd", 20), (b"tkhd", 24), (b"mdhd", 20)):
        at = data.find(name)
        while at >= 0:
            data[at + offset : at + offset + 4] = bytes(4)
            at = data.find(name, at + 4)
    return bytes(data)


def sound() -> bytes:
    """An MP4 file of half a second of silence."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame(format="fltp", layout="mono", samples=4000)
        frame.sample_rate = 8000
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        container.mux([*stream.encode(frame), *stream.encode(None)])
    return out.getvalue()


@pytest.mark.parametrize(("data", "said"), BAD_CLIPS)
def test_a_bad_clip_stops_the_run_or_is_left_out(tmp_path: Path, data: Callable[[], bytes | None], said: str) -> None:
    rows = [row("comedy", "detecting", id=f"r{i}", media=f"media/m{i}.mp4") for i in range(3)]
    dataset = mock_folder(tmp_path, "comedy", "detecting", rows)
    (tmp_path / "media").mkdir(exist_ok=True)
    for i in range(3):
        (tmp_path / "media" / f"m{i}.mp4").write_bytes(CLIP)
    (tmp_path / "media" / "m1.mp4").unlink()
    if (harmed := data()) is not None:
        (tmp_path / "media" / "m1.mp4").write_bytes(harmed)
    given = {"dataset": dataset, "scene": "comedy"}
    with pytest.raises(BadInput, match="1 of 3 rows of mock_detecting") as problem:
        load("mock_detecting", **given)
    assert said in str(problem.value)
    assert "r1" in str(problem.value)
    with pytest.warns(UserWarning, match="1 of 3 rows of comedy_detecting/test"):
        run = load("mock_detecting", on_bad_picture="skip", **given)
    assert [record.id for record in run.records] == ["r0", "r2"]
    assert "|skipped:1|" in str(run.signature("generate"))
    assert load("mock_detecting", input="description", **given).records  # words need no clip


def test_a_scene_with_bad_pictures_is_not_offered_as_what_can_be_read(tmp_path: Path) -> None:
    rows = [row("post", "detecting", description="A grey square.")]
    dataset = mock_folder(tmp_path, "post", "detecting", rows)
    (tmp_path / "media").mkdir(exist_ok=True)
    (tmp_path / rows[0]["media"]).write_bytes(GOOD[:100])
    with pytest.raises(BadInput, match="scene=post input=description") as problem:
        load("mock_detecting", dataset=dataset, scene="cartoon")
    assert "scene=post input=media" not in str(problem.value)


def test_clips_are_checked_by_their_headers_once_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = frames.check_header
    monkeypatch.setattr(frames, "check_header", lambda path, where: (opened.append(where), real(path, where))[1])
    monkeypatch.setattr(OpenVideo, "frames", lambda self: pytest.fail("a frame is decoded"))
    path = str(Path(card("mock")) / "clips" / "clip_01.mp4")
    assert check_media({i: Clip(f"row {i}", path, Path(path).read_bytes) for i in range(6)}, "") == {}
    assert opened == ["row 0"]


def test_overlap_is_refused_where_there_are_no_words(tmp_path: Path) -> None:
    task = matching(dataset="sample", **PIXELS)
    (log,) = eval(task, model="baseline/overlap", log_dir=str(tmp_path), display="log")
    assert log.status == "error"
    assert log.error is not None
    assert "the baseline overlap needs the scene in words" in log.error.message
    for stub in ("nyc_matching_pixels", "nyc_matching_caption_only_gen"):
        with pytest.raises(BadInput, match=r"overlap needs the scene in words.*use setting=description"):
            run_lm_eval(BaselineLM("overlap"), stub, metadata={"dataset": "sample"})


@pytest.mark.parametrize(("task", "given", "named"), [
    ("matching", {"setting": "pixels"}, True),
    ("matching", {"setting": "description"}, False),
    ("mock_detecting", {"scene": "stills", "input": "media"}, True),
    ("mock_detecting", {"scene": "stills", "input": "description"}, False),
    ("humorbench", {}, False),
])  # fmt: skip
def test_the_signature_names_pillow_where_pictures_are_shown(
    task: str, given: dict[str, str], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("PIL.__version__", "99.0")
    signature = str(load(task, dataset="sample", **given).signature("generate"))
    assert ("|pillow:99.0|" in signature) == named


def test_worked_examples_of_the_crowds_tasks_leave_out_bad_pictures(dataset: Path) -> None:
    def drawn(on_bad_picture: Any, setting: Any = "pixels") -> list[str]:
        named = {"dataset": "elsewhere", "shots_from": str(dataset), "shots": 2}
        options = GroupsOptions(**named, setting=setting, on_bad_picture=on_bad_picture)
        return [record.id for record in examples_of(options)]

    def read(**bad: Any) -> list[str]:
        o = {"dataset": str(dataset), "split": "train"}
        return [record.id for record in load("ranking", **o, **PIXELS, **bad).records]

    whole = read()
    record = next(r for r in load("ranking", dataset=str(dataset), split="train", **PIXELS).records if r.picture)
    assert record.picture
    assert record.picture.path
    Path(record.picture.path).unlink()
    with pytest.warns(UserWarning, match="are left out"):
        kept = read(on_bad_picture="skip")
    assert 0 < len(kept) < len(whole)
    with pytest.warns(UserWarning, match="are left out"):
        assert drawn("skip") == kept
    assert drawn("stop") == whole  # what a prompt shows is checked before the first request
    assert len(drawn("skip", "description")) == len(whole)  # words need no picture

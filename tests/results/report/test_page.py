"""The data of the report's page: texts, items, pictures, budgets and safe embedding, without a browser."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import html
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import eval
from jinja2 import UndefinedError
from PIL import Image
from standins.corpus import make_folder, noise_png, write_card

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.metric import Metric
from humor_tasks.errors import BadInput
from humor_tasks.files.pages import cut, fragment, json_in_html, packed, render, script_in_html, visible
from humor_tasks.logs import FinishedRun, LoggedSample, Scored, read_run
from humor_tasks.logs.inspect_logs import logged_pictures
from humor_tasks.logs.signature import Signature
from humor_tasks.results import Result, Results
from humor_tasks.results.figures import Axis, Chart, Point, Reference, Series, specification
from humor_tasks.results.report.build import Report, build_report
from humor_tasks.results.report.page import gallery as module
from humor_tasks.results.report.page import items, page, page_notes
from humor_tasks.results.report.page.gallery import SIZES, Album, Gallery, find_pictures
from humor_tasks.results.report.page.items import Answered, Item, categories, collect, difficulty, disagreement
from humor_tasks.rows.records import Outcome
from humor_tasks.tasks import matching

# ---- texts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain, äöü, 漢字, עברית\n\ttabs", "plain, äöü, 漢字, עברית\n\ttabs"),
        ("a\u202eb\u2066c\u200fd", "a‹U+202E›b‹U+2066›c‹U+200F›d"),
        ("\x00\x1b[2J\x7f\x85", "‹U+0000›‹U+001B›[2J‹U+007F›‹U+0085›"),
        ("line\r\nline\rline", "line\nline‹U+000D›line"),
        ("\ud800 half, \ufeff mark, \U000e0041 tag", "‹U+D800› half, ‹U+FEFF› mark, ‹U+E0041› tag"),
        ("👩\u200d🚀 می\u200cخواهم", "👩\u200d🚀 می\u200cخواهم"),
        ("{{ x }} ${y} <b>&amp;", "{{ x }} ${y} <b>&amp;"),
    ],
)
def test_visible(text: str, seen: str) -> None:
    assert visible(text) == seen


def test_cut() -> None:
    assert cut("12345", 5) == "12345"
    assert cut("x" * 100_000, 3) == "xxx… [cut here; 100,000 characters in all]"


PARTS = "files/pages/parts.html"
HOSTILE = ("<b a='1'>\u202e\x00", "&lt;b a=&#39;1&#39;&gt;‹U+202E›‹U+0000›")


def test_a_template_escapes_and_cuts_every_text() -> None:
    text, written = HOSTILE
    assert f"<li>{written}</li>" in fragment(PARTS, "bullets", [text])
    assert fragment(PARTS, "name", f"{text}a/b-c") == f"<bdi>{written}a/<wbr>b-<wbr>c</bdi>"
    table = fragment(PARTS, "table", f'"{text}', [text, "n"], [(text, text), ("x" * 3000, 1)], ["n"])
    assert f'aria-label="&#34;{written}"' in table
    assert table.count(written) == 4
    assert f'<td class="number">{written}</td>' in table
    assert f"{'x' * 2000}… [cut here; 3,000 characters in all]<" in table
    frame = render("files/pages/base.html", title=text, summary=text, contents={f'"{text}': text}, scripts=())
    assert frame.count(written) == 5
    assert "<b a" not in frame


def test_a_template_without_its_data_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'summary' is undefined"):
        render("files/pages/base.html", title="", contents={}, scripts=())


@given(st.text())
def test_json_in_html_holds_any_text(text: str) -> None:
    inside = json_in_html({"text": text})
    assert "<" not in inside
    assert json.loads(inside) == {"text": text}
    assert json.loads(gzip.decompress(base64.b64decode(packed([text])))) == [text.encode("utf-8", "replace").decode()]


def test_a_script_cannot_be_ended_and_the_policy_names_it() -> None:
    script = script_in_html("const a = '</script><!--';")
    assert script == "const a = '<\\/script><\\!--';"
    frame = render("files/pages/base.html", title="", summary="", contents={}, scripts=[script])
    (policy,) = re.findall('Content-Security-Policy" content="(.*)"', html.unescape(frame))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f'<script type="module">{script}</script>' in frame
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}'; ")
    assert "http" not in policy
    assert "unsafe-eval" not in policy


# ---- items --------------------------------------------------------------------------------------


def page_item(*answered: tuple[str | None, float | None], choices: tuple[str, ...] = ("a", "b", "c")) -> Item:
    held = {
        i: Answered([answer], ["answered" if answer else "unparsed"], [] if value is None else [value])
        for i, (answer, value) in enumerate(answered)
    }
    return Item("matching", "i", "c", "A", {}, choices, answered=held)


@pytest.mark.parametrize(
    ("answers", "hard", "apart"),
    [
        ([("A", 1.0)], 0.0, 0.0),
        ([("A", 1.0), ("A", 1.0)], 0.0, 0.0),
        ([("A", 1.0), ("B", 0.0)], 0.5, 1.0),
        ([("B", 0.0), ("C", 0.0), ("B", 0.0)], 1.0, 2 / 3),
        ([(None, 0.0), (None, 0.0)], 1.0, 1.0),
        ([("A", 1.0), ("A", 1.0), ("B", 0.0), ("B", 0.0)], 0.5, 2 / 3),
        ([("A", None), ("B", None)], 0.0, 1.0),
    ],
)
def test_difficulty_and_disagreement_of_labels(answers: list[Any], hard: float, apart: float) -> None:
    assert difficulty(page_item(*answers), Metric("accuracy", proportion=True)) == pytest.approx(hard)
    assert disagreement(page_item(*answers)) == pytest.approx(apart)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 3), min_size=2, max_size=8))
def test_disagreement_of_scores_is_their_mean_difference(values: list[float]) -> None:
    found = disagreement(page_item(*[("text", value) for value in values], choices=()))
    pairs = [abs(a - b) for i, a in enumerate(values) for b in values[:i]]
    assert found == pytest.approx(sum(pairs) / len(pairs), abs=1e-9)


def test_difficulty_of_an_error_is_the_error() -> None:
    assert difficulty(page_item(("1.0", 0.5), ("2.0", 1.5), choices=()), Metric("rmse", "lower")) == 1.0


def test_categories_are_groups_with_a_few_values() -> None:
    found = [
        dataclasses.replace(page_item(), groups={"fold": "0", "source": "ab"[i % 2], "grades": str(i)})
        for i in range(30)
    ]
    assert categories(found) == ["source"]


def logged_sample(identity: str = "i", **more: Any) -> LoggedSample:
    known: dict[str, Any] = {"where": "w", "id": identity, "epoch": 1, "cluster": "c", "benchmark": "matching"}
    known |= {"groups": {}, "version": None, "options": {}, "choices": (), "fields": {}, "points": (), "prompt": ""}
    known |= {"reply": "r"}
    return LoggedSample(**{**known, **more})


def run_of(samples: list[LoggedSample], name: str = "m", path: str = "a.eval", target: str = "A") -> Result:
    outcomes = tuple(
        Outcome(s.id, s.cluster, s.groups, "answered", "A", target, {"accuracy": 1.0, "unparsed": 0.0}) for s in samples
    )
    run = FinishedRun(
        Path(path), "inspect", "matching", "2-A", Signature(), name, len(samples), samples, rows=len(samples)
    )
    opened = find_benchmark("matching").reopen(None, {})
    return Result(run, opened, "multiple_choice", name, outcomes, tuple(s.epoch for s in samples), (Path(path),))


def test_runs_of_an_item_are_put_together_and_what_differs_is_kept_apart() -> None:
    described = logged_sample(choices=tuple("abcde"), fields={"description": "A whale."})
    pixels = logged_sample(choices=tuple("abcde"), media_names=("row 3",))
    otherwise = logged_sample(choices=tuple("abcde"), fields={"description": "Another whale."})
    bare = logged_sample()
    results = [run_of([each], path=f"{i}.eval") for i, each in enumerate((described, pixels, otherwise, bare))]
    found = collect(results).items
    assert [list(each.answered) for each in found] == [[0, 1, 3], [2]]
    assert (found[0].fields, found[0].asked_pictures) == ({"description": "A whale."}, True)
    assert len(collect([*results, run_of([bare], target="B")]).items) == 3


def test_epochs_and_scorers_of_a_run_are_read_once() -> None:
    class Once(list[LoggedSample]):
        readings = 0

        def __iter__(self) -> Any:
            self.readings += 1
            return super().__iter__()

    reasons = (Scored("multiple_choice", "A", None, {}, "because"),)
    held = Once([logged_sample(), logged_sample(epoch=2, scores=reasons, reply="x" * 30_000)])
    first = run_of(held)
    held.readings = 0
    (found,) = collect([first, dataclasses.replace(first, scorer="other")]).items
    assert held.readings == 1
    assert [reply.epoch for reply in found.answered[0].replies] == [1, 2]
    assert found.answered[0].replies[1].reasons == "because"
    assert found.answered[0].replies[1].text == cut("x" * 30_000, 20_000)
    assert set(found.answered) == {0, 1}


def test_of_very_many_replies_each_signature_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(name: str, signature: str) -> Result:
        made = run_of([logged_sample(), logged_sample("j")], name)
        return dataclasses.replace(made, run=dataclasses.replace(made.run, signature=Signature.parse(signature)))

    results = [of("a", "x:1"), of("b", "x:1"), of("c", "x:2"), of("d", "-"), of("e", "-")]
    assert collect(results).without_replies == 0
    monkeypatch.setattr(items, "MOST_REPLIES", 9)
    more = dataclasses.replace(
        run_of([logged_sample(), logged_sample("k")], "f"),
        run=dataclasses.replace(results[0].run, samples=[logged_sample(), logged_sample("k")]),
    )
    assert collect([*results, more]).without_replies == 2  # an item that no other run has shown
    found = collect(results)
    assert found.without_replies == 2
    assert [[len(each.replies) for each in one.answered.values()] for one in found.items] == [[1, 0, 1, 1, 1]] * 2
    assert all(each.value == 1.0 and each.answers == ["A"] for one in found.items for each in one.answered.values())
    notes = module.gallery_of(results, list("abcde"), 0).notes
    assert notes == ("2 replies are left out, which no page can hold; the logs hold them.",)


def test_a_run_that_cannot_be_read_again_is_named() -> None:
    class Broken(list[LoggedSample]):
        def __iter__(self) -> Any:
            yield logged_sample()
            raise BadInput("a.eval: is truncated.")

    read = run_of([logged_sample(), logged_sample("j")])
    broken = dataclasses.replace(read, run=dataclasses.replace(read.run, samples=Broken()))
    gallery = module.gallery_of([broken], ["m"], 0)
    assert gallery.notes == ("A run could not be read again. a.eval: is truncated.",)
    assert gallery.items == 1


# ---- budgets ------------------------------------------------------------------------------------


def test_long_replies_are_cut_until_the_page_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    import random

    noise = random.Random(1)
    texts = ["".join(noise.choices("abcdefghijklmnopqrstuvwxyz ", k=9000)) for _ in range(120)]
    results = [run_of([logged_sample(f"i{i}", reply=text) for i, text in enumerate(texts)])]

    def size(made: Gallery) -> int:
        return sum(map(len, made.blocks.values()))

    whole = module.gallery_of(results, ["m"], 0)
    assert whole.notes == ()
    monkeypatch.setattr(module, "MOST", module.RESERVED + 200_000)
    small = module.gallery_of(results, ["m"], 0)
    assert size(small) <= 200_000 < size(whole)
    assert small.notes == ("Replies are cut at 1,400 characters to keep the page small; the logs hold them whole.",)
    monkeypatch.setattr(module, "MOST", module.RESERVED)
    none = module.gallery_of(results, ["m"], 0)
    assert list(none.blocks) == ["items"]
    assert "no room" in none.notes[0]


def test_pictures_are_made_smaller_until_they_fit() -> None:
    album = Album()
    numbers = [album.add(noise_png(i % 4, 400), "of a test") for i in range(8)]
    assert numbers == [0, 1, 2, 3, 0, 1, 2, 3]
    assert album.add(b"no picture", "of a test") is None
    assert album.unreadable == 1
    large, small = album.within(10**9), album.within(60_000)
    assert [(each.width, each.height) for each in large] == [(400, 400)] * 4
    assert sum(len(each.data) for each in small) <= 60_000 < sum(len(each.data) for each in large)
    assert small[0].width in [side for side, _ in SIZES]


def test_a_transparent_picture_is_on_white() -> None:
    encoded = io.BytesIO()
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(encoded, "PNG")
    album = Album()
    album.add(encoded.getvalue(), "of a test")
    kept = Image.open(io.BytesIO(album.encoded[0])).convert("RGB")
    assert min(kept.getpixel((4, 4))) > 250  # type: ignore[type-var]


@pytest.mark.slow
def test_pictures_come_from_the_log_else_from_the_dataset_else_are_missing(tmp_path: Path) -> None:
    data = make_folder(tmp_path / "data")
    (data / "matching").rename(data / "matching_from_pixels")
    write_card(data, {"matching_from_pixels": {"test": "matching_from_pixels/test.jsonl"}})
    logs = []
    for images in (True, False):
        (log,) = eval(
            matching(dataset=str(data), setting="pixels"),
            model="baseline/first",
            log_dir=str(tmp_path),
            log_images=images,
            display="log",
        )
        logs.append(Path(log.location))
    ids = {each.id for each in read_run(logs[0])}
    assert {identity for identity, _ in logged_pictures(logs[0], ids)} == ids
    assert list(logged_pictures(logs[1], ids)) == []

    def found(log: Path) -> list[int]:
        run = read_run(log)
        held = collect([_of(run)]).items
        album = find_pictures(held, [run], [[log]])
        assert all(each.asked_pictures for each in held)
        return [len(album.encoded), *(len(each.pictures) for each in held)]

    assert found(logs[0]) == found(logs[1]) == [3, 1, 1, 1]
    text = (data / "matching_from_pixels" / "test.jsonl").read_text()
    (data / "matching_from_pixels" / "test.jsonl").write_text(text.replace("Caption A", "Other A"))
    assert found(logs[0]) == [3, 1, 1, 1]
    assert found(logs[1]) == [0, 0, 0, 0]  # the rows are no longer those of the run
    held = _of(read_run(logs[1]))
    assert "The pictures of 3 items are missing" in module.gallery_of([held], ["m"], 0).notes[0]


def _of(run: FinishedRun) -> Result:
    samples = list(run)
    return dataclasses.replace(run_of(samples), run=run, paths=(run.path,))


# ---- the page -----------------------------------------------------------------------------------


def index_of(text: str) -> Mapping[str, Any]:
    data = re.search(r'<script type="text/plain" id="items">([^<]*)</script>', text)
    assert data
    found: Mapping[str, Any] = json.loads(gzip.decompress(base64.b64decode(data[1])))
    return found


@pytest.fixture
def report() -> Callable[..., Report]:
    def made(name: str = "m", **more: Any) -> Report:
        samples = [logged_sample(f"i{i}", choices=tuple("abcde")) for i in range(3)]
        return dataclasses.replace(build_report(Results((run_of(samples, name),))), **more)

    return made


def test_names_of_systems_cannot_leave_their_place(report: Callable[..., Report]) -> None:
    attack = "</script><b>[[data]] {{ x }}</b>\u202e"
    text = page(report(attack)).replace("<wbr>", "")
    assert attack not in text
    assert "&lt;/script&gt;&lt;b&gt;[[data]] {{ x }}&lt;/b&gt;‹U+202E›" in text
    assert index_of(text)["systems"][0]["name"].startswith("</script><b>[[data]] {{ x }}</b>‹U+202E›")
    assert page(report("n" * 100_000)).count("n" * 1000) == 0


def test_without_the_extra_the_figures_are_tables(
    report: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = (Point("a", 0.5, 0.4, 0.6, n=9), Point("b", 0.7))
    chart = Chart("one", "One", Axis("x", categories=("a", "b")), Axis("y", percent=True), (Series("<s>", points),))
    made = report(charts=(chart,))
    monkeypatch.setattr("humor_tasks.results.report.page.library", lambda: None)
    assert 'pip install "humor-tasks[report]"' in page_notes(made)[0]
    text = page(made)
    assert "<img" not in text
    assert "50.0 % [40.0, 60.0]" in text
    assert "pip install &#34;humor-tasks[report]&#34;" in text


def test_a_chart_is_a_specification_of_vega_lite_without_unknown_numbers() -> None:
    points = (Point(0.1, 0.5, 0.4, 0.6), Point(1.0, float("nan")), Point(2.0, 0.7, x_low=1.0, x_high=3.0))
    series = (Series("a", points, "line"), Series("b\u202e", points))
    lines = (Reference("people", 0.9), Reference("chance", 0.2), Reference("cost", 1.0, "x"))
    chart = Chart("c", "C", Axis("cost", log=True), Axis("score", percent=True, low=0), series, lines, diagonal=True)
    spec = json.loads(json.dumps(specification(chart), allow_nan=False))
    assert len(spec["data"]["values"]) == 4
    assert {row["system"] for row in spec["data"]["values"]} == {"a", "b‹U+202E›"}
    assert spec["data"]["values"][0]["told_y"] == "50.0 % [40.0, 60.0]"
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks == ["rule", "text"] * 3 + ["line", "rule", "rule", "line", "point"]
    long = tuple(Series("n" * 100 + end, points) for end in "ab")
    drawn = specification(dataclasses.replace(chart, series=long))["data"]["values"]
    assert {row["system"] for row in drawn} == {"n" * 79 + "…", "n" * 79 + "… (2)"}
    assert "http" not in json.dumps(spec).replace("https://vega.github.io/schema", "")

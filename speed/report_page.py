"""The report's page over many models and items: its size, the time to write it, and the times in a browser.

`python speed/report_page.py` makes 10 systems that answer 2,600 drawn items of matching with long replies, and a
dataset folder of 700 drawn pictures. The goal: under 25 MB, and a page that answers at once. With --browser, headless
Chromium opens the page from its file: milliseconds to the first paint, to the first page of items, and to a filter, an
order and a search.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.logs import FinishedRun, LoggedSample
from humor_tasks.results import Result, Results
from humor_tasks.results.report.build import build_report
from humor_tasks.results.report.page import page
from humor_tasks.rows.records import Outcome

WORDS = "a the cat whale lawyer desk island king doctor says never before lunch because tell you that".split()
OPTIONS = {"on_unparsed": "wrong", "extraction": "strict", "seed": 1234, "fold": "0"}


def text(noise: random.Random, words: int) -> str:
    """Words, with numbers that keep them from compressing better than English."""
    return " ".join(noise.choice(WORDS) if noise.random() < 0.6 else f"w{noise.randrange(5000)}" for _ in range(words))


def draw(path: Path, noise: random.Random) -> None:
    """A line drawing of a cartoon's size."""
    image = Image.new("L", (900, 640), 255)
    pen = ImageDraw.Draw(image)
    for _ in range(150):
        x, y = noise.randrange(900), noise.randrange(640)
        ends = (x + noise.randrange(-200, 200), y + noise.randrange(-150, 150))
        pen.line((x, y, *ends), fill=noise.randrange(160), width=noise.randrange(1, 4))
    image.save(path)


def dataset(folder: Path, items: int, pictures: int, noise: random.Random) -> list[dict[str, Any]]:
    """The rows of a dataset folder of `matching_from_pixels`."""
    (folder / "matching_from_pixels").mkdir(parents=True)
    for i in range(pictures):
        draw(folder / f"{i}.png", noise)
    rows = [
        {
            "instance_id": f"item-{i:04d}",
            "image": f"{i % pictures}.png",
            "contest_number": i % pictures,
            "caption_choices": [f"{text(noise, 10)} {letter}" for letter in "ABCDE"],
            "label": noise.choice("ABCDE"),
        }
        for i in range(items)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "matching_from_pixels" / "test.jsonl").write_text(lines)
    card = "---\nconfigs:\n- config_name: matching_from_pixels\n  data_files:\n  - split: test\n    path: "
    (folder / "README.md").write_text(card + "matching_from_pixels/test.jsonl\n---\n")
    return rows


class Drawn:
    """The samples of one system, drawn anew at each reading, as those of a log are read anew."""

    def __init__(self, rows: list[dict[str, Any]], seed: int, words: int) -> None:
        self.rows, self.seed, self.words = rows, seed, words

    def __iter__(self) -> Iterator[LoggedSample]:
        noise = random.Random(self.seed)
        for row in self.rows:
            yield LoggedSample(
                where="drawn",
                id=row["instance_id"],
                epoch=1,
                cluster=str(row["contest_number"]),
                groups={"fold": "0"},
                benchmark="matching",
                version="2-A",
                options=OPTIONS,
                choices=tuple(row["caption_choices"]),
                fields={},
                points=(),
                prompt="",
                reply=text(noise, self.words),
                shown=(row["image"],),
            )


def result(folder: Path, rows: list[dict[str, Any]], seed: int, words: int) -> Result:
    noise = random.Random(seed)
    opened = find_benchmark("matching").open(dataset=str(folder), setting="pixels")
    outcomes = []
    for row in rows:
        answer = row["label"] if noise.random() < 0.3 + 0.05 * seed else noise.choice("ABCDE")
        values = {"accuracy": float(answer == row["label"]), "unparsed": 0.0, "refused": 0.0}
        cluster = str(row["contest_number"])
        outcomes.append(Outcome(row["instance_id"], cluster, {"fold": "0"}, "answered", answer, row["label"], values))
    path = Path(f"model-{seed}.eval")
    run = FinishedRun(
        path, "lm_eval", "matching", opened.version, opened.signature("generate"), f"provider/model-{seed}", len(rows),
        Drawn(rows, seed, words), rows=len(rows), options=OPTIONS, source=dict(opened.data.provenance),
    )  # fmt: skip
    return Result(run, opened, "multiple_choice", run.model, tuple(outcomes), (1,) * len(rows), (path,))


def in_browser(file: Path) -> None:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=flags).new_page()
        opened.goto(file.as_uri())
        opened.wait_for_selector("html[data-gallery=shown]", state="attached")
        items = opened.evaluate("performance.now()")
        paint = opened.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint {paint:.0f} ms; first items at most {items:.0f} ms")
        change = """([id, value]) => { const start = performance.now(); const each = document.getElementById(id);
          each.value = value; each.dispatchEvent(new Event('change')); return performance.now() - start; }"""
        for name, value in (("outcome", "split"), ("order", "disagreement"), ("outcome", "")):
            print(f"{name}={value or 'all'}: {opened.evaluate(change, [name, value]):.0f} ms")
        search = """() => new Promise(done => { const start = performance.now();
          const seen = new MutationObserver(() => done(performance.now() - start));
          seen.observe(document.getElementById('list'), {childList: true});
          const each = document.getElementById('search');
          each.value = 'whale w42'; each.dispatchEvent(new Event('input')); })"""
        print(f"search: {opened.evaluate(search):.0f} ms, 150 of them waiting for the next letter")
        start = time.perf_counter()
        opened.locator(".item summary").first.click()
        opened.locator(".reply").first.wait_for()
        print(f"a reply: {1000 * (time.perf_counter() - start):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--items", type=int, default=2600)
    parser.add_argument("--pictures", type=int, default=700)
    parser.add_argument("--words", type=int, default=250, help="Words of a reply.")
    parser.add_argument("--browser", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder, file = Path(temporary) / "data", Path(temporary) / "page.html"
        rows = dataset(folder, given.items, given.pictures, random.Random(0))
        report = build_report(Results(tuple(result(folder, rows, i, given.words) for i in range(given.systems))))
        start, cpu = time.perf_counter(), time.process_time()
        html = page(report)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        file.write_text(html, encoding="utf-8")
        notes = [line for line in html.split("\n") if 'class="notice"' in line]
        print(f"{file.stat().st_size / 1e6:.1f} MB in {wall:.0f} s ({cpu:.0f} s of CPU)", *notes[:2], sep="\n")
        if given.browser:
            in_browser(file)


if __name__ == "__main__":
    sys.exit(main())

"""The report's page in a real browser: from a file, without a network, with texts that attack it."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.model import ChatMessage
from playwright.sync_api import Browser, BrowserContext, Page
from standins.browser import PHONE, browser
from standins.corpus import matching_row, noise_png, write_card, write_lines
from standins.graded_logs import Logs

from humor_tasks.results import read_results
from humor_tasks.results.report.build import build_report
from humor_tasks.results.report.folder import write_report
from humor_tasks.tasks import matching
from humor_tasks.testing import ScriptedModel

pytestmark = pytest.mark.slow

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
ROWS = 41
MARKUP = (
    "</script><script>window.hacked = 1</script><!-- <img src=x onerror='window.hacked = 2'> {{ 7 * 7 }} &amp; ${8}"
)
LONG = "A very long caption. " * 1000
BIDI = "left \u202eright\u2066 \x1b[2J\x00 end"
MODEL = "<b onclick='window.hacked=3'>bold</b>\u202e"


def dataset(home: Path) -> Path:
    """ROWS rows with 3 pictures; the first captions are attacks."""
    (home / "images").mkdir(parents=True)
    for i in range(3):
        (home / "images" / f"{i}.png").write_bytes(noise_png(i, 48))
    rows: list[dict[str, Any]] = [{"image": f"images/{i % 3}.png", **matching_row(i)} for i in range(ROWS)]
    rows[0]["caption_choices"][:3] = [MARKUP, LONG, BIDI]
    for config in ("matching", "matching_from_pixels"):
        write_lines(home / config / "test.jsonl", rows)
    write_card(home, {config: {"test": f"{config}/test.jsonl"} for config in ("matching", "matching_from_pixels")})
    return home


def replies(messages: list[ChatMessage]) -> str:
    """Attacks as replies: right for the first 10 items, without an answer for the last."""
    identity = str((messages[-1].metadata or {})["id"])
    i = int(identity.rsplit("-", 1)[-1])
    answer = "" if i == ROWS - 1 else f"\nAnswer: {'ABCDE'[i % 5 if i < 10 else (i + 1) % 5]}"
    return f"{(MARKUP, LONG, BIDI)[i % 3]}{answer}"


@dataclass
class Written:
    """The report's folder and the page in it, open in a window of each kind."""

    folder: Path
    requests: list[str]
    problems: list[str]
    opened: Browser

    def window(self, **settings: Any) -> BrowserContext:
        context = self.opened.new_context(**settings)
        context.set_default_timeout(60_000)
        return context

    def open(self, context: BrowserContext) -> Page:
        page = context.new_page()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        page.goto((self.folder / "index.html").as_uri())
        page.wait_for_selector("html[data-gallery=shown][data-figures=drawn]", state="attached")
        return page

    def elsewhere(self) -> list[str]:
        return [url for url in self.requests if not url.startswith(("file:", "data:"))]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, logs: Logs) -> Iterator[Written]:
    home = tmp_path_factory.mktemp("page")
    rows, place = str(dataset(home / "data")), home / "logs"
    task = {setting: matching(dataset=rows, setting=setting) for setting in ("description", "pixels")}
    runs = [
        (task["pixels"], ScriptedModel(MODEL, replies).model),
        (task["description"], "baseline/first"),
        (task["description"], "baseline/longest"),
    ]
    for each, model in runs:
        (log,) = eval(each, model=model, log_dir=str(place), display="log")
        assert log.status == "success", log.error
    for name in "ab":
        shutil.copy(logs.of(name, "judge"), place / f"z {name}.eval")  # after those of matching
    write_report(home / "report", build_report(read_results([place])))
    with browser() as program:
        yield Written(home / "report", [], [], program)


@pytest.fixture(scope="module")
def page(written: Written) -> Iterator[Page]:
    """The page on a desktop, one for all tests; a test leaves the filters as it found them."""
    context = written.window(**DESKTOP)
    yield written.open(context)
    context.close()


@pytest.fixture(autouse=True)
def all_items(page: Page) -> Iterator[None]:
    yield
    page.evaluate(
        """() => {
          document.getElementById('search').value = '';
          for (const each of document.querySelectorAll('.controls select')) each.value = '';
          document.getElementById('benchmark').dispatchEvent(new Event('change'));
        }"""
    )


def wait_for(page: Page, said: str) -> None:
    """Wait until the number of items found begins with this."""
    page.wait_for_function("said => document.getElementById('found').textContent.startsWith(said)", arg=said)


def choose(page: Page, name: str, words: str) -> None:
    """Choose the option that holds these words."""
    page.select_option(f"#{name}", page.locator(f"#{name} option", has_text=words).get_attribute("value"))


def ids(page: Page) -> list[str]:
    return page.eval_on_selector_all(".item header span:last-child", "all => all.map(each => each.textContent)")


# ---- texts --------------------------------------------------------------------------------------


def test_texts_are_shown_as_they_are(page: Page) -> None:
    page.select_option("#benchmark", "0")
    first = page.locator(".item", has_text="test-0000")
    shown = first.locator("ol").inner_text()
    assert MARKUP in shown
    assert "left ‹U+202E›right‹U+2066› ‹U+001B›[2J‹U+0000› end" in shown
    assert f"… [cut here; {len(LONG.strip()):,} characters in all]" in shown
    assert "‹U+202E›" in page.inner_text(".scorecard tbody")
    assert "<b onclick='window.hacked=3'>bold</b>" in page.inner_text(".scorecard tbody")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('main b[onclick], main img:not([src^=\"data:\"])').length") == 0


def test_replies_are_unpacked_when_they_are_opened(page: Page) -> None:
    page.fill("#search", "test-0001")
    wait_for(page, "1 of")
    details = page.locator(".item details", has_text="bold")
    assert details.locator(".reply").count() == 0
    details.locator("summary").click()
    reply = details.locator(".reply")
    reply.wait_for()
    said = reply.inner_text()
    assert "A very long caption. A very long caption." in said
    assert f"[cut here; {len(LONG) + len('Answer: B') + 1:,} characters in all]" in said
    assert "inspect view --log-dir" in said
    assert ".eval, sample test-0001" in said


def test_the_judges_reasons_are_shown(page: Page) -> None:
    choose(page, "benchmark", "humorbench")
    details = page.locator(".item details").first
    details.locator("summary").click()
    details.locator(".reply pre").nth(1).wait_for()
    judged = details.locator(".reply pre").nth(1).inner_text()
    assert judged.startswith(("PASS: ", "FAIL: ", "no verdict: "))
    assert "- mockllm/judge, " in judged


# ---- items --------------------------------------------------------------------------------------


def test_each_item_is_there_once_with_what_all_its_runs_show(page: Page) -> None:
    page.select_option("#benchmark", "0")
    wait_for(page, f"{ROWS} of")
    first = page.locator(".item").nth(1)
    assert first.locator("details").count() == 3
    assert first.locator("img").count() == 1
    assert "Something ordinary happens for the 1th time." in first.inner_text()
    assert page.evaluate("document.querySelectorAll('[id^=picture-]').length") == 3
    assert first.locator("li.target").inner_text().startswith("B")


def test_filters(page: Page) -> None:
    page.select_option("#benchmark", "0")
    choose(page, "system", "bold")
    page.select_option("#outcome", "right")
    wait_for(page, "10 of")
    page.select_option("#outcome", "wrong")
    wait_for(page, f"{ROWS - 10} of")
    page.select_option("#outcome", "unread")
    wait_for(page, "1 of")
    assert ids(page) == [f"test-{ROWS - 1:04d}"]


def test_search_is_in_captions_scenes_and_ids(page: Page) -> None:
    for words, n in (
        ("7th time", 4),
        ("CAPTION b OF 30", 1),
        ("test-0040", 1),
        ("no such words", 0),
        ("{{ 7 * 7 }}", 1),
    ):
        page.fill("#search", words)
        wait_for(page, f"{n} of")
        assert page.locator(".item").count() == n


def test_order_and_pages(page: Page) -> None:
    page.select_option("#benchmark", "0")
    assert ids(page) == [f"test-{i:04d}" for i in range(20)]
    page.locator(".pages .on").last.click()
    assert ids(page) == [f"test-{i:04d}" for i in range(20, 40)]
    assert page.locator(".pages span").first.inner_text() == "Page 2 of 3"
    page.select_option("#order", "easiest")
    assert page.locator(".pages span").first.inner_text() == "Page 1 of 3"
    values = page.eval_on_selector_all(".item header", "all => all.map(each => each.textContent)")
    easiest = [float(each.split("difficulty ")[1].split("test-")[0]) for each in values]
    assert easiest == sorted(easiest)
    assert easiest[0] < 1
    page.select_option("#order", "disagreement")
    values = page.eval_on_selector_all(".item header", "all => all.map(each => each.textContent)")
    apart = [float(each.split("disagreement ")[1].split("difficulty")[0]) for each in values]
    assert apart == sorted(apart, reverse=True)


# ---- the other sections -------------------------------------------------------------------------


def test_the_scorecard_has_the_numbers_of_the_tidy_table(page: Page, written: Written) -> None:
    rows = json.loads((written.folder / "results.json").read_text())
    wanted = {row["value"] for row in rows if row["metric"] in ("accuracy", "coverage")}
    cells = ".scorecard tbody:not(.published) b"
    shown = page.eval_on_selector_all(cells, "all => all.map(each => [each.dataset.value, each.textContent])")
    assert len(shown) == 5
    for value, text in shown:
        assert float(value) in wanted
        assert text == f"{100 * float(value):.1f}"


def test_figures_are_drawn_and_tell_their_numbers(page: Page) -> None:
    drawn = page.locator(".plot svg")
    assert drawn.count() == page.locator("figure").count() >= 2
    page.locator("figure svg .mark-symbol path").first.hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "%" in tooltip.inner_text()
    assert drawn.first.evaluate("each => getComputedStyle(each.querySelector('text')).fill") != "none"


def test_tables_have_heads_and_headings_have_an_order(page: Page) -> None:
    assert page.locator("h1").count() == 1
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(each => Number(each.tagName[1]))")
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert page.locator("main table:not(:has(thead th[scope=col]))").count() == 0
    assert page.locator("main tbody tr:not(:has(th[scope=row]))").count() == 0
    assert page.locator(":is(select, input):not(label *)").count() == 0
    assert page.locator("img:not([alt])").count() == 0


# ---- windows ------------------------------------------------------------------------------------

CONTRAST = """() => {
  const channel = (x) => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (each) => {
    for (; each; each = each.parentElement) {
      const found = colour(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const each of document.querySelectorAll('main *, header *, footer')) {
    if (each.closest('svg') || !each.checkVisibility() || each.disabled) continue;
    if (![...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    const [a, b] = [light(colour(getComputedStyle(each).color)), light(ground(each))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(`${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`);
  }
  return low;
}"""


# How far things moved by themselves, not by what a person did.
SHIFTS = """() => new Promise(done => {
  const own = list => list.getEntries().filter(each => !each.hadRecentInput).reduce((sum, each) => sum + each.value, 0);
  new PerformanceObserver(list => done(own(list))).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => done(0), 300);
})"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_every_window_in_both_schemes(written: Written, size: dict[str, Any]) -> None:
    context = written.window(**size, color_scheme="dark")
    opened = written.open(context)
    assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    opened.locator(".item summary").first.click()
    opened.locator(".reply").first.wait_for()
    assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert opened.evaluate(CONTRAST) == []
    assert opened.evaluate(SHIFTS) < 0.1
    opened.emulate_media(color_scheme="light")
    assert opened.evaluate(CONTRAST) == []
    context.close()


def test_it_prints_without_the_items(written: Written, page: Page) -> None:
    page.emulate_media(media="print")
    assert page.locator("text=The items are on screen only.").is_visible()
    assert not page.locator("#list").is_visible()
    assert page.locator(".plot svg").first.is_visible()
    wide = "each => each.filter(e => e.scrollWidth > document.body.clientWidth + 1).map(e => e.outerHTML.slice(0, 99))"
    assert page.eval_on_selector_all("figure, table", wide) == []
    page.emulate_media(media="screen")


def test_nothing_is_asked_for_and_nothing_goes_wrong(written: Written, page: Page) -> None:
    assert page.evaluate("fetch('http://127.0.0.1:9/x').then(() => 'loaded', () => 'refused')") == "refused"
    told = [each for each in written.problems if "Content Security Policy" not in each]  # of the attempt above
    assert (written.elsewhere(), told) == ([], [])

"""A real browser, servers of the annotation page, and what a person does there.

Without Chromium or Chrome the tests that need one are skipped, and a line at the end of the run says how many. Set CI
or HUMOR_TASKS_BROWSER_REQUIRED to 1, and they fail instead.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from standins.waiting import LIMIT

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REQUIRED = ("CI", "HUMOR_TASKS_BROWSER_REQUIRED")
MISSING = f"no browser: install Chromium (apt-get install chromium) or Google Chrome; looked for {', '.join(PROGRAMS)}"
ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
# A program whose imports are searched for no garbage: that is a fifth of what they take.
GUARD = 500  # milliseconds for which the page takes no choice on a new item
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True, "device_scale_factor": 2}

FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
# WCAG 2.2, relative luminance and contrast ratio, of each visible text against the nearest opaque background.
CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => sum + weight * linear(c[i] / 255), 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll('h1, h2, p, button, button span, label, label span, #keys-help')];
  return texts.filter((e) => e.innerText && e.offsetParent).map((e) => {
    const [high, low] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    return [(high + 0.05) / (low + 0.05), e.innerText.slice(0, 20)];
  });
}"""


class NoBrowser(pytest.skip.Exception):
    """Tests that are skipped at one place and for one reason are one line of pytest's summary.

    For pytest a test that a fixture skips is skipped at the test's own place, which it says by this attribute.
    """

    __module__ = "builtins"  # or the line would say where this class is
    _use_item_location = property(lambda self: False, lambda self, value: None)  # type: ignore[assignment]


def program() -> str:
    """The path of the browser.

    Where there is none, the test is skipped, with one reason for all tests, which pytest counts in one line at the end.
    It fails instead where the environment variable CI or HUMOR_TASKS_BROWSER_REQUIRED is set (and not to 0 or false):
    there somebody relies on these tests, and nothing else shows that the pages work.
    """
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    if any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in REQUIRED):
        pytest.fail(f"{MISSING} ({' or '.join(REQUIRED)} is set, so this is an error)", pytrace=False)
    raise NoBrowser(MISSING)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Headless Chromium; see `program` for where there is none."""
    path = program()
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield opened
        opened.close()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Server:
    """`humor-tasks people page` in a process that one of `Forks` is."""

    def __init__(self, forks: Forks, pairs: Path, votes: Path, *options: str) -> None:
        self.forks, self.said = forks, ""
        self.url = f"http://127.0.0.1:{forks.port}/"
        self.arguments = ["people", "page", str(pairs), "--votes", str(votes), "--port", str(forks.port), *options]
        self.start()

    def start(self) -> None:
        """Start, and wait until the page is served."""
        self.number = self.forks.order(run=self.arguments, output=str(self.forks.fifo))
        self.output = self.forks.fifo.open()
        watch = threading.Timer(LIMIT, self.kill)
        watch.start()
        self.said = "".join(until(self.output, "Vote at"))
        watch.cancel()
        assert "Vote at" in self.said, self.said

    def kill(self) -> None:
        """SIGKILL: nothing is put in order."""
        self.forks.order(kill=self.number)
        self.output.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def until(lines: Iterable[str], word: str) -> Iterator[str]:
    """The lines up to the first with a word."""
    for line in lines:
        yield line
        if word in line:
            return


class Forks:
    """Servers forked from one process (see page_servers), one after another at one port.

    One port, because a browser then keeps what it loaded of Gradio from one server to the next.
    """

    def __init__(self, folder: Path) -> None:
        self.fifo, self.port = folder / "said", free_port()
        os.mkfifo(self.fifo)
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Forks:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.communicate()

    def order(self, **what: Any) -> int:
        """The number of the process that was forked or killed."""
        if self.process is None:  # not before a test has a browser
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(Path(__file__).with_name("page_servers.py"))],
                **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1},
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(what), file=self.process.stdin)
        return int(self.process.stdout.readline())

    def serve(self, pairs: Path, votes: Path, *options: str) -> Server:
        return Server(self, pairs, votes, *options)


class Windows:
    """A browser's pages on a desk and on a phone, which keep what they loaded of Gradio from test to test."""

    def __init__(self, opened: Browser) -> None:
        self.opened = opened
        self.contexts: dict[bool, BrowserContext] = {}
        self.idle: dict[bool, list[Page]] = {False: [], True: []}
        self.raters: list[Rater] = []

    def open(
        self, server: Server, phone: bool = False, viewport: Any = None, color_scheme: Any = None, own: bool = False
    ) -> Rater:
        """A rater's page at a server; `own` is for what does something to the browser that would stay."""
        kind = PHONE if phone else DESK
        if own:
            page = new_context(self.opened, kind).new_page()
        else:
            if phone not in self.contexts:
                self.contexts[phone] = new_context(self.opened, kind)
            page = self.idle[phone].pop() if self.idle[phone] else self.contexts[phone].new_page()
        page.set_viewport_size(viewport or kind["viewport"])
        page.emulate_media(color_scheme=color_scheme or "light")
        self.raters.append(Rater(page, server))
        return self.raters[-1]

    def close(self) -> None:
        """Empty the pages: they remember nothing of the test."""
        for rater in self.raters:
            rater.leave()
            if rater.page.context not in self.contexts.values():
                rater.page.context.close()
            else:
                self.idle[rater.page.context == self.contexts.get(True)].append(rater.page)
        self.raters.clear()


def new_context(opened: Browser, kind: Any) -> BrowserContext:
    context = opened.new_context(**kind)
    context.clock.install()
    context.set_default_timeout(1000 * LIMIT)
    return context


class Rater:
    """One person's page: what it asked for and what went wrong are kept."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page, self.server = page, server
        self.requests, self.problems = list[str](), list[str]()
        self.heard: dict[Any, Any] = {
            "request": self._asked,
            "pageerror": lambda error: self.problems.append(str(error)),
            "dialog": lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()),
        }
        for event, heard in self.heard.items():
            page.on(event, heard)
        page.goto(server.url)
        page.wait_for_selector("#name textarea, #name input")

    def leave(self) -> None:
        """Close the page for good, as far as its program and the server can see."""
        while self.heard:
            self.page.remove_listener(*self.heard.popitem())
        if self.page.url != "about:blank":
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
            self.page.goto("about:blank")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.requests.append(request.url)

    def elsewhere(self) -> list[str]:
        """Requests to any other place than the server."""
        return [url for url in self.requests if not url.startswith(self.server.url)]

    def enter(self, name: str) -> None:
        """Give the rater id and wait for an item or the closing page."""
        self.page.fill("#name textarea, #name input", name)
        self.page.click("#start")
        self.page.wait_for_selector("#item h1")
        self.page.clock.fast_forward(GUARD)

    def reconnect(self) -> None:
        """Wait until Gradio, which asks every two seconds whether the server is back, loads the page again."""
        with self.page.expect_navigation():
            self.page.clock.fast_forward(2_000)

    def count(self) -> str:
        """Such as "2 of 6"."""
        return self.page.inner_text("#progress .count")

    def expect(self, count: str, later: int | None = None) -> None:
        """Wait for a view that was not waited for before and says so.

        Then `later` milliseconds pass at once, or as many as the page takes no choice.
        """
        self.page.wait_for_function(
            """said => {
              const heading = document.querySelector('#item h1:not([data-seen])');
              const there = heading && document.querySelector('#progress .count')?.innerText === said;
              if (there) heading.dataset.seen = said;
              return there;
            }""",
            arg=count,
        )
        self.page.clock.fast_forward(GUARD if later is None else later)

    def options(self) -> list[str]:
        """The options' texts, as shown."""
        return [card.inner_text() for card in self.page.query_selector_all("#votes .text")]

"""A real browser and the annotation page's server, as its users start it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright
from standins.waiting import LIMIT

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
GUARD = 500  # milliseconds for which the page takes no choice on a new item
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


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Headless Chromium; a test fails where there is none, for nothing else shows that the page works."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.fail(f"no browser: install Chromium or Google Chrome (looked for {', '.join(PROGRAMS)})")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield opened
        opened.close()


class Server:
    """`humor-tasks people page`, on a port of its own."""

    def __init__(self, pairs: Path, votes: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.votes, self.said = votes, ""
        command = [sys.executable, "-m", "humor_tasks.cli", "people", "page", str(pairs), "--votes", str(votes)]
        self.command = [*command, "--port", str(self.port), *options]
        self.start()

    def start(self) -> None:
        """Start, and wait until the page is served."""
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        watch = threading.Timer(LIMIT, self.process.kill)
        watch.start()
        said = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            said.append(line)
            if "Vote at" in line:
                break
        watch.cancel()
        self.said = "".join(said)
        assert "Vote at" in self.said, self.said

    def kill(self) -> None:
        """SIGKILL: nothing is put in order."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Rater:
    """One person's browser: what it asked for and what went wrong are kept."""

    def __init__(self, opened: Browser, server: Server, phone: bool = False, **settings: object) -> None:
        self.context: BrowserContext = opened.new_context(**({**PHONE, **settings} if phone else settings))
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(1000 * LIMIT)
        self.server, self.requests, self.problems = server, list[str](), list[str]()
        self.page.on("request", self._asked)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.problems.append(dialog.message), dialog.dismiss()))
        self.page.clock.install()
        self.page.goto(server.url)
        self.page.wait_for_selector("#name textarea, #name input")

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

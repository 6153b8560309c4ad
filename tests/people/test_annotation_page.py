"""The annotation page in a real browser: several raters, a killed server, phones, keys, hostile texts."""

from __future__ import annotations

import csv
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Response
from standins.browser import CONTRAST, FITS, GUARD, Rater, Server, browser

from humor_tasks.cli import main
from humor_tasks.data.writing import write_json_lines
from humor_tasks.people.vote_files import read_votes

pytestmark = pytest.mark.slow

LONG = "A very long word: " + "incongruity" * 12 + ". " + "It sets up one thing, and gives another; " * 6 + "so."
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><b>bold</b> "
    "![](http://127.0.0.2:9/x.png) [link](javascript:window.hacked=3) **stars** "
    "${window.hacked=4} {{7*7}} {#if} `x` &amp;"
)


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as program:
        yield program


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A page for tests that need no votes file of their own; each enters as another rater."""
    folder = tmp_path_factory.mktemp("served")
    explanations(folder / "pairs.jsonl")
    with Server(folder / "pairs.jsonl", folder / "votes.csv", "--ties") as server:
        yield server


def explanations(path: Path, n: int = 6) -> dict[str, list[str]]:
    """A file of n items with two explanations each; returns id -> options."""
    options = {f"item{i}": [f"First explanation of {i}. {LONG}", f"Second explanation of {i}."] for i in range(n)}
    more = {"answer": "A", "systems": ["secret-system", "human"]}
    scene = {"description": "A whale in a chef's hat stands at a stove.", "caption": "The krill is fresh, sir."}
    write_json_lines(
        path, [{"id": item, **scene, **more, "options": {"a": a, "b": b}} for item, (a, b) in options.items()]
    )
    return options


def rows_of(votes: Path) -> list[dict[str, str]]:
    with votes.open(newline="") as file:
        return list(csv.DictReader(file))


def test_two_raters_vote_at_once_and_a_killed_server_loses_nothing(opened: Browser, tmp_path: Path) -> None:
    texts = explanations(tmp_path / "pairs.jsonl")
    votes = tmp_path / "votes.csv"
    with Server(tmp_path / "pairs.jsonl", votes, "--ties") as server:
        ann, bob = Rater(opened, server), Rater(opened, server, phone=True)
        chosen: dict[tuple[str, str], str] = {}

        def vote(shown: list[str], place: int | None) -> tuple[str, str]:
            (item,) = (identity for identity, options in texts.items() if sorted(options) == sorted(shown))
            return item, "tie" if place is None else "AB"[texts[item].index(shown[place])]

        def take(rater: Rater, name: str, place: int | None) -> None:
            item, choice = vote(rater.options(), place)
            chosen[item, name] = choice

        # Ann never touches the mouse.
        ann.page.keyboard.press("Tab")
        while ann.page.evaluate("document.activeElement.closest('#name') === null"):
            ann.page.keyboard.press("Tab")
        ann.page.keyboard.type("ann")
        ann.page.keyboard.press("Enter")
        ann.expect("1 of 6")
        bob.enter("bob")
        bob.expect("1 of 6")
        bob.page.screenshot(path=tmp_path / "phone.png", full_page=True)
        ann.page.screenshot(path=tmp_path / "desktop.png", full_page=True)
        for done, (key, place) in enumerate([("1", 0), ("b", 1), ("t", None)], 2):
            take(ann, "ann", place)
            ann.page.keyboard.press(key)
            take(bob, "bob", place)
            bob.page.tap("#vote-tie" if place is None else f"#vote-{place}")
            ann.expect(f"{done} of 6")
            bob.expect(f"{done} of 6")
        assert {(row["item"], row["rater"]): row["choice"] for row in rows_of(votes)} == chosen

        # Killed while a vote is on its way: it is kept whole or not at all, and the page is told neither.
        item, choice = vote(bob.options(), 0)
        bob.page.evaluate("document.getElementById('vote-0').click()")
        server.kill()
        assert (bob.elsewhere(), bob.problems) == ([], [])
        bob.context.close()
        server.start()
        assert "2 annotators so far" in server.said
        arrived = sum(row["rater"] == "bob" for row in rows_of(votes)) - 3
        chosen |= {(item, "bob"): choice} if arrived else {}
        # Ann's page is still open and goes on; Bob opens his again, and his phone writes a capital.
        take(ann, "ann", 0)
        ann.page.keyboard.press("ArrowLeft")
        ann.expect("5 of 6")
        bob = Rater(opened, server, phone=True)
        bob.enter(" Bob ")
        bob.expect(f"{4 + arrived} of 6")
        assert {(row["item"], row["rater"]): row["choice"] for row in rows_of(votes)} == chosen

        # A mistake: Ann writes why, votes, takes it back, and votes otherwise.
        before = ann.options()
        ann.page.focus("#reason textarea")
        ann.page.keyboard.type("buta 12 t")  # no key votes while one writes
        ann.page.keyboard.press("Escape")
        ann.page.keyboard.press("1")
        ann.expect("6 of 6")
        assert rows_of(votes)[-1]["reason"] == "buta 12 t"
        ann.page.keyboard.press("u")
        ann.expect("5 of 6")
        assert "withdrawn" in ann.page.inner_text("#note")
        assert ann.options() == before
        assert ann.page.input_value("#reason textarea") == "buta 12 t"
        assert {(row["item"], row["rater"]): row["choice"] for row in rows_of(votes)} == chosen
        for rater, name in ((ann, "ann"), (bob, "bob")):
            for n in range(int(rater.count().split()[0]), 7):
                take(rater, name, 1)
                rater.page.click("#vote-1")
                rater.expect(f"{n + 1} of 6" if n < 6 else "6 of 6 done")
            assert not rater.page.is_visible("#votes")
            assert (rater.elsewhere(), rater.problems) == ([], [])
        ann.page.screenshot(path=tmp_path / "done.png", full_page=True)

    found = read_votes(votes, known_items=texts).votes
    assert {(vote.item, vote.rater): vote.choice for vote in found} == chosen
    assert len(found) == len(chosen) == 12
    assert {vote.order for vote in found} == {"AB", "BA"}


def test_texts_are_shown_as_text(opened: Browser, tmp_path: Path) -> None:
    row = {"id": "<b>1</b>", "description": HOSTILE, "caption": HOSTILE, "options": [HOSTILE, f"{HOSTILE} too"]}
    write_json_lines(tmp_path / "pairs.jsonl", [row])
    with Server(tmp_path / "pairs.jsonl", tmp_path / "votes.csv") as server:
        rater = Rater(opened, server, color_scheme="dark")
        rater.page.fill("#name textarea, #name input", "<img src=x onerror=window.hacked=5>"[:40])
        rater.page.click("#start")
        rater.page.wait_for_selector("#note p")
        assert "'<img src=x" in rater.page.inner_text("#note")
        rater.enter("eve")
        assert sorted(rater.options()) == [HOSTILE, f"{HOSTILE} too"]
        assert rater.page.inner_text("#item .scene") == rater.page.inner_text("#item .caption") == HOSTILE
        rater.page.screenshot(path=tmp_path / "dark.png", full_page=True)
        rater.page.fill("#reason textarea", f"{HOSTILE}\n\n=1+1")
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Done")
        rater.page.clock.fast_forward(GUARD)
        rater.page.click("#undo")
        rater.page.wait_for_selector("#votes")
        rater.page.wait_for_selector("#reason textarea")
        assert rater.page.input_value("#reason textarea") == f"{HOSTILE} =1+1"
        assert rater.page.evaluate("window.hacked === undefined && document.title === 'Votes'")
        assert (rater.elsewhere(), rater.problems) == ([], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_and_can_be_read(opened: Browser, served: Server, tmp_path: Path, scheme: str) -> None:
    phone = Rater(opened, served, phone=True, color_scheme=scheme)
    desk = Rater(opened, served, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    assert phone.page.evaluate(FITS)
    for rater in (phone, desk):
        rater.enter(f"rater-{scheme}")
        assert rater.page.evaluate(FITS)
        contrasts = rater.page.evaluate(CONTRAST)
        assert len(contrasts) >= 12
        assert [(ratio, text) for ratio, text in contrasts if ratio < 4.5] == []
    buttons = phone.page.query_selector_all("button:visible")
    texts = [" ".join(button.inner_text().split()) for button in buttons]
    numbered = [f"{i} {' '.join(text.split())}" for i, text in enumerate(phone.options(), 1)]
    assert texts == ["Not you?", *numbered, "Equally good", "Undo my last vote"]
    assert all((button.bounding_box() or {})["height"] >= 44 for button in buttons)
    # Stacked on the phone, side by side on the desk.
    for rater, beside in ((phone, False), (desk, True)):
        first, second = (rater.page.locator(f"#vote-{i}").bounding_box() or {} for i in range(2))
        assert (first["y"] == second["y"], first["x"] < second["x"]) == (beside, beside)
    phone.page.screenshot(path=tmp_path / f"phone-{scheme}.png", full_page=True)
    desk.page.screenshot(path=tmp_path / f"desktop-{scheme}.png", full_page=True)


def test_everything_is_reached_by_tab_with_the_focus_seen_and_heard(opened: Browser, served: Server) -> None:
    rater = Rater(opened, served)
    rater.enter("ann")
    assert rater.page.evaluate("document.activeElement.tagName") == "H1"  # where a screen reader reads on
    assert rater.page.evaluate("document.querySelector('#progress').ariaLive") == "polite"
    reached = []
    for _ in range(6):
        rater.page.keyboard.press("Tab")
        focused = "document.activeElement"
        reached.append(rater.page.evaluate(f"{focused}.id || {focused}.closest('[id]').id"))
        assert rater.page.evaluate(f"getComputedStyle({focused}).outlineStyle") == "solid"
    assert reached == ["vote-0", "vote-1", "vote-tie", "reason", "undo", "keys-on"]
    assert rater.page.get_by_role("button", name="2 ").inner_text() == f"2\n{rater.options()[1]}"
    assert rater.page.get_by_role("group", name="Which explanation of the joke is better?").is_visible()
    assert rater.page.get_by_role("checkbox", name="Keys").is_checked()
    assert rater.page.evaluate("document.querySelector('#reason textarea').labels[0].innerText").startswith("Why?")
    rater.page.keyboard.press("u")
    rater.page.wait_for_selector("text=There is no vote to undo")
    rater.page.clock.fast_forward(GUARD)
    rater.page.keyboard.press("Control+1")
    rater.page.keyboard.press("9")
    rater.page.keyboard.press("z")
    rater.page.keyboard.press("1")
    rater.expect("2 of 6")


def test_a_key_or_tap_on_an_item_that_nobody_saw_is_no_vote(opened: Browser, tmp_path: Path) -> None:
    """The browser's time stands still, and passes only where the test says so."""
    texts = explanations(tmp_path / "pairs.jsonl")
    votes = tmp_path / "votes.csv"
    with Server(tmp_path / "pairs.jsonl", votes) as server:
        rater = Rater(opened, server)
        rater.enter("ann")
        rater.expect("1 of 6")
        rater.page.clock.pause_at(datetime.now() + timedelta(days=1))
        expected = []
        for n, again in enumerate(("keyboard.press('1')", "click('#vote-0')", "keyboard.press('u')"), 2):
            expected.append(rater.options()[1])
            sent = len(rater.requests)
            rater.page.keyboard.press("2")
            rater.page.keyboard.press("1")  # at once, with the answer on its way
            rater.expect(f"{n} of 6", later=180)
            assert len(rater.requests) == sent + 1
            first = rater.options()
            if "press" in again:
                rater.page.keyboard.press(again.split("'")[1])
            else:
                rater.page.click("#vote-0")
            rater.page.clock.run_for(GUARD - 181)  # 499 ms after the item came
            rater.page.keyboard.press("1")
            assert (rater.count(), rater.options(), rater.page.inner_text("#note")) == (f"{n} of 6", first, "")
            assert len(rater.requests) == sent + 1
            rater.page.clock.run_for(1)
        expected.append(rater.options()[0])  # before the key: the next item may come at once
        rater.page.keyboard.press("1")
        rater.expect("5 of 6")
        assert rater.problems == []
    assert [texts[row["item"]]["AB".index(row["choice"])] for row in rows_of(votes)] == expected


def test_keys_can_be_switched_off_and_the_browser_remembers_it(opened: Browser, served: Server) -> None:
    rater = Rater(opened, served)
    rater.enter("off")
    switch = rater.page.get_by_role("checkbox", name="Keys")
    assert "1–2 or A–B" in rater.page.inner_text(f"#{switch.get_attribute('aria-describedby')}")
    switch.focus()
    rater.page.keyboard.press("1")
    rater.expect("2 of 6")  # with the focus on the switch keys vote, too
    switch.uncheck()
    sent = len(rater.requests)
    for key in ("1", "b", "t", "ArrowLeft", "u"):
        rater.page.keyboard.press(key)
    assert len(rater.requests) == sent
    rater.page.keyboard.press("Tab")
    rater.page.focus("#vote-0")
    rater.page.keyboard.press("Enter")  # a button in focus is no shortcut
    rater.expect("3 of 6")
    rater.page.reload()
    rater.expect("3 of 6")
    assert not switch.is_checked()
    later = rater.context.new_page()  # another tab, another day
    later.goto(served.url)
    later.fill("#name textarea, #name input", "off")
    later.click("#start")
    later.wait_for_selector("#keys-on[data-remembered]")
    assert not later.is_checked("#keys-on")
    later.close()
    switch.check()
    rater.page.keyboard.press("1")
    rater.expect("4 of 6")
    assert rater.problems == []


def test_a_restarted_server_brings_a_rater_back_to_the_same_item(opened: Browser, tmp_path: Path) -> None:
    explanations(tmp_path / "pairs.jsonl")
    votes = tmp_path / "votes.csv"
    with Server(tmp_path / "pairs.jsonl", votes) as server:
        rater = Rater(opened, server)
        rater.enter("ann")
        rater.expect("1 of 6")
        rater.page.keyboard.press("1")
        rater.expect("2 of 6")
        rater.page.fill("#reason textarea", "=because")
        before = rater.options()
        server.kill()
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Connection to the server was lost")
        server.start()
        # Gradio asks every two seconds whether the server is back, and loads the page again.
        with rater.page.expect_navigation():
            rater.page.clock.fast_forward(2_000)
        rater.expect("2 of 6")
        assert rater.page.inner_text("#progress .who") == "Rater ann"
        assert (rater.options(), rater.page.input_value("#reason textarea")) == (before, "=because")
        assert len(rows_of(votes)) == 1
        rater.page.keyboard.press("1")
        rater.expect("3 of 6")
        # A vote that was saved while its answer was lost: the page returns to the next item, and the reason is gone.
        rater.page.fill("#reason textarea", "because")
        rater.page.route("**/run/**", lambda route: (route.fetch(), route.abort()))
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Connection to the server was lost")
        rater.page.unroute("**/run/**")
        with rater.page.expect_navigation():
            rater.page.clock.fast_forward(2_000)
        rater.expect("4 of 6")
        assert rater.page.input_value("#reason textarea") == ""
        assert rater.problems == []
        # The next person at this screen.
        rater.page.click("#leave")
        rater.page.wait_for_selector("#name textarea, #name input")
        rater.enter("bob")
        rater.expect("1 of 6")
    kept = read_votes(votes).votes
    assert [(vote.rater, vote.reason) for vote in kept] == [("ann", ""), ("ann", "=because"), ("ann", "because")]
    assert len({vote.item for vote in kept}) == 3


def test_on_a_phone_the_captions_are_the_buttons_and_fit_the_first_screen(opened: Browser, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    done = CliRunner().invoke(
        main, f"people pairs --task matching --dataset sample --setting pixels --split train -o {pairs}".split()
    )
    assert done.exit_code == 0, done.output
    with Server(pairs, votes) as server:
        rater = Rater(opened, server, phone=True, viewport={"width": 375, "height": 664})
        rater.enter("ann")
        total = int(rater.count().split()[-1])
        for n in range(1, total + 1):
            rater.expect(f"{n} of {total}")
            bottom = rater.page.evaluate("document.querySelector('#vote-4').getBoundingClientRect().bottom")
            assert bottom <= 664
            assert rater.page.evaluate("document.documentElement.scrollHeight") <= 720
            assert not rater.page.is_visible("#keys")
            sent = len(rater.requests)
            rater.page.keyboard.press("1")  # keys that cannot be switched off here are off
            assert len(rater.requests) == sent
            rater.page.screenshot(path=tmp_path / f"phone-{n}.png")
            rater.page.tap("#vote-4 .text")
        rater.page.wait_for_selector("text=Done")
    assert {vote.choice == vote.order[4] for vote in read_votes(votes, choices="ABCDE").votes} == {True}


def test_text_of_twice_the_size_and_narrow_windows_lose_nothing(opened: Browser, served: Server) -> None:
    """WCAG 2.2, 1.4.4 and 1.4.10: text at 200 %, and a window of 320 pixels."""
    for width, size in ((1280, "200%"), (375, "200%"), (320, "100%")):
        rater = Rater(opened, served, viewport={"width": width, "height": 800})
        rater.enter("large")
        rater.page.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
        assert rater.page.evaluate(FITS), (width, size)
        for found in (
            "#question",
            "#vote-0",
            "#vote-1",
            "#vote-tie",
            "#undo",
            "#leave",
            "#keys-on",
            "#reason textarea",
        ):
            box = rater.page.locator(found).bounding_box() or {}
            assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True), (found, width, size)
        clipped = (
            "[...document.querySelectorAll('button, h1')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.id)"
        )
        assert rater.page.evaluate(clipped) == [], (width, size)
        rater.context.close()


def test_matching_shows_pictures_and_never_a_caption_twice(opened: Browser, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    done = CliRunner().invoke(
        main, f"people pairs --task matching --dataset sample --setting pixels --split train -o {pairs}".split()
    )
    assert done.exit_code == 0, done.output
    items = {row["id"]: row for row in map(json.loads, pairs.read_text().splitlines())}
    with Server(pairs, votes, "--limit", "4") as server:
        for name, phone in (("ann", False), ("bob", True)):
            rater = Rater(opened, server, phone=phone)
            rater.enter(name)
            seen: list[str] = []
            total = int(rater.count().split()[-1])
            assert 2 <= total <= 4
            for n in range(1, total + 1):
                rater.expect(f"{n} of {total}")
                seen += rater.options()
                image = rater.page.query_selector("#item img")
                assert image is not None
                assert image.evaluate("image => image.naturalWidth > 100 && image.offsetWidth <= innerWidth")
                assert (image.get_attribute("src") or "").startswith("data:image/jpeg;base64,")
                assert rater.page.evaluate(FITS)
                if n == 1:
                    rater.page.screenshot(path=tmp_path / f"matching-{name}.png", full_page=True)
                if phone:
                    rater.page.tap(f"#vote-{2 if n % 2 else 4}")
                else:
                    rater.page.keyboard.press("3" if n % 2 else "e")
            rater.page.wait_for_selector("text=Done")
            assert len(seen) == len(set(seen)) == 5 * total
            assert (rater.elsewhere(), rater.problems) == ([], [])
    for vote in read_votes(votes, known_items=items, choices="ABCDE").votes:
        assert sorted(vote.order) == list("ABCDE")


def test_neither_answers_nor_writers_nor_files_are_served(opened: Browser, served: Server) -> None:
    rater = Rater(opened, served)
    responses: list[Response] = []
    rater.page.on("response", lambda got: responses.append(got))
    rater.page.reload()
    rater.page.wait_for_selector("#name textarea, #name input")
    rater.enter("curious")
    rater.page.keyboard.press("1")
    rater.expect("2 of 6")
    bodies = [got.text() for got in responses if got.url == served.url or "/run/" in got.url]
    assert len(bodies) == 3
    assert "First explanation of" in bodies[-1]
    assert not [body for body in bodies if "secret-system" in body or '"answer"' in body]

    def get(path: str) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(served.url + path) as got:
                return got.status, got.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, ""

    status, info = get("gradio_api/info")
    assert (status, json.loads(info)) == (200, {"named_endpoints": {}, "unnamed_endpoints": {}})
    for path in (served.votes, served.votes.with_name("pairs.jsonl")):
        assert path.is_file()
        assert get(f"gradio_api/file={path}")[0] in (403, 404)
    assert get("monitoring/summary")[0] in (401, 403, 404)


def test_a_vote_that_cannot_be_saved_is_said_and_kept_on_the_page(opened: Browser, tmp_path: Path) -> None:
    explanations(tmp_path / "pairs.jsonl")
    votes = tmp_path / "votes.csv"
    with Server(tmp_path / "pairs.jsonl", votes) as server:
        rater, other = Rater(opened, server), Rater(opened, server)
        rater.enter("ann")
        other.enter("ann")
        rater.page.keyboard.press("1")
        rater.expect("2 of 6")
        other.page.keyboard.press("2")  # the same item in a second window
        other.page.wait_for_selector("text=was not counted")
        other.expect("2 of 6")
        votes.write_text(votes.read_text() + "item9,eve,A,,,\n")
        rater.page.fill("#reason textarea", "Because.")
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Your vote was not saved")
        assert re.search("changed by another program", rater.page.inner_text("#note"))
        assert (rater.count(), rater.page.input_value("#reason textarea")) == ("2 of 6", "Because.")


def test_a_taken_port_is_named(served: Server, tmp_path: Path) -> None:
    command = ["people", "page", str(served.votes.with_name("pairs.jsonl")), "--votes", str(tmp_path / "more.csv")]
    done = CliRunner().invoke(main, [*command, "--port", str(served.port)])
    assert done.exit_code == 2
    assert f"port {served.port} is in use; choose another with --port" in done.output

"""The annotation page in a real browser: several raters, a killed server, phones, keys."""

from __future__ import annotations

import csv
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from standins.browser import CONTRAST, FITS, GUARD, Forks, Rater, Windows

from humor_tasks.cli import main
from humor_tasks.files.writing import write_json_lines
from humor_tasks.studies.people.vote_files import read_votes

pytestmark = pytest.mark.slow

LONG = "A very long word: " + "incongruity" * 12 + ". " + "It sets up one thing, and gives another; " * 6 + "so."
TEXTS = {f"item{i}": [f"First explanation of {i}. {LONG}", f"Second explanation of {i}."] for i in range(6)}


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A file of six items with two explanations each."""
    scene = {"description": "A whale in a chef's hat stands at a stove.", "caption": "The krill is fresh, sir."}
    rows = [{"id": item, **scene, "options": {"a": a, "b": b}} for item, (a, b) in TEXTS.items()]
    write_json_lines(tmp_path / "pairs.jsonl", rows)
    return tmp_path / "pairs.jsonl"


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return tmp_path / "votes.csv"


def vote_rows(votes: Path) -> list[dict[str, str]]:
    with votes.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---- votes ------------------------------------------------------------------------------------------


class Voting:
    """A rater who votes, and what every rater chose so far."""

    chosen: dict[tuple[str, str], str]

    def __init__(self, rater: Rater, name: str, chosen: dict[tuple[str, str], str]) -> None:
        self.rater, self.page, self.name, self.chosen = rater, rater.page, name, chosen

    def choice(self, place: int | None) -> tuple[str, str]:
        """The item shown, and what a vote for this place means."""
        shown = self.rater.options()
        (item,) = (identity for identity, options in TEXTS.items() if sorted(options) == sorted(shown))
        return item, "tie" if place is None else "AB"[TEXTS[item].index(shown[place])]

    def take(self, place: int | None) -> None:
        """Note what is chosen next."""
        item, choice = self.choice(place)
        self.chosen[item, self.name] = choice


def choices_in(votes: Path) -> dict[tuple[str, str], str]:
    return {(row["item"], row["rater"]): row["choice"] for row in vote_rows(votes)}


def test_two_raters_vote_at_once_and_a_killed_server_loses_nothing(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    chosen: dict[tuple[str, str], str] = {}
    with forks.serve(pairs, votes, "--ties") as server:
        ann, bob = (Voting(windows.open(server, phone=name == "bob"), name, chosen) for name in ("ann", "bob"))
        # Ann never touches the mouse.
        ann.page.keyboard.press("Tab")
        while ann.page.evaluate("document.activeElement.closest('#name') === null"):
            ann.page.keyboard.press("Tab")
        ann.page.keyboard.type("ann")
        ann.page.keyboard.press("Enter")
        ann.rater.expect("1 of 6")
        bob.rater.enter("bob")
        bob.rater.expect("1 of 6")
        for done, (key, place) in enumerate([("1", 0), ("b", 1), ("t", None)], 2):
            ann.take(place)
            ann.page.keyboard.press(key)
            bob.take(place)
            bob.page.tap("#vote-tie" if place is None else f"#vote-{place}")
            ann.rater.expect(f"{done} of 6")
            bob.rater.expect(f"{done} of 6")
        assert choices_in(votes) == chosen

        # Killed while a vote is on its way: it is kept whole or not at all, and the page is told neither.
        item, choice = bob.choice(0)
        bob.page.evaluate("document.getElementById('vote-0').click()")
        server.kill()
        assert (bob.rater.elsewhere(), bob.rater.problems) == ([], [])
        bob.rater.leave()
        server.start()
        assert "2 annotators so far" in server.said
        arrived = sum(row["rater"] == "bob" for row in vote_rows(votes)) - 3
        chosen |= {(item, "bob"): choice} if arrived else {}
        # Ann's page is still open and goes on; Bob opens his again, and his phone writes a capital.
        ann.take(0)
        ann.page.keyboard.press("ArrowLeft")
        ann.rater.expect("5 of 6")
        bob = Voting(windows.open(server, phone=True), "bob", chosen)
        bob.rater.enter(" Bob ")
        bob.rater.expect(f"{4 + arrived} of 6")
        assert choices_in(votes) == chosen

        # A mistake: Ann writes why, votes, takes it back, and votes otherwise.
        before = ann.rater.options()
        ann.page.focus("#reason textarea")
        ann.page.keyboard.type("buta 12 t")  # no key votes while one writes
        ann.page.keyboard.press("Escape")
        ann.page.keyboard.press("1")
        ann.rater.expect("6 of 6")
        assert vote_rows(votes)[-1]["reason"] == "buta 12 t"
        ann.page.keyboard.press("u")
        ann.rater.expect("5 of 6")
        assert "withdrawn" in ann.page.inner_text("#note")
        assert ann.rater.options() == before
        assert ann.page.input_value("#reason textarea") == "buta 12 t"
        assert choices_in(votes) == chosen
        for each in (ann, bob):
            for n in range(int(each.rater.count().split()[0]), 7):
                each.take(1)
                each.page.click("#vote-1")
                each.rater.expect(f"{n + 1} of 6" if n < 6 else "6 of 6 done")
            assert not each.page.is_visible("#votes")
            assert (each.rater.elsewhere(), each.rater.problems) == ([], [])

    found = read_votes(votes, known_items=TEXTS).votes
    assert {(vote.item, vote.rater): vote.choice for vote in found} == chosen
    assert len(found) == len(chosen) == 12
    assert {vote.order for vote in found} == {"AB", "BA"}


def test_a_restarted_server_brings_a_rater_back_to_the_same_item(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    with forks.serve(pairs, votes) as server:
        rater = windows.open(server)
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
        rater.reconnect()
        rater.expect("2 of 6")
        assert rater.page.inner_text("#progress .who") == "Rater ann"
        assert (rater.options(), rater.page.input_value("#reason textarea")) == (before, "=because")
        assert len(vote_rows(votes)) == 1
        rater.page.keyboard.press("1")
        rater.expect("3 of 6")
        # A vote that was saved while its answer was lost: the page returns to the next item, and the reason is gone.
        rater.page.fill("#reason textarea", "because")
        rater.page.route("**/run/**", lambda route: (route.fetch(), route.abort()))
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Connection to the server was lost")
        rater.page.unroute("**/run/**")
        rater.reconnect()
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


def test_a_vote_that_cannot_be_saved_is_said_and_kept_on_the_page(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    with forks.serve(pairs, votes) as server:
        rater, other = windows.open(server), windows.open(server)
        rater.enter("ann")
        other.enter("ann")
        rater.page.keyboard.press("1")
        rater.expect("2 of 6")
        other.page.keyboard.press("2")  # the same item in a second window
        other.page.wait_for_selector("text=was not counted")
        other.expect("2 of 6")
        votes.write_text(votes.read_text(encoding="utf-8") + "item9,eve,A,,,\n", encoding="utf-8")
        rater.page.fill("#reason textarea", "Because.")
        rater.page.click("#vote-0")
        rater.page.wait_for_selector("text=Your vote was not saved")
        assert "changed by another program" in rater.page.inner_text("#note")
        assert (rater.count(), rater.page.input_value("#reason textarea")) == ("2 of 6", "Because.")


def test_matching_shows_pictures_and_never_a_caption_twice_also_on_a_phone(
    windows: Windows, forks: Forks, tmp_path: Path, votes: Path
) -> None:
    """On a phone the captions are the buttons, and fit the first screen."""
    pairs = tmp_path / "matching.jsonl"
    done = CliRunner().invoke(
        main, f"people pairs --task matching --dataset sample --setting pixels --split train -o {pairs}".split()
    )
    assert done.exit_code == 0, done.output
    items = {row["id"]: row for row in map(json.loads, pairs.read_text().splitlines())}
    with forks.serve(pairs, votes, "--limit", "4") as server:
        for name, phone in (("ann", False), ("bob", True)):
            rater = windows.open(server, phone, viewport={"width": 375, "height": 664} if phone else None)
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
                if not phone:
                    rater.page.keyboard.press("3" if n % 2 else "e")
                    continue
                assert rater.page.evaluate("document.querySelector('#vote-4').getBoundingClientRect().bottom") <= 664
                assert rater.page.evaluate("document.documentElement.scrollHeight") <= 720
                assert not rater.page.is_visible("#keys")
                sent = len(rater.requests)
                rater.page.keyboard.press("1")  # keys that cannot be switched off here are off
                assert len(rater.requests) == sent
                rater.page.tap("#vote-4 .text")
            rater.page.wait_for_selector("text=Done")
            assert len(seen) == len(set(seen)) == 5 * total
            assert (rater.elsewhere(), rater.problems) == ([], [])
    cast = read_votes(votes, known_items=items, choices="ABCDE").votes
    assert all(sorted(vote.order) == list("ABCDE") for vote in cast)
    assert {vote.choice == vote.order[4] for vote in cast if vote.rater == "bob"} == {True}


# ---- what is shown ----------------------------------------------------------------------------------


def test_the_page_fits_and_can_be_read(windows: Windows, forks: Forks, pairs: Path, votes: Path) -> None:
    """WCAG 2.2: contrast; text at 200 % and a window of 320 pixels (1.4.4, 1.4.10)."""
    with forks.serve(pairs, votes, "--ties") as server:
        phone, desk = windows.open(server, phone=True, color_scheme="dark"), windows.open(server)
        assert phone.page.evaluate(FITS)
        for rater in (phone, desk):
            rater.enter("ann")
            rater.expect("1 of 6")
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
        places = ("#question", "#vote-0", "#vote-1", "#vote-tie", "#undo", "#leave", "#keys-on", "#reason textarea")
        for width, size in ((1280, "200%"), (375, "200%"), (320, "100%")):
            desk.page.set_viewport_size({"width": width, "height": 800})
            desk.page.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
            assert desk.page.evaluate(FITS), (width, size)
            for place in places:
                box = desk.page.locator(place).bounding_box() or {}
                assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True), (place, width, size)
            clipped = desk.page.eval_on_selector_all(
                "button, h1", "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.id)"
            )
            assert clipped == [], (width, size)


# ---- keys -------------------------------------------------------------------------------------------


def test_everything_is_reached_by_tab_with_the_focus_seen_and_heard(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    with forks.serve(pairs, votes, "--ties") as server:
        rater = windows.open(server)
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
        for no_key in ("Control+1", "9", "z"):
            rater.page.keyboard.press(no_key)
        rater.page.keyboard.press("1")
        rater.expect("2 of 6")


def test_a_key_or_tap_on_an_item_that_nobody_saw_is_no_vote(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    """The browser's time stands still, and passes only where the test says so."""
    with forks.serve(pairs, votes) as server:
        rater = windows.open(server, own=True)
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
    assert [TEXTS[row["item"]]["AB".index(row["choice"])] for row in vote_rows(votes)] == expected


def test_keys_can_be_switched_off_and_the_browser_remembers_it(
    windows: Windows, forks: Forks, pairs: Path, votes: Path
) -> None:
    with forks.serve(pairs, votes, "--ties") as server:
        rater = windows.open(server)
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
        later = windows.open(server)  # another tab, another day
        later.enter("off")
        later.page.wait_for_selector("#keys-on[data-remembered]")
        assert not later.page.is_checked("#keys-on")
        switch.check()
        rater.page.keyboard.press("1")
        rater.expect("4 of 6")
        assert rater.problems == []

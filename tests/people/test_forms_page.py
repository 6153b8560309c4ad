"""Forms and ratings in a real browser: phones, keys, a killed server, hostile texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from standins.browser import CONTRAST, FITS, GUARD, Forks, Windows

from humor_tasks.data.writing import write_json_lines
from humor_tasks.people.items import choices_of, read_pairs
from humor_tasks.people.vote_files import read_votes

pytestmark = pytest.mark.slow
HOSTILE = "</textarea><img src=x onerror='window.hacked = 1'>\" onfocus=\"window.hacked=2"
LINKS = {"link_1": "https://en.wikipedia.org/wiki/Whale", "link_2": "https://en.wikipedia.org/wiki/Chef"}


def texts_of(votes: Path, pairs: Path) -> list[dict[str, str]]:
    return [json.loads(vote.choice) for vote in read_votes(votes, choices=choices_of(read_pairs(pairs))).votes]


def test_a_form_is_filled_in_checked_restored_and_withdrawn(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    Image.new("L", (900, 700), 90).save(tmp_path / "x.png")
    write_json_lines(pairs, [{"id": f"{i}", "kind": "links", "cluster": "1", "image": "x.png"} for i in range(2)])
    with forks.serve(pairs, votes, "--notice", HOSTILE) as server:
        rater = windows.open(server)
        assert HOSTILE in rater.page.inner_text("#welcome")
        rater.enter("ann")
        assert not rater.page.is_visible("#reason")
        rater.page.keyboard.press("Tab")  # from the heading to the first field
        rater.page.keyboard.type("a kitchen, 12 u")  # no key of the page's while one writes
        rater.page.fill("[name=link_1]", "Whale")
        sent = len(rater.requests)
        rater.page.click("#vote-form")
        assert rater.page.evaluate("document.activeElement.name") == "link_1"  # where the browser says what is wrong
        assert len(rater.requests) == sent
        for name, text in LINKS.items():
            rater.page.fill(f"[name={name}]", text)
        server.kill()
        rater.page.click("#vote-form")
        rater.page.wait_for_selector("text=Connection to the server was lost")
        server.start()
        rater.reconnect()
        rater.expect("1 of 2")
        assert rater.page.input_value("[name=image_location]") == "a kitchen, 12 u"
        rater.page.click("#vote-form")
        rater.expect("2 of 2")
        assert rater.page.input_value("[name=link_1]") == ""  # the next item begins empty
        rater.page.click("#undo")
        rater.expect("1 of 2")
        assert rater.page.input_value("[name=link_1]") == LINKS["link_1"]
        rater.page.fill("[name=image_location]", HOSTILE)
        rater.page.click("#vote-form")
        rater.expect("2 of 2")
        rater.page.click("#undo")
        rater.expect("1 of 2")
        assert rater.page.input_value("[name=image_location]") == HOSTILE
        rater.page.click("#vote-form")
        rater.expect("2 of 2")
        assert rater.page.evaluate("window.hacked === undefined")
        assert (rater.elsewhere(), rater.problems) == ([], [])
    assert texts_of(votes, pairs) == [{"image_location": HOSTILE, **LINKS, "link_3": ""}]


def test_headlines_are_edited_on_a_phone_and_by_keys(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    write_json_lines(pairs, [{"id": "1", "kind": "editing", "headline": f"{HOSTILE} <Senate/> votes on <tax/> bill"}])
    with forks.serve(pairs, votes) as server:
        phone = windows.open(server, phone=True, color_scheme="dark")
        phone.enter("ann")
        assert phone.page.evaluate(FITS)
        assert [(ratio, text) for ratio, text in phone.page.evaluate(CONTRAST) if ratio < 4.5] == []
        assert phone.page.eval_on_selector_all("#item u", "all => all.map(e => e.innerText)") == ["Senate", "tax"]
        assert HOSTILE in phone.page.inner_text("#item .headline")
        phone.page.tap("text=tax")
        assert [(ratio, text) for ratio, text in phone.page.evaluate(CONTRAST) if ratio < 4.5] == []
        phone.page.fill("[name=edit]", "buffalo")
        phone.page.tap("#vote-form")
        phone.page.wait_for_selector("text=Done")
        desk = windows.open(server)
        desk.enter("bob")
        assert [(ratio, text) for ratio, text in desk.page.evaluate(CONTRAST) if ratio < 4.5] == []
        desk.page.keyboard.press("Tab")
        desk.page.keyboard.press("Space")
        desk.page.keyboard.press("Tab")
        desk.page.keyboard.type("two words")
        desk.page.keyboard.press("Enter")
        assert desk.page.is_visible("#vote-form")
        desk.page.fill("[name=edit]", "Zoo")
        desk.page.keyboard.press("Enter")
        desk.page.wait_for_selector("text=Done")
        assert phone.page.evaluate("window.hacked === undefined")
        assert [*phone.problems, *desk.problems] == []
    assert texts_of(votes, pairs) == [{"place": "1", "edit": "buffalo"}, {"place": "0", "edit": "Zoo"}]


def test_headlines_are_rated_by_their_numbers(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    options = ["Not funny", "Slightly funny", "Moderately funny", "Funny"]
    rows = [{"id": f"{i}", "kind": "rating", "options": options, "headline": f"<Zoo/> {i}"} for i in range(3)]
    write_json_lines(pairs, rows)
    with forks.serve(pairs, votes, "--ties", "--per-item", "1") as server:
        rater = windows.open(server)
        rater.enter("ann")
        assert rater.options() == options
        assert "0–3 or A–D to choose" in rater.page.inner_text("#keys-help")
        assert not rater.page.is_visible("#vote-tie")
        for n, key in enumerate(("0", "3", "b"), 2):
            rater.page.keyboard.press(key)
            if n < 4:
                rater.expect(f"{n} of 3")
        rater.page.wait_for_selector("text=Done")
        rater.page.clock.fast_forward(GUARD)
        other = windows.open(server)
        other.enter("bob")
        assert "You have voted on all 0 items" in other.page.inner_text("#item")
        assert [*rater.problems, *other.problems] == []
    assert [vote.choice for vote in read_votes(votes, choices="ABCD").votes] == ["A", "D", "B"]

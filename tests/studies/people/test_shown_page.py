"""What the annotation page serves and shows as text, in a real browser; its forms: a killed server, phones, keys."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Response
from standins.browser import CONTRAST, FITS, GUARD, Forks, Windows

from humor_tasks.files.writing import write_json_lines
from humor_tasks.studies.people.items import choices_of, read_pairs
from humor_tasks.studies.people.vote_files import read_votes

pytestmark = pytest.mark.slow
HOSTILE_FIELD = "</textarea><img src=x onerror='window.hacked = 1'>\" onfocus=\"window.hacked=2"
HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><b>bold</b> "
    "![](http://127.0.0.2:9/x.png) [link](javascript:window.hacked=3) **stars** "
    "${window.hacked=4} {{7*7}} {#if} `x` &amp;"
)
LINKS = {"link_1": "https://en.wikipedia.org/wiki/Whale", "link_2": "https://en.wikipedia.org/wiki/Chef"}


def texts_of(votes: Path, pairs: Path) -> list[dict[str, str]]:
    return [json.loads(vote.choice) for vote in read_votes(votes, choices=choices_of(read_pairs(pairs))).votes]


def test_texts_are_shown_as_text(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    row = {"id": "<b>1</b>", "description": HOSTILE, "caption": HOSTILE, "options": [HOSTILE, f"{HOSTILE} too"]}
    write_json_lines(tmp_path / "pairs.jsonl", [row])
    with forks.serve(tmp_path / "pairs.jsonl", tmp_path / "votes.csv") as server:
        rater = windows.open(server)
        rater.page.fill("#name textarea, #name input", "<img src=x onerror=window.hacked=5>"[:40])
        rater.page.click("#start")
        rater.page.wait_for_selector("#note p")
        assert "'<img src=x" in rater.page.inner_text("#note")
        rater.enter("eve")
        assert sorted(rater.options()) == [HOSTILE, f"{HOSTILE} too"]
        assert rater.page.inner_text("#item .scene") == rater.page.inner_text("#item .caption") == HOSTILE
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


def test_neither_answers_nor_writers_nor_files_are_served(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    more = {"answer": "A", "systems": ["secret-system", "human"], "caption": "The krill is fresh, sir."}
    write_json_lines(pairs, [{"id": f"{i}", "options": [f"First of {i}.", f"Second of {i}."], **more} for i in (1, 2)])
    with forks.serve(pairs, votes) as server:
        rater = windows.open(server)
        responses: list[Response] = []
        rater.page.on("response", lambda got: responses.append(got))
        rater.enter("curious")
        rater.page.keyboard.press("1")
        rater.expect("2 of 2")

        def get(path: str) -> tuple[int, str]:
            try:
                with urllib.request.urlopen(server.url + path) as got:
                    return got.status, got.read().decode()
            except urllib.error.HTTPError as refused:
                return refused.code, ""

        bodies = [get("")[1], *(got.text() for got in responses if "/run/" in got.url)]
        assert len(bodies) == 3
        assert "First of" in bodies[-1]
        assert not [body for body in bodies if "secret-system" in body or '"answer"' in body]
        status, info = get("gradio_api/info")
        assert (status, json.loads(info)) == (200, {"named_endpoints": {}, "unnamed_endpoints": {}})
        for path in (votes, pairs):
            assert path.is_file()
            assert get(f"gradio_api/file={path}")[0] in (403, 404)
        assert get("monitoring/summary")[0] in (401, 403, 404)


def test_a_form_is_filled_in_checked_restored_and_withdrawn(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    Image.new("L", (900, 700), 90).save(tmp_path / "x.png")
    write_json_lines(pairs, [{"id": f"{i}", "kind": "links", "cluster": "1", "image": "x.png"} for i in range(2)])
    with forks.serve(pairs, votes, "--notice", HOSTILE_FIELD) as server:
        rater = windows.open(server)
        assert HOSTILE_FIELD in rater.page.inner_text("#welcome")
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
        rater.page.fill("[name=image_location]", HOSTILE_FIELD)
        rater.page.click("#vote-form")
        rater.expect("2 of 2")
        rater.page.click("#undo")
        rater.expect("1 of 2")
        assert rater.page.input_value("[name=image_location]") == HOSTILE_FIELD
        rater.page.click("#vote-form")
        rater.expect("2 of 2")
        assert rater.page.evaluate("window.hacked === undefined")
        assert (rater.elsewhere(), rater.problems) == ([], [])
    assert texts_of(votes, pairs) == [{"image_location": HOSTILE_FIELD, **LINKS, "link_3": ""}]


def test_headlines_are_edited_on_a_phone_and_by_keys(windows: Windows, forks: Forks, tmp_path: Path) -> None:
    pairs, votes = tmp_path / "pairs.jsonl", tmp_path / "votes.csv"
    write_json_lines(
        pairs, [{"id": "1", "kind": "editing", "headline": f"{HOSTILE_FIELD} <Senate/> votes on <tax/> bill"}]
    )
    with forks.serve(pairs, votes) as server:
        phone = windows.open(server, phone=True, color_scheme="dark")
        phone.enter("ann")
        assert phone.page.evaluate(FITS)
        assert [(ratio, text) for ratio, text in phone.page.evaluate(CONTRAST) if ratio < 4.5] == []
        assert phone.page.eval_on_selector_all("#item u", "all => all.map(e => e.innerText)") == ["Senate", "tax"]
        assert HOSTILE_FIELD in phone.page.inner_text("#item .headline")
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
        other = windows.open(server)
        other.enter("bob")
        assert "You have voted on all 0 items" in other.page.inner_text("#item")
        assert [*rater.problems, *other.problems] == []
    assert [vote.choice for vote in read_votes(votes, choices="ABCD").votes] == ["A", "D", "B"]

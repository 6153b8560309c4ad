"""Files of writing requests: each form against its text by hand, the same requests in three formats, bad lines."""

from __future__ import annotations

import csv
import json
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import is_visible
from humor_tasks.rows.requests import OWN, Request, read_requests


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (4, 3), 9).save(path)
    return path


# ---- forms ----------------------------------------------------------------------------------------

MWAHAHA = [
    "id\tword1\tword2\theadline",
    'en_9001\t-\t-\tMayor opens bridge, "for now"',
    'en_9002\t-\t-\t"Quiet" library wins "award"',
    "en_9003\tfold\tcactus\t-",
    "es_9004\tfold\tcactus\t-",
    "zh_9005\t-\t-\t猫学会了关门",
]


def test_the_columns_of_mwahaha_are_put_into_words(tmp_path: Path) -> None:
    found = read_requests(written(tmp_path / "task-a-en.tsv", *MWAHAHA))
    assert {request.id: request.text for request in found} == {
        "en_9001": 'Write a joke about this news headline: “Mayor opens bridge, "for now"”',
        "en_9002": 'Write a joke about this news headline: “"Quiet" library wins "award"”',
        "en_9003": "Write a joke that contains both of these words: fold, cactus",
        "es_9004": "Write a joke in Spanish that contains both of these words: fold, cactus",
        "zh_9005": "Write a joke in Chinese about this news headline: “猫学会了关门”",
    }
    assert {(request.picture, request.system) for request in found} == {(None, "")}


@pytest.mark.parametrize("images", [None, "gifs"])
def test_a_web_address_is_the_picture_of_that_id(images: str | None, tmp_path: Path) -> None:
    folder = tmp_path / (images or "")
    first, second = picture(folder / "IMG_1.GIF"), picture(folder / "img_2.png")
    rows = ("img_1\thttps://example.org/1.gif\t-", "img_2\thttps://example.org/2.gif\tMy cat is ______")
    path = written(tmp_path / "task-b2.tsv", "id\turl\tprompt", *rows)
    found = read_requests(path, folder if images else None)
    assert [request.picture.read() for request in found if request.picture] == [first.read_bytes(), second.read_bytes()]
    assert [request.text for request in found] == [
        "Write a funny caption for the picture, in at most 20 words.",
        "Complete this text into a funny caption for the picture, in at most 20 words: “My cat is ______”",
    ]


def test_the_columns_of_humor_transfer_bench_need_no_word_more(tmp_path: Path) -> None:
    rows = ("HTB_A_901\tFun Facts\tA snail has teeth.", 'HTB_D_902\tObject Voices\t"It said: ""No."""')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_requests(written(tmp_path / "htb.TSV", "id\tdomain\tprompt", *rows))
    assert found == [Request("HTB_A_901", "A snail has teeth."), Request("HTB_D_902", 'It said: "No."')]


def test_a_line_has_a_picture_and_a_system_message_of_its_own(tmp_path: Path) -> None:
    shown = picture(tmp_path / "a" / "b.png")
    lines = [
        {"id": 7, "text": " Two\nlines. ", "system": "Be brief.", "picture": "a/b.png"},
        {"id": "x", "text": "-", "picture": None, "colour": "red"},
        {"id": "y", "text": "z", "colour": "blue"},
    ]
    path = written(tmp_path / "r.jsonl", *map(json.dumps, lines), "")
    with pytest.warns(UserWarning, match=r"line 2: not used: colour\. A request is {id, text}") as told:
        first, second, _ = read_requests(path)
    assert len(told) == 1
    assert first.picture
    assert first.picture.read() == shown.read_bytes()
    assert (first.id, first.text, first.system, second) == ("7", "Two\nlines.", "Be brief.", Request("x", "-"))


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=9).filter(is_visible)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(TEXTS.map(lambda text: " ".join(text.split())), st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_requests_are_the_same_in_every_format(rows: dict[str, tuple[str, str]]) -> None:
    wanted = [Request(name, text.strip(), None, system) for name, (text, system) in rows.items()]
    cells = [(name, text, "", system) for name, (text, system) in rows.items()]
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(dict(zip(OWN, row, strict=True))) for row in cells]
        assert read_requests(written(Path(folder) / "r.jsonl", *lines)) == wanted
        for name, delimiter in (("r.csv", ","), ("r.tsv", "\t")):
            path = Path(folder) / name
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=delimiter).writerows([OWN, *cells])
            assert read_requests(path) == wanted


# ---- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "r.jsonl: holds no requests; each line is {id, text}, and if wanted picture and system."),
        (["[1]"], "r.jsonl, line 1: must be an object of {id, text}"),
        (['{"text": "a"}'], "r.jsonl, line 1: id is empty; it must be text."),
        (['{"id": 1.5, "text": "a"}'], "r.jsonl, line 1: id is 1.5; it must be text."),
        (['{"id": "a", "text": ["b"]}'], "r.jsonl, line 1: text is ['b']; it must be text."),
        (['{"id": "a", "text": "\\ud800"}'], "r.jsonl, line 1: text is '\\ud800'; it must be text."),
        (['{"id": "a", "text": " \\u200b"}'], "r.jsonl, line 1: text is empty; write what is asked for, or leave the"),
        (['{"id": "a", "text": "b"}', '{"id": " a ", "text": "c"}'], "line 2: id 'a' is also that of"),
        (['{"id": "a", "text": "b", "headline": "c"}'], "line 1: has text and headline; a line is one request"),
        (['{"id": "a", "word1": "b", "word2": "-"}'], "line 1: has one of word1 and word2; fill both in, or neither."),
        (['{"id": "a", "text": "b", "picture": "no.png"}'], "line 1: picture: .*there is no picture file 'no.png'"),
        (
            ['{"id": "a", "text": "b", "picture": "../r.png"}'],
            "line 1: picture: .*'../r.png' leaves the dataset folder",
        ),
        (
            ['{"id": "../r", "url": "http://x/r.png"}'],
            "line 1: url: .*'../r.png' leaves the dataset folder; put the picture inside it.",
        ),
        (
            ['{"id": "a", "text": "b", "picture": "https://x/r.png"}'],
            "line 1: picture is a web address, and nothing is downloaded. Save the picture in .* as a.gif",
        ),
    ],
)
def test_lines_that_cannot_be_used(lines: list[str], told: str, tmp_path: Path) -> None:
    picture(tmp_path / "r.png")
    (tmp_path / "folder").mkdir()
    path = written(tmp_path / "folder" / "r.jsonl", *lines)
    with pytest.raises(BadInput, match=".*".join(map(re.escape, told.split(".*")))):
        read_requests(path)


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("r.tsv", ["id|text", "a|b"], "r.tsv: there is no column 'id'; there are: id|text."),
        ("r.csv", ["id,request", "a,b"], "r.csv: there is no column of requests; there are: id, request. Name it text"),
        ("r.csv", ["id,word1", "a,b"], "r.csv: there is no column of requests; there are: id, word1."),
        ("r.txt", ["a"], "r.txt: the name must end in .jsonl, .csv or .tsv, by which the file is read."),
    ],
)
def test_tables_that_cannot_be_used(name: str, lines: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(told)):
        read_requests(written(tmp_path / name, *lines))


def test_a_file_or_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.jsonl: there is no such file\."):
        read_requests(tmp_path / "none.jsonl")
    with pytest.raises(BadInput, match=r"^images=.*gifs: there is no such folder\.$"):
        read_requests(written(tmp_path / "r.jsonl", '{"id": "a", "text": "b"}'), tmp_path / "gifs")

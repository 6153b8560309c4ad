"""Files whose names differ from the row's in Unicode form, case or slashes: found if one fits, else named."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from unittest import mock

import pytest

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.names import alike
from humor_tasks.rows.media.picture import picture_file

NFC = unicodedata.normalize("NFC", "images/café-Zoë.png")
NFD = unicodedata.normalize("NFD", NFC)


def folder_with(tmp_path: Path, *files: str) -> Path:
    folder = tmp_path / "data"
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(file.encode())
    return folder


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        (NFC, NFD),
        (NFD, NFC),
        (NFC, NFC),
        (NFD, NFD),
        ("images\\a.png", "images/a.png"),
        ("images/A.PNG", "images/a.png"),
        ("Images/a.png", "IMAGES/A.png"),
        ("./images/a.png", "images/a.png"),
        (".\\IMAGES\\" + NFC[7:].upper(), NFD),
        ("STRASSE.png", "straße.png"),
        ("가.png", unicodedata.normalize("NFD", "가.png")),
        ("images/a b#1?%20.png", "images/a b#1?%20.png"),
    ],
)
def test_the_only_file_that_fits_is_found(tmp_path: Path, asked: str, stored: str) -> None:
    folder = folder_with(tmp_path, stored, "other/a.txt")
    found = picture_file(folder, asked)
    assert (found.where, found.read_bytes()) == (asked, stored.encode())


@pytest.mark.parametrize(
    ("asked", "stored", "said"),
    [
        ("images/A.png", ["images/a.png", "images/a.PNG"], "2 files: 'images/a.PNG', 'images/a.png' differ from it"),
        ("É.png", [unicodedata.normalize("NFD", "é.png"), "é.PNG"], r"2 files: 'e\u0301.png', '\xe9.PNG' differ"),
        ("images/a%20b.png", ["images/a b.png"], "There is 'images/a b.png'; correct the row."),
        ("images/a.png ", ["images/a.png"], "There is 'images/a.png'; correct the row."),
        ("images/ a.png\n", ["images/A.png"], "There is 'images/A.png'; correct the row."),
        ("file:///home/me/a.png", ["a.png"], "It is an address, and nothing is downloaded"),
        ("https://example.org/a.png", ["a.png"], "It is an address, and nothing is downloaded"),
        ("images/b.png", ["images/a.png"], "Restore it, or correct the row."),
        ("images", ["images/a.png"], "Restore it, or correct the row."),
        ("IMAGES", ["images/a.png"], "Restore it, or correct the row."),
        ("images\\..\\a.png", ["images/b.png", "a.png"], "Restore it, or correct the row."),
        ("..\\outside.png", ["a.png"], "Restore it, or correct the row."),
        ("a.png/b.png", ["a.png"], "Restore it, or correct the row."),
    ],
)
def test_what_is_near_is_named(tmp_path: Path, asked: str, stored: list[str], said: str) -> None:
    folder = folder_with(tmp_path, *stored)
    (tmp_path / "outside.png").write_bytes(b"")
    with pytest.raises(BadInput) as caught:
        picture_file(folder, asked)
    assert str(caught.value).startswith(f"{folder}: there is no picture file '{asked}'. ")
    assert said in str(caught.value)


def test_the_exact_name_comes_before_the_same_form_and_that_before_the_same_letters(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a.png", "A.png", NFC, NFD, NFC.upper().replace("IMAGES", "images"))
    assert picture_file(folder, "A.png").read_bytes() == b"A.png"
    assert picture_file(folder, NFD).read_bytes() == NFD.encode()
    os.unlink(folder / NFD)
    assert picture_file(folder, NFD).read_bytes() == NFC.encode()


def test_a_link_that_leaves_is_refused_under_another_name_too(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a.png")
    (tmp_path / "outside.png").write_bytes(b"")
    os.symlink(tmp_path / "outside.png", folder / "link.png")
    os.symlink(tmp_path, folder / "sub")
    for asked in ("LINK.png", "Sub/outside.png", "SUB\\OUTSIDE.PNG"):
        with pytest.raises(BadInput, match="leaves the dataset folder"):
            picture_file(folder, asked)


def test_a_folder_is_listed_once_and_only_where_a_name_is_not_there(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, *(f"images/{i}.png" for i in range(30)))
    with mock.patch("os.listdir", side_effect=os.listdir) as listings:
        for i in range(30):
            picture_file(folder, f"images/{i}.png")
        assert not listings.called
        for i in range(30):
            picture_file(folder, f"images\\{i}.PNG")
    assert listings.call_count == 4  # two folders, each by Unicode form and by letters


def test_a_file_that_came_later_is_found(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a.png")
    os.utime(folder, ns=(1, 1))  # as a folder that was listed a while ago
    assert alike(folder, "B.png") == []
    (folder / "b.png").write_bytes(b"")
    assert alike(folder, "B.png") == ["b.png"]

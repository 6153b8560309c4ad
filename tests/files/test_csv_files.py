"""CSV and TSV files as spreadsheets and programs write them: read right, or refused with line, column and remedy."""

from __future__ import annotations

import ast
import csv
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import humor_tasks
from humor_tasks.errors import BadInput
from humor_tasks.files.csv_files import CsvRows, claim, read_csv, read_tsv, typed

PLAIN = [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]
READ: dict[str, str | bytes] = {
    "plain": "id,text\na,x\nb,y\n",
    "Windows": "id,text\r\na,x\r\nb,y\r\n",
    "old Mac": "id,text\ra,x\rb,y\r",
    "a byte order mark": "\ufeffid,text\na,x\nb,y\n",
    "two of them": "\ufeff\ufeffid,text\na,x\nb,y\n",
    "two of them, quoted": '\ufeff\ufeff"id","text"\n"a","x"\n"b","y"\n',
    "two of them, sep": "\ufeff\ufeffsep=;\nid;text\na;x\nb;y\n",
    "quoted": '"id","text"\n"a","x"\n"b","y"\n',
    "sep": "sep=;\r\nid;text\r\na;x\r\nb;y\r\n",
    "quoted sep": '"sep=,"\nid,text\na,x\nb,y\n',
    "blanks in the header": "id, text\na, x\nb, y\n",
    "capitals": "ID,Text\na,x\nb,y\n",
    "a column without a name": "id,text,\na,x,\nb,y,\n",
    "rows with empty ends": "id,text\na,x,,\nb,y,\n",
    "empty rows": "\nid,text\n\na,x\n,\nb,y\n , \n",
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name: str, tmp_path: Path) -> None:
    content = READ[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read_csv(path, ("id",), known=("text",))
    assert table.rows == PLAIN


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("id;text\na;x, y\n", "semicolons separate the columns, not commas"),
        ("id;text, or so\na;x, y\n", "semicolons separate the columns, not commas"),
        ('"id"\t"text"\na\t"x, y"\n', "tabs separate the columns, not commas"),
    ],
)
def test_another_delimiter_is_told(text: str, by: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.warns(UserWarning, match=by):
        (row,) = read_csv(tmp_path / "t.csv", ("id",)).rows
    assert list(row.values()) == ["a", "x, y"]
    (tmp_path / "t.tsv").write_text(text.replace("\t", ";"))
    with pytest.warns(UserWarning, match="separate the columns, not tabs"):
        assert read_tsv(tmp_path / "t.tsv", ("id",)).rows == [row]


def test_a_file_that_no_other_delimiter_fits_is_read_as_asked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("caption\nSit; down\n")
    assert read_csv(tmp_path / "t.csv", ()).rows == [{"caption": "Sit; down"}]


def test_words_for_nothing_and_other_line_ends_are_texts(tmp_path: Path) -> None:
    texts = ["nan", "None", "null", "NA", "#N/A", "", 'two\rlines, "quoted"', "one\u2028line\u0085", "x" * 400_000]
    path = tmp_path / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "text"), *enumerate(texts)])
    limit = csv.field_size_limit()
    assert [row["text"] for row in read_csv(path, ("id", "text")).rows] == texts
    assert csv.field_size_limit() == limit


@given(st.lists(st.tuples(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))))
def test_what_csv_writes_is_read(tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "text"), *((i, *text) for i, text in enumerate((*texts, ("end",))))])
    assert [row["text"] for row in read_csv(path, ("id", "text")).rows] == [*(text for (text,) in texts), "end"]


LONG = "".join(f"b{i},A joke about the number {i}\n" for i in range(6000))
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "an open quotation mark": (
        f'id,text\na,x\nb,"A clock\n{LONG}',
        "line 3, column 3: a quotation mark is opened here",
    ),
    "one after doubled ones": ('id,text\na,"x ""y\nb,z\n', "line 2, column 3: a quotation mark is opened here"),
    "one that a later one closes": (
        'id,text\na,"x\nb,"y"\n',
        "line 3, column 3: the cell whose quotation mark is opened in line 2, column 3 ends here, before 'y\"\\n'",
    ),
    "a comma in a text": ("id,text\na,x, y\n", "line 2: has 3 fields, the header has 2. Put quotation marks around"),
    "a cut row": ("id,text\na,x\nb\n", "line 3: has 1 fields, the header has 2. Add what is missing"),
    "CP1252": (
        "id,text\r\na,a café’s\r\n".encode("cp1252"),
        "line 2, column 8: cannot be read as UTF-8 text (byte",
    ),
    "CP1252, the remedy": ("id,text\na,café\n".encode("cp1252"), "in CP1252 it is 'café': save it as UTF-8"),
    "CP1252, the command": ("id,text\na,café\n".encode("cp1252"), "iconv -t UTF-8 -f CP1252"),
    "Mac Roman": ("id,text\ra,café\r".encode("mac_roman"), "line 2, column 6: cannot be read as UTF-8 text (byte 0x8E"),
    "Mac Roman, the command": ("id,text\ra,café\r".encode("mac_roman"), "iconv -t UTF-8 -f MACINTOSH"),
    "another encoding": ("id,text\na,灯塔害怕黑暗\n".encode("gbk"), "-f ENCODING"),
    "one damaged character": ("id,text\na,café ".encode() + b"\xff\n", "the rest is UTF-8: the character is damaged"),
    "a file that was cut": (
        "id,text\na,café".encode()[:-1],
        "line 2, column 6: cannot be read as UTF-8 text (the",
    ),
    "UTF-16": ("id,text\na,x\n".encode("utf-16"), "it is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)"),
    "UTF-16 without a mark": ("id,text\na,x\n".encode("utf-16-le"), "it is UTF-16; save it as UTF-8"),
    "UTF-16 without a mark, the command": ("id,text\na,x\n".encode("utf-16-le"), "iconv -t UTF-8 -f UTF-16LE"),
    "UTF-16BE without a mark": ("id,text\na,x\n".encode("utf-16-be"), "iconv -t UTF-8 -f UTF-16BE"),
    "UTF-16 of other letters": ("識別子,文章\r\n".encode("utf-16-le"), "byte 0x8B and NUL: it is UTF-16 or no text"),
    "UTF-32 without a mark": ("id,text\na,x\n".encode("utf-32-le"), "iconv -t UTF-8 -f UTF-32LE"),
    "UTF-7": ("+/v8-id,text\na,caf+AOk-\n", "it is UTF-7; save it as UTF-8"),
    "Japanese in seven bits": (
        "id,text\na,灯台です\n".encode("iso2022_jp"),
        "line 2, column 3: cannot be read as UTF-8 text (it is ISO-2022-JP;",
    ),
    "few words of Shift-JIS": (f"id,text\na,{'long ' * 99}灯台\n".encode("shift_jis"), "-f ENCODING"),
    "an old spreadsheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", "of an old office program, such as .xls"),
    "two files in one": ("id,text\na,x\n\ufeffid,text\nb,y\n", "line 3: repeats the header. Remove this line"),
    "row names of R": (
        '"id","text","note"\n"1","a","x",""\n"2","b","y",""\n',
        "line 2: 4 fields, the header has 3, as where R writes",
    ),
    "UTF-32": ("id,text\na,x\n".encode("utf-32"), "it is UTF-32; save it as UTF-8"),
    "NUL": ("id,text\na,A joke\0 about clocks\n", "line 2, column 9: has a NUL character"),
    "a spreadsheet": (b"PK\x03\x04 and so on", "it is a zip archive, as spreadsheets"),
    "JSON": ('{"id": "a", "text": "b"}\n', "it looks like JSON, and CSV with the columns id is wanted"),
    "a repeated name": ("id,text,text\na,x,y\n", "the header repeats the column text"),
    "another header": ("ids,text\na,x\n", "there is no column 'id'; there are: ids, text. Did you mean 'ids'?"),
    "only a header": ("id,text\n", "there are no rows."),
    "nothing": ("", "there are no rows; the file is empty."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, tmp_path: Path) -> None:
    content, told = REFUSED[name]
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput, match=re.escape(told)) as caught:
        read_csv(path, ("id",))
    assert str(caught.value).startswith(str(path))


# ---- ids and numbers ----------------------------------------------------------------------------


def of_ids(tmp_path: Path, *ids: str) -> list[str]:
    (tmp_path / "t.csv").write_text("\n".join(("id;text", *(f"{identity};x" for identity in ids))))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "semicolons")
        return [row["id"] for row in read_csv(tmp_path / "t.csv", ("id",), ids=("id",)).rows]


@pytest.mark.parametrize(
    "ids",
    [("01", "2"), ("1.0", "1.1"), ("1e5", "12e45"), ("123456789012345678", "223456789012346000"), ("1000", "a"), ("",)],
)
def test_ids_that_stay(ids: tuple[str, ...], tmp_path: Path) -> None:
    assert of_ids(tmp_path, *ids) == [*ids]


def test_ids_as_floats_are_whole_numbers(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"the ids in id are written as '610\.0'; they are read as whole numbers"):
        assert of_ids(tmp_path, "610.0", "611.0") == ["610", "611"]


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (("1", "1.23457E+17"), "line 3: id is '1.23457E+17': a program took it for a number, and digits are lost"),
        (("1.234567890123457e+17",), "format the column as text"),
        (("1,23457E+17",), "line 2: id is '1,23457E+17'"),
        (("123456789012345000", "223456789012346000"), "line 2: id is '123456789012345000': a program took it"),
        (("12345678901234567168.0",), "digits are lost"),
        (("1", "1.0", "01"), "line 3: id is '1.0', the same number as '1' in"),
        (("1", "x", "01"), "line 4: id is '01', the same number as '1' in"),
    ],
)
def test_ids_that_are_refused(ids: tuple[str, ...], told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(told)):
        of_ids(tmp_path, *ids)


def test_a_repeated_id_is_refused_with_both_places() -> None:
    places: dict[str, str] = {}
    claim(places, "a", "line 2", "")
    claim(places, "b", "line 3", "")
    with pytest.raises(BadInput, match=r"^line 4: id 'a' is also that of line 2\. Remove one\.$"):
        claim(places, "a", "line 4", "Remove one.")


def numbers(tmp_path: Path, delimiter: str, *cells: str) -> CsvRows:
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([("id", "n"), *enumerate(cells)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_csv(path, ("id", "n"), numbers=("n",))


@pytest.mark.parametrize(
    ("delimiter", "cells", "read"),
    [
        (";", ["2,5", "3", "-0,125"], ["2.5", "3", "-0.125"]),
        (";", ["1,234", ""], ["1.234", ""]),
        (";", ["2,5", "nan"], ["2.5", "nan"]),
        ("\t", ["2,5", "1,234"], ["2.5", "1.234"]),
        (",", ["2.5", "1e-3"], ["2.5", "1e-3"]),
        (",", ["2,5", "a text"], ["2,5", "a text"]),
    ],
)
def test_decimal_commas(delimiter: str, cells: list[str], read: list[str], tmp_path: Path) -> None:
    assert [row["n"] for row in numbers(tmp_path, delimiter, *cells).rows] == read


@pytest.mark.parametrize(
    ("delimiter", "cells", "told"),
    [
        (
            ",",
            ["1", "2,5"],
            "line 3: n is '2,5'; write numbers with a decimal point and nothing between .*: 2.5.",
        ),
        ("\t", ["1,234", "2,000"], "line 2: n is '1,234'; write .*: 1.234 or 1234."),
        (";", ["2,5", "1.5"], "line 2: n is '2,5'; write numbers with a decimal point"),
    ],
)
def test_decimal_commas_that_may_mean_something_else(
    delimiter: str, cells: list[str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=told):
        numbers(tmp_path, delimiter, *cells)


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "", "2,5", "1_0", "funny", "#N/A"])
def test_what_is_no_number(cell: str, tmp_path: Path) -> None:
    table = numbers(tmp_path, ";", "1", "x", cell)
    assert table.number(0, "n") == 1
    with pytest.raises(BadInput, match=f"line 4: n is {cell!r}; it must be a number"):
        table.number(2, "n")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", " 2", ""], [1, 2, None]),
        (["1", "2.5", ""], [1.0, 2.5, None]),
        (["01", "2"], ["01", "2"]),
        (["1.5", "1234567890123456"], ["1.5", "1234567890123456"]),
        (["1", "nan"], ["1", "nan"]),
        (["None", ""], ["None", None]),
        (["", ""], [None, None]),
    ],
)
def test_types_of_a_column(cells: list[str], values: list[object]) -> None:
    assert typed(cells) == values


# ---- one reader ---------------------------------------------------------------------------------

WRITERS = {"files/csv_files.py", "files/tables.py"}
"""The modules that import `csv`: this reader, and the one writer."""


def test_no_other_module_reads_csv() -> None:
    (root,) = humor_tasks.__path__[:1]
    found = set()
    for path in Path(root).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if "csv" in names or (isinstance(node, ast.Attribute) and node.attr == "read_csv"):
                found.add(path.relative_to(root).as_posix())
    assert found == WRITERS

"""HumorBench's files: bad ones and bad parameters, each named; and the public ones, fetched once and checked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standins.corpus import rows_of
from standins.humorbench import ELEMENTS, REAL_RUBRICS, RUBRIC, short, write_rows

from humor_tasks import load
from humor_tasks.benchmarks.humorbench import corpus
from humor_tasks.errors import BadInput

# ---- bad input ----------------------------------------------------------------------------------

ROW = {"idx": "1", "description": "A bear.", "caption": "Honey?", "element": "Bears like honey"}
GRADED = ROW | {"explanation": "It is a bear.", "explainer_model": "m", "label": "PASS"}
HEADS = {"humorbench": ",".join(ROW), "humorbench_autograder": ",".join(GRADED)}
LINES = {"humorbench": ",".join(ROW.values()), "humorbench_autograder": ",".join(GRADED.values())}


def table(task: str, *more: str) -> bytes:
    return "\n".join([HEADS[task], LINES[task], *more, ""]).encode()


BAD_FILES: list[tuple[str, bytes, list[str]]] = [
    (task, body, messages)
    for task in HEADS
    for body, messages in [
        (b"", ["f.csv: there are no rows"]),
        (table(task).replace(b",caption", b""), ["f.csv: there is no column 'caption'", "description"]),
        (table(task).replace(b"element", b"elements"), ["f.csv: there is no column 'element'", "Did you mean 'ele"]),
        (table(task, LINES[task].replace("1,", "2,").replace("Honey?", " ")), ["f.csv, line 3: caption is empty"]),
        (table(task, LINES[task].replace("Bears like honey", '"\n"')), ["f.csv, line 3: element is empty"]),
        (table(task, "", LINES[task]), ["f.csv, line 4: the same (idx, element)", "f.csv, line 2", "Remove one"]),
        (table(task, LINES[task].replace("s like", "s  like ")), ["f.csv, line 3: the same", "line 2. Remove one of"]),
        # a text may run over several lines: the line named is the one that the row begins on
    ]
]
BAD_FILES += [
    ("humorbench_autograder", table("humorbench_autograder", LINES["humorbench_autograder"][:-4] + label), messages)
    for label, messages in [
        ("pass", ["f.csv, line 3: label is 'pass'; it must be a person's PASS or FAIL"]),
        ("", ["f.csv, line 3: label is ''"]),
    ]
]
BAD_FILES += [
    (
        "humorbench_autograder",
        table("humorbench_autograder").replace(b",label", b"").replace(b",PASS", b""),
        ["f.csv: has no column 'label'", "it must hold a person's PASS or FAIL"],
    ),
    (
        "humorbench_autograder",
        table("humorbench_autograder").replace(b"It is a bear.", b""),
        ["f.csv, line 2: explanation is empty"],
    ),
]


@pytest.mark.parametrize(("task", "body", "messages"), BAD_FILES, ids=short)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, task: str, body: bytes, messages: list[str]) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(body)
    with pytest.raises(BadInput) as caught:
        load(task, dataset=str(path))
    for message in [str(path), *messages]:
        assert message in str(caught.value)


def test_the_good_file_is_good(tmp_path: Path) -> None:
    for task in HEADS:
        path = tmp_path / "f.csv"
        path.write_bytes(table(task, "", LINES[task].replace("1,", "2,").replace("Honey?", '"a\nb, ""c"""'), ""))
        assert load(task, dataset=str(path)).records[1].fields["caption"] == 'a b, "c"'


@pytest.mark.parametrize(
    ("task", "parameters", "message"),
    [
        (
            "humorbench",
            {"dataset": "no/where.csv"},
            r"dataset=no/where.csv: there is no such file. Correct .*dataset=ReubenNarad/Humor-Bench reads the pinned",
        ),
        ("humorbench", {"dataset": "sampel"}, r"Did you mean 'sample'"),
        ("humorbench", {"dataset": "ReubenNarad/HumorBench"}, r"Did you mean 'ReubenNarad/Humor-Bench'"),
        ("humorbench", {"dataset": "{empty}"}, r"nor a folder with comprehensive_annotations.csv"),
        ("humorbench", {"dataset": ["a.csv"]}, r"dataset must be text, not \['a.csv'\]"),
        ("humorbench", {"on_unparsed": "random"}, r"on_unparsed=random: explanations cannot be guessed; choose wrong"),
        ("humorbench", {"shots": 2}, r"shots: .*no worked examples"),
        ("humorbench", {"revision": "main"}, r"revision: .*pinned by SHA-256; for another file use dataset=<file>"),
        ("humorbench", {"subset": "wordpaly"}, r"subset: there is no 'wordpaly'; .*a file of keys.* 'wordplay'"),
        ("humorbench", {"subset": "no/where.json"}, r"subset: there is no 'no/where.json'"),
        ("humorbench", {"subset": "a file of keys"}, r"subset: there is no 'a file of keys'"),
        (
            "humorbench_autograder",
            {"dataset": "no/where.csv"},
            r"where.csv: there is no such file.* in rubric/",
        ),
        ("humorbench_autograder", {"dataset": "sample,no/where.csv"}, r"dataset=no/where.csv: there is no such file"),
        ("humorbench_autograder", {"dataset": "nowhere"}, r"dataset=nowhere is neither .* nor a CSV file\."),
        ("humorbench_autograder", {"dataset": "{empty}"}, r"nor a CSV file\."),
        ("humorbench_autograder", {"on_unparsed": "random"}, r"on_unparsed: there is no 'random'; choose from exclude"),
        ("humorbench_autograder", {"shots": 1}, r"shots: the judge's prompt has no worked examples"),
        ("humorbench_autograder", {"revision": "main"}, r"revision: .*for other files use dataset=<file>"),
    ],
)
def test_bad_parameters(tmp_path: Path, task: str, parameters: dict[str, Any], message: str) -> None:
    if parameters.get("dataset") == "{empty}":
        parameters = {"dataset": str(tmp_path)}
    with pytest.raises(BadInput, match=message):
        load(task, **{"dataset": "sample"} | parameters)


# ---- the public files ---------------------------------------------------------------------------


class Files(ThreadingHTTPServer):
    """Serves `held` (path -> content) and keeps the paths asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.held: dict[str, bytes] = {}
        self.asked: list[str] = []

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Files

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.held.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def files() -> Iterator[Files]:
    server = Files()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Files]:
    """The sample stands in for the public elements, which have two addresses."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    digest = hashlib.sha256(ELEMENTS.read_bytes()).hexdigest()
    with files() as server:
        addresses = (server.url("/old.csv"), server.url("/new.csv"))
        monkeypatch.setattr(corpus, "PINNED", corpus.PINNED | {corpus.ELEMENTS: (digest, addresses)})
        yield server


def kept(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "home").rglob("*") if path.is_file()]


def test_the_public_file_is_fetched_once(public: Files, tmp_path: Path) -> None:
    public.held["/old.csv"] = ELEMENTS.read_bytes()
    first, second = load("humorbench"), load("humorbench", subset="all")
    assert public.asked == ["/old.csv"]
    assert first.records == second.records == load("humorbench", dataset="sample").records
    (path,) = kept(tmp_path)
    assert path.read_bytes() == ELEMENTS.read_bytes()
    about = first.data.provenance
    assert (about["dataset"], about["revision"]) == (corpus.PUBLIC, corpus.COMMITS[corpus.ELEMENTS])
    assert f"data:{corpus.PUBLIC}|rev:{about['revision']}" in str(first.signature("generate"))


def test_the_second_address_is_tried(public: Files) -> None:
    public.held["/new.csv"] = ELEMENTS.read_bytes()
    assert len(load("humorbench").records) == 38
    assert public.asked == ["/old.csv", "/new.csv"]


def test_changed_content_is_never_used(public: Files, tmp_path: Path) -> None:
    changed = ELEMENTS.read_bytes().replace(b"disco", b"DISCO")
    public.held = {"/old.csv": changed, "/new.csv": changed}
    digest = corpus.PINNED[corpus.ELEMENTS][0]
    for _ in range(2):
        with pytest.raises(BadInput) as caught:
            load("humorbench")
        for message in (digest, "/old.csv has other content", "/new.csv has other content", "dataset=<file>"):
            assert message in str(caught.value)
        assert kept(tmp_path) == []
    public.held["/new.csv"] = ELEMENTS.read_bytes()
    assert load("humorbench").data.provenance["fingerprint"] == digest


def test_nothing_to_be_reached(public: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with files() as gone:
        addresses = (gone.url("/old.csv"), gone.url("/new.csv"))
    monkeypatch.setitem(corpus.PINNED, corpus.ELEMENTS, (corpus.PINNED[corpus.ELEMENTS][0], addresses))
    with pytest.raises(BadInput) as caught:
        load("humorbench")
    for message in (corpus.ELEMENTS, *addresses, "ConnectionError", "Download it yourself", "dataset=<file>"):
        assert message in str(caught.value)
    assert "dataset=sample is the packaged sample" in str(caught.value)
    assert kept(tmp_path) == []


def test_a_damaged_copy_is_fetched_anew(public: Files, tmp_path: Path) -> None:
    public.held["/old.csv"] = ELEMENTS.read_bytes()
    load("humorbench")
    (path,) = kept(tmp_path)
    path.write_bytes(path.read_bytes()[:-100])
    assert len(load("humorbench").records) == 38
    assert path.read_bytes() == ELEMENTS.read_bytes()
    assert public.asked == ["/old.csv"] * 2
    path.write_bytes(b"")
    public.held.clear()  # damaged, and nowhere to be had: told, not used
    with pytest.raises(BadInput, match="could not be downloaded"):
        load("humorbench")


def test_the_public_exam_is_both_rubrics(public: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = rows_of(RUBRIC)
    for name, part in zip(REAL_RUBRICS, (rows[:20], rows[20:]), strict=True):
        body = Path(write_rows(tmp_path / "part.csv", part)).read_bytes()
        public.held[f"/{name}"] = body
        monkeypatch.setitem(corpus.PINNED, name, (hashlib.sha256(body).hexdigest(), (public.url(f"/{name}"),)))
    exam = load("humorbench_autograder")
    assert exam.records == load("humorbench_autograder", dataset="sample").records
    assert public.asked == [f"/{name}" for name in REAL_RUBRICS]
    assert exam.data.provenance["configs"] == list(REAL_RUBRICS)
    assert exam.data.provenance["revision"] == corpus.COMMITS["gpt_4o_rubric.csv"]
    other = write_rows(tmp_path / "other.csv", [rows[0] | {"explainer_model": "another"}])
    assert len(load("humorbench_autograder", dataset=f"{corpus.PUBLIC},{other}").records) == 41

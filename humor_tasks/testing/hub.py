"""A local Hugging Face hub for tests: dataset repositories served from local folders on 127.0.0.1.

It supports the requests of `huggingface_hub` and `datasets` (repository info, file tree, paths info, downloads with
HEAD and Range). It logs requests, so that a test can check how many bytes of which file were downloaded.

    with HubServer() as hub:
        hub.add("owner/name", folder)
        subprocess.run(..., env={**os.environ, "HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path)})
        assert hub.bytes_of("matching/test.parquet") < 50_000

The hub's client reads HF_ENDPOINT when it is imported, so set it before, as for the process above.

`python -m humor_tasks.testing.hub FOLDER owner/name` serves one folder from the command line.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_DATA = (".parquet", ".jsonl", ".csv", ".png", ".jpg")


@dataclass
class Repo:
    """One dataset repository: branch name -> commit, and commit -> folder."""

    branches: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Path] = field(default_factory=dict)
    gated: bool = False


@dataclass(frozen=True)
class Request:
    """One request and its response; `sent` is the number of bytes in the response body."""

    method: str
    path: str
    status: int
    sent: int
    byte_range: str | None


def commit_of(folder: Path) -> str:
    """A hash of a folder's files in the form of a commit; equal for equal content."""
    digest = hashlib.sha1()
    for file in _files(folder):
        digest.update(f"{file.relative_to(folder).as_posix()}\0{_etag(file)}\0".encode())
    return digest.hexdigest()


class HubServer:
    """The server; use it as a context manager. `log` holds every request in the order of arrival."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.log: list[Request] = []
        self.data_requests_left: int | None = None
        """If set, the number of further data requests before files return 404, to interrupt a download midway."""
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> HubServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(
        self, repo_id: str, folder: Path, *, branch: str = "main", gated: bool = False, commit: str | None = None
    ) -> str:
        """Serve `folder` as the newest commit of a branch; returns the commit. commit: its name, such as a pin; by
        default a hash of the files.
        """
        repo = self.repos.setdefault(repo_id, Repo())
        commit = commit or commit_of(folder)
        repo.branches[branch] = commit
        repo.commits[commit] = folder
        repo.gated = gated
        return commit

    def forget_requests(self) -> None:
        """Clear the log."""
        self.log.clear()

    def served(self) -> Counter[str]:
        """Bytes of file content sent, by path in the repository."""
        counts: Counter[str] = Counter()
        for request in self.log:
            if "/resolve/" in request.path and request.status < 300:
                counts[request.path.split("/resolve/", 1)[1].split("/", 1)[1]] += request.sent
        return counts

    def bytes_of(self, path: str) -> int:
        """Bytes sent of one file of a repository."""
        return self.served()[path]

    def data_requests(self) -> list[Request]:
        """The requests that fetched data files (README and the like left out)."""
        return [r for r in self.log if "/resolve/" in r.path and r.path.endswith(_DATA) and r.status < 300]


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        # Split before decoding, because a revision such as refs%2Fconvert%2Fparquet is one part.
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        if parts[:2] == ["api", "datasets"] and len(parts) >= 4:
            self._api("/".join(parts[2:4]), parts[4:], parse_qs(url.query), body)
        elif parts[0] == "datasets" and len(parts) >= 6 and parts[3] == "resolve":
            self._file("/".join(parts[1:3]), parts[4], "/".join(parts[5:]))
        else:
            self._refuse(404, "EntryNotFound")

    def _folder(self, repo_id: str, revision: str) -> tuple[str, Path] | None:
        repo = self.hub.repos.get(repo_id)
        commit = repo.branches.get(revision, revision) if repo else ""
        if repo is None:
            self._refuse(404, "RepoNotFound")
        elif repo.gated:
            self._refuse(403, "GatedRepo")
        elif commit not in repo.commits:
            self._refuse(404, "RevisionNotFound")
        else:
            return commit, repo.commits[commit]
        return None

    def _api(self, repo_id: str, rest: list[str], query: dict[str, list[str]], body: bytes) -> None:
        action = rest[0] if rest else "revision"
        snapshot = self._folder(repo_id, rest[1] if len(rest) > 1 else "main")
        if snapshot is None:
            return
        commit, folder = snapshot
        if action == "revision":
            names = [{"rfilename": file.relative_to(folder).as_posix()} for file in _files(folder)]
            self._json({"id": repo_id, "sha": commit, "private": False, "gated": False, "tags": [], "siblings": names})
        elif action == "tree":
            start = folder.joinpath(*rest[2:])
            if not start.is_dir():
                self._refuse(404, "EntryNotFound")
                return
            deep = query.get("recursive", ["false"])[0].lower() in ("true", "1")
            self._json([_entry(folder, path) for path in sorted(start.rglob("*") if deep else start.iterdir())])
        elif action == "paths-info":
            asked = json.loads(body) if body.startswith(b"{") else parse_qs(body.decode())
            paths = asked.get("paths", [])
            paths = [paths] if isinstance(paths, str) else paths
            self._json([_entry(folder, folder / path) for path in paths if (folder / path).exists()])
        else:
            self._refuse(404, "EntryNotFound")

    def _file(self, repo_id: str, revision: str, path: str) -> None:
        snapshot = self._folder(repo_id, revision)
        if snapshot is None:
            return
        commit, folder = snapshot
        file = folder / path
        left = self.hub.data_requests_left
        if left is not None and path.endswith(_DATA):
            self.hub.data_requests_left = max(left - 1, 0)
        if not file.is_file() or (left == 0 and path.endswith(_DATA)):
            self._refuse(404, "EntryNotFound", {"X-Repo-Commit": commit})
            return
        headers = {"X-Repo-Commit": commit, "ETag": f'"{_etag(file)}"', "Accept-Ranges": "bytes"}
        size = file.stat().st_size
        asked = self.headers.get("Range")
        if not asked:
            self._send(200, file.read_bytes(), headers)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start = int(first) if first else max(size - int(last), 0)
        end = min(int(last), size - 1) if first and last else size - 1
        if start >= size:
            self._refuse(416, "RangeNotSatisfiable", {"Content-Range": f"bytes */{size}"})
            return
        with file.open("rb") as handle:
            handle.seek(start)
            part = handle.read(end - start + 1)
        self._send(206, part, {**headers, "Content-Range": f"bytes {start}-{end}/{size}"})

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _refuse(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self._send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": code, **(headers or {})})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        sent = 0 if self.command == "HEAD" else len(body)
        asked = self.headers.get("Range")
        # Logged before sending, so that the request is in the log when the client has its response.
        self.hub.log.append(Request(self.command, urlsplit(self.path).path, status, sent, asked))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if sent:
            self.wfile.write(body)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


_ETAGS: dict[tuple[Path, int], str] = {}


def _etag(file: Path) -> str:
    key = (file, file.stat().st_mtime_ns)
    if key not in _ETAGS:
        _ETAGS[key] = hashlib.sha1(file.read_bytes()).hexdigest()
    return _ETAGS[key]


def _entry(folder: Path, path: Path) -> dict[str, Any]:
    name = path.relative_to(folder).as_posix()
    if path.is_dir():
        return {"type": "directory", "oid": hashlib.sha1(name.encode()).hexdigest(), "size": 0, "path": name}
    return {"type": "file", "oid": _etag(path), "size": path.stat().st_size, "path": name}


if __name__ == "__main__":
    with HubServer() as stand_in:
        print(f"HF_ENDPOINT={stand_in.endpoint}  commit {stand_in.add(sys.argv[2], Path(sys.argv[1]))}", flush=True)
        threading.Event().wait()

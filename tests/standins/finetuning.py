"""A scripted provider of fine-tuning on 127.0.0.1: the files and jobs of OpenAI's API, a page of two at a time."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

PAGE = 2
LOST = -1
"""Instead of a status: the request is carried out, and the connection closed without an answer."""
Fault = Callable[[int, str, str], int | None]


class Provider(ThreadingHTTPServer):
    """Use it as a context manager.

    fault: function of a request's number (from 1), method and path that returns None, `LOST`, or the status of a
    refusal; a status above 1000 is that of an answer to a request that was carried out all the same.
    statuses: of a job, one a look; the last one stays. file_statuses: of an uploaded file, likewise.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fault: Fault = lambda number, method, path: None
        self.statuses = ["running", "succeeded"]
        self.file_statuses = ["uploaded", "processed"]
        self.error: dict[str, Any] | None = None
        self.status_details: str | None = None
        self.page = b""
        """Answered in the place of everything, as by a web server."""
        self.files: dict[str, dict[str, Any]] = {}
        self.content: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str]] = []
        self.headers: list[str] = []

    def __enter__(self) -> Provider:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def add_file(self, name: str, content: bytes) -> dict[str, Any]:
        """An uploaded file."""
        made = {"id": f"file-{len(self.files) + 1}", "object": "file", "bytes": len(content), "created_at": 0}
        made |= {"filename": name, "purpose": "fine-tune", "looks": 0}
        self.files[made["id"]], self.content[made["id"]] = made, content
        return made

    def add_job(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A started job."""
        made = {"id": f"ftjob-{len(self.jobs) + 1}", "object": "fine_tuning.job", "created_at": len(self.jobs)}
        made |= {"organization_id": "org", "result_files": [], "seed": 0, "hyperparameters": {"n_epochs": "auto"}}
        self.jobs[made["id"]] = made | asked | {"looks": 0}
        return self.jobs[made["id"]]

    def shown_file(self, file: dict[str, Any], look: bool = False) -> dict[str, Any]:
        """A file as the API shows it."""
        status = self.file_statuses[min(file["looks"], len(self.file_statuses) - 1)]
        file["looks"] += look
        details = self.status_details if status == "error" else None
        return {name: value for name, value in file.items() if name != "looks"} | {
            "status": status,
            "status_details": details,
        }

    def shown_job(self, job: dict[str, Any], look: bool = False) -> dict[str, Any]:
        """A job as the API shows it."""
        status = job.get("status") or self.statuses[min(job["looks"], len(self.statuses) - 1)]
        job["looks"] += look
        done = status == "succeeded"
        return {name: value for name, value in job.items() if name != "looks"} | {
            "status": status,
            "fine_tuned_model": f"ft:{job['model']}:org:{job.get('suffix') or ''}:{job['id']}" if done else None,
            "trained_tokens": 1234 if done else None,
            "error": self.error if status == "failed" else None,
        }


class _Handler(BaseHTTPRequestHandler):
    server: Provider
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece: the second of two waits for the first one's acknowledgement

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        path = url.path.removeprefix("/v1/")
        self.server.requests.append((self.command, path))
        self.server.headers.append(str(self.headers))
        fault = self.server.fault(len(self.server.requests), self.command, path)
        if fault is not None and 0 < fault < 1000:
            message = f"fault {fault}; Authorization was {self.headers.get('Authorization')}\x1b[2J"
            self._send(fault, {"error": {"message": message, "type": "fault", "code": None, "param": None}})
            return
        status, reply = self._carried_out(path, parse_qs(url.query), body)
        if fault == LOST:
            self.close_connection = True
            return
        self._send(fault - 1000 if fault else status, reply)

    def _carried_out(self, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, dict[str, Any]]:
        server, parts = self.server, path.split("/")
        if self.command == "POST" and parts == ["files"]:
            return 200, server.shown_file(server.add_file(*self._uploaded(body)))
        if self.command == "POST" and parts == ["fine_tuning", "jobs"]:
            return 200, server.shown_job(server.add_job(json.loads(body)))
        if parts == ["files"]:
            return 200, self._page([server.shown_file(file) for file in server.files.values()], query)
        if parts == ["fine_tuning", "jobs"]:
            asked = {name[9:-1]: values[0] for name, values in query.items() if name.startswith("metadata[")}
            found = [job for job in reversed(server.jobs.values()) if asked.items() <= job["metadata"].items()]
            return 200, self._page([server.shown_job(job) for job in found], query)
        if parts[0] == "files" and parts[1] in server.files:
            return 200, server.shown_file(server.files[parts[1]], look=True)
        if parts[:2] == ["fine_tuning", "jobs"] and parts[2] in server.jobs:
            job = server.jobs[parts[2]]
            if parts[3:] == ["events"]:
                events = [
                    {"id": f"e{i}", "object": "fine_tuning.job.event", "created_at": i, "level": "info"}
                    | {"message": f"Step {i}/4\x1b[2J", "type": "message"}
                    for i in range(job["looks"] + 1)
                ]
                return 200, {"object": "list", "data": events[::-1], "has_more": False}
            return 200, server.shown_job(job, look=True)
        return 404, {"error": {"message": f"no such thing: {path}", "type": "invalid_request_error"}}

    def _page(self, found: list[dict[str, Any]], query: dict[str, list[str]]) -> dict[str, Any]:
        ids = [each["id"] for each in found]
        start = ids.index(query["after"][0]) + 1 if "after" in query else 0
        return {"object": "list", "data": found[start : start + PAGE], "has_more": len(found) > start + PAGE}

    def _uploaded(self, body: bytes) -> tuple[str, bytes]:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        parts = list(message_from_bytes(head + body, policy=policy.HTTP).iter_parts())
        (file,) = (part for part in parts if part.get_filename())
        (purpose,) = (part.get_content().strip() for part in parts if not part.get_filename())
        assert purpose == "fine-tune"
        return str(file.get_filename()), file.get_payload(decode=True)

    def _send(self, status: int, reply: dict[str, Any]) -> None:
        data = self.server.page or json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if self.server.page else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("retry-after-ms", "1")  # what the library waits before it repeats a look
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass

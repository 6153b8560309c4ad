"""A scripted server of OpenAI's batches on 127.0.0.1: files go up, a batch is made of one, polled, and its output read."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from typing import Any

from humor_tasks.testing.chat import ChatServer, Reply, Rule, _Handler
from humor_tasks.testing.script import Flag


class BatchServer(ChatServer):
    """Answers the requests of a batch by script when it is polled; use it as a context manager.

    batches: the bodies of the requests in each batch, in order of creation. held: while True a batch stays in progress;
    what was made until then is worked off and paid for all the same, see `work_off`. made: set with the first batch.
    paid: how often each last message was answered.
    """

    def __init__(self, script: Reply | list[Reply] | Rule) -> None:
        super().__init__(script)
        self.RequestHandlerClass = _Batches
        self.files: dict[str, str] = {}
        self.batches: list[list[dict[str, Any]]] = []
        self.outputs: dict[int, str] = {}
        self.held = False
        self.made = threading.Event()

    @property
    def paid(self) -> Counter[str]:
        """How often each last message was answered."""
        return Counter(json.dumps(body["messages"][-1]) for body in self.requests)

    def store(self, text: str) -> dict[str, Any]:
        """A file's object."""
        identity = f"file-{len(self.files)}"
        self.files[identity] = text
        return {"id": identity, "object": "file", "bytes": len(text), "created_at": 0, "filename": "f", "purpose": "batch"}

    def make(self, file: str) -> dict[str, Any]:
        """The object of a new batch of a file."""
        self.batches.append([json.loads(line)["body"] for line in self.files[file].splitlines()])
        made = self.batch(len(self.batches) - 1, file)
        self.made.set()
        return made

    def batch(self, number: int, file: str) -> dict[str, Any]:
        """The object of a batch; it is worked off when it is polled, unless it is held."""
        if not self.held and number not in self.outputs:
            self.work_off(number, file)
        done = number in self.outputs
        counts = {"total": len(self.batches[number]), "completed": len(self.batches[number]) * done, "failed": 0}
        told = {"id": f"batch-{number}-{file}", "object": "batch", "endpoint": "/v1/chat/completions", "created_at": 0}
        told |= {"input_file_id": file, "completion_window": "24h", "request_counts": counts}
        return told | ({"status": "completed", "output_file_id": self.outputs[number]} if done else {"status": "in_progress"})

    def work_off(self, number: int, file: str) -> None:
        """Answer all requests of a batch."""
        lines = []
        for line in self.files[file].splitlines():
            asked = json.loads(line)
            status, body = self.completion(asked["body"])
            response = {"status_code": status, "request_id": "r", "body": body}
            error = None if status == 200 else {"code": status, "message": body["error"]["message"]}
            lines.append(json.dumps({"custom_id": asked["custom_id"], "response": response, "error": error}))
        self.outputs[number] = self.store("\n".join(lines))["id"]


class _Batches(_Handler):
    server: BatchServer

    def do_POST(self) -> None:
        if self.path.endswith("/chat/completions"):
            return super().do_POST()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/files"):
            (text,) = re.findall(rb'name="file"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(.*?)\r\n--', body, re.DOTALL)
            return self._send(200, self.server.store(text.decode()))
        return self._send(200, self.server.make(json.loads(body)["input_file_id"]))

    def do_GET(self) -> None:
        if content := re.search(r"/files/([\w-]+)/content", self.path):
            data = self.server.files[content[1]].encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        else:
            number, _, file = self.path.rpartition("/batch-")[2].partition("-")
            self._send(200, self.server.batch(int(number), file))

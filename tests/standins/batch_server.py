"""A scripted server of OpenAI's batches on 127.0.0.1: a file goes up, becomes a batch, is polled, and is read."""

from __future__ import annotations

import json
import re
from typing import Any

from humor_tasks.testing.chat import ChatServer, Reply, Rule, _Handler


class BatchServer(ChatServer):
    """Answers chat completions and the requests of batches by script; use it as a context manager.

    batches: the bodies of the requests in each batch, in order of creation. hold_from: the number of the first batch
    that stays in progress; None: none does. What is in such a batch is answered, and paid for, all the same: the
    provider works it off, whoever waits for it.
    """

    def __init__(self, script: Reply | list[Reply] | Rule) -> None:
        super().__init__(script)
        self.RequestHandlerClass = _Batches
        self.files: list[str] = []
        self.batches: list[list[dict[str, Any]]] = []
        self.outputs: list[str] = []
        self.hold_from: int | None = None

    def batched(self) -> list[tuple[str, int]]:
        """Model and number of requests of each batch."""
        return [(batch[0]["model"], len(batch)) for batch in self.batches]

    def paid(self, model: str) -> int:
        """How many questions to a model were answered."""
        return sum(body["model"] == model for body in self.requests)

    def store(self, text: str) -> dict[str, Any]:
        """The object of a new file."""
        self.files.append(text)
        told = {"id": f"file-{len(self.files) - 1}", "object": "file", "bytes": len(text), "created_at": 0}
        return told | {"filename": "requests.jsonl", "purpose": "batch"}

    def make(self, file: str) -> dict[str, Any]:
        """The object of a new batch of a file."""
        lines = [json.loads(line) for line in self.files[int(file.removeprefix("file-"))].splitlines()]
        self.batches.append([line["body"] for line in lines])
        self.outputs.append(self.store("\n".join(json.dumps(self._line(line)) for line in lines))["id"])
        return self.batch(len(self.batches) - 1)

    def _line(self, asked: dict[str, Any]) -> dict[str, Any]:
        status, body = self.completion(asked["body"])
        error = None if status == 200 else {"code": status, "message": body["error"]["message"]}
        response = {"status_code": status, "request_id": "r", "body": body}
        return {"custom_id": asked["custom_id"], "response": response, "error": error}

    def batch(self, number: int) -> dict[str, Any]:
        """The object of a batch."""
        done = self.hold_from is None or number < self.hold_from
        counts = {"total": len(self.batches[number]), "completed": len(self.batches[number]) * done, "failed": 0}
        told = {"id": f"batch-{number}", "object": "batch", "endpoint": "/v1/chat/completions", "created_at": 0}
        told |= {"input_file_id": "file-0", "completion_window": "24h", "request_counts": counts}
        ended = {"status": "completed", "output_file_id": self.outputs[number]}
        return told | (ended if done else {"status": "in_progress"})


class _Batches(_Handler):
    server: BatchServer

    def do_POST(self) -> None:  # noqa: N802
        if self.path.endswith("/chat/completions"):
            return super().do_POST()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/batches"):
            return self._send(200, self.server.make(json.loads(body)["input_file_id"]))
        (text,) = re.findall(rb'name="file"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(.*?)\r\n--', body, re.DOTALL)
        return self._send(200, self.server.store(text.decode()))

    def do_GET(self) -> None:  # noqa: N802
        kind, number = re.findall(r"/(file|batch)-(\d+)", self.path)[0]
        if kind == "batch":
            return self._send(200, self.server.batch(int(number)))
        return self._send_bytes(200, self.server.files[int(number)].encode())

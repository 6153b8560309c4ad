"""A scripted OpenAI-compatible chat server on 127.0.0.1.

    with ChatServer(lambda messages: f"You said: {text_of(messages[-1])}") as server:
        env = {**os.environ, "MINE_API_KEY": "none", "MINE_BASE_URL": server.url}
        subprocess.run(["inspect", "eval", "humor_tasks/matching", "--model", "openai-api/mine/m"], env=env, check=True)
        assert server.requests[0]["model"] == "m"

It serves until the block ends.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from humor_tasks.testing.script import REFUSED, Flag, by_rule

Reply = str | Flag | Exception | Mapping[str, Any]
Rule = Callable[[list[dict[str, Any]]], Reply]


class ChatServer(ThreadingHTTPServer):
    """Answers chat completions by script; use it as a context manager.

    script: one reply for every request; a list with one reply per request; or a function of the request's messages. A
    reply is text, `REFUSED`, an exception, or a mapping: the API's form of a choice, such as one with `logprobs`. An
    exception becomes HTTP status 500; `ConnectionError` closes the connection without a response.

    `url` is the base URL of the API; `requests` holds the request bodies in order of arrival.
    """

    daemon_threads = True

    def __init__(self, script: Reply | Sequence[Reply] | Rule) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = by_rule(script)
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def __enter__(self) -> ChatServer:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()

    def completion(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """HTTP status and response to the body of a request. Raises ConnectionError where the script does."""
        with self.lock:
            self.requests.append(body)
        try:
            answer = self.answer(body["messages"])
        except ConnectionError:
            raise
        except Exception as problem:
            return 500, {"error": {"message": str(problem), "type": type(problem).__name__}}
        choice = answer if isinstance(answer, Mapping) else _choice(answer)
        return 200, {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", **choice}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints the error; nothing for a client that went away, as where a run ends at its first refusals."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """The base URL of the API, for a client's `base_url`."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        if len(data := self.rfile.read(length)) < length:
            raise ConnectionAbortedError("the client went away")
        self._send(*self.server.completion(json.loads(data)))  # ConnectionError: closed without a response

    def _send(self, status: int, reply: dict[str, Any]) -> None:
        self._send_bytes(status, json.dumps(reply).encode())

    def _send_bytes(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


def _choice(reply: str | Flag) -> dict[str, Any]:
    refused = reply is REFUSED
    message = {"role": "assistant", "content": "" if refused else reply}
    return {"message": message, "finish_reason": "content_filter" if refused else "stop"}


def text_of(message: dict[str, Any]) -> str:
    """The text of a message in a request's body, whether its content is a string or parts."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")

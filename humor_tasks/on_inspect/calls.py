"""Model calls outside an evaluation: each reply is logged immediately, and no call is repeated.

The log is also the cache: an append-only file of JSON lines. An interrupted run resumes with the missing calls; a
partial last line is dropped. Two concurrent runs cannot share a log: one of them fails. Prompts are logged as text, and
media as SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelOutput

from humor_tasks.errors import BadInput
from humor_tasks.files.append_log import ReplyStore
from humor_tasks.files.secrets import without_credentials
from humor_tasks.logs.record import model_wrote
from humor_tasks.on_inspect.client import identity
from humor_tasks.on_inspect.handles import in_process
from humor_tasks.on_inspect.messages import in_thread, turn_messages
from humor_tasks.rows.records import Prompt


class Calls:
    """Logged replies by request; `made` counts this run's calls, `kept` the replies reused from the log."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.made = self.kept = 0
        self._store = ReplyStore(path)
        self.known = self._store.replies
        self._is_open = False
        if os.path.exists(path):
            self._open()

    def _open(self) -> None:
        def read(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
            return call["key"], {name: call[name] for name in ("reply", "stop_reason")}

        if not self._is_open:
            self._store.open_records("key", read, "It is not a log of model calls; give another file with -o.")
        self._is_open = True

    async def ask(self, model: Model, prompt: Prompt, config: GenerateConfig, about: Mapping[str, Any]) -> ModelOutput:
        """The model's reply, from the log where it has the same request; `about` is logged with the reply.

        Raises BadInput where the request fails permanently; earlier replies stay in the log.
        """
        texts = [
            {"role": turn.role, "text": turn.text, "media": [m.identity() for m in (turn.picture, turn.clip) if m]}
            for turn in prompt.turns
        ]
        how = [[t.clip.frames, t.clip.sampling] for t in prompt.turns if t.clip]
        settings = model.config.merge(config).model_dump(exclude_none=True)
        request = {"model": str(model), **identity(model), "config": settings, "messages": texts, "clips": how}
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
        if key in self.known:
            self.kept += 1
        else:
            self._open()  # before the request, because a reply that cannot be logged would be lost
            try:
                messages = await in_thread(turn_messages, prompt.turns, True, in_process(model))
                output = await model.generate(messages, config=config)
            except BadInput:
                raise
            except Exception as problem:
                why = without_credentials(" ".join(f"{type(problem).__name__}: {problem}".split()))[:500]
                raise BadInput(
                    f"{model}: {why} Earlier replies are kept in {self.path}; run the command again to continue."
                ) from problem
            usage = output.usage.model_dump(exclude_none=True) if output.usage else None
            refused = model_wrote(output)[1]
            stopped = "content_filter" if refused else output.stop_reason if output.choices else "unknown"
            answer = {"reply": output.completion, "stop_reason": stopped}
            call = {"key": key, **about, **request, **answer, "usage": usage, "time": time.time()}
            self._store.keep(key, answer, call)
            self.made += 1
        logged = self.known[key]
        return ModelOutput.from_content(str(model), logged["reply"], stop_reason=logged["stop_reason"])

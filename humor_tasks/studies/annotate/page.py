"""The page, in Gradio, which is imported here only.

The browser holds who is voting and on what, and sends both with every vote: the server keeps nothing but
votes, and a page that is open while it is restarted goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.studies.annotate import render
from humor_tasks.studies.annotate.desk import LONGEST_REASON, Desk, View

# Read by gradio when it is imported: no usage data, no history of what was entered.
os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_RUN_HISTORY": "False"}

import gradio as gr

_FOLDER = Path(__file__).parent
# The page needs nothing from elsewhere; this keeps it so, whatever an explanation holds.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
)
_WELCOME = """<h1>Welcome</h1>
<p>Say what you think: your own judgement is what is asked for. Every vote is saved at once. You may stop at any
time and go on later with the same rater id.</p>"""


class Page:
    """The page of a desk: its components, and what a view makes of them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.most = max(len(item.options) for item in desk.items.values())
        with gr.Blocks(title="Votes", analytics_enabled=False) as self.blocks:
            self._lay_out()
            self._connect()

    def _lay_out(self) -> None:
        self.rater, self.item = gr.Textbox(visible=False), gr.Textbox(visible=False)
        self.progress, self.note = gr.HTML(elem_id="progress"), gr.HTML(elem_id="note")
        with gr.Column() as self.login:
            gr.HTML(_WELCOME, elem_id="welcome")
            self.name = gr.Textbox(label="Your rater id (letters, digits, - _ .)", max_length=40, elem_id="name")
            self.start = gr.Button("Start", variant="primary", elem_id="start")
        with gr.Column(visible=False) as self.shown:
            self.body = gr.HTML(elem_id="item")
        with gr.Column(visible=False) as self.ballot:
            label = "Why? (optional; before you choose)"
            self.reason = gr.Textbox(label=label, lines=2, max_length=LONGEST_REASON, elem_id="reason")
            with gr.Row(elem_id="votes"):
                self.votes = [
                    gr.Button(variant="primary", elem_id=f"vote-{place}", min_width=130) for place in range(self.most)
                ]
                self.tie = gr.Button("Equally good", visible=self.desk.ties, elem_id="tie", min_width=130)
        with gr.Column(visible=False) as self.after:
            self.undo = gr.Button("Undo my last vote", elem_id="undo")
            gr.HTML(render.keys(self.desk.ties, self.most), elem_id="keys")

    def _connect(self) -> None:
        changed = [self.rater, self.item, self.progress, self.note, self.login, self.shown, self.body]
        changed += [self.ballot, self.reason, *self.votes, self.after]

        def on(events: list[Any], answer: Callable[..., View], given: list[Any]) -> None:
            def press(*values: str) -> dict[Any, Any]:
                return self._updates(answer(*values))

            gr.on(events, press, given, changed, queue=False, show_progress="hidden", api_visibility="private")

        on([self.start.click, self.name.submit], partial(_enter, self.desk), [self.name])
        for place, button in [*enumerate(self.votes), (None, self.tie)]:
            on([button.click], partial(_vote, self.desk, place), [self.rater, self.item, self.reason])
        on([self.undo.click], partial(_undo, self.desk), [self.rater])

    def _updates(self, view: View) -> dict[Any, Any]:
        updates = {
            self.rater: view.rater,
            self.item: view.item.id if view.item else "",
            self.progress: render.progress(view),
            self.note: render.note(view),
            self.login: gr.update(visible=not view.rater),
            self.shown: gr.update(visible=bool(view.rater)),
            self.body: render.item(view) if view.rater else "",
            self.ballot: gr.update(visible=view.item is not None),
            self.reason: view.reason,
            self.after: gr.update(visible=bool(view.rater)),
        }
        for place, button in enumerate(self.votes):
            there = view.item is not None and place < len(view.item.options)
            updates[button] = gr.update(value=render.button(view, place), visible=there)
        return updates


def _enter(desk: Desk, name: str) -> View:
    try:
        return desk.enter(name)
    except BadInput as problem:
        return View("", 0, 0, None, note=str(problem))


def _vote(desk: Desk, place: int | None, rater: str, item: str, reason: str) -> View:
    try:
        return desk.vote(rater, item, place, reason)
    except BadInput as problem:
        return desk.view(rater, f"Your vote was not saved: {problem}", reason)


def _undo(desk: Desk, rater: str) -> View:
    try:
        return desk.undo(rater)
    except BadInput as problem:
        return desk.view(rater, f"Nothing was undone: {problem}")


class _Policy:
    """Adds the policy to every response."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", _POLICY.encode())]
            await send(message)

        await self.app(scope, receive, with_policy)


def serve(desk: Desk, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until interrupted; `ready` is told its address."""
    from starlette.middleware import Middleware

    blocks = Page(desk).blocks
    # gradio's own fonts would be fetched from elsewhere
    theme = gr.themes.Base(primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"])
    try:
        _, address, _ = blocks.launch(
            server_name=host,
            server_port=port,
            share=False,
            inbrowser=False,
            quiet=True,
            prevent_thread_lock=True,
            ssr_mode=False,
            pwa=False,
            mcp_server=False,
            enable_monitoring=False,
            footer_links=[],
            max_file_size="1kb",
            app_kwargs={"middleware": [Middleware(_Policy)]},
            theme=theme,
            css=(_FOLDER / "page.css").read_text(encoding="utf-8"),
            head=f"<script>{(_FOLDER / 'page.js').read_text(encoding='utf-8')}</script>",
        )
    except OSError as problem:
        raise BadInput(f"port {port} of {host} cannot be used ({problem}); choose another with --port.") from None
    ready(address)
    blocks.block_thread()

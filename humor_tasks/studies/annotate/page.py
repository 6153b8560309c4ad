"""The web page, in Gradio, which only this module imports.

The browser stores the annotator and the current item and sends both with every vote. The server stores only votes, so
an open page continues to work after a restart of the server.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.studies.annotate import render
from humor_tasks.studies.annotate.session import MAX_REASON, Session, View

# Read by gradio at import: no usage statistics, no history of inputs.
os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_RUN_HISTORY": "False"}

import gradio as gr

_FOLDER = Path(__file__).parent
# The page loads nothing from other servers; this policy enforces it for any content of an item.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
)
_WELCOME = """<h1>Welcome</h1>
<p>Please give your own judgement. Every vote is saved at once. You may stop at any time and continue later with the
same id.</p>"""


class Page:
    """The page of a session: its components, and their updates for a view."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.most = max(len(item.options) for item in session.items.values())
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
            self.reason = gr.Textbox(label=label, lines=2, max_length=MAX_REASON, elem_id="reason")
            with gr.Row(elem_id="votes"):
                self.votes = [
                    gr.Button(variant="primary", elem_id=f"vote-{place}", min_width=130) for place in range(self.most)
                ]
                self.tie = gr.Button("Equally good", visible=self.session.ties, elem_id="tie", min_width=130)
        with gr.Column(visible=False) as self.after:
            self.undo = gr.Button("Undo my last vote", elem_id="undo")
            gr.HTML(render.keys(self.session.ties, self.most), elem_id="keys")

    def _connect(self) -> None:
        changed = [self.rater, self.item, self.progress, self.note, self.login, self.shown, self.body]
        changed += [self.ballot, self.reason, *self.votes, self.after]

        def on(events: list[Any], answer: Callable[..., View], given: list[Any]) -> None:
            def press(*values: str) -> dict[Any, Any]:
                return self._updates(answer(*values))

            gr.on(events, press, given, changed, queue=False, show_progress="hidden", api_visibility="private")

        on([self.start.click, self.name.submit], partial(_enter, self.session), [self.name])
        for place, button in [*enumerate(self.votes), (None, self.tie)]:
            on([button.click], partial(_vote, self.session, place), [self.rater, self.item, self.reason])
        on([self.undo.click], partial(_undo, self.session), [self.rater])

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
            available = view.item is not None and place < len(view.item.options)
            updates[button] = gr.update(value=render.button(view, place), visible=available)
        return updates


def _enter(session: Session, name: str) -> View:
    try:
        return session.enter(name)
    except BadInput as problem:
        return View("", 0, 0, None, note=str(problem))


def _vote(session: Session, place: int | None, rater: str, item: str, reason: str) -> View:
    try:
        return session.vote(rater, item, place, reason)
    except BadInput as problem:
        return session.view(rater, f"Your vote was not saved: {problem}", reason)


def _undo(session: Session, rater: str) -> View:
    try:
        return session.undo(rater)
    except BadInput as problem:
        return session.view(rater, f"Nothing was undone: {problem}")


class _Policy:
    """Middleware that adds the content security policy to every response."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", _POLICY.encode())]
            await send(message)

        await self.app(scope, receive, with_policy)


def serve(session: Session, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve the page until interrupted; `ready` is called with its address. Raises BadInput where the port cannot be
    used.
    """
    from starlette.middleware import Middleware

    blocks = Page(session).blocks
    # gradio's default fonts would be loaded from another server
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

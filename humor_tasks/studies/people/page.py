"""The web page, in Gradio, which only this module imports.

The browser stores the annotator and the current item and sends both with every vote. The server stores only votes, so
an open page continues to work after a restart of the server. A page that Gradio reloads then returns to the same item.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from humor_tasks.contract.card import VOTES
from humor_tasks.errors import BadInput
from humor_tasks.studies.people import render
from humor_tasks.studies.people.session import MAX_REASON, Session, View
from humor_tasks.studies.people.votes import TIE

# Read by gradio at import: no usage statistics, no history of inputs.
os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "GRADIO_RUN_HISTORY": "False"}

import gradio as gr

_FOLDER = Path(__file__).parent
# The page loads nothing from other servers; this policy enforces it for any content of an item.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
)


class Page:
    """The page of a session: its components, and their updates for a view."""

    def __init__(self, session: Session, notice: str = "") -> None:
        self.session, self.notice = session, notice
        with gr.Blocks(title="Votes", analytics_enabled=False) as self.blocks:
            self._lay_out()
            self._connect()

    def _lay_out(self) -> None:
        self.rater, self.key, self.place = (gr.Textbox(visible=False) for _ in range(3))
        with gr.Row(elem_id="head"):
            self.progress = gr.HTML(elem_id="progress")
            self.leave = gr.Button("Not you?", visible=False, elem_id="leave")
        self.note = gr.HTML(elem_id="note")
        with gr.Column() as self.login:
            gr.HTML(render.around("welcome", self.notice), elem_id="welcome")
            self.name = gr.Textbox(label="Your rater id (letters, digits, - _ .)", max_length=40, elem_id="name")
            self.start = gr.Button("Start", variant="primary", elem_id="start")
        with gr.Column(visible=False) as self.shown:
            self.body = gr.HTML(elem_id="item")
        with gr.Column(visible=False) as self.after:
            with gr.Row(elem_id="more"):
                label = "Why? (optional; before you choose)"
                self.reason = gr.Textbox(label=label, lines=1, max_lines=8, max_length=MAX_REASON, elem_id="reason")
                self.undo = gr.Button("Undo my last vote", elem_id="undo")
            items = self.session.items.values()
            most = max(len(item.options) for item in items)
            first = min((VOTES[item.kind].first for item in items if not item.form), default=1)
            gr.HTML(render.around("keys", render.keys_help(self.session.ties, most, first)), elem_id="keys")
        # pressed by page.js
        self.send, self.back = (gr.Button(visible="hidden", elem_id=name) for name in ("send", "return"))

    def _connect(self) -> None:
        changed = [self.rater, self.key, self.progress, self.leave, self.note, self.login, self.shown, self.body]
        changed += [self.reason, self.after]

        def on(events: list[Any], answer: Callable[..., View], given: list[Any], js: str | None = None) -> None:
            def press(*values: str) -> dict[Any, Any]:
                return self._updates(answer(self.session, *values))

            gr.on(events, press, given, changed, js=js, queue=False, show_progress="hidden", api_visibility="private")

        on([self.start.click, self.name.submit], _enter, [self.name])
        on([self.back.click], _return, [self.rater, self.key, self.reason], "() => window.openVote()")
        voted = "(rater, key, place, reason) => [rater, key, window.chosen, reason]"
        on([self.send.click], _vote, [self.rater, self.key, self.place, self.reason], voted)
        on([self.undo.click], _undo, [self.rater])

    def _updates(self, view: View) -> dict[Any, Any]:
        return {
            self.rater: view.rater,
            self.key: view.key,
            self.progress: render.around("progress", view),
            self.leave: gr.update(visible=bool(view.rater)),
            self.note: render.around("note", view),
            self.login: gr.update(visible=not view.rater),
            self.shown: gr.update(visible=bool(view.rater)),
            self.body: render.item(view, self.session.ties) if view.rater else "",
            self.reason: gr.update(value=view.reason, visible=view.item is not None and not view.item.form),
            self.after: gr.update(visible=bool(view.rater)),
        }


def _enter(session: Session, name: str) -> View:
    try:
        return session.enter(name)
    except BadInput as problem:
        return View("", 0, 0, None, note=str(problem))


def _return(session: Session, rater: str, key: str, reason: str) -> View:
    """The annotator's page after a reload, with the reason as far as it was written for the same item."""
    view = _enter(session, rater)
    return replace(view, reason=reason) if view.item and view.key == key else view


def _vote(session: Session, rater: str, key: str, place: str, reason: str) -> View:
    try:
        if place.startswith("{"):
            return session.fill(rater, key, json.loads(place))
        return session.vote(rater, key, None if place == TIE else int(place), reason)
    except ValueError as problem:  # BadInput, or no number or form from a changed page
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


def serve(session: Session, host: str, port: int, ready: Callable[[str], None], notice: str = "") -> None:
    """Serve the page until interrupted; `ready` is called with its address. notice: a text on the first page.

    Raises BadInput where the port cannot be used.
    """
    from starlette.middleware import Middleware

    blocks = Page(session, notice).blocks
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

"""HTML rendering of a view. All texts of files and annotators are escaped."""

from __future__ import annotations

import base64
import html
import io
from functools import lru_cache

from humor_tasks.benchmarks.uses import VOTES
from humor_tasks.data.media.picture import Picture
from humor_tasks.studies.annotate.pairs import Item
from humor_tasks.studies.annotate.session import View
from humor_tasks.studies.annotate.vote import TIE

MAX_SIDE = 1200  # pixels


def progress(view: View) -> str:
    """The annotator's id and progress."""
    if not view.total:
        return ""
    now = min(view.done + 1, view.total) if view.item else view.total
    progress_text = f"{now} of {view.total}" if view.item else f"{view.done} of {view.total} done"
    bar = f'<div class="track"><span style="width:{100 * view.done / view.total:.1f}%"></span></div>'
    return (
        f'<p class="who">Rater <strong>{html.escape(view.rater)}</strong></p><p class="count">{progress_text}</p>{bar}'
    )


def note(view: View) -> str:
    """A message to the annotator."""
    return f'<p class="note">{html.escape(view.note)}</p>' if view.note else ""


def item(view: View, ties: bool = False) -> str:
    """The cartoon, its caption and the options as buttons, numbered as in this view; a closing message when nothing is
    left.

    The heading carries the annotator and the view's key, by which the page continues after a reload.
    """
    heading = f'<h1 id="question" tabindex="-1" data-rater="{html.escape(view.rater)}" data-key="{view.key}">'
    if view.item is None:
        thanks = f"You have voted on all {view.total} items. Thank you! Every vote is saved; you may close this page."
        return f"{heading}Done</h1><p>{thanks}</p>"
    buttons = "".join(
        f'<button type="button" id="vote-{place}"><span class="number">{place + 1}</span> '
        f'<span class="text">{html.escape(view.item.options[i])}</span></button>'
        for place, i in enumerate(view.order)
    )
    if ties:
        buttons += f'<button type="button" id="vote-{TIE}">Equally good</button>'
    group = f'<div id="votes" class="{view.item.kind}" role="group" aria-labelledby="question">{buttons}</div>'
    return f"{heading}{VOTES[view.item.kind].question}</h1>{_scene(view.item)}{group}"


def _scene(of: Item) -> str:
    parts = []
    if of.picture is not None:
        text = html.escape(of.description or "The cartoon")
        parts.append(f'<img src="{data_url(of.picture)}" alt="{text}">')
    elif of.description:
        parts.append(f'<section><h2>The cartoon</h2><p class="scene">{html.escape(of.description)}</p></section>')
    if of.caption:
        parts.append(f'<section><h2>Its caption</h2><p class="caption">{html.escape(of.caption)}</p></section>')
    return f'<div class="cartoon">{"".join(parts)}</div>' if parts else ""


@lru_cache(maxsize=64)
def data_url(picture: Picture) -> str:
    """The picture as a `data:` URL, decoded, scaled down and encoded again, so that no metadata of the file is sent."""
    image = picture.open().convert("RGB")
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    encoded = io.BytesIO()
    image.save(encoded, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.getvalue()).decode('ascii')}"


def keys(ties: bool, most: int) -> str:
    """The switch of the keyboard shortcuts, and their description."""
    last = f"1–{most} or A–{chr(ord('A') + most - 1)}"
    return (
        '<p><label><input type="checkbox" id="keys-on" aria-describedby="keys-help" checked> Keys</label> '
        f'<span id="keys-help">{last}{" or ← →" * (most == 2)} to choose{", T for equally good" * ties}, U to undo. '
        "They are off while you write; Esc leaves the text.</span></p>"
    )

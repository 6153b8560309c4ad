"""HTML rendering of a view. All texts of files and annotators are escaped."""

from __future__ import annotations

import base64
import html
import io
from functools import lru_cache

from humor_tasks.benchmarks.card import VOTES
from humor_tasks.data.media.picture import Picture
from humor_tasks.people.forms import MARK, MAX_TEXT, Field, Form
from humor_tasks.people.pairs import Item
from humor_tasks.people.session import View
from humor_tasks.people.vote import TIE

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
    """The cartoon, its caption and the options as buttons, numbered as in this view, or the fields of a form; a closing
    message when nothing is left.

    The heading carries the annotator and the view's key, by which the page continues after a reload.
    """
    heading = f'<h1 id="question" tabindex="-1" data-rater="{html.escape(view.rater)}" data-key="{view.key}">'
    if view.item is None:
        thanks = f"You have voted on all {view.total} items. Thank you! Every vote is saved; you may close this page."
        return f"{heading}Done</h1><p>{thanks}</p>"
    if view.item.form:
        about = "".join(f"<p>{html.escape(each)}</p>" for each in view.item.form.about)
        told = f'{heading}{html.escape(view.item.form.title)}</h1><div class="about">{about}</div>'
        return f"{told}{_scene(view.item)}{_form(view, view.item.form)}"
    asked = VOTES[view.item.kind]
    buttons = "".join(
        f'<button type="button" id="vote-{place}" data-key="{place + asked.first}">'
        f'<span class="number">{place + asked.first}</span> '
        f'<span class="text">{html.escape(view.item.options[i])}</span></button>'
        for place, i in enumerate(view.order)
    )
    if ties and not view.item.fixed:
        buttons += f'<button type="button" id="vote-{TIE}">Equally good</button>'
    classes = f"{asked.option_kind} {asked.kind}"
    group = f'<div id="votes" class="{classes}" role="group" aria-labelledby="question">{buttons}</div>'
    return f"{heading}{asked.question}</h1>{_scene(view.item)}{group}"


def _form(view: View, form: Form) -> str:
    """The fields, whose texts page.js collects when the button is pressed. A browser checks them first."""
    fields = "".join(_field(view, field) for field in form.fields)
    return f'<form id="votes" class="form">{fields}<button type="button" id="vote-form">Save and go on</button></form>'


def _field(view: View, field: Field) -> str:
    label, text = html.escape(field.label), html.escape(view.filled.get(field.name, ""))
    needed = " required" if field.required else ""
    if field.of_words and view.item:
        words = _headline(view.item.headline, field.name, view.filled.get(field.name))
        return f'<fieldset><legend>{label}</legend><p class="headline">{words}</p></fieldset>'
    about = f'id="field-{field.name}" name="{field.name}" maxlength="{MAX_TEXT}"{needed}'
    checked = f' pattern="{html.escape(field.pattern)}" title="{html.escape(field.wants)}"' if field.pattern else ""
    if field.lines > 1:
        written = f'<textarea {about} rows="{field.lines}">{text}</textarea>'
    else:
        written = f'<input type="text" {about}{checked} value="{text}" autocomplete="off">'
    return f'<label for="field-{field.name}">{label}</label>{written}'


def _headline(headline: str, name: str = "", chosen: str | None = None) -> str:
    """A headline with its marked words underlined; with a field's name, each can be chosen."""
    parts = MARK.split(headline)
    for place, word in enumerate(parts[1::2]):
        shown = f"<u>{html.escape(word)}</u>"
        state = " checked" if str(place) == chosen else ""
        radio = f'<input type="radio" name="{name}" value="{place}" required{state}>'
        parts[2 * place + 1] = f"<label>{radio}{shown}</label>" if name else shown
    return "".join(html.escape(part) if i % 2 == 0 else part for i, part in enumerate(parts))


def _scene(of: Item) -> str:
    parts = []
    if of.picture is not None:
        text = html.escape(of.description or "What is shown")
        parts.append(f'<img src="{data_url(of.picture)}" alt="{text}">')
    elif of.description:
        parts.append(f'<section><h2>What is shown</h2><p class="scene">{html.escape(of.description)}</p></section>')
    if of.said:
        parts.append(f'<p class="scene">{html.escape(of.said)}</p>')
    if of.headline and not of.form:
        parts.append(f'<p class="headline">{_headline(of.headline)}</p>')
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


def keys(ties: bool, most: int, first: int = 1) -> str:
    """The switch of the keyboard shortcuts, and their description. most: the number of options; 0 for forms."""
    last = (
        f"{first}–{first + most - 1} or A–{chr(ord('A') + most - 1)}{' or ← →' * (most == 2)} to choose" if most else ""
    )
    told = ", ".join(each for each in (last, "T for equally good" * (ties and most > 0), "U to undo") if each)
    return (
        '<p><label><input type="checkbox" id="keys-on" aria-describedby="keys-help" checked> Keys</label> '
        f'<span id="keys-help">{told}. They are off while you write; Esc leaves the text.</span></p>'
    )

"""HTML of a view, from the templates item.html and page.html. All texts of files and annotators are escaped."""

from __future__ import annotations

import base64
import io
from functools import lru_cache
from itertools import zip_longest

from humor_tasks.contract.card import VOTES
from humor_tasks.files.pages import fragment, render
from humor_tasks.rows.media.picture import Picture
from humor_tasks.studies.people.items import MARK, MAX_TEXT
from humor_tasks.studies.people.session import View
from humor_tasks.studies.people.votes import TIE

MAX_SIDE = 1200  # pixels


def around(macro: str, *values: object) -> str:
    """A part of the page beside the item: a macro of page.html."""
    return fragment("studies/people/page.html", macro, *values)


def item(view: View, ties: bool = False) -> str:
    """The cartoon, its caption and the options as buttons, numbered as in this view, or the fields of a form; a closing
    message when nothing is left.
    """
    votes = VOTES.get(view.item.kind) if view.item else None
    form = view.item.form if view.item else None
    parts = MARK.split(view.item.headline) if view.item else []
    return render(
        "studies/people/item.html",
        view=view,
        heading=form.title if form else votes.question if votes else "Done",
        votes=votes,
        tie=TIE if ties else "",
        picture=data_url(view.item.picture) if view.item and view.item.picture else None,
        marked=list(zip_longest(parts[::2], parts[1::2])),
        longest=MAX_TEXT,
    )


@lru_cache(maxsize=64)
def data_url(picture: Picture) -> str:
    """The picture as a `data:` URL, decoded, scaled down and encoded again, so that no metadata of the file is sent."""
    image = picture.open()
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    encoded = io.BytesIO()
    image.save(encoded, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(encoded.getvalue()).decode('ascii')}"


def keys_help(ties: bool, most: int, first: int = 1) -> str:
    """The description of the keyboard shortcuts. most: the number of options; 0 for forms."""
    numbers = f"{first}–{first + most - 1} or A–{chr(ord('A') + most - 1)}"
    choose = f"{numbers}{' or ← →' if most == 2 else ''} to choose" if most else ""
    return ", ".join(filter(None, (choose, "T for equally good" if ties and most else "", "U to undo")))

"""`decode_later`: pictures are decoded when they are used, and remember where they lie."""

from __future__ import annotations

import pytest
from standins.tiny_clip import drawing, encoded

from humor_tasks.data.media.picture import Picture, decode_later
from humor_tasks.errors import BadInput


def test_pictures_are_decoded_when_used_and_remember_where_they_lie() -> None:
    data = encoded(drawing(0))
    picture = Picture("row 3", None, lambda: data)
    later = decode_later(data, picture)
    assert later.picture is picture  # type: ignore[attr-defined]
    assert later.tobytes() == drawing(0).tobytes()
    damaged = decode_later(data[:300], picture)
    with pytest.raises(BadInput, match="Picture row 3: the PNG data is truncated"):
        damaged.convert("RGB")
    with pytest.raises(BadInput, match="Picture row 3: not a picture"):
        decode_later(b"%PDF-1.7", picture)

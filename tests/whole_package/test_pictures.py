"""One way from a picture's file to pixels: models, pages and people see the same, and no other module decodes."""

from __future__ import annotations

import ast
import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw
from rooms import REPOSITORY

from humor_tasks.lab.training.image_text.finetune import read, unread
from humor_tasks.models.ofa.preprocessing import square
from humor_tasks.models.pictures import Pixels, decoded
from humor_tasks.results.report.page.gallery import Album
from humor_tasks.rows.media.picture import Picture, decode_later
from humor_tasks.rows.records import Turn
from humor_tasks.studies.people.render import data_url

# ---- the same pixels ----------------------------------------------------------------------------


def drawing() -> Image.Image:
    """A house in grey ink on white."""
    image = Image.new("RGB", (60, 44), "white")
    ImageDraw.Draw(image).rectangle((10, 20, 40, 40), fill=(20, 20, 20))
    ImageDraw.Draw(image).polygon([(5, 20), (25, 3), (45, 20)], fill=(90, 90, 90))
    return image


def saved(image: Image.Image, kind: str = "PNG", **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def clear(image: Image.Image) -> Image.Image:
    """The drawing with transparent black in place of white."""
    ink = image.convert("L").point(lambda value: 255 if value < 255 else 0)
    page = Image.new("RGBA", image.size)
    page.paste(image, mask=ink)
    return page


def deep(image: Image.Image) -> Image.Image:
    grey = image.convert("L").tobytes()
    return Image.frombytes("I;16", image.size, b"".join(bytes([value, value]) for value in grey))


SIDEWAYS = Image.Exif()
SIDEWAYS[0x112] = 6
LYING = drawing().transpose(Image.Transpose.ROTATE_90)
FILES = {
    "white": saved(drawing()),
    "grey": saved(drawing().convert("L")),
    "alpha": saved(clear(drawing())),
    "alpha of grey": saved(clear(drawing()).convert("LA")),
    "alpha in WebP": saved(clear(drawing()), "WEBP", lossless=True),
    "colour key": saved(drawing(), transparency=(255, 255, 255)),
    "palette": saved(clear(drawing()), "GIF"),
    "16 bits": saved(deep(drawing())),
    "turned": saved(LYING, exif=SIDEWAYS),
    "turned WebP": saved(LYING, "WEBP", lossless=True, exif=SIDEWAYS.tobytes()),
    "animated": saved(drawing(), "WEBP", lossless=True, save_all=True, append_images=[LYING.resize((60, 44))]),
}


def of_bytes(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGB").tobytes()


def of_uri(uri: str) -> bytes:
    return of_bytes(base64.b64decode(uri.partition(",")[2]))


def by_network(how: Pixels) -> Callable[[Picture], bytes]:
    return lambda picture: decoded([picture], how, ["a"], 1)[0].tobytes()


def by_report(picture: Picture) -> bytes:
    album = Album()
    album.add(picture.read(), "a")
    return of_bytes(album.encoded[0])


def by_training(picture: Picture) -> bytes:
    return bytes(read(unread([Turn("user", "Why?", picture)]), 0)[0].pictures[0].tobytes())


LOOKS: dict[str, Callable[[Picture], bytes]] = {
    "CLIP": by_network(Pixels(32, "pad", (0.5,) * 3, (0.5,) * 3)),
    "OFA": by_network(square(32)),
    "an image-text model in training": by_training,
    "a model elsewhere": lambda picture: of_uri(picture.data_uri()),
    "a model in lm-eval": lambda picture: decode_later(picture.encoded()[0], picture).convert("RGB").tobytes(),
    "the report": by_report,
    "the people's page": lambda picture: of_uri(data_url(picture)),
}


@pytest.mark.parametrize("name", list(FILES)[1:])
@pytest.mark.parametrize("who", LOOKS)
def test_all_see_the_same_drawing(who: str, name: str) -> None:
    one, white = (Picture(file, None, lambda file=file: FILES[file]) for file in (name, "white"))  # type: ignore[misc]
    seen, expected = (np.frombuffer(LOOKS[who](picture), np.uint8).astype(int) for picture in (one, white))
    # The report keeps greyscale, whose lossy encoding differs a little from that of colours.
    assert np.abs(seen - expected).max() <= (8 if who == "the report" else 0)


# ---- no second way ------------------------------------------------------------------------------

OPENS = {"rows/media/picture.py"}
CONVERTS = {
    "rows/media/pixels.py": "the rules",
    "rows/media/picture.py": "grey as RGB",
    "models/pictures.py": "grey as RGB, after it is resized",
}
GREY = "L"  # of pixels as shown, for statistics


def second_ways(source: str) -> list[str]:
    """What a module does by itself to make pixels of a file: opening it by PIL, and conversions to colours."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("PIL"):
            found += [f"import {a.name}" for a in node.names if a.name in ("ImageOps", "ImageFile", "ImageCms")]
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner, name = node.func.value, node.func.attr
        if name == "open" and isinstance(owner, ast.Name) and owner.id in ("Image", "Pillow", "PIL"):
            found.append("open")
        if name in ("convert", "alpha_composite", "exif_transpose", "getexif"):
            mode = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            found += [] if mode == GREY else [name]
    return found


@pytest.mark.parametrize(
    "source",
    [
        "from PIL import Image\nImage.open(file)",
        "from PIL import Image as Pillow\nPillow.open(file)",
        "picture.open().convert('RGB')",
        "image.convert(mode)",
        "from PIL import ImageOps\nImageOps.exif_transpose(image)",
        "page.alpha_composite(image)",
    ],
)
def test_a_second_way_is_noticed(source: str) -> None:
    assert second_ways(source)


def test_one_module_makes_pixels_of_files() -> None:
    package = REPOSITORY / "humor_tasks"
    ways = {
        path.relative_to(package).as_posix(): found
        for path in sorted(package.rglob("*.py"))
        if (found := second_ways(path.read_text(encoding="utf-8")))
    }
    assert {path for path, found in ways.items() if "open" in found} == OPENS
    assert set(ways) == set(CONVERTS)
    assert all(set(found) <= {"open", "convert"} for found in ways.values())

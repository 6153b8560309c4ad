"""Which pixels a picture has: those that a browser shows on a white page.

- Transparent pixels are laid on white, also those of a colour key (PNG's tRNS) and outside a GIF's first frame.
- The orientation of EXIF is applied. Other values than 1 to 8, and that of XMP, are ignored.
- Of 16 bits a sample, the upper 8 count.
- CMYK becomes RGB by the formula of browsers, (255 - C)(255 - K) / 255, also from the inverted values of JPEG.
- Of an animation, the first frame counts.

Colour profiles (ICC) and PNG's gamma are not applied, which a browser does: published models were trained on and are
scored with pixels as they are stored. Pictures without these properties have the pixels that Pillow decodes.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image, Transpose

_DEEP = ("I;16", "I;16L", "I;16B", "I;16N")
_ORIENTATION, _SHORT = 0x0112, 3
# EXIF's orientation -> the name of the Image.Transpose that undoes it.
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


class Shown(NamedTuple):
    """Pixels as shown."""

    image: Image
    """RGB or L."""
    altered: bool
    """Whether another decoder may make other pixels of the same file."""
    animated: bool


def shown(image: Image) -> Shown:
    """The pixels of an image that PIL opened or made. It may be loaded by this, and is not changed otherwise.

    Raises BadInput for modes whose colours are not known (F and I), and whatever PIL raises for damaged data.
    """
    animated = _animated(image)
    if getattr(image, "default_image", False):  # APNG with a still for other decoders before the first frame
        image.seek(1)
    tile = getattr(image, "tile", None)  # how the file stores the pixels, known until they are loaded
    stored = str(tile[0][3]) if image.format == "PNG" and tile else image.mode  # such as "L;2" or "RGB;16B"
    frame = tile[0][1] if image.format == "GIF" and tile else None
    image.load()
    flat, altered = _on_white(image, stored)
    if frame is not None and tuple(frame) != (0, 0, *image.size):
        flat, altered = _placed(flat, frame), True
    turn = _turn(image)
    if turn is not None:
        flat = flat.transpose(turn)
    return Shown(flat, altered or animated or turn is not None or ";16" in stored, animated)


def _animated(image: Image) -> bool:
    if image.format == "MPO":  # further views of the first picture, no frames
        return False
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # a second frame that is damaged; the first one is loaded afterwards
        return True


def _on_white(image: Image, stored: str) -> tuple[Image, bool]:
    """The image as RGB or L, and whether other decoders may differ."""
    from PIL import Image as Pillow

    key, mode = image.info.get("transparency"), image.mode
    if mode in _DEEP:
        upper = [value >> 8 for value in range(65536)]
        if isinstance(key, int):
            upper[key & 65535] = 255
        return image.convert("I").point(upper, "L"), True
    if mode in ("1", "L") and isinstance(key, int):
        bits, scale = {"L;2": (3, 85), "L;4": (15, 17)}.get(stored, (255, 1))  # the key has the bits of the file
        key = (key & bits) * scale
        grey = image.convert("L")
        return grey.point([255 if value == key else value for value in range(256)]), bool(grey.histogram()[key])
    if image.has_transparency_data:
        if mode == "RGB" and isinstance(key, tuple):
            image = image.copy()
            image.info["transparency"] = tuple(value >> 8 if ";16" in stored else value & 255 for value in key)
        clear = _converted(image, "RGBA")
        alpha = clear.getchannel("A")
        white = Pillow.new("RGB", image.size, "white")
        white.paste(clear, mask=alpha)
        return white, alpha.getextrema() != (255, 255)
    if mode in ("L", "RGB"):
        return image, False
    return _converted(image, "L" if mode == "1" else "RGB"), mode == "CMYK"


def _converted(image: Image, mode: str) -> Image:
    try:
        if image.mode in ("I", "F"):
            raise ValueError  # PIL would clip them to white
        return image.convert(mode)
    except ValueError:
        if image.mode == "P":  # a tRNS chunk of more entries than a palette has
            raise
        raise BadInput(f"has {image.mode} samples, whose colours are not known; convert it to RGB.") from None


def _placed(flat: Image, frame: tuple[int, int, int, int]) -> Image:
    """The part of a GIF that its first frame covers, on white."""
    from PIL import Image as Pillow

    page = Pillow.new(flat.mode, flat.size, "white")
    page.paste(flat.crop(frame), frame[:2])
    return page


def _turn(image: Image) -> Transpose | None:
    """What undoes EXIF's orientation; None where there is none to undo."""
    from PIL import Image as Pillow

    name = _TURNS.get(_orientation(image.info.get("exif") or b""))
    return None if name is None else Pillow.Transpose[name]


def _orientation(exif: bytes) -> int:
    """The orientation in EXIF data, one SHORT in the first directory as the standard has it; 0 where there is none.

    PIL's reader would warn of damaged data and take other types, which browsers do not.
    """
    data = exif.removeprefix(b"Exif\0\0")
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None:
        return 0
    try:
        (start,) = struct.unpack_from(f"{order}I", data, 4)
        (entries,) = struct.unpack_from(f"{order}H", data, start)
        for entry in range(start + 2, start + 2 + 12 * entries, 12):
            tag, kind, count, value = struct.unpack_from(f"{order}HHIHxx", data, entry)
            if tag == _ORIENTATION:
                return int(value) if (kind, count) == (_SHORT, 1) else 0
    except struct.error:  # the data ends before
        pass
    return 0

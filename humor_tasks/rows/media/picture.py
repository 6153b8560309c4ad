"""Pictures that are loaded lazily and validated before use.

A `Picture` knows its source and reads its bytes on demand, so that a task with thousands of pictures keeps none in
memory after they are checked (`checking.py`). Reading validates that the bytes are one complete picture of a supported
format and size. `decode_picture` is the one way from a file to pixels, and `pixels.py` says which pixels those are. PIL
is imported only when a picture is read.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, NamedTuple

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.names import alike, near_miss
from humor_tasks.rows.media.pixels import shown

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 64 * 2**20
MAX_PIXELS = 50_000_000
MIME = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp", "BMP": "image/bmp"}
SHOWN_AS = "on white, upright, 8 bits, first frame"
"""The rules of `pixels.py`, as part of what identifies the pictures whose pixels they change. Another text makes caches
forget those pictures.
"""

_STARTS = {b"\x89PNG\r\n": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF"}
# First bytes of unsupported files that are often used as pictures, to name them in the message.
_KNOWN_OTHERS = {
    b"II*\0": "a TIFF picture",
    b"MM\0*": "a TIFF picture",
    b"%PDF": "a PDF document",
    b"<svg": "an SVG drawing",
    b"<?xml": "an XML or SVG file",
    b"<!DOC": "a web page",
    b"<html": "a web page",
    b"\0\0\1\0": "an icon (ICO)",
    b"\0\0\0\x0cjP": "a JPEG 2000 picture",
    b"version https://git-lfs": "a Git LFS pointer; run `git lfs pull` in the folder",
}


class Facts(NamedTuple):
    """What a check found of a picture's bytes."""

    digest: str
    """Their SHA-256, in hex."""
    kind: str
    """Their format: "PNG", ..."""
    altered: bool = False
    """Whether `pixels.shown` has a rule for them, so that another decoder may make other pixels of them."""
    animated: bool = False

    @property
    def identity(self) -> str:
        """Identifies the pixels: the SHA-256 of the bytes, for altered ones together with the rules."""
        return hashlib.sha256(f"{SHOWN_AS}\0{self.digest}".encode()).hexdigest() if self.altered else self.digest


class Decoded(NamedTuple):
    """A decoded picture, and what is known of its file; see `Facts`."""

    image: Image
    """RGB or L, without metadata."""
    kind: str
    altered: bool
    animated: bool

    def facts(self, digest: str) -> Facts:
        """The facts of the file with this SHA-256."""
        return Facts(digest, self.kind, self.altered, self.animated)


@dataclass(frozen=True)
class Picture:
    """One picture of a dataset: its location, and a function that reads it."""

    where: str
    """Its name in messages and logs: "row 3 of matching_from_pixels/test", or a path relative to the dataset folder."""
    path: str | None
    """The file; None where the picture is stored inside a table."""
    read_bytes: Callable[[], bytes] = field(compare=False, repr=False)
    """Returns the encoded bytes, not validated."""
    digest: str = field(default="", compare=False, repr=False)
    """The SHA-256 that the bytes must have, where it is known before they are read (`pinned`)."""

    def read(self) -> bytes:
        """The validated bytes of the file. Raises BadInput naming the picture and the remedy."""
        data = self.fetch()
        digest = self.digest or (hashlib.sha256(data).hexdigest() if data else "")
        # A full decode is the expensive part of the validation: cache its result, not the bytes.
        if self.known is None or self.known.digest != digest:
            self.accept(check_picture(data, self.where))
        return data

    @property
    def known(self) -> Facts | None:
        """What the last check found; None where it was not checked."""
        facts: Facts | None = self.__dict__.get("_checked")
        return facts

    def accept(self, facts: Facts) -> None:
        """Take bytes with this SHA-256 for a complete picture, which is then not decoded again to check it."""
        self.__dict__["_checked"] = facts

    def pinned(self) -> Picture:
        """This picture with the SHA-256 of its last check as `digest`; the same object as long as that is the same.

        Raises BadInput as `read` does, where it was not checked before.
        """
        facts = self._facts()
        if self.digest == facts.digest:
            return self
        kept: Picture | None = self.__dict__.get("_pinned")
        if kept is None or kept.digest != facts.digest:
            kept = self.__dict__["_pinned"] = dataclasses.replace(self, digest=facts.digest)
            kept.accept(facts)
        return kept

    def mime(self) -> str:
        """The file's media type, determined from the bytes and not from the file name."""
        return MIME[self._facts().kind]

    def sha256(self) -> str:
        """The SHA-256 of the file's bytes, in hex."""
        return self._facts().digest

    def identity(self) -> str:
        """What identifies its pixels in caches: see `Facts.identity`."""
        return self._facts().identity

    def encoded(self) -> tuple[bytes, str]:
        """Bytes and media type for models and pages that decode by themselves.

        They are the file's own. Of a picture that decoders may show in different ways, they are a PNG of its pixels.
        """
        data = self.read()
        facts = self._facts()
        if not facts.altered:
            return data, MIME[facts.kind]
        out = io.BytesIO()
        decode_picture(data, self.where).image.save(out, "PNG")
        return out.getvalue(), MIME["PNG"]

    def data_uri(self) -> str:
        """The picture as a `data:` URI, as `encoded`."""
        data, mime = self.encoded()
        return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"

    def open(self) -> Image:
        """The decoded picture in RGB."""
        data = self.fetch()
        decoded = decode_picture(data, self.where)
        self.accept(decoded.facts(hashlib.sha256(data).hexdigest()))
        return decoded.image if decoded.image.mode == "RGB" else decoded.image.convert("RGB")

    def fetch(self) -> bytes:
        """The encoded bytes without validation of their content. Raises BadInput where they cannot be read, are too
        many, or are not those of `digest`.
        """
        try:
            if self.path is not None:
                _check_size(os.path.getsize(self.path), self.where)
            data = self.read_bytes()
        except OSError as error:
            raise BadInput(f"Picture {self.where}: cannot be read ({error}). Restore the file.") from error
        if self.digest and hashlib.sha256(data).hexdigest() != self.digest:
            raise BadInput(f"Picture {self.where}: its content changed after it was checked. Run again.")
        return data

    def _facts(self) -> Facts:
        if self.known is None:
            self.read()
        facts: Facts = self.__dict__["_checked"]
        return facts


def check_picture(data: bytes | None, where: str) -> Facts:
    """The facts of a picture, after decoding it. Raises BadInput where it is not one complete, usable picture."""
    return decode_picture(data, where).facts(hashlib.sha256(data or b"").hexdigest())


def decode_picture(data: bytes | None, where: str) -> Decoded:
    """The picture's pixels, as `pixels.shown`. Raises BadInput as `check_picture` does."""
    image = _open(data, where)
    kind = "JPEG" if image.format == "MPO" else str(image.format)  # JPEG with more pictures behind the first
    pixels = _load(lambda: shown(image), image, where)
    pixels.image.info = {}  # else what encodes them again writes a colour profile or a colour key
    return Decoded(pixels.image, kind, pixels.altered, pixels.animated)


def decode_later(data: bytes | None, picture: Picture) -> Image:
    """The picture with its format and size validated; its pixels are decoded and validated at first use.

    data: as `Picture.encoded`, of which any decoder makes the same pixels. The image carries `picture` as an attribute
    of that name, for models that read and decode by themselves.
    """
    image = _open(data, picture.where)
    load = image.load
    # Set on the instance, because PIL's methods call `load` of the image they are called on.
    image.__dict__ |= {"picture": picture, "load": lambda: _load(load, image, picture.where)}
    return image


def _open(data: bytes | None, where: str) -> Image:
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    if not data:
        raise BadInput(f"Picture {where}: there are no bytes. Restore the picture, or leave its row out.")
    _check_size(len(data), where)
    try:
        image = Pillow.open(io.BytesIO(data), formats=list(MIME))
    except UnidentifiedImageError:
        if kind := next((kind for start, kind in _STARTS.items() if data.startswith(start)), ""):
            raise BadInput(
                f"Picture {where}: its header is broken or cut off; it begins as a {kind} does. Restore the picture."
            ) from None
        raise BadInput(
            f"Picture {where}: not a picture in a supported format; it is {_describe(data)}. Use {', '.join(MIME)}."
        ) from None
    except (Pillow.DecompressionBombError, Pillow.DecompressionBombWarning) as error:
        raise BadInput(f"Picture {where}: {error} Scale it down to {MAX_PIXELS:,} pixels at most.") from None
    except Exception as error:  # a broken header raises any exception, depending on the decoder
        raise BadInput(f"Picture {where}: its header is broken ({error}). Restore the picture.") from error
    if image.width * image.height > MAX_PIXELS:
        raise BadInput(
            f"Picture {where}: {image.width} x {image.height} pixels; at most {MAX_PIXELS:,} are read. Scale it down."
        )
    return image


def _load(load: Callable[[], Any], image: Image, where: str) -> Any:
    try:
        return load()
    except Exception as error:  # observed: OSError, SyntaxError, struct.error and zlib.error
        raise BadInput(
            f"Picture {where}: the {image.format} data is truncated or damaged ({error}). Restore the picture."
        ) from error


def resolve_inside(folder: Path, relative: str) -> Path:
    """The path of `relative` in `folder`. Raises BadInput if it is absolute or leaves the folder by `..` or a link."""
    asked = PurePosixPath(relative)
    foreign = PureWindowsPath(relative)  # refuses C:\x and \x on every system, so that datasets are portable
    if not relative or "\0" in relative:
        raise BadInput(f"{folder}: {relative!r} is not a file name.")
    if asked.is_absolute() or foreign.drive or foreign.root:
        raise BadInput(f"{folder}: '{relative}' is an absolute path; give the path relative to the dataset folder.")
    target = folder / relative
    try:
        os.fsencode(relative)
        inside = target.resolve().is_relative_to(folder.resolve())
        target.is_file()
    except UnicodeError:
        raise BadInput(
            f"{folder}: {relative!a} is not a file name: it holds half a character. Correct the row."
        ) from None
    except (OSError, RuntimeError) as problem:  # a name too long, or a symbolic link loop
        why = getattr(problem, "strerror", None) or "a symbolic link that points to itself"
        raise BadInput(f"{folder}: '{relative:.80}' is not a valid file name ({why}). Correct the row.") from None
    if not inside:
        raise BadInput(f"{folder}: '{relative}' leaves the dataset folder; put the picture inside it.")
    return target


def picture_file(folder: Path, relative: str) -> Picture:
    """The picture of a file in a dataset folder: the one of this path, else the only one that `names.alike` finds.

    Raises BadInput when there is none, and when it is outside the folder.
    """
    target = resolve_inside(folder, relative)
    if not target.is_file():
        near = alike(folder, relative)
        if len(near) != 1:
            remedy = near_miss(folder, relative) or "Restore it, or correct the row."
            raise BadInput(f"{folder}: there is no picture file '{relative}'. {remedy}")
        target = resolve_inside(folder, near[0])
    return Picture(where=relative, path=str(target), read_bytes=target.read_bytes)


def _check_size(size: int, where: str) -> None:
    if size > MAX_BYTES:
        raise BadInput(f"Picture {where}: {size:,} bytes; at most {MAX_BYTES:,} are read. Scale it down.")


def _describe(data: bytes) -> str:
    for start, name in _KNOWN_OTHERS.items():
        if data.lstrip()[: len(start)].lower() == start.lower():
            return name
    if data[4:8] == b"ftyp":
        return f"a file of type '{data[8:12].decode('latin-1')}' (AVIF, HEIC or video)"
    return f"{len(data):,} bytes beginning {data[:12]!r}"


def pillow_version() -> str:
    """The version of Pillow, which decodes and resizes pictures: part of what pixels and so answers depend on."""
    import PIL

    return PIL.__version__

"""Pictures: late, checked once, named when they are wrong."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import os
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from humor_tasks.errors import BadInput
from humor_tasks.rows.media import picture as images
from humor_tasks.rows.media.picture import Picture, decode_later, picture_file, resolve_inside


def encode(kind: str, mode: str = "RGB", size: tuple[int, int] = (48, 40)) -> bytes:
    buffer = io.BytesIO()
    noise = random.Random(1).randbytes(size[0] * size[1] * len(mode))
    Image.frombytes(mode, size, noise).save(buffer, format=kind)
    return buffer.getvalue()


def picture(data: bytes | None, where: str = "row 3 of matching_from_pixels/test") -> Picture:
    return Picture(where, None, lambda: data)  # type: ignore[arg-type, return-value]


def png_of_size(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds nothing: what it says is checked before it is decoded."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("kind", "mime"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp"), ("BMP", "image/bmp")],
)
def test_formats(kind: str, mime: str) -> None:
    data = encode(kind)
    one = picture(data)
    assert one.mime() == mime
    assert one.sha256() == hashlib.sha256(data).hexdigest()
    assert one.data_uri() == f"data:{mime};base64,{base64.b64encode(data).decode()}"
    assert one.read() == data
    assert one.open().convert("RGB").size == (48, 40)


@pytest.mark.parametrize("mode", ["L", "RGBA", "CMYK"])
def test_modes_become_rgb(mode: str) -> None:
    kind = "JPEG" if mode == "CMYK" else "PNG"
    assert picture(encode(kind, mode)).open().convert("RGB").mode == "RGB"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "no bytes"),
        (b"", "no bytes"),
        (b"not a picture at all", "beginning b'not a pictur'"),
        (b"II*\0" + bytes(64), "a TIFF picture"),
        (b"%PDF-1.7 ...", "a PDF document"),
        (b"<svg xmlns='x'/>", "an SVG drawing"),
        (b"\n<!doctype html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"),
        (b"\0\0\0\x20ftypavif" + bytes(64), "'avif'"),
        (png_of_size(7_100, 7_100), "7100 x 7100 pixels"),
        (png_of_size(10_000, 10_000), "pixels"),
        (png_of_size(60_000, 60_000), "pixels"),
        (encode("JPEG")[:-600], "truncated"),
        (encode("JPEG")[:400], "Truncated"),
        (encode("PNG")[:2000], "truncated"),
        (encode("PNG")[:20], "header is broken"),
        (encode("PNG")[:8], "header is broken or cut off; it begins as a PNG does"),
        (encode("PNG")[:29] + b"\0\0\0\0" + encode("PNG")[33:], "header is broken or cut off; it begins as a PNG does"),
        (encode("JPEG")[:4], "it begins as a JPEG does"),
        (encode("GIF")[:13], "it begins as a GIF does"),
        (encode("GIF")[:1000], "truncated"),
        (encode("BMP")[:1000], "truncated"),
        (encode("WEBP")[:100], "Picture row 3"),
        (encode("PNG")[:60] + b"\0\0\0\0" + encode("PNG")[64:], "damaged"),
    ],
    ids=lambda value: (
        "none" if value is None else value[:8].hex() + f"-{len(value)}" if isinstance(value, bytes) else ""
    ),
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_unusable(data: bytes | None, said: str) -> None:
    for use in (Picture.read, Picture.mime, Picture.open):
        with pytest.raises(BadInput, match="Picture row 3 of matching_from_pixels/test: ") as caught:
            use(picture(data))
        assert said in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_bomb_is_refused_where_warnings_are_errors() -> None:
    with pytest.raises(BadInput, match="pixels"):
        picture(png_of_size(10_000, 10_000)).read()


def test_too_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="at most 67,108,864"):
        picture(bytes(images.MAX_BYTES + 1)).read()
    # A file's size is looked at before the file is read.
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    (tmp_path / "big.png").write_bytes(bytes(11))
    one = picture_file(tmp_path, "big.png")
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail("read"))
    with pytest.raises(BadInput, match=r"Picture big\.png: 11 bytes"):
        one.read()


def test_reads_late_and_decodes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data, reads, checks = [encode("PNG")], [], []
    real = images.check_picture
    monkeypatch.setattr(images, "check_picture", lambda *a: (checks.append(1), real(*a))[1])
    one = Picture("row 0", None, lambda: (reads.append(1), data[0])[1])
    assert not reads
    one.sha256()
    one.mime()
    assert (len(reads), len(checks)) == (1, 1)
    one.data_uri()
    one.read()
    assert (len(reads), len(checks)) == (3, 1)
    data[0] = data[0][:100]  # a file that changed is checked again
    with pytest.raises(BadInput):
        one.read()


def test_is_a_value() -> None:
    one, other = picture(encode("PNG")), picture(encode("GIF"))
    assert one == other
    assert "lambda" not in repr(one)
    assert copy.deepcopy(one).mime() == "image/png"


def test_file(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(encode("PNG"))
    one = picture_file(tmp_path, "images/a.png")
    assert (one.where, one.path) == ("images/a.png", str(tmp_path / "images" / "a.png"))
    assert one.mime() == "image/png"
    (tmp_path / "images" / "a.png").unlink()
    with pytest.raises(BadInput, match=r"Picture images/a\.png: cannot be read"):
        one.read()
    with pytest.raises(BadInput, match=r"there is no picture file 'images/a\.png'"):
        picture_file(tmp_path, "images/a.png")


@pytest.mark.parametrize(
    "relative",
    [
        "",
        "/etc/hostname",
        "../outside.png",
        "a/../../outside.png",
        "C:\\x.png",
        "\\x.png",
        "c:x.png",
        "a\0b",
        "a\ud800.png",
    ],
)
def test_paths_that_leave(tmp_path: Path, relative: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(encode("PNG"))
    with pytest.raises(BadInput, match=str(folder)):
        resolve_inside(folder, relative)


@pytest.mark.parametrize("link", [lambda d: (d / "l.png", "l.png"), lambda d: (d / "sub", "sub/outside.png")])
def test_links_that_leave(tmp_path: Path, link: Callable[[Path], tuple[Path, str]]) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(encode("PNG"))
    place, relative = link(folder)
    os.symlink(tmp_path / "outside.png" if place.suffix else tmp_path, place)
    with pytest.raises(BadInput, match="leaves the dataset folder"):
        resolve_inside(folder, relative)


def test_paths_that_stay(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "a").mkdir(parents=True)
    (folder / "b.png").write_bytes(encode("PNG"))
    os.symlink(folder / "b.png", folder / "inner.png")
    os.symlink(folder, tmp_path / "alias")
    for relative in ("b.png", "./b.png", "a/../b.png", "inner.png"):
        assert picture_file(folder, relative).mime() == "image/png"
    assert resolve_inside(tmp_path / "alias", "b.png").is_file()


def test_pictures_are_decoded_when_used_and_remember_where_they_lie() -> None:
    data = encode("PNG")
    one = picture(data, "row 3")
    later = decode_later(data, one)
    assert later.picture is one  # type: ignore[attr-defined]
    assert later.tobytes() == Image.open(io.BytesIO(data)).tobytes()
    damaged = decode_later(data[:300], one)
    with pytest.raises(BadInput, match="Picture row 3: the PNG data is truncated"):
        damaged.convert("RGB")
    with pytest.raises(BadInput, match="Picture row 3: not a picture"):
        decode_later(b"%PDF-1.7", one)

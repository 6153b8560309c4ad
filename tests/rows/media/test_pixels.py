"""The pixels of a picture file: those that a browser shows on a white page. Expected pixels are Chromium's."""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from humor_tasks.errors import BadInput
from humor_tasks.rows.media.checking import check_media
from humor_tasks.rows.media.picture import Decoded, Picture, decode_picture
from humor_tasks.rows.media.pixels import shown

R, G, B, W, K = (200, 30, 30), (30, 160, 30), (30, 30, 200), (255, 255, 255), (0, 0, 0)
UPRIGHT = [R, G, B, W, K, R]  # 3 x 2 pixels; no turn leaves it as it is
T = Image.Transpose
UNDONE = {
    2: T.FLIP_LEFT_RIGHT,
    3: T.ROTATE_180,
    4: T.FLIP_TOP_BOTTOM,
    5: T.TRANSPOSE,
    6: T.ROTATE_90,
    7: T.TRANSVERSE,
    8: T.ROTATE_270,
}


def of(pixels: list[Any], mode: str = "RGB", size: tuple[int, int] = (3, 2)) -> Image.Image:
    image = Image.new(mode, size)
    image.putdata(pixels)
    return image


def saved(image: Image.Image, kind: str = "PNG", **how: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **how)
    return out.getvalue()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, depth: int, colours: int, row: bytes, *before: bytes, after: bytes = b"") -> bytes:
    """A PNG of one row; colours: 0 grey, 2 RGB, 4 grey and alpha, 6 RGBA."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, depth, colours, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\0" + row))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(before) + body + after + chunk(b"IEND", b"")


def key(*values: int) -> bytes:
    return chunk(b"tRNS", struct.pack(f">{len(values)}H", *values))


def exif(value: int, kind: int = 3) -> bytes:
    return b"II*\0\x08\0\0\0" + struct.pack("<HHHIIi", 1, 0x112, kind, 1, value, 0)


def gif(image: Image.Image, screen: tuple[int, int], at: tuple[int, int] = (0, 0), **how: Any) -> bytes:
    """A GIF whose only frame covers a part of the screen."""
    data = bytearray(saved(image, "GIF", **how))
    data[6:10] = struct.pack("<HH", *screen)
    place = data.index(b"\x2c\0\0\0\0")
    data[place + 1 : place + 5] = struct.pack("<HH", *at)
    return bytes(data)


def decoded(data: bytes) -> Decoded:
    return decode_picture(data, "a")


def pixels(image: Image.Image) -> list[tuple[int, ...]]:
    flat = image.convert("RGB").tobytes()
    return [tuple(flat[i : i + 3]) for i in range(0, len(flat), 3)]


CLEAR = of([(200, 30, 30, 255), (0, 0, 0, 0), (30, 30, 200, 128), (255, 255, 255, 0)], "RGBA", (4, 1))
ON_WHITE = [R, W, (142, 142, 227), W]
PALETTE = of([0, 1, 2, 1], "P", (4, 1))
PALETTE.putpalette([*R, *K, *B])
DEEP = struct.pack(">6H", 511, 33023, 256, 65535, 128, 40000)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(saved(CLEAR), ON_WHITE, id="rgba"),
        pytest.param(saved(CLEAR, "WEBP", lossless=True, exact=True), ON_WHITE, id="rgba webp"),
        pytest.param(saved(of([(20, 255), (0, 0)], "LA", (2, 1))), [(20,) * 3, W], id="grey and alpha"),
        pytest.param(saved(PALETTE, transparency=1), [R, W, B, W], id="one entry of a palette"),
        pytest.param(saved(PALETTE, transparency=b"\xff\0\x80"), ON_WHITE, id="a palette with a table of alphas"),
        pytest.param(saved(PALETTE, "GIF", transparency=1), [R, W, B, W], id="gif"),
        pytest.param(saved(of([0, 1, 9], "L", (3, 1)), transparency=1), [K, W, (9,) * 3], id="key of grey"),
        pytest.param(saved(of([K, (0, 0, 1)], size=(2, 1)), transparency=(0, 0, 1)), [K, W], id="key of RGB"),
        pytest.param(png(8, 1, 0, b"\xa5", key(0)), [W] * 8, id="key of 1 bit"),
        pytest.param(png(4, 2, 0, b"\x1b", key(1)), [K, W, (170,) * 3, W], id="key of 2 bits"),
        pytest.param(png(2, 4, 0, b"\x35", key(3)), [W, (85,) * 3], id="key of 4 bits"),
        pytest.param(png(4, 2, 0, b"\x1b", key(5)), [K, W, (170,) * 3, W], id="key of 2 bits, with a third"),
        pytest.param(png(2, 4, 0, b"\x35", key(19)), [W, (85,) * 3], id="key of 4 bits, with a fifth"),
        pytest.param(
            png(6, 16, 0, DEEP), [(n,) * 3 for n in (1, 128, 1, 255, 0, 156)], id="16 bits, of which the upper 8 count"
        ),
        pytest.param(png(6, 16, 0, DEEP, key(256)), [(n,) * 3 for n in (1, 128, 255, 255, 0, 156)], id="key of 16"),
        pytest.param(png(2, 16, 2, DEEP), [(1, 128, 1), (255, 0, 156)], id="16 bits of RGB"),
        pytest.param(png(2, 16, 2, DEEP, key(511, 33023, 256)), [W, (255, 0, 156)], id="key of 16 bits of RGB"),
        pytest.param(
            png(3, 16, 4, struct.pack(">6H", 511, 65535, 0, 0, 0, 32768)), [(1,) * 3, W, (127,) * 3], id="LA 16"
        ),
        pytest.param(saved(of([K] * 6).convert("CMYK"), "JPEG"), [K] * 6, id="CMYK"),
        pytest.param(gif(of([R], size=(1, 1)), (2, 2), (1, 0)), [W, R, W, W], id="a frame on a part of the screen"),
        pytest.param(
            gif(of([R, K], size=(2, 1)).quantize(2), (3, 1), (1, 0), transparency=1), [W, R, W], id="with a clear pixel"
        ),
        pytest.param(saved(Image.new("RGBA", (1, 1))), [W], id="1 clear pixel"),
    ],
)
def test_pixels_on_white(data: bytes, expected: list[tuple[int, ...]]) -> None:
    found = decoded(data)
    assert pixels(found.image) == expected
    assert found.image.mode in ("RGB", "L")
    assert (found.image.info, found.altered) == ({}, True)


def turned(kind: str, orientation: int, **how: Any) -> bytes:
    image = of(UPRIGHT)
    return saved(image.transpose(UNDONE[orientation]), kind, exif=b"Exif\0\0" + exif(orientation), **how)


@pytest.mark.parametrize("orientation", UNDONE)
@pytest.mark.parametrize(("kind", "how"), [("PNG", {}), ("WEBP", {"lossless": True}), ("JPEG", {"quality": 100})])
def test_orientation_is_undone(kind: str, how: dict[str, Any], orientation: int) -> None:
    found = decoded(turned(kind, orientation, **how))
    assert (found.image.size, found.altered) == ((3, 2), True)
    if kind == "JPEG":  # whose colours are smeared over 3 x 2 pixels: the turned file is compared with itself
        plain = Image.open(io.BytesIO(turned(kind, orientation, **how)))
        undo = {6: T.ROTATE_270, 8: T.ROTATE_90}.get(orientation, UNDONE[orientation])
        assert pixels(found.image) == pixels(plain.transpose(undo))
    else:
        assert pixels(found.image) == UPRIGHT


def test_more_alphas_than_a_palette_can_have_are_damage() -> None:
    data = png(1, 8, 3, b"\0", chunk(b"PLTE", bytes(3)), chunk(b"tRNS", bytes(300)))
    with pytest.raises(BadInput, match=r"^Picture a: the PNG data is truncated or damaged \((?!has P)"):
        decoded(data)


XMP = b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/>'


@pytest.mark.parametrize(
    "metadata",
    [exif(0), exif(1), exif(9), exif(6, kind=4), exif(6)[:20], b"II*\0garbage", b"\xff" * 40],
    ids=["0", "1", "9", "LONG", "cut", "no offset", "garbage"],
)
def test_damaged_orientation_is_ignored(metadata: bytes) -> None:
    data = saved(of(UPRIGHT), exif=metadata)
    found = decoded(data)
    assert (pixels(found.image), found.altered) == (UPRIGHT, False)


def test_orientation_of_xmp_is_ignored_and_that_after_the_pixels_is_not() -> None:
    before = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)
    row = bytes([*R, *G])
    assert decoded(png(2, 8, 2, row, before)).image.size == (2, 1)
    assert decoded(png(2, 8, 2, row, after=chunk(b"eXIf", exif(6)))).image.size == (1, 2)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_counts_and_a_warning_says_so(kind: str) -> None:
    frames = [of([R] * 6), of([B] * 6)]
    data = saved(
        frames[0], kind, save_all=True, append_images=frames[1:], **({} if kind == "GIF" else {"lossless": True})
    )
    found = decoded(data)
    assert (pixels(found.image), found.altered, found.animated) == ([R] * 6, True, True)
    media = {0: Picture("a.gif", None, lambda: data), 1: Picture("b", None, lambda: saved(frames[0]))}
    with pytest.warns(UserWarning, match=r"pictures of x: 1 of 2 files are animated, such as a\.gif"):
        assert not check_media(media, "pictures of x")


def test_an_animation_without_its_still() -> None:
    """APNG may begin with a still for decoders that know no animation; a browser does not show it."""
    data = saved(of([R] * 6), save_all=True, append_images=[of([B] * 6), of([G] * 6)], default_image=True)
    assert pixels(decoded(data).image) == [B] * 6


def test_a_damaged_second_frame_does_no_harm() -> None:
    data = saved(of([R] * 6), "GIF", save_all=True, append_images=[of([B] * 6)])
    second = data.rindex(b"\x2c\0\0\0\0")
    assert pixels(decoded(data[: second + 3]).image) == [R] * 6


def test_a_second_view_is_no_animation() -> None:
    data = saved(of([R] * 6), "MPO", save_all=True, append_images=[of([B] * 6)])
    one = Picture("a", None, lambda: data)
    assert (one.encoded(), one.mime()) == ((data, "image/jpeg"), "image/jpeg")
    assert one.known is not None
    assert not one.known.animated


# ---- pictures without these properties ----------------------------------------------------------

OPAQUE = {
    "PNG": ("1", "L", "LA", "P", "RGB", "RGBA"),
    "JPEG": ("L", "RGB"),
    "GIF": ("1", "L", "P", "RGB"),
    "WEBP": ("L", "RGB", "RGBA"),
    "BMP": ("1", "L", "P", "RGB", "RGBA"),
}


@given(
    case=st.sampled_from([(kind, mode) for kind, modes in OPAQUE.items() for mode in modes]),
    data=st.binary(min_size=3 * 35, max_size=3 * 35),
)
def test_opaque_upright_pictures_are_as_pillow_decodes_them(case: tuple[str, str], data: bytes) -> None:
    kind, mode = case
    file = saved(Image.frombytes("RGB", (7, 5), data).convert(mode), kind)
    one = Picture("a", None, lambda: file)
    expected = Image.open(io.BytesIO(file)).convert("RGB")
    assert (one.open().mode, one.open().tobytes()) == ("RGB", expected.tobytes())
    assert one.encoded() == (file, one.mime())
    assert one.identity() == one.sha256() == hashlib.sha256(file).hexdigest()


@given(data=st.binary(min_size=4 * 12, max_size=4 * 12))
def test_alpha_is_laid_on_white(data: bytes) -> None:
    found = decoded(saved(Image.frombytes("RGBA", (4, 3), data)))
    colours = [data[i : i + 4] for i in range(0, len(data), 4)]
    on_white = [[(c * a + 255 * (255 - a)) / 255 for c in rgb] for *rgb, a in colours]
    for ours, exact in zip(pixels(found.image), on_white, strict=True):
        assert all(abs(x - y) <= 0.5 for x, y in zip(ours, exact, strict=True))


def test_a_colour_profile_is_not_applied_and_not_passed_on() -> None:
    one = Picture("a", None, lambda: saved(of(UPRIGHT), icc_profile=b"not a profile"))
    assert pixels(one.open()) == UPRIGHT
    assert one.open().info == {}


# ---- what others are given ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [saved(CLEAR), turned("PNG", 6), png(6, 16, 0, DEEP), gif(of([R], size=(1, 1)), (2, 2))]
)
def test_another_decoder_gets_the_same_pixels(data: bytes) -> None:
    one = Picture("a", None, lambda: data)
    sent, mime = one.encoded()
    assert mime == "image/png"
    assert one.data_uri().startswith("data:image/png;base64,")
    assert Image.open(io.BytesIO(sent)).convert("RGB").tobytes() == one.open().tobytes()
    assert not decoded(sent).altered
    # The file is what it was; its pixels are another picture's than those that a cache has under the file's hash.
    assert (one.read(), one.sha256()) == (data, hashlib.sha256(data).hexdigest())
    assert one.identity() != one.sha256()


@pytest.mark.parametrize("mode", ["F", "I"])
def test_colours_that_are_not_known(mode: str) -> None:
    with pytest.raises(BadInput, match=f"has {mode} samples, whose colours are not known; convert it to RGB"):
        shown(Image.new(mode, (2, 2)))

"""Images that may be anybody's: what is no picture as it is read here (``fault``), and how packed ones are opened.

Of files, plain PNG of an expected size is read; others are refused, still packed.

The chunks of a file are checked here. Only those that make up the pixels (IHDR, PLTE, IDAT, IEND) reach Pillow's PNG
decoder, once the header has told how much memory they take. Colour profiles, texts, animations and all other formats
are never decoded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aam_vision.support.files import read_limited

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_SIDE = 8192
"""Pixels of a side at most."""
MAX_PIXELS = 16_000_000
"""Pixels at most: 48 MB as RGB."""
MAX_BYTES = 64_000_000
"""Bytes of a file at most: somewhat more than that many pixels take uncompressed."""
RGB, PALETTE = 2, 3
"""PNG's colour types."""

_NAMES = {0: "greyscale", RGB: "RGB", PALETTE: "palette", 4: "greyscale with transparency", 6: "RGBA"}
_HEADER = struct.Struct(">IIBBBBB")
_CHUNK = struct.Struct(">I4s")
_CRC = struct.Struct(">I")


def fault(image: object) -> str | None:
    """Why something is no picture as it is read here, uint8 (height, width, 3), with the cure; None if it is one."""
    if not isinstance(image, np.ndarray):
        return f"no array but {type(image).__name__}: give uint8 (height, width, 3), as render_mode='rgb_array' does"
    shape = " x ".join(map(str, image.shape)) or "no axis"
    if not image.size:
        return f"empty ({shape}): draw something"
    if image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 1):
        return f"grey ({shape}): repeat its values for red, green and blue, (height, width, 3)"
    if image.ndim == 3 and image.shape[2] == 4:
        return f"RGBA ({shape}): leave out the fourth channel, image[..., :3]"
    if image.ndim == 3 and image.shape[2] != 3 and image.shape[0] in (1, 3, 4):
        return f"channels first ({shape}): give image.transpose(1, 2, 0), (height, width, 3)"
    if image.ndim != 3 or image.shape[2] != 3:
        return f"of shape {shape}: give (height, width, 3), RGB"
    if image.dtype == np.uint8 and image.max() != 1:
        return None
    if image.dtype.kind not in "biuf":
        return f"{image.dtype}: give uint8"
    least, most = image.min(), image.max()
    if not (least >= 0 and most <= 255):  # also where values are no numbers
        return f"{image.dtype} from {least} to {most}: scale to 0..255 and convert to uint8"
    if most <= 1:
        return f"{image.dtype} in 0..1: multiply by 255 and convert to uint8"
    return f"{image.dtype}: convert to uint8"


class NoPicture(ValueError):
    """Raised when bytes are not an image of the kind that is read here; the message says why, in one line."""


def decode(png: bytes, *, size: tuple[int, int] | None = None) -> NDArray[np.uint8]:
    """The pixels of an RGB image: uint8, (height, width, 3).

    Args:
        png: a PNG file: RGB, 8 bits, not interlaced.
        size: the height and width that it must have; None for any within the limits.

    Raises:
        NoPicture: it is something else, damaged, or of another size.
    """
    from PIL import Image

    plain = pixels_only(png, (RGB,), size=size)
    try:
        with Image.open(BytesIO(plain), formats=["PNG"]) as image:
            return np.array(image)
    except Exception as error:  # a damaged file fails in as many ways as there are bytes
        raise NoPicture(f"not a sound PNG ({' '.join(str(error).split())[:100]})") from None


def encode(frame: NDArray[np.uint8]) -> bytes:
    """An RGB image, uint8, (height, width, 3), as a PNG file."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(frame).save(file, "PNG")
    return file.getvalue()


def read_picture(path: Path) -> NDArray[np.uint8]:
    """The pixels of an RGB image in a file: uint8, (height, width, 3).

    Raises:
        NoPicture: it is something else, or damaged.
        OSError: the file cannot be read, or is larger than any image here.
    """
    return decode(read_limited(path, MAX_BYTES))


def pixels_only(
    png: bytes, colours: tuple[int, ...] = (RGB, PALETTE), *, size: tuple[int, int] | None = None
) -> bytes:
    """A PNG file reduced to its pixels, with a header within the limits.

    Raises:
        NoPicture: it is not such a file.
    """
    parts = [SIGNATURE]
    for number, (kind, whole, content) in enumerate(_chunks(png)):
        if (number == 0) is not (kind == b"IHDR"):
            raise NoPicture("not a sound PNG (it does not begin with one header)")
        if kind == b"IHDR":
            _check_header(content, colours, size)
        if kind in (b"IHDR", b"PLTE", b"IDAT", b"IEND"):
            parts.append(whole)
        if kind == b"IEND":
            return b"".join(parts)
        if kind not in (b"PLTE", b"IDAT") and kind[:1].isupper() and number:
            raise NoPicture("not a sound PNG (an unknown part that is needed to show it)")
    raise NoPicture("not a sound PNG (it is cut short)")


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Every chunk: its kind, its bytes and its content. The check sums are right."""
    if not png.startswith(SIGNATURE):
        raise NoPicture("not a PNG")
    if len(png) > MAX_BYTES:
        raise NoPicture(f"more than {MAX_BYTES} bytes")
    place = len(SIGNATURE)
    while place + _CHUNK.size <= len(png):
        length, kind = _CHUNK.unpack_from(png, place)
        begin, end = place + _CHUNK.size, place + _CHUNK.size + length
        if end + _CRC.size > len(png):
            break
        content = png[begin:end]
        if zlib.crc32(content, zlib.crc32(kind)) != _CRC.unpack_from(png, end)[0]:
            raise NoPicture("not a sound PNG (a check sum is wrong)")
        yield kind, png[place : end + _CRC.size], content
        place = end + _CRC.size


def _check_header(content: bytes, colours: tuple[int, ...], size: tuple[int, int] | None) -> None:
    if len(content) != _HEADER.size:
        raise NoPicture("not a sound PNG (its header is of another length)")
    width, height, bits, colour, _, _, interlaced = _HEADER.unpack(content)
    if colour not in colours:
        wanted = " or ".join(_NAMES[one] for one in colours)
        raise NoPicture(f"{_NAMES.get(colour, 'an unknown kind of image')}; save it as {wanted}")
    if bits > 8 or (colour == RGB and bits != 8):
        raise NoPicture(f"{bits} bits for a colour; save it with 8")
    if interlaced:
        raise NoPicture("interlaced; save it without that")
    if size is not None and (height, width) != size:
        raise NoPicture(f"{height} x {width} pixels (height x width) instead of {size[0]} x {size[1]}")
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise NoPicture(
            f"{height} x {width} pixels: at most {MAX_SIDE} a side and {MAX_PIXELS} in all are read"
        )

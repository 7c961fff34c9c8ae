"""Images of anybody: read if they are plain PNG files, and else refused before they take any memory; told apart, but for noise."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from aam_vision.support.files import read_limited
from aam_vision.support.noise import MOST_NOISE, only_noise
from aam_vision.support.pictures import NoPicture, decode, encode, pixels_only, read_picture
from aam_vision.support.recent import Recent, digest_of

FRAME = np.random.default_rng(0).integers(0, 256, (7, 5, 3), dtype=np.uint8)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _png(width: int, height: int, bits: int = 8, rest: Iterable[bytes] = (), *, interlaced: int = 0) -> bytes:
    fields = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", fields) + b"".join(rest) + _chunk(b"IEND", b"")


def test_a_written_image_is_read_back() -> None:
    assert np.array_equal(decode(encode(FRAME)), FRAME)
    assert np.array_equal(decode(encode(FRAME), size=(7, 5)), FRAME)


def test_nothing_but_the_pixels_reaches_the_decoder() -> None:
    about = PngImagePlugin.PngInfo()
    about.add_text("Comment", "x" * 1000, zip=True)
    file = BytesIO()
    Image.fromarray(FRAME).save(file, "PNG", pnginfo=about, icc_profile=b"y" * 500, exif=b"Exif\0\0")
    plain = pixels_only(file.getvalue())
    assert b"zTXt" in file.getvalue()
    assert not any(kind in plain for kind in (b"zTXt", b"iCCP", b"eXIf"))
    assert np.array_equal(decode(file.getvalue()), FRAME)


def _saved(kind: str, mode: str = "RGB") -> bytes:
    file = BytesIO()
    Image.fromarray(FRAME).convert(mode).save(file, kind)
    return file.getvalue()


ZEROS = zlib.compress(bytes(30_000_000), 9)
BAD = {
    "empty": (b"", "not a PNG"),
    "gif": (_saved("GIF"), "not a PNG"),
    "jpeg": (_saved("JPEG"), "not a PNG"),
    "bmp": (_saved("BMP"), "not a PNG"),
    "greyscale": (_saved("PNG", "L"), "greyscale; save it as RGB"),
    "palette": (_saved("PNG", "P"), "palette; save it as RGB"),
    "transparent": (_saved("PNG", "RGBA"), "RGBA; save it as RGB"),
    "huge": (_png(2**31 - 1, 2**31 - 1, rest=[_chunk(b"IDAT", ZEROS)]), "at most"),
    "wide": (_png(8193, 1, rest=[_chunk(b"IDAT", ZEROS)]), "at most"),
    "none": (_png(0, 5), "at most"),
    "deep": (_png(5, 7, bits=16), "16 bits"),
    "interlaced": (_png(5, 7, interlaced=1), "interlaced"),
    "no-pixels": (_png(5, 7), "not a sound PNG"),
    "too-few": (_png(5, 7, rest=[_chunk(b"IDAT", zlib.compress(b"abc"))]), "not a sound PNG"),
    "no-zlib": (_png(5, 7, rest=[_chunk(b"IDAT", b"abc")]), "not a sound PNG"),
    "needed": (_png(5, 7, rest=[_chunk(b"ABCD", b"")]), "unknown part"),
    "two-headers": (encode(FRAME)[:33] + encode(FRAME)[8:], "one header"),
    "no-header": (b"\x89PNG\r\n\x1a\n" + _chunk(b"IEND", b""), "one header"),
    "check-sum": (encode(FRAME).replace(b"IDAT", b"IDAU", 1), "check sum"),
    "long": (b"\x89PNG\r\n\x1a\n" + b"\xff\xff\xff\xffIHDR", "cut short"),
}


@contextmanager
def _in_little_memory() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BAD)
def test_everything_else_is_refused_in_little_memory(name: str) -> None:
    png, told = BAD[name]
    with _in_little_memory(), pytest.raises(NoPicture, match=told) as refused:
        decode(png)
    assert "\n" not in str(refused.value)


def test_more_pixels_than_the_header_says_are_never_unpacked() -> None:
    rows = bytes([0, *range(15)]) * 7
    png = _png(5, 7, rest=[_chunk(b"IDAT", zlib.compress(rows + bytes(50_000_000), 9))])
    with _in_little_memory():
        assert decode(png)[0, 0, 1] == 1


def test_a_file_that_is_cut_short_is_refused() -> None:
    for length in range(len(encode(FRAME))):
        with pytest.raises(NoPicture):
            decode(encode(FRAME)[:length])


def test_another_size_than_the_expected_one_is_refused() -> None:
    with pytest.raises(NoPicture, match=r"7 x 5 pixels .* instead of 5 x 7"):
        decode(encode(FRAME), size=(5, 7))


def test_files_that_never_end_are_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path, tmp_path / "missing", Path("a\0b")):
        with pytest.raises(OSError):  # noqa: PT011 - of many kinds
            read_limited(path, 100)
        with pytest.raises(OSError):  # noqa: PT011
            read_picture(path)
    (tmp_path / "large").write_bytes(bytes(101))
    with pytest.raises(OSError, match="larger than 100 bytes"):
        read_limited(tmp_path / "large", 100)
    assert len(read_limited(tmp_path / "large", 101)) == 101


SCENE = np.full((48, 64, 3), 120, np.uint8)
SCENE[10:30, 20:40] = (200, 60, 40)


def _look(seed, sigma, scene=SCENE):
    noise = np.random.default_rng(seed).normal(0, sigma, scene.shape)
    return (scene + noise).clip(0, 255).round().astype(np.uint8)


SEEDS = st.integers(0, 10_000)


@given(SEEDS, SEEDS, st.floats(0.2, MOST_NOISE - 1))
def test_two_looks_at_one_scene_differ_by_noise_alone(one, other, sigma):
    assert only_noise(_look(one, sigma), _look(other + 20_000, sigma))


CHANGES = st.sampled_from([(3, 90), (8, 25), (12, 12)])


@given(SEEDS, st.floats(0, 3), st.integers(0, 36), st.integers(0, 52), CHANGES)
def test_what_happens_is_no_noise(seed, sigma, row, column, change):
    side, by = change
    after = SCENE.copy()
    after[row : row + side, column : column + side, 1] += np.uint8(by)
    assert not only_noise(_look(seed, sigma), _look(seed + 20_000, sigma, after))


def test_a_brighter_light_and_a_single_pixel_are_no_noise():
    assert not only_noise(_look(0, 1.5), _look(1, 1.5, SCENE + np.uint8(4)))
    one = SCENE.copy()
    one[3, 3, 0] += 1
    assert not only_noise(SCENE, one)
    assert not only_noise(SCENE, SCENE[:-1])
    assert not only_noise(_look(0, 3 * MOST_NOISE), _look(1, 3 * MOST_NOISE))


def test_equal_and_tiny_images():
    assert only_noise(SCENE, SCENE)
    assert only_noise(_look(0, 2, SCENE[:5, :3]), _look(1, 2, SCENE[:5, :3]))


@given(st.integers(1, 5), st.lists(st.integers(0, 8), max_size=40))
def test_what_was_asked_for_last_is_kept(most, keys) -> None:
    recent = Recent[int, int](most)
    for key in keys:
        if recent.get(key) is None:
            assert recent.keep(key, key + 100) == key + 100
    latest = list(dict.fromkeys(reversed(keys)))[:most]
    assert list(recent) == [key + 100 for key in reversed(latest)]
    assert all(recent.get(key) is None for key in set(keys) - set(latest))


def test_a_digest_tells_images_apart_and_not_how_they_lie_in_memory() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    assert digest_of(frame) == digest_of(np.asfortranarray(frame)) == digest_of(frame[:, ::-1][:, ::-1])
    assert digest_of(frame) != digest_of(frame.reshape(6, 4, 3))
    assert digest_of(frame) != digest_of(frame ^ 1)

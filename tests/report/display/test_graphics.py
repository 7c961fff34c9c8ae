"""How images reach terminals: who gets what, and that it is the image which arrives."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from aam_vision.report.album import Picture
from aam_vision.report.display.pictures import CHUNK, Graphics, graphics, sequence, sixels

FRAME = np.random.default_rng(0).integers(0, 2, (60, 80, 3), dtype=np.uint8) * 255


@pytest.fixture
def picture() -> Picture:
    buffer = BytesIO()
    Image.fromarray(FRAME).save(buffer, "PNG")
    return Picture("0" * 32, 80, 60, buffer.getvalue())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"TERM": "dumb"}, None),
        ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, None),
        ({"TERM": "xterm-kitty"}, Graphics.KITTY),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, Graphics.KITTY),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1", "TMUX": "x"}, Graphics.BLOCKS),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Graphics.ITERM2),
        ({"TERM": "foot"}, Graphics.SIXEL),
        ({"TERM": "xterm-256color"}, Graphics.BLOCKS),
    ],
)
def test_a_terminal_is_recognized_by_its_environment(environment, expected):
    assert graphics(environment) is expected


def test_kitty_gets_the_image_in_pieces(picture):
    text = sequence(Graphics.KITTY, picture, 0, 20, 8)
    pieces = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", text)
    assert b64decode("".join(data for _, data in pieces)) == picture.png
    assert all(len(data) <= CHUNK for _, data in pieces)
    assert [keys.endswith("m=1") for keys, _ in pieces] == [True] * (len(pieces) - 1) + [False]
    assert "q=2" in pieces[0][0], "an answer of the terminal would be taken for typing"


def test_iterm2_gets_the_image_as_a_file(picture):
    found = re.fullmatch(
        r"\x1b\]1337;File=inline=1;([^:]*):(.*)\a", sequence(Graphics.ITERM2, picture, 0, 20, 8)
    )
    assert found is not None
    assert b64decode(found[2]) == picture.png
    assert "width=20;height=8" in found[1]


def test_sixels_are_the_pixels():
    assert np.array_equal(_drawn(sixels(FRAME)), FRAME)


def _drawn(text: str) -> np.ndarray:
    """The image that a terminal draws from sixels."""
    body = text.removeprefix("\x1bP0;1q").removesuffix("\x1b\\")
    size = re.match(r'"1;1;(\d+);(\d+)', body)
    assert size is not None
    width, height = int(size[1]), int(size[2])
    found = np.zeros((height, width, 3), dtype=np.uint8)
    palette: dict[str, list[int]] = {}
    x = y = 0
    colour = ""
    for defined, red, green, blue, chosen, times, repeated, single, control in re.findall(
        r"#(\d+);2;(\d+);(\d+);(\d+)|#(\d+)|!(\d+)([?-~])|([?-~])|([$-])", body[size.end() :]
    ):
        if defined:
            palette[defined] = [round(int(part) * 2.55) for part in (red, green, blue)]
        elif chosen:
            colour = chosen
        elif control:
            x, y = 0, y + (6 if control == "-" else 0)
        else:
            end = x + int(times or 1)
            for bit in range(6):
                if (ord(repeated or single) - 63) >> bit & 1:
                    found[y + bit, x:end] = palette[colour]
            x = end
    return found

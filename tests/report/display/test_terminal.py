"""The display in a real pseudo-terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.model.domains import generate, load
from aam_vision.report.display import Display
from tests.report.display.terminals import Terminal


def test_a_run_is_watched_with_its_images_and_ctrl_c_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    seen: list[str] = []
    pressed: list[bool] = []
    colours: set[tuple[str, str]] = set()

    def look(terminal: Terminal) -> None:
        if "▀" in terminal.text:
            seen.append(terminal.text)
            colours.update(terminal.colours_of("▀"))
            if len(seen) == 1:
                terminal.resize(60, 24)
            if "refused" in terminal.text and "Query" in terminal.text and not pressed:
                pressed.append(True)
                terminal.press(b"\x03")

    # a long examination, so that the run does not end before the key is pressed
    ended = Terminal().run("--env", "sokoban", "--exam", "2000", "--out", str(tmp_path), seen=look)
    assert ended.code == 130
    assert any("needed)" in text and "lines of the model decided" in text for text in seen)
    assert len(colours) > 10
    assert ended.cursor_is_visible
    assert "go on with --resume" in ended.text
    assert "▀" not in ended.text


@pytest.mark.parametrize(
    ("variables", "escapes"),
    [({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, False)],
    ids=["no colour", "dumb"],
)
def test_no_color_and_dumb_terminals_are_heeded(monkeypatch, variables, escapes):
    for name, value in {"TERM": "xterm-256color", **variables}.items():
        monkeypatch.setenv(name, value)
    rng = np.random.default_rng(0)
    agent = SymbolicAgent(load("gripper"), [generate("gripper", 2, rng).initial])
    master, slave = pty.openpty()
    stream = os.fdopen(slave, "w")
    with contextlib.suppress(ZeroDivisionError), Display(stream=stream) as display:
        interrogate(agent, SettablePolicy(), rng, watch=display.watch)
        raise ZeroDivisionError
    stream.flush()
    sent = b""
    while b"quer" not in sent or (escapes and b"\x1b[?25h" not in sent):  # one read need not bring everything
        sent += os.read(master, 1 << 16)
    stream.close()
    os.close(master)
    assert b"quer" in sent
    assert b"\x1b[3" not in sent
    assert (b"\x1b" in sent) is escapes
    assert not escapes or sent.rfind(b"\x1b[?25h") > sent.rfind(b"\x1b[?25l")


def test_in_a_pipe_a_line_of_progress_fits_a_line() -> None:
    told = io.StringIO()
    Display(stream=told).say(f"tell\x1b[2K: {'move(robot, ball) ' * 40}")
    (line,) = told.getvalue().splitlines()
    assert len(line) <= 100
    assert line.startswith("tell?[2K: move(")
    assert line.endswith("...")

"""A real pseudo-terminal with a command in it, and what its screen shows."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import aam_vision

ROOT = str(Path(aam_vision.__file__).parent.parent)


@dataclass
class Terminal:
    """The screen of a terminal."""

    columns: int = 80
    rows: int = 30
    code: int | None = None
    _process: int = 0
    _file: int = 0
    _screen: Any = field(default=None, repr=False)
    _stream: Any = field(default=None, repr=False)

    def run(
        self, *arguments: str, seen: Callable[[Terminal], None] = lambda terminal: None, **variables: str
    ) -> Terminal:
        """Run the command until it ends; ``seen`` is called whenever the screen has changed."""
        pyte = pytest.importorskip("pyte")
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._process, self._file = pty.fork()
        if not self._process:
            # ignored where the tests run in the background of a shell
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            environment = {k: v for k, v in os.environ.items() if k not in _ABOUT_TERMINALS}
            known = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": ROOT}
            environment |= known | variables
            command = [sys.executable, "-m", "aam_vision.run", *arguments]
            os.execve(sys.executable, command, environment)
        self.resize(self.columns, self.rows)
        while select.select([self._file], [], [], 120)[0]:
            try:
                data = os.read(self._file, 1 << 16)
            except OSError:  # nobody writes to it any more
                break
            self._stream.feed(data)
            seen(self)
        self.code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        os.close(self._file)
        return self

    @property
    def text(self) -> str:
        """The lines of the screen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def cursor_is_visible(self) -> bool:
        return not self._screen.cursor.hidden

    def colours_of(self, mark: str) -> set[tuple[str, str]]:
        """The colours in which a character is on the screen."""
        cells = (
            self._screen.buffer[row][column] for row in range(self.rows) for column in range(self.columns)
        )
        return {(cell.fg, cell.bg) for cell in cells if cell.data == mark}

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, as a person does."""
        self.columns, self.rows = columns, rows
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self._process, signal.SIGWINCH)

    def press(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._file, keys)


_ABOUT_TERMINALS = {
    "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM_PROGRAM", "KITTY_WINDOW_ID", "TMUX", "LC_TERMINAL"
}  # fmt: skip

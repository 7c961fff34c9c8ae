"""A program in a process of its own that should answer each line with a line, and is not trusted.

No shell starts it. It has limits on memory, and on the time and length of an answer. Whatever it does is an answer or
a ``ProgramFailed`` in bounded time and memory; then the process is ended, with all that it has started.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import weakref
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from aam_vision.support.errors import AamError, UnusableInput

CHUNK = 1 << 16
TOLD = 2000
"""Bytes of the program's last words on stderr that are kept."""


@dataclass(frozen=True)
class ProgramLimits:
    """How much a program may use."""

    seconds: float = 60.0
    """Wall time for one answer."""
    memory: int = 4 << 30
    """Bytes of address space."""
    line: int = 8 << 20
    """Bytes of one answer."""
    retries: int = 2
    """How often a question is asked again after a failure, each time in a fresh process."""
    start: float = 60.0
    """Wall time for the first answer of a process, if that is more than for others: it has to start."""


class ProgramFailed(AamError):
    """Raised when a program has not answered as it should; its process has been ended."""


class Program:
    """A command line and, from the first question on, a process that runs it.

    Raises:
        UnusableInput: the command is empty or names no program.
    """

    def __init__(self, command: str, limits: ProgramLimits) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise UnusableInput(f"cannot be split into words ({error})", "agent", repr(command)) from None
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise UnusableInput("there is no such program; give one that can be run", "agent", repr(command))
        self.command = command
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[[subprocess.Popen[bytes]], Program] | None = None
        self._told = b""
        self._seconds = 0.0

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def start(self) -> None:
        """A fresh process."""
        self.stop()
        launcher = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py"))]
        process = subprocess.Popen(
            [*launcher, str(self.limits.memory), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self._process, self._told = process, b""
        self._seconds = max(self.limits.seconds, self.limits.start)
        self._end = weakref.finalize(self, _end, process)

    def stop(self) -> None:
        """End the process and all that it has started."""
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def exchange(self, line: bytes) -> bytes:
        """Send a line and get the next one, without its end.

        Raises:
            ProgramFailed: there is none in time, it is too long, or the process has ended.
        """
        assert self._process is not None, "a program is started first"
        try:
            answer = self._exchange(self._process, line + b"\n", monotonic() + self._seconds)
        except ProgramFailed:
            self.stop()
            raise
        self._seconds = self.limits.seconds
        return answer

    def _exchange(self, process: subprocess.Popen[bytes], unsent: bytes, deadline: float) -> bytes:
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                left = deadline - monotonic()
                if left <= 0:
                    raise self._failed(f"has not answered within {self._seconds:g} s")
                for key, _ in selector.select(left):
                    if key.fileobj is stdin:
                        unsent = unsent[self._write(stdin.fileno(), unsent) :]
                        if not unsent:
                            selector.unregister(stdin)
                    elif key.fileobj is stderr:
                        told = _read(stderr.fileno())
                        if told == b"":
                            selector.unregister(stderr)
                        self._told = (self._told + (told or b""))[-TOLD:]
                    else:
                        part = _read(stdout.fileno())
                        if part == b"":
                            raise self._failed(self._how_it_ended(process))
                        answer += part or b""
                        line, end, rest = answer.partition(b"\n")
                        if len(line) > self.limits.line:
                            raise self._failed(f"has sent a line of more than {self.limits.line} bytes")
                        if end and (rest or unsent):
                            raise self._failed("has sent a line that nobody has asked for")
                        if end:
                            return bytes(line)

    def _write(self, pipe: int, data: bytes) -> int:
        try:
            return os.write(pipe, data[:CHUNK])
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(data)  # what it says on stdout, or that it has ended, is told there

    def _how_it_ended(self, process: subprocess.Popen[bytes]) -> str:
        try:
            code = process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "has closed its output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"has ended with exit code {code}"

    def _failed(self, what: str) -> ProgramFailed:
        lines = [line for line in self._told.decode("utf-8", "replace").splitlines() if line.strip()]
        said = "".join(c if c.isprintable() else "?" for c in lines[-1].strip()[:200]) if lines else ""
        return ProgramFailed(f"{what}{f' (it said: {said})' if said else ''}")


def _read(pipe: int) -> bytes | None:
    """The bytes that can be read now; None if there are none yet, empty at the end."""
    try:
        return os.read(pipe, CHUNK)
    except BlockingIOError:
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.wait()

"""Shared parts of the package's commands: one line for bad input, progress on stderr."""

from __future__ import annotations

import gc
import io
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Thread, Timer
from time import monotonic
from typing import Any, TextIO

import typer
from typer.core import TyperCommand

from aam_vision.support.errors import AamWarning, AgentFailed, UnusableInput
from aam_vision.support.options import with_options
from aam_vision.support.wording import one_line

_BAR = 30  # columns of a progress bar

_ALLOCATIONS_UNTIL_COLLECTION = 10_000
"""Few objects of a run are in cycles; with Python's 700, looking for these takes a tenth of a short run's time."""

UNUSABLE_INPUT = 2
"""Exit code when something the user supplied cannot be used."""
AGENT_FAILED = 3
"""Exit code when the agent failed for good; what was learned is saved."""
NOT_EXPLAINED = 4
"""Exit code when the agent proved to be none of the assumed kind, or to be seen wrongly; what was learned is saved."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class _Stopped(Exception):
    """Ctrl-C, hidden from the option parser, which has its own way to handle it."""


def parser_of(command: Callable[..., int | None]) -> Any:
    """The command line of a function: its parameters are the options, its docstring is the help.

    A parameter that is a dataclass stands for its fields (``aam_vision.support.options``), whose headings are those of the help. Lines
    under ``Examples:`` are shown below the options as they stand. The result is a command of click, in the copy that typer brings along.
    """
    told, _, examples = cleandoc(command.__doc__ or "").partition("\nExamples:\n")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    shown = f"\b\nExamples:\n{cleandoc(examples)}" if examples else None
    app.command(cls=_UnderHeadings, help=told, epilog=shown)(with_options(command))
    return typer.main.get_command(app)


class _UnderHeadings(TyperCommand):
    """A command whose help shows its options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            usual = "Arguments" if one.param_type_name == "argument" else "Options"
            if (shown := one.get_help_record(ctx)) is not None:
                sections.setdefault(getattr(one, "rich_help_panel", None) or usual, []).append(shown)
        for heading, lines in sections.items():
            with formatter.section(heading):
                formatter.write_dl(lines)


def run_command(command: Callable[..., int | None], name: str | None = None) -> int:
    """Run a function as a command line; the help calls it by this name, or else as Python was called.

    Returns:
        The exit code: 0; after one line on stderr that says what it was, 2 for what cannot be used and 3 for an agent that
        failed before it was asked; 130 after Ctrl-C.
    """

    @wraps(command)
    def stoppable(*arguments: Any, **options: Any) -> int | None:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt:
            raise _Stopped from None

    code = UNUSABLE_INPUT
    for name_of_stream in ("stdout", "stderr"):
        setattr(sys, name_of_stream, _whoever_reads(getattr(sys, name_of_stream)))
    gc.set_threshold(_ALLOCATIONS_UNTIL_COLLECTION)
    parser = parser_of(stoppable)
    try:
        result = parser.main(prog_name=name, standalone_mode=False)
    except _Stopped:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except UnusableInput as error:
        problem = _as_named(error.at_command())
    except AgentFailed as error:
        problem, code = str(error), AGENT_FAILED
    except MemoryError:
        problem = "there is not enough memory for this; give something smaller"
    except Exception as error:
        # the errors of the option parser, whichever copy of click typer brings along
        if not hasattr(error, "format_message"):
            raise
        given = " ".join(sys.argv[1:]) or "nothing"
        problem = f"{error.format_message().rstrip('.')} (given: {given}): see --help"
    else:
        return result if isinstance(result, int) else 0
    print(f"error: {one_line(' '.join(problem.split()))}", file=sys.stderr)
    return code


class _Pipe(io.FileIO):
    """A pipe whose reader may leave (``| head``): what is written after that is lost, and the work goes on."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            return len(data)


def _whoever_reads(stream: TextIO | None) -> TextIO | None:
    """The stream; if it is a pipe of the process, one that does not end the command when nobody reads it any more."""
    own = [one for one in (sys.__stdout__, sys.__stderr__) if one is not None]
    if stream is None or stream not in own or not stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode):
        return stream
    stream.flush()
    raw = io.BufferedWriter(_Pipe(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(raw, stream.encoding, stream.errors, line_buffering=stream is sys.__stderr__)


def _as_named(problem: str) -> str:
    """A message whose commands name the environment as the user did, who may have named one of a module (``MODULE:NAME``)."""
    given = [name for option, name in pairwise(sys.argv) if option == "--env" and ":" in name]
    return re.sub(r"--env [\w-]+(?![\w:-])", lambda _: f"--env {given[0]}", problem) if given else problem


def check_writable(folder: Path, option: str = "--out") -> None:
    """Find out before the work whether results can be written.

    Raises:
        UnusableInput: the folder cannot be made, or nothing can be written into it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):  # a name of its own: others may use the folder, too
            pass
    except OSError as error:
        raise UnusableInput(
            f"cannot write to {folder} ({error.strerror or error}): give another {option}"
        ) from None


def check_file(path: Path, option: str, suffix: str = "") -> None:
    """Find out before the work whether a file can be written.

    Raises:
        UnusableInput: its name does not end in the suffix, or its folder does not exist or cannot be written to.
    """
    wanted = f"give a file that ends in {suffix}" if suffix else "give a file"
    if suffix and path.suffix.lower() != suffix:
        raise UnusableInput(f"{option} {path}: {wanted}")
    if path.is_dir():
        raise UnusableInput(f"{option} {path}: is a folder; {wanted}")
    if not path.parent.is_dir():
        raise UnusableInput(
            f"{option} {path}: there is no folder {path.parent}; make it, or give another file"
        )
    if not os.access(path.parent, os.W_OK):
        raise UnusableInput(f"{option} {path}: nothing can be written to {path.parent}; give another file")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all; an older one stays until then. Text is written as UTF-8."""
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)  # a link that somebody put there would lead elsewhere
    with partial.open("xb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    partial.replace(path)


def write_named(path: Path, option: str, content: str) -> None:
    """As ``write_atomically``, a file that the user named.

    Raises:
        UnusableInput: it cannot be written.
    """
    try:
        write_atomically(path, content)
    except OSError as error:
        raise UnusableInput(f"{option} {path}: cannot be written ({error.strerror or error})") from None


class Progress:
    """Progress on stderr: one line that is rewritten on a terminal, a few lines elsewhere."""

    def __init__(self, stream: TextIO | None = None, *, every: float | None = None) -> None:
        self._stream = stream or sys.stderr
        usual = 0.2 if self._stream.isatty() else 5.0
        self._every = usual if every is None else every
        self._told = self._began = monotonic()

    @contextmanager
    def never_silent(self, what: str, *, quiet: bool = False, seconds: float = 8.0) -> Iterator[None]:
        """Say that ``what`` goes on whenever nothing was said for so long. Time decides what is shown, and nothing else."""
        ended = Event()

        def watch() -> None:
            while not ended.wait(seconds / 8):
                if monotonic() - self._told >= seconds:
                    self.stage(f"{what} ({monotonic() - self._began:.0f} s)")

        thread = Thread(target=watch, daemon=True)
        if not quiet:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            if not quiet:
                thread.join()

    def stage(self, text: str) -> None:
        """Say that a stage begins or has ended."""
        self._write(text, "\n")
        self._told = monotonic()

    def step(self, done: int, total: int, text: str) -> None:
        """Say that a step was done, once in a few seconds."""
        now = monotonic()
        if now - self._told >= self._every or done == total:
            self._told = now
            live = self._stream.isatty() and done < total
            bar = _bar(done, total) if live else ""
            self._write(f"  {bar}{done:>4}/{total} {text}", "\r" if live else "\n")

    def _write(self, text: str, end: str) -> None:
        clear = "\x1b[2K" if self._stream.isatty() else ""
        self._stream.write(clear + text + end)
        self._stream.flush()


@contextmanager
def told_if_slow(text: str, *, quiet: bool = False, seconds: float = 1.0) -> Iterator[None]:
    """Say on stderr what is being done once it has taken so many seconds; what fails sooner is one line of error."""
    timer = Timer(seconds, Progress().stage, [text])
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def told_warnings() -> Iterator[None]:
    """Print the toolkit's own warnings to stderr, each once and in one line, without the place in its code."""
    told: set[str] = set()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, AamWarning):
                others(message, category, filename, lineno, file, line)
            elif str(message) not in told:
                told.add(str(message))
                print(f"warning: {one_line(' '.join(str(message).split()))}", file=sys.stderr, flush=True)

        warnings.simplefilter("always", AamWarning)
        warnings.showwarning = show
        yield


def _bar(done: int, total: int) -> str:
    """A progress bar for a terminal."""
    from rich.console import Console
    from rich.progress_bar import ProgressBar

    console = Console(force_terminal=True)
    with console.capture() as drawn:
        console.print(ProgressBar(total=total, completed=done, width=_BAR), end=" ")
    return drawn.get()

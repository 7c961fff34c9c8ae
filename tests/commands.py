"""Every command of the toolkit, found by rule: a module that ends in ``sys.exit(run_command(FUNCTION))``."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from aam_vision.support.commandline import parser_of, run_command

ROOT = Path(__file__).parent.parent
_ENDING = re.compile(r"^if __name__ == \"__main__\":\n    sys\.exit\(run_command\((\w+)\)\)$", re.MULTILINE)


@cache
def commands() -> dict[str, str]:
    """The function of every command, by its module: ``python -m MODULE``."""
    found = {}
    for top in ("aam_vision", "envs", "classifiers", "training", "experiments"):
        for path in sorted((ROOT / top).rglob("*.py")):
            ending = _ENDING.search(path.read_text(encoding="utf-8"))
            if ending is not None:
                module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__")
                found[module if top in ("aam_vision", "experiments") else f"aam_vision.{module}"] = ending[1]
    return found


def function(module: str) -> Any:
    """The function of a command."""
    home = importlib.import_module(f"{module}.command" if module == "aam_vision.run" else module)
    return getattr(home, commands()[module])


@contextmanager
def visiting(folder: Path, *argv: str) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """As a process that was started in a folder: what is printed, and told on stderr; what is imported from the folder is forgotten."""
    printed, told, before = io.StringIO(), io.StringIO(), {*sys.modules}
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(told):
        patch.chdir(folder)
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setattr(sys, "argv", [*argv])
        yield printed, told
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def called(module: str, *arguments: str | Path, cwd: Path, code: int | None = None) -> CompletedProcess[str]:
    """A command in this process, where nothing has to be imported again; it ends with ``code``, if one is given."""
    with visiting(cwd, module, *map(str, arguments)) as (printed, told):
        ended = run_command(function(module))
    assert code in (None, ended), f"{module} {arguments}\n{printed.getvalue()}\n{told.getvalue()}"
    return CompletedProcess(arguments, ended, printed.getvalue(), told.getvalue())


def contents(folder: Path) -> dict[Path, bytes]:
    """The files of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(module: str, *arguments: str | Path, cwd: Path, kept: Path | None = None) -> str:
    """The one line with which a command refuses something: with exit code 2, nothing printed, and a folder left as it was."""
    before = contents(kept) if kept else {}
    done = called(module, *arguments, cwd=cwd, code=2)
    (line,) = (one for one in done.stderr.splitlines() if not one.startswith("Loading "))  # if it is slow
    assert (done.stdout, line[:7]) == ("", "error: ")
    assert kept is None or contents(kept) == before
    return line


@cache
def parser(module: str) -> Any:
    """The command line of a command, as click has it."""
    return parser_of(function(module))


def examples(module: str) -> list[str]:
    """The examples at the end of its help."""
    _, *lines = str(parser(module).epilog or "\b\nExamples:").removeprefix("\b\n").splitlines()
    return lines


def parsed(module: str, arguments: list[str]) -> dict[str, Any]:
    """The values of a command's options; nothing is run.

    Raises:
        Exception: of click's, if there is no such option or a value does not fit.
    """
    context = parser(module).make_context(module, list(arguments))
    found: dict[str, Any] = context.params
    return found

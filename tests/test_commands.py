"""Properties of every command: help with examples, 80 columns, and nothing but text where no terminal is."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from importlib import import_module
from inspect import getdoc
from pathlib import Path

import pytest

from aam_vision.__main__ import COMMANDS, main
from tests.commands import ROOT, called, commands, examples, parsed, parser

STARTED_BY_PROGRAMS = {
    "aam_vision.agents.launch",
    "aam_vision.agents.reference_agent",
    "envs.program",
    "experiments.peer_process",
    "experiments.programs",
}
"""Nobody types these."""
LIGHT = ("aam_vision.run", "aam_vision.training.train", "aam_vision.training.evaluate")
"""Commands that answer ``--help`` at once, though they import much for their work."""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _started(module: str, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **environment},
        check=False,
    )


def test_every_program_is_a_command_or_a_known_exception():
    programs = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for top in ("aam_vision", "envs", "classifiers", "training", "experiments")
        for path in (ROOT / top).rglob("*.py")
        if "\nif __name__ ==" in path.read_text(encoding="utf-8")
    }
    assert {"aam_vision.run", "aam_vision.agents.check", "experiments.table1"} <= set(commands())
    programs -= {"aam_vision.__main__", "aam_vision.run.__main__"}  # which start commands of other modules
    known = {name.removeprefix("aam_vision.") for name in commands()} | set(commands())
    assert programs - known <= STARTED_BY_PROGRAMS


@pytest.mark.parametrize("module", commands())
def test_the_help_says_what_it_does_and_shows_examples_that_fit(module):
    command = parser(module)
    assert command.help
    assert all(option.help for option in command.params), "every option is explained"
    assert examples(module)
    for line in examples(module):
        assert len(line) <= 78, line
        python, m, named, *arguments = shlex.split(line)
        assert (python, m, named) == ("python", "-m", module)
        parsed(module, arguments)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What all commands say to ``--help`` and to an unknown option, and what was imported for that: in one process."""
    folder = tmp_path_factory.mktemp("asked")
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.test_commands import ask_all; ask_all()"
    )
    environment = {**os.environ, "COLUMNS": "80", "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    assert list(folder.iterdir()) == []
    return json.loads(done.stdout)


def ask_all():
    told, imported = {}, set()
    for module in (*LIGHT, *commands()):
        for option in ("--help", "--no-such-option"):
            done = called(module, option, cwd=Path.cwd())
            told[f"{module} {option}"] = [done.returncode, done.stdout, done.stderr]
        if module == LIGHT[-1]:
            imported = {*sys.modules}
    print(json.dumps([told, sorted(imported)]))


@pytest.mark.parametrize("module", commands())
def test_help_is_plain_text_of_80_columns_even_where_colours_are_forced(module, asked):
    code, printed, told = asked[0][f"{module} --help"]
    assert (code, told) == (0, "")
    assert "\x1b" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert "Examples:" in printed


@pytest.mark.parametrize("module", commands())
def test_an_unknown_option_is_reported_in_one_plain_line(module, asked):
    code, printed, told = asked[0][f"{module} --no-such-option"]
    assert (code, printed) == (2, "")
    (line,) = told.splitlines()
    assert line.startswith("error: ")
    assert "\x1b" not in line


def test_help_loads_nothing_heavy(asked):
    heavy = {"torch", "torchvision", "lightning", "pddlgym", "gymnasium", "matplotlib", "unified_planning"}
    assert not heavy & {*asked[1]}


@pytest.fixture(scope="module")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose output went into a pipe."""
    folder = tmp_path_factory.mktemp("run")
    done = _started("aam_vision.run", "--env", "gripper", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    return folder / "out"


@pytest.mark.parametrize("why", [(), ("--why", "at_robby(?from) in pre of move")])
def test_output_into_a_pipe_is_plain_text_of_80_columns(a_run, why):
    done = _started("aam_vision.explain", str(a_run), *why, cwd=a_run)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", ["aam_vision.run --env gripper --out again", "aam_vision.explain out"])
def test_no_color_is_heeded_on_a_terminal(a_run, command):
    module, *arguments = command.split()
    shown = _on_a_terminal(module, *arguments, cwd=a_run.parent, NO_COLOR="1")
    assert shown.strip()
    assert set(COLOUR.findall(shown)) <= {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[3m"}, (
        "weight and slant at most"
    )


def _on_a_terminal(module: str, *arguments: str, cwd: Path, **environment: str) -> str:
    """Everything that a command writes to a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=theirs,
        stderr=theirs,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    return shown.decode()


# ``aam-vision COMMAND``: the same commands under one name.


def _said(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["aam-vision", *arguments])
    return main()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_one_that_can_be_started_alone(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, function, _ = COMMANDS[name]
    assert f"aam_vision.{module}".removesuffix(".command") in commands()
    assert getdoc(getattr(import_module(f"aam_vision.{module}"), function))
    assert _said([name, "--help"], monkeypatch) == 0
    assert capsys.readouterr().out.startswith(f"Usage: aam-vision {name} [OPTIONS]")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_without_a_command_all_are_listed(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _said(arguments, monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[3:]] == list(COMMANDS)
    assert max(map(len, lines)) <= 80


def test_the_command_gets_the_other_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _said(["run", "--env", "nowhere"], monkeypatch) == 2
    assert "nowhere" in capsys.readouterr().err


def test_an_unknown_command_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _said(["teach"], monkeypatch) == 2
    told = "error: 'teach' is no command: use run, learn, explain, ask, compare, execute, label, train, evaluate\n"
    assert capsys.readouterr() == ("", told)

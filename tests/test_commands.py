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
from tests.finished import copied_to

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
    """What all commands say to ``--help`` and to an unknown option, and what was imported for the first ones, and for all: in one process."""
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
    print(json.dumps([told, sorted(imported), sorted(sys.modules)]))


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
    assert not (heavy - {"gymnasium"}) & {*asked[2]}


@pytest.mark.parametrize("why", [(), ("--why", "at_robby(?from) in pre of move")])
def test_output_into_a_pipe_is_plain_text_of_80_columns(run_of, why, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    copied_to(run_of("gripper"), tmp_path / "out")
    done = called("aam_vision.explain", "out", *why, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_run_goes_on_when_nobody_reads_it_any_more(tmp_path):
    asked = "aam_vision run --env gripper --max-queries 2 --out out"
    command = [sys.executable, "-m", *asked.split()]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()  # as ``head -1`` does
    assert process.wait() == 0
    assert (tmp_path / "out" / "result.json").is_file()


def test_no_color_is_heeded_on_a_terminal(tmp_path):
    for arguments in (["run", "--env", "gripper", "--max-queries", "2", "--out", "out"], ["explain", "out"]):
        shown = _on_a_terminal("aam_vision", *arguments, cwd=tmp_path, NO_COLOR="1")
        assert shown.strip()
        weight_and_slant = {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[3m"}
        assert set(COLOUR.findall(shown)) <= weight_and_slant


def _on_a_terminal(module: str, *arguments: str, cwd: Path, **environment: str) -> str:
    """Everything that a command writes to a terminal."""
    ours, theirs = pty.openpty()
    known = {"PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "xterm-256color"}
    environment = {**os.environ, **known, **environment}
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=cwd, env=environment)
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


@pytest.fixture
def said(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["aam-vision", *arguments])
        return main(), *capsys.readouterr()

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_one_that_can_be_started_alone(name, said):
    module, function, _ = COMMANDS[name]
    assert f"aam_vision.{module}".removesuffix(".command") in commands()
    assert getdoc(getattr(import_module(f"aam_vision.{module}"), function))
    code, printed, _ = said(name, "--help")
    assert code == 0
    assert printed.startswith(f"Usage: aam-vision {name} [OPTIONS]")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_without_a_command_all_are_listed(arguments, said):
    code, printed, _ = said(*arguments)
    lines = printed.splitlines()
    assert (code, [line.split()[0] for line in lines[3:]]) == (0, list(COMMANDS))
    assert max(map(len, lines)) <= 80


def test_the_command_gets_the_other_arguments(said):
    code, _, told = said("run", "--env", "nowhere")
    assert code == 2
    assert "nowhere" in told


def test_an_unknown_command_is_one_line_and_exit_code_2(said):
    told = "error: 'teach' is no command: use run, learn, explain, ask, compare, execute, label, train, evaluate\n"
    assert said("teach") == (2, "", told)

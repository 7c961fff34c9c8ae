"""``aam-vision COMMAND``: the same commands under one name."""

from __future__ import annotations

import sys
from importlib import import_module
from inspect import getdoc

import pytest

from aam_vision.__main__ import COMMANDS, main
from tests.commands import commands


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
    told = "error: 'teach' is no command: use run, explain, ask, compare, execute, label, train, evaluate\n"
    assert capsys.readouterr() == ("", told)

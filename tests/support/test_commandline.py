"""Progress: a bar on a terminal, plain lines elsewhere."""

import io
import warnings

import pytest

from aam_vision.support.commandline import Progress, run_command, told_warnings
from aam_vision.support.errors import AamWarning, AgentFailed, UnusableInput


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_that_grows_in_place():
    stream = _Terminal()
    progress = Progress(stream, every=0)
    for done in (1, 5, 10):
        progress.step(done, 10, "loss 0.5")
    assert "\u2501" in stream.getvalue()
    assert stream.getvalue().count("\r") == 2
    assert stream.getvalue().endswith("10/10 loss 0.5\n")


def test_a_file_gets_plain_lines():
    stream = io.StringIO()
    progress = Progress(stream, every=0)
    progress.stage("drawing")
    for done in (1, 10):
        progress.step(done, 10, "loss 0.5")
    assert stream.getvalue() == "drawing\n     1/10 loss 0.5\n    10/10 loss 0.5\n"


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (AgentFailed("knock() has not returned"), 3, "error: knock() has not returned\n"),
        (UnusableInput("a \x1b[2Jtable \udcff\nof \x07name"), 2, "error: a ?[2Jtable ? of ?name\n"),
    ],
)
def test_whatever_ends_a_command_is_one_plain_line_and_an_exit_code(capsys, monkeypatch, error, code, told):
    def command() -> None:
        raise error

    monkeypatch.setattr("sys.argv", ["command"])
    assert run_command(command) == code
    assert capsys.readouterr() == ("", told)


def test_a_warning_of_ours_is_one_plain_line_and_told_once(capsys):
    with warnings.catch_warnings(record=True) as others:
        warnings.simplefilter("always")
        with told_warnings():
            for _ in range(3):
                warnings.warn("the episode\x1b ended", AamWarning, stacklevel=1)
            warnings.warn("old", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr() == ("", "warning: the episode? ended\n")
    assert [one.category for one in others] == [DeprecationWarning]


def test_a_suggested_command_names_the_environment_as_the_user_did(capsys, monkeypatch):
    def command(env: str = "") -> None:
        raise UnusableInput("no classifiers: run python -m train --env own --out DIR")

    for given in ("own", "my_module:OWN"):
        monkeypatch.setattr("sys.argv", ["command", "--env", given])
        assert run_command(command) == 2
        assert capsys.readouterr().err.endswith(f"run python -m train --env {given} --out DIR\n")


def test_what_takes_long_is_not_silent() -> None:
    stream = io.StringIO()
    with Progress(stream).never_silent("at work", seconds=0.01):
        while "at work" not in stream.getvalue():
            pass
    assert stream.getvalue().startswith("at work (")

"""Command lines: their options, what they tell and how it is worded."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.support import wording
from aam_vision.support.commandline import Progress, parser_of, run_command, told_warnings
from aam_vision.support.errors import AamWarning, AgentFailed, UnusableInput
from aam_vision.support.options import flag, option, with_options


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

    for name in ("own", "my_module:OWN"):
        monkeypatch.setattr("sys.argv", ["command", "--env", name])
        assert run_command(command) == 2
        assert capsys.readouterr().err.endswith(f"run python -m train --env {name} --out DIR\n")


def test_what_takes_long_is_not_silent() -> None:
    stream = io.StringIO()
    with Progress(stream).never_silent("at work", seconds=0.01):
        while "at work" not in stream.getvalue():
            pass
    assert stream.getvalue().startswith("at work (")


@dataclass(frozen=True)
class Drawing:
    size: int = option("Pixels of a side.", 64, min=8)
    colours: list[str] | None = option("Colours (repeatable).")
    out: Path = option("File for the drawing.", Path("drawing.svg"))
    plain: bool = flag("No frame.")


def draw(title: str, drawing: Drawing = Drawing(out=Path("other.svg")), copies: int = 1) -> int:
    """Draw something."""
    print(title, drawing, copies)
    return 0


def test_every_field_becomes_an_option_between_the_other_parameters() -> None:
    names = [one.name for one in parser_of(draw).params]
    assert names == ["title", "size", "colours", "out", "plain", "copies"]
    by_name = {one.name: one for one in parser_of(draw).params}
    assert by_name["size"].help == "Pixels of a side."
    assert by_name["plain"].opts == ["--plain"]
    assert by_name["plain"].secondary_opts == [], "a flag cannot be switched off"


GIVEN = "T --size 9 --colours red --colours blue --plain --out a"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("T", 0, f"T {Drawing(out=Path('other.svg'))} 1"),
        (GIVEN, 0, f"T {Drawing(9, ['red', 'blue'], Path('a'), plain=True)} 1"),
        ("T --size 7", 2, "--size"),
    ],
)
def test_the_function_gets_the_options_as_one_value(
    words: str, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["draw", *words.split()])
    assert run_command(draw) == code
    printed = capsys.readouterr()
    assert printed.out == f"{told}\n" if code == 0 else told in printed.err


def test_the_function_can_still_be_called_with_keywords(capsys: pytest.CaptureFixture[str]) -> None:
    drawing = {"size": 8, "colours": None, "out": Path("b"), "plain": False}
    assert with_options(draw)(title="T", copies=2, **drawing) == 0
    assert capsys.readouterr().out == f"T {Drawing(8, None, Path('b'))} 2\n"


@dataclass(frozen=True)
class Printing:
    copies: int = option("Copies.", 1)
    paper: str = option("Of what size.", "A4", heading="Paper and ink")
    ink: str = option("Of what colour.", "black")
    out: Path = option("File.", Path("out.ps"), heading="Output")


def test_help_shows_a_heading_above_the_options_up_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def show(printing: Printing = Printing()) -> None:
        """Print something."""

    monkeypatch.setattr("sys.argv", ["show", "--help"])
    assert run_command(show) == 0
    heads = re.findall(r"^(?:  (--\w+)|(\w.*:)$)", capsys.readouterr().out, re.MULTILINE)
    told = " ".join(option or heading for option, heading in heads)
    assert told.endswith("Options: --copies --help Paper and ink: --paper --ink Output: --out")


@pytest.mark.parametrize(
    ("number", "word", "told"),
    [
        (0, "step", "0 steps"),
        (1, "step", "1 step"),
        (2, "query", "2 queries"),
        (1, "query", "1 query"),
        (2, "pal tuple", "2 pal tuples"),
        (3, "day", "3 days"),
        (2, "box", "2 boxes"),
    ],
)
def test_one_is_not_several(number: int, word: str, told: str) -> None:
    assert wording.counted(number, word) == told


@given(st.lists(st.text(st.characters(categories=["L", "P"]), min_size=1, max_size=60)), st.integers(0, 8))
def test_no_line_is_longer_than_it_may_be_and_no_word_is_lost(words: list[str], indent: int) -> None:
    lines = wording.lines(" ".join(words), indent)
    assert all(len(line) <= wording.WIDTH for line in lines)
    assert " ".join(lines).split() == words


@given(st.text())
def test_a_line_of_a_log_is_printable_and_not_too_long(text: str) -> None:
    line = wording.one_line(text, 40)
    assert len(line) <= 40
    assert line.isprintable()
    if text.isprintable():
        assert line == text or (len(text) > 40 and line.endswith("..."))

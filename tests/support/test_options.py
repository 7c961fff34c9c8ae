"""Options as the fields of a dataclass: the command line has one for every field, and the function gets the dataclass."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from aam_vision.support.commandline import parser_of, run_command
from aam_vision.support.options import flag, option, with_options


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

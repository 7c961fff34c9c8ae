"""The text on the screen, at any width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from aam_vision.display import Display
from aam_vision.display.view import View, asked
from aam_vision.query import Query, Response, Situation
from aam_vision.strips import Atom, GroundAction, Objects, State, Types

OBJECTS = Objects({"a": "object", "b": "object"}, Types())


def _state(*atoms: tuple[str, ...], unknown: tuple[tuple[str, ...], ...] = ()) -> State:
    return State(
        frozenset(Atom(name, names) for name, *names_ in atoms for names in [tuple(names_)]),
        OBJECTS,
        frozenset(Atom(name, tuple(names)) for name, *names in unknown),
    )


BEFORE = _state(("on", "a", "b"), ("clear", "a"), unknown=(("hot", "a"),))
AFTER = _state(("held", "a"), ("clear", "b"), ("hot", "a"))
PLAN = tuple(GroundAction(name, ("a",)) for name in ("lift", "drop", "lift", "drop", "lift", "fly", "lift"))


def _view(executed: int) -> View:
    query = Query(Situation(0, BEFORE), PLAN)
    final = Situation(1, AFTER if executed else BEFORE)
    return View("3 queries", (2, 7, "pal tuples decided"), asked("Query 3", query, Response(executed, final)))


def _lines(view: View, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=40)
    console.print(view)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text.splitlines()


def test_the_answer_in_words_lists_only_changes_of_atoms_that_were_seen_before():
    text = "\n".join(_lines(_view(5), 100))
    assert "5 of 7 done: +clear(b), +held(a), -clear(a), -on(a, b)" in text
    assert "hot" not in text
    assert "refused      fly(a)" in text
    assert "not reached  lift(a)" in text
    assert "refused, so nothing changed" in "\n".join(_lines(_view(0), 100))


@pytest.mark.parametrize("width", range(20, 100, 7))
def test_no_line_is_longer_than_the_screen_is_wide(width):
    lines = _lines(_view(5), width)
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 12


def test_off_a_terminal_there_are_plain_lines():
    stream = io.StringIO()
    with Display(stream=stream) as display:
        display.say("Interrogating doors, seed 0")
    assert stream.getvalue() == "Interrogating doors, seed 0\n"

"""The text on the screen, at any width."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console

from aam_vision.agents.decorator import AnnouncedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.robust import Observer
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Types
from aam_vision.report.display import Display, following
from aam_vision.report.display.following import View, asked

OBJECTS = Objects({"a": "object", "b": "object"}, Types())


def _state(*atoms: tuple[str, ...], unknown: tuple[tuple[str, ...], ...] = ()) -> State:
    true, hidden = ({Atom(name, tuple(names)) for name, *names in told} for told in (atoms, unknown))
    return State(frozenset(true), OBJECTS, frozenset(hidden))


BEFORE = _state(("on", "a", "b"), ("clear", "a"), unknown=(("hot", "a"),))
AFTER = _state(("held", "a"), ("clear", "b"), ("hot", "a"))
PLAN = tuple(GroundAction(name, ("a",)) for name in ("lift", "drop", "lift", "drop", "lift", "fly", "lift"))


def _view(executed: int) -> View:
    query = Query(Situation(0, BEFORE), PLAN)
    final = Situation(1, AFTER if executed else BEFORE)
    return View(
        "3 queries", (2, 7, "lines of the model decided"), asked("Query 3", query, Response(executed, final))
    )


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


class _Looking(SymbolicAgent):
    """Keeps what the display has said when a walk begins."""

    def __init__(self, display_stream: io.StringIO) -> None:
        rng = np.random.default_rng(0)
        super().__init__(load("gripper"), [generate("gripper", 2, rng).initial], Access.RESET)
        self._stream = display_stream
        self.said: list[str] = []

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        self.said.append(self._stream.getvalue())
        return super().walk(start, steps, rng)


@pytest.mark.parametrize("every", [0.0, 1e6])
def test_the_first_walk_is_announced_and_others_now_and_then(every, monkeypatch):
    monkeypatch.setattr(following, "EVERY", every)
    stream = io.StringIO()
    with Display(stream=stream) as display:
        agent = _Looking(stream)
        announced = AnnouncedAgent(agent, display.announce)
        result = Interrogation(announced).run(np.random.default_rng(0), observer=Observer(display.watch))
    assert result.counts.walk_steps
    looking, walking = agent.said[0].splitlines()
    assert looking == "looking at the initial situations"
    assert walking.startswith("the agent acts on its own, up to ")
    assert stream.getvalue().count("at a time") == 1, "moves tell the rest"
    walks = sum(line.endswith("  the agent acts on its own") for line in stream.getvalue().splitlines())
    assert walks == len(agent.said) if every == 0 else walks < len(agent.said)

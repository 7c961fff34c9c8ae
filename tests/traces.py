"""Traces as AMLGym writes them, with refused steps."""

from __future__ import annotations

from collections.abc import Iterable

from aam_vision.model.strips import GroundAction, Model, State

LAMP = """(define (domain lamp)
  (:types room)
  (:predicates (on ?r - room) (dusty ?r - room) (robot ?r - room))
  (:action switch :parameters (?r - room) :precondition () :effect ())
  (:action go :parameters (?a - room ?b - room) :precondition () :effect ()))
"""
"""A domain that declares, and does not say what its actions do."""
STARTS = "(:state (robot a))"


def trace(*sections: str) -> str:
    """The text of a trace, a section in each line; the first is in line 2."""
    return "\n".join(["(:trajectory", *sections, ")"])


def trace_of(model: Model, start: State, attempted: Iterable[GroundAction]) -> str:
    """What a model does of these steps, one after the other."""
    sections = [_state(start)]
    for action in attempted:
        step = f"({' '.join([action.name, *action.objects])})"
        if model.schema(action.name).applicable(start, action.objects):
            start = model.schema(action.name).successor(start, action.objects)
            sections += [f"(:action {step})", _state(start)]
        else:
            sections += [f"(:refused {step})"]
    return trace(*sections)


def _state(state: State) -> str:
    atoms = (f" ({' '.join([atom.predicate, *atom.objects])})" for atom in sorted(state.true))
    return f"(:state{''.join(atoms)})"

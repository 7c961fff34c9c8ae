"""States made for a question under ``settable`` access, and arguments for it."""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.interrogation.hypotheses.unification import Merged
from aam_vision.query import Situation
from aam_vision.strips import Atom, GroundAction, Objects, State


def arguments_as(objects: Objects, types: tuple[str, ...], merged: Merged) -> tuple[str, ...] | None:
    """Arguments that are alike just where ``merged`` says so; None if there are too few objects."""
    chosen: dict[int | str, str] = {}
    for symbol in merged:
        if isinstance(symbol, str):
            chosen[symbol] = symbol
        elif symbol not in chosen:
            kinds = [kind for kind, other in zip(types, merged, strict=True) if other == symbol]
            options = [
                name
                for name in objects.of_type(kinds[0])
                if name not in chosen.values() and all(name in objects.members(kind) for kind in kinds)
            ]
            if not options:
                return None
            chosen[symbol] = options[0]
    return tuple(chosen[symbol] for symbol in merged)


def roomiest(evidence: Evidence) -> State:
    """The initial state of the problem with the most objects: room for many steps beside each other."""
    initial = [node.state for node in evidence.nodes if node.initial]
    return max(initial, key=lambda state: len(state.objects))


def with_atoms(state: State, action: ActionHypotheses, objects: tuple[str, ...], on: int, off: int) -> State:
    """The state with some of the action's atoms switched on and others off."""
    facts = dict(action.index.grounded(objects))
    true = state.true | {Atom(*facts[bit]) for bit in bits(on)}
    return State(true - {Atom(*facts[bit]) for bit in bits(off)}, state.objects)


def ask_in(
    evidence: Evidence, state: State, plan: Sequence[GroundAction], why: str, aims: Sequence[Aim] = ()
) -> Ask:
    """The query that asks for a plan in a state made for it."""
    return Ask(evidence.situation(Situation(state, state)), tuple(plan), why, aims=tuple(aims))

"""Facts about a small STRIPS domain, found by trying everything.

Everything here is deliberately naive: products, breadth-first search and set inclusion, so that it can
judge the joins, the grounding and the mutexes of the toolkit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from aam_vision.strips import ActionHeader, Atom, GroundAction, Model, Objects, State, Vocabulary


@dataclass(frozen=True)
class Domain:
    """A true model and the initial states of its problems."""

    model: Model
    problems: tuple[State, ...]
    repeated: bool = False
    """Whether one object may be named twice in an instruction, and one parameter in an atom."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # for hypothesis

    def __str__(self) -> str:
        vocabulary = self.model.vocabulary
        lines = [f"types {dict(vocabulary.types.parents)} constants {dict(vocabulary.constants)}"]
        lines += ["one object may be named twice"] if self.repeated else []
        lines += [f"{predicate.name}{predicate.types}" for predicate in vocabulary.predicates]
        for schema in self.model.actions:
            names = schema.header.parameters
            parts = [f"{a.text(names)}" for a in sorted(schema.positive, key=str)]
            parts += [f"not {a.text(names)}" for a in sorted(schema.negative, key=str)]
            effects = [f"+{a.text(names)}" for a in sorted(schema.add, key=str)]
            effects += [f"-{a.text(names)}" for a in sorted(schema.delete, key=str)]
            lines.append(f"{schema.header}: {', '.join(parts)} => {', '.join(effects)}")
        for state in self.problems:
            lines.append(f"{dict(state.objects)}: {' '.join(map(str, sorted(state.true)))}")
        return "\n".join(lines)


def ground_atoms(vocabulary: Vocabulary, objects: Objects) -> list[Atom]:
    """All type-correct facts, those that name an object twice included."""
    return [
        Atom(predicate.name, row)
        for predicate in vocabulary.predicates
        for row in product(*(objects.of_type(kind) for kind in predicate.types))
    ]


def all_bindings(header: ActionHeader, objects: Objects, *, repeated: bool = False) -> list[tuple[str, ...]]:
    """All type-correct bindings, by enumeration."""
    rows = product(*(objects.of_type(kind) for kind in header.types))
    return [row for row in rows if repeated or len(set(row)) == len(row)]


def applicable(model: Model, state: State, *, repeated: bool = False) -> list[GroundAction]:
    """Every instruction that can be carried out, by trying all."""
    return [
        GroundAction(schema.header.name, row)
        for schema in model.actions
        for row in all_bindings(schema.header, state.objects, repeated=repeated)
        if schema.applicable(state, row)
    ]


def successor(model: Model, state: State, action: GroundAction) -> State:
    """Where an applicable instruction leads."""
    return model.schema(action.name).successor(state, action.objects)


def reachable(
    model: Model, starts: Sequence[State], limit: int = 2000, *, repeated: bool = False
) -> dict[State, int] | None:
    """Every reachable state with its distance from the nearest start; None if there are too many."""
    depth = dict.fromkeys(starts, 0)
    queue = deque(depth)
    while queue:
        state = queue.popleft()
        for action in applicable(model, state, repeated=repeated):
            after = successor(model, state, action)
            if after not in depth:
                if len(depth) >= limit:
                    return None
                depth[after] = depth[state] + 1
                queue.append(after)
    return depth

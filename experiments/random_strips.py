"""Small STRIPS domains drawn at random, with everything that written domains seldom have.

Types with inheritance, types of which a problem has no object, constants, nullary predicates, negative
preconditions, actions that change nothing, that add what they require, that can never be executed, objects that may be
named twice, and one problem or two. They are small enough for brute force.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeVar

import numpy as np

from aam_vision.model.pddl import Problem, domain_text, problem_text
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)

MAX_LIFTED = 10  # lifted atoms of one action at most: so many have 3 ** 10 preconditions and as many effects
MAX_FACTS = 16  # ground atoms of one problem at most
HIERARCHIES: tuple[dict[str, str], ...] = (
    {},
    {"thing": ROOT_TYPE, "place": ROOT_TYPE},
    {"thing": ROOT_TYPE, "box": "thing", "place": ROOT_TYPE},
    {"thing": ROOT_TYPE, "box": "thing", "crate": "box"},
)
ARITIES = (0, 0, 1, 1, 1, 1, 2, 2)
PARAMETERS = (0, 1, 1, 2, 2, 3)
PRECONDITIONS = (0, 1, 1, 2, 2, 3)
EFFECTS = (0, 1, 1, 1, 2, 2, 2, 3, 3)
UNUSUAL = 0.12
"""Share of literals that are not as in the example: many make an action that can never be executed."""
UNDOING = 0.5  # share of domains with an action that undoes what another does, so that more can be reached
CONSTANTS = 0.3  # share of domains with a constant
REPEATED = 0.15  # share of domains in which one object may be named twice
ANOTHER, ALIKE = 0.4, 0.5  # share of domains with a second problem, and of these with one of the same objects

Choice = TypeVar("Choice")


def random_domain(seed: int) -> Domain:
    """The domain of this seed."""
    rng = np.random.default_rng(seed)
    repeated = bool(rng.random() < REPEATED)
    while True:
        vocabulary = _vocabulary(rng)
        problems = [_problem(rng, vocabulary, _objects(rng, vocabulary))]
        if rng.random() < ANOTHER:
            objects = problems[0].objects if rng.random() < ALIKE else _objects(rng, vocabulary)
            problems.append(_problem(rng, vocabulary, objects))
        headers = [_header(rng, vocabulary, f"a{number}") for number in range(int(rng.integers(1, 5)))]
        if max(len(ground_atoms(vocabulary, state.objects)) for state in problems) > MAX_FACTS:
            continue
        pools = [lifted_atoms(vocabulary, header, repeated=repeated) for header in headers]
        if all(0 < len(pool) <= MAX_LIFTED for pool in pools):
            break
    actions = [
        _schema(rng, header, pool, problems[0], repeated=repeated)
        for header, pool in zip(headers, pools, strict=True)
    ]
    if rng.random() < UNDOING:
        actions.append(_undoing(actions[0]))
    return Domain(Model(vocabulary, tuple(actions)), tuple(problems), repeated)


def _vocabulary(rng: np.random.Generator) -> Vocabulary:
    types = Types(_one(rng, HIERARCHIES))
    kinds = [*types.parents, *types.parents, ROOT_TYPE]
    predicates = tuple(
        Predicate(f"p{number}", tuple(_one(rng, kinds) for _ in range(_one(rng, ARITIES))))
        for number in range(int(rng.integers(1, 5)))
    )
    constants = {"k": _one(rng, kinds)} if rng.random() < CONSTANTS else {}
    return Vocabulary("random", predicates, types, constants)


def _objects(rng: np.random.Generator, vocabulary: Vocabulary) -> Objects:
    """One to five objects beside the constants, of any types."""
    kinds = [*vocabulary.types.parents] or [ROOT_TYPE]
    named = {f"o{number}": _one(rng, kinds) for number in range(int(rng.integers(1, 6)))}
    return Objects({**named, **vocabulary.constants}, vocabulary.types)


def _problem(rng: np.random.Generator, vocabulary: Vocabulary, objects: Objects) -> State:
    share = rng.uniform(0.2, 0.8)
    facts = ground_atoms(vocabulary, objects)
    return State(frozenset(fact for fact in facts if rng.random() < share), objects)


def _header(rng: np.random.Generator, vocabulary: Vocabulary, name: str) -> ActionHeader:
    spoken = [kind for predicate in vocabulary.predicates for kind in predicate.types]
    kinds = [*spoken, *spoken, *vocabulary.types.parents, ROOT_TYPE]
    types = tuple(_one(rng, kinds) for _ in range(_one(rng, PARAMETERS)))
    return ActionHeader(name, tuple("xyz"[: len(types)]), types)


def _schema(
    rng: np.random.Generator,
    header: ActionHeader,
    pool: Sequence[LiftedAtom],
    example: State,
    *,
    repeated: bool,
) -> ActionSchema:
    """Preconditions that mostly hold in the example under some binding, and effects that mostly change it."""
    rows = all_bindings(header, example.objects, repeated=repeated)
    row = _one(rng, rows) if rows else None

    def literals(counts: Sequence[int], *, like: bool) -> tuple[frozenset[LiftedAtom], frozenset[LiftedAtom]]:
        signs: dict[LiftedAtom, bool] = {}
        for place in rng.permutation(len(pool))[: _one(rng, counts)]:
            atom = pool[int(place)]
            holds = bool(rng.integers(2)) if row is None else bool(example.value(atom.ground(row)))
            signs[atom] = (holds is like) is not bool(rng.random() < UNUSUAL)
        return (
            frozenset(atom for atom, sign in signs.items() if sign),
            frozenset(atom for atom, sign in signs.items() if not sign),
        )

    return ActionSchema(header, *literals(PRECONDITIONS, like=True), *literals(EFFECTS, like=False))


def _undoing(schema: ActionSchema) -> ActionSchema:
    """An action with the opposite effects, so that more can be reached."""
    kept = schema.positive - schema.add - schema.delete
    return ActionSchema(
        replace(schema.header, name="undo"), kept, frozenset(), add=schema.delete, delete=schema.add
    )


def _one(rng: np.random.Generator, options: Sequence[Choice]) -> Choice:
    return options[int(rng.integers(len(options)))]


# Facts about a small STRIPS domain, found by trying everything.
#
# Everything here is deliberately naive: products, breadth-first search and set inclusion, so that it can
# judge the joins, the grounding and the mutexes of the toolkit.


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
        told = ["objects may be named twice"] * self.repeated + [domain_text(self.model)]
        told += [problem_text("p", self.model.vocabulary, Problem("p", state)) for state in self.problems]
        return "\n".join(told)


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

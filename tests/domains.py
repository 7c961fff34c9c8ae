"""Random small STRIPS domains for hypothesis, which makes those that fail smaller.

``experiments.random_strips`` says what can be found out about them by trying everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from aam_vision.model.delayed import AT_SET_TIME, DelayedEffect, Delays
from aam_vision.model.derived import AtLeast
from aam_vision.model.domains import generate, load
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Location,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.planning.grounding import LiftedOperator
from experiments.random_strips import Domain, all_bindings, applicable, ground_atoms, reachable, successor

__all__ = ["Domain", "all_bindings", "applicable", "ground_atoms", "reachable", "successor"]

HIERARCHIES = (
    {},
    {"thing": ROOT_TYPE, "place": ROOT_TYPE},
    {"thing": ROOT_TYPE, "box": "thing", "place": ROOT_TYPE},
)
CONSTANT = "k"


# --- strategies -----------------------------------------------------------------------------------


@st.composite
def vocabularies(draw: st.DrawFn, *, constants: bool = False) -> Vocabulary:
    """One to four predicates of arity 0 to 3 over one to three types."""
    types = Types(draw(st.sampled_from(HIERARCHIES)))
    kinds = st.sampled_from([*types.parents, *types.parents, ROOT_TYPE])
    arities = draw(st.lists(st.sampled_from([0, 1, 1, 1, 2, 2, 3]), min_size=1, max_size=4))
    predicates = [
        Predicate(f"p{number}", tuple(draw(kinds) for _ in range(arity)))
        for number, arity in enumerate(arities)
    ]
    named = {CONSTANT: draw(kinds)} if constants and draw(st.booleans()) else {}
    return Vocabulary("random", tuple(predicates), types, named)


@st.composite
def derived(draw: st.DrawFn, vocabulary: Vocabulary) -> AtLeast:
    """A predicate that holds where at least so many facts of another one do."""
    of = draw(st.sampled_from(vocabulary.predicates))
    places = [place for place in range(of.arity) if draw(st.booleans())]
    apart = draw(st.lists(st.sampled_from([*vocabulary.types.parents, ROOT_TYPE]), max_size=2))
    return AtLeast(of, tuple(places), draw(st.integers(1, 3)), tuple(apart))


@st.composite
def delayed(draw: st.DrawFn, domain: Domain) -> tuple[Model, State]:
    """The model of a domain with one or two effects that come later, of actions or at set times, and how its first problem begins with them.

    Without any if no atom may have such.
    """
    model, state = domain.model, domain.problems[0]
    pool: list[tuple[str, LiftedAtom, tuple[str, ...]]] = [
        (
            schema.header.name,
            atom,
            tuple(schema.header.types[one] for one in atom.arguments if isinstance(one, int)),
        )
        for schema in model.actions
        for atom in lifted_atoms(model.vocabulary, schema.header)
        if all(isinstance(one, int) for one in atom.arguments)
    ]
    pool += [
        (AT_SET_TIME, LiftedAtom(one.predicate, one.objects), model.vocabulary.predicate(one.predicate).types)
        for one in ground_atoms(model.vocabulary, state.objects)
    ]
    effects: list[DelayedEffect] = []
    for name, atom, types in draw(st.permutations(pool))[: draw(st.integers(1, 2))]:
        predicate, after = model.vocabulary.predicate(atom.predicate), draw(st.integers(1, 3))
        one = DelayedEffect(name, atom, predicate, types, draw(st.booleans()), after)
        if name == AT_SET_TIME:
            lasts, returns = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
            one = replace(one, firm=True, lasts=lasts, returns=returns if lasts else 0)
        else:
            undoes, restarts = draw(st.sampled_from([(False, False), (False, True), (True, False)]))
            one = replace(one, undoes=undoes, restarts=restarts, firm=draw(st.booleans()))
        effects += [one] if Delays((*effects, one)).consistent else []
    if not effects:
        return model, state
    delays = Delays(tuple(effects))
    actions = tuple(replace(schema, delays=delays) for schema in model.actions)
    return Model(model.vocabulary.with_delays(delays), actions), delays.begun(state)


@st.composite
def headers(draw: st.DrawFn, vocabulary: Vocabulary, name: str) -> ActionHeader:
    """An instruction with no to three parameters."""
    spoken = [kind for predicate in vocabulary.predicates for kind in predicate.types]
    kinds = st.sampled_from([*spoken, *spoken, *vocabulary.types.parents, ROOT_TYPE])
    chosen = tuple(draw(kinds) for _ in range(draw(st.sampled_from([1, 2, 2, 3, 0]))))
    return ActionHeader(name, tuple("xyz"[: len(chosen)]), chosen)


@st.composite
def schemas(
    draw: st.DrawFn, vocabulary: Vocabulary, name: str, example: State, *, repeated: bool = False
) -> ActionSchema:
    """Any preconditions of both signs and any effects: deletes need no precondition, effects may be idle.

    Signs mostly follow what holds in the example under some binding, so that most actions can be carried
    out somewhere and change something.
    """
    header = draw(headers(vocabulary, name))
    pool = lifted_atoms(vocabulary, header, repeated=repeated)
    rows = all_bindings(header, example.objects, repeated=repeated)
    row = draw(st.sampled_from(rows)) if rows else None

    def literals(least: int, most: int, *, like: bool) -> tuple[frozenset[LiftedAtom], frozenset[LiftedAtom]]:
        least, most = min(least, len(pool)), min(most, len(pool))
        signs: dict[LiftedAtom, bool] = {}
        for atom in draw(st.permutations(pool))[: draw(st.integers(least, most))]:
            usual = row is None or bool(example.value(atom.ground(row))) is like
            signs[atom] = usual is not draw(st.sampled_from([False, False, False, False, True]))
        return (
            frozenset(atom for atom, sign in signs.items() if sign),
            frozenset(atom for atom, sign in signs.items() if not sign),
        )

    return ActionSchema(header, *literals(0, 3, like=True), *literals(1, 4, like=False))


@st.composite
def states(draw: st.DrawFn, vocabulary: Vocabulary) -> State:
    """Three to six objects (four if an atom has three arguments), and any facts about them."""
    widest = max(predicate.arity for predicate in vocabulary.predicates)
    size = draw(st.integers(3, 4 if widest == 3 else 6))
    kinds = st.sampled_from([*vocabulary.types.parents] or [ROOT_TYPE])
    known = [*vocabulary.types.parents][:size]  # one of every type, the others as it comes
    named = {f"o{number}": kind for number, kind in enumerate(known)}
    named |= {f"o{number}": draw(kinds) for number in range(len(known), size)} | dict(vocabulary.constants)
    return draw(states_of(vocabulary, Objects(named, vocabulary.types)))


@st.composite
def states_of(draw: st.DrawFn, vocabulary: Vocabulary, objects: Objects) -> State:
    """Any facts about these objects."""
    facts = ground_atoms(vocabulary, objects)
    return State(frozenset(fact for fact in facts if draw(st.booleans())), objects)


@st.composite
def domains(
    draw: st.DrawFn,
    *,
    constants: bool = False,
    max_problems: int = 2,
    repeated: bool = False,
    alike: bool = False,
) -> Domain:
    """A model of one to three actions, with problems to interrogate it in.

    With ``repeated`` the model has atoms like p(?x, ?x), and arguments may be named twice; with ``alike`` all problems
    have the same objects.
    """
    vocabulary = draw(vocabularies(constants=constants))
    problems = [draw(states(vocabulary)) for _ in range(1 if alike else draw(st.integers(1, max_problems)))]
    if alike:
        problems += draw(st.lists(states_of(vocabulary, problems[0].objects), max_size=max_problems - 1))
    count = draw(st.integers(1, 3))
    actions = [
        draw(schemas(vocabulary, f"a{number}", problems[0], repeated=repeated)) for number in range(count)
    ]
    if count < 3 and draw(st.booleans()):
        actions.append(_undoing(actions[0], draw(st.integers(0, 2))))
    return Domain(Model(vocabulary, tuple(actions)), tuple(problems))


def _undoing(schema: ActionSchema, kept: int) -> ActionSchema:
    """An action with the opposite effects, so that more can be reached; it keeps some preconditions."""
    changed = schema.add | schema.delete
    positive = sorted(schema.positive - changed, key=str)[:kept]
    return ActionSchema(
        replace(schema.header, name="undo"), frozenset(positive), frozenset(), schema.delete, schema.add
    )


def packaged(
    name: str, problems: int = 1, *, size: int = 2, seed: int | Sequence[int] = 0
) -> tuple[Model, tuple[State, ...]]:
    """The model of a packaged domain, and generated problems of a size."""
    rng = np.random.default_rng(seed)
    return load(name), tuple(generate(name, size, rng).initial for _ in range(problems))


def lifted_operator(schema: ActionSchema) -> LiftedOperator:
    """The schema as grounding takes it."""
    parts = (schema.positive, schema.negative, schema.add, schema.delete)
    return LiftedOperator(schema.header, *(tuple(sorted(part, key=str)) for part in parts))


def instances(
    headers: Iterable[ActionHeader], objects: Objects, most: int = 8, *, repeated: bool = False
) -> list[GroundAction]:
    """Of every instruction a few instances, whether or not they can be carried out."""
    return [
        GroundAction(header.name, row)
        for header in headers
        for row in all_bindings(header, objects, repeated=repeated)[:most]
    ]


def bell_and_lamp() -> tuple[Model, State, PalTuple]:
    """The bell rings in the dark as well, but the lamp is lit at first; the pal tuple says whether it needs light."""
    lit, rung = LiftedAtom("lit", ()), LiftedAtom("rung", ())
    vocabulary = Vocabulary("lamp", (Predicate("lit"), Predicate("rung")), Types({"thing": "object"}))
    ring = ActionSchema(ActionHeader("ring"), add=frozenset([rung]))
    off = ActionSchema(ActionHeader("off"), positive=frozenset([lit]), delete=frozenset([lit]))
    start = State(frozenset([Atom("lit", ())]), Objects({"o": "thing"}, vocabulary.types))
    return Model(vocabulary, (ring, off)), start, PalTuple(lit, "ring", Location.PRE)

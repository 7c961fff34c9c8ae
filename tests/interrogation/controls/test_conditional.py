"""Conditional effects of a control, ``(when CONDITION EFFECT)`` in PDDL, come out as its cases, and these as one action again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from unified_planning.engines.sequential_simulator import UPSequentialSimulator
from unified_planning.exceptions import UPInvalidActionError
from unified_planning.io import PDDLReader

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.interrogation.controls.conditional import Split, conditional, conditional_text, in_cases
from aam_vision.interrogation.controls.interrogating import interrogate
from aam_vision.interrogation.controls.mapping import Carrier, Carriers
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.controls.rules import ControlModel
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER
from aam_vision.model.pddl import problem_text, read_domain
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    Problem,
    State,
    Types,
    Vocabulary,
)
from tests.domains import all_bindings
from tests.profiles import first

from . import worlds

FACTS = ("(bright ?l)", "(warm ?l)", "(power)")
"""What conditions and effects are about: the lamp that is given, or nothing."""
Literal = tuple[str, bool]
When = tuple[tuple[Literal, ...], tuple[Literal, ...]]
"""A condition, and effects."""


def text_of(literals: Sequence[Literal]) -> str:
    return " ".join(atom if value else f"(not {atom})" for atom, value in literals)


def domain(whens: Sequence[When]) -> tuple[str, list[str]]:
    """A domain whose control ``press`` has these conditional effects, and its controls; the others flip one fact each.

    There is an operator of ``press`` for each set of atoms that may hold; as in PDDL, what is added and deleted is added.
    """
    actions, presses, controls = list[str](), list[str](), list[str]()
    for number, values in enumerate(product((False, True), repeat=len(FACTS))):
        now = dict(zip(FACTS, values, strict=True))
        fired = [effects for condition, effects in whens if {*condition} <= {*now.items()}]
        after = now | {atom: False for some in fired for atom, value in some if not value}
        after |= {atom: True for some in fired for atom, value in some if value}
        if after != now:
            presses.append(f"press-{number}")
            changed = [(atom, value) for atom, value in after.items() if value != now[atom]]
            actions.append(_action(presses[-1], "?l - lamp", list(now.items()), changed))
    for atom in FACTS:
        name, parameters = atom.strip("()").split()[0], "?l - lamp" if "?l" in atom else ""
        for value in (True, False):
            flip = f"{name}-{value}".lower()
            actions.append(_action(flip, parameters, [(atom, not value)], [(atom, value)]))
        controls.append(f"flip-{name}({'?l' if parameters else ''})={name}-true,{name}-false")
    head = (
        "(define (domain when) (:requirements :strips :typing :negative-preconditions) (:types lamp - object)"
    )
    text = f"{head} (:predicates (bright ?l - lamp) (warm ?l - lamp) (power)) {' '.join(actions)})"
    return text, [f"press(?l)={','.join(presses)}", *controls]


def _action(name: str, parameters: str, condition: Sequence[Literal], effects: Sequence[Literal]) -> str:
    return (
        f"(:action {name} :parameters ({parameters}) :precondition (and {text_of(condition)}) "
        f":effect (and {text_of(effects)}))"
    )


def world(whens: Sequence[When], folder: Path) -> BareSymbolicAgent:
    """The agent of such a domain, with two lamps."""
    text, controls = domain(whens)
    start = worlds.state(worlds.model(text, folder), {"one": "lamp", "two": "lamp"}, "bright one", "warm two")
    return worlds.agent(text, controls, [start], folder)


def some(seed: int) -> list[When]:
    """Two or three conditional effects at random, the first one of which does something."""
    rng = np.random.default_rng(seed)
    found = list[When]()
    for _ in range(int(rng.integers(2, 4))):
        places = [int(place) for place in rng.permutation(len(FACTS))]
        size = int(rng.integers(1, 3))
        condition = tuple((FACTS[place], bool(rng.integers(2))) for place in places[:size])
        changed = places[size:][: int(rng.integers(1, 3))]
        effects = tuple((FACTS[place], bool(rng.integers(2))) for place in changed)
        found.append((condition, effects))
    return found


THING = ("object",)
PREDICATES = (Predicate("p", THING), Predicate("q", THING), Predicate("r", THING * 2), Predicate("s", ()))
VOCABULARY = Vocabulary("cases", PREDICATES, Types({}))
ATOMS = [
    *(LiftedAtom(name, (place,)) for name in "pq" for place in (0, 1)),
    *(LiftedAtom("r", places) for places in ((0, 1), (1, 0))),
    LiftedAtom("s", ()),
]
OBJECTS = Objects(dict.fromkeys("abc", "object"), Types({}))


@cache
def learned(seed: int) -> tuple[ControlsResult, list[Transition]]:
    """What is learned of conditional effects at random, and what every control does in every state."""
    with TemporaryDirectory() as folder:
        agent = world(some(seed), Path(folder))
        return interrogate(agent, seed), worlds.reachable(agent)


@pytest.mark.parametrize("seed", first(6, [0, 3, 11, 23, 1, 59, 39, 2, 4, 8, 17, 27, 50, 64, 73]))
def test_conditional_effects_come_out_as_cases_and_back(tmp_path: Path, seed: int) -> None:
    result, seen = learned(seed)
    assert result.status.startswith("complete")
    split = result.conditional
    whole = {one.control: one for one in split.actions}
    assert {*whole, *split.apart} == {control.name for control in result.controls}
    assert not split.apart or seed not in (0, 3, 11)
    for one in seen:
        assert result.predictions.agrees(one.before, one.control, one.after)
        if one.control.name in split.apart:
            continue
        step = whole[one.control.name].case(result.model, one.before, one.control.objects)
        model = result.model
        after = one.before if step is None else model.schema(step.name).successor(one.before, step.objects)
        assert after == one.after
    if seed == 0:  # no action needs a disjunction
        path = tmp_path / "when.pddl"
        path.write_text(conditional_text(result.model, split), encoding="utf-8")
        read = read_domain(path, chance=True)
        for one in seen:
            assert read.schema(one.control.name).successors(one.before, one.control.objects) == {
                one.after: 1.0
            }


@pytest.mark.parametrize("seed", first(2, [3, 23, 39, 59, 64, 73]))
def test_what_no_answer_can_tell_changes_no_prediction(seed: int) -> None:
    result, seen = learned(seed)
    left = [one for one in result.interrogation.undetermined if "does the same" in one.known]
    assert left
    assert {one.kind for one in left} == {CANNOT_MATTER}
    for one in (one for one in left if one.location == "pre"):
        (pal,), value = one.pals, not one.group[0].startswith("not ")
        for required in (True, False):
            model = requiring(result.model, one.action, pal.atom, value, required=required)
            other = ControlModel(model, result.operators)
            assert all(other.next_states(each.before, each.control) == {each.after} for each in seen)


def requiring(model: Model, name: str, atom: LiftedAtom, value: bool, *, required: bool) -> Model:
    """The model in which an operator requires that an atom has a value, or does not."""
    schema = model.schema(name)
    positive, negative = schema.positive - {atom}, schema.negative - {atom}
    if required:
        positive, negative = (positive | {atom}, negative) if value else (positive, negative | {atom})
    changed = replace(schema, positive=positive, negative=negative)
    return replace(model, actions=tuple(changed if one is schema else one for one in model.actions))


def test_each_of_two_conditional_effects_makes_cases_of_its_own(tmp_path: Path) -> None:
    whens: list[When] = [
        ((("(bright ?l)", True),), (("(power)", True),)),
        ((("(bright ?l)", False),), (("(power)", False), ("(warm ?l)", False))),
    ]
    result = interrogate(world(whens, tmp_path))
    pressed = [one.effects for one in result.operators if one.control == "press"]
    found = {frozenset((one.atom.predicate, one.becomes) for one in effects) for effects in pressed}
    assert found == {frozenset({("power", True)}), frozenset({("power", False), ("warm", False)})}


def random_cases(seed: int) -> tuple[Model, Carriers]:
    """Two to four cases of one control, whose parameters are the control's or not, with much in common."""
    rng = np.random.default_rng(seed)
    arity, given = (2, int(rng.integers(0, 3))) if seed % 3 else (1, 1)
    atoms = [atom for atom in ATOMS if all(place < arity for place in atom.arguments)]

    def literals(most: int) -> tuple[set[LiftedAtom], set[LiftedAtom]]:
        chosen = [atoms[i] for i in rng.permutation(len(atoms))[: int(rng.integers(1, most + 1))]]
        true = {atom for atom in chosen if rng.integers(3)}
        return true, set(chosen) - true

    shared, both = literals(2), literals(2)
    schemas = []
    for number in range(int(rng.integers(2, 5))):
        required, changed = literals(2), literals(3)
        positive, negative = shared[0] | required[0], (shared[1] | required[1]) - shared[0] - required[0]
        add = both[0] | changed[0]
        parts = [positive, negative, add, (both[1] | changed[1]) - add]
        if arity - given == 2 and rng.integers(2):  # the other way round
            parts = [
                {atom._replace(arguments=tuple(1 - one for one in atom.arguments)) for atom in part}
                for part in parts
            ]
        header = ActionHeader(f"case-{number}", ("x", "y")[:arity], ("object",) * arity)
        schemas.append(ActionSchema(header, *map(frozenset, parts)))
    carriers = {schema.header.name: Carrier("press", given) for schema in schemas}
    return Model(VOCABULARY, tuple(schemas)), carriers


def random_state(rng: np.random.Generator) -> State:
    atoms = [Atom(name, (one,)) for name in "pq" for one in "abc"]
    atoms += [Atom("r", pair) for pair in permutations("abc", 2)] + [Atom("s", ())]
    return State(frozenset(atom for atom in atoms if rng.integers(2)), OBJECTS)


class Simulated:
    """The written domain, as unified-planning carries it out."""

    def __init__(self, text: str, model: Model, folder: Path) -> None:
        self._model, self._domain, self._problem = model, folder / "when.pddl", folder / "p.pddl"
        self._domain.write_text(text, encoding="utf-8")

    def after(self, state: State, name: str, objects: tuple[str, ...]) -> State | None:
        """The state after an action; None where it cannot be done."""
        text = problem_text("one", self._model.vocabulary, Problem("one", state))
        self._problem.write_text(text, encoding="utf-8")
        problem: Any = PDDLReader().parse_problem(str(self._domain), str(self._problem))
        with UPSequentialSimulator(problem, error_on_failed_checks=False) as simulator:
            given = tuple(problem.object(one) for one in objects)
            try:
                found = simulator.apply(simulator.get_initial_state(), problem.action(name), given)
            except UPInvalidActionError:  # it can never be done there
                return None
            if found is None:
                return None
            true = {
                Atom(fluent.name, tuple(map(str, values)))
                for fluent in problem.fluents
                for values in permutations(problem.all_objects, fluent.arity)
                if found.get_value(fluent(*values)).is_true()
            }
        return State(frozenset(true), state.objects)


def check(model: Model, split: Split, written: Simulated, states: list[State]) -> int:
    """Compare every action with its cases under all bindings; the number of comparisons."""
    compared = 0
    for state, action in product(states, split.actions):
        for objects in all_bindings(action.header, state.objects):
            steps = [s for s in action.steps(objects) if model.schema(s.name).applicable(state, s.objects)]
            expected = {model.schema(s.name).successor(state, s.objects) for s in steps}
            if len(expected) > 1:
                assert action.overlapping, "it is said that cases may contradict each other"
                continue
            found = written.after(state, action.header.name, objects)
            nothing = state if action.none_holds(state, objects) else None
            assert {found} == (expected or {nothing})
            assert action.case(model, state, objects) in (steps or [None])
            compared += 1
    return compared


@pytest.mark.parametrize("seed", first(3, range(14)))
def test_an_action_does_what_its_cases_do(tmp_path: Path, seed: int) -> None:
    model, carriers = random_cases(seed)
    split = conditional(model, carriers)
    rng = np.random.default_rng([seed, 1])
    if split.actions:
        written = Simulated(conditional_text(model, split), model, tmp_path)
        assert check(model, split, written, [random_state(rng) for _ in range(2)])
    else:
        assert split.apart["press"]


SHARED = frozenset({LiftedAtom("p", (0,))})
Q, R, S = LiftedAtom("q", (0,)), LiftedAtom("r", (0, 1)), LiftedAtom("s", ())


def case(name: str, positive: set[LiftedAtom], add: set[LiftedAtom], arity: int = 1) -> ActionSchema:
    header = ActionHeader(name, ("x", "y")[:arity], ("object",) * arity)
    return ActionSchema(header, SHARED | positive, frozenset(), frozenset(add))


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (case("a", {Q}, {S}), case("b", {S}, {R}, 2), "b has other parameters than a"),
        (case("a", set(), {S}), case("b", {Q}, {Q}), "can be done wherever b can"),
        (case("a", {R}, {S}, 2), case("b", {S}, {R}, 2), "nothing that a and b both require says what ?y is"),
    ],
)
def test_what_is_no_single_action_stays_apart(one: ActionSchema, other: ActionSchema, why: str) -> None:
    split = conditional(Model(VOCABULARY, (one, other)), dict.fromkeys("ab", Carrier("press", 1)))
    assert not split.actions
    assert why in split.apart["press"]


def test_a_plan_may_name_such_actions() -> None:
    model = Model(VOCABULARY, (case("a", {Q}, {S}), case("b", {S}, {Q})))
    split = conditional(model, dict.fromkeys("ab", Carrier("press", 1)))
    one, two, none = Atom("p", ("a",)), Atom("q", ("a",)), Atom("s", ())
    states = [State(frozenset(true), OBJECTS) for true in ((one, two), (one, none), (one,), ())]
    press = GroundAction("press", ("a",))
    found = [in_cases(model, split, state, [press])[0] for state in states]
    assert [None if one is None else one.name for one in found[:3]] == ["a", "b", None]
    assert found[3] is not None, "its precondition does not hold: it lacks something"

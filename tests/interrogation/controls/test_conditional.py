"""Conditional effects of a control, ``(when CONDITION EFFECT)`` in PDDL, come out as its cases.

The cases of a control as one action with ``when``: it says what they say, in every state in which they do not contradict each other.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unified_planning.engines.sequential_simulator import UPSequentialSimulator
from unified_planning.exceptions import UPInvalidActionError
from unified_planning.io import PDDLReader

from aam_vision.interrogation.controls.conditional import Split, conditional, conditional_text, in_cases
from aam_vision.interrogation.controls.interrogating import interrogate
from aam_vision.interrogation.controls.mapping import Carrier, Carriers
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
from tests.profiles import first

from . import worlds
from .whens import When, some, world

VOCABULARY = Vocabulary(
    "cases",
    (
        Predicate("p", ("object",)),
        Predicate("q", ("object",)),
        Predicate("r", ("object",) * 2),
        Predicate("s", ()),
    ),
    Types({}),
)
ATOMS = [
    *(LiftedAtom(name, (place,)) for name in "pq" for place in (0, 1)),
    LiftedAtom("r", (0, 1)),
    LiftedAtom("r", (1, 0)),
    LiftedAtom("s", ()),
]
OBJECTS = Objects(dict.fromkeys("abc", "object"), Types({}))


@pytest.mark.parametrize("seed", first(6, [0, 1, 2, 3, 4, 8, 11, 17, 23, 27, 50, 59]))
def test_conditional_effects_come_out_as_cases(tmp_path: Path, seed: int) -> None:
    agent = world(some(seed), tmp_path)
    result = interrogate(agent, seed)
    for one in worlds.reachable(agent):
        assert result.predictions.agrees(one.before, one.control, one.after)
    assert result.status.startswith("complete")


@pytest.mark.parametrize("seed", first(3, [3, 23, 39, 59, 64, 73]))
def test_what_no_answer_can_tell_changes_no_prediction(tmp_path: Path, seed: int) -> None:
    agent = world(some(seed), tmp_path)
    result = interrogate(agent, seed)
    assert result.interrogation is not None
    left = [one for one in result.interrogation.undetermined if "does the same" in one.known]
    assert left
    assert {one.kind for one in left} == {CANNOT_MATTER}
    for one in left:
        if one.location == "pre":
            (pal,), value = one.pals, not one.group[0].startswith("not ")
            for required in (True, False):
                model = requiring(result.model, one.action, pal.atom, value, required=required)
                other = ControlModel(model, result.operators)
                for each in worlds.reachable(agent):
                    assert other.next_states(each.before, each.control) == {each.after}


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
    found = {
        frozenset((effect.atom.predicate, effect.becomes) for effect in operator.effects)
        for operator in result.operators
        if operator.control == "press"
    }
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
        delete = (both[1] | changed[1]) - add
        schema = ActionSchema(
            ActionHeader(f"case-{number}", ("x", "y")[:arity], ("object",) * arity),
            frozenset(positive),
            frozenset(negative),
            frozenset(add),
            frozenset(delete),
        )
        if arity - given == 2 and rng.integers(2):  # the other way round
            turned = [
                frozenset(
                    atom._replace(arguments=tuple([1 - int(a) for a in atom.arguments])) for atom in some
                )
                for some in (schema.positive, schema.negative, schema.add, schema.delete)
            ]
            schema = ActionSchema(schema.header, *turned)
        schemas.append(schema)
    carriers = {schema.header.name: Carrier("press", given) for schema in schemas}
    return Model(VOCABULARY, tuple(schemas)), carriers


def random_state(rng: np.random.Generator) -> State:
    atoms = [Atom(name, (one,)) for name in "pq" for one in "abc"]
    atoms += [Atom("r", pair) for pair in permutations("abc", 2)] + [Atom("s", ())]
    return State(frozenset(atom for atom in atoms if rng.integers(2)), OBJECTS)


class Simulated:
    """The written domain, as unified-planning carries it out."""

    def __init__(self, text: str, model: Model, folder: Path) -> None:
        self._model, self._folder = model, folder
        (folder / "when.pddl").write_text(text, encoding="utf-8")

    def after(self, state: State, name: str, objects: tuple[str, ...]) -> State | None:
        """The state after an action; None where it cannot be done."""
        (self._folder / "p.pddl").write_text(
            problem_text("one", self._model.vocabulary, Problem("one", state)), encoding="utf-8"
        )
        problem: Any = PDDLReader().parse_problem(
            str(self._folder / "when.pddl"), str(self._folder / "p.pddl")
        )
        with UPSequentialSimulator(problem, error_on_failed_checks=False) as simulator:
            action = problem.action(name)
            given = tuple(problem.object(one) for one in objects)
            try:
                found = simulator.apply(simulator.get_initial_state(), action, given)
            except UPInvalidActionError:  # it can never be done there
                return None
            if found is None:
                return None
            true = {
                Atom(fluent.name, tuple(str(one) for one in values))
                for fluent in problem.fluents
                for values in permutations(problem.all_objects, fluent.arity)
                if found.get_value(fluent(*values)).is_true()
            }
        return State(frozenset(true), state.objects)


def check(model: Model, split: Split, written: Simulated, states: list[State]) -> int:
    """Compare every action with its cases under all bindings; the number of comparisons."""
    compared = 0
    for state in states:
        for action in split.actions:
            for objects in permutations(state.objects, action.header.arity):
                if not all(
                    o in state.objects.members(k) for o, k in zip(objects, action.header.types, strict=True)
                ):
                    continue
                steps = [
                    s for s in action.steps(objects) if model.schema(s.name).applicable(state, s.objects)
                ]
                expected = {model.schema(s.name).successor(state, s.objects) for s in steps}
                if len(expected) > 1:
                    assert action.overlapping, "it is said that cases may contradict each other"
                    continue
                found = written.after(state, action.header.name, objects)
                if expected:
                    assert {found} == expected
                else:
                    assert found == (state if action.none_holds(state, objects) else None)
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


@pytest.mark.parametrize("seed", [0, 3, 11])
def test_what_was_learned_of_a_control_comes_out_in_every_state(tmp_path: Path, seed: int) -> None:
    agent = world(some(seed), tmp_path)
    result = interrogate(agent, seed)
    split = result.conditional
    assert {one.control for one in split.actions} == {control.name for control in result.controls}
    whole = {one.control: one for one in split.actions}
    for one in worlds.reachable(agent):
        action = whole[one.control.name]
        step = action.case(result.model, one.before, one.control.objects)
        if step is None:
            assert one.after == one.before
        else:
            assert result.model.schema(step.name).successor(one.before, step.objects) == one.after


def test_an_action_that_needs_no_disjunction_is_read_back(tmp_path: Path) -> None:
    agent = world(some(0), tmp_path)
    result = interrogate(agent)
    (tmp_path / "when.pddl").write_text(conditional_text(result.model, result.conditional), encoding="utf-8")
    read = read_domain(tmp_path / "when.pddl", chance=True)
    for one in worlds.reachable(agent):
        assert read.schema(one.control.name).successors(one.before, one.control.objects) == {one.after: 1.0}


SHARED = frozenset({LiftedAtom("p", (0,))})
Q, R, S = LiftedAtom("q", (0,)), LiftedAtom("r", (0, 1)), LiftedAtom("s", ())


def case(name: str, positive: set[LiftedAtom], add: set[LiftedAtom], arity: int = 1) -> ActionSchema:
    header = ActionHeader(name, ("x", "y")[:arity], ("object",) * arity)
    return ActionSchema(header, SHARED | positive, frozenset(), frozenset(add))


@pytest.mark.parametrize(
    ("one", "other", "given", "why"),
    [
        (case("a", {Q}, {S}), case("b", {S}, {R}, 2), 1, "b has other parameters than a"),
        (case("a", set(), {S}), case("b", {Q}, {Q}), 1, "can be done wherever b can"),
        (
            case("a", {R}, {S}, 2),
            case("b", {S}, {R}, 2),
            1,
            "nothing that a and b both require says what ?y is",
        ),
    ],
)
def test_what_is_no_single_action_is_not_written_as_one(
    one: ActionSchema, other: ActionSchema, given: int, why: str
) -> None:
    carriers = {"a": Carrier("press", given), "b": Carrier("press", given)}
    split = conditional(Model(VOCABULARY, (one, other)), carriers)
    assert not split.actions
    assert why in split.apart["press"]


def test_a_plan_may_name_such_actions() -> None:
    model = Model(VOCABULARY, (case("a", {Q}, {S}), case("b", {S}, {Q})))
    split = conditional(model, dict.fromkeys("ab", Carrier("press", 1)))
    states = [
        State(frozenset(Atom(name, row) for name, row in true), OBJECTS)
        for true in ([("p", ("a",)), ("q", ("a",))], [("p", ("a",)), ("s", ())], [("p", ("a",))], [])
    ]
    press = GroundAction("press", ("a",))
    found = [in_cases(model, split, state, [press])[0] for state in states]
    assert [None if one is None else one.name for one in found[:3]] == ["a", "b", None]
    assert found[3] is not None, "its precondition does not hold: it lacks something"

"""What the user perceives, defines and states adds up to PDDLGym's own states, and the ground-truth model says what it does."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.perception import Defined, Given, Perceived, Reading, Scene
from aam_vision.envs import DOMAINS, WITH_CHANCE
from aam_vision.envs.pddlgym_domains import UNTYPED, parsed, pddlgym
from aam_vision.envs.pddlgym_world import Outcome, World
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sokoban import move_dir
from aam_vision.model.strips import Atom, GroundAction, State, lifted_atoms
from tests.envs.conftest import ALL, load, walk
from tests.envs.ground_truth import domain_operators, ground_truth_model, held_out_problems


def rebuilt(name: str, scene: Scene, atoms: frozenset[Atom]) -> tuple[set[Atom], set[Atom]]:
    """The state as the vocabulary makes it from its perceived part: true atoms and unknown ones."""
    visual = board_domain(name).visual
    entries = visual.entries
    atoms = atoms.union(visual.sights(scene, atoms))
    perceived = {entry.predicate.name for entry in entries if isinstance(entry, Perceived)}
    given = {entry.predicate.name for entry in entries if isinstance(entry, Given)}
    seen = State(frozenset(atom for atom in atoms if atom.predicate in perceived), scene.objects)
    true, unknown = set(seen.true), set[Atom]()
    true |= {atom for atom in scene.facts if atom.predicate in given}
    for entry in entries:
        if isinstance(entry, Defined):
            holds, perhaps = entry.define(scene, seen)
            true |= set(holds)
            unknown |= set(perhaps)
    stated = {entry.predicate.name for entry in visual.stated}
    return {atom for atom in true if atom.predicate in stated}, unknown


@pytest.mark.parametrize("name", DOMAINS)
def test_sampled_states_are_consistent_with_the_definitions(name: str, rng: np.random.Generator) -> None:
    domain = board_domain(name)
    for layout in islice(domain.random_layouts(domain.shapes, rng), 8):
        states = [layout.initial, *(one.true for one in islice(domain.states(layout, rng), 5))]
        for state in states:
            assert rebuilt(name, domain.scene(layout), state) == (state, set())


@pytest.mark.parametrize("name", DOMAINS)
def test_predicates_and_headers_are_pddlgyms(name: str) -> None:
    domain, spec = board_domain(name), parsed(name)
    actions = {getattr(action, "name", action) for action in spec.actions}
    theirs = {
        own: tuple("object" if str(kind) == UNTYPED else str(kind) for kind in one.var_types)
        for own, one in spec.predicates.items()
        if own not in actions
    }
    ours = {one.name: one.types for one in domain.visual.vocabulary().predicates}
    assert [*ours.items()] == [*theirs.items()]
    operators = domain_operators(name)
    assert domain.truth().actions == operators
    assert domain.headers == tuple(operator.header for operator in operators)
    assert set(domain.native) == {header.name for header in domain.headers}


@pytest.mark.parametrize(("name", "split", "index"), ALL)
def test_anchors_name_every_thing_and_cells_every_place(name: str, split: str, index: int) -> None:
    layout = load(name, split, index)
    scene = board_domain(name).scene(layout)
    assert set(scene.anchors) == set(scene.looks)
    assert set(scene.anchors.values()) <= set(scene.cells)
    on_board = {(r, c) for r in range(scene.rows) for c in range(scene.columns)}
    assert {cell for cells in scene.cells.values() for cell in cells} <= on_board
    assert set(scene.boxes or on_board) <= on_board
    hidden = set(layout.objects.of_type("room")) - set(scene.cells)
    assert bool(hidden) == (name == "doors" and split == "train")
    looks = {
        look
        for entry in board_domain(name).visual.entries
        if isinstance(entry, Perceived) and entry.reading is Reading.WHERE
        for look in entry.heads
    }
    assert set(scene.looks.values()) == looks == set(board_domain(name).visual.may_vanish)


def test_a_definition_is_unknown_exactly_where_what_it_rests_on_is() -> None:
    layout = load("sokoban", "train", 0)
    scene = board_domain("sokoban").scene(layout)
    place = next(a.objects[0] for a in sorted(layout.initial) if a.predicate == "clear")
    doubt = frozenset([Atom("clear", (place,)), Atom("is-goal", (place,))])
    shown = frozenset(a for a in layout.initial if a.predicate in ("at", "clear", "is-goal"))
    seen = State(shown - doubt, scene.objects, doubt)
    true, unknown = move_dir(scene, seen)
    steps = {atom for atom in layout.initial if atom.predicate == "move-dir"}
    assert set(true) == {atom for atom in steps if place not in atom.objects}
    assert set(unknown) == {atom for atom in steps if place in atom.objects}
    (is_nongoal,) = (e for e in board_domain("sokoban").visual.entries if e.predicate.name == "is-nongoal")
    assert isinstance(is_nongoal, Defined)
    _, unknown = is_nongoal.define(scene, seen)
    assert list(unknown) == [Atom("is-nongoal", (place,))]


@pytest.mark.parametrize(("name", "split", "index"), ALL)
def test_model_and_vocabulary_agree_with_pddlgyms(name: str, split: str, index: int, rng: Any) -> None:
    model, layout = ground_truth_model(name), load(name, split, index)
    world, scene = board_domain(name).world(layout), board_domain(name).scene(layout)
    assert rebuilt(name, scene, layout.initial) == (layout.initial, set())
    executed = 0
    for node, outcome in walk(world, 60 + 12 * len(world.layout.objects), rng):
        if outcome.instruction is None:
            assert outcome.node is node
            continue
        state = State(world.static | node.dynamic, layout.objects)
        schema = model.schema(outcome.instruction.name)
        assert schema.applicable(state, outcome.instruction.objects)
        after = schema.successor(state, outcome.instruction.objects)
        assert after.true == world.static | outcome.node.dynamic
        executed += 1
        if executed <= 10:
            assert rebuilt(name, scene, after.true) == (after.true, set())
    assert executed > (1 if name == "hanoi" else 5)  # where hardly any move is possible


SIZES = {"sokoban": 20, "doors": 6, "maze": 12, "slidetile": 28, "hanoi": 4, "blocks": 11}


@pytest.mark.parametrize(("name", "preconditions"), SIZES.items())
def test_the_model_has_the_known_size_and_lies_within_the_vocabulary(name: str, preconditions: int) -> None:
    model = ground_truth_model(name)
    assert model.headers == board_domain(name).headers
    assert sum(len(schema.positive) for schema in model.actions) == preconditions
    for schema in model.actions:
        pool = set(lifted_atoms(model.vocabulary, schema.header))
        assert schema.positive | schema.add | schema.delete <= pool
        assert not schema.negative


@pytest.mark.parametrize("name", DOMAINS)
def test_held_out_problems_are_none_of_the_interrogated_or_trained_on(name: str) -> None:
    domain = board_domain(name)
    assert not set(domain.held_out) & {*domain.interrogated, *domain.trained_on}
    assert all(split == "train" for split, _ in domain.trained_on)
    assert all(split == "test" for split, _ in domain.held_out) or name == "maze"
    problems = held_out_problems(name)
    assert [p.name for p in problems] == [f"{name}/{split}/{i}" for split, i in domain.held_out]
    for problem in problems:
        assert not problem.goal <= problem.initial.true
        assert {o for atom in problem.goal for o in atom.objects} <= set(problem.initial.objects)


class _Whole(World):
    """A world whose simulator is always asked, shown the whole state, and completes the actions itself."""

    def _attempt(self, node, action):
        state = self._static_literals | node.literals
        if action.name in self._named:
            operator = self._domain.operators[action.name]
            named = [operator.params[place] for place in self._named[action.name]]
            objects = [self._entities[name] for name in action.objects]
            found = pddlgym().inference.find_satisfying_assignments(
                state,
                operator.preconds.literals,
                type_to_parent_types=self._domain.type_to_parent_types,
                constants=self._domain.constants,
                init_assignments=dict(zip(named, objects, strict=True)),
            )
            if not found:
                return Outcome(None, node)
            (binding,) = found
            action = GroundAction(action.name, tuple(str(binding[one].name) for one in operator.params))
        return self._answer(node, action, state)


@pytest.mark.parametrize("name", DOMAINS + WITH_CHANCE)
def test_every_action_has_the_outcome_that_it_has_with_the_whole_state(name: str, rng: Any) -> None:
    domain = board_domain(name)
    layout = load(name, *domain.interrogated[0])
    world, whole = domain.world(layout), _Whole(layout, domain.native)
    node, executed, refused = world.initial, 0, 0
    actions = domain.native_actions(layout)
    for _ in range(20):
        done = []
        for number in rng.permutation(len(actions))[:8]:
            found = world.outcome(node, actions[number])
            other = whole.outcome(whole.node(node.dynamic), actions[number])
            assert found.instruction == other.instruction
            assert found.node.dynamic == other.node.dynamic
            assert [(c, one.dynamic) for c, one in found.chances] == [
                (c, one.dynamic) for c, one in other.chances
            ]
            done += [found.node] if found.instruction is not None else []
            refused += found.instruction is None
        executed += len(done)
        node = done[rng.integers(len(done))] if done else world.initial
    assert executed
    assert refused

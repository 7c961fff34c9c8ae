"""The ground-truth model says what PDDLGym does, and what its search is not shown makes no difference."""

from __future__ import annotations

from typing import Any

import pytest

from aam_vision.envs import DOMAINS
from aam_vision.envs.pddlgym_world import World
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import State, lifted_atoms
from tests.envs.conftest import ALL, load, walk
from tests.envs.ground_truth import ground_truth_model, held_out_problems
from tests.envs.test_vocabulary import rebuilt


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
    """A world whose simulator is always shown the whole state."""

    def _relevant(self, node, action, named=None):
        return self._static_literals | node.literals


@pytest.mark.parametrize("name", DOMAINS)
def test_every_action_has_the_outcome_that_it_has_with_the_whole_state(name: str, rng: Any) -> None:
    domain = board_domain(name)
    layout = load(name, *domain.interrogated[0])
    world, whole = domain.world(layout), _Whole(layout, domain.named)
    node, executed, refused = world.initial, 0, 0
    actions = domain.native_actions(layout)
    for _ in range(20):
        done = []
        for number in rng.permutation(len(actions))[:8]:
            found = world.outcome(node, actions[number])
            other = whole.outcome(whole.node(node.dynamic), actions[number])
            assert found.instruction == other.instruction
            assert found.node.dynamic == other.node.dynamic
            done += [found.node] if found.instruction is not None else []
            refused += found.instruction is None
        executed += len(done)
        node = done[rng.integers(len(done))] if done else world.initial
    assert executed
    assert refused

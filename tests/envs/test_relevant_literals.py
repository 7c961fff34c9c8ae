"""What PDDLGym's search is not shown makes no difference to what it finds."""

from __future__ import annotations

from typing import Any

import pytest

from aam_vision.envs import DOMAINS
from aam_vision.envs.pddlgym_world import World
from aam_vision.envs.registry import board_domain
from tests.envs.conftest import load


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

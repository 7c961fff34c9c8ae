"""Ground instructions are carried out exactly, or not at all."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from aam_vision.agents.perception import Simulator
from aam_vision.envs import DOMAINS
from aam_vision.envs.board_env import Instructed
from aam_vision.envs.registry import board_domain, make_simulator
from aam_vision.model.strips import Atom
from tests.refusals import told_by


def test_another_binding_than_the_simulators_is_refused_and_changes_nothing() -> None:
    agent = make_simulator("sokoban", "train", 0)
    agent.start()
    rng = np.random.default_rng(0)
    for _ in range(30):
        chosen = agent.choose(rng)
        assert chosen is not None
        name, objects = chosen
        before, frame = agent.snapshot(), agent.frame()
        bindings = (
            (objects[-2], *objects[1:]),
            objects[:-1],
            (*objects, "x"),
            (),
            (*objects[:-1], "dir-nowhere"),
        )
        wrong = [(name, binding) for binding in bindings]
        wrong += [(other, objects) for other in board_domain("sokoban").native if other != name]
        for instruction in wrong:
            assert not agent.instruct(*instruction)
            assert agent.snapshot() == before
        assert np.array_equal(agent.frame(), frame)
        assert agent.instruct(name, objects)
        assert agent.snapshot() != before


def test_a_stone_is_pushed_by_its_own_name_only() -> None:
    agent = make_simulator("sokoban", "train", 0)
    agent.start()
    rng = np.random.default_rng(1)
    for _ in range(500):
        name, objects = agent.choose(rng) or ("", ())
        if name.startswith("push"):
            break
        agent.instruct(name, objects)
    stones = [thing for thing, look in agent.scene.looks.items() if look == "stone"]
    executed = [s for s in stones if agent.instruct(name, (objects[0], s, *objects[2:]))]
    assert executed == [objects[1]]


@pytest.mark.parametrize("name", DOMAINS)
def test_choices_are_executable_reproducible_and_of_every_kind(name: str) -> None:
    runs = []
    for _ in range(2):
        agent: Simulator = make_simulator(name, *board_domain(name).interrogated[0])
        agent.start()
        rng = np.random.default_rng(11)
        chosen = []
        for _ in range(50):
            instruction = agent.choose(rng)
            assert instruction is not None
            assert agent.instruct(*instruction)
            chosen.append(instruction)
        runs.append(chosen)
    assert runs[0] == runs[1]
    assert {verb for verb, _ in runs[0]} <= set(board_domain(name).native)
    assert len({verb for verb, _ in runs[0]}) > 1 or name == "hanoi"  # which has one instruction


def test_a_rare_kind_of_instruction_is_as_likely_as_a_common_one() -> None:
    agent = make_simulator("doors", "test", 5)  # one key lies in the first room
    agent.start()
    initial = agent.board.layout.initial
    (here,) = (atom.objects[0] for atom in initial if atom.predicate == "at")
    (room,) = (atom.objects[0] for atom in initial if atom.predicate == "unlocked")
    (key, place), *_ = (
        pair for pair in agent.scene.anchors.items() if Atom("locinroom", (pair[1], room)) in initial
    )
    assert agent.instruct("moveto", (here, place, room))
    rng = np.random.default_rng(2)
    chosen = [agent.choose(rng) or ("", ()) for _ in range(200)]
    picks = [objects for name, objects in chosen if name == "pick"]
    moves = {objects for name, objects in chosen if name == "moveto"}
    assert 70 < len(picks) < 130
    assert {objects[1] for objects in picks} == {key}
    assert len(moves) == len(agent.scene.cells[room])


def test_unknown_names_are_unusable_input() -> None:
    agent = make_simulator("doors", "test", 0)
    told_by(lambda: agent.instruct("fly", ("loc-0-0",)), "no instruction 'fly': use one of moveto, pick")
    told_by(lambda: make_simulator("chess", "train", 0), "no environment 'chess': use one of sokoban, doors")
    told_by(lambda: Instructed(gymnasium.make("CartPole-v1")), "takes no instructions")

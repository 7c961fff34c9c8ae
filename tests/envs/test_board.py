"""Sampled states are legal, diverse and reproducible; ground instructions are carried out exactly, or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from aam_vision.agents.perception import Simulator
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs import DOMAINS
from aam_vision.envs.pddlgym_domains import static_atoms
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sokoban import cell_of
from aam_vision.model.strips import Atom
from aam_vision.training.labels import check_legal
from tests.envs.conftest import ALL, choices, load
from tests.processes import fresh
from tests.refusals import told_by


@pytest.mark.parametrize(("name", "split", "index"), [each for each in ALL if each[0] == "sokoban"])
def test_sokoban_states_are_legal(name: str, split: str, index: int, rng: np.random.Generator) -> None:
    layout = load(name, split, index)
    floor = {a.objects[-1] for a in layout.initial if a.predicate in ("clear", "at")}
    things = set(layout.objects.of_type("thing"))
    for state in islice(board_domain(layout.domain).states(layout, rng), 40):
        where = dict(atom.objects for atom in state.true if atom.predicate == "at")
        clear = {atom.objects[0] for atom in state.true if atom.predicate == "clear"}
        assert set(where) == things
        assert len(set(where.values())) == len(things)
        assert clear == floor - set(where.values())
        stones = {t: p for t, p in where.items() if t.startswith("stone")}
        on_goal = {t for t, p in stones.items() if Atom("is-goal", (p,)) in state.true}
        assert {a.objects[0] for a in state.true if a.predicate == "at-goal"} == on_goal


@pytest.mark.parametrize(("name", "split", "index"), [each for each in ALL if each[0] == "doors"])
def test_doors_states_are_legal(name: str, split: str, index: int, rng: np.random.Generator) -> None:
    layout = load(name, split, index)
    start = {a.objects[0] for a in layout.initial if a.predicate == "unlocked"}
    key_of = {a.objects for a in layout.initial if a.predicate == "keyforroom"}
    home = dict(a.objects for a in layout.initial if a.predicate == "keyat")
    for state in islice(board_domain(layout.domain).states(layout, rng), 40):
        lying = dict(a.objects for a in state.true if a.predicate == "keyat")
        unlocked = {a.objects[0] for a in state.true if a.predicate == "unlocked"}
        (place,) = (a.objects[0] for a in state.true if a.predicate == "at")
        assert lying.items() <= home.items()
        assert unlocked == start | {room for key, room in key_of if key not in lying}
        assert any(Atom("locinroom", (place, room)) in state.true for room in unlocked)


@pytest.mark.parametrize("name", DOMAINS)
def test_states_are_diverse_and_reproducible(name: str) -> None:
    layout = load(name, *(("train", 0) if name == "doors" else board_domain(name).interrogated[-1]))
    one, other = (board_domain(name).states(layout, np.random.default_rng(3)) for _ in range(2))
    drawn = [state.true for state in islice(one, 200)]
    assert drawn == [state.true for state in islice(other, 200)]
    assert len(set(drawn)) > {"maze": 40, "hanoi": 60}.get(name, 150)  # small problems: few states


def test_rare_sights_are_not_rare(rng: np.random.Generator) -> None:
    layout = load("sokoban", "train", 1)
    stone_at_goal = at_goal = beside = 0
    for state in islice(board_domain(layout.domain).states(layout, rng), 300):
        where = dict(a.objects for a in state.true if a.predicate == "at")
        player = where.pop("player-01")
        (r, c), stones = cell_of(player), map(cell_of, where.values())
        stone_at_goal += any(a.predicate == "at-goal" for a in state.true)
        at_goal += Atom("is-goal", (player,)) in state.true
        beside += any(abs(r - i) + abs(c - j) == 1 for i, j in stones)
    assert stone_at_goal > 0.3 * 300
    assert at_goal > 0.15 * 300
    assert beside > 0.3 * 300


@pytest.mark.parametrize("name", DOMAINS)
def test_synthetic_boards_can_be_played_and_differ(name: str, rng: np.random.Generator) -> None:
    domain, playable = board_domain(name), 0
    shapes = domain.shapes[-2:]
    layouts = list(islice(domain.random_layouts(shapes, rng), 12))
    assert len({layout.name for layout in layouts}) == len({layout.initial for layout in layouts}) == 12
    for layout in layouts:
        scene, world = domain.scene(layout), domain.world(layout)
        assert (scene.rows, scene.columns) in shapes
        outcomes = [world.outcome(world.initial, action) for action in domain.native_actions(layout)]
        playable += any(outcome.instruction is not None for outcome in outcomes)
    assert playable >= 10


@pytest.mark.parametrize("name", ["maze", "sokoban"])
def test_without_a_sampler_lessons_are_reached_by_random_walks(name: str, rng: np.random.Generator) -> None:
    domain = replace(board_domain(name), sampler=None)
    found = domain.lessons(rng, fewer=4)
    assert len(found) == len(domain.trained_on), "no random boards"
    for problem, pictures in zip(domain.trained_on, found, strict=True):
        layout = domain.load(*problem)
        assert len(set(pictures.states)) == len(pictures.states) > 3
        assert all(static_atoms(layout) <= state.true for state in pictures.states)
        for state in pictures.states:
            check_legal(domain.visual, SceneIndex(domain.visual, pictures.scene), state)


def test_training_never_sees_a_test_layout() -> None:
    for name in DOMAINS:
        layouts = board_domain(name).layouts(board_domain(name).trained_on)
        assert layouts or name in ("blocks", "slidetile")  # which learn from synthetic ones alone
        assert all("/train/" in layout.name for layout in layouts)


def test_random_choices_do_not_depend_on_the_order_of_sets() -> None:
    """Of which every process has its own."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = fresh("from tests.envs.conftest import choices; print(choices())", PYTHONHASHSEED=seed)
    assert done.stdout.strip() == choices(), done.stderr


def test_another_binding_than_the_simulators_is_refused_and_changes_nothing() -> None:
    agent = board_domain("sokoban").simulator(("train", 0))
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
    agent = board_domain("sokoban").simulator(("train", 0))
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
        agent: Simulator = board_domain(name).simulator(board_domain(name).interrogated[0])
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
    agent = board_domain("doors").simulator(("test", 5))  # one key lies in the first room
    agent.start()
    initial = agent.layout.initial
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
    agent = board_domain("doors").simulator(("test", 0))
    told_by(lambda: agent.instruct("fly", ("loc-0-0",)), "no instruction 'fly': use one of moveto, pick")
    told_by(
        lambda: board_domain("chess").simulator(("train", 0)),
        "no environment 'chess': use one of sokoban, doors",
    )

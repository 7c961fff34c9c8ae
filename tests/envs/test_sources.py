"""Predicates are declared in PDDL's notation, and what is defined over the seen ones is unknown exactly where they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.perception import Defined, Scene
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.grids import board_scene
from aam_vision.envs.meaning import header, predicate
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import (
    SEEN_AT,
    adjacent,
    cyclic,
    entries,
    nowhere,
    somewhere,
    there,
    vocabulary,
    where,
)
from aam_vision.model.strips import ActionHeader, Atom, Predicate, State
from tests.envs.conftest import load
from tests.refusals import told_by

TYPES = {"cell": "object", "direction": "object", "key": "object"}
WAYS = ("up", "right", "down", "left")
SCENE = board_scene(1, 2, TYPES, {**dict.fromkeys(WAYS, "direction"), "k": "key"}, looks={"k": "key"})
VOCABULARY = vocabulary(
    "small",
    TYPES,
    {
        "lies ?k - key ?c - cell": where(["key"], "a key"),
        "held ?k - key": nowhere("lies", "a key that lies nowhere"),
        "facing ?d - direction": somewhere(WAYS, "cell", "an arrow that points {}"),
        "next ?a ?b - cell ?d - direction": adjacent("the next cell"),
        "turn ?d ?e - direction": cyclic(WAYS, "a quarter turn"),
    },
)


def _defined(name: str, scene: Scene, true: set[Atom], unknown: set[Atom]) -> tuple[list[Atom], list[Atom]]:
    (entry,) = (entry for entry in VOCABULARY.entries if entry.predicate.name == name)
    assert isinstance(entry, Defined)
    return entry.atoms(scene, State(frozenset(true), scene.objects, frozenset(unknown)))


def test_declarations_are_pddls() -> None:
    assert predicate("lies ?k - key ?at - cell") == Predicate("lies", ("key", "cell"))
    assert predicate("on ?x ?y") == Predicate("on", ("object", "object"))
    assert predicate("handempty") == Predicate("handempty")
    wanted = ActionHeader("move", ("from", "to", "dir"), ("cell", "cell", "direction"))
    assert header("move ?from ?to - cell ?dir - direction") == wanted
    for text in ("", "?x - cell", "at x - cell", "at ?x -", "at - cell", "at ?x ?x", "at ?x - cell cell"):
        told_by(lambda text=text: header(text), "write a name and typed variables")  # type: ignore[misc]


@pytest.mark.parametrize("name", ["held", "facing"])
def test_what_is_seen_somewhere_or_nowhere_is_unknown_where_a_cell_is(name: str) -> None:
    cells = "cell-0-0", "cell-0-1"
    if name == "held":
        first, second, found = *(Atom("lies", ("k", cell)) for cell in cells), Atom("held", ("k",))
    else:
        first, second, found = *(Atom("facing-up", (cell,)) for cell in cells), Atom("facing", ("up",))
    seen, unseen = ([], [found]) if name == "held" else ([found], [])
    assert _defined(name, SCENE, {first}, set()) == (seen, [])
    assert _defined(name, SCENE, {first}, {second}) == (seen, []), "one place is enough"
    assert _defined(name, SCENE, set(), {second}) == ([], [found])
    assert _defined(name, SCENE, set(), set()) == (unseen, [])


def test_neighbours_and_cycles_are_known_from_names() -> None:
    (steps, _), (turns, _) = (_defined(name, SCENE, set(), set()) for name in ("next", "turn"))
    one, other = ("cell-0-0", "cell-0-1", "right"), ("cell-0-1", "cell-0-0", "left")
    assert set(steps) == {Atom("next", one), Atom("next", other)}
    assert [atom.objects for atom in turns] == [*pairwise(WAYS), ("left", "up")]


def test_every_predicate_of_the_pddl_needs_one_source() -> None:
    domain: BoardDomain = board_domain("doors")
    sources = {**domain.sources, "sees": there("sees", "is none of the PDDL")}
    make = partial(entries, "doors", domain.truth().vocabulary.predicates, sources, {})
    told_by(make, r"doors: give exactly one source .*: sees")
    del sources["sees"], sources["at"]
    told_by(make, "PDDL: at")


@pytest.mark.parametrize("name", ["blocks", "hanoi"])
def test_what_is_decided_is_true_when_two_things_cannot_be_told_apart(name: str, rng: Any) -> None:
    layout, domain = load(name, "train", 1), board_domain(name)
    scene = domain.scene(layout)
    decided = 0
    for state in islice(board_domain(layout.domain).states(layout, rng), 60):
        places = {a.objects[0]: a.objects[1] for a in domain.visual.sights(scene, state.true)}
        lost = [sorted(places)[i] for i in rng.permutation(len(places))[:2]]
        spots = [places.pop(thing) for thing in lost]
        unknown = frozenset(Atom(SEEN_AT, (thing, place)) for thing in lost for place in spots)
        true = frozenset(Atom(SEEN_AT, pair) for pair in places.items())
        seen = State(true, scene.objects, unknown)
        for entry in domain.visual.entries:
            if isinstance(entry, Defined):
                holds, perhaps = (set(atoms) for atoms in entry.define(scene, seen))
                truth = {atom for atom in state.true if atom.predicate == entry.predicate.name}
                assert holds - perhaps <= truth
                assert truth <= holds | perhaps
                decided += len(holds - perhaps)
    assert decided > 60


def test_a_scene_with_boxes_needs_no_square_cells() -> None:
    from aam_vision.classifiers.architecture import CELL_PIXELS
    from aam_vision.classifiers.board import resample_scene

    scene = board_domain("blocks").scene(load("blocks", "train", 0))
    frame = np.zeros((100, 60, 3), np.uint8)
    frame[:50, :30] = 200
    scene = replace(scene, boxes={(0, 0): (0.0, 0.5, 0.0, 0.5), (1, 1): (0.5, 1.0, 0.5, 1.0)})
    board = resample_scene(frame, scene, CELL_PIXELS)
    assert tuple(board.shape) == (3, CELL_PIXELS * scene.rows, CELL_PIXELS * scene.columns)
    assert bool((board[:, :CELL_PIXELS, :CELL_PIXELS] == 200).all())
    assert int(board.sum()) == 3 * 200 * CELL_PIXELS**2
    empty = replace(scene, boxes={(0, 0): (0.5, 0.5, 0.0, 0.5)})
    told_by(lambda: resample_scene(frame, empty, CELL_PIXELS), r"cell \(0, 0\) of 4x5 has none")

"""What is defined over piles is right where they are seen, and unknown exactly where a thing may be lost."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

from aam_vision.agents.perception import Defined
from aam_vision.classifiers.board import resample_scene
from aam_vision.classifiers.networks import CELL_PIXELS
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import SEEN_AT
from aam_vision.model.strips import Atom, State
from tests.envs.conftest import load
from tests.refusals import told_by


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

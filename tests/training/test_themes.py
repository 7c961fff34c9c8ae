"""Trunk and renderer share no constants: the same code learns PDDLGym's crisp Sokoban tiles, another size and all."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.pddlgym_domains import pddlgym
from aam_vision.envs.pddlgym_drawing import stacks
from aam_vision.envs.rendering import BoardCodes
from aam_vision.envs.sokoban import SOKOBAN
from aam_vision.support.commandline import Progress
from aam_vision.training import session
from aam_vision.training.assessment import evaluate_domain
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings

SIDE = 24
STEPS = 120


class CrispTiles:
    """Boards as PDDLGym's ``render_from_layout_crisp`` draws them: tiles side by side, no background, no margin."""

    def __init__(self, layout):
        self._codes = BoardCodes(layout)
        rows, columns = self._codes(layout.initial).shape
        self.shape = (SIDE * rows, SIDE * columns, 3)

    def frame(self, atoms):
        return np.block([[[_tile(int(code))] for code in row] for row in self._codes(atoms)])


@cache
def _tile(code):
    sprites, board = stacks("sokoban").sprites(code), np.zeros((1, 1))
    tile = pddlgym().rendering.utils.render_from_layout_crisp(board, lambda cell: sprites, SIDE)
    return (255 * tile).round().astype(np.uint8)


class Recoloured:
    """PDDLGym's default boards in other colours."""

    def __init__(self, layout):
        self._drawing = SOKOBAN.drawing(layout)
        self.shape = self._drawing.shape

    def frame(self, atoms):
        return np.ascontiguousarray(255 - self._drawing.frame(atoms)[..., [1, 2, 0]])


CRISP, RECOLOURED = replace(SOKOBAN, drawing=CrispTiles), replace(SOKOBAN, drawing=Recoloured)


def _all_refused(perception, domain):
    fewer = replace(domain, held_out=domain.held_out[:2], interrogated=domain.held_out[:1])
    found = evaluate_domain(fewer, perception, states=60)["unseen"]
    assert found.wrong == 0
    assert found.exact + found.refused == found.states == 60
    assert found.refused > 30


@pytest.mark.parametrize("domain", [CRISP, RECOLOURED], ids=["crisp", "recoloured"])
def test_a_theme_that_was_not_learned_is_refused_rather_than_misread(domain):
    _all_refused(BoardPerception.load(SOKOBAN.visual, "sokoban", remembered=0), domain)


@pytest.mark.nightly
def test_another_theme_is_learned_by_the_same_code(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "STATES", 20)
    train_domain(CRISP, tmp_path, TrainingSettings(steps=STEPS), Progress())
    crisp = BoardPerception.load(SOKOBAN.visual, "sokoban", tmp_path, remembered=0)
    found = evaluate_domain(CRISP, crisp, states=80)["unseen"]
    assert found.states == found.exact == 80
    _all_refused(crisp, SOKOBAN)

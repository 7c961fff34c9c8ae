"""Answers about things are believed only where all legal scenes agree; compared with going through all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from aam_vision.agents.perception import Exactly
from aam_vision.classifiers.camera.legality import SceneLegality
from aam_vision.classifiers.camera.plan import SceneAtoms
from aam_vision.model.constraints import Number
from aam_vision.support.errors import UnusableInput

from .piles import LOOKS, VOCABULARY, random_state, scene
from .test_perception import PLAN


def _laid_out(number):
    one = scene(*LOOKS[:number])
    atoms = SceneAtoms(VOCABULARY, PLAN, one)
    return one, atoms, SceneLegality(VOCABULARY.constraints, tuple(one.objects), atoms.atoms)


def _settle(legality, probabilities, blind):
    low, high = np.full(len(probabilities), 0.1), np.full(len(probabilities), 0.9)
    return legality.settle(probabilities, low, high, blind)


def _truth(one, atoms, rng):
    true = random_state(one, rng).true
    return np.array([atom in true or atom.predicate == "seen" for atom in atoms.atoms])


def test_what_is_decided_is_right_whatever_cannot_be_seen() -> None:
    rng = np.random.default_rng(0)
    one, atoms, legality = _laid_out(4)
    decided = 0
    for _ in range(200):
        truth = _truth(one, atoms, rng)
        open_ = rng.random(len(truth)) < 0.3
        probabilities = np.where(open_, 0.5, truth).astype(np.float32)
        sure, doubtful = _settle(legality, probabilities, open_ & (rng.random(len(truth)) < 0.5))
        assert not ((sure != truth) & ~doubtful).any()
        decided += int((open_ & ~doubtful).sum())
    assert decided > 1000  # most of what was open follows from the rest


def test_it_decides_what_all_legal_scenes_agree_about_and_nothing_else() -> None:
    _, atoms, legality = _laid_out(2)
    own = [n for n, atom in enumerate(atoms.atoms) if atom.predicate not in ("seen", "dark")]
    everything = np.zeros((2 ** len(own), len(atoms.atoms)), np.float32)
    everything[:, own] = list(product((0, 1), repeat=len(own)))
    nothing = np.zeros(len(atoms.atoms), bool)
    legal = everything[[not _settle(legality, one, nothing)[1].any() for one in everything]]
    assert len(legal) == 5  # both down, either on the other, either held
    rng = np.random.default_rng(1)
    for truth in legal:
        for _ in range(50):
            blind = np.isin(np.arange(len(atoms.atoms)), own) & (rng.random(len(atoms.atoms)) < 0.6)
            agreeing = legal[(legal[:, ~blind] == truth[~blind]).all(1)]
            _, doubtful = _settle(legality, np.where(blind, 0.5, truth), blind)
            assert (doubtful == (agreeing != agreeing[0]).any(0)).all()


def test_sure_answers_that_contradict_each_other_are_not_believed() -> None:
    _, atoms, legality = _laid_out(3)
    number = {str(atom): index for index, atom in enumerate(atoms.atoms)}
    true = ("on(thing-0, thing-1)", "on(thing-1, thing-0)", "on-table(thing-2)", "clear(thing-2)")
    probabilities = np.isin(np.arange(len(atoms.atoms)), [number[text] for text in true]).astype(np.float32)
    sure, doubtful = _settle(legality, probabilities, np.zeros(len(probabilities), bool))
    assert doubtful[number["on(thing-0, thing-1)"]]
    assert doubtful[number["on(thing-1, thing-0)"]]
    assert sure[number["on-table(thing-2)"]]


def test_answers_that_are_no_numbers_are_doubtful() -> None:
    _, atoms, legality = _laid_out(3)
    probabilities = np.full(len(atoms.atoms), np.nan, np.float32)
    _, doubtful = _settle(legality, probabilities, np.zeros(len(probabilities), bool))
    assert doubtful.all()


def test_what_is_declared_wrongly_is_said_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"write predicate\(x, _\)"):
        Number(("on(x, y)",))
    with pytest.raises(ValueError, match="in all of these atoms, or in none"):
        Number(("on(x, _)", "held(_)"))
    with pytest.raises(UnusableInput, match="use Number or Acyclic"):
        SceneLegality((Exactly("sees-red", 1),), (), ())

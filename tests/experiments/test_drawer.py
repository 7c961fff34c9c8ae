"""The drawer hides what is in it while it is shut, and its skills are those of the intended model."""

from itertools import islice

import numpy as np

import aam_vision
from aam_vision.envs.own import told
from aam_vision.model.strips import Atom
from aam_vision.report.evaluation import exact
from experiments.drawer import COLOURS, DRAWER, intended, labelled, pictures


def test_what_is_in_the_shut_drawer_does_not_show_and_all_else_does():
    hidden = 0
    for one in islice(pictures(np.random.default_rng(1)), 12):
        shut = Atom("out", ("drawer",)) not in one.true
        for thing in one.scene.objects:
            inside = Atom("in", (thing, "drawer")) in one.true
            hidden += inside and shut
            assert (Atom("seen", (thing,)) in one.true) == (not (inside and shut))
            assert one.masks[thing].any() == (not (inside and shut))
            assert (thing in COLOURS) == (inside or Atom("on-table", (thing,)) in one.true)
    assert hidden


def test_who_is_told_the_states_finds_the_intended_model():
    result = aam_vision.interrogate(told(DRAWER, lambda env: labelled(env).true, seeds=(0,)), exam=0)
    assert result.proven
    assert exact(result.model, intended())

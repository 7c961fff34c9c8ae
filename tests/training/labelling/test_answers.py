"""A simulator answers about a picture of a walk as it would have answered when the picture was taken."""

from types import SimpleNamespace

import numpy as np
import pytest

from aam_vision.envs.registry import image_domain
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput
from aam_vision.training.labelling.pool import FURTHER, SHORTER, Walked, walk, walked_problems
from aam_vision.training.labelling.session import SimulatorLabels


@pytest.mark.parametrize(("name", "package"), [("taxi", "pygame"), ("minigrid:DoorKey-5x5", "minigrid")])
def test_worlds_tell_what_was_shown_then(name, package):
    pytest.importorskip(package)
    domain = image_domain(name)
    (split, number), rng = domain.interrogated[0], np.random.default_rng(0)
    simulator = domain.simulator((split, number))
    simulator.start()
    pictures, then = [], []
    for _ in range(12):
        frame, token = simulator.frame().copy(), simulator.snapshot()
        pictures.append(Walked(f"{split}/{number}", simulator.scene, frame, token))
        then.append(frozenset(Atom(*atom) for atom in domain.shown(simulator.present)))
        simulator.instruct(*simulator.choose(rng))
    labeller = SimulatorLabels(domain)
    assert [labeller.label(picture).true for picture in reversed(pictures)] == then[::-1]
    assert len(set(then)) > 3


def test_further_problems_are_walked_in_where_seeds_make_them():
    pytest.importorskip("minigrid")
    domain = image_domain("minigrid:DoorKey-5x5")
    problems = walked_problems(domain)
    assert len(problems) == len(set(problems)) == len(domain.interrogated) + FURTHER
    walked = walk(domain, problems[-1:], np.random.default_rng(0), 5 * SHORTER)
    assert {picture.problem for picture in walked} == {"{}/{}".format(*problems[-1])}
    assert len(walked) <= 5
    assert walked_problems(image_domain("sokoban")) == image_domain("sokoban").walked


def test_a_taxi_looks_the_same_whatever_was_drawn_before():
    pytest.importorskip("pygame")
    domain = image_domain("taxi")
    drawn, other = domain.made(), domain.made()
    for env in (drawn, other):
        env.reset(seed=0)
    for action in (0, 4, 5, 1, 4, 3, 5):  # the last one is no driving: the taxi stays turned
        drawn.step(action)
        drawn.render()
        other.step(action)
    assert np.array_equal(drawn.render(), other.render())


def test_a_simulator_without_states_cannot_answer():
    with pytest.raises(UnusableInput, match="silent tells no states: label its pictures by hand"):
        SimulatorLabels(SimpleNamespace(name="silent"))

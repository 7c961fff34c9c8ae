"""A noisy camera: fresh noise for every image, and nothing else is touched."""

import numpy as np
import pytest

from aam_vision.agents import image
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.unreliable import NoisySimulator
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain, make_simulator
from aam_vision.support.errors import UnusableInput


def _noisy(sigma, seed=0):
    simulator = make_simulator("doors", "test", 5)
    simulator.start()
    return simulator, NoisySimulator(simulator, sigma, np.random.default_rng(seed))


def test_every_image_has_noise_of_its_own_that_repeats_with_the_seed():
    simulator, noisy = _noisy(0.1)
    one, two = noisy.frame(), noisy.frame()
    assert one.dtype == np.uint8
    assert one.shape == simulator.frame().shape
    assert (one != two).any()
    _, again = _noisy(0.1)
    assert (again.frame() == one).all()
    assert (_noisy(0.0)[1].frame() == simulator.frame()).all()


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_an_impossible_sigma_is_refused_in_one_line(sigma):
    with pytest.raises(UnusableInput, match="use a number"):
        _noisy(sigma)


class _Looks:
    """A perception that counts how often it is asked."""

    def __init__(self, perception):
        self.perception, self.refused = perception, []

    def look(self, frame, scene):
        percept = self.perception.look(frame, scene)
        self.refused.append(percept.refused)
        return percept

    def follow(self, before, frame, scene):
        raise AssertionError("nothing moves here")


def _situations(sigma):
    domain = board_domain("sokoban")
    perception = _Looks(BoardPerception.load(domain.visual, domain.name))
    rng = np.random.default_rng(0)
    simulators = [NoisySimulator(make_simulator("sokoban", "test", 3), sigma, rng)]
    agent = ImageAgent(simulators, perception, domain.visual.vocabulary(), domain.headers)
    return perception, [agent.initial()[0] for _ in range(10)]


def test_refused_images_are_asked_again():
    perception, situations = _situations(0.45)
    assert any(perception.refused), "else this test tests nothing"
    assert len(perception.refused) > len(situations)
    runs = "".join("x" if refused else "." for refused in perception.refused)
    assert "x" * (2 * image.LOOKS) not in runs or runs.count(".") == 0


def test_the_same_pixels_are_not_asked_twice():
    perception, situations = _situations(0.0)
    assert len(perception.refused) == len(situations)

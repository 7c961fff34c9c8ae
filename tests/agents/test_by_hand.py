"""A person who puts the world back makes mistakes: they are told so, and nothing of it is taken for the robot's doing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import aam_vision
from aam_vision.agents.by_hand import SetUp
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.shown import ProgramSimulator, WaryPerception
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
from aam_vision.model.query import Access
from aam_vision.support.errors import AgentFailed
from aam_vision.support.pictures import decode
from tests.profiles import some

from .programs import conversing, program


@contextmanager
def robot(
    folder: Path, seed: int, mistakes: float, told: list[str], listens: bool = True
) -> Iterator[ImageAgent]:
    """The robot, and the person, who hears what is told if they ``listen``."""
    domain, asked = board_domain("doors"), folder / "asked"
    asked.touch()  # the hand is in the first picture
    perception = WaryPerception(BoardPerception.load(domain.visual, "doors"))
    names = [entry.predicate.name for entry in domain.visual.perceived]

    def tell(text: str) -> None:
        told.append(text)
        if listens and text.startswith("set up"):
            asked.touch()

    command = program("tests.agents.hand_program", asked, seed, mistakes)
    with conversing(command, ProgramLimits()) as talk:
        set_up = SetUp(perception, talk.hello.shown[0].scene, names, wait=lambda: None, looks=50)
        set_up.tell = tell
        simulator = ProgramSimulator(talk, 0, Access.RESET, lambda png, size: decode(png, size=size), set_up)
        vocabulary = domain.visual.vocabulary()
        yield ImageAgent([simulator], perception, vocabulary, talk.hello.headers, Access.RESET)


@pytest.mark.parametrize("seed", some(1, range(20)))
def test_no_mistake_of_a_person_is_taken_for_the_robots_doing(tmp_path: Path, seed: int) -> None:
    found = []
    for mistakes in (0.0, 0.5):
        told: list[str] = []
        with robot(tmp_path, seed, mistakes, told) as agent:
            result = aam_vision.interrogate(agent, seed=seed, exam=0)
        assert result.proven, result.why
        assert told[0].startswith("take away what hides the beginning: it cannot be read whether ")
        assert told[1].startswith("set up again what the first picture shows: wanted is ")
        found.append((result.model, result.counts.steps, len(told)))
    (model, steps, asked), (same, as_many, more) = found
    assert same == model
    assert as_many == steps, "what a person does is no step"
    assert more > asked, "a mistake is told"


def test_where_nobody_sets_it_up_the_agent_has_failed(tmp_path: Path) -> None:
    told: list[str] = []
    with (
        robot(tmp_path, 0, 0.0, told, listens=False) as agent,
        pytest.raises(AgentFailed, match="nobody has set up"),
    ):
        aam_vision.interrogate(agent, seed=0)
    assert len(told) == 2, "it is not said at every look"

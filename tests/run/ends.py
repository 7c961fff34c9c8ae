"""Runs of agents that are drawn at random, with any fault, told or seen in images, however they end."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock
from zlib import crc32

import numpy as np

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.perception import Frame, Percept, Scene
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.model.query import Access, Agent, Situation
from aam_vision.model.strips import GroundAction, State
from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent
from aam_vision.run.targets import Target
from aam_vision.run.targets.images import places
from aam_vision.support.errors import AgentFailed
from experiments.chance import random_chance
from experiments.faults.registry import faulty_agent
from experiments.faults.world import Fault, FaultyAgent, Outcome, Setting, World
from experiments.random_strips import ground_atoms, random_domain
from tests.interrogation.controls.hidden_arguments import hidden

NAME = "somewhere"
SIDE = 12
"""Pixels of an image along an edge."""
OF_CHANCE: Mapping[str, Any] = {"chance": True, "within": 0.2}


class Drawn(NamedTuple):
    """A run, as it is drawn."""

    seed: int
    family: str | None
    """The family of faults in a packaged domain; None for a random domain without any."""
    access: Access = Access.SNAPSHOT
    mode: str = "instructions"
    """Or ``controls``, or ``chance``."""
    shown: str = "told"
    """Or on a ``board``, or in a ``scene`` without cells."""
    share: float = 0.0
    """Of the facts of a situation that cannot be seen, which differ from state to state."""
    fails_at: int | None = None
    """The number of steps after which the agent fails for good."""
    limits: tuple[tuple[str, int], ...] = ()
    """Options of the run."""


class DrawnAgent(FaultyAgent):
    """A faulty agent that does not show everything, and may fail; one of controls carries out each, if in vain."""

    def __init__(self, fault: Fault, drawn: Drawn, access: Access) -> None:
        super().__init__(fault, fault.setting.problems, access, np.random.default_rng([drawn.seed, 8]))
        self._drawn = drawn
        self._attempted = 0

    def attempt(self, world: World, step: GroundAction) -> Outcome:
        self._attempted += 1
        if self._attempted == self._drawn.fails_at:
            raise AgentFailed("the agent is gone")
        outcome = super().attempt(world, step)
        return outcome._replace(executed=outcome.executed or self._drawn.mode == "controls")

    def blurred(self, state: State) -> State:
        """What can be seen of a state; with chance, all of the first ones."""
        if self._drawn.mode == "chance" and state in self.fault.setting.problems:
            return state
        rng = np.random.default_rng(crc32(" ".join(sorted(map(str, state.true))).encode()))
        facts = ground_atoms(self.vocabulary, state.objects)
        gone = frozenset(fact for fact in facts if rng.random() < self._drawn.share)
        return State(state.true - gone, state.objects, gone)

    def _look(self, world: World, handle: Hashable = None) -> Situation:
        seen = super()._look(world, handle)
        return seen if self.access is Access.SETTABLE else Situation(seen.handle, self.blurred(seen.state))


@dataclass
class Pictured:
    """One problem of a faulty agent as a simulator, whose image tells nobody but ``Album`` what is seen."""

    agent: DrawnAgent
    begins: State
    scene: Scene
    album: Album

    def start(self) -> None:
        self.world = World(self.begins, self.agent.fault.fresh(self.begins))

    def snapshot(self) -> object:
        return self.world

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, World)
        self.world = snapshot

    def frame(self) -> Frame:
        return self.album.drawn(self.agent.fault.see(self.world, self.agent.nature))

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        executed, self.world = self.agent.attempt(self.world, GroundAction(name, objects))
        return executed

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        return self.agent.option(self.world.state, rng)


@dataclass
class Album:
    """A perception that knows by heart which state an image was drawn of, and where its things seem to be."""

    agent: DrawnAgent
    _states: dict[bytes, State] = field(default_factory=dict)

    def drawn(self, state: State) -> Frame:
        """The image of a state."""
        digest = crc32(" ".join(sorted(map(str, state.true))).encode())
        image = np.random.default_rng(digest).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
        self._states[image.tobytes()] = state
        return image

    def look(self, frame: Frame, scene: Scene) -> Percept:
        state = self._states[frame.tobytes()]
        things = [*scene.objects]
        where = np.random.default_rng(frame[0, 0]).integers(0, len(things), len(things))
        lies = {one: int(at) for one, at in zip(things[1:], where[1:], strict=True)}
        if scene.cells:
            standing = {one: things[at] if at else None for one, at in lies.items()}
            return Percept(self.agent.blurred(state), standing)
        points = {one: (0.1 + 0.8 * at / len(things), 0.5) for one, at in lies.items() if at}
        return Percept(self.agent.blurred(state), {}, positions=points)

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return self.look(frame, scene)


def finished(drawn: Drawn, folder: Path) -> int:
    """Make a run; its exit code."""
    target, truth = _target(drawn)
    known = replace(target, truth=truth) if drawn.mode == "chance" else target
    options: dict[str, Any] = dict(drawn.limits)
    options |= {"controls": True} if drawn.mode == "controls" else OF_CHANCE if drawn.mode == "chance" else {}
    arguments = Arguments(NAME, out=folder, quiet=True, seed=drawn.seed, **options)
    with (
        mock.patch("aam_vision.run.targets.of", return_value=known),
        mock.patch("aam_vision.run.command.check"),
    ):
        return interrogate_agent(arguments)


def _target(drawn: Drawn) -> tuple[Target, Any]:
    """The agent of a run, and the truth about its chance where that is known."""
    if drawn.family is not None:
        fault = faulty_agent(drawn.family, drawn.access, drawn.seed).fault
    else:
        domain = random_domain(drawn.seed)
        number = 1 if drawn.access is Access.TRAJECTORY else len(domain.problems)
        fault = Fault(Setting(NAME, domain.model, domain.problems, number, drawn.seed))
    if drawn.mode == "controls" and drawn.family is None:
        return _with(NumberedAgent(hidden(domain, drawn.seed)), fault), None
    if drawn.mode == "chance" and drawn.family is None:
        model, domain = random_chance(drawn.seed)
        rng = np.random.default_rng([drawn.seed, 4])
        told = SymbolicAgent(model, fault.setting.problems, drawn.access, refuses_surely=True, chance=rng)
        return _with(told, fault, rng), lambda: model
    agent = DrawnAgent(fault, drawn, drawn.access)
    if drawn.shown == "told" or drawn.access is Access.SETTABLE:
        return _with(agent, fault), None
    album = Album(agent)
    scenes = [_scene(state, drawn.shown) for state in fault.setting.problems]
    shown = zip(fault.setting.problems, scenes, strict=True)
    simulators = [Pictured(agent, state, scene, album) for state, scene in shown]
    seen = ImageAgent(simulators, album, agent.vocabulary, agent.headers, drawn.access)
    return _with(seen, fault, scenes=scenes), None


def _scene(state: State, shown: str) -> Scene:
    """A board on which every object is a place, or things in a picture."""
    if shown == "scene":
        return Scene.of_things(state.objects, dict.fromkeys(state.objects, "thing"))
    cells = {one: ((number, 0),) for number, one in enumerate(state.objects)}
    return Scene(state.objects, len(cells), 1, cells)


def _with(
    agent: Agent, fault: Fault, *generators: np.random.Generator, scenes: list[Scene] | None = None
) -> Target:
    keeping = agent.keep_images if isinstance(agent, ImageAgent) else None
    return Target(
        NAME,
        tuple(f"problem/{number}" for number, _ in enumerate(fault.setting.problems)),
        agent,
        truth=lambda: fault.setting.model,
        held_out=list,
        generators=generators,
        keep_images=keeping,
        scenes=lambda: [places(one, SIDE, SIDE) for one in scenes or ()],
    )

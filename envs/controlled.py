"""An environment of a user's own by its controls: it brings the environment and the vocabulary, and nothing else.

``bare_environment`` makes one. What is told of the true state (``shown``) teaches classifiers, stands in for them where there are
none yet (``told``), and is compared with what was learned, once everything is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Perception, Scene, VisualVocabulary
from aam_vision.envs import own
from aam_vision.envs.control_names import Controls, controls_of
from aam_vision.envs.controls import WALK, NativeStep
from aam_vision.envs.gymnasium_simulator import ControlSimulator, GymnasiumSimulator, random_choice
from aam_vision.envs.image_domain import Pictures, Problem
from aam_vision.envs.labelled import (
    Depiction,
    Explored,
    Labelled,
    LabelledImages,
    explored_images,
    labelled_images,
)
from aam_vision.envs.meaning import Instruction, headers
from aam_vision.envs.own import HELD_OUT, PICTURES, SPLIT, OwnEnvironment
from aam_vision.envs.restoring import Env, Restore
from aam_vision.envs.shown import Shown, Told, watched
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionHeader, Atom, GroundAction, State
from aam_vision.support.errors import UnusableInput

LOOKED_AT: Final = 40
"""Pictures of every problem that are compared with what is told of them before it is interrogated."""


@dataclass(frozen=True)
class ControlledEnvironment(OwnEnvironment):
    """An environment of which the controls are known, and perhaps no instruction.

    Args:
        controls: names of its actions, see ``control_names``; None where the environment is to tell.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true. None: not known.
        shake: brings ``env.unwrapped`` into a random legal state; None: random controls do.
        labelled: a function of ``env.unwrapped``: its present picture with all that a label says of it, which pixels show each
            thing included. It answers where pictures without cells are labelled. None: not known.
    """

    controls: Controls | tuple[Instruction, ...] = None
    shown: Callable[[Any], Iterable[Atom]] | None = None
    shake: Callable[[Any, np.random.Generator], None] | None = None
    labelled: Callable[[Any], Labelled] | None = None

    @cached_property
    def control_instructions(self) -> tuple[Instruction, ...]:
        """The controls, as instructions that are always carried out.

        Raises:
            UnusableInput: the environment cannot be made, or its actions have no names that fit.
        """
        given = self.controls
        if isinstance(given, tuple) and all(isinstance(one, Instruction) for one in given):
            return given
        return controls_of(self.made(), given)  # type: ignore[arg-type]  # no tuple of instructions

    @property
    def control_headers(self) -> tuple[ActionHeader, ...]:
        """The controls."""
        return headers(self.control_instructions)

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions.

        Raises:
            UnusableInput: there are none, only controls.
        """
        if not self.instructions:
            raise UnusableInput(
                f"environment {self.name}: has no instructions, only controls; give --controls"
            )
        return headers(self.instructions)

    def simulator(self, problem: Problem) -> GymnasiumSimulator:
        """A problem, ready to be instructed; by its controls where there are no instructions."""
        return super().simulator(problem) if self.instructions else self.controlled(problem)

    def controlled(self, problem: Problem, *, checked: bool = True) -> ControlSimulator:
        """A problem, ready to be given controls: each is carried out, whatever comes of it.

        ``checked``: it is tried whether controls always do the same.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        _, seed = problem
        simulator = ControlSimulator(
            self.made(),
            self.control_instructions,
            self.scene,
            self.restore,
            seed,
            stops=self.stops,
            checked=checked,
        )
        if checked and self.shown is not None:
            self._check_pictures(simulator, np.random.default_rng([seed, 5]))
        return simulator

    def _check_pictures(self, simulator: ControlSimulator, rng: np.random.Generator) -> None:
        """Compare the pictures of a short walk with what ``shown`` tells of them.

        Raises:
            UnusableInput: they do not show it.
        """
        depiction = Depiction(f"environment {self.name}", self.visual)
        for _ in range(LOOKED_AT):
            scene = simulator.scene
            depiction.saw(simulator.frame(), scene, self._truth.atoms(simulator.present, scene))
            chosen = simulator.choose(rng)
            if chosen is None or (simulator.over and self.stops):
                simulator.start()
            else:
                simulator.instruct(*chosen)
        depiction.check()
        depiction.warn()
        simulator.start()

    def bare_agent(
        self, perception: Perception | None = None, seeds: Sequence[int] | None = None
    ) -> ImageAgent:
        """The agent whose instructions are the controls, for ``aam_vision.interrogate_controls``.

        Args:
            perception: reads the images; None: ``shown`` tells the states.
            seeds: of the resets, one a problem; by default of all that are interrogated.

        Raises:
            UnusableInput: the environment shows no images, is not deterministic or cannot be brought back; or a
                function of the user's raises.
        """
        simulators = [self.controlled((SPLIT, seed)) for seed in (self.seeds if seeds is None else seeds)]
        about = self.visual.vocabulary(), self.control_headers, Access.SNAPSHOT
        perception = perception or self.told()
        return ImageAgent(watched(simulators, perception), perception, *about, refuses_surely=True)

    def told(self) -> Told:
        """States as ``shown`` tells them, in place of a perception.

        Raises:
            UnusableInput: there is no such function.
        """
        if self.shown is None:
            raise UnusableInput(f"environment {self.name}: has no function `shown` that tells its states")
        return Told(self.true_state)

    def true_state(self, env: Any, scene: Scene) -> State:
        """The state of ``env.unwrapped``; ``scene`` is that of its problem.

        Raises:
            UnusableInput: ``shown`` raises, or gives anything but atoms of perceived predicates.
        """
        return self._truth.state(env, scene)

    @cached_property
    def _truth(self) -> Shown:
        """The truth as ``shown`` tells it, which is asked for only where there is such a function."""
        assert self.shown is not None, "there is one"
        return Shown(self.name, self.visual, self.shown)

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """Steps of problems that are not interrogated, for evaluation only: half from walks, half from random states.

        All from walks where there is no ``shake``, and none where there is no ``shown``.
        """
        if self.shown is None:
            return []
        first = max(self.seeds) + 1
        seeds = tuple(range(first, first + HELD_OUT)) if self.held_out is None else self.held_out
        found: list[NativeStep] = []
        for number, seed in enumerate(seeds):
            share = count * (number + 1) // len(seeds) - count * number // len(seeds)
            found += self._steps((SPLIT, seed), share, rng)
        return found

    def _labelled(
        self, source: LabelledImages | None, number: int, rng: np.random.Generator
    ) -> Iterator[Pictures]:
        return super()._labelled(source or self.own_images(), number, rng)

    def own_images(self) -> LabelledImages | None:
        """Images that ``shown`` labels, if there is such a function."""
        if self.shown is None:
            return None
        if self.shake is not None:
            return labelled_images([self.made], self.scene, self.shown, self.shake)
        controls, stops = self.control_instructions, self.stops

        def act(env: Env, scene: Scene, rng: np.random.Generator) -> bool:
            terminated = False
            if (chosen := random_choice(controls, scene, rng)) is not None:
                name, objects = chosen
                actions = next(one.actions for one in controls if one.header.name == name)
                actions = actions(*objects) if callable(actions) else actions
                for action in actions if isinstance(actions, list) else [actions]:
                    terminated = bool(env.step(action)[2]) or terminated
            return terminated and stops

        return partial(
            explored_images, Explored(self.made, self.scene, self._truth.atoms, act, self.restore == "copy")
        )

    def _steps(self, problem: Problem, count: int, rng: np.random.Generator) -> Iterator[NativeStep]:
        """Steps of one problem."""
        simulator = self.controlled(problem, checked=False)
        scene = simulator.scene
        for number in range(count):
            shaking = number >= count // 2 and self.shake is not None
            if shaking or number % WALK == 0:
                simulator.start()
            if shaking:
                assert self.shake is not None
                self.shake(simulator.present, rng)
            chosen = simulator.choose(rng)
            if chosen is None:
                continue
            before = self.true_state(simulator.present, scene)
            simulator.instruct(*chosen)
            yield NativeStep(before, GroundAction(*chosen), self.true_state(simulator.present, scene))


def bare_environment(
    name: str,
    visual: VisualVocabulary,
    make: Callable[[], Env],
    scene: Callable[[Any], Scene],
    shown: Callable[[Any], Iterable[Atom]],
    *,
    controls: Controls = None,
    seeds: tuple[int, ...] = (0, 1, 2),
    stops: bool = True,
    restore: Restore = "copy",
    weights: Path | None = None,
    number: int = PICTURES,
    shake: Callable[[Any, np.random.Generator], None] | None = None,
    held_out: tuple[int, ...] | None = None,
) -> ControlledEnvironment:
    """A user's environment of which nothing is known but its controls, and the vocabulary in which it is seen.

    Args:
        name: of the environment and of its weights.
        visual: the vocabulary, with the source of every predicate's truth.
        make: makes the Gymnasium environment, with a ``Discrete`` action space and ``render_mode="rgb_array"``.
        scene: what the user points out about a problem: a function of ``env.unwrapped``, just reset.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true. It labels images.
        controls: names of the actions, in order, or an ``IntEnum``; None: an ``IntEnum`` of the environment or of
            its module, else ``action-0``, ``action-1``, ... By name (``moveto ?l - location``) actions, or functions
            of the arguments.
        seeds: the problems that are interrogated together, by the seeds of their resets.
        stops: whether nothing can be done once the environment has said ``terminated``.
        restore: how an environment is brought back, see ``restoring``.
        weights: the folder of the trained classifiers, if there are any.
        number: of labelled images to learn from.
        shake: brings ``env.unwrapped`` into a random legal state, for labelled images; None: random controls do.
        held_out: problems on which the learned model is compared with the environment.
    """
    return ControlledEnvironment(
        name,
        visual,
        (),
        make,
        scene,
        seeds=seeds,
        number=number,
        weights=weights,
        restore=restore,
        stops=stops,
        held_out=held_out,
        controls=controls,
        shown=shown,
        shake=shake,
    )


def load(name: str) -> ControlledEnvironment | None:
    """The user's environment of that name (``own.load``), by its controls; None if there is none.

    Raises:
        UnusableInput: it cannot be imported, or is not an environment.
    """
    found = own.load(name)
    if found is None or isinstance(found, ControlledEnvironment):
        return found
    return ControlledEnvironment(**{one.name: getattr(found, one.name) for one in fields(found)})

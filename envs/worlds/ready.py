"""A ready-made world: an environment like a user's own, whose classifiers are shipped with the toolkit.

Besides instructions it has *controls*, the environment's own actions by name, and can tell the true state, so that what is
learned from controls alone can be compared with what the environment does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aam_vision.envs.controls import WALK, NativeStep
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.image_domain import Problem
from aam_vision.envs.meaning import Instruction, headers, instruction
from aam_vision.envs.own import HELD_OUT, SPLIT, OwnEnvironment
from aam_vision.perception import Defined, Given, Perceived, Reading, Scene
from aam_vision.strips import ActionHeader, Atom, GroundAction, State


@dataclass(frozen=True)
class ReadyWorld(OwnEnvironment):
    """A world of ours; it goes on after the end of an episode, which is a matter of rewards.

    Args:
        controls: the environment's own actions as instructions without a condition.
        shown: a function of ``env.unwrapped``: the atoms of perceived predicates that are true.
        shake: brings ``env.unwrapped`` into a random legal state.
    """

    stops: bool = False
    controls: tuple[Instruction, ...] = ()
    shown: Callable[[Any], Iterable[Atom]] = lambda env: ()
    shake: Callable[[Any, np.random.Generator], None] = lambda env, rng: None

    def classifiers(self, given: Path | None) -> Path | None:  # type: ignore[override]  # those shipped
        """The given folder of weights; None for those shipped with the toolkit."""
        return given

    @property
    def control_headers(self) -> tuple[ActionHeader, ...]:
        """The controls; they have no parameters."""
        return headers(self.controls)

    def controlled(self, problem: Problem) -> GymnasiumSimulator:
        """A problem, ready to be given controls: each is carried out, whatever comes of it.

        Raises:
            UnusableInput: the environment cannot be made or used.
        """
        return replace(self, instructions=self.controls).simulator(problem)

    def true_state(self, env: Any, scene: Scene) -> State:
        """The state of ``env.unwrapped``, for evaluation only; ``scene`` is that of its problem."""
        true = frozenset(self.shown(env))
        seen = State(true, scene.objects, frozenset(self._hidden(true, scene)))
        entries = self.visual.entries
        given = {entry.predicate.name for entry in entries if isinstance(entry, Given)}
        found = {atom for atom in scene.facts if atom.predicate in given} | true
        for entry in entries:
            if isinstance(entry, Defined):
                found.update(entry.atoms(scene, seen)[0])
        stated = {entry.predicate.name for entry in self.visual.stated}
        return State(frozenset(atom for atom in found if atom.predicate in stated), scene.objects)

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """Steps of problems that are not interrogated, for evaluation only: half from walks, half from random states."""
        first = max(self.seeds) + 1
        seeds = tuple(range(first, first + HELD_OUT)) if self.held_out is None else self.held_out
        found: list[NativeStep] = []
        for number, seed in enumerate(seeds):
            share = count * (number + 1) // len(seeds) - count * number // len(seeds)
            found += self._steps((SPLIT, seed), share, rng)
        return found

    def _steps(self, problem: Problem, count: int, rng: np.random.Generator) -> Iterator[NativeStep]:
        """Steps of one problem."""
        env = self.make()
        for number in range(count):
            walking = number < count // 2
            if not walking or number % WALK == 0:
                env.reset(seed=problem[1])
                scene = self.scene(env.unwrapped)
            if not walking:
                self.shake(env.unwrapped, rng)
            control = self.controls[int(rng.integers(len(self.controls)))]
            before = self.true_state(env.unwrapped, scene)
            env.step(control.actions)
            after = self.true_state(env.unwrapped, scene)
            yield NativeStep(before, GroundAction(control.header.name, ()), after)

    def _hidden(self, true: frozenset[Atom], scene: Scene) -> Iterator[Atom]:
        """The atoms that a thing covers in the image."""
        perceived = [entry for entry in self.visual.entries if isinstance(entry, Perceived)]
        places = {entry.predicate.name for entry in perceived if entry.reading is Reading.WHERE}
        for entry in perceived:
            for atom in true:
                if atom.predicate in places and scene.looks[atom.objects[0]] == entry.hidden_by:
                    yield Atom(entry.predicate.name, atom.objects[1:])


def controls(actions: Mapping[str, Any]) -> tuple[Instruction, ...]:
    """Actions of an environment, by name, as instructions that can always be given and are always carried out."""
    return tuple(
        instruction(name, action, lambda env: (), executed=lambda before, after: True)
        for name, action in actions.items()
    )

"""Environments whose steps may have several outcomes, as ``run --chance`` asks them: boards, the table, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.agents.perception import Frame, Simulator
from aam_vision.envs import DOMAINS, TOLD_WITH_CHANCE, WITH_CHANCE, worlds
from aam_vision.envs.board import BoardDomain
from aam_vision.envs.controlled import load as own_environment
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.image_domain import ImageDomain, Problem
from aam_vision.envs.meaning import Instruction, differ
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.registry import board_domain
from aam_vision.envs.restoring import Env, Restore, redraw_chance
from aam_vision.envs.shown import Told
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput


class ChanceEnvironment(NamedTuple):
    """What an environment offers that is asked with ``--chance``."""

    domain: ImageDomain
    simulator: Callable[[Problem, np.random.Generator], Simulator]
    """A problem, ready to be instructed; all chance is drawn from the generator, whatever state is gone back to."""
    truth: Callable[[], Model] | None
    """For evaluation only; None if it is not known."""
    told: Callable[[], Told] | None = None
    """Gives what tells the states where there are no classifiers."""


def environment(name: str) -> ChanceEnvironment:
    """The environment of that name.

    Raises:
        UnusableInput: it is one of ours without chance, or there is none.
    """
    if name in WITH_CHANCE:
        board = board_domain(name)
        return ChanceEnvironment(board, partial(_board, board), board.chance_truth)
    if worlds.has_chance(name):
        table = worlds.load(name)
        return ChanceEnvironment(table, partial(_gymnasium, table), table.chance_truth)
    if name in DOMAINS or worlds.known(name):
        known = ", ".join((*WITH_CHANCE, *TOLD_WITH_CHANCE, *worlds.WITH_CHANCE))
        raise UnusableInput(f"{name} has no chance; leave it out, or use one of {known}", "chance")
    if (found := own_environment(name)) is None:
        raise UnusableInput(f"there is no environment {name}", "chance")
    return ChanceEnvironment(
        found,
        partial(_gymnasium, found),
        found.chance_truth,
        found.told if found.shown is not None and found.weights is None else None,
    )


def _gymnasium(found: OwnEnvironment, problem: Problem, rng: np.random.Generator) -> Simulator:
    check_refusals(found.name, found.instructions)
    check_restore(found.name, found.restore)
    about = found.made(), found.instructions, found.scene, found.restore, problem[1]
    return ChanceSimulator(rng, *about, stops=found.stops)


def _board(domain: BoardDomain, problem: Problem, rng: np.random.Generator) -> Simulator:
    simulator = domain.simulator(problem)
    simulator.draw_from(rng)
    return simulator


# A Gymnasium environment with chance as a ``Simulator``: it is brought back to a state, and never to what chance brought.
#
# Before an environment goes on from where it was brought back to, or from a reset, its generators of random numbers are seeded
# anew from a generator of ours: ``np_random``, and those that it or its wrappers hold as attributes. So every trial is a new
# draw, and a run can be made again. Chance from elsewhere may be a copy that is brought back along with everything else: an
# environment that repeats itself is refused, as far as random steps show it.


TRIED: Final = 16
"""Random steps that are made again and again from one state."""
REPEATS: Final = 4
"""How often: chance that is drawn anew shows another image in some of them, if it shows at all."""


class ChanceSimulator(GymnasiumSimulator):
    """One problem of an environment with chance; arguments as of ``GymnasiumSimulator``.

    Args:
        chance: seeds all chance.
        given: the arguments of ``GymnasiumSimulator``.
        more: those with names.

    Raises:
        UnusableInput: also if it could not be told whether an instruction was refused, or chance repeats itself.
    """

    def __init__(self, chance: np.random.Generator, *given: Any, **more: Any) -> None:
        self._chance = chance
        super().__init__(*given, **more)

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken; what chance brings from there is drawn anew."""
        super().restore(snapshot)
        self._redraw(self._env)

    def _reset(self, env: Env) -> None:
        super()._reset(env)
        self._redraw(env)

    def _redraw(self, env: Env) -> None:
        _ = env.unwrapped.np_random  # there is one from now on
        redraw_chance(env, int(self._chance.integers(2**63)))

    # --- does chance repeat itself? --------------------------------------------------------------------

    def _check(self) -> None:
        """Make random steps from one state again and again.

        Raises:
            UnusableInput: they always show the same images, though one picture and action led to two of them.
        """
        self.start()
        first = self.frame()
        self.start()
        self._compare(
            [first], [self.frame()], "after a reset with the same seed", "make its start deterministic"
        )
        actions, here = self._random_actions(TRIED), self.snapshot()
        courses = []
        for _ in range(REPEATS):
            self.restore(here)
            self._compare([first], [self.frame()], "after it was brought back", "give another restore")
            courses.append(self._course(actions))
        self.start()
        if _several(courses[0], actions) and all(_same(courses[0], other) for other in courses[1:]):
            raise UnusableInput(
                f"{self._name}: the same action in the same picture led to two pictures, but brought back it does as before: "
                "draw chance from np_random, or show what it depends on"
            )

    def _course(self, actions: Sequence[Any]) -> list[Frame]:
        frames = [self.frame()]
        for action in actions:
            if self._over and self._stops:
                break
            self._step(action, "a random step")
            frames.append(self.frame())
        return frames


def _same(one: Sequence[Frame], other: Sequence[Frame]) -> bool:
    return len(one) == len(other) and not any(map(differ, one, other))


def _several(course: Sequence[Frame], actions: Sequence[Any]) -> bool:
    """Whether one picture and action was followed by two pictures."""
    then: dict[tuple[bytes, str], bytes] = {}
    for before, action, after in zip(course, actions, course[1:], strict=False):
        found = then.setdefault((before.tobytes(), str(action)), after.tobytes())
        if found != after.tobytes():
            return True
    return False


def check_refusals(name: str, instructions: Sequence[Instruction]) -> None:
    """Refuse instructions whose refusals would not be sure: an outcome that changes nothing looks like one.

    Raises:
        UnusableInput: one is taken for refused where its image stays as it was.
    """
    for one in instructions:
        if one.refuses_by_sight:
            raise UnusableInput(
                f"environment {name}: {one.header.name} counts as refused where the image stays the same, but by chance it "
                "may have been carried out; give executed (and watch), which tell it"
            )


def check_restore(name: str, restore: Restore) -> None:
    """Refuse to repeat actions as a way back: chance would lead elsewhere.

    Raises:
        UnusableInput: that is the way back.
    """
    if restore == "replay":
        raise UnusableInput(
            f"environment {name}: restore='replay' does not bring back what has chance; give 'copy', or two functions"
        )

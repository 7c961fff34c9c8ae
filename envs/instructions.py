"""The agent as the user instructs it: ground instructions in, yes or no and an image out.

An agent has controls of its own (``move(dir-up)``), while the user says what should come of it, e.g.
``push-to-goal(player-01, stone-02, pos-3-4, pos-3-3, pos-3-2, dir-up)``. The simulator alone decides what
a control does now. If that is not exactly the instruction, the agent cannot carry it out.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aam_vision.envs.board_env import BoardEnv
from aam_vision.errors import UnusableInput
from aam_vision.perception import Frame, Scene
from aam_vision.strips import GroundAction


class Instructed(gymnasium.Wrapper[NDArray[np.uint8], np.int64, NDArray[np.uint8], np.int64]):
    """Implements `aam_vision.simulator.Simulator` on top of a board environment.

    Raises:
        UnusableInput: if the wrapped environment is not a board environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, BoardEnv):
            raise UnusableInput(f"{env} takes no instructions: wrap a board environment of aam_vision")
        self.board: BoardEnv = env.unwrapped
        self._groups: dict[str, list[GroundAction]] = {}
        for action in self.board.native_actions:
            self._groups.setdefault(action.name, []).append(action)

    @property
    def scene(self) -> Scene:
        return self.board.scene

    def draw_from(self, rng: np.random.Generator) -> None:
        """Draw all chance from this generator from now on, whatever state is gone back to."""
        self.board.np_random = rng

    def start(self) -> None:
        """Go to the initial state of the problem."""
        self.env.reset()

    def snapshot(self) -> object:
        """A token of the present state, for ``restore``; hashable."""
        return self.board.snapshot()

    def restore(self, snapshot: object) -> None:
        """Go back to a state from which ``snapshot`` was taken; UnusableInput if it is another problem's."""
        self.board.restore(snapshot)  # type: ignore[arg-type]

    def frame(self) -> Frame:
        """The present image, uint8 (H, W, 3)."""
        return self.board.frame()

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one ground instruction; False, and no change, when the agent cannot.

        Raises:
            UnusableInput: if the agent has no instruction of that name.
        """
        known = self.board.domain.native
        if name not in known:
            raise UnusableInput(f"no instruction {name!r}: use one of {', '.join(known)}")
        verb, taken = known[name]
        if any(position >= len(objects) for position in taken):
            return False
        action = GroundAction(verb, tuple([objects[position] for position in taken]))
        number = self.board.number_of.get(action)
        if number is None or self.board.outcome(action).instruction != GroundAction(name, objects):
            return False
        self.env.step(np.int64(number))
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The agent's own next choice: any name it can carry out, then any binding of it."""
        bindings: dict[str, list[tuple[str, ...]]] = {}
        for verb, actions in self._groups.items():
            names = [name for name, (own, _) in self.board.domain.native.items() if own == verb]
            for number in rng.permutation(len(actions)):
                instruction = self.board.outcome(actions[number]).instruction
                if instruction is not None:
                    bindings.setdefault(instruction.name, []).append(instruction.objects)
                    if len(names) == 1:  # the first one found in random order is as good as any
                        break
        if not bindings:
            return None
        name = sorted(bindings)[rng.integers(len(bindings))]
        return name, bindings[name][rng.integers(len(bindings[name]))]

"""A board domain as a Gymnasium environment: images out, the agent's native actions in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Scene
from aam_vision.agents.symbolic import drawn
from aam_vision.envs.board import BoardDomain, Layout
from aam_vision.envs.pddlgym_world import Outcome
from aam_vision.model.strips import Atom, GroundAction
from aam_vision.support.errors import UnusableInput


@dataclass(frozen=True)
class Snapshot:
    """A state of one problem: hashable, comparable, and good for another environment of that problem."""

    problem: str
    dynamic: frozenset[Atom]


class BoardEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One problem in PDDLGym's simulator; implements `aam_vision.agents.perception.Simulator`, too.

    Observations are frames, uint8 (H, W, 3), of a shape that depends on the problem. Actions are numbers
    of ``native_actions``. An action that cannot be done changes nothing; ``info["executed"]`` says so.
    The reward is 1.0 for a step that ends in a goal state, which is terminal, and 0.0 otherwise.

    The agent has these actions as controls (``move(dir-up)``), while the user says what should come of one, such as
    ``push-to-goal(player-01, stone-02, pos-3-4, pos-3-3, pos-3-2, dir-up)``. The simulator alone decides what a control does
    now. If that is not exactly the instruction, the agent cannot carry it out.

    Args:
        domain: its name.
        problem: number of the problem in its split, from 0, in PDDLGym's order.
        split: ``train`` or ``test``.
        layout: a problem of the caller's own instead of those two.
        render_mode: ``rgb_array`` or None.

    Raises:
        UnusableInput: if there is no such domain or problem, or the layout is of another domain.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(
        self,
        domain: str,
        problem: int = 0,
        split: str = "train",
        layout: Layout | None = None,
        render_mode: str | None = None,
    ) -> None:
        from aam_vision.envs.registry import board_domain

        self.domain: BoardDomain = board_domain(domain)
        if layout is not None and layout.domain != self.domain.name:
            raise UnusableInput(f"{layout.name} is a {layout.domain} layout: use one of {self.domain.name}")
        if render_mode not in (None, "rgb_array"):
            raise UnusableInput(f"no render mode {render_mode!r}: use 'rgb_array' or None")
        self.render_mode = render_mode
        self.layout = self.domain.load(split, problem) if layout is None else layout
        self.native_actions = self.domain.native_actions(self.layout)
        self._world = self.domain.world(self.layout)
        self._node = self._world.initial
        self._picture = self.domain.drawing(self.layout)
        self.observation_space = gymnasium.spaces.Box(0, 255, self._picture.shape, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(len(self.native_actions))

    @cached_property
    def scene(self) -> Scene:
        """The user's description of this problem."""
        return self.domain.scene(self.layout)

    @cached_property
    def number_of(self) -> dict[GroundAction, int]:
        """The number of every native action."""
        return {action: number for number, action in enumerate(self.native_actions)}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Go to the problem's initial state, or to ``options["snapshot"]``."""
        super().reset(seed=seed)
        self._node = self._world.initial
        if options and "snapshot" in options:
            self.restore(options["snapshot"])
        return self.frame(), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        outcome = self._take(self.native_actions[int(action)])
        reached = self._node.goal_reached
        return self.frame(), float(reached), reached, False, {"executed": outcome.instruction is not None}

    def _take(self, action: GroundAction) -> Outcome:
        """Go where a native action leads; where that is a matter of chance, it is drawn."""
        outcome = self.outcome(action)
        self._node = outcome.node
        if outcome.chances:
            place = drawn([chance for chance, _ in outcome.chances], self.np_random)
            self._node = outcome.chances[place][1]
        return outcome

    def render(self) -> NDArray[np.uint8] | None:
        return self.frame() if self.render_mode == "rgb_array" else None

    def frame(self) -> Frame:
        """The present picture, whatever the render mode."""
        return self._picture.frame(self._node.dynamic)

    def outcome(self, action: GroundAction) -> Outcome:
        """Return the outcome of a native action in the present state, which does not change."""
        return self._world.outcome(self._node, action)

    def snapshot(self) -> Snapshot:
        """A token of the present state, for ``restore``; it says nothing of what chance will bring."""
        return Snapshot(self.layout.name, self._node.dynamic)

    def restore(self, snapshot: object) -> None:
        """Go back to a state; UnusableInput if the token is of another problem."""
        if not isinstance(snapshot, Snapshot) or snapshot.problem != self.layout.name:
            origin = snapshot.problem if isinstance(snapshot, Snapshot) else repr(snapshot)
            raise UnusableInput(
                f"cannot restore {origin} in {self.layout.name}: use a snapshot of this problem"
            )
        self._node = self._world.node(snapshot.dynamic)

    # --- as the user instructs it ----------------------------------------------------------------------

    def start(self) -> None:
        self._node = self._world.initial

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Execute one ground instruction; False, and no change, when the agent cannot.

        Raises:
            UnusableInput: if the agent has no instruction of that name.
        """
        known = self.domain.native
        if name not in known:
            raise UnusableInput(f"no instruction {name!r}: use one of {', '.join(known)}")
        verb, taken = known[name]
        if any(position >= len(objects) for position in taken):
            return False
        action = GroundAction(verb, tuple([objects[position] for position in taken]))
        if action not in self.number_of or self.outcome(action).instruction != GroundAction(name, objects):
            return False
        self._take(action)
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]] | None:
        """The agent's own next choice: any name it can carry out, then any binding of it."""
        groups: dict[str, list[GroundAction]] = {}
        for action in self.native_actions:
            groups.setdefault(action.name, []).append(action)
        bindings: dict[str, list[tuple[str, ...]]] = {}
        for verb, actions in groups.items():
            names = [name for name, (own, _) in self.domain.native.items() if own == verb]
            for number in rng.permutation(len(actions)):
                instruction = self.outcome(actions[number]).instruction
                if instruction is not None:
                    bindings.setdefault(instruction.name, []).append(instruction.objects)
                    if len(names) == 1:  # the first one found in random order is as good as any
                        break
        if not bindings:
            return None
        name = sorted(bindings)[rng.integers(len(bindings))]
        return name, bindings[name][rng.integers(len(bindings[name]))]


class Controlled(BoardEnv):
    """A board environment whose instructions are its controls: each is carried out, whatever comes of it."""

    def instruct(self, name: str, objects: tuple[str, ...]) -> bool:
        """Give a control; nothing happens where the environment has none with these arguments. Always True."""
        if (action := GroundAction(name, objects)) in self.number_of:
            self._take(action)
        return True

    def choose(self, rng: np.random.Generator) -> tuple[str, tuple[str, ...]]:
        return self.native_actions[int(rng.integers(len(self.native_actions)))]

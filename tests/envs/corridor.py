"""A small environment of a user's own: a lamp in every cell of a corridor, an agent that walks and lights them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Any

import gymnasium
import numpy as np

from aam_vision.agents.image import ImageAgent
from aam_vision.agents.perception import Defined, Exactly, Frame, Perceived, Percept, Reading, Scene
from aam_vision.agents.perception import VisualVocabulary as Visual
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.gymnasium_simulator import GymnasiumSimulator
from aam_vision.envs.meaning import intended_model
from aam_vision.envs.own import Instruction, Labelled, OwnEnvironment
from aam_vision.model.query import Access
from aam_vision.model.strips import ActionHeader, Atom, Objects, Predicate, State, Types

LENGTH, SIDE = 4, 16
LEFT, RIGHT, LIGHT = range(3)
CELLS = {f"cell-{i}": ((0, i),) for i in range(LENGTH)}
TYPES = Types({"cell": "object"})
SCENE = Scene(Objects(dict.fromkeys(CELLS, "cell"), TYPES), 1, LENGTH, CELLS)


class Corridor(gymnasium.Env[Frame, Any]):
    """Observations are the images."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, ending: bool = False) -> None:
        self.render_mode = "rgb_array"
        self.action_space = gymnasium.spaces.Discrete(3)
        self.observation_space = gymnasium.spaces.Box(0, 255, (SIDE, SIDE * LENGTH, 3), np.uint8)
        self._ending = ending

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Frame, dict[str, Any]]:
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(LENGTH))
        self.lit = [False] * LENGTH
        return self.render(), {}

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        if action == LIGHT:
            self.lit[self.at] = True
        else:
            self.at = min(max(self.at + (1 if action == RIGHT else -1), 0), LENGTH - 1)
        return self.render(), 0.0, self._ending and all(self.lit), False, {}

    def render(self) -> Frame:  # type: ignore[override]
        image = np.zeros((SIDE, SIDE * LENGTH, 3), np.uint8)
        for cell in range(LENGTH):
            image[::4, cell * SIDE : (cell + 1) * SIDE, 1] = 200 * self.lit[cell]
        image[4:12, self.at * SIDE + 4 : self.at * SIDE + 12, 0] = 255
        return image


class Locked(Corridor):
    """Has a part that cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()


def next_to(scene: Scene, seen: State) -> tuple[list[Atom], list[Atom]]:
    return [Atom("next", (f"cell-{i}", f"cell-{i + 1}")) for i in range(LENGTH - 1)], []


def vocabulary(define: Any = next_to) -> Visual:
    entries = (
        Perceived(Predicate("at", ("cell",)), Reading.THERE, {"": "agent"}, "the red square"),
        Perceived(Predicate("lit", ("cell",)), Reading.THERE, {"": "lit"}, "green stripes"),
        Defined(Predicate("next", ("cell", "cell")), define, "from left to right"),
    )
    return Visual("corridor", entries, TYPES, constraints=(Exactly("agent", 1),))


def labels(env: Any) -> list[Atom]:
    """What is seen: where the agent is, and which lamps are lit."""
    lit = [Atom("lit", (name,)) for name, is_lit in zip(CELLS, env.lit, strict=True) if is_lit]
    return [Atom("at", (cell(env.at),)), *lit]


def cell(number: int) -> str:
    return f"cell-{min(max(number, 0), LENGTH - 1)}"


PAIR = (("from", "to"), ("cell", "cell"))
INSTRUCTIONS = (
    Instruction(ActionHeader("left", *PAIR), LEFT, lambda env: (cell(env.at), cell(env.at - 1))),
    Instruction(ActionHeader("right", *PAIR), RIGHT, lambda env: (cell(env.at), cell(env.at + 1))),
    Instruction(ActionHeader("light", ("where",), ("cell",)), [LIGHT], lambda env: [(cell(env.at),)]),
)


INTENDED = intended_model(
    vocabulary().vocabulary(),
    INSTRUCTIONS,
    ("at from, next to from", "at to, -at from"),
    ("at from, next from to", "at to, -at from"),
    ("at where, -lit where", "lit where"),
)


class Eyes:
    """Reads these images as they were drawn."""

    def __init__(self, visual: Visual | None = None) -> None:
        self._index = SceneIndex(visual or vocabulary(), SCENE)

    def look(self, frame: Frame, scene: Scene) -> Percept:
        middles = frame[SIDE // 2, SIDE // 2 :: SIDE], frame[0, ::SIDE]
        yes = np.stack([middles[0][:, 0] > 100, middles[1][:, 1] > 100])  # (heads, places)
        return self._index.read(yes, np.zeros_like(yes), None)

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return self.look(frame, scene)


def pictures(rng: np.random.Generator) -> Iterator[Labelled]:
    env = Corridor()
    while True:
        env.reset(seed=0)
        env.at, env.lit = int(rng.integers(LENGTH)), [bool(one) for one in rng.integers(2, size=LENGTH)]
        yield Labelled(SCENE, frozenset(labels(env)), env.render())


def environment(
    env: Any = Corridor, restore: Any = "copy", instructions: Any = INSTRUCTIONS, **more: Any
) -> OwnEnvironment:
    make, scene = env if callable(env) else lambda: env, more.pop("scene", lambda env: SCENE)
    return OwnEnvironment(
        "corridor", more.pop("visual", vocabulary()), instructions, make, scene, restore=restore, **more
    )


def agent(*given: Any, access: Access = Access.SNAPSHOT, **more: Any) -> ImageAgent:
    described = environment(*given, **more)
    return described.agent(Eyes(described.visual), access)


OWN = (
    lambda env: (env.unwrapped.at, tuple(env.unwrapped.lit)),
    lambda env, token: vars(env.unwrapped).update(at=token[0], lit=list(token[1])),
)
WAYS = {"copy": "copy", "replay": "replay", "own": OWN}


def two_left(simulator: GymnasiumSimulator) -> tuple[str, str]:
    at = simulator.present.at
    return f"cell-{at}", f"cell-{max(at - 1, 0)}"

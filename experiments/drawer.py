"""A drawer that hides things, as ``--env experiments.drawer:DRAWER``, for ``experiments.page_labels``.

Blocks lie on a table or in the drawer, which never leaves its place; what is in it is out of sight while it is shut. Drawn by MuJoCo.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Mask, Scene
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.meaning import Instruction, instruction, intended_model
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.sources import found, shown, vocabulary
from aam_vision.envs.tabletop.drawing import Drawing
from aam_vision.model.constraints import Number
from aam_vision.model.strips import Atom, Model, Objects

COLOURS: Final = {"red": ".8 .15 .1", "green": ".15 .6 .2", "blue": ".15 .25 .8", "yellow": ".85 .7 .1"}
BLOCKS: Final = 3  # of each problem
SIZE: Final = 160  # pixels across and down
OUT: Final = 0.13  # metres
HIDDEN, SHOWS = 15, 50  # pixels of a thing that does not show, at most, and of one that does, at least
SPOTS: Final = [(x, y) for x in (-0.22, -0.17, 0.17, 0.22) for y in (-0.25, -0.15, -0.05)]
SLOTS: Final = (-0.06, 0.0, 0.06)  # in the drawer, from its middle
ACTIONS: Final = [
    ("pull", "drawer"),
    ("push", "drawer"),
    *((skill, block, "drawer") for skill in ("put-in", "take-out") for block in COLOURS),
]
XML: Final = Path(__file__).with_name("drawer.xml").read_text("utf-8")
END: Final = "</worldbody>"  # of its bodies, before which the blocks stand
BLOCK: Final = '<body name="{}" mocap="true"><geom type="box" size=".022 .022 .022" rgba="{} 1"/></body>'


class DrawerEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """Blocks and a drawer. Actions: numbers of ``ACTIONS``; what cannot be done changes nothing."""

    metadata = {"render_modes": ["rgb_array"]}
    render_mode = "rgb_array"
    observation_space = gymnasium.spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
    action_space = gymnasium.spaces.Discrete(len(ACTIONS))

    def __init__(self) -> None:
        blocks = "".join(BLOCK.format(*one) for one in COLOURS.items())
        self.model = mujoco.MjModel.from_xml_string(XML.replace(END, blocks + END))
        self.data, self._drawing = mujoco.MjData(self.model), Drawing(self, (SIZE, SIZE))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.uint8], Any]:
        super().reset(seed=seed)
        self.blocks = sorted(str(one) for one in self.np_random.permutation([*COLOURS])[:BLOCKS])
        self.shake(self.np_random, all_shown=True)
        return self.render(), {}

    def shake(self, rng: np.random.Generator, *, all_shown: bool = False) -> None:
        """Put the blocks anywhere, and the drawer in or out."""
        self.out, self.executed = bool(rng.random() < 0.5), False
        slots = dict(zip(self.blocks, rng.permutation(len(SLOTS)).tolist(), strict=True))
        hides = all_shown and not self.out
        self.inside = {name: slot for name, slot in slots.items() if not hides and rng.random() < 0.4}
        spots = np.array(SPOTS)[rng.permutation(len(SPOTS))[:BLOCKS]] + rng.uniform(-0.02, 0.02, (BLOCKS, 2))
        self._spots = dict(zip(self.blocks, spots.tolist(), strict=True))
        self._turns = {name: float(rng.uniform(0, np.pi / 2)) for name in self.blocks}

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        skill, thing, *_ = ACTIONS[action]
        if skill in ("pull", "push"):
            self.executed = self.out == (skill == "push")
            self.out ^= self.executed
        else:
            inside = thing in self.inside
            self.executed = self.out and thing in self.blocks and inside == (skill == "take-out")
            if self.executed:
                others = {name: slot for name, slot in self.inside.items() if name != thing}
                free = min({*range(len(SLOTS))} - {*others.values()})
                self.inside = others if inside else {**others, thing: free}
        return self.render(), 0.0, False, False, {}

    def render(self) -> NDArray[np.uint8]:
        slid, turned = 0.1 - OUT * self.out, dict.fromkeys(COLOURS, 0.0)
        places = {"drawer": (0.0, slid, 0.04), **dict.fromkeys(COLOURS, (0.0, 0.0, -1.0))}
        for name in self.blocks:
            if name in self.inside:
                places[name] = SLOTS[self.inside[name]], slid, 0.037
            else:
                places[name], turned[name] = (*self._spots[name], 0.022), self._turns[name] / 2
        for name, place in places.items():
            body, turn = self.model.body(name).mocapid[0], turned.get(name, 0.0)
            self.data.mocap_pos[body] = place
            self.data.mocap_quat[body] = np.cos(turn), 0, 0, np.sin(turn)
        mujoco.mj_forward(self.model, self.data)
        return self._drawing.picture()

    def masks(self) -> dict[str, Mask]:
        """Which pixels of the present picture show each thing; ``render`` comes first."""
        shown = self._drawing.shown()
        return {name: shown == self.model.body(name).id for name in ("drawer", *self.blocks)}

    def number(self, geometry: int) -> int:
        """The body that a geometry belongs to."""
        return int(self.model.geom_bodyid[geometry])


VOCABULARY: Final = vocabulary(
    "drawer",
    {"block": "thing", "drawer": "thing", "thing": "object"},
    {
        "seen ?x - thing": found({**dict.fromkeys(COLOURS, "block"), "drawer": "drawer"}, "the thing shows"),
        "out ?d - drawer": shown("out", "the drawer is out"),
        "on-table ?x - block": shown("on-table", "the block lies on the table"),
        "in ?x - block ?d - drawer": shown("in", "the block lies in the drawer"),
    },
    constraints=(Number(("on-table(x)", "in(x, _)")),),
)


def scene(env: DrawerEnv) -> Scene:
    """The things, which are called like their looks."""
    kinds = {"drawer": "drawer", **dict.fromkeys(env.blocks, "block")}
    return Scene.of_things(Objects(kinds, VOCABULARY.types), {name: name for name in kinds})


def labelled(env: DrawerEnv) -> Labelled:
    """The present picture with all that a label says of it."""
    frame, masks = env.render(), env.masks()
    true = {Atom("out", ("drawer",))} if env.out else set()
    for one in env.blocks:
        true.add(Atom("in", (one, "drawer")) if one in env.inside else Atom("on-table", (one,)))
    pixels = {Atom("seen", (name,)): mask.sum() for name, mask in masks.items()}
    true |= {atom for atom, number in pixels.items() if number >= SHOWS}
    hardly = frozenset(atom for atom, number in pixels.items() if HIDDEN < number < SHOWS)
    return Labelled(scene(env), frozenset(true), frame, masks, hardly)


def pictures(rng: np.random.Generator) -> Iterator[Labelled]:
    """Labelled pictures of random scenes, without end."""
    env = DrawerEnv()
    while True:
        env.reset(seed=int(rng.integers(2**31)))
        env.shake(rng)
        yield labelled(env)


def _told(text: str) -> Instruction:
    name = text.split()[0]
    return instruction(
        text,
        lambda *things: ACTIONS.index((name, *things)),
        watch=lambda env: env.executed,
        executed=lambda before, after: bool(after),
        free=text.count("?"),
    )


INSTRUCTIONS: Final = (
    _told("pull ?d - drawer"),
    _told("push ?d - drawer"),
    _told("put-in ?x - block ?d - drawer"),
    _told("take-out ?x - block ?d - drawer"),
)


def intended() -> Model:
    """For evaluation only."""
    return intended_model(
        VOCABULARY.vocabulary(),
        INSTRUCTIONS,
        ("-out d", "out d"),
        ("out d", "-out d"),
        ("out d, on-table x", "in x d, -on-table x"),
        ("out d, in x d", "on-table x, -in x d"),
    )


DRAWER: Final = OwnEnvironment(
    "drawer",
    VOCABULARY,
    INSTRUCTIONS,
    DrawerEnv,
    scene,
    seeds=(0, 1),
    pictures=pictures,
    restore=(lambda env: vars(env.unwrapped).copy(), lambda env, kept: vars(env.unwrapped).update(kept)),
    truth=intended,
    labelled=labelled,
    held_out=(100, 101, 102, 103),
)

"""A robot arm on a table as a Gymnasium environment: pictures out, skills in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Frame, Mask, Scene
from aam_vision.envs.controlled import ReadyWorld
from aam_vision.envs.labelled import Labelled
from aam_vision.envs.meaning import Instruction, instruction, intended_model
from aam_vision.envs.sources import found, of_look, vocabulary
from aam_vision.envs.sources import shown as shown_there
from aam_vision.envs.tabletop.drawing import Drawing, gl_context
from aam_vision.envs.tabletop.layouts import BALL, BLOCK_LOOKS, STEEL, Layout, random_layout, rearranged
from aam_vision.envs.tabletop.mjcf import CAMERA
from aam_vision.envs.tabletop.skills import SKILLS, SLIPPING, Skills
from aam_vision.envs.tabletop.world import Arm, World
from aam_vision.model.constraints import Acyclic, Number
from aam_vision.model.strips import Atom, Case, Effects, LiftedAtom, Model, Objects, Outcome
from aam_vision.support.errors import UnusableInput

# What the robot can be told, as a space of Gymnasium's: a skill with names of things of the scene.


Instructed = tuple[str, ...]
"""A skill and the names of the things it is about: ``("stack", "red-block", "steel")``."""


class SkillSpace(gymnasium.spaces.Space[Instructed]):
    """All skills with all things of the present scene, whether they can be carried out or not."""

    def __init__(self) -> None:
        super().__init__()
        self.things: tuple[str, ...] = ()

    def sample(self, mask: Any = None, probability: Any = None) -> Instructed:
        """A random skill with random things; masks and probabilities are not heeded."""
        skill = list(SKILLS)[int(self.np_random.integers(len(SKILLS)))]
        things = self.np_random.integers(len(self.things), size=SKILLS[skill])
        return (skill, *[self.things[int(number)] for number in things])

    def contains(self, x: Any) -> bool:
        """Whether it is a skill with as many things of the scene as it is about."""
        if not isinstance(x, tuple) or not x or x[0] not in SKILLS or len(x) != 1 + SKILLS[x[0]]:
            return False
        return all(thing in self.things for thing in x[1:])

    def usage(self) -> str:
        """All that there is, in words."""
        skills = ", ".join(f"{skill}{' THING' * number}" for skill, number in SKILLS.items())
        return f"{skills}, with things among {', '.join(self.things)}"

    @property
    def is_np_flattenable(self) -> bool:
        """Whether samples can be flattened: names cannot."""
        return False


SIZE: Final = 208
"""Height and width of a picture, in pixels."""
SETTLING: Final = 0.2
"""Seconds in which things come to rest at the beginning."""


@dataclass(frozen=True)
class Snapshot:
    """A state of one scene, for ``restore``."""

    layout: Layout
    state: NDArray[np.float64]


class Stage:
    """A world with its arm, its skills and its camera: made once for things of the same kinds."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.world = World(kinds)
        self.arm = Arm(self.world)
        self.skills = Skills(self.world, self.arm)
        self._drawing: Drawing | None = None

    def set_up(self, layout: Layout) -> None:
        """Put everything in its place, and let it come to rest."""
        self.world.lay_out(layout)
        self.arm.go_home_at_once(layout.held)
        self.arm.rest(SETTLING)

    def drawing(self, size: int) -> Drawing:
        """What draws pictures, (size, size, 3): made once."""
        if self._drawing is None:
            self._drawing = Drawing(self.world, (size, size))
        return self._drawing

    def close(self) -> None:
        if self._drawing is not None:
            self._drawing.close()
            self._drawing = None


class TabletopEnv(gymnasium.Env[NDArray[np.uint8], Instructed]):
    """Blocks, a ball and a piece of steel on a table, and an arm that has skills.

    Observations are pictures, uint8 (size, size, 3). An action is a skill with names of things, such as
    ``("stack", "red-block", "steel")``. A skill that cannot be carried out changes nothing; ``info["executed"]`` says so,
    and ``info["refusal"]`` why. There is no reward and no end.

    Of the skills that can be carried out, a share ``slip`` goes wrong: the fingers close beside what they are to lift, which stays
    where it is, or lose what they carry to a pile, which drops onto the table. ``info["slipped"]`` says so.

    Args:
        render_mode: ``rgb_array`` or None.
        blocks: how many; None: three to five, by the seed.
        alike: how many of the blocks look the same.
        size: height and width of a picture, in pixels; classifiers are trained for one size.
        slip: how likely the hand slips, from 0 to 1, wherever it lifts something or stacks it; drawn from ``np_random``.

    Raises:
        UnusableInput: no such render mode or probability; on drawing: neither EGL nor OSMesa works here.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}

    def __init__(
        self,
        render_mode: str | None = None,
        blocks: int | None = None,
        alike: int = 1,
        size: int = SIZE,
        slip: float = 0.0,
    ) -> None:
        if not 0 <= slip <= 1:
            raise UnusableInput(f"tabletop: no probability {slip!r} of a slip: use one from 0 to 1")
        if render_mode not in (None, "rgb_array"):
            raise UnusableInput(f"no render mode {render_mode!r}: use 'rgb_array' or None")
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Box(0, 255, (size, size, 3), np.uint8)
        self.action_space = self._skills = SkillSpace()
        self.executed = False
        """Whether the last skill was carried out."""
        self.slipped = False
        """Whether the hand slipped then."""
        self._slip = slip
        self._random = partial(random_layout, blocks=blocks, alike=alike)
        self._size = size
        self._pictures: dict[str, Frame] = {}
        self._masks: dict[str, Mask] | None = None
        self._stages: dict[tuple[str, ...], Stage] = {}
        self.layout: Layout
        self.stage: Stage

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Set up a random scene, or that of ``options["layout"]``."""
        super().reset(seed=seed)
        self.set_up((options or {}).get("layout") or self._random(self.np_random))
        return self.picture(), {}

    def set_up(self, layout: Layout) -> None:
        """Set up a scene, without a picture of it."""
        if layout.kinds not in self._stages:
            self._stages[layout.kinds] = Stage(layout.kinds)
        self.layout, self.stage = layout, self._stages[layout.kinds]
        self.stage.set_up(layout)
        self.executed = False
        self._skills.things = tuple(thing.name for thing in layout.things)
        self._forget_pictures()

    def step(self, action: Instructed) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Carry out a skill if that can be done; UnusableInput if there is no such skill, or no such thing in the scene."""
        refusal = self.carry_out(*action)
        info = {"executed": refusal is None, "refusal": refusal, "slipped": self.slipped}
        return self.picture(), 0.0, False, False, info

    def carry_out(self, skill: str, *things: str) -> str | None:
        """Carry out a skill; return why it cannot be done, or None if it was.

        Raises:
            UnusableInput: there is no such skill, or no such thing in the scene.
        """
        if not self._skills.contains((skill, *things)):
            raise UnusableInput(
                f"tabletop: no skill {' '.join((skill, *things))!r}; use {self._skills.usage()}"
            )
        numbers = tuple(self._skills.things.index(thing) for thing in things)
        before = self.stage.world.snapshot()
        refusal = self.stage.skills.carry_out(skill, numbers)
        self.executed = refusal is None
        may = self.executed and self._slip and skill in SLIPPING
        self.slipped = bool(may and self.np_random.random() < self._slip)
        if self.slipped:
            self.stage.world.restore(before)
            self.stage.skills.slip(skill, numbers)
        if self.executed:
            self._forget_pictures()
        return refusal

    def render(self) -> NDArray[np.uint8] | None:
        return self.picture() if self.render_mode == "rgb_array" else None

    def picture(self, camera: str = CAMERA) -> Frame:
        """The present picture, uint8 (size, size, 3), whatever the render mode."""
        if camera not in self._pictures:
            self._pictures[camera] = self.stage.drawing(self._size).picture(camera)
        return self._pictures[camera].copy()

    def visible(self) -> dict[str, int]:
        """How many pixels of the present picture show each thing; those of a picture of ``SIZE`` at another size."""
        scale = (SIZE / self._size) ** 2
        return {name: round(scale * int(mask.sum())) for name, mask in self.masks().items()}

    def masks(self) -> dict[str, Mask]:
        """Which pixels of the present picture show each thing: (size, size); other things and the arm hide it."""
        if self._masks is None:
            shown = self.stage.drawing(self._size).shown()
            self._masks = {name: shown == number for number, name in enumerate(self._skills.things)}
        return self._masks

    def point(self, name: str) -> tuple[float, float]:
        """Where the middle of a thing is in the picture: across from the left and down from the top, as shares of its side."""
        stage = self.stage
        return stage.world.seen_at(stage.world.place(self._skills.things.index(name)), CAMERA)

    def true_atoms(self) -> frozenset[Atom]:
        """What is true at present, read from poses and contacts: for labels and evaluation only.

        Atoms of ``holding``, ``clear``, ``on``, ``on-table`` and ``hand-empty``.
        """
        held, names = self.stage.skills.check.held(), self._skills.things
        atoms = {Atom("hand-empty", ()) if held is None else Atom("holding", (names[held],))}
        covered = {held}
        for upper, lower in resting(self.stage.world):
            if upper == held:
                continue
            atoms.add(
                Atom("on-table", (names[upper],))
                if lower is None
                else Atom("on", (names[upper], names[lower]))
            )
            covered.add(lower)
        atoms.update(Atom("clear", (name,)) for number, name in enumerate(names) if number not in covered)
        return frozenset(atoms)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.layout, self.stage.world.snapshot())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a state of the present scene; UnusableInput if the snapshot is of another scene."""
        if snapshot.layout != self.layout:
            raise UnusableInput("tabletop: the snapshot is of another scene; reset to that one first")
        if not np.array_equal(snapshot.state, self.stage.world.snapshot()):
            self.stage.world.restore(snapshot.state)
            self._forget_pictures()

    def _forget_pictures(self) -> None:
        """The present state is another one."""
        self._pictures.clear()
        self._masks = None

    def close(self) -> None:
        for stage in self._stages.values():
            stage.close()


LOWER: Final = 0.5
"""How much lower than a thing's middle the middle of what bears it is, at least, as a share of half its width."""


def resting(world: World) -> set[tuple[int, int | None]]:
    """Pairs of a thing and what bears it: a thing that it touches and that is below, or the table (None)."""
    found: set[tuple[int, int | None]] = set()
    for pair in world.touching():
        for upper, lower in (pair, pair[::-1]):
            number = world.number(upper)
            if number is None:
                continue
            if world.is_table(lower):
                found.add((number, None))
            elif (below := world.number(lower)) is not None:
                drop = world.place(number)[2] - world.place(below)[2]
                if drop > LOWER * world.half(number):
                    found.add((number, below))
    return found


# The table as ``--env tabletop``: its vocabulary, what the robot can be told, and problems; the intended model apart.


NAME: Final = "tabletop"
SEEDS: Final = (1, 10, 3)
"""Problems that are interrogated."""
ALIKE: Final = 3
"""Blocks that share a look in ``tabletop:alike``."""
SEEDS_ALIKE: Final = (4, 10, 16)
"""Problems of that world: in their first pictures no block stands before or on one of its look."""
HELD_OUT: Final = (100, 101, 102, 103, 104, 105, 106, 107)
"""Problems on which the learned model is compared with the intended one."""
TAUGHT: Final = 4600
"""Labelled images to train on."""
HIGHEST: Final = 5
"""Things in a pile of labelled images, at most."""
HOLDING: Final = 0.45
"""Share of labelled images with something in the hand."""
CROWDED: Final = 0.75
MANY: Final = 5
"""Share of the pictures to learn from in which so many blocks stand in piles behind each other: by chance few things are
partly hidden."""
SEEN: Final = "seen"
"""The auxiliary predicate of the things that a picture shows."""
SHOWS: Final = 100
HIDDEN: Final = 40
"""Pixels of a thing that shows, at least, and of one that does not, at most, in a picture of ``environment.SIZE``. Between
them either answer is right. A thing by itself has 350 (the ball) to 900."""


VOCABULARY: Final = vocabulary(
    NAME,
    {"thing": "object"},
    {
        f"{SEEN} ?x - thing": found((*BLOCK_LOOKS, BALL, STEEL), "the thing shows"),
        "holding ?x - thing": shown_there("holding", "the thing is between the fingers"),
        "clear ?x - thing": shown_there("clear", "nothing is on the thing, and it is not held"),
        "on ?x ?y - thing": shown_there("on", "the first thing rests on the second one"),
        "on-table ?x - thing": shown_there("on-table", "the thing rests on the table"),
        "hand-empty": shown_there("hand-empty", "nothing is between the fingers"),
        "ball ?x - thing": of_look(BALL, "it looks like a ball"),
        "steel ?x - thing": of_look(STEEL, "it looks like steel"),
    },
    constraints=(
        Number(("holding(x)", "on-table(x)", "on(x, _)")),
        Number(("holding(x)", "clear(x)", "on(_, x)")),
        Number(("holding(_)", "hand-empty()")),
        Acyclic("on"),
    ),
)


def scene(table: TabletopEnv) -> Scene:
    """The things and their looks; those of a look that others have, too, are pointed out in the first picture."""
    things = table.layout.things
    objects = Objects(dict.fromkeys([thing.name for thing in things], "thing"), VOCABULARY.types)
    looks = {thing.name: thing.look for thing in things}
    several = {look for look, number in Counter(looks.values()).items() if number > 1}
    points = {name: table.point(name) for name, look in looks.items() if look in several}
    return Scene.of_things(objects, looks, points=points)


def shown(table: TabletopEnv) -> frozenset[Atom]:
    """The atoms of perceived predicates that are true, and which things show, for what learns from the picture."""
    showing = [Atom(SEEN, (name,)) for name, pixels in table.visible().items() if pixels >= SHOWS]
    return table.true_atoms().union(showing)


def hardly_shown(table: TabletopEnv) -> frozenset[Atom]:
    """That things show of which so little can be seen that either answer is right."""
    pixels = table.visible()
    return frozenset(Atom(SEEN, (name,)) for name in pixels if HIDDEN < pixels[name] < SHOWS)


def labelled(table: TabletopEnv) -> Labelled:
    """The present picture with all that a label says of it."""
    return Labelled(scene(table), shown(table), table.picture(), table.masks(), hardly_shown(table))


def shake(table: TabletopEnv, rng: np.random.Generator) -> None:
    """Put the same things elsewhere, one of them perhaps into the hand."""
    table.set_up(rearranged(rng, table.layout, highest=HIGHEST, holding=HOLDING))


def _instruction(text: str) -> Instruction:
    """An instruction that is called like the skill it stands for; the robot itself says whether it carried it out."""
    name, *_ = text.split()
    return instruction(
        text,
        lambda *things: (name, *things),
        watch=lambda table: table.executed,
        executed=lambda before, after: bool(after),
        free=SKILLS[name],
    )


INSTRUCTIONS: Final = (
    _instruction("pick-up ?x - thing"),
    _instruction("put-down ?x - thing"),
    _instruction("stack ?x ?y - thing"),
    _instruction("unstack ?x ?y - thing"),
)


def intended() -> Model:
    """Blocks world with a ball that bears nothing and steel that stays where it is; for evaluation only."""
    free, taken = "clear x, hand-empty", "-clear x, -hand-empty"
    return intended_model(
        VOCABULARY.vocabulary(),
        INSTRUCTIONS,
        (f"{free}, on-table x, -steel x", f"holding x, {taken}, -on-table x"),
        ("holding x", f"{free}, on-table x, -holding x"),
        ("holding x, clear y, -ball y", f"{free}, on x y, -holding x, -clear y"),
        (f"{free}, on x y, -steel x", f"holding x, clear y, {taken}, -on x y"),
    )


class Table(ReadyWorld):
    """The table, which is not made where nothing can draw."""

    def made(self) -> gymnasium.Env[Any, Any]:
        """The environment; UnusableInput if neither EGL nor OSMesa works here."""
        gl_context(1, 1).free()
        return super().made()


def pictures(rng: np.random.Generator, *, apart: bool = False) -> Iterator[Labelled]:
    """Labelled pictures of random scenes, without end; ``apart``: as for training, where many are crowded as well."""
    table = TabletopEnv("rgb_array")
    while True:
        crowded = apart and rng.random() < CROWDED
        things = random_layout(rng, MANY if crowded else None, apart=apart)
        table.set_up(rearranged(rng, things, highest=HIGHEST, holding=HOLDING, crowded=crowded))
        yield labelled(table)


def world(alike: int = 1) -> Table:
    """The table, on which so many blocks look ``alike``; scenes that are held out have three to five blocks, as the seed says."""
    return Table(
        name=NAME,
        visual=VOCABULARY,
        instructions=INSTRUCTIONS,
        make=partial(TabletopEnv, "rgb_array", alike=alike),
        scene=scene,
        seeds=SEEDS if alike == 1 else SEEDS_ALIKE,
        pictures=partial(pictures, apart=True),
        unseen=pictures,
        number=TAUGHT,
        round_steps=2600,
        restore=(lambda env: env.unwrapped.snapshot(), lambda env, kept: env.unwrapped.restore(kept)),  # type: ignore[attr-defined]
        truth=intended,
        shown=shown,
        shake=shake,
        labelled=labelled,
        held_out=HELD_OUT,
        controls=INSTRUCTIONS,
    )


# The table with a hand that slips, as ``--env tabletop:slippery``; its classifiers are those of the table.


SLIP: Final = 0.15
"""How likely the hand slips."""
STAYS: Final = Effects()
DROPS: Final = Effects(
    frozenset({LiftedAtom("clear", (0,)), LiftedAtom("hand-empty", ()), LiftedAtom("on-table", (0,))}),
    frozenset({LiftedAtom("holding", (0,))}),
)
SLIPS: Final = {"pick-up": STAYS, "unstack": STAYS, "stack": DROPS}
"""What comes of a slip, by skill."""


def intended_slippery() -> Model:
    """The intended model of the table, with slips; for evaluation only."""
    model = intended()
    actions = []
    for action in model.actions:
        if (slipped := SLIPS.get(action.header.name)) is not None:
            (works,) = action.outcomes
            outcomes = Outcome(1 - SLIP, works.effects), Outcome(SLIP, slipped)
            action = replace(action.bare, cases=(Case(outcomes=outcomes),))
        actions.append(action)
    return Model(model.vocabulary, tuple(actions))


def slippery_world() -> Table:
    """The table with a hand that slips."""
    return replace(
        world(), make=partial(TabletopEnv, "rgb_array", slip=SLIP), truth=None, chance_truth=intended_slippery
    )

"""A board domain: what the toolkit knows of one of PDDLGym's domains that is seen in images.

Types, predicates, instructions and controls are derived from PDDLGym's PDDL. What has to be said is where the truth
of every predicate comes from, what the board of a problem looks like, and which problems serve for what.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from aam_vision.agents.perception import (
    Constraint,
    Frame,
    Percept,
    Reading,
    Scene,
    VisualVocabulary,
    no_sights,
)
from aam_vision.envs.image_domain import WALK, NativeStep, Pictures, Problem
from aam_vision.envs.pddlgym_files import action_predicates, chance_model
from aam_vision.envs.rendering import Tiles
from aam_vision.envs.sources import Source, entries
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, Atom, GroundAction, Model, Objects, State
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    from aam_vision.envs.board_env import BoardEnv
    from aam_vision.envs.pddlgym_world import World

SHAPES = ((6, 7), (8, 8), (9, 6), (7, 10), (8, 11), (12, 7))
"""Shapes (rows, columns) of random boards: small and large ones, because sprites shrink on large boards."""

STATES_PER_LAYOUT: Final = 40
"""States of each layout for training: more of them teach the same board again."""

SYNTHETIC: Final = 160
"""Random boards: more of them teach more sights, and each takes time to draw."""

STATES_PER_BOARD: Final = 2
"""States of each random board: another board teaches more than another state of the same."""

TRIES: Final = 20
"""Draws per wanted state before a layout is taken to have no more distinct states."""

LONGEST_WALK: Final = 200
"""Steps of a random walk at most: longer ones get farther from the initial state, and take longer."""


@dataclass(frozen=True)
class Layout:
    """A problem of a board domain: objects, initial state and goal, without action literals.

    ``name`` identifies the problem, e.g. ``sokoban/train/0``; snapshots are tied to it.
    """

    domain: str
    name: str
    objects: Objects
    initial: frozenset[Atom]
    goal: frozenset[Atom]

    @classmethod
    def of(
        cls,
        domain: str,
        name: str,
        kinds: Mapping[str, str],
        initial: Iterable[Atom] = (),
        goal: Iterable[Atom] = (),
    ) -> Layout:
        """A problem with objects of these types."""
        objects = Objects(kinds, chance_model(domain).vocabulary.types)
        return cls(domain, name, objects, frozenset(initial), frozenset(goal))

    def facts(self, predicate: str) -> list[tuple[str, ...]]:
        """The objects of the predicate's atoms in the initial state, sorted."""
        return sorted(atom.objects for atom in self.initial if atom.predicate == predicate)


class Drawing(Protocol):
    """Draws the states of one problem, pixel for pixel as PDDLGym does."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of every frame of the problem."""

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""


def problems(split: str, numbers: Iterable[int]) -> tuple[Problem, ...]:
    """Some problems of a split."""
    return tuple((split, number) for number in numbers)


@dataclass(frozen=True)
class BoardDomain:
    """One of PDDLGym's domains as an ``ImageDomain``.

    Args:
        name: our name of the domain, which is PDDLGym's without ``_operator_actions``.
        sources: predicate of the PDDL -> where its truth comes from.
        board: what the user points out about a problem; anchors and given facts are added to it.
        interrogated: the problems that are interrogated together.
        held_out: the problems on which the learned model is evaluated.
        trained_on: the problems whose layouts classifiers may be trained on.
        auxiliary: declarations of the auxiliary predicates, in PDDL's notation, with their sources.
        may_vanish: see ``VisualVocabulary``; this and the next two.
        sights: makes the auxiliary atoms of a state.
        constraints: what no board shows.
        named: where operators are the actions, operator -> which of its parameters a native action names.
            The state settles the others.
        controls: a problem's native actions in the environment's order, where they are not all that there are.
        drawing: makes what draws the states of a problem.
        sampler: the module that makes random states (``sample``) and boards (``synthesize``); None for states on
            random walks through the layouts for training.
        shapes: shapes (rows, columns) of the random boards to train classifiers on.
        round_steps: of training, see ``ImageDomain``; enough for poor pictures, too.
    """

    name: str
    sources: Mapping[str, Source]
    board: Callable[[Layout], Scene]
    interrogated: tuple[Problem, ...]
    held_out: tuple[Problem, ...]
    trained_on: tuple[Problem, ...]
    auxiliary: Mapping[str, Source] = field(default_factory=dict)
    may_vanish: Mapping[str, bool] = field(default_factory=dict)
    sights: Callable[[Scene, frozenset[Atom]], Iterable[Atom]] = no_sights
    constraints: tuple[Constraint, ...] = ()
    named: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    controls: Callable[[Layout], tuple[GroundAction, ...]] | None = None
    drawing: Callable[[Layout], Drawing] = Tiles
    sampler: str | None = None
    shapes: tuple[tuple[int, int], ...] = SHAPES
    round_steps: int = 800

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions: PDDLGym's operators; UnusableInput if PDDLGym is not installed."""
        return chance_model(self.name).headers

    @property
    def native(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """Instruction -> the verb of its native action, and which of its parameters that takes."""
        return action_predicates(self.name) or {name: (name, taken) for name, taken in self.named.items()}

    @cached_property
    def visual(self) -> VisualVocabulary:
        """The user's vocabulary: PDDLGym's predicates, each with the source of its truth."""
        declared = chance_model(self.name).vocabulary
        return VisualVocabulary(
            self.name,
            entries(self.name, declared.predicates, self.sources, self.auxiliary),
            declared.types,
            self.may_vanish,
            self.sights,
            self.constraints,
        )

    def load(self, split: str, index: int) -> Layout:
        """A problem of PDDLGym's; UnusableInput if there is none of that split and number."""
        from aam_vision.envs.pddlgym_domains import load_layout

        return load_layout(self.name, split, index)

    def layouts(self, problems: Iterable[Problem]) -> list[Layout]:
        """Some of PDDLGym's problems."""
        return [self.load(*problem) for problem in problems]

    def scene(self, layout: Layout) -> Scene:
        """The user's description of a problem: its board, given facts, and where things are at the start."""
        stated = {entry.predicate.name for entry in self.visual.given}
        searched = {entry.predicate.name for entry in self.visual.read_as(Reading.WHERE)}
        facts = frozenset(atom for atom in layout.initial if atom.predicate in stated)
        scene = replace(self.board(layout), facts=facts)
        found = sorted(self.visual.sighted(scene, layout.initial))
        anchors = {atom.objects[0]: atom.objects[1] for atom in found if atom.predicate in searched}
        return replace(scene, anchors=anchors)

    @property
    def control_headers(self) -> tuple[ActionHeader, ...]:
        """The agent's own controls; parameters are called after their types."""
        native, verbs = self.native, dict[str, tuple[str, ...]]()
        for header in self.headers:
            verb, taken = native[header.name]
            verbs.setdefault(verb, tuple(header.types[position] for position in taken))
        return tuple(ActionHeader(name, _parameters(types), types) for name, types in verbs.items())

    def native_actions(self, layout: Layout) -> tuple[GroundAction, ...]:
        """The agent's own controls in a problem, in the order of the environment's actions."""
        if self.controls is not None:
            return self.controls(layout)
        return tuple(
            GroundAction(header.name, objects)
            for header in self.control_headers
            for objects in product(*[layout.objects.of_type(kind) for kind in header.types])
        )

    def world(self, layout: Layout) -> World:
        """A problem in PDDLGym's simulator."""
        from aam_vision.envs.pddlgym_world import World

        return World(layout, self.native)

    def simulator(
        self, problem: Problem, *, controls: bool = False, chance: np.random.Generator | None = None
    ) -> BoardEnv:
        """A problem, ready to be instructed, or to be given controls; UnusableInput if there is none of that name.

        ``chance``: what its chance is drawn from, whatever state is gone back to; None: its own generator.
        """
        from aam_vision.envs.board_env import BoardEnv, Controlled

        split, index = problem
        simulator = (Controlled if controls else BoardEnv)(self.name, index, split)
        if chance is not None:
            simulator.np_random = chance
        return simulator

    def stand_in(self) -> None:
        """None: there are classifiers."""

    def truth(self) -> Model:
        """PDDLGym's own model, with its outcomes where there are several, for evaluation only: without action literals."""
        return chance_model(self.name)

    chance_truth = truth

    def held_out_states(self, look: Callable[[Frame, Scene], Percept]) -> list[State]:
        """The initial states of the held-out problems, for evaluation only: PDDLGym's own, which need no image."""
        return [State(layout.initial, layout.objects) for layout in self.layouts(self.held_out)]

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """Steps of held-out problems, for evaluation only: half from walks, half from legal states at random."""
        layouts, found = self.layouts(self.held_out), list[NativeStep]()
        for number, layout in enumerate(layouts):
            share = count * (number + 1) // len(layouts) - count * number // len(layouts)
            world, actions = self.world(layout), self.native_actions(layout)

            def step(
                dynamic: frozenset[Atom], world: World = world, actions: Any = actions
            ) -> frozenset[Atom]:
                control = actions[int(rng.integers(len(actions)))]
                after = world.outcome(world.node(dynamic), control).node.dynamic
                states = [State(world.static | one, world.layout.objects) for one in (dynamic, after)]
                found.append(NativeStep(states[0], control, states[1]))
                return after

            walked, here = share // 2, world.initial.dynamic
            for place in range(walked):
                here = step(world.initial.dynamic if place % WALK == 0 and place > 2 * WALK else here)
            for state in islice(self.states(layout, rng), share - walked):
                step(state.true - world.static)
        return found

    def classifiers(self, given: Path | None) -> Path | None:
        """The folder of the weights; None for the shipped ones."""
        return given

    @property
    def walked(self) -> tuple[Problem, ...]:
        """The problems whose pictures may be labelled: those for training, then those that are interrogated."""
        return tuple(dict.fromkeys(self.trained_on + self.interrogated))

    def scene_of(self, problem: str) -> Scene:
        """The scene of a problem for training, or of one that is interrogated, named ``SPLIT/NUMBER``.

        Raises:
            UnusableInput: there is no such problem, or it is held out.
        """
        known = {f"{split}/{number}": (split, number) for split, number in self.walked}
        if problem not in known:
            raise UnusableInput(f"problem {problem!r} is not one for training: use one of {', '.join(known)}")
        return self.scene(self.load(*known[problem]))

    # Boards and states to learn from and to be examined on: legal, diverse, and labelled by construction. Setting up the drawing
    # of a board costs up to half a second per shape, so ``shapes`` are few. All randomness comes from the generator passed in.

    def states(self, layout: Layout, rng: np.random.Generator) -> Iterator[State]:
        """Random legal states of a layout without end, by the sampler, or without one where random walks end; some come again."""
        if self.sampler is not None:
            sample = import_module(self.sampler).sample
            while True:
                yield State(sample(layout, rng), layout.objects)
        world, actions = self.world(layout), self.native_actions(layout)
        while True:
            state = world.initial
            for _ in range(int(rng.integers(LONGEST_WALK + 1))):
                state = world.outcome(state, actions[int(rng.integers(len(actions)))]).node
            yield State(world.static | state.dynamic, layout.objects)

    def random_layouts(self, shapes: Sequence[tuple[int, int]], rng: np.random.Generator) -> Iterator[Layout]:
        """Random boards without end, each of one of the ``shapes`` (rows, columns); sides from 5 (Doors: 6).

        Raises:
            UnusableInput: there is no sampler.
        """
        if self.sampler is None:
            raise UnusableInput(f"{self.name} has no sampler of random boards: use its layouts for training")
        synthesize = import_module(self.sampler).synthesize
        while True:
            rows, columns = shapes[int(rng.integers(len(shapes)))]
            yield synthesize(f"{self.name}/synthetic/{rng.integers(2**63):016x}", rows, columns, rng)

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> list[Pictures]:
        """States to learn from, of ``trained_on`` and of random boards where there is a sampler; ``fewer`` divides their number."""
        each = max(1, STATES_PER_LAYOUT // fewer)
        found = [self._pictures(layout, each, rng) for layout in self.layouts(self.trained_on)]
        if self.sampler is not None:
            for layout in islice(self.random_layouts(self.shapes, rng), SYNTHETIC // fewer):
                found.append(self._pictures(layout, STATES_PER_BOARD, rng))
        return found

    def examinations(self, states: int, seed: int) -> Mapping[str, list[Pictures]]:
        """``unseen``: states of layouts that classifiers never train on; ``interrogated``: of those asked about.

        They are shared out evenly: what a small layout cannot give, larger ones make up for.
        """
        asked = dict.fromkeys(self.held_out + self.interrogated)
        unseen = [problem for problem in asked if problem not in self.trained_on]
        drawn: dict[str, list[Pictures]] = {}
        for further, (group, some) in enumerate(
            {"unseen": unseen, "interrogated": self.interrogated}.items()
        ):
            rng, found = np.random.default_rng([seed + further, 0]), drawn.setdefault(group, [])
            layouts = sorted(self.layouts(some), key=lambda layout: len(layout.objects))
            for number, layout in enumerate(layouts):
                missing = states - sum(len(pictures.states) for pictures in found)
                found.append(self._pictures(layout, -(-missing // (len(layouts) - number)), rng))
        return drawn

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """Up to ``number`` states of a random board of a shape; of a layout for training where there is no sampler."""
        if self.sampler is None:
            return self._pictures(self.load(*self.trained_on[0]), number, rng)
        return self._pictures(next(self.random_layouts([shape], rng)), number, rng)

    def _pictures(self, layout: Layout, number: int, rng: np.random.Generator) -> Pictures:
        """Up to ``number`` distinct legal states of a layout."""
        seen: dict[State, None] = {}
        for state in islice(self.states(layout, rng), TRIES * number):
            seen[state] = None
            if len(seen) == number:
                break
        return Pictures(self.scene(layout), tuple(seen), _DrawnStates(self, layout))

    def depends_on(self) -> Mapping[str, Any]:
        """The layouts and shapes of the lessons, their numbers, and a picture, which tells one theme from another."""
        layout = self.load(*(self.trained_on or self.interrogated)[0])
        frame = self.drawing(layout).frame(layout.initial)
        return {
            "layouts": [self.trained_on, self.shapes],
            "numbers": [STATES_PER_LAYOUT, SYNTHETIC, STATES_PER_BOARD, TRIES],
            "theme": hashlib.sha256(repr(frame.shape).encode() + frame.tobytes()).hexdigest(),
        }


class _DrawnStates:
    """Draws states of a layout; the drawing is set up with the first of them, in the process that needs it."""

    def __init__(self, domain: BoardDomain, layout: Layout) -> None:
        self._domain, self._layout = domain, layout
        self._drawing: Drawing | None = None

    def __call__(self, state: State) -> Frame:
        """The image, uint8 (H, W, 3)."""
        if self._drawing is None:
            self._drawing = self._domain.drawing(self._layout)
        return self._drawing.frame(state.true)


def _parameters(types: tuple[str, ...]) -> tuple[str, ...]:
    stems = ["thing" if kind == ROOT_TYPE else kind for kind in types]
    return tuple(
        stem if stems.count(stem) == 1 else f"{stem}{stems[: place + 1].count(stem)}"
        for place, stem in enumerate(stems)
    )

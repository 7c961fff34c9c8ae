"""A board domain: what the toolkit knows of one of PDDLGym's domains that is seen in images.

Types, predicates, instructions and controls are derived from PDDLGym's PDDL. What has to be said is where the truth
of every predicate comes from, what the board of a problem looks like, and which problems serve for what.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from aam_vision.agents.perception import (
    Constraint,
    Frame,
    Percept,
    Reading,
    Scene,
    VisualVocabulary,
    no_sights,
)
from aam_vision.envs.image_domain import NativeStep, Pictures, Problem
from aam_vision.envs.pddlgym_files import Declarations, declarations
from aam_vision.envs.rendering import Tiles
from aam_vision.envs.sources import Source, entries
from aam_vision.model.strips import ROOT_TYPE, ActionHeader, Atom, GroundAction, Model, Objects, State
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.envs.board_env import Instructed
    from aam_vision.envs.pddlgym_world import World

SHAPES = ((6, 7), (8, 8), (9, 6), (7, 10), (8, 11), (12, 7))
"""Shapes (rows, columns) of random boards: small and large ones, because sprites shrink on large boards."""


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
        has_chance: whether some operator has several outcomes.
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
    has_chance: bool = False
    round_steps: int = 800

    @property
    def declared(self) -> Declarations:
        """The declarations of the PDDL.

        Raises:
            UnusableInput: PDDLGym is not installed.
        """
        return declarations(self.name)

    @property
    def gym_id(self) -> str:
        """The id of the Gymnasium environment."""
        return f"aam_vision/{self.name.capitalize()}-v0"

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        """The agent's instructions: PDDLGym's operators."""
        return self.declared.headers

    @property
    def native(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """Instruction -> the verb of its native action, and which of its parameters that takes."""
        return self.declared.native or {name: (name, taken) for name, taken in self.named.items()}

    @cached_property
    def visual(self) -> VisualVocabulary:
        """The user's vocabulary: PDDLGym's predicates, each with the source of its truth."""
        return VisualVocabulary(
            self.name,
            entries(self.name, self.declared.predicates, self.sources, self.auxiliary),
            self.declared.types,
            self.may_vanish,
            self.sights,
            self.constraints,
        )

    def load(self, split: str, index: int) -> Layout:
        """A problem of PDDLGym's; UnusableInput if there is none of that split and number."""
        from aam_vision.envs.pddlgym_domains import load_layout

        return load_layout(self.name, split, index)

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
        verbs = {verb.name: verb.types for verb in self.declared.verbs} or {
            header.name: tuple(header.types[position] for position in self.named[header.name])
            for header in self.headers
        }
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

        return World(layout, self.named)

    def simulator(
        self, problem: Problem, *, controls: bool = False, chance: np.random.Generator | None = None
    ) -> Instructed:
        """A problem, ready to be instructed, or to be given controls; UnusableInput if there is none of that name.

        ``chance``: what its chance is drawn from, whatever state is gone back to; None: its own generator.
        """
        import gymnasium

        from aam_vision.envs.board_env import Controlled, Instructed

        split, index = problem
        options: dict[str, Any] = {"problem": index, "split": split, "render_mode": "rgb_array"}
        env = gymnasium.make(self.gym_id, disable_env_checker=True, **options)
        simulator = (Controlled if controls else Instructed)(env)
        if chance is not None:
            simulator.board.np_random = chance
        return simulator

    def stand_in(self) -> None:
        """None: there are classifiers."""

    def truth(self) -> Model:
        """PDDLGym's own model, for evaluation only: in the user's vocabulary, without action literals."""
        from aam_vision.envs.pddlgym_domains import domain_operators

        return Model(self.visual.vocabulary(), domain_operators(self.name))

    def chance_truth(self) -> Model:
        """PDDLGym's own model with its outcomes, for evaluation only."""
        from aam_vision.envs.pddlgym_files import chance_model

        return chance_model(self.name)

    def held_out_states(self, look: Callable[[Frame, Scene], Percept]) -> list[State]:
        """The initial states of the held-out problems, for evaluation only: PDDLGym's own, which need no image."""
        layouts = [self.load(*problem) for problem in self.held_out]
        return [State(layout.initial, layout.objects) for layout in layouts]

    def held_out_steps(self, count: int, rng: np.random.Generator) -> list[NativeStep]:
        """Steps of held-out problems, for evaluation only: half from walks, half from legal states at random."""
        from aam_vision.envs.sampling import held_out_steps

        return held_out_steps(self, count, rng)

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

    def lessons(self, rng: np.random.Generator, fewer: int = 1) -> list[Pictures]:
        """States to learn from; no layout outside of ``trained_on`` is touched."""
        from aam_vision.envs.sampling import lessons

        return lessons(self, rng, fewer)

    def examinations(self, states: int, seed: int) -> Mapping[str, list[Pictures]]:
        """``unseen``: states of layouts that classifiers never train on; ``interrogated``: of those asked about."""
        from aam_vision.envs.sampling import examination

        asked = dict.fromkeys(self.held_out + self.interrogated)
        unseen = [problem for problem in asked if problem not in self.trained_on]
        return {
            "unseen": examination(self, unseen, states, seed),
            "interrogated": examination(self, self.interrogated, states, seed + 1),
        }

    def example(self, rng: np.random.Generator, shape: tuple[int, int], number: int) -> Pictures:
        """Up to ``number`` states of a random board of a shape."""
        from aam_vision.envs.sampling import random_board

        return random_board(self, rng, shape, number)

    def depends_on(self) -> Mapping[str, Any]:
        """The layouts and shapes of the lessons, their numbers, and a picture, which tells one theme from another."""
        from aam_vision.envs import sampling

        layout = self.load(*(self.trained_on or self.interrogated)[0])
        frame = self.drawing(layout).frame(layout.initial)
        return {
            "layouts": [self.trained_on, self.shapes],
            "numbers": [
                sampling.STATES_PER_LAYOUT,
                sampling.SYNTHETIC,
                sampling.STATES_PER_BOARD,
                sampling.TRIES,
            ],
            "theme": hashlib.sha256(repr(frame.shape).encode() + frame.tobytes()).hexdigest(),
        }


def _parameters(types: tuple[str, ...]) -> tuple[str, ...]:
    stems = ["thing" if kind == ROOT_TYPE else kind for kind in types]
    return tuple(
        stem if stems.count(stem) == 1 else f"{stem}{stems[: place + 1].count(stem)}"
        for place, stem in enumerate(stems)
    )

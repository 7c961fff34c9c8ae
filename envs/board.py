"""What all board domains share: problems, the description of a domain, and facts kept per scene."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aam_vision.envs.rendering import BoardRenderer, Codes, board_renderer
from aam_vision.perception import Frame, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects

T = TypeVar("T")

Problem = tuple[str, int]
"""A split and the number of a problem in it, from 0."""


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


@dataclass(frozen=True)
class BoardDomain:
    """All that the toolkit knows of one image domain; a further domain is one more of these.

    Args:
        name: PDDLGym's name of the domain, and ours.
        gym_id: the id of its Gymnasium environment.
        visual: the user's vocabulary, with the source of every predicate's truth.
        headers: the agent's instructions: PDDLGym's operators.
        verbs: native actions: PDDLGym's action predicate -> the type of its one argument.
        native: instruction name -> its verb, and which of its parameters the verb takes.
        interrogated: the problems that are interrogated together.
        held_out: the problems on which what was learned is evaluated.
        trained_on: the problems whose layouts classifiers may be trained on.
        scene: what the user points out about a problem.
        painter: for a problem, a function from its changeable (or all) atoms to the board to draw.
        cell_of: what PDDLGym's ``build_layout`` has in a cell of a given code.
        sampler: the module that makes random states (``sample``) and boards (``synthesize``).
    """

    name: str
    gym_id: str
    visual: VisualVocabulary
    headers: tuple[ActionHeader, ...]
    verbs: Mapping[str, str]
    native: Mapping[str, tuple[str, int]]
    interrogated: tuple[Problem, ...]
    held_out: tuple[Problem, ...]
    trained_on: tuple[Problem, ...]
    scene: Callable[[Layout], Scene]
    painter: Callable[[Layout], Callable[[frozenset[Atom]], Codes]]
    cell_of: Callable[[int], Any]
    sampler: str

    def load(self, split: str, index: int) -> Layout:
        """A problem of PDDLGym's; UnusableInput if there is none of that split and number."""
        from aam_vision.envs.pddlgym_bridge import load_layout

        return load_layout(self.name, split, index)

    def native_actions(self, layout: Layout) -> tuple[GroundAction, ...]:
        """What the agent's own controls are in a problem, in the order of the environment's actions."""
        return tuple(
            GroundAction(verb, (name,))
            for verb, kind in self.verbs.items()
            for name in layout.objects.of_type(kind)
        )


class Picture:
    """Draws the states of one layout."""

    def __init__(self, domain: BoardDomain, layout: Layout) -> None:
        scene = domain.scene(layout)
        self._renderer: BoardRenderer = board_renderer(domain.name, scene.rows, scene.columns, domain.cell_of)
        self._paint = domain.painter(layout)
        self.shape = self._renderer.shape

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""
        return self._renderer.frame(self._paint(atoms))


class PerScene(Generic[T]):
    """A function of a scene, computed once for each of the latest scenes.

    Scenes hold dictionaries and so cannot be hashed: they are told apart by identity, and kept alive
    while remembered.
    """

    def __init__(self, compute: Callable[[Scene], T], keep: int = 32) -> None:
        self._compute, self._keep = compute, keep
        self._known: OrderedDict[int, tuple[Scene, T]] = OrderedDict()

    def __call__(self, scene: Scene) -> T:
        known = self._known.get(id(scene))
        if known is None:
            known = self._known[id(scene)] = (scene, self._compute(scene))
            if len(self._known) > self._keep:
                self._known.popitem(last=False)
        return known[1]

"""What all image domains share: problems, the description of a domain, and facts kept per scene."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from aam_vision.envs.rendering import Codes, board_renderer
from aam_vision.perception import Frame, Scene, VisualVocabulary
from aam_vision.strips import ActionHeader, Atom, GroundAction, Objects

if TYPE_CHECKING:
    from aam_vision.envs.pddlgym_world import World

T = TypeVar("T")

Problem = tuple[str, int]
"""A split and the number of a problem in it, from 0."""

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


class Drawing(Protocol):
    """Draws the states of one problem, pixel for pixel as PDDLGym does."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of every frame of the problem."""
        ...

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""
        ...


@dataclass(frozen=True)
class BoardDomain:
    """All that the toolkit knows of one image domain; a further domain is one more of these.

    Args:
        name: our name of the domain, which is PDDLGym's, but for its ``_operator_actions``.
        gym_id: the id of its Gymnasium environment.
        visual: the user's vocabulary, with the source of every predicate's truth.
        headers: the agent's instructions: PDDLGym's operators.
        controls: a problem's native actions, in the environment's order: verbs with their arguments. A verb
            is one of PDDLGym's action predicates; or an operator, where those are the actions, with
            the arguments that the state does not settle.
        native: instruction name -> its verb, and which of its parameters the verb takes.
        interrogated: the problems that are interrogated together.
        held_out: the problems on which what was learned is evaluated.
        trained_on: the problems whose layouts classifiers may be trained on.
        scene: what the user points out about a problem.
        drawing: what draws the states of a problem.
        sampler: the module that makes random states (``sample``) and boards (``synthesize``).
        shapes: shapes (rows, columns) of the random boards to train classifiers on.
    """

    name: str
    gym_id: str
    visual: VisualVocabulary
    headers: tuple[ActionHeader, ...]
    controls: Callable[[Layout], tuple[GroundAction, ...]]
    native: Mapping[str, tuple[str, tuple[int, ...]]]
    interrogated: tuple[Problem, ...]
    held_out: tuple[Problem, ...]
    trained_on: tuple[Problem, ...]
    scene: Callable[[Layout], Scene]
    drawing: Callable[[Layout], Drawing]
    sampler: str
    shapes: tuple[tuple[int, int], ...] = SHAPES

    def load(self, split: str, index: int) -> Layout:
        """A problem of PDDLGym's; UnusableInput if there is none of that split and number."""
        from aam_vision.envs.pddlgym_domains import load_layout

        return load_layout(self.name, split, index)

    def native_actions(self, layout: Layout) -> tuple[GroundAction, ...]:
        """What the agent's own controls are in a problem, in the order of the environment's actions."""
        return self.controls(layout)

    def world(self, layout: Layout) -> World:
        """A problem in PDDLGym's simulator."""
        from aam_vision.envs.pddlgym_world import World

        return World(layout, {name: taken for name, (verb, taken) in self.native.items() if name == verb})


def one_of(verbs: Mapping[str, str]) -> Callable[[Layout], tuple[GroundAction, ...]]:
    """Controls that take one object each: verb -> the type of its argument."""

    def controls(layout: Layout) -> tuple[GroundAction, ...]:
        return tuple(
            GroundAction(verb, (name,))
            for verb, kind in verbs.items()
            for name in layout.objects.of_type(kind)
        )

    return controls


class Tiles:
    """Draws a problem whose picture is a board of sprites, with the renderer of the board's shape.

    Args:
        scene: says how large the board is.
        domain: PDDLGym's name of the domain.
        paint: a function from changeable (or all) atoms to the board to draw.
        cell_of: what PDDLGym's ``build_layout`` has in a cell of a given code.
    """

    def __init__(
        self,
        scene: Scene,
        domain: str,
        paint: Callable[[frozenset[Atom]], Codes],
        cell_of: Callable[[int], Any],
    ) -> None:
        self._renderer = board_renderer(domain, scene.rows, scene.columns, cell_of)
        self._paint = paint
        self.shape = self._renderer.shape

    def frame(self, atoms: frozenset[Atom]) -> Frame:
        """The picture of a legal state, uint8 (H, W, 3); its unchangeable atoms may be left out."""
        return self._renderer.frame(self._paint(atoms))


def Picture(domain: BoardDomain, layout: Layout) -> Drawing:  # noqa: N802 - it makes one
    """What draws the states of one layout."""
    return domain.drawing(layout)


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

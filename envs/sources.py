"""Where the truth of a predicate comes from, said in one line per predicate.

A *source* makes the entry of a visual vocabulary for a predicate that is declared elsewhere: in a PDDL file, or in
PDDL's notation as a key of ``vocabulary``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from aam_vision.agents.perception import (
    Box,
    Cell,
    Constraint,
    Defined,
    Entry,
    Given,
    Perceived,
    Reading,
    Scene,
    VisualVocabulary,
)
from aam_vision.envs.grids import STEPS, grid_scene, neighbours, places_by_cell
from aam_vision.envs.meaning import predicate as declared
from aam_vision.model.strips import Atom, Objects, Predicate, State, Types
from aam_vision.support.errors import UnusableInput
from aam_vision.support.recent import PerObject

Source = Callable[[Predicate], Entry | tuple[Entry, ...]]
"""Makes the entry of a predicate, and those of the auxiliary predicates that it is defined over."""

Truths = tuple[Iterable[Atom], Iterable[Atom]]
"""The atoms that are true, and those that are unknown."""


def there(head: str, description: str, *, hidden_by: str | None = None, auxiliary: bool = False) -> Source:
    """p(place): the classifier ``head`` is asked of the place; see ``perception.Perceived``."""
    return _perceived(Reading.THERE, {"": head}, description, hidden_by, auxiliary)


def on(head: str, description: str, *, auxiliary: bool = False) -> Source:
    """p(thing): the classifier ``head`` is asked of the cell where the thing is."""
    return _perceived(Reading.ON, {"": head}, description, None, auxiliary)


def where(looks: Sequence[str], description: str, *, auxiliary: bool = False) -> Source:
    """p(thing, place): things of these looks are searched by the classifiers of the same names, and followed."""
    return _perceived(Reading.WHERE, {look: look for look in looks}, description, None, auxiliary)


def found(looks: Sequence[str] | Mapping[str, str], description: str) -> Source:
    """p(thing), auxiliary, of scenes without cells: things of these looks are searched in the picture.

    ``looks``: with the type of the things that have each, where the vocabulary speaks of things of several types.
    """
    kinds = looks if isinstance(looks, Mapping) else {}
    heads = {look: f"found-{look}" for look in looks}
    return lambda predicate: Perceived(predicate, Reading.FOUND, heads, description, None, True, kinds)


def shown(head: str, description: str, *, auxiliary: bool = False) -> Source:
    """p(), p(thing) or p(one, other), of scenes without cells: ``head`` is asked of the picture, about the things found."""
    return _perceived(Reading.SHOWN, {"": head}, description, None, auxiliary)


def _perceived(
    reading: Reading, heads: Mapping[str, str], description: str, hidden_by: str | None, auxiliary: bool
) -> Source:
    return lambda predicate: Perceived(predicate, reading, heads, description, hidden_by, auxiliary)


def defined(define: Callable[[Scene, State], Truths], description: str) -> Source:
    """A function of the scene and of what is perceived; see ``perception.Defined``."""
    return lambda predicate: Defined(predicate, define, description)


def given(description: str) -> Source:
    """Facts that the user states for each problem."""
    return lambda predicate: Given(predicate, description)


def _of_scene(rows: Callable[[Predicate, Scene], Iterable[tuple[str, ...]]], description: str) -> Source:
    """A predicate whose facts follow from the scene alone: worked out once for each."""

    def source(predicate: Predicate) -> Defined:
        def atoms(scene: Scene) -> list[Atom]:
            return [Atom(predicate.name, objects) for objects in rows(predicate, scene)]

        known = PerObject(atoms)
        return Defined(predicate, lambda scene, seen: (known(scene), []), description)

    return source


def named(holds: Callable[[str], bool], description: str) -> Source:
    """p(object): true of the objects whose names satisfy a condition."""

    def rows(predicate: Predicate, scene: Scene) -> list[tuple[str, ...]]:
        return [(name,) for name in scene.objects.of_type(predicate.types[0]) if holds(name)]

    return _of_scene(rows, description)


def of_look(look: str, description: str) -> Source:
    """p(thing): true of the things of a look, which the user points out with the scene."""
    return _of_scene(
        lambda predicate, scene: [(thing,) for thing, own in scene.looks.items() if own == look], description
    )


def always(facts: Iterable[tuple[str, ...]], description: str) -> Source:
    """True of these objects in every problem, and of no others."""
    kept = tuple(facts)
    return _of_scene(lambda predicate, scene: kept, description)


def adjacent(description: str, steps: Mapping[str, tuple[int, int]] = STEPS) -> Source:
    """p(place, next place, direction): neighbouring cells; ``steps`` gives each direction's (down, right)."""
    return _of_scene(lambda predicate, scene: neighbours(places_by_cell(scene), steps), description)


def nowhere(searched: str, description: str, of: str | None = None) -> Source:
    """p(thing): the thing is at no place, by the facts of ``searched(thing, place)``; p(): some thing is not.

    ``of``: the type of the things that p() speaks of, where the scene has others, too.
    """

    def holds(predicate: Predicate, scene: Scene, few: Facts, many: Facts) -> Rows:
        kind = predicate.types[0] if predicate.types else of
        here = {row[0] for row in many(searched)}
        things = scene.objects.of_type(kind) if kind else scene.looks
        return {(thing,)[: len(predicate.types)] for thing in things if thing not in here}

    return _over(holds, description)


def some(fact: str, description: str, argument: int | None = None) -> Source:
    """p(): something has a fact of the predicate ``fact``; p(object): it is the argument of that number, from 1, of one."""
    place = slice(0, 0) if argument is None else slice(argument - 1, argument)
    return _over(lambda predicate, scene, few, many: {row[place] for row in few(fact)}, description)


def every(fact: str, among: str, description: str) -> Source:
    """p(): ``fact`` is true of all objects of the type ``among``, or of which the predicate ``among`` is true."""

    def holds(predicate: Predicate, scene: Scene, few: Facts, many: Facts) -> Rows:
        wanted = {(name,) for name in scene.objects.of_type(among)} or many(among)
        return {()} if wanted <= few(fact) else set()

    return _over(holds, description)


def at_least(number: int, fact: str, description: str) -> Source:
    """p(): there are at least so many facts of the predicate ``fact``."""
    return _over(lambda predicate, scene, few, many: {()} if len(few(fact)) >= number else set(), description)


def together(one: str, other: str, description: str) -> Source:
    """p(): something is where something else is, by the last arguments of ``one`` and ``other``; p(a, b): these two are."""

    def holds(predicate: Predicate, scene: Scene, few: Facts, many: Facts) -> Rows:
        met = [(a, b) for a, b in product(few(one), few(other)) if a[-1] == b[-1] and (one, a) != (other, b)]
        return {(a[0], b[0])[: len(predicate.types)] for a, b in met}

    return _over(holds, description)


Rows = set[tuple[str, ...]]
"""The objects of the atoms of a predicate."""
Facts = Callable[[str], Rows]


def _over(holds: Callable[[Predicate, Scene, Facts, Facts], Rows], description: str) -> Source:
    """A predicate over the facts of others: true of what ``holds`` gives of the certain facts and of these with the unknown ones.

    The first ones speak for it, the second ones against it. The other way round they give what may be true.
    """

    def source(predicate: Predicate) -> Defined:
        def define(scene: Scene, seen: State) -> Truths:
            few, many = seen.certain, seen.possible
            true, perhaps = holds(predicate, scene, few, many), holds(predicate, scene, many, few)
            atoms = [[Atom(predicate.name, row) for row in sorted(rows)] for rows in (true, perhaps - true)]
            return atoms[0], atoms[1]

        return Defined(predicate, define, description, over_all=True)

    return source


def somewhere(heads: Sequence[str], place: str, description: str) -> Source:
    """p(object): the classifier that is called like the object says yes to some place.

    The classifiers are those of auxiliary predicates ``p-HEAD(place)``.

    Args:
        heads: names of objects, and of their classifiers.
        place: the type of the places.
        description: with ``{}`` for the head.
    """

    def source(predicate: Predicate) -> tuple[Entry, ...]:
        def define(scene: Scene, seen: State) -> Truths:
            true: list[Atom] = []
            unknown: list[Atom] = []
            for head in heads:
                values = [seen.value(Atom(f"{predicate.name}-{head}", (at,))) for at in scene.cells]
                if True in values or None in values:
                    (true if True in values else unknown).append(Atom(predicate.name, (head,)))
            return true, unknown

        asked = [there(head, description.format(head), auxiliary=True) for head in heads]
        auxiliary = [Predicate(f"{predicate.name}-{head}", (place,)) for head in heads]
        return (
            Defined(predicate, define, description.format("that way")),
            *flat(each(own) for each, own in zip(asked, auxiliary, strict=True)),
        )

    return source


def cyclic(order: Sequence[str], description: str) -> Source:
    """p(object, next object): the next one in this order, and the first one after the last."""
    return always(zip(order, [*order[1:], order[0]], strict=True), description)


def flat(made: Iterable[Entry | tuple[Entry, ...]]) -> list[Entry]:
    """The entries that sources have made."""
    return [entry for own in made for entry in (own if isinstance(own, tuple) else (own,))]


def vocabulary(
    name: str,
    types: Mapping[str, str],
    sources: Mapping[str, Source],
    *,
    constraints: Sequence[Constraint] = (),
    **more: Any,
) -> VisualVocabulary:
    """A visual vocabulary whose predicates are declared in PDDL's notation.

    Args:
        name: of the vocabulary.
        types: the type hierarchy, each type with its parent; ``object`` is the root.
        sources: declaration, such as ``lies ?k - key ?at - cell`` -> the source of its truth.
        constraints: what no picture shows; see ``VisualVocabulary``.
        more: the other fields of ``VisualVocabulary``.

    Raises:
        UnusableInput: a declaration is not one.
    """
    entries = flat(source(declared(text)) for text, source in sources.items())
    return VisualVocabulary(name, tuple(entries), Types(types), constraints=tuple(constraints), **more)


def entries(
    domain: str,
    predicates: Iterable[Predicate],
    sources: Mapping[str, Source],
    auxiliary: Mapping[str, Source],
) -> tuple[Entry, ...]:
    """The entries of declared predicates, in their order, then the auxiliary ones.

    Raises:
        UnusableInput: a predicate has no source, or a source no predicate.
    """
    by_name = {predicate.name: predicate for predicate in predicates}
    if wrong := sorted(by_name.keys() ^ sources.keys()):
        raise UnusableInput(f"{domain}: give exactly one source for each predicate of its PDDL: {wrong[0]}")
    stated = flat(sources[name](predicate) for name, predicate in by_name.items())
    return (*stated, *flat(source(declared(text)) for text, source in auxiliary.items()))


# Common parts of all piles: things on top of each other, read off the levels where they are seen.
#
# Blocks and Hanoi show piles from the side. The perceived part is ``seen-at(thing, spot)``; what lies on what, and
# what is clear, is defined over it. Where a thing cannot be told apart, all that depends on it is unknown.


SEEN_AT: Final = "seen-at"


def pile_scene(
    objects: Objects, things: Sequence[str], look: str, spots: Mapping[str, Cell], box: Callable[[Cell], Box]
) -> Scene:
    """The scene of things of one look at the levels of piles; ``box`` says where in the image a level is."""
    return replace(
        grid_scene(objects, spots, looks=dict.fromkeys(things, look)),
        spots=Objects({**dict.fromkeys(things, look), **dict.fromkeys(spots, "spot")}, Types({})),
        boxes={cell: box(cell) for cell in spots.values()},
    )


def seen_at(look: str, description: str) -> Mapping[str, Source]:
    """The auxiliary predicate that says at which spot each thing is seen."""
    return {f"{SEEN_AT} ?thing - {look} ?at - spot": where((look,), description, auxiliary=True)}


def seen_in_pile(bottom: str, pile: int, lying: Mapping[str, str]) -> list[Atom]:
    """At which levels the things of a pile are seen; ``lying`` gives the thing on top of another one."""
    found, level, thing = [], 0, bottom
    while True:
        found.append(Atom(SEEN_AT, (thing, spot(pile, level))))
        if thing not in lying:
            return found
        level, thing = level + 1, lying[thing]


def spot(pile: int, level: int) -> str:
    """The name of a level (from 0, the lowest) of a pile (from 0, the leftmost)."""
    return f"pile-{pile}-level-{level}"


def above(name: str) -> str | None:
    """The next spot up; None for what is not a level of a pile."""
    return _beside(name, 1)


def below(name: str) -> str | None:
    """The next spot down; None on the lowest level, and for what is not a level of a pile."""
    return _beside(name, -1)


def _beside(name: str, step: int) -> str | None:
    if not name.startswith("pile-"):
        return None
    _, pile, _, level = name.split("-")
    return spot(int(pile), int(level) + step) if int(level) + step >= 0 else None


@dataclass(frozen=True)
class Piles:
    """Who is seen where.

    Attributes:
        places: thing -> spot, for those that are told apart.
        things: spot -> thing, the other way round.
        lost: things that are not told apart.
        doubtful: spots where one of these may be.
    """

    places: Mapping[str, str]
    things: Mapping[str, str]
    lost: tuple[str, ...]
    doubtful: frozenset[str]

    @classmethod
    def of(cls, seen: State) -> Piles:
        """The piles in what is seen."""
        unknown = [a.objects for a in seen.unknown if a.predicate == SEEN_AT]
        found = sorted(atom.objects for atom in seen.true if atom.predicate == SEEN_AT)
        places = {objects[0]: objects[1] for objects in found}
        return cls(
            places,
            {place: thing for thing, place in places.items()},
            tuple(sorted({thing for thing, _ in unknown})),
            frozenset(place for _, place in unknown),
        )

    def on(self, bottoms: Mapping[str, str]) -> Truths:
        """``on(thing, what is right below it)``; ``bottoms`` names what is below a lowest level, if anything."""
        everything = [*self.places, *self.lost, *bottoms.values()]
        true, unknown = [], []
        for thing, place in self.places.items():
            under = below(place)
            if under is None:
                if place in bottoms:
                    true.append(Atom("on", (thing, bottoms[place])))
            elif under in self.things:
                true.append(Atom("on", (thing, self.things[under])))
            elif under in self.doubtful:
                unknown += [Atom("on", (thing, other)) for other in self.lost]
        unknown += [
            Atom("on", (thing, other)) for thing in self.lost for other in everything if other != thing
        ]
        return true, unknown

    def free(self, tops: Mapping[str, str | None]) -> Truths:
        """``clear(thing)`` for everything with no thing at the spot above it; None where there is no such spot.

        ``tops`` gives the spot above everything that is told apart.
        """
        true, unknown = [], []
        for thing, over in tops.items():
            if over in self.doubtful:
                unknown.append(Atom("clear", (thing,)))
            elif over not in self.things:
                true.append(Atom("clear", (thing,)))
        return true, unknown + [Atom("clear", (thing,)) for thing in self.lost]

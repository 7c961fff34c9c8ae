"""Which classifiers a network for pictures has, and how its answers lie one after the other; nothing here needs torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aam_vision.agents.perception import Reading, Scene, VisualVocabulary
from aam_vision.model.strips import Atom
from aam_vision.support.errors import UnusableInput

AREA: Final = 128 * 128
"""Pixels of a picture as the network sees it: more of them show smaller things, and take longer."""

STEP: Final = 8
"""The sides of such a picture are multiples of this."""

Size = tuple[int, int]
"""Height and width in pixels."""


@dataclass(frozen=True)
class CameraPlan:
    """The classifiers of a network for pictures.

    Its answers to one picture are one row: whether each look is found, then ``alone``, then for each look ``single``,
    then for each look and each other look ``pairs``.

    Attributes:
        looks: names of the looks, in the order of their classifiers.
        found: the classifier of each look: whether a thing of that look is found.
        alone: classifiers of the whole picture.
        single: classifiers of one thing.
        pairs: classifiers of two things in order.
    """

    looks: tuple[str, ...]
    found: tuple[str, ...]
    alone: tuple[str, ...]
    single: tuple[str, ...]
    pairs: tuple[str, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """All classifiers."""
        return (*self.found, *self.alone, *self.single, *self.pairs)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many answers to one picture are about looks, about the whole of it, about one thing, and about two."""
        looks = len(self.looks)
        return looks, len(self.alone), looks * len(self.single), looks**2 * len(self.pairs)

    @property
    def size(self) -> int:
        """The number of answers to one picture."""
        return sum(self.sizes)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """Where the answers of every classifier lie in a row: one, one for each look, or one for each look and each other look."""
        found: dict[str, Sequence[int]] = {head: [number] for number, head in enumerate(self.found)}
        begin = 0
        parts = zip((self.alone, self.single, self.pairs), self.sizes, self.sizes[1:], strict=False)
        for heads, before, size in parts:
            begin += before
            for number, head in enumerate(heads):
                found[head] = list(range(begin + number, begin + size, len(heads)))
        return found

    def place(self, head: str, *looks: str) -> int:
        """Where the answer of a classifier about things of these looks lies."""
        number = 0
        for look in looks:
            number = number * len(self.looks) + self.looks.index(look)
        return self.places[head][number]


def plan_of(described: Mapping[str, Any]) -> CameraPlan:
    """The plan for a vocabulary as ``store.describe`` gives it; UnusableInput if its predicates cannot be read off pictures."""
    name = described.get("name")
    found: dict[str, str] = {}
    heads: dict[int, list[str]] = {0: [], 1: [], 2: []}
    for predicate, facts in described["predicates"].items():
        kind, arity = facts.get("reading"), len(facts["types"])
        if kind == Reading.FOUND.value:
            if not facts.get("auxiliary") or arity != 1 or found:
                raise UnusableInput(
                    f"vocabulary {name}: {predicate} says which things are found: let there be one such "
                    f"predicate, auxiliary and of one thing"
                )
            found = dict(facts["heads"])
        elif kind == Reading.SHOWN.value:
            if arity not in heads or list(facts["heads"]) != [""]:
                raise UnusableInput(
                    f"vocabulary {name}: {predicate} is read off pictures: give it two things at most, and one classifier"
                )
            heads[arity].append(facts["heads"][""])
    if not found:
        raise UnusableInput(
            f"vocabulary {name}: no entry says by which looks things are found; add Perceived(..., Reading.FOUND, ...)"
        )
    if len(set(every := [*found.values(), *heads[0], *heads[1], *heads[2]])) < len(every):
        raise UnusableInput(
            f"vocabulary {name}: two entries have a classifier of the same name; give each its own"
        )
    return CameraPlan(tuple(found), tuple(found.values()), *[tuple(heads[arity]) for arity in (0, 1, 2)])


def seen_size(height: int, width: int) -> Size:
    """The size in which the network sees pictures of this one: the same proportions, about ``AREA`` pixels."""
    scale = (AREA / (height * width)) ** 0.5
    across, down = (max(STEP, round(side * scale / STEP) * STEP) for side in (width, height))
    return down, across


# The answers of the network laid out over the ground atoms of one scene.


class SceneAtoms:
    """What classifiers are asked about the things of a scene.

    Args:
        vocabulary: with the predicates.
        plan: how the answers lie.
        scene: with the things.
        known_as: the look of ``plan`` by which each thing is found, if that is not its own.

    Attributes:
        atoms: all perceived atoms of the scene, auxiliary ones included, less those that name a thing twice.
        heads: the classifier of each, an index into ``vocabulary.cell_heads()``.
        answers: where the answer about each lies in a row of the network's; 0 where nothing can be asked.
        askable: whether the network can be asked about each: about things whose look it knows, and no other thing has.
        about: (things, atoms) whether an atom speaks of a thing; not of the atom that says whether it is found.
        found: per thing, the number of the atom that says whether it is found.
        things: the things that are to be found, in the order of the scene.
        looks: per thing, the number of its look in the plan; -1 if the plan has none.

    Raises:
        UnusableInput: the scene has cells, or nothing in it has a look.
    """

    def __init__(
        self,
        vocabulary: VisualVocabulary,
        plan: CameraPlan,
        scene: Scene,
        known_as: Mapping[str, str] | None = None,
    ) -> None:
        if scene.cells:
            raise UnusableInput(
                f"vocabulary {vocabulary.name} is read off pictures without cells: describe its scenes by "
                f"Scene.of_things"
            )
        self.vocabulary, self.plan, self.scene = vocabulary, plan, scene
        found_by = scene.looks if known_as is None else known_as
        alike = Counter(found_by.values())
        rows: list[tuple[Atom, int, int, bool]] = []
        found: dict[str, int] = {}
        for entry in vocabulary.perceived:
            objects = scene.objects_of(entry)
            for things in permutations(tuple(objects), len(entry.predicate.types)):
                kinds = zip(things, entry.predicate.types, strict=True)
                if any(thing not in objects.members(kind) for thing, kind in kinds):
                    continue
                looks = [found_by.get(thing, "") for thing in things]
                known = all(look in plan.looks and alike[look] == 1 for look in looks)
                if entry.reading is Reading.FOUND:
                    own = scene.looks.get(things[0], "")
                    head = entry.heads.get(own, next(iter(entry.heads.values())))
                    place = plan.looks.index(looks[0]) if known else 0
                    found[things[0]] = len(rows)
                else:
                    head = entry.heads[""]
                    place = plan.place(head, *looks) if known else 0
                rows.append((Atom(entry.predicate.name, things), vocabulary.rows[head], place, known))
        if not found:
            raise UnusableInput(
                "nothing in the scene has a look by which it could be found: give Scene.looks"
            )
        self.atoms: tuple[Atom, ...]
        self.atoms, heads, answers, askable = zip(*rows, strict=True)
        self.heads = np.array(heads, np.intp)
        self.answers = np.array(answers, np.intp)
        self.askable: NDArray[np.bool_] = np.array(askable, bool)
        self.things = tuple(found)
        self.found = np.array(list(found.values()), np.intp)
        about = [[thing in atom.objects for atom in self.atoms] for thing in self.things]
        self.about: NDArray[np.bool_] = np.array(about, bool)
        self.about[:, self.found] = False
        numbers = {look: index for index, look in enumerate(plan.looks)}
        self.looks = np.array([numbers.get(found_by.get(thing, ""), -1) for thing in self.things], np.intp)

    def blind(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(atoms,): those that speak of a thing which is not among those found, (things,), or that cannot be asked."""
        return self.about[~found].any(0) | ~self.askable

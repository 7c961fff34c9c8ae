"""The answers of the network laid out over the ground atoms of one scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from aam_vision.classifiers.camera.plan import CameraPlan
from aam_vision.errors import UnusableInput
from aam_vision.perception import Perceived, Reading, Scene, VisualVocabulary
from aam_vision.strips import Atom


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
        number = {head: index for index, head in enumerate(vocabulary.cell_heads())}
        found_by = scene.looks if known_as is None else known_as
        alike = Counter(found_by.values())
        atoms: list[Atom] = []
        heads: list[int] = []
        answers: list[int] = []
        askable: list[bool] = []
        found: dict[str, int] = {}
        for entry in (entry for entry in vocabulary.entries if isinstance(entry, Perceived)):
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
                    found[things[0]] = len(atoms)
                else:
                    head = entry.heads[""]
                    place = plan.place(head, *looks) if known else 0
                atoms.append(Atom(entry.predicate.name, things))
                heads.append(number[head])
                answers.append(place)
                askable.append(known)
        if not found:
            raise UnusableInput(
                "nothing in the scene has a look by which it could be found: give Scene.looks"
            )
        self.atoms = tuple(atoms)
        self.heads = np.array(heads, np.intp)
        self.answers = np.array(answers, np.intp)
        self.askable: NDArray[np.bool_] = np.array(askable, bool)
        self.things = tuple(found)
        self.found = np.array(list(found.values()), np.intp)
        self.about: NDArray[np.bool_] = np.array(
            [[thing in atom.objects for atom in atoms] for thing in self.things], bool
        )
        self.about[:, self.found] = False
        numbers = {look: index for index, look in enumerate(plan.looks)}
        self.looks = np.array([numbers.get(found_by.get(thing, ""), -1) for thing in self.things], np.intp)

    def blind(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(atoms,): those that speak of a thing which is not among those found, (things,), or that cannot be asked."""
        hidden: NDArray[np.bool_] = self.about[~found].any(0) | ~self.askable
        return hidden

"""What was perceived, completed to a state: with what the user defined over it and what the user stated."""

from __future__ import annotations

from collections.abc import Iterable

from aam_vision.agents.perception import Defined, Given, Perceived, Scene, VisualVocabulary
from aam_vision.model.strips import Atom, State


class Completion:
    """Makes states of one scene.

    Args:
        vocabulary: its entries say what is defined, stated or auxiliary.
        scene: holds the facts that the user stated.
    """

    def __init__(self, vocabulary: VisualVocabulary, scene: Scene) -> None:
        self._scene = scene
        given = {entry.predicate.name for entry in vocabulary.entries if isinstance(entry, Given)}
        self._given = frozenset(atom for atom in scene.facts if atom.predicate in given)
        self._defined = [entry for entry in vocabulary.entries if isinstance(entry, Defined)]
        self._auxiliary = frozenset(
            entry.predicate.name
            for entry in vocabulary.entries
            if isinstance(entry, Perceived) and entry.auxiliary
        )

    def state(self, true: Iterable[Atom], unknown: Iterable[Atom]) -> State:
        """The state in which these perceived atoms are true and unknown; all other perceived ones are false.

        Raises:
            UnusableInput: a function of the user's raises.
        """
        true, unknown = list(true), set(unknown)
        objects = self._scene.objects
        seen = State(frozenset(true), objects, frozenset(unknown))
        for entry in self._defined:
            if entry.over_all:
                seen = State(self._given.union(true), objects, frozenset(unknown))
            holds, open_ = entry.atoms(self._scene, seen)
            true += holds
            unknown.update(open_)
        if self._auxiliary:
            true = [atom for atom in true if atom.predicate not in self._auxiliary]
            unknown = {atom for atom in unknown if atom.predicate not in self._auxiliary}
        return State(self._given.union(true), objects, frozenset(unknown))

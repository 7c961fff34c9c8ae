"""A goal that stands alone: ``(at robot room-2)``, or a conjunction with ``and`` and ``not``."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from aam_vision.pddl.literals import LiteralReader, Names
from aam_vision.pddl.syntax import Definition, Group, Word, read_group, show
from aam_vision.strips import Atom, Objects, Vocabulary
from aam_vision.wording import some

SHOWN = 12
"""Objects that a message names, at most."""


def read_goal(
    text: str, vocabulary: Vocabulary, objects: Objects, source: str
) -> tuple[frozenset[Atom], frozenset[Atom]]:
    """The atoms that are to be true and those that are to be false.

    Args:
        text: literals, or a conjunction of them.
        vocabulary: its predicates may be used.
        objects: those of the problem, which may be named.
        source: where the text comes from, for messages.

    Raises:
        UnusableInput: the text is something else, names what there is not, or is empty.
    """
    path = Path(source)
    whole = read_group(path, f"(and {text})")
    definition = Definition(path, "goal", Word("goal", whole.line), ())
    names = Names(vocabulary.types, {p.name: p.types for p in vocabulary.predicates}, vocabulary.constants)
    _check_objects(definition, whole, vocabulary, objects)
    literals = list(LiteralReader(definition, names).literals(whole, objects, "the goal"))
    if not literals:
        definition.refuse(whole.line, "the goal is empty; write e.g. '(at robot room-2)'")
    wanted = frozenset(one.atom for one in literals if one.positive)
    return wanted, frozenset(one.atom for one in literals if not one.positive)


def _check_objects(definition: Definition, group: Group, vocabulary: Vocabulary, objects: Objects) -> None:
    """Refuse an object that the problem does not have, and name some that it has: no file declares them."""
    kinds = next((one.types for one in vocabulary.predicates if one.name == group.head), ())
    for part, kind in zip(group.parts[1:], kinds, strict=False):
        if isinstance(part, Word) and part.text not in objects and part.text not in vocabulary.constants:
            own = objects.of_type(kind)
            near = get_close_matches(part.text[:60], own[:1000], n=1)
            there = f"did you mean {show(near[0])}?" if near else f"of type {kind} it has {some(own, SHOWN)}"
            definition.refuse(part.line, f"the problem has no object {show(part)}; {there}")
    for part in group.parts:
        if isinstance(part, Group):
            _check_objects(definition, part, vocabulary, objects)

"""A goal that stands alone: ``(at robot room-2)``, or a conjunction with ``and`` and ``not``."""

from __future__ import annotations

from pathlib import Path

from aam_vision.pddl.literals import LiteralReader, Names
from aam_vision.pddl.syntax import Definition, Word, read_group
from aam_vision.strips import Atom, Objects, Vocabulary


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
    literals = list(LiteralReader(definition, names).literals(whole, objects, "the goal"))
    if not literals:
        definition.refuse(whole.line, "the goal is empty; write e.g. '(at robot room-2)'")
    wanted = frozenset(one.atom for one in literals if one.positive)
    return wanted, frozenset(one.atom for one in literals if not one.positive)

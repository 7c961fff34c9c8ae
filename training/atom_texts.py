"""Atoms as label files have them: ``at(player-01, pos-2-3)``."""

from __future__ import annotations

import re

from aam_vision.errors import UnusableInput
from aam_vision.perception import Perceived, Scene, VisualVocabulary
from aam_vision.strips import Atom

_ATOM = re.compile(r"([\w-]+)\(([\w\s,-]*)\)")


def text_of(atom: Atom) -> str:
    """An atom as it is written in a line."""
    return f"{atom.predicate}({', '.join(atom.objects)})"


def atom_of(visual: VisualVocabulary, scene: Scene, text: str) -> Atom:
    """The atom of a perceived predicate that is written in a line.

    Raises:
        UnusableInput: it is no atom, or names what there is not.
    """
    entries = {e.predicate.name: e for e in visual.entries if isinstance(e, Perceived)}
    match = _ATOM.fullmatch(text.strip())
    if match is None:
        raise UnusableInput(f"{text!r} is no atom: write predicate(object, object)")
    name, objects = match[1], tuple(part.strip() for part in match[2].split(",") if part.strip())
    if name not in entries:
        raise UnusableInput(f"no perceived predicate {name!r}: use one of {', '.join(entries)}")
    kinds = entries[name].predicate.types
    if len(objects) != len(kinds):
        raise UnusableInput(f"{text}: {name} takes {len(kinds)} objects, not {len(objects)}")
    known = scene.objects_of(entries[name])
    for item, kind in zip(objects, kinds, strict=True):
        if item not in known.of_type(kind):
            raise UnusableInput(f"{text}: the problem has no {kind} {item!r}")
    return Atom(name, objects)

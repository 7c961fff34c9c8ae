"""Reading the names of pal tuples: ``clear(?to) in pre of move``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import Location, PalTuple
from aam_vision.support.errors import UnusableInput

_FORM = re.compile(
    r"(?:not\s+)?(?P<name>[^\s()]+)\s*(?:\((?P<arguments>[^()]*)\))?\s+in\s+"
    r"(?:the\s+)?(?P<location>pre|eff|precondition|effect)s?\s+of\s+(?P<action>\S+)"
)


def named(text: str, indexes: Mapping[str, AtomIndex]) -> PalTuple:
    """The pal tuple that a text names; ``indexes`` has the atoms of every action. Raises UnusableInput: it names none; it lists names that would do."""
    shown = repr(text[:80])
    found = _FORM.fullmatch(" ".join(text.lower().split()))
    if found is None:
        raise UnusableInput("write it as 'clear(?to) in pre of move' (pre or eff)", "why", shown)
    index = indexes.get(found["action"])
    if index is None:
        known = ", ".join(list(indexes)[:20])
        raise UnusableInput(f"no action {found['action'][:40]!r}; the actions are {known}", "why", shown)
    arguments = [part for part in re.split(r"[\s,]+", found["arguments"] or "") if part]
    wanted = f"{found['name']}({', '.join(arguments)})"
    parameters = index.header.parameters
    texts = {atom.text(parameters): atom for atom in index.atoms}
    if wanted not in texts:
        near = get_close_matches(wanted, texts, 3, 0.5)
        there = (
            f"; did you mean {' or '.join(near)}?"
            if near
            else f"; its atoms are {', '.join(list(texts)[:8])}"
        )
        raise UnusableInput(f"no {wanted[:60]} in {found['action']}{there}", "why", shown)
    location = Location.PRE if found["location"].startswith("pre") else Location.EFF
    return PalTuple(texts[wanted], found["action"], location)

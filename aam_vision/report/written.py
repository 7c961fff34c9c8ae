"""What a person writes about a model: plans, and the names of pal tuples.

A plan is a file with one step per line, ``(move a b)`` or ``move(a, b)``; a semicolon begins a comment. A pal tuple is named as in
``clear(?to) in pre of move``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.strips import GroundAction, Location, Model, Objects, PalTuple
from aam_vision.support.errors import UnusableInput
from aam_vision.support.files import read_limited
from aam_vision.support.wording import counted

MAX_BYTES = 1_000_000
"""Bytes of a file that is read, at most."""

_STEP = re.compile(r"\(\s*([^\s(),]+)((?:\s+[^\s(),]+)*)\s*\)|([^\s(),]+)\s*\(\s*([^()]*)\)")


def read_plan_file(path: Path, model: Model, objects: Objects) -> tuple[GroundAction, ...]:
    """The steps of a plan, each checked against model and problem. Raises UnusableInput: the file or a line cannot be used; it says which."""
    try:
        text = read_limited(path, MAX_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"cannot read {path} ({getattr(error, 'strerror', None) or 'no text'})") from None
    plan = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition(";")[0].strip().lower()
        if words:
            plan.append(read_step(f"{path}, line {number}", words, model, objects))
    return tuple(plan)


def read_step(where: str, words: str, model: Model, objects: Objects) -> GroundAction:
    """A step, checked against model and problem; ``where`` it stands is named in messages. Raises UnusableInput: it is no step of these."""
    found = _STEP.fullmatch(words)
    if found is None:
        raise UnusableInput(f"{where}: {words[:60]!r} is not a step; write '(move a b)' or 'move(a, b)'")
    name = found[1] or found[3]
    arguments = tuple(part for part in re.split(r"[\s,]+", found[2] or found[4] or "") if part)
    known = {header.name: header for header in model.headers}
    if name not in known:
        raise UnusableInput(f"{where}: no action {name[:40]!r}; the model has {', '.join(list(known)[:20])}")
    header = known[name]
    if len(arguments) != header.arity:
        raise UnusableInput(
            f"{where}: {name} has {counted(len(arguments), 'argument')} instead of {header.arity}: {header}"
        )
    for argument, kind in zip(arguments, header.types, strict=True):
        if argument not in objects:
            raise UnusableInput(f"{where}: the problem has no object {argument[:40]!r}")
        if argument not in objects.members(kind):
            raise UnusableInput(
                f"{where}: {argument} is a {objects[argument]}, and {name} wants a {kind} there"
            )
    return GroundAction(name, arguments)


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

"""Plans in files: one step per line, ``(move a b)`` or ``move(a, b)``; a semicolon begins a comment."""

from __future__ import annotations

import re
from pathlib import Path

from aam_vision.model.strips import GroundAction, Model, Objects
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

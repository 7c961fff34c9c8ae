"""Literals and actions in plain English, as far as names allow: ``at(?p, ?from)`` is "?p is at ?from"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aam_vision.strips import ActionHeader, LiftedAtom, Mode

_PREPOSITIONS = frozenset(
    [
        "above",
        "at",
        "before",
        "behind",
        "below",
        "beside",
        "by",
        "for",
        "from",
        "in",
        "inside",
        "into",
        "near",
        "of",
        "on",
        "onto",
        "over",
        "to",
        "under",
        "with",
    ]
)
_ADJECTIVE = re.compile(r".*(?:ed|able|ible|open|clear|free|empty|full|dry|wet|idle)$")


def literal(atom: LiftedAtom, mode: Mode, parameters: Sequence[str]) -> str:
    """A literal as a clause of a sentence."""
    return _clause(atom.predicate, _names(atom, parameters), "is" if mode is Mode.POSITIVE else "is not")


def effect(atom: LiftedAtom, mode: Mode, parameters: Sequence[str]) -> str:
    """The effect of an action on an atom, as a clause of a sentence."""
    return _clause(
        atom.predicate, _names(atom, parameters), "is" if mode is Mode.POSITIVE else "is no longer"
    )


def listed(parts: Iterable[str], joint: str = "and") -> str:
    """``a, b and c``."""
    *others, last = list(parts) or ["nothing"]
    return f"{', '.join(others)} {joint} {last}" if others else last


def parameters(header: ActionHeader) -> str:
    """``a thing ?p, a location ?from and a location ?to``."""
    if not header.parameters:
        return "nothing in particular"
    return listed(
        f"{_article(kind)} {_words(kind)} ?{name}"
        for name, kind in zip(header.parameters, header.types, strict=True)
    )


def _clause(predicate: str, names: list[str], verb: str) -> str:
    words = re.split(r"[-_]", predicate)
    text = " ".join(words)
    if len(names) == 1 and words[0] == "is" and len(words) > 1:
        rest = words[1:]
        kind = rest[-1]
        article = "" if _ADJECTIVE.fullmatch(kind) or rest[0] in _PREPOSITIONS else f"{_article(rest[0])} "
        return f"{names[0]} {verb} {article}{' '.join(rest)}"
    if len(names) == 1 and words[0] in _PREPOSITIONS and len(words) == 1:
        return f"it {verb} {text} {names[0]}"  # as ``at(?location)`` says it of the agent
    if len(names) == 1 and (_ADJECTIVE.fullmatch(text) or words[0] in _PREPOSITIONS):
        return f"{names[0]} {verb} {text}"
    if len(names) == 2 and words[-1] in _PREPOSITIONS and words[0] != "is":
        return f"{names[0]} {verb} {text} {names[1]}"
    if not names:
        return f"{predicate} {verb} true"
    return f"{predicate} {verb} true of {listed(names)}"


def _names(atom: LiftedAtom, parameters: Sequence[str]) -> list[str]:
    return [f"?{parameters[a]}" if isinstance(a, int) else a for a in atom.arguments]


def _words(name: str) -> str:
    return re.sub(r"[-_]", " ", name)


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"

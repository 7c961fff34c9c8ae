"""Predicates and instructions in PDDL's notation: ``lies ?k - key ?at - cell``, ``move ?from ?to - cell``."""

from __future__ import annotations

from aam_vision.errors import UnusableInput
from aam_vision.strips import ROOT_TYPE, ActionHeader, Predicate


def predicate(text: str) -> Predicate:
    """The predicate that a text such as ``lies ?k - key ?at - cell`` declares.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    name, _, types = _parsed(text)
    return Predicate(name, types)


def header(text: str) -> ActionHeader:
    """The instruction that a text such as ``move ?from ?to - cell ?dir - direction`` declares.

    Raises:
        UnusableInput: the text is not a name with typed variables.
    """
    return ActionHeader(*_parsed(text))


def _parsed(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The name, the variables without their question mark, and their types."""
    name, *words = text.split() or [""]
    variables: list[str] = []
    types: list[str] = []
    untyped = 0
    place = 0
    while place < len(words):
        word = words[place]
        if word.startswith("?") and len(word) > 1:
            variables.append(word[1:])
            untyped, place = untyped + 1, place + 1
        elif word == "-" and untyped and words[place + 1 : place + 2]:
            types += [words[place + 1]] * untyped
            untyped, place = 0, place + 2
        else:
            break
    if not name or name.startswith("?") or place < len(words) or len(set(variables)) < len(variables):
        raise UnusableInput(f"{text!r}: write a name and typed variables, such as 'move ?from ?to - cell'")
    return name, tuple(variables), (*types, *[ROOT_TYPE] * untyped)

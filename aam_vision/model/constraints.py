"""What no image shows, whatever the agent does: declared by the user, used to check answers of classifiers jointly.

``Never`` and ``Exactly`` speak of the places of a board, ``Number`` and ``Acyclic`` of the things of a scene without
places. None of them says anything about an action.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True)
class Never:
    """Labels (names of classifiers) that no place ever shows: all of ``shows`` together with none of ``without``."""

    shows: tuple[str, ...]
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exactly:
    """A classifier that says yes to exactly ``number`` places of every board."""

    head: str
    number: int


@dataclass(frozen=True)
class Number:
    """How many of some atoms are true: at least ``least`` and at most ``most``.

    ``atoms`` are written with ``x`` for a thing and ``_`` for any thing: of ``("held(x)", "on-table(x)", "on(x, _)")``,
    exactly one is true of every thing ``x``. Where no ``x`` occurs, all atoms of a scene are counted together:
    ``("held(_)", "hand-empty()")``.

    Raises:
        ValueError: an atom is not written like that.
    """

    atoms: tuple[str, ...]
    least: int = 1
    most: int = 1

    def __post_init__(self) -> None:
        self.terms()

    def terms(self) -> tuple[tuple[str, int | None], ...]:
        """Per atom, its predicate and the number of the argument that is ``x``; None where there is none."""
        found = []
        for text in self.atoms:
            match = _TERM.fullmatch(text.strip())
            arguments = [part.strip() for part in match[2].split(",") if part.strip()] if match else ["?"]
            if match is None or arguments.count("x") > 1 or not set(arguments) <= {"x", "_"}:
                raise ValueError(f"{text!r}: write predicate(x, _), with x for one thing and _ for any thing")
            found.append((match[1], arguments.index("x") if "x" in arguments else None))
        if len({place is None for _, place in found}) > 1:
            raise ValueError(f"{', '.join(self.atoms)}: write x in all of these atoms, or in none")
        return tuple(found)


@dataclass(frozen=True)
class Acyclic:
    """A predicate of two things that never leads back to the thing it started from: nothing lies upon itself."""

    predicate: str


Constraint = Never | Exactly | Number | Acyclic
"""Knowledge of single images, whatever the agent does: it says nothing of any action."""

_TERM = re.compile(r"([\w-]+)\(([\w\s,]*)\)")


def exclusive(*heads: str) -> tuple[Never, ...]:
    """No place shows two of these."""
    return tuple(Never(pair) for pair in combinations(heads, 2))


def comes_as(head: str, kinds: Iterable[str]) -> tuple[Never, ...]:
    """A place shows ``head`` exactly if it shows one of its kinds, and only one of them."""
    kinds = tuple(kinds)
    return (
        *exclusive(*kinds),
        Never((head,), without=kinds),
        *[Never((kind,), without=(head,)) for kind in kinds],
    )

"""Lifted atoms that can become one: when two parameters name one object, or one names a constant.

Only then is it visible that an action adds an atom that it requires: the addition undoes the deletion of the other
atom (deletes come first, then adds).
"""

from __future__ import annotations

from collections.abc import Sequence

from aam_vision.strips import ActionHeader, LiftedAtom, Vocabulary

Merged = tuple[int | str, ...]
"""For every parameter the parameter (itself, if it is not merged) or the constant that replaces it."""


def merge(
    vocabulary: Vocabulary, header: ActionHeader, first: LiftedAtom, second: LiftedAtom, *, repeated: bool
) -> Merged | None:
    """The most general merging of parameters under which both atoms are one; None if there is none.

    Without ``repeated`` no two parameters are merged, but a parameter may be a constant.
    """
    if first.predicate != second.predicate:
        return None
    replaced: list[int | str] = list(range(header.arity))
    for left, right in zip(first.arguments, second.arguments, strict=True):
        a, b = (replaced[x] if isinstance(x, int) else x for x in (left, right))
        if a == b:
            continue
        if isinstance(a, str) and isinstance(b, str):
            return None
        kept, gone = (a, b) if isinstance(b, int) else (b, a)
        replaced = [kept if symbol == gone else symbol for symbol in replaced]
    merged = tuple(replaced)
    if not repeated and len(set(merged)) < len(merged):
        return None
    return merged if _typed(vocabulary, header, merged) else None


def _typed(vocabulary: Vocabulary, header: ActionHeader, merged: Merged) -> bool:
    """Whether an object can have the types of all the parameters that are merged into it."""
    for symbol in dict.fromkeys(merged):
        kinds = [kind for kind, other in zip(header.types, merged, strict=True) if other == symbol]
        narrowest = [vocabulary.constants[symbol]] if isinstance(symbol, str) else kinds
        if not any(all(vocabulary.types.is_a(one, kind) for kind in kinds) for one in narrowest):
            return False
    return True


def under(atom: LiftedAtom, merged: Sequence[int | str]) -> tuple[str, tuple[int | str, ...]]:
    """The atom with its parameters merged; equal for atoms that become one."""
    return atom.predicate, tuple(merged[a] if isinstance(a, int) else a for a in atom.arguments)

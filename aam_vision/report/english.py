"""Literals and actions in plain English, as far as names allow: ``at(?p, ?from)`` is "?p is at ?from"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom, Mode, Vocabulary

_PREPOSITIONS = frozenset([
    "above", "at", "before", "behind", "below", "beside", "by", "for", "from", "in", "inside", "into",
    "near", "of", "on", "onto", "over", "to", "under", "with",
])  # fmt: skip
_VERBS = frozenset(["carrying", "facing", "grasping", "holding", "touching", "wearing"])
"""Verbs whose object is the only argument: ``holding(?key)`` says it of the agent."""
_FINITE = {
    "belongs": "belong", "blocks": "block", "carries": "carry", "contains": "contain", "covers": "cover",
    "faces": "face", "fits": "fit", "hangs": "hang", "has": "have", "holds": "hold", "leads": "lead",
    "lies": "lie", "needs": "need", "opens": "open", "rests": "rest", "sits": "sit", "stands": "stand",
    "supports": "support", "touches": "touch", "wears": "wear",
}  # fmt: skip
"""Verbs as predicates have them, ``lies-in(?ball, ?room)``, each with its infinitive."""
_ADJECTIVE = re.compile(r".*(?:ed|able|ible|open|clear|free|empty|full|dry|wet|idle)$")


def literal(
    atom: LiftedAtom, mode: Mode, parameters: Sequence[str], vocabulary: Vocabulary | None = None
) -> str:
    """A literal as a clause of a sentence; the vocabulary tells things from the places where they are."""
    return _clause(atom, parameters, "is" if mode is Mode.POSITIVE else "is not", vocabulary)


def effect(
    atom: LiftedAtom, mode: Mode, parameters: Sequence[str], vocabulary: Vocabulary | None = None
) -> str:
    """The effect of an action on an atom, as a clause of a sentence."""
    return _clause(atom, parameters, "is" if mode is Mode.POSITIVE else "is no longer", vocabulary)


def marked(true: Iterable[LiftedAtom], false: Iterable[LiftedAtom]) -> list[tuple[LiftedAtom, Mode]]:
    """Literals, each as an atom with its mode: those that are true first, each kind by name."""
    both = ((true, Mode.POSITIVE), (false, Mode.NEGATIVE))
    return [(atom, mode) for atoms, mode in both for atom in sorted(atoms, key=str)]


def listed(parts: Iterable[str], joint: str = "and") -> str:
    """``a, b and c``."""
    *others, last = list(parts) or ["nothing"]
    return f"{', '.join(others)} {joint} {last}" if others else last


def signed(gained: Iterable[Atom], lost: Iterable[Atom]) -> list[str]:
    """What has changed, ``+`` or ``-`` first: what became true before what became false."""
    return [f"+{atom}" for atom in sorted(gained)] + [f"-{atom}" for atom in sorted(lost)]


def parameters(header: ActionHeader) -> str:
    """``a thing ?p, a location ?from and a location ?to``."""
    if not header.parameters:
        return "nothing in particular"
    return listed(
        f"{_article(kind)} {re.sub('[-_]', ' ', kind)} ?{name}"
        for name, kind in zip(header.parameters, header.types, strict=True)
    )


def _of_a_place(atom: LiftedAtom, vocabulary: Vocabulary | None) -> bool:
    """Whether an atom of one argument is about a place, where others of two say what is there: ``at(?ball, ?room)``."""
    if vocabulary is None or len(atom.arguments) != 1:
        return False
    relations = [
        one.types
        for one in vocabulary.predicates
        if one.arity == 2 and re.split(r"[-_]", one.name)[-1] in _PREPOSITIONS
    ]
    kinds = next((one.types for one in vocabulary.predicates if one.name == atom.predicate), ("",))
    return kinds[0] in {last for _, last in relations} - {first for first, _ in relations}


def _clause(atom: LiftedAtom, parameters: Sequence[str], verb: str, vocabulary: Vocabulary | None) -> str:
    names = [f"?{parameters[a]}" if isinstance(a, int) else a for a in atom.arguments]
    for one in () if vocabulary is None else vocabulary.derived:
        if one.predicate.name == atom.predicate:
            return one.told(names, holds=verb == "is")
    predicate, words = atom.predicate, re.split(r"[-_]", atom.predicate)
    if words[0] in _PREPOSITIONS and len(words) > 1 and _of_a_place(atom, vocabulary):
        return f"{' '.join(words[1:])} {verb} {words[0]} {names[0]}"
    text = " ".join(words)
    said = len(words) == 1 or words[-1] in _PREPOSITIONS
    if words[0] in _FINITE and said and len(words) <= len(names) <= 2:
        infinitive = " ".join([_FINITE[words[0]], *words[1:]])
        verb = {"is": text, "is not": f"does not {infinitive}", "is no longer": f"no longer {text}"}[verb]
        return f"{names[0]} {verb} {names[1]}" if len(names) == 2 else f"it {verb} {names[0]}"
    if len(names) == 1 and words[0] == "is" and len(words) > 1:
        rest = words[1:]
        bare = _ADJECTIVE.fullmatch(rest[-1]) or rest[0] in _PREPOSITIONS
        article = "" if bare else f"{_article(rest[0])} "
        return f"{names[0]} {verb} {article}{' '.join(rest)}"
    if len(names) == 1 and len(words) == 1 and words[0] in _PREPOSITIONS | _VERBS:
        return f"it {verb} {text} {names[0]}"  # as ``at(?location)`` says it of the agent
    if len(names) == 1 and (_ADJECTIVE.fullmatch(text) or words[0] in _PREPOSITIONS):
        return f"{names[0]} {verb} {text}"
    if len(names) == 1 and len(words) > 1 and words[-1] in _PREPOSITIONS and words[0] != "is":
        of_agent = words[-2].endswith("ing") or _ADJECTIVE.fullmatch(words[-2])
        about = f"it {verb} {text}" if of_agent else f"the {' '.join(words[:-1])} {verb} {words[-1]}"
        return f"{about} {names[0]}"
    if len(names) == 2 and words[-1] in _PREPOSITIONS and words[0] != "is":
        return f"{names[0]} {verb} {text} {names[1]}"
    name = predicate if re.search("[^_-]", predicate) else f"`{predicate}`"
    return f"{name} {verb} true of {listed(names)}" if names else f"{name} {verb} true"


def _article(word: str) -> str:
    return "an" if word[:1] in "aeiou" else "a"

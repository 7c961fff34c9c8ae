"""The abilities of an agent in one short paragraph: its actions, with their main conditions and changes.

The main conditions of an action are those that tell it from the other actions, then those that its world changes; the
main changes are what it brings about, before what it ends. How many are named depends on the number of actions, so
that the paragraph stays short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from aam_vision import wording
from aam_vision.interrogation.evidence.attempted_steps import attempted
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.report import english
from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Mode, Model

MOST = 420
"""Characters of the paragraph, about: with more, fewer conditions, changes and actions are described."""
_NAMES = 90
"""Characters of the list of actions that are only named, about."""
_SHARES = ((4, 3), (3, 2), (2, 2), (2, 1), (1, 1))
"""Conditions and changes of each action, tried in turn."""

_Literal = tuple[LiftedAtom, Mode]


@dataclass(frozen=True)
class Deed:
    """One action in a clause: ``if ?to is clear: ?p is at ?to``."""

    action: str
    words: str

    def __str__(self) -> str:
        return f"{self.action}: {self.words}"


@dataclass(frozen=True)
class Abilities:
    """The paragraph: a number, some actions described, and the others named."""

    beginning: str
    deeds: tuple[Deed, ...]
    others: str
    """The actions that are only named, as a sentence; empty if there are none."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The paragraph, sentence by sentence."""
        return tuple(filter(None, [self.beginning, *(f"{deed}." for deed in self.deeds), self.others]))

    def __str__(self) -> str:
        return " ".join(self.parts)


def abilities(model: Model, executed: Collection[str], *, complete: bool) -> Abilities:
    """The abilities that a model describes.

    Args:
        model: the learned one.
        executed: the actions that were executed at least once; of the others nothing is known.
        complete: whether nothing more could be learned.
    """
    number = wording.counted(len(model.actions), "action")
    for conditions, changes in _SHARES:
        deeds = [
            _deed(model, schema, conditions, changes)
            if schema.header.name in executed
            else Deed(schema.header.name, "it was never done, so nothing is known of it")
            for schema in model.actions
        ]
        whole = all(
            len(schema.positive | schema.negative) <= conditions
            and len(schema.add | schema.delete) <= changes
            for schema in model.actions
        )
        beginning = f"It has {number}{_qualified(whole, complete)}."
        if len(beginning) + sum(len(str(deed)) + 2 for deed in deeds) <= MOST:
            return Abilities(beginning, tuple(deeds), "")
    told, left = list[Deed](), MOST - len(beginning) - _NAMES
    for deed in deeds:
        left -= len(str(deed)) + 2
        if left < 0 and told:
            break
        told.append(deed)
    rest = [deed.action for deed in deeds[len(told) :]]
    named = [name for n, name in enumerate(rest) if sum(map(len, rest[: n + 1])) + 2 * n <= _NAMES]
    others = english.listed([*named, *([f"{len(rest) - len(named)} more"] if named != rest else [])])
    return Abilities(beginning, tuple(told), f"It can also {others}." if rest else "")


def executed_actions(transcript: Transcript) -> set[str]:
    """The actions that a transcript shows to have been executed at least once."""
    return {step.action.name for step in attempted(transcript.in_single_steps()) if step.executed}


def _qualified(whole: bool, complete: bool) -> str:
    """How far the description of the actions goes."""
    told = "" if whole else ", here with their main conditions and changes"
    if complete:
        return told
    return f"{told} as far as they are known" if told else "; this is known so far"


def _deed(model: Model, schema: ActionSchema, conditions: int, changes: int) -> Deed:
    required = [*_marked(schema.positive, Mode.POSITIVE), *_marked(schema.negative, Mode.NEGATIVE)]
    effects = [*_marked(schema.add, Mode.POSITIVE), *_marked(schema.delete, Mode.NEGATIVE)]
    required.sort(key=_importance(model, schema))
    named = {argument for atom, _ in required[:conditions] for argument in atom.arguments}
    effects.sort(key=_effect_importance(model, named))
    header, said = schema.header, _Named(schema.header)
    needs = [
        said(english.literal(atom, mode, header.parameters, model.vocabulary))
        for atom, mode in required[:conditions]
    ]
    does = [
        said(english.effect(atom, mode, header.parameters, model.vocabulary))
        for atom, mode in effects[:changes]
    ]
    condition = f"if {english.listed(needs)}, then " if needs else "always: "
    return Deed(header.name, condition + english.listed(does or ["nothing changes"]))


class _Named:
    """Says of which type a parameter is where it is named first: ``location ?to``."""

    def __init__(self, header: ActionHeader) -> None:
        self._types = dict(zip(header.parameters, header.types, strict=True))

    def __call__(self, words: str) -> str:
        return re.sub(r"\?([\w-]+)", self._name, words)

    def _name(self, found: re.Match[str]) -> str:
        name = found[1]
        kind = self._types.pop(name, None)
        if kind in (None, "object", name):
            return found[0]
        return f"{re.sub('[-_]', ' ', str(kind))} {found[0]}"


def _marked(atoms: Iterable[LiftedAtom], mode: Mode) -> list[_Literal]:
    return [(atom, mode) for atom in sorted(atoms, key=str)]


def _importance(model: Model, schema: ActionSchema) -> Callable[[_Literal], tuple[object, ...]]:
    """Conditions of this action alone first, then those that some action changes, then facts that never change."""
    shared = Counter(
        predicate
        for other in model.actions
        for predicate in {atom.predicate for atom in (*other.positive, *other.negative)}
    )
    changing = {atom.predicate for other in model.actions for atom in (*other.add, *other.delete)}

    def key(literal: _Literal) -> tuple[object, ...]:
        atom, mode = literal
        alone = shared[atom.predicate] == 1 and len(model.actions) > 1
        return (
            not alone,
            atom.predicate not in changing,
            mode is Mode.NEGATIVE,
            shared[atom.predicate],
            len(atom.arguments),
            str(atom),
        )

    return key


def _effect_importance(
    model: Model, named: Collection[int | str]
) -> Callable[[_Literal], tuple[object, ...]]:
    """What is brought about before what ends; then what few actions bring about, and what relates things.

    ``named`` are the arguments of the conditions that are told: changes of these come before others of their kind.
    """
    adding = Counter(
        predicate for other in model.actions for predicate in {atom.predicate for atom in other.add}
    )

    def key(literal: _Literal) -> tuple[object, ...]:
        atom, mode = literal
        told = sum(argument in named for argument in atom.arguments)
        return mode is Mode.NEGATIVE, adding[atom.predicate], -len(atom.arguments), -told, str(atom)

    return key

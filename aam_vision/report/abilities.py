"""The abilities of an agent in one short paragraph: its actions, with their main conditions and changes.

The main conditions of an action are those that tell it from the other actions, then those that its world changes; the
main changes are what it brings about, before what it ends. How many are named depends on the number of actions, so
that the paragraph stays short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
ALL = 10_000
"""More than the conditions or changes of any action."""
_SHARES: Sequence[tuple[int, int]] = ((4, 3), (3, 2), (2, 2), (2, 1), (1, 1))
"""Conditions and changes of each action, tried in turn; of a control's cases, which nobody has named, never one and one."""
_MOST_OF_CONTROLS = 390
"""The same as ``MOST`` where the verdict beside it has two statements."""

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


@dataclass(frozen=True)
class ControlNames:
    """Where actions were found in what controls do: these controls."""

    names: tuple[str, ...]
    carried: Mapping[str, str]
    """By action, the control that carries it out."""
    idle: tuple[str, ...]
    """The controls that never did anything."""

    def cases(self, model: Model) -> dict[str, list[ActionSchema]]:
        """By control what it does, with most cases first; controls without any are left out."""
        found = {
            name: [one for one in model.actions if self.carried[one.header.name] == name]
            for name in self.names
        }
        return {
            name: found[name] for name in sorted(found, key=lambda name: -len(found[name])) if found[name]
        }

    def unknown(self, cases: Collection[str]) -> str:
        """The controls of which no case is known, in sentences that begin with a space; empty if there are none."""
        lost = [name for name in self.names if name not in cases and name not in self.idle]
        told = f" Never seen to do anything: {english.listed(self.idle)}." if self.idle else ""
        return told + (f" No case of {english.listed(lost)} is known." if lost else "")


def abilities(
    model: Model,
    executed: Collection[str],
    *,
    complete: bool,
    controls: ControlNames | None = None,
) -> Abilities:
    """The abilities that a model describes.

    Args:
        model: the learned one.
        executed: the actions that were executed at least once; of the others nothing is known.
        complete: whether nothing more could be learned.
        controls: where the actions were found in what controls do, these.
    """
    if controls is None:
        cases = {schema.header.name: [schema] for schema in model.actions}
        total, noun, unknown, most, shares = len(cases), "action", "", MOST, _SHARES
    else:
        cases = controls.cases(model)
        total, noun, unknown = len(controls.names), "control", controls.unknown(cases)
        most, shares = _MOST_OF_CONTROLS, _SHARES[:-1]
    for conditions, changes in shares:
        deeds = [_deed(name, model, some, executed, (conditions, changes)) for name, some in cases.items()]
        whole = all(
            len(schema.positive | schema.negative) <= conditions
            and len(schema.add | schema.delete) <= changes
            for schema in model.actions
        )
        beginning = (
            f"It has {wording.counted(total, noun)}{_qualified(whole, complete, total == 1)}.{unknown}"
        )
        if len(beginning) + sum(len(str(deed)) + 2 for deed in deeds) <= most:
            return Abilities(beginning, tuple(deeds), "")
    told, left = list[Deed](), most - len(beginning) - _NAMES
    for deed in deeds:
        left -= len(str(deed)) + 2
        if left < 0 and told:
            break
        told.append(deed)
    rest = [deed.action for deed in deeds[len(told) :]]
    named = [name for n, name in enumerate(rest) if sum(map(len, rest[: n + 1])) + 2 * n <= _NAMES]
    others = english.listed([*named, *([f"{len(rest) - len(named)} more"] if named != rest else [])])
    also = "It can also" if controls is None else "There are also"
    return Abilities(beginning, tuple(told), f"{also} {others}." if rest else "")


def executed_actions(transcript: Transcript) -> set[str]:
    """The actions that a transcript shows to have been executed at least once."""
    return {step.action.name for step in attempted(transcript.in_single_steps()) if step.executed}


def _qualified(whole: bool, complete: bool, one: bool) -> str:
    """How far the description of the actions goes; ``one`` if there is one only."""
    told = "" if whole else f", here with {'its' if one else 'their'} main conditions and changes"
    if complete:
        return told
    return f"{told} as far as they are known" if told else "; this is known so far"


def _deed(
    name: str, model: Model, cases: Sequence[ActionSchema], executed: Collection[str], share: tuple[int, int]
) -> Deed:
    """What an action does, or what a control does case by case."""
    if any(case.header.name not in executed for case in cases):
        return Deed(name, "it was never done, so nothing is known of it")
    return Deed(name, "; ".join(clause(model, case, *share) for case in cases))


def clause(model: Model, schema: ActionSchema, conditions: int, changes: int) -> str:
    """What an action does, with its main conditions and its main changes, so many of each."""
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
    return condition + english.listed(does or ["nothing changes"])


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
    """Conditions of this action alone, or on constants, first, then those that some action changes, then the others."""
    shared = Counter(
        predicate
        for other in model.actions
        for predicate in {atom.predicate for atom in (*other.positive, *other.negative)}
    )
    changing = {atom.predicate for other in model.actions for atom in (*other.add, *other.delete)}

    def key(literal: _Literal) -> tuple[object, ...]:
        atom, mode = literal
        constant = any(isinstance(argument, str) for argument in atom.arguments)
        alone = (shared[atom.predicate] == 1 or constant) and len(model.actions) > 1
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

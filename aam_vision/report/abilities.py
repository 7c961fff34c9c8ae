"""The abilities of an agent in one short paragraph: its actions, with their main conditions and changes.

The main conditions of an action are those that tell it from the other actions, then those that its world changes, and last what
always holds; the main changes are what it brings about, before what it ends. How many are named depends on the number of
actions, so that the paragraph stays short; but each of up to eight actions has a sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aam_vision.interrogation.chance.intervals import Frequency
from aam_vision.interrogation.evidence.transcript import Transcript, attempted
from aam_vision.model.strips import ActionHeader, ActionSchema, LiftedAtom, Mode, Model
from aam_vision.report import english
from aam_vision.support import wording

EXPLAINED: Final = 8
"""Actions that have a row; if there are more, the others are named."""
ROOM: Final = 460
"""Characters of all rows, about: with more, fewer conditions and changes are described."""
CASES = 4
"""Cases of a control that are described, however long that is."""
ALL = 10_000
"""More than the conditions or changes of any action."""
_SHARES: Sequence[tuple[int, int]] = ((4, 3), (3, 2), (3, 1), (2, 1))
"""Conditions and changes of each action, tried in turn."""

_Literal = tuple[LiftedAtom, Mode]


@dataclass(frozen=True)
class Clip:
    """A pursuit in images, by their names, and how it ended in words."""

    images: tuple[str, ...]
    words: str


@dataclass(frozen=True)
class Deed:
    """One action in a clause: ``if ?to is clear: ?p is at ?to``."""

    action: str
    words: str
    found: Frequency | None = None
    """How often that comes about, if it is drawn. That of one of several cases would be taken for the action's: it is not."""
    clips: tuple[Clip, ...] = ()
    """One in which it came about, and one in which it did not, where they were kept."""

    def __str__(self) -> str:
        return f"{self.action}: {self.words}"


@dataclass(frozen=True)
class Abilities:
    """What an agent can do: a number, some actions described, and the others named."""

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
    model: Model, executed: Collection[str], *, complete: bool, controls: ControlNames | None = None
) -> Abilities:
    """The abilities that a model describes; of actions that were not ``executed`` nothing is known, and ``complete`` says that no more can be."""
    if controls is None:
        cases = {schema.header.name: [schema] for schema in model.actions}
        number, unknown = wording.counted(len(cases), "action"), ""
    else:
        cases = controls.cases(model)
        number, unknown = wording.counted(len(controls.names), "control"), controls.unknown(cases)
    return paragraph(
        number,
        model,
        lambda *share: [_deed(name, model, some, executed, share) for name, some in cases.items()],
        _SHARES,
        complete=complete,
        unknown=unknown,
    )


def paragraph(
    number: str,
    model: Model,
    deeds: Callable[[int, int], list[Deed]],
    shares: Sequence[tuple[int, int]],
    *,
    complete: bool,
    unknown: str = "",
    room: int = ROOM,
) -> Abilities:
    """The actions in as many words as there is ``room`` for, about, in characters.

    ``deeds`` describes them with so many conditions and changes of each; ``shares`` are these numbers, tried in turn. ``unknown``: of what
    nothing is known, in sentences that begin with a space.
    """
    one = number.startswith("1 ")
    for share in shares:
        told = deeds(*share)
        whole = all(
            len(one.positive | one.negative) <= share[0] and len(one.add | one.delete) <= share[1]
            for one in model.actions
        )
        detail = "" if whole else f", here with {'its' if one else 'their'} main conditions and changes"
        if not complete:
            detail = f"{detail} as far as they are known" if detail else "; this is known so far"
        beginning = f"It has {number}{detail}.{unknown}"
        if len(beginning) + sum(len(str(deed)) + 2 for deed in told) <= room:
            return Abilities(beginning, tuple(told), "")
    rest = list(dict.fromkeys(deed.action for deed in told[EXPLAINED:]))
    others = f"The others: {english.listed(rest)}." if rest else ""
    return Abilities(beginning, tuple(told[:EXPLAINED]), others)


def executed_actions(transcript: Transcript) -> set[str]:
    """The actions that a transcript shows to have been executed at least once."""
    return {step.action.name for step in attempted(transcript.in_single_steps()) if step.executed}


def _deed(
    name: str, model: Model, cases: Sequence[ActionSchema], executed: Collection[str], share: tuple[int, int]
) -> Deed:
    """What an action does, or what a control does case by case."""
    if any(case.header.name not in executed for case in cases):
        return Deed(name, "it was never done, so nothing is known of it")
    told, more = [clause(model, case, *share, cases) for case in cases[:CASES]], len(cases) - CASES
    if more > 0:
        told.append(f"and {wording.counted(more, 'more case')}")
    return Deed(name, "; ".join(told))


def clause(
    model: Model, schema: ActionSchema, conditions: int, changes: int, cases: Sequence[ActionSchema] = ()
) -> str:
    """What an action does, with its main conditions and its main changes, so many of each.

    Of several ``cases`` of a control, what tells this one from the others is named beside its main conditions.
    """
    required, kinds = _required(model, schema)
    telling = _telling(schema, cases, required) if len(cases) > 1 else None
    if telling is not None and telling not in required[:conditions]:
        required.remove(telling)
        required.insert(0, telling)
        conditions += 1
    told = list(enumerate(required[:conditions]))
    named = {argument: place for place, (atom, _) in reversed(told) for argument in atom.arguments}
    effects = sorted(english.marked(schema.add, schema.delete), key=_effect_importance(model, named))
    said = _Named(schema.header, kinds)
    needs = _told(required[:conditions], model, schema, said)
    about = schema.header.parameters, model.vocabulary
    does = [said(english.effect(*one, *about)) for one in effects[:changes]] or ["nothing changes"]
    return (f"if {needs}, then " if needs else "always: ") + english.listed(does)


def main_conditions(model: Model, schema: ActionSchema, most: int) -> str:
    """What an action needs, so many of its main conditions; empty if it needs nothing."""
    required, kinds = _required(model, schema)
    return _told(required[:most], model, schema, _Named(schema.header, kinds))


def _required(model: Model, schema: ActionSchema) -> tuple[list[_Literal], dict[int, LiftedAtom]]:
    """The conditions of an action, main ones first, and by parameter what goes without a clause of its own."""
    kinds = _kinds(model, schema)
    required = english.marked(schema.positive, schema.negative)
    return sorted(
        (one for one in required if one[0] not in kinds.values()), key=_importance(model, schema)
    ), kinds


def _told(literals: Sequence[_Literal], model: Model, schema: ActionSchema, said: _Named) -> str:
    """Conditions in words; empty if there are none."""
    about = schema.header.parameters, model.vocabulary
    return english.listed(said(english.literal(*one, *about)) for one in literals) if literals else ""


def _telling(
    schema: ActionSchema, cases: Sequence[ActionSchema], required: Sequence[_Literal]
) -> _Literal | None:
    """The condition of one case that fewest of the others have, if not all have it; one about a single thing rather."""
    mine, others = _parts(schema), [{*_parts(one).values()} for one in cases if one is not schema]
    number = {one: sum(mine[one] in parts for parts in others) for one in required}
    rarest = min(required, key=lambda one: (number[one], len(one[0].arguments)), default=None)
    return rarest if rarest is not None and number[rarest] < len(others) else None


class _Named:
    """Says of which type, or kind, a parameter is where it is named first: ``location ?to``, ``stone ?s``."""

    def __init__(self, header: ActionHeader, kinds: Mapping[int, LiftedAtom]) -> None:
        self._types = dict(zip(header.parameters, header.types, strict=True))
        self._types |= {header.parameters[place]: atom.predicate[3:] for place, atom in kinds.items()}

    def __call__(self, words: str) -> str:
        return re.sub(r"\?([\w-]+)", self._name, words)

    def _name(self, found: re.Match[str]) -> str:
        name = found[1]
        kind = self._types.pop(name, None)
        if kind in (None, "object", name):
            return found[0]
        return f"{re.sub('[-_]', ' ', str(kind))} {found[0]}"


def _kinds(model: Model, schema: ActionSchema) -> dict[int, LiftedAtom]:
    """By parameter, what it is at all times (``is-stone(?s)``) in several actions: that goes without a clause of its own."""
    needing = Counter(atom.predicate for other in model.actions for atom in {*other.positive})
    changed = {atom.predicate for other in model.actions for atom in (*other.add, *other.delete)}
    others = {argument for atom in schema.positive if len(atom.arguments) > 1 for argument in atom.arguments}
    return {
        argument: atom
        for atom in sorted(schema.positive, key=str)
        for argument in atom.arguments
        if isinstance(argument, int) and len(atom.arguments) == 1 and argument in others
        if atom.predicate.startswith("is-") and needing[atom.predicate] > 1 and atom.predicate not in changed
    }


def _importance(model: Model, schema: ActionSchema) -> Callable[[_Literal], tuple[object, ...]]:
    """Conditions of this action alone first, of those the ones that some action changes; then what changes, then the others.

    A condition of the same predicate on parameters that play other parts is another one.
    """
    all_parts = [_parts(other) for other in model.actions]
    shared = Counter(part for parts in all_parts for part in {*parts.values()})
    common = Counter(name for parts in all_parts for name in {atom.predicate for atom, _ in parts})
    changing = {atom.predicate for other in model.actions for atom in (*other.add, *other.delete)}
    parts = _parts(schema)

    def key(literal: _Literal) -> tuple[object, ...]:
        atom, mode = literal
        own = common[atom.predicate] == 1 and len(atom.arguments) < 2
        # as a cell and the next one are
        near = atom.predicate not in changing and sum(isinstance(one, int) for one in atom.arguments) > 2
        alone = shared[parts[literal]] == 1 and len(model.actions) > 1 and not near
        rank = (0 if own and alone else 1 if alone else 3) + (atom.predicate not in changing)
        rare = common[atom.predicate], shared[parts[literal]]
        size = len(atom.arguments) * (-1 if rank > 2 else 1)  # what all have: what relates most things first
        return rank, mode is Mode.NEGATIVE, *((size, *rare) if rank > 2 else (*rare, size)), str(atom)

    return key


def _parts(schema: ActionSchema) -> dict[_Literal, object]:
    """The conditions of an action, each in terms of what becomes of its parameters: their types, and the effects on them."""
    header = schema.header
    effects = english.marked(schema.add, schema.delete)
    roles: list[tuple[object, ...]] = []
    for number, kind in enumerate(header.types):
        own = [(atom, mode) for atom, mode in effects if number in atom.arguments]
        roles.append((kind, *((atom.predicate, mode, atom.arguments.index(number)) for atom, mode in own)))
    required = english.marked(schema.positive, schema.negative)
    return {
        (atom, mode): (atom.predicate, mode, *(roles[a] if isinstance(a, int) else a for a in atom.arguments))
        for atom, mode in required
    }


def _effect_importance(
    model: Model, named: Mapping[int | str, int]
) -> Callable[[_Literal], tuple[object, ...]]:
    """What is brought about before what ends; then what few actions bring about, and what relates things.

    ``named`` are the arguments of the conditions that are told, with the numbers of these: changes of the first come first.
    """
    adding = Counter(name for other in model.actions for name in {atom.predicate for atom in other.add})

    def key(literal: _Literal) -> tuple[object, ...]:
        atom, mode = literal
        told = [named[argument] for argument in atom.arguments if argument in named]
        kind = adding[atom.predicate], -len(atom.arguments)
        return mode is Mode.NEGATIVE, *kind, -len(told), sum(told), str(atom)

    return key

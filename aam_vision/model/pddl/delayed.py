"""Effects that come later as PDDL: every action counts what waits down, by universal and conditional effects, as ``Delays.passed`` does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from aam_vision.model.delayed import AT_SET_TIME, LATEST, DelayedEffect, Delays, Waiting
from aam_vision.model.pddl.syntax import Expression, Group, Names, Word
from aam_vision.model.strips import ActionHeader, ActionSchema, LiftedAtom, Predicate

REQUIREMENTS: Final = " :conditional-effects :equality"
MOST: Final = 3
"""Effects that come later, at most, of a domain that is read."""
_NAME = re.compile(r"(.+)-(true|false)-in-(\d)")


def where_false(effects: Sequence[str], delays: Delays) -> list[str]:
    """The effects of an action, where an atom that is added holds already without it: that changes nothing, and what was to come comes."""
    found = []
    for one in effects:
        predicate, *objects = one.strip("()").split()
        late = [effect for effect in delays.effects if effect.predicate.name == predicate]
        unless = [
            _text(Waiting(predicate, False, 1).name, objects) if effect.firm else one
            for effect in late
            if not effect.value or effect.lasts
        ]
        for other in dict.fromkeys(unless):
            one = f"(when (not {other}) {one})"
        found.append(one)
    return found


def delayed_effects(schema: ActionSchema) -> list[str]:
    """What an action has to do with effects that come later, in a fixed order."""
    if schema.delays is None:
        return []
    types = {effect.predicate.name: effect.predicate.types for effect in schema.delays.effects}
    found: list[str] = []
    for one in schema.delays.waiting.values():
        names = [f"?v{number}" for number in range(len(types[one.predicate]))]
        typed = " ".join(f"{name} - {kind}" for name, kind in zip(names, types[one.predicate], strict=True))
        waits, fact = _text(one.name, names), _text(one.predicate, names)
        comes = _signed(fact, one.value)
        if one.left > 1:
            comes = _text(one._replace(left=one.left - 1).name, names)
        elif follows := schema.delays.follows.get((one.predicate, one.value)):
            comes = f"(and {comes} {_text(follows.name, names)})"
        unless = [f"(not {both})" for both in _unless(schema, one, names, fact)]
        if one.left > 1 and not schema.delays.firm(one):
            first = _text(one._replace(left=1).name, names)  # what comes before changes the fact
            unless.append(f"(not (and {first} {_signed(fact, not one.value)}))")
        condition = f"(and {' '.join([waits, *unless])})" if unless else waits
        body = f"(and (when {condition} {comes}) (when {waits} (not {waits})))"
        found.append(f"(forall ({typed}) {body})" if names else body)
    return [*found, *(_begins(schema, effect) for effect in _own(schema))]


def _own(schema: ActionSchema) -> list[DelayedEffect]:
    delays = schema.delays
    own = [] if delays is None else [one for one in delays.effects if one.action == schema.header.name]
    return sorted(own, key=lambda one: (one.predicate.name, one.after, str(one.atom)))


def _unless(schema: ActionSchema, one: Waiting, names: Sequence[str], fact: str) -> Iterator[str]:
    """Where what waits does not come, as the action changes the fact, or puts it off."""
    assert schema.delays is not None, "something waits"
    firm = schema.delays.firm(one)
    for atoms, changed in () if firm else ((schema.add, f"(not {fact})"), (schema.delete, fact)):
        for atom in sorted(atoms, key=str):
            if atom.predicate == one.predicate:
                yield _conjunction([*_same(schema, atom, names), changed])
    for effect in _own(schema):
        if effect.restarts and (effect.predicate.name, effect.value) == (one.predicate, one.value):
            always = firm or effect.atom in schema.add | schema.delete
            meanwhile = [] if always else [_signed(fact, not effect.value)]
            yield _conjunction([*_same(schema, effect.atom, names), *meanwhile])


def _begins(schema: ActionSchema, effect: DelayedEffect) -> str:
    """That what an action does later begins to wait."""
    objects = [_object(schema, one) for one in effect.atom.arguments]
    fact = _text(effect.predicate.name, objects)
    first, last = (_text(one.name, objects) for one in (effect.wait._replace(left=1), effect.wait))
    otherwise, at_once = _signed(fact, not effect.value), effect.atom in schema.add | schema.delete
    same, opposite = (schema.add, schema.delete) if effect.value else (schema.delete, schema.add)
    if effect.firm and not effect.undoes:
        condition = "(and)"
    elif effect.atom in same or (effect.undoes and effect.atom not in opposite):
        condition = (
            f"(and {fact} (not {fact}))"  # it does it at once, or nothing that is undone: nothing ever waits
        )
    elif effect.undoes:
        condition = _signed(fact, effect.value)
    elif effect.restarts:
        condition = "(and)" if at_once else otherwise
    else:
        condition = f"(not (and {otherwise} {first}))" if at_once else f"(and {otherwise} (not {first}))"
    return f"(when {condition} {last})"


def _same(schema: ActionSchema, atom: LiftedAtom, names: Sequence[str]) -> list[str]:
    return [f"(= {name} {_object(schema, one)})" for name, one in zip(names, atom.arguments, strict=True)]


def _object(schema: ActionSchema, argument: int | str) -> str:
    return f"?{schema.header.parameters[argument]}" if isinstance(argument, int) else argument


def _text(predicate: str, objects: Sequence[str]) -> str:
    return f"({' '.join([predicate, *objects])})"


def _signed(fact: str, value: bool) -> str:
    return fact if value else f"(not {fact})"


def _conjunction(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


# Reading it back: what waits is known by the names of its predicates; the text has to be as it is written here.


def waiting(names: Names) -> dict[str, Waiting]:
    """The declared predicates that may tell what is to come, by their names."""
    found = {}
    for name, types in names.predicates.items():
        match = _NAME.fullmatch(name)
        if match and names.predicates.get(match[1]) == types and 1 <= int(match[3]) <= LATEST:
            found[name] = Waiting(match[1], match[2] == "true", int(match[3]))
    return found


def at_once(effect: Group, waits: Mapping[str, Waiting]) -> Group:
    """An effect without what has to do with these."""
    if effect.head != "and" or not any(_counts_down(part, waits) for part in effect.parts):
        return effect
    left = [_added(part) for part in effect.parts if not _counts_down(part, waits)]
    return Group(left, effect.line)


def _counts_down(part: Expression, waits: Mapping[str, Waiting]) -> bool:
    match part:
        case Group(parts=[Word(text="when"), _, comes]):
            return _mentions(comes, waits)
        case Group(parts=[Word(text="and" | "forall"), *_]):
            return _mentions(part, waits)
    return False


def _mentions(part: Expression, waits: Mapping[str, Waiting]) -> bool:
    return isinstance(part, Group) and (
        part.head in waits or any(_mentions(inner, waits) for inner in part.parts)
    )


def _added(part: Expression) -> Expression:
    """An atom that is added where something does not hold, alone."""
    match part:
        case Group(parts=[Word(text="when"), Group(parts=[Word(text="not"), _]), added]):
            return added
    return part


def delays_of(
    effects: Mapping[str, Group], names: Names, headers: Mapping[str, ActionHeader]
) -> Iterator[Delays]:
    """What may come later in a domain with these effects of actions, by the facts that begin to wait."""
    waits, options = waiting(names), list[list[DelayedEffect]]()
    for name, effect in effects.items():
        header = headers[name]
        for part in effect.parts:
            match part:
                case Group(parts=[Word(text="when"), _, Group(parts=[Word() as begun, *objects])]):
                    told = [one.text[1:] for one in objects if isinstance(one, Word)]
                case _:
                    continue
            if begun.text not in waits or not {*told} <= {*header.parameters}:
                continue
            one = waits[begun.text]
            places = tuple(map(header.parameters.index, told))
            of = Predicate(one.predicate, names.predicates[one.predicate])
            types = tuple(header.types[place] for place in places)
            found = DelayedEffect(name, LiftedAtom(one.predicate, places), of, types, one.value, one.left)
            options.append(
                [
                    replace(found, undoes=undoes, restarts=restarts, firm=firm)
                    for undoes, restarts, firm in product((False, True), repeat=3)
                    if not (undoes and restarts)
                ]
            )
    begun_by_actions = [one for own in options for one in own]
    options += [[one] for one in _at_set_times(waits, _follows(effects, waits), names, begun_by_actions)]
    if options and len(options) <= MOST:
        for chosen in product(*options):
            yield Delays(chosen, read=any(one.action == AT_SET_TIME for one in chosen))


def _at_set_times(
    waits: Mapping[str, Waiting],
    follows: Mapping[tuple[str, bool], int],
    names: Names,
    begun: Sequence[DelayedEffect],
) -> Iterator[DelayedEffect]:
    """What no action lets wait so long: it waits where a problem begins, which says of which objects."""
    last = {(one.predicate, one.value): one.left for one in sorted(waits.values(), key=lambda one: one.left)}
    longest = {key for key, left in last.items() if left > follows.get((key[0], not key[1]), 0)}
    for (predicate, value), left in last.items():
        if (predicate, value) not in longest and ((predicate, not value) in longest or not value):
            continue  # that it waits follows from what has come before
        if all((one.predicate.name, one.value) != (predicate, value) or one.after < left for one in begun):
            of = Predicate(predicate, names.predicates[predicate])
            effect = DelayedEffect(
                AT_SET_TIME, LiftedAtom(predicate, ()), of, of.types, value, left, firm=True
            )
            lasts, returns = follows.get((predicate, value), 0), follows.get((predicate, not value), 0)
            yield replace(effect, lasts=lasts, returns=returns)


def _follows(effects: Mapping[str, Group], waits: Mapping[str, Waiting]) -> Mapping[tuple[str, bool], int]:
    """After how many steps a fact that has come to a value comes to the other one, by its predicate and that value."""
    found = dict[tuple[str, bool], int]()
    for part in (part for effect in effects.values() for part in effect.parts):
        match part:
            case Group(parts=[Word(text="forall"), _, Group(parts=[Word(text="and"), Group() as comes, *_])]):
                pass
            case Group(parts=[Word(text="and"), Group() as comes, *_]):  # of a predicate without objects
                pass
            case _:
                continue
        match comes.parts:
            case [
                Word(text="when"),
                Group(parts=[Word(text=due), *_]),
                Group(parts=[Word(text="and"), _, Group(parts=[Word(text=then), *_])]),
            ] if due in waits and then in waits:
                found[waits[due].predicate, waits[due].value] = waits[then].left
    return found

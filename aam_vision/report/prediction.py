"""Predicting the outcome of a plan with a learned model, step by step, and where that is not certain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aam_vision.agents.encoding import Malformed, loads
from aam_vision.agents.encoding import field as json_field
from aam_vision.errors import UnusableInput
from aam_vision.files import read_limited
from aam_vision.report.ending import in_todays_words, printable, read_ending
from aam_vision.strips import (
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Location,
    Mode,
    Model,
    State,
    lifted_atoms,
)

Literal = tuple[LiftedAtom, bool]
"""An atom of an action, and whether it is required to be true or to be false."""


@dataclass(frozen=True)
class Doubts:
    """The undetermined parts of one action."""

    groups: tuple[tuple[Literal, ...], ...] = ()
    """Literals of which at least one is required."""
    single: tuple[Literal, ...] = ()
    """Literals that may be required, each independently."""
    effects: tuple[tuple[LiftedAtom, tuple[Mode, ...]], ...] = ()
    """Atoms, and the modes that they may have in the effect."""


@dataclass(frozen=True)
class Prediction:
    """The model's prediction for one step."""

    action: GroundAction
    done: bool
    reasons: tuple[str, ...] = ()
    """Why the step cannot be done."""
    doubts: tuple[str, ...] = ()
    """Why the prediction is not certain; empty if it is."""
    changes: tuple[str, ...] = ()
    """The atoms that it changes, ``+`` or ``-`` first; ``?`` where that is not determined."""


def predict(
    model: Model, doubts: Mapping[str, Doubts], state: State, plan: Sequence[GroundAction]
) -> Iterator[Prediction]:
    """The model's prediction for every step up to the first that cannot be done."""
    for action in plan:
        schema, own = model.schema(action.name), doubts.get(action.name, Doubts())
        reasons, unsure = _obstacles(schema, own, state, action)
        after = _after(schema, own, state, action)
        if reasons:
            yield Prediction(action, False, reasons, unsure)
            return
        yield Prediction(action, True, (), unsure, changes(state, after))
        state = after


def read_doubts(path: Path, model: Model) -> dict[str, Doubts]:
    """The parts that ``result.json`` calls undetermined, by action; none if there is no such file.

    Raises:
        UnusableInput: the file is damaged, or about another model.
    """
    if not path.is_file() or path.is_symlink():
        return {}
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Malformed(f"larger than {MAX_BYTES} bytes")
        collected: dict[str, _Collected] = {}
        for entry in json_field(loads(path.read_bytes()), "undetermined", list):
            name, location = json_field(entry, "action", str), json_field(entry, "location", str)
            group = json_field(entry, "group", list)
            schema = model.schema(name)
            atoms = lifted_atoms(model.vocabulary, schema.header, repeated=True)
            texts = {atom.text(schema.header.parameters): atom for atom in atoms}
            one = collected.setdefault(name, _Collected())
            if location == Location.EFF.value:
                one.effects += [_effect(texts, text) for text in group]
            elif len(group) > 1:
                one.groups.append(tuple(_literal(texts, text) for text in group))
            else:
                one.single += [_literal(texts, text) for text in group]
    except (Malformed, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UnusableInput(f"{path}: damaged, or about another model ({error}); put it elsewhere") from None
    return {
        name: Doubts(tuple(one.groups), tuple(one.single), tuple(one.effects))
        for name, one in collected.items()
    }


@dataclass
class _Collected:
    groups: list[tuple[Literal, ...]] = field(default_factory=list)
    single: list[Literal] = field(default_factory=list)
    effects: list[tuple[LiftedAtom, tuple[Mode, ...]]] = field(default_factory=list)


def _literal(texts: Mapping[str, LiftedAtom], text: str) -> Literal:
    return texts[text.removeprefix("not ")], not text.startswith("not ")


def _effect(texts: Mapping[str, LiftedAtom], text: str) -> tuple[LiftedAtom, tuple[Mode, ...]]:
    """Read a text such as ``+at-goal(?p) or ∅``."""
    signs = {"+": Mode.POSITIVE, "-": Mode.NEGATIVE, "∅": Mode.ABSENT}
    words = text.split(" or ")
    (name,) = {word[1:] for word in words if word != "∅"}
    return texts[name], tuple(signs[word[0]] for word in words)


def _obstacles(
    schema: ActionSchema, doubts: Doubts, state: State, action: GroundAction
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Why the model refuses a step, and why its verdict is not certain."""
    doubtful = {literal for group in doubts.groups for literal in group} | set(doubts.single)
    required = [(atom, True) for atom in sorted(schema.positive, key=str)]
    required += [(atom, False) for atom in sorted(schema.negative, key=str)]
    sure, unsure, hidden = list[str](), list[str](), list[str]()
    for literal in required:
        text, value = _ground(literal, action), _holds(literal, state, action)
        if value is None:
            hidden.append(f"whether {text} holds is not certain")
        elif not value:
            (unsure if literal in doubtful else sure).append(text)
    for group in doubts.groups:  # one of them is required: a step that violates all is refused
        if all(_holds(literal, state, action) is False for literal in group):
            sure.append(" and ".join(_ground(literal, action) for literal in group))
    if sure:
        return tuple(f"{text} does not hold" for text in dict.fromkeys(sure)), ()
    doubt = [f"it is not determined whether {text} is required" for text in unsure]
    for atom, sign in sorted(doubtful, key=str):
        if (atom, sign) not in required and _holds((atom, sign), state, action) is not True:
            doubt.append(f"it is not determined whether {_ground((atom, sign), action)} is required")
    reasons = tuple(f"{text} does not hold" for text in unsure)
    return reasons, tuple(dict.fromkeys([*hidden, *doubt]))


def _holds(literal: Literal, state: State, action: GroundAction) -> bool | None:
    atom, sign = literal
    value = state.value(atom.ground(action.objects))
    return None if value is None else value is sign


def _ground(literal: Literal, action: GroundAction) -> str:
    atom, sign = literal
    return f"{'' if sign else 'not '}{atom.ground(action.objects)}"


def _after(schema: ActionSchema, doubts: Doubts, state: State, action: GroundAction) -> State:
    """The state after a step, unknown where the possible effects do not agree."""
    after = schema.successor(state, action.objects)
    true, unknown = set(after.true), set(after.unknown)
    for atom, modes in doubts.effects:
        fact = atom.ground(action.objects)
        results = {
            Mode.POSITIVE: True,
            Mode.NEGATIVE: False,
            Mode.ABSENT: state.value(fact),
        }
        if len({results[mode] for mode in modes}) > 1:
            true.discard(fact)
            unknown.add(fact)
    return State(frozenset(true), state.objects, frozenset(unknown))


def changes(before: State, after: State) -> tuple[str, ...]:
    """The atoms that are other than before, ``+`` or ``-`` first; ``?`` where that is not known."""

    def told(sign: str, atoms: frozenset[Atom]) -> list[str]:
        return [f"{sign}{atom}" for atom in sorted(atoms)]

    gained, hidden = after.true - before.true, after.unknown - before.unknown
    lost = (before.true | before.unknown) - after.true - after.unknown
    return (*told("+", gained), *told("-", lost), *told("?", hidden))


# ``result.json`` as a report reads it; the file may be anybody's.


MAX_BYTES = 50_000_000
"""Bytes of ``result.json`` at most."""
_COUNTS = ("queries", "steps", "failed_steps", "walk_steps", "resets", "seed")


def read_figures(path: Path, *, chance: bool) -> Mapping[str, Any] | None:
    """The contents of ``result.json``; None if there is none. ``chance``: of a run that learned how often.

    Raises:
        UnusableInput: it is damaged, or lacks what such a run writes.
    """
    if path.is_symlink() or not path.is_file():
        return None
    try:
        found = loads(read_limited(path, MAX_BYTES))
        for name in (*_COUNTS, *(() if chance else ("lower_bound",))):
            json_field(found, name, int)
        for name in ("env", "status", "access", "why" if chance else "policy"):
            found[name] = printable(json_field(found, name, str))
        in_todays_words(found)
        if not chance:
            json_field(found, "curve", list)
            read_ending(found)
    except (Malformed, OSError, UnicodeDecodeError) as error:
        raise UnusableInput(f"{path}: damaged, or of another version ({error})") from None
    assert isinstance(found, dict)
    return found

"""Predicting the outcome of a plan with a learned model, step by step, and where that is not certain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from aam_vision.interrogation.chance.graph import Step, successor
from aam_vision.interrogation.chance.intervals import ALPHA, Precision, precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.retelling import retold
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.strips import (
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Location,
    Mode,
    Model,
    State,
    lifted_atoms,
)
from aam_vision.report.chance_account import ChanceAccount
from aam_vision.report.ending import read_undetermined
from aam_vision.report.english import marked, signed
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import some

Literal = tuple[LiftedAtom, bool]
"""An atom of an action, and whether it is required to be true or to be false."""


@dataclass
class Doubts:
    """The undetermined parts of one action."""

    groups: list[tuple[Literal, ...]] = field(default_factory=list)
    """Literals of which at least one is required."""
    single: list[Literal] = field(default_factory=list)
    """Literals that may be required, each independently."""
    effects: list[tuple[LiftedAtom, tuple[Mode, ...]]] = field(default_factory=list)
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
    """What ``result.json`` calls undetermined, by action; none if there is no such file. Raises UnusableInput: it is damaged, or of another model."""
    found: dict[str, Doubts] = {}
    try:
        for name, location, group, _ in read_undetermined(path)[1]:
            schema = model.schema(name)
            atoms = lifted_atoms(model.vocabulary, schema.header, repeated=True)
            texts = {atom.text(schema.header.parameters): atom for atom in atoms}
            one = found.setdefault(name, Doubts())
            if location == Location.EFF.value:
                one.effects += [_effect(texts, text) for text in group]
            elif len(group) > 1:
                one.groups.append(tuple(_literal(texts, text) for text in group))
            else:
                one.single += [_literal(texts, text) for text in group]
    except (KeyError, ValueError, IndexError) as error:
        raise UnusableInput(f"{path}: damaged, or about another model ({error}); put it elsewhere") from None
    return found


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
    required = [(atom, mode is Mode.POSITIVE) for atom, mode in marked(schema.positive, schema.negative)]
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
        results = {Mode.POSITIVE: True, Mode.NEGATIVE: False, Mode.ABSENT: state.value(fact)}
        if len({results[mode] for mode in modes}) > 1:
            true.discard(fact)
            unknown.add(fact)
    return State(frozenset(true), state.objects, frozenset(unknown))


def changes(before: State, after: State) -> tuple[str, ...]:
    """The atoms that are other than before, ``+`` or ``-`` first; ``?`` where that is not known."""
    gained, hidden = after.true - before.true, after.unknown - before.unknown
    lost = (before.true | before.unknown) - after.true - after.unknown
    return (*signed(gained, lost), *(f"?{atom}" for atom in sorted(hidden)))


# The outcome of a plan by what was learned of an agent with chance: how probable it is, and between which limits.
#
# The limits come from an *interval Markov chain* (Givan, Leach and Dean, "Bounded-parameter Markov decision processes", 2000): in
# every step each outcome has any probability within its interval, an outcome that was never seen any probability that is not excluded,
# and what is worst (or best) for the plan is assumed. The true probabilities are one such choice, so with the confidence of the intervals
# the plan's are within the limits. They are wider than they would have to be, as the same action might have other probabilities each time.


MAX_STATES = 5000
"""States after a step that are told apart, at most; the least probable others count as unknown."""


class Chance(NamedTuple):
    """A probability: the estimate, and the limits."""

    estimate: float
    low: float
    high: float


class _Branch(NamedTuple):
    """One thing that may come of a step, and with which probability."""

    chance: Chance
    after: State | None
    """The state in which it ends by the model; None if nothing is known of it."""
    surely: bool
    """Whether it certainly ends in that state."""


@dataclass(frozen=True)
class _Moved:
    """What may come of a step in a state."""

    branches: tuple[_Branch, ...]
    surely: bool
    """Whether it is certain to be executed."""
    possible: bool
    """Whether it may be executed."""
    expected: bool
    """Whether the model says that it is executed."""
    why: str
    """Why it is not certain to be executed; empty if it is."""


class Ending(NamedTuple):
    """A state in which the plan may end, and how probable that is."""

    state: State
    chance: Chance


class Forecast:
    """What may come of a plan from a state that is fully known."""

    def __init__(self, account: ChanceAccount, initial: State, plan: Sequence[GroundAction]) -> None:
        # intervals and what is not excluded, of every action in the plan: all of that together
        usual, names = precision_of(account.within), {step.name for step in plan}
        precision = Precision(ALPHA / max(1, 2 * len(names)), usual.within, usual.concentration)
        known = retold(account.run.transcript, precision).actions
        self._known = {action.index.header.name: action for action in known}
        self.plan = tuple(plan)
        self._layers: list[dict[State, _Moved]] = []
        states = {initial: 1.0}
        for step in self.plan:
            layer = {state: self._moved(state, step) for state in states}
            self._layers.append(layer)
            reached: dict[State, float] = {}
            for state, moved in layer.items():
                for chance, after, _ in moved.branches:
                    if after is not None:
                        reached[after] = reached.get(after, 0.0) + states[state] * chance.estimate
            kept = sorted(reached, key=lambda state: (-reached[state], sorted(map(str, state.true))))
            states = {state: reached[state] for state in kept[:MAX_STATES]}
        self._initial = initial
        self._ends = tuple(states)

    def done(self, number: int) -> Chance:
        """How probable it is that the first so many steps are executed."""
        return self._value(number, lambda state: 1.0, unknown=1.0)

    @cached_property
    def endings(self) -> tuple[Ending, ...]:
        """The states in which the whole plan may end, likeliest first."""
        found = []
        for end in self._ends:
            chance = self._value(len(self.plan), lambda state, end=end: float(state == end), unknown=None)  # type: ignore[misc]
            found.append(Ending(end, chance))
        return tuple(sorted(found, key=lambda one: -one.chance.estimate))

    def reasons(self, number: int) -> list[str]:
        """Why step ``number`` (from 1) may not be executed, for each of the states in which it may come."""
        return list(dict.fromkeys(moved.why for moved in self._layers[number - 1].values() if moved.why))

    def _moved(self, state: State, step: GroundAction) -> _Moved:
        action = self._known[step.name]
        index, precondition = action.index, action.precondition
        held, _ = index.values(state, step.objects)
        violated = precondition.violated(held, 0)
        refused = bool(violated) and precondition.certain_to_fail(violated)
        cautious = precondition.violated(held, 0, precondition.cautious)
        if refused:
            why = _facts(action, cautious or violated, step, "{} does not hold", "{} holds")
            return _Moved((), False, False, False, why)
        branches = tuple(_branches(action, state, held, step))
        if not branches:
            return _Moved((), False, True, False, f"it comes: {step.name} was never executed")
        needed = _facts(action, violated, step, "{}", "not {}")
        why = f"it needs {needed}, which is not determined" if violated else ""
        return _Moved(branches, not violated, True, not cautious, why)

    def _value(self, steps: int, final: Callable[[State], float], *, unknown: float | None) -> Chance:
        """The expectation of ``final`` after so many steps (0 if one is refused), and its limits; ``unknown``: its value in states that are not known."""
        if steps == 0:
            value = final(self._initial)
            return Chance(value, value, value)
        last = self._layers[steps - 1].values()
        ends = {
            one.after: final(one.after) for moved in last for one in moved.branches if one.after is not None
        }
        lost = Chance(0.0, 0.0, 1.0) if unknown is None else Chance(unknown, unknown, unknown)
        values: Mapping[State, Chance] = {state: Chance(value, value, value) for state, value in ends.items()}
        for number in range(steps - 1, -1, -1):
            values = {state: _before(moved, values, lost) for state, moved in self._layers[number].items()}
            lost = Chance(0.0, 0.0, 1.0)
        return values[self._initial]


def _before(moved: _Moved, values: Mapping[State, Chance], lost: Chance) -> Chance:
    """The value before a step, from the values after it."""
    if not moved.possible:
        return Chance(0.0, 0.0, 0.0)
    if not moved.branches:
        return lost._replace(estimate=0.0, low=0.0)
    chances = [one.chance for one in moved.branches]
    after = [lost if one.after is None else values.get(one.after, lost) for one in moved.branches]
    surely = [value if one.surely else lost for one, value in zip(moved.branches, after, strict=True)]
    estimate = sum(chance.estimate * value.estimate for chance, value in zip(chances, after, strict=True))
    low = _extreme(chances, [value.low for value in surely], worst=True)
    high = _extreme(chances, [value.high for value in surely], worst=False)
    # rounding may leave the sum of all outcomes a little above one
    return Chance(min(1.0, estimate) if moved.expected else 0.0, low if moved.surely else 0.0, high)


def _extreme(chances: Sequence[Chance], values: Sequence[float], *, worst: bool) -> float:
    """The least (or largest) expectation with any probabilities within the limits that add up to one."""
    order = sorted(range(len(values)), key=lambda one: values[one], reverse=not worst)
    total = sum(chance.low * value for chance, value in zip(chances, values, strict=True))
    left = 1.0 - sum(chance.low for chance in chances)
    for one in order:
        more = min(max(0.0, left), chances[one].high - chances[one].low)
        total += more * values[one]
        left -= more
    return min(1.0, max(0.0, total + (0.0 if worst else max(0.0, left))))


def _branches(action: ActionKnowledge, state: State, held: int, step: GroundAction) -> list[_Branch]:
    """What may come of an execution; the last is what was never seen."""
    if not action.executed:
        return []
    begun = held & ~action.index.reported
    case, doubted = action.case(begun), action.dependence
    sure = case.explanation.sure and not action.doubtful and not doubted.unexplained
    found = []
    made = Step(0, step.objects, held)
    for one, often, after in zip(case.outcomes, case.frequencies, case.after(begun), strict=True):
        hidden = case.open_additions(one) & ~held | case.open_deletions(one) & held
        chance = Chance(often.probability, *((often.low, often.high) if sure else (0.0, 1.0)))
        found.append(_Branch(chance, successor(state, action, made, after), not hidden))
    return [*found, _Branch(Chance(0.0, 0.0, case.unseen if sure else 1.0), None, False)]


def _facts(action: ActionKnowledge, found: Literals, step: GroundAction, true: str, false: str) -> str:
    """Literals under the step's binding, each in the words for what is to be true, or false."""
    told = [true.format(atom) for atom in sorted(action.index.facts(found.positive, step.objects))]
    told += [false.format(atom) for atom in sorted(action.index.facts(found.negative, step.objects))]
    return some(told, 4)

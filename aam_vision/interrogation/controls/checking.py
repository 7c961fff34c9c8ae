"""Situations that could show that a case is described too simply.

Five things are checked of every case. Its examples may have more in common than its condition says, since nothing called for
an object that only this concerns (all things that were ever held before a locked door were keys): it is tried where its
condition holds and something of that is missing. And where several visible changes were read as one case, since what was
not seen was so already, each of them may have a condition of its own: the case is tried where all but one fact of its
condition hold, in the company of each of these changes. And its parameters have the types of what was met so far: it is
tried where its condition holds of things of another type. And where it requires that a fact about no object is false (the
hand is not free), it is tried where that is true: what is required may be an object that it does not name (this key is held).
And it is tried where values of facts come together that were met one by one only: it may need one or the
other of two facts (the door is open, or the key is held).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from aam_vision.interrogation.controls.cases import Condition
from aam_vision.interrogation.controls.operators import Operator, Transition
from aam_vision.interrogation.controls.reach import Bindings, Place, Reach, Way
from aam_vision.interrogation.controls.rules import Rule, Rules
from aam_vision.interrogation.hypotheses.literals import AtomIndex, bits
from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, State, Vocabulary
from aam_vision.planning.joins import StateIndex, bindings

NEAR = 3
"""Bindings that are looked at for each fact that is left out."""
WIDE = 16
"""Bindings in one situation that are looked at for values that were never met together."""


class ValuePairs:
    """The pairs of values with which one case was tried."""

    def __init__(self, index: AtomIndex) -> None:
        self._index = index
        self._width = index.everything.bit_length()
        self._beside: dict[int, int] = {}
        """By value, those that were met together with it."""
        self.added = 0
        """How often something was added that was not known."""

    def add(self, state: State, objects: tuple[str, ...]) -> bool:
        """Note that the case was tried in a state with these objects; whether some value was never met before."""
        values, known = self.values(state, objects), len(self._beside)
        for value in bits(values):
            before = self._beside.get(value, 0)
            if values & ~before:
                self._beside[value] = before | values
                self.added += 1
        return len(self._beside) > known

    def new(self, values: int) -> bool:
        """Whether some of these values were met one by one, but never together; once it is not so, it will be only after a new value."""
        known = [(value, self._beside[value]) for value in bits(values) if value in self._beside]
        met = sum([value for value, _ in known])
        return any(met & ~beside for _, beside in known)

    def values(self, state: State, objects: tuple[str, ...]) -> int:
        """A bit for every fact that is true, and another for every one that is false; none for what is unknown."""
        held, unknown = self._index.values(state, objects)
        return held | (self._index.everything & ~(held | unknown)) << self._width


class _Question(NamedTuple):
    """Where do these facts hold of a case's parameters? ``answers``: the first bindings, by situation."""

    header: ActionHeader
    required: tuple[LiftedAtom, ...]
    answers: dict[Place, Bindings]

    def of(self, place: Place) -> Bindings:
        """The first bindings in a situation."""
        found = self.answers.get(place)
        if found is None:
            found = tuple(islice(bindings(place.index, self.header, self.required), NEAR))
            self.answers[place] = found
        return found

    def given(self, index: StateIndex, control: GroundAction) -> Bindings:
        """The first bindings that a control with these arguments may have in a situation."""
        match = LiftedAtom("", tuple(range(len(control.objects)))), control.objects
        return tuple(islice(bindings(index, self.header, self.required, match=match), NEAR))


class _LeftOut(NamedTuple):
    """Some of a condition is left out: ``without`` is not true, or one of ``despite`` is; in the company of a change."""

    change: Hashable
    question: _Question
    without: LiftedAtom | None = None
    despite: tuple[LiftedAtom, ...] = ()


@dataclass
class _Checked:
    """What the examples of one case have in common, and what was tried with it."""

    rule: Rule
    pairs: ValuePairs
    common: frozenset[int] | None = None
    """Facts about what the situation points out."""
    trials: tuple[_LeftOut, ...] = ()
    """What of the condition may be left out in the company of each visible change."""
    left_out: set[tuple[Hashable, LiftedAtom]] = field(default_factory=set)
    """By visible change, the facts that were left out once."""
    wider: _Question | None = None
    """Where does the condition hold of the types that the vocabulary allows, if these are wider?"""
    types: set[tuple[int, str]] = field(default_factory=set)
    """By parameter, other types that were tried."""
    number: int = 0
    """Transitions of the control that were looked at for that."""
    spent: set[Place] = field(default_factory=set)
    """Situations in which there is nothing to refute, nor will be."""
    values: dict[tuple[Place, tuple[str, ...]], int] = field(default_factory=dict)
    """By situation and binding, the values that come together there."""
    together: set[tuple[Place, tuple[str, ...]]] = field(default_factory=set)
    """Situations and bindings whose values were all met together."""
    gains: dict[Place, list[tuple[GroundAction, int]]] = field(default_factory=dict)
    """By situation, the controls with which something could be refuted there, as long as nothing more was tried."""

    @property
    def tried(self) -> Hashable:
        """What the gains rest on."""
        return self.pairs.added, self.common, len(self.left_out), len(self.types)

    def meets_new(self, place: Place, objects: tuple[str, ...]) -> bool:
        """Whether values come together there that were met one by one only."""
        key = place, objects
        if key in self.together:
            return False
        values = self.values.get(key)
        if values is None:
            values = self.values[key] = self.pairs.values(place.state, objects)
        new = self.pairs.new(values)
        if not new:
            self.together.add(key)
        return new


class Checker:
    """Looks for situations that could refute a case."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._giving = reach.giving
        self._checked: dict[str, _Checked] = {}
        self._of: tuple[Rules, int] | None = None

    def way(self, rules: Rules) -> Way | None:
        """The way to where most can be refuted for the fewest steps; None if there is nothing to refute near."""
        self._bring_up_to_date(rules)
        best, found = 0.0, None
        for node in self._reach.nodes():
            given = self._giving.given_in(node.state)
            for one in self._checked.values():
                if node.place in one.spent:
                    continue
                gains = one.gains.get(node.place)
                if gains is None:
                    gains = one.gains[node.place] = [each for each in self._gains(one, node.place) if each[1]]
                more = False
                for control, gain in gains:
                    if control in given:
                        continue
                    more = True
                    if gain / (len(node.way) + 1) > best:
                        best, found = gain / (len(node.way) + 1), Way(node.start, (*node.way, control))
                if not more:
                    one.spent.add(node.place)
        return found

    def _gains(self, one: _Checked, place: Place) -> Iterator[tuple[GroundAction, int]]:
        operator = one.rule.operator
        for number, objects in enumerate(self._reach.bindings(place, one.rule)[:WIDE]):
            control = operator.instructed(objects)
            if number < NEAR:
                facts = self._reach.standpoint(place, control).facts
                yield control, len((one.common or frozenset()) - facts)
            yield control, int(one.meets_new(place, objects))
        for control, _ in _left_out(one, place.state, lambda asked: asked.of(place)):
            yield control, 1
        for control, _ in _other_types(one, place.state, lambda asked: asked.of(place)):
            yield control, 1

    def _bring_up_to_date(self, rules: Rules) -> None:
        changed = self._reach.bring_up_to_date(rules)
        if changed or self._of != (rules, rules.widened):
            self._checked = {name: self._case(rule, rules) for name, rule in rules.by_name.items()}
            self._of = rules, rules.widened
        for one in self._checked.values():
            transitions, before = self._giving.transitions[one.rule.operator.control], one.tried
            for transition in transitions[one.number :]:
                self._take_in(one, transition, rules)
            one.number = len(transitions)
            if one.tried != before:
                one.gains.clear()

    def _case(self, rule: Rule, rules: Rules) -> _Checked:
        operator, condition, vocabulary = rule.operator, rule.condition, rules.discovery.vocabulary
        header, index = operator.header, AtomIndex(vocabulary, operator.header)
        one, wider = _Checked(rule, ValuePairs(condition.index)), _wider(rule, vocabulary)
        if wider is not None:
            one.wider = self._question(wider, condition.required)
        changes: dict[Hashable, Condition] = {}
        for example in rules.examples(header.name):
            change = _visible(operator, example.transition, example.objects)
            changes.setdefault(change, Condition(index)).extend(example)
        forbidden = tuple(condition.index.select(condition.literals.negative & condition.seen))
        aside = tuple(atom for atom in forbidden if not atom.arguments)
        if aside:
            one.trials = (_LeftOut((), self._question(header, condition.required), despite=aside),)
        if len(changes) > 1:
            for change, its in changes.items():
                for atom in condition.required:
                    others = self._question(header, [other for other in its.required if other != atom])
                    one.trials += (_LeftOut(change, others, without=atom),)
                one.trials += (_LeftOut(change, self._question(header, its.required), despite=forbidden),)
        return one

    def _question(self, header: ActionHeader, required: Sequence[LiftedAtom]) -> _Question:
        asked = header, tuple(required)
        return _Question(*asked, self._reach.answers(asked))

    def _take_in(self, one: _Checked, transition: Transition, rules: Rules) -> None:
        owner = rules.owner(transition)
        place = self._reach.place(transition.before)
        for objects in islice(one.rule.condition.bindings(place.index, transition.control.objects), NEAR):
            if one.pairs.add(place.state, objects):
                one.spent.clear()
                one.together.clear()
        if owner is not None and owner.name == one.rule.operator.header.name:
            facts = self._reach.standpoint(place, transition.control).facts
            one.common = facts if one.common is None else one.common & facts
            return
        state, control = transition.before, transition.control
        index = self._giving.indices.of(state)
        one.types |= {new for _, new in _other_types(one, state, lambda asked: asked.given(index, control))}
        one.left_out |= {left for _, left in _left_out(one, state, lambda asked: asked.given(index, control))}


def _wider(rule: Rule, vocabulary: Vocabulary) -> ActionHeader | None:
    """The header with the widest types that its atoms allow; None if these are its own."""
    header, types = rule.operator.header, list(rule.operator.header.types)
    declared = {predicate.name: predicate.types for predicate in vocabulary.predicates}
    atoms = [*rule.condition.required, *[effect.atom for effect in rule.operator.effects]]
    for place in range(rule.operator.given, header.arity):
        allowed = {
            kind
            for atom in atoms
            for kind, argument in zip(declared[atom.predicate], atom.arguments, strict=True)
            if argument == place
        }
        for kind in sorted(allowed):
            if all(vocabulary.types.is_a(kind, other) for other in allowed):
                types[place] = kind
    return None if tuple(types) == header.types else replace(header, types=tuple(types))


def _other_types(
    one: _Checked, state: State, answer: Callable[[_Question], Bindings]
) -> Iterator[tuple[GroundAction, tuple[int, str]]]:
    """Parameters and their types, other than those of the case, with which its condition holds and that were not tried."""
    if one.wider is None:
        return
    operator, objects = one.rule.operator, state.objects
    for found in answer(one.wider):
        for place, (name, kind) in enumerate(zip(found, operator.header.types, strict=True)):
            new = place, objects[name]
            if name not in objects.members(kind) and new not in one.types:
                yield operator.instructed(found), new


def _visible(operator: Operator, transition: Transition, objects: tuple[str, ...]) -> Hashable:
    """The effects of an operator that were seen."""
    return tuple([effect.atom.ground(objects) in transition.change for effect in operator.effects])


def _left_out(
    one: _Checked, state: State, answer: Callable[[_Question], Bindings]
) -> Iterator[tuple[GroundAction, tuple[Hashable, LiftedAtom]]]:
    """What was not left out yet of the conditions of a case, and is in a situation."""
    operator, true = one.rule.operator, state.true
    for trial in one.trials:
        if trial.without is None:
            for objects in answer(trial.question):
                for atom in trial.despite:
                    left = trial.change, atom
                    if left not in one.left_out and atom.ground(objects) in true:
                        yield operator.instructed(objects), left
        elif (left := (trial.change, trial.without)) not in one.left_out:
            for objects in answer(trial.question):
                if trial.without.ground(objects) not in true:
                    yield operator.instructed(objects), left
                    break

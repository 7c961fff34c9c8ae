"""The operators of a discovery as rules: which one a control has carried out, and how; and what a learned model says that it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aam_vision.interrogation.controls.cases import Condition, Example, contradicted
from aam_vision.interrogation.controls.discovery import Discovery
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.operators import Operator, Outcome, Transition, explanations
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.strips import ActionSchema, GroundAction, LiftedAtom, Model, State
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.support.errors import AamError


class Refuted(AamError):
    """Raised when a transition shows that the operators are not the right ones: they have to be found anew."""


class Rule(NamedTuple):
    """An operator, and the narrowest condition that it may have."""

    operator: Operator
    condition: Condition


class Rules:
    """The operators of a discovery, compared with every transition as it is seen.

    ``lasting``: keep the operators whatever is seen; ``refuted`` says what refutes them.
    """

    def __init__(self, discovery: Discovery, giving: Giving, *, lasting: bool = False) -> None:
        self.discovery = discovery
        self.refuted: str | None = None
        """What refuted the operators first, if anything did."""
        self._lasting = lasting
        self._giving = giving
        self._rules: dict[str, list[Rule]] = {control.name: [] for control in giving.controls}
        self.by_name: dict[str, Rule] = {}
        for operator in discovery.operators:
            index = AtomIndex(discovery.vocabulary, operator.header)
            rule = Rule(operator, Condition(index, discovery.examples[operator.header.name]))
            self._rules[operator.control].append(rule)
            self.by_name[operator.header.name] = rule
        self._owners: dict[int, tuple[Transition, Operator, tuple[str, ...]]] = {
            id(example.transition): (example.transition, self.by_name[name].operator, example.objects)
            for name, examples in discovery.examples.items()
            for example in examples
        }
        self._unexplained = {id(one): one for one in discovery.unexplained}
        self.began = self.widened = giving.steps
        """How many controls had been given at first, and when a condition became wider for the last time."""
        self.guessed: set[str] = set()
        """Operators that were taken for the one carried out where another one would have explained it, too."""

    def of(self, control: str) -> list[Rule]:
        """The operators that a control may carry out, as rules."""
        return self._rules[control]

    def examples(self, name: str) -> list[Example]:
        """The transitions that show an operator, in the order in which they were taken in."""
        return [
            Example(transition, objects)
            for transition, operator, objects in self._owners.values()
            if operator.header.name == name
        ]

    def explanations(self, transition: Transition) -> Iterator[tuple[Rule, tuple[str, ...]]]:
        """The operators that a transition may show, each with a binding."""
        for rule in self._rules[transition.control.name]:
            operator = rule.operator
            for objects in explanations(
                operator.effects, operator.header.arity, operator.derivations, transition
            ):
                if transition.before.objects.fit(objects, operator.header.types) and (
                    operator.pivot is None or operator.visible(transition.before, objects)
                ):
                    yield rule, objects

    def owner(self, transition: Transition) -> GroundAction | None:
        """The operator that a transition shows; None where nothing changed, or no operator explains it.

        Raises:
            Refuted: a new transition cannot be explained by these operators, or not by conjunctions of facts.
        """
        known = self._owners.get(id(transition))
        if known is None:
            self._take_in(transition)
            known = self._owners.get(id(transition))
        return None if known is None else GroundAction(known[1].header.name, known[2])

    def _take_in(self, transition: Transition) -> None:
        """Compare a transition with all operators of its control, and widen the condition of the one that it shows."""
        if id(transition) in self._unexplained:
            return
        index = self._giving.indices.of(transition.before)
        if transition.change:
            found = list(self.explanations(transition))
            if not found:
                self._refute(transition, f"{transition.control} did something that no operator explains")
                return
            self._widen(transition, found)
        for rule in self._rules[transition.control.name]:
            if contradicted(rule.condition, rule.operator.effects, transition, index):
                self._refute(
                    transition,
                    f"{rule.operator.header.name} was not carried out though all that it may require held",
                )

    def _widen(self, transition: Transition, found: list[tuple[Rule, tuple[str, ...]]]) -> None:
        """Take a transition for an example of the first rule that surely explains it, else of the first that may be widened to."""
        certain = [
            (rule, objects) for rule, objects in found if rule.condition.holds(transition.before, objects)
        ]
        if len(found) > 1 and not certain:
            self.guessed.update(one.operator.header.name for one, _ in found)
        for rule, objects in certain or found:
            condition = rule.condition
            narrow = condition.literals, condition.seen
            wider = condition.extend(Example(transition, objects))
            self._owners[id(transition)] = transition, rule.operator, objects
            if not wider:
                return
            if not any(
                contradicted(condition, rule.operator.effects, one, self._giving.indices.of(one.before))
                for one in self._giving.transitions[transition.control.name]
            ):
                self.widened = self._giving.steps
                return
            if rule is not found[-1][0]:
                condition.literals, condition.seen = narrow
        self.widened = self._giving.steps
        self._refute(
            transition, f"{rule.operator.header.name} requires different things in different situations"
        )

    def _refute(self, transition: Transition, why: str) -> None:
        """Say that the operators are not the right ones; raises ``Refuted`` unless they are to be kept."""
        self.refuted = self.refuted or why
        if not self._lasting:
            raise Refuted(why)
        self._unexplained[id(transition)] = transition

    def carried_out(
        self, operator: Operator, transition: Transition, objects: tuple[str, ...]
    ) -> bool | None:
        """Whether a transition of its control carried out an operator under a binding; None if that cannot be told."""
        for derivation in operator.derivations:
            if transition.before.value(derivation.fact.ground(objects)) is False:
                return False
        outcome = operator.outcome(transition, objects)
        if outcome is Outcome.CONTRADICTED:
            return False
        visible = operator.visible(transition.before, objects)
        if outcome is Outcome.NOTHING_TO_SEE:
            return False if visible is False else None
        if operator.pivot is not None and visible is False:
            return False
        owner = self.owner(transition)
        if owner == GroundAction(operator.header.name, objects):
            alone = len(list(self.explanations(transition))) == 1
            rule = self.by_name[operator.header.name]
            return True if alone or rule.condition.holds(transition.before, objects) else None
        return None

    def take_for_refusals(self, hypotheses: Hypotheses) -> None:
        """Learn from all that was seen where, as the model says, an operator is carried out, and was not.

        Where not all of it was asked about, the model leaves out what has to be false. Two operators of a control would then be
        carried out in situations in which only one of them was.
        """
        for name, (operator, _) in self.by_name.items():
            action = hypotheses[name]
            for transition in self._giving.transitions[operator.control]:
                index, given = self._giving.indices.of(transition.before), transition.control.objects
                for objects in _carried_out(operator, action.schema(), given, transition.before, index):
                    values = action.index.values(transition.before, objects)
                    contradicted = operator.outcome(transition, objects) is Outcome.CONTRADICTED
                    if contradicted and action.violated(*values):
                        action.failed(*values)

    def likely(self, state: State, index: StateIndex) -> dict[GroundAction, State]:
        """The controls that surely do something in a state if the conditions are as narrow as they may be.

        With the state that they lead to. ``index`` is that of the state.
        """
        found: dict[GroundAction, State] = {}
        for rule in self.by_name.values():
            for objects in rule.condition.bindings(index):
                after = rule.operator.changes.applied(state, objects)
                if after != state:
                    found.setdefault(rule.operator.instructed(objects), after)
        return found


def _carried_out(
    operator: Operator, schema: ActionSchema, given: tuple[str, ...], state: State, index: StateIndex
) -> Iterator[tuple[str, ...]]:
    """The bindings under which a control with these arguments carries out an operator in a state, as its schema says."""
    match = LiftedAtom("", tuple(range(operator.given))), given
    for objects in bindings(index, schema.header, sorted(schema.positive, key=str), match=match):
        if schema.applicable(state, objects):
            yield objects


class ControlModel:
    """A model of operators, read as a model of the controls that carry them out."""

    def __init__(self, model: Model, operators: Sequence[Operator]) -> None:
        self._model = model
        self._operators: Mapping[str, list[Operator]] = {
            operator.control: [one for one in operators if one.control == operator.control]
            for operator in operators
        }

    def next_states(self, state: State, control: GroundAction, index: StateIndex | None = None) -> set[State]:
        """The states that the applicable operators of a control lead to; the state itself where none is applicable.

        More than one where the model contradicts itself. ``index`` is that of the state, where it is known already.
        """
        index = index or StateIndex(state)
        found = set()
        for operator in self._operators.get(control.name, ()):
            schema = self._model.schema(operator.header.name)
            for objects in _carried_out(operator, schema, control.objects, state, index):
                found.add(schema.successor(state, objects))
        return found or {state}

    def agrees(
        self, state: State, control: GroundAction, after: State, index: StateIndex | None = None
    ) -> bool:
        """Whether it predicts the state after a control, and nothing else; unknown atoms agree with everything."""
        found = self.next_states(state, control, index)
        return len(found) == 1 and all(
            (value := one.value(atom)) is None or (seen := after.value(atom)) is None or value == seen
            for one in found
            for atom in one.true | after.true
        )

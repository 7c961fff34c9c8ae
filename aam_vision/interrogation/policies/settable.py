"""The economical policy under ``settable`` access, the paper's own setting: any state may be asked about.

Every undecided literal can be tested then: take a situation in which the action succeeded, and change the
one atom. So nothing is left undetermined, and the art is in the number of queries:

- walks first, as under ``snapshot`` access;
- what is probably spurious is refuted in one step that violates all of it (and by halves if refused);
- such a step is expected to succeed, so it becomes the prefix of a query whose last step is a near
  miss: one state serves both, made from two situations in which the two actions succeeded.

An action that no walk has shown is first executed in states made for it: with every atom of its arguments
true, as in the paper's own experiments, or with all but those that could forbid it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from aam_vision.interrogation.beliefs import Beliefs
from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.hypotheses import ActionHypotheses, Literals, bits, union
from aam_vision.interrogation.moves import Ask, Move, Stop
from aam_vision.interrogation.walking import Walker
from aam_vision.joins import bindings
from aam_vision.query import Situation
from aam_vision.strips import Atom, GroundAction, State

EXEMPLARS = 12
"""Successes of an action that are tried as models for a state."""


@dataclass
class SettablePolicy:
    """Few questions, each about a state made for it."""

    walker: Walker = field(default_factory=Walker)
    _beliefs: Beliefs | None = None
    _halves: dict[str, list[Literals]] = field(default_factory=dict)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk, make unseen actions succeed, prove with refutations riding along, stop."""
        if self._beliefs is None:
            walk = self.walker.next(evidence, rng)
            if walk is not None:
                return walk
            self._beliefs = Beliefs(evidence.hypotheses, evidence.nodes, by_kind=False)
        return (
            self._first_success(evidence)
            or self._proof(evidence)
            or self._refutation(evidence)
            or self._effect(evidence)
            or self._stop(evidence)
        )

    # --- queries ---------------------------------------------------------------------------------

    def _first_success(self, evidence: Evidence) -> Ask | None:
        """A state in which an action never executed so far should be executable."""
        for name, action in evidence.hypotheses.actions.items():
            if action.successes:
                continue
            for node in _starts(evidence):
                for objects in islice(bindings(node.index, action.index.header, ()), 1):
                    # all true satisfies every positive precondition; refusals leave clauses, which say
                    # what else must be false
                    for off in _choices(action):
                        literals = Literals(action.index.everything & ~off, 0)
                        state = _with(node.state, action, objects, literals.positive, off)
                        violated = action.violated(*action.index.values(state, objects))
                        if not action.certain_to_fail(violated):
                            return _ask(evidence, state, [GroundAction(name, objects)], f"see {name} succeed")
        return None

    def _proof(self, evidence: Evidence) -> Ask | None:
        """A near miss of something probably true, behind a refutation if one fits."""
        for name, action in evidence.hypotheses.actions.items():
            if not action.successes:
                continue
            for target in self._split(name, action)[0]:
                return self._ride(evidence, name, target) or self._near_miss(evidence, name, target)
        return None

    def _refutation(self, evidence: Evidence) -> Ask | None:
        """A step that violates a group of probably spurious literals at once."""
        for name, action in evidence.hypotheses.actions.items():
            group = self._group(name, action)
            if group:
                ask = self._near_miss(evidence, name, group)
                if ask is not None:
                    return ask
        return None

    def _near_miss(self, evidence: Evidence, name: str, group: Literals) -> Ask | None:
        """A single step that violates exactly this group."""
        action = evidence.hypotheses[name]
        for node, objects in _exemplars(evidence, name):
            state = _violating(node.state, action, objects, group)
            if action.violated(*action.index.values(state, objects)) == group:
                text = ", ".join(action.index.text(group))
                return _ask(evidence, state, [GroundAction(name, objects)], f"test {text}")
        return None

    def _ride(self, evidence: Evidence, name: str, target: Literals) -> Ask | None:
        """A near miss as the second step, behind a refutation that is expected to succeed."""
        action = evidence.hypotheses[name]
        candidates = action.candidates
        for first_name, first in evidence.hypotheses.actions.items():
            group = self._group(first_name, first)
            if not group or not first.successes:
                continue
            for node, first_objects in _exemplars(evidence, first_name):
                base = _violating(node.state, first, first_objects, group)
                for other, objects in _exemplars(evidence, name):
                    if other.state.objects != node.state.objects:
                        continue
                    on = candidates.positive & ~target.positive | target.negative
                    off = candidates.negative & ~target.negative | target.positive
                    state = _with(base, action, objects, on, off)
                    if first.violated(*first.index.values(state, first_objects)) != group:
                        continue
                    step = GroundAction(first_name, first_objects)
                    after = evidence.predict(state, step)
                    if action.violated(*action.index.values(after, objects)) == target:
                        text = ", ".join(action.index.text(target))
                        also = ", ".join(first.index.text(group))
                        plan = [step, GroundAction(name, objects)]
                        return _ask(evidence, state, plan, f"refute {also}; then test {text}")
        return None

    def _effect(self, evidence: Evidence) -> Ask | None:
        """A step expected to succeed in a state where an undecided effect shows."""
        for name, action in evidence.hypotheses.actions.items():
            for bit in bits(action.undecided_effects) if action.successes else ():
                for node, objects in _exemplars(evidence, name):
                    shows_when_true = not action.adds & bit
                    state = _with(
                        node.state,
                        action,
                        objects,
                        bit if shows_when_true else 0,
                        0 if shows_when_true else bit,
                    )
                    if not action.violated(*action.index.values(state, objects)):
                        text = action.index.text(Literals(bit, 0))[0]
                        return _ask(
                            evidence, state, [GroundAction(name, objects)], f"see the effect on {text}"
                        )
        return None

    def _stop(self, evidence: Evidence) -> Stop:
        left = evidence.hypotheses.size - evidence.hypotheses.decided()
        if left:
            return Stop(False, f"{left} pal tuples are undecided, but no state to ask about was found")
        return Stop(True, "every pal tuple is decided")

    # --- choices ---------------------------------------------------------------------------------

    def _split(self, name: str, action: ActionHypotheses) -> tuple[list[Literals], list[Literals]]:
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        return self._beliefs.split(name, action)

    def _group(self, name: str, action: ActionHypotheses) -> Literals:
        """Probably spurious literals to refute together: all, or half of the smallest clause of them."""
        suspects = union(self._split(name, action)[1])
        inside = [clause for clause in action.clauses if clause.within(suspects)]
        if not inside:
            return suspects
        singles = list(min(inside, key=Literals.size).singles())
        return union(singles[: len(singles) // 2])


def _starts(evidence: Evidence) -> list[Node]:
    return [node for node in evidence.nodes if node.situation is not None][:1]


def _exemplars(evidence: Evidence, name: str) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Situations in which the action was executed, with the arguments; latest first."""
    found = (
        (edge.before, edge.action.objects)
        for edge in reversed(evidence.edges)
        if edge.action.name == name and not edge.before.state.unknown
    )
    return islice(found, EXEMPLARS)


def _violating(state: State, action: ActionHypotheses, objects: tuple[str, ...], group: Literals) -> State:
    return _with(state, action, objects, group.negative, group.positive)


def _with(state: State, action: ActionHypotheses, objects: tuple[str, ...], on: int, off: int) -> State:
    """The state with some of the action's atoms switched on and others off."""
    facts = dict(action.index.grounded(objects))
    true = state.true | {Atom(*facts[bit]) for bit in bits(on)}
    return State(true - {Atom(*facts[bit]) for bit in bits(off)}, state.objects)


def _choices(action: ActionHypotheses) -> Iterator[int]:
    """Atoms to leave false in an otherwise true state: none, then one by one."""
    yield 0
    yield from bits(action.negative)


def _ask(evidence: Evidence, state: State, plan: list[GroundAction], why: str) -> Ask:
    return Ask(evidence.situation(Situation(state, state)), tuple(plan), why)

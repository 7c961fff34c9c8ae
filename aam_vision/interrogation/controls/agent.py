"""The discovered operators as the instructions of an agent, so that the engine that stands can ask about them.

An instruction is executed if giving its control brings about exactly the operator's effects; else the agent stays where
it was. What cannot be told (nothing changed, and nothing would have; or two operators explain the change) is not told.

What no answer can tell of an operator, since another one of its control does the same wherever it would show.

Whether an operator is carried out that may require a literal shows where that is violated and all else holds. If the
condition of another operator of the control holds in all such situations, and its effects come to the same there, the
change has two explanations. Then the control's next state is the same, whether the literal is required or not: the
question cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from aam_vision.interrogation.completeness.indistinguishability import NONE, Closure
from aam_vision.interrogation.controls.conditional import Facts, values_after
from aam_vision.interrogation.controls.exploring import Chooser
from aam_vision.interrogation.controls.giving import Giving
from aam_vision.interrogation.controls.operators import Operator, Transition, moved
from aam_vision.interrogation.controls.rules import Rules
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep, refuses_surely
from aam_vision.model.strips import ActionHeader, Types, Vocabulary

ATTEMPTS = 3
"""Controls that are given for one step of a walk, at most."""
LIKELY = 0.75
"""Share of the controls of a walk that are chosen because they probably do something."""
PATIENCE = 20
"""Once so many controls have taught nothing, walks show only what was given before."""


class Overlaps:
    """Finds, of the literals that operators may require, those that no answer can tell."""

    def __init__(self, operators: Sequence[Operator], types: Types) -> None:
        self._operators = operators
        self._types = types

    def __call__(self, hypotheses: Hypotheses, beyond: Closure) -> dict[tuple[str, Literals], str]:
        """By operator and undecided literal, why it cannot matter.

        ``beyond``: what is proven never to be violated in a situation that can be reached and where all else that is
        proven of the operator holds. It is taken to hold there.
        """
        found: dict[tuple[str, Literals], str] = {}
        for one in self._operators:
            name = one.header.name
            action, closed = hypotheses[name], beyond.get(name, NONE).literals
            holding = union([action.proven, closed])
            for literal in action.undecided.without(closed).singles():
                known = _facts(action, union([holding.without(literal), literal.opposite()]))
                other = self._same_effects(one, known, hypotheses, beyond)
                if other is not None:
                    (text,) = action.index.text(literal.opposite())
                    found[name, literal] = f"where {text}, {other} does the same"
        return found

    def _same_effects(
        self, one: Operator, known: Facts, hypotheses: Hypotheses, beyond: Closure
    ) -> str | None:
        """Another operator that is certainly carried out where this is known, and has the effects of this one there."""
        then = values_after(one.changes, known)
        for other in self._operators if then else ():
            needs = None
            if other is not one and other.control == one.control:
                name = other.header.name
                needs = _needs(hypotheses[name], beyond.get(name, NONE).literals)
            if needs is None:
                continue
            for places in self._places(one, other):
                if any(known.get(moved(atom, places)) != value for atom, value in needs.items()):
                    continue
                there = replace(other, effects=tuple([effect.moved(places) for effect in other.effects]))
                if then == values_after(there.changes, known):
                    return other.header.name
        return None

    def _places(self, one: Operator, other: Operator) -> Iterator[tuple[int, ...]]:
        """The parameters of one operator that the other's parameters may be, those that the control names being the same."""
        given, types = one.given, one.header.types
        for rest in permutations(range(given, len(types)), other.header.arity - given):
            places = (*range(given), *rest)
            if all(
                self._types.is_a(types[p], kind) for p, kind in zip(places, other.header.types, strict=True)
            ):
                yield places


def _facts(action: ActionHypotheses, literals: Literals) -> Facts:
    """The values of atoms where these literals hold."""
    index = action.index
    return dict.fromkeys(index.select(literals.positive), True) | dict.fromkeys(
        index.select(literals.negative), False
    )


def _needs(action: ActionHypotheses, closed: Literals) -> Facts | None:
    """What suffices for an action to be executed in a situation that can be reached; None if that is not known."""
    needs = action.candidates.without(closed)
    contradictory = needs.positive & needs.negative or any(one.within(closed) for one in action.clauses)
    return None if contradictory or not action.successes else _facts(action, needs)


class OperatorAgent:
    """An agent whose instructions are the operators of a discovery.

    Raises (``ask`` and ``walk``):
        Refuted: what was seen shows that these are not the operators.
    """

    access = Access.SNAPSHOT

    def __init__(self, giving: Giving, rules: Rules) -> None:
        self._giving = giving
        self._rules = rules
        self._recalled = False
        self._chooser = Chooser(giving)
        self.asked = 0
        """Queries so far."""

    @property
    def vocabulary(self) -> Vocabulary:
        return self._rules.discovery.vocabulary

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._rules.discovery.headers

    @property
    def refuses_surely(self) -> bool:
        return refuses_surely(self._giving.agent)

    def initial(self) -> Sequence[Situation]:
        return self._giving.initial()

    def ask(self, query: Query) -> Response:
        """Give the control of every step, and compare what comes of it with the step's operator."""
        situation = query.initial
        self.asked += 1
        for number, step in enumerate(query.plan):
            operator = self._rules.by_name[step.name].operator
            transition, after = self._giving.give(situation, operator.instructed(step.objects))
            self._rules.owner(transition)
            done = self._rules.carried_out(operator, transition, step.objects)
            if not done:
                return Response(number, situation, told=number if done is None else None)
            situation = after
        if not query.plan:
            return self._giving.look(query)
        return Response(len(query.plan), situation)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Give controls; only what did something is shown.

        The first walk shows all that was given before this interrogation, wherever it was given.
        """
        if not self._recalled:
            self._recalled = True
            if recalled := self._recall():
                return recalled
        walked: list[WalkStep] = []
        here = start
        for _ in range(steps):
            step = self._step(here, rng)
            if step is None:
                break
            walked.append(step)
            here = step.after
        return walked

    def _recall(self) -> list[WalkStep]:
        """The steps of which it is known which operators they carried out."""
        found = []
        for before, transition, after in self._giving.given:
            step = self._told(before, transition, after)
            if step is not None:
                found.append(step)
        return found

    def _step(self, here: Situation, rng: np.random.Generator) -> WalkStep | None:
        for _ in range(ATTEMPTS):
            if self._giving.steps - self._rules.widened > PATIENCE:
                return None
            control = self._chooser.next(here, self._rules, rng, LIKELY)
            if control is None:
                return None
            transition, after = self._giving.give(here, control)
            if step := self._told(here, transition, after):
                return step
        return None

    def _told(self, before: Situation, transition: Transition, after: Situation) -> WalkStep | None:
        """The step that a control made, if it did something that can be told."""
        owner = self._rules.owner(transition)
        if owner is None:
            return None
        operator = self._rules.by_name[owner.name].operator
        if not self._rules.carried_out(operator, transition, owner.objects):
            return None
        return WalkStep(before, owner, after)

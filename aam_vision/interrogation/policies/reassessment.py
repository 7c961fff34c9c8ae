"""Re-assessment under ``settable`` access: a model learned earlier says where every action should succeed.

That takes the place of most walking. What a short walk has not shown is asked for where the earlier model just allows an
action: all that it requires holds, and of the action's other atoms nothing. If it succeeds, no other positive literal is
required; if not, it has changed. And it is asked for where its other atoms hold, too, so that no further negative literal
is required and all effects are seen. As many such steps as one state can serve make one plan, which ends with a step that
should be refused: a query that proves a precondition is needed anyhow.

From there on nothing is believed because it was so before: every precondition is proven again by a failing near miss,
as any sound interrogation must. The earlier model only says what is asked first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.policies.walking import Walker, after_walking
from aam_vision.interrogation.queries.argument_choices import ArgumentChoices
from aam_vision.interrogation.queries.constructed_states import roomiest
from aam_vision.joins import Fact
from aam_vision.query import Situation
from aam_vision.strips import Atom, GroundAction, LiftedAtom, Model, State

SUCCESS = "success as before"
"""The purpose of steps that should succeed if the earlier model still holds."""
UNCHANGED = 0.95
"""The probability that a literal which was a precondition still is one."""
NEW = 0.01
"""The probability that one which was none has become one."""
TIMES = 2
"""How often a success is asked for whose effects other steps may hide."""


class PriorBeliefs(Beliefs):
    """What an earlier model required is probably required still, and else what chance does not explain."""

    def __init__(self, prior: Model, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        super().__init__(hypotheses, nodes)
        self._required = requirements(prior, hypotheses)

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        required = self._required[name]
        known = literal.positive & required.positive or literal.negative & required.negative
        return self.posterior(UNCHANGED if known else NEW, name, literal)


class ExpectedSuccess(NamedTuple):
    """A success to be seen, where all else that is said of the arguments is ``others``."""

    name: str
    others: bool


@dataclass
class ReassessmentPolicy:
    """A short walk; successes of all actions where the earlier model expects them; then the economical questions."""

    prior: Model
    walker: Walker = field(default_factory=lambda: Walker(limit=40))
    rest: SettablePolicy = field(init=False)
    _required: Mapping[str, Literals] = field(default_factory=dict)
    """What the earlier model requires, by action."""
    _asked: _AskedBefore | None = None

    def __post_init__(self) -> None:
        self.rest = SettablePolicy(Walker(limit=0), partial(PriorBeliefs, self.prior), SUCCESS)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk a little, ask for what should succeed, then for the rest."""
        if self._asked is None:
            walk = self.walker.next(evidence, rng) if after_walking(evidence) is evidence else None
            if walk is not None:
                return walk
            self._required = requirements(self.prior, evidence.hypotheses)
            self._asked = _AskedBefore(
                [ExpectedSuccess(name, o) for name in self._required for o in (False, True)]
            )
        asked = self._asked
        asked.take_in(evidence)
        asked.wishes = [
            wish for wish in asked.wishes if asked.times[wish] < TIMES and self._tells(evidence, wish)
        ]
        plan, wishes = self._plan(evidence, asked.wishes)
        state, steps = plan.state(), tuple(plan.steps)
        if not wishes or (state, steps) in asked.questions:
            return self.rest.next(evidence, rng)
        aims = tuple(
            Aim(SUCCESS, name, self._others(evidence, name) if others else NOTHING) for name, others in wishes
        )
        why = f"see {', '.join(dict.fromkeys(wish.name for wish in wishes))} succeed as before"
        return Ask(evidence.situation(Situation(state, state)), steps, why, aims=aims)

    def _others(self, evidence: Evidence, name: str) -> Literals:
        """All that may be said of an action's arguments and that the earlier model does not forbid."""
        return Literals(evidence.hypotheses[name].index.everything & ~self._required[name].negative, 0)

    def _tells(self, evidence: Evidence, wish: ExpectedSuccess) -> bool:
        """Whether the success would tell anything."""
        action, required = evidence.hypotheses[wish.name], self._required[wish.name]
        undecided = action.undecided
        if wish.others:
            return bool(undecided.negative & ~required.negative) or bool(action.undecided_effects)
        return not action.successes or bool(undecided.positive & ~required.positive)

    def _plan(
        self, evidence: Evidence, wishes: list[ExpectedSuccess]
    ) -> tuple[Expected, list[ExpectedSuccess]]:
        """A plan of as many successes as leave room for a refusal in the end; of as many as there are, if none does."""
        plan = Expected(self.prior, self._required, evidence)
        asked, stages = list[ExpectedSuccess](), list[Expected]()
        for wish in wishes:
            if plan.succeed(wish):
                asked.append(wish)
                stages.append(plan.copy())
        clear = {name for name in self._required if not self._tells(evidence, ExpectedSuccess(name, False))}
        for number in range(len(asked), 0, -1):
            known = clear | {wish.name for wish in asked[:number] if not wish.others}
            if stages[number - 1].fail(known):
                return stages[number - 1], asked[:number]
        return plan, asked


@dataclass
class _AskedBefore:
    """The successes that were asked for, as the evidence has them."""

    wishes: list[ExpectedSuccess]
    """What is left to ask for: what was asked for last comes last, where no step hides its effects."""
    questions: set[tuple[State, tuple[GroundAction, ...]]] = field(default_factory=set)
    times: Counter[ExpectedSuccess] = field(default_factory=Counter)
    """How often each was asked for."""
    _exchanges: int = 0

    def take_in(self, evidence: Evidence) -> None:
        for exchange in evidence.exchanges[self._exchanges :]:
            move, entry = exchange.move, exchange.entry
            if (
                isinstance(move, Ask)
                and isinstance(entry, Asked)
                and move.aims
                and move.aims[0].purpose == SUCCESS
            ):
                asked = [ExpectedSuccess(aim.action, bool(aim.literals)) for aim in move.aims]
                self.questions.add((move.start.state, move.plan))
                self.times.update(asked)
                executed = entry.response.executed
                refused = asked[executed : executed + 1]
                left = [wish for wish in self.wishes if wish not in refused]
                self.wishes = sorted(left, key=asked.__contains__)
        self._exchanges = len(evidence.exchanges)


class Expected:
    """A plan that should go as a model says, from a state made for it."""

    def __init__(self, model: Model, required: Mapping[str, Literals], evidence: Evidence) -> None:
        self._model = model
        self._required = required
        self._actions = evidence.hypotheses.actions
        self._start = roomiest(evidence)
        self._arguments = ArgumentChoices(self._start.objects)
        self._first: dict[Fact, bool] = {}
        """What has to be true, and what false, where the plan starts."""
        self._now: dict[Fact, bool] = {}
        """The same facts after the last step, as the model says."""
        self.steps: list[GroundAction] = []

    def copy(self) -> Expected:
        """The same plan, which goes on by itself."""
        other = copy(self)
        other._first, other._now, other.steps = self._first.copy(), self._now.copy(), self.steps.copy()
        return other

    def succeed(self, wish: ExpectedSuccess) -> bool:
        """One more step that should be executed, if there are arguments with which it fits the steps before."""
        action, schema = self._actions[wish.name], self._model.schema(wish.name)
        required = self._required[wish.name]
        others = action.index.everything & ~required.negative if wish.others else 0
        facts = self._append(action, required.positive | others)
        if facts is None:
            return False
        for atoms, value in ((schema.delete, False), (schema.add, True)):
            self._now |= {facts[bit]: value for bit in bits(_mask(action, atoms))}
        return True

    def fail(self, names: Collection[str]) -> bool:
        """A last step, of one of these actions, that should be refused for one reason only, if there is room for it."""
        for name, required in self._required.items():
            action = self._actions[name]
            for bit in bits(required.positive & action.undecided.positive) if name in names else ():
                if self._append(action, required.positive & ~bit) is not None:
                    return True
        return False

    def state(self) -> State:
        """Where the plan starts."""
        true = {Atom(*fact) for fact, value in self._first.items() if value}
        false = {Atom(*fact) for fact, value in self._first.items() if not value}
        return State((self._start.true | true) - false, self._start.objects)

    def _append(self, action: ActionHypotheses, on: int) -> dict[int, Fact] | None:
        """One more step where just these atoms of it hold; which fact each of its atoms is."""
        header = action.index.header
        used = {thing for step in self.steps for thing in step.objects}
        for objects in self._arguments.choices(header.types, used=used):
            facts = dict(action.index.grounded(objects))
            held = {fact: bool(bit & on) for bit, fact in facts.items()}
            if all(self._now.get(fact, value) is value for fact, value in held.items()):
                self._first = held | self._first
                self._now |= held
                self.steps.append(GroundAction(header.name, objects))
                return facts
        return None


def requirements(model: Model, hypotheses: Hypotheses) -> dict[str, Literals]:
    """What a model requires, by action, in the literals of the hypotheses."""
    found = {}
    for name, action in hypotheses.actions.items():
        schema = model.schema(name)
        found[name] = Literals(_mask(action, schema.positive), _mask(action, schema.negative))
    return found


def _mask(action: ActionHypotheses, atoms: Collection[LiftedAtom]) -> int:
    return sum(bit for atom, bit in action.index.bit.items() if atom in atoms)

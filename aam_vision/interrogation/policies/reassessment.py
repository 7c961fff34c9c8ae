"""Re-assessment under ``settable`` access: a model learned earlier says where every action should succeed.

That takes the place of most walking. What a short walk has not shown is asked for where the earlier model just allows an
action: all that it requires holds, and none of the action's other atoms. If the action succeeds, no other positive literal
is required; if not, the action has changed. It is also asked for where its other atoms hold: if it succeeds, no further
negative literal is required, and all effects are seen. As many such steps as one state can serve make one plan, which ends
with a step that should be refused: a query that proves a precondition is needed in any case.

After that nothing is believed because it was so before: every precondition is proven again by a failing near miss, as in
any sound interrogation. The earlier model only says what is asked first.
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
from aam_vision.interrogation.evidence.moves import Aim, Move
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.economical import Walker
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.queries.first_success import ask_in, asked_for, roomiest
from aam_vision.interrogation.queries.settable_chains import ArgumentChoices
from aam_vision.joins import Fact
from aam_vision.strips import Atom, GroundAction, LiftedAtom, Model, State

SUCCESS = "success as before"
"""The purpose of steps that should succeed if the earlier model still holds."""
UNCHANGED = 0.95
"""The probability that a literal which was a precondition still is one."""
NEW = 0.01
"""The probability that a literal which was not a precondition has become one."""
TIMES = 2
"""How often a success is asked for whose effects other steps may hide."""


class PriorBeliefs(Beliefs):
    """What an earlier model required is probably required still; of the rest, what chance does not explain."""

    def __init__(self, prior: Model, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        super().__init__(hypotheses, nodes)
        self._required = requirements(prior, hypotheses)

    def probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        """The probability that an undecided literal is a precondition."""
        required = self._required[name]
        known = literal.positive & required.positive or literal.negative & required.negative
        return self.posterior(UNCHANGED if known else NEW, name, literal)


class ExpectedSuccess(NamedTuple):
    """An action that should succeed, ``others``: where all its other atoms hold, too."""

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

    def __post_init__(self) -> None:
        self.rest = SettablePolicy(Walker(limit=0), partial(PriorBeliefs, self.prior), SUCCESS)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk a little, ask for what should succeed, then for the rest."""
        if walk := self.walker.next(evidence, rng):
            return walk
        self._required = self._required or requirements(self.prior, evidence.hypotheses)
        plan, successes = self._plan(evidence, self._left(evidence))
        if successes:
            names = dict.fromkeys(success.name for success in successes)
            why = f"see {', '.join(names)} succeed as before"
            aims = [self._aim(evidence, success) for success in successes]
            ask = ask_in(evidence, plan.state(), plan.steps, why, aims)
            if not evidence.was_asked(ask.start, ask.plan):
                return ask
        return self.rest.next(evidence, rng)

    def _aim(self, evidence: Evidence, success: ExpectedSuccess) -> Aim:
        """The aim of a step, with the atoms that hold there and need not."""
        name, others = success
        allowed = evidence.hypotheses[name].index.everything & ~self._required[name].negative
        return Aim(SUCCESS, name, Literals(allowed, 0) if others else NOTHING)

    def _left(self, evidence: Evidence) -> list[ExpectedSuccess]:
        """The successes still to be seen: those asked for last come last, where no step hides their effects."""
        left = [ExpectedSuccess(name, others) for name in self._required for others in (False, True)]
        times = Counter[ExpectedSuccess]()
        for ask, exchange in asked_for(evidence, SUCCESS):
            assert isinstance(exchange.entry, Asked), "a query is answered"
            asked = [ExpectedSuccess(aim.action, bool(aim.literals)) for aim in ask.aims]
            executed = exchange.entry.response.executed
            refused = asked[executed : executed + 1]
            left = sorted((one for one in left if one not in refused), key=asked.__contains__)
            times.update(asked)
        return [one for one in left if times[one] < TIMES and self._tells(evidence, one)]

    def _tells(self, evidence: Evidence, success: ExpectedSuccess) -> bool:
        """Whether the success would tell anything."""
        action, required = evidence.hypotheses[success.name], self._required[success.name]
        undecided = action.undecided
        if success.others:
            return bool(undecided.negative & ~required.negative) or bool(action.undecided_effects)
        return not action.successes or bool(undecided.positive & ~required.positive)

    def _plan(
        self, evidence: Evidence, successes: list[ExpectedSuccess]
    ) -> tuple[ExpectedPlan, list[ExpectedSuccess]]:
        """A plan of as many successes as leave room for a refusal in the end; of as many as there are, if none does."""
        plan = ExpectedPlan(self.prior, self._required, evidence)
        asked, stages = list[ExpectedSuccess](), list[ExpectedPlan]()
        for success in successes:
            if plan.succeed(success):
                asked.append(success)
                stages.append(plan.copy())
        clear = {name for name in self._required if not self._tells(evidence, ExpectedSuccess(name, False))}
        for number in range(len(asked), 0, -1):
            known = clear | {success.name for success in asked[:number] if not success.others}
            if stages[number - 1].fail(known):
                return stages[number - 1], asked[:number]
        return plan, asked


class ExpectedPlan:
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

    def copy(self) -> ExpectedPlan:
        """The same plan, which goes on by itself."""
        other = copy(self)
        other._first, other._now, other.steps = self._first.copy(), self._now.copy(), self.steps.copy()
        return other

    def succeed(self, success: ExpectedSuccess) -> bool:
        """One more step that should be executed, if there are arguments with which it fits the steps before."""
        action, schema = self._actions[success.name], self._model.schema(success.name)
        required = self._required[success.name]
        others = action.index.everything & ~required.negative if success.others else 0
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

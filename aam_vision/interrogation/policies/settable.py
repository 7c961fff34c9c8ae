"""The economical policy under ``settable`` access, the paper's own setting: any state may be asked about.

Every undecided literal can be tested then: take a state in which the action succeeds, and change one atom. So nothing is
left undetermined; only the number of queries matters. A query ends at its first failing step, and a failing *near miss*
(one literal violated alone) is a proof whichever step it is. So near misses are chained in one plan, the doubtful ones
first: those that succeed are refuted at no further cost, the first that fails is proven. What is most probably spurious
(negative literals, and positive ones of actions with many atoms) is violated in one step as a group; only if that is
refused is the group split.

Walks come first, as under ``snapshot`` access, the more the more actions there are. An action that no walk has shown is
first executed in states made for it, with every atom of its arguments true, as in the paper's own experiments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from itertools import chain as chain_together
from itertools import combinations, islice
from math import log
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.beliefs.candidates import LIKELY, Beliefs
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked, Move, Stop
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.policies.economical import Walker, after_walking
from aam_vision.interrogation.queries.first_success import (
    arguments_as,
    ask_in,
    asked_for,
    constructed_states,
    left_false,
    roomiest,
    with_atoms,
)
from aam_vision.interrogation.queries.settable_chains import (
    ActionTests,
    ArgumentChoices,
    BaseState,
    Chain,
    LiteralGroup,
    Probe,
    action_tests,
    likeliest,
)
from aam_vision.model.strips import Atom, GroundAction, Model, State
from aam_vision.planning.joins import Fact, Row
from aam_vision.support.wording import counted

TEST = "test"
"""The purpose of steps that violate positive literals."""
MAX_CHAIN = 9
"""Near misses in one query: with more of them fewer queries are needed, and each takes longer to put together."""
DOUBTFUL = 24
"""Doubtful literals that are tried as steps of a chain: the more, the longer the chains, and the search for them."""
OPENINGS = 20
"""Groups of negative literals that are tried as the first step of a chain."""
MOST_REFUSALS = 120
"""States in which several atoms are false, at most, that are made for an action that was never executed."""
LEAST_REACHED = 0.05
"""A step that is reached with less probability is not made."""
MAX_REFUSALS = 2
"""Steps of one action for which a chain has no room, after which no other of it is tried."""
LASTS = 4
"""Actions of which the most probable precondition is tried as the last step of a chain."""
ALL_SUCCEED = 0.1
"""Probability that all near misses of a chain succeed, and none is proven: the less, the longer are the chains."""
PRIOR_REFUTED, PRIOR_TESTED = 0.5, 4
"""Literals that count as refuted, and as tested, before any is: what is tested first is mostly required."""
MAX_REFUTED = 0.9
"""The share of refuted literals that is reckoned with at most."""


@dataclass
class SettablePolicy:
    """Few questions, each about a state made for it."""

    walker: Walker = field(default_factory=lambda: Walker(limit=150, per_action=5))
    expect: Callable[[Hypotheses, Sequence[Node]], Beliefs] = Beliefs
    """What is believed once walking is over, from what is known and the situations seen."""
    besides: str = ""
    """The purpose of queries that come with the walks, before anything is believed."""
    _queries: _Queries | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk, make unseen actions succeed, prove and refute, see effects, stop."""
        if self._queries is None:
            if walk := self.walker.next(evidence, rng):
                return walk
            walked = after_walking(evidence, besides=self.besides)
            self._queries = _Queries(evidence, self.expect(walked.hypotheses, walked.nodes))
        return self._queries.next()


class _Queries:
    """Composes the queries, once walking is over."""

    def __init__(self, evidence: Evidence, beliefs: Beliefs) -> None:
        self._evidence = evidence
        self._actions = evidence.hypotheses.actions
        self._beliefs = beliefs
        self._base = BaseState(roomiest(evidence))
        self._known_tests: dict[str, ActionTests] = {}
        self._exchanges = self._refuted = self._proven = 0
        """Literals that tests refuted or proved in so many exchanges."""

    def next(self) -> Move:
        """The next query, or stop."""
        return (
            self._first_success(lambda name, action: left_false(action))
            or self._proof()
            or self._refutation()
            or self._effect()
            or self._first_success(self._several_false)
            or self._stop()
        )

    def _first_success(self, left_out: Callable[[str, ActionHypotheses], Iterable[int]]) -> Ask | None:
        """A state in which an action never executed so far should be executable: atoms that are left out of it are false."""
        for name, action in self._actions.items():
            if action.successes:
                continue
            expected = self._expected_false(name, action)
            off = (expected | also for also in left_out(name, action))
            for objects in self._arguments(action):
                for state in constructed_states(action, self._base.state, objects, off):
                    return ask_in(self._evidence, state, [GroundAction(name, objects)], f"see {name} succeed")
        return None

    def _several_false(self, name: str, action: ActionHypotheses) -> Iterator[int]:
        """Two atoms to leave false, or three, those of predicates first that other actions require to be false."""
        required = {
            other.index.atoms[number].predicate
            for other in self._actions.values()
            for bit in bits(other.proven.negative)
            for number in [bit.bit_length() - 1]
        }
        atoms = action.index.atoms
        negative = sorted(
            bits(action.negative), key=lambda bit: atoms[bit.bit_length() - 1].predicate not in required
        )
        several = chain_together(combinations(negative, 2), combinations(negative, 3))
        yield from map(sum, islice(several, MOST_REFUSALS))

    def _expected_false(self, name: str, action: ActionHypotheses) -> int:
        """Atoms that probably have to be false."""
        negative = [literal for literal in action.undecided.singles() if literal.negative]
        return sum(one.negative for one in negative if self._beliefs.probability(name, one, action) > LIKELY)

    # --- preconditions ---------------------------------------------------------------------------

    def _proof(self) -> Ask | None:
        """Near misses in a chain: doubtful ones first, in the end something that is probably true."""
        tests = [self._tests(name, action) for name, action in self._actions.items() if action.successes]
        groups = [one.positive for one in tests if one.positive]
        if not groups:
            return None
        length = max(self._chain_length(), min(MAX_CHAIN, sum(one.doubtful for one in tests) + 1))
        likely = sorted((positive[-1] for positive in groups), reverse=True)[:LASTS]
        lasts = [(name, literals) for _, name, literals in likely]
        # no step is an action's of which the least probable literals come after those of so many others
        doubtful = islice(merge(*sorted(groups)[:DOUBTFUL]), DOUBTFUL) if length > 1 else ()
        steps = [group for group in doubtful if group[1:] != lasts[0]]
        negative = [(one.name, one.negative) for one in tests if one.negative]
        for opening in (*([group] for group in negative[:OPENINGS]), []):
            chain = self._chain(opening, steps, lasts, length)
            if chain is not None:
                return self._ask(chain)
        return self._near_miss(groups)

    def _chain(
        self, opening: list[Probe], doubtful: list[LiteralGroup], lasts: list[Probe], length: int
    ) -> Chain | None:
        """A chain of the opening, doubtful groups, and a last probe after as many of these as leave room for it."""
        chain: Chain | None = self._empty_chain()
        for probe in opening:
            chain = chain and chain.then(*probe)
        if chain is None:
            return None
        stages = [chain]
        reached = 1.0
        refusals = Counter[str]()
        for chance, name, literals in doubtful:
            if len(stages) == length or reached < LEAST_REACHED:
                break
            if refusals[name] == MAX_REFUSALS:
                continue
            longer = stages[-1].then(name, literals)
            if longer is not None:
                stages.append(longer)
                reached *= 1 - chance
            else:
                refusals[name] += 1
        for stage in reversed(stages):
            for last in lasts:
                longer = None if stage.has(*last) else stage.then(*last)
                if longer is not None:
                    return longer
        return stages[-1] if len(stages) > 1 else None

    def _near_miss(self, groups: list[list[LiteralGroup]]) -> Ask | None:
        """A single step, where nothing can be chained; of one literal, where no group can be violated."""
        single = ((name, literal) for name, group in likeliest(groups) for literal in group.singles())
        return self._first_of(chain_together(likeliest(groups), single))

    def _refutation(self) -> Ask | None:
        """A step that violates a group of probably spurious literals at once."""
        tests = (self._tests(name, action) for name, action in self._actions.items() if action.successes)
        return self._first_of((one.name, one.negative) for one in tests if one.negative)

    def _first_of(self, probes: Iterable[Probe]) -> Ask | None:
        """A query of one step: the first of the probes that some state allows."""
        for probe in probes:
            chain = self._empty_chain().then(*probe)
            if chain is not None:
                return self._ask(chain)
        return None

    def _ask(self, chain: Chain) -> Ask:
        """The query that a chain makes, with what it tests."""
        texts = [", ".join(step.instruction.action.index.text(step.violated)) for step in chain.steps]
        aims = [
            Aim(TEST, step.instruction.name, step.violated, number)
            for number, step in enumerate(chain.steps)
            if step.violated.positive
        ]
        return ask_in(self._evidence, chain.state(), chain.plan(), f"test {'; then '.join(texts)}", aims)

    def _empty_chain(self) -> Chain:
        return Chain(self._evidence, self._base)

    def _chain_length(self) -> int:
        """How many near misses in a row make it improbable that all of them succeed."""
        for _, exchange in asked_for(self._evidence, TEST, since=self._exchanges):
            self._refuted += exchange.refuted
            self._proven += exchange.proven
        self._exchanges = len(self._evidence.exchanges)
        tested = self._refuted + self._proven
        share = min(MAX_REFUTED, (self._refuted + PRIOR_REFUTED) / (tested + PRIOR_TESTED))
        return max(1, min(MAX_CHAIN, 1 + int(log(ALL_SUCCEED) / log(share))))

    def _tests(self, name: str, action: ActionHypotheses) -> ActionTests:
        """What there is to test of one action; found anew when something was learnt of it."""
        known = self._known_tests.get(name)
        if known is None or known.version != action.version:
            known = self._known_tests[name] = action_tests(name, action, self._beliefs)
        return known

    # --- effects ---------------------------------------------------------------------------------

    def _effect(self) -> Ask | None:
        """A step expected to succeed in a state where an undecided effect shows."""
        for action in self._actions.values():
            for bit in bits(action.undecided_effects) if action.successes else ():
                if bit & action.proven.positive & ~action.deletes:
                    ask = self._undone(action, bit)
                else:
                    ask = self._shown(action, bit)
                if ask is not None:
                    return ask
        return None

    def _shown(self, action: ActionHypotheses, bit: int) -> Ask | None:
        """A step before which the atom has the value that an effect on it changes."""
        positive, negative = action.candidates
        true = bit & positive or bit & ~(negative | action.adds)
        text = action.index.text(Literals(bit, 0))[0]
        for objects in self._arguments(action):
            on, off = positive | true, negative | bit & ~true
            if ask := self._success(action, objects, on, off, f"see the effect on {text}"):
                return ask
        return None

    def _undone(self, action: ActionHypotheses, bit: int) -> Ask | None:
        """A step that deletes and, if the action adds what it requires, adds again one and the same atom."""
        text = action.index.text(Literals(bit, 0))[0]
        why = f"see whether {text} is added where it is deleted"
        for first, other, merged in action.index.merges:
            if first != bit or not action.deletes & other or not action.executable_when(merged):
                continue
            objects = arguments_as(self._base.state.objects, action.index.header.types, merged)
            if objects is not None and (ask := self._success(action, objects, *action.candidates, why)):
                return ask
        return None

    def _success(self, action: ActionHypotheses, objects: Row, on: int, off: int, why: str) -> Ask | None:
        """A step with these atoms on and those off; None if it may be refused there, or was seen."""
        state = with_atoms(self._base.state, action, objects, on, off)
        step = GroundAction(action.index.header.name, objects)
        if action.violated(*action.index.values(state, objects)) or self._evidence.was_seen_in(state, step):
            return None
        return ask_in(self._evidence, state, [step], why)

    def _arguments(self, action: ActionHypotheses) -> Sequence[Row]:
        """The first choice of arguments, if there is any."""
        return self._base.arguments.choices(action.index.header.types)[:1]

    def _stop(self) -> Stop:
        left = self._evidence.hypotheses.undecided()
        if left:
            return Stop(
                False, f"{counted(left, 'line')} of the model left undecided: no state to ask about was found"
            )
        return Stop(True, "every line of the model is decided")


# Re-assessment under ``settable`` access: a model learned earlier says where every action should succeed.
#
# That takes the place of most walking. What a short walk has not shown is asked for where the earlier model just allows an
# action: all that it requires holds, and none of the action's other atoms. If the action succeeds, no other positive literal is
# required; if not, the action has changed. It is also asked for where its other atoms hold: if it succeeds, no further negative
# literal is required, and all effects are seen. As many such steps as one state can serve make one plan, which ends with a step
# that should be refused: a query that proves a precondition is needed in any case.
#
# After that nothing is believed because it was so before: every precondition is proven again by a failing near miss, as in any
# sound interrogation. The earlier model only says what is asked first.


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
            self._now |= {facts[bit]: value for bit in bits(action.index.mask(atoms))}
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
        found[name] = action.index.literals(schema.positive, schema.negative)
    return found

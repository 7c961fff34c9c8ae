"""The policy for ``trajectory`` access: as few attempted steps as possible, each one of our own choice.

There is no way back, and the agent does not act on its own: so every step counts, those on the way to a test included.
The next test is the one worth most per step (``StepValue``) within sight of where the agent stands (``Lookahead``). If
none is in sight, one is planned for, or the agent goes where it sees farther. Successes that correct the model are worth
most; refusals that prove what the model says already are worth least. What changes for good, while something is to be asked
about it as it was, comes late (``OneWay``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, product, takewhile
from math import prod

import numpy as np

from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.beliefs.candidates import LIKELY
from aam_vision.interrogation.beliefs.unexecuted_actions import StepValue, UnexecutedActions
from aam_vision.interrogation.completeness.indistinguishability import indistinguishability_of, sound_stop
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, atoms
from aam_vision.interrogation.queries.first_success import (
    asked_for,
    in_smallest_clause,
    planned_states,
)
from aam_vision.interrogation.queries.reachability import BOLD, Derived, PlannedNearMiss, Reachability
from aam_vision.model.strips import GroundAction, State, Vocabulary
from aam_vision.planning.joins import Row, StateIndex, bindings
from aam_vision.planning.planner import Limits, Planner, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.recent import Recent

TEST = "test"
"""The purpose of a step within sight that may tell something."""
MAX_FRUITLESS = 25
"""Questions in a row that told nothing, after which none is asked any more."""
MAX_LOOKING = 3
"""The same for going where one sees farther."""
MAX_PLANS = 12
"""Searches made for one move."""
SEEDS = 2
"""Literals of the smallest clause that a plan to a first success may start from."""


@dataclass
class TrajectoryPolicy:
    """Few steps under ``trajectory`` access.

    ``work`` bounds the choices of arguments that are looked at for one move.
    """

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=lambda: Limits(states=3000))
    work: int = 20_000
    unexecuted: UnexecutedActions = field(default_factory=UnexecutedActions)
    _reachability: Derived[Reachability] = field(default_factory=Derived)
    _sights: Recent[State, Sight] = field(default_factory=lambda: Recent(SIGHTS))

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: the best test within sight, else one that is planned for, else stop."""
        fruitless = sum(
            1 for _ in takewhile(lambda exchange: not exchange.told, reversed(evidence.exchanges))
        )
        if fruitless > MAX_FRUITLESS:
            return sound_stop(indistinguishability_of(evidence))
        node = evidence.current
        value = StepValue(evidence, self.unexecuted, rng)
        lookahead = Lookahead(evidence, node, value, _stale(evidence), self._sights, work=self.work)
        test = lookahead.best()
        first = self._first_success(evidence, node, value)
        if first is not None and (test is None or first.value > test.value):
            test = first
        if test is not None:
            ask = self._ask(evidence, node, test.plan, test.why)
            if ask is not None:
                return replace(ask, aims=(Aim(TEST, *test.about),))
        stop = sound_stop(indistinguishability_of(evidence))
        if not lookahead.exhausted and not stop.complete:
            ask = self._planned(evidence, node, value)
            if ask is None and lookahead.farthest and fruitless < MAX_LOOKING:
                ask = self._ask(evidence, node, lookahead.farthest, "see what is farther away")
            if ask is not None:
                return ask
        return stop

    def _planned(self, evidence: Evidence, node: Node, value: StepValue) -> Ask | None:
        """A test that no state within sight allows, reached by a plan."""
        paths = self._paths_from(evidence, node)
        targets = [
            (value.chance(name, literal), name, literal)
            for name, action in evidence.hypotheses.actions.items()
            if action.successes
            for literal in action.undecided.singles()
        ]
        for _, name, literal in sorted(targets)[:MAX_PLANS]:
            action = evidence.hypotheses[name]
            others = sorted((value.chance(name, other), other) for other in action.undecided.singles())
            trusted = [other for chance, other in reversed(others) if chance >= LIKELY and other != literal]
            holding = paths.gather(action, union([action.proven, literal.opposite()]), trusted)
            if holding is None:
                continue
            planned = self._reach(paths, action, holding)
            if isinstance(planned, PlannedNearMiss):
                plan = (*planned.path, planned.step)
                ask = self._ask(evidence, node, plan, f"plan to test {', '.join(action.index.text(literal))}")
                if ask is not None:
                    return ask
        return None

    def _paths_from(self, evidence: Evidence, node: Node) -> Reachability:
        """What can be reached from here; refusals of actions that were never executed leave it as it was."""
        executed = [one.version for one in evidence.hypotheses.actions.values() if one.successes]
        return self._reachability.on(
            (node.number, evidence.learned, executed),
            lambda: Reachability(evidence.hypotheses, [node], required=BOLD),
        )

    def _reach(
        self, paths: Reachability, action: ActionHypotheses, holding: Literals
    ) -> PlannedNearMiss | Verdict:
        return paths.reach(action, holding, self.planner, self.limits)

    def _first_success(self, evidence: Evidence, node: Node, value: StepValue) -> Test | None:
        """The best way to where an action that was never executed may be, by what it is most likely to require."""
        best: Test | None = None
        for name, unexecuted in value.unexecuted.items():
            action, chances = unexecuted.action, unexecuted.chances
            likely = sorted((one for one in chances if one.positive), key=lambda one: -chances[one])
            seeds = in_smallest_clause(action, likely)[:SEEDS] or [NOTHING]
            for (_, path, _), state in planned_states(
                evidence,
                action,
                [self._paths_from(evidence, node)],
                first=[union([action.proven, seed]) for seed in seeds],
                likely=likely,
                reach=self._reach,
            ):
                found = unexecuted.best_in(StateGrid(state, evidence.hypotheses.vocabulary), len(path))
                if found is None:
                    continue
                objects, worth = found
                plan = (*path, GroundAction(name, objects))
                violated = action.certainly_violated(*action.index.values(state, objects))
                if not evidence.was_asked(node, plan) and worth > (best.value if best else 0):
                    best = Test(plan, worth, f"see {name} succeed", (name, violated))
        return best

    def _ask(self, evidence: Evidence, node: Node, plan: tuple[GroundAction, ...], why: str) -> Ask | None:
        """The question, up to the first step that may tell anything; None if it was asked before."""
        state = node.state
        for number, step in enumerate(plan, 1):
            action = evidence.hypotheses[step.name]
            held, dim = action.index.values(state, step.objects)
            if action.certainly_violated(held, dim) or action.shown_effects(held, dim):
                plan = plan[:number]
                break
            state = evidence.predict(state, step)
        return None if evidence.was_asked(node, plan) else Ask(node, plan, why)


def _stale(evidence: Evidence) -> Counter[tuple[str, Literals]]:
    """How often each test was made and told nothing."""
    fruitless = (ask.aims for ask, exchange in asked_for(evidence, TEST) if not exchange.told)
    return Counter((aim.action, aim.literals) for aims in fruitless for aim in aims)


# Tests within sight of where the agent stands: the best one in each state that is a few certain steps away.
#
# The way to a test costs steps, so the test chosen is the one that is worth most per step. The states ahead are
# found breadth first with the cautious model, through steps that are as good as certain; the way ends at the
# first step that may tell anything, since only the last situation of a query is seen.

CERTAIN = 0.8
"""Probability from which a step may be part of a way. Lower: more states are in sight, and more ways fail."""
ROWS = 60
"""Choices of arguments that are compared for one test where not all are. More: better tests, slower."""
STALE = 0.3
"""How the worth of a test changes each time that it told nothing. Lower: fewer repetitions, and more is overlooked."""
BEST = 5
"""Choices of arguments that are looked at in case the best ones were tried already."""
MAX_CELLS = 60_000
"""Choices of arguments up to which all are compared. More: nothing is overlooked, slower."""
SIGHTS = 200
"""States of which what was worked out is kept, as most of them are in sight of the next move, too."""
GRID = 30
"""Work of comparing all choices of arguments in one state, and how many of them make as much work."""
BEAM = 1000
"""Work of a beam search for an action that was never seen to succeed."""
LEAST_LEFT = 0.05
"""The share that a step leaves at least. Lower: a step that undoes the last chance to ask something waits for more of the others."""
PATIENCE = 5
"""How many times the work is done again while no test at all is found."""


@dataclass(frozen=True)
class Test:
    """A way to go and the step to ask at its end, with its worth per step."""

    plan: tuple[GroundAction, ...]
    value: float
    why: str
    about: tuple[str, Literals]
    """The action asked, and the candidates that are expected to be violated."""


@dataclass(frozen=True)
class _Ahead:
    """A state ahead, the way there, and the probability that the way can be gone, less what it changes for good."""

    state: State
    way: tuple[GroundAction, ...]
    probability: float


@dataclass
class _Onward:
    """A step from a state, the candidates that it may violate, and where it leads, once that was asked."""

    step: GroundAction
    violated: Literals
    after: State | None = None


class Sight:
    """A state, with what follows from it and the hypotheses about single actions."""

    def __init__(self, state: State, vocabulary: Vocabulary) -> None:
        self.state, self.index, self.grid = state, StateIndex(state), StateGrid(state, vocabulary)
        self._onward: dict[str, tuple[ActionHypotheses, int, list[_Onward]]] = {}

    def onward(self, name: str, action: ActionHypotheses) -> list[_Onward]:
        """The steps of an action whose likely preconditions hold."""
        known, version, steps = self._onward.get(name, (None, 0, []))
        if known is not action or version != action.version:
            required = atoms(action, action.bold.positive)
            rows = bindings(self.index, action.index.header, required, repeated=action.index.repeated)
            steps = [
                _Onward(GroundAction(name, row), action.violated(*action.index.values(self.state, row)))
                for row in rows
            ]
            self._onward[name] = action, action.version, steps
        return steps


class OneWay:
    """What no step is known to undo, and what of it is still to be asked about while it is as it was.

    A lamp that cannot be switched off hides whether the robot may leave dark rooms, once all are lit. What was never executed may
    undo anything.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._arguments = {one.name: one.types for one in evidence.hypotheses.vocabulary.predicates}
        asked_about, brought_about = set[tuple[str, bool]](), set[tuple[str, bool]]()
        for action in evidence.hypotheses.actions.values():
            if not action.successes:
                brought_about.update(product({atom.predicate for atom in action.index.atoms}, (True, False)))
                continue
            undecided, effects = action.undecided, action.undecided_effects
            asked_about |= _facts(action, True, undecided.negative | effects & action.deletes)
            asked_about |= _facts(action, False, undecided.positive | effects & action.adds)
            brought_about |= _facts(action, True, action.adds & ~effects)
            brought_about |= _facts(action, False, action.deletes & ~effects)
        self._at_risk = asked_about - brought_about
        """Predicates, each with the truth of its atoms that is not had again."""

    def left(self, before: State, after: State) -> float:
        """The share of what is still to be asked about that is left after a step: 1 if it changes nothing of that for good."""
        if not self._at_risk:
            return 1.0
        changed = {(atom.predicate, atom in before.true) for atom in before.true ^ after.true}
        left = (1 - 1 / self._count(before, *one) for one in self._at_risk & changed)
        return max(LEAST_LEFT, min(left, default=1.0))

    def _count(self, state: State, predicate: str, truth: bool) -> int:
        """How many atoms of a predicate are true, or false."""
        true = sum(atom.predicate == predicate for atom in state.true)
        if truth:
            return true
        return prod(len(state.objects.of_type(one)) for one in self._arguments[predicate]) - true


def _facts(action: ActionHypotheses, truth: bool, mask: int) -> set[tuple[str, bool]]:
    """The predicates of these atoms, with a truth."""
    return {(action.index.atom(bit).predicate, truth) for bit in bits(mask)}


class Lookahead:
    """The tests within sight of a node, under the hypotheses at one moment."""

    def __init__(
        self,
        evidence: Evidence,
        node: Node,
        value: StepValue,
        stale: Mapping[tuple[str, Literals], int],
        sights: Recent[State, Sight],
        *,
        work: int,
    ) -> None:
        """``stale`` counts how often a test was asked and told nothing: an image may hide what it was about.

        ``sights``: what earlier moves worked out.
        """
        self._stale, self._sights = stale, sights
        self._evidence = evidence
        self._node = node
        self._value = value
        self._left = self._work = work
        self._one_way = OneWay(evidence)
        self._most = {name: value.upper_bound(name) for name in evidence.hypotheses.actions}
        self.exhausted = False
        """Whether every state that can be reached through certain steps was looked at, with all arguments."""
        self._skipped = False
        self.farthest: tuple[GroundAction, ...] = ()
        """The way to the last state that was looked at."""

    def best(self) -> Test | None:
        """The test that is worth most per step; None if none within sight tells anything."""
        best: Test | None = None
        most = max(self._most.values(), default=0.0)
        start = _Ahead(self._node.state, (), 1.0)
        layer, seen = [start], {start.state}
        while layer:
            following: list[_Ahead] = []
            for ahead in layer:
                if self._left <= (0 if best else -PATIENCE * self._work):
                    return best
                if best is not None and most * ahead.probability <= best.value * (len(ahead.way) + 1):
                    continue
                self.farthest = ahead.way
                sight = self._sight(ahead.state)
                test = self._best_here(ahead, sight, best.value if best else 0.0)
                if test is not None and (best is None or test.value > best.value):
                    best = test
                for step, probability, state in self._onward(sight):
                    if state not in seen:
                        seen.add(state)
                        chance = ahead.probability * probability
                        following.append(_Ahead(state, (*ahead.way, step), chance))
            layer = following
        self.exhausted = not self._skipped
        return best

    def _sight(self, state: State) -> Sight:
        return self._sights.of(state, lambda: Sight(state, self._evidence.hypotheses.vocabulary))

    def _best_here(self, ahead: _Ahead, sight: Sight, least: float) -> Test | None:
        best: Test | None = None
        cost = len(ahead.way) + 1
        for name, action in self._evidence.hypotheses.actions.items():
            if self._most[name] * ahead.probability <= least * cost:
                continue
            for objects, worth in self._options(name, action, sight, cost):
                if worth * ahead.probability <= least * cost:
                    continue
                step = GroundAction(name, objects)
                violated = action.certainly_violated(*action.index.values(ahead.state, objects))
                about = name, violated
                value = worth * ahead.probability / cost * STALE ** self._stale.get(about, 0)
                if value > least and action.successes:
                    value *= self._left_by(ahead.state, step)
                if value > least and not self._evidence.was_seen_in(ahead.state, step):
                    least = value
                    best = Test((*ahead.way, step), value, _why(name, action, violated), about)
        return best

    def _left_by(self, state: State, step: GroundAction) -> float:
        """What is expected to be left of what is still to be asked about, after a step of an action that was executed before."""
        action = self._evidence.hypotheses[step.name]
        success = self._value.success(step.name, action.violated(*action.index.values(state, step.objects)))
        return 1 - success * (1 - self._one_way.left(state, self._evidence.predict(state, step)))

    def _options(
        self, name: str, action: ActionHypotheses, sight: Sight, cost: int
    ) -> Iterator[tuple[Row, float]]:
        """Arguments worth trying in a state that costs so many steps, with what they are worth for these.

        All are compared unless they are too many.
        """
        index, grid = sight.index, sight.grid
        if name in self._value.unexecuted:
            self._left -= BEAM
            first = self._value.unexecuted[name].best_in(grid, cost - 1)
            if first is not None:
                yield first[0], first[1] * cost
            return
        if grid.cells(action.index) <= MAX_CELLS:
            self._left -= GRID + grid.cells(action.index) // GRID
            yield from grid.rows(self._value.of_all_rows(name, grid), action.index, BEST)
            return
        self._skipped = True
        rows = list(self._rows(name, action, index))
        self._left -= len(rows)
        yield from zip(rows, self._value.of_rows(name, index.state, rows).tolist(), strict=True)

    def _rows(self, name: str, action: ActionHypotheses, index: StateIndex) -> Iterator[Row]:
        """Arguments under which the action is worth trying in a state."""
        chances = {
            literal.positive: self._value.chance(name, literal)
            for literal in action.undecided.singles()
            if literal.positive
        }
        proven = action.proven.positive
        trusted = [bit for bit, chance in chances.items() if chance > LIKELY]
        required = proven | sum(trusted)
        for left_out in (0, *trusted):
            header, wanted = action.index.header, atoms(action, required & ~left_out)
            rows = bindings(index, header, wanted, repeated=action.index.repeated)
            yield from islice(rows, ROWS)

    def _onward(self, sight: Sight) -> Iterator[tuple[GroundAction, float, State]]:
        """Steps that are as good as certain, how probable they are and what they leave to be asked about, and where they lead."""
        for name, action in self._evidence.hypotheses.actions.items():
            if not action.successes:
                continue
            for one in sight.onward(name, action):
                self._left -= 1
                probability = self._value.success(name, one.violated)
                if probability >= CERTAIN:
                    if one.after is None:
                        one.after = self._evidence.predict(sight.state, one.step)
                    left = self._one_way.left(sight.state, one.after)
                    yield one.step, probability * left, one.after


def _why(name: str, action: ActionHypotheses, violated: Literals) -> str:
    if not action.successes:
        return f"see {name} succeed"
    text = ", ".join(action.index.text(violated))
    return f"test {text}" if text else f"see the effects of {name}"

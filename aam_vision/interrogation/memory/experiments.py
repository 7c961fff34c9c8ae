"""Histories made for it tell facts apart that explain all attempts so far: the shortest one at whose end they predict differently.

The states on the way are those that the simplest explanation predicts, beginning where the problems begin.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from aam_vision.interrogation.memory.explanations import Explanation, Explanations, Strictest
from aam_vision.interrogation.memory.facts import InventedCounter, InventedFact, Rows
from aam_vision.interrogation.memory.histories import BEGINNING, RecordingAgent
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import GroundAction, State
from aam_vision.planning.joins import StateIndex, bindings

STATES = 150
"""States, with the values of both facts, that are searched for a difference."""
FURTHER = 30
"""Such states that are searched for a history that refutes one of both, once one was found that may."""
BINDINGS = 40
"""Steps of one action that are compared in one state, at most."""
IN_VAIN = 3
"""Questions that may leave two explanations as they were before these count as not to be told apart."""
QUESTIONS = 150
"""Questions that tell facts apart, at most."""
HISTORIES = 6
"""Histories of random steps that have to go as a fact says that nothing else is told apart from, if it is no number."""
OF_NUMBERS = 18
"""The same of a number, which fits more easily."""
MANY = 12
"""Explanations of which histories of random steps, each of which may refute many, leave fewer before they are told apart in pairs."""
BEGUN = 12
"""Situations before steps that depend on a fact, in which histories may begin: the nearest."""
NEARER = 0.5
"""Share of the histories of random steps that lead there first."""
LENGTHS: Final = (12, 24, 40)
"""Steps of such histories, in turn."""
REFUSED = 0.25
"""Share of steps of any kind in them: of the others it is not known that they are refused."""

Plan = tuple[GroundAction, ...]


class Question(NamedTuple):
    """A history from an initial situation at whose last step two facts predict differently."""

    start: Situation
    plan: Plan


class Way(NamedTuple):
    """Executed steps, as a rule from where a problem begins."""

    start: Situation
    steps: Plan
    state: State
    """Where they lead, as it is seen."""

    def rows(self, fact: InventedFact) -> Rows:
        """The objects of which a fact is true at its end."""
        return _after(fact, fact.beginning, self.steps)


def _after(fact: InventedFact, rows: Rows, steps: Plan) -> Rows:
    """The objects of which a fact is true after executed steps."""
    for step in steps:
        rows = fact.after(rows, step)
    return rows


def telling_apart(
    best: Explanation,
    other: Explanation,
    begun: Sequence[Way],
    asked: Collection[Question] = (),
    said: dict[tuple[State, Rows], Said] | None = None,
) -> Question | None:
    """The shortest history that tells two explanations apart, and was not asked; None if none was found.

    One that refutes either goes before one at whose end one of them says that a step is executed, and the other nothing.

    Args:
        best: the simplest explanation.
        other: another one.
        begun: how histories may begin.
        asked: before.
        said: what the best one says, for the next one.
    """
    said = {} if said is None else said
    spare: Question | None = None
    further = FURTHER
    alike = {name for name, one in best.actions.items() if one.says_as(other.actions[name])}
    same = {name for name in alike if best.actions[name].does_as(other.actions[name])}
    came: dict[tuple[State, Rows, Rows], tuple[Situation, Plan]] = {}
    waiting: deque[tuple[State, Rows, Rows]] = deque()
    for one in begun:
        key = one.state, one.rows(best.fact), one.rows(other.fact)
        if key not in came:
            came[key] = one.start, one.steps
            waiting.append(key)
    while waiting and further:
        further -= spare is not None
        state, rows, others = key = waiting.popleft()
        start, way = came[key]
        if (state, rows) not in said:
            said[state, rows] = Said(best, state, rows)
        here, theirs = said[state, rows], other.fact.added(state, others)
        for step, visible, certain in here.steps(other, theirs, alike, same):
            action, theirs_too = best.actions[step.name], other.actions[step.name]
            told = certain
            if step.name not in alike:
                told = theirs_too.executes(theirs_too.held(visible, others, step.objects))
            after = here.after(step) if certain else None
            elsewhere = (
                after is not None
                and told
                and not action.does_as(theirs_too)
                and after != theirs_too.after(state, theirs, step.objects)
            )
            differs = elsewhere or certain is not told
            if differs and (question := Question(start, (*way, step))) not in asked:
                if elsewhere or (certain is not None and told is not None):
                    return question
                spare = spare or (question if certain or told else None)
            if after is not None and len(came) < STATES:
                led = after, best.fact.after(rows, step), other.fact.after(others, step)
                if led not in came:
                    came[led] = start, (*way, step)
                    waiting.append(led)
    return spare


class Told(NamedTuple):
    """What an explanation says of a step in a situation."""

    step: GroundAction
    visible: int
    """The atoms in the vocabulary that hold before it, as a mask."""
    executes: bool | None
    """Whether it is executed for certain, or refused; None if neither."""


class Said:
    """What an explanation says of the steps in a situation, found once for all others that it is compared with.

    Args:
        best: the explanation.
        state: as it is seen.
        rows: of which the fact is true there.
    """

    def __init__(self, best: Explanation, state: State, rows: Rows) -> None:
        self._best, self._state, self._rows = best, state, rows
        self.seen = best.fact.added(state, rows)
        index = StateIndex(self.seen)
        self._bound = {
            name: [dict.fromkeys(_bound(one, index, required)) for required in (one.positive, 0)]
            for name, one in best.actions.items()
        }
        self._told: dict[GroundAction, Told] = {}
        self._all: dict[str, list[Told]] = {}
        self._after: dict[GroundAction, State] = {}

    def steps(
        self, other: Explanation, theirs: State, alike: Collection[str] = (), same: Collection[str] = ()
    ) -> Iterator[Told]:
        """Steps that one of them executes for certain, and some others, with what the best one says.

        Args:
            other: the other explanation.
            theirs: the state with its fact.
            alike: the actions that both execute in the same situations.
            same: those of them that do the same, too: only of their steps that are executed something follows.
        """
        index = StateIndex(theirs)
        for name, (certain, some) in self._bound.items():
            if name in alike:
                if name not in self._all:
                    self._all[name] = [self._say(GroundAction(name, row)) for row in certain | some]
                yield from (one for one in self._all[name] if one.executes or name not in same)
                continue
            their = other.actions[name]
            more = dict.fromkeys(_bound(their, index, their.positive))
            for row in certain | more | some:
                yield self._say(GroundAction(name, row))

    def _say(self, step: GroundAction) -> Told:
        if step not in self._told:
            action = self._best.actions[step.name]
            visible, _ = action.index.values(self._state, step.objects)
            held = action.held(visible, self._rows, step.objects)
            self._told[step] = Told(step, visible, action.executes(held))
        return self._told[step]

    def after(self, step: GroundAction) -> State:
        """The state after an executed step, as it is seen."""
        if step not in self._after:
            self._after[step] = self._best.actions[step.name].after(self._state, self.seen, step.objects)
        return self._after[step]


def _bound(action: Strictest, index: StateIndex, required: int) -> Iterator[tuple[str, ...]]:
    atoms = sorted(action.index.select(required), key=str)
    return islice(bindings(index, action.index.header, atoms, repeated=False), BINDINGS)


def random_steps(
    best: Explanation, state: State, rows: Rows, most: int, ending: float, rng: np.random.Generator
) -> Plan:
    """Random steps that an explanation may execute, and a last one of any kind.

    Args:
        best: the explanation.
        state: where they begin, as it is seen.
        rows: of which the fact is true there.
        most: steps, at most.
        ending: the probability with which each step is the last one.
        rng: what is drawn comes from it.
    """
    plan: list[GroundAction] = []
    while len(plan) < most:
        here = Said(best, state, rows)
        steps = list(here.steps(best, here.seen))
        possible = [step for step, _, executes in steps if executes is not False]
        last = len(plan) == most - 1 or rng.random() < ending or not possible
        choice = [step for step, *_ in steps] if last else possible
        if not choice:
            break
        plan.append(choice[int(rng.integers(len(choice)))])
        if last:
            break
        state = here.after(plan[-1])
        rows = best.fact.after(rows, plan[-1])
    return tuple(plan)


def _histories(fact: InventedFact) -> int:
    return OF_NUMBERS if isinstance(fact, InventedCounter) else HISTORIES


class VersionSpace:
    """The facts that explain all that an agent did, as few and simple ones as do.

    Args:
        agent: that remembers something.
        rng: for histories of random steps.
    """

    def __init__(self, agent: RecordingAgent, rng: np.random.Generator) -> None:
        self._agent = agent
        self._rng = rng
        self.random: set[int] = set()
        """The numbers of the agent's exchanges that made histories of random steps."""
        self._tried: Counter[InventedFact] = Counter()
        """How many histories of random steps went as each fact says."""
        self._facts: list[InventedFact] = []
        self._vain: Counter[tuple[object, ...]] = Counter()
        """How often pairs of explanations were to be told apart, and stayed as they were; ``IN_VAIN`` where no history would."""
        self._ruled_out: set[InventedFact] = set()
        self._asked: set[Question] = set()
        self.open = False
        """Whether a question that would tell them apart was left, as no more may be asked."""

    def rule_out(self, fact: InventedFact) -> None:
        """Leave a fact out: an interrogation has contradicted it."""
        self._ruled_out.add(fact)

    @property
    def _attempts(self) -> Explanations:
        agent = self._agent
        return Explanations(agent.vocabulary, agent.headers, agent.histories.attempts)

    def left(self) -> list[Explanation]:
        """The explanations by the simplest facts, and by those with one change more, simplest first; counters come last."""
        attempts = self._attempts
        found = attempts.by([one for one in self._facts if one not in self._ruled_out])
        if not found or found[0].fact.size > self._facts[0].size:
            found = attempts.smallest(self._ruled_out)
        self._facts = [one.fact for one in found]
        return found

    @property
    def _starts(self) -> list[Way]:
        """Where the problems begin."""
        return [Way(situation, (), situation.state) for situation in self._agent.initial()]

    def _nearest(self, best: Explanation) -> list[Way]:
        """The shortest ways to situations before steps whose outcome depends on the fact."""
        histories, fact = self._agent.histories, best.fact
        after = fact.along(histories.attempts, [])
        starts = {way.state: way.start for way in reversed(self._starts)}
        found: dict[tuple[State, Rows], Way] = {}
        for one in histories.attempts:
            if one.before is None or not best.actions[one.action.name].needs_fact:
                continue
            begun, steps = (one.before, ()) if one.parent == BEGINNING else histories.way(one.parent)
            if begun is None or (start := starts.get(begun)) is None:
                continue
            way = Way(start, steps, one.before)
            key = one.before, fact.beginning if one.parent == BEGINNING else after[one.parent]
            if key not in found or len(found[key].steps) > len(steps):
                found[key] = way
        return sorted(found.values(), key=lambda way: len(way.steps))[:BEGUN]

    def tell_apart(self, budget: Budget, steps: int) -> list[Explanation]:
        """Ask until no history tells those that are left apart, or no more may be asked.

        Args:
            budget: of the whole interrogation.
            steps: that were made before.
        """
        while True:
            found = self.left()
            made = self._tried[found[0].fact] if found else 0
            more = bool(found) and made < _histories(found[0].fact)
            question = None if not found or (more and len(found) > MANY) else self._next(found)
            if question is None and more:
                length = LENGTHS[made % len(LENGTHS)]
                if budget.steps is not None and steps + length > budget.steps:
                    self.open = len(found) > 1
                    return found
                self._tried[found[0].fact] += 1
                steps += self._at_random(found[0], length)
                continue
            if question is None:
                self.open = False
                return found
            steps += len(question.plan)
            self.open = len(self._asked) >= QUESTIONS or (budget.steps is not None and steps > budget.steps)
            if self.open:
                return found
            self._asked.add(question)
            self._agent.ask(Query(*question))

    def _at_random(self, best: Explanation, length: int) -> int:
        """Make a history of random steps, after a refused one the next; how many were attempted.

        Where any state can be set, a history ends with its question, and so with a refused step.
        """
        agent, rng, made = self._agent, self._rng, 0
        nearest = self._nearest(best)
        among = nearest if nearest and rng.random() < NEARER else self._starts
        here, rows = among[int(rng.integers(len(among)))], best.fact.beginning
        length += len(here.steps)
        ending = 0 if agent.access.constructs else REFUSED
        while made < length:
            there, most = _after(best.fact, rows, here.steps), length - made - len(here.steps)
            plan = (*here.steps, *random_steps(best, here.state, there, most, ending, rng))
            if not plan:
                break
            self.random.add(len(agent.transcript.entries))
            response = agent.ask(Query(here.start, plan))
            made += len(plan[: response.executed + 1])
            rows = _after(best.fact, rows, plan[: response.executed])
            here = Way(response.final, (), response.final.state)
            if agent.access.constructs:
                break
        return made

    def _next(self, found: Sequence[Explanation]) -> Question | None:
        best = found[0]
        begun = [*self._nearest(best), *self._starts]
        said: dict[tuple[State, Rows], Said] = {}
        for other in found[1:]:
            pair = best.key, other.key
            if self._vain[pair] >= IN_VAIN:
                continue
            if question := telling_apart(best, other, begun, self._asked, said):
                self._vain[pair] += 1
                return question
            self._vain[pair] = IN_VAIN
        return None

"""Histories made for it tell facts apart that explain all attempts so far: the shortest one at whose end they predict differently.

The states on the way are those that the simplest explanation predicts, beginning where the problems begin.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from aam_vision.interrogation.memory.facts import Explanation, Explanations, InventedFact, Rows, Strictest
from aam_vision.interrogation.memory.histories import RecordingAgent
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

Plan = tuple[GroundAction, ...]


class Question(NamedTuple):
    """A history from an initial situation at whose last step two facts predict differently."""

    start: Situation
    plan: Plan


def telling_apart(
    best: Explanation,
    other: Explanation,
    initial: Sequence[Situation],
    asked: Collection[Question] = (),
) -> Question | None:
    """The shortest history that tells two explanations apart, and was not asked; None if none was found.

    One that refutes either goes before one of which only one of them predicts the end.
    """
    spare: Question | None = None
    further = FURTHER
    came: dict[tuple[State, Rows, Rows], tuple[Situation, Plan]] = {}
    waiting: deque[tuple[State, Rows, Rows]] = deque()
    for situation in initial:
        key = situation.state, best.fact.beginning, other.fact.beginning
        if key not in came:
            came[key] = situation, ()
            waiting.append(key)
    while waiting and further:
        further -= spare is not None
        state, rows, others = key = waiting.popleft()
        start, way = came[key]
        ours, theirs = best.fact.added(state, rows), other.fact.added(state, others)
        for step, certain in _steps(best, other, ours, theirs):
            other_action, question = other.actions[step.name], Question(start, (*way, step))
            told = other_action.executes(theirs, step.objects)
            after = best.actions[step.name].after(state, ours, step.objects)
            elsewhere = certain and told and after != other_action.after(state, theirs, step.objects)
            if (elsewhere or certain is not told) and question not in asked:
                if elsewhere or (certain is not None and told is not None):
                    return question
                spare = spare or question
            if certain and len(came) < STATES:
                led = after, best.fact.after(rows, step), other.fact.after(others, step)
                if led not in came:
                    came[led] = start, (*way, step)
                    waiting.append(led)
    return spare


def _steps(
    best: Explanation, other: Explanation, state: State, theirs: State
) -> Iterator[tuple[GroundAction, bool | None]]:
    """Steps that one of them executes for certain, and some others, with what the best one says of each."""
    mine, others = StateIndex(state), StateIndex(theirs)
    for name, action in best.actions.items():
        found = dict.fromkeys(_bound(action, mine, action.positive))
        found.update(dict.fromkeys(_bound(their := other.actions[name], others, their.positive)))
        found.update(dict.fromkeys(_bound(action, mine, 0)))
        for row in found:
            yield GroundAction(name, row), action.executes(state, row)


def _bound(action: Strictest, index: StateIndex, required: int) -> Iterator[tuple[str, ...]]:
    atoms = sorted(action.index.select(required), key=str)
    return islice(bindings(index, action.index.header, atoms, repeated=False), BINDINGS)


class VersionSpace:
    """The facts that explain all that an agent did, as few and simple ones as do."""

    def __init__(self, agent: RecordingAgent) -> None:
        self._agent = agent
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
        if not found or len(found[0].fact.changes) > len(self._facts[0].changes):
            found = attempts.smallest(self._ruled_out)
        self._facts = [one.fact for one in found]
        return found

    def tell_apart(self, budget: Budget, steps: int) -> list[Explanation]:
        """Ask until no history tells those that are left apart, or no more may be asked.

        Args:
            budget: of the whole interrogation.
            steps: that were made before.
        """
        while True:
            found = self.left()
            question = self._next(found) if found else None
            if question is None:
                self.open = False
                return found
            steps += len(question.plan)
            self.open = len(self._asked) >= QUESTIONS or (budget.steps is not None and steps > budget.steps)
            if self.open:
                return found
            self._asked.add(question)
            self._agent.ask(Query(*question))

    def _next(self, found: Sequence[Explanation]) -> Question | None:
        best, initial = found[0], self._agent.initial()
        for other in found[1:]:
            pair = best.key, other.key
            if self._vain[pair] >= IN_VAIN:
                continue
            if question := telling_apart(best, other, initial, self._asked):
                self._vain[pair] += 1
                return question
            self._vain[pair] = IN_VAIN
        return None

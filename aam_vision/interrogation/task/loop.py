"""The interrogation itself: ask the policy, ask the agent, learn, until there is nothing left to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.errors import AgentFailed, InconsistentAgent, PlannerFailed
from aam_vision.interrogation.evidence.conflict import disagreement
from aam_vision.interrogation.evidence.entries import Asked, Entry, Walked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.figures import Exam
from aam_vision.interrogation.examination.surprises import progress, surprise
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.interrogation.task.scrutiny import TAKEN_AT_THEIR_WORD, Scrutiny
from aam_vision.interrogation.task.verdict import FAILED
from aam_vision.query import Agent, Query, Situation

Watch = Callable[[Move, Evidence, CountingAgent], None]


class Interrupted(AgentFailed):
    """Raised when an interrogation cannot go on; ``result`` holds everything learnt so far."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    @property
    def contradicted(self) -> bool:
        """Whether the agent contradicted itself: then the interrogation is over, and not only interrupted."""
        return isinstance(self.__cause__, InconsistentAgent)


def interrogate(
    agent: Agent,
    policy: Policy,
    rng: np.random.Generator,
    *,
    budget: Budget | None = None,
    repeated: bool = False,
    scrutiny: Scrutiny = TAKEN_AT_THEIR_WORD,
    watch: Watch = lambda move, evidence, agent: None,
) -> Result:
    """Interrogate an agent until the policy stops or the budget is spent.

    ``agent`` may be counting already, to go on counting. ``watch`` is called after every move. All random choices
    come from ``rng``. With ``repeated`` several parameters of an action, or places of a predicate, may stand for one
    object; else the model says nothing of such cases. ``scrutiny`` says how far answers are taken at their word.

    Raises:
        AccessViolation: the policy started where the agent's access does not allow.
        Interrupted: the agent or the planner failed, or the agent contradicted itself (the message names
            the answers that disagree); carries what was learnt.
    """
    budget = budget or Budget()
    counting = agent if isinstance(agent, CountingAgent) else CountingAgent(EnforcingAgent(agent))
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=repeated))
    record = _Record(counting, evidence, scrutiny, repeated)
    try:
        record.begin()
        while True:
            move = budget.affordable(policy.next(evidence, rng), counting.counts)
            if _asked_before(evidence, move):
                return record.result(
                    Stop(False, "the same question came up again: nothing more can be learnt")
                )
            if not isinstance(move, Stop):
                record.take_in(_answer(counting, evidence, move, rng), move)
            watch(move, evidence, counting)
            if isinstance(move, Stop):
                return record.result(move)
    except InconsistentAgent as error:
        named = disagreement(record.transcript())
        why = f"{error} ({named})" if named else str(error)
        raise Interrupted(why, record.result(Stop(False, why, cut=FAILED), doubt=why)) from error
    except (AgentFailed, PlannerFailed) as error:
        raise Interrupted(str(error), record.result(Stop(False, str(error), cut=FAILED))) from error


def _asked_before(evidence: Evidence, move: Move) -> bool:
    """Whether a policy repeats itself, so that it would never stop."""
    if not isinstance(move, Ask) or move.again or move.examines:
        return False
    return evidence.was_asked(move.start, move.plan)


def _answer(agent: CountingAgent, evidence: Evidence, move: Ask | Walk, rng: np.random.Generator) -> Entry:
    """Make the move and return the agent's answer; the steps of an examination are counted apart."""
    if move.examines:
        return agent.examined(lambda: _answered(agent, evidence, move, rng))
    return _answered(agent, evidence, move, rng)


def _answered(agent: CountingAgent, evidence: Evidence, move: Ask | Walk, rng: np.random.Generator) -> Entry:
    start = evidence.departure(move.start)
    if isinstance(move, Walk):
        choices = rng if move.seed is None else np.random.default_rng(move.seed)
        return Walked(tuple(agent.walk(start, move.steps, choices)))
    query = Query(start, move.plan)
    response = agent.ask_again(query) if move.again else agent.ask(query)
    return Asked(Query(start, move.plan[: response.told]), response)


class _Record:
    """The contents of the result."""

    def __init__(self, agent: CountingAgent, evidence: Evidence, scrutiny: Scrutiny, repeated: bool) -> None:
        self._agent = agent
        self._evidence = evidence
        self._inspection = scrutiny.of(agent)
        about = agent.vocabulary, agent.headers, agent.access
        self._blank = Transcript(*about, (), (), repeated)
        self._initial: list[Situation] = []
        self._entries: list[Entry] = []
        self._curve: list[CurvePoint] = []
        self._failed: Exam | None = None
        """The examination, if a prediction was wrong."""

    def begin(self) -> None:
        """Learn where the problems begin."""
        for situation in self._agent.initial():
            self._initial.append(situation)
            self._evidence.begin(situation)

    def take_in(self, entry: Entry, move: Ask | Walk) -> None:
        """Inspect an answer, and learn from it.

        Raises:
            InconsistentAgent: it cannot be right, or is not as the model predicts.
        """
        self._entries.append(entry)
        if move.examines and (found := surprise(self._evidence, entry, move)):
            self._failed = Exam(progress(self._evidence).steps + len(entry.actions), 1)
            raise InconsistentAgent(found)
        self._inspection.check(entry, lambda: self.transcript().names()[-1])
        self._evidence.take_in(entry, move)
        if isinstance(move, Ask) and not move.again and not move.examines:
            counts = self._agent.counts
            self._curve.append(CurvePoint(counts.queries, counts.steps, self._evidence.hypotheses.model()))

    def transcript(self) -> Transcript:
        """All that was asked and shown so far."""
        return replace(self._blank, initial=tuple(self._initial), entries=tuple(self._entries))

    def result(self, stop: Stop, doubt: str = "") -> Result:
        """The result so far, and how it ended."""
        hypotheses = self._evidence.hypotheses
        verdict = self._inspection.verdict(self._evidence, stop, doubt)
        return Result(
            hypotheses.model(),
            verdict.stop.complete,
            verdict.stop.why,
            self._agent.counts,
            hypotheses,
            self.transcript(),
            tuple(self._curve),
            doubt=verdict.doubt,
            unconfirmed=verdict.unconfirmed,
            cut=stop.cut,
            beyond=stop.beyond,
            reasons=stop.reasons,
            exam=self._failed or progress(self._evidence),
        )

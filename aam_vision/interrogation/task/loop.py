"""The interrogation itself: ask the policy, ask the agent, learn, until there is nothing left to ask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aam_vision.agents.counting import CountingAgent, Counts
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.errors import AgentFailed, InconsistentAgent, PlannerFailed
from aam_vision.interrogation.evidence.anomalies import unexplained
from aam_vision.interrogation.evidence.conflict import disagreement
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.refusal_support import REFUSALS, unconfirmed
from aam_vision.interrogation.evidence.transcript import Asked, Entry, Transcript, Walked, take_in
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.query import Access, Agent, Query, Situation, refuses_surely
from aam_vision.strips import GroundAction


@dataclass(frozen=True)
class Budget:
    """How much may be asked; None is no limit."""

    queries: int | None = None
    steps: int | None = None

    def spent(self, counts: Counts, *, steps: int, queries: int = 0) -> str:
        """Why so many more cannot be afforded, in words; empty if they can."""
        if self.steps is not None and counts.steps + steps > self.steps:
            return f"the budget of {self.steps} steps is spent"
        if self.queries is not None and queries and counts.queries + queries > self.queries:
            return f"the budget of {self.queries} queries is spent"
        return ""


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
    doubting: bool = False,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
) -> Result:
    """Interrogate an agent until the policy stops or the budget is spent.

    ``agent`` may be counting already, to go on counting. ``watch`` is called after every move. All random choices
    come from ``rng``. With ``repeated`` several parameters of an action, or places of a predicate, may stand for one
    object; else the model says nothing of such cases. With ``doubting`` the first sign of a misread state ends it, and what is concluded from too few
    refusals is not certain (``support``; a ``Confirming`` policy asks for more), unless the agent refuses surely.

    Raises:
        AccessViolation: the policy started where the agent's access does not allow.
        Interrupted: the agent or the planner failed, or the agent contradicted itself (the message names
            the answers that disagree); carries what was learnt.
    """
    budget = budget or Budget()
    counting = agent if isinstance(agent, CountingAgent) else CountingAgent(EnforcingAgent(agent))
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers, repeated=repeated))
    curve: list[CurvePoint] = []
    asked: set[tuple[int, tuple[GroundAction, ...]]] = set()

    initial: list[Situation] = []
    entries: list[Entry] = []
    misread: list[str] = []

    def transcript() -> Transcript:
        about = agent.vocabulary, agent.headers, agent.access
        return Transcript(*about, tuple(initial), tuple(entries), repeated)

    def result(complete: bool, why: str, doubt: str = "") -> Result:
        hypotheses = evidence.hypotheses
        model = hypotheses.model()
        doubt = doubt or (f"{misread[0]}: a state was misread, or this is no STRIPS agent" if misread else "")
        weak = unconfirmed(evidence) if doubting and not refuses_surely(agent) else ()
        if doubt and complete:
            complete, why = False, f"nothing is certain: {doubt}"
        elif weak and complete:
            complete = False
            why = f"{len(weak)} conclusions rest on fewer than {REFUSALS} refusals, and could not be asked for again"
        return Result(
            model,
            complete,
            why,
            counting.counts,
            hypotheses,
            transcript(),
            tuple(curve),
            doubt=doubt,
            unconfirmed=weak,
        )

    def learn() -> None:
        if changed := unexplained(entries[-1], agent.vocabulary.constants):
            misread.append(f"{transcript().names()[-1]} changed {changed[0]}, which no step of it names")
            if doubting or agent.access is Access.SETTABLE:
                raise InconsistentAgent(f"{misread[0]}: a state was misread, or this is no STRIPS agent")
        take_in(evidence, entries[-1])

    try:
        for situation in counting.initial():
            initial.append(situation)
            evidence.begin(situation)
        while True:
            move = _affordable(policy.next(evidence, rng), budget, counting)
            if isinstance(move, Ask):
                if not move.again and (move.start.number, move.plan) in asked:
                    return result(False, "the same question came up again: nothing more can be learnt")
                asked.add((move.start.number, move.plan))
                query = Query(evidence.depart(move.start), move.plan)
                pose = counting.ask_again if move.again else counting.ask
                entries.append(Asked(query, pose(query)))
                learn()
                counts = counting.counts
                if not move.again:
                    curve.append(CurvePoint(counts.queries, counts.steps, evidence.hypotheses.model()))
            elif isinstance(move, Walk):
                walked = counting.walk(evidence.depart(move.start), move.steps, rng)
                entries.append(Walked(tuple(walked)))
                learn()
            watch(move, evidence, counting)
            if isinstance(move, Stop):
                return result(move.complete, move.why)
    except InconsistentAgent as error:
        named = disagreement(transcript())
        why = f"{error} ({named})" if named else str(error)
        raise Interrupted(why, result(False, why, why)) from error
    except (AgentFailed, PlannerFailed) as error:
        raise Interrupted(str(error), result(False, str(error))) from error


def _affordable(move: Move, budget: Budget, agent: CountingAgent) -> Move:
    """The move, or Stop when the budget does not allow it."""
    if isinstance(move, Stop):
        return move
    if isinstance(move, Ask):
        spent = budget.spent(agent.counts, steps=len(move.plan), queries=0 if move.again else 1)
    else:
        spent = budget.spent(agent.counts, steps=1)
    if spent:
        return Stop(False, spent)
    if isinstance(move, Walk) and budget.steps is not None:
        return Walk(move.start, min(move.steps, budget.steps - agent.counts.steps))
    return move

"""The interrogation itself: ask the policy, ask the agent, learn, until there is nothing left to ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.interrogation.evidence.anomalies import disagreement, unexplained_changes
from aam_vision.interrogation.evidence.graph import REFUSALS, Claim, Evidence, unconfirmed
from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Move, Policy, Stop, Walk, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.findings import Exam
from aam_vision.interrogation.examination.looking import is_steady, unseen_change
from aam_vision.interrogation.examination.predictions import progress, surprise
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.interrogation.task.verdict import BUDGET, FAILED
from aam_vision.model.query import Agent, Query, Situation, refuses_surely, traced
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import AgentFailed, InconsistentAgent, PlannerFailed
from aam_vision.support.resources import ResourcesSpent
from aam_vision.support.wording import counted

# How far an agent's answers are taken at their word: a strategy of the loop.
#
# Whatever the strategy, an atom that changed though no executed step names its objects shows that a state was misread,
# or that the agent is not a STRIPS agent. ``TAKEN_AT_THEIR_WORD`` goes on and calls nothing certain in the end.
# ``DOUBTED`` ends the interrogation at once, so that something better can be done (``task.robust``), and calls nothing
# certain that follows from too few refusals.


@dataclass(frozen=True)
class Scrutiny:
    """How to treat answers that cannot be right."""

    ends_at_once: bool
    """Whether the first sign of a misread state ends the interrogation."""
    counts_refusals: bool
    """Whether a conclusion needs several refusals, of an agent that may refuse by mistake."""

    def of(self, agent: CountingAgent) -> Inspection:
        """The inspection of one agent's answers."""
        return Inspection(
            agent,
            self.ends_at_once or agent.access.constructs,
            self.counts_refusals and not refuses_surely(agent),
            agent.vocabulary.constants,
        )


TAKEN_AT_THEIR_WORD = Scrutiny(ends_at_once=False, counts_refusals=False)
DOUBTED = Scrutiny(ends_at_once=True, counts_refusals=True)


class Verdict(NamedTuple):
    """How an interrogation ended, after all that is in doubt."""

    stop: Stop
    doubt: str
    """Why nothing is certain, if so."""
    unconfirmed: tuple[Claim, ...]


@dataclass
class Inspection:
    """The inspection of one agent's answers, as they come in."""

    agent: CountingAgent
    ends_at_once: bool
    counts_refusals: bool
    constants: Collection[str]
    misread: list[str] = field(default_factory=list)
    """Signs that states were misread."""
    steady: bool | None = None
    """Whether the camera shows the same pixels again; None until that matters."""

    def check(self, entry: Entry, name: Callable[[], str]) -> None:
        """Look at one answer before anything is concluded from it; ``name`` tells what it is called.

        Raises:
            InconsistentAgent: it cannot be right, and that ends the interrogation.
        """
        if changed := unexplained_changes(entry, self.agent.vocabulary):
            sign = f"{name()} changed {changed[0]}, which no step of it names"
            self._doubt(f"{sign}: a state was misread, or this is no STRIPS agent")
        elif step := self._unseen_change(entry):
            self._doubt(f"{step}: the image changed, but no atom did: misread, or a predicate is missing")

    def _doubt(self, sign: str) -> None:
        self.misread.append(sign)
        if self.ends_at_once:
            raise InconsistentAgent(sign)

    def _unseen_change(self, entry: Entry) -> GroundAction | None:
        """An executed step that changed the image and no atom, unless the camera's own noise may be the reason."""
        if self.steady is False:
            return None
        if isinstance(entry, Walked):
            steps = [(one.before, one.action, one.after) for one in entry.steps]
        elif entry.response.executed == 1:
            steps = [(entry.query.initial, entry.query.plan[0], entry.response.final)]
        else:
            return None
        for before, action, after in steps:
            if unseen_change(self.agent, before, action, after, self.constants):
                if self.steady is None:
                    self.steady = is_steady(self.agent, steps[-1][2])
                return action if self.steady else None
        return None

    def verdict(self, evidence: Evidence, stop: Stop, doubt: str = "") -> Verdict:
        """The end, and what of it is certain."""
        doubt = doubt or (self.misread[0] if self.misread else "")
        weak = unconfirmed(evidence) if self.counts_refusals else ()
        if doubt and stop.complete:
            stop = Stop(False, f"nothing is certain: {doubt}")
        elif weak and stop.complete:
            rest = f"{counted(len(weak), 'conclusion')} {'rests' if len(weak) == 1 else 'rest'}"
            why = f"{rest} on fewer than {REFUSALS} refusals, and could not be asked for again"
            stop = Stop(False, why)
        return Verdict(stop, doubt, weak)


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
    known: Iterable[Entry] = (),
) -> Result:
    """Interrogate an agent until the policy stops or the budget is spent.

    ``agent`` may be counting already, to go on counting. ``watch`` is called after every move. All random choices
    come from ``rng``. With ``repeated`` several parameters of an action, or places of a predicate, may stand for one
    object; else the model says nothing of such cases. ``scrutiny`` says how far answers are taken at their word. ``known`` was asked and
    shown before.

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
        record.begin(known)
        while True:
            with budget.resources.interrupting():
                move = policy.next(evidence, rng)
            move = budget.affordable(move, counting.counts)
            if not isinstance(move, Stop) and evidence.repeats(move):
                return record.result(
                    Stop(False, "the same question came up again: nothing more can be learnt")
                )
            if not isinstance(move, Stop):
                record.take_in(_answer(counting, evidence, move, rng), move)
            watch(move, evidence, counting)
            if isinstance(move, Stop):
                return record.result(move)
    except ResourcesSpent as error:
        return record.result(Stop(False, str(error), cut=BUDGET))
    except InconsistentAgent as error:
        named = disagreement(record.transcript())
        why = f"{error} ({named})" if named else str(error)
        raise Interrupted(why, record.result(Stop(False, why, cut=FAILED), doubt=why)) from error
    except (AgentFailed, PlannerFailed) as error:
        raise Interrupted(str(error), record.result(Stop(False, str(error), cut=FAILED))) from error


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
        record = traced(agent)
        lines = record.lines if isinstance(record, Transcript) else ()
        self._blank = Transcript(*about, (), (), repeated, lines)
        self._initial: list[Situation] = []
        self._entries: list[Entry] = []
        self._curve: list[CurvePoint] = []
        self._failed: Exam | None = None
        """The examination, if a prediction was wrong."""

    def begin(self, known: Iterable[Entry]) -> None:
        """Learn where the problems begin, and from what is known.

        Raises:
            InconsistentAgent: that contradicts itself.
        """
        for situation in self._agent.initial():
            self._initial.append(situation)
            self._evidence.begin(situation)
        for entry in known:
            self._entries.append(entry)
            self._evidence.take_in(entry)

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

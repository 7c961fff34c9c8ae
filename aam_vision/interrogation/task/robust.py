"""An interrogation that takes answers at their word, until they prove to be wrong; then it weighs them.

An agent that is right is asked nothing new. One that is not shows it: answers contradict each other, or atoms change
that no step names (``evidence.anomalies``), or a step that was refused is executed when it is attempted once more
(``policies.decorators``). Then trials are made in states of our own (``weigh``), or, where the agent's access
allows none, its answers are asked for until they are certain (``RepeatingAgent``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, log

import numpy as np

from aam_vision.agents import encoding
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.encoding import Malformed, plan_json, read_plan
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.interrogation.evidence.anomalies import (
    contradicted_query,
    disagreement,
    refused_unevenly,
    shows_error,
)
from aam_vision.interrogation.evidence.graph import REFUSALS
from aam_vision.interrogation.evidence.moves import Asked, Entry, Policy, Stop, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.diagnosing import diagnose
from aam_vision.interrogation.examination.findings import Family
from aam_vision.interrogation.examination.outcomes import read_rightly
from aam_vision.interrogation.examination.trials import MAX_STEPS, Trials
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.statistics.assessment import Assessment, assessor_of
from aam_vision.interrogation.statistics.counts import EXECUTED, REFUSED, ErrorRates, posterior_mean
from aam_vision.interrogation.task.budget import Budget, Until
from aam_vision.interrogation.task.earlier_steps import contradiction
from aam_vision.interrogation.task.loop import (
    DOUBTED,
    TAKEN_AT_THEIR_WORD,
    Interrupted,
    Scrutiny,
    Watch,
    interrogate,
)
from aam_vision.interrogation.task.repeated_looks import RepeatedLooks
from aam_vision.interrogation.task.result import CurvePoint, Result
from aam_vision.interrogation.task.resuming import MoveRecord, recorded
from aam_vision.interrogation.task.rounds import Rounds
from aam_vision.interrogation.task.trial_design import Proposal, next_trial
from aam_vision.interrogation.task.verdict import BUDGET, FAILED
from aam_vision.model.query import Agent, Query, Response, Situation, WalkStep, refuses_surely, traced
from aam_vision.model.strips import ActionHeader
from aam_vision.support.errors import AgentFailed, InconsistentAgent
from aam_vision.support.wording import counted

# Interrogation of an agent whose answers may be wrong: trials until every palm tuple is certain enough.

CONFIDENCE = 0.999
"""How probable a palm tuple has to be to count as certain, unless the user says otherwise."""
SPARED = "half of the steps that were left are spent, and no answer erred"

WatchTrial = Callable[[Proposal, Assessment, CountingAgent], None]


def weigh(
    agent: CountingAgent,
    so_far: Result,
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    budget: Budget | None = None,
    record: MoveRecord | None = None,
    watch: WatchTrial = lambda proposal, assessment, agent: None,
) -> Result:
    """Go on with an interrogation whose answers are doubtful, under ``settable`` access.

    It ends when the whole model is right with a probability of ``confidence``: when no pal tuple is in more doubt
    than its share of what is left to 1. Should that not be reached, those count as certain that are so themselves.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    known, budget = so_far.transcript, budget or Budget()
    assert known.access.constructs, "trials start from states that are known for certain"
    assert not known.repeated, "trials name no object twice"
    entries, points = list(known.entries), list(so_far.curve)
    assessor = assessor_of(known.vocabulary, known.headers, entries)
    bases = [situation.state for situation in known.initial]
    blank = partial(Hypotheses, known.vocabulary, known.headers)
    allowed = (1 - confidence) / max(1, blank().size)
    while True:
        assessment = assessor.assess()
        propose = partial(next_trial, assessment, bases, allowed, rng)
        proposal = recorded_trial(propose, known.headers, record, rng)
        spent = budget.spent(agent.counts, steps=1, queries=1)
        if proposal is None or spent:
            break
        query = Query(Situation(proposal.start, proposal.start), (proposal.action,))
        entries.append(Asked(query, agent.ask(query)))
        assessor.take_in(entries[-1])
        model = assessment.hypotheses(confidence, blank()).model()
        points.append(CurvePoint(agent.counts.queries, agent.counts.steps, model))
        watch(proposal, assessment, agent)
    if not spent:
        assessment = assessment.sceptical(confidence)
    hypotheses = assessment.hypotheses(confidence, blank())
    stop = _stop(hypotheses, assessment, spent, confidence)
    return Result(
        hypotheses.model(),
        stop.complete,
        stop.why,
        agent.counts,
        hypotheses,
        known.of(entries),
        tuple(points),
        assessment,
        replace(assessment.rates, surely=refuses_surely(agent)),
        confidence,
        cut=stop.cut,
    )


def _stop(hypotheses: Hypotheses, assessment: Assessment, spent: str, confidence: float) -> Stop:
    """How the trials ended: everything is certain, nothing fits, the budget is spent, or no trial settles the rest."""
    left = hypotheses.undecided()
    if spent:
        return Stop(False, spent, cut=BUDGET)
    if not left:
        why = f"every line of the model is certain, the whole model with a probability of {confidence:g}"
        return Stop(True, why)
    if assessment.unfit:
        return Stop(
            False, f"no STRIPS model fits {', '.join(assessment.unfit)}, whatever is put down to chance"
        )
    return Stop(False, f"{counted(left, 'line')} of the model in doubt, and no trial settles them")


def recorded_trial(
    propose: Callable[[], Proposal | None],
    headers: Sequence[ActionHeader],
    record: MoveRecord | None,
    rng: np.random.Generator,
) -> Proposal | None:
    """The next trial: the recorded one, if the run was cut short after it; else a new one, which is recorded.

    Raises:
        UnusableInput: the record is damaged.
    """
    earlier = None if record is None else record.next_move(rng)
    if record is not None and earlier is not None:
        start, told = earlier
        try:
            if start is None:
                raise Malformed("a trial begins nowhere")
            by_name = {header.name: header for header in headers}
            (action,) = read_plan(encoding.field(told, "trial", list), by_name, start.state.objects)
            return Proposal(start.state, action, encoding.field(told, "why", str))
        except (Malformed, ValueError, TypeError, LookupError) as error:
            raise record.damaged(error) from None
    proposal = propose()
    if record is not None and proposal is not None:
        start = Situation(proposal.start, proposal.start)
        record.note_move(start, {"trial": plan_json([proposal.action]), "why": proposal.why}, rng)
    return proposal


@dataclass(frozen=True)
class Setup:
    """The settings of an interrogation, however reliable its answers prove."""

    policy: Policy
    """The first one: it asks again for what was refused, unless the agent refuses surely (``confirmed``)."""
    afresh: Callable[[], Policy]
    """Makes a policy for an interrogation that begins anew."""
    budget: Budget = field(default_factory=Budget)
    repeated: bool = False
    """Whether one object may be named twice."""
    confidence: float = CONFIDENCE
    """How probable the model has to be where answers prove unreliable."""
    confirm: bool = False
    """Whether no answer is taken at its word."""
    width: int = 1
    """How many questions are to be answered at a time (``rounds``)."""
    shared: tuple[object, ...] = ()
    """Parts of the policy that its copies share (``rounds``)."""

    def moves(self, policy: Policy, agent: CountingAgent, record: MoveRecord | None) -> Policy:
        """The recorded moves first, then the policy's own; in rounds, if several are to be answered at a time."""
        if self.width == 1 or isinstance(agent, RepeatingAgent):
            return recorded(policy, record)
        return Rounds(policy, agent, self.width, self.budget, record, self.shared)


@dataclass(frozen=True)
class Observer:
    """Follows an interrogation, and changes nothing of it."""

    moved: Watch = lambda move, evidence, agent: None
    """Called after every move."""
    tried: WatchTrial = lambda proposal, assessment, agent: None
    """Called after every trial in a constructed state."""


def interrogate_robustly(
    agent: Agent,
    setup: Setup,
    rng: np.random.Generator,
    *,
    record: MoveRecord | None = None,
    observer: Observer | None = None,
) -> Result:
    """Take answers at their word while they can be right; from the first that cannot, weigh them.

    1. An interrogation as ever (``loop.interrogate``), which ends at the first sign of a wrong answer.
    2. Experiments tell why (``examination.diagnosing``). What is not chance ends the interrogation.
    3. Under ``settable`` access trials are weighed (``weigh``); under any other one the interrogation begins
       anew with answers that are repeated until they are certain (``RepeatingAgent``).

    Args:
        agent: the one to ask.
        setup: policies, budget, and when something counts as certain.
        rng: the source of all random choices.
        record: keeps all moves, and gives back those of a run that was cut short.
        observer: follows what is done.

    Raises:
        AccessViolation: the policy started where the agent's access does not allow.
        Interrupted: the agent or the planner failed, or it contradicts itself and chance does not explain it.
    """
    return _Stages(CountingAgent(EnforcingAgent(agent)), setup, rng, record, observer or Observer()).run()


@dataclass(frozen=True)
class _Stages:
    """The stages of one interrogation."""

    agent: CountingAgent
    setup: Setup
    rng: np.random.Generator
    record: MoveRecord | None
    observer: Observer

    def run(self) -> Result:
        """The result of the last stage that is needed."""
        setup, settable = self.setup, self.agent.access.constructs
        if setup.confirm and not settable:
            return self._repeat(None)
        try:
            result = self._interrogate(self.agent, setup.policy, DOUBTED)
        except Interrupted as error:
            if not error.contradicted:
                raise
            doubted = self._diagnosed(error, self.agent)
        else:
            return self._weigh(result, None) if setup.confirm and not setup.repeated else result
        diagnosis = doubted.result.diagnosis
        assert diagnosis is not None, "a contradiction has a diagnosis"
        if (settable and setup.repeated) or not diagnosis.by_chance or traced(self.agent):
            raise doubted
        try:
            result = self._weigh(doubted.result, doubted) if settable else self._repeat(doubted)
        except Interrupted as error:
            rates = error.result.rates
            if rates is not None and error.contradicted and not rates.looks_err:
                diagnosis = read_rightly(diagnosis)
            found = error.result.diagnosis or diagnosis
            raise Interrupted(str(error), replace(error.result, diagnosis=found)) from error.__cause__
        if settable and diagnosis.family is Family.RANDOM and not result.proven and result.cut != BUDGET:
            result = _in_vain(doubted.result, result)
            raise Interrupted(result.why, result) from doubted.__cause__
        known = result.doubt or diagnosis.family is not Family.UNKNOWN
        return replace(result, diagnosis=diagnosis) if known else result

    def _diagnosed(self, error: Interrupted, agent: CountingAgent) -> Interrupted:
        """The same interruption, with the reason that experiments have shown.

        Raises:
            Interrupted: the agent failed meanwhile.
        """
        result = error.result
        half = self.setup.budget.half(agent.counts)  # the other one is for what is gone on to
        trials = Trials(agent, result.transcript, MAX_STEPS if half is None else min(half, MAX_STEPS))
        try:
            diagnosis = diagnose(trials, self.rng)
        except AgentFailed as failure:
            raise Interrupted(str(failure), replace(result, cut=FAILED)) from failure
        if result.transcript.lines and (where := disagreement(result.transcript)):
            diagnosis = replace(diagnosis, why=f"{diagnosis.why}; {where}")
        transcript = result.transcript.of([*result.transcript.entries, *trials.asked])
        found = replace(
            result,
            proven=False,
            transcript=transcript,
            diagnosis=diagnosis,
            why=diagnosis.why,
            doubt=diagnosis.why,
        )
        diagnosed = Interrupted(diagnosis.why, found)
        diagnosed.__cause__ = error.__cause__
        return diagnosed

    def _weigh(self, so_far: Result, doubted: Interrupted | None) -> Result:
        """Trials in constructed states, however reliable the answers so far."""
        weighed = weigh(
            self.agent,
            so_far,
            self.rng,
            confidence=self.setup.confidence,
            budget=self.setup.budget,
            record=self.record,
            watch=self.observer.tried,
        )
        assert weighed.assessment is not None, "answers that were weighed are assessed"
        if doubted is None or weighed.assessment.unfit:
            return weighed
        if _chance_showed(doubted, weighed):
            return _as_diagnosed(weighed, doubted.result, weighed.transcript)
        return _unexplained(weighed, doubted)

    def _repeat(self, doubted: Interrupted | None) -> Result:
        """An interrogation from its beginning, of what is certain once answers are repeated."""
        setup = self.setup
        starts = self.agent.initial() if doubted is None else doubted.result.transcript.beginnings
        steady = RepeatingAgent(self.agent, starts, setup.confidence, setup.budget)
        curve = doubted.result.curve if doubted is not None else ()
        policy, half = setup.afresh(), setup.budget.half(steady.counts)
        if doubted is not None and half is not None and not _chance_showed(doubted, doubted.result):
            # where no answer errs until then, it is no error that has to be explained
            most = steady.counts.steps + half
            policy = Until(policy, lambda: SPARED if steady.counts.steps >= most and not steady.erred else "")
        result = self._certain(steady, policy)
        result = replace(
            result, rates=steady.rates, confidence=setup.confidence, curve=(*curve, *result.curve)
        )
        if doubted is None:
            return result
        if why := contradiction(doubted.result.transcript, result.certain, steady.rates):
            return replace(result, proven=False, why=f"nothing is certain: {why}", doubt=why)
        if steady.erred or _chance_showed(doubted, doubted.result):
            known = doubted.result.transcript
            return _as_diagnosed(result, doubted.result, known.of([*known.entries, *steady.asked]))
        return _unexplained(result, doubted)

    def _certain(self, steady: RepeatingAgent, policy: Policy) -> Result:
        """The interrogation of what is certain, and its examination.

        Raises:
            Interrupted: the agent failed, or even this contradicts itself; its ``result`` says why.
        """
        try:
            result = self._interrogate(steady, policy, TAKEN_AT_THEIR_WORD)
        except Interrupted as error:
            found = self._explained(error, steady)
            if isinstance(found.__cause__, Spent):
                return replace(found.result, why=str(found), cut=BUDGET)
            noted = replace(found.result, rates=steady.rates, confidence=self.setup.confidence)
            raise Interrupted(str(found), noted) from found.__cause__
        left = result.hypotheses.undecided()
        if result.proven and left and not steady.access.restarts:
            said = f"{counted(left, 'line')} of the model {'is' if left == 1 else 'are'} open"
            why = f"{said}, and cannot be told from where the answers began to be weighed"
            return replace(result, proven=False, why=why)
        return result

    def _explained(self, error: Interrupted, steady: RepeatingAgent) -> Interrupted:
        """The same interruption, with why even answers that are certain contradict each other, as far as experiments can tell."""
        if not error.contradicted:
            return error
        rates = steady.rates
        if not rates.looks_err or rates.refusals_err:  # chance is behind it, as was found before
            told = "asked for until they were certain, the answers are these: it is no STRIPS agent in this vocabulary"
            why = f"{error}; {told}"
            found = Interrupted(why, replace(error.result, why=why, doubt=why))
            found.__cause__ = error.__cause__
            return found
        try:
            found = self._diagnosed(error, steady)
        except Interrupted as failed:
            return failed
        found.result = replace(found.result, transcript=found.result.transcript.of(steady.asked))
        return found

    def _interrogate(self, agent: CountingAgent, policy: Policy, scrutiny: Scrutiny) -> Result:
        """The loop, and a last look at all answers in the light of what followed from them."""
        result = interrogate(
            agent,
            self.setup.moves(policy, agent, self.record),
            self.rng,
            budget=self.setup.budget,
            repeated=self.setup.repeated,
            scrutiny=scrutiny,
            watch=self.observer.moved,
        )
        _check(result)
        return result


def _chance_showed(doubted: Interrupted, result: Result) -> bool:
    """Whether answers differed by chance: in the experiments, or elsewhere among all answers."""
    diagnosis = doubted.result.diagnosis
    varied = diagnosis is not None and diagnosis.family in (Family.RANDOM, Family.MISREAD)
    return varied or shows_error(result.transcript)


def _as_diagnosed(result: Result, doubted: Result, transcript: Transcript) -> Result:
    """The result, with what was diagnosed as *random* where refusals come more often in one action than in the others.

    Weighing takes them for errors of one rate. ``transcript``: all answers.
    """
    family = None if doubted.diagnosis is None else doubted.diagnosis.family
    sure = not (result.cut or result.doubt or result.looks_err) and family is Family.RANDOM
    if not (sure and refused_unevenly(transcript, result.hypotheses)):
        return result
    known = replace(doubted, transcript=transcript, counts=result.counts, curve=result.curve)
    return replace(result, unweighed=known)


def _unexplained(result: Result, doubted: Interrupted) -> Result:
    """The result where chance does not explain why the agent contradicted itself: it never showed."""
    doubt = f"{doubted}; and nothing was misread since, or refused by mistake, for all that can be told"
    return replace(result, proven=False, why=f"nothing is certain: {doubt}", doubt=doubt)


def _in_vain(doubted: Result, weighed: Result) -> Result:
    """What was doubted, with all answers, where chance refusals and misreadings do not explain what is random."""
    why = f"{doubted.why}; weighed, the answers fit no model: {weighed.why}"
    known, counts, curve = weighed.transcript, weighed.counts, weighed.curve
    return replace(doubted, transcript=known, counts=counts, curve=curve, why=why, doubt=why)


def _check(result: Result) -> None:
    """Look at the answers once more in the light of all that followed from them.

    Raises:
        Interrupted: one of them disagrees with it.
    """
    if result.doubt or result.hypotheses.repeated:
        return
    if why := contradicted_query(result.transcript, result.hypotheses):
        failed = replace(result, proven=False, why=why, doubt=why, cut=FAILED)
        raise Interrupted(why, failed) from InconsistentAgent(why)


# Answers asked for until they are certain, where no state can be made: a decorator around an unreliable agent.
#
# Where the agent stands it can be looked at again, without a step, and a refused step can be attempted again. So every
# situation is looked at until each of its atoms is certain, and a refusal counts once it is repeated so often that
# chance does not explain it. What comes out is a reliable agent, which any policy interrogates as ever, with all
# proofs; and rates of error, which decide how often is enough.


class Spent(AgentFailed):
    """Raised when the budget does not allow to ask until an answer is certain."""


class RepeatingAgent(CountingAgent):
    """An agent's answers, as far as they are certain.

    Args:
        agent: the one to ask; its counts go on.
        starts: the situations that the interrogation begins with.
        confidence: how probable it is at least that all that is shown is right, for ``repeated_looks.ANSWERS`` situations.
        budget: how many steps may be attempted altogether.
    """

    def __init__(
        self, agent: CountingAgent, starts: Sequence[Situation], confidence: float, budget: Budget
    ) -> None:
        super().__init__(agent.agent)
        self.counts, self._at = agent.counts, agent._at
        self._starts = starts
        self._budget = budget
        self._looks = RepeatedLooks(agent.vocabulary, confidence, self._look)
        self.asked: list[Entry] = []
        """Everything that was asked, refusals asked for again included, with what was certain in the end."""
        self._mistaken_refusals = 0
        """Refused steps that were executed when they were asked for again."""
        self._executions = 0

    @property
    def rates(self) -> ErrorRates:
        """The rates of error, as far as they have shown."""
        executions = posterior_mean(EXECUTED, 0, 0)  # nothing here tells of them: the prior
        surely = refuses_surely(self.agent) and not self._mistaken_refusals
        erred = self._looks.erred, bool(self._mistaken_refusals)
        return ErrorRates(self._looks.misreadings, self._refusal_rate, executions, surely, *erred)

    @property
    def erred(self) -> bool:
        """Whether anything was misread, or refused by mistake."""
        return bool(self._mistaken_refusals) or self._looks.erred

    @property
    def _refusal_rate(self) -> float:
        return posterior_mean(REFUSED, self._mistaken_refusals, self._mistaken_refusals + self._executions)

    def initial(self) -> Sequence[Situation]:
        """The situations to begin with; the rates of error are estimated from them first."""
        return self._looks.begin(self._starts)

    def ask_again(self, query: Query) -> Response:
        """The answer, every refusal of it repeated and its last situation looked at until they are certain.

        Raises:
            Spent: the budget does not allow that.
            AgentFailed: the agent cannot answer any more.
        """
        at, rest, refused = query.initial, query.plan, 0
        tries = list[Asked]()
        while True:
            response = super().ask_again(Query(at, rest))
            tries.append(Asked(Query(at, rest), response))
            rest = rest[response.executed :]
            if response.executed:
                self._mistaken_refusals += refused
                self._executions += response.executed
                at, refused = response.final, 0
            else:
                at = replace(at, handle=response.final.handle)
            if not rest or (refused := refused + 1) >= self._refusals_needed:
                break
            if spent := self._budget.spent(self.counts, steps=len(rest)):
                raise Spent(spent)
        executed = len(query.plan) - len(rest)
        final = self._looks.settled(at) if executed else at
        for tried in tries:  # where a plan stood meanwhile was looked at once
            begun, ended = tried.query.initial, tried.response.final
            if len(query.plan) - len(tried.query.plan) == executed:
                begun = replace(begun, state=final.state)
            if len(tried.query.plan) - tried.response.executed == len(rest):
                ended = final if tried is tries[-1] else replace(ended, state=final.state)
            self.asked.append(Asked(Query(begun, tried.query.plan), replace(tried.response, final=ended)))
        return Response(executed, final)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk; where its situations cannot be gone back to, in single steps, each looked at."""
        walked: list[WalkStep] = []
        at_a_time = steps if self.access.snapshots else 1
        while len(walked) < steps and (taken := super().walk(start, at_a_time, rng)):
            for step in taken:
                walked.append(WalkStep(start, step.action, self._looks.settled(step.after)))
                start = walked[-1].after
            if at_a_time == steps:
                break
        self.asked.append(Walked(tuple(walked)))
        return walked

    @property
    def _refusals_needed(self) -> int:
        """Refusals in a row that are not chance."""
        return max(REFUSALS, ceil(log(self._looks.allowed_error) / log(self._refusal_rate)))

    def _look(self, at: Situation) -> Situation:
        self._go(at)
        self.counts.looks += 1
        final = self.agent.ask(Query(at, ())).final
        self._at = final.handle
        return final

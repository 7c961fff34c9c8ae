"""An interrogation that takes answers at their word, until they prove to be wrong; then it weighs them.

An agent that is right is asked nothing new. One that is not shows it: answers contradict each other, or atoms change
that no step names (``evidence.anomalies``), or a step that was refused is executed when it is attempted once more
(``policies.confirming``). Then trials are made in states of our own (``settable_trials``), or, where the agent's access
allows none, its answers are asked for until they are certain (``repeating_agent``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.errors import AgentFailed, InconsistentAgent
from aam_vision.interrogation.evidence.anomalies import contradicted_query, shows_error
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.moves import Policy
from aam_vision.interrogation.examination.diagnosing import diagnose
from aam_vision.interrogation.examination.diagnosis import Family
from aam_vision.interrogation.examination.trials import Trials
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.earlier_steps import contradiction
from aam_vision.interrogation.task.loop import Interrupted, Watch, interrogate
from aam_vision.interrogation.task.repeating_agent import RepeatingAgent, Spent
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.resuming import MoveRecord, recorded
from aam_vision.interrogation.task.rounds import Rounds
from aam_vision.interrogation.task.scrutiny import DOUBTED, TAKEN_AT_THEIR_WORD, Scrutiny
from aam_vision.interrogation.task.settable_trials import CONFIDENCE, WatchTrial, weigh
from aam_vision.interrogation.task.verdict import BUDGET, FAILED
from aam_vision.query import Access, Agent, Situation
from aam_vision.wording import counted


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
    3. Under ``settable`` access trials are weighed (``settable_trials``); under any other one the interrogation begins
       anew with answers that are repeated until they are certain (``repeating_agent``).

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
        setup, settable = self.setup, self.agent.access is Access.SETTABLE
        if setup.confirm and not settable:
            return self._repeat(None)
        try:
            result = self._interrogate(self.agent, setup.policy, DOUBTED)
        except Interrupted as error:
            if not error.contradicted:
                raise
            doubted = self._diagnosed(error)
        else:
            return self._weigh(result, None) if setup.confirm and not setup.repeated else result
        diagnosis = doubted.result.diagnosis
        assert diagnosis is not None, "a contradiction has a diagnosis"
        if (settable and setup.repeated) or not diagnosis.by_chance:
            raise doubted
        try:
            result = self._weigh(doubted.result, doubted) if settable else self._repeat(doubted)
        except Interrupted as error:
            raise Interrupted(str(error), replace(error.result, diagnosis=diagnosis)) from error.__cause__
        known = result.doubt or diagnosis.family is not Family.UNKNOWN
        return replace(result, diagnosis=diagnosis) if known else result

    def _diagnosed(self, error: Interrupted) -> Interrupted:
        """The same interruption, with the reason that experiments have shown.

        Raises:
            Interrupted: the agent failed meanwhile.
        """
        result = error.result
        trials = Trials(self.agent, result.transcript)
        try:
            diagnosis = diagnose(trials, self.rng)
        except AgentFailed as failure:
            raise Interrupted(str(failure), replace(result, cut=FAILED)) from failure
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
        if doubted is None or weighed.assessment.unfit or _chance_showed(doubted, weighed):
            return weighed
        return _unexplained(weighed, doubted)

    def _repeat(self, doubted: Interrupted | None) -> Result:
        """An interrogation from its beginning, of what is certain once answers are repeated."""
        setup, starts = self.setup, _starts(self.agent, doubted)
        steady = RepeatingAgent(self.agent, starts, setup.confidence, setup.budget)
        curve = doubted.result.curve if doubted is not None else ()
        result = self._certain(steady)
        result = replace(
            result, rates=steady.rates, confidence=setup.confidence, curve=(*curve, *result.curve)
        )
        if doubted is None:
            return result
        if why := contradiction(doubted.result.transcript, result.certain, steady.rates):
            return replace(result, proven=False, why=f"nothing is certain: {why}", doubt=why)
        if steady.erred or _chance_showed(doubted, doubted.result):
            return result
        return _unexplained(result, doubted)

    def _certain(self, steady: RepeatingAgent) -> Result:
        """The interrogation of what is certain.

        Raises:
            Interrupted: the agent failed, or even this contradicts itself.
        """
        try:
            result = self._interrogate(steady, self.setup.afresh(), TAKEN_AT_THEIR_WORD)
        except Interrupted as error:
            if isinstance(error.__cause__, Spent):
                return replace(error.result, why=str(error), cut=BUDGET)
            if not error.contradicted:
                raise
            why = (
                f"{error}; asked for until they were certain, the answers are these: "
                "it is no STRIPS agent in this vocabulary"
            )
            result = replace(error.result, why=why, doubt=why, rates=steady.rates)
            raise Interrupted(why, result) from error.__cause__
        left = result.hypotheses.size - result.hypotheses.decided()
        if result.proven and left and steady.access is Access.TRAJECTORY:
            said = f"{counted(left, 'line')} of the model {'is' if left == 1 else 'are'} open"
            why = f"{said}, and cannot be told from where the answers began to be weighed"
            return replace(result, proven=False, why=why)
        return result

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


def _unexplained(result: Result, doubted: Interrupted) -> Result:
    """The result where chance does not explain why the agent contradicted itself: it never showed."""
    doubt = f"{doubted}; and nothing was misread since, or refused by mistake, for all that can be told"
    return replace(result, proven=False, why=f"nothing is certain: {doubt}", doubt=doubt)


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


def _starts(agent: CountingAgent, doubted: Interrupted | None) -> list[Situation]:
    """Where an interrogation can begin anew: as at first, or where the agent stands if there is no way back."""
    if doubted is None:
        return list(agent.initial())
    so_far = doubted.result.transcript
    if agent.access is not Access.TRAJECTORY or not so_far.entries:
        return list(so_far.initial)
    last = so_far.entries[-1]
    assert isinstance(last, Asked), "a trajectory has no walks"
    return [last.response.final]

"""Asking again for what rests on too few refusals: a decorator around any policy.

It begins when the policy stops, so that the model is found as soon as without it. Where the agent can go back to a
situation, the step that was refused there is attempted again; that does not count as a new question. A trajectory goes on
to any situation that violates just the same, if the model knows a way to one. What cannot be asked again stays
unconfirmed, and the result says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Aim, Ask, Move, Policy, Stop
from aam_vision.interrogation.evidence.nodes import Refusal
from aam_vision.interrogation.evidence.refusal_support import REFUSALS, Claim, supported
from aam_vision.interrogation.hypotheses.literals import union
from aam_vision.interrogation.policies.replay_under_reset import replay
from aam_vision.interrogation.queries.aims import asked_for
from aam_vision.interrogation.queries.reachability import BOLD, PlannedNearMiss, Reachability
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.query import Access, Agent, refuses_surely

CONFIRM = "confirm"
"""The purpose of steps that were refused before."""
MAX_ATTEMPTS = 2 * REFUSALS
"""Times that one conclusion is asked about again."""


def _stopped(evidence: Evidence) -> Stop | None:
    """How the policy has stopped, if nothing was learnt since."""
    last = evidence.exchanges[-1] if evidence.exchanges else None
    return last.move.stopped if last is not None and isinstance(last.move, Ask) and not last.told else None


def confirmed(policy: Policy, agent: Agent, planner: Planner) -> Policy:
    """The policy, and then what confirms the agent's refusals, unless they are certain."""
    return policy if refuses_surely(agent) else Confirming(policy, agent.access, planner)


@dataclass
class Confirming:
    """The moves of a policy, and then those that confirm what it rests on."""

    policy: Policy
    access: Access
    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=lambda: Limits(states=3000))

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move; once it stops, an attempt at what was refused too seldom."""
        stop = _stopped(evidence) or self.policy.next(evidence, rng)
        if not isinstance(stop, Stop):
            return stop
        attempts = Counter(
            Claim(aim.action, aim.literals) for ask, _ in asked_for(evidence, CONFIRM) for aim in ask.aims
        )
        open_claims = [
            (claim, refusals)
            for claim, refusals in supported(evidence).items()
            if len(refusals) < REFUSALS and attempts[claim] < MAX_ATTEMPTS
        ]
        for looked_at in (self._here, self._there):
            for claim, refusals in open_claims:
                if ask := looked_at(evidence, claim, refusals):
                    return replace(ask, aims=(Aim(CONFIRM, claim.action, claim.literals),), stopped=stop)
        return stop

    def _here(self, evidence: Evidence, claim: Claim, refusals: list[Refusal]) -> Ask | None:
        """The refused step again, where the agent stands; or in its situation, if it may start there."""
        anywhere = self.access in (Access.SETTABLE, Access.SNAPSHOT)
        for refusal in refusals:
            if refusal.at is evidence.current or (anywhere and refusal.at.situation is not None):
                return Ask(refusal.at, (refusal.action,), "ask again for what was refused", again=True)
        return None

    def _there(self, evidence: Evidence, claim: Claim, refusals: list[Refusal]) -> Ask | None:
        """The same after going there: by the steps that led there, or anywhere that violates the same."""
        if self.access is Access.RESET and refusals:
            start, path = replay(evidence, refusals[0].at)
            return Ask(start, (*path, refusals[0].action), "ask again for what was refused", again=True)
        if self.access is Access.TRAJECTORY:
            return self._elsewhere(evidence, claim)
        return None

    def _elsewhere(self, evidence: Evidence, claim: Claim) -> Ask | None:
        """A step that violates just the same, where a plan leads."""
        node, action = evidence.current, evidence.hypotheses[claim.action]
        paths = Reachability(evidence.hypotheses, [node], required=BOLD)
        others = action.candidates.without(claim.literals)
        for literal in claim.literals.singles():
            holding = paths.gather(action, union([others, literal.opposite()]), [])
            if holding is None:
                continue
            planned = paths.reach(action, holding, self.planner, self.limits)
            if isinstance(planned, PlannedNearMiss):
                _, path, step = planned
                again = evidence.was_seen_in(evidence.predict_plan(node.state, path), step)
                return Ask(node, (*path, step), "ask elsewhere for what was refused", again=again)
        return None

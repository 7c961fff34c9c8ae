"""Decorators around any policy: asking again, trying everything before the end, and stopping where what is open cannot matter.

``Confirming`` asks again for what rests on too few refusals. It begins when the policy stops, so that the model is found as soon as
without it. Where the agent can go back to a situation, the step that was refused there is attempted again; that does not count as a new
question. A trajectory goes on to any situation that violates just the same, if the model knows a way to one. What cannot be asked again
stays unconfirmed, and the result says so.

``Exhaustive`` stops only when nothing is left to ask. A policy asks what is likely to tell most, and may overlook a question in an
unusual domain. So before it stops without a proof, all steps are tried in all states within the access, as far as these are few. A step
whose outcome does not follow from what is known is asked for. If it is executed, the policy goes on from there; if it is refused, the
next one follows at once, since a refusal seldom gives the policy anything to go on with. If there is none, no query could tell any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aam_vision.interrogation.completeness.indistinguishability import NONE, Closed, Closure
from aam_vision.interrogation.evidence.graph import (
    REFUSALS,
    Claim,
    Edge,
    Evidence,
    Node,
    Refusal,
    supported,
)
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked, Move, Policy, Stop, Walk
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.queries.first_success import asked_for
from aam_vision.interrogation.queries.reachability import BOLD, PlannedNearMiss, Reachability
from aam_vision.interrogation.queries.undetermined_steps import Found, constructed_step, reachable_step
from aam_vision.model.query import Access, Agent, Situation, refuses_surely
from aam_vision.model.strips import GroundAction
from aam_vision.planning.planner import Limits, Planner
from aam_vision.planning.pyperplan import PyperplanPlanner

CONFIRM = "confirm"
"""The purpose of steps that were refused before."""
MAX_ATTEMPTS = 2 * REFUSALS
"""Times that one conclusion is asked about again."""
OVERLOOKED = "overlooked"
"""The purpose of steps that the policy did not ask for."""
Reasons = Mapping[tuple[str, Literals], str]
"""By action and undecided literal, why no answer can tell whether the action requires it."""
Untellable = Callable[[Hypotheses, Closure], Reasons]
"""Such reasons, given what is undecided and what is proven to be beyond every query."""


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
        anywhere = self.access.returns
        for refusal in refusals:
            if refusal.at is evidence.current or (anywhere and refusal.at.situation is not None):
                return Ask(refusal.at, (refusal.action,), "ask again for what was refused", again=True)
        return None

    def _there(self, evidence: Evidence, claim: Claim, refusals: list[Refusal]) -> Ask | None:
        """The same after going there: by the steps that led there, or anywhere that violates the same."""
        if self.access.episodic and refusals:
            start, path = replay(evidence, refusals[0].at)
            return Ask(start, (*path, refusals[0].action), "ask again for what was refused", again=True)
        if not self.access.restarts:
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


# Any policy for ``snapshot`` access under ``reset`` access: a decorator that goes back by replaying.
#
# The agent is deterministic, so a situation seen before is reached again by the steps that led there from an
# initial situation. They become a prefix of the question and are paid for as steps.


class Replaying:
    """Starts every move of a policy in an initial situation, or where the agent stands.

    Walks are not replayed: one that should start elsewhere goes on from where the agent stands, or, in another
    problem or where nothing can be done, from the initial situation.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's next move, from where it may start."""
        move = self._policy.next(evidence, rng)
        if isinstance(move, Stop) or move.start.initial or move.start is evidence.current:
            return move
        if isinstance(move, Ask):
            start, prefix = replay(evidence, move.start)
            return replace(
                move, start=start, plan=(*prefix, *move.plan), replayed=len(prefix), wanted=move.start
            )
        return replace(move, start=_walk_from(evidence, move.start), wanted=move.start)


def _walk_from(evidence: Evidence, wanted: Node) -> Node:
    """Where the agent stands, unless that is another problem, or the last walk from there led nowhere."""
    current = evidence.current
    walks = (one for one in reversed(evidence.exchanges) if isinstance(one.move, Walk) and one.move.wanted)
    last = next(walks, None)  # that could not start where it was wanted
    stuck = last is not None and (last.came_from, last.edges) == (current, len(evidence.edges))
    if current.state.objects == wanted.state.objects and not stuck:
        return current
    return replay(evidence, wanted)[0]


def replay(evidence: Evidence, node: Node) -> tuple[Node, tuple[GroundAction, ...]]:
    """An initial node and the fewest recorded steps that lead from it to a node."""
    onward: dict[int, list[Edge]] = defaultdict(list)
    for edge in evidence.edges:
        onward[edge.before.number].append(edge)
    came: dict[int, Edge | None] = {start.number: None for start in evidence.initial}
    queue = deque(evidence.initial)
    while queue and node.number not in came:
        for edge in onward[queue.popleft().number]:
            if edge.after.number not in came:
                came[edge.after.number] = edge
                queue.append(edge.after)
    steps: list[GroundAction] = []
    while (last := came[node.number]) is not None:
        steps.append(last.action)
        node = last.before
    return node, tuple(reversed(steps))


KINDS_TWICE = 4
"""Kinds of situations in which a step that never changed anything is attempted twice, at most."""


@dataclass(frozen=True)
class Exhaustive:
    """The moves of a policy; once it stops without a proof, steps with an unknown outcome; and before a stop twice what never did anything."""

    policy: Policy
    access: Access

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step that it overlooked or two alike, or the policy's stop, with a proof if there is one."""
        move = self._next(evidence, rng)
        if not isinstance(move, Stop) or evidence.supposes:
            return move
        return self._twice(evidence) or move

    def _next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        found = self._overlooked(evidence) if _was_refused(evidence) else None
        if found is None or found.ask is None:
            move = self.policy.next(evidence, rng)
            if not isinstance(move, Stop) or move.complete or evidence.supposes:
                return move
            found = found or self._overlooked(evidence)
        if found.ask is not None:
            return replace(found.ask, aims=(Aim(OVERLOOKED, found.ask.plan[-1].name),))
        if found.exhausted and not self.access.restarts:
            # complete for all problems, not just for what is left of them
            found = reachable_step(evidence, evidence.initial)
        return Stop(True, "no query could tell any more") if found.exhausted else move

    def _twice(self, evidence: Evidence) -> Ask | None:
        """A step that never changed anything, two times, in situations of several kinds: perhaps it does something at the second."""
        kinds: dict[str, set[int]] = defaultdict(set)
        for edge in evidence.edges if self.access.restarts else ():
            name, known = edge.action.name, kinds[edge.action.name]
            action = evidence.hypotheses[name]
            if action.keeps != action.index.everything or len(known) == KINDS_TWICE:
                continue
            state = edge.before.state
            held, _ = action.index.values(state, edge.action.objects)
            node, way = (edge.before, ()) if self.access.returns else replay(evidence, edge.before)
            if node.situation is None and self.access.constructs and not state.unknown:
                node = evidence.situation(Situation(state, state))
            if node.situation is None:
                continue
            plan = (*way, edge.action, edge.action)
            if held not in known and not evidence.was_asked(node, plan):
                return Ask(node, plan, "attempt again what never changed anything")
            known.add(held)
        return None

    def _overlooked(self, evidence: Evidence) -> Found:
        if self.access.constructs:
            return constructed_step(evidence)
        return reachable_step(evidence, self._starts(evidence))

    def _starts(self, evidence: Evidence) -> Sequence[Node]:
        """Where a query may begin; under ``reset`` access it may lead to what was seen before."""
        if self.access.restarts:
            return evidence.visited
        return [evidence.current] if evidence.edges or evidence.refusals else evidence.initial


def _was_refused(evidence: Evidence) -> bool:
    """Whether the last question was for an overlooked step, which was refused."""
    if not evidence.exchanges:
        return False
    entry, move = evidence.exchanges[-1].entry, evidence.exchanges[-1].move
    return (
        isinstance(entry, Asked)
        and isinstance(move, Ask)
        and [aim.purpose for aim in move.aims] == [OVERLOOKED]
        and entry.response.executed < len(move.plan)
    )


@dataclass(frozen=True)
class Excusing:
    """The moves of a policy; its stop is complete if there are such reasons for all that it leaves open."""

    policy: Policy
    untellable: Untellable

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, or its stop with the reasons."""
        move = self.policy.next(evidence, rng)
        if not isinstance(move, Stop) or move.complete or move.beyond is None or evidence.supposes:
            return move
        hypotheses = evidence.hypotheses
        beyond = {name: Closed(*move.beyond.get(name, NONE)) for name in hypotheses.actions}
        reasons = self.untellable(hypotheses, beyond)
        for name, literal in reasons:
            beyond[name] = beyond[name].joined(_with_effect(hypotheses[name], literal))
        if any(_left(action, beyond[name]) for name, action in hypotheses.actions.items()):
            return replace(move, beyond=beyond, reasons=reasons)
        return Stop(True, "no query could tell any more", beyond, reasons)


def _with_effect(action: ActionHypotheses, literal: Literals) -> Closed:
    """The literal, and the undecided effect that could only show where it is violated."""
    bit = literal.positive | literal.negative
    elsewhere = action.deletes if literal.positive else action.adds
    shows_there = bit & action.undecided_effects and not bit & elsewhere and not action.index.merges
    return Closed(literal, bit if shows_there else 0)


def _left(action: ActionHypotheses, beyond: Closed) -> bool:
    return bool(Closed(action.undecided, action.undecided_effects).without(beyond))

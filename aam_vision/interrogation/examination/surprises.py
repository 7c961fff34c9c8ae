"""Answers that came out otherwise than the learned model predicts."""

from __future__ import annotations

from aam_vision.interrogation.evidence.entries import Asked, Entry
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Walk
from aam_vision.interrogation.examination.figures import Exam
from aam_vision.model.strips import Atom, GroundAction, State


def progress(evidence: Evidence) -> Exam:
    """The examination so far: what was predicted and came out since something was last learned."""
    steps = 0
    for exchange in reversed(evidence.exchanges):
        if exchange.move is None or not exchange.move.examines or exchange.told:
            break
        steps += len(exchange.entry.actions)
    return Exam(steps)


def untold(evidence: Evidence) -> int:
    """The plans of the examination of which some step came out in a way that nothing is told of."""
    return sum(
        isinstance(exchange.move, Ask)
        and exchange.move.examines
        and isinstance(exchange.entry, Asked)
        and len(exchange.entry.query.plan) < len(exchange.move.plan)
        for exchange in evidence.exchanges
    )


def surprise(evidence: Evidence, entry: Entry, move: Ask | Walk) -> str | None:
    """What an answer shows that the evidence before it rules out, in a line; None if it is as predicted."""
    state = move.start.state
    if isinstance(entry, Asked):
        executed, final = entry.response.executed, entry.response.final.state
        if entry.looks:
            return _changed("looked at again", entry.query.initial.state, final)
        for step in entry.query.plan[:executed]:
            if expected(evidence, state, step) is False:
                return f"{step}: executed, and predicted to be refused"
            state = evidence.predict(state, step)
        if executed < len(entry.query.plan):
            step = entry.query.plan[executed]
            if expected(evidence, state, step):
                return f"{step}: refused, and predicted to be executed"
            return _changed(f"{step}, refused", state, final) if executed else None
        return _changed(str(entry.query.plan[-1]), state, final)
    for one in entry.steps:
        if expected(evidence, state, one.action) is False:
            return f"{one.action}: executed, and predicted to be refused"
        state = evidence.predict(state, one.action)
        if told := _changed(str(one.action), state, one.after.state):
            return told
    return None


def differing(one: State, other: State) -> list[Atom]:
    """The atoms whose values are known in both states and differ; sorted."""
    return sorted((one.true ^ other.true) - one.unknown - other.unknown)


def _changed(what: str, predicted: State, seen: State) -> str | None:
    found = differing(predicted, seen)
    if not found:
        return None
    return f"{what}: {found[0]} is {'true' if found[0] in seen.true else 'false'}, and predicted otherwise"


def expected(evidence: Evidence, state: State, step: GroundAction) -> bool | None:
    """Whether every possible model executes a step in a state (True) or refuses it (False); None if they differ."""
    action = evidence.hypotheses[step.name]
    held, unknown = action.index.values(state, step.objects)
    if not action.violated(held, unknown):
        return True
    return False if action.certain_to_fail(action.certainly_violated(held, unknown)) else None

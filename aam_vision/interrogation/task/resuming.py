"""Going on with an interrogation that was cut short: its moves are taken from the record, and no policy is asked.

Every move is recorded before it is made, with the state of the random generator. A run that goes on makes the recorded
moves again, from whose recorded answers all follows that was known; then the generator gets the state that it
had, and the policy is asked for the next move. What a policy remembers is in the evidence, so it goes on as if
nothing had been.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from aam_vision.agents.encoding import Malformed, field, plan_json, read_plan
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Aim, Ask, LimitedSearch, Move, Note, Policy, Stop, Walk
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.model.query import Situation
from aam_vision.support.errors import UnusableInput


class MoveRecord(Protocol):
    """Keeps the moves of an interrogation, as plain data."""

    def next_move(self, rng: np.random.Generator) -> tuple[Situation | None, Mapping[str, Any]] | None:
        """The next recorded move: where it begins and what it is; None when all have been made again.

        The generator gets the state that it had when the move was made.
        """

    def upcoming(self) -> Mapping[str, Any] | None:
        """What was noted of the next recorded move, which stays the next one; None when all have been made again."""

    def note_move(self, start: Situation | None, told: Mapping[str, Any], rng: np.random.Generator) -> None:
        """Record a move that is about to be made."""

    def damaged(self, why: object) -> UnusableInput:
        """The error that says that the record cannot be used."""


class Recorded:
    """The recorded moves first, then the policy's own, which are recorded.

    Args:
        policy: a fresh one; it is asked for nothing that is recorded.
        record: of the interrogation as a whole: several policies may come one after the other.
    """

    def __init__(self, policy: Policy, record: MoveRecord) -> None:
        self._policy = policy
        self._record = record

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move.

        Raises:
            UnusableInput: the record is damaged.
        """
        found = read_move(self._record, evidence, rng)
        if found is not None:
            return found
        move = self._policy.next(evidence, rng)
        note_move(self._record, move, evidence, rng)
        return move


def read_move(record: MoveRecord, evidence: Evidence, rng: np.random.Generator) -> Move | None:
    """The next recorded move; None when all have been made again.

    Raises:
        UnusableInput: the record is damaged.
    """
    found = record.next_move(rng)
    if found is None:
        return None
    try:
        return _read(*found, evidence)
    except (Malformed, ValueError, TypeError, LookupError) as error:
        raise record.damaged(error) from None


def note_move(
    record: MoveRecord, move: Move, evidence: Evidence, rng: np.random.Generator, **besides: object
) -> None:
    """Record a move that is about to be made, and what else is to be noted with it, as plain data."""
    start = None if isinstance(move, Stop) else evidence.departure(move.start)
    record.note_move(start, {**_told(move), **besides}, rng)


def recorded(policy: Policy, record: MoveRecord | None) -> Policy:
    """The policy, its moves recorded if there is a record."""
    return policy if record is None else Recorded(policy, record)


def _told(move: Move) -> dict[str, Any]:
    """A move as plain data, without where it begins."""
    if isinstance(move, Stop):
        return {"stop": _stop_told(move)}
    wanted = None if move.wanted is None else move.wanted.number
    if isinstance(move, Walk):
        told = {"walk": move.steps, "why": move.why, "wanted": wanted, "stopped": _stop_told(move.stopped)}
        return told if move.seed is None else {**told, "seed": move.seed}
    told = {
        "ask": plan_json(move.plan),
        "why": move.why,
        "again": move.again,
        "aims": [[aim.purpose, aim.action, *aim.literals, aim.step] for aim in move.aims],
        "searches": [
            [one.purpose, one.problem, one.action, *one.holding, one.anywhere] for one in move.searches
        ],
        "replayed": move.replayed,
        "wanted": wanted,
        "stopped": _stop_told(move.stopped),
        "note": move.note,
        "examines": move.examines,
    }
    return {**told, "goes_on": True} if move.goes_on else told


def _read(start: Situation | None, told: Mapping[str, Any], evidence: Evidence) -> Move:
    """The move that ``_told`` wrote."""
    if "stop" in told:
        if (stop := _stop(told["stop"])) is None:
            raise Malformed("a stop says nothing")
        return stop
    if start is None:
        raise Malformed("a move begins nowhere")
    node, hypotheses = evidence.situation(start), evidence.hypotheses
    number = told["wanted"]
    wanted = None if number is None else _node(evidence, number)
    if "walk" in told:
        stopped = _stop(told.get("stopped"))  # a journal of before examinations has none
        seed = field(told, "seed", int) if "seed" in told else None
        return Walk(node, field(told, "walk", int), field(told, "why", str), wanted, stopped, seed)
    headers = {header.name: header for header in hypotheses.headers}

    def literals(action: str, positive: int, negative: int) -> Literals:
        everything = hypotheses[action].index.everything
        if not 0 <= positive | negative <= everything:
            raise Malformed(f"no literals of {action}")
        return Literals(positive, negative)

    return Ask(
        node,
        read_plan(field(told, "ask", list), headers, start.state.objects),
        field(told, "why", str),
        field(told, "again", bool),
        tuple(
            Aim(str(purpose), action, literals(action, *masks), int(step))
            for purpose, action, *masks, step in told["aims"]
        ),
        tuple(
            LimitedSearch(str(purpose), int(problem), action, literals(action, *masks), bool(anywhere))
            for purpose, problem, action, *masks, anywhere in told["searches"]
        ),
        field(told, "replayed", int),
        wanted,
        _stop(told["stopped"]),
        _note(field(told, "note", list)),
        bool(told.get("examines")),  # a journal of before examinations has none
        bool(told.get("goes_on")),
    )


def _note(told: list[Any], depth: int = 5) -> Note:
    if not depth or not all(isinstance(one, (int, str, list)) for one in told):
        raise Malformed("a note is not of numbers and names")
    return tuple(_note(one, depth - 1) if isinstance(one, list) else one for one in told)


def _stop_told(stop: Stop | None) -> list[Any] | None:
    return None if stop is None else [stop.complete, stop.why]


def _stop(told: Any) -> Stop | None:
    if told is None:
        return None
    complete, why = told
    return Stop(bool(complete), str(why))


def _node(evidence: Evidence, number: object) -> Node:
    if not isinstance(number, int) or not 0 <= number < len(evidence.nodes):
        raise Malformed(f"there is no situation {number!r}")
    return evidence.nodes[number]

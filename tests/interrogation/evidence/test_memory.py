"""The evidence as the memory of an interrogation: steps, questions, and the evidence as it was earlier."""

from __future__ import annotations

from itertools import pairwise

import pytest

from aam_vision.interrogation.evidence.graph import REFUSALS, Evidence, unconfirmed
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked, Walk, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

VOCABULARY = Vocabulary("lamps", (Predicate("lit", ("lamp",)), Predicate("warm", ("lamp",))))
SWITCH = ActionHeader("switch", ("x",), ("lamp",))
LAMPS = Objects({"one": "lamp", "two": "lamp"}, Types())
LIT, WARM, ELSEWHERE = Atom("lit", ("one",)), Atom("warm", ("one",)), Atom("lit", ("two",))
DO = GroundAction("switch", ("one",))


def seen(handle: str, *true: Atom, unknown: tuple[Atom, ...] = ()) -> Situation:
    return Situation(handle, State(frozenset(true), LAMPS, frozenset(unknown)))


@pytest.fixture
def evidence() -> Evidence:
    known = Evidence(Hypotheses(VOCABULARY, [SWITCH]))
    known.begin(seen("dark"))
    return known


def walked(*situations: Situation) -> Walked:
    return Walked(tuple(WalkStep(before, DO, after) for before, after in pairwise(situations)))


def test_a_step_stays_known_when_more_is_learned_of_its_situation(evidence: Evidence) -> None:
    """What an image hides may be recovered later: the step was attempted there all the same, and only once."""
    hidden = seen("hidden", WARM, unknown=(ELSEWHERE,))
    evidence.take_in(walked(hidden, seen("after", LIT, WARM, unknown=(ELSEWHERE,))))
    before = evidence.situation(hidden)
    assert before.state.unknown
    evidence.take_in(
        walked(seen("after", LIT, WARM, unknown=(ELSEWHERE,)), seen("later", LIT, WARM, ELSEWHERE))
    )
    assert before.state.value(ELSEWHERE) is True, "recovered along the steps"
    assert evidence.was_seen(before, DO)
    assert evidence.was_seen_in(before.state, DO)
    successes = evidence.hypotheses["switch"].successes
    evidence.take_in(walked(hidden, seen("after", LIT, WARM, unknown=(ELSEWHERE,))))
    assert evidence.hypotheses["switch"].successes == successes, "the same step again is not another success"


def test_several_unknown_values_are_recovered_beside_each_other(evidence: Evidence) -> None:
    """Of one step, a value that it cannot touch and one that it can."""
    evidence.take_in(walked(seen("a", LIT, ELSEWHERE), seen("b", LIT, WARM, ELSEWHERE)))
    hidden = seen("c", LIT, unknown=(WARM, ELSEWHERE))
    evidence.take_in(walked(seen("d", LIT, ELSEWHERE), hidden))
    state = evidence.situation(hidden).state
    assert (state.value(ELSEWHERE), state.value(WARM)) == (True, True)


def test_joins_see_what_was_learned_of_a_situation(evidence: Evidence) -> None:
    hidden = evidence.situation(seen("hidden", unknown=(ELSEWHERE,)))
    assert hidden.index.state.unknown
    evidence.take_in(walked(seen("before", ELSEWHERE), seen("hidden", unknown=(ELSEWHERE,))))
    assert hidden.index.state == hidden.state
    assert not hidden.index.state.unknown


def test_a_question_is_known_by_where_it_starts_and_its_plan_unless_it_was_asked_again(
    evidence: Evidence,
) -> None:
    start = evidence.situation(seen("dark"))
    entry = Asked(Query(seen("dark"), (DO,)), Response(1, seen("light", LIT)))
    evidence.take_in(entry, Ask(start, (DO,), "once more", again=True))
    assert not evidence.was_asked(start, (DO,))
    evidence.take_in(entry, Ask(start, (DO,), "see what it does"))
    assert evidence.was_asked(start, (DO,))
    assert not evidence.was_asked(start, (DO, DO))


def test_an_exchange_says_what_became_of_the_moves_aims(evidence: Evidence) -> None:
    """A success refutes a precondition that did not hold; a refusal for one possible reason proves it."""
    index = evidence.hypotheses["switch"].index
    lit, warm = (Literals(bit, 0) for bit in index.bit.values())
    start = evidence.situation(seen("dark"))
    aims = tuple(Aim("test", "switch", literal) for literal in (lit, warm))
    told = evidence.take_in(
        Asked(Query(seen("dark"), (DO,)), Response(1, seen("light", LIT))),
        Ask(start, (DO,), "test", aims=aims),
    )
    (exchange,) = evidence.exchanges
    assert (told, exchange.told, exchange.refuted, exchange.proven) == (True, True, 2, 0)


def test_the_evidence_as_it_was_after_some_exchanges(evidence: Evidence) -> None:
    situations = [seen("dark"), seen("light", LIT), seen("still light", LIT)]
    counts = []
    for before, after in pairwise(situations):
        evidence.take_in(walked(before, after), Walk(evidence.situation(before), 1))
        counts.append((len(evidence.nodes), evidence.hypotheses.version))
    for number, expected in enumerate(counts, 1):
        earlier = evidence.as_of(number)
        assert (len(earlier.nodes), earlier.hypotheses.version) == expected
    assert evidence.as_of(len(counts)) is evidence


def test_an_empty_walk_leaves_the_agent_where_it_was_brought(evidence: Evidence) -> None:
    other = evidence.situation(seen("light", LIT))
    evidence.take_in(Walked(()), Walk(other, 3))
    assert evidence.current is other


@pytest.mark.parametrize("refusals", [REFUSALS - 1, REFUSALS])
def test_a_conclusion_is_confirmed_by_so_many_refusals(evidence: Evidence, refusals: int) -> None:
    evidence.take_in(walked(seen("light", LIT, WARM), seen("dark")))
    for number in range(refusals):
        at = seen(f"again {number}", WARM)
        evidence.take_in(Asked(Query(at, (DO,)), Response(0, at)))
    weak = [claim.action for claim in unconfirmed(evidence)]
    assert weak == (["switch"] if refusals < REFUSALS else [])


def test_entries_are_named_by_what_was_done() -> None:
    entries = (
        walked(seen("a"), seen("b", LIT), seen("c", LIT, WARM)),
        Asked(Query(seen("a"), (DO, DO)), Response(1, seen("b", LIT))),
        walked(seen("a"), seen("b", LIT)),
        Asked(Query(seen("a"), ()), Response(0, seen("a"))),
    )
    transcript = Transcript(VOCABULARY, (SWITCH,), Access.SNAPSHOT, (seen("a"),), entries)
    assert transcript.names() == [
        "walk steps 1 to 2 (switch(one), switch(one))",
        "query 1 (switch(one), switch(one): 1 of 2 steps executed)",
        "walk step 3 (switch(one))",
        "look 1",
    ]

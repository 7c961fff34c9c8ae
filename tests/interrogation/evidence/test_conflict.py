"""An agent that contradicts itself is told which of its answers disagree."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.anomalies import contradicting_entries, disagreement
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.model import domains as packaged
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
from aam_vision.support.errors import InconsistentAgent
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, run
from tests.profiles import thorough


class Lying(SymbolicAgent):
    """Says of every n-th query that its first step could not be executed, or that nothing changed."""

    def __init__(self, domain: Domain, access: Access, every: int) -> None:
        super().__init__(domain.model, domain.problems, access)
        self._every = self._left = every

    def ask(self, query: Query) -> Response:
        self._left -= 1
        if self._left:
            return super().ask(query)
        self._left = self._every
        executed = 0 if super().ask(query).executed else 1
        return Response(executed, query.initial)


@thorough(60)
@given(domains.domains(), st.integers(1, 4), st.sampled_from([Access.SNAPSHOT, Access.SETTABLE]))
def test_answers_that_disagree_are_named_and_what_was_learned_is_kept(
    domain: Domain, every: int, access: Access
) -> None:
    policy = SettablePolicy() if access is Access.SETTABLE else EconomicalPolicy()
    try:
        interrogate(Lying(domain, access, every), policy, np.random.default_rng(0), budget=AMPLE)
    except Interrupted as error:
        cause, message, result = error.__cause__, str(error), error.result
    else:
        assume(False)
    assert isinstance(cause, InconsistentAgent)
    assert "\n" not in message
    assert re.search(r"\((query|walk step) \d+ .* disagrees with (query|walk step|itself)", message)
    assert result.transcript.entries
    assert not result.proven
    named = disagreement(result.transcript)
    assert named is not None
    assert named in message


@thorough(40)
@given(domains.domains(), st.integers(1, 3))
def test_what_is_named_contradicts_itself_and_nothing_of_it_can_be_left_out(
    domain: Domain, every: int
) -> None:
    try:
        interrogate(
            Lying(domain, Access.SETTABLE, every), SettablePolicy(), np.random.default_rng(0), budget=AMPLE
        )
    except Interrupted as error:
        transcript = error.result.transcript.in_single_steps()
    else:
        assume(False)
    numbers = contradicting_entries(transcript)
    assert numbers is not None
    chosen = [transcript.entries[number] for number in numbers]
    assert disagreement(transcript.of(chosen)) is not None
    for left_out in range(len(chosen)):
        rest = chosen[:left_out] + chosen[left_out + 1 :]
        assert disagreement(transcript.of(rest)) is None


@thorough(20)
@given(domains.domains())
def test_an_honest_agent_does_not_disagree(domain: Domain) -> None:
    assert disagreement(run(domain).transcript) is None


VOCABULARY = Vocabulary("lamps", (Predicate("lit", ("object",)), Predicate("hot", ("object",))))
SWITCH, LOOK = ActionHeader("switch", ("x",), ("object",)), ActionHeader("look")
OBJECTS = Objects({"lamp": "object"}, Types())
LIT, HOT = Atom("lit", ("lamp",)), Atom("hot", ("lamp",))


def _at(*true: Atom) -> Situation:
    state = State(frozenset(true), OBJECTS)
    return Situation(state, state)


def _transcript(*entries: Asked | Walked) -> Transcript:
    return Transcript(VOCABULARY, (SWITCH, LOOK), Access.SETTABLE, (_at(),), entries)


DO = GroundAction("switch", ("lamp",))
IDLE = Walked((WalkStep(_at(HOT), GroundAction("look", ()), _at(HOT)),))


def test_two_that_suffice_are_found_among_many() -> None:
    walked = Walked((WalkStep(_at(), DO, _at(LIT)), WalkStep(_at(LIT), DO, _at(LIT))))
    refused = Asked(Query(_at(), (DO,)), Response(0, _at()))
    named = disagreement(_transcript(IDLE, walked, IDLE, refused))
    assert named == ("query 1 (switch(lamp): 0 of 1 step executed) disagrees with walk step 2 (switch(lamp))")


def test_three_are_named_where_no_two_disagree() -> None:
    """Each success shows one atom not to be needed; the refusal can blame neither."""
    dark = Asked(Query(_at(HOT), (DO,)), Response(1, _at(HOT)))
    cold = Asked(Query(_at(LIT), (DO,)), Response(1, _at(LIT)))
    refused = Asked(Query(_at(), (DO,)), Response(0, _at()))
    assert disagreement(_transcript(dark, refused)) is None
    assert disagreement(_transcript(cold, refused)) is None
    named = disagreement(_transcript(IDLE, dark, IDLE, cold, refused))
    assert named is not None
    assert named.startswith("query 3 ")
    assert "query 1 " in named
    assert " together with query 2 " in named


@pytest.mark.parametrize("name", ["blocksworld", "freecell"])
def test_packaged_domains_name_two_answers(name: str) -> None:
    rng = np.random.default_rng(0)
    problems = tuple(packaged.generate(name, 2, rng).initial for _ in range(2))
    agent = Lying(Domain(packaged.load(name), problems), Access.SETTABLE, 5)
    with pytest.raises(Interrupted, match=r"disagrees with") as caught:
        interrogate(agent, SettablePolicy(), np.random.default_rng(0), budget=AMPLE)
    assert replace(caught.value.result, curve=()).transcript.entries

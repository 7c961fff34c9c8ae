"""Nobody starts where the access does not allow, whatever the order of questions and walks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.board_env import Instructed
from aam_vision.envs.registry import board_domain, make_simulator
from aam_vision.model.query import Access, Query, Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.errors import AamError, AccessViolation
from tests import domains
from tests.domains import Domain
from tests.profiles import thorough


@thorough(120)
@given(domains.domains(), st.sampled_from(Access), st.data())
def test_a_question_or_walk_may_start_exactly_where_the_access_allows(
    domain: Domain, access: Access, data: st.DataObject
) -> None:
    plain = SymbolicAgent(domain.model, domain.problems, access)
    agent = EnforcingAgent(SymbolicAgent(domain.model, domain.problems, access))
    assert (agent.vocabulary, agent.headers, agent.access) == (plain.vocabulary, plain.headers, access)
    initial = list(agent.initial())
    actions = [
        GroundAction(header.name, row)
        for header in agent.headers
        for row in domains.all_bindings(header, domain.problems[0].objects)[:8]
    ]
    assume(actions)
    everywhere = list(domains.reachable(domain.model, domain.problems, limit=30) or domain.problems)
    visited, at = {situation.state for situation in initial}, None
    for number in range(data.draw(st.integers(1, 8))):
        state = data.draw(st.sampled_from(everywhere if at is None else [*everywhere, at, at]))
        walks = data.draw(st.booleans())
        start = Situation(state, state)
        first = {situation.state for situation in initial}
        allowed = {
            Access.TRAJECTORY: not walks and state in (first if at is None else {at}),
            Access.RESET: state in first or state == at,
            Access.SNAPSHOT: state in visited,
            Access.SETTABLE: True,
        }[access]
        if not walks:
            query = Query(start, tuple(data.draw(st.lists(st.sampled_from(actions), max_size=3))))
            if not allowed:
                with pytest.raises(AccessViolation, match=f"{access.value} access"):
                    agent.ask(query)
                continue
            response = agent.ask(query)
            assert response == plain.ask(query)
            at = response.final.state
            visited |= {state, at}
        else:
            if not allowed:
                with pytest.raises(AccessViolation, match=f"{access.value} access"):
                    agent.walk(start, 3, np.random.default_rng(number))
                continue
            walked = agent.walk(start, 3, np.random.default_rng(number))
            assert walked == plain.walk(start, 3, np.random.default_rng(number))
            at = walked[-1].after.state if walked else state
            visited |= {state, *(step.after.state for step in walked)}


@thorough(10)
@given(domains.domains())
def test_a_trajectory_begins_once(domain: Domain) -> None:
    agent = EnforcingAgent(SymbolicAgent(domain.model, domain.problems, Access.TRAJECTORY))
    assert list(agent.initial()) == list(agent.initial())
    agent.ask(Query(agent.initial()[0], ()))
    with pytest.raises(AamError, match="second time"):
        agent.initial()


class _NoWayBack(Instructed):
    """A simulator that can be started once, and neither copied nor brought back."""

    started = 0

    def start(self) -> None:
        self.started += 1
        super().start()

    def snapshot(self) -> object:
        raise AssertionError("a snapshot was taken")

    def restore(self, snapshot: object) -> None:
        raise AssertionError("a snapshot was restored")


def _doors(access: Access) -> tuple[ImageAgent, _NoWayBack]:
    domain = board_domain("doors")
    simulator = _NoWayBack(make_simulator("doors", *domain.interrogated[0]).env)
    perception = BoardPerception.load(domain.visual, domain.name)
    return ImageAgent([simulator], perception, domain.visual.vocabulary(), domain.headers, access), simulator


def _moves(state: State) -> list[GroundAction]:
    """Moves to cells of the room in which the player is."""
    (here,) = [atom.objects[0] for atom in state.true if atom.predicate == "at"]
    rooms = [
        atom.objects[1] for atom in sorted(state.true) if atom == Atom("locinroom", (here, atom.objects[-1]))
    ]
    cells = [
        a.objects[0] for a in sorted(state.true) if a.predicate == "locinroom" and a.objects[1] == rooms[0]
    ]
    return [GroundAction("moveto", (here, cell, rooms[0])) for cell in cells if cell != here]


@pytest.mark.parametrize("access", [Access.TRAJECTORY, Access.RESET])
def test_an_image_agent_goes_on_without_snapshots(access: Access) -> None:
    agent, simulator = _doors(access)
    start = agent.initial()[0]
    step = _moves(start.state)[0]
    first = agent.ask(Query(start, (step,)))
    assert first.executed == 1
    again = agent.ask(Query(first.final, (step,)))
    assert again.executed == 0, "the player is no longer there"
    assert again.final == first.final
    onward = agent.ask(Query(again.final, (_moves(again.final.state)[0],)))
    assert onward.executed == 1
    assert simulator.started == 1
    if access is Access.RESET:
        assert agent.ask(Query(start, (step,))).final.state == first.final.state
        assert simulator.started == 2

"""Changes that no executed step can have made are seen, and none is seen where every state is right."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.anomalies import (
    changed_untouched,
    contradicted_query,
    contradicting_entries,
    disagreement,
    refused_unevenly,
    shows_error,
    unexplained_changes,
)
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.model.delayed import DelayedEffect, Delays
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, State
from aam_vision.support.errors import InconsistentAgent
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, agent_of
from tests.profiles import thorough

MODEL = small.model("act x", "see x", predicates="p/1 q/2", constants="k")
ACT = {name: small.step(f"act {name}") for name in "ab"}
SEE = small.step("see b")


def _state(true: str = "", unknown: str = "") -> State:
    """Such as ``pa qab``."""
    return small.state("a b k", *(", ".join(map(" ".join, text.split())) for text in (true, unknown)))


def _asked(before: State, plan: tuple[GroundAction, ...], executed: int, after: State) -> Asked:
    return Asked(Query(Situation(0, before), plan), Response(executed, Situation(1, after)))


def _walked(*states_and_steps: State | GroundAction) -> Walked:
    seen = [Situation(n, state) for n, state in enumerate(states_and_steps[::2]) if isinstance(state, State)]
    steps = [step for step in states_and_steps if isinstance(step, GroundAction)]
    return Walked(tuple(map(WalkStep, seen, steps, seen[1:])))


def _transcript(*entries: Entry) -> Transcript:
    return Transcript(MODEL.vocabulary, MODEL.headers, Access.SNAPSHOT, (Situation(0, _state()),), entries)


@pytest.mark.parametrize(
    ("before", "steps", "after", "found"),
    [
        ("", "a", "pa", ""),  # a is named
        ("pa", "a", "", ""),
        ("", "a", "pb", "pb"),
        ("pb", "a", "", "pb"),
        ("", "a", "pk", ""),  # k is a constant
        ("", "a", "qak", ""),
        ("", "a", "qab", "qab"),  # b is not named
        ("qba pb", "a", "pb", "qba"),
        ("pb qbb", "a", "qab", "pb qab qbb"),
        ("", "ab", "pa pb qab", "qab"),  # no step names both
        ("", "", "pa", "pa"),
        ("|pb", "a", "pb", ""),  # hidden before
        ("pb", "a", "|pb", ""),  # hidden after
        ("", "a", "|pb", ""),
    ],
)
def test_an_atom_stays_unless_a_step_names_its_objects(
    before: str, steps: str, after: str, found: str
) -> None:
    was, now, wanted = _state(*before.split("|")), _state(*after.split("|")), sorted(_state(found).true)
    actions = tuple(ACT[name] for name in steps)
    assert changed_untouched(was, actions, now, {"k"}) == wanted
    entry = _asked(was, (*actions, ACT["b"], ACT["b"]), len(steps), now)
    assert unexplained_changes(entry, MODEL.vocabulary) == wanted
    assert shows_error(_transcript(entry)) is bool(wanted)
    if len(steps) == 1:
        assert unexplained_changes(_walked(was, *actions, now), MODEL.vocabulary) == wanted


@pytest.mark.parametrize(
    ("refused", "uneven"),
    [({"act": 8}, True), ({"see": 8}, True), ({"act": 4, "see": 5}, False), ({"act": 1}, False), ({}, False)],
)
def test_errors_of_one_rate_do_not_come_in_one_action_alone(refused: dict[str, int], uneven: bool) -> None:
    """Of steps that can be executed; those that walks chose say nothing of that."""
    here, entries = _state("pa"), list[Entry]()
    for step in (ACT["a"], SEE):
        entries += [
            _asked(here, (step,), int(number >= refused.get(step.name, 0)), here) for number in range(30)
        ]
    known = evidence_of(
        _transcript(), [_asked(here, (step,), 1, here) for step in (ACT["a"], SEE)]
    ).hypotheses
    assert refused_unevenly(_transcript(*entries), known) is uneven
    walk = _walked(*[here, ACT["a"]] * 200, here)
    assert refused_unevenly(_transcript(*entries, walk), known) is uneven
    away = _state("pb qab")  # refused where what may be required does not hold: that is no mistake
    assert refused_unevenly(_transcript(*entries, *[_asked(away, (SEE,), 0, away)] * 50), known) is uneven


def test_what_was_to_come_is_explained() -> None:
    known = MODEL.vocabulary.predicate("p")
    effect = DelayedEffect("act", LiftedAtom("p", (0,)), known, known.types, True, 1)
    vocabulary = MODEL.vocabulary.with_delays(Delays((effect,)))
    waits = State(frozenset({Atom("p-true-in-1", ("b",))}), _state().objects)
    assert unexplained_changes(_walked(waits, ACT["a"], _state("pb")), vocabulary) == []
    assert unexplained_changes(_walked(_state(), ACT["a"], _state("pb")), vocabulary) == [Atom("p", ("b",))]
    plan = _asked(_state(), (ACT["b"], ACT["a"]), 2, _state("pb qab"))
    assert unexplained_changes(plan, vocabulary) == [Atom("q", ("a", "b"))]


def test_every_step_of_a_walk_is_looked_at() -> None:
    walk = _walked(_state(), ACT["a"], _state("pa"), ACT["b"], _state(""), ACT["a"], _state("pb"))
    assert unexplained_changes(walk, replace(MODEL.vocabulary, constants={})) == [
        Atom("p", ("a",)),
        Atom("p", ("b",)),
    ]


def test_a_step_that_was_refused_and_executed_in_equal_states_shows_chance() -> None:
    act, pa = ACT["a"], _state("pa")
    refused = [_asked(pa, (act,), 0, pa), _asked(_state(), (act, act), 1, pa)]
    executed = [_asked(pa, (act,), 1, pa), _asked(pa, (act, ACT["b"]), 1, pa), _walked(pa, act, pa)]
    elsewhere = _asked(_state("pb"), (act,), 0, _state("pb"))
    for done, not_done in product(executed, refused):
        assert shows_error(_transcript(done, not_done))
        assert shows_error(_transcript(not_done, done))
        assert not shows_error(_transcript(done, elsewhere))
    for alike in (executed, [*refused, elsewhere], []):
        assert not shows_error(_transcript(*alike))


ADDS = _asked(_state(), (ACT["a"],), 1, _state("pa"))
OTHER = _asked(_state("pa"), (SEE,), 1, _state("pa"))
WHOLE = (_state(), (ACT["a"], SEE), 2)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            (OTHER, ADDS, _asked(*WHOLE, _state())),
            "query 3 (act(a), see(b): 2 of 2 steps executed) ended with p(a) false, "
            "which disagrees with query 2 (act(a): 1 of 1 step executed)",
        ),
        ((OTHER, ADDS, _asked(*WHOLE, _state("pa"))), None),
        ((OTHER, ADDS, _asked(*WHOLE, _state("", "pa"))), None),
        ((_asked(*WHOLE, _state()),), "which disagrees with all else"),
        (
            (_walked(_state(), ACT["a"], _state("pa")), _asked(*WHOLE, _state())),
            "disagrees with walk step 1 (act(a))",
        ),
        (
            (OTHER, _asked(_state(), (SEE, SEE), 2, _state("pa"))),
            "ended with p(a) true, which disagrees with all else",
        ),
    ],
)
def test_a_plan_that_ends_otherwise_than_its_steps_is_named(
    entries: tuple[Entry, ...], told: str | None
) -> None:
    evidence = evidence_of(_transcript())
    evidence.take_in(OTHER)
    evidence.take_in(ADDS)
    found = contradicted_query(_transcript(*entries), evidence.hypotheses)
    assert found == told or (told is not None and (found or "").endswith(told))


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6), st.data())
def test_a_misread_atom_shows_and_nothing_else_does(domain: Domain, seed: int, data: st.DataObject) -> None:
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    initial = tuple(agent.initial())
    walks = [Walked(tuple(agent.walk(situation, 6, rng))) for situation in initial]
    queries = [Query(walk.steps[0].before, walk.actions) for walk in walks if walk.steps]
    entries = (*walks, *(Asked(query, agent.ask(query)) for query in queries))
    transcript = Transcript(agent.vocabulary, agent.headers, agent.access, initial, entries)
    assert not shows_error(transcript)
    assert contradicted_query(transcript, evidence_of(transcript, entries).hypotheses) is None
    assert disagreement(transcript) is None
    steps = [step for walk in walks for step in walk.steps]
    assume(steps)
    step = data.draw(st.sampled_from(steps))
    state, named = step.after.state, {*step.action.objects, *agent.vocabulary.constants}
    facts = domains.ground_atoms(agent.vocabulary, state.objects)
    far = [atom for atom in facts if not {*atom.objects} <= named]
    assume(far)
    atom = data.draw(st.sampled_from(far))
    misread = Situation("misread", State(state.true ^ {atom}, state.objects))
    wrong = Walked((WalkStep(step.before, step.action, misread),))
    assert unexplained_changes(wrong, agent.vocabulary) == [atom]
    assert shows_error(transcript.of([wrong]))


# An agent that contradicts itself is told which of its answers disagree.


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
def test_answers_that_disagree_are_named_all_else_is_kept(domain: Domain, every: int, access: Access) -> None:
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
    assert not result.proven
    named = disagreement(result.transcript)
    assert named is not None
    assert named in message
    transcript = result.transcript.in_single_steps()
    numbers = contradicting_entries(transcript)
    assert numbers is not None
    chosen = [transcript.entries[number] for number in numbers]
    assert disagreement(transcript.of(chosen)) is not None
    for left_out in range(len(chosen)):
        rest = chosen[:left_out] + chosen[left_out + 1 :]
        assert disagreement(transcript.of(rest)) is None, "nothing of what is named can be left out"


LAMPS = small.model("switch x", "look", predicates="lit/1 hot/1")
LIT, HOT = "lit lamp", "hot lamp"


def _at(true: str = "") -> Situation:
    state = small.state("lamp", true)
    return Situation(state, state)


def _of_lamps(*entries: Asked | Walked) -> Transcript:
    return Transcript(LAMPS.vocabulary, LAMPS.headers, Access.SETTABLE, (_at(),), entries)


DO = small.step("switch lamp")
IDLE = Walked((WalkStep(_at(HOT), small.step("look"), _at(HOT)),))


def test_two_answers_are_named_if_they_suffice_and_three_where_no_two_disagree() -> None:
    """Of the three, each success shows one atom not to be needed; the refusal can blame neither."""
    walked = Walked((WalkStep(_at(), DO, _at(LIT)), WalkStep(_at(LIT), DO, _at(LIT))))
    refused = Asked(Query(_at(), (DO,)), Response(0, _at()))
    named = disagreement(_of_lamps(IDLE, walked, IDLE, refused))
    assert named == "query 1 (switch(lamp): 0 of 1 step executed) disagrees with walk step 2 (switch(lamp))"
    dark, cold = (Asked(Query(_at(one), (DO,)), Response(1, _at(one))) for one in (HOT, LIT))
    for earlier in permutations((IDLE, dark, IDLE, cold)):
        transcript = _of_lamps(*earlier, refused)
        assert contradicting_entries(transcript) == [*sorted(map(earlier.index, (dark, cold))), 4]
        assert re.match(r"query 3 .*query 1 .* together with query 2 ", disagreement(transcript) or "")

"""Changes that no executed step can have made are seen, and none is seen where every state is right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence.anomalies import (
    changed_untouched,
    contradicted_query,
    shows_error,
    unexplained_changes,
)
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript, initial_evidence
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
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
from tests.profiles import thorough

THINGS = Objects(dict.fromkeys("abk", "object"), Types())
VOCABULARY = Vocabulary(
    "d", (Predicate("p", ("object",)), Predicate("q", ("object", "object"))), Types(), {"k": "object"}
)
HEADERS = (ActionHeader("act", ("x",), ("object",)), ActionHeader("see", ("x",), ("object",)))
ACT = {name: GroundAction("act", (name,)) for name in "ab"}
SEE = GroundAction("see", ("b",))


def _state(true: str = "", unknown: str = "") -> State:
    """Such as ``pa qab``."""

    def atoms(text: str) -> frozenset[Atom]:
        return frozenset(Atom(word[0], tuple(word[1:])) for word in text.split())

    return State(atoms(true), THINGS, atoms(unknown))


def _asked(before: State, plan: tuple[GroundAction, ...], executed: int, after: State) -> Asked:
    return Asked(Query(Situation(0, before), plan), Response(executed, Situation(1, after)))


def _walked(*states_and_steps: State | GroundAction) -> Walked:
    states, steps = states_and_steps[::2], states_and_steps[1::2]
    return Walked(
        tuple(
            WalkStep(Situation(n, states[n]), step, Situation(n + 1, states[n + 1]))  # type: ignore[arg-type]
            for n, step in enumerate(steps)
        )
    )


def _transcript(*entries: Entry) -> Transcript:
    return Transcript(VOCABULARY, HEADERS, Access.SNAPSHOT, (Situation(0, _state()),), entries)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", "pa", ""),  # a is named
        ("pa", "", ""),
        ("", "pb", "pb"),
        ("pb", "", "pb"),
        ("", "pk", ""),  # k is a constant
        ("", "qak", ""),
        ("", "qab", "qab"),  # b is not named
        ("qba pb", "pb", "qba"),
        ("pb qbb", "qab", "pb qab qbb"),
    ],
)
def test_an_atom_of_which_not_all_objects_are_named_stays(before: str, after: str, found: str) -> None:
    wanted = sorted(_state(found).true)
    assert changed_untouched(_state(before), [ACT["a"]], _state(after), {"k"}) == wanted
    assert unexplained_changes(_asked(_state(before), (ACT["a"],), 1, _state(after)), {"k"}) == wanted
    assert unexplained_changes(_walked(_state(before), ACT["a"], _state(after)), {"k"}) == wanted
    assert shows_error(_transcript(_asked(_state(before), (ACT["a"],), 1, _state(after)))) is bool(wanted)


def test_objects_of_different_steps_make_no_atom_that_one_of_them_could_change() -> None:
    steps = [ACT["a"], ACT["b"]]
    assert changed_untouched(_state(), steps, _state("pa pb qab"), set()) == [Atom("q", ("a", "b"))]
    assert changed_untouched(_state(), steps, _state("pa pb"), set()) == []
    assert changed_untouched(_state(), [], _state("pa"), set()) == [Atom("p", ("a",))]


@pytest.mark.parametrize(
    ("before", "after"), [(("", "pb"), ("pb", "")), (("pb", ""), ("", "pb")), (("", ""), ("", "pb"))]
)
def test_what_was_hidden_before_or_after_says_nothing(
    before: tuple[str, str], after: tuple[str, str]
) -> None:
    assert changed_untouched(_state(*before), [ACT["a"]], _state(*after), set()) == []


def test_only_executed_steps_explain_a_change() -> None:
    entry = _asked(_state(), (ACT["a"], ACT["b"]), 1, _state("pb"))
    assert unexplained_changes(entry, set()) == [Atom("p", ("b",))]


def test_every_step_of_a_walk_is_looked_at() -> None:
    walk = _walked(_state(), ACT["a"], _state("pa"), ACT["b"], _state(""), ACT["a"], _state("pb"))
    assert unexplained_changes(walk, set()) == [Atom("p", ("a",)), Atom("p", ("b",))]


def test_a_step_that_was_refused_and_executed_in_equal_states_shows_chance() -> None:
    done = _asked(_state("pa"), (ACT["a"],), 1, _state("pa"))
    refused = _asked(_state("pa"), (ACT["a"],), 0, _state("pa"))
    elsewhere = _asked(_state("pb"), (ACT["a"],), 0, _state("pb"))
    later = _asked(_state(), (ACT["a"], ACT["a"]), 1, _state("pa"))
    earlier = _asked(_state("pa"), (ACT["a"], ACT["b"]), 1, _state("pa"))
    walked = _walked(_state("pa"), ACT["a"], _state("pa"))
    for executed in (done, earlier, walked):
        for other in (refused, later):
            assert shows_error(_transcript(executed, other))
            assert shows_error(_transcript(other, executed))
        assert not shows_error(_transcript(executed, elsewhere))
    assert not shows_error(_transcript(done, earlier, walked))
    assert not shows_error(_transcript(refused, later, elsewhere))
    assert not shows_error(_transcript())


def test_a_plan_that_ends_otherwise_than_its_steps_elsewhere_is_named() -> None:
    adds = _asked(_state(), (ACT["a"],), 1, _state("pa"))
    other = _asked(_state("pa"), (SEE,), 1, _state("pa"))
    whole = _asked(_state(), (ACT["a"], SEE), 2, _state())
    transcript = _transcript(other, adds, whole)
    evidence = initial_evidence(transcript)
    evidence.take_in(other)
    evidence.take_in(adds)
    told = contradicted_query(transcript, evidence.hypotheses)
    assert told == (
        "query 3 (act(a), see(b): 2 of 2 steps executed) ended with p(a) false, "
        "which disagrees with query 2 (act(a): 1 of 1 step executed)"
    )
    right = _asked(_state(), (ACT["a"], SEE), 2, _state("pa"))
    assert contradicted_query(_transcript(other, adds, right), evidence.hypotheses) is None
    hidden = _asked(_state(), (ACT["a"], SEE), 2, _state("", "pa"))
    assert contradicted_query(_transcript(other, adds, hidden), evidence.hypotheses) is None
    alone = contradicted_query(_transcript(whole), evidence.hypotheses)
    assert alone is not None
    assert alone.endswith("which disagrees with all else")
    walk = _walked(_state(), ACT["a"], _state("pa"))
    after_walk = contradicted_query(_transcript(walk, whole), evidence.hypotheses)
    assert after_walk is not None
    assert after_walk.endswith("disagrees with walk step 1 (act(a))")
    appeared = _asked(_state(), (SEE, SEE), 2, _state("pa"))
    seen = contradicted_query(_transcript(other, appeared), evidence.hypotheses)
    assert seen is not None
    assert "ended with p(a) true, which disagrees with all else" in seen


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6), st.data())
def test_a_right_transcript_shows_nothing_and_a_misread_atom_shows(
    domain: Domain, seed: int, data: st.DataObject
) -> None:
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    initial = tuple(agent.initial())
    entries: list[Entry] = [Walked(tuple(agent.walk(situation, 6, rng))) for situation in initial]
    for entry in list(entries):
        assert isinstance(entry, Walked)
        if entry.steps:
            query = Query(entry.steps[0].before, entry.actions)
            entries.append(Asked(query, agent.ask(query)))
    transcript = Transcript(agent.vocabulary, agent.headers, agent.access, initial, tuple(entries))
    assert not shows_error(transcript)
    evidence = initial_evidence(transcript)
    for entry in entries:
        evidence.take_in(entry)
    assert contradicted_query(transcript, evidence.hypotheses) is None
    steps = [step for entry in entries if isinstance(entry, Walked) for step in entry.steps]
    assume(steps)
    step = data.draw(st.sampled_from(steps))
    state = step.after.state
    far = [
        atom
        for atom in domains.ground_atoms(agent.vocabulary, state.objects)
        if not {*atom.objects} <= {*step.action.objects, *agent.vocabulary.constants}
    ]
    assume(far)
    atom = data.draw(st.sampled_from(far))
    misread = State(state.true ^ {atom}, state.objects)
    wrong = Walked((WalkStep(step.before, step.action, Situation("misread", misread)),))
    assert unexplained_changes(wrong, agent.vocabulary.constants) == [atom]
    assert shows_error(transcript.of([wrong]))

"""What single steps say for themselves, against every effect and precondition that could explain them."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.evidence.transcript import (
    REFUSED,
    AttemptedStep,
    Course,
    Transcript,
    attempted,
    ruled_out,
    violated,
)
from aam_vision.interrogation.hypotheses.literals import AtomIndex, bits
from aam_vision.model.query import Access, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, Location, Mode, State
from tests import domains, small
from tests.domains import Domain
from tests.profiles import thorough

MODEL = small.model("one", "two", "three")
ONE, TWO, THREE = (GroundAction(header.name, ()) for header in MODEL.headers)
S = [Situation(number, small.state("")) for number in range(9)]


def _steps(*entries: Asked | Walked) -> list[AttemptedStep]:
    transcript = Transcript(MODEL.vocabulary, MODEL.headers, Access.SNAPSHOT, (S[0],), entries)
    return list(attempted(transcript))


def test_what_came_right_before_a_step_is_said_until_the_agent_is_put_elsewhere() -> None:
    one, other = small.state("a b"), small.state("a b", "on a")
    course, told, counted = Course(), [], []
    for state, step, executed, after in (
        (one, "press a", True, one),
        (one, "undo a", False, one),
        (one, "press a", True, other),
        (one, "press a", True, other),
        (other, "undo b", True, one),
    ):
        course.begin(state)
        when = course.step(small.step(step), executed=executed)
        told.append({*when.before, when.turn})
        counted.append((when.attempts, when.steps, when.since))
        course.end(after)
    same = "the step of it before named the same #0", "the step right before named one of its objects"
    press_before = "it came right after press"
    since = "a step had been refused since the agent was put where it began"
    assert told == [
        {0},
        {0, press_before, "press had just changed nothing", same[1]},
        {1, REFUSED, *same, since},
        {2, same[0]},
        {0, press_before},
    ]
    assert counted == [(0, 0, 0), (1, 1, 1), (2, 1, 1), (3, 2, 0), (4, 3, 1)]


def test_only_the_first_and_the_last_situation_of_a_plan_were_seen() -> None:
    whole = Asked(Query(S[0], (ONE, TWO, THREE)), Response(3, S[1]))
    cut = Asked(Query(S[2], (ONE, TWO, THREE)), Response(1, S[3]))
    none = Asked(Query(S[4], (TWO, ONE)), Response(0, S[4]))
    look = Asked(Query(S[4], ()), Response(0, S[4]))
    walk = Walked((WalkStep(S[5], THREE, S[6]),))
    steps = _steps(whole, cut, look, none, walk, walk)
    assert [(step.when.attempts, step.when.since) for step in steps[-4:]] == [(4, 4), (5, 4), (6, 4), (7, 5)]
    assert steps[:-1] == [
        AttemptedStep(0, 0, ONE, True, S[0], None),
        AttemptedStep(0, 1, TWO, True, None, None),
        AttemptedStep(0, 2, THREE, True, None, S[1]),
        AttemptedStep(1, 0, ONE, True, S[2], S[3]),
        AttemptedStep(1, 1, TWO, False, S[3], None),
        AttemptedStep(3, 0, TWO, False, S[4], None),
        AttemptedStep(4, 0, THREE, True, S[5], S[6]),
    ]


@thorough(100)
@given(domains.domains(constants=True, repeated=True), st.booleans(), st.booleans(), st.data())
def test_a_step_rules_out_the_inexplicable(
    domain: Domain, before_seen: bool, after_seen: bool, data: st.DataObject
) -> None:
    """For every atom by itself; of those that are one under the binding, effects are left out."""
    vocabulary, header = domain.model.vocabulary, domain.model.headers[0]
    index = AtomIndex(vocabulary, header, repeated=True)
    objects = domain.problems[0].objects
    rows = domains.all_bindings(header, objects, repeated=True)
    assume(rows and index.atoms)
    row = data.draw(st.sampled_from(rows))
    facts = domains.ground_atoms(vocabulary, objects)

    def some_state() -> State:
        hidden = frozenset(data.draw(st.lists(st.sampled_from(facts), max_size=3)))
        return State(frozenset(data.draw(st.lists(st.sampled_from(facts)))) - hidden, objects, hidden)

    before, after = some_state(), some_state()
    action, ends = GroundAction(header.name, row), (Situation(0, before), Situation(1, after))
    seen_ends = [one if seen else None for one, seen in zip(ends, (before_seen, after_seen), strict=True)]
    found = ruled_out(index, AttemptedStep(0, 0, action, True, *seen_ends))
    refused = AttemptedStep(0, 0, action, False, ends[0], None)
    could_be_violated = violated(index, refused)
    shared = index.shared(row)
    for bit in bits(index.everything):
        fact = index.atom(bit).ground(row)
        was = before.value(fact) if before_seen else None
        now = after.value(fact) if after_seen else None
        worlds = [value for value in (False, True) if was in (None, value)]
        pre = {mode: mode is Mode.ABSENT or (mode is Mode.POSITIVE) in worlds for mode in Mode}
        outcome = {Mode.POSITIVE: {True}, Mode.NEGATIVE: {False}, Mode.ABSENT: set(worlds)}
        for mode in Mode:
            assert bool(found.get((Location.PRE, mode), 0) & bit) is not pre[mode]
            explained = now is None or now in outcome[mode] or bool(bit & shared)
            assert bool(found.get((Location.EFF, mode), 0) & bit) is not explained
        seen = before.value(fact)
        assert bool(could_be_violated.positive & bit) is (seen is not True)
        assert bool(could_be_violated.negative & bit) is (seen is not False)

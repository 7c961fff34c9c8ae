"""Single steps: what a learned model predicts of them, and how each is asked for again under each access."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Ask, Asked, Stop, Walk, Walked
from aam_vision.interrogation.evidence.transcript import evidence_of
from aam_vision.interrogation.examination.findings import ENOUGH, Exam
from aam_vision.interrogation.examination.predictions import differing, expected, progress, surprise
from aam_vision.interrogation.examination.trials import (
    History,
    Spent,
    Trial,
    Trials,
    in_own_words,
    separating_literal,
)
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.domains import load
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests import domains
from tests.domains import packaged
from tests.profiles import thorough


class Examined:
    """What an interrogation with few questions tells of a domain, and the domain itself."""

    def __init__(self, domain: domains.Domain, queries: int) -> None:
        self.agent = SymbolicAgent(domain.model, domain.problems)
        asked = Interrogation(self.agent, exam=0, budget=Budget(queries=queries, steps=3000))
        self.transcript = asked.run(np.random.default_rng(0)).transcript
        self.model = domain.model
        self.start = domain.problems[0]
        self.evidence = evidence_of(self.transcript, self.transcript.entries)
        self.steps = domains.instances(domain.model.headers, self.start.objects, most=1000)

    def ask(self, plan: tuple[GroundAction, ...]) -> Asked:
        query = Query(Situation(self.start, self.start), plan)
        return Asked(query, self.agent.ask(query))

    def move(self, plan: tuple[GroundAction, ...]) -> Ask:
        return Ask(self.evidence.situation(Situation(self.start, self.start)), plan, "examine", examines=True)


@st.composite
def examined(draw: st.DrawFn) -> Examined:
    return Examined(draw(domains.domains(max_problems=1)), draw(st.sampled_from([0, 2, 300])))


@thorough(60)
@given(examined(), st.data())
def test_what_is_expected_is_what_the_agent_does(known: Examined, data: st.DataObject) -> None:
    """However little is known: whatever is predicted of a step is right, and no answer is a surprise."""
    assume(known.steps)
    for step in known.steps:
        fate = expected(known.evidence, known.start, step)
        assert fate in (None, known.ask((step,)).response.executed == 1)
    plan = tuple(data.draw(st.lists(st.sampled_from(known.steps), max_size=4)))
    assert surprise(known.evidence, known.ask(plan), known.move(plan)) is None


@thorough(60)
@given(examined(), st.data())
def test_an_impossible_answer_is_told_with_its_step(known: Examined, data: st.DataObject) -> None:
    """A refusal in place of an execution, an execution in place of a refusal, another atom in the end."""
    assume(known.steps)
    step = data.draw(st.sampled_from(known.steps))
    fate, entry = expected(known.evidence, known.start, step), known.ask((step,))
    assume(fate is not None)
    begun = Situation(known.start, known.start)
    other = Asked(entry.query, Response(0, begun) if fate else Response(1, begun))
    said = surprise(known.evidence, other, known.move((step,)))
    was, should = ("refused", "executed") if fate else ("executed", "refused")
    assert said == f"{step}: {was}, and predicted to be {should}"
    walked = Walked((WalkStep(begun, step, begun),))
    walk = Walk(known.move((step,)).start, 1, stopped=Stop(True, ""))
    if not fate:
        assert surprise(known.evidence, walked, walk) == said
        return
    predicted = known.evidence.predict(known.start, step)
    for atom in sorted(predicted.true - predicted.unknown)[:2]:
        changed = Situation("other", replace(predicted, true=predicted.true - {atom}))
        told = f"{step}: {atom} is false, and predicted otherwise"
        assert surprise(known.evidence, Asked(entry.query, Response(1, changed)), known.move((step,))) == told
        assert surprise(known.evidence, Walked((WalkStep(begun, step, changed),)), walk) == told


@thorough(40)
@given(examined(), st.data())
def test_what_looks_otherwise_at_a_second_look_is_a_surprise(known: Examined, data: st.DataObject) -> None:
    atoms = domains.ground_atoms(known.model.vocabulary, known.start.objects)
    atom = data.draw(st.sampled_from(atoms or [None]))
    assume(atom is not None)
    value = atom in known.start.true
    now = replace(known.start, true=known.start.true ^ {atom})
    query = Query(Situation(known.start, known.start), ())
    for state, said in (
        (known.start, None),
        (now, f"looked at again: {atom} is {'false' if value else 'true'}, and predicted otherwise"),
        (replace(now, true=now.true - {atom}, unknown=frozenset({atom})), None),
    ):
        entry = Asked(query, Response(0, Situation("again", state)))
        assert surprise(known.evidence, entry, known.move(())) == said


@thorough(60)
@given(domains.domains(max_problems=1), st.data())
def test_states_differ_in_known_atoms(domain: domains.Domain, data: st.DataObject) -> None:
    atoms = domains.ground_atoms(domain.model.vocabulary, domain.problems[0].objects)
    some = st.frozensets(st.sampled_from(atoms)) if atoms else st.just(frozenset[Atom]())

    def drawn() -> State:
        hidden = data.draw(some)
        return State(data.draw(some) - hidden, domain.problems[0].objects, hidden)

    one, other = drawn(), drawn()
    values = [(atom, one.value(atom), other.value(atom)) for atom in sorted(atoms)]
    assert differing(one, other) == [
        atom for atom, was, now in values if None not in (was, now) and was is not now
    ]


def test_only_what_came_since_something_was_learned_counts_as_progress() -> None:
    lit = frozenset({LiftedAtom("lit", (0,))})
    switch = ActionSchema(ActionHeader("switch", ("x",), ("lamp",)), negative=lit, add=lit)
    model = Model(Vocabulary("lamp", (Predicate("lit", ("lamp",)),)), (switch,))
    dark = State(frozenset(), Objects({"one": "lamp"}, Types()))
    known = Examined(domains.Domain(model, (dark,)), 300)
    (step,) = known.steps
    assert progress(known.evidence) == Exam(0)
    for number in range(1, 4):
        known.evidence.take_in(known.ask((step, step)), known.move((step, step)))
        assert progress(known.evidence) == Exam(2 * number), "the refused step counts, too"
    known.evidence.take_in(known.ask((step,)), replace(known.move((step,)), examines=False))
    assert progress(known.evidence) == Exam(0)
    known.evidence = evidence_of(known.transcript, ())
    known.evidence.take_in(known.ask((step,)), known.move((step,)))
    assert progress(known.evidence) == Exam(0), "it has told something"


def test_an_examination_is_told_in_a_sentence() -> None:
    assert str(Exam()) == "not examined"
    assert str(Exam(1, 1)) == "0 of 1 step came out as predicted"
    assert str(Exam(40, 2)) == "38 of 40 steps came out as predicted"
    bound = "with 95% confidence at most 5% of such steps would not, if they fail independently"
    told = f"59 of 59 steps came out as predicted: {bound}"
    assert str(Exam(ENOUGH)) == told
    assert str(Exam(ENOUGH, further=40)) == f"{told}; so did 40 more, to meet lasting mistakes"


LEADING_BACK = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET]
BLOCKS = Objects({"a": "block", "b": "block"}, Types())
MOVE, DROP = GroundAction("move", ("a",)), GroundAction("drop", ())


def trials_of(access: Access, *, queries: int = 6, allowed: int = 10_000, domain: str = "gripper") -> Trials:
    """The steps of a short interrogation."""
    symbolic = SymbolicAgent(*packaged(domain), access)
    agent: Agent = symbolic if access is Access.SETTABLE else NumberedAgent(symbolic)
    counting = CountingAgent(EnforcingAgent(agent))
    budget = Budget(queries=queries, steps=400)
    result = Interrogation(counting, exam=0, budget=budget).run(np.random.default_rng(0))
    return Trials(counting, result.transcript, allowed)


def seen(*true: Atom, unknown: tuple[Atom, ...] = ()) -> Situation:
    state = State(frozenset(true), BLOCKS, frozenset(unknown))
    return Situation(state, state)


def test_a_history_is_of_plans_one_after_the_other() -> None:
    start = seen()
    history = History(start).then((MOVE, MOVE), 2).then((), 0).then((DROP, MOVE), 0)
    assert history.asked == (((MOVE, MOVE), 2), ((DROP, MOVE), 0))
    assert history.executed == (MOVE, MOVE)
    assert history.length == 3, "a refused step was attempted, and none after it"


def test_an_outcome_is_the_atoms_that_are_known_to_have_changed() -> None:
    on, off, dim = Atom("on", ("a",)), Atom("off", ("a",)), Atom("dim", ("b",))
    before = seen(off, dim)
    changed, still = Trial(before, MOVE, seen(on, unknown=(dim,))), Trial(before, MOVE, before)
    refused = Trial(before, MOVE, None)
    for trial, outcome in (
        (changed, "-off(a), +on(a)"),
        (still, "executed, and nothing changed"),
        (refused, "refused"),
    ):
        assert (trial.outcome, trial.executed) == (outcome, trial is not refused)
    assert changed.alike(Trial(before, MOVE, seen(on, dim))), "nobody saw that atom"
    assert refused.alike(refused)
    for one, other in permutations((changed, still, refused), 2):
        assert not one.alike(other)


@pytest.mark.parametrize("access", Access)
def test_every_step_that_was_seen_from_before_to_after_is_a_trial_and_no_look_is(access: Access) -> None:
    trials = trials_of(access)
    model = load("gripper")
    assert trials.known == len(trials.seen) == sum(len(steps) for _, steps in trials.of_entry) > 0
    assert len(trials.of_entry) == len(trials.transcript.entries)
    for trial in trials.seen:
        executed, after = model.run(trial.before.state, (trial.step,))
        assert trial.executed is (executed == 1)
        assert trial.after is None or trial.after.state == after
    asked = [entry for entry in trials.transcript.entries if isinstance(entry, Asked)]
    refused = sum(entry.response.executed < len(entry.query.plan) for entry in asked)
    assert sum(not trial.executed for trial in trials.seen) == refused > 0
    here, looks = trials.here, trials.agent.counts.looks
    assert trials.look(here).state == here.state
    assert (trials.steps, trials.agent.counts.looks) == (0, looks + 1)
    (start,) = trials.transcript.initial
    leads_there = access in (Access.SETTABLE, Access.SNAPSHOT) or here.handle == start.handle
    assert (trials.look(start) is not None) is leads_there


@pytest.mark.parametrize("access", LEADING_BACK)
def test_a_step_comes_out_the_same_after_the_same_history(access: Access) -> None:
    """For every step of the interrogation, refused ones included, and for steps of the experiments themselves."""
    trials = trials_of(access)
    for trial in [*trials.seen[:40], *trials.seen[-10:]]:
        counted, steps = trials.agent.counts.steps, trials.steps
        again = trials.again(trial)
        assert (again.before.state, again.step) == (trial.before.state, trial.step)
        assert again.alike(trial)
        assert trials.seen[-1] is again
        assert trials.steps - steps == trials.agent.counts.steps - counted >= 1
        once_more = trials.again(again)
        assert once_more.alike(again)
        assert once_more.before.state == again.before.state


def test_a_history_is_gone_through_again_after_a_reset() -> None:
    """Step by step as it was asked: what is hidden from the states may depend on it."""
    trials = trials_of(Access.RESET)
    (start,) = trials.transcript.initial
    far = [trial for trial in trials.seen if trial.history is not None and trial.history.length > 1]
    assert far
    for trial in far[:5]:
        asked = len(trials.asked)
        trials.again(trial)
        plans = [entry.query.plan for entry in trials.asked[asked:]]
        assert plans == [*(plan for plan, _ in trial.history.asked), (trial.step,)]
        assert trials.asked[asked].query.initial.handle == start.handle


def test_a_made_state_is_asked_about_with_its_history_in_one_question() -> None:
    """A question that began after the history would begin in a state made anew, without one."""
    trials = trials_of(Access.SETTABLE)
    walked = [trial for trial in trials.seen if trial.history is not None and len(trial.history.executed) > 1]
    assert walked
    trial = walked[0]
    for questions in (2, 1):  # where the history leads is looked at once
        asked = len(trials.asked)
        again = trials.again(trial)
        assert again.alike(trial)
        assert len(trials.asked) - asked == questions
        assert trials.asked[-1].query.plan == (*trial.history.executed, trial.step)
        assert trials.asked[-1].query.initial == trial.history.start


def test_on_a_trajectory_only_what_begins_where_the_agent_stands_can_be_asked() -> None:
    trials = trials_of(Access.TRAJECTORY)
    here = trials.here
    last = trials.transcript.entries[-1]
    assert isinstance(last, Asked)
    assert here == last.response.final
    assert trials.history(here) == History(here)
    elsewhere = [trial for trial in trials.seen if trial.before.handle != here.handle]
    assert elsewhere
    for trial in elsewhere:
        assert trials.again(trial) is None
        assert trials.look(trial.before) is None
    assert trials.steps == 0
    assert trials.look(here) == here


@pytest.mark.parametrize("access", LEADING_BACK)
def test_no_more_steps_are_asked_for_than_are_allowed(access: Access) -> None:
    trials = trials_of(access, allowed=7)
    one = next(trial for trial in trials.seen if trial.executed and trial.history is not None)
    cost = one.history.length + 1
    while trials.steps + cost <= trials.allowed:
        trials.again(one)
    with pytest.raises(Spent):
        trials.again(one)
    assert trials.allowed - cost < trials.steps <= trials.allowed
    assert sum(len(entry.query.plan) for entry in trials.asked) == trials.steps


@pytest.mark.parametrize("access", LEADING_BACK)
def test_a_history_that_comes_out_otherwise_leads_nowhere(access: Access) -> None:
    trials = trials_of(access)
    (start,) = trials.transcript.initial[:1]
    refused = next(trial for trial in trials.seen if not trial.executed and trial.history is not None)
    wrong = refused.history.then((refused.step,), 1)
    executed = next(trial.step for trial in trials.seen if trial.executed)
    assert trials.reached(wrong) is None
    assert trials.attempt(wrong, executed) is None
    assert start in trials.transcript.initial


# Literals that tell two kinds of situations apart, read back from their text and checked in each of them.

VOCABULARY = Vocabulary("blocks", (Predicate("on", ("block", "block")), Predicate("clear", ("block",))))
MOVING = ActionHeader("move", ("x", "y"), ("block", "block"))
FOUR = Objects(dict.fromkeys("abcd", "block"), Types())
ATOMS = [
    *(Atom("clear", (one,)) for one in "abcd"),
    *(Atom("on", (one, other)) for one in "abcd" for other in "abcd"),
]

states = st.frozensets(st.sampled_from(ATOMS)).map(lambda true: State(true, FOUR))
steps = st.tuples(states, st.permutations("abcd").map(lambda row: GroundAction("move", tuple(row[:2]))))


def tried(state: State, step: GroundAction) -> Trial:
    return Trial(Situation(state, state), step, None)


def holds(text: str, trial: Trial) -> bool:
    """Whether a literal holds before a step: ``?x`` is an argument, ``another`` an object that is none."""
    positive = not text.startswith("not ")
    match = re.fullmatch(r"(?:not )?(\w+)\((.*)\)", text)
    own = trial.step.objects
    means = {"?x": own[:1], "?y": own[1:], "another": [one for one in "abcd" if one not in own]}
    choices = product(*(means.get(name, [name]) for name in match[2].split(", ")))
    true = trial.before.state.true
    return any(Atom(match[1], chosen) in true for chosen in choices) is positive


@thorough(150)
@given(st.lists(steps, min_size=2, max_size=6), st.lists(steps, min_size=2, max_size=6))
def test_a_literal_is_false_where_all_was_as_expected(
    some: list[tuple[State, GroundAction]], others: list[tuple[State, GroundAction]]
) -> None:
    expected, other = ([tried(*one) for one in kind] for kind in (some, others))
    found = separating_literal(VOCABULARY, MOVING, expected, other)
    if found is not None:
        assert not any(holds(found, trial) for trial in expected)
        assert all(holds(found, trial) for trial in other)


@thorough(150)
@given(
    st.sampled_from(
        ["clear(?x)", "on(?x, ?y)", "on(?y, ?y)", "clear(another)", "on(another, ?x)", "on(a, c)"]
    ),
    st.booleans(),
    st.lists(steps, min_size=4, max_size=12),
)
def test_where_one_literal_decides_one_is_found(
    literal: str, negative: bool, some: list[tuple[State, GroundAction]]
) -> None:
    text = f"not {literal}" if negative else literal
    trials = [tried(*one) for one in some]
    expected, other = ([trial for trial in trials if holds(text, trial) is kind] for kind in (False, True))
    assume(len(expected) >= 2 and len(other) >= 2)
    if literal.startswith("on(a") and not expected[0].before.state.true | other[0].before.state.true:
        return
    found = separating_literal(VOCABULARY, MOVING, expected, other)
    assert found is not None
    assert all(holds(found, trial) is (trial in other) for trial in trials)
    if "?" in literal and "another" not in literal:
        assert "another" not in found
        assert "?" in found, "literals over the action's own arguments come first"


@given(st.lists(steps, max_size=1), st.lists(steps, min_size=2, max_size=4))
def test_one_example_explains_nothing(
    one: list[tuple[State, GroundAction]], more: list[tuple[State, GroundAction]]
) -> None:
    few, many = ([tried(*one) for one in kind] for kind in (one, more))
    assert separating_literal(VOCABULARY, MOVING, few, many) is None
    assert separating_literal(VOCABULARY, MOVING, many, few) is None


def test_unseen_values_explain_nothing_and_atoms_are_told_by_parameters() -> None:
    pair = Objects(dict.fromkeys("ab", "block"), Types())
    atoms = frozenset(atom for atom in ATOMS if {*atom.objects} <= {"a", "b"})
    dark, lit = State(frozenset(), pair, atoms), State(atoms, pair)
    step = GroundAction("move", ("a", "b"))
    assert separating_literal(VOCABULARY, MOVING, [tried(lit, step)] * 2, [tried(dark, step)] * 2) is None
    step = GroundAction("move", ("c", "a"))
    assert in_own_words(MOVING, step, Atom("on", ("a", "c"))) == "on(?y, ?x)"
    assert in_own_words(MOVING, step, Atom("on", ("c", "b"))) == "on(?x, b)"

"""Predictions of a learned model, and answers that come out otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Ask, Asked, Stop, Walk, Walked
from aam_vision.interrogation.evidence.transcript import evidence_of
from aam_vision.interrogation.examination.findings import ENOUGH, Exam
from aam_vision.interrogation.examination.predictions import differing, expected, progress, surprise
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Query, Response, Situation, WalkStep
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
from tests.profiles import thorough


class Examined:
    """What an interrogation with few questions tells of a domain, and the domain itself."""

    def __init__(self, domain: domains.Domain, queries: int) -> None:
        self.agent = SymbolicAgent(domain.model, domain.problems)
        asked = Interrogation(self.agent, exam=0, budget=Budget(queries=queries, steps=3000))
        transcript = asked.run(np.random.default_rng(0)).transcript
        self.model = domain.model
        self.start = domain.problems[0]
        self.evidence = evidence_of(transcript, transcript.entries)
        self.steps = [
            GroundAction(header.name, row)
            for header in domain.model.headers
            for row in domains.all_bindings(header, self.start.objects)
        ]

    def ask(self, plan: tuple[GroundAction, ...]) -> Asked:
        query = Query(Situation(self.start, self.start), plan)
        return Asked(query, self.agent.ask(query))

    def move(self, plan: tuple[GroundAction, ...]) -> Ask:
        return Ask(self.evidence.situation(Situation(self.start, self.start)), plan, "examine", examines=True)


@st.composite
def examined(draw: st.DrawFn) -> Examined:
    return Examined(draw(domains.domains(max_problems=1)), draw(st.sampled_from([0, 2, 300])))


@thorough(60)
@given(examined())
def test_what_is_expected_is_what_the_agent_does(known: Examined) -> None:
    """However little is known: whatever is predicted of a step is right."""
    for step in known.steps:
        fate = expected(known.evidence, known.start, step)
        assert fate in (None, known.ask((step,)).response.executed == 1)


@thorough(60)
@given(examined(), st.data())
def test_an_answer_of_the_modelled_agent_is_no_surprise(known: Examined, data: st.DataObject) -> None:
    assume(known.steps)
    plan = tuple(data.draw(st.lists(st.sampled_from(known.steps), max_size=4)))
    entry = known.ask(plan)
    assert surprise(known.evidence, entry, known.move(plan)) is None


@thorough(60)
@given(examined(), st.data())
def test_an_answer_that_the_evidence_rules_out_is_told_with_its_step(
    known: Examined, data: st.DataObject
) -> None:
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
def test_a_situation_that_looks_otherwise_when_it_is_looked_at_again_is_a_surprise(
    known: Examined, data: st.DataObject
) -> None:
    atom = data.draw(
        st.sampled_from(domains.ground_atoms(known.model.vocabulary, known.start.objects) or [None])
    )
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
def test_states_differ_in_atoms_whose_values_are_known_in_both(
    domain: domains.Domain, data: st.DataObject
) -> None:
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
    known = Examined(_lamp(), 300)
    (step,) = known.steps
    assert progress(known.evidence) == Exam(0)
    for number in range(1, 4):
        known.evidence.take_in(known.ask((step, step)), known.move((step, step)))
        assert progress(known.evidence) == Exam(2 * number), "the refused step counts, too"
    known.evidence.take_in(known.ask((step,)), replace(known.move((step,)), examines=False))
    assert progress(known.evidence) == Exam(0)


def _lamp() -> domains.Domain:
    """A lamp that can be switched on."""
    lit = frozenset({LiftedAtom("lit", (0,))})
    switch = ActionSchema(ActionHeader("switch", ("x",), ("lamp",)), frozenset(), lit, lit, frozenset())
    model = Model(Vocabulary("lamp", (Predicate("lit", ("lamp",)),)), (switch,))
    return domains.Domain(model, (State(frozenset(), Objects({"one": "lamp"}, Types())),))


@pytest.mark.parametrize(
    ("exam", "text"),
    [
        (Exam(), "not examined"),
        (Exam(1, 1), "0 of 1 step came out as predicted"),
        (Exam(40, 2), "38 of 40 steps came out as predicted"),
        (
            Exam(ENOUGH),
            "59 of 59 steps came out as predicted: with 95% confidence at most 5% of such steps would not, "
            "if they fail independently",
        ),
    ],
)
def test_an_examination_is_told_in_a_sentence(exam: Exam, text: str) -> None:
    assert str(exam) == text

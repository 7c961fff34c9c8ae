"""Traces in files: what was written is read, and what cannot be one is refused with its line."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.pddl import read_domain
from aam_vision.model.pddl.traces import read_trace
from aam_vision.model.strips import GroundAction
from tests import domains
from tests.refusals import told_by
from tests.traces import LAMP, STARTS, trace, trace_of

ON = "(:state (robot a) (on a))"


@given(domains.domains(constants=True), st.data())
def test_what_a_trace_tells_is_read(domain: domains.Domain, data: st.DataObject) -> None:
    model, start = domain.model, domain.problems[0]
    steps = [
        GroundAction(header.name, row)
        for header in model.headers
        for row in domains.all_bindings(header, start.objects, repeated=True)
    ]
    attempted = data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=6)) if steps else []
    with TemporaryDirectory() as folder:
        file = Path(folder, "trace")
        file.write_text(trace_of(model, start, attempted))
        if not attempted:
            assert "holds no step" in told_by(lambda: read_trace(model, file))
            return
        read = read_trace(model, file)
    assert [step.action for step in read.steps] == attempted
    assert read.initial.true == start.true
    state = start
    for step in read.steps:
        executed, state = model.run(state, [step.action])
        assert (step.after is not None) is bool(executed)
        assert step.after is None or step.after.true == state.true
    for name, kind in read.initial.objects.items():  # as far as it is told
        assert model.vocabulary.types.is_a(start.objects[name], kind)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "found nothing: the file is empty"),
        ("(define (domain lamp))", ":1: expected '(:trajectory', found '(define'"),
        (trace(STARTS), ":1: holds no step"),
        (trace(), ":1: holds no step"),
        (trace("(:action (switch a))", STARTS), ":2: the state before it is missing"),
        (trace(STARTS, ON), ":3: the step between it and the state before is missing"),
        (
            trace(STARTS, "(:action (switch a))", "(:action (switch a))", ON),
            ":4: the state before it is missing",
        ),
        (trace(STARTS, "(:action (switch a))"), ":3: the state after switch(a) is missing"),
        (
            trace(STARTS, "(:refused (switch a))", STARTS),
            ":4: the step between it and the state before is missing",
        ),
        (
            trace(STARTS, "(:goal (on a))"),
            ":3: expected '(:state', '(:action' or '(:refused', found '(:goal'",
        ),
        (trace(STARTS, "(:action switch a)"), ":3: expected one '(NAME OBJECT...)' after :action"),
        (
            trace(STARTS, "(:action (swich a))", ON),
            ":3: the domain has no action 'swich'; did you mean 'switch'?",
        ),
        (trace(STARTS, "(:action (switch a b))", ON), ":3: 'switch' takes 1 argument, found 2"),
        (trace(STARTS, "(:action (switch a))", "(:state (lit a))"), ":4: the domain has no predicate 'lit'"),
        (trace("(:state (robot ?a))"), ":2: expected an object, found '?a'"),
        (trace("(:state (robot not))"), ":2: 'not' is a word of PDDL itself"),
        (trace("(:state (robot (a)))"), ":2: expected an object, found"),
        (trace("(:state robot)"), ":2: expected '(PREDICATE OBJECT...)', found 'robot'"),
        (trace("(:state (not (robot a)))"), ":2: a state lists all that is true"),
        (trace(STARTS, "(:action (switch a)"), "expected ')'"),
    ],
)
def test_what_is_no_trace_is_refused(text: str, told: str, tmp_path: Path) -> None:
    domain, file = tmp_path / "d.pddl", tmp_path / "trace"
    domain.write_text(LAMP)
    file.write_text(text)
    said = told_by(lambda: read_trace(read_domain(domain), file))
    assert said.startswith(f"{file}:")
    assert told in said


def test_an_object_of_two_types_is_refused(tmp_path: Path) -> None:
    domain, file = tmp_path / "d.pddl", tmp_path / "trace"
    domain.write_text(
        "(define (domain d) (:types car van - thing place) (:constants depot - place)"
        "(:predicates (at ?t - thing ?p - place) (empty ?c - car)) (:action load :parameters (?v - van)))"
    )
    for sections, told in (
        (
            ["(:state (at x depot))", "(:action (load x))", "(:state (empty x))"],
            ":4: 'x' is of type 'car' here, and of type 'van' in line 3",
        ),
        (
            ["(:state (empty depot))", "(:refused (load x))"],
            ":2: 'depot' is of type 'car' here, and of type 'place' in the domain",
        ),
    ):
        file.write_text(trace(*sections))
        assert told in told_by(lambda: read_trace(read_domain(domain), file))

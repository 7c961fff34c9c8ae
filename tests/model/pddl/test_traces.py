"""Traces in files: what was written is read, and what cannot be one is refused with its line."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.pddl import read_domain
from aam_vision.model.pddl.traces import read_trace
from tests import domains
from tests.refusals import told_by
from tests.traces import LAMP, STARTS, trace, trace_of

from .files import written

ON = "(:state (robot a) (on a))"


@given(domains.domains(constants=True), st.data())
def test_what_a_trace_tells_is_read(domain: domains.Domain, data: st.DataObject) -> None:
    model, start = domain.model, domain.problems[0]
    steps = domains.instances(model.headers, start.objects, 1000, repeated=True)
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


GO = "(:action (switch a))"
TYPED = """(define (domain d) (:types car van - thing place) (:constants depot - place)
(:predicates (at ?t - thing ?p - place) (empty ?c - car)) (:action load :parameters (?v - van)))"""


@pytest.mark.parametrize(
    ("domain", "text", "told"),
    [
        (LAMP, "", ":1: expected '(:trajectory', found nothing: the file is empty"),
        (LAMP, "(define (domain lamp))", ":1: expected '(:trajectory', found '(define'"),
        (LAMP, trace(STARTS), ":1: holds no step"),
        (LAMP, trace(GO, STARTS), ":2: the state before it is missing"),
        (LAMP, trace(STARTS, ON), ":3: the step between it and the state before is missing"),
        (LAMP, trace(STARTS, GO, GO, ON), ":4: the state before it is missing"),
        (LAMP, trace(STARTS, GO), ":3: the state after switch(a) is missing"),
        (LAMP, trace(STARTS, "(:goal (on a))"), ":3: expected '(:state', '(:action' or '(:refused', found"),
        (LAMP, trace(STARTS, "(:action switch a)"), ":3: expected one '(NAME OBJECT...)' after :action"),
        (LAMP, trace(STARTS, "(:action (swich a))", ON), "no action 'swich'; did you mean 'switch'?"),
        (LAMP, trace(STARTS, "(:action (switch a b))", ON), ":3: 'switch' takes 1 argument, found 2"),
        (LAMP, trace(STARTS, GO, "(:state (lit a))"), ":4: the domain has no predicate 'lit'"),
        (LAMP, trace("(:state (robot ?a))"), ":2: expected an object, found '?a'"),
        (LAMP, trace("(:state (robot not))"), ":2: 'not' is a word of PDDL itself"),
        (LAMP, trace("(:state robot)"), ":2: expected '(PREDICATE OBJECT...)', found 'robot'"),
        (LAMP, trace("(:state (not (robot a)))"), ":2: a state lists all that is true"),
        (
            TYPED,
            trace("(:state (at x depot))", "(:action (load x))", "(:state (empty x))"),
            ":4: 'x' is of type 'car' here, and of type 'van' in line 3",
        ),
        (
            TYPED,
            trace("(:state (empty depot))", "(:refused (load x))"),
            ":2: 'depot' is of type 'car' here, and of type 'place' in the domain",
        ),
    ],
)
def test_what_is_no_trace_is_refused(domain: str, text: str, told: str, tmp_path: Path) -> None:
    model, file = read_domain(written(tmp_path, domain)), written(tmp_path, text, "trace")
    said = told_by(lambda: read_trace(model, file))
    assert said.startswith(f"{file}:")
    assert told in said

"""Learning from traces: what is certain is true, the truth stays possible, and what no STRIPS agent does is diagnosed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aam_vision
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.traced import TracedAgent, read_traces
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Query
from aam_vision.model.strips import GroundAction, LiftedAtom, Location, Mode, PalTuple
from aam_vision.support.errors import AgentFailed
from tests import domains
from tests.interrogation.runs import read_mode, true_mode
from tests.refusals import told_by
from tests.traces import LAMP, STARTS, trace, trace_of


def learned(folder: Path, domain: str, *texts: str, raises: bool = True) -> Result:
    (folder / "d.pddl").write_text(domain)
    files = [folder / f"{number}_traj" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return aam_vision.learn_from_traces(files, domain=folder / "d.pddl", raises=raises)


@given(domains.domains(constants=True), st.data())
def test_nothing_certain_is_wrong_and_the_truth_stays_possible(
    domain: domains.Domain, data: st.DataObject
) -> None:
    texts, attempted = [], 0
    for start in domain.problems:
        if possible := domains.instances(domain.model.headers, start.objects, 1000, repeated=True):
            steps = data.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=12))
            texts.append(trace_of(domain.model, start, steps))
            attempted += len(steps)
    if not texts:
        return
    with TemporaryDirectory() as folder:
        result = learned(Path(folder), domain_text(domain.model), *texts)
    for pal, mode in result.certain.items():
        assert mode is read_mode(domain.model, pal), pal
    for pal in result.hypotheses.pal_tuples():
        assert {true_mode(domain.model, pal), read_mode(domain.model, pal)} & {
            *result.hypotheses.modes(pal)
        }, pal
    for name, action in result.hypotheses.actions.items():
        schema = domain.model.schema(name)
        truth = action.index.literals(schema.positive, schema.negative)
        assert all(clause.common(truth) for clause in action.clauses)
    assert (result.status, result.complete, result.exam.steps) == ("open", False, 0)
    assert result.counts.steps == attempted


SWITCHED = ("(:action (switch a))", "(:state (robot a) (on a))")
SWITCHED_B = ("(:action (switch b))", "(:state (robot b) (on b))")
DARK = trace(
    "(:state (robot a) (dusty a))",
    "(:action (switch a)) (:state (robot a) (dusty a)) (:action (go a b)) (:state (robot b) (dusty a))",
    "(:action (switch b)) (:state (robot b) (dusty a) (on b))",
)


@pytest.mark.parametrize(
    ("texts", "outcomes", "literal"),
    [
        # the same step of the same state: executed in one trace, and refused in the other
        ((trace(STARTS, *SWITCHED), trace(STARTS, "(:refused (switch a))")), ["+on(a)", "refused"], None),
        # the same step of the same state, with different outcomes
        (
            (trace(STARTS, *SWITCHED), trace(STARTS, "(:action (switch a))", STARTS)),
            ["+on(a)", "executed, and nothing changed"],
            None,
        ),
        # what it does depends on the dust
        ((DARK,), ["executed, and nothing changed", "+on(b)"], "not dusty(?r)"),
    ],
)
def test_what_no_strips_agent_does_is_diagnosed(
    texts: tuple[str, ...], outcomes: list[str], literal: str | None, tmp_path: Path
) -> None:
    result = learned(tmp_path, LAMP, *texts, raises=False)
    assert (result.status, result.certain) == ("not-strips", {})
    assert result.diagnosis is not None
    assert result.diagnosis.culprit == "switch"
    assert [one.outcome for one in result.diagnosis.examples] == outcomes
    assert result.diagnosis.literal == literal
    with pytest.raises(Interrupted, match="switch"):
        learned(tmp_path, LAMP, *texts)


def test_a_refusal_proves_what_successes_leave_open(tmp_path: Path) -> None:
    """That the robot is in the room: all else is as where the switch was used, twice, as one success proves nothing."""
    robot = PalTuple(LiftedAtom("robot", (0,)), "switch", Location.PRE)
    done = trace(
        STARTS, *SWITCHED, "(:action (go a b))", "(:state (robot b) (on a))", "(:refused (switch a))"
    )
    refused = trace("(:state (robot b))", "(:refused (switch a))", "(:refused (switch a))", *SWITCHED_B)
    assert robot not in learned(tmp_path, LAMP, done).certain
    result = learned(tmp_path, LAMP, done, refused)
    assert result.certain[robot] is Mode.POSITIVE
    assert (result.counts.queries, result.counts.failed_steps, result.counts.walk_steps) == (2, 3, 3)
    assert verify(result.transcript, result).holds


def test_where_all_is_decided_nothing_is_complete_since_nothing_was_examined(tmp_path: Path) -> None:
    domain = "(define (domain d) (:predicates (on)) (:action flip) (:action reset))"
    flips, resets = "(:action (flip)) (:state (on))", "(:action (reset)) (:state)"
    result = learned(tmp_path, domain, trace("(:state)", flips, flips, resets, resets))
    assert not result.hypotheses.undecided()
    assert (result.status, result.undetermined) == ("open", [])
    assert "nothing was examined" in (result.missing or "")


def test_a_step_that_is_missing_is_refused_with_its_line(tmp_path: Path) -> None:
    gap = trace(STARTS, *SWITCHED, "(:action (switch a))", "(:state (robot b) (on a))")
    told = told_by(lambda: learned(tmp_path, LAMP, gap))
    assert told.startswith(f"{tmp_path / '0_traj'}:6: robot(b) has changed, which switch(a) does not name")
    assert "there are none" in told_by(lambda: learned(tmp_path, LAMP))
    again = told_by(lambda: learned(tmp_path, LAMP, gap, gap))
    assert "a step is missing before this state" in again, "no constant: the change does not come each time"


def test_nothing_else_can_be_asked(tmp_path: Path) -> None:
    learned(tmp_path, LAMP, trace(STARTS, *SWITCHED))
    agent = TracedAgent(read_traces(tmp_path / "d.pddl", [tmp_path / "0_traj"]))
    (start,) = agent.initial()
    for ask in (
        lambda: agent.ask(Query(start, (GroundAction("switch", ("a",)),))),
        lambda: agent.walk(start, 1, np.random.default_rng(0)),
    ):
        with pytest.raises(AgentFailed, match="nothing can be asked"):
            ask()

"""A transcript is enough to check a result, and one answer that is not the agent's own is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.policies.aia import AiaPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.verification import verify
from aam_vision.model.query import Access, Response, Situation
from aam_vision.model.strips import Model, State
from aam_vision.planning.planner import Limits
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, run
from tests.profiles import promised, thorough
from tests.report.evaluation.models import one_mode_changed

POLICIES = ("economical", "settable", "aia")


def _interrogated(domain: Domain, policy: str) -> Result:
    if policy == "economical":
        return run(domain)
    aia = AiaPolicy(limits=Limits(states=300), states=20, walk_steps=50)
    agent = SymbolicAgent(domain.model, domain.problems, Access.SETTABLE)
    own = aia if policy == "aia" else SettablePolicy()
    return interrogate(agent, own, np.random.default_rng(0), budget=AMPLE)


@thorough(30)
@given(domains.domains(), domains.domains(constants=True))
def test_what_an_interrogation_concludes_follows_from_its_transcript(plain: Domain, domain: Domain) -> None:
    for policy in POLICIES:
        result = _interrogated(plain if policy == "economical" else domain, policy)
        verification = verify(result.transcript, result)
        assert (verification.faults, verification.holds) == ((), True)
        assert verification.confirmed == result.hypotheses.decided()
        assert verification.confirmed + verification.undetermined == result.hypotheses.size
        entries = result.transcript.entries
        walked = sum(len(entry.steps) for entry in entries if isinstance(entry, Walked))
        asked = sum(isinstance(entry, Asked) for entry in entries)
        assert (asked, walked) == (result.counts.queries, result.counts.walk_steps)
        # cut short, no interrogation of a domain with something to learn has shown all
        if any(action.successes and action.index.atoms for action in result.hypotheses.actions.values()):
            faults = verify(result.transcript.of([]), replace(result, proven=True)).faults
            assert any("not shown to be complete" in fault for fault in faults)


def _state(draw: st.DrawFn, model: Model, state: State) -> State:
    """Another state of the same problem: one atom is flipped."""
    facts = domains.ground_atoms(model.vocabulary, state.objects)
    assume(facts)
    fact = draw(st.sampled_from(facts))
    return State(state.true ^ {fact}, state.objects)


def _tampered(draw: st.DrawFn, transcript: Transcript, model: Model) -> Transcript:
    """The transcript with one answer changed: executed or not, or one atom of what was shown in the end."""
    entries = list(transcript.entries)
    number = draw(st.integers(0, len(entries) - 1))
    entry = entries[number]
    if isinstance(entry, Walked):
        assume(entry.steps)
        place = draw(st.integers(0, len(entry.steps) - 1))
        after = _state(draw, model, entry.steps[place].after.state)
        steps = list(entry.steps)
        steps[place] = steps[place]._replace(after=Situation(after, after))
        entries[number] = Walked(tuple(steps))
        return transcript.of(entries)
    executed, final = entry.response.executed, entry.response.final.state
    if executed and draw(st.booleans()):
        final = _state(draw, model, final)
    elif executed == len(entry.query.plan):
        executed -= 1
        _, final = model.run(entry.query.initial.state, entry.query.plan[:executed])
    else:
        step = entry.query.plan[executed]
        executed, final = executed + 1, model.schema(step.name).successor(final, step.objects)
    entries[number] = replace(entry, response=Response(executed, Situation(final, final)))
    return transcript.of(entries)


@promised(100)
@given(domains.domains(), st.sampled_from(POLICIES), st.data())
def test_one_false_answer_is_noticed(domain: Domain, policy: str, data: st.DataObject) -> None:
    result = _interrogated(domain, policy)
    assume(any(isinstance(entry, Asked) or entry.steps for entry in result.transcript.entries))
    other = _tampered(data.draw, result.transcript, domain.model)
    assert not verify(other, result).holds


@thorough(60)
@given(domains.domains(), st.data())
def test_one_false_palm_tuple_is_noticed(domain: Domain, data: st.DataObject) -> None:
    result = run(domain)
    pals = [*result.hypotheses.pal_tuples()]
    assume(pals)
    wrong = one_mode_changed(data, result.model, pals)
    (changed,) = (one.header.name for one in wrong.actions if one not in result.model.actions)
    verification = verify(result.transcript, replace(result, model=wrong))
    assert any(changed in fault for fault in verification.faults)


def test_a_query_from_nowhere_is_noticed_where_states_cannot_be_set() -> None:
    result = _interrogated(Domain(*domains.packaged("gripper")), "settable")
    snapshot = replace(result.transcript, access=Access.SNAPSHOT)
    assert any("not seen before" in fault for fault in verify(snapshot, result).faults)

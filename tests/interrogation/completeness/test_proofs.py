"""A proof names answers that are enough: whoever knows of them alone comes to the same conclusion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness.proofs import Proof, Proofs
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access, Query, Response
from aam_vision.model.strips import Location, Mode, PalTuple
from aam_vision.planning.planner import Limits
from tests import domains
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import AMPLE
from tests.profiles import promised


@cache
def _gripper() -> Result:
    return _settable(Domain(*domains.packaged("gripper", 2)))


def _settable(domain: Domain) -> Result:
    agent = SymbolicAgent(domain.model, domain.problems, Access.SETTABLE)
    return interrogate(agent, SettablePolicy(), np.random.default_rng(0), budget=AMPLE)


def _modes_from(transcript: Transcript, entries: tuple[int, ...], pal: PalTuple) -> set[Mode]:
    """What the entries alone leave of a pal tuple, effects that restate a precondition read as absent."""
    evidence = evidence_of(transcript)
    for number in entries:
        evidence.take_in(transcript.entries[number])
    action, bit = evidence.hypotheses[pal.action], evidence.hypotheses[pal.action].index.bit[pal.atom]
    modes = set(evidence.hypotheses.modes(pal))
    if pal.location is Location.EFF and not action.undecided_effects & bit and len(modes) > 1:
        return {Mode.ABSENT}
    return modes


def _check(result: Result) -> list[Proof]:
    proofs = Proofs(result.transcript)
    found = [proofs.proof(pal) for pal in result.hypotheses.pal_tuples()]
    for proof in found:
        if proof.seen:
            assert _modes_from(proofs.transcript, proof.entries, proof.pal) <= set(proof.modes), proof.pal
        if proof.decided:
            schema = result.model.schema(proof.pal.action)
            assert schema.mode(proof.pal.atom, proof.pal.location) is proof.modes[0]
    assert sum(proof.decided for proof in found) == result.hypotheses.decided()
    assert (proofs.decided or [0])[-1] == result.hypotheses.decided(), proofs.decided
    assert proofs.decided == sorted(proofs.decided), "the number of decided pal tuples never falls"
    assert proofs.contradiction is None
    return found


@promised(40)
@given(domains.domains(), domains.domains(constants=True), st.sampled_from([0.0, 0.1, 0.3]))
def test_the_answers_that_a_proof_names_are_enough(plain: Domain, domain: Domain, hidden: float) -> None:
    _check(_settable(domain))
    policy = EconomicalPolicy(limits=Limits(states=1000))
    agent = HidingAgent(plain, Access.SNAPSHOT, hidden)
    for proof in _check(interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)):
        for one in proof.exclusions:
            assert one.seen is False or one.step.action.name == proof.pal.action
            assert one.claims


@pytest.mark.parametrize("name", ["gripper", "blocksworld", "termes"])
def test_every_precondition_of_a_packaged_domain_is_proven_by_a_refusal(name: str) -> None:
    for proof in _check(_settable(Domain(*domains.packaged(name, 2)))):
        if proof.pal.location is Location.PRE and proof.modes == (Mode.POSITIVE,):
            assert proof.refusal is not None
            assert proof.reasons == ((proof.pal.atom, Mode.POSITIVE),)
            assert len(proof.innocent) <= 10


def test_answers_from_the_first_contradiction_on_are_left_out_and_named() -> None:
    transcript = _gripper().transcript
    step = next(entry for entry in transcript.entries if not isinstance(entry, Asked)).steps[0]
    denied = Asked(Query(step.before, (step.action,)), Response(0, step.before))
    proofs = Proofs(transcript.of([*transcript.entries, denied]))
    assert step.action.name in (proofs.contradiction or "")
    assert len(proofs.transcript.entries) == len(transcript.in_single_steps().entries)


def test_of_refusals_that_say_the_same_the_first_is_named() -> None:
    result = _gripper()
    entries = result.transcript.entries
    refused = [one for one in entries if isinstance(one, Asked) and len(one.executed) < len(one.actions)]
    assert refused
    once, again = Proofs(result.transcript), Proofs(result.transcript.of([*entries, *refused]))
    for pal in result.hypotheses.pal_tuples():
        assert again.proof(pal).refusal == once.proof(pal).refusal

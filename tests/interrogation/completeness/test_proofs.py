"""A proof names answers that are enough: whoever knows of them alone comes to the same conclusion."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness.proofs import AtomMode, Exclusion, Proof, Proofs
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.policies.economical import EconomicalPolicy
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import Location, Mode, PalTuple
from aam_vision.planning.planner import Limits
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.hiding import HidingAgent
from tests.interrogation.runs import AMPLE
from tests.profiles import promised


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
        if proof.decided and len(result.hypotheses.modes(proof.pal)) > 1:
            (premise,) = proof.premises  # an effect that restates a proven precondition
            assert (premise.pal.location, premise.decided) == (Location.PRE, True)
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


def test_answers_from_the_first_contradiction_on_are_left_out_and_named() -> None:
    transcript = _settable(Domain(*domains.packaged("gripper", 2))).transcript
    step = next(entry for entry in transcript.entries if not isinstance(entry, Asked)).steps[0]
    denied = Asked(Query(step.before, (step.action,)), Response(0, step.before))
    proofs = Proofs(transcript.of([*transcript.entries, denied]))
    assert re.match(rf"query \d+ .*: {step.action.name} was refused", proofs.contradiction or "")
    assert len(proofs.transcript.entries) == len(transcript.in_single_steps().entries)


# A few answers, and what proofs name of them.

MODEL = small.model("do", "look", predicates="l/0 w/0 u/0")
SIGNS = {Mode.POSITIVE: "+", Mode.NEGATIVE: "-", Mode.ABSENT: "0"}


def _entry(text: str) -> Asked:
    """Such as ``l>>~|wu?l``: from where l is true it does twice, looks, and is refused to do where w and u are true, and l is hidden."""
    begun, steps, ended = re.split("([>~|]+)", text)
    before, after = (
        Situation(one, small.state("", *(", ".join(part) for part in one.split("?"))))
        for one in (begun, ended)
    )
    plan = tuple(small.step("look" if step == "~" else "do") for step in steps)
    return Asked(Query(before, plan), Response(len(steps.rstrip("|")), after))


def _proof(entries: str, atom: str) -> Proof:
    """That of a precondition of do, or with + that of an effect."""
    some = tuple(map(_entry, entries.split()))
    transcript = Transcript(MODEL.vocabulary, MODEL.headers, Access.SNAPSHOT, (some[0].query.initial,), some)
    location = Location.EFF if atom.startswith("+") else Location.PRE
    return Proofs(transcript).proof(PalTuple(small.lifted(atom[-1]), "do", location))


def _claims(claims: tuple[AtomMode, ...]) -> str:
    return " ".join(f"{SIGNS[mode]}{atom.predicate}" for atom, mode in claims)


def _exclusions(some: tuple[Exclusion, ...]) -> str:
    """Such as ``3.1 +p``: the second step of entry 3 rules out that p is required."""
    told = ((f"{one.step.entry}.{one.step.position} {_claims(one.claims)}", one.seen) for one in some)
    return ", ".join(text + " inferred" * (not seen) for text, seen in told)


@pytest.mark.parametrize(
    ("entries", "atom", "modes", "told", "named"),
    [
        (">l l>l lu>lu", "l", "0", "0.0 +l, 1.0 -l", (0, 1)),
        (">l", "l", "-0", "0.0 +l", (0,)),
        (">l l>l w>l", "+w", "-", "2.0 +w 0w", (2,)),
        (">l w>l", "+l", "+", "0.0 -l 0l", (0,)),
        # nobody saw in what state it did for the second time
        (">l >>~l", "l", "0", "0.0 +l, 1.1 -l inferred", (0, 1)),
        # looking, which changes nothing, shows what had been hidden
        ("w~w ~ >l?w l?w~lw", "+w", "+", "3.0 -w 0w inferred", (3,)),
    ],
)
def test_a_proof_names_the_first_of_the_fewest_successes_that_rule_out_the_other_modes(
    entries: str, atom: str, modes: str, told: str, named: tuple[int, ...]
) -> None:
    proof = _proof(entries, atom)
    assert "".join(SIGNS[mode] for mode in proof.modes) == modes
    assert _exclusions(proof.exclusions) == told
    assert proof.entries == named
    assert proof.seen is not told.endswith("inferred")
    assert proof.decided is (len(modes) == 1)
    assert proof.refusal is None


@pytest.mark.parametrize(
    ("entries", "atom", "reasons", "refusal", "violated", "innocent", "inferred"),
    [
        ("lw>lw l>l | |", "l", "+l", 2, 3, "1.0 +w +u", ""),  # one success says what two would
        (">w l|l", "l", "-l", 1, 3, "0.0 +w +u", ""),
        ("wu>wu lu|lu", "w", "+w -l", 1, 3, "0.0 -u", ""),  # one of the two is required
        ("wu>wu lu|lu", "l", "+w -l", 1, 3, "0.0 -u", ""),
        ("l>l ?u|?u |", "l", "+l", 2, 3, "0.0 +w +u", ""),  # of the second refusal all was seen
        ("l>l lw>lw lu>lu wu|wu w|w |", "l", "+l", 4, 3, "1.0 +u -w", ""),  # the first takes two successes
        ("u~u ~ lu>lu ?u~u ?u|?u", "l", "+l", 4, 4, "2.0 +w -u", "u"),  # looking shows that u was true
    ],
)
def test_the_proof_of_what_is_required_names_the_refusal_that_is_explained_most_easily(
    entries: str, atom: str, reasons: str, refusal: int, violated: int, innocent: str, inferred: str
) -> None:
    proof = _proof(entries, atom)
    assert proof.refusal is not None
    assert _claims(proof.reasons) == reasons
    assert (proof.refusal.entry, proof.violated) == (refusal, violated)
    assert _exclusions(proof.innocent) == innocent
    assert (proof.seen, proof.inferred) == (not inferred, tuple(map(small.lifted, inferred)))

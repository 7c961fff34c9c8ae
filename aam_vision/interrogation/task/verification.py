"""Checking a result against its transcript, without the policy that asked the questions.

What the agent showed is taken in afresh. Every palm tuple of the model must be what follows, everything that
does not follow must be listed as undetermined, and the model must answer every question as the agent did.
A claim that nothing more can be learned needs the proofs of ``completeness.indistinguishability``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from aam_vision.interrogation.completeness.indistinguishability import indistinguishability_of
from aam_vision.interrogation.evidence.anomalies import disagreement
from aam_vision.interrogation.evidence.graph import Edge, Evidence, Refusal, unconfirmed
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript, evidence_of
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.queries.undetermined_steps import constructed_step, reachable_step
from aam_vision.interrogation.statistics.assessment import assess
from aam_vision.interrogation.task.result import Result
from aam_vision.interrogation.task.undetermined import undetermined
from aam_vision.model.query import MadeAnew
from aam_vision.model.strips import Atom, Model
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import counted


@dataclass(frozen=True)
class Verification:
    """The outcome of a check."""

    faults: tuple[str, ...]
    """Claims that the transcript does not support, one line each; empty if the result is confirmed."""
    confirmed: int
    """Pal tuples with a single possible mode, which is the model's."""
    undetermined: int
    """Pal tuples with several possible modes."""

    @property
    def holds(self) -> bool:
        return not self.faults


def verify(transcript: Transcript, result: Result) -> Verification:
    """Check a result's model, its undetermined pal tuples and its claim to be complete.

    Where answers were weighed, they are weighed once more.
    """
    if result.assessment is not None:
        return _weighed(transcript, result)
    evidence = evidence_of(transcript)
    sources: list[tuple[str, Edge | Refusal]] = []
    for name, entry in zip(transcript.names(), transcript.entries, strict=True):
        edges, refusals = len(evidence.edges), len(evidence.refusals)
        try:
            evidence.take_in(entry)
        except InconsistentAgent as error:
            return Verification((f"{error}: {disagreement(transcript)}",), 0, evidence.hypotheses.size)
        sources += [(name, edge) for edge in evidence.edges[edges:]]
        sources += [(name, refusal) for refusal in evidence.refusals[refusals:]]
    model, hypotheses = result.model, evidence.hypotheses
    faults = [*_started_unseen(transcript), *_wrong_modes(evidence, model)]
    for name, source in sources:
        fault = _refused(model, source) if isinstance(source, Refusal) else _executed(evidence, model, source)
        faults += [f"{name}: {fault}"] if fault else []
    if undetermined(hypotheses) != undetermined(result.hypotheses):
        faults.append("the undetermined pal tuples are not those that the answers leave open")
    if result.unconfirmed and result.unconfirmed != unconfirmed(evidence):
        faults.append("the unconfirmed conclusions are not those that rest on too few refusals")
    if result.proven and (left := _open_questions(transcript, evidence)):
        faults.append(f"not shown to be complete: {counted(left, 'question')} may still be settled")
    confirmed = hypotheses.decided()
    return Verification(tuple(faults), confirmed, hypotheses.size - confirmed)


def _weighed(transcript: Transcript, result: Result) -> Verification:
    """The same for a result from unreliable answers."""
    blank = partial(Hypotheses, transcript.vocabulary, transcript.headers, repeated=transcript.repeated)
    assessed = assess(transcript)
    hypotheses = assessed.hypotheses(result.confidence, blank())
    if undetermined(hypotheses) != undetermined(
        result.hypotheses
    ):  # no trial was left that could settle more
        hypotheses = assessed.sceptical(result.confidence).hypotheses(result.confidence, blank())
    faults = _started_unseen(transcript)
    if hypotheses.model() != result.model:
        faults.append("the model is not the one that the answers make most probable")
    if undetermined(hypotheses) != undetermined(result.hypotheses):
        faults.append("the undetermined pal tuples are not those that the answers leave in doubt")
    confirmed = hypotheses.decided()
    if result.proven and confirmed < hypotheses.size:
        faults.append(f"not complete: {counted(hypotheses.size - confirmed, 'pal tuple')} in doubt")
    return Verification(tuple(faults), confirmed, hypotheses.size - confirmed)


def _started_unseen(transcript: Transcript) -> list[str]:
    """Queries from situations that the agent had not shown before, where it does not allow that."""
    if transcript.access.constructs:
        return []
    seen = {situation.handle for situation in transcript.initial}
    faults = []
    for name, entry in zip(transcript.names(), transcript.entries, strict=True):
        if isinstance(entry, Asked):
            begun, shown = entry.query.initial.handle, [entry.response.final.handle]
            if not entry.query.plan and not transcript.access.restarts:
                seen.add(begun)  # a look at where the agent stands, whatever led there
        else:
            begun = entry.steps[0].before.handle if entry.steps else None
            shown = [step.after.handle for step in entry.steps]
        made = isinstance(begun, MadeAnew) and not begun.steps
        if begun is not None and begun not in seen and not made:
            faults.append(f"{name} starts from a situation that was not seen before")
        seen.update(shown)
    return faults


def _wrong_modes(evidence: Evidence, model: Model) -> list[str]:
    """Palm tuples of the model that do not follow: neither certain nor the cautious reading."""
    cautious = evidence.hypotheses.model()
    faults = []
    for pal in evidence.hypotheses.pal_tuples():
        claimed = model.schema(pal.action).mode(pal.atom, pal.location)
        follows = cautious.schema(pal.action).mode(pal.atom, pal.location)
        if claimed is not follows:
            header = model.schema(pal.action).header
            place = f"{pal.atom.text(header.parameters)} in {pal.location.value} of {pal.action}"
            faults.append(f"{place} is {claimed.value} in the model, but {follows.value} follows")
    return faults


def _executed(evidence: Evidence, model: Model, edge: Edge) -> str | None:
    """The model's error about an executed step, where enough was seen to tell."""
    schema, objects = model.schema(edge.action.name), edge.action.objects
    before, after = edge.before.state, edge.after.state
    if any(before.value(atom.ground(objects)) is False for atom in schema.positive) or any(
        before.value(atom.ground(objects)) for atom in schema.negative
    ):
        return f"the model refuses {edge.action}, which was executed"
    action = evidence.hypotheses[edge.action.name]
    said = schema.successor(before, objects)
    unclear = set[Atom]()
    if action.undecided_effects:  # a joint effect on one atom, of which a part is not determined
        grounded = dict(action.index.grounded(objects))
        unclear = {Atom(*grounded[bit]) for bit in bits(action.index.shared(objects))}
    wrong = (said.true - after.true - after.unknown) | (after.true - said.true - said.unknown)
    if wrong - unclear:
        return f"the model has another outcome of {edge.action}: {min(wrong - unclear)}"
    return None


def _refused(model: Model, refusal: Refusal) -> str | None:
    """The model's error about a refused step."""
    schema = model.schema(refusal.action.name)
    if schema.applicable(refusal.at.state, refusal.action.objects):
        return f"the model executes {refusal.action}, which was refused"
    return None


def _open_questions(transcript: Transcript, evidence: Evidence) -> int:
    """The number of undetermined pal tuples of which no proof says that no query could settle them."""
    hypotheses, settable = evidence.hypotheses, transcript.access.constructs
    left = hypotheses.undecided()
    if left and not settable:  # under settable access every state can be asked about
        left = indistinguishability_of(evidence).open_questions()
    if not left:
        return 0
    found = constructed_step(evidence) if settable else reachable_step(evidence, evidence.initial)
    return 0 if found.exhausted else left

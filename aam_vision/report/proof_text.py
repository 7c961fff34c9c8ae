"""The proof of a line in words, with the answers that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aam_vision import wording
from aam_vision.interrogation.completeness.proofs import AtomMode, Exclusion, Proof, Proofs
from aam_vision.interrogation.evidence.attempted_steps import AttemptedStep
from aam_vision.report import english
from aam_vision.report.events import Event, Events, value_words
from aam_vision.report.lines import Line
from aam_vision.strips import ActionHeader, Location, Mode, PalTuple

PRE, EFF = Location.PRE, Location.EFF


@dataclass(frozen=True)
class ProofStep:
    """A step of a proof: an event, and what follows from it."""

    text: str
    event: Event | None = None
    consequences: tuple[str, ...] = ()


class ProofText:
    """Writes proofs of lines.

    Args:
        proofs: of one run.
        events: the attempted steps of that run.
        line: gives the line of a pal tuple.
        ending: says why a pal tuple is undetermined, as a clause.
    """

    def __init__(
        self,
        proofs: Proofs,
        events: Events,
        line: Callable[[PalTuple], Line],
        ending: Callable[[PalTuple], str],
    ) -> None:
        self._proofs = proofs
        self._events = events
        self._line = line
        self._ending = ending

    def steps(self, line: Line) -> list[ProofStep]:
        """The proof of a line, or what is known about it, step by step."""
        proof = self._proofs.proof(line.pal)
        header = self._proofs.hypotheses[line.pal.action].index.header
        if line.status == "estimated":
            return [
                ProofStep(
                    "The answers, taken as they are, do not prove this: it was estimated from all of them together."
                )
            ]
        found: list[ProofStep] = []
        if proof.refusal is not None:
            found += self._refusal(proof, header)
        found += [self._exclusion(one, header, proof.pal.location) for one in proof.exclusions]
        for premise in proof.premises:
            name = premise.pal.atom.text(header.parameters)
            found.append(
                ProofStep(
                    f"The only effect that {header.name} may still have on {name} is the value that its precondition "
                    "requires already, which changes nothing. So this does not count as an effect. The proof of the "
                    "precondition:"
                )
            )
            found += self.steps(self._line(premise.pal))
        if len(proof.modes) > 1 and proof.refusal is None:
            found.append(ProofStep(self._open(line, proof)))
        return found

    def _refusal(self, proof: Proof, header: ActionHeader) -> list[ProofStep]:
        assert proof.refusal is not None
        event = self._event(proof.refusal)
        reasons = [_literal(claim, header) for claim in proof.reasons]
        found = [
            ProofStep(
                f"{event.name}: {event.step} could not be done. What did not hold there: {english.listed(reasons)}.",
                event,
            )
        ]
        others = proof.violated - len(proof.reasons)
        if proof.innocent:
            found.append(
                ProofStep(
                    f"{others} other {wording.plural('literal', others)} did not hold there either, or could not be seen. "
                    f"{'It is not' if others == 1 else 'None of them is'} required, because {header.name} was done where {'it' if others == 1 else 'they'} did not hold:"
                )
            )
        found += [self._exclusion(one, header, PRE) for one in proof.innocent]
        if proof.inferred:
            names = english.listed(atom.text(header.parameters) for atom in proof.inferred[:8])
            found.append(
                ProofStep(
                    f"The values of {names} could not be seen at the refusal. They follow from other answers, "
                    "and are not the reason."
                )
            )
        if len(reasons) > 1:
            found.append(
                ProofStep(
                    f"So at least one of {english.listed(reasons)} is required. No answer tells which: {self._ending(proof.pal)}."
                )
            )
        else:
            found.append(
                ProofStep(
                    f"So {reasons[0]} is required: nothing else in this vocabulary can have been the reason."
                )
            )
        return found

    def _exclusion(self, one: Exclusion, header: ActionHeader, location: Location) -> ProofStep:
        event = self._event(one.step)
        literals = dict.fromkeys(_literal(claim, header) for claim in one.claims)
        gathered = "No step shows it by itself; it follows from several answers together."
        if location is PRE:
            if not one.seen:
                text = (
                    f"{event.name}: with {event.step} it became clear that these are not required. {gathered}"
                )
            else:
                text = (
                    f"{event.name}: {event.step} was done where these did not hold, so they are not required."
                )
            return ProofStep(text, event, tuple(literals))
        atoms = dict.fromkeys(atom for atom, _ in one.claims)
        excluded = {atom: [mode for other, mode in one.claims if other == atom] for atom in atoms}
        if one.step.action.name != header.name:  # it showed what was hidden around a step of this action
            text = f"{event.name}: with {event.step} it became clear what {header.name} does. {gathered}"
            left = (f"{atom.text(header.parameters)} is {_left(excluded[atom])}" for atom in atoms)
            return ProofStep(text, event, tuple(left))
        words = tuple(
            f"{atom.text(header.parameters)}: {value_words(atom, one.step)}, so it is {_left(excluded[atom])}"
            for atom in atoms
        )
        hidden = (
            "" if one.seen else " (rests on values that were not seen here, but follow from other answers)"
        )
        return ProofStep(f"{event.name}: {event.step} {event.outcome}{hidden}.", event, words)

    def _open(self, line: Line, proof: Proof) -> str:
        name = line.pal.action
        done = self._proofs.hypotheses[name].successes
        modes = english.listed((_MAY[line.pal.location, mode] for mode in proof.modes), "or")
        if not done:
            return f"{name} was never done, so nothing is known: {line.text} may be {modes}."
        steps = f"{done} different {wording.plural('step', done)}"
        if line.pal.location is EFF:
            shown = f"no step of {name} has shown a difference ({steps})"
        else:
            seen = [word for mode, word in _SEEN_BEFORE.items() if mode in proof.modes]
            shown = f"it was never seen {' or '.join(seen)} before {name} was done ({steps})"
        atom = line.pal.atom.text(self._proofs.hypotheses[name].index.header.parameters)
        return f"Not determined: {atom} may be {modes}; {shown}. {_capital(self._ending(line.pal))}."

    def _event(self, step: AttemptedStep) -> Event:
        return self._events.event(step)


def _left(excluded: Sequence[Mode]) -> str:
    """The modes that an effect may still have when these are ruled out, in words."""
    left = [mode for mode in Mode if mode not in excluded]
    return english.listed((_MAY[EFF, mode] for mode in left), "or")


_MAY = {
    (PRE, Mode.POSITIVE): "required",
    (PRE, Mode.NEGATIVE): "required to be false",
    (PRE, Mode.ABSENT): "of no importance",
    (EFF, Mode.POSITIVE): "added",
    (EFF, Mode.NEGATIVE): "deleted",
    (EFF, Mode.ABSENT): "left alone",
}


_SEEN_BEFORE = {Mode.POSITIVE: "false", Mode.NEGATIVE: "true"}
"""The value of an atom before a success that would rule a mode out."""


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _literal(claim: AtomMode, header: ActionHeader) -> str:
    atom, mode = claim
    return ("not " if mode is Mode.NEGATIVE else "") + atom.text(header.parameters)

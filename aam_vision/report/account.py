"""What a run has shown, in words: every line of the model, how it is known, and what is left open and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from aam_vision.interrogation.completeness.proofs import Claim, Exclusion, Proof, Proofs
from aam_vision.interrogation.evidence.attempted_steps import AttemptedStep
from aam_vision.report import english
from aam_vision.report.differences import Difference, differences
from aam_vision.report.events import Event, Events, value_words
from aam_vision.report.recorded import Recorded, read_model
from aam_vision.report.weighing import Weighing
from aam_vision.strips import ActionHeader, Location, Mode, PalTuple

PRE, EFF = Location.PRE, Location.EFF


@dataclass(frozen=True)
class Passage:
    """A part of a proof: an event, and what follows from it."""

    text: str
    event: Event | None = None
    consequences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A pal tuple with its mode in the model: a line of the page."""

    pal: PalTuple
    mode: Mode
    text: str
    """As a literal, e.g. ``not clear(?to)``."""
    words: str
    """In plain English."""
    status: str
    """``proven``, ``one of several``, ``undetermined`` or ``estimated``; where answers are weighed, ``certain`` or
    ``doubtful``."""
    differs: Mode | None = None
    """The mode in the ground truth, if it is another one."""
    probability: float | None = None
    """Where answers are weighed."""

    @property
    def tag(self) -> str:
        """The status, and how probable it is where that is known."""
        if self.probability is None:
            return self.status
        return f"{self.status}, {'over 99.99%' if self.probability > 0.9999 else f'{self.probability:.2%}'}"

    @property
    def anchor(self) -> str:
        """A name that is unique on the page and safe anywhere."""
        arguments = "-".join(str(a) for a in self.pal.atom.arguments)
        return f"why-{self.pal.action}-{self.pal.location.value}-{self.pal.atom.predicate}-{arguments}"


@dataclass(frozen=True)
class ActionAccount:
    """What is known of one action."""

    header: ActionHeader
    sentence: str
    needs: tuple[Line, ...]
    changes: tuple[Line, ...]
    open: tuple[Line, ...]
    """Undetermined pal tuples that are not in the model."""
    settled: int
    """Pal tuples that were shown to play no part."""
    probabilities: tuple[Line, ...]
    """The same one by one, where answers are weighed."""
    successes: int
    refusals: int


class Account:
    """All of it, for one run.

    Raises:
        UnusableInput: the run's PDDL files are damaged, or of another run.
    """

    def __init__(self, run: Recorded) -> None:
        self.run = run
        self.proofs = Proofs(run.transcript)
        follows = self.proofs.hypotheses.model()
        self.model = read_model(run.folder, "model.pddl", follows) or follows
        self.truth = read_model(run.folder, "truth.pddl", self.model)
        self.transcript = self.proofs.transcript
        """The answers that count, walks in single steps."""
        self.steps = self.proofs.steps
        """The attempted steps in them."""
        self.events = Events(run, self.transcript)
        self.contradiction = self.proofs.contradiction
        """What of the answers is left out, and why."""
        self.weighing: Weighing | None = None
        """Where answers proved unreliable: what they weigh."""

    @property
    def complete(self) -> bool:
        """Whether it was proven that no further query could tell more."""
        return self.run.figures is not None and self.run.figures["status"] == "complete"

    @property
    def decided(self) -> tuple[int, int]:
        """How many pal tuples are known, and how many there are."""
        return self.proofs.hypotheses.decided(), self.proofs.hypotheses.size

    @cached_property
    def differences(self) -> list[Difference]:
        """Where the model is not the ground truth; empty if there is none."""
        return [] if self.truth is None else differences(self.model, self.truth)

    @cached_property
    def actions(self) -> list[ActionAccount]:
        """Every action, in the order of the headers."""
        return [self._action(header) for header in self.proofs.hypotheses.headers]

    def line(self, pal: PalTuple) -> Line:
        """A pal tuple with its mode in the model."""
        header = self.model.schema(pal.action).header
        mode = self.model.schema(pal.action).mode(pal.atom, pal.location)
        modes = self.proofs.proof(pal).modes if pal.location is EFF else self.proofs.hypotheses.modes(pal)
        status = "undetermined" if len(modes) > 1 else "proven" if modes == (mode,) else "estimated"
        if status == "undetermined" and mode not in modes:
            status = "estimated"
        action = self.proofs.hypotheses[pal.action]
        bit = action.index.bit[pal.atom]
        in_clause = any((clause.positive | clause.negative) & bit for clause in action.clauses)
        if status == "undetermined" and pal.location is PRE and in_clause:
            status = "one of several"
        true = None if self.truth is None else self.truth.schema(pal.action).mode(pal.atom, pal.location)
        said = mode if mode is not Mode.ABSENT else next((m for m in modes if m is not mode), Mode.POSITIVE)
        write = english.literal if pal.location is PRE else english.effect
        return Line(
            pal,
            mode,
            ("not " if said is Mode.NEGATIVE else "") + pal.atom.text(header.parameters),
            write(pal.atom, said, header.parameters),
            status,
            true if true is not mode else None,
        )

    def _action(self, header: ActionHeader) -> ActionAccount:
        name = header.name
        schema, atoms = self.model.schema(name), self.proofs.hypotheses[name].index.atoms
        pals = [PalTuple(atom, name, location) for location in Location for atom in atoms]
        used = [pal for pal in pals if schema.mode(pal.atom, pal.location) is not Mode.ABSENT]
        unused = [pal for pal in pals if schema.mode(pal.atom, pal.location) is Mode.ABSENT]
        left = [pal for pal in unused if self._is_open(pal)]
        lines = [self.line(pal) for pal in used]
        needs = tuple(line for line in lines if line.pal.location is PRE)
        changes = tuple(line for line in lines if line.pal.location is EFF)
        mine = [step for step in self.steps if step.action.name == name]
        settled = [] if self.weighing is None else [self.line(pal) for pal in unused if pal not in left]
        return ActionAccount(
            header,
            _sentence(header, needs, changes),
            needs,
            changes,
            tuple(self.line(pal) for pal in left),
            len(unused) - len(left),
            tuple(settled),
            sum(step.executed for step in mine),
            sum(not step.executed for step in mine),
        )

    def _is_open(self, pal: PalTuple) -> bool:
        """Whether a pal tuple that is not in the model may belong there."""
        action = self.proofs.hypotheses[pal.action]
        undecided = action.undecided
        open_pre = undecided.positive | undecided.negative
        return bool(
            action.index.bit[pal.atom] & (open_pre if pal.location is PRE else action.undecided_effects)
        )

    # --- proofs in words -----------------------------------------------------------------------------------------

    def why(self, line: Line) -> list[Passage]:
        """The proof of a line, or what is known of it, part by part."""
        proof = self.proofs.proof(line.pal)
        header = self.model.schema(line.pal.action).header
        if line.status == "estimated":
            return [
                Passage(
                    "The answers, taken as they are, do not prove this: it was estimated from all of them together."
                )
            ]
        found: list[Passage] = []
        if proof.refusal is not None:
            found += self._refusal(proof, header)
        found += [self._exclusion(one, header, proof.pal.location) for one in proof.exclusions]
        for premise in proof.premises:
            name = premise.pal.atom.text(header.parameters)
            found.append(
                Passage(
                    f"What {header.name} may still do to {name} is only what its precondition, {name}, says already: "
                    "that would change nothing. So this counts as no effect. The proof of the precondition:"
                )
            )
            found += self.why(self.line(premise.pal))
        if len(proof.modes) > 1 and proof.refusal is None:
            found.append(Passage(self._open(line, proof)))
        return found

    def _refusal(self, proof: Proof, header: ActionHeader) -> list[Passage]:
        assert proof.refusal is not None
        event = self._event(proof.refusal)
        reasons = [_literal(claim, header) for claim in proof.reasons]
        found = [
            Passage(
                f"{event.name}: {event.step} could not be done. What did not hold there: {english.listed(reasons)}.",
                event,
            )
        ]
        others = proof.violated - len(proof.reasons)
        if proof.innocent:
            found.append(
                Passage(
                    f"{others} other {_plural('literal', others)} did not hold there either, or could not be seen. "
                    f"None of them is required, because {header.name} was done where they did not hold:"
                )
            )
        found += [self._exclusion(one, header, PRE) for one in proof.innocent]
        if proof.inferred:
            names = english.listed(atom.text(header.parameters) for atom in proof.inferred[:8])
            found.append(
                Passage(
                    f"What is the case with {names} could not be seen at the refusal. It follows from other answers, "
                    "and is not the reason."
                )
            )
        if len(reasons) > 1:
            found.append(
                Passage(
                    f"So at least one of {english.listed(reasons)} is required. Which, no answer tells: {self._ending()}."
                )
            )
        else:
            found.append(Passage(f"So {reasons[0]} is required: nothing else can have been the reason."))
        return found

    def _exclusion(self, one: Exclusion, header: ActionHeader, location: Location) -> Passage:
        event = self._event(one.step)
        literals = dict.fromkeys(_literal(claim, header) for claim in one.claims)
        if location is PRE:
            if not one.seen:
                text = (
                    f"{event.name}: with {event.step} it became clear that these are not required. No step "
                    "shows it by itself; it follows from several answers together."
                )
            else:
                text = (
                    f"{event.name}: {event.step} was done where these did not hold, so they are not required."
                )
            return Passage(text, event, tuple(literals))
        atoms = dict.fromkeys(atom for atom, _ in one.claims)
        excluded = {atom: [mode for other, mode in one.claims if other == atom] for atom in atoms}
        words = tuple(
            f"{atom.text(header.parameters)}: {value_words(atom, one.step)}, so it is {_left(excluded[atom])}"
            for atom in atoms
        )
        hidden = (
            "" if one.seen else " (rests on values that were not seen here, but follow from other answers)"
        )
        return Passage(f"{event.name}: {event.step} {event.outcome}{hidden}.", event, words)

    def _open(self, line: Line, proof: Proof) -> str:
        name = line.pal.action
        done = self.proofs.hypotheses[name].successes
        modes = english.listed((_MAY[line.pal.location, mode] for mode in proof.modes), "or")
        if not done:
            return f"{name} was never done, so nothing is known: {line.text} may be {modes}."
        if line.pal.location is PRE:
            shown = f"it held whenever {name} was done ({done} different {_plural('step', done)})"
        else:
            shown = f"no step of {name} has shown a difference"
        return f"Not determined: {line.pal.atom.text(self.model.schema(name).header.parameters)} may be {modes}; {shown}. {self._ending().capitalize()}."

    def _ending(self) -> str:
        if self.complete:
            return "no question within what the agent allows can tell, as was proven"
        return "the interrogation ended before it was settled"

    def _event(self, step: AttemptedStep) -> Event:
        return self.events.event(step)


def _left(excluded: Sequence[Mode]) -> str:
    """What is left of an effect when these modes are ruled out, in words."""
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


def _literal(claim: Claim, header: ActionHeader) -> str:
    atom, mode = claim
    return ("not " if mode is Mode.NEGATIVE else "") + atom.text(header.parameters)


def _plural(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


def _sentence(header: ActionHeader, needs: Sequence[Line], changes: Sequence[Line]) -> str:
    """If ..., then after the action: ..."""
    condition = f"If {english.listed(line.words for line in needs)}, then" if needs else "Always,"
    return f"{condition} after {header.name}: {english.listed(line.words for line in changes)}."

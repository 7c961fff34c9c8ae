"""The findings of a run in words: every line of the model, how it is known, what is left open, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from aam_vision.controls.mapping import Carriers, read_carriers
from aam_vision.interrogation.completeness.proofs import AtomMode, Exclusion, Proof, Proofs
from aam_vision.interrogation.evidence.transcript import AttemptedStep, attempted
from aam_vision.interrogation.task.undetermined import (
    CANNOT_MATTER,
    Undetermined,
    undetermined,
)
from aam_vision.interrogation.task.verdict import OPEN, Verdict
from aam_vision.model.strips import ActionHeader, Location, Mode, PalTuple
from aam_vision.report import english
from aam_vision.report.abilities import ControlNames, abilities
from aam_vision.report.differences import Difference, differences
from aam_vision.report.ending import printable, unfinished
from aam_vision.report.events import Event, Events, Line, idle_controls, value_words
from aam_vision.report.recorded import Answers, Recorded, Weighing, certain_starts, chances, read_model
from aam_vision.report.screen import Abilities
from aam_vision.support import wording
from aam_vision.support.wording import counted

PRE, EFF = Location.PRE, Location.EFF

Group = tuple[str, str, tuple[str, ...]]
"""What identifies an undetermined group: its action, its location, its literals or modes in words."""


@dataclass(frozen=True)
class ActionAccount:
    """The findings about one action."""

    header: ActionHeader
    sentence: str
    needs: tuple[Line, ...]
    changes: tuple[Line, ...]
    open: tuple[Line, ...]
    """Pal tuples that are not in the model, and may belong there."""
    cannot_matter: tuple[Line, ...]
    """Undetermined pal tuples that are not in the model, of which no reachable situation tells anything."""
    settled: int
    """Number of pal tuples that were shown to be absent."""
    probabilities: tuple[Line, ...]
    """These pal tuples one by one, where answers are weighed."""
    successes: int
    refusals: int


class Account:
    """The findings of one run.

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
        """The attempted steps in these answers."""
        self.events = Events(run, self.transcript)
        self.contradiction = self.proofs.contradiction
        """The answers that are left out, and why; None if there are none."""
        self.weighing: Weighing | None = None
        """The weights of the answers, where they proved unreliable."""

    @property
    def proven(self) -> bool:
        """Whether it was proven that no further query could tell more, of an agent as is assumed."""
        return self.run.ending is not None and self.run.ending.ending.proven

    @property
    def _doubted(self) -> bool:
        """Whether something was seen that the assumption behind all proofs rules out."""
        if self.run.ending is None:
            return self.contradiction is not None
        return bool(self.run.ending.ending.doubt)

    @property
    def verdict(self) -> Verdict:
        """How sure the model is, why, and on which assumption."""
        if self.run.ending is not None:
            return self.run.ending.verdict
        decided, size = self.decided
        return unfinished(
            f"The answers so far decide {decided} of {counted(size, 'line')} of the model; the others may have any mode."
        )

    @cached_property
    def abilities(self) -> Abilities:
        """The abilities of the agent in a paragraph."""
        if self.run.controls is not None:
            controls = ControlNames(
                tuple(header.name for header in self.run.controls.headers),
                {name: carrier.control for name, carrier in self.carriers.items()},
                idle_controls(self.run.controls),
            )
            return abilities(self.model, controls.carried, complete=self.proven, controls=controls)
        done = {step.action.name for step in self.steps if step.executed}
        return abilities(self.model, done, complete=self.proven)

    @cached_property
    def carriers(self) -> Carriers:
        """By operator the control that carries it out, of a run that knew only controls; else empty.

        Raises:
            UnusableInput: ``controls.json`` is missing, damaged, or of another run.
        """
        if self.run.controls is None:
            return {}
        return read_carriers(self.run.folder, self.model, self.run.controls.headers)

    @cached_property
    def _told(self) -> Mapping[Group, Mapping[str, object]]:
        """The undetermined groups of ``result.json``, by what identifies them."""
        told = (self.run.figures or {}).get("undetermined") or []
        return {_key(one): one for one in told if isinstance(one, dict)}

    @cached_property
    def groups(self) -> Mapping[PalTuple, Undetermined]:
        """The undetermined group that a pal tuple belongs to, with its kind as the run found it."""
        found = {}
        for entry in undetermined(self.proofs.hypotheses):
            told = self._told.get((entry.action, entry.location, entry.group), {})
            if self.proven or told.get("kind") == CANNOT_MATTER:
                entry = replace(entry, kind=CANNOT_MATTER, settle="")
            found.update(dict.fromkeys(entry.pals, entry))
        return found

    @property
    def decided(self) -> tuple[int, int]:
        """How many pal tuples are known, and how many there are."""
        return self.proofs.hypotheses.decided(), self.proofs.hypotheses.size

    @cached_property
    def differences(self) -> list[Difference]:
        """The differences to the ground truth; empty if the truth is not known."""
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
        if status == "undetermined":
            group = self.groups.get(pal)
            status = OPEN if group is None else group.kind
            status = status if mode in modes else "estimated"
        action = self.proofs.hypotheses[pal.action]
        bit = action.index.bit[pal.atom]
        in_clause = any((clause.positive | clause.negative) & bit for clause in action.clauses)
        if status in (OPEN, CANNOT_MATTER) and pal.location is PRE and in_clause:
            status = "one of several"
        text = ("not " if mode is Mode.NEGATIVE else "") + pal.atom.text(header.parameters)
        if status == "proven" and (pal.action, pal.location.value, (text,)) in self._told:
            status = OPEN  # a conclusion that rests on too few refusals
        if status == "proven" and self._doubted:
            status = "doubtful"  # the assumption of all proofs is false
        true = None if self.truth is None else self.truth.schema(pal.action).mode(pal.atom, pal.location)
        said = mode if mode is not Mode.ABSENT else next((m for m in modes if m is not mode), Mode.POSITIVE)
        write = english.literal if pal.location is PRE else english.effect
        return Line(
            pal,
            mode,
            ("not " if said is Mode.NEGATIVE else "") + pal.atom.text(header.parameters),
            write(pal.atom, said, header.parameters, self.model.vocabulary),
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
        done = sum(step.executed for step in mine)
        sentence = _sentence(header, needs, changes)
        if not done and not changes:
            sentence = f"{name} was never done, so nothing is known of it."
        settled = [] if self.weighing is None else [self.line(pal) for pal in unused if pal not in left]
        return ActionAccount(
            header,
            sentence,
            needs,
            changes,
            tuple(self.line(pal) for pal in left if not self._cannot_matter(pal)),
            tuple(self.line(pal) for pal in left if self._cannot_matter(pal)),
            len(unused) - len(left),
            tuple(settled),
            done,
            len(mine) - done,
        )

    def _cannot_matter(self, pal: PalTuple) -> bool:
        """Whether no reachable situation tells anything of an undetermined pal tuple."""
        return pal in self.groups and self.groups[pal].kind == CANNOT_MATTER

    def _is_open(self, pal: PalTuple) -> bool:
        """Whether a pal tuple that is not in the model may belong there."""
        action = self.proofs.hypotheses[pal.action]
        undecided = action.undecided
        open_pre = undecided.positive | undecided.negative
        return bool(
            action.index.bit[pal.atom] & (open_pre if pal.location is PRE else action.undecided_effects)
        )

    def why(self, line: Line) -> list[ProofStep]:
        """The proof of a line, or what is known about it, step by step."""
        return ProofText(self.proofs, self.events, self.line, self._ending).steps(line)

    def _ending(self, pal: PalTuple) -> str:
        """Why a pal tuple is undetermined, as a clause."""
        group = self.groups.get(pal)
        if group is not None and group.kind == CANNOT_MATTER:
            return (
                "no question within what the agent allows can tell, as was proven, "
                "so it does not change what the agent does in the given problems"
            )
        found = "the run has not ended" if self.run.ending is None else "the run ended before it was settled"
        return f"{found}; it would be by {group.settle}" if group is not None else found


def _key(told: Mapping[str, object]) -> Group:
    """What identifies an undetermined group in ``result.json``."""
    group = told.get("group")
    texts = tuple(map(str, group)) if isinstance(group, list) else ()
    return str(told.get("action")), str(told.get("location")), texts


def _sentence(header: ActionHeader, needs: Sequence[Line], changes: Sequence[Line]) -> str:
    """An action as a sentence: if ..., then after the action: ..."""
    condition = f"If {english.listed(line.words for line in needs)}, then" if needs else "Always,"
    return f"{condition} after {header.name}: {english.listed(line.words for line in changes)}."


# The findings of a run with unreliable answers: every line with its probability, and the answers that weigh most.


NAMED = 12
"""Answers of one kind that are named, at most."""

_IF = "if errors are independent from look to look"

_IS = {
    (Location.PRE, Mode.POSITIVE): "is required to be true",
    (Location.PRE, Mode.NEGATIVE): "is required to be false",
    (Location.PRE, Mode.ABSENT): "is not required",
    (Location.EFF, Mode.POSITIVE): "is made true",
    (Location.EFF, Mode.NEGATIVE): "is made false",
    (Location.EFF, Mode.ABSENT): "is left as it is",
}


def account_of(run: Recorded) -> Account:
    """The account that fits a run: of proofs, or of weights where answers proved unreliable.

    Raises:
        UnusableInput: a file of the run is damaged, or of another run.
    """
    figures = run.figures
    return WeighedAccount(run) if figures is not None and figures.get("noise") else Account(run)


class WeighedAccount(Account):
    """An account in which nothing is proven, and everything has a probability.

    Raises:
        UnusableInput: a file of the run is damaged, or of another run.
    """

    def __init__(self, run: Recorded) -> None:
        super().__init__(run)
        assert run.figures is not None, "answers are weighed by runs that have come to their end"
        self.transcript = run.transcript.in_single_steps()
        self.steps = tuple(attempted(self.transcript))
        self.events = Events(run, self.transcript)
        self.contradiction = None  # all answers count
        self.weights = Weighing(self.transcript, certain_starts(run.transcript), self.model, run.figures)
        self.weighing = self.weights

    @property
    def decided(self) -> tuple[int, int]:
        known = self.weights.probabilities
        return sum(self.weights.certain(pal) for pal in known), len(known)

    def line(self, pal: PalTuple) -> Line:
        schema = self.model.schema(pal.action)
        mode, parameters = schema.mode(pal.atom, pal.location), schema.header.parameters
        true = None if self.truth is None else self.truth.schema(pal.action).mode(pal.atom, pal.location)
        write = english.literal if pal.location is Location.PRE else english.effect
        said = Mode.POSITIVE if mode is Mode.ABSENT else mode
        return Line(
            pal,
            mode,
            ("not " if mode is Mode.NEGATIVE else "") + pal.atom.text(parameters),
            write(pal.atom, said, parameters, self.model.vocabulary),
            "certain" if self.weights.certain(pal) else "doubtful",
            true if true is not mode else None,
            self.weights.probability(pal),
        )

    @cached_property
    def groups(self) -> Mapping[PalTuple, Undetermined]:
        """The undetermined groups as ``result.json`` has them: proofs from these answers would be of no use."""
        known = {
            (
                pal.action,
                pal.location.value,
                pal.atom.text(self.model.schema(pal.action).header.parameters),
            ): pal
            for pal in self.weights.probabilities
        }
        found = {}
        for (action, location, group), told in self._told.items():
            kind, settle = (printable(str(told.get(name) or "")) for name in ("kind", "settle"))
            names = [text.split(" or ")[0].removeprefix("not ").lstrip("+-") for text in group]
            pals = [known[key] for name in names if (key := (action, location, name)) in known]
            entry = Undetermined(action, location, group, "", kind, settle, tuple(pals))
            found.update(dict.fromkeys(pals, entry))
        return found

    def _is_open(self, pal: PalTuple) -> bool:
        return not self.weights.certain(pal)

    def why(self, line: Line) -> list[ProofStep]:
        """The answers that weigh most, for and against; of each kind one is shown."""
        pal, probability = line.pal, line.probability
        assert probability is not None, "a line of this account"
        name = pal.atom.text(self.model.schema(pal.action).header.parameters)
        shown = "over 99.99%" if probability > 0.9999 else f"{probability:.2%}"
        found = [ProofStep(f"{name} {_IS[pal.location, line.mode]} with a probability of {shown}, {_IF}.")]
        answers = self.weights.answers(pal)
        if not answers:
            where = "where all else that it requires held " if pal.location is Location.PRE else ""
            return [*found, ProofStep(f"{pal.action} was never tried {where}so that this could be seen.")]
        return [*found, *(self._step(pal, name, one) for one in answers)]

    def _step(self, pal: PalTuple, name: str, answers: Answers) -> ProofStep:
        count, value = f"{len(answers.steps)} of {answers.of}", "true" if answers.before else "false"
        runs = f"{'try' if answers.of == 1 else 'tries'} with {name} {value} before"
        if pal.location is Location.PRE:
            happened = f"{pal.action} was {'done' if answers.outcome else 'refused'} in {count} {runs}"
            happened += " and all else as it requires"
        else:
            happened = f"{name} was seen {'true' if answers.outcome else 'false'} after {pal.action} in {count} {runs}"
        verdict, times = "Says nothing", ""
        if abs(answers.odds - 1) > 1e-3:
            verdict = "Speaks for it" if answers.odds > 1 else "Speaks against it"
            each = "each answer makes it" if len(answers.steps) > 1 else "that makes it"
            times = f"; {each} {chances(answers.odds)} {'more' if answers.odds > 1 else 'less'} probable"
        events = [self.events.event(step) for step in answers.steps]
        others = [event.name for event in events[1:NAMED]]
        more = len(events) - 1 - len(others)
        also = f" One of them is shown, the others are {english.listed([*others, *([f'{more} more'] if more else [])])}."
        return ProofStep(f"{verdict}: {happened}{times}.{also if others else ''}", events[0])


# The proof of a line in words, with the answers that it rests on.


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

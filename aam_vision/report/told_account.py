"""The account of a run whose instructions were told, or found in controls: every line with its proof, or with the answers that weigh most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from aam_vision.interrogation.completeness.proofs import AtomMode, Exclusion, Proof, Proofs
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import AttemptedStep, attempted
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER, Undetermined, undetermined
from aam_vision.interrogation.task.verdict import NOT_STRIPS, OPEN, Verdict
from aam_vision.model.strips import ActionHeader, Location, Mode, PalTuple
from aam_vision.report import english
from aam_vision.report.abilities import Abilities, abilities
from aam_vision.report.account import MAX_LINES, Account, ActionAccount, Line, ProofStep
from aam_vision.report.control_account import Controls
from aam_vision.report.differences import Difference, differences
from aam_vision.report.ending import ShownExample, printable, unfinished
from aam_vision.report.events import Event, Events, ShownImage, value_words
from aam_vision.report.recorded import Answers, Recorded, Weighing, certain_starts, chances, read_model
from aam_vision.support import wording
from aam_vision.support.wording import counted

BY_DEFINITION = "by definition"
"""The status of a literal that only says which of several actions of the model a step of the agent is."""

PRE, EFF = Location.PRE, Location.EFF

Group = tuple[str, str, tuple[str, ...]]
"""What identifies an undetermined group: its action, its location, its literals or modes in words."""


class ToldAccount(Account):
    """The findings of a run of an agent without chance. Raises UnusableInput: the run's PDDL files are damaged, or of another run."""

    def __init__(self, run: Recorded) -> None:
        self.run = run
        self.proofs = Proofs(run.transcript)
        follows = self.proofs.hypotheses.model()
        self.model = read_model(run.folder, "model.pddl", follows) or follows
        true = read_model(run.folder, "truth.pddl", self.model, strips=False)
        self.truth = None if true is None or not true.strips else true
        """With which the model is compared line by line."""
        self.transcript = self.proofs.transcript
        """The answers that count, walks in single steps."""
        self.steps = self.proofs.steps
        self.events = Events(run, self.transcript)
        self.contradiction = self.proofs.contradiction
        self.indexes = {name: action.index for name, action in self.proofs.hypotheses.actions.items()}
        if run.controls is not None:
            self.controls = Controls(self, run.controls)

    @property
    def title(self) -> str:
        who = "the agent" if self.controls is None else "the controls"
        return f"What {who} of {self.name} {'can do' if self.controls is None else 'do'}"

    @property
    def cost(self) -> str:
        figures, (decided, size) = self.run.figures, self.decided
        if figures is None:
            return ""
        queries = counted(figures["queries"], "query")
        spent = f"{counted(figures['steps'], 'control')} given, {queries}"
        if self.controls is None:
            steps = counted(figures["steps"], "step")
            needed = "" if figures.get("invented") else f" (at least {figures['lower_bound']} needed)"
            spent = f"{queries}{needed}, {steps}"
        if self.weighing and figures.get("looks"):
            spent += f", {counted(figures['looks'], 'look')}"
        known = "decided" if self.weighing is None else "certain"
        return f"{figures['env']}: {spent}, {decided} of {counted(size, 'line')} of the model {known}."

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
        if self.run.ending is not None:
            return self.run.ending.verdict
        decided, size = self.decided
        known = f"{decided} of {counted(size, 'line')} of the model"
        return unfinished(f"The answers so far decide {known}; the others may have any mode.")

    @cached_property
    def abilities(self) -> Abilities:
        done = {step.action.name for step in self.steps if step.executed}
        if self.controls is None:
            return abilities(self.model, done, complete=self.proven)
        names = self.controls.names
        return abilities(self.model, names.carried, complete=self.proven, controls=names)

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
        return self.proofs.hypotheses.decided(), self.proofs.hypotheses.size

    @property
    def progress(self) -> list[tuple[int, float]]:
        size, points = self.proofs.hypotheses.size, list[tuple[int, float]]()
        for entry, decided in zip(self.transcript.entries, self.proofs.decided, strict=True):
            if isinstance(entry, Asked):
                points.append((len(points) + 1, decided / max(1, size)))
        return points

    @cached_property
    def questions(self) -> list[Event]:
        last: dict[int, AttemptedStep] = {step.entry: step for step in self.steps}
        return [
            self.events.event(last[number])
            for number, entry in enumerate(self.transcript.entries)
            if isinstance(entry, Asked) and number in last
        ][:MAX_LINES]

    @cached_property
    def differences(self) -> list[Difference] | None:
        return None if self.truth is None else differences(self.model, self.truth)

    @cached_property
    def actions(self) -> list[ActionAccount]:
        return [self._action(header) for header in self.proofs.hypotheses.headers]

    def line(self, pal: PalTuple) -> Line:
        """A pal tuple with its mode in the model."""
        schema = self.model.schema(pal.action)
        mode = schema.mode(pal.atom, pal.location)
        modes = self.proofs.proof(pal).modes if pal.location is EFF else self.proofs.hypotheses.modes(pal)
        status = "undetermined" if len(modes) > 1 else "proven" if modes == (mode,) else "estimated"
        if status == "undetermined":
            group = self.groups.get(pal)
            status = "estimated" if mode not in modes else OPEN if group is None else group.kind
        action = self.proofs.hypotheses[pal.action]
        bit = action.index.bit[pal.atom]
        in_clause = any((clause.positive | clause.negative) & bit for clause in action.clauses)
        if status in (OPEN, CANNOT_MATTER) and pal.location is PRE and in_clause:
            status = "one of several"
        text = _literal((pal.atom, mode), schema.header)
        if status == "proven" and (pal.action, pal.location.value, (text,)) in self._told:
            status = OPEN  # a conclusion that rests on too few refusals
        looked = self.run.looked
        if status == "proven" and (looked or not self.proven) and action.successes == 1:
            status = "seen once"  # the result does not vouch for it, either (``Result.certain``)
        if pal.location is PRE and bit & (action.index.given.positive | action.index.given.negative):
            status = BY_DEFINITION
        if status in ("proven", "seen once") and self._doubted:
            status = "doubtful"  # the assumption of all proofs is false
        if status == "proven" and looked:
            status = "certain"  # what is read of many looks is no proof
        return self._written(pal, next((m for m in modes if m is not mode), Mode.POSITIVE), status)

    def _written(self, pal: PalTuple, other: Mode, status: str, probability: float | None = None) -> Line:
        """A line in words; ``other`` is the mode that is told of one that is not in the model."""
        schema, location = self.model.schema(pal.action), pal.location
        mode = schema.mode(pal.atom, location)
        true = None if self.truth is None else self.truth.schema(pal.action).mode(pal.atom, location)
        said = other if mode is Mode.ABSENT else mode
        text = _literal((pal.atom, said), schema.header)
        write = english.literal if location is PRE else english.effect
        words = write(pal.atom, said, schema.header.parameters, self.vocabulary)
        return Line(pal, mode, text, words, status, None if true is mode else true, probability)

    def _action(self, header: ActionHeader) -> ActionAccount:
        name = header.name
        schema, atoms = self.model.schema(name), self.proofs.hypotheses[name].index.atoms
        pals = [PalTuple(atom, name, location) for location in Location for atom in atoms]
        used = [pal for pal in pals if schema.mode(pal.atom, pal.location) is not Mode.ABSENT]
        unused = [pal for pal in pals if schema.mode(pal.atom, pal.location) is Mode.ABSENT]
        left = [pal for pal in unused if self._is_open(pal)]
        lines = [self.line(pal) for pal in used]
        needs, changes = (tuple(line for line in lines if line.pal.location is place) for place in (PRE, EFF))
        mine = [step for step in self.steps if step.action.name == name]
        done = sum(step.executed for step in mine)
        condition = f"If {english.listed(line.words for line in needs)}, then" if needs else "Always,"
        sentence = f"{condition} after {name}: {english.listed(line.words for line in changes)}."
        if not done and not changes:
            sentence = f"{name} was never done, so nothing is known of it."
        settled = [] if self.weighing is None else [self.line(pal) for pal in unused if pal not in left]
        return ActionAccount(
            header=header,
            sentence=sentence,
            needs=needs,
            changes=changes,
            open=tuple(self.line(pal) for pal in left if not self._cannot_matter(pal)),
            cannot_matter=tuple(self.line(pal) for pal in left if self._cannot_matter(pal)),
            settled=len(unused) - len(left),
            probabilities=tuple(settled),
            successes=done,
            refusals=len(mine) - done,
        )

    def _cannot_matter(self, pal: PalTuple) -> bool:
        """Whether no reachable situation tells anything of an undetermined pal tuple."""
        return pal in self.groups and self.groups[pal].kind == CANNOT_MATTER

    def _is_open(self, pal: PalTuple) -> bool:
        """Whether a pal tuple that is not in the model may belong there."""
        action = self.proofs.hypotheses[pal.action]
        open_pre = action.undecided.positive | action.undecided.negative
        of_place = open_pre if pal.location is PRE else action.undecided_effects
        return bool(action.index.bit[pal.atom] & of_place)

    def sources(self, line: Line) -> list[Event]:
        if line.status == "estimated" or self.weighing is not None:
            return []
        proof = self.proofs.proof(line.pal)
        steps = ([] if proof.refusal is None else [proof.refusal]) + [one.step for one in proof.exclusions]
        return [self.events.event(step) for step in steps]

    def settle(self, line: Line) -> str:
        group = self.groups.get(line.pal)
        return "" if group is None else f"{', '.join(group.group)}: {group.settle}"

    def explained(self, pal: PalTuple) -> list[tuple[str, list[ProofStep]]]:
        line = self.line(pal)
        name = pal.atom.text(self.indexes[pal.action].header.parameters)
        title = f"{name} in {pal.location.value} of {pal.action}: {line.mode.value} ({line.tag})"
        return [(title, self.why(line) or [ProofStep("No answer says anything about it.")])]

    def _ending(self, pal: PalTuple) -> str:
        """Why a pal tuple is undetermined, as a clause."""
        group = self.groups.get(pal)
        if group is not None and group.kind == CANNOT_MATTER:
            never = "so it does not change what the agent does in the given problems"
            return f"no question within what the agent allows can tell, as was proven, {never}"
        found = "the run has not ended" if self.run.ending is None else "the run ended before it was settled"
        return f"{found}; it would be by {group.settle}" if group is not None else found

    @property
    def examples(self) -> tuple[ShownExample, ...]:
        if self.run.ending is None:
            return ()
        wrong = self.run.ending.ending.status == NOT_STRIPS
        two_ways = () if self.controls is None or not wrong else self.controls.two_ways
        return self.run.ending.examples or two_ways

    def pair(self) -> tuple[str, tuple[ShownImage, ...]]:
        if self.run.ending is not None and self.run.ending.ending.status == NOT_STRIPS:
            shown = _of_examples(self.examples)
            return ("Two situations that went differently" if shown else ""), shown
        told = self.abilities.deeds
        best = None if self.controls is None or not told else self.controls.telling(told[0].action)
        best = best or self._telling()
        return ("", ()) if best is None else (f"{best.name}: {best.step}", best.shown)

    def _telling(self) -> Event | None:
        """The most telling executed step with two different pictures: of a query before a walk, with arguments to mark, that changes much; or None."""
        best: tuple[tuple[bool, bool, int], Event] | None = None
        for step in [step for step in self.steps if step.executed] if self.run.sights else ():
            schema = self.model.schema(step.action.name)
            asked = isinstance(self.transcript.entries[step.entry], Asked)
            key = asked, step.before is not None and step.after is not None, len(schema.add | schema.delete)
            if best is not None and key <= best[0]:
                continue
            event = self.events.event(step)
            if len(event.shown) == 2 and event.shown[0].image != event.shown[1].image:
                best = key, event
        return None if best is None else best[1]

    def why(self, line: Line) -> list[ProofStep]:
        proof = self.proofs.proof(line.pal)
        header = self.indexes[line.pal.action].header
        if line.status == "estimated":
            return [ProofStep(_ESTIMATED)]
        if line.status == BY_DEFINITION:
            return [ProofStep(_DEFINED)]
        found = [] if proof.refusal is None else list(self._refusal(proof, header))
        found += [self._exclusion(one, header, proof.pal.location) for one in proof.exclusions]
        for premise in proof.premises:
            name = premise.pal.atom.text(header.parameters)
            found.append(ProofStep(_RESTATED.format(action=header.name, atom=name)))
            found += self.why(self.line(premise.pal))
        if len(proof.modes) > 1 and proof.refusal is None:
            found.append(ProofStep(self._open(line, proof)))
        return found

    def _refusal(self, proof: Proof, header: ActionHeader) -> Iterator[ProofStep]:
        assert proof.refusal is not None
        event = self.events.event(proof.refusal)
        failed = english.listed(_literal(claim, header) for claim in proof.reasons)
        refused = f"{event.step} could not be done. What did not hold there: {failed}."
        yield ProofStep(f"{event.name}: {refused}", event)
        if proof.innocent:
            others = proof.violated - len(proof.reasons)
            none, they = ("It is not", "it") if others == 1 else ("None of them is", "they")
            yield ProofStep(
                f"{others} other {wording.plural('literal', others)} did not hold there either, or could not be seen. "
                f"{none} required, because {header.name} was done where {they} did not hold:"
            )
        yield from (self._exclusion(one, header, PRE) for one in proof.innocent)
        if proof.inferred:
            names = english.listed(atom.text(header.parameters) for atom in proof.inferred[:8])
            follow = "They follow from other answers, and are not the reason."
            yield ProofStep(f"The values of {names} could not be seen at the refusal. {follow}")
        if len(proof.reasons) > 1:
            ending = self._ending(proof.pal)
            yield ProofStep(f"So at least one of {failed} is required. No answer tells which: {ending}.")
        else:
            alone = "nothing else in this vocabulary can have been the reason"
            yield ProofStep(f"So {failed} is required: {alone}.")

    def _exclusion(self, one: Exclusion, header: ActionHeader, location: Location) -> ProofStep:
        event = self.events.event(one.step)
        literals = dict.fromkeys(_literal(claim, header) for claim in one.claims)
        gathered = "No step shows it by itself; it follows from several answers together."
        if location is PRE:
            clear = f"with {event.step} it became clear that these are not required. {gathered}"
            done = f"{event.step} was done where these did not hold, so they are not required."
            return ProofStep(f"{event.name}: {done if one.seen else clear}", event, tuple(literals))
        atoms = dict.fromkeys(atom for atom, _ in one.claims)
        left = {
            atom.text(header.parameters): english.listed(
                (_MAY[EFF, mode] for mode in Mode if (atom, mode) not in one.claims), "or"
            )
            for atom in atoms
        }
        if one.step.action.name != header.name:  # it showed what was hidden around a step of this action
            text = f"{event.name}: with {event.step} it became clear what {header.name} does. {gathered}"
            return ProofStep(text, event, tuple(f"{name} is {may}" for name, may in left.items()))
        values = [value_words(atom, one.step) for atom in atoms]
        words = [f"{name}: {seen}, so it is {left[name]}" for name, seen in zip(left, values, strict=True)]
        rests = " (rests on values that were not seen here, but follow from other answers)"
        hidden = "" if one.seen else rests
        return ProofStep(f"{event.name}: {event.step} {event.outcome}{hidden}.", event, tuple(words))

    def _open(self, line: Line, proof: Proof) -> str:
        name = line.pal.action
        done = self.proofs.hypotheses[name].successes
        modes = english.listed((_MAY[line.pal.location, mode] for mode in proof.modes), "or")
        if not done:
            return f"{name} was never done, so nothing is known: {line.text} may be {modes}."
        steps = f"{done} different {wording.plural('step', done)}"
        if line.pal.location is EFF:
            shown = f"no step of {name} has shown a difference ({steps})"
        else:
            seen = [word for mode, word in _SEEN_BEFORE.items() if mode in proof.modes]
            shown = f"it was never seen {' or '.join(seen)} before {name} was done ({steps})"
        atom, ending = line.pal.atom.text(self.indexes[name].header.parameters), self._ending(line.pal)
        return f"Not determined: {atom} may be {modes}; {shown}. {ending[:1].upper()}{ending[1:]}."


def _of_examples(examples: tuple[ShownExample, ...]) -> tuple[ShownImage, ...]:
    """The two pictures side by side: before the step, or after it where it began in one and the same picture."""
    before = [one.image for one in examples]
    after = [one.image_after or one.image for one in examples]
    images, word = (before, "before") if len(set(before)) == len(before) else (after, "after")
    refused = any(one.outcome == "refused" for one in examples)  # else it is told what changed
    return tuple(
        ShownImage(
            image,
            f"{word} {one.step.partition('(')[0]}: {'executed' if refused and one.outcome != 'refused' else one.outcome}",
            (),
        )
        for image, one in zip(images, examples, strict=True)
        if image is not None
    )


_ESTIMATED = "The answers, taken as they are, do not prove this: it was estimated from all of them together."
_DEFINED = "It is one of several actions in place of one instruction, and this tells them apart."
_RESTATED = (
    "The only effect that {action} may still have on {atom} is the value that its precondition requires already, "
    "which changes nothing. So this does not count as an effect. The proof of the precondition:"
)
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


def _literal(claim: AtomMode, header: ActionHeader) -> str:
    atom, mode = claim
    return ("not " if mode is Mode.NEGATIVE else "") + atom.text(header.parameters)


def _key(told: Mapping[str, object]) -> Group:
    """What identifies an undetermined group in ``result.json``."""
    group = told.get("group")
    texts = tuple(map(str, group)) if isinstance(group, list) else ()
    return str(told.get("action")), str(told.get("location")), texts


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


class WeighedAccount(ToldAccount):
    """An account in which nothing is proven, and everything has a probability. Raises UnusableInput: a file is damaged, or of another run."""

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
    def progress(self) -> list[tuple[int, float]]:
        return []  # answers that are weighed decide nothing for good

    @property
    def decided(self) -> tuple[int, int]:
        known = self.weights.probabilities
        return sum(self.weights.certain(pal) for pal in known), len(known)

    def line(self, pal: PalTuple) -> Line:
        status = "certain" if self.weights.certain(pal) else "doubtful"
        return self._written(pal, Mode.POSITIVE, status, self.weights.probability(pal))

    @cached_property
    def groups(self) -> Mapping[PalTuple, Undetermined]:
        """The undetermined groups as ``result.json`` has them: proofs from these answers would be of no use."""
        headers = {name: self.model.schema(name).header for name in self.indexes}
        known = {
            (pal.action, pal.location.value, pal.atom.text(headers[pal.action].parameters)): pal
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

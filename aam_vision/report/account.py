"""The findings of a run in words: every line of the model, how it is known, what is left open, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from aam_vision.controls.mapping import Carriers, read_carriers
from aam_vision.interrogation.completeness.proofs import Proofs
from aam_vision.interrogation.task.undetermined import (
    CANNOT_MATTER,
    OPEN,
    Undetermined,
    undetermined,
)
from aam_vision.interrogation.task.verdict import Verdict
from aam_vision.report import english
from aam_vision.report.abilities import Abilities, ControlNames, abilities
from aam_vision.report.control_steps import idle_controls
from aam_vision.report.differences import Difference, differences
from aam_vision.report.ending import unfinished
from aam_vision.report.events import Events
from aam_vision.report.lines import Line
from aam_vision.report.proof_text import ProofStep, ProofText
from aam_vision.report.recorded import Recorded, read_model
from aam_vision.report.weighing import Weighing
from aam_vision.strips import ActionHeader, Location, Mode, PalTuple
from aam_vision.wording import counted

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

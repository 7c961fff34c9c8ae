"""The findings of a run with unreliable answers: every line with its probability, and the answers that weigh most."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from aam_vision.interrogation.evidence.attempted_steps import attempted
from aam_vision.interrogation.task.undetermined import Undetermined
from aam_vision.report import english
from aam_vision.report.account import Account
from aam_vision.report.ending import printable
from aam_vision.report.events import Events
from aam_vision.report.lines import Line
from aam_vision.report.proof_text import ProofStep
from aam_vision.report.recorded import Recorded
from aam_vision.report.weighing import Answers, Weighing, certain_starts, chances
from aam_vision.strips import Location, Mode, PalTuple

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
        runs = f"{_tries(answers.of)} with {name} {value} before"
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


def _tries(number: int) -> str:
    return "try" if number == 1 else "tries"

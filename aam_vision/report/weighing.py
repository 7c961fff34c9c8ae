"""Answers that may be wrong, as evidence: which speak for a palm tuple, which against it, and how strongly.

Where answers proved unreliable none proves anything, and the engine gave every palm tuple a probability
(``interrogation.statistics``). Here the same answers are sorted by what they say of one palm tuple. All of one kind
weigh the same: how much more probable such an answer is if the palm tuple is right than if the likeliest other mode
is, under the rates of error that the run has estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from aam_vision.agents.encoding import Malformed
from aam_vision.errors import UnusableInput
from aam_vision.interrogation.evidence.attempted_steps import AttemptedStep, attempted
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.statistics.counts import ErrorRates, Misreading
from aam_vision.query import Access
from aam_vision.strips import LiftedAtom, Location, Mode, Model, PalTuple

LEAST_RATE = 1e-6
"""The least value of a rate; ``result.json`` rounds them."""


@dataclass(frozen=True)
class Answers:
    """All answers of one kind: the same value before, the same outcome."""

    before: bool
    """The atom's value before the step."""
    outcome: bool
    """For an effect, the value that was seen after it; for a precondition, whether the step was done."""
    steps: tuple[AttemptedStep, ...]
    of: int
    """How many answers there are with the same value before."""
    odds: float
    """How many times more probable such an answer is if the palm tuple is right; below 1 it speaks against it."""

    @property
    def weight(self) -> float:
        """The sum that all of them add to the logarithm of the odds."""
        return len(self.steps) * log(self.odds)


class Weighing:
    """The palm tuples of a run whose answers proved unreliable, and the answers on which each rests.

    Args:
        transcript: all exchanges, walks in single steps.
        firsts: the numbers of the entries whose first step started from a state that is known for certain.
        model: what was learned.
        figures: ``result.json``.

    Raises:
        UnusableInput: ``result.json`` is damaged, or of another run.
    """

    def __init__(
        self, transcript: Transcript, firsts: Sequence[int], model: Model, figures: Mapping[str, Any]
    ) -> None:
        self._model = model
        self._indices = {
            header.name: AtomIndex(transcript.vocabulary, header) for header in transcript.headers
        }
        try:
            self.rates = _rates(figures["noise"], [p.name for p in transcript.vocabulary.predicates])
            self.probabilities = self._read(figures["palm_tuples"])
            self.threshold = _probability(figures["confidence"])
        except (Malformed, KeyError, TypeError, AttributeError, ValueError) as error:
            raise UnusableInput(f"result.json: damaged, or of another run ({error})") from None
        certain = set(firsts)
        self._trials: dict[str, list[AttemptedStep]] = {name: [] for name in self._indices}
        for step in attempted(transcript):
            index = self._indices[step.action.name]
            if step.entry in certain and not step.position and not index.coinciding(step.action.objects):
                self._trials[step.action.name].append(step)

    def probability(self, pal: PalTuple) -> float:
        """How probable the mode is that the palm tuple has in the model."""
        return self.probabilities[pal]

    def certain(self, pal: PalTuple) -> bool:
        """Whether it is as probable as the user wanted."""
        return self.probabilities[pal] >= self.threshold

    def answers(self, pal: PalTuple) -> list[Answers]:
        """The answers for and against a palm tuple, the weightiest first.

        For a precondition, the steps count before which all else that is required held: there, it alone decides.
        """
        found = self._of_precondition(pal) if pal.location is Location.PRE else self._of_effect(pal)
        return sorted(found, key=lambda answers: -abs(answers.weight))

    # --- preconditions and effects -------------------------------------------------------------------------------

    def _of_precondition(self, pal: PalTuple) -> Iterator[Answers]:
        index, schema = self._indices[pal.action], self._model.schema(pal.action)
        mode, sorted_steps = schema.mode(pal.atom, Location.PRE), _Sorted()
        required = [
            (atom, wanted is Mode.POSITIVE)
            for atom in index.atoms
            if atom != pal.atom and (wanted := schema.mode(atom, Location.PRE)) is not Mode.ABSENT
        ]
        for step in self._trials[pal.action]:
            assert step.before is not None, "a trial starts from a known state"
            if all(_value(step, atom) is wanted for atom, wanted in required):
                sorted_steps.add(step, _value(step, pal.atom), step.executed)
        done = (1 - self.rates.refusals) / self.rates.executions
        refused = (1 - self.rates.executions) / self.rates.refusals
        for before, outcome, steps, of in sorted_steps:
            odds = done if outcome else 1 / refused  # that nothing was violated
            if mode is not Mode.ABSENT:
                # where it holds, both modes predict the same
                odds = 1.0 if before is (mode is Mode.POSITIVE) else 1 / odds
            yield Answers(before, outcome, steps, of, odds)

    def _of_effect(self, pal: PalTuple) -> Iterator[Answers]:
        schema, predicate = self._model.schema(pal.action), pal.atom.predicate
        mode, needed = schema.mode(pal.atom, Location.EFF), schema.mode(pal.atom, Location.PRE)
        sorted_steps = _Sorted()
        for step in self._trials[pal.action]:
            if step.executed and step.after is not None:
                after = step.after.state.value(pal.atom.ground(step.action.objects))
                sorted_steps.add(step, _value(step, pal.atom), after)

        def likelihood(of: Mode, before: bool, seen: bool) -> float:
            value = before if of is Mode.ABSENT else of is Mode.POSITIVE
            return _seen(self.rates.misreadings[predicate], value, seen)

        def score(of: Mode) -> float:
            return sum(len(steps) * log(likelihood(of, b, s)) for b, s, steps, _ in sorted_steps)

        # adding a precondition changes nothing, so that it is not another mode
        others = [m for m in Mode if m is not mode and (m is Mode.ABSENT or m is not needed)]
        rival = max(others, key=score)
        for before, seen, steps, of in sorted_steps:
            odds = likelihood(mode, before, seen) / likelihood(rival, before, seen)
            yield Answers(before, seen, steps, of, odds)

    def _read(self, told: Any) -> dict[PalTuple, float]:
        """The probabilities in ``result.json``.

        Raises:
            Malformed: a palm tuple is missing.
        """
        known = {
            (entry["action"], entry["location"], entry["atom"]): _probability(entry["confidence"])
            for entry in told
        }
        found = {}
        for name, index in self._indices.items():
            parameters = index.header.parameters
            for location in Location:
                for atom in index.atoms:
                    probability = known.get((name, location.value, atom.text(parameters)))
                    if probability is None:
                        raise Malformed(
                            f"no probability of {atom.text(parameters)} in {location.value} of {name}"
                        )
                    found[PalTuple(atom, name, location)] = probability
        return found


class _Sorted:
    """Steps by an atom's value before them and by their outcome; steps with an unknown one are left out."""

    def __init__(self) -> None:
        self._steps: dict[tuple[bool, bool], list[AttemptedStep]] = {}

    def add(self, step: AttemptedStep, before: bool | None, outcome: bool | None) -> None:
        if before is not None and outcome is not None:
            self._steps.setdefault((before, outcome), []).append(step)

    def __iter__(self) -> Iterator[tuple[bool, bool, tuple[AttemptedStep, ...], int]]:
        for (before, outcome), steps in sorted(self._steps.items()):
            of = sum(len(others) for (value, _), others in self._steps.items() if value is before)
            yield before, outcome, tuple(steps), of


def certain_starts(transcript: Transcript) -> list[int]:
    """The entries, walks taken in single steps, that begin in a state which is known for certain.

    Under settable access these are all queries, and the first steps of walks; elsewhere every state was only seen.
    """
    found, number = list[int](), 0
    for entry in transcript.entries:
        length = 1 if isinstance(entry, Asked) else len(entry.steps)
        known = length if transcript.access is not Access.SETTABLE else min(1, length)
        found += range(number, number + known)
        number += length
    return found


def chances(odds: float) -> str:
    """Odds in words, e.g. ``7.5 times``; more than a thousand are not told apart."""
    size = exp(abs(log(odds)))
    return "over 1000 times" if size > 1000 else f"{size:.0f} times" if size >= 10 else f"{size:.1f} times"


def _value(step: AttemptedStep, atom: LiftedAtom) -> bool | None:
    assert step.before is not None, "a trial starts from a known state"
    return step.before.state.value(atom.ground(step.action.objects))


def _probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise Malformed("a probability is none")
    return float(value)


def _rates(told: Any, predicates: Sequence[str]) -> ErrorRates:
    def rate(value: Any) -> float:
        return min(max(_probability(value), LEAST_RATE), 1 - LEAST_RATE)

    read = {
        name: Misreading(rate(told["false_positives"][name]), rate(told["false_negatives"][name]))
        for name in predicates
    }
    surely = told["refusals"] is None
    refusals = LEAST_RATE if surely else rate(told["refusals"])
    return ErrorRates(read, refusals, rate(told["executions"]), surely)


def _seen(misreading: Misreading, value: bool, as_value: bool) -> float:
    """The probability that an atom is seen with a value."""
    wrong = misreading.false_negative if value else misreading.false_positive
    return 1 - wrong if value == as_value else wrong

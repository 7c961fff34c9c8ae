"""Executed steps that were seen before answers began to be weighed, held against what follows from the weighed ones.

An interrogation that begins anew where there is no way back makes few steps of each action, and all of one action may be
wrong in the same way: executed by mistake. Those that were seen before are evidence, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import exp, lgamma, log, log1p

from aam_vision.interrogation.evidence.transcript import AttemptedStep, Transcript, attempted, ruled_out
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.statistics.counts import ErrorRates
from aam_vision.model.strips import Location, Mode, PalTuple

LEAST_RATE = 0.002
"""The rate of misread atoms that is reckoned with, at least."""
CHANCE = 1e-4
"""Modes are contradicted where misreadings explain what rules them out with a smaller probability than this."""


def contradiction(transcript: Transcript, certain: Mapping[PalTuple, Mode], rates: ErrorRates) -> str | None:
    """An action of which the executed steps rule out more modes than misreadings explain, in a line; None if none is.

    That may be one mode in several steps, or several modes in one step.

    Args:
        transcript: the answers that were taken at their word.
        certain: the modes that follow from the weighed ones.
        rates: the rates of error that those showed.
    """
    told = _Told(transcript, certain)
    for name in dict.fromkeys(pal.action for pal in certain):
        own = [pal for pal in certain if pal.action == name]
        chances = {pal: _rate(rates, pal) for pal in own}
        seen = sum(told.seen[pal] for pal in own)
        if not seen:
            continue
        mean = sum(told.seen[pal] * chances[pal] for pal in own) / seen
        against = sum(told.against[pal] for pal in own)
        unlikely = [pal for pal in own if _at_least(told.against[pal], told.seen[pal], chances[pal]) < CHANCE]
        if unlikely or _at_least(against, seen, mean) < CHANCE:
            worst = max(unlikely or own, key=lambda pal: told.against[pal])
            header = next(header for header in transcript.headers if header.name == name)
            text = worst.atom.text(header.parameters)
            return (
                f"{name}: {text} is {certain[worst].value} in {worst.location.value} by the weighed answers, "
                f"but not by earlier steps"
            )
    return None


class _Told:
    """In how many executed steps each mode could have been ruled out, and in how many of these it was."""

    def __init__(self, transcript: Transcript, certain: Mapping[PalTuple, Mode]) -> None:
        self.seen, self.against = Counter[PalTuple](), Counter[PalTuple]()
        indices = {header.name: AtomIndex(transcript.vocabulary, header) for header in transcript.headers}
        for step in _executed(transcript):
            index = indices[step.action.name]
            impossible = ruled_out(index, step)
            for pal, mode in certain.items():
                if pal.action != step.action.name:
                    continue
                around = step.before if pal.location is Location.PRE else step.after
                self.seen[pal] += around is not None
                self.against[pal] += bool(impossible.get((pal.location, mode), 0) & index.bit[pal.atom])


def _rate(rates: ErrorRates, pal: PalTuple) -> float:
    """How often a mode seems to be ruled out because a picture is misread; for an effect that may be either picture."""
    misreading = rates.misreadings[pal.atom.predicate]
    return min(1.0, max(LEAST_RATE, misreading.false_positive + misreading.false_negative))


def _executed(transcript: Transcript) -> Iterator[AttemptedStep]:
    """The executed steps, each once in every perceived state: what is misread there may be misread each time."""
    done = set()
    for step in attempted(transcript.in_single_steps()):
        if not step.executed or (step.before is None and step.after is None):
            continue
        known = step.action, *(None if one is None else one.state for one in (step.before, step.after))
        if known not in done:
            done.add(known)
            yield step


def _at_least(times: int, of: int, rate: float) -> float:
    """The probability of a rate's event to happen so often, or more often."""
    if rate >= 1:
        return 1.0
    each = [
        lgamma(of + 1) - lgamma(n + 1) - lgamma(of - n + 1) for n in range(times, of + 1)
    ]  # of n successes
    chances = (ways + n * log(rate) + (of - n) * log1p(-rate) for n, ways in enumerate(each, times))
    return sum(map(exp, chances))

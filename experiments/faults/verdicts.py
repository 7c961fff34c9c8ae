"""Whether a diagnosis is right: its family, its literal, and its frequency."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

from aam_vision.interrogation.examination.diagnosis import Diagnosis, Example, Family
from experiments.faults.conditional import explanations
from experiments.faults.world import Fault, named

LEVEL = 0.95
HALVINGS = 40


def literal_right(fault: Fault, diagnosis: Diagnosis) -> bool | None:
    """Whether the literal is the fault's condition, or one that cannot be told from it; None where there is none."""
    if fault.condition is None or diagnosis.family is not Family.CONDITIONAL:
        return None
    (action,) = fault.actions
    header = fault.setting.header(action)
    text = diagnosis.literal or ""
    return any(named(text, atom, header) for atom in explanations(fault.setting, action, fault.condition))


def frequency_right(fault: Fault, diagnosis: Diagnosis) -> bool | None:
    """Whether the true frequency is within the 95% interval of the diagnosis; None where nothing is random."""
    if fault.rate is None or diagnosis.family is not Family.RANDOM or not diagnosis.tried:
        return None
    rates = [fault.rate]
    if len(diagnosis.examples) == 2:
        one, other = diagnosis.examples
        if one.situation.state != other.situation.state:
            rates.append(1 - fault.rate)  # chance has decided already on the way to the situation
        elif _is_honest(fault, other):
            rates = [1 - fault.rate]  # the honest outcome was the unexpected one
    low, high = interval(diagnosis.seen, diagnosis.tried)
    return any(low <= rate <= high for rate in rates)


def _is_honest(fault: Fault, example: Example) -> bool:
    state = fault.setting.outcome(example.situation.state, example.step)
    return state == (example.after.state if example.after is not None else None)


def interval(seen: int, tried: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) 95% interval of a probability, from a number of successes."""
    tail = (1 - LEVEL) / 2
    low = 0.0 if not seen else _where(lambda p: 1 - _at_most(seen - 1, tried, p) < tail)
    high = 1.0 if seen == tried else _where(lambda p: _at_most(seen, tried, p) >= tail)
    return low, high


def _at_most(count: int, tried: int, probability: float) -> float:
    return sum(
        comb(tried, one) * probability**one * (1 - probability) ** (tried - one) for one in range(count + 1)
    )


def _where(below: Callable[[float], bool]) -> float:
    """The probability up to which this holds."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if below(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2

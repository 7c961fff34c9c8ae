"""All families of faults: how each is made, and the verdicts on it that count as right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature

import numpy as np

from aam_vision.query import Access
from experiments.faults import conditional, hidden, seen
from experiments.faults.conditional import Unsuitable
from experiments.faults.world import Fault, FaultyAgent, Setting

DOMAINS = ("gripper", "blocksworld", "miconic", "logistics")
"""Where faults are put."""
LARGEST = {Access.TRAJECTORY: 1}
"""The size of problems at most, by access: with larger ones a run takes several seconds."""


@dataclass(frozen=True)
class Kind:
    """One family of faults."""

    make: Callable[..., Fault]
    """A fault of this family in a setting; raises ``Unsuitable`` where there is none."""
    right: tuple[str, ...]
    """Families of ``examination.diagnosis`` that name it rightly; none for honest agents."""


def right_verdicts(family: str, access: Access | str, *, misread: bool = False) -> tuple[str, ...]:
    """The families of ``examination.diagnosis`` that count as right.

    Where nothing can be had again, what is hidden cannot be told from a change.

    Args:
        family: one of ``FAMILIES``.
        access: what may be asked.
        misread: whether the agent is misread at random as well.
    """
    right = FAMILIES[family].right
    if Access(access) is Access.TRAJECTORY and {"hidden", "changing"} & {*right}:
        right = (*right, "hidden", "changing")
    return (*right, "misread", "random") if misread else right


def honest(setting: Setting, rng: np.random.Generator) -> Fault:
    """No fault."""
    return Fault(setting)


HONEST: Mapping[str, Kind] = {
    "honest": Kind(honest, ()),
    "honest, arguments in another order": Kind(conditional.swapped_always, ()),
}
FAULTY: Mapping[str, Kind] = {
    "hidden counter": Kind(hidden.hidden_counter, ("hidden",)),
    "hidden fuel": Kind(hidden.hidden_fuel, ("hidden",)),
    "episode end": Kind(hidden.episode_end, ("hidden",)),
    "fault after k uses in an episode": Kind(hidden.fault_after_uses, ("hidden",)),
    "delayed effect": Kind(hidden.delayed_effect, ("hidden",)),
    "stale state": Kind(hidden.stale_state, ("hidden", "misread")),
    "repeated arguments": Kind(conditional.repeated_arguments, ("conditional",)),
    "refused for another object": Kind(conditional.refused_for_other, ("conditional",)),
    "refused for a count": Kind(conditional.refused_for_count, ("conditional",)),
    "effect depends on own atom": Kind(conditional.effect_if_own, ("conditional",)),
    "effect depends on another object": Kind(conditional.effect_if_other, ("conditional",)),
    "effect elsewhere": Kind(conditional.effect_elsewhere, ("conditional", "unknown")),
    "silent no-op": Kind(conditional.silent_no_op, ("random",)),
    "random refusal": Kind(conditional.random_refusal, ("random",)),
    "random outcome": Kind(conditional.random_outcome, ("random",)),
    "arguments swapped sometimes": Kind(conditional.swapped_sometimes, ("random",)),
    "fault after k uses in the process": Kind(hidden.fault_after_process_uses, ("changing",)),
    "drift of an effect": Kind(hidden.drift_of_effect, ("changing",)),
    "drift of a precondition": Kind(hidden.drift_of_precondition, ("changing",)),
    "one look misread": Kind(seen.misread_look, ("misread", "random")),
    "objects confused": Kind(seen.confused_objects, ("misread", "random")),
    "states misread": Kind(seen.misread_states, ("misread",)),
    "lagging image": Kind(seen.lagging_image, ("misread", "hidden")),
    "lamp of every step": Kind(conditional.lamp_of_every_step, ("conditional",)),
    "lamp of one action": Kind(conditional.lamp_of_one_action, ("conditional",)),
    "two lamps": Kind(conditional.two_lamps, ("conditional",)),
    "lamp of a count": Kind(conditional.lamp_of_a_count, ("conditional",)),
    "effect on all objects": Kind(conditional.effect_on_all, ("conditional",)),
}
FAMILIES: Mapping[str, Kind] = {**HONEST, **FAULTY}


def faulty_agent(family: str, access: Access | str, seed: int, size: int = 2) -> FaultyAgent:
    """The agent of a family: a domain, its problems, and where the fault is put, all drawn from the seed.

    Args:
        family: one of ``FAMILIES``.
        access: what may be asked of it.
        seed: of everything random.
        size: of the generated problems.
    """
    allowed, number = Access(access), list(FAMILIES).index(family)
    rng = np.random.default_rng([seed, 5, number])
    make = FAMILIES[family].make
    given = {"access": allowed} if "access" in signature(make).parameters else {}
    while True:
        domain = DOMAINS[int(rng.integers(len(DOMAINS)))]
        largest = min(size, LARGEST.get(allowed, size))
        setting = Setting.of(domain, allowed, largest, int(rng.integers(2**31)))
        try:
            fault = make(setting, rng, **given)
        except Unsuitable:
            continue
        nature = np.random.default_rng([seed, 6, number, list(Access).index(allowed)])
        return FaultyAgent(fault, fault.setting.problems, allowed, nature)

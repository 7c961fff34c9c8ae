"""``python -m tests.interrogation.chance.measure --seeds N``: what is said of the agents with faults, held against what they are.

A line per agent: how runs ended (*complete*, *open*, *not-strips*, *budget*); false *names*, which are atoms that are called certain and
are none on which a press depends; complete runs in which all *intervals* hold for every press that they speak of (for agents that change
with time: for the mean of the last hundred); runs that found exactly the atoms on which a press depends; means of steps and CPU seconds.
*told* is how often a hidden circumstance, or time, was told of: the run ended as ``not-strips``. No test: it takes minutes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import process_time

import numpy as np

import aam_vision
from aam_vision.interrogation.chance.comparing import differences
from aam_vision.interrogation.chance.interrogating import ChanceResult, Options, interrogate
from aam_vision.interrogation.task.verdict import COMPLETE, NOT_STRIPS
from aam_vision.model.query import Access

from .agents_with_faults import FAULTS, Fault, FaultyAgent

LAST = 100
"""Presses whose mean rate the interval of an agent that changes has to hold."""


def run(fault: Fault, seed: int, access: str, within: float, steps: int) -> tuple[ChanceResult, FaultyAgent]:
    """One interrogation."""
    agent = FaultyAgent(fault, seed, Access(access))
    return interrogate(agent, np.random.default_rng(seed), Options(within, max_steps=steps)), agent


def run_from_diagnosis(
    fault: Fault, seed: int, access: str, within: float, steps: int
) -> tuple[ChanceResult | str, FaultyAgent]:
    """One that takes the agent for a deterministic one, and goes on from its diagnosis; how it ended if it does not."""
    agent = FaultyAgent(fault, seed, Access(access))
    found = aam_vision.interrogate(agent, seed=seed, max_steps=steps, within=within, raises=False)
    if isinstance(found.outcomes, ChanceResult):
        return found.outcomes, agent
    return found.status if found.diagnosis is None else found.diagnosis.family.value, agent


def intervals_hold(result: ChanceResult, agent: FaultyAgent, fault: Fault) -> bool:
    """Whether each interval of a press has the rate of every press that it speaks of."""
    press = next(one for one in result.actions if one.index.header.name == "press")
    bit = {atom.predicate: bit for atom, bit in press.index.bit.items()}
    for case in press.cases:
        if not case.explanation.sure:
            continue
        rates = []
        for one in agent.pressed:
            held, _ = press.index.values(one.state, one.objects)
            if press.case(held) is case and case.explanation.revealing(held):
                rates.append(one.rate)
        if fault.kind == "time":
            rates = [float(np.mean(rates[-LAST:]))] if rates else []
        for outcome, found in zip(case.outcomes, case.frequencies, strict=True):
            for rate in rates:
                slip = (1 - rate) * fault.slips
                share = (
                    rate
                    if outcome.adds & bit["done"]
                    else slip
                    if outcome.adds & bit.get("bent", 0)
                    else 1 - rate - slip
                )
                if not found.low - 1e-9 <= share <= found.high + 1e-9:
                    return False
    return True


def false_names(result: ChanceResult, fault: Fault) -> int:
    """Atoms that are called certain, and are none on which the action depends."""
    wrong = 0
    for action in result.actions:
        wanted = fault.depends if action.index.header.name == "press" else frozenset()
        sure = {atom.predicate for atom in action.index.select(action.dependence.sure)}
        wrong += len(sure - wanted)
    return wrong


def found_exactly(result: ChanceResult, fault: Fault) -> bool:
    """Whether a press is said to depend on what it does depend on, and on nothing else."""
    press = next(one for one in result.actions if one.index.header.name == "press")
    return {atom.predicate for atom in press.index.select(press.dependence.atoms)} == fault.depends


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--access", nargs="*", default=["settable", "snapshot", "reset"])
    parser.add_argument("--within", nargs="*", type=float, default=[0.1, 0.05])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--agents", nargs="*", help="names; default all")
    parser.add_argument(
        "--compare", action="store_true", help="instead: each agent with itself, seeds in pairs"
    )
    parser.add_argument(
        "--diagnosed", action="store_true", help="begin as with any agent, and go on from the diagnosis"
    )
    parser.add_argument("--why", action="store_true", help="print why each run ended")
    options = parser.parse_args()
    chosen = [one for one in FAULTS if not options.agents or one.name in options.agents]
    total: Counter[str] = Counter()
    for fault in chosen:
        for within in options.within:
            for access in options.access:
                _measure(fault, within, access, options, total)
    print(dict(total))


def _measure(
    fault: Fault, within: float, access: str, options: argparse.Namespace, total: Counter[str]
) -> None:
    began, counts, steps = process_time(), Counter[str](), 0
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    for seed in seeds:
        result, agent = (run_from_diagnosis if options.diagnosed else run)(
            fault, seed, access, within, options.steps
        )
        if isinstance(result, str):
            counts[f"only {result}"] += 1
            continue
        if options.compare:
            other, _ = run(fault, seed + 10_000, access, within, options.steps)
            found = differences(result.actions, other.actions, independent=True)
            counts["different"] += any(one.different for one in found)
            continue
        counts[result.status] += 1
        counts["names"] += false_names(result, fault)
        counts["exactly"] += found_exactly(result, fault)
        counts["told"] += result.status == NOT_STRIPS
        counts["intervals"] += result.status == COMPLETE and intervals_hold(result, agent, fault)
        steps += result.counts.steps
        if options.why:
            print("   ", seed, result.status, result.counts.steps, result.why)
    seconds = (process_time() - began) / len(seeds)
    for key, value in counts.items():
        total[f"{fault.kind}: {key}"] += value
    total["runs"] += len(seeds)
    if options.compare:
        print(
            f"{fault.name:24} {within:5} {access:9} different {counts['different']} of {len(seeds)}, {seconds:.1f} s",
            flush=True,
        )
        return
    status = ", ".join(
        f"{name} {counts[name]}"
        for name in (
            *("complete", "open", "not-strips", "budget", "failed"),
            *(one for one in counts if one.startswith("only ")),
        )
        if counts[name]
    )
    print(
        f"{fault.name:24} {within:5} {access:9} {status:28} names {counts['names']}, "
        f"intervals {counts['intervals']} of {counts['complete']}, exactly {counts['exactly']}, "
        f"steps {steps / len(seeds):.0f}, {seconds:.1f} CPU s",
        flush=True,
    )


if __name__ == "__main__":
    main()

"""``python -m experiments.gates``: whether the gate finds what a new version has lost, and how many episodes that takes.

Agents with random flaws (``workshop``; ``--world tabletop``: ``arms``) get one more, of which one kind of objective is achieved less often
by ``LEAST`` at least: that is *lost*. Others stay as they are: nothing is lost, which must not be said to be. Both versions have the same luck,
as from equal seeds, or each its own (``--luck own``).

Beside the pairs that the gate made until it was sure stand the episodes of each version that Fisher's exact test (two-sided, at the same
level) needs to find the same difference with 80% probability, if it were told the number beforehand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from aam_vision.envs.matched import ALPHA, KEPT, LOST, MARGIN, Comparison, gate
from aam_vision.envs.policies import Ended, PolicyAgent
from aam_vision.model.strips import GroundAction, Model, lifted_atoms
from aam_vision.support.commandline import run_command
from experiments import arms, workshop
from experiments.jobs import Experiment, Scale, every
from experiments.objectives import World, instructions
from experiments.options import FirstSeed, about, chosen
from experiments.tables import Row, Summary, as_named, average, percent, total

LEAST = 0.1  # by how much less often, at least, the new version achieves what it has lost: twice the margin
SLOWER = 0.3, 0.8  # how often an attempt succeeds that always did, in a new version that is worse at it
POWER = 0.8  # the probability with which Fisher's test finds the difference


class OwnLuck(PolicyAgent):
    """The same policy with other luck than another version has."""

    def pursue_from(self, start: int, step: GroundAction, luck: int) -> Ended:
        return super().pursue_from(start, step, luck + 1)


class Version(NamedTuple):
    """A version, and what is true of it."""

    agent: PolicyAgent
    truth: Model


def gates(
    world: Annotated[str, about("Of the agents: workshop or tabletop.")] = "workshop",
    pairs: Annotated[int, about("Agents, each with a version that lost something.", min=1)] = 200,
    equal: Annotated[int, about("Agents, each with a version that lost nothing.", min=0)] = 200,
    luck: Annotated[str, about("Of the two versions: same or own.")] = "same",
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/gates")),
) -> int:
    """Whether the gate finds what a new version has lost, and how many episodes that takes.

    Examples:
        python -m experiments.gates --pairs 200 --equal 200
        python -m experiments.gates --world tabletop --luck own
    """
    chosen("world", [world], WORLDS)
    chosen("luck", [luck], ["same", "own"])
    jobs = [
        job
        for lost, number in ((True, pairs), (False, equal))
        for job in every(world=world, luck=luck, lost=lost, seed=range(first_seed, first_seed + number))
    ]
    return Experiment("gates", compared, summary, amiss=amiss).run(jobs, scale)


# --- the versions -------------------------------------------------------------------------------


def _worse_skill(rng: np.random.Generator, flaws: workshop.Flaws) -> workshop.Flaws:
    """A skill needs one literal more, or succeeds less often."""
    actions = workshop.BELIEVED.actions
    action = actions[int(rng.integers(len(actions)))]
    skill = flaws.skills[action.header.name]
    if rng.random() < 0.5:
        atoms = lifted_atoms(workshop.BELIEVED.vocabulary, action.header)
        more = {atoms[int(rng.integers(len(atoms)))]: bool(rng.random() < 0.5)}
        worse = replace(skill, needs={**more, **skill.needs})
    else:
        worse = replace(skill, succeeds=skill.succeeds * float(rng.uniform(*SLOWER)))
    return replace(flaws, skills={**flaws.skills, action.header.name: worse})


def _worse_arm(rng: np.random.Generator, flaws: arms.Flaws) -> arms.Flaws:
    """It takes towers along, does not reach the edge any more, or loses more of what it carries."""
    slips = float(rng.uniform(*SLOWER)) * flaws.succeeds
    more: list[dict[str, Any]] = [{"tower": True}, {"takes": False}, {"puts": False}, {"succeeds": slips}]
    return replace(flaws, **more[int(rng.integers(len(more)))])


WORLDS: dict[str, tuple[World, Callable[[np.random.Generator, Any], Any]]] = {
    "workshop": (workshop.WORKSHOP, _worse_skill),
    "tabletop": (arms.ARMS, _worse_arm),
}


def versions_of(name: str, seed: int, luck: type[PolicyAgent]) -> Iterator[Version]:
    """An agent, and without end versions of it with one flaw more."""
    world, worse = WORLDS[name]
    rng, flaws = np.random.default_rng([seed, 41]), world.flawed(seed)
    yield Version(agent := world.agent(flaws), world.truth(agent, flaws))
    while True:
        new = worse(rng, flaws)
        yield Version(agent := world.agent(new, of=luck), world.truth(agent, new))


def rates(agent: PolicyAgent, truth: Model) -> dict[str, float]:
    """By kind of objective, in what share of the pursuits that a gate may draw it is achieved."""
    shares: dict[str, list[float]] = {one.name: [] for one in agent.headers}
    for begun in agent.initial():
        for step in instructions(agent):
            goal, value = agent.objective(step)
            if (goal in begun.state.true) is not value:
                ends = truth.schema(step.name).successors(begun.state, step.objects)
                shares[step.name].append(
                    sum(often for after, often in ends.items() if (goal in after.true) is value)
                )
    return {name: float(np.mean(found)) if found else 0.0 for name, found in shares.items()}


# --- what the gate says -------------------------------------------------------------------------


def compared(*, world: str, luck: str, lost: bool, seed: int) -> Row:
    """One agent and its new version: what the gate says, and what is true."""
    versions = versions_of(world, seed, OwnLuck if luck == "own" else PolicyAgent)
    old = next(versions)
    before = rates(*old)
    new, after = (old.agent if luck == "same" else _unlucky(old.agent), before)
    if lost:
        new, after = next(
            (version.agent, now)
            for version in versions
            if max(before[name] - (now := rates(*version))[name] for name in before) >= LEAST
        )
    found = {one.name: one for one in gate(old.agent, new, seed=seed).comparisons}
    less = {name: before[name] - after[name] for name in before}
    name = max(less, key=lambda one: less[one])
    told, share = found[name], ALPHA / len(found)
    false = [one for one in found if found[one].verdict == LOST and less[one] <= MARGIN]
    false += [one for one in found if found[one].verdict == KEPT and less[one] > MARGIN]
    row: Row = {"verdict": told.verdict, "pairs": len(told.pairs), "false": false}
    if not lost:
        return row | dict.fromkeys(("less", "fisher", "fewer", "shown"))
    needed = fisher(before[name], after[name], share)
    row |= {"less": less[name], "fisher": needed, "fewer": len(told.pairs) < needed}
    return row | {"shown": told.verdict == LOST and _shown(told, old.agent, new)}


def _unlucky(agent: PolicyAgent) -> PolicyAgent:
    other = agent.another()
    other.__class__ = OwnLuck
    return other


def _shown(found: Comparison, old: PolicyAgent, new: PolicyAgent) -> bool:
    """Whether its witness shows the loss when it is made once more."""
    if (one := found.witness) is None:
        return False
    start, step = one.begun(old, found.name)
    again = [version.pursue_from(start, step, one.luck) for version in (old, new)]
    return again[0].achieved and not again[1].achieved


def fisher(often: float, now: float, level: float) -> int:
    """Episodes of each version with which Fisher's exact test finds that one succeeds less often than the other (to about 1%)."""
    low, high = 1, 2
    while power(often, now, level, high) < POWER:
        low, high = high, 2 * high
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if power(often, now, level, middle) >= POWER else (middle, high)
    return high


def power(often: float, now: float, level: float, episodes: int) -> float:
    """The probability with which the test finds it from so many episodes of each version."""
    from scipy.stats import binom

    counts = np.arange(episodes + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(counts[1:]))])
    ways = factorials[episodes] - factorials - factorials[::-1]  # the logarithm, for so many that succeed
    before, after = (binom.pmf(counts, episodes, probability) for probability in (often, now))
    found = 0.0
    for both in range(2 * episodes + 1):
        olds = np.arange(max(0, both - episodes), min(episodes, both) + 1)
        logs = ways[olds] + ways[both - olds]
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        order = np.argsort(chances, kind="stable")
        summed = np.empty_like(chances)
        summed[order] = np.cumsum(chances[order])
        alike = np.searchsorted(chances[order], chances * (1 + 1e-7), side="right") - 1
        values = summed[order][alike]  # of all that are as unlikely
        rejects = (values <= level) & (2 * olds > both)
        found += float(before[olds[rejects]] @ after[both - olds[rejects]])
    return found


def amiss(row: Row) -> str:
    """What was said for sure and is false."""
    return f"seed {row['seed']}: {', '.join(row['false'])}" if row["false"] else ""


summary = Summary(
    "What a new version has lost, by the gate",
    {
        **as_named("world", "luck", "lost"),
        "agents": len,
        "said lost %": percent(lambda row: row["verdict"] == LOST),
        "false": total(lambda row: len(row["false"])),
        "less often": average("less", 3),
        "pairs": average("pairs", 4),
        "Fisher": average("fisher", 4),
        "fewer than Fisher %": percent("fewer"),
        "shown again %": percent("shown"),
    },
    by=("world", "luck", "lost"),
)


if __name__ == "__main__":
    sys.exit(run_command(gates))

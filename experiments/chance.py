"""``python -m experiments.chance``: agents with chance, beside the published figures of QACE, and in random domains.

With ``--domains FOLDER``, which has a folder with ``domain.pddl`` and problems for each of four of QACE's domains (not in this
repository), each is interrogated with several seeds, with as many steps as QACE took interactions. The table has the variational
distance (VD) to the truth *early*, after half of the interactions that QACE needed for .1, and *late*, after all that it made; in how
many runs the structure was the *same* as the truth's in reachable states; how many models were *exact* in the end; the distance on
QACE's larger *test* problems; certain lines that are *wrong*; intervals that are *right*. QACE's figures are those of the result files
in its repository, AAIR-lab/QACE. Its fifth domain has these alone: its agent is a robot in a simulator.

With ``--random N`` instead, N random domains (``random_chance``) are interrogated and every line that is called certain, and every
interval, is held against the truth. With ``--goes-on`` nobody says that there is chance: an interrogation goes on to outcomes from its diagnosis.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Annotated, Any, NamedTuple

import numpy as np

import aam_vision
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.chance.interrogating import Watch, interrogate
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.query import Access, Agent
from aam_vision.model.strips import (
    ActionSchema,
    Case,
    Effects,
    LiftedAtom,
    Model,
    Outcome,
    cases,
    lifted_atoms,
)
from aam_vision.report.chance_evaluation import check, exact, sample_transitions, variational_distance
from aam_vision.report.evaluation import equivalent
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.jobs import Experiment, Scale, batches, every
from experiments.options import FirstSeed, Names, about, chosen
from experiments.random_strips import Domain, random_domain
from experiments.tables import Column, Row, Summary, Table, as_named, average, part, per, pooled, total

BATCH = 25  # random domains in one job
TRANSITIONS, STATES = 1000, 300  # held-out transitions, and states in which the structure is compared
HELD_OUT = ("distance", "same", "conditional", "split", "proven")
"""What is counted on held-out transitions of random domains, and of conditions."""
HELD_OUT_STEPS = 300
STRANGE = 200  # transitions of QACE's test problems, which are larger


class Published(NamedTuple):
    """QACE's means of ten runs: interactions to a variational distance of .1, in all, the best distance, and seconds."""

    problem: str
    to_tenth: int
    steps: int
    distance: float
    seconds: int
    other_distance: float  # that of the last rows of its other result files, ``qace_gt.csv``


QACE = {
    "explodingblocks": Published("problem0", 183, 243, 0.070, 613, 0.0175),
    "first_responders": Published("problem1", 904, 1760, 0.043, 1009, 0.050),
    "probabilistic_elevators": Published("problem1", 626, 1762, 0.005, 762, 0.0012),
    "tireworld": Published("problem0", 79, 89, 0.190, 136, 0.048),
}
CAFEWORLD = {"domain": "cafeworld", "access": "needs a robot", "late": 130, "QACE VD": 0.067, "QACE s": 1725}
QUESTION = (
    "How near the truth is with as many interactions as QACE took, and in how many seconds? Cafeworld has QACE's figures alone: its agent "
    "is a robot in a task-and-motion simulator that its repository starts in a container of its own, and no PDDL says what it does."
)


def chance(
    domains: Annotated[Path | None, about("Folder with QACE's domains.")] = None,
    seeds: Annotated[int, about("Seeds per domain and access.", min=1)] = 10,
    access: Annotated[Names, about("Of the agent (repeatable); default reset and settable.")] = None,
    random: Annotated[int | None, about("Interrogate so many random domains instead.", min=1)] = None,
    steps: Annotated[int, about("With --random: steps in each at most.", min=1)] = 1000,
    conditional: Annotated[bool, about("With --random: with conditional effects.")] = False,
    goes_on: Annotated[
        bool, about("As without --chance: go on to outcomes from a diagnosis.", "--goes-on")
    ] = False,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/chance")),
) -> int:
    """How well outcomes and their probabilities are learned: QACE's domains, or coverage in random ones.

    Examples:
        python -m experiments.chance --domains qace --seeds 10
        python -m experiments.chance --random 500 --first-seed 1000
        python -m experiments.chance --domains qace --goes-on
    """
    kinds = chosen("access", access, [one.value for one in Access], ["reset", "settable"])
    if (random is None) == (domains is None):
        raise UnusableInput("give either --domains FOLDER or --random N")
    untold = {"goes_on": True} if goes_on else {}
    if random is not None:
        of_each = every(access=kinds, steps=steps, conditional=conditional, **untold)
        drawn = [{**one, **seeds} for one in of_each for seeds in batches(first_seed, random, BATCH)]
        return Experiment("random_chance", batch, coverage).run(drawn, scale)
    assert domains is not None, "one or the other is given"
    seed = range(first_seed, first_seed + seeds)
    jobs = every(folder=str(domains.absolute()), domain=[*QACE], access=kinds, seed=seed, **untold)
    shown = [name for name in _measured.columns if name not in ("runs", "same", "exact")]
    return Experiment("chance", interrogated, comparison, shown=shown, question=QUESTION).run(jobs, scale)


# --- QACE's domains -----------------------------------------------------------------------------


class Learned(NamedTuple):
    """What an interrogation came to."""

    model: Model
    status: str
    steps: int
    actions: Sequence[ActionKnowledge]
    """What is known of outcomes; nothing where the agent was taken for a deterministic one."""


def _learned(agent: Agent, seed: int, steps: int, *, goes_on: bool, watch: Watch | None = None) -> Learned:
    """What is learned in so many steps of an agent with chance; ``goes_on``: nobody says that it has any."""
    if not goes_on:
        found = interrogate(agent, np.random.default_rng(seed), Options(max_steps=steps), watch)
        return Learned(found.model, found.status, found.counts.steps, found.actions)
    result = aam_vision.interrogate(agent, seed=seed, max_steps=steps, raises=False)
    actions = result.outcomes.actions if isinstance(result.outcomes, ChanceResult) else ()
    known = {header.name for header in result.model.headers}
    # several in the place of one, or left out: nothing is said of it
    without = [ActionSchema(header) for header in agent.headers if header.name not in known]
    model = replace(result.model, actions=(*result.model.actions, *without))
    return Learned(model, result.status, result.counts.steps, actions)


def interrogated(*, folder: str, domain: str, access: str, seed: int, goes_on: bool = False) -> Row:
    """One interrogation, and how far its model is from the truth on the way and at the end."""
    place, published = Path(folder) / domain, QACE[domain]
    truth = read_domain(place / "domain.pddl", chance=True)
    initial = read_problem(truth, place / f"{published.problem}.pddl").initial
    strange = [read_problem(truth, path).initial for path in sorted(place.glob("test-problem*.pddl"))]
    rng = np.random.default_rng([seed, 11])
    held_out = sample_transitions(truth, [initial], TRANSITIONS, rng)
    elsewhere = sample_transitions(truth, strange[:2], STRANGE, rng)
    states = list(dict.fromkeys(step.before for step in held_out))[:STATES]
    half = published.to_tenth // 2
    early: list[Model] = []

    def watch(steps: int, model: Any) -> None:
        if steps >= half and not early:
            early.append(model())

    def agent() -> Agent:
        chance = np.random.default_rng([seed, 4])
        return SymbolicAgent(truth, [initial], Access(access), refuses_surely=True, chance=chance)

    if goes_on:  # nothing tells of its steps
        early.append(_learned(agent(), seed, half, goes_on=True).model)
    began = process_time()
    result = _learned(agent(), seed, published.steps, goes_on=goes_on, watch=watch)
    seconds = process_time() - began
    first = early[0] if early else result.model
    return {
        "early": variational_distance(first, truth, held_out),
        "early_structure": equivalent(first, truth, states),
        "distance": variational_distance(result.model, truth, held_out),
        "elsewhere": variational_distance(result.model, truth, elsewhere),
        "structure": equivalent(result.model, truth, states),
        "steps": result.steps,
        "seconds": seconds,
        **_judged(result, truth),
    }


def _judged(result: Learned, truth: Model) -> Row:
    """What is called certain, held against the truth."""
    checks = [(one, check(one, truth.schema(one.index.header.name))) for one in result.actions]
    told = [(one, checked) for one, checked in checks if checked.intervals]
    return {
        "status": result.status,
        "exact": exact(result.model, truth),
        "wrong": [line for _, checked in checks for line in checked.wrong],
        "intervals": sum(len(checked.intervals) for _, checked in told),
        "right": sum(sum(checked.intervals) for _, checked in told),
        "actions": len(told),
        "all_right": sum(all(checked.intervals) for _, checked in told),
        "missing": sum(checked.missing > one.unseen for one, checked in told),
        "executed": sum(bool(one.executed) for one in result.actions),
    }


def _published(name: str) -> Column:
    return lambda rows: getattr(QACE[rows[0]["domain"]], name)


_measured = Summary(
    "Agents with chance, with QACE's interactions",
    {
        **as_named("domain", "access"),
        "runs": len,
        "early": lambda rows: QACE[rows[0]["domain"]].to_tenth // 2,
        "VD": average("early", 3),
        "same": total("early_structure"),
        "late": _published("steps"),
        "VD then": average("distance", 3),
        "QACE VD": _published("distance"),
        "qace_gt": _published("other_distance"),
        "same then": total("structure"),
        "exact": total("exact"),
        "VD tests": average("elsewhere", 3),
        "wrong": lambda rows: len(pooled(rows, "wrong")),
        "right": lambda rows: f"{total('right')(rows)}/{total('intervals')(rows)}",
        "CPU s": average("seconds", 3),
        "QACE s": _published("seconds"),
    },
    by=("domain", "access"),
)


def comparison(rows: Sequence[Row]) -> Table:
    """The four domains that are measured here, beside QACE's figures, and these alone of the fifth."""
    table = _measured(rows)
    return replace(table, rows=[*table.rows, [CAFEWORLD.get(name) for name in table.columns]])


# --- random domains -----------------------------------------------------------------------------


def batch(*, access: str, steps: int, conditional: bool, seed: int, count: int, goes_on: bool = False) -> Row:
    """As many random domains from this seed on."""
    began = process_time()
    sums, found = Counter[str](), []
    for one in range(seed, seed + count):
        judged = _random(one, Access(access), steps, conditional=conditional, goes_on=goes_on)
        if judged is None:
            continue
        sums.update(["runs", str(judged["status"])])
        sums["amiss"] += judged["status"] == "complete" and not judged["same"]
        for name in ("intervals", "right", "actions", "all_right", "missing", "executed", "steps", *HELD_OUT):
            sums[name] += judged[name]
        if judged["wrong"]:
            sums["wrong_runs"] += 1
            found.append([one, judged["wrong"]])
    return {"total": dict(sums), "found": found, "seconds": round(process_time() - began, 2)}


def _random(seed: int, access: Access, steps: int, *, conditional: bool, goes_on: bool) -> Row | None:
    """One random domain; None if it is one in which objects may be named twice."""
    truth, domain = (random_conditional if conditional else random_chance)(seed)
    if domain.repeated:
        return None
    chance = np.random.default_rng([seed, 4])
    agent = SymbolicAgent(truth, domain.problems, access, refuses_surely=True, chance=chance)
    result = _learned(agent, seed, steps, goes_on=goes_on)
    held_out = sample_transitions(truth, domain.problems, HELD_OUT_STEPS, np.random.default_rng([seed, 11]))
    found = [one for one in result.actions if one.dependence.atoms]
    return {
        **_judged(result, truth),
        "steps": result.steps,
        "distance": variational_distance(result.model, truth, held_out),
        "same": equivalent(result.model, truth, [step.before for step in held_out]),
        "conditional": sum(len(one.cases) > 1 for one in truth.actions),
        "split": len(found),
        "proven": sum(one.dependence.sure == one.dependence.atoms for one in found),
    }


def _sum(name: str) -> Callable[[Row], Any]:
    return part(name, "total")


def _percent(name: str, others: str) -> Column:
    return lambda rows: f"{100 * total(_sum(name))(rows) / max(1, total(_sum(others))(rows)):.1f}"


coverage = Summary(
    "Random domains with chance",
    {
        "access": "access",
        **as_named("runs", "complete", "contradicted", column=lambda name: total(_sum(name))),
        "wrong certain": total(_sum("wrong_runs")),
        "intervals": total(_sum("intervals")),
        "right %": _percent("right", "intervals"),
        "all right %": _percent("all_right", "actions"),
        "excluded wrongly": total(_sum("missing")),
        "certain %": _percent("actions", "executed"),
        "when": lambda rows: "/".join(
            str(total(_sum(name))(rows)) for name in ("proven", "split", "conditional")
        ),
        "same": total(_sum("same")),
        "complete, not": total(_sum("amiss")),
        "VD": per(_sum("distance"), _sum("runs"), 3),
        "steps": per(_sum("steps"), _sum("runs"), 1),
        "CPU s": per("seconds", _sum("runs"), 3),
        "seeds": lambda rows: " ".join(str(seed) for seed, _ in pooled(rows, "found")[:3]),
    },
    by=("access",),
)


# Small random domains with chance: those of ``random_strips`` with several outcomes for about half of the actions.
#
# With conditional effects, what about half of the actions do depends on one atom, or on whether two literals hold.


CHANCE = 0.6  # share of the actions that have several outcomes
OUTCOMES = (2, 2, 2, 3, 3, 4)
LEAST = 0.05  # the least probability of an outcome
KEPT, ANOTHER = 0.6, 0.3
"""Share of the effects that an outcome keeps of the action's own, and of outcomes that have one more."""
CONDITIONAL = 0.5  # share of the actions with conditional effects
CONJUNCTION = 0.3  # share of the conditions that are two literals


def random_chance(seed: int) -> tuple[Model, Domain]:
    """A model with chance, and the domain without it that it was made of, which has the problems."""
    domain, rng, actions = random_domain(seed), np.random.default_rng([seed, 5]), []
    for schema in domain.model.actions:
        pool = lifted_atoms(domain.model.vocabulary, schema.header)
        whole = Effects(schema.add, schema.delete - schema.add)
        drawn = {whole: 1.0}
        if rng.random() < CHANCE:
            others = OUTCOMES[int(rng.integers(len(OUTCOMES)))] - 1
            effects = dict.fromkeys([whole, *(_varied(rng, whole, pool) for _ in range(others))])
            shares = LEAST + (1 - LEAST * len(effects)) * rng.dirichlet(np.ones(len(effects)))
            drawn = dict(zip(effects, shares.tolist(), strict=True))
        found = Case(outcomes=tuple(Outcome(share, effects) for effects, share in drawn.items()))
        actions.append(replace(schema.bare, cases=(found,)))
    return Model(domain.model.vocabulary, tuple(actions)), domain


def random_conditional(seed: int) -> tuple[Model, Domain]:
    """A model with chance and conditional effects, and the domain without either that it was made of."""
    model, domain = random_chance(seed)
    rng = np.random.default_rng([seed, 6])
    return replace(model, actions=tuple(_conditional(rng, model, one) for one in model.actions)), domain


def _conditional(rng: np.random.Generator, model: Model, schema: ActionSchema) -> ActionSchema:
    """The action with a condition on one or two atoms, under which it does something else."""
    pool = lifted_atoms(model.vocabulary, schema.header)
    free = [atom for atom in pool if atom not in schema.positive | schema.negative]
    size = 1 + (rng.random() < CONJUNCTION)
    if rng.random() >= CONDITIONAL or len(free) < size:
        return schema
    picked = [free[int(number)] for number in rng.choice(len(free), size=size, replace=False)]
    wanted = {atom: bool(rng.random() < 0.5) for atom in picked}
    most = max(schema.outcomes, key=lambda one: one.probability)
    other: tuple[Outcome, ...] = (Outcome(1.0, _varied(rng, most.effects, pool)),)
    if rng.random() < CHANCE / 2 and len(schema.outcomes) > 1:  # the same outcomes, but how often they come
        shares = [one.probability for one in schema.outcomes]
        other = tuple(
            Outcome(share, one.effects)
            for share, one in zip([*shares[1:], shares[0]], schema.outcomes, strict=True)
        )
    found = cases(
        picked,
        lambda values: other if all(values[atom] is wanted[atom] for atom in picked) else schema.outcomes,
    )
    return replace(schema.bare, cases=found) if len(found) > 1 else schema


def _varied(rng: np.random.Generator, whole: Effects, pool: Sequence[LiftedAtom]) -> Effects:

    def some(atoms: frozenset[LiftedAtom]) -> set[LiftedAtom]:
        return {atom for atom in sorted(atoms, key=str) if rng.random() < KEPT}

    add, delete = some(whole.add), some(whole.delete)
    if pool and rng.random() < ANOTHER:
        atom = pool[int(rng.integers(len(pool)))]
        (add if rng.random() < 0.5 else delete).add(atom)
    return Effects(frozenset(add), frozenset(delete - add))


if __name__ == "__main__":
    sys.exit(run_command(chance))

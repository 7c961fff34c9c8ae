"""``python -m experiments.capabilities``: agents that are told objectives, with flaws drawn at random, which are known here alone.

An agent plans for work among lamps and sockets (``workshop``), or is a scripted robot arm (``--world tabletop``: ``arms``) or a cook
(``kitchen``).
Each is interrogated as by a user, and what is said of it is held against its flaws.

With ``--curve``, the variational distance to the truth is measured by the number of pursuits for three choices of the situation and the
objective that come next: the *interrogation*'s; *random* ones; and a *tree search* as the abstract of MCQS (Monte Carlo Query Synthesis,
arXiv 2512.16733) describes it, for objectives of whose outcomes the most pessimistic and the most optimistic model that agree with what
was seen say the most different. What is learned of the pursuits is worked out in the same way for all three.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from math import log
from pathlib import Path
from time import process_time
from typing import Annotated, Any, NamedTuple

import numpy as np

import aam_vision
from aam_vision.envs.policies import PolicyAgent
from aam_vision.interrogation.chance.graph import StepTable, instruction, successor
from aam_vision.interrogation.chance.interrogating import interrogate
from aam_vision.interrogation.chance.intervals import precision_of
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import SideEffect
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.chance.retelling import learned, observed
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import CLAIMED, Query, Situation
from aam_vision.model.strips import ActionSchema, Atom, GroundAction, LiftedAtom, Model, State
from aam_vision.report.chance_evaluation import Transition, check, sample_transitions, variational_distance
from aam_vision.support.commandline import run_command
from experiments.arms import ARMS
from experiments.interrogations import recorded
from experiments.jobs import Experiment, Scale, every
from experiments.kitchen import COOKS
from experiments.objectives import World, goal_of, instructions
from experiments.options import FirstSeed, about, chosen
from experiments.tables import Row, Summary, as_named, average, percent, total
from experiments.workshop import WORKSHOP

HELD_OUT = 1000  # steps of random walks on which what was learned is compared with the truth
AFTER = (*range(10, 80, 2), 100, 150, 200, 300, 400, 600, 800)
"""Pursuits after which the distance is measured."""
SHOWN = 10, 26, 50, 74, 100, 300, 800  # those of the table
NEAR = 0.1  # the mean distance of which it is told after how many pursuits it is reached


def capabilities(
    world: Annotated[str, about("Of the agents: workshop, tabletop or kitchen.")] = "workshop",
    agents: Annotated[int, about("Agents with random flaws.", min=1)] = 100,
    within: Annotated[float, about("Half width of the intervals that are wanted.")] = 0.1,
    access: Annotated[str, about("Of the agents: reset or snapshot.")] = "reset",
    steps: Annotated[int, about("Pursuits of each agent at most.", min=1)] = 1500,
    curve: Annotated[
        bool, about("Measure the distance to the truth by the number of pursuits instead.")
    ] = False,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/capabilities")),
) -> int:
    """Whether what agents can do is found, where they fail, what else they change, and what they claim falsely.

    Examples:
        python -m experiments.capabilities --agents 100
        python -m experiments.capabilities --world tabletop --out runs/arms
        python -m experiments.capabilities --curve --steps 80 --out runs/curve
    """
    chosen("world", [world], WORLDS)
    chosen("access", [access], ["reset", "snapshot"])
    seeds = range(first_seed, first_seed + agents)
    if curve:
        jobs = every(world=world, access=access, steps=min(steps, AFTER[-1]), seed=seeds, choice=[*CHOICES])
        return Experiment("curve", followed, curves).run(jobs, scale)
    jobs = every(world=world, access=access, within=within, steps=steps, seed=seeds)
    return Experiment("capabilities", assessed, summary, amiss=amiss).run(jobs, scale)


# --- what is found ------------------------------------------------------------------------------


class Planted(NamedTuple):
    """An agent, and what is true of it."""

    agent: PolicyAgent
    truth: Model  # what it does with what an objective names
    side_effects: Mapping[str, Collection[SideEffect]]  # by instruction, what else it may change
    walked: list[Transition]  # steps in its world


WORLDS: dict[str, World] = {"workshop": WORKSHOP, "tabletop": ARMS, "kitchen": COOKS}


def planted(name: str, access: str, seed: int) -> Planted:
    """An agent of one of ``WORLDS``, with flaws drawn at random."""
    world = WORLDS[name]
    flaws = world.flawed(seed)
    agent = world.agent(flaws, access, seed)
    model, rng = world.truth(agent, flaws), np.random.default_rng([seed, 11])
    if world.reachable is not None:  # one step at a time: the model does not say where the next one begins
        before, ways, walked = [*world.reachable(agent, flaws)], instructions(agent), []
        for _ in range(HELD_OUT):
            state, step = before[int(rng.integers(len(before)))], ways[int(rng.integers(len(ways)))]
            after = model.schema(step.name).successors(state, step.objects)
            walked.append(Transition(state, step, [*after][int(rng.choice(len(after), p=[*after.values()]))]))
    else:
        walked = sample_transitions(model, [one.state for one in agent.initial()], HELD_OUT, rng)
    return Planted(agent, model, world.side_effects(agent, flaws), walked)


def assessed(*, world: str, access: str, within: float, steps: int, seed: int) -> Row:
    """One agent: how much of what is said of it is right."""
    agent, model, side_effects, walked = planted(world, access, seed)
    began = process_time()
    result = aam_vision.interrogate(
        agent, chance=True, within=within, max_steps=steps, seed=seed, raises=False
    )
    seconds = process_time() - began
    found = result.outcomes
    assert isinstance(found, ChanceResult), "it was asked for outcomes"
    states, ways = list(dict.fromkeys(step.before for step in walked)), instructions(agent)
    row: Row = {"status": result.status, "pursuits": result.counts.steps, "seconds": seconds}
    row |= {"distance": variational_distance(found.model, model, walked), "wrong": [], "missed": []}
    sums = dict.fromkeys(("right", "intervals", "found", "lies", "lies_found", "lies_invented"), 0)
    for known, true in zip(found.actions, model.actions, strict=True):
        name, own = true.header.name, known.schema()
        checked = check(known, true)
        tried = [(state, one) for state in states for one in ways if one.name == name]
        same = all(
            {*own.successors(state, one.objects)} == {*true.successors(state, one.objects)}
            for state, one in tried
        )
        further = sorted(map(str, _conditions(own) - _conditions(true) - {goal_of(agent, true.header)}))
        beside = {*side_effects[name]} == {*known.side_effects}
        lies, told = (any(_lies(agent, one, *step) for step in tried) for one in (true, own))
        row["wrong"] += checked.wrong
        if not (same and not further and beside):
            row["missed"].append([name, same, further, beside])
        sums["found"] += same and not further and beside
        sums["intervals"] += len(checked.intervals)
        sums["right"] += sum(checked.intervals)
        sums["lies"] += lies
        sums["lies_found"] += lies and told
        sums["lies_invented"] += told and not lies
    return {**row, **sums, "objectives": len(found.actions)}


def _conditions(schema: ActionSchema) -> set[LiftedAtom]:
    return {atom for case in schema.branches for atom in case.positive | case.negative}


def _lies(agent: PolicyAgent, schema: ActionSchema, state: State, step: GroundAction) -> bool:
    """Whether it may claim that the objective holds where it does not."""
    goal, value = agent.objective(step)
    return any(
        Atom(CLAIMED, ()) in after.true and (goal in after.true) is not value
        for after in schema.successors(state, step.objects)
    )


def amiss(row: Row) -> str:
    """What was called certain and is wrong."""
    return f"seed {row['seed']}: {'; '.join(row['wrong'])}" if row["wrong"] else ""


summary = Summary(
    "Agents with random flaws",
    {
        **as_named("world", "access", "within"),
        "agents": len,
        "complete": lambda rows: sum(row["status"] == "complete" for row in rows),
        "objectives": total("objectives"),
        "found %": percent("found", "objectives"),
        "intervals": total("intervals"),
        "right %": percent("right", "intervals"),
        "lies": total("lies"),
        "lies found %": percent("lies_found", "lies"),
        "invented": total("lies_invented"),
        "wrong": total(lambda row: len(row["wrong"])),
        "VD": average("distance", 3),
        "pursuits": average("pursuits", 4),
        "CPU s": average("seconds", 3),
    },
    by=("world", "access", "within"),
)


# --- the curve ----------------------------------------------------------------------------------


def at_random(agent: PolicyAgent, rng: np.random.Generator, number: int) -> Transcript:
    """Pursuits of random objectives from random situations from which the access allows to go on."""
    recording, ways = recorded(agent), instructions(agent)
    places = list(recording.initial())
    for _ in range(number):
        start = places[int(rng.integers(len(places)))]
        step = ways[int(rng.integers(len(ways)))]
        _go_on(agent, places, recording.ask(Query(start, (step,))).final)
    return recording.transcript


def by_interrogation(agent: PolicyAgent, rng: np.random.Generator, number: int) -> Transcript:
    """The pursuits of an interrogation."""
    recording = recorded(agent)
    interrogate(recording, rng, Options(max_steps=number))
    return recording.transcript


def _go_on(agent: PolicyAgent, places: list[Situation], here: Situation) -> None:
    if not agent.access.returns:
        del places[len(agent.seeds) :]
    if all(here.state != one.state for one in places):
        places.append(here)


ITERATIONS, DEPTH, EXPLORED = 200, 4, 1.0
"""Of the tree search: pursuits are simulated so often, so many in a row, and how much those that were simulated seldom are preferred."""


def by_tree_search(agent: PolicyAgent, rng: np.random.Generator, number: int) -> Transcript:
    """The sequences of objectives that tell the most pessimistic and the most optimistic model apart best."""
    recording, precision = recorded(agent), precision_of(0.05)
    places = list(recording.initial())
    known = tuple(ActionKnowledge(AtomIndex(agent.vocabulary, one), precision) for one in agent.headers)
    table, left = StepTable(known), number
    while left > 0:
        tree = _Tree(known, table, rng)
        for _ in range(ITERATIONS):
            tree.simulate([table.begun(one.state) for one in places])
        here = places[tree.best(None)]
        for depth in range(min(DEPTH, left)):
            state = table.begun(here.state)
            if (state, depth) not in tree.visited:
                break  # what came was never simulated
            step = table.distinct(state)[tree.best((state, depth))]
            after = recording.ask(Query(here, (instruction(known, step),))).final
            known[step.action].was_executed(here.state, step.objects, after.state)
            here, left = after, left - 1
            _go_on(agent, places, here)
    return recording.transcript


class _Tree:
    """A search by upper confidence bounds (UCT) over where to begin and what to pursue from there."""

    def __init__(self, known: Sequence[ActionKnowledge], table: StepTable, rng: np.random.Generator) -> None:
        self._known, self._table, self._rng = known, table, rng
        self.visited: dict[Any, Any] = {}
        """By node, of each choice there how often it was made, and the sum of what came of it."""
        self._telling = cache(self._differing)

    def best(self, node: Any) -> int:
        return int(np.argmax(self.visited[node][0]))

    def _chosen(self, node: Any, number: int) -> int:
        made, sums = self.visited.setdefault(node, np.zeros((2, number)))
        if (fresh := np.flatnonzero(made == 0)).size:
            return int(self._rng.choice(fresh))
        return int(np.argmax(sums / made + EXPLORED * np.sqrt(log(made.sum()) / made)))

    def simulate(self, states: Sequence[State]) -> None:
        """Follow the tree once, with outcomes drawn from what is known, and note what it would tell."""
        start = self._chosen(None, len(states))
        state, gains, met = states[start], list[float](), set[tuple[int, int]]()
        path: list[tuple[Any, int]] = [(None, start)]
        for depth in range(DEPTH):
            steps = self._table.distinct(state)
            number = self._chosen((state, depth), len(steps))
            path.append(((state, depth), number))
            step = steps[number]
            kind = step.action, step.held
            gains.append(0.0 if kind in met else self._telling(*kind))
            met.add(kind)
            action = self._known[step.action]
            if (leads := action.leads(step.held)) and action.executed:
                shares = np.array([action.frequencies[one].probability for one, _ in leads])
                place = int(self._rng.choice(len(leads), p=shares / shares.sum()))
                state = self._table.begun(successor(state, action, step, leads[place][1]))
        for depth, (node, number) in enumerate(path):
            self.visited[node][:, number] += 1, sum(gains[max(0, depth - 1) :]) / DEPTH

    def _differing(self, number: int, held: int) -> float:
        """By how much the most pessimistic and the most optimistic model differ in what a pursuit brings about there.

        To the one an outcome comes where all holds that held whenever it came, as seldom as its interval allows; to the other wherever
        nothing rules it out, as often as its interval allows.
        """
        action = self._known[number]
        if not action.executed:
            return 1.0
        total, contexts = 0.0, action.steps.contexts
        for one, often in zip(action.outcomes, action.frequencies, strict=True):
            after = (held | one.adds) & ~one.deletes
            came = [each for each, afters in contexts.items() if (each | one.adds) & ~one.deletes in afters]
            if after == held or not came:
                continue
            always, never = came[0], ~came[0]
            for each in came:
                always, never = always & each, never & ~each
            covered = not (always & ~held or never & held)
            ruled_out = held in contexts and after not in contexts[held]
            total += 0.0 if ruled_out else often.high - (often.low if covered else 0.0)
        return min(1.0, total)


CHOICES = {"interrogation": by_interrogation, "random": at_random, "tree search": by_tree_search}


def followed(*, world: str, access: str, choice: str, steps: int, seed: int) -> Row:
    """The distance to the truth of what was learned, by the number of pursuits."""
    agent, model, _, walked = planted(world, access, seed)
    began = process_time()
    transcript = CHOICES[choice](agent, np.random.default_rng([seed, 12]), steps)
    seconds = process_time() - began
    made = list(observed(transcript))
    distances: dict[str, float] = {}
    for after in (one for one in AFTER if one <= steps):
        found = learned(transcript, made[:after], precision_of(0.05)).actions
        own = Model(model.vocabulary, tuple(one.schema() for one in found))
        distances[str(after)] = variational_distance(own, model, walked)
    return {"distances": distances, "pursuits": len(made), "seconds": seconds}


def _after(number: int, digits: int | None = None) -> Callable[[list[Row]], float | None]:
    return average(lambda row: row["distances"].get(str(number)), digits)


def _near(rows: list[Row]) -> int | None:
    """After how many pursuits it is near to the truth."""
    means = ((after, _after(after)(rows)) for after in AFTER)
    return next((after for after, mean in means if mean is not None and mean <= NEAR), None)


curves = Summary(
    "Variational distance to the truth by the number of pursuits",
    {
        **as_named("world", "access", "choice"),
        "agents": len,
        **{str(after): _after(after, 3) for after in SHOWN},
        f"to {NEAR}": _near,
        "CPU s": average("seconds", 3),
    },
    by=("world", "access", "choice"),
)


if __name__ == "__main__":
    sys.exit(run_command(capabilities))

"""How the cost of an interrogation grows with the world of the agent.

``python -m experiments.growth`` interrogates symbolic agents in worlds of growing size, each in a process of its own, and
fits the exponent of the CPU time in the number of objects (of a Sokoban board: of its cells).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Annotated, Any, TypeVar

import numpy as np

from aam_vision.agents.perception import Cell
from aam_vision.envs.grids import STEPS, cell_names, neighbours
from aam_vision.envs.pddlgym_files import chance_model
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, Objects, State
from aam_vision.planning.planner import cpu_seconds
from aam_vision.report import evaluation
from aam_vision.run import targets
from aam_vision.run.targets import Target
from aam_vision.run.targets.symbolic import symbolic
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.jobs import Experiment, Parameters, Scale, every
from experiments.noise import wrongly_certain
from experiments.options import FirstSeed, Names, Seeds, about, chosen
from experiments.tables import (
    COLOURS,
    Column,
    Row,
    Summary,
    as_named,
    grouped,
    save_svg,
    share,
    spread_of,
    values,
)

ACCESSES = tuple(access.value for access in Access)
BOUNDED = "snapshot"  # the access to which the bounds belong
MEGABYTES = 1000  # the memory that no run should exceed
LIMIT_S = 300.0
SMALL = 2  # sizes of a family where not all are wanted

QUESTION = (
    "How do time and memory grow with the number of objects? *At most*: the bounds that are aimed at. *Equivalent*: the same "
    "successors in reachable states; *wrong certain*: lines called certain that are wrong."
)


def growth(
    family: Annotated[Names, about(f"Only {', '.join(FAMILIES)} (repeatable).")] = None,
    size: Annotated[
        list[int] | None,
        about(f"Sizes (repeatable); default all under {BOUNDED} access, else {SMALL}.", min=1),
    ] = None,
    small: Annotated[bool, about(f"Only the {SMALL} smallest sizes.", "--small")] = False,
    access: Annotated[Names, about(f"Only {', '.join(ACCESSES)} (repeatable).")] = None,
    seeds: Seeds = 1,
    first_seed: FirstSeed = 0,
    max_steps: Annotated[int | None, about("Steps of an interrogation; default no limit.", min=1)] = None,
    scale: Scale = Scale(processes=1, job_seconds=LIMIT_S, out=Path("runs/growth")),
) -> int:
    """CPU time, memory and result of interrogations in worlds of growing size.

    A run that takes longer than --job-seconds is shown as over the limit, and left out where exponents are
    fitted. Exit code: 1 if there is such a run.

    Examples:
        python -m experiments.growth
        python -m experiments.growth --small --access snapshot
        python -m experiments.growth --family sokoban --size 10 --size 20 --seeds 3
        python -m experiments.growth --family rovers --access settable --access reset
    """
    names, accesses = chosen("family", family, FAMILIES), chosen("access", access, ACCESSES)
    if size and family == ["blocksworld"] and min(size) < 3:
        raise UnusableInput("has at least 3 blocks", "size", min(size))
    jobs: list[Parameters] = []
    for allowed, name in product(accesses, names):
        few = small or allowed != BOUNDED
        sizes = size or [*FAMILIES[name].sizes[: SMALL if few else None]]
        seed = range(first_seed, first_seed + seeds)
        jobs += every(family=name, size=sizes, access=allowed, seed=seed, max_steps=max_steps)
    told = Experiment(
        "growth", grown, summary, exponents, SHOWN, question=QUESTION, figure=figure, costs=True
    )
    return told.run(jobs, scale)


def _statuses(runs: list[Row]) -> str:
    """How the runs ended; one without a result has ``error``."""
    late = "over its limit"
    found = [
        run.get("status") or ("over the limit" if run["error"].startswith(late) else "failed") for run in runs
    ]
    if len(set(found)) == 1:
        return str(found[0])
    return ", ".join(f"{number} {status}" for status, number in Counter(found).items())


def _bound(bound: Callable[[Row], Any]) -> Column:
    """A column of bounds, which are those of one access."""
    return lambda runs: bound(runs[0]) if runs[0]["access"] == BOUNDED else None


def _objects(runs: list[Row]) -> str | None:
    sizes = values(runs, "objects")
    return f"{min(sizes)} to {max(sizes)}" if sizes else None


summary = Summary(
    f"Growth with the world (memory: at most {MEGABYTES} MB)",
    {
        **as_named("family", "size"),
        "objects": lambda runs: next(iter(values(runs, "objects")), None),
        "access": "access",
        "CPU s": spread_of("seconds"),
        "at most": _bound(lambda run: FAMILIES[run["family"]].bounds.get(run["size"])),
        "MB": lambda runs: max(values(runs, "megabytes"), default=None),
        **as_named("queries", "steps", column=spread_of),
        "status": _statuses,
        **as_named("equivalent", "exact", column=share),
        "wrong certain": lambda runs: sum(known) if (known := values(runs, "wrong")) else None,
        "runs": len,
    },
    by=("family", "size", "access"),
)
"""``objects``: of one problem, of a Sokoban board its cells. ``equivalent``: same applicability and successors in sampled
reachable states of the interrogated problems."""
SHOWN = (
    "family", "size", "objects", "access", "CPU s", "at most", "MB", "status", "equivalent", "wrong certain",
)  # fmt: skip
exponents = Summary(
    "Exponents of CPU time in the number of objects",
    {
        **as_named("family", "access"),
        "objects": _objects,
        "exponent": lambda runs: fitted(values(runs, "objects"), values(runs, "seconds")),
        "at most": _bound(lambda run: FAMILIES[run["family"]].exponent),
        "runs": lambda runs: f"{len(values(runs, 'status'))}/{len(runs)}",
    },
    by=("family", "access"),
)
"""The exponent b of the CPU time a n^b that fits the runs best, on a logarithmic scale."""


def fitted(objects: Sequence[int], seconds: Sequence[float]) -> float | None:
    """The slope of the straight line through the logarithms by least squares; None if there is only one size."""
    if len(set(objects)) < 2:
        return None
    slope, _ = np.polyfit(np.log(objects), np.log(np.maximum(seconds, 1e-3)), 1)
    return float(slope)


def figure(rows: Sequence[Row], path: Path) -> None:
    """CPU time by number of objects, a panel for each access; rings are the bounds."""
    from matplotlib.figure import Figure

    done = [row for row in rows if "error" not in row]
    panels = grouped(done, "access")
    drawn = Figure(figsize=(0.8 + 3.6 * len(panels), 3.6), layout="constrained")
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, ((access,), some) in zip(axes, panels.items(), strict=True):
        for name, runs in grouped(some, "family").items():
            colour = COLOURS[list(FAMILIES).index(name[0]) % len(COLOURS)]
            by_size = grouped(runs, "size", "objects")
            middle = sorted(
                (objects, mean(run["seconds"] for run in here)) for (_, objects), here in by_size.items()
            )
            panel.plot(*zip(*middle, strict=True), color=colour, label=name[0])
            panel.scatter(
                [run["objects"] for run in runs], [run["seconds"] for run in runs], s=10, color=colour
            )
            bounds = FAMILIES[name[0]].bounds if access == BOUNDED else {}
            rings = [(objects, bounds[size]) for size, objects in by_size if size in bounds]
            panel.scatter(
                *zip(*rings, strict=True), s=36, facecolors="none", edgecolors=colour
            ) if rings else None
        panel.set(xscale="log", yscale="log", xlabel="objects (Sokoban: cells)", title=access)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("CPU s")
    axes[0].legend(frameon=False, fontsize="small")
    save_svg(drawn, path)


# One interrogation of ``experiments.growth``: a world of a given size, what it cost, and how right its result is.


SAMPLED_STATES = 200
"""Reachable states of the interrogated problems on which the learned model is compared with the true one."""
STONES = {10: 5, 15: 5, 20: 10, 30: 20}
"""Stones of a Sokoban board by its side; other boards have a stone for every third cell of a side."""


@dataclass(frozen=True)
class Family:
    """Worlds of any size that are alike but for that.

    ``make`` takes a size, an access and a seed; ``counted`` is the type of the objects that count as the size of a
    world when exponents are fitted; ``bounds`` are CPU seconds under snapshot access by size.
    """

    sizes: tuple[int, ...]
    make: Callable[[int, Access, int], Target]
    bounds: dict[int, float]
    exponent: float = 1.5  # the greatest exponent that CPU time may have in the number of objects
    counted: str = "object"

    def objects(self, state: State) -> int:
        return len(state.objects.of_type(self.counted))


def _packaged(name: str, size: int, access: Access, seed: int, fewer: int = 0) -> Target:
    """Generated problems of a packaged domain; what counts as the size is ``fewer`` than the generator's."""
    return targets.from_environment(name, access=access.value, size=size - fewer, seed=seed)


def _sokoban(size: int, access: Access, seed: int) -> Target:
    truth = board_domain("sokoban").truth()
    stones = STONES.get(size, max(1, size // 3))
    board = sokoban_board(size, stones, np.random.default_rng([seed, 1]))
    return symbolic("sokoban", ["board"], truth, [board], [], access)


FAMILIES: Mapping[str, Family] = {
    "sokoban": Family(
        (5, 10, 15, 20, 30), _sokoban, {10: 6, 15: 12, 20: 25, 30: 90}, exponent=1.3, counted="location"
    ),
    "blocksworld": Family((3, 8, 18, 38), partial(_packaged, "blocksworld", fewer=2), {38: 2}),
    "logistics": Family((2, 4, 8, 16), partial(_packaged, "logistics"), {16: 5}),
    "rovers": Family((2, 4, 8), partial(_packaged, "rovers"), {2: 15, 4: 15, 8: 40}),
    "barman": Family((2, 4, 8), partial(_packaged, "barman"), {2: 15, 4: 15, 8: 40}),
}
"""By name. The size of a Sokoban board is its side in cells, that of a blocksworld problem its number of blocks; all other
sizes are those of the problem generators. Packaged domains have three problems (one under trajectory access)."""


def grown(*, family: str, size: int, access: str, seed: int, max_steps: int | None) -> Row:
    """Interrogate the agent of a world, and compare its model with the true one in reachable states of that world.

    ``seconds`` are CPU seconds with the agent's part, without start-up and comparison; ``megabytes`` the most memory of the process.
    ``wrong`` are palm tuples that the result calls certain and that are not so; what no query can tell in this world is none.
    """
    kind = FAMILIES[family]
    target = kind.make(size, Access(access), seed)
    asked = Interrogation(target.agent, budget=Budget(steps=max_steps), exam=0)
    began = cpu_seconds()
    result = asked.run(np.random.default_rng(seed))
    seconds, megabytes = cpu_seconds() - began, peak_megabytes()
    assert target.truth is not None, "all of these agents have a known model"
    truth = target.truth()
    problems = [situation.state for situation in target.agent.initial()]
    states = evaluation.sample_states(truth, problems, SAMPLED_STATES, np.random.default_rng([seed, 2]))
    return {
        "objects": max(map(kind.objects, problems)),
        "status": "complete" if result.proven else "budget",
        "queries": result.counts.queries,
        "steps": result.counts.steps,
        "seconds": round(seconds, 3),
        "megabytes": round(megabytes, 1),
        "exact": evaluation.exact(result.model, truth),
        "equivalent": evaluation.equivalent(result.model, truth, states),
        "wrong": wrongly_certain(result.certain, truth),
        "undetermined": len(result.undetermined),
        "why": result.why,
    }


def peak_megabytes() -> float:
    """The greatest memory that this process has had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells begins with the parent's memory at the fork
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")) / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


# Sokoban boards of any size, for measuring how the cost of an interrogation grows with the board.
#
# An n x n board has 12% walls and as many goals as stones. Its floor is connected, nothing but walls blocks the edge,
# every stone can be pushed from where the player can go at the start, and at least one can be pushed to a goal.


WALLS = 0.12  # share of the cells that are walls
One = TypeVar("One")
TRIES = 1000  # how often things are placed on a board, at most, until all can be pushed as they should


def sokoban_board(size: int, stones: int, rng: np.random.Generator) -> State:
    """The initial state of a board of ``size`` x ``size`` cells, walls included; UnusableInput if it has no room for the stones."""
    cells = [(row, column) for row in range(size) for column in range(size)]
    floor = _floor(cells, round(WALLS * len(cells)), rng)
    if size > 1 and 2 * stones < len(floor):
        for _ in range(TRIES):
            player, *drawn = [floor[int(i)] for i in rng.permutation(len(floor))]
            goals, places = set(drawn[:stones]), drawn[stones : 2 * stones]
            if _can_be_played(set(floor), goals, places, player):
                return _state(size, set(floor), goals, places, player)
    raise UnusableInput(
        f"no board of {size} x {size} cells with {stones} stones was found; give a larger size"
    )


def _floor(cells: list[Cell], walls: int, rng: np.random.Generator) -> list[Cell]:
    """The cells that are left when so many are walled up one by one, where that leaves the others connected."""
    floor = set(cells)
    for number in rng.permutation(len(cells)):
        if walls == 0:
            break
        cell = cells[int(number)]
        rest = floor - {cell}
        if len([*_reached(_beside(cell, rest)[:1], partial(_beside, within=rest))]) == len(rest):
            floor, walls = rest, walls - 1
    return sorted(floor)


def _beside(cell: Cell, within: Collection[Cell]) -> list[Cell]:
    found = [(cell[0] + down, cell[1] + right) for down, right in STEPS.values()]
    return [one for one in found if one in within]


def _reached(starts: Iterable[One], onward: Callable[[One], Iterable[One]]) -> Iterator[One]:
    """All that can be reached from somewhere, step by step, each once."""
    found = [*starts]
    seen = {*found}
    for here in found:  # which grows meanwhile
        yield here
        new = dict.fromkeys(one for one in onward(here) if one not in seen)
        found += new
        seen.update(new)


def _pushes(floor: set[Cell], stones: Collection[Cell], stone: Cell, player: Cell) -> list[Cell]:
    """Where one stone can be pushed to, with the others where they are."""
    free = floor - set(stones)
    near = {*_reached([player], partial(_beside, within=free))}
    ways = [
        ((stone[0] - down, stone[1] - right), (stone[0] + down, stone[1] + right))
        for down, right in STEPS.values()
    ]
    return [ahead for behind, ahead in ways if behind in near and ahead in free]


def _can_be_played(floor: set[Cell], goals: set[Cell], stones: list[Cell], player: Cell) -> bool:
    """Whether every stone can be pushed at the start, and some stone to a goal with the others where they are."""
    if not all(_pushes(floor, stones, stone, player) for stone in stones):
        return False

    def led(stone: Cell) -> bool:
        """Whether it can be led to a goal; after a push the player stands where the stone was."""
        others = [one for one in stones if one != stone]
        onward = _reached(
            [(stone, player)],
            lambda at: [(ahead, at[0]) for ahead in _pushes(floor, [*others, at[0]], *at)],
        )
        return any(place in goals for place, _ in onward)

    return any(map(led, stones))


def _state(size: int, floor: set[Cell], goals: set[Cell], stones: list[Cell], player: Cell) -> State:
    """The board in PDDLGym's words."""
    named = cell_names(size, size, "pos-{column}-{row}")
    where = {f"stone-{number:02}": stone for number, stone in enumerate(stones, 1)} | {"player-01": player}
    kinds = dict.fromkeys([f"dir-{way}" for way in STEPS], "direction")
    kinds |= dict.fromkeys(named.values(), "location") | dict.fromkeys(where, "thing")
    steps = neighbours({cell: name for cell, name in named.items() if cell in floor})
    facts = [Atom("move-dir", (start, end, f"dir-{way}")) for start, end, way in steps]
    facts += [Atom("is-goal" if cell in goals else "is-nongoal", (name,)) for cell, name in named.items()]
    facts += [Atom("clear", (named[cell],)) for cell in sorted(floor - set(where.values()))]
    for thing, cell in where.items():
        stone = thing != "player-01"
        facts += [Atom("at", (thing, named[cell])), Atom("is-stone" if stone else "is-player", (thing,))]
    return State(frozenset(facts), Objects(kinds, chance_model("sokoban").vocabulary.types))


if __name__ == "__main__":
    sys.exit(run_command(growth))

"""How the cost of an interrogation grows with the world of the agent.

``python -m experiments.growth`` interrogates symbolic agents in worlds of growing size, each in a process of its own, and
fits the exponent of the CPU time in the number of objects (of a Sokoban board: of its cells).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from aam_vision.commandline import run_command
from aam_vision.envs.grids import STEPS, cell_names, neighbours
from aam_vision.envs.pddlgym_files import declarations
from aam_vision.errors import UnusableInput
from aam_vision.perception import Cell
from aam_vision.query import Access
from aam_vision.strips import Atom, Objects, State
from experiments.jobs import COLOURS, Parameters, Presentation, Row, Scale, Table, report, save_svg, spread

if TYPE_CHECKING:
    from aam_vision.query import Access
    from aam_vision.strips import State
    from aam_vision.targets import Target


ACCESSES = tuple(access.value for access in Access)
BOUNDED = "snapshot"
"""The access to which the bounds belong."""
MEGABYTES = 1000
"""The memory that no run should exceed."""
LIMIT_S = 300.0
SMALL = 2
"""Sizes of a family where not all are wanted."""
COLUMNS = (
    "family", "size", "objects", "access", "CPU s", "at most", "MB", "queries", "steps", "status", "equivalent",
    "exact", "wrong certain", "runs",
)  # fmt: skip
"""``objects``: of one problem, of a Sokoban board its cells. ``equivalent``: same applicability and successors in sampled
reachable states of the interrogated problems."""
GROWTH_COLUMNS = ("family", "access", "objects", "exponent", "at most", "runs", "left out")


def growth(
    family: Annotated[
        list[str] | None, typer.Option(help=f"Only {', '.join(FAMILIES)} (repeatable).")
    ] = None,
    size: Annotated[
        list[int] | None,
        typer.Option(min=1, help=f"Sizes (repeatable); default all under {BOUNDED} access, else {SMALL}."),
    ] = None,
    small: Annotated[bool, typer.Option("--small", help=f"Only the {SMALL} smallest sizes.")] = False,
    access: Annotated[
        list[str] | None, typer.Option(help=f"Only {', '.join(ACCESSES)} (repeatable).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of every size.")] = 1,
    first_seed: Annotated[int, typer.Option(min=0, help="The first of their seeds.")] = 0,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of an interrogation; default no limit.")
    ] = None,
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
    for option, given, known in (("family", family, FAMILIES), ("access", access, ACCESSES)):
        for name in given or ():
            if name not in known:
                raise UnusableInput(f"unknown; use one of {', '.join(known)}", option, name)
    if size and family == ["blocksworld"] and min(size) < 3:
        raise UnusableInput("has at least 3 blocks", "size", min(size))
    jobs: list[Parameters] = [
        {"family": name, "size": one, "access": allowed, "seed": seed, "max_steps": max_steps}
        for allowed in access or ACCESSES
        for name in family or FAMILIES
        for one in size or _sizes(name, allowed, small=small)
        for seed in range(first_seed, first_seed + seeds)
    ]
    return report(
        "growth",
        jobs,
        Presentation(summary, further=exponents, figure=figure, failures=True),
        scale,
        work=grown,
        alone=True,
    )


def _sizes(family: str, access: str, *, small: bool) -> tuple[int, ...]:
    sizes = FAMILIES[family].sizes
    return sizes[:SMALL] if small or access != BOUNDED else sizes


def summary(rows: Sequence[Row]) -> Table:
    """One line per family, size and access; a run without a result has ``error``."""
    lines: list[list[Any]] = []
    for (name, size, access), runs in Table.groups(rows, "family", "size", "access").items():
        done = [run for run in runs if "error" not in run]
        shares = [
            f"{sum(run[what] for run in done)}/{len(done)}" if done else None
            for what in ("equivalent", "exact")
        ]
        lines.append(
            [
                name,
                size,
                done[0]["objects"] if done else None,
                access,
                spread([run["seconds"] for run in done]),
                FAMILIES[name].bounds.get(size) if access == BOUNDED else None,
                max((run["megabytes"] for run in done), default=None),
                spread([run["queries"] for run in done]),
                spread([run["steps"] for run in done]),
                _statuses(runs),
                *shares,
                sum(run["wrong"] for run in done) if done else None,
                len(runs),
            ]
        )
    return Table(f"Growth with the world (memory: at most {MEGABYTES} MB)", COLUMNS, lines)


def _statuses(runs: Sequence[Row]) -> str:
    found = [_status(run) for run in runs]
    counted = {status: found.count(status) for status in found}
    return found[0] if len(counted) == 1 else ", ".join(f"{n} {status}" for status, n in counted.items())


def _status(run: Row) -> str:
    if "error" not in run:
        return str(run["status"])
    return "over the limit" if run["error"].startswith("over its limit") else "failed"


def exponents(rows: Sequence[Row]) -> Table:
    """One line per family and access: the exponent b of the CPU time a n^b that fits the runs best, on a logarithmic scale."""
    lines: list[list[Any]] = []
    for (name, access), runs in Table.groups(rows, "family", "access").items():
        done = [run for run in runs if "error" not in run]
        sizes = sorted({run["objects"] for run in done})
        lines.append(
            [
                name,
                access,
                f"{sizes[0]} to {sizes[-1]}" if sizes else None,
                fitted([run["objects"] for run in done], [run["seconds"] for run in done]),
                FAMILIES[name].exponent if access == BOUNDED else None,
                len(done),
                len(runs) - len(done),
            ]
        )
    return Table("Exponents of CPU time in the number of objects", GROWTH_COLUMNS, lines)


def fitted(objects: Sequence[int], seconds: Sequence[float]) -> float | None:
    """The slope of the straight line through the logarithms by least squares; None if there is only one size."""
    import numpy as np

    if len(set(objects)) < 2:
        return None
    slope, _ = np.polyfit(np.log(objects), np.log(np.maximum(seconds, 1e-3)), 1)
    return float(slope)


def figure(rows: Sequence[Row], path: Path) -> None:
    """CPU time by number of objects, a panel for each access; rings are the bounds."""
    from matplotlib.figure import Figure

    done = [row for row in rows if "error" not in row]
    panels = Table.groups(done, "access")
    drawn = Figure(figsize=(0.8 + 3.6 * len(panels), 3.6), layout="constrained")
    axes = drawn.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, ((access,), some) in zip(axes, panels.items(), strict=True):
        for name, runs in Table.groups(some, "family").items():
            colour = COLOURS[list(FAMILIES).index(name[0]) % len(COLOURS)]
            by_size = Table.groups(runs, "size", "objects")
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
    exponent: float = 1.5
    """The greatest exponent that CPU time may have in the number of objects."""
    counted: str = "object"

    def objects(self, state: State) -> int:
        """How large a problem is."""
        return len(state.objects.of_type(self.counted))


def _packaged(name: str, fewer: int = 0) -> Callable[[int, Access, int], Target]:
    """Generated problems of a packaged domain; what counts as the size is ``fewer`` than the generator's."""

    def made(size: int, access: Access, seed: int) -> Target:
        from aam_vision import targets

        return targets.from_environment(name, access=access.value, size=size - fewer, seed=seed)

    return made


def _sokoban(size: int, access: Access, seed: int) -> Target:
    """One board."""
    import numpy as np

    from aam_vision.agents.symbolic import SymbolicAgent
    from aam_vision.envs.ground_truth import ground_truth_model
    from aam_vision.targets import Target

    stones = STONES.get(size, max(1, size // 3))
    truth, board = (
        ground_truth_model("sokoban"),
        sokoban_board(size, stones, np.random.default_rng([seed, 1])),
    )
    agent = SymbolicAgent(truth, [board], access, refuses_surely=True)
    return Target("sokoban", ("board",), agent, truth=lambda: truth, held_out=list)


FAMILIES = {
    "sokoban": Family(
        (5, 10, 15, 20, 30), _sokoban, {10: 6, 15: 12, 20: 25, 30: 90}, exponent=1.3, counted="location"
    ),
    "blocksworld": Family((3, 8, 18, 38), _packaged("blocksworld", fewer=2), {38: 2}),
    "logistics": Family((2, 4, 8, 16), _packaged("logistics"), {16: 5}),
    "rovers": Family((2, 4, 8), _packaged("rovers"), {2: 15, 4: 15, 8: 40}),
    "barman": Family((2, 4, 8), _packaged("barman"), {2: 15, 4: 15, 8: 40}),
}
"""By name. The size of a Sokoban board is its side in cells, that of a blocksworld problem its number of blocks; all other
sizes are those of the problem generators. Packaged domains have three problems (one under trajectory access)."""


def grown(*, family: str, size: int, access: str, seed: int, max_steps: int | None) -> Row:
    """Interrogate the agent of a world, and compare its model with the true one in reachable states of that world.

    ``seconds`` are CPU seconds of the interrogation with the agent's part; start-up and comparison are left out.
    ``megabytes`` is the greatest memory that the process had until its end. What no query can tell in this world makes no
    difference in its reachable states, so that it does not count as wrong: ``wrong`` are palm tuples that the result
    calls certain and that are not the true model's.
    """
    import numpy as np

    from aam_vision import evaluation
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.budget import Budget
    from aam_vision.planning.planner import cpu_seconds
    from aam_vision.query import Access
    from experiments.noise import wrongly_certain

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


WALLS = 0.12
"""Share of the cells that are walls."""
TRIES = 1000
"""How often things are placed on a board, at most, until all can be pushed as they should."""


def sokoban_board(size: int, stones: int, rng: np.random.Generator) -> State:
    """The initial state of a board of ``size`` x ``size`` cells, walls included.

    Raises:
        UnusableInput: there is no room for so many stones.
    """
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
        if len(_reached(rest, next(iter(_beside(cell, rest)), None))) == len(rest):
            floor, walls = rest, walls - 1
    return sorted(floor)


def _beside(cell: Cell, within: Collection[Cell]) -> list[Cell]:
    found = [(cell[0] + down, cell[1] + right) for down, right in STEPS.values()]
    return [one for one in found if one in within]


def _reached(free: Collection[Cell], start: Cell | None) -> set[Cell]:
    """The free cells that can be reached from one of them."""
    if start is None:
        return set()
    found, waiting = {start}, [start]
    while waiting:
        for cell in _beside(waiting.pop(), free):
            if cell not in found:
                found.add(cell)
                waiting.append(cell)
    return found


def _pushes(floor: set[Cell], stones: Collection[Cell], stone: Cell, player: Cell) -> list[Cell]:
    """Where one stone can be pushed to, with the others where they are."""
    free = floor - set(stones)
    near = _reached(free, player)
    ways = [
        ((stone[0] - down, stone[1] - right), (stone[0] + down, stone[1] + right))
        for down, right in STEPS.values()
    ]
    return [ahead for behind, ahead in ways if behind in near and ahead in free]


def _can_be_played(floor: set[Cell], goals: set[Cell], stones: list[Cell], player: Cell) -> bool:
    """Whether every stone can be pushed at the start, and some stone to a goal with the others where they are."""
    if not all(_pushes(floor, stones, stone, player) for stone in stones):
        return False
    for stone in stones:
        others = [one for one in stones if one != stone]
        seen, waiting = {(stone, player)}, [(stone, player)]
        while waiting:
            place, at = waiting.pop()
            for ahead in _pushes(floor, [*others, place], place, at):
                if ahead in goals:
                    return True
                if (ahead, place) not in seen:  # the player stands where the stone was
                    seen.add((ahead, place))
                    waiting.append((ahead, place))
    return False


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
    return State(frozenset(facts), Objects(kinds, declarations("sokoban").types))


if __name__ == "__main__":
    sys.exit(run_command(growth))

"""One interrogation of ``experiments.growth``: a world of a given size, what it cost, and how right its result is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.jobs import Row

if TYPE_CHECKING:
    from aam_vision.query import Access
    from aam_vision.strips import State
    from aam_vision.targets import Target

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
    from experiments.sokoban_boards import sokoban_board

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

"""``python -m experiments.checkpoints``: an early and a late checkpoint of a policy of Stable-Baselines3, told apart by the gate.

The policy is trained on a task of MiniGrid: to go to the green square, from anywhere in the room and in any direction. As in a test of a
new version, the gate is given the late checkpoint as the old version and the early one as the new one, and the other way round. Its interval of
the difference, and that of each checkpoint's own rate, are held against episodes from other starts, in which nothing of this toolkit takes
part (the extra ``policies`` has what is needed).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from aam_vision.envs.matched import Draws, gate, rate
from aam_vision.envs.policies import PolicyAgent, by_actions
from aam_vision.model.strips import Atom, Predicate, Types, Vocabulary
from aam_vision.support.commandline import run_command
from experiments.jobs import Experiment, Scale, every
from experiments.options import FirstSeed, about
from experiments.tables import Row, Summary, as_named, average

TASK, WIDTH, MOVES = "MiniGrid-Empty-Random-6x6-v0", 6, 30
"""The task, squares of its room in a row, and moves of an episode."""
STARTS = 1000  # seeds of the starts from which the gate draws; other episodes begin with later ones
PURSUITS = 300  # from starts among these, which tell how often each checkpoint arrives
EARLY, LATE = 2_000, 20_000  # steps after which the checkpoints are taken
WORDS = Vocabulary("room", (Predicate("reached", ("square",)),), Types({"square": "object"}))


def checkpoints(
    seeds: Annotated[int, about("Trainings.", min=1)] = 5,
    episodes: Annotated[int, about("Independent episodes of each checkpoint.", min=1)] = 1000,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/checkpoints")),
) -> int:
    """Whether the gate tells an early checkpoint from a late one, and whether its figures are right.

    Examples:
        python -m experiments.checkpoints --seeds 5
    """
    jobs = every(episodes=episodes, seed=range(first_seed, first_seed + seeds))
    return Experiment("checkpoints", trained, table, amiss=amiss).run(jobs, scale)


def room() -> Any:
    """The environment; what is seen are the robot's column, row and direction, each as zeros and a one."""
    import gymnasium
    import minigrid  # noqa: F401 - it registers its tasks

    made: Any = gymnasium.make(TASK, max_episode_steps=MOVES)
    space = gymnasium.spaces.Box(0, 1, (2 * WIDTH + 4,), np.float32)

    def seen(_: Any) -> Any:
        (column, row), direction = made.unwrapped.agent_pos, made.unwrapped.agent_dir
        squares = np.eye(WIDTH, dtype=np.float32)
        return np.concatenate([squares[column], squares[row], np.eye(4, dtype=np.float32)[direction]])

    turns_and_steps = gymnasium.wrappers.TransformAction(made, int, gymnasium.spaces.Discrete(3))
    return gymnasium.wrappers.TransformObservation(turns_and_steps, seen, space)


def arrived(environment: Any) -> bool:
    """Whether the robot stands on the green square."""
    here = environment.grid.get(*environment.agent_pos)
    return here is not None and here.type == "goal"


def trained(*, episodes: int, seed: int) -> Row:
    """One training: what the gate says of its two checkpoints, and how often each arrives otherwise."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env

    network = PPO("MlpPolicy", make_vec_env(room, n_envs=8, seed=seed), n_steps=32, seed=seed, device="cpu")
    agents, others = [], []
    with tempfile.TemporaryDirectory() as folder:
        for steps in (EARLY, LATE):
            network.learn(steps - network.num_timesteps, reset_num_timesteps=False)
            network.save(Path(folder) / f"{steps}.zip")
            act = PPO.load(Path(folder) / f"{steps}.zip", device="cpu").predict
            agents.append(_agent(act, Path(folder) / f"{steps}.zip"))
            others.append(_arrivals(act, episodes) / episodes)
    early, late = agents
    (lost,), (kept,) = gate(late, early, seed=seed).comparisons, gate(early, late, seed=seed).comparisons
    found: Row = {"lost": lost.verdict, "kept": kept.verdict, "pairs": len(lost.pairs)}
    for name, agent, share in zip(("early", "late"), agents, others, strict=True):
        found |= {name: _assessed(agent, seed), f"{name}_otherwise": share}
    return found | {"less": list(lost.interval)}


def _assessed(agent: PolicyAgent, seed: int) -> list[float]:
    """The interval of how often it arrives, of its starts."""
    draws, (header,) = Draws(agent, np.random.default_rng(seed)), agent.headers
    arrived = 0
    for _ in range(PURSUITS):
        drawn = draws.draw(header)
        assert drawn is not None, "nobody begins on the green square"
        arrived += agent.pursue_from(*drawn).achieved
    return list(rate(arrived, PURSUITS))


def _agent(act: Any, checkpoint: Path) -> PolicyAgent:
    """The network as a policy with one objective."""
    return PolicyAgent(
        room,
        by_actions(lambda seen, objective: int(act(seen, deterministic=True)[0])),
        vocabulary=WORDS,
        facts=lambda environment: [Atom("reached", ("green",))] if arrived(environment) else [],
        objects={"green": "square"},
        seeds=range(STARTS),
        limit=MOVES,
        checkpoint=checkpoint,
    )


def _arrivals(act: Any, episodes: int) -> int:
    """How many of so many episodes end on the green square, without this toolkit."""
    environment, found = room(), 0
    for seed in range(STARTS, STARTS + episodes):
        seen, _ = environment.reset(seed=seed)
        ended = False
        while not ended:
            seen, _, terminated, truncated, _ = environment.step(int(act(seen, deterministic=True)[0]))
            ended = terminated or truncated
        found += arrived(environment.unwrapped)
    return found


def amiss(row: Row) -> str:
    """What the gate got wrong."""
    told = f"seed {row['seed']}: "
    if (row["lost"], row["kept"]) != ("lost", "not lost"):
        return f"{told}late to early is {row['lost']}, early to late {row['kept']}"
    less = row["late_otherwise"] - row["early_otherwise"]
    figures = [(name, row[f"{name}_otherwise"], row[name]) for name in ("late", "early")]
    for name, share, (low, high) in [*figures, ("less", less, row["less"])]:
        if not low <= share <= high:
            return f"{told}{name} is {share:.3f} in independent episodes, and {low:.3f} to {high:.3f} by the gate"
    return ""


def _percent(name: str) -> Any:
    return lambda rows: "{:.3f}-{:.3f}".format(*rows[0][name])


table = Summary(
    "Early and late checkpoints: by the gate, and in independent episodes",
    {
        **as_named("seed", "lost", "kept", "pairs"),
        **as_named("late", "early", "less", column=_percent),
        **as_named("late_otherwise", "early_otherwise", column=lambda name: average(name, 3)),
        "right": lambda rows: not amiss(rows[0]),
    },
    by=("seed",),
)


if __name__ == "__main__":
    sys.exit(run_command(checkpoints))

"""One interrogation as a job: its cost, and how close to the truth the model is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.memory.histories import RecordingAgent
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.result import lifted_predicates
from aam_vision.model.query import Agent
from aam_vision.model.strips import Model, State
from aam_vision.planning.engines import planner_named
from aam_vision.planning.planner import TimedPlanner, cpu_seconds
from aam_vision.report import evaluation
from aam_vision.run import targets
from experiments.tables import Row

HELD_OUT_STATES = 200  # states on which functional equivalence is judged


def interrogation(
    *,
    env: str,
    access: str,
    policy: str,
    planner: str,
    seed: int,
    problems: list[str],
    size: int = 2,
    domain: str | None = None,
) -> Row:
    """Interrogate the agent of an environment, or of a PDDL file if ``domain`` names one.

    ``seconds`` are CPU seconds of the interrogation with the agent's and the planner's part; start-up and
    evaluation are left out. ``searches`` says how often the planner was asked for a plan.
    """
    if domain is None:
        target = targets.from_environment(env, access=access, problems=problems, size=size, seed=seed)
    else:
        target = targets.from_pddl(Path(domain), problems, access=access)
    counted = TimedPlanner(planner_named(planner))
    asked = Interrogation(target.agent, policy=policy, planner=counted, exam=0)
    began = cpu_seconds()
    result = asked.run(np.random.default_rng(seed))
    seconds = cpu_seconds() - began
    assert target.truth is not None, "environments and PDDL files tell the truth afterwards"
    truth = target.truth()
    states = evaluation.sample_states(truth, target.held_out(), HELD_OUT_STATES, np.random.default_rng(seed))
    counts = result.counts
    return {
        "predicates": lifted_predicates(result.model),
        "actions": len(result.model.actions),
        "pal_tuples": result.hypotheses.size,
        "queries": counts.queries,
        "steps": counts.steps,
        "walk_steps": counts.walk_steps,
        "searches": counted.searches,
        "seconds": round(seconds, 4),
        "accuracy": evaluation.accuracy(result.model, truth),
        "exact": evaluation.exact(result.model, truth),
        "equivalent": evaluation.equivalent(result.model, truth, states),
        "complete": result.proven,
        "lower_bound": result.lower_bound,
    }


def recorded(agent: Agent) -> RecordingAgent:
    """The agent, and all that is asked of it from now on and answered."""
    initial = tuple(agent.initial())
    return RecordingAgent(agent, Transcript(agent.vocabulary, agent.headers, agent.access, initial, ()))


def likeness(learned: Model, truth: Model, held_out: Sequence[State], count: int, *seed: int) -> str:
    """Whether a model is ``exact``, or ``equivalent`` to the truth in so many states that are reached from these, or ``differs``."""
    if evaluation.exact(learned, truth):
        return "exact"
    states = evaluation.sample_states(truth, held_out, count, np.random.default_rng(seed))
    return "equivalent" if evaluation.equivalent(learned, truth, states) else "differs"

"""The toolkit in a program or a notebook: an agent, one function that interrogates it, and its result.

>>> import aam_vision
>>> result = aam_vision.interrogate(aam_vision.agent_for("blocksworld"))
>>> print(result)
status        complete: every line of the model is decided
assumed       the agent is a deterministic STRIPS agent in this vocabulary, and is seen rightly
examination   60 of 60 steps came out as predicted: with 95% confidence at most 5% of such steps
                would not, if they fail independently; so did 99 more, to meet lasting mistakes
queries       9 (no sound interrogation needs fewer than 9 for what was proven)
steps         89 (76 walked, 9 failed, 27 resets)
lines         52 (0 groups undetermined)
>>> print(result.pddl.splitlines()[0])
(define (domain blocks)

``python -m aam_vision.run`` puts the same parts together, with a journal, a report and a ground truth around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from aam_vision.model.query import Access, Agent
from aam_vision.run import targets
from aam_vision.run.checks import MAX_WITHIN, MIN_WITHIN
from aam_vision.run.targets.target import SYMBOLIC_ACCESS, access_of
from aam_vision.support.errors import UnusableInput
from aam_vision.support.threads import one_thread

if TYPE_CHECKING:
    from aam_vision.interrogation.controls.result import ControlsResult
    from aam_vision.interrogation.evidence.transcript import Transcript
    from aam_vision.interrogation.task.result import Result
    from aam_vision.model.strips import Model
    from aam_vision.run.execution.replanning import Execution


class Options(TypedDict, total=False):
    """The options of ``interrogate`` that are seldom needed; all are keyword arguments like its others."""

    planner: str
    """``pyperplan`` (the default), or an installed engine of unified-planning."""
    repeated_arguments: bool
    """Also learn what happens when one object is named twice (default: not); the agent has to allow it."""
    confidence: float
    """Where answers prove unreliable, how probable the whole model has to be; default 0.999."""
    confirm: bool
    """Take no answer at its word, even if none proves unreliable (default: not)."""
    max_seconds: float
    """Stop after so many CPU seconds of this process (default: no limit); until then nothing depends on it."""
    chance: bool
    """Begin at once with outcomes, when each comes and how often, without looking first whether the agent is deterministic."""
    within: float
    """Of an agent whose steps have several outcomes: half width of the intervals of their probabilities; default 0.05."""
    go_on: bool
    """Learn an agent that proves to be no deterministic STRIPS agent with what explains it (default), or stop at the diagnosis."""


def interrogate(
    agent: Agent,
    *,
    seed: int = 0,
    max_queries: int | None = None,
    max_steps: int | None = None,
    policy: str = "economical",
    prior: Model | None = None,
    exam: int | None = None,
    raises: bool = True,
    **options: Unpack[Options],
) -> Result:
    """Find out what an agent can do: ask it until no question could tell any more, or a budget is spent.

    ``agent.access`` decides which questions may be asked. Answers are taken at their word until they
    prove wrong; then they are weighed. An agent that proves to be no deterministic STRIPS agent is learned, from there on, with
    outcomes and cases, with an invented fact, or as it is since it has changed, where that explains it: ``result.outcomes``,
    ``result.invented`` and ``result.changed`` tell which, ``result.diagnosis`` why.

    Args:
        agent: Anything with the methods of ``aam_vision.Agent``.
        seed: Of every random choice: the same agent, seed and options give the same result.
        max_queries: Stop at so many queries.
        max_steps: Stop at so many attempted steps, walks included.
        policy: How questions are chosen: ``economical``, or ``aia``, the paper's (not under trajectory access).
        prior: A model learned earlier, to be verified instead of learned anew.
        exam: Steps of the examination of what was learned; default a quarter of those that the interrogation took, and
            60 at least, if that is proven.
        raises: Whether an interrogation that cannot go on raises ``Interrupted``, or gives what was learned until then: the
            result's ``status`` is ``failed`` or ``not-strips``, and its ``why`` says why.
        options: ``planner``, ``repeated_arguments``, ``confidence``, ``confirm``, ``max_seconds``, ``chance``,
            ``within`` and ``go_on``: see ``Options``.

    Returns:
        The model, what is not determined and why, what it cost, and the transcript.

    Raises:
        UnusableInput: there is no such policy or planner, or an option does not fit the agent.
        Interrupted: the agent failed, or nothing explains what it does; its ``result`` holds what was learned. Not without
            ``raises``.
        TypeError: there is no such option.

    Examples:
        >>> import aam_vision
        >>> result = aam_vision.interrogate(aam_vision.agent_for("gripper"), max_queries=3)
        >>> result.status, result.counts.queries, len(result.undetermined)
        ('budget', 3, 4)
    """
    import numpy as np

    from aam_vision.agents.guarded import GuardedAgent
    from aam_vision.interrogation.chance.going_on import Begun
    from aam_vision.interrogation.chance.refusals import told_by_chance
    from aam_vision.interrogation.chance.result import Options as ChanceOptions
    from aam_vision.interrogation.chance.result import most_steps
    from aam_vision.interrogation.going_on import go_further, with_learned, with_outcomes
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.budget import Budget
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.robust import CONFIDENCE
    from aam_vision.planning.engines import planner_named
    from aam_vision.support.resources import Resources

    for name in options:
        if name not in Options.__annotations__:  # refused as Python does where all are spelled out
            raise TypeError(f"interrogate() got an unexpected keyword argument {name!r}")
    _check_seed(seed)
    within = options.get("within", 0.05)
    if not MIN_WITHIN <= within <= MAX_WITHIN:
        raise UnusableInput(f"give a number from {MIN_WITHIN:g} to {MAX_WITHIN:g}", "within", f"{within:g}")
    only = {"policy": policy != "economical", "prior": prior is not None}
    only |= {name: bool(options.get(name)) for name in ("repeated_arguments", "confirm")}
    deterministic = [name for name, given in only.items() if given]
    goes_on = options.get("go_on", True) and {*deterministic} <= {"confirm"}
    if options.get("chance") and deterministic:
        raise UnusableInput("is of deterministic agents: it cannot be given with chance", deterministic[0])
    agent = GuardedAgent(agent)
    interrogation = Interrogation(
        agent,
        policy=policy,
        planner=planner_named(options.get("planner", "pyperplan")),
        prior=prior,
        budget=Budget(max_queries, max_steps, Resources(options.get("max_seconds"))),
        repeated=options.get("repeated_arguments", False),
        confidence=options.get("confidence", CONFIDENCE),
        confirm=options.get("confirm", False),
        exam=exam,
    )
    most = most_steps(within) if max_steps is None else max_steps
    outcomes = ChanceOptions(
        within,
        max_steps=most,
        resources=interrogation.budget.resources,
        max_queries=max_queries,
        exam=exam or 0,
    )
    if options.get("chance"):
        nothing = replace(interrogation, budget=Budget(0, 0)).run(np.random.default_rng(seed))
        with one_thread():
            begun = Begun(agent, nothing.transcript.initial)
            found = with_outcomes(begun, np.random.default_rng(seed), outcomes)
        return with_learned(nothing, found, told_by_chance(found.options.refusals))
    failure = None
    try:
        result = interrogation.run(np.random.default_rng(seed))
    except Interrupted as error:
        result, failure = error.result, error
    if (diagnosed := result.diagnosed) is not None and goes_on:
        with one_thread():
            further = go_further(agent, diagnosed, seed, outcomes, interrogation.budget, exam)
        if further.found is not None:
            return further.found
        if further.why:
            assert result.diagnosis is not None, "it was gone on from that"
            result = replace(result, diagnosis=replace(result.diagnosis, further=further.why))
            if failure is not None:
                failure.result = result
    if failure is not None and raises:
        raise failure
    return result


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise UnusableInput("give a number from 0", "seed", seed)


def learn_from_traces(
    traces: Iterable[str | PathLike[str]],
    *,
    domain: str | PathLike[str] | None = None,
    env: str | None = None,
    classifiers: str | PathLike[str] | None = None,
    problems: Sequence[str] = (),
    raises: bool = True,
) -> Result:
    """Find out what an agent can do from traces of what it did, where nothing can be asked.

    What the steps determine is certain, if the agent is a deterministic STRIPS agent; all else is ``undetermined``. Nothing is examined,
    so no such result is ``complete``.

    Args:
        traces: With a domain, files as AMLGym writes them: states and actions in turn. With an environment, folders of ``actions.txt``
            and ``0.png``, ``1.png`` and so on.
        domain: A PDDL domain that declares predicates and actions; what these require and change there is not looked at.
        env: The environment whose images the folders hold, in the stead of a domain.
        classifiers: With an environment, the folder of the weights that read them; default its own.
        problems: With an environment, those in which the traces begin: one for all, or one for each.
        raises: Whether traces that no deterministic STRIPS agent leaves raise ``Interrupted``, or give a result that is ``not-strips``.

    Raises:
        UnusableInput: a file cannot be read, or lacks a state, or is about another domain; or not one of domain and environment is given.
        Interrupted: no deterministic STRIPS agent leaves such traces; its ``result`` holds the diagnosis. Not without ``raises``.
    """
    import numpy as np

    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.loop import Interrupted
    from aam_vision.interrogation.task.traced import TracedAgent

    weights = None if classifiers is None else Path(classifiers)
    transcript = transcript_from(
        [Path(trace) for trace in traces], None if domain is None else Path(domain), env, weights, problems
    )
    interrogation = Interrogation(TracedAgent(transcript), repeated=transcript.repeated)
    try:
        return interrogation.run(np.random.default_rng(0))
    except Interrupted as error:
        if raises:
            raise
        return error.result


def transcript_from(
    traces: Sequence[Path],
    domain: Path | None,
    env: str | None,
    classifiers: Path | None,
    problems: Sequence[str],
) -> Transcript:
    """Traces as one transcript; arguments and errors are those of ``learn_from_traces``. Warns of what is left out, or not read in full."""
    if domain is not None and env is None:
        from aam_vision.interrogation.task.traced import read_traces
        from aam_vision.run.targets.symbolic import tell_left_out

        if classifiers or problems:
            raise UnusableInput("classifiers and problems go with an environment only; leave them out")
        transcript = read_traces(domain, traces)
        tell_left_out(domain, transcript.vocabulary)
        return transcript
    if env is None or domain is not None:
        raise UnusableInput(
            "give either a domain, for files of states, or an environment, for folders of images"
        )
    from aam_vision.run.targets.pictured import read_pictured

    return read_pictured(env, classifiers, traces, problems)


def interrogate_controls(
    agent: Agent,
    *,
    seed: int = 0,
    max_steps: int | None = None,
    exam: int | None = None,
    max_seconds: float | None = None,
) -> ControlsResult:
    r"""Find out what the controls of an agent do: in how many kinds of cases, to which objects, and when.

    Args:
        agent: Anything with the methods of ``aam_vision.Agent`` under snapshot access, whose instructions are controls:
            each of them can always be given, and changes something or nothing (``ask`` executes every plan).
        seed: Of every random choice: the same agent and seed give the same result.
        max_steps: Stop once so many controls were given.
        exam: Steps in which the operators are examined; default none, since a last walk predicts every control.
        max_seconds: Stop after so many CPU seconds of this process; until then nothing depends on it.

    Returns:
        The operators that the controls carry out, their model, and what is certain of both.

    Raises:
        UnusableInput: the agent's access is another one.
        AgentFailed: the agent can no longer answer.

    Examples:
        >>> import aam_vision
        >>> agent = aam_vision.agent_for("blocks", controls=True)
        >>> print(*agent.headers, sep=", ")
        pick-up(?block - block), put-down(), stack(?block - block), unstack(?block - block)
        >>> result = aam_vision.interrogate_controls(agent)
        >>> print(*[operator.header for operator in result.operators], sep="\n")
        pick-up(?block - block)
        put-down(?block - block)
        stack(?block - block, ?block2 - block)
        unstack(?block - block, ?block2 - block)
    """
    from aam_vision.agents.guarded import GuardedAgent
    from aam_vision.interrogation.controls.interrogating import Options as ControlOptions
    from aam_vision.interrogation.controls.interrogating import interrogate as interrogated
    from aam_vision.support.resources import Resources

    _check_seed(seed)
    agent = GuardedAgent(agent)
    if not agent.access.snapshots:
        raise UnusableInput("controls need snapshot access", "access", agent.access.value)
    with one_thread():
        return interrogated(
            agent, seed, ControlOptions(max_steps, exam=exam, resources=Resources(max_seconds))
        )


def execute_plan(
    agent: Agent,
    result: ControlsResult,
    *,
    goal: str | None = None,
    plan: Iterable[str] | None = None,
    problem: int = 0,
    planner: str = "pyperplan",
) -> Execution:
    """Carry out a plan of discovered operators with the controls of an agent, and compare every step with the model.

    Args:
        agent: The one that was interrogated, or another one with the same controls and vocabulary.
        result: What was found out of its controls.
        goal: What is to be reached, literals of PDDL: ``(unlocked room-1)``; a planner finds the plan.
        plan: Instead of a goal, the operators one after the other: ``pick(key-0, loc-3-0, room-1)``.
        problem: The number of the agent's problem.
        planner: ``pyperplan``, or an installed engine of unified-planning.

    Returns:
        Every step and the verdict; it ends at the first step that did not come out as predicted.

    Raises:
        UnusableInput: something given cannot be used; nothing was done.

    Examples:
        >>> import aam_vision
        >>> agent = aam_vision.agent_for("doors", problems=[0], controls=True)
        >>> result = aam_vision.interrogate_controls(agent)
        >>> print(aam_vision.execute_plan(agent, result, goal="(unlocked room-1)"))
        1. moveto(loc-3-0, loc-0-0, room-0)
           moveto(loc-3-0): as predicted; +at(loc-3-0), -at(loc-0-0)
        2. pick(key-0, loc-3-0, room-1)
           pick(key-0): as predicted; +unlocked(room-1), -keyat(key-0, loc-3-0)
        Goal reached: all 2 steps came out as predicted.
    """
    from aam_vision.interrogation.controls.mapping import carriers
    from aam_vision.planning.engines import planner_named
    from aam_vision.report.ending import PLANS_FORGET
    from aam_vision.report.written import read_step
    from aam_vision.run.execution.replanning import carried_out, for_goal, for_plan

    if (plan is None) is (goal is None):
        raise UnusableInput("give either a goal or a plan")
    if result.memory is not None:
        raise UnusableInput(PLANS_FORGET)
    initial = agent.initial()
    if not 0 <= problem < len(initial):
        raise UnusableInput(f"the agent has problems 0 to {len(initial) - 1}", "problem", problem)
    start, model = initial[problem], result.model
    if goal is not None:
        task = for_goal(model, start.state, goal, "goal", planner_named(planner))
    else:
        given, objects = enumerate(plan or (), 1), start.state.objects
        steps = [read_step(f"step {n}", text.lower(), model, objects) for n, text in given]
        task = for_plan(model, start.state, steps)
    return carried_out(agent, start, model, carriers(result.mapping, model, agent.headers), task)


def agent_for(
    environment: str | Any,
    *,
    access: Access | str | None = None,
    problems: Iterable[int] = (),
    seed: int = 0,
    size: int = 2,
    repeated_arguments: bool = False,
    classifiers: str | PathLike[str] | None = None,
    image_noise: float = 0.0,
    controls: bool = False,
    constants: Iterable[str] = (),
) -> Agent:
    """The agent of an environment: one seen in images, one of a packaged PDDL domain, or one of unified-planning.

    Args:
        environment: A name, of all that ``--env`` takes: ``sokoban``, ``doors``, ..., ``gripper``, ``blocksworld``, ...; or a
            ``Problem`` or ``SequentialSimulator`` of unified-planning, which is executed and not looked into.
        access: What the agent allows; default the most that it can.
        problems: The numbers of its problems; default all of them.
        seed: Of the problems generated for a packaged domain, and of image noise.
        size: Of the problems generated for a packaged domain.
        repeated_arguments: One object may be named twice in an instruction (packaged domains).
        classifiers: The folder of other classifier weights than the shipped ones (image environments).
        image_noise: Sigma of Gaussian noise put on the images, 0 to 1.
        controls: Its instructions are the environment's own controls, for ``interrogate_controls``.
        constants: Objects that instructions may mean without naming them (unified-planning).

    Raises:
        UnusableInput: no such environment, problem, access or weights; or unified-planning's actions take time or numbers.

    Examples:
        >>> import aam_vision
        >>> agent = aam_vision.agent_for("blocksworld", access="reset", problems=[0])
        >>> agent.access
        <Access.RESET: 'reset'>
        >>> print(*agent.headers, sep=", ")
        pick-up(?x - block), put-down(?x - block), stack(?x - block, ?y - block), unstack(?x - block, ?y - block)
    """
    if not isinstance(environment, str):
        from aam_vision.agents.simulator import SimulatorAgent

        chosen = None if access is None else access_of(_word(access), SYMBOLIC_ACCESS, "unified-planning")
        return SimulatorAgent(environment, chosen, constants)
    settings = targets.PerceptionSettings(
        None if classifiers is None else Path(classifiers), noise=image_noise, seed=seed
    )
    numbers = [str(number) for number in problems]
    if controls:
        return targets.controlled(environment, numbers, _word(access), settings).agent
    return targets.from_environment(
        environment,
        access=_word(access),
        problems=numbers,
        size=size,
        seed=seed,
        repeated=repeated_arguments,
        settings=settings,
    ).agent


def symbolic_agent(
    domain: str | PathLike[str],
    problems: Sequence[str | PathLike[str]],
    *,
    access: Access | str | None = None,
    repeated_arguments: bool = False,
    seed: int = 0,
) -> Agent:
    """An agent that holds the model of a PDDL domain, in the initial states of PDDL problems.

    Args:
        domain: A PDDL domain file: STRIPS with types, constants and negative preconditions; its effects may be ``probabilistic`` and
            conditional (``when``).
        problems: PDDL problem files of that domain, at least one.
        access: What the agent allows; default the most: ``settable``.
        repeated_arguments: One object may be named twice in an instruction.
        seed: Of what comes by chance, if anything does.

    Raises:
        UnusableInput: a file cannot be used, there is no problem, or no such access.

    Examples:
        >>> import aam_vision
        >>> agent = aam_vision.symbolic_agent("D.pddl", ["P1.pddl", "P2.pddl"])
        >>> len(agent.initial())
        2
    """
    import numpy as np

    return targets.from_pddl(
        Path(domain),
        [str(problem) for problem in problems],
        access=_word(access),
        repeated=repeated_arguments,
        chance=np.random.default_rng([seed, 4]),
    ).agent


def _word(access: Access | str | None) -> str | None:
    return access.value if isinstance(access, Access) else access

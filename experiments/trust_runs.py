"""One interrogation of ``experiments.trust``: an agent made for it, its result, and how far that can be trusted."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from aam_vision import interrogate
from aam_vision.interrogation.chance.result import ChanceResult, Options
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.going_on import go_further
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.memory.diagnosed import Further
from aam_vision.interrogation.memory.divided import Divisions
from aam_vision.interrogation.memory.facts import InventedFact, Rows
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent
from aam_vision.model.strips import GroundAction, Model, State
from aam_vision.run import targets
from aam_vision.run.targets import Target
from experiments.faults.conditional import explanations
from experiments.faults.registry import HONEST, MisreadStates, faulty_agent, right_verdicts
from experiments.faults.world import LONGEST, Fault, FaultyAgent, Setting, World, named
from experiments.noise import wrongly_certain
from experiments.programs import command
from experiments.tables import Row

FAULT_RATE = 0.02  # share of a faulty program's answers
PROGRAM_SECONDS = 2.0  # seconds that a program may take for an answer
MAX_STEPS = 3000
FURTHER = 6000  # steps of an interrogation that goes on from its diagnosis, those before it included
WITHIN = 0.1  # half width of the intervals that are wanted where an agent proves to be random
ROBOT = Path(__file__).with_name("robot.pddl")  # what the reference agent does
RIGHT = 0.99  # share of held-out steps that a model has to say rightly
PER_LOOK, PER_SITUATION = "per look", "per situation"
"""Whether atoms are misread anew at every look, or always in the same way in the same state."""


@dataclass(frozen=True)
class Case:
    """An agent and its faults."""

    agent: str  # the name of a packaged domain, ``program: FAULT``, ``fault: FAMILY`` or ``several: FAMILY``
    access: str
    flip_rate: float = 0.0  # the share of atoms that are misread
    refusal_rate: float = 0.0  # the share of executable steps that are refused
    flips: str = PER_LOOK  # ``PER_LOOK`` or ``PER_SITUATION``

    @property
    def family(self) -> str | None:
        """The family of faults, if it is one of those."""
        kind, _, what = self.agent.partition(": ")
        return what if kind in ("fault", "several") else None

    @property
    def honest(self) -> bool:
        """Whether nothing is wrong with the agent."""
        fine = self.family in HONEST or ":" not in self.agent
        return fine and not (self.flip_rate or self.refusal_rate)


def trusted(
    *, exam: int | None, seed: int, size: int, copies: int = 1, go_on: bool = False, **case: Any
) -> Row:
    """One interrogation of the agent of a ``Case``, and how far its result can be trusted.

    With several ``copies`` it is asked what so many would be asked, in the same order, though it is a single one. ``go_on``: from a
    diagnosis on, too; the row is that of the diagnosis, and says what was learned after it.
    """
    asked = Case(**case)
    with TemporaryDirectory() as folder:
        target = target_of(asked, seed, size, Path(folder))
        began = process_time()
        try:
            result, stopped = interrogated(target.agent, seed, exam, copies)
            learned = _learned(target.agent, result, seed, exam) if go_on else {}
        finally:
            target.close()
    seconds = process_time() - began
    truth = None if target.truth is None else target.truth()
    row: Row = {
        "status": result.status,
        "stopped": stopped,
        "diagnosis": None if result.diagnosis is None else result.diagnosis.family.value,
        **dict.fromkeys(("right", "literal_right", "frequency_right", "showed", "equivalent", "over_bound")),
        "accused": asked.honest and bool(result.diagnosis is not None or result.doubt or stopped),
        "certain": 0 if truth is None else len(result.certain),
        "wrong": 0 if truth is None else wrongly_certain(result.certain, truth),
    }
    if asked.family is not None:
        inner = getattr(target.agent, "agent", target.agent)  # behind faults of perception
        assert isinstance(inner, FaultyAgent), "a family of faults"
        row |= _of_fault(asked, inner, result, seed)
    row["silently_wrong"] = row["wrong"] > 0 or (row["status"] == "complete" and row["equivalent"] is False)
    return {
        **row,
        **learned,
        "complete": result.proven,
        "exam_steps": result.exam.steps,
        "exam_wrong": result.exam.wrong,
        "steps": result.counts.steps,
        "looks": result.counts.looks,
        "seconds": round(seconds, 3),
        "why": result.why if result.diagnosis is None else result.diagnosis.why,
    }


def interrogated(agent: Agent, seed: int, exam: int | None, copies: int = 1) -> tuple[Result, str]:
    """The result, and why the interrogation was cut short, if it was: ``contradiction`` or ``failure``."""
    try:
        if copies == 1:
            return interrogate(agent, seed=seed, max_steps=MAX_STEPS, exam=exam, go_on=False), ""
        # a budget would keep the examination from beginning early
        several = Interrogation(agent, exam=exam, copies=copies)
        return several.run(np.random.default_rng(seed)), ""
    except Interrupted as error:
        return error.result, "contradiction" if error.contradicted else "failure"


_FOUND = "learned", "learned_right", "learned_false", "learned_missed", "learned_steps"


def _learned(agent: Agent, result: Result, seed: int, exam: int | None) -> Row:
    """What was gone on to from a diagnosis, and whether that is right.

    A model is right if at least ``RIGHT`` of steps with new histories come out as it says, and if each interval of an action whose outcome is
    random has its probability.
    """
    inner = getattr(agent, "agent", agent)
    if result.diagnosis is None or not isinstance(inner, FaultyAgent):
        return dict.fromkeys(_FOUND)
    further, options = Further(None), Options(WITHIN, max_steps=FURTHER)
    if (diagnosed := result.diagnosed) is not None:
        further = go_further(agent, diagnosed, seed, options, Budget(steps=FURTHER), exam)
    if (found := further.found) is None:
        return {**dict.fromkeys(_FOUND), "learned_right": False}
    how = further.fact, further.divisions, further.refusals
    missed = unpredicted(found, inner, np.random.default_rng([seed, 7]), *how) / STEPS
    right = missed <= 1 - RIGHT and _frequencies_hold(inner.fault, found)
    bound = found.exam.bound if found.outcomes is None else 1 - RIGHT
    return {
        "learned": f"{'' if further.way is None else further.way.name.lower()}, {found.status}",
        "learned_right": right,
        "learned_false": found.complete and (missed > bound or not _frequencies_hold(inner.fault, found)),
        "learned_missed": missed,
        "learned_steps": found.counts.steps + found.counts.exam_steps,
    }


def _frequencies_hold(fault: Fault, found: Result) -> bool:
    """Whether the intervals of a random action have its probability; true of others."""
    if fault.rate is None or not isinstance(found.outcomes, ChanceResult):
        return True
    return all(
        any(often.low <= rate <= often.high for rate in (fault.rate, 1 - fault.rate))
        for action in found.outcomes.actions
        if action.index.header.name in fault.actions
        for case in action.cases
        if len(case.outcomes) == 2
        for often in case.frequencies
    )


def _of_fault(case: Case, agent: FaultyAgent, result: Result, seed: int) -> Row:
    """How the result of one of the families fits its agent.

    A fault has not shown if the agent is as a complete model says on all held-out steps: then STRIPS describes it, such
    as after a change that came before the action was ever used.
    """
    fault, diagnosis = agent.fault, result.diagnosis
    row: Row = {"fault": str(fault), "showed": agent.showed > 0}
    if result.proven:
        missed = unpredicted(result, agent, np.random.default_rng([seed, 7]))
        row["equivalent"] = not missed
        row["over_bound"] = result.status == "complete" and missed / STEPS > result.exam.bound
        if not fault.only_seen and diagnosis is None:
            row["showed"] = row["showed"] and not row["equivalent"]
    if case.family not in HONEST:
        verdicts = right_verdicts(str(case.family), case.access, misread=case.flip_rate > 0)
        row["right"] = diagnosis is not None and diagnosis.family.value in verdicts
        if diagnosis is not None and row["right"]:
            row["literal_right"] = literal_right(fault, diagnosis)
            row["frequency_right"] = frequency_right(fault, diagnosis)
            row["seen"], row["tried"] = diagnosis.seen, diagnosis.tried
    return row


# --- agents ------------------------------------------------------------------------------------------


def target_of(case: Case, seed: int, size: int, folder: Path) -> Target:
    """The agent of a case, with its true model where that is known to be one of STRIPS; a program writes to ``folder``."""
    kind, _, what = case.agent.partition(": ")
    access, flip_rate = Access(case.access), case.flip_rate
    if kind == "program":
        asked = command("faulty", what, FAULT_RATE, seed, folder / "starts", case.access)
        target = targets.from_program(asked, [], access=None, seconds=PROGRAM_SECONDS, megabytes=1024)
        target = replace(target, truth=robot)
    elif case.family is not None:
        faulty = faulty_agent(what, access, seed, size)
        target = _target(faulty, true=faulty.fault.noisy or what in HONEST)
    elif case.flips == PER_SITUATION:
        setting = Setting.of(case.agent, access, size, seed)
        misread = MisreadStates(setting, seed=seed, states=1.0, share=flip_rate)
        agent = FaultyAgent(misread, setting.problems, access, np.random.default_rng([seed, 8]))
        target, flip_rate = _target(agent, true=True), 0.0
    else:
        target = targets.from_environment(case.agent, access=case.access, size=size, seed=seed)
    if flip_rate or case.refusal_rate:
        target = targets.unreliable(target, flip_rate, case.refusal_rate, seed)
    return target


def _target(agent: FaultyAgent, *, true: bool) -> Target:
    setting = agent.fault.setting
    truth = (lambda: setting.model) if true else None
    return Target(setting.domain, ("0",), agent, truth=truth, held_out=list)


def robot() -> Model:
    """The true model of the reference agent."""
    return read_domain(ROBOT)


# Whether a learned model predicts an agent, on steps that were never asked for.


STEPS = 500
NEAR_MISSES = 0.4  # the share of steps that an honest agent seldom executes


class Attempt(NamedTuple):
    """One attempted step, as it is seen."""

    before: State
    step: GroundAction
    executed: bool
    after: State


def in_histories(agent: FaultyAgent, count: int, rng: np.random.Generator) -> Iterator[tuple[bool, Attempt]]:
    """Whether a history begins with a step, and the step: those of the agent as it is now, with random histories, in interrogated and in fresh problems.

    On a trajectory they begin where the agent stands: nothing that is out of reach from there could have been asked.
    Where an agent is honest and only seen wrongly, its true states are given.
    """
    fault, nature = agent.fault, agent.nature
    nature.stopped = True
    beginnings = [World(state, fault.fresh(state)) for state in fault.setting.initial]
    if agent.access is Access.TRAJECTORY and agent.here is not None:
        beginnings = [agent.here]
    while True:
        world = beginnings[int(rng.integers(len(beginnings)))]
        before = world.state if fault.only_seen else fault.see(world, nature)
        for number in range(int(rng.integers(1, LONGEST + 1))):
            step = _instruction(agent, world.state, rng)
            executed, world = agent.attempt(world, step)
            after = world.state if fault.only_seen else fault.see(world, nature)
            yield number == 0, Attempt(before, step, executed, after)
            before, count = after, count - 1
            if not count:
                return


def _instruction(agent: FaultyAgent, state: State, rng: np.random.Generator) -> GroundAction:
    """One that an honest agent could execute, or one that is a little or altogether different."""
    step = agent.option(state, rng)
    headers = agent.headers
    objects = state.objects
    if step is not None and rng.random() >= NEAR_MISSES:
        return step
    if step is not None and step.objects and rng.random() < 0.5:
        header = next(header for header in headers if header.name == step.name)
        place = int(rng.integers(header.arity))
        others = [name for name in objects.of_type(header.types[place]) if name not in step.objects]
        if others:
            named = list(step.objects)
            named[place] = others[int(rng.integers(len(others)))]
            return GroundAction(step.name, tuple(named))
    while True:
        header = headers[int(rng.integers(len(headers)))]
        drawn = [names[int(rng.integers(len(names)))] for names in map(objects.of_type, header.types)]
        if len(set(drawn)) == len(drawn):
            return GroundAction(header.name, tuple(drawn))


def unpredicted(
    result: Result,
    agent: FaultyAgent,
    rng: np.random.Generator,
    fact: InventedFact | None = None,
    divisions: Divisions | None = None,
    refusals: Collection[str] = (),
) -> int:
    """How many of ``STEPS`` steps come out as the model, whatever was gone on to, says that they do not; of any number."""
    missed, rows, derived = 0, Rows(), result.hypotheses.vocabulary.derived
    delays, stands = result.hypotheses.vocabulary.delays, result.transcript.end
    begins = waits = stands.state if stands is not None and agent.access is Access.TRAJECTORY else None
    fact = fact if fact is None else fact.of_numbers(range(-STEPS, STEPS))
    for first, one in in_histories(agent, STEPS, rng):
        one = one._replace(before=one.before.completed(derived), after=one.after.completed(derived))
        if delays is not None:
            begun = begins if first else waits
            before = delays.begun(one.before) if begun is None else delays.with_waits_of(begun, one.before)
            waits = delays.waited(before, one.step, one.after) if one.executed else before
            one = one._replace(before=before, after=waits)
        if fact is None:
            one = one._replace(executed=True) if one.step.name in refusals else one
            step = divisions.as_modelled(one.step, one.before) if divisions else one.step
            missed += step is None or _impossible(result, one._replace(step=step))
            continue
        rows = fact.beginning if first else rows
        step = fact.as_modelled(one.step, rows)
        left = fact.after(rows, one.step) if one.executed else rows
        told = one._replace(before=fact.added(one.before, rows), step=step, after=fact.added(one.after, left))
        missed, rows = missed + wrong(result.hypotheses, told), left
    return missed


def _impossible(result: Result, attempt: Attempt) -> bool:
    """Whether a step comes out as no outcome has it, or is refused or executed otherwise than is certain."""
    if not isinstance(result.outcomes, ChanceResult):
        return wrong(result.hypotheses, attempt)
    before, step, executed, after = attempt
    (action,) = [one for one in result.outcomes.actions if one.index.header.name == step.name]
    held, _ = action.index.values(before, step.objects)
    if not executed:
        return action.certain_to_succeed(held) or before != after
    if action.precondition.certain_to_fail(action.precondition.violated(held, 0)):
        return True
    if not action.certain_to_succeed(held):
        return False  # it was open whether it would be executed there, as what no problem leads to
    return after not in action.schema().successors(before, step.objects)


def wrong(hypotheses: Hypotheses, attempt: Attempt) -> bool:
    """Whether a step came out otherwise than all models that are still possible predict."""
    before, step, executed, after = attempt
    action = hypotheses[step.name]
    violated = action.violated(*action.index.values(before, step.objects))
    if not violated or action.certain_to_fail(violated):
        if executed is bool(violated):
            return True
    elif executed:
        return False  # it was open, and so are the effects of what was never executed
    if not executed:
        return before != after
    expected = action.schema().successor(before, step.objects)
    open_atoms = action.index.facts(action.undecided_effects, step.objects)
    return bool((expected.true ^ after.true) - open_atoms)


# Whether a diagnosis is right: its family, its literal, and its frequency.


LEVEL = 0.95


def literal_right(fault: Fault, diagnosis: Diagnosis) -> bool | None:
    """Whether the literal is the fault's condition, or one that cannot be told from it; None where there is none."""
    if fault.condition is None or diagnosis.family is not Family.CONDITIONAL:
        return None
    (action,) = fault.actions
    header = fault.setting.header(action)
    text = diagnosis.literal or ""
    return any(named(text, atom, header) for atom in explanations(fault.setting, action, fault.condition))


def frequency_right(fault: Fault, diagnosis: Diagnosis) -> bool | None:
    """Whether the true frequency is within the 95% interval of the diagnosis; None where nothing is random."""
    if fault.rate is None or diagnosis.family is not Family.RANDOM or not diagnosis.tried:
        return None
    rates = [fault.rate]
    if len(diagnosis.examples) == 2:
        one, other = diagnosis.examples
        if one.situation.state != other.situation.state:
            rates.append(1 - fault.rate)  # chance has decided already on the way to the situation
        elif _is_honest(fault, other):
            rates = [1 - fault.rate]  # the honest outcome was the unexpected one
    low, high = interval(diagnosis.seen, diagnosis.tried)
    return any(low <= rate <= high for rate in rates)


def _is_honest(fault: Fault, example: Example) -> bool:
    state = fault.setting.outcome(example.situation.state, example.step)
    return state == (example.after.state if example.after is not None else None)


def interval(seen: int, tried: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) 95% interval of a probability, from a number of successes."""
    from scipy.stats import binomtest

    found = binomtest(seen, tried).proportion_ci(LEVEL)
    return float(found.low), float(found.high)

"""One interrogation of ``experiments.trust``: an agent made for it, its result, and how far that can be trusted."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from aam_vision import targets
from aam_vision.agents.reference_agent import HELLO
from aam_vision.query import Access
from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Model, Predicate, Types, Vocabulary
from aam_vision.targets import Target
from experiments.faults.held_out import STEPS, mispredicted
from experiments.faults.registry import HONEST, faulty_agent, right_verdicts
from experiments.faults.seen import MisreadStates
from experiments.faults.verdicts import frequency_right, literal_right
from experiments.faults.world import FaultyAgent, Setting
from experiments.jobs import Row
from experiments.noise import wrongly_certain

if TYPE_CHECKING:
    from aam_vision.interrogation.task.result import Result
    from aam_vision.query import Agent

FAULT_RATE = 0.02
"""Share of a faulty program's answers."""
PROGRAM_SECONDS = 2.0
"""Seconds that a program may take for an answer."""
MAX_STEPS = 3000
PER_LOOK, PER_SITUATION = "per look", "per situation"
"""Whether atoms are misread anew at every look, or always in the same way in the same state."""


@dataclass(frozen=True)
class Case:
    """An agent and its faults."""

    agent: str
    """The name of a packaged domain, ``program: FAULT`` or ``fault: FAMILY``."""
    access: str
    flip_rate: float = 0.0
    """The share of atoms that are misread."""
    refusal_rate: float = 0.0
    """The share of executable steps that are refused."""
    flips: str = PER_LOOK
    """``PER_LOOK`` or ``PER_SITUATION``."""

    @property
    def family(self) -> str | None:
        """The family of faults, if it is one of those."""
        kind, _, what = self.agent.partition(": ")
        return what if kind == "fault" else None

    @property
    def honest(self) -> bool:
        """Whether nothing is wrong with the agent."""
        fine = self.family in HONEST or ":" not in self.agent
        return fine and not (self.flip_rate or self.refusal_rate)


def trusted(*, exam: int | None, seed: int, size: int, copies: int = 1, **case: Any) -> Row:
    """One interrogation of the agent of a ``Case``, and how far its result can be trusted.

    With several ``copies`` it is asked what so many would be asked, in the same order, though it is a single one.
    """
    asked = Case(**case)
    with TemporaryDirectory() as folder:
        target = target_of(asked, seed, size, Path(folder))
        began = process_time()
        try:
            result, stopped = interrogated(target.agent, seed, exam, copies)
        finally:
            target.close()
    seconds = process_time() - began
    row = {
        "status": result.status,
        "stopped": stopped,
        "diagnosis": None if result.diagnosis is None else result.diagnosis.family.value,
        "right": None,
        "literal_right": None,
        "frequency_right": None,
        "showed": None,
        "equivalent": None,
        "over_bound": None,
        "accused": asked.honest and bool(result.diagnosis is not None or result.doubt or stopped),
        **_certain(result, target.truth() if target.truth is not None else None),
    }
    if asked.family is not None:
        row |= _of_fault(asked, _inner(target.agent), result, seed)
    row["silently_wrong"] = row["wrong"] > 0 or (row["status"] == "complete" and row["equivalent"] is False)
    return {
        **row,
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
    from aam_vision import interrogate
    from aam_vision.interrogation.task.loop import Interrupted

    if copies > 1:
        return _of_copies(agent, seed, exam, copies)
    options: dict[str, Any] = {} if exam is None else {"exam": exam}
    if "exam" not in signature(interrogate).parameters:
        options = {}
    try:
        return interrogate(agent, seed=seed, max_steps=MAX_STEPS, **options), ""
    except Interrupted as error:
        return error.result, "contradiction" if error.contradicted else "failure"


def _of_copies(agent: Agent, seed: int, exam: int | None, copies: int) -> tuple[Result, str]:
    from aam_vision.interrogation.task.assembly import Interrogation
    from aam_vision.interrogation.task.loop import Interrupted

    asked = Interrogation(
        agent, exam=exam, copies=copies
    )  # a budget would keep the examination from beginning early
    try:
        return asked.run(np.random.default_rng(seed)), ""
    except Interrupted as error:
        return error.result, "contradiction" if error.contradicted else "failure"


def _certain(result: Result, truth: Model | None) -> Row:
    """How much is certain, and how much of that is wrong."""
    certain = {} if truth is None else result.certain
    return {"certain": len(certain), "wrong": 0 if truth is None else wrongly_certain(certain, truth)}


def _of_fault(case: Case, agent: FaultyAgent, result: Result, seed: int) -> Row:
    """How the result of one of the families fits its agent.

    A fault has not shown if the agent is as a complete model says on all held-out steps: then STRIPS describes it, such
    as after a change that came before the action was ever used.
    """
    fault, diagnosis = agent.fault, result.diagnosis
    row: Row = {"fault": str(fault), "showed": agent.showed > 0}
    if result.proven:
        missed = mispredicted(result, agent, np.random.default_rng([seed, 7]))
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
    flip_rate = case.flip_rate
    if kind == "program":
        target = _program(what, case.access, seed, folder)
    elif kind == "fault":
        faulty = faulty_agent(what, case.access, seed, size)
        true = faulty.fault.noisy or what in HONEST
        target = _target(faulty, faulty.fault.setting.model if true else None)
    elif case.flips == PER_SITUATION:
        setting = Setting.of(case.agent, Access(case.access), size, seed)
        misread = MisreadStates(setting, seed, 1.0, flip_rate)
        nature = np.random.default_rng([seed, 8])
        seen = FaultyAgent(misread, setting.problems, Access(case.access), nature)
        target, flip_rate = _target(seen, setting.model), 0.0
    else:
        target = targets.from_environment(case.agent, access=case.access, size=size, seed=seed)
    if flip_rate or case.refusal_rate:
        target = targets.unreliable(target, flip_rate, case.refusal_rate, seed)
    return target


def _target(agent: FaultyAgent, truth: Model | None) -> Target:
    told = None if truth is None else lambda: truth
    return Target(agent.fault.setting.domain, ("0",), agent, truth=told, held_out=list)


def _inner(agent: Agent) -> FaultyAgent:
    """The faulty agent behind faults of perception."""
    inner = getattr(agent, "agent", agent)
    assert isinstance(inner, FaultyAgent), "a family of faults"
    return inner


def _program(fault: str, access: str, seed: int, folder: Path) -> Target:
    """The reference agent as a program with random faults."""
    words = [
        "-m",
        "experiments.faulty_robot",
        fault,
        str(FAULT_RATE),
        str(seed),
        str(folder / "starts"),
        access,
    ]
    command = shlex.join([sys.executable, *words])
    target = targets.from_program(command, [], access=None, seconds=PROGRAM_SECONDS, megabytes=1024)
    return replace(target, truth=robot)


def robot() -> Model:
    """The true model of the reference agent."""
    hello: dict[str, Any] = HELLO
    vocabulary = Vocabulary(
        hello["name"],
        tuple(Predicate(name, tuple(types)) for name, types in hello["predicates"].items()),
        Types(hello["types"]),
    )
    headers = {
        name: ActionHeader(name, *map(tuple, zip(*parameters, strict=True)))
        for name, parameters in hello["actions"].items()
    }
    at, lies, holds, free = (LiftedAtom("robot-in", (1,)), LiftedAtom("lies-in", (0, 1)),
                             LiftedAtom("holds", (0,)), LiftedAtom("free", ()))  # fmt: skip
    here, there = LiftedAtom("robot-in", (0,)), LiftedAtom("robot-in", (1,))

    def schema(
        name: str, required: set[LiftedAtom], add: set[LiftedAtom], delete: set[LiftedAtom]
    ) -> ActionSchema:
        return ActionSchema(
            headers[name], frozenset(required), frozenset(), frozenset(add), frozenset(delete)
        )

    return Model(
        vocabulary,
        (
            schema("go", {here}, {there}, {here}),
            schema("take", {at, lies, free}, {holds}, {lies, free}),
            schema("put", {at, holds}, {lies, free}, {holds}),
        ),
    )

"""``python -m experiments.random_domains``: small random domains, interrogated and checked by brute force.

Each run interrogates the agent of a random domain (``random_strips``) through ``aam_vision.interrogate``, without a
budget that it could notice, and then looks at all models that are consistent with the answers. The table says how runs
ended: ``proven`` is complete, and no query could tell any more; ``false complete`` is complete although a query
could; ``missed`` is not complete although a query could; ``unproven`` is not complete although no query could;
``unknown`` has too many reachable states to say. ``tracebacks`` are runs that raised an error, or took a STRIPS agent
for something else.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from time import process_time
from traceback import extract_tb
from typing import Annotated, NamedTuple

from aam_vision import interrogate
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, GroundAction, Model, State, lifted_atoms
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import UnusableInput
from experiments.jobs import Experiment, Parameters, Scale, batches
from experiments.options import Accesses, FirstSeed, Names, about
from experiments.random_strips import Domain, all_bindings, random_domain, reachable
from experiments.tables import Row, Summary, as_named, part, per, pooled, total

CASES = (
    *((access, "economical") for access in ("settable", "snapshot", "reset", "trajectory")),
    *((access, "aia") for access in ("settable", "snapshot", "reset")),
)
"""Access and policy."""
BATCH = 50  # runs in one job
MAX_QUERIES, MAX_STEPS = 1000, 10_000
"""More than any of these domains may need: an interrogation that gets here does not end."""
EXAM = 8  # steps of the examination: what is judged is what was proven before it
MAX_STATES = 3000  # reachable states that are looked at
OUTCOMES = ("proven", "unproven", "missed", "false complete", "tracebacks", "unknown")
SHOWN_SEEDS = 3  # seeds in the table of each outcome that is a defect
DEFECTS = ("tracebacks", "false complete", "missed")


class Verdict(NamedTuple):
    """How one interrogation ended; ``detail`` says why it stopped, or what was raised where."""

    outcome: str
    detail: str
    queries: int = 0
    steps: int = 0


def random_domains(
    runs: Annotated[int, about("Domains, each under every access and policy.", min=1)] = 500,
    access: Accesses = None,
    policy: Annotated[Names, about("Only this policy (repeatable).")] = None,
    first_seed: FirstSeed = 0,
    scale: Scale = Scale(out=Path("runs/random_domains")),
) -> int:
    """Whether interrogations of random domains end as they should, checked by brute force.

    Examples:
        python -m experiments.random_domains --runs 5000
        python -m experiments.random_domains --runs 100 --access trajectory
    """
    cases = [case for case in CASES if case[0] in (access or [case[0]]) and case[1] in (policy or [case[1]])]
    if not cases:
        known = "; ".join(f"--access {one} --policy {other}" for one, other in CASES)
        raise UnusableInput(f"--access and --policy: nothing is left to run; use some of {known}")
    jobs: list[Parameters] = [
        {"access": one, "policy": other, **seeds}
        for seeds in batches(first_seed, runs, BATCH)
        for one, other in cases
    ]
    return Experiment("random_domains", batch, summary).run(jobs, scale)


def batch(*, access: str, policy: str, seed: int, count: int) -> Row:
    """As many runs from this seed on."""
    began = process_time()
    found = {
        one: judged(random_domain(one), Access(access), policy, one) for one in range(seed, seed + count)
    }
    return {
        "outcomes": dict(Counter(one.outcome for one in found.values())),
        "found": [[seed, one.outcome, one.detail] for seed, one in found.items() if one.outcome != "proven"],
        "queries": sum(one.queries for one in found.values()),
        "steps": sum(one.steps for one in found.values()),
        "seconds": round(process_time() - began, 2),
    }


def judged(domain: Domain, access: Access, policy: str, seed: int) -> Verdict:
    """One interrogation, and what brute force says of its end."""
    agent = SymbolicAgent(
        domain.model, domain.problems, access, repeated=domain.repeated, refuses_surely=True
    )
    try:
        result = interrogate(
            agent,
            seed=seed,
            policy=policy,
            max_queries=MAX_QUERIES,
            max_steps=MAX_STEPS,
            exam=EXAM,
            repeated_arguments=domain.repeated,
        )
    except Exception as error:  # any exception is what this experiment looks for
        place = extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Verdict("tracebacks", f"{type(error).__name__} in {where}: {error}")
    return Verdict(*outcome(domain, access, result), result.counts.queries, result.counts.steps)


def outcome(domain: Domain, access: Access, result: Result) -> tuple[str, str]:
    """How an interrogation ended, as brute force sees it, and why."""
    if result.doubt or result.assessment is not None:
        return "tracebacks", f"doubted: {result.doubt or result.why}"
    models = ConsistentModels(result.transcript)
    assert models.contain(domain.model), "the true model gives every answer"
    starts = domain.problems if result.proven else _standing(domain, access, result)
    steps = askable(domain, access, starts, MAX_STATES)
    if steps is None:
        return "unknown", f"more than {MAX_STATES} states"
    telling = [step for step in sorted(steps) if models.differ(domain.model, step)]
    if telling:
        which = f"{len(telling)} of {len(steps)} kinds of step could tell, one of {telling[0].action}"
        return "false complete" if result.proven else "missed", f"{result.why}; {which}"
    if result.proven and any(
        models.answer(result.model, step) != models.answer(domain.model, step) for step in steps
    ):
        return "false complete", "the model answers otherwise"
    return "proven" if result.proven else "unproven", result.why


def _standing(domain: Domain, access: Access, result: Result) -> Sequence[State]:
    if access is Access.TRAJECTORY and result.transcript.entries:
        last = result.transcript.entries[-1]
        return [last.response.final.state]  # type: ignore[union-attr]  # a trajectory has no walks
    return domain.problems


def _seeds(rows: list[Row]) -> str:
    found = pooled(rows, "found")
    by_defect = (
        [str(seed) for seed, ended, _ in found if ended == defect][:SHOWN_SEEDS] for defect in DEFECTS
    )
    return " ".join(seed for seeds in by_defect for seed in seeds)


summary = Summary(
    "Random domains, checked by brute force",
    {
        **as_named("access", "policy"),
        "runs": total("count"),
        **{outcome: total(part(outcome, "outcomes")) for outcome in OUTCOMES},
        "missed %": lambda rows: 100 * total(part("missed", "outcomes"))(rows) / total("count")(rows),
        "queries": per("queries", "count", 2),
        "steps": per("steps", "count", 2),
        "seconds": per("seconds", "count", 3),
        "seeds": _seeds,
    },
    by=("access", "policy"),
)


# All models that are consistent with a transcript, as a SAT problem, and what a query could still tell of them.
#
# Models are not written out: each lifted atom of an action has four variables (positive or negative precondition, added or
# deleted), and every answer is clauses over them. Where a plan was executed, its intermediate situations were not seen: their
# atoms are variables, too. So the models are just those that give every answer of the transcript.
#
# A query could still tell something if it leads to a situation and a step in which a consistent model answers otherwise than the
# true one: it refuses the step or not, or it leads elsewhere. Those situations are found by trying everything.


TRUE = 1  # the literal that is always true


class _Modes(NamedTuple):
    """The variables of one lifted atom of one action."""

    positive: int
    negative: int
    add: int
    delete: int


class Circumstances(NamedTuple):
    """All that the outcome of a step depends on."""

    action: str
    held: tuple[bool, ...]  # for each lifted atom of the action whether it holds
    same: tuple[int, ...]  # for each lifted atom the first that is the same atom under the binding


class ConsistentModels:
    """The models that give every answer of a transcript whose states are known in full."""

    def __init__(self, transcript: Transcript) -> None:
        from pysat.solvers import Solver  # an extra: --help does without

        self._count = TRUE
        self._solver = Solver("cadical153", bootstrap_with=[[TRUE]])
        self._possible: dict[tuple[int, ...], bool] = {}
        self._atoms = {
            header.name: lifted_atoms(transcript.vocabulary, header, repeated=transcript.repeated)
            for header in transcript.headers
        }
        self._modes = {
            (name, atom): _Modes(*(self._variable() for _ in _Modes._fields))
            for name, atoms in self._atoms.items()
            for atom in atoms
        }
        for modes in self._modes.values():
            self._solver.add_clause([-modes.positive, -modes.negative])
            self._solver.add_clause([-modes.add, -modes.delete])
        for entry in transcript.entries:
            if isinstance(entry, Asked):
                self._answered(entry)
            else:
                for step in entry.steps:
                    self._executed([step.action], step.before.state, step.after.state)

    def contain(self, model: Model) -> bool:
        """Whether the model gives every answer."""
        return self._possibly(
            *(
                variable if atom in part else -variable
                for (name, atom), modes in self._modes.items()
                for schema in [model.schema(name)]
                for variable, part in zip(
                    modes, (schema.positive, schema.negative, schema.add, schema.delete), strict=True
                )
            )
        )

    def differ(self, model: Model, step: Circumstances) -> bool:
        """Whether some of them answers otherwise than this model does."""
        modes = [self._modes[step.action, atom] for atom in self._atoms[step.action]]
        violated = [
            each.negative if held else each.positive for each, held in zip(modes, step.held, strict=True)
        ]
        after = self.answer(model, step)
        if after is None:
            return self._possibly(*(-one for one in violated))
        if any(self._possibly(one) for one in violated):
            return True
        groups: dict[int, list[_Modes]] = {}
        for place, first in enumerate(step.same):
            groups.setdefault(first, []).append(modes[place])
        return any(
            self._may_end_otherwise(group, held=step.held[first], after=after[first])
            for first, group in groups.items()
        )

    def answer(self, model: Model, step: Circumstances) -> tuple[bool, ...] | None:
        """Which of the action's lifted atoms hold after the step in this model; None if it is refused."""
        schema, atoms = model.schema(step.action), self._atoms[step.action]
        held = {atom for atom, value in zip(atoms, step.held, strict=True) if value}
        if not schema.positive <= held or schema.negative & held:
            return None
        added, deleted = (
            {first for atom, first in zip(atoms, step.same, strict=True) if atom in part}
            for part in (schema.add, schema.delete)
        )
        return tuple(
            first in added or (value and first not in deleted)
            for first, value in zip(step.same, step.held, strict=True)
        )

    def _may_end_otherwise(self, modes: Sequence[_Modes], *, held: bool, after: bool) -> bool:
        """Whether an atom, which all of these are, may have another value after the step."""
        never_added = [-each.add for each in modes]
        if not after:
            return any(self._possibly(each.add) for each in modes) or (
                held and self._possibly(*never_added, *(-each.delete for each in modes))
            )
        if not held:
            return self._possibly(*never_added)
        return any(self._possibly(*never_added, each.delete) for each in modes)

    # --- clauses ---------------------------------------------------------------------------------

    def _answered(self, entry: Asked) -> None:
        plan, response = entry.query.plan, entry.response
        self._executed(plan[: response.executed], entry.query.initial.state, response.final.state)
        if response.executed < len(plan):
            refused, true = plan[response.executed], response.final.state.true
            atoms = self._atoms[refused.name]
            self._solver.add_clause(
                [
                    modes.negative if atom.ground(refused.objects) in true else modes.positive
                    for atom in atoms
                    for modes in [self._modes[refused.name, atom]]
                ]
            )

    def _executed(self, plan: Sequence[GroundAction], before: State, after: State) -> None:
        """The plan was executed and led from one state to the other; what was in between was not seen."""
        touched = {atom.ground(action.objects): None for action in plan for atom in self._atoms[action.name]}
        values = {fact: TRUE if fact in before.true else -TRUE for fact in touched}
        for action in plan:
            values = self._step(action, values)
        for fact, value in values.items():
            self._solver.add_clause([value if fact in after.true else -value])

    def _step(self, action: GroundAction, values: dict[Atom, int]) -> dict[Atom, int]:
        groups: dict[Atom, list[_Modes]] = {}
        for atom in self._atoms[action.name]:
            groups.setdefault(atom.ground(action.objects), []).append(self._modes[action.name, atom])
        after = dict(values)
        for fact, group in groups.items():
            was, now = values[fact], self._variable()
            after[fact] = now
            adds = [modes.add for modes in group]
            deletes = [modes.delete for modes in group]
            self._solver.append_formula(
                [
                    *([-modes.positive, was] for modes in group),
                    *([-modes.negative, -was] for modes in group),
                    *([-add, now] for add in adds),
                    *([-delete, *adds, -now] for delete in deletes),
                    [*adds, *deletes, -was, now],
                    [*adds, *deletes, was, -now],
                ]
            )
        return after

    def _possibly(self, *literals: int) -> bool:
        if literals not in self._possible:
            self._possible[literals] = bool(self._solver.solve(assumptions=literals))
        return self._possible[literals]

    def _variable(self) -> int:
        self._count += 1
        return self._count


# --- what can be asked --------------------------------------------------------------------------------------------


def askable(domain: Domain, access: Access, starts: Sequence[State], limit: int) -> set[Circumstances] | None:
    """The circumstances in which a query can ask for a step; None if more than ``limit`` states are reachable.

    Under settable access any state can be asked about, under any other those to which the agent can go on from ``starts``.
    """
    if access is Access.SETTABLE:
        return set(_anywhere(domain))
    states = reachable(domain.model, starts, limit, repeated=domain.repeated)
    return None if states is None else set(_in_states(domain, states))


def _in_states(domain: Domain, states: Iterable[State]) -> Iterator[Circumstances]:
    bindings: dict[object, list[tuple[str, tuple[int, ...], list[Atom]]]] = {}
    for state in states:
        if state.objects not in bindings:
            bindings[state.objects] = list(_bindings(domain, state))
        for name, same, facts in bindings[state.objects]:
            yield Circumstances(name, tuple(fact in state.true for fact in facts), same)


def _anywhere(domain: Domain) -> Iterator[Circumstances]:
    for state in domain.problems:
        for name, same in dict.fromkeys((name, same) for name, same, _ in _bindings(domain, state)):
            free = sorted(set(same))
            for values in product((False, True), repeat=len(free)):
                held = dict(zip(free, values, strict=True))
                yield Circumstances(name, tuple(held[first] for first in same), same)


def _bindings(domain: Domain, state: State) -> Iterator[tuple[str, tuple[int, ...], list[Atom]]]:
    for header in domain.model.headers:
        atoms = lifted_atoms(domain.model.vocabulary, header, repeated=domain.repeated)
        for objects in all_bindings(header, state.objects, repeated=domain.repeated):
            facts = [atom.ground(objects) for atom in atoms]
            yield header.name, tuple(facts.index(fact) for fact in facts), facts


if __name__ == "__main__":
    sys.exit(run_command(random_domains))

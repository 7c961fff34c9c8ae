"""FAMA: a STRIPS model that explains traces (Aineto, Jimenez Celorrio and Onaindia, AIJ 275, 2019).

The original compiles the traces into a planning problem: a plan first programs the model, bit by bit, then
replays every trace with it and tests the states that were seen. Where all actions are seen, as in the paper's
comparison (Section "Empirical Evaluation"), no planning is needed: which bits to set is a satisfiability problem over
the same models (``encoding``).

Many models explain the same traces, and the solver chooses among them. Here the seed decides, and not a heuristic: the
bits are programmed in random order, each to a value drawn at random unless no remaining model has it. The solver only
says whether there is one, so any solver gives the same model. The spread over seeds shows what the traces leave open.
How often a bit is preferred to be set makes two kinds of solver: ``ANY`` draws among all models, ``FRUGAL`` sets only
the bits that are needed, as a planner inserts only the actions that it needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aam_vision.model.query import Agent
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    State,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.support.errors import AgentFailed, UnusableInput

if TYPE_CHECKING:
    from pysat.solvers import Solver


SOLVER = "glucose4"
ANY, FRUGAL = 0.5, 0.0
"""How often a bit is preferred to be set."""


class Fama:
    """The models that explain some traces.

    ``closed_world``: whether atoms that are not true in a last state are tested to be false; else only true atoms are tested, as the
    paper's own runs did. ``repeated``: whether atoms may name a parameter twice, as in ``on(?x, ?x)``.

    Raises:
        UnusableInput: a trace does not fit the actions, or python-sat is not installed.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        headers: Sequence[ActionHeader],
        traces: Sequence[Trace],
        *,
        closed_world: bool = True,
        repeated: bool = False,
    ) -> None:
        self._encoding = Encoding(vocabulary, headers, repeated=repeated)
        for trace in traces:
            self._encoding.replay(trace, closed_world=closed_world)
        require_solver()

    def learn(self, rng: np.random.Generator, *, density: float = ANY) -> Model | None:
        """A model that explains all traces, chosen at random; None if there is none.

        ``density`` (0 to 1) is how often a bit is preferred to be set.

        There is none if the agent deletes what it does not require, and the traces show it.
        """
        bits = self._encoding.bits
        order = rng.permutation(len(bits))
        signs = rng.random(len(bits)) < density
        with self._solver() as solver:
            if not solver.solve():
                return None
            solution = solver.get_model()
            for number in order:
                preferred = bits[number] if signs[number] else -bits[number]
                possible = solution[bits[number] - 1] == preferred
                if not possible and solver.solve(assumptions=[preferred]):
                    possible, solution = True, solver.get_model()
                solver.add_clause([preferred if possible else -preferred])
        return self._encoding.model(solution)

    def admits(self, model: Model) -> bool:
        """Whether a model is among FAMA's and explains all traces."""
        program = self._encoding.program(model)
        if program is None:
            return False
        with self._solver() as solver:
            return bool(solver.solve(assumptions=program))

    def _solver(self) -> Solver:
        from pysat.solvers import Solver

        return Solver(name=SOLVER, bootstrap_with=self._encoding.clauses)


def require_solver() -> None:
    """Make sure that there is a SAT solver.

    Raises:
        UnusableInput: python-sat is not installed.
    """
    try:
        import pysat.solvers  # noqa: F401
    except ImportError:
        raise UnusableInput("FAMA needs python-sat: pip install 'aam-vision[baselines]'") from None


def intersected(model: Model, traces: Sequence[Trace]) -> Model:
    """FAMA's post-processing: atoms that held each time an action was executed become its preconditions.

    The states in between are those of the model itself when it replays the traces. Actions that no trace shows stay as
    they are.
    """
    held: dict[str, frozenset[LiftedAtom]] = {}
    vocabulary = model.vocabulary
    pools = {header.name: lifted_atoms(vocabulary, header) for header in model.headers}
    for trace in traces:
        state: State = trace.initial
        for name, objects in trace.actions:
            candidates = held.get(name, pools[name])
            held[name] = frozenset(atom for atom in candidates if atom.ground(objects) in state.true)
            state = model.schema(name).successor(state, objects)
    actions = (
        replace(schema, positive=schema.positive | held.get(schema.header.name, frozenset()))
        for schema in model.actions
    )
    return replace(model, actions=tuple(actions))


# Traces <s_I, a_1, ..., a_n, s_G>, which learners from observation get instead of answers.
#
# Paper, Section "Empirical Evaluation", "Comparison with FAMA": the agent acts at random for three steps, and
# only the states before and after are seen.


LENGTH = 3
"""Actions in a trace, as in the paper: the length of the longest plans in AIA's queries."""
APPROACH = 25
"""Steps, at most, that the agent takes before a trace begins: as many as a walk of AIA's has."""
_TRIES = 100


@dataclass(frozen=True)
class Trace:
    """The actions, and the states seen before the first and after the last."""

    initial: State
    actions: tuple[GroundAction, ...]
    final: State


def random_traces(
    agent: Agent, count: int, rng: np.random.Generator, *, length: int = LENGTH, approach: int = APPROACH
) -> list[Trace]:
    """Traces of the agent acting on its own, each from a state that a random walk has led to.

    The problem, and the number of steps before the trace begins (0 to ``approach``), are drawn anew for every
    trace. A walk that ends too early is drawn again.

    Raises:
        AgentFailed: from its initial situations the agent never gets ``length`` steps far.
    """
    starts = agent.initial()
    traces: list[Trace] = []
    failures = 0
    while len(traces) < count:
        start = starts[int(rng.integers(len(starts)))]
        walked = agent.walk(start, int(rng.integers(approach + 1)) + length, rng)
        if len(walked) >= length:
            steps = walked[-length:]
            actions = tuple(step.action for step in steps)
            traces.append(Trace(steps[0].before.state, actions, steps[-1].after.state))
        elif (failures := failures + 1) >= _TRIES * count:
            raise AgentFailed(f"the agent ended {failures} walks after less than {length} steps: no traces")
    return traces


# FAMA's models and the replay of traces as clauses.
#
# A model is programmed by two bits for every lifted atom of an action, as in FAMA: ``pre`` makes it a
# precondition, ``eff`` an effect - which deletes the atom if it is a precondition, and adds it if not. So there are no
# negative preconditions; only preconditions are deleted, and only other atoms are added.
#
# A literal is a number, negative if it is the opposite; a clause is a list of literals, one of which is true.


TRUE = 1
"""The literal that is always true."""


@dataclass(frozen=True)
class _Bits:
    """The variables of one lifted atom of one action; ``add`` and ``delete`` follow from the others."""

    pre: int
    eff: int
    add: int
    delete: int


class Encoding:
    """All models of a vocabulary, and the clauses that traces put on them.

    ``repeated``: whether atoms may name a parameter twice, as in ``on(?x, ?x)``. FAMA has them; they do not affect the others as
    long as traces name no object twice in one action.
    """

    def __init__(
        self, vocabulary: Vocabulary, headers: Sequence[ActionHeader], *, repeated: bool = False
    ) -> None:
        self.clauses: list[list[int]] = [[TRUE]]
        self._vocabulary = vocabulary
        self._headers = tuple(headers)
        self._count = TRUE
        atoms = [
            (header.name, atom)
            for header in headers
            for atom in lifted_atoms(vocabulary, header, repeated=repeated)
        ]
        programmed = [(self._new(), self._new()) for _ in atoms]
        self.bits: list[int] = [bit for pair in programmed for bit in pair]
        """The variables that make up a model, in a fixed order."""
        self._actions: dict[str, dict[LiftedAtom, _Bits]] = {header.name: {} for header in headers}
        for (name, atom), (pre, eff) in zip(atoms, programmed, strict=True):
            bits = _Bits(pre, eff, self._new(), self._new())
            self._actions[name][atom] = bits
            self.clauses += _conjunction(bits.add, eff, -pre) + _conjunction(bits.delete, eff, pre)

    def replay(self, trace: Trace, *, closed_world: bool) -> None:
        """Keep only models that can execute the trace and end in its last state.

        Atoms that the first state does not know may have any value; those that the last one does not know
        are not tested. Without ``closed_world`` only the atoms that are true in the last state are tested.

        Raises:
            UnusableInput: the trace names an unknown action, or too few or too many objects.
        """
        values: dict[Atom, int] = {}
        for action in trace.actions:
            self._step(trace.initial, values, action)
        tested = {*values, *trace.initial.true, *trace.final.true} if closed_world else trace.final.true
        for atom in sorted(tested):
            found = trace.final.value(atom)
            if found is not None:
                value = self._value(trace.initial, values, atom)
                self.clauses.append([value if found else -value])

    def model(self, solution: Iterable[int]) -> Model:
        """The model that a solution (the literals that are true) programs."""
        true = frozenset(literal for literal in solution if literal > 0)
        schemas = []
        for header in self._headers:
            atoms = self._actions[header.name]
            schemas.append(
                ActionSchema(
                    header,
                    positive=frozenset(atom for atom, bits in atoms.items() if bits.pre in true),
                    add=frozenset(atom for atom, bits in atoms.items() if bits.add in true),
                    delete=frozenset(atom for atom, bits in atoms.items() if bits.delete in true),
                )
            )
        return Model(self._vocabulary, tuple(schemas))

    def program(self, model: Model) -> list[int] | None:
        """The literals that program a model; None if it is not among FAMA's."""
        literals = []
        for name, atoms in self._actions.items():
            schema = model.schema(name)
            known = schema.positive | schema.add <= atoms.keys()
            if (
                not known
                or schema.negative
                or schema.add & schema.positive
                or not schema.delete <= schema.positive
            ):
                return None
            for atom, bits in atoms.items():
                effect = atom in schema.add or atom in schema.delete
                literals += [
                    bits.pre if atom in schema.positive else -bits.pre,
                    bits.eff if effect else -bits.eff,
                ]
        return literals

    def _step(self, initial: State, values: dict[Atom, int], action: GroundAction) -> None:
        """The clauses of one action; ``values`` holds the literals of all atoms that it may have changed."""
        instances: Mapping[Atom, list[_Bits]] = defaultdict(list)
        for lifted, bits in self._atoms(action).items():
            instances[lifted.ground(action.objects)].append(bits)
        for atom, lifts in instances.items():
            before = self._value(initial, values, atom)
            after = values[atom] = self._new()
            adds = [bits.add for bits in lifts]
            deletes = [bits.delete for bits in lifts]
            self.clauses += [[-bits.pre, before] for bits in lifts]
            self.clauses += [[-add, after] for add in adds]
            self.clauses += [[-delete, *adds, -after] for delete in deletes]
            self.clauses += [[-before, *deletes, after], [before, *adds, -after]]

    def _atoms(self, action: GroundAction) -> Mapping[LiftedAtom, _Bits]:
        arity = {header.name: header.arity for header in self._headers}
        if arity.get(action.name) != len(action.objects):
            known = ", ".join(str(header) for header in self._headers)
            raise UnusableInput(f"a trace says {action}, but the actions are {known}")
        return self._actions[action.name]

    def _value(self, initial: State, values: dict[Atom, int], atom: Atom) -> int:
        """The literal that stands for the atom's truth; at first what the initial state says."""
        if atom not in values:
            known = initial.value(atom)
            values[atom] = self._new() if known is None else TRUE if known else -TRUE
        return values[atom]

    def _new(self) -> int:
        self._count += 1
        return self._count


def _conjunction(whole: int, *parts: int) -> list[list[int]]:
    """Clauses that make ``whole`` true exactly if all parts are."""
    return [[whole, *(-part for part in parts)], *([-whole, part] for part in parts)]

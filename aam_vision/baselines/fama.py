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

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aam_vision.baselines.encoding import Encoding
from aam_vision.baselines.traces import Trace
from aam_vision.errors import UnusableInput
from aam_vision.strips import ActionHeader, ActionSchema, LiftedAtom, Model, State, Vocabulary, lifted_atoms

if TYPE_CHECKING:
    from pysat.solvers import Solver

SOLVER = "glucose4"
ANY, FRUGAL = 0.5, 0.0
"""How often a bit is preferred to be set."""


class Fama:
    """The models that explain some traces.

    Args:
        vocabulary: the predicates.
        headers: the actions.
        traces: what was seen.
        closed_world: whether atoms that are not true in a last state are tested to be false; else only true atoms are
            tested, as the paper's own runs did.
        repeated: whether atoms may name a parameter twice, as in ``on(?x, ?x)``.

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


def intersected(model: Model, traces: Sequence[Trace], *, repeated: bool = False) -> Model:
    """FAMA's post-processing: atoms that held each time an action was executed become its preconditions.

    The states in between are those of the model itself when it replays the traces. Actions that no trace shows stay as
    they are.
    """
    held: dict[str, frozenset[LiftedAtom]] = {}
    vocabulary = model.vocabulary
    pools = {header.name: lifted_atoms(vocabulary, header, repeated=repeated) for header in model.headers}
    for trace in traces:
        state: State = trace.initial
        for name, objects in trace.actions:
            candidates = held.get(name, pools[name])
            held[name] = frozenset(atom for atom in candidates if atom.ground(objects) in state.true)
            state = model.schema(name).successor(state, objects)
    return replace(model, actions=tuple(_strengthened(schema, held) for schema in model.actions))


def _strengthened(schema: ActionSchema, held: dict[str, frozenset[LiftedAtom]]) -> ActionSchema:
    return replace(schema, positive=schema.positive | held.get(schema.header.name, frozenset()))

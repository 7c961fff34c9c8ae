"""A simulator of unified-planning as an agent: it executes actions whose preconditions and effects nobody looks at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from aam_vision.model.query import Access, Agent, Query, Response, Situation
from aam_vision.model.strips import ActionHeader, Atom, State, Vocabulary
from aam_vision.model.unified import headers_of, objects_of, vocabulary_of
from aam_vision.support.errors import AamError, AgentFailed, UnusableInput, reason


class SimulatorAgent(Agent):
    """Whatever ``unified_planning``'s sequential simulators execute, as a black box; it does not act on its own.

    Args:
        simulator: a sequential simulator, or the problem to be simulated.
        access: where queries may start; default the most: ``settable`` for a problem, and ``snapshot`` for a simulator,
            whose states are its own.
        constants: objects that instructions may mean without naming them; they become constants of the model.

    Raises:
        UnusableInput: it is neither, or what it simulates is more than instructions to change Boolean facts of objects.
    """

    refuses_surely = True
    access: Access
    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]

    def __init__(self, simulator: Any, access: Access | None = None, constants: Iterable[str] = ()) -> None:
        from unified_planning.engines import UPSequentialSimulator
        from unified_planning.model import Problem

        most = Access.SNAPSHOT
        if isinstance(simulator, Problem):
            most = Access.SETTABLE
            try:
                simulator = UPSequentialSimulator(simulator)
            except Exception as error:  # of any kind: it is foreign code
                raise UnusableInput(f"cannot be simulated ({reason(error)})", "problem") from error
        self._problem: Any = getattr(simulator, "_problem", None)
        if not isinstance(self._problem, Problem) or not hasattr(simulator, "apply"):
            raise UnusableInput(
                "give the name of an environment, or a problem or sequential simulator of unified-planning",
                "environment",
                type(simulator).__name__,
            )
        if access is Access.SETTABLE and most is not access:
            raise UnusableInput(
                "a simulator sets no states; give its problem instead", "access", access.value
            )
        self.access = access or most
        self.vocabulary = vocabulary_of(self._problem, tuple(constants))
        self.headers = headers_of(self._problem, self.vocabulary)
        self._objects = objects_of(self._problem, self.vocabulary)
        self._simulator = simulator
        known = {one.name for one in self.vocabulary.predicates}
        fixed = set() if self.access.constructs else {one.name for one in self._problem.get_static_fluents()}
        self._changing: list[tuple[Any, Atom]] = []
        self._static: set[Atom] = set()
        self._initial: dict[Any, Any] = self._problem.initial_values
        for fluent, value in self._initial.items():
            name = fluent.fluent().name
            atom = Atom(name, tuple(str(one) for one in fluent.args))
            if name in known and name not in fixed:
                self._changing.append((fluent, atom))
            elif name in known and value.is_true():
                self._static.add(atom)

    def initial(self) -> Sequence[Situation]:
        """The initial situation.

        Raises:
            AgentFailed: the simulator failed.
        """
        try:
            return [self._situation(self._simulator.get_initial_state())]
        except Exception as error:  # of any kind: it is foreign code
            raise AgentFailed(f"the simulator failed ({reason(error)})") from error

    def ask(self, query: Query) -> Response:
        """Run the plan as far as it goes.

        Raises:
            AgentFailed: the simulator failed.
        """
        from unified_planning.exceptions import UPInvalidActionError
        from unified_planning.plans import ActionInstance

        state, executed, after = query.initial.handle, 0, None
        try:
            if isinstance(state, State):
                state = self._made(state)
            for action in query.plan:
                objects = tuple(self._problem.object(name) for name in action.objects)
                step = ActionInstance(self._problem.action(action.name), objects)
                try:
                    after = self._simulator.apply(state, step)
                except UPInvalidActionError:
                    after = None
                if after is None:
                    break
                state, executed = after, executed + 1
            return Response(executed, self._situation(state) if executed else query.initial)
        except AamError:
            raise
        except Exception as error:  # of any kind: it is foreign code
            done = f" after {executed} of {len(query.plan)} steps" if query.plan else ""
            raise AgentFailed(f"the simulator failed{done} ({reason(error)})") from error

    def _situation(self, state: Any) -> Situation:
        true = {atom for fluent, atom in self._changing if state.get_value(fluent).is_true()}
        return Situation(state, State(frozenset(true | self._static), self._objects))

    def _made(self, state: State) -> Any:
        """The simulator's state that a state stands for."""
        from unified_planning.model import UPState

        known = {one.name for one in self.vocabulary.predicates}
        manager = self._problem.environment.expression_manager
        values = {
            fluent: value
            if (name := fluent.fluent().name) not in known
            else manager.Bool(Atom(name, tuple(str(one) for one in fluent.args)) in state.true)
            for fluent, value in self._initial.items()
        }
        return UPState(values, self._problem)

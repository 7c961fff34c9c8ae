"""PDDLGym's simulator, which alone decides the effect of an instruction. `World` remembers its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from aam_vision.envs.board import Layout
from aam_vision.envs.pddlgym_domains import (
    Literals,
    atom_of,
    cases,
    changing_predicates,
    parsed,
    pddlgym,
    static_atoms,
)
from aam_vision.envs.pddlgym_files import chance_model
from aam_vision.model.strips import ActionSchema, Atom, GroundAction, LiftedAtom, State
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.support.errors import UnusableInput


@cache
def _simulator_class() -> type[Any]:
    core = pddlgym().core

    class Simulator(core.PDDLEnv):  # type: ignore[misc, name-defined]
        """PDDLGym's environment, started from a state instead of a folder of files.

        ``relevant`` are the literals of the present state that can matter to the choice of an operator; ``possible`` what
        may come of the last step, with probabilities.
        """

        relevant: frozenset[Any] = frozenset()
        possible: tuple[tuple[float, Any], ...] = ()

        @staticmethod
        def load_pddl(domain_file: str, problem_dir: str, operators_as_actions: bool = False) -> Any:
            return parsed(domain_file), []

        def _handle_derived_literals(self, state: Any) -> Any:
            """Skip the search for derived predicates in a domain without any: it takes O(N^2) a step."""
            if any(predicate.is_derived for predicate in self.domain.predicates.values()):
                return super()._handle_derived_literals(state)
            return state

        def _get_debug_info(self) -> dict[str, str]:
            return {}

        def _get_successor_state(self, state: Any, action: Any, domain: Any, **options: Any) -> Any:
            """PDDLGym's own two steps, keeping which operator it chose, with which binding, and all that may come of it."""
            operator, binding = core._select_operator(
                state.with_literals(self.relevant), action, domain, inference_mode=options["inference_mode"]
            )
            self.selected, self.possible = None, ()
            if binding is None:
                return state
            self.selected = GroundAction(
                operator.name, tuple([str(binding[item].name) for item in operator.params])
            )
            self.possible = tuple(
                (chance, core._apply_effects(state, effects, binding, False))
                for chance, effects in cases(operator)
            )
            return self.possible[0][1]

    return Simulator


@dataclass(frozen=True, eq=False)
class SimulatedState:
    """A state that a world has been in. Equal states of one world are the same object."""

    dynamic: frozenset[Atom]
    """The atoms of predicates that some operator can change."""
    goal_reached: bool
    literals: frozenset[Any] = field(repr=False)
    edges: dict[GroundAction, Outcome] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a native action: the ground operator that PDDLGym selects, if any, and where it leads.

    Where that is a matter of chance, ``chances`` has all states that it may lead to, with probabilities that add up to 1, and ``node``
    is one of them.
    """

    instruction: GroundAction | None
    node: SimulatedState
    chances: tuple[tuple[float, SimulatedState], ...] = ()


class World:
    """One problem in PDDLGym's simulator; every answer is PDDLGym's and is asked for once.

    ``static`` holds the atoms no operator can change; a node's state is ``static | node.dynamic``.

    Args:
        layout: the problem.
        native: operator -> its native action, and those of its parameters that this one names. The state settles the rest.
    """

    def __init__(self, layout: Layout, native: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
        self.layout = layout
        self._domain = parsed(layout.domain)
        self._named = dict(native.values()) if self._domain.operators_as_actions else {}
        """Where operators are the actions, what each of them names."""
        self.static = static_atoms(layout)
        self._changing = changing_predicates(layout.domain)
        self._env = _simulator_class()(layout.domain, "", operators_as_actions=bool(self._named))
        self._literals = Literals(layout)
        self._entities = self._literals.entities
        goal = pddlgym().structs.LiteralConjunction([self._literals.of(atom) for atom in sorted(layout.goal)])
        self._env._goal = goal
        self._static_literals = frozenset(map(self._literals.of, sorted(self.static)))
        self._template = pddlgym().structs.State(frozenset(), frozenset(self._entities.values()), goal)
        self._nodes: dict[frozenset[Atom], SimulatedState] = {}
        self.initial = self.node(layout.initial - self.static)
        self._indexed = self.initial, StateIndex(State(layout.initial, layout.objects))
        """The state that was looked into last."""
        self._operators: dict[str, list[tuple[ActionSchema, tuple[int, ...]]]] = {}
        """By native action, the operators that it may amount to, and which of their parameters it names."""
        for schema in chance_model(layout.domain).actions:
            verb, taken = native[schema.header.name]
            self._operators.setdefault(verb, []).append((schema, taken))

    def node(self, dynamic: frozenset[Atom]) -> SimulatedState:
        """The state that has these changeable atoms besides the static ones.

        Raises:
            UnusableInput: if an atom is not one that can change in this problem.
        """
        known = self._nodes.get(dynamic)
        if known is not None:
            return known
        for atom in dynamic:
            if atom.predicate not in self._changing or not all(o in self._entities for o in atom.objects):
                raise UnusableInput(f"{atom} is not a changeable atom of {self.layout.name}")
        return self._add(dynamic, frozenset(map(self._literals.of, sorted(dynamic))))

    def _add(self, dynamic: frozenset[Atom], literals: frozenset[Any]) -> SimulatedState:
        reached = self.layout.goal <= dynamic | self.static
        node = self._nodes[dynamic] = SimulatedState(dynamic, reached, literals)
        return node

    def outcome(self, node: SimulatedState, action: GroundAction) -> Outcome:
        """Return the outcome of a native action such as ``move(dir-up)`` in a state."""
        known = node.edges.get(action)
        if known is None:
            known = node.edges[action] = self._attempt(node, action)
        return known

    def _attempt(self, node: SimulatedState, action: GroundAction) -> Outcome:
        """PDDLGym's answer; it is not asked where no operator is applicable.

        Raises:
            UnusableInput: if an action that names only some of an operator's objects can be done in several ways, as in an
                illegal state.
        """
        if self._indexed[0] is not node:
            state = State(self.static | node.dynamic, self.layout.objects)
            self._indexed = node, self._indexed[1].of(state)
        index, possible = self._indexed[1], list[tuple[str, ...]]()
        relevant: set[Atom] = set()
        for schema, taken in self._operators[action.name]:
            match = LiftedAtom("", taken), action.objects
            for objects in bindings(
                index, schema.header, sorted(schema.positive), repeated=True, match=match
            ):
                if schema.applicable(index.state, objects):
                    possible.append(objects)
                    relevant.update(atom.ground(objects) for atom in schema.positive)
            for name in {atom.predicate for atom in schema.negative}:
                relevant.update(Atom(name, row) for row in index.rows.get(name, ()))
        if not possible:
            return Outcome(None, node)
        if action.name in self._named:
            if len(possible) > 1:
                raise UnusableInput(
                    f"{action} can be done in several ways here: only legal states can be played"
                )
            action = GroundAction(action.name, possible[0])
        return self._answer(node, action, frozenset(map(self._literals.of, relevant)))

    def _answer(self, node: SimulatedState, action: GroundAction, relevant: frozenset[Any]) -> Outcome:
        """What PDDLGym says of an action with all its objects.

        Args:
            node: the state.
            action: as PDDLGym knows it.
            relevant: the literals of the state among which it looks for what operators require. It goes through all of a predicate
                again and again, which takes milliseconds a step where these are many.
        """
        self._env.relevant = relevant
        self._env.set_state(self._template.with_literals(self._static_literals | node.literals))
        after, _, _, _ = self._env.sample_transition(self._literals.of(Atom(*action)))
        selected, possible = self._env.selected, self._env.possible
        if len(possible) < 2:
            return Outcome(selected, self._successor(node, after.literals))
        chances = tuple((chance, self._successor(node, one.literals)) for chance, one in possible)
        return Outcome(selected, chances[0][1], chances)

    def _successor(self, node: SimulatedState, literals: frozenset[Any]) -> SimulatedState:
        changing = literals - self._static_literals
        if changing == node.literals:
            return node
        gone, new = node.literals - changing, changing - node.literals
        dynamic = (node.dynamic - set(map(atom_of, gone))) | frozenset(map(atom_of, new))
        return self._nodes.get(dynamic) or self._add(dynamic, changing)

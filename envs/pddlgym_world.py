"""PDDLGym's simulator, which alone decides the effect of an instruction. `World` remembers its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
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
from aam_vision.model.strips import Atom, GroundAction
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


@cache
def _operators(name: str, action: str) -> list[tuple[list[str], Conditions | None]]:
    """The operators of a domain that an action may amount to.

    Of each the variables that the action names, and its conditions; None where they are more than a conjunction.
    """
    domain, literal = parsed(name), pddlgym().structs.Literal
    found: list[tuple[list[str], Conditions | None]] = []
    for operator in domain.operators.values():
        parts = [operator.preconds] if isinstance(operator.preconds, literal) else operator.preconds.literals
        if not all(isinstance(one, literal) for one in parts):
            found.append(([], None))
            continue
        if domain.operators_as_actions:
            named = [operator.params] if operator.name.lower() == action.lower() else []
        else:
            named = [one.variables for one in parts if one.predicate.name == action]
        if named:
            constants = [one.name for one in domain.constants or ()]
            found.append(([one.name for one in named[0]], Conditions(parts, action, constants)))
    return found


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


_NOTHING: Mapping[str, tuple[int, ...]] = {}


class World:
    """One problem in PDDLGym's simulator; every answer is PDDLGym's and is asked for once.

    ``static`` holds the atoms no operator can change; a node's state is ``static | node.dynamic``.

    Args:
        layout: the problem.
        named: where operators are the actions, operator -> those of its parameters that a native action
            names. PDDLGym's inference finds the rest.
    """

    def __init__(self, layout: Layout, named: Mapping[str, tuple[int, ...]] = _NOTHING) -> None:
        self.layout = layout
        changing = changing_predicates(layout.domain)
        self._domain = parsed(layout.domain)
        self._named = named if self._domain.operators_as_actions else _NOTHING
        self.static = static_atoms(layout)
        self._changing = changing
        self._env = _simulator_class()(layout.domain, "", operators_as_actions=bool(self._named))
        self._literals = Literals(layout)
        self._entities = self._literals.entities
        goal = pddlgym().structs.LiteralConjunction([self._literals.of(atom) for atom in sorted(layout.goal)])
        self._env._goal = goal
        self._static_literals = frozenset(map(self._literals.of, sorted(self.static)))
        self._static_index = LiteralIndex(self._static_literals)
        self._template = pddlgym().structs.State(frozenset(), frozenset(self._entities.values()), goal)
        self._nodes: dict[frozenset[Atom], SimulatedState] = {}
        self.initial = self.node(layout.initial - self.static)

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
        state = self._static_literals | node.literals
        whole = self._completed(node, action) if action.name in self._named else action
        relevant = None if whole is None else self._relevant(node, whole)
        if whole is None or relevant is None:
            return Outcome(None, node)
        self._env.relevant = relevant
        self._env.set_state(self._template.with_literals(state))
        after, _, _, _ = self._env.sample_transition(self._literals.of(Atom(*whole)))
        selected, possible = self._env.selected, self._env.possible
        if len(possible) < 2:
            return Outcome(selected, self._successor(node, after.literals))
        chances = tuple((chance, self._successor(node, one.literals)) for chance, one in possible)
        return Outcome(selected, chances[0][1], chances)

    def _relevant(
        self, node: SimulatedState, action: GroundAction, named: Sequence[int] | None = None
    ) -> frozenset[Any] | None:
        """The literals of a state that decide about an action; None if they rule out every operator.

        ``named``: where the action names only these of the variables.
        """
        indices = self._static_index, LiteralIndex(node.literals)
        found: list[Any] = []
        possible = False
        for variables, conditions in _operators(self.layout.domain, action.name):
            if conditions is None:
                return self._static_literals | node.literals
            known = variables if named is None else [variables[place] for place in named]
            own = conditions.relevant(indices, dict(zip(known, action.objects, strict=True)))
            if own is not None:
                possible = True
                found += own
        return frozenset(found) if possible else None

    def _completed(self, node: SimulatedState, action: GroundAction) -> GroundAction | None:
        """The one binding of an operator that has the objects an action names and is applicable.

        Raises:
            UnusableInput: if there are several, as in an illegal state.
        """
        operator = self._domain.operators[action.name]
        start = {
            operator.params[position]: self._entities[name]
            for position, name in zip(self._named[action.name], action.objects, strict=True)
        }
        relevant = self._relevant(node, action, self._named[action.name])
        if relevant is None:
            return None
        found = pddlgym().inference.find_satisfying_assignments(
            relevant,
            operator.preconds.literals,
            type_to_parent_types=self._domain.type_to_parent_types,
            constants=self._domain.constants,
            init_assignments=start,
        )
        if len(found) > 1:
            raise UnusableInput(f"{action} can be done in several ways here: only legal states can be played")
        if not found:
            return None
        return GroundAction(action.name, tuple([str(found[0][item].name) for item in operator.params]))

    def _successor(self, node: SimulatedState, literals: frozenset[Any]) -> SimulatedState:
        changing = literals - self._static_literals
        if changing == node.literals:
            return node
        gone, new = node.literals - changing, changing - node.literals
        dynamic = (node.dynamic - set(map(atom_of, gone))) | frozenset(map(atom_of, new))
        return self._nodes.get(dynamic) or self._add(dynamic, changing)


# Which literals of a state can matter to the choice of an operator: PDDLGym's search then looks at no others.
#
# That search goes through all literals of a predicate again and again, which takes milliseconds a step. Here the
# conditions of every operator are followed once from what the action names, through an index. What is left out occurs in
# no assignment that satisfies the conditions, so that PDDLGym finds the same ones.


Literal = Any
"""A literal of PDDLGym's. Its predicates and objects are compared by name: that is quicker, and names are unique."""
Domains = dict[str, set[str]]
"""The objects that a variable may stand for."""


class LiteralIndex:
    """Literals by predicate, and by predicate, place and object."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self.by_predicate: dict[str, list[Literal]] = {}
        self.by_object: dict[tuple[str, int, str], list[Literal]] = {}
        for literal in literals:
            name = literal.predicate.name
            self.by_predicate.setdefault(name, []).append(literal)
            for place, item in enumerate(literal.variables):
                self.by_object.setdefault((name, place, item.name), []).append(literal)


class Conditions:
    """What an operator requires of a state, besides the action, whose predicate is no part of a state; constants by their names."""

    def __init__(self, literals: Sequence[Literal], action: str, constants: Iterable[str]) -> None:
        own = [one for one in literals if one.predicate.name != action]
        self._positive = [
            (one.predicate.name, [variable.name for variable in one.variables])
            for one in own
            if not one.is_negative
        ]
        self._negative = [one.predicate.name for one in own if one.is_negative]
        self._constants = {name: {name} for name in constants}
        known = {name for _, names in self._positive for name in names} | set(self._constants)
        self._free = {v.name for one in own if one.is_negative for v in one.variables} - known

    def relevant(self, indices: Sequence[LiteralIndex], bound: Mapping[str, str]) -> Iterator[Literal] | None:
        """The literals that can satisfy a condition, or that a negative one speaks of.

        Args:
            indices: of the state's literals, each literal in one of them.
            bound: the objects of those of the operator's variables that the action names.

        Returns:
            None if some condition cannot be satisfied.
        """
        if self._free - bound.keys():  # any object of the state will do
            return chain.from_iterable(chain.from_iterable(i.by_predicate.values()) for i in indices)
        domains: Domains = self._constants | {variable: {item} for variable, item in bound.items()}
        found = [one for name in self._negative for i in indices for one in i.by_predicate.get(name, ())]
        waiting = list(self._positive)
        while waiting:
            candidates = [_candidates(indices, *condition, domains) for condition in waiting]
            number = min(range(len(waiting)), key=lambda place: len(candidates[place]))
            _, variables = waiting.pop(number)
            places = [(place, domains[one]) for place, one in enumerate(variables) if one in domains]
            kept = [
                one
                for one in candidates[number]
                if all(one.variables[place].name in items for place, items in places)
            ]
            if not kept:
                return None
            found += kept
            for place, variable in enumerate(variables):  # the objects are among those that it had before
                domains[variable] = {one.variables[place].name for one in kept}
        return iter(found)


def _candidates(
    indices: Sequence[LiteralIndex], predicate: str, variables: Sequence[str], domains: Domains
) -> list[Literal]:
    """The literals of a predicate, where an object is known only those of it."""
    known = [(place, domains[one]) for place, one in enumerate(variables) if one in domains]
    if not known:
        return [one for index in indices for one in index.by_predicate.get(predicate, ())]
    place, items = min(known, key=lambda pair: len(pair[1]))
    return [
        one
        for index in indices
        for item in items
        for one in index.by_object.get((predicate, place, item), ())
    ]

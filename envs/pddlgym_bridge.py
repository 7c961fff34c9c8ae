"""The only door to PDDLGym: its problem files and its simulator, in the toolkit's own terms.

PDDLGym 0.0.7 was written for the legacy ``gym`` package: ``gymnasium`` stands in for it, but only while
PDDLGym is imported, which happens when it is first needed.

PDDLGym's simulator alone decides what an instruction does; `World` merely remembers its answers.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from aam_vision.envs.board import Layout
from aam_vision.errors import UnusableInput
from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    Objects,
    Predicate,
    Types,
)

SPLITS = {"train": "", "test": "_test"}
"""Our names for PDDLGym's problem folders, and what it appends to the domain's name."""

_LEGACY = ("gym", "gym.spaces", "gym.envs", "gym.envs.registration")


@contextmanager
def _gymnasium_as_gym() -> Iterator[None]:
    """Let ``import gym`` mean gymnasium, then put ``sys.modules`` back as it was."""
    import gymnasium.envs.registration
    import gymnasium.spaces  # noqa: F401

    before = {name: sys.modules.get(name) for name in _LEGACY}
    for name in _LEGACY:
        sys.modules[name] = sys.modules["gymnasium" + name.removeprefix("gym")]
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextmanager
def _without_its_warnings() -> Iterator[None]:
    """Keep quiet about PDDLGym's dated use of regular expressions, which users cannot change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def pddlgym() -> ModuleType:
    """PDDLGym's package, imported on first use (about 0.7 s, mostly matplotlib and scipy).

    Raises:
        UnusableInput: if it is not installed, as after a plain installation on Python 3.12 or later.
    """
    with _gymnasium_as_gym(), _without_its_warnings():
        try:
            package = import_module("pddlgym")
        except ModuleNotFoundError as error:
            if error.name != "pddlgym":
                raise
            raise UnusableInput("PDDLGym is not installed: pip install --no-deps pddlgym==0.0.7") from None
        import_module("pddlgym.core")
        import_module("pddlgym.parser")
        import_module("pddlgym.inference")
    return package


def _folder() -> Path:
    return Path(pddlgym().__file__ or "").parent / "pddl"


OPERATOR_ACTIONS = {"blocks": "blocks_operator_actions", "hanoi": "hanoi_operator_actions"}
"""Our names of domains for which PDDLGym's own name says that operators are the actions."""

UNTYPED = "default"
"""PDDLGym's type of all objects of a domain without types; ours is the root type."""


# --- problem files -----------------------------------------------------------------------------------


@cache
def _domain(name: str) -> Any:
    """PDDLGym's parsed domain; read-only, so every world of the domain shares it."""
    import gymnasium

    package, name = pddlgym(), OPERATOR_ACTIONS.get(name, name)
    operators = gymnasium.spec(f"PDDLEnv{name.capitalize()}-v0").kwargs.get("operators_as_actions", False)
    with _without_its_warnings():
        return package.parser.PDDLDomainParser(
            str(_folder() / f"{name}.pddl"), expect_action_preds=not operators, operators_as_actions=operators
        )


def _actions(spec: Any) -> frozenset[str]:
    """Names of a domain's actions: action predicates, or operators."""
    return frozenset(getattr(action, "name", action) for action in spec.actions)


def _kind(kind: Any) -> str:
    return ROOT_TYPE if str(kind) == UNTYPED else str(kind)


def problem_files(domain: str, split: str) -> tuple[Path, ...]:
    """The problem files of a split in PDDLGym's own order, that of their names.

    Raises:
        UnusableInput: if there is no such split.
    """
    if split not in SPLITS:
        raise UnusableInput(f"{domain} has no split {split!r}: use one of {', '.join(SPLITS)}")
    folder = _folder() / f"{OPERATOR_ACTIONS.get(domain, domain)}{SPLITS[split]}"
    return tuple(sorted(folder.glob("*.pddl")))


def load_layout(domain: str, split: str, index: int) -> Layout:
    """Problem ``index`` (from 0) of a split, without PDDLGym's action literals.

    Raises:
        UnusableInput: if there is no such split or no such problem.
    """
    files = problem_files(domain, split)
    if index not in range(len(files)):
        raise UnusableInput(
            f"{domain} has no {split} problem {index!r}: use a number from 0 to {len(files) - 1}"
        )
    spec = _domain(domain)
    with _without_its_warnings():
        problem = pddlgym().parser.PDDLProblemParser(
            str(files[index]), spec.domain_name, spec.types, spec.predicates, spec.actions, spec.constants
        )
    kinds = {str(item.name): _kind(item.var_type) for item in sorted(problem.objects)}
    return Layout(
        domain=domain,
        name=f"{domain}/{split}/{index}",
        objects=Objects(kinds, domain_types(domain)),
        initial=frozenset(map(_atom, problem.initial_state)),
        goal=frozenset(map(_atom, getattr(problem.goal, "literals", [problem.goal]))),
    )


def _atom(literal: Any) -> Atom:
    """The atom that a literal of PDDLGym speaks of, whatever its sign."""
    return Atom(literal.predicate.name, tuple([str(item.name) for item in literal.variables]))


def entities_of(layout: Layout) -> dict[str, Any]:
    """PDDLGym's objects by name."""
    kinds, entity = _domain(layout.domain).types, pddlgym().structs.TypedEntity
    return {
        name: entity(name, kinds[UNTYPED if kind == ROOT_TYPE else kind])
        for name, kind in layout.objects.items()
    }


def literal_of(domain: str, entities: Mapping[str, Any], atom: Atom) -> Any:
    """The literal that says an atom is true."""
    return _domain(domain).predicates[atom.predicate](*[entities[name] for name in atom.objects])


# --- domains -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operator:
    """One of PDDLGym's operators without its action literal: the truth that evaluation compares with."""

    header: ActionHeader
    preconditions: frozenset[LiftedAtom]
    add: frozenset[LiftedAtom]
    delete: frozenset[LiftedAtom]


def domain_types(domain: str) -> Types:
    """The domain's types; none of the image domains has a hierarchy."""
    return Types({str(name): ROOT_TYPE for name in _domain(domain).types if str(name) != UNTYPED})


def domain_predicates(domain: str) -> tuple[Predicate, ...]:
    """The domain's predicates in the file's order, without the action literals."""
    spec = _domain(domain)
    actions = _actions(spec)
    return tuple(
        Predicate(name, tuple(_kind(kind) for kind in predicate.var_types))
        for name, predicate in spec.predicates.items()
        if name not in actions
    )


@cache
def changing_predicates(domain: str) -> frozenset[str]:
    """The predicates that some operator of a domain can change: how to draw a state depends on no other."""
    return frozenset(
        effect.predicate.name
        for operator in _domain(domain).operators.values()
        for effect in operator.effects.literals
    )


def domain_operators(domain: str) -> tuple[Operator, ...]:
    """The domain's operators in the file's order."""
    spec = _domain(domain)
    actions = _actions(spec)
    found = []
    for operator in spec.operators.values():
        names = [item.name for item in operator.params]

        def lift(literals: Iterable[Any], names: Sequence[Any] = names) -> frozenset[LiftedAtom]:
            return frozenset(
                LiftedAtom(each.predicate.name, tuple([names.index(v.name) for v in each.variables]))
                for each in literals
            )

        effects = operator.effects.literals
        found.append(
            Operator(
                ActionHeader(
                    operator.name,
                    tuple(str(name).removeprefix("?") for name in names),
                    tuple(_kind(item.var_type) for item in operator.params),
                ),
                lift(each for each in operator.preconds.literals if each.predicate.name not in actions),
                lift(each for each in effects if not each.is_anti),
                lift(each for each in effects if each.is_anti),
            )
        )
    return tuple(found)


# --- the simulator -----------------------------------------------------------------------------------


@cache
def _simulator_class() -> type[Any]:
    core = pddlgym().core

    class Simulator(core.PDDLEnv):  # type: ignore[misc, name-defined]
        """PDDLGym's environment, started from a state instead of a folder of files."""

        @staticmethod
        def load_pddl(domain_file: str, problem_dir: str, operators_as_actions: bool = False) -> Any:
            return _domain(domain_file), []

        def _handle_derived_literals(self, state: Any) -> Any:
            """Skip the search for derived predicates in a domain without any: it takes O(N^2) a step."""
            if any(predicate.is_derived for predicate in self.domain.predicates.values()):
                return super()._handle_derived_literals(state)
            return state

        def _get_debug_info(self) -> dict[str, str]:
            return {}

        def _get_successor_state(self, state: Any, action: Any, domain: Any, **options: Any) -> Any:
            """PDDLGym's own two steps, keeping which operator it chose, and with which binding."""
            operator, binding = core._select_operator(
                state, action, domain, inference_mode=options["inference_mode"]
            )
            self.selected = None
            if binding is None:
                return state
            self.selected = GroundAction(
                operator.name, tuple([str(binding[item].name) for item in operator.params])
            )
            return core._apply_effects(state, operator.effects.literals, binding, False)

    return Simulator


@dataclass(frozen=True, eq=False)
class Node:
    """A state a world has been in. Equal states of one world are the same node."""

    dynamic: frozenset[Atom]
    """The atoms of predicates that some operator can change."""
    goal_reached: bool
    literals: frozenset[Any] = field(repr=False)
    edges: dict[GroundAction, Outcome] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Outcome:
    """What a native action does: the ground operator that PDDLGym selects, if any, and where it leads."""

    instruction: GroundAction | None
    node: Node


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
        self._domain = _domain(layout.domain)
        self._named = named if self._domain.operators_as_actions else _NOTHING
        self.static = frozenset(atom for atom in layout.initial if atom.predicate not in changing)
        self._changing = changing
        self._env = _simulator_class()(layout.domain, "", operators_as_actions=bool(self._named))
        self._entities = entities_of(layout)
        goal = pddlgym().structs.LiteralConjunction([self._literal(atom) for atom in sorted(layout.goal)])
        self._env._goal = goal
        self._static_literals = frozenset(map(self._literal, sorted(self.static)))
        self._template = pddlgym().structs.State(frozenset(), frozenset(self._entities.values()), goal)
        self._nodes: dict[frozenset[Atom], Node] = {}
        self.initial = self.node(layout.initial - self.static)

    def _literal(self, atom: Atom) -> Any:
        return literal_of(self.layout.domain, self._entities, atom)

    def node(self, dynamic: frozenset[Atom]) -> Node:
        """The node of the state that has these changeable atoms besides the static ones.

        Raises:
            UnusableInput: if an atom is not one that can change in this problem.
        """
        known = self._nodes.get(dynamic)
        if known is not None:
            return known
        for atom in dynamic:
            if atom.predicate not in self._changing or not all(o in self._entities for o in atom.objects):
                raise UnusableInput(f"{atom} is no changeable atom of {self.layout.name}")
        return self._add(dynamic, frozenset(map(self._literal, sorted(dynamic))))

    def _add(self, dynamic: frozenset[Atom], literals: frozenset[Any]) -> Node:
        reached = self.layout.goal <= dynamic | self.static
        node = self._nodes[dynamic] = Node(dynamic, reached, literals)
        return node

    def outcome(self, node: Node, action: GroundAction) -> Outcome:
        """What PDDLGym makes of a native action such as ``move(dir-up)`` in a state."""
        known = node.edges.get(action)
        if known is None:
            known = node.edges[action] = self._attempt(node, action)
        return known

    def _attempt(self, node: Node, action: GroundAction) -> Outcome:
        state = self._static_literals | node.literals
        whole = self._completed(action, state) if action.name in self._named else action
        if whole is None:
            return Outcome(None, node)
        self._env.set_state(self._template.with_literals(state))
        after, _, _, _ = self._env.sample_transition(self._literal(Atom(*whole)))
        return Outcome(self._env.selected, self._successor(node, after.literals))

    def _completed(self, action: GroundAction, state: frozenset[Any]) -> GroundAction | None:
        """The one binding of an operator that has the objects an action names and is applicable.

        Raises:
            UnusableInput: if there are several, as in an illegal state.
        """
        operator = self._domain.operators[action.name]
        start = {
            operator.params[position]: self._entities[name]
            for position, name in zip(self._named[action.name], action.objects, strict=True)
        }
        found = pddlgym().inference.find_satisfying_assignments(
            state,
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

    def _successor(self, node: Node, literals: frozenset[Any]) -> Node:
        changing = literals - self._static_literals
        if changing == node.literals:
            return node
        gone, new = node.literals - changing, changing - node.literals
        dynamic = (node.dynamic - set(map(_atom, gone))) | frozenset(map(_atom, new))
        return self._nodes.get(dynamic) or self._add(dynamic, changing)

"""An agent in anybody's Python: what it declares and answers is looked at before anything follows from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TypeVar

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, Atom, Objects, State, Vocabulary
from aam_vision.support.errors import AamError, AgentFailed, UnusableInput, reason
from aam_vision.support.wording import counted

T = TypeVar("T")
_DECLARED = ("vocabulary", "headers", "access", "initial", "ask")
SEVERAL = 3
"""Different states, at the beginning and after executed steps, with which one handle must stand for several situations."""


class GuardedAgent(AgentDecorator):
    """An agent of which nothing is taken on trust: whatever it raises, or answers that means nothing, is its failure.

    What was learned before is left. Situations whose handle is None are told apart here, and the agent is given back the very
    situation that it returned. Where any state can be made, the handle is the state.

    Raises:
        UnusableInput: it is no agent, or what it declares cannot be asked for.
    """

    def __init__(self, agent: Agent) -> None:
        _check_declared(agent)
        super().__init__(agent)
        self._sound: dict[Objects, set[Atom]] = {}
        """Atoms that were found to be of the vocabulary, by the objects of the problem."""
        self._own: dict[Hashable, Situation] = {}
        """The agent's situations without a handle, by the one that they were given."""
        self._begun: set[Hashable] = set()
        self._shown: set[State] | None = set()
        """What was seen at the beginning and after executed steps, while all situations have had one handle."""

    def initial(self) -> Sequence[Situation]:
        """Its initial situations.

        Raises:
            AgentFailed: it raised something, or these are no initial situations.
        """
        found = _guarded(self.agent.initial)
        if not isinstance(found, Sequence) or not found:
            raise AgentFailed(
                f"initial returned {_kind(found)}; it has to return a list of situations, one for each problem"
            )
        states: dict[Hashable, State] = {}
        for situation in found:
            self._check(situation, "initial")
        begun = [self._with_handle(situation, f"problem {number}") for number, situation in enumerate(found)]
        self._begun = {situation.handle for situation in begun}
        if self._shown is not None:
            self._shown |= {situation.state for situation in begun}
        for situation in begun:
            if states.setdefault(situation.handle, situation.state) != situation.state:
                raise AgentFailed(
                    f"initial returned two situations with the handle {situation.handle!r} and different states; "
                    "a handle has to tell where the agent is restored to"
                )
        return begun

    def ask(self, query: Query) -> Response:
        """Its answer.

        Raises:
            AgentFailed: it raised something, or this is no answer to the query.
        """
        asked = replace(query, initial=self._as_returned(query.initial))
        found = _guarded(lambda: self.agent.ask(asked))
        if not isinstance(found, Response):
            raise AgentFailed(f"ask returned {type(found).__name__}; it has to return a Response")
        told = found.executed if found.told is None else found.told
        if not (isinstance(found.executed, Integral) and 0 <= found.executed <= told <= len(query.plan)):
            raise AgentFailed(
                f"ask returned {found.executed!r} executed steps of a plan of {len(query.plan)}; "
                "it has to count those before the first that it refuses"
            )
        self._check(found.final, "ask")
        self._check_objects(found.final.state, query.initial.state, "ask")
        if query.plan or found.final.handle is not None or self.access.constructs:
            self._check_told_apart(found)
            return replace(found, final=self._with_handle(found.final))
        at = query.initial.handle  # a look: it stands where it stood
        if at not in self._begun:
            self._own[at] = found.final
        return replace(found, final=replace(found.final, handle=at))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """Its walk.

        Raises:
            AgentFailed: it raised something, or this is no walk from there.
        """
        found = _guarded(lambda: self.agent.walk(self._as_returned(start), steps, rng))
        types = {header.name: header.types for header in self.headers}
        here, walked = start, []
        for step in found:
            if not isinstance(step, WalkStep):
                raise AgentFailed(f"walk returned a {type(step).__name__}; it has to return WalkSteps")
            for situation in (step.before, step.after):
                self._check(situation, "walk")
                self._check_objects(situation.state, start.state, "walk")
            name, objects = step.action
            if name not in types or not start.state.objects.fit(objects, types[name]):
                raise AgentFailed(f"walk returned the step {step.action}, which is none of its actions")
            before = here if step.before.handle is None else step.before
            walked.append(WalkStep(before, step.action, here := self._with_handle(step.after)))
        return walked

    def _with_handle(self, situation: Situation, name: str = "") -> Situation:
        if self.access.constructs and not isinstance(situation.handle, State):
            return replace(situation, handle=situation.state)
        if situation.handle is not None:
            return situation
        handle = name or f"situation {len(self._own)}"
        self._own[handle] = situation
        return replace(situation, handle=handle)

    def _as_returned(self, situation: Situation) -> Situation:
        return self._own.get(situation.handle, situation)

    def _check(self, situation: Situation, method: str) -> None:
        """Whether it is a situation whose atoms are of the vocabulary, and of its objects."""
        if not isinstance(situation, Situation):
            raise AgentFailed(
                f"{method} returned {_kind(situation)} where a Situation belongs, made of a handle and a State"
            )
        try:
            hash(situation.handle)
        except TypeError:
            raise AgentFailed(
                f"{method} returned the handle {situation.handle!r}, which cannot be compared with others; "
                "give a number, a string or a tuple"
            ) from None
        state = situation.state
        if not isinstance(state, State) or not isinstance(state.objects, Objects):
            raise AgentFailed(
                f"{method} returned a situation of {_kind(state)}; it has to be of a State with Objects"
            )
        if not (isinstance(state.true, frozenset) and isinstance(state.unknown, frozenset)):
            raise AgentFailed(
                f"{method} returned a State of a {_kind(state.true)}; it has to be of a frozenset of Atoms"
            )
        sound = self._sound.setdefault(state.objects, set())
        if new := (state.true | state.unknown) - sound:
            known = {one.name: one.types for one in self.vocabulary.predicates}
            for atom in sorted(new, key=str):
                self._check_atom(atom, known, state.objects, method)
            sound |= new

    def _check_told_apart(self, found: Response) -> None:
        """Whether not all situations have the same handle, although steps changed something."""
        handle = found.final.handle
        if found.executed and self._shown is not None and handle is not None and not self.access.constructs:
            self._shown = {*self._shown, found.final.state} if {handle} == self._begun else None
            if self._shown is not None and len(self._shown) == SEVERAL:
                raise AgentFailed(
                    f"ask returned {SEVERAL} different states with the handle {handle!r}, and none with another; "
                    "give each situation a handle of its own, or None if the agent has none"
                )

    def _check_atom(
        self, atom: Atom, known: Mapping[str, tuple[str, ...]], objects: Objects, method: str
    ) -> None:
        if not isinstance(atom, Atom):
            raise AgentFailed(f"{method} returned a state with {atom!r}, which is no Atom")
        types = known.get(atom.predicate)
        if types is None:
            raise AgentFailed(f"{method} returned {atom}, and the vocabulary has no {atom.predicate}")
        if len(atom.objects) != len(types):
            raise AgentFailed(
                f"{method} returned {atom}, and {atom.predicate} has {counted(len(types), 'argument')}"
            )
        if not objects.fit(atom.objects, types):
            raise AgentFailed(
                f"{method} returned {atom}, and not all of its arguments are objects of the types {', '.join(types)}"
            )

    def _check_objects(self, state: State, begun: State, method: str) -> None:
        if state.objects != begun.objects:
            raise AgentFailed(
                f"{method} returned a state with other objects than the one where it began; no step may make or remove any"
            )


def _check_declared(agent: Agent) -> None:
    """Whether it is an agent.

    Raises:
        UnusableInput: what is missing, or of another kind.
    """
    if isinstance(agent, type):
        raise UnusableInput(f"{agent.__name__} is a class; give an agent of it: {agent.__name__}(...)")
    if lacking := [name for name in _DECLARED if not hasattr(agent, name)]:
        raise UnusableInput(f"{type(agent).__name__} is no agent: it has no {' and no '.join(lacking)}")
    if not isinstance(agent.access, Access):
        raise UnusableInput(
            f"the agent's access is {agent.access!r}; it has to be one of {', '.join(map(str, Access))}"
        )
    if not isinstance(agent.vocabulary, Vocabulary):
        raise UnusableInput(f"the agent's vocabulary is {_kind(agent.vocabulary)}; it has to be a Vocabulary")
    headers = agent.headers
    if not headers or not all(isinstance(header, ActionHeader) for header in headers):
        raise UnusableInput(
            f"the agent's headers are {headers!r}; they have to be ActionHeaders, one for each action that it may be asked for"
        )
    names = [header.name for header in headers]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UnusableInput(
            f"the agent has two headers called {twice[0]}; give each action a name of its own"
        )
    for header in headers:
        if len(header.parameters) != len(header.types):
            raise UnusableInput(
                f"the header of {header.name} has {counted(len(header.parameters), 'parameter')} and "
                f"{counted(len(header.types), 'type')}; give each parameter its type"
            )


def _kind(found: object) -> str:
    """What it is, in a message."""
    empty = isinstance(found, Sequence) and not found
    return f"{'an empty ' if empty else ''}{type(found).__name__}"


def _guarded(call: Callable[[], T]) -> T:
    try:
        return call()
    except AamError:
        raise
    except Exception as error:  # of any kind: it is foreign code
        raise AgentFailed(f"the agent raised {reason(error)}") from error

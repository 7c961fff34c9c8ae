"""Plan outcome queries and the agent that answers them (paper, "Form of agent queries").

A query asks: from this situation, how far can you execute this plan, and where does it lead? Nothing
here knows how an agent works; ``Access`` says which situations an interrogator may start from.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from aam_vision.model.strips import ActionHeader, GroundAction, LiftedAtom, State, Vocabulary

ACHIEVE, UNDO = "achieve-", "undo-"
"""What the names of instructions begin with that are objectives: that a predicate is to be true, or false."""
CLAIMED, ENDED = "claimed", "ended"
"""Facts without arguments after such an instruction: that the agent says that it is done, and that its episode is over."""
CLIP_IMAGES = 12
"""Images of a pursuit that are kept, at most."""


def objective(header: ActionHeader, vocabulary: Vocabulary) -> tuple[LiftedAtom, bool] | None:
    """The atom that an action is to make true, or false; None of an action that is no objective, or whose agent claims nothing."""
    known = {one.name: one.types for one in vocabulary.predicates}
    if known.get(CLAIMED) != ():
        return None
    for how in (ACHIEVE, UNDO):
        if header.name.startswith(how) and known.get(name := header.name.removeprefix(how)) == header.types:
            return LiftedAtom(name, tuple(range(header.arity))), how == ACHIEVE
    return None


class Access(Enum):
    """Where a query may start, from least to most.

    What depends on it asks what it allows, and does not compare it with a name.
    """

    TRAJECTORY = "trajectory"
    """Only the situation reached by the last step."""
    RESET = "reset"
    """That, and the initial situation of every problem."""
    SNAPSHOT = "snapshot"
    """Every situation seen before."""
    SETTABLE = "settable"
    """Every symbolic state."""

    @property
    def restarts(self) -> bool:
        """Whether a query may start in the initial situation of every problem, and not only where the last step led."""
        return self is not Access.TRAJECTORY

    @property
    def returns(self) -> bool:
        """Whether a query may start in every situation seen before."""
        return self is Access.SNAPSHOT or self is Access.SETTABLE

    @property
    def episodic(self) -> bool:
        """Whether the initial situations are all that it returns to."""
        return self is Access.RESET

    @property
    def snapshots(self) -> bool:
        """Whether a situation that it returns to is the same in what is not seen of it, too."""
        return self is Access.SNAPSHOT

    @property
    def constructs(self) -> bool:
        """Whether a query may start in a state that nobody has seen."""
        return self is Access.SETTABLE

    @property
    def by_histories(self) -> Access:
        """What is left of it where a state also tells what only follows from other facts, or from the steps before: no such state can be made."""
        return Access.SNAPSHOT if self.constructs else self


@dataclass(frozen=True)
class Situation:
    """A state of the agent's world as the interrogator holds it.

    ``handle`` is opaque and the agent's own (a snapshot, an index, or the state itself under settable
    access); ``state`` is what was perceived there. An agent that has no handles gives None.
    """

    handle: Hashable
    state: State


class MadeAnew(NamedTuple):
    """The handle of a situation to which executed steps lead from a state that is made for every question."""

    state: State
    steps: tuple[GroundAction, ...] = ()


@dataclass(frozen=True)
class Query:
    """<s_I, pi>: what happens if the plan is executed from the initial situation?"""

    initial: Situation
    plan: tuple[GroundAction, ...]
    goes_on: bool = field(default=False, compare=False)
    """Whether it begins where the last question ended. An agent that can be put into any state is left as it stands then: put there
    anew, it would forget what no state shows."""


@dataclass(frozen=True)
class Response:
    """<l, s_F>: the length of the longest executable prefix of the plan, and where it ended.

    ``told`` is the length of the part of the plan that anything is said about, if not all of it: of the step after
    that, it cannot be told whether it was carried out.
    """

    executed: int
    final: Situation
    told: int | None = None


class WalkStep(NamedTuple):
    """One step of the agent acting on its own."""

    before: Situation
    action: GroundAction
    after: Situation


@dataclass(frozen=True)
class WalkRequest:
    """A walk that an agent is about to be asked for, with a generator of this seed."""

    start: Situation
    steps: int
    seed: int


@dataclass(frozen=True)
class Course:
    """Plans that an agent is about to be asked for one after the other, each from where the one before has ended.

    An empty plan is a look at the situation.
    """

    start: Situation
    plans: tuple[tuple[GroundAction, ...], ...]


Expected = Query | WalkRequest | Course
"""A question that is about to be asked."""


class Agent(Protocol):
    """A black box: its instructions, the user's vocabulary, and answers. Never its model.

    A class may derive from it, for the walk that nobody needs to write, or have the same attributes and methods. An agent
    whose refusals are all right says ``refuses_surely = True``: none is repeated then.
    """

    if TYPE_CHECKING:  # attributes, too: at run time a property here would forbid to set them

        @property
        def vocabulary(self) -> Vocabulary: ...
        @property
        def headers(self) -> tuple[ActionHeader, ...]: ...
        @property
        def access(self) -> Access: ...

    def initial(self) -> Sequence[Situation]:
        """The initial situation of every problem."""
        raise NotImplementedError

    def ask(self, query: Query) -> Response:
        """The answer to a plan outcome query; an empty plan is a look at the initial situation.

        Raises:
            AgentFailed: the agent can no longer answer.
        """
        raise NotImplementedError

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent acting on its own for at most ``steps`` steps; shorter when it can do nothing, as here."""
        return ()


def refuses_surely(agent: Agent) -> bool:
    """Whether every refusal of the agent is right, so that none needs to be repeated.

    The maker of an agent declares this where a simulator in this process is known not to err; elsewhere it is unknown.
    """
    return bool(getattr(agent, "refuses_surely", False))


def traced(agent: Agent) -> object | None:
    """The transcript of an agent of which nothing but traces is left, so that it cannot be asked; None of any other."""
    return getattr(agent, "traced", None)


def expect(agent: Agent, questions: Sequence[Expected]) -> None:
    """Tell an agent what it will be asked next, in this order, if it can make use of that (``agents.copies``)."""
    announce = getattr(agent, "expect", None)
    if announce is not None:
        announce(questions)

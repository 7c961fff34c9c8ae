"""Giving controls to an agent and keeping what came of it, so that no control is given twice in one situation."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.agents.image import image_test
from aam_vision.interrogation.controls.discovery import Grouped
from aam_vision.interrogation.controls.operators import Transition, idle
from aam_vision.model.query import Agent, Course, Query, Response, Situation, expect
from aam_vision.model.remembered import ControlMemory
from aam_vision.model.strips import ActionHeader, GroundAction, Objects, State
from aam_vision.planning.joins import StateIndices
from aam_vision.support.errors import AamError, AgentFailed
from aam_vision.support.resources import Resources


def ground(controls: Sequence[ActionHeader], state: State) -> list[GroundAction]:
    """All ways to give these controls in a state, no object twice."""
    return [
        GroundAction(control.name, objects)
        for control in controls
        for objects in product(*[state.objects.of_type(kind) for kind in control.types])
        if len(set(objects)) == len(objects)
    ]


class StepsSpent(AgentFailed):
    """Raised when no more controls may be given."""


class TwoWays(AamError):
    """Raised when one perceived situation and control went two ways: something matters that is not seen.

    ``latest``: the second one, with the situations before and after it.
    """

    def __init__(self, transitions: tuple[Transition, Transition], latest: Given | None = None) -> None:
        self.transitions = transitions
        self.latest = latest
        first, second = transitions
        differ = sorted(
            {*first.change.items()} ^ {*second.change.items()}, key=lambda item: (str(item[0]), item[1])
        )
        atom = differ[0][0] if differ else "something that is not always seen"
        super().__init__(
            f"{first.control} went two ways in situations that look alike ({atom} differs afterwards): "
            "it depends on something that the vocabulary does not tell"
        )


class Given(NamedTuple):
    """A control that was given once: where, what was seen, and where it led."""

    before: Situation
    transition: Transition
    after: Situation


class Step(NamedTuple):
    """A control that was given, with the situations before and after it as the agent shows them."""

    before: Situation
    control: GroundAction
    after: Situation


class Giving:
    """An agent whose instructions are controls, and all transitions that it has shown.

    ``agent``: every one of its instructions is always carried out; its access is ``snapshot``. ``copies``: how many copies of it
    answer at a time. With a memory (``again``), situations tell what is remembered in them; transitions tell what was remembered before, in the
    state afterwards, too: what a control does besides is no part of it.
    """

    def __init__(
        self,
        agent: Agent,
        max_steps: int | None = None,
        resources: Resources | None = None,
        copies: int = 1,
    ) -> None:
        self.copies = copies
        self.agent = CountingAgent(EnforcingAgent(agent))
        self.vocabulary = agent.vocabulary
        self.memory: ControlMemory | None = None
        """What the agent is taken to remember."""
        self.refuted: Given | None = None
        """What went another way than before, if anything did."""
        self.controls = agent.headers
        self.transitions: dict[str, list[Transition]] = {control.name: [] for control in agent.headers}
        """By control, what was seen, each kind of step (state, arguments) once."""
        self.indices = StateIndices()
        self.grouped: dict[str, tuple[int, Grouped]] = {}
        """By control, of how many transitions cases were found, and these."""
        self.given_up = 0
        """Discoveries that were given up before the conditions of all cases were told."""
        self.image_test = image_test(agent)
        self.situations: dict[State, Situation] = {}
        """By what was seen, the first situation that looked like that; in the order in which they were seen."""
        self.problems: dict[Objects, list[Situation]] = {}
        """The same, by the objects of their problem."""
        self.given: list[Given] = []
        """Everything that was given, in order."""
        self._max_steps = max_steps
        self._stopped = False
        self._resources = resources or Resources()
        self._initial: tuple[Situation, ...] = ()
        self._remembered: dict[Hashable, int] = {}
        """By handle, what is remembered there."""
        self._results: dict[tuple[Hashable, GroundAction], tuple[Transition, Situation]] = {}
        self._known: dict[tuple[State, GroundAction], Transition] = {}
        self._from: dict[State, set[GroundAction]] = {}
        self._left: set[State] = set()
        self._ahead: deque[tuple[Situation, Sequence[GroundAction]]] = deque()
        """Ways that will probably be taken."""
        self._begun: set[tuple[Hashable, GroundAction]] = set()
        """The first controls of those that copies have begun with, and that were not given yet."""

    @property
    def dead(self) -> list[ActionHeader]:
        """The controls that never did anything."""
        names = idle(self.transitions)
        return [control for control in self.controls if control.name in names]

    @property
    def exhausted(self) -> bool:
        """Whether every control was given in every situation, and these were seen completely: nothing else can happen."""
        return all(
            not state.unknown and self.given_in(state) >= set(ground(self.controls, state))
            for state in self.situations
        )

    @property
    def steps(self) -> int:
        """The number of controls that were given."""
        return self.agent.counts.steps

    @property
    def given_in_all(self) -> int:
        """The same, those that were only given again to see whether chance decides included."""
        return self.agent.counts.steps + self.agent.counts.exam_steps

    def initial(self) -> Sequence[Situation]:
        """The initial situation of every problem; looked at once only."""
        if not self._initial:
            with self._resources.undisturbed():
                self._begins(self.agent.initial())
        return self._initial

    def _begins(self, initial: Iterable[Situation]) -> None:
        begins = 0 if self.memory is None else self.memory.begins
        self._initial = tuple([self._told(one, begins) for one in initial])
        for situation in self._initial:
            self._seen(situation)

    @property
    def plain(self) -> list[Step]:
        """All that was given, as the agent shows it, what refutes it included."""
        given = [*self.given, *([] if self.refuted is None else [self.refuted])]
        return [
            Step(self._plain(one.before), one.transition.control, self._plain(one.after)) for one in given
        ]

    def again(self, memory: ControlMemory, steps: Iterable[Step]) -> Giving:
        """As if these steps had been given with this memory; what is given further is counted on.

        Raises:
            TwoWays: even so, one situation and control went two ways.
        """
        made = Giving(self.agent, self._max_steps, self._resources, self.copies)
        made.agent, made.memory, made.vocabulary = (
            self.agent,
            memory,
            self.agent.vocabulary.with_memory(memory),
        )
        made._begins([self._plain(one) for one in self.initial()])
        for before, control, after in steps:
            made._came(made._told(before, made._remembered[before.handle]), control, after)
        return made

    def remembered(self, situation: Situation) -> int:
        """The state of the memory in a situation that was seen; 0 without one."""
        return self._remembered.get(situation.handle, 0)

    def moved_on(
        self, before: State, remembered: int, control: GroundAction, after: State
    ) -> tuple[int, State]:
        """The state of the memory after a control, and the situation that it leads to, with it."""
        if self.memory is None:
            return 0, after
        did = self.memory.plain(before) != self.memory.plain(after)
        then = self.memory.after(remembered, control, did=did)
        return then, self.memory.told(after, then)

    def _told(self, plain: Situation, remembered: int) -> Situation:
        """A situation with what is remembered."""
        if self.memory is None:
            return plain
        remembered = self._remembered.setdefault(plain.handle, remembered)
        return Situation(plain.handle, self.memory.told(plain.state, remembered))

    def _plain(self, situation: Situation) -> Situation:
        """A situation as the agent shows it."""
        return (
            situation
            if self.memory is None
            else Situation(situation.handle, self.memory.plain(situation.state))
        )

    def given_in(self, state: State) -> Set[GroundAction]:
        """The controls that were given in situations that look like this."""
        return self._from.get(state, frozenset())

    def seen_after(self, state: State, control: GroundAction) -> State | None:
        """What was seen after a control in situations that look like this, if it was given in one."""
        known = self._known.get((state, control))
        return None if known is None else known.after

    def stop(self) -> None:
        """Ask the agent nothing more."""
        self._max_steps, self._stopped = self.steps, True

    def look(self, query: Query) -> Response:
        """Look at a situation again, with a query without steps.

        Raises:
            StepsSpent: the agent is asked nothing more.
        """
        if self._stopped:
            raise StepsSpent("the agent is asked nothing more")
        response = self.agent.ask(replace(query, initial=self._plain(query.initial)))
        return replace(response, final=self._told(response.final, self.remembered(query.initial)))

    def foresee(self, ways: Iterable[tuple[Situation, Sequence[GroundAction]]]) -> None:
        """Have copies of the agent begin with ways that will probably be taken, a few at a time, and forget earlier ones.

        What is given, and in which order, stays the same.
        """
        self._ahead, self._begun = deque(ways if self.copies > 1 else ()), set()
        self._begin()

    def _begin(self) -> None:
        courses = []
        while self._ahead and len(self._begun) < self.copies:
            here, controls = self._ahead.popleft()
            self._begun.add((here.handle, controls[0]))
            courses.append(Course(self._plain(here), tuple((one,) for one in controls)))
        if courses and not self._stopped:
            with self._resources.undisturbed():
                expect(self.agent, courses)

    def give(self, situation: Situation, control: GroundAction) -> tuple[Transition, Situation]:
        """What comes of a control in a situation, and where it leads; it is given once only.

        Raises:
            StepsSpent: no more controls may be given.
            TwoWays: the same came out otherwise in a situation that looks the same.
            AgentFailed: the agent can no longer answer.
            ResourcesSpent: no more time or memory may be taken.
        """
        known = self._results.get((situation.handle, control))
        if known is not None:
            return known
        self._check()
        with self._resources.undisturbed():
            return self._came(situation, control, self._led(self._plain(situation), control))

    def led(self, plain: Situation, control: GroundAction) -> Situation:
        """Where a control leads from a situation, both as the agent shows them; it is not kept. Raises as ``give`` does, but for TwoWays."""
        self._check()
        with self._resources.undisturbed():
            return self._led(plain, control)

    def _check(self) -> None:
        if self._max_steps is not None and self.given_in_all >= self._max_steps:
            raise StepsSpent(f"--max-steps: {self._max_steps} controls were given")
        self._resources.check()

    def _led(self, plain: Situation, control: GroundAction) -> Situation:
        response = self.agent.ask(Query(plain, (control,)))
        self._begun.discard((plain.handle, control))
        self._begin()
        if not response.executed:
            raise AgentFailed(f"the agent refused {control}, which is a control and can always be given")
        return response.final

    def _came(
        self, situation: Situation, control: GroundAction, plain: Situation
    ) -> tuple[Transition, Situation]:
        """Take in what came of a control; ``plain``: where it led, as the agent shows it."""
        remembered, seen = self.remembered(situation), plain.state
        then, _ = self.moved_on(situation.state, remembered, control, seen)
        after = self._told(plain, then)
        try:
            transition = self._entered(
                Transition(
                    situation.state,
                    control,
                    seen if self.memory is None else self.memory.told(seen, remembered),
                )
            )
        except TwoWays as error:
            self.refuted = Given(situation, error.transitions[1], after)
            raise TwoWays(error.transitions, self.refuted) from None
        self._results[situation.handle, control] = transition, after
        self.given.append(Given(situation, transition, after))
        self._from.setdefault(situation.state, set()).add(control)
        if transition.change:
            self._left.add(situation.state)
        self._seen(after)
        return transition, after

    def stuck(self, situation: Situation) -> bool:
        """Whether nothing that was given in such a situation did anything, and something else could be given."""
        state = situation.state
        return state not in self._left and not self.given_in(state) >= set(ground(self.controls, state))

    def _seen(self, situation: Situation) -> None:
        if situation.state not in self.situations:
            self.situations[situation.state] = situation
            self.problems.setdefault(situation.state.objects, []).append(situation)

    def _entered(self, transition: Transition) -> Transition:
        """The transition, or the one that is known already of an equal state."""
        key = transition.before, transition.control
        known = self._known.get(key)
        if known is None:
            self._known[key] = transition
            self.transitions[transition.control.name].append(transition)
            return transition
        certain = not (transition.before.unknown or transition.after.unknown or known.after.unknown)
        if certain and known.after != transition.after:
            raise TwoWays((known, transition))
        return known if certain else transition

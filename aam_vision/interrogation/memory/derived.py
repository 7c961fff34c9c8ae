"""An agent seen together with predicates that follow from its facts: "some other thing is there", "at least three are open".

The engine takes them for facts that every step may change, and works out what is true of them from the facts that it predicts. So no state
can be made in which they hold or not as one likes: where any can be, such an agent is asked as if it had snapshots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.memory.remembering import retold
from aam_vision.model.derived import MOST_APART, AtLeast
from aam_vision.model.query import Access, Agent, Expected, Query, Response, Situation, WalkStep
from aam_vision.model.strips import ActionHeader, LiftedAtom, State, Vocabulary, lifted_atoms


class DerivingAgent(AgentDecorator):
    """An agent in whose situations derived predicates are seen."""

    def __init__(self, agent: Agent, derived: Iterable[AtLeast]) -> None:
        super().__init__(agent)
        self._vocabulary = agent.vocabulary.with_derived(derived)
        self._derived = self._vocabulary.derived

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary

    @property
    def access(self) -> Access:
        return self.agent.access.by_histories

    def initial(self) -> Sequence[Situation]:
        return [_completed(one, self._derived) for one in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        begun = replace(query, initial=self._plain(query.initial))
        response = self.agent.ask(begun)
        return replace(response, final=_completed(response.final, self._derived))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = self.agent.walk(self._plain(start), steps, rng)
        return tuple(_step(one, self._derived) for one in walked)

    def expect(self, questions: Sequence[Expected]) -> None:
        """Nothing is said of what will be asked next."""

    def _plain(self, situation: Situation) -> Situation:
        return Situation(situation.handle, situation.state.plain(self._derived))


def with_derived(transcript: Transcript, derived: Sequence[AtLeast]) -> Transcript:
    """What was asked and shown, with these predicates in every situation."""
    if not derived:
        return transcript
    vocabulary = transcript.vocabulary.with_derived(derived)
    every = vocabulary.derived

    def told(number: int, entry: Entry) -> Entry:
        if isinstance(entry, Walked):
            return Walked(tuple(_step(one, every) for one in entry.steps))
        query, response = entry.query, entry.response
        begun = replace(query, initial=_completed(query.initial, every))
        return Asked(begun, replace(response, final=_completed(response.final, every)))

    return replace(
        transcript,
        vocabulary=vocabulary,
        access=transcript.access.by_histories,
        initial=tuple(_completed(one, every) for one in transcript.initial),
        entries=retold(transcript, told),
    )


def _completed(situation: Situation, derived: Sequence[AtLeast]) -> Situation:
    return Situation(situation.handle, situation.state.completed(derived))


def _step(step: WalkStep, derived: Sequence[AtLeast]) -> WalkStep:
    return WalkStep(_completed(step.before, derived), step.action, _completed(step.after, derived))


# What may be counted where a step of an action begins.


Begun = tuple[State, tuple[str, ...]]
"""A state, and the objects of a step that begins in it."""


class Literal(NamedTuple):
    """An atom of a derived predicate."""

    atom: LiftedAtom
    derived: AtLeast


class Counted:
    """How many facts of each predicate there are of objects of a step, or of the whole state: whatever the others are, or all but those of the step."""

    def __init__(self, vocabulary: Vocabulary, header: ActionHeader) -> None:
        some = [
            AtLeast(predicate, places, 1)
            for predicate in vocabulary.predicates
            for size in range(predicate.arity)
            for places in combinations(range(predicate.arity), size)
        ]
        by_name = {one.predicate.name: one for one in some}
        counting = replace(vocabulary, predicates=tuple(one.predicate for one in some))
        whole = [(by_name[atom.predicate], atom.arguments) for atom in lifted_atoms(counting, header)]
        self._atoms = [*whole, *filter(None, (_apart(*one, header, vocabulary) for one in whole))]
        self._known: dict[tuple[State, AtLeast, tuple[str, ...]], tuple[int, int]] = {}

    def literals(self, begun: Sequence[Begun]) -> list[Literal]:
        """The atoms of derived predicates that tell some of these situations apart, those of the least numbers first."""
        found = []
        for one, arguments in self._atoms:
            numbers = {self._count(one, arguments, *here)[0] for here in begun}
            for number in sorted(numbers)[1:]:
                derived = replace(one, number=number)
                if derived.within_limits:
                    found.append(Literal(LiftedAtom(derived.predicate.name, arguments), derived))
        return sorted(found, key=lambda literal: (literal.derived.number, len(literal.derived.apart)))

    def values(self, literal: Literal, begun: Sequence[Begun]) -> list[bool | None]:
        """The value of an atom in each of these situations."""
        number, one = literal.derived.number, replace(literal.derived, number=1)
        counts = (self._count(one, literal.atom.arguments, *here) for here in begun)
        return [True if least >= number else None if most >= number else False for least, most in counts]

    def _count(
        self, one: AtLeast, arguments: Sequence[int | str], state: State, objects: Sequence[str]
    ) -> tuple[int, int]:
        """How many facts are true, and how many may be."""
        named = tuple(objects[part] if isinstance(part, int) else part for part in arguments)
        key = state, one, named
        if key not in self._known:
            true = one.count(state.rows.get(one.of.name, ()), named)
            unknown = [row for predicate, row in state.unknown if predicate == one.of.name]
            self._known[key] = true, true + one.count(unknown, named)
        return self._known[key]


def _apart(
    one: AtLeast, arguments: tuple[int | str, ...], header: ActionHeader, vocabulary: Vocabulary
) -> tuple[AtLeast, tuple[int | str, ...]] | None:
    """The same of all other objects than those of the step; None where that is no different, or there are too many of these."""
    types = vocabulary.types
    others = [kind for place, kind in enumerate(one.of.types) if place not in one.places]
    apart = [
        place
        for place, own in enumerate(header.types)
        if place not in arguments and any(types.is_a(own, kind) or types.is_a(kind, own) for kind in others)
    ]
    if not 1 <= len(apart) <= MOST_APART:
        return None
    return replace(one, apart=tuple(header.types[place] for place in apart)), (*arguments, *apart)

"""Actions that are several in the model: what they need, or do, depends on what holds of their objects.

"It opens with the red key or with the blue one", "refused unless one of two", "it breaks what is fragile": no conjunction of literals says
that, but in each of a few kinds of situations one does. Which kind a situation is of is seen, so that the agent can
be interrogated as one with an action for each. "Refused where another thing is there", "a room has place for two": what depends on objects
that a step does not name, or on how many facts there are, follows from a derived predicate, which an action may require, or be divided by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import islice
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed, optional
from aam_vision.agents.encoding import field as field_of
from aam_vision.interrogation.chance.going_on import VISIBLE, can_go_on
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked, look_at
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.memory.constants import Constants, as_constants
from aam_vision.interrogation.memory.constants import told as told_constants
from aam_vision.interrogation.memory.derived import Counted, DerivingAgent, with_derived
from aam_vision.interrogation.memory.diagnosed import Diagnosed, Further
from aam_vision.interrogation.memory.explanations import Effects, effects_of
from aam_vision.interrogation.memory.histories import Attempt, Histories
from aam_vision.interrogation.memory.remembering import retold
from aam_vision.interrogation.task.forgotten_constants import WithConstants, extended
from aam_vision.interrogation.task.result import Result
from aam_vision.model.derived import AtLeast
from aam_vision.model.query import Agent, Expected, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    GroundAction,
    LiftedAtom,
    State,
    Vocabulary,
)
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.support.errors import InconsistentAgent
from aam_vision.support.wording import listed

MOST: Final = 3
"""Literals that tell the kinds of situations of an action apart, at most."""
MOST_REQUIRED: Final = 6
"""Atoms of derived predicates that an action may require, at most, that experiments have to tell apart."""
MOST_STATES, MOST_BINDINGS = 50, 100
"""States, and steps in each, in which it is looked whether such atoms are the same, at most."""
ROUNDS = 40
"""Ways to divide actions with which the agent is interrogated, at most: most end after a few steps, and each divides one action further."""
OTHERWISE: Final = "otherwise"
NO_CONSTANTS: Final[Constants] = MappingProxyType({})

Condition = tuple[LiftedAtom, bool]
"""An atom of the objects of a step, and the value that it has to have."""


@dataclass(frozen=True)
class Division:
    """An action that is one more in the model than it has conditions, of which the first that holds tells which; or one that may require more."""

    header: ActionHeader
    conditions: tuple[Condition, ...]
    over: tuple[LiftedAtom, ...] = ()
    """Atoms of derived predicates that the action may require, where it takes no conditions to explain it."""
    derived: tuple[AtLeast, ...] = ()
    """The derived predicates of all of these."""

    @cached_property
    def headers(self) -> list[ActionHeader]:
        """Its actions in the model, that for none of the conditions last; what tells them apart holds by definition where they are executed."""
        if not self.conditions:
            return [replace(self.header, over=self.over)]
        found, others = list[ActionHeader](), list[Condition]()
        for atom, value in self.conditions:
            parameters = self.header.parameters
            told = [
                atom.predicate,
                *(parameters[one] if isinstance(one, int) else one for one in atom.arguments),
            ]
            name = f"{self.header.name}-if-{'' if value else 'not-'}{'-'.join(told)}"
            found.append(replace(self.header, name=name, given=(*others, (atom, value))))
            others.append((atom, not value))
        last = replace(self.header, name=f"{self.header.name}-{OTHERWISE}", given=tuple(others))
        return [*found, last]

    def case(self, state: State, objects: Sequence[str]) -> int | None:
        """The number of its action in the model for a step; None if that cannot be seen."""
        for number, (atom, wanted) in enumerate(self.conditions):
            value = state.value(atom.ground(objects))
            if value is None or value is wanted:
                return None if value is None else number
        return len(self.conditions)

    @property
    def _told(self) -> list[str]:
        """The conditions as text."""
        return [
            f"{'' if value else 'not '}{atom.text(self.header.parameters)}" for atom, value in self.conditions
        ]

    @property
    def _told_over(self) -> list[str]:
        """What it may require as text."""
        return [atom.text(self.header.parameters) for atom in self.over]

    def json(self) -> dict[str, Any]:
        """The division as plain data."""
        derived = [
            {
                "of": one.of.name,
                "places": list(one.places),
                "number": one.number,
                "apart": list(one.apart),
            }
            for one in self.derived
        ]
        more = {"over": self._told_over, "derived": derived} if derived else {}
        return {"action": self.header.name, "conditions": self._told, **more}

    def told(self) -> str:
        """What it is, in words."""
        *names, last = (one.name for one in self.headers)
        words = [f"{name} where {one}" for name, one in zip(names, self._told, strict=True)]
        return f"{self.header.name} is {len(words) + 1} actions in the model: {', else '.join(words)}, else {last}"


class Divisions:
    """Actions of an agent that are several in the model, or depend on derived predicates."""

    def __init__(self, divisions: Iterable[Division]) -> None:
        self.by_action = {one.header.name: one for one in divisions}
        self.derived = tuple(dict.fromkeys(one for own in self.by_action.values() for one in own.derived))
        self._given = {
            header.name: one.header.name for one in self.by_action.values() for header in one.headers
        }

    def headers(self, headers: Iterable[ActionHeader]) -> tuple[ActionHeader, ...]:
        """The actions of the model, for those of the agent."""
        found: list[ActionHeader] = []
        for header in headers:
            own = self.by_action.get(header.name)
            found += own.headers if own else [header]
        return tuple(found)

    def as_modelled(self, step: GroundAction, state: State) -> GroundAction | None:
        """A step of the agent in a state as one of the model; None if it cannot be seen which."""
        division = self.by_action.get(step.name)
        if division is None:
            return step
        case = division.case(state, step.objects)
        return None if case is None else GroundAction(division.headers[case].name, step.objects)

    def as_given(self, step: GroundAction) -> GroundAction:
        """A step of the model as the agent is given it."""
        return GroundAction(self._given.get(step.name, step.name), step.objects)

    def json(self) -> list[dict[str, Any]]:
        """The divisions as plain data."""
        return [one.json() for one in self.by_action.values()]

    def parts(self) -> list[str]:
        """What a model has more with them, in a few words each."""
        several = [name for name, one in self.by_action.items() if one.conditions]
        found = [f"several actions for {listed(several)}"] if several else []
        if self.derived:
            found.append(f"{listed([one.predicate.name for one in self.derived])} derived from other facts")
        return found

    def told(self) -> str:
        """What they are, in sentences."""
        several = [one.told() for one in self.by_action.values() if one.conditions]
        return " ".join(f"{one}." for one in (*several, *self.derived))


def read_divisions(told: Any, vocabulary: Vocabulary, headers: Sequence[ActionHeader]) -> Divisions:
    """The divisions that ``Divisions.json`` wrote.

    Raises:
        Malformed: they are none of this vocabulary and these actions.
    """
    known = {header.name: header for header in headers}
    found: list[Division] = []
    for one in told:
        header = known.get(field_of(one, "action", str))
        conditions, over, derived = (
            field_of(one, "conditions", list),
            optional(one, "over", list, []),
            tuple(_derived(part, vocabulary) for part in optional(one, "derived", list, [])),
        )
        if header is None or len(conditions) > MOST or bool(conditions) is bool(over):
            raise Malformed("a divided action is none")
        atoms = AtomIndex(vocabulary.with_derived(derived), header).atoms
        by_text = {atom.text(header.parameters): atom for atom in atoms}
        literals = {f"not {text}": (atom, False) for text, atom in by_text.items()}
        literals |= {text: (atom, True) for text, atom in by_text.items()}
        if not all(isinstance(one, str) and one in literals for one in (*conditions, *over)):
            raise Malformed("a condition of a divided action is none of its atoms")
        required = tuple(literals[one][0] for one in over)
        found.append(Division(header, tuple(literals[one] for one in conditions), required, derived))
    return Divisions(found)


def _derived(told: Any, vocabulary: Vocabulary) -> AtLeast:
    """A derived predicate that was written."""
    name, number = field_of(told, "of", str), field_of(told, "number", int)
    places, apart = field_of(told, "places", list), field_of(told, "apart", list)
    of = next((one for one in vocabulary.predicates if one.name == name), None)
    if of is None or not all(isinstance(one, int) for one in places):
        raise Malformed("a derived predicate is none of this vocabulary")
    found = AtLeast(of, tuple(places), number, tuple(apart))
    if not found.within_limits:
        raise Malformed("a derived predicate counts what cannot be counted")
    if not all(one == ROOT_TYPE or one in vocabulary.types.parents for one in apart):
        raise Malformed("a derived predicate speaks of a type that there is not")
    return found


class DividedAgent(AgentDecorator):
    """An agent with several actions in place of one, each of which is refused where another one is meant."""

    def __init__(self, agent: Agent, divisions: Divisions) -> None:
        super().__init__(DerivingAgent(agent, divisions.derived) if divisions.derived else agent)
        self._divisions = divisions

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return self._divisions.headers(self.agent.headers)

    def ask(self, query: Query) -> Response:
        here = query.initial
        if not query.plan:
            return self.agent.ask(query)
        # step by step: which action of the model a step is has to be seen, and what divides others shows in single steps
        for executed, step in enumerate(query.plan):
            given = self._divisions.as_given(step)
            modelled = self._divisions.as_modelled(given, here.state)
            if modelled != step:
                return Response(executed, here, executed if modelled is None else None)
            response = self.agent.ask(Query(here, (given,), goes_on=query.goes_on or executed > 0))
            here, told = response.final, response.told
            if not response.executed:
                return Response(executed, here, None if told is None else executed + told)
        return Response(len(query.plan), here)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """A walk from there.

        Raises:
            InconsistentAgent: it cannot be seen which action of the model a step is.
        """
        return _walked(self.agent.walk(start, steps, rng), self._divisions)

    def expect(self, questions: Sequence[Expected]) -> None:
        """Nothing is said of what will be asked next: of which action a later step is has to be seen first."""


def _walked(steps: Iterable[WalkStep], divisions: Divisions) -> tuple[WalkStep, ...]:
    found: list[WalkStep] = []
    for before, given, after in steps:
        step = divisions.as_modelled(given, before.state)
        if step is None:
            raise InconsistentAgent(f"it cannot be seen which action of the model {given} is")
        found.append(WalkStep(before, step, after))
    return tuple(found)


def divided(transcript: Transcript, divisions: Divisions) -> Transcript:
    """What was asked and shown, with the actions of the model; without what nobody saw the situations of."""
    transcript = with_derived(transcript, divisions.derived)
    led = dict(_steps_seen(transcript))

    def tell(_: int, entry: Entry) -> Entry | None:
        told = _entry(entry, divisions, led)
        if told is None and isinstance(entry, Asked) and not transcript.access.restarts:
            return look_at(entry.response.final)  # from there it goes on
        return told

    entries = retold(transcript, tell)
    return replace(transcript, headers=divisions.headers(transcript.headers), entries=entries)


def _steps_seen(transcript: Transcript) -> Iterator[tuple[tuple[State, GroundAction], State]]:
    """Executed steps, and where they led, of which both situations were seen."""
    for entry in transcript.entries:
        if isinstance(entry, Walked):
            yield from (((one.before.state, one.action), one.after.state) for one in entry.steps)
        elif entry.response.executed == 1:
            yield (entry.query.initial.state, entry.query.plan[0]), entry.response.final.state


def _entry(
    entry: Entry, divisions: Divisions, led: Mapping[tuple[State, GroundAction], State]
) -> Entry | None:
    """A question or a walk with its answer; None if it is not known which actions of the model it is of."""
    if isinstance(entry, Walked):
        return Walked(_walked(entry.steps, divisions))
    state: State | None = entry.query.initial.state
    plan: list[GroundAction] = []
    for number, given in enumerate(entry.query.plan):
        if number == entry.response.executed:
            state = entry.response.final.state
        if number > entry.response.executed:  # it was not attempted any more
            break
        step = given if state is None else divisions.as_modelled(given, state)
        if step is None or (state is None and given.name in divisions.by_action):
            return None
        plan.append(step)
        state = None if state is None else led.get((state, given))
    return Asked(Query(entry.query.initial, tuple(plan)), entry.response)


# Which literals tell the kinds of situations of an action apart.


class _Sample(NamedTuple):
    """What one attempt shows of the atoms of its action."""

    executed: bool
    held: int
    unknown: int
    effects: Effects


def dividing(
    vocabulary: Vocabulary, headers: Iterable[ActionHeader], attempts: Iterable[Attempt]
) -> Divisions | None:
    """The divisions of actions that no STRIPS action explains; None if there are no such actions, or not all can be divided.

    Each part of an action has to be executed some time, and explains all that was seen of it. Of several ways to divide an action it is the one
    whose least part was executed most often. None, too, where their names are taken.
    """
    indexes = {header.name: AtomIndex(vocabulary, header) for header in headers}
    seen: dict[str, dict[tuple[State, tuple[str, ...], _Sample], None]] = {name: {} for name in indexes}
    for one in attempts:
        if one.before is not None:
            index, objects = indexes[one.action.name], one.action.objects
            sample = _Sample(one.executed, *index.values(one.before, objects), effects_of(index, one))
            seen[one.action.name][one.before, objects, sample] = None
    found: list[Division] = []
    for name, own in seen.items():
        if not _explained((sample for *_, sample in own), indexes[name].everything):
            division = _Telling(vocabulary, indexes[name], [*own]).division()
            if division is None:
                return None
            found.append(division)
    names = [*indexes, *(header.name for one in found if one.conditions for header in one.headers)]
    divisions = Divisions(found)
    names += [one.name for one in vocabulary.with_derived(divisions.derived).predicates]
    return divisions if found and len({*names}) == len(names) else None


def _explained(samples: Iterable[_Sample], everything: int) -> bool:
    """Whether a STRIPS action that may require these atoms, or that they do not hold, does all that was seen."""
    positive = negative = everything
    effects, refused = Effects(), list[_Sample]()
    for one in samples:
        if one.executed:
            positive &= one.held | one.unknown
            negative &= ~one.held | one.unknown
            effects = effects.together(one.effects)
        else:
            refused.append(one)
    return not effects.unsteady and all(
        positive & ~one.held or negative & (one.held | one.unknown) for one in refused
    )


OWN: Final = ((1, 0), (2, 0))
"""How many atoms of its own, and how many of derived predicates, are sought that divide an action, before it is thought to require one of the latter."""
ORDER: Final = ((0, 1), (1, 1), (0, 2), (3, 0))
"""The same where it requires none."""


class _Telling:
    """What tells the kinds of situations of an action apart."""

    def __init__(
        self, vocabulary: Vocabulary, index: AtomIndex, seen: Sequence[tuple[State, tuple[str, ...], _Sample]]
    ) -> None:
        self._index = index
        self._states = [*dict.fromkeys(state for state, *_ in seen)]
        begun = [(state, objects) for state, objects, _ in seen]
        self._counted = Counted(vocabulary, index.header)
        literals = self._counted.literals(begun)
        self._derived = {index.everything + 1 << number: literal for number, literal in enumerate(literals)}
        held, unknown = ([getattr(sample, part) for *_, sample in seen] for part in ("held", "unknown"))
        for bit, literal in self._derived.items():
            for number, value in enumerate(self._counted.values(literal, begun)):
                held[number] |= bit * (value is True)
                unknown[number] |= bit * (value is None)
        samples = (
            sample._replace(held=true, unknown=open_)
            for (*_, sample), true, open_ in zip(seen, held, unknown, strict=True)
        )
        self._samples = [*dict.fromkeys(samples)]

    def division(self) -> Division | None:
        """What explains the action: few atoms of its own that divide it, else what it may require, else what else divides it; None if nothing does."""
        # how many facts there are may be the same in all problems that are seen, so that what a step names comes first
        conditions = self._conditions(OWN)
        required = [] if conditions else self._required()
        if not conditions and not required:
            conditions = self._conditions(ORDER)
            if not conditions:
                return None
        used = [*required, *(bit for bit, _ in conditions)]
        return Division(
            self._index.header,
            tuple((self._atom(bit), value) for bit, value in conditions),
            tuple(map(self._atom, required)),
            tuple(dict.fromkeys(self._derived[bit].derived for bit in used if bit in self._derived)),
        )

    def _atom(self, bit: int) -> LiftedAtom:
        literal = self._derived.get(bit)
        return self._index.atom(bit) if literal is None else literal.atom

    def _required(self) -> list[int]:
        """The atoms of derived predicates each of which explains everything if the action requires it, or that it does not hold.

        Of those that were the same wherever all held that held in every executed step one is enough.
        """
        everything = self._index.everything
        found = [bit for bit in self._derived if _explained(self._samples, everything | bit)]
        if len(found) < 2:
            return found
        executed = (one for one in self._samples if one.executed)
        always = reduce(lambda mask, one: mask & (one.held | one.unknown), executed, everything)
        atoms = tuple(atom for atom, bit in self._index.bit.items() if bit & always)
        begun = [
            (state, objects)
            for state in self._states[:MOST_STATES]
            for objects in islice(bindings(StateIndex(state), self._index.header, atoms), MOST_BINDINGS)
        ]
        different: dict[tuple[bool | None, ...], int] = {}
        for bit in found:
            values = tuple(self._counted.values(self._derived[bit], begun))
            opposite = tuple(None if value is None else not value for value in values)
            if opposite not in different:
                different.setdefault(values, bit)
        return [*different.values()][:MOST_REQUIRED]

    def _conditions(self, order: Iterable[tuple[int, int]]) -> list[tuple[int, bool]]:
        """The first so many atoms, with values, that divide the action into STRIPS actions; none if there are none.

        ``order``: how many atoms of its own, and how many of derived predicates, are sought.
        """
        alike: dict[tuple[int, int], list[_Sample]] = {}
        for one in self._samples:
            alike.setdefault((one.held, one.unknown), []).append(one)
        if not all(_explained(some, self._index.everything) for some in alike.values()):
            return []  # it went two ways where its atoms have the same values
        unknown = reduce(lambda mask, one: mask | one.unknown, self._samples, 0)
        own, derived = (
            [bit for bit in some if not bit & unknown] for some in (self._index.bit.values(), self._derived)
        )
        for counts in order:
            # of several that divide it as well the first
            if best := max(
                self._dividing(self._samples, own, derived, *counts), key=itemgetter(0), default=None
            ):
                return best[1]
        return []

    def _dividing(
        self,
        samples: Sequence[_Sample],
        own: Sequence[int],
        derived: Sequence[int],
        of_own: int,
        of_derived: int,
    ) -> Iterator[tuple[int, list[tuple[int, bool]]]]:
        """So many atoms, with values, that divide an action into STRIPS actions, and the executed samples of the part with fewest."""
        count = of_own + of_derived
        options = [*(own if of_own else ()), *(derived if of_derived else ())]
        for bit in options:
            # the other value of the last one exchanges two parts
            for value in (True, False) if count > 1 else (True,):
                part = [one for one in samples if bool(one.held & bit) is value]
                least = self._executions(part)
                if not least:
                    continue
                rest = [one for one in samples if bool(one.held & bit) is not value]
                if count > 1:
                    is_own = bit <= self._index.everything
                    left = [one for one in own if one != bit], [one for one in derived if one != bit]
                    numbers = (of_own - 1, of_derived) if is_own else (of_own, of_derived - 1)
                    for fewest, others in self._dividing(rest, *left, *numbers):
                        yield min(least, fewest), [(bit, value), *others]
                elif fewest := self._executions(rest):
                    yield min(least, fewest), [(bit, value)]

    def _executions(self, part: Sequence[_Sample]) -> int:
        """The executed samples of a part; 0 if it is no STRIPS action."""
        executed = sum(one.executed for one in part)
        return executed if executed and _explained(part, self._index.everything) else 0


def can_divide(result: Result, constants: Constants = NO_CONSTANTS) -> bool:
    """Whether what was diagnosed may be explained by actions that are several in the model, where it has these constants."""
    transcript = result.transcript
    if not can_go_on(result, VISIBLE, anywhere=True):
        return False
    histories = Histories(transcript.access, transcript.initial)
    for entry in transcript.entries:
        histories.add(entry)
    vocabulary = extended(transcript.vocabulary, constants)
    return dividing(vocabulary, transcript.headers, histories.attempts) is not None


def with_divisions(diagnosed: Diagnosed, constants: Constants = NO_CONSTANTS) -> Further:
    """Interrogate an agent as a deterministic one, with some actions divided; or why no such model fits it, in a line.

    Args:
        diagnosed: the agent.
        constants: that the model has, too.

    Raises:
        AgentFailed: the agent cannot answer any more.
    """
    recorded = diagnosed.recorded
    plain = WithConstants(recorded, constants)
    tried: list[list[dict[str, Any]]] = []
    why = "no literals of their parameters divide its actions"
    while len(tried) < ROUNDS:
        divisions = dividing(plain.vocabulary, recorded.headers, recorded.histories.attempts)
        if divisions is None or divisions.json() in tried:
            return Further(None, why)
        tried.append(divisions.json())
        known = divided(recorded.transcript, divisions).entries
        agent = DividedAgent(plain, divisions)
        how = listed([*([as_constants(constants)] if constants else ()), *divisions.parts()])
        invented = f"{told_constants(constants)} {divisions.told()}" if constants else divisions.told()
        found = diagnosed.as_deterministic(agent, f"deterministic, with {how}", invented, known=known)
        if not isinstance(found, str):
            return Further(found, constants=constants, divisions=divisions)
        why = found
    return Further(None, why)

"""Steps in the order in which they were taken, and how far one STRIPS agent explains them.

Where nothing can be had again, the order tells the families of faults apart: what differs from step to step, what
differs ever since a certain step, and what differs with the step before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from aam_vision.interrogation.evidence.anomalies import changed_untouched
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.examination.trials import Plan, Trial, Trials
from aam_vision.model.query import Situation
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    State,
    Vocabulary,
    lifted_atoms,
)


class Seen(NamedTuple):
    """A step between two perceived states."""

    before: State
    action: GroundAction
    after: State | None
    """None if the step was refused."""


class Split(NamedTuple):
    """Steps of one action of which some came out one way and some another, with no reason in STRIPS for it."""

    usual: tuple[int, ...]
    """Numbers of the steps that were executed, or that came out as most of them."""
    strange: tuple[int, ...]
    """Numbers of the others."""

    @property
    def order(self) -> list[int]:
        """All numbers, in the order of the steps."""
        return sorted((*self.usual, *self.strange))

    @property
    def turns(self) -> int:
        """How often a step came out otherwise than the one before it."""
        strange = [number in self.strange for number in self.order]
        return sum(one != other for one, other in pairwise(strange))


class _NotSeen:
    """The handle of a situation in the middle of a plan: its atoms follow from the plan's begin and end."""


@dataclass(frozen=True)
class Course:
    """The steps that were seen, in order, and what came just before each."""

    vocabulary: Vocabulary
    headers: tuple[ActionHeader, ...]
    trials: tuple[Trial, ...]
    led: Mapping[Hashable, tuple[Situation, Plan]]
    """From where, and with which steps, the agent came to a situation, by its handle; empty where states are made."""
    starts: frozenset[Hashable]
    """The handles of the situations in which a history begins."""

    @classmethod
    def of(cls, trials: Trials) -> Course:
        """The course of an interrogation and of the experiments so far."""
        told = trials.transcript
        led: dict[Hashable, tuple[Situation, Plan]] = {}
        if not trials.access.constructs:
            for entry in (*told.entries, *trials.asked):
                if isinstance(entry, Asked):
                    plan, ended = entry.query.plan[: entry.response.executed], entry.response.final
                    if plan:
                        led.setdefault(ended.handle, (entry.query.initial, plan))
                else:
                    for step in entry.steps:
                        led.setdefault(step.after.handle, (step.before, (step.action,)))
        starts = frozenset(situation.handle for situation in told.initial)
        seen = [*trials.seen]
        if not trials.access.restarts:  # nothing of what was seen there can be asked for again
            seen = [*_with_parts_of_plans(trials), *trials.seen[trials.known :]]
        return cls(told.vocabulary, told.headers, tuple(seen), led, starts)

    @cached_property
    def seen(self) -> list[Seen]:
        """The steps as they were seen."""
        return [
            Seen(one.before.state, one.step, None if one.after is None else one.after.state)
            for one in self.trials
        ]

    @cached_property
    def executed(self) -> list[Trial]:
        """The executed steps that were seen from before to after."""
        return [
            one
            for one in self.trials
            if one.after is not None and not isinstance(one.before.handle, _NotSeen)
        ]

    @cached_property
    def one_later(self) -> list[Seen]:
        """The steps as they were if every image shows the state before the last executed step."""
        true: dict[Hashable, State | None] = {}
        for trial in self.trials:
            if trial.after is not None:
                shown, state = trial.before.handle, trial.after.state
                # a picture that was followed by several states may show any of them
                true[shown] = state if true.get(shown, state) == state else None
        found = []
        for trial in self.trials:
            before = true.get(trial.before.handle)
            after = None if trial.after is None else true.get(trial.after.handle)
            if before is not None and (trial.after is None or after is not None):
                found.append(Seen(before, trial.step, after))
        return found

    @cached_property
    def lasting(self) -> Vocabulary:
        """The vocabulary without the predicates of which an atom has changed."""
        changed = {
            atom.predicate
            for before, _, after in self.seen
            if after is not None
            for atom in before.true ^ after.true
        }
        kept = (predicate for predicate in self.vocabulary.predicates if predicate.name not in changed)
        return replace(self.vocabulary, predicates=tuple(kept))

    def way(self, trial: Trial) -> Plan | None:
        """All executed steps of the episode before a step; None if they are not known."""
        if not self.led:
            return None if trial.history is None else trial.history.executed
        steps: list[Plan] = []
        at = trial.before
        while at.handle not in self.starts:
            if at.handle not in self.led or len(steps) > len(self.led):
                return None
            at, plan = self.led[at.handle]
            steps.append(plan)
        return tuple(step for plan in reversed(steps) for step in plan)

    @cached_property
    def came(self) -> dict[Hashable, Trial]:
        """The executed step that led to a situation, by its handle."""
        return {trial.after.handle: trial for trial in reversed(self.trials) if trial.after is not None}

    @cached_property
    def _states(self) -> dict[tuple[Hashable, Plan], State]:
        """The states seen after the steps of an episode."""
        found: dict[tuple[Hashable, Plan], State] = {}
        for trial in self.trials:
            way, start = self.way(trial), self._start(trial)
            if way is None:
                continue
            found.setdefault((start, way), trial.before.state)
            if trial.after is not None:
                found.setdefault((start, (*way, trial.step)), trial.after.state)
        return found

    def previous(self, trial: Trial) -> GroundAction | None:
        """The last executed step before one; None if it is not known, or there was none."""
        if trial.before.handle in self.led:
            return self.led[trial.before.handle][1][-1]
        way = self.way(trial)
        return way[-1] if way else None

    def shared(self, trial: Trial) -> set[tuple[str, int, int]] | None:
        """What was done before in the episode with the objects of a step; None if that is not known.

        Each is an action, its parameter that named the object, and the step's own.
        """
        way = self.way(trial)
        if way is None:
            return None
        own = {name: place for place, name in enumerate(trial.step.objects)}
        return {
            (step.name, place, own[name])
            for step in way
            for place, name in enumerate(step.objects)
            if name in own
        }

    def last(self, trial: Trial, count: int) -> Plan:
        """So many executed steps of the episode before one, the last one first; fewer if no more are known."""
        way = self.way(trial) or ()
        return way[: -count - 1 : -1]

    def earlier(self, trial: Trial) -> State | None:
        """The state before the last executed step before one, or where the history begins; None if it is not known."""
        handle = trial.before.handle
        if handle in self.led and len(self.led[handle][1]) == 1:
            return self.led[handle][0].state
        way = self.way(trial)
        if way is None:
            return None
        return self._states.get((self._start(trial), way[:-1])) if way else trial.before.state

    def _start(self, trial: Trial) -> Hashable:
        """The handle of the situation in which the history of a step begins."""
        if not self.led:
            return None if trial.history is None else trial.history.start.handle
        handle, seen = trial.before.handle, 0
        while handle not in self.starts and handle in self.led and seen <= len(self.led):
            handle, seen = self.led[handle][0].handle, seen + 1
        return handle

    def header(self, name: str) -> ActionHeader:
        """The header of an action."""
        return next(header for header in self.headers if header.name == name)

    def splits(self, steps: Sequence[Seen], name: str) -> list[Split]:
        """What a STRIPS agent's model leaves unexplained of the steps of an action: refusals first, then effects."""
        own = [number for number, step in enumerate(steps) if step.action.name == name]
        atoms = lifted_atoms(self.vocabulary, self.header(name))
        return [*_refusals(steps, own, atoms), *_effects(steps, own, atoms)]

    def of_split(self, split: Split) -> tuple[list[Trial], list[Trial]]:
        """The steps that came out as usual, and the others."""
        return [self.trials[n] for n in split.usual], [self.trials[n] for n in split.strange]

    def untouched(self, steps: Sequence[Seen]) -> list[tuple[int, Atom]]:
        """The atoms that changed although the step does not name their objects, with the steps' numbers."""
        constants = self.vocabulary.constants
        return [
            (number, atom)
            for number, (before, action, after) in enumerate(steps)
            if after is not None
            for atom in changed_untouched(before, [action], after, constants)
        ]

    def disagreements(self, steps: Sequence[Seen]) -> int:
        """How many of the steps disagree with the others, about."""
        splits = [split for header in self.headers for split in self.splits(steps, header.name)]
        return len(self.untouched(steps)) + sum(min(map(len, split)) for split in splits)


def always(
    steps: Iterable[tuple[State, GroundAction]], atoms: Sequence[LiftedAtom]
) -> list[tuple[LiftedAtom, bool]]:
    """The atoms, with their values, that had the same value before each of the steps, as far as it is known."""
    values: dict[LiftedAtom, set[bool]] = {atom: set() for atom in atoms}
    for before, action in steps:
        for atom in atoms:
            if (value := before.value(atom.ground(action.objects))) is not None:
                values[atom].add(value)
    return [(atom, value) for atom, found in values.items() for value in (True, False) if found == {value}]


def violated(before: State, action: GroundAction, literals: Iterable[tuple[LiftedAtom, bool]]) -> bool:
    """Whether one of the literals may be false before a step."""
    return any(before.value(atom.ground(action.objects)) is not value for atom, value in literals)


def _refusals(steps: Sequence[Seen], own: Sequence[int], atoms: Sequence[LiftedAtom]) -> list[Split]:
    executed = [number for number in own if steps[number].after is not None]
    literals = always((steps[number][:2] for number in executed), atoms)
    strange = [
        number for number in own if steps[number].after is None and not violated(*steps[number][:2], literals)
    ]
    return [Split(tuple(executed), tuple(strange))] if executed and strange else []


def _effects(steps: Sequence[Seen], own: Sequence[int], atoms: Sequence[LiftedAtom]) -> list[Split]:
    found = []
    for atom in atoms:
        came: dict[bool, dict[bool, list[int]]] = {True: defaultdict(list), False: defaultdict(list)}
        for number in own:
            before, action, after = steps[number]
            ground = atom.ground(action.objects)
            if after is None or (was := before.value(ground)) is None or (now := after.value(ground)) is None:
                continue
            came[was][was is not now].append(number)
        for outcomes in came.values():
            if len(outcomes) == len((True, False)):
                usual, strange = sorted(outcomes.values(), key=len, reverse=True)
                found.append(Split(tuple(usual), tuple(strange)))
    return found


def _with_parts_of_plans(trials: Trials) -> Iterator[Trial]:
    """The steps of an interrogation, those in the middle of plans included, as far as the end of the plan shows them."""
    told = trials.transcript
    for entry, (_, steps) in zip(told.entries, trials.of_entry, strict=True):
        if isinstance(entry, Asked) and entry.response.executed > 1:
            yield from _parts(entry, told)
        yield from steps


def _parts(entry: Asked, told: Transcript) -> Iterator[Trial]:
    """The executed steps of a plan: what another step of it may have changed is unknown."""
    plan = entry.query.plan[: entry.response.executed]
    begun, ended = entry.query.initial.state, entry.response.final.state
    atoms = {header.name: lifted_atoms(told.vocabulary, header, repeated=True) for header in told.headers}
    touched = [{atom.ground(step.objects) for atom in atoms[step.name]} for step in plan]
    for number, step in enumerate(plan):
        earlier = frozenset().union(*touched[:number])
        others = earlier.union(*touched[number + 1 :])
        own = frozenset(touched[number] - others)
        before = replace(begun, true=begun.true - earlier, unknown=begun.unknown | earlier)
        after = replace(
            begun, true=(begun.true - others - own) | (ended.true & own), unknown=begun.unknown | others
        )
        yield Trial(Situation(_NotSeen(), before), step, Situation(_NotSeen(), after))

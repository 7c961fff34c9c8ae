"""Plans of several probes, and a state made for all of them.

A chain grows by one near miss at a time. Each tries some arguments, and for each of these the state is changed so that
the new step violates just what it should; then all steps before it are simulated again. That is done many
times for one question, so it works on numbered facts: a state is an array of truth values, and an action's atoms
under its arguments are places in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aam_vision.interrogation.action_hypotheses import ActionHypotheses
from aam_vision.interrogation.atoms import Literals
from aam_vision.interrogation.evidence import Evidence
from aam_vision.joins import Fact
from aam_vision.strips import Atom, GroundAction, Objects, State

TURNS = 4
"""Choices of arguments that are tried for one step of a chain."""

Values = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]


class Step(NamedTuple):
    """One step of a chain, and the undecided literals that it violates."""

    name: str
    objects: tuple[str, ...]
    violated: Literals


class Sketch:
    """The state that all chains start from, with its facts numbered as they come up."""

    def __init__(self, start: State) -> None:
        self.start = start
        self._facts: list[Fact] = []
        self._numbers: dict[Fact, int] = {}
        self._true = np.zeros(256, np.uint8)
        self._places: dict[tuple[str, tuple[str, ...]], Places] = {}

    def places(self, action: ActionHypotheses, objects: tuple[str, ...]) -> Places:
        """The numbers of an action's atoms under a binding, in the order of their bits."""
        key = action.index.header.name, objects
        places = self._places.get(key)
        if places is None:
            places = np.array([self._number(fact) for _, fact in action.index.grounded(objects)], np.intp)
            self._places[key] = places
        return places

    def flipped(self, flips: Values) -> Values:
        """The start with some facts flipped; ``flips`` may be from when fewer facts had come up."""
        values = self._true.copy()
        values[: len(flips)] ^= flips
        return values

    def flips(self, values: Values) -> Values:
        """Where the values are not those of the start."""
        return values ^ self._true

    def state(self, flips: Values) -> State:
        """The start with these facts flipped, as a state."""
        changed = {Atom(*self._facts[place]) for place in np.flatnonzero(flips)}
        return State(self.start.true ^ changed, self.start.objects)

    def _number(self, fact: Fact) -> int:
        number = self._numbers.get(fact)
        if number is None:
            number = self._numbers[fact] = len(self._facts)
            self._facts.append(fact)
            if number == len(self._true):
                self._true = np.concatenate([self._true, np.zeros_like(self._true)])
            self._true[number] = fact in self.start.true
        return number


class Chain:
    """A plan of probes from one state made for all of them."""

    def __init__(self, evidence: Evidence, sketch: Sketch) -> None:
        self._evidence = evidence
        self._sketch = sketch
        self._flips = np.zeros(0, np.uint8)
        self._end = (self._flips, self._flips)
        """What is flipped where the next step will be made, and what is unknown there."""
        self._touched = np.zeros(0, np.bool_)
        """Facts that the steps so far speak of."""
        self.steps: list[Step] = []

    def copy(self) -> Chain:
        """The same chain, to be continued in another way."""
        other = Chain(self._evidence, self._sketch)
        other.steps, other._touched = [*self.steps], self._touched
        other._flips, other._end = self._flips, self._end
        return other

    def has(self, name: str, violated: Literals) -> bool:
        """Whether this probe is one of the steps."""
        return any(step.name == name and step.violated == violated for step in self.steps)

    def append(self, name: str, violated: Literals) -> bool:
        """Add a probe at the end if some state serves it and all the steps before it."""
        action = self._evidence.hypotheses[name]
        candidates = action.candidates
        on = _numbers(candidates.positive & ~violated.positive | violated.negative, action)
        off = _numbers(candidates.negative & ~violated.negative | violated.positive, action)
        tried = set()
        for objects in self._choices(action, violated):
            if objects in tried:
                continue
            tried.add(objects)
            places = self._sketch.places(action, objects)
            values = self._sketch.flipped(self._flips)
            changed = _set(values, places[on], places[off])
            step = Step(name, objects, violated)
            end = self._simulated(values, changed, step)
            if end is not None:
                self._take(step, places, self._sketch.flips(values), *end)
                return True
        return False

    def _take(self, step: Step, places: Places, flips: Values, true: Values, unknown: Values) -> None:
        """Add a step that works; ``true`` and ``unknown`` are what holds after it."""
        self._flips, self._end = flips, (self._sketch.flips(true), unknown)
        self.steps.append(step)
        touched = np.zeros(len(true), np.bool_)
        touched[: len(self._touched)] = self._touched
        touched[places] = True
        self._touched = touched

    def _simulated(self, values: Values, changed: Places, last: Step) -> tuple[Values, Values] | None:
        """What is true and what is unknown after the last step; None if any step is not as it should be.

        Where no earlier step touches what was changed at the start, all goes as it went before.
        """
        if not self._touched[changed[changed < len(self._touched)]].any():
            flips, known = self._end
            true, unknown = self._sketch.flipped(flips), np.zeros_like(values)
            unknown[: len(known)] = known
            true[changed] ^= 1
        else:
            true, unknown = values.copy(), np.zeros_like(values)
            if not all(self._executed(step, true, unknown) for step in self.steps):
                return None
        return (true, unknown) if self._executed(last, true, unknown) else None

    def _executed(self, step: Step, true: Values, unknown: Values) -> bool:
        """Whether a step violates just what it should there; if so, it is executed as far as that is known."""
        action = self._evidence.hypotheses[step.name]
        places = self._sketch.places(action, step.objects)
        held, dim = _mask(true, places), _mask(unknown, places)
        if action.violated(held, dim) != step.violated:
            return False
        now, now_dim = action.after(held, dim, step.objects)
        if changed := (held ^ now) | (dim ^ now_dim):
            numbers = _numbers(changed, action)
            true[places[numbers]] = _unpacked(now, action)[numbers]
            unknown[places[numbers]] = _unpacked(now_dim, action)[numbers]
        return True

    def plan(self) -> list[GroundAction]:
        """The steps as instructions."""
        return [GroundAction(step.name, step.objects) for step in self.steps]

    def state(self) -> State:
        """The state to start the plan from."""
        return self._sketch.state(self._flips)

    def _choices(self, action: ActionHypotheses, violated: Literals) -> Iterator[tuple[str, ...]]:
        used = {name for step in self.steps for name in step.objects}
        for pinned in (*self._on_dropped(action, violated), {}):
            yield from arguments(self._sketch.start.objects, action.index.header.types, used, pinned)

    def _on_dropped(self, action: ActionHypotheses, violated: Literals) -> list[dict[int, str]]:
        """Arguments under which the literal is an atom that an earlier step of the chain misses already."""
        if violated.size() != 1 or not violated.positive:
            return []
        (atom,) = action.index.select(violated.positive)
        pins = []
        for step in self.steps:
            other = self._evidence.hypotheses[step.name].index
            for dropped in other.select(step.violated.positive):
                if dropped.predicate == atom.predicate:
                    fact = dropped.ground(step.objects)
                    pairs = zip(atom.arguments, fact.objects, strict=True)
                    pins.append({place: name for place, name in pairs if isinstance(place, int)})
        return pins


def _set(values: Values, on: Places, off: Places) -> Places:
    """Make these facts true and those false; which of them were not."""
    changed = np.concatenate([on[values[on] == 0], off[values[off] == 1]])
    values[changed] ^= 1
    return changed


def _mask(values: Values, places: Places) -> int:
    """The atoms that are set, as bits."""
    return int.from_bytes(np.packbits(values[places], bitorder="little").tobytes(), "little")


def _numbers(mask: int, action: ActionHypotheses) -> Places:
    """The numbers of the bits that are set."""
    return _unpacked(mask, action).nonzero()[0]


def _unpacked(mask: int, action: ActionHypotheses) -> Values:
    """The bits of an action's atoms as truth values."""
    octets = np.frombuffer(mask.to_bytes(len(action.index.atoms) // 8 + 1, "little"), np.uint8)
    return np.unpackbits(octets, bitorder="little")


def arguments(
    objects: Objects, types: tuple[str, ...], used: set[str], pinned: Mapping[int, str]
) -> Iterator[tuple[str, ...]]:
    """Some choices of arguments, with some of them pinned, preferring objects that no step uses yet."""
    if any(name not in objects.members(types[place]) for place, name in pinned.items()):
        return
    if len(set(pinned.values())) < len(pinned):
        return
    unused = {kind: [name for name in objects.of_type(kind) if name not in used] for kind in types}
    for turn in range(TURNS):
        chosen = dict(pinned)
        for place, kind in enumerate(types):
            if place in pinned:
                continue
            taken = chosen.values()
            free = [name for name in unused[kind] if name not in taken]
            if not free and not (free := [name for name in objects.of_type(kind) if name not in taken]):
                return
            chosen[place] = free[turn % len(free)]
        yield tuple([chosen[place] for place in range(len(types))])

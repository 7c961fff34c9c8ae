"""What an agent with controls remembers: one of a few states, from which every control that is given leads to one, whatever else it does.

Nothing that is seen tells the state. What controls do depends on its kind alone, which facts tell: in situations, not in what a control changes.
Where each control is only carried out some controls later, the state is the last of them, and no fact tells it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from aam_vision.model.strips import Atom, GroundAction, Predicate, State
from aam_vision.support.wording import listed

SWITCHED: Final = ("false", "true")
"""The values of a memory that is one fact itself."""
MOST_LATE: Final = 8
"""How many controls may be given before one is carried out, at most."""


@dataclass(frozen=True)
class ControlMemory:
    """States that may be remembered, from which to which the controls lead, and which kind each is of."""

    moves: Mapping[str, tuple[int, ...]]
    """By control, the state after it, for each state before it."""
    begins: int
    """The state in which every history begins."""
    kinds: tuple[int, ...]
    """By state, its kind; from 0 on."""
    words: str
    """What it is, in words."""
    values: tuple[str, ...]
    """By state, what that comes to there."""
    name: str = "memory"
    """What the names of its predicates begin with."""
    doing: bool = False
    """Whether only controls count that do something that is seen."""

    def after(self, remembered: int, control: GroundAction, *, did: bool) -> int:
        """The state after a control was given; ``did``: whether it did something that is seen."""
        return self.moves[control.name][remembered] if did or not self.doing else remembered

    @cached_property
    def facts(self) -> Mapping[int, Atom]:
        """By kind the fact that tells it; of two, one fact is enough."""
        kinds = range(max(self.kinds) + 1)
        told = kinds[1:] if len(kinds) == 2 else kinds
        return {kind: Atom(f"{self.name}-{kind}", ()) for kind in told}

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """Those of the facts."""
        return tuple(Predicate(fact.predicate, ()) for fact in self.facts.values())

    def step(
        self, before: State, control: GroundAction, after: State, remembered: int
    ) -> tuple[State, GroundAction, State]:
        """A step as the model tells it: what was remembered before it is in both situations."""
        return self.told(before, remembered), control, self.told(after, remembered)

    def told(self, state: State, remembered: int) -> State:
        """A situation with the kind of what is remembered in it."""
        plain, fact = self.plain(state), self.facts.get(self.kinds[remembered])
        return plain if fact is None else State(plain.true | {fact}, plain.objects, plain.unknown)

    def plain(self, state: State) -> State:
        """A situation without it."""
        facts = frozenset(self.facts.values())
        return State(state.true - facts, state.objects, state.unknown - facts)

    def freed(self, state: State) -> State:
        """A situation in which anything may be remembered."""
        plain = self.plain(state)
        return State(plain.true, plain.objects, plain.unknown | frozenset(self.facts.values()))

    @property
    def text(self) -> str:
        """What each fact tells, in sentences."""
        if self.values == SWITCHED:
            first = self.values[self.begins]
            return f"{listed([fact.predicate for fact in self.facts.values()])} is an invented fact: {self.words}; {first} when a history begins."
        sentences = []
        for kind, fact in self.facts.items():
            states = [state for state, own in enumerate(self.kinds) if own == kind]
            values = [self.values[state] for state in states]
            in_a_row = len(states) > 2 and states[-1] - states[0] < len(states)
            among = f"one of {values[0]} to {values[-1]}" if in_a_row else " or ".join(values)
            sentences.append(f"{fact.predicate} is an invented fact: true where {self.words} is {among}.")
        return " ".join([*sentences, f"When a history begins that is {self.values[self.begins]}."])

    @property
    def comments(self) -> Iterator[str]:
        """The same, and what every control makes of it, whatever else it does: lines beside a model whose actions do not say so."""
        yield from self.text.split(". ")
        yield f"Every control that {'does something' if self.doing else 'is given'} changes that, whatever else it does:"
        for control, after in self.moves.items():
            changes = [
                f"{self.values[old]} -> {self.values[new]}" for old, new in enumerate(after) if old != new
            ]
            yield f"{control}: {', '.join(changes) or 'as it is'}"

    def json(self) -> dict[str, Any]:
        """It as plain data."""
        moves = {control: list(after) for control, after in self.moves.items()}
        kinds, values = list(self.kinds), list(self.values)
        told = {"moves": moves, "begins": self.begins, "kinds": kinds, "words": self.words, "values": values}
        return told | {"name": self.name, "doing": self.doing}


@dataclass(frozen=True)
class LateControls:
    """Controls that are carried out late: giving one carries out another one, which was given so many controls before it."""

    late: int
    """How many; from 1 on."""
    begins: tuple[GroundAction, ...] = ()
    """What waits to be carried out where a history begins."""

    def after(
        self, waiting: tuple[GroundAction, ...], control: GroundAction, *, did: bool
    ) -> tuple[GroundAction, ...]:
        """What waits after a control was given."""
        return (*waiting, control)[-self.late :]

    def step(
        self, before: State, control: GroundAction, after: State, waiting: tuple[GroundAction, ...]
    ) -> tuple[State, GroundAction | None, State]:
        """A step as the model tells it: with the control that is carried out in it, if one is."""
        return before, waiting[0] if len(waiting) == self.late else None, after

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """None: no fact tells what waits."""
        return ()

    def plain(self, state: State) -> State:
        """A situation, in which nothing tells what waits."""
        return state

    def freed(self, state: State) -> State:
        """A situation, in which nothing tells what waits."""
        return state

    @property
    def text(self) -> str:
        """What it is, in a sentence."""
        if self.late == 1:
            return "Controls are carried out late: giving one carries out the one before it, and the first of a history nothing."
        return (
            f"Controls are carried out late: giving one carries out the one that was given {self.late} before it, and the first "
            f"{self.late} of a history nothing."
        )

    @property
    def comments(self) -> Iterator[str]:
        """The same, in lines beside a model."""
        yield from self.text.split(": ")

    def json(self) -> dict[str, Any]:
        """It as plain data."""
        return {"late": self.late}


Remembered = ControlMemory | LateControls
"""Whatever an agent with controls remembers of those that it was given."""

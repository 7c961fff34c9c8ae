"""The economical policy under ``settable`` access, the paper's own setting: any state may be asked about.

Every undecided literal can be tested then: take a situation in which the action succeeded, and change the
one atom. So nothing is left undetermined, and the art is in the number of queries. A query ends at its first
failing step, and a failing *near miss* (one literal violated alone) is a proof whichever step it is. So
near misses are chained in one plan, the doubtful first: those that succeed are refuted for nothing, the first
that fails is proven. What is most probably spurious (negative literals) is violated in one step as a
group, which also rides along; only if that is refused is the group halved.

Walks come first, as under ``snapshot`` access. An action that no walk has shown is first executed in states
made for it, with every atom of its arguments true, as in the paper's own experiments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import log

import numpy as np

from aam_vision.interrogation.beliefs import Beliefs
from aam_vision.interrogation.coincidence import Merged
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.hypotheses import NOTHING, ActionHypotheses, Literals, bits, union
from aam_vision.interrogation.moves import Ask, Move, Stop
from aam_vision.interrogation.paths import by_problem
from aam_vision.interrogation.walking import Walker
from aam_vision.query import Situation
from aam_vision.strips import Atom, GroundAction, Objects, State

MAX_CHAIN = 9
"""Near misses in one query."""
RIDERS = 24
"""Doubtful literals that are tried as further steps of a chain."""
LASTS = 4
"""Probable preconditions that are tried as the last step of a chain."""
TURNS = 4
"""Choices of arguments that are tried for one step of a chain."""


@dataclass
class SettablePolicy:
    """Few questions, each about a state made for it."""

    walker: Walker = field(default_factory=Walker)
    _beliefs: Beliefs | None = None
    _asked: list[tuple[str, Literals]] = field(default_factory=list)
    _tested: int = 0
    _refuted: int = 0

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk, make unseen actions succeed, prove with refutations riding along, stop."""
        if self._beliefs is None:
            walk = self.walker.next(evidence, rng)
            if walk is not None:
                return walk
            self._beliefs = Beliefs(evidence.hypotheses, evidence.nodes, by_kind=False)
        self._take_stock(evidence)
        return (
            self._first_success(evidence)
            or self._proof(evidence)
            or self._refutation(evidence)
            or self._effect(evidence)
            or self._stop(evidence)
        )

    # --- queries ---------------------------------------------------------------------------------

    def _first_success(self, evidence: Evidence) -> Ask | None:
        """A state in which an action never executed so far should be executable.

        All its atoms true satisfies every positive precondition; a refusal leaves a clause that says what
        else must be false.
        """
        start = _largest(evidence)
        for name, action in evidence.hypotheses.actions.items():
            if action.successes:
                continue
            for objects in islice(_arguments(start.objects, action.index.header.types, set(), {}), 1):
                for off in _choices(action):
                    state = _with(start, action, objects, action.index.everything & ~off, off)
                    if not action.certain_to_fail(action.violated(*action.index.values(state, objects))):
                        return _ask(evidence, state, [GroundAction(name, objects)], f"see {name} succeed")
        return None

    def _proof(self, evidence: Evidence) -> Ask | None:
        """Near misses in a chain: doubtful ones first, in the end something that is probably true."""
        waiting: list[tuple[float, str, Literals]] = []
        groups: list[tuple[str, Literals]] = []
        for name, action in evidence.hypotheses.actions.items():
            if action.successes:
                trusted, suspects = self._split(name, action)
                positive = [literal for literal in (*trusted, *suspects) if literal.positive]
                waiting += [(self._probability(name, literal, action), name, literal) for literal in positive]
                if group := self._group(name, action):
                    groups.append((name, group))
        if not waiting:
            return None
        waiting.sort()
        length = self._chain_length()
        lasts = [(name, literal) for _, name, literal in reversed(waiting[-LASTS:])]
        length = max(length, min(MAX_CHAIN, sum(p < 0.5 for p, _, _ in waiting) + 1))
        doubtful = [(name, literal) for _, name, literal in waiting[:RIDERS]] if length > 1 else []
        openings: list[list[tuple[str, Literals]]] = [[group] for group in groups]
        attempts = [(opening, doubtful, [last]) for opening in (*openings, []) for last in lasts]
        if doubtful:
            # doubtful ones alone, then an opening with nothing between, then a single near miss
            attempts += [([], doubtful, [])]
            attempts += [(opening, [], [last]) for opening in openings for last in lasts]
        attempts += [([], [], [(name, literal)]) for _, name, literal in reversed(waiting)]
        for opening, riders, last_ones in attempts:
            chain = self._chain(evidence, opening, riders, last_ones, length)
            if chain is not None:
                self._asked = [(s.name, s.violated) for s in chain.steps if s.violated.positive]
                return chain.ask()
        return None

    def _chain(
        self,
        evidence: Evidence,
        opening: list[tuple[str, Literals]],
        riders: list[tuple[str, Literals]],
        last: list[tuple[str, Literals]],
        length: int,
    ) -> _Chain | None:
        """A chain of the opening, as many riders as fit, and the last probe; None if that fails."""
        chain = _Chain(evidence)
        if not all(chain.append(*probe) for probe in opening):
            return None
        for rider in riders:
            if len(chain.steps) < length + len(opening) - len(last) and rider not in last:
                chain.append(*rider)
        if not all(chain.append(*probe) for probe in last):
            return None
        return chain if last or len(chain.steps) > 1 else None

    def _chain_length(self) -> int:
        """How many near misses in a row make it improbable that all of them succeed."""
        share = (self._refuted + 0.5) / (self._tested + 4)
        return max(1, min(MAX_CHAIN, 1 + int(log(0.1) / log(min(share, 0.9)))))

    def _take_stock(self, evidence: Evidence) -> None:
        """Count how many of the literals tested last turned out to be spurious."""
        for name, literal in self._asked:
            action = evidence.hypotheses[name]
            if not literal.within(action.candidates):
                self._refuted += 1
                self._tested += 1
            elif literal.within(action.proven):
                self._tested += 1
        self._asked = []

    def _refutation(self, evidence: Evidence) -> Ask | None:
        """A step that violates a group of probably spurious literals at once."""
        for name, action in evidence.hypotheses.actions.items():
            if group := self._group(name, action):
                chain = _Chain(evidence)
                if chain.append(name, group):
                    return chain.ask()
        return None

    def _effect(self, evidence: Evidence) -> Ask | None:
        """A step expected to succeed in a state where an undecided effect shows."""
        start = _largest(evidence)
        for name, action in evidence.hypotheses.actions.items():
            candidates = action.candidates
            for bit in bits(action.undecided_effects) if action.successes else ():
                if bit & action.proven.positive & ~action.deletes:
                    if ask := self._undone(evidence, name, bit):
                        return ask
                    continue
                shown = 0 if action.adds & bit else bit
                for objects in islice(_arguments(start.objects, action.index.header.types, set(), {}), 1):
                    on, off = candidates.positive | shown, candidates.negative | (bit & ~shown)
                    state = _with(start, action, objects, on, off)
                    if not action.violated(*action.index.values(state, objects)):
                        text = action.index.text(Literals(bit, 0))[0]
                        return _ask(
                            evidence, state, [GroundAction(name, objects)], f"see the effect on {text}"
                        )
        return None

    def _undone(self, evidence: Evidence, name: str, bit: int) -> Ask | None:
        """A step that deletes and, if the action adds what it requires, adds again one and the same atom."""
        action = evidence.hypotheses[name]
        start = _largest(evidence)
        for first, other, merged in action.index.merges:
            if first != bit or not action.deletes & other or not action.executable_when(merged):
                continue
            objects = _arguments_as(start.objects, action.index.header.types, merged)
            if objects is None:
                continue
            state = _with(start, action, objects, action.candidates.positive, action.candidates.negative)
            step = GroundAction(name, objects)
            node = evidence.situation(Situation(state, state))
            if not action.violated(*action.index.values(state, objects)) and not evidence.was_seen(
                node, step
            ):
                text = action.index.text(Literals(bit, 0))[0]
                return _ask(evidence, state, [step], f"see whether {text} is added where it is deleted")
        return None

    def _stop(self, evidence: Evidence) -> Stop:
        left = evidence.hypotheses.size - evidence.hypotheses.decided()
        if left:
            return Stop(False, f"{left} pal tuples are undecided, but no state to ask about was found")
        return Stop(True, "every pal tuple is decided")

    # --- choices ---------------------------------------------------------------------------------

    def _probability(self, name: str, literal: Literals, action: ActionHypotheses) -> float:
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        return self._beliefs.probability(name, literal, action)

    def _split(self, name: str, action: ActionHypotheses) -> tuple[list[Literals], list[Literals]]:
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        return self._beliefs.split(name, action)

    def _group(self, name: str, action: ActionHypotheses) -> Literals:
        """Probably spurious literals to refute together: all, or half of the smallest clause of them."""
        if not action.successes:
            return NOTHING
        suspects = union(literal for literal in self._split(name, action)[1] if literal.negative)
        inside = [clause for clause in action.clauses if clause.within(suspects)]
        if not inside:
            return suspects
        singles = list(min(inside, key=Literals.size).singles())
        return union(singles[: len(singles) // 2])


@dataclass(frozen=True)
class _Step:
    """One step of a chain, and the undecided literals that it violates."""

    name: str
    objects: tuple[str, ...]
    violated: Literals


class _Chain:
    """A plan of probes from one state made for all of them."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._start = self._state = _largest(evidence)
        self.steps: list[_Step] = []

    def append(self, name: str, violated: Literals) -> bool:
        """Add a probe at the end if some state serves it and all the steps before it."""
        action = self._evidence.hypotheses[name]
        candidates = action.candidates
        on = candidates.positive & ~violated.positive | violated.negative
        off = candidates.negative & ~violated.negative | violated.positive
        types = action.index.header.types
        used = {name for step in self.steps for name in step.objects}
        choices = [
            objects
            for pinned in (*self._on_dropped(action, violated), {})
            for objects in _arguments(self._start.objects, types, used, pinned)
        ]
        for objects in dict.fromkeys(choices):
            state = _with(self._state, action, objects, on, off)
            steps = [*self.steps, _Step(name, objects, violated)]
            if self._works(state, steps):
                self._state, self.steps = state, steps
                return True
        return False

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

    def _works(self, state: State, steps: list[_Step]) -> bool:
        """Whether every step violates just what it should, if those before it succeed."""
        for number, step in enumerate(steps):
            action = self._evidence.hypotheses[step.name]
            if action.violated(*action.index.values(state, step.objects)) != step.violated:
                return False
            if number < len(steps) - 1:
                state = self._evidence.predict(state, GroundAction(step.name, step.objects))
        return True

    def ask(self) -> Ask:
        """The query."""
        texts = [
            ", ".join(self._evidence.hypotheses[step.name].index.text(step.violated)) for step in self.steps
        ]
        plan = [GroundAction(step.name, step.objects) for step in self.steps]
        return _ask(self._evidence, self._state, plan, f"test {'; then '.join(texts)}")


def _largest(evidence: Evidence) -> State:
    """The initial state of the problem with the most objects: room for many steps beside each other."""
    return max((nodes[0].state for nodes in by_problem(evidence)), key=lambda state: len(state.objects))


def _arguments(
    objects: Objects, types: tuple[str, ...], used: set[str], pinned: Mapping[int, str]
) -> Iterator[tuple[str, ...]]:
    """Some choices of arguments, with some of them pinned, preferring objects that no step uses yet."""
    if any(name not in objects.members(types[place]) for place, name in pinned.items()):
        return
    for turn in range(TURNS):
        chosen: list[str] = []
        for place, kind in enumerate(types):
            taken = {*chosen, *pinned.values()}
            options = (
                [pinned[place]] if place in pinned else [n for n in objects.of_type(kind) if n not in taken]
            )
            if not options:
                return
            free = [name for name in options if name not in used] or options
            chosen.append(free[turn % len(free)])
        if len(set(chosen)) == len(chosen):
            yield tuple(chosen)


def _arguments_as(objects: Objects, types: tuple[str, ...], merged: Merged) -> tuple[str, ...] | None:
    """Arguments that are alike just where ``merged`` says so; None if there are too few objects."""
    chosen: dict[int | str, str] = {}
    for symbol in merged:
        if isinstance(symbol, str):
            chosen[symbol] = symbol
        elif symbol not in chosen:
            kinds = [kind for kind, other in zip(types, merged, strict=True) if other == symbol]
            options = [
                name
                for name in objects.of_type(kinds[0])
                if name not in chosen.values() and all(name in objects.members(kind) for kind in kinds)
            ]
            if not options:
                return None
            chosen[symbol] = options[0]
    return tuple(chosen[symbol] for symbol in merged)


def _with(state: State, action: ActionHypotheses, objects: tuple[str, ...], on: int, off: int) -> State:
    """The state with some of the action's atoms switched on and others off."""
    facts = dict(action.index.grounded(objects))
    true = state.true | {Atom(*facts[bit]) for bit in bits(on)}
    return State(true - {Atom(*facts[bit]) for bit in bits(off)}, state.objects)


def _choices(action: ActionHypotheses) -> Iterator[int]:
    """Atoms to leave false in an otherwise true state: none, then one by one."""
    yield 0
    yield from bits(action.negative)


def _ask(evidence: Evidence, state: State, plan: list[GroundAction], why: str) -> Ask:
    return Ask(evidence.situation(Situation(state, state)), tuple(plan), why)

"""The choice of what is predicted next: plans that try predictions under circumstances that are new (``coverage``).

Some plans are drawn at random, with every action as probable as any other; some lead on the shortest way to a step
nearby that shows much. The plan that shows most for each of its steps is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.examination.attempts import Attempts, Prediction
from aam_vision.interrogation.examination.coverage import History
from aam_vision.interrogation.examination.predictions import Predictions, Way
from aam_vision.strips import Atom, GroundAction, State

DRAWN = 8
"""Plans that are drawn at random, from all states together where one may begin."""
COMPARED = 3
"""Steps of one action that are compared at every step of them."""
REFUSED = 0.3
"""Share of the plans that end in a refusal."""
RARE = 0.75
"""Share of the parts of a long plan that execute the action that was executed least in it."""
DRAWN_LONG = 3
"""Long plans that are drawn, of which one is asked."""
ENDS = 12
"""Steps of a long plan for each further one with which it may end."""
SEARCHED, SEARCHED_FOR_REFUSALS = 100, 20
"""States that are searched for a step that shows much, around all of these together."""


class Start(NamedTuple):
    """Where a plan may begin."""

    node: Node | None
    """None where a state is made that was not seen."""
    state: State
    history: History


class Chosen(NamedTuple):
    """A plan, and how much it shows for each of its steps."""

    start: Start
    plan: Way
    worth: float


class Choice:
    """The choice of plans; what it works out about states is of use for the next one."""

    def __init__(self, attempts: Attempts, predictions: Predictions) -> None:
        self._attempts = attempts
        self._predictions = predictions
        self._known: dict[tuple[State, GroundAction, bool], float] = {}
        """Worths that were worked out some time: they never grow."""

    def plan(
        self, starts: Sequence[Start], longest: int, rng: np.random.Generator, more: Sequence[Start] = ()
    ) -> Chosen | None:
        """The best plan found, of at most ``longest`` steps, or of one executed step in ``more`` starts.

        None if nothing is predicted in any of ``starts``.
        """
        refusal = bool(rng.random() < REFUSED)
        for kind in (refusal, not refusal):
            found = [
                one
                for start in starts
                for one in self._found(start, longest, rng, refusal=kind, share=len(starts))
            ]
            if found:
                if not kind:
                    found += [one for start in more if (one := self._nearby(start, 1, 1, refusal=kind))]
                return max(found, key=lambda one: one.worth)
        return None

    def long(self, start: Start, length: int, longest: int, rng: np.random.Generator) -> Chosen | None:
        """A plan of about so many steps, none of which is refused; a shorter one where it can go on no longer.

        Every action comes up again and again, as what happens only after many uses of one shows nowhere else. Only its
        end is seen: it ends where most effects of late uses show.
        """
        spare = length // ENDS
        plans = [self._long(start, length + spare, longest, rng) for _ in range(DRAWN_LONG)]
        shown = [one for plan in plans for one in self._shown(start, plan, spare)]
        _, best = max(shown, key=lambda one: one[0], default=(0, ()))
        return Chosen(start, best, 0.0) if best else None

    def _long(self, start: Start, length: int, longest: int, rng: np.random.Generator) -> Way:
        plan: Way = ()
        at = start
        while len(plan) < length:
            left = min(longest, length - len(plan))
            way = self._rare(at, left) if rng.random() < RARE else ()
            if not way and (options := self._predictions.executable(at.state)):
                way = (_one_of_each(options, rng),)
            if not way:
                break
            plan, at = (*plan, *way), self._after(at, way)
        return plan

    def _shown(self, start: Start, plan: Way, spare: int) -> Iterator[tuple[int, Way]]:
        """The plan, and without its last steps, each with the number of the use that shows last of every effect.

        Added is how often the action comes up that comes up least: a refusal shows wherever it comes.
        """
        uses: Counter[str] = Counter()
        last: dict[Atom, tuple[str, int, int]] = {}
        state = start.state
        for number, step in enumerate(plan, 1):
            uses[step.name] += 1
            after = self._predictions.successor(state, step)
            changed = state.true ^ after.true
            for bit, atom in self._predictions.atoms(step):
                if atom in changed:
                    last[Atom._make(atom)] = step.name, bit, uses[step.name]
            state = after
            if number >= len(plan) - spare:
                shown: dict[tuple[str, int], int] = {}
                for name, bit, use in last.values():
                    shown[name, bit] = max(use, shown.get((name, bit), 0))
                yield sum(shown.values()) + len(uses) * min(uses.values()), plan[:number]

    def _after(self, start: Start, way: Way) -> Start:
        """Where a way of executed steps leads."""
        node, state, history = start
        for step in way:
            after = self._predictions.successor(state, step)
            state, history = after, history.then(step, state, after)
        return Start(node, state, history)

    def _rare(self, start: Start, longest: int) -> Way:
        """The shortest way to execute the action that was executed least in the plan's history."""
        best: tuple[int, Way] | None = None
        for way, state in self._predictions.surroundings(start.state, SEARCHED, longest - 1):
            for step in self._predictions.executable(state):
                uses = start.history.uses.get(step.name, 0)
                if best is None or uses < best[0]:
                    best = uses, (*way, step)
        return () if best is None else best[1]

    def _found(
        self, start: Start, longest: int, rng: np.random.Generator, *, refusal: bool, share: int
    ) -> Iterator[Chosen]:
        """Plans from one of ``share`` starts; those that end in a refusal, or all others."""
        count = (SEARCHED_FOR_REFUSALS if refusal else SEARCHED) // share
        if near := self._nearby(start, longest, count, refusal=refusal):
            yield near
        for _ in range(DRAWN // share):
            yield from self._drawn(start, int(rng.integers(1, longest + 1)), rng, refusal=refusal)

    def _nearby(self, start: Start, longest: int, count: int, *, refusal: bool) -> Chosen | None:
        """The shortest way to the step in the surroundings whose state shows most that is new."""
        most, best = 0.0, None
        options: Callable[[State], list[GroundAction]]
        options = self._predictions.refused if refusal else self._predictions.executable
        bounds: dict[str, float] = {}
        for way, state in self._predictions.surroundings(start.state, count, longest - 1):
            for step in options(state):
                key, least = (state, step, refusal), most * (len(way) + 1)
                if not refusal and step.name not in bounds:
                    bounds[step.name] = sum(map(self._attempts.most_worth_there, _executed(step)))
                if self._known.get(key, bounds.get(step.name, least + 1)) <= least:
                    continue  # it shows less for each step of the way, wherever it is done
                self._known[key] = worth = self._worth_there(state, step, refusal=refusal)
                if worth > least:
                    most, best = worth / (len(way) + 1), (*way, step)
        return None if best is None else self._rated(start, best, refusal=refusal)

    def _worth_there(self, state: State, step: GroundAction, *, refusal: bool) -> float:
        if refusal:
            return self._attempts.refusal_worth_there(state, step)
        return sum(self._attempts.worth_there(one, state, step) for one in _executed(step))

    def _rated(self, start: Start, plan: Way, *, refusal: bool) -> Chosen:
        """A plan with its worth."""
        total, (_, state, history) = 0.0, start
        for number, step in enumerate(plan, 1):
            if refusal and number == len(plan):
                total += self._attempts.refusal_worth(state, step, history)
                break
            total += self._attempts.worth(Prediction(step.name), state, step, history)
            if number == len(plan):
                total += self._attempts.worth(Prediction(step.name, seen=True), state, step, history)
            after = self._predictions.successor(state, step)
            state, history = after, history.then(step, state, after)
        return Chosen(start, plan, total / len(plan))

    def _drawn(
        self, start: Start, length: int, rng: np.random.Generator, *, refusal: bool
    ) -> Iterator[Chosen]:
        """All beginnings of a random plan, each with its worth."""
        plan: Way = ()
        (_, state, history), total, worth = start, 0.0, self._attempts.worth
        while len(plan) < length:
            if refusal and (step := self._refusal(state, history, rng)):
                shown = total + self._attempts.refusal_worth(state, step, history)
                yield Chosen(start, (*plan, step), shown / (len(plan) + 1))
            options = self._predictions.executable(state)
            if not options:
                return
            name = _one_of_each(options, rng).name
            step = self._best(state, history, [step for step in options if step.name == name], rng)
            plan = (*plan, step)
            total += worth(Prediction(name), state, step, history)
            if not refusal:
                shown = total + worth(Prediction(name, seen=True), state, step, history)
                yield Chosen(start, plan, shown / len(plan))
            after = self._predictions.successor(state, step)
            state, history = after, history.then(step, state, after)

    def _best(
        self, state: State, history: History, options: Sequence[GroundAction], rng: np.random.Generator
    ) -> GroundAction:
        drawn = [options[int(number)] for number in rng.permutation(len(options))[:COMPARED]]
        return max(drawn, key=lambda step: self._attempts.worth(Prediction(step.name), state, step, history))

    def _refusal(self, state: State, history: History, rng: np.random.Generator) -> GroundAction | None:
        """A step that is refused there, the last one again among them; None if there is none."""
        options = self._predictions.refused(state)
        drawn = [options[int(number)] for number in rng.permutation(len(options))[:COMPARED]]
        if history.last and self._predictions.is_refused(state, history.last):
            drawn.append(history.last)
        worth = self._attempts.refusal_worth
        return max(drawn, key=lambda step: worth(state, step, history), default=None)


def _executed(step: GroundAction) -> list[Prediction]:
    """What is predicted of the last step of a plan, if it is executed."""
    return [Prediction(step.name, seen=seen) for seen in (False, True)]


def _one_of_each(options: Sequence[GroundAction], rng: np.random.Generator) -> GroundAction:
    """One of the steps: every action is as probable as any other."""
    names = list(dict.fromkeys(step.name for step in options))
    name = names[int(rng.integers(len(names)))]
    same = [step for step in options if step.name == name]
    return same[int(rng.integers(len(same)))]

"""Cross-examination before a model counts as complete: a decorator around any policy.

That a model is complete is a proof under an assumption: the agent is a deterministic STRIPS agent in this vocabulary,
and rightly seen. So once the policy stops with its proof, the model predicts and the agent answers. A wrong prediction
ends the interrogation: the agent contradicts what is proven of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Ask, Move, Policy, Stop, Walk
from aam_vision.interrogation.examination.coverage import (
    Attempts,
    History,
    Prediction,
    beginnings,
    some,
    unlike,
)
from aam_vision.interrogation.examination.findings import ENOUGH
from aam_vision.interrogation.examination.lasting import Lasting
from aam_vision.interrogation.examination.predictions import Predictions, Way, progress, untold
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.support.unchanging import Kept

SHARE = 4
"""The interrogation's steps for each step of the examination, which is then a fifth of all."""
LEAST = ENOUGH + 1
"""Steps of the examination at least, unless fewer are wanted: as many as the bound takes, and one more."""
LONGEST = 8
"""Steps of a plan at most. Histories grow from plan to plan; where every question makes its own state, the first plan
takes two thirds of all steps instead."""
WALKED = 6
"""The examination's steps for each step in which the agent acts on its own, as far as the access has walks.

The agent then does what it can do; the model may hold that to be impossible.
"""
ONE_EPISODE, OF_SHORT_ONES = 2, 4
"""What part of the examination is left when plans begin elsewhere, too; before, one episode goes on. The second number is
for agents that only their initial situations are returned to: all other histories are short there, and what runs out after many
steps shows only in a long one."""
EXPECTED, IN_MADE_STATES = 1.5, 2.0
"""The interrogation's steps that are reckoned with for each step of its walks, before it is over, the second number where states
can be made. In the packaged domains it has 1.1 to 2 times as many. Fewer would make histories shorter that are begun then."""
LONG = "examine in one history"
"""Why the plans of that history are asked."""
MOST_BEGUN = 2
"""Moves of one history where it is one plan: it is begun once more if it turns out to be too short."""
NOT_YET = Stop(True, "the policy has not stopped yet")
"""Stands for the policy's stop in moves that are made before it."""
ELSEWHERE = 3
"""Situations in which a plan may begin, beside the one where the last plan ended."""
AT_ONCE = 20
"""Further ones, if the next step shows much that is new there: what a problem seldom comes to is met again there."""
MADE = 6
"""States that are made for the next step, where any can be: unlike those that the problems come to."""
IN_VAIN = 10
"""Situations in which a plan is looked for at most, where there is none in those."""


@dataclass
class _Memory:
    """What was worked out from the evidence as long as nothing was learned; it saves time and decides nothing."""

    evidence: Evidence
    version: int
    attempts: Attempts
    choice: Choice


@dataclass
class Examining:
    """The moves of a policy; once it stops with a proof, those of the examination.

    ``steps``: how many are examined, also where it stops without one; None for a quarter of those that the interrogation took, and
    ``LEAST`` at least, where it stops with one.
    """

    policy: Policy
    access: Access
    steps: int | None = None
    several: bool = False
    """Whether several copies of the agent are asked at a time: then one of them is asked for one history, and no other
    plan begins where one has ended."""
    lasting: Lasting | None = None
    """Its last steps, unless it is too short for a claim, or several copies are asked; None if no mistake can last."""
    _memory: _Memory | None = field(default=None, init=False, repr=False, compare=False)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, a step of the examination, or in the end the policy's stop."""
        stop = _stopped(evidence) or self.policy.next(evidence, rng)
        if not isinstance(stop, Stop) or not self._is_examined(evidence, stop):
            return stop
        wanted = max(LEAST, _taken(evidence) // SHARE) if self.steps is None else self.steps
        if self.several:
            return self._of_several(evidence, stop, wanted, rng) or stop
        left = wanted - progress(evidence).steps
        move = self._examination(evidence, stop, wanted, left, rng) if left > 0 else None
        if move is None and self.lasting is not None and wanted >= ENOUGH and stop.complete:
            here = [] if self.access.constructs else [evidence.current]
            nodes = some(self._beginnings(evidence), ELSEWHERE, rng) if self.access.restarts else []
            move = self.lasting.next(
                evidence,
                [*here, *nodes],
                stop,
                rng,
                lambda node, steps: self._long(evidence, node, steps, rng),
            )
        return move or stop

    def _is_examined(self, evidence: Evidence, stop: Stop) -> bool:
        """Whether what was learned is examined: what is proven, and what is not if so many steps are asked for.

        Where questions stay open that nothing can answer, the examination says how far the rest can be trusted.
        """
        return stop.complete or bool(self.steps and not stop.cut and not evidence.supposes)

    def early(self, evidence: Evidence, rng: np.random.Generator) -> Ask | Walk | None:
        """What can be examined before the policy stops: the walk, and one history of steps that are predicted already.

        Whatever is learned afterwards, these predictions stay the same. The evidence ends with such moves as were made
        already. None if all were, or nothing is predicted.
        """
        if not self.several:
            return None
        wanted = self.steps
        if wanted is None:
            walked = [exchange.move for exchange in evidence.exchanges if isinstance(exchange.move, Walk)]
            steps = sum(walk.steps for walk in walked if not walk.examines)
            wanted = max(
                LEAST, int(steps * (IN_MADE_STATES if self.access.constructs else EXPECTED)) // SHARE
            )
        return self._begun(evidence, NOT_YET, wanted, rng)

    def _of_several(
        self, evidence: Evidence, stop: Stop, wanted: int, rng: np.random.Generator
    ) -> Ask | Walk | None:
        """The walk and the history, then short plans that begin elsewhere; None once all is examined."""
        if begun := self._begun(evidence, stop, wanted, rng):
            return begun
        done = _exchanges(evidence)
        if (last := done[-1:]) and isinstance(last[0], Ask) and last[0].plan:
            return _look(evidence, stop)
        short = sum(len(move.plan) for move in done if isinstance(move, Ask) and not _is_long(move))
        left = max(
            wanted - sum(len(move.plan) if isinstance(move, Ask) else move.steps for move in done),
            wanted - wanted // WALKED - self._history(wanted) - short,
        )
        if left <= 0 and not evidence.supposes and untold(evidence) <= wanted:  # some could not be read
            left = min(wanted, ENOUGH) - progress(evidence).steps
        if left <= 0:
            return None
        memory, longest = self._worked_out(evidence), min(left, LONGEST)
        starts = [_start(evidence, memory, node) for node in some(self._beginnings(evidence), ELSEWHERE, rng)]
        more = self._more(evidence, memory, rng)
        chosen = memory.choice.plan(starts, longest, rng, more)
        chosen = chosen or self._elsewhere(evidence, memory, longest, rng)
        return None if chosen is None else _asked(evidence, chosen, stop)

    def _begun(
        self, evidence: Evidence, stop: Stop, wanted: int, rng: np.random.Generator
    ) -> Ask | Walk | None:
        """The walk, or the next plan of the history; None if both are long enough, or can go on no longer."""
        done = _exchanges(evidence)
        if not any(isinstance(move, Walk) for move in done) and wanted >= WALKED:
            start = some(evidence.initial, 1, rng)[0]
            return Walk(start, wanted // WALKED, "examine", stopped=stop)
        history = [move for move in done if isinstance(move, Ask) and _is_long(move)]
        if history and history[-1].plan and history[-1] is done[-1]:
            return replace(_look(evidence, stop), why=LONG)
        left = self._history(wanted) - sum(len(move.plan) for move in history)
        if left <= 0:
            return None
        memory = self._worked_out(evidence)
        if self.access.constructs:
            if len(history) > MOST_BEGUN:
                return None
            begins = _start(evidence, memory, some(evidence.initial, 1, rng)[0])
            chosen = memory.choice.long(begins, self._history(wanted), LONGEST, rng)
        elif history and history[-1] is not done[-1]:
            return None
        else:
            node = evidence.current if history else self._deepest(evidence, memory, rng)
            begins = _start(evidence, memory, node)
            chosen = memory.choice.plan([begins], min(left, LONGEST), rng)
        if chosen is None:
            return None
        goes_on = bool(history) and not self.access.constructs
        return replace(_asked(evidence, chosen, stop), why=LONG, goes_on=goes_on)

    def _deepest(self, evidence: Evidence, memory: _Memory, rng: np.random.Generator) -> Node:
        """Where most steps were made before, so that what counts them shows soonest."""
        nodes = self._beginnings(evidence)
        return max(
            some(nodes, len(nodes), rng), key=lambda node: _start(evidence, memory, node).history.steps
        )

    def _history(self, wanted: int) -> int:
        """The steps of the one long history."""
        if self.access.constructs:
            return min(wanted, max(1, (wanted - wanted // WALKED) * 2 // 3))
        return wanted - wanted // self._episodes

    @property
    def _episodes(self) -> int:
        return OF_SHORT_ONES if self.access.episodic else ONE_EPISODE

    def _examination(
        self, evidence: Evidence, stop: Stop, wanted: int, left: int, rng: np.random.Generator
    ) -> Move | None:
        """The next step of the examination; None if nothing can be predicted."""
        done = _exchanges(evidence)
        if untold(evidence) > wanted:
            return None
        if done and isinstance(done[-1], Ask) and done[-1].plan:
            return Ask(evidence.current, (), "look again", stopped=stop, examines=True)
        if not done and self.access.restarts and wanted >= WALKED:
            deepest = self._deepest(evidence, self._worked_out(evidence), rng)
            return Walk(deepest, wanted // WALKED, "examine", stopped=stop)
        memory = self._worked_out(evidence)
        late = left <= wanted // self._episodes or self.access.constructs
        starts = self._starts(evidence, memory, rng, late=late)
        chosen: Chosen | None
        if self.access.constructs and not any(isinstance(move, Ask) for move in done):
            start = _start(evidence, memory, some(evidence.initial, 1, rng)[0])
            chosen = memory.choice.long(start, max(1, left * 2 // 3), min(left, LONGEST), rng)
        else:
            more = self._more(evidence, memory, rng) if late else []
            chosen = memory.choice.plan(starts, min(left, LONGEST), rng, more)
        if chosen is None:
            chosen = self._elsewhere(evidence, memory, min(left, LONGEST), rng)
        if chosen is None:
            return None
        return _asked(evidence, chosen, stop)

    def _starts(
        self, evidence: Evidence, memory: _Memory, rng: np.random.Generator, *, late: bool
    ) -> list[Start]:
        """Where the next plan may begin: in the first half of the examination where the last one ended, unless a problem was neglected."""
        if self.access.restarts and not self.access.constructs:
            neglected = evidence.neglected or (
                evidence.hardly_tried if late and self.access.snapshots else None
            )
            if neglected is not None:
                return [_start(evidence, memory, neglected)]
        nodes = [] if self.access.constructs else [evidence.current]
        if self.access.returns and nodes and memory.attempts.history(evidence.departure(nodes[0])).refused:
            late = False  # what a refused step did shows only in what comes after it
        if self.access.restarts and late:
            nodes += some(self._beginnings(evidence), ELSEWHERE, rng)
        return [_start(evidence, memory, node) for node in nodes]

    def _more(self, evidence: Evidence, memory: _Memory, rng: np.random.Generator) -> list[Start]:
        """Where a plan of one step may begin; it is as long as one that goes on where the last one ended."""
        if not self.access.returns:
            return []
        nodes = some(self._beginnings(evidence), AT_ONCE, rng)
        found = [_start(evidence, memory, node) for node in nodes]
        if self.access.constructs:
            vocabulary = evidence.hypotheses.vocabulary
            made = [unlike(vocabulary, node.state, rng) for node in nodes[:MADE]]
            found += [Start(None, state, History()) for state in made]
        return found

    def _elsewhere(
        self, evidence: Evidence, memory: _Memory, longest: int, rng: np.random.Generator
    ) -> Chosen | None:
        """A plan that begins where one can begin anew, if something is predicted there."""
        if not self.access.restarts:
            return None
        for node in some(self._beginnings(evidence), IN_VAIN, rng):
            if chosen := memory.choice.plan([_start(evidence, memory, node)], longest, rng):
                return chosen
        return None

    def _long(self, evidence: Evidence, node: Node, steps: int, rng: np.random.Generator) -> Way:
        """A plan of about so many executed steps; empty if there is none."""
        memory = self._worked_out(evidence)
        chosen = memory.choice.long(_start(evidence, memory, node), steps, LONGEST, rng)
        return chosen.plan if chosen else ()

    def _worked_out(self, evidence: Evidence) -> _Memory:
        version, memory = evidence.hypotheses.version, self._memory
        if memory is None or memory.evidence is not evidence or memory.version != version:
            attempts = Attempts(evidence, self.access)
            memory = self._memory = _Memory(
                evidence, version, attempts, Choice(attempts, Predictions(evidence, attempts.indices))
            )
        memory.attempts.take_in()
        return memory

    def _beginnings(self, evidence: Evidence) -> list[Node]:
        return beginnings(evidence, self.access, several=self.several)


def _look(evidence: Evidence, stop: Stop) -> Ask:
    """A look at where the last plan has ended."""
    return Ask(evidence.current, (), "look again", stopped=stop, examines=True, goes_on=True)


def _asked(evidence: Evidence, chosen: Chosen, stop: Stop) -> Ask:
    node, state = chosen.start.node, chosen.start.state
    begins = evidence.situation(Situation(state, state)) if node is None else node
    return Ask(begins, chosen.plan, "examine", stopped=stop, examines=True)


def _is_long(move: Ask) -> bool:
    """Whether it belongs to the one long history."""
    return move.why == LONG


def _start(evidence: Evidence, memory: _Memory, node: Node) -> Start:
    return Start(node, node.state, memory.attempts.history(evidence.departure(node)))


def _stopped(evidence: Evidence) -> Stop | None:
    """How the policy has stopped, if the examination has begun and told nothing new."""
    last = evidence.exchanges[-1] if evidence.exchanges else None
    if last is None or last.move is None or not last.move.examines or last.told:
        return None
    return last.move.stopped


def _exchanges(evidence: Evidence) -> list[Ask | Walk]:
    """The moves of the examination so far."""
    found: list[Ask | Walk] = []
    for exchange in reversed(evidence.exchanges):
        told = exchange.told and not evidence.supposes
        if exchange.move is None or not exchange.move.examines or told:
            break
        found.append(exchange.move)
    return found[::-1]


def _taken(evidence: Evidence) -> int:
    """The steps of the interrogation itself."""
    return sum(
        len(exchange.entry.actions)
        for exchange in evidence.exchanges
        if exchange.move is None or not exchange.move.examines
    )


# The choice of what is predicted next: plans that try predictions under circumstances that are new (``coverage``).
#
# Some plans are drawn at random, with every action as probable as any other; some lead on the shortest way to a step nearby that
# shows much. The plan that shows most for each of its steps is asked.


DRAWN = 8
"""Plans that are drawn at random, from all states together where one may begin."""
COMPARED = 3
"""Steps of one action that are compared at every step of them."""
REFUSED = 0.3
"""Share of the plans that end in a refusal."""
RARE = 0.75
"""Share of the parts of a long plan that execute the action that was executed least in it."""
DEAD_ENDS = 100
"""States from which no further step is found, after which a long plan is as long as it was at its longest."""
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
        self._known = Kept[tuple[State, GroundAction, bool], float]()
        """Worths that were worked out some time: they never grow."""

    def plan(
        self, starts: Sequence[Start], longest: int, rng: np.random.Generator, more: Sequence[Start] = ()
    ) -> Chosen | None:
        """The best plan found, of at most ``longest`` steps, or of one step in ``more`` starts.

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
        """Where nothing can be executed any more steps are taken back, and the way there is not taken again."""
        plan: Way = ()
        path, furthest, dead_ends = [start], plan, set[State]()
        while len(plan) < length and len(dead_ends) < DEAD_ENDS:
            at, left = path[-1], min(longest, length - len(plan))
            way = self._rare(at, left) if rng.random() < RARE else ()
            starts = self._along(at, way)
            if not way or any(one.state in dead_ends for one in starts):
                options = self._predictions.executable(at.state)
                if dead_ends:
                    successor = self._predictions.successor
                    options = [one for one in options if successor(at.state, one) not in dead_ends]
                way = (_one_of_each(options, rng),) if options else ()
                starts = self._along(at, way)
            if way:
                plan, path = (*plan, *way), [*path, *starts]
                continue
            furthest = max(furthest, plan, key=len)
            dead_ends.add(at.state)
            if not plan:
                break
            plan, path = plan[:-1], path[:-1]
        return max(furthest, plan, key=len)

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

    def _along(self, start: Start, way: Way) -> list[Start]:
        """Where each step of a way of executed steps leads."""
        node, state, history = start
        found = []
        for step in way:
            after = self._predictions.successor(state, step)
            state, history = after, history.then(step, state, after)
            found.append(Start(node, state, history))
        return found

    def _rare(self, start: Start, longest: int) -> Way:
        """The shortest way to execute the action that was executed least in the plan's history."""
        best: tuple[int, Way] | None = None
        least = min((start.history.uses.get(name, 0) for name in self._predictions.names), default=0)
        for way, state in self._predictions.surroundings(start.state, SEARCHED, longest - 1):
            for step in self._predictions.executable(state):
                uses = start.history.uses.get(step.name, 0)
                if best is None or uses < best[0]:
                    best = uses, (*way, step)
                if best[0] == least:
                    return best[1]  # nothing was executed less
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
                total += self._refusal_worth(state, step, history, number > 1)
                break
            total += self._attempts.worth(Prediction(step.name), state, step, history)
            if number == len(plan):
                total += self._attempts.worth(Prediction(step.name, seen=True), state, step, history)
            after = self._predictions.successor(state, step)
            state, history = after, history.then(step, state, after)
        return Chosen(start, plan, total / len(plan))

    def _refusal_worth(self, state: State, step: GroundAction, history: History, after: bool) -> float:
        """``after``: whether a step is executed before it, so that the situation after it is another one."""
        worth = self._attempts.refusal_worth(state, step, history)
        return worth + (self._attempts.aftermath_worth(step, history) if after else 0.0)

    def _drawn(
        self, start: Start, length: int, rng: np.random.Generator, *, refusal: bool
    ) -> Iterator[Chosen]:
        """All beginnings of a random plan, each with its worth."""
        plan: Way = ()
        (_, state, history), total, worth = start, 0.0, self._attempts.worth
        while len(plan) < length:
            if refusal and (step := self._refusal(state, history, rng)):
                shown = total + self._refusal_worth(state, step, history, bool(plan))
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

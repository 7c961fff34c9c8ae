"""Where a plan of the examination may begin: in situations of the interrogation, or in states made for it.

Under which circumstances a prediction was tried: those that no model of the class gives a part in it.

What a step comes to follows from the atoms of its own arguments, if the agent is a STRIPS agent; all else about the
situation and its history must not matter. A fault is something that matters nevertheless. So each prediction is tried
where such a circumstance is present and where it is absent, and where a number is the least and the greatest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.query import Access, Situation
from aam_vision.model.strips import Atom, GroundAction, State, Vocabulary
from aam_vision.planning.joins import FactIndex, Row, StateIndices
from aam_vision.support.unchanging import Kept

MOST_CHANGED = 1000
"""Atoms of one predicate, at most, of which some are changed at once."""
OTHER = "*"
"""In an atom: an object that is no argument of the step."""
MOST_STEPS = 64
"""Steps of a history from which on longer ones count as equal."""
MOST_USES = 10
"""The same of the executed steps of one action."""
FIRST = 6.0
"""The worth of trying a prediction for the first time; the n-th time is worth an n-th of it, whatever is new."""
WEIGHTS = {
    "atom": 1.0,
    "own": 1.0,
    "count": 2.0,
    "argument": 0.5,
    "after": 0.7,
    "just": 1.0,
    "again": 0.5,
    "refused": 0.7,
    "past": 0.7,
    "problem": 2.0,
}
"""The worth of a new circumstance of each kind; of several, the worth grows with the square root of their number."""

Name = tuple[Hashable, ...]
"""Of a circumstance: its kind, and what tells it from others of that kind."""


def beginnings(evidence: Evidence, access: Access, *, several: bool) -> list[Node]:
    """The situations in which the access lets a query begin anew.

    ``several``: whether several copies of the agent are asked at a time.
    """
    if several:
        return [*evidence.initial, *_ends(evidence)]
    return evidence.initial if access.episodic else [*evidence.initial, *evidence.visited]


def _ends(evidence: Evidence) -> list[Node]:
    """Where steps have ended so far; not what was only written to be asked about, of which no answer tells."""
    found: dict[int, Node] = {}
    for exchange in evidence.exchanges:
        entry = exchange.entry
        ends = [entry.response.final] if isinstance(entry, Asked) else [step.after for step in entry.steps]
        for node in map(evidence.situation, ends):
            if node.situation is not None:
                found.setdefault(node.number, node)
    return list(found.values())


def some(nodes: list[Node], count: int, rng: np.random.Generator) -> list[Node]:
    """So many of them at random, or all."""
    return [nodes[int(number)] for number in rng.permutation(len(nodes))[:count]]


def unlike(vocabulary: Vocabulary, state: State, rng: np.random.Generator) -> State:
    """The state with all atoms of one predicate false, or some of them changed: seldom does a problem come to that.

    The outcome of a step must not depend on them, as far as its arguments do not name their objects.
    """
    if not vocabulary.predicates:
        return state
    predicate = vocabulary.predicates[int(rng.integers(len(vocabulary.predicates)))]
    kept = frozenset(atom for atom in state.true if atom[0] != predicate.name)
    names = [state.objects.of_type(kind) for kind in predicate.types]
    if kept != state.true and (rng.random() < 0.5 or prod(map(len, names)) > MOST_CHANGED):
        return replace(state, true=kept)
    rows = [row for row in product(*names) if len(set(row)) == len(row)]
    if not rows or len(rows) > MOST_CHANGED:
        return state
    changed = rng.permutation(len(rows))[: int(rng.integers(1, len(rows) + 1))]
    return replace(state, true=state.true ^ {Atom(predicate.name, rows[int(number)]) for number in changed})


class History(NamedTuple):
    """What happened before a step, in its episode."""

    steps: int = 0
    """The executed steps."""
    uses: Mapping[str, int] = {}
    """How many of them were of each action."""
    last: GroundAction | None = None
    """The last one."""
    changed: frozenset[Atom] = frozenset()
    """The atoms that the last one changed."""
    refused: str = ""
    """The action of the last step that was refused since."""
    ever_refused: frozenset[str] = frozenset()
    """The actions of which a step was refused at any time."""
    problem: int | None = None
    """The number of the problem in which it began; None where states are made."""

    def then(self, step: GroundAction, before: State, after: State) -> History:
        """The history after one more executed step."""
        uses = {**self.uses, step.name: self.uses.get(step.name, 0) + 1}
        changed = before.true ^ after.true
        return History(self.steps + 1, uses, step, changed, "", self.ever_refused, self.problem)

    def then_refused(self, step: GroundAction) -> History:
        """The history after one more refused step."""
        return self._replace(refused=step.name, ever_refused=self.ever_refused | {step.name})


class Circumstances(NamedTuple):
    """What is the case where a step is attempted, beside the atoms that its outcome follows from."""

    present: int
    """A bit for each name of what is present (``Names``)."""
    kind: str
    """The kind of the numbers."""
    numbers: tuple[int, ...]


class Names:
    """The circumstances that were met so far; each has a bit, so that many of them are compared at once."""

    def __init__(self, actions: Sequence[str] = ()) -> None:
        """``actions``: the names of all."""
        self._actions = actions
        self._bits = Kept[Name, int]()
        self.of_kind: dict[str, int] = {}
        """The bits of all circumstances of each kind."""
        self._atoms = Kept[tuple[Row, str], tuple[list[Row], int]]()
        """For the arguments of a step and a predicate: the facts where it was met last, and their bits."""
        self._arguments = Kept[Row, int]()

    def bit(self, kind: str, *told: Hashable) -> int:
        """The bit of a circumstance."""
        name = (kind, *told)
        bit = self._bits.get(name)
        if bit is None:
            bit = self._bits[name] = 1 << len(self._bits)
            self.of_kind[kind] = self.of_kind.get(kind, 0) | bit
        return bit

    def of_state(self, action: ActionHypotheses, index: FactIndex, step: GroundAction) -> Circumstances:
        """The true atoms in terms of the arguments, those with other objects or one twice among them, and their number.

        Atoms that the image hides count as false.
        """
        present = self._arguments.get(step.objects)
        if present is None:
            present = 0
            for place, name in enumerate(step.objects):
                present |= self.bit("argument", place, name)
            self._arguments[step.objects] = present
        for predicate, rows in index.rows.items():
            known = self._atoms.get((step.objects, predicate))
            if known is None or known[0] != rows:
                known = rows, self._of_facts(index, predicate, step.objects)
                self._atoms[step.objects, predicate] = known
            present |= known[1]
        rows_of = index.rows.get
        numbers = tuple([len(rows_of(one.name, ())) for one in action.index.vocabulary.predicates])
        return Circumstances(present, "count", numbers)

    def _of_facts(self, index: FactIndex, predicate: str, arguments: Row) -> int:
        places: dict[str, int] = {}
        for place, name in enumerate(arguments):
            places.setdefault(name, place)
        rows = index.rows[predicate]
        arity = len(rows[0]) if rows else 0
        own: set[Row] = set()  # the few that name an argument; all others are alike
        for place in range(arity):
            for name in places:
                own.update(index.matching(predicate, place, name))
        bits = self.bit("atom", predicate, *[OTHER] * arity) if len(own) < len(rows) else 0
        for row in sorted(own):
            bits |= self.bit("atom", predicate, *[places.get(name, OTHER) for name in row])
        return bits

    def of_history(
        self, action: ActionHypotheses, step: GroundAction, history: History, *, again: bool
    ) -> Circumstances:
        """What happened before; ``again``: the step was attempted in an equal state earlier."""
        present = self.bit("after", history.last.name if history.last else "", history.refused)
        present |= self.bit("problem", history.problem)
        if history.changed:
            for bit, atom in action.index.grounded(step.objects):
                if atom in history.changed:
                    present |= self.bit("just", bit)
        for name in sorted(history.ever_refused):
            present |= self.bit("refused", name)
        if again:
            present |= self.bit("again")
        own = history.uses.get(step.name, 0)
        balance = [
            max(-MOST_USES, min(MOST_USES, own - history.uses.get(name, 0)))
            for name in self._actions
            if name != step.name
        ]
        return Circumstances(present, "past", (min(MOST_USES, own), min(MOST_STEPS, history.steps), *balance))


@dataclass
class _Tried:
    """The circumstances under which one prediction was tried."""

    sometimes: int
    always: int
    ranges: list[tuple[int, int]]
    times: int = 1


@dataclass
class Coverage:
    """The predictions that were tried, each with the circumstances. The worth of a step never grows."""

    names: Names
    _tried: dict[Hashable, _Tried] = field(default_factory=dict)

    def add(self, prediction: Hashable, found: Circumstances) -> None:
        """The prediction was tried there."""
        tried = self._tried.get(prediction)
        if tried is None:
            ranges = [(value, value) for value in found.numbers]
            self._tried[prediction] = _Tried(found.present, found.present, ranges)
            return
        tried.times += 1
        tried.sometimes |= found.present
        tried.always &= found.present
        tried.ranges = [
            (min(low, value), max(high, value))
            for (low, high), value in zip(tried.ranges, found.numbers, strict=True)
        ]

    def worth(self, prediction: Hashable, found: Circumstances) -> float:
        """How much there is about these circumstances under which the prediction was not tried."""
        tried = self._tried.get(prediction)
        if tried is None:
            return FIRST
        new = (found.present & ~tried.sometimes) | (tried.always & ~found.present)
        beyond = 0
        for value, (low, high) in zip(found.numbers, tried.ranges, strict=True):
            if not low <= value <= high:
                beyond += 1
        if not new and not beyond:
            return 0.0
        # in a fixed order, so that the sum is the same to the last bit in every process
        total = 0.0
        of_kind = self.names.of_kind
        for kind, weight in WEIGHTS.items():
            count = (new & of_kind.get(kind, 0)).bit_count() if new else 0
            if kind == found.kind:
                count += beyond
            if count:
                total += weight * sqrt(count)
        return min(FIRST, total)

    def was(self, prediction: Hashable, bits: int) -> bool:
        """Whether it was tried where one of these circumstances was present."""
        return prediction in self._tried and bool(self._tried[prediction].sometimes & bits)

    def times(self, prediction: Hashable) -> int:
        """How often it was tried."""
        return self._tried[prediction].times if prediction in self._tried else 0


# All steps that were attempted so far, read as predictions that were tried: in the interrogation and in its examination.
#
# It is worked out from the answers alone, so that an interrogation that was cut short goes on in the same way.


LATE = 0.5
"""The worth of circumstances that are new to the examination, of those that are new altogether."""
BEGINNING = History()


class Prediction(NamedTuple):
    """What is predicted of an action."""

    action: str
    refused: Literals | None = None
    """The literals of which one is required, if it is refused where they are violated; None if it is executed."""
    seen: bool = False
    """Whether the state right after the step is seen."""


class Attempts:
    """The predictions that were tried so far, and the histories of all situations."""

    def __init__(self, evidence: Evidence, access: Access) -> None:
        """Nothing was tried yet, as far as is known; ``take_in`` reads the evidence."""
        self._evidence = evidence
        self.indices = StateIndices()
        self._settable = access.constructs
        self._restored = access.returns
        """Whether a situation is as it was before a step that was refused in it, whatever that did."""
        self._names = names = Names(tuple(evidence.hypotheses.actions))
        self._ever, self._lately = Coverage(names), Coverage(names)
        self._ever_after, self._lately_after = Coverage(names), Coverage(names)
        self._states = Kept[tuple[State, GroundAction], Circumstances]()
        self._attempted: set[tuple[State, GroundAction]] = set()
        self._repeated: Counter[str] = Counter()
        """How often each action was refused once more right after the same step."""
        self._histories = Kept[Hashable, History]()
        begun = dict.fromkeys(node.state.objects for node in evidence.initial)
        self._objects = {objects: number for number, objects in enumerate(begun)}
        """Those of the problems, numbered."""
        self._taken_in = 0

    def take_in(self) -> None:
        """All exchanges that are new."""
        for exchange in self._evidence.exchanges[self._taken_in :]:
            examines = exchange.move is not None and exchange.move.examines
            for prediction, state, step, history in self._tried(exchange.entry):
                there, before = self._state(state, step), self._history(state, step, history)
                self._ever.add(prediction, there)
                self._ever_after.add(prediction, before)
                if examines:
                    self._lately.add(prediction, there)
                    self._lately_after.add(prediction, before)
                self._attempted.add((state, step))
        self._taken_in = len(self._evidence.exchanges)

    def history(self, situation: Situation) -> History:
        """What happened before a situation in its episode, as far as it was followed."""
        if self._settable:
            return BEGINNING
        known = self._histories.get(situation.handle)
        return known or BEGINNING._replace(problem=self._evidence.problem(situation))

    def worth_there(self, prediction: Prediction, state: State, step: GroundAction) -> float:
        """How much is new about the state in which a prediction is tried; it never grows."""
        there, often = self._state(state, step), self._worth_of_another(prediction)
        return often + self._ever.worth(prediction, there) + LATE * self._lately.worth(prediction, there)

    def most_worth_there(self, prediction: Prediction) -> float:
        """The most that ``worth_there`` may be in any state."""
        return self._worth_of_another(prediction) + (1 + LATE) * FIRST

    def _worth_of_another(self, prediction: Prediction) -> float:
        """The worth of one more time, whatever is new about it."""
        return FIRST / (1 + self._ever.times(prediction)) + FIRST / (1 + self._lately.times(prediction))

    def worth(self, prediction: Prediction, state: State, step: GroundAction, history: History) -> float:
        """How much is new about the state and the history."""
        before = self._history(state, step, history)
        new = self._ever_after.worth(prediction, before) + LATE * self._lately_after.worth(prediction, before)
        return self.worth_there(prediction, state, step) + new

    def refusal_worth_there(self, state: State, step: GroundAction) -> float:
        """``worth_there`` of a refused step: the less, the more reasons there are for the refusal."""
        why = reasons(self._evidence, state, step)
        worths = [self.worth_there(Prediction(step.name, one), state, step) for one in why]
        return sum(worths) / len(why) ** 2 if why else 0.0

    def aftermath_worth(self, step: GroundAction, history: History) -> float:
        """The worth of a refused step for what is attempted after it: of each action that was never executed after such a one."""
        if step.name in history.ever_refused:
            return 0.0
        bit, hypotheses = self._names.bit("refused", step.name), self._evidence.hypotheses
        names = [name for name, action in hypotheses.actions.items() if action.successes]
        untried = [name for name in names if not self._ever_after.was(Prediction(name), bit)]
        return WEIGHTS["refused"] * len(untried)

    def refusal_worth(self, state: State, step: GroundAction, history: History) -> float:
        """``worth`` of a refused step; more, if it was executed just before.

        An agent that goes by what was there before its last step executes it again, however many reasons speak against it.
        """
        why = reasons(self._evidence, state, step)
        worths = [self.worth(Prediction(step.name, one), state, step, history) for one in why]
        again = FIRST / (1 + self._repeated[step.name]) if step == history.last else 0.0
        return again + (sum(worths) / len(why) ** 2 if why else 0.0)

    def _state(self, state: State, step: GroundAction) -> Circumstances:
        key = state, step
        if key not in self._states:
            action = self._evidence.hypotheses[step.name]
            there = self._names.of_state(action, self.indices.of(state), step)
            values = action.index.values(state, step.objects)[0]
            own = self._names.bit("own", values)
            if len(self._objects) > 1:
                # an effect shows only where it is not true already: so with each combination
                own |= self._names.bit("problem", self._objects.get(state.objects), values)
            self._states[key] = there._replace(present=there.present | own)
        return self._states[key]

    def _history(self, state: State, step: GroundAction, history: History) -> Circumstances:
        again = (state, step) in self._attempted
        return self._names.of_history(self._evidence.hypotheses[step.name], step, history, again=again)

    def _tried(self, entry: Entry) -> Iterator[tuple[Prediction, State, GroundAction, History]]:
        """The predictions that an answer tries, in their order; the histories after it are kept."""
        if isinstance(entry, Asked):
            yield from self._asked(entry)
            return
        for before, step, after in entry.steps:
            history = self.history(before)
            for seen in (False, True):
                yield Prediction(step.name, seen=seen), before.state, step, history
            self._histories[after.handle] = history.then(step, before.state, after.state)

    def _asked(self, entry: Asked) -> Iterator[tuple[Prediction, State, GroundAction, History]]:
        state, history = entry.query.initial.state, self.history(entry.query.initial)
        executed, final = entry.response.executed, entry.response.final
        for number, step in enumerate(entry.query.plan[:executed], 1):
            yield Prediction(step.name), state, step, history
            if number == executed:
                yield Prediction(step.name, seen=True), state, step, history
            after = final.state if number == executed else self._evidence.predict(state, step)
            history = history.then(step, state, after)
            state = after
        if executed < len(entry.query.plan):
            step = entry.query.plan[executed]
            self._repeated[step.name] += step == history.last
            for reason in reasons(self._evidence, state, step):
                yield Prediction(step.name, reason), state, step, history
            history = history.then_refused(step)
        if executed or not self._restored:
            self._histories[final.handle] = history


def reasons(evidence: Evidence, state: State, step: GroundAction) -> list[Literals]:
    """Why a step is refused: all sets of literals that are violated and of which one is required."""
    action = evidence.hypotheses[step.name]
    violated = action.certainly_violated(*action.index.values(state, step.objects))
    return [one for one in (*action.proven.singles(), *action.clauses) if one.within(violated)]

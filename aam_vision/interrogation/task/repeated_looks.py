"""Looks at one situation after the other, each repeated until every atom is certain.

Where an agent stands it can be looked at again, without a step. The rates of error decide how often is enough. They are estimated from
the first situations, each of which is looked at several times, and get better with every other one.

Where there is chance, too (``LookingAgent``): noise flips an atom at one look and not at the next; a slip changes the situation, and
every look shows it. So looks at one situation tell the two apart, before anything is learned from it. What is read wrongly at every
look is beyond that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import log
from typing import Final, NamedTuple

import numpy as np

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.encoding import Malformed
from aam_vision.interrogation.evidence.moves import Asked, Entry, Walked
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.statistics.counts import Counts, Misreading, atom_counts, misreadings
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import Atom, Objects, State, Vocabulary
from aam_vision.support.errors import UnusableInput

ANSWERS = 1000
"""Answers among which the probability of a mistake is shared out that the confidence leaves: more of them make each answer
surer, and cost looks and repeated steps."""
FIRST_LOOKS = 12
"""Looks at every initial situation, before anything is known of the rates of error: more of them tell the rates better."""
FIRST_VALUES = 400
"""Values of atoms to see in these looks at least, so that small problems are looked at more often."""
MOST_LOOKS = 300
"""Looks at one situation, at most: what is not certain then stays unknown."""
ROUNDS = 10
"""Improvements of the first rates and the first states in turn: they hardly change any more after that."""

Look = Callable[[Situation], Situation]
"""One more look at a situation; the answer is where the next look begins."""
CONFIDENCE: Final = 0.999
"""How probable it is that all that counts as certain is right, unless the user says otherwise."""


class RepeatedLooks:
    """Tells what is certain in a situation.

    Args:
        vocabulary: of the agent.
        confidence: how probable it is at least that all that is told is right, for ``ANSWERS`` situations.
        look: looks at a situation again. What it shows must not depend on what it showed before.
    """

    def __init__(self, vocabulary: Vocabulary, confidence: float, look: Look) -> None:
        self.allowed_error = (1 - confidence) / ANSWERS
        """Probability of a mistake that one answer may have."""
        self.confusion: dict[str, Counts] = {
            predicate.name: np.zeros((2, 2), dtype=np.int64) for predicate in vocabulary.predicates
        }
        """By predicate, what was seen of atoms whose value is certain by now: true value, seen value."""
        self.misreadings: dict[str, Misreading] = misreadings(self.confusion)
        self.certain: dict[Hashable, Situation] = {}
        """By handle, the situations that are not looked at any more."""
        self._vocabulary = vocabulary
        self._look = look
        self._known_atom_counts: dict[Objects, dict[str, int]] = {}

    @property
    def erred(self) -> bool:
        """Whether anything was misread."""
        return any(own[0, 1] or own[1, 0] for own in self.confusion.values())

    def begin(self, starts: Sequence[Situation]) -> list[Situation]:
        """What is certain in the first situations; the rates of error are estimated from them first."""
        seen = []
        for start in starts:
            atoms = self._atom_counts(start.state.objects)
            test = SequentialTest(start.state.objects, atoms)
            enough = max(FIRST_LOOKS, min(MOST_LOOKS, FIRST_VALUES // max(1, sum(atoms.values()))))
            at = start
            for _ in range(enough):
                at = self._look(at)
                test.add(at.state)
            seen.append((at, test))
        for _ in range(ROUNDS):
            self.misreadings = misreadings(estimate([test for _, test in seen], self.misreadings))
        return [self._kept(self._settled(at, test)) for at, test in seen]

    def settled(self, at: Situation) -> Situation:
        """What is certain in a situation that was looked at once, as it was told first; other atoms are unknown."""
        if (known := self.certain.get(at.handle)) is not None:
            return known
        test = SequentialTest(at.state.objects, self._atom_counts(at.state.objects))
        test.add(at.state)
        return self._kept(self._settled(at, test))

    def _kept(self, seen: Situation) -> Situation:
        return self.certain.setdefault(seen.handle, seen)

    def _settled(self, at: Situation, test: SequentialTest) -> Situation:
        atoms = self._atom_counts(at.state.objects)
        threshold = log(max(1, sum(atoms.values())) / self.allowed_error)
        while not (reading := test.read(self.misreadings, threshold)).certain:
            if test.looks >= MOST_LOOKS:
                break
            at = self._look(at)
            test.add(at.state)
        for name, counts in test.confusion(reading.state).items():
            self.confusion[name] += counts
        self.misreadings = misreadings(self.confusion)
        state, doubtful = reading.state, reading.doubtful
        return Situation(at.handle, State(state.true - doubtful, state.objects, state.unknown | doubtful))

    def _atom_counts(self, objects: Objects) -> dict[str, int]:
        if objects not in self._known_atom_counts:
            self._known_atom_counts[objects] = dict(atom_counts(self._vocabulary, objects))
        return self._known_atom_counts[objects]


# The state of a situation when every look at it may misread every atom: a sequential test, atom by atom.
#
# Looks err independently of each other. So each adds to the log-odds of an atom according to the error rates; once
# these exceed a threshold, the more probable value is right with the corresponding probability.

MAX_RATE = 0.45
"""The highest error rate under which looks are weighed: at one half they would carry no information."""


class TestedState(NamedTuple):
    """The result of several looks at one situation."""

    state: State
    """The more probable value of every atom; only atoms that were never seen are unknown."""
    doubtful: frozenset[Atom]
    """Atoms whose log-odds do not reach the threshold."""
    certain: bool
    """Whether the log-odds of all atoms reach it."""


class SequentialTest:
    """Several looks at one situation.

    ``sizes``: how many atoms every predicate has with these objects.
    """

    def __init__(self, objects: Objects, sizes: Mapping[str, int]) -> None:
        self.looks = 0
        self._objects = objects
        self._sizes = sizes
        self._true: Counter[Atom] = Counter()
        self._hidden: Counter[Atom] = Counter()

    def add(self, state: State) -> None:
        """Add the state seen in one look."""
        self.looks += 1
        self._true.update(state.true)
        self._hidden.update(state.unknown)

    def read(self, misreadings: Mapping[str, Misreading], threshold: float) -> TestedState:
        """The result under these error rates."""
        true, unknown, doubtful = [], [], []
        weights = {name: _weights(misreading) for name, misreading in misreadings.items()}
        for atom in {**self._true, **self._hidden}:
            seen = self.looks - self._hidden[atom]
            if not seen:
                unknown.append(atom)
                continue
            against, favour = weights[atom.predicate]
            odds = self._true[atom] * favour - (seen - self._true[atom]) * against
            if odds > 0:
                true.append(atom)
            if abs(odds) < threshold:
                doubtful.append(atom)
        never = all(self.looks * weights[name][0] >= threshold for name, size in self._sizes.items() if size)
        state = State(frozenset(true), self._objects, frozenset(unknown))
        return TestedState(state, frozenset(doubtful), never and not doubtful)

    def confusion(self, state: State) -> dict[str, Counts]:
        """The confusion matrices of the looks, by predicate, if this is the true state."""
        counts = {name: np.zeros((2, 2), dtype=np.int64) for name in self._sizes}
        for name, size in self._sizes.items():
            counts[name][0, 0] = size * self.looks
        for atom in {**self._true, **self._hidden}:
            mine, hidden = counts[atom.predicate], self._hidden[atom]
            if len(set(atom.objects)) < len(atom.objects):
                continue  # ``sizes`` does not count it
            mine[0, 0] -= self.looks
            if hidden < self.looks:
                value = int(atom in state.true)
                mine[value] += (self.looks - hidden - self._true[atom], self._true[atom])
        return counts


def estimate(tests: Sequence[SequentialTest], misreadings: Mapping[str, Misreading]) -> dict[str, Counts]:
    """The confusion matrices, by predicate, if every atom has the value that is more probable under these rates."""
    counts = [one.confusion(one.read(misreadings, 0.0).state) for one in tests]
    return {
        name: sum((one[name] for one in counts), np.zeros((2, 2), dtype=np.int64)) for name in misreadings
    }


def _weights(misreading: Misreading) -> tuple[float, float]:
    """The log-odds that one look adds: against an atom seen as false, and for one seen as true."""
    positive, negative = min(misreading.false_positive, MAX_RATE), min(misreading.false_negative, MAX_RATE)
    return float(np.log((1 - positive) / negative)), float(np.log((1 - negative) / positive))


class LookingAgent(AgentDecorator):
    """An agent of which every situation is looked at until each atom is certain, as where there is no chance (``RepeatedLooks``).

    How often that is follows from how much the looks differ. An atom that is not certain after as many as there are at most is
    unknown. Looks are queries with an empty plan, and no steps.

    Args:
        agent: the one that is asked. What it shows at one look must not depend on what it showed at another, and a handle
            must name one situation.
        confidence: how probable it is that the first thousand situations are read rightly.
        whole: whether nothing may be unknown in the first situations.

    Raises:
        UnusableInput: a situation is a state that is asked for (``settable`` access), so there is nothing to look at again.
    """

    def __init__(self, agent: Agent, confidence: float = CONFIDENCE, *, whole: bool = True) -> None:
        super().__init__(agent)
        check_access(agent.access)
        self.looks = 0
        """Looks at situations that were seen before."""
        self._confidence = confidence
        self._whole = whole
        self._reading = RepeatedLooks(agent.vocabulary, confidence, self._look)

    @property
    def situations(self) -> int:
        """The situations that were looked at."""
        return len(self._reading.certain)

    @property
    def misread(self) -> float:
        """The share of the atoms that one look shows wrongly, as far as the looks tell."""
        counts = list(self._reading.confusion.values())
        wrong = sum(int(own[0, 1] + own[1, 0]) for own in counts)
        return wrong / max(1, sum(int(own.sum()) for own in counts))

    @property
    def error(self) -> float:
        """The probability that anything was read wrongly, at most."""
        return min(1.0, self.situations * (1 - self._confidence) / ANSWERS)

    def initial(self) -> Sequence[Situation]:
        """The first situations.

        Raises:
            UnusableInput: looks do not tell what is true there, and that is to be known.
        """
        return self.begin(self.agent.initial())

    def begin(self, starts: Sequence[Situation]) -> Sequence[Situation]:
        """What is certain in situations that the agent can be brought to, or where it stands; how looks err is told from them first.

        Raises:
            UnusableInput: looks do not tell what is true there, and that is to be known.
        """
        seen = self._reading.begin(starts)
        for situation in seen:
            if self._whole and situation.state.unknown:
                raise UnusableInput(
                    f"{self.looks} looks at the first situations do not tell whether {min(map(str, situation.state.unknown))} is "
                    f"true (one look shows about {100 * self.misread:.0f}% of the atoms wrongly), so noise and chance cannot be told apart"
                )
        return seen

    def ask(self, query: Query) -> Response:
        response = self.agent.ask(query)
        return Response(response.executed, self._reading.settled(response.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        """The agent's walk, step by step, for a look is at where the agent stands."""
        here, walked = start, list[WalkStep]()
        while len(walked) < steps and (taken := self.agent.walk(here, 1, rng)):
            walked.append(WalkStep(here, taken[0].action, self._reading.settled(taken[0].after)))
            here = walked[-1].after
        return walked

    def _look(self, at: Situation) -> Situation:
        self.looks += 1
        return self.agent.ask(Query(at, ())).final


def check_access(access: Access) -> None:
    """Refuse the access under which nothing can be looked at again.

    Raises:
        UnusableInput: a situation is a state that is asked for.
    """
    if access.constructs:
        raise UnusableInput(
            "a state that is asked for and was seen wrongly cannot be looked at again; use snapshot, reset or trajectory",
            "access",
            access.value,
        )


def as_read(transcript: Transcript, confidence: float, *, whole: bool = True) -> Transcript:
    """What was certain of the situations of a recorded interrogation in which each was looked at several times.

    The recorded looks are made once more, and are no entries of it any more. What the last question of a run led to that was cut short
    is left out.

    Raises:
        Malformed: the looks are not those that such a run makes.
    """
    recorded = _RecordedAgent(transcript)
    entries: list[Entry] = []
    initial: tuple[Situation, ...] = ()
    try:
        looking = LookingAgent(recorded, confidence, whole=whole)
        initial = tuple(looking.initial())
        while (entry := recorded.upcoming) is not None:
            if isinstance(entry, Asked):
                entries.append(Asked(entry.query, looking.ask(entry.query)))
            else:
                start = entry.steps[0].before if entry.steps else initial[0]
                entries.append(Walked(tuple(looking.walk(start, 1, np.random.default_rng(0)))))
    except _Ended:
        pass
    except UnusableInput as error:
        raise Malformed(str(error)) from None
    return Transcript(
        transcript.vocabulary,
        transcript.headers,
        transcript.access,
        initial,
        tuple(entries),
        transcript.repeated,
    )


class _Ended(Exception):
    """Raised when a run was cut short before its next look."""


class _RecordedAgent:
    """Gives the answers of a transcript once more, in their order."""

    def __init__(self, transcript: Transcript) -> None:
        self.vocabulary = transcript.vocabulary
        self.headers = transcript.headers
        self.access = transcript.access
        self._initial = transcript.initial
        self._entries: Iterator[Entry] = iter(transcript.entries)
        self.upcoming = next(self._entries, None)
        """The next entry; None after the last."""

    def initial(self) -> Sequence[Situation]:
        return self._initial

    def ask(self, query: Query) -> Response:
        entry = self._next()
        if (
            not isinstance(entry, Asked)
            or entry.query.plan != query.plan
            or entry.query.initial.handle != query.initial.handle
        ):
            raise Malformed("a situation was not looked at as often as it would have been")
        return entry.response

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        entry = self._next()
        if not isinstance(entry, Walked) or len(entry.steps) > steps:
            raise Malformed("a walk was not looked at step by step")
        return entry.steps

    def _next(self) -> Entry:
        entry, self.upcoming = self.upcoming, next(self._entries, None)
        if entry is None:
            raise _Ended
        return entry

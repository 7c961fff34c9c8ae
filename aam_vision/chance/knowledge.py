"""What is known of one action: its precondition, its outcomes, how often each came, and what is worth trying next."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from aam_vision.chance.explaining import Change, Explanation, change, explain
from aam_vision.chance.frequency import (
    Difference,
    Frequency,
    Precision,
    Trial,
    difference,
    frequencies,
    single,
)
from aam_vision.chance.intervals import simultaneous, unseen
from aam_vision.errors import InconsistentAgent
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.outcomes import MAX_OUTCOMES, ChanceSchema, Effects, Outcome
from aam_vision.strips import State

_REQUIRED = 0.5, 0.15
"""How probable it is that a positive and a negative literal is required that held in every execution: orders tests only."""
_EXPECTED, _UNEXPECTED = 0.95, 0.01
"""The same where earlier findings say that it was, or that it was not."""
_FIRST = 0.8
"""Worth of trying an action that was never executed, at most; refusals make it less."""
_PATIENCE = 10
"""Refusals of an action that was never executed after which another attempt is worth half."""
_NOVEL = 0.6
"""Worth of seeing a known outcome where it may show another effect."""
_OCCURRENCES = 5.0
"""Expected occurrences of an outcome in one kind of situation after which it is no longer waited for there."""
_REVEALED = 30
"""Trials in a situation that shows all of every outcome after which no outcome is waited for there."""
_UNSEEN = 2
"""Probability of an outcome that is to be excluded, in half widths of the intervals."""
_SHOWING = 0.1
"""Worth of excluding an unseen outcome, times its probability."""
_LEAST = 0.02
"""Worth of a trial that narrows an interval which is not narrow enough, at least."""


class ActionKnowledge:
    """All that was seen of one action, and what follows.

    Masks are those of the action's atoms (``AtomIndex``). States before a step are fully known; of those after it atoms may be unknown.
    """

    def __init__(self, index: AtomIndex, precision: Precision) -> None:
        self.index = index
        self.precondition = ActionHypotheses(index)
        self.executed = 0
        self.refused = 0
        self.example: tuple[State, tuple[str, ...]] | None = None
        """A step that was executed."""
        self.version = 0
        """Grows when the precondition or the outcomes (not their frequencies) change."""
        self.explanation = Explanation()
        self.expected: Literals | None = None
        """What it is expected to require, by earlier findings; orders tests only."""
        self._precision = precision
        self.refusals: dict[int, int] = {}
        """By the atoms that held, how often a step was refused."""
        self._seen: dict[int, dict[int, int]] = {}
        """By the atoms that held before, how often which held after."""
        self._unread: dict[int, int] = {}
        """By the atoms that held before, how often it could not be read which held after."""
        self._course: list[tuple[int, int]] = []
        """Every executed step: the atoms that held before it and after it."""
        self._shown = [[0, 0] for _ in index.atoms]
        """For every atom, the executed steps before which it was false and before which it was true."""
        self._frequencies: tuple[Frequency, ...] | None = None
        self._worth: dict[int, float] = {}
        self._sure: tuple[int, dict[int, bool]] = 0, {}

    # --- learning --------------------------------------------------------------------------------

    def was_refused(self, state: State, objects: tuple[str, ...]) -> None:
        """Learn from a refused step; raises InconsistentAgent if nothing that may be required was missing."""
        held, _ = self.index.values(state, objects)
        self.refused += 1
        self.refusals[held] = self.refusals.get(held, 0) + 1
        self._worth.clear()
        self.version += self.precondition.failed(held, 0)

    def was_executed(self, state: State, objects: tuple[str, ...], after: State) -> None:
        """Learn from an executed step.

        Raises:
            InconsistentAgent: it changed something that its instruction does not name, it was executed where a proven
                precondition did not hold, or it has too many outcomes.
        """
        held, _ = self.index.values(state, objects)
        now, hidden = self.index.values(after, objects)
        own = self.index.facts(held ^ now, objects)
        if other := (state.true ^ after.true) - own - after.unknown:
            raise InconsistentAgent(
                f"{self.index.header.name} changed {min(map(str, other))}, of which its instruction does not name the objects"
            )
        self.version += self.precondition.succeeded(held, 0)
        self._worth.clear()
        if self.index.shared(
            objects
        ):  # one fact stands for several atoms, and it cannot be told which was changed
            return
        self.executed += 1
        self.precondition.successes += 1
        self.example = self.example or (state, objects)
        self._frequencies = None
        if hidden:
            self._unread[held] = self._unread.get(held, 0) + 1
            return
        for number, counts in enumerate(self._shown):
            counts[held >> number & 1] += 1
        self._course.append((held, now))
        afters = self._seen.setdefault(held, {})
        afters[now] = afters.get(now, 0) + 1
        if afters[now] == 1:
            self._explain()

    def _explain(self) -> None:
        changes = [
            change(held, now, self.index.everything) for held, afters in self._seen.items() for now in afters
        ]
        found = explain(changes)
        if len(found.outcomes) > MAX_OUTCOMES:
            raise InconsistentAgent(
                f"{self.index.header.name} has more than {MAX_OUTCOMES} outcomes: what it does depends on something that "
                "the vocabulary does not say"
            )
        self.version += found != self.explanation
        self.explanation = found

    # --- what is known ---------------------------------------------------------------------------

    @property
    def outcomes(self) -> tuple[Change, ...]:
        return self.explanation.outcomes

    @property
    def lost(self) -> Mapping[int, int]:
        """By the atoms that held before, how often it could not be read which held after."""
        return self._unread

    @property
    def seen(self) -> Mapping[int, Mapping[int, int]]:
        """By the atoms that held before an execution, in the order of the first ones, how often which held after."""
        return self._seen

    def after(self, held: int) -> list[int]:
        """For every outcome the atoms that hold after it."""
        return [(held | one.adds) & ~one.deletes for one in self.outcomes]

    @property
    def frequencies(self) -> tuple[Frequency, ...]:
        """Of every outcome; estimates add up to one."""
        if self._frequencies is None:
            self._frequencies = self._counted()
        return self._frequencies

    def telling(self, held: int) -> list[bool]:
        """For every outcome, whether a step there tells it from all others: the trials that its frequency is counted in.

        Where some situations reveal all outcomes, only these do: elsewhere an outcome that lacks an effect of a known one may
        look like it.
        """
        if self.explanation.sure:
            return [self.explanation.revealing(held)] * len(self.outcomes)
        after = self.after(held)
        return [after.count(own) == 1 for own in after]

    def _counted(self) -> tuple[Frequency, ...]:
        size = len(self.outcomes)
        hits, trials, unread = [0] * size, [0] * size, [0] * size
        for held in self._seen | self._unread:
            afters = self._seen.get(held, {})
            made, lost = sum(afters.values()), self._unread.get(held, 0)
            for number, (own, told) in enumerate(zip(self.after(held), self.telling(held), strict=True)):
                if told:
                    trials[number] += made
                    hits[number] += afters.get(own, 0)
                    unread[number] += lost
        return frequencies(hits, trials, unread, self._precision)

    def difference(self) -> Difference | None:
        """Whether how often an outcome comes surely depends on an atom, or on time."""
        if not self.explanation.sure:
            return None
        trials = [
            Trial(held, self.after(held).index(now))
            for held, now in self._course
            if self.explanation.revealing(held)
        ]
        return difference(trials, len(self.outcomes), len(self.index.atoms), self._precision)

    @property
    def uncertainty(self) -> float:
        """Half the width of its widest interval, as far as trials make it narrower; one half before the first one."""
        return max((one.width / 2 for one in self.frequencies), default=0.5)

    @property
    def unread(self) -> int:
        """Executed steps of which it could not be read what came of them."""
        return sum(self._unread.values())

    @property
    def unseen(self) -> float:
        """No outcome that was not seen has a probability above this, at the intervals' confidence.

        Apart from outcomes that only add what always held, or delete what never did: these were not shown once. Each other was
        shown by the trials in which all known outcomes show themselves, or by those before which one of its effects could be
        seen; the fewest of these count. It may have been what came of every trial that could not be read.
        """
        trials = [one.trials for one in self.frequencies]
        trials += [made for made in (self._shown_by(atom, held) for atom, held in self._changes()) if made]
        made, lost, alpha = min(trials, default=0), self.unread, self._precision.alpha
        found = unseen(made, alpha)
        if not lost:
            return found
        return max(found, simultaneous(lost, made + lost, alpha, self._precision.concentration)[1])

    def _changes(self) -> list[tuple[int, int]]:
        """The atoms that an unseen outcome might be the first to change, by number, and their value before that (0 or 1)."""
        proven, known = self.precondition.proven, self.explanation
        never = known.additions | proven.positive, known.deletions | proven.negative
        return [
            (number, held)
            for number in range(len(self.index.atoms))
            for held in (0, 1)
            if not never[held] >> number & 1
        ]

    def _shown_by(self, atom: int, held: int) -> int:
        """The executed steps that would have shown a change of an atom from this value."""
        return self._shown[atom][held]

    def open_additions(self, outcome: Change) -> int:
        """Atoms of which it was not seen whether the outcome adds them, and that may be false before it."""
        known = outcome.adds | outcome.adds_not | outcome.deletes
        return self.index.everything & ~known & ~self.precondition.proven.positive

    def open_deletions(self, outcome: Change) -> int:
        """Atoms of which it was not seen whether the outcome deletes them, and that may be true before it."""
        known = outcome.deletes | outcome.deletes_not | outcome.adds
        return self.index.everything & ~known & ~self.precondition.proven.negative

    def schema(self) -> ChanceSchema:
        """The cautious model, as of an agent without chance: undetermined positive preconditions in, all else out."""
        required, select = self.precondition.cautious, self.index.select
        outcomes = tuple(
            Outcome(found.probability, Effects(select(one.adds), select(one.deletes)))
            for one, found in zip(self.outcomes, self.frequencies, strict=True)
        )
        outcomes = tuple(sorted(outcomes, key=lambda one: -one.probability))
        return ChanceSchema(
            self.index.header,
            select(required.positive),
            select(required.negative),
            outcomes or (Outcome(1.0, Effects()),),
        )

    def aim(self, within: float) -> None:
        """Want intervals of another half width from now on; they are as valid as before."""
        self._precision = self._precision._replace(within=within)
        self._worth.clear()

    # --- what is worth trying --------------------------------------------------------------------

    def certain_to_succeed(self, held: int) -> bool:
        """Whether the step is executed there under all that is possible."""
        version, known = self._sure
        if version != self.version:
            self._sure = self.version, (known := {})
        if held not in known:
            known[held] = not self.precondition.violated(held, 0)
        return known[held]

    def worth(self, held: int) -> float:
        """What a step is worth where these atoms hold: 0 if it tells nothing."""
        if held not in self._worth:
            self._worth[held] = self._weighed(held)
        return self._worth[held]

    def _weighed(self, held: int) -> float:
        precondition = self.precondition
        violated = precondition.violated(held, 0)
        if not violated:
            return self._worth_of_execution(held)
        if precondition.certain_to_fail(violated):
            return 0.0
        if not self.executed:
            missing = violated.positive.bit_count() / max(1, len(self.index.atoms))
            return _FIRST * (1.01 - missing) / (1 + self.refused / _PATIENCE)
        size = violated.size()
        succeeds = self._succeeds(violated)
        return succeeds * (0.7 + 0.3 * size) + (1 - succeeds) * (1 if size == 1 else 0.25 / size)

    def _succeeds(self, violated: Literals) -> float:
        """How probable it is that none of these literals is required."""
        if self.expected is not None:
            known = violated.common(self.expected).size()
            return float((1 - _EXPECTED) ** known * (1 - _UNEXPECTED) ** (violated.size() - known))
        return prod([1 - _REQUIRED[0]] * violated.positive.bit_count()) * prod(
            [1 - _REQUIRED[1]] * violated.negative.bit_count()
        )

    def _worth_of_execution(self, held: int) -> float:
        made = sum(self._seen.get(held, {}).values())
        novel = 0.0
        for one, found in zip(self.outcomes, self.frequencies, strict=True):
            new = self.open_additions(one) & ~held | self.open_deletions(one) & held
            if new and made * found.probability <= _OCCURRENCES:
                novel += _NOVEL * found.probability
        if not self.explanation.sure and made < _REVEALED and self.explanation.revealing(held):
            novel += _NOVEL
        return novel + self._worth_of_frequency(held) + self._worth_of_showing(held)

    def _worth_of_frequency(self, held: int) -> float:
        """What a step there is worth for the intervals."""
        if self.uncertainty <= self._precision.within:
            return 0.0
        alone = [single(one.hits, one.trials, self._precision) for one in self.frequencies]
        missing = max(alone, default=0.5) - self._precision.within
        told = self.telling(held)
        return max(_LEAST, missing) * sum(told) / len(told) if told else missing

    def _worth_of_showing(self, held: int) -> float:
        """What a step there is worth for excluding outcomes that were not seen."""
        made = [self._shown_by(atom, value) for atom, value in self._changes() if held >> atom & 1 == value]
        if self.explanation.revealing(held):
            made += [one.trials for one in self.frequencies]
        if not made:
            return 0.0
        missing = unseen(min(made), self._precision.alpha) - _UNSEEN * self._precision.within
        return max(_LEAST, missing * _SHOWING) if missing > 0 else 0.0

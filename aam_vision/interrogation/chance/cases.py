"""What is known of the outcomes of one action where a condition holds: what they are, how often each came, what is open.

An action without conditional effects has one case, of which the condition is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aam_vision.interrogation.chance.constancy import Difference, Trial, apart, difference, drift
from aam_vision.interrogation.chance.intervals import (
    Frequency,
    Precision,
    frequencies,
    simultaneous,
    single,
    unseen,
)
from aam_vision.interrogation.chance.observations import (
    Change,
    Executed,
    Explanation,
    Observations,
    Setting,
    explained,
)
from aam_vision.interrogation.evidence.transcript import Moment
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.model.strips import MAX_OUTCOMES, Effects, Outcome
from aam_vision.support.errors import InconsistentAgent

_NOVEL = 0.6
"""Worth of seeing a known outcome where it may show another effect."""
AWAITED = 5.0
"""Expected occurrences of an outcome in one kind of situation after which it is no longer waited for there."""
_REVEALED = 30
"""Trials in a situation that shows all of every outcome after which no outcome is waited for there."""
_UNSEEN = 2
"""Probability of an outcome that is to be excluded, in half widths of the intervals."""
_SHOWING = 0.1
"""Worth of excluding an unseen outcome, times its probability."""
_CONTRASTS = 12
"""Trials with an atom true, and with it false, where a known effect can be seen, after which it is enough."""
_CONTRAST = 0.005
"""Worth of such a trial."""
_PURSUING = 0.1
"""The same of a pursuit of what does not hold yet."""
_KINDS = 200
"""Kinds of situations in which an objective that was never achieved is pursued once: it may take any number of facts."""
_SURPRISING = 0.05
"""Expected occurrences of what came in one kind of situation below which it may come of that kind, and not by chance."""
_LEAST = 0.02
"""Worth of a trial that narrows an interval which is not narrow enough, at least."""


_COMMONER = 0.5
"""The same of a trial with the commoner value of an atom that may make a difference, as a share: ten steps lead to the rarer one."""
_DOUBT = 800
"""Trials up to which more are made, at least, where something may make a difference within a case."""
Counts = np.ndarray[tuple[int, ...], np.dtype[np.int_]]


class CaseKnowledge:
    """All that was seen of one action where a condition held, and what follows.

    Masks are those of the action's atoms (``AtomIndex``); states before a step are fully known; of those after it atoms may be unknown.

    ``steps``: those before which it held; later ones are added with ``add``.
    """

    def __init__(
        self, precondition: ActionHypotheses, condition: Literals, steps: Observations, precision: Precision
    ) -> None:
        self.condition = condition
        self.steps = Observations()
        self.explanation = Explanation()
        self._precondition = precondition
        self._index = precondition.index
        self._pursues = bool(self._index.goal) and self._index.goal.opposite().within(condition)
        """Whether these are pursuits of what does not hold yet."""
        self._precision = precision
        self._shown = np.zeros(2 * len(self._index.atoms), dtype=int)
        """For every atom, the executed steps before which it was false, and those before which it was true."""
        self._contrasts: dict[tuple[int, int], Counts] = {}
        """Of the steps before which an atom had the value that a known effect changes, those before which two literals held."""
        self._frequencies: tuple[Frequency, ...] | None = None
        self._widest: float | None = None
        """Half the width of the widest interval that an outcome has by itself; None where that was not worked out of these frequencies."""
        self._least: tuple[int, int] | None = None
        """See ``_shown_least``, of these frequencies."""
        self._never = (-1, -1)
        self._may_change: list[tuple[int, int]] = []
        """What ``_changes`` found last, and of what."""
        self.steps.unread = dict(steps.unread)
        self.difference: Difference | None = None
        """What makes a difference to how often an outcome comes within the case, surely or by doubt, when it was last looked."""
        for step in steps.course:
            self._note(*step)
        if steps.course:
            self._explain()

    # --- learning --------------------------------------------------------------------------------

    def add(self, held: int, now: int, setting: Setting, place: int, when: Moment) -> bool:
        """Learn from an executed step; whether the outcomes are others than before.

        Raises:
            InconsistentAgent: the action has too many outcomes.
        """
        return self._note(held, now, setting, place, when) and self._explain()

    def lose(self, held: int) -> None:
        """Note an executed step of which it could not be read what came of it."""
        self.steps.lose(held)
        self._frequencies = None

    def _note(self, held: int, now: int, setting: Setting, place: int, when: Moment) -> bool:
        self._shown += _literals(held, len(self._index.atoms))
        for (effect, value), shown in self._contrasts.items():
            if held >> effect & 1 == value:
                _count(shown, held, 1)
        self._frequencies = None
        return self.steps.add(held, now, setting, place, when)

    def _explain(self) -> bool:
        found = explained(self.steps.contexts, self._index.everything)
        if len(found.outcomes) > MAX_OUTCOMES:
            raise InconsistentAgent(
                f"{self._index.header.name} has more than {MAX_OUTCOMES} outcomes: what it does depends on something that "
                "the vocabulary does not say"
            )
        changed = found != self.explanation
        self.explanation = found
        for effect in range(len(self._index.atoms)):
            for value, changes in enumerate((found.additions, found.deletions)):
                if changes >> effect & 1 and (effect, value) not in self._contrasts:
                    size = 2 * len(self._index.atoms)
                    self._contrasts[effect, value] = counts = np.zeros((size, size), dtype=int)
                    for held in self.steps.contexts:
                        if held >> effect & 1 == value:
                            _count(counts, held, self.steps.made(held))
        return changed

    def aim(self, within: float) -> None:
        """Want intervals of another half width from now on."""
        self._precision = self._precision._replace(within=within)

    # --- what is known ---------------------------------------------------------------------------

    @property
    def executed(self) -> int:
        return self.steps.executed

    @property
    def outcomes(self) -> tuple[Change, ...]:
        return self.explanation.outcomes

    def after(self, held: int) -> list[int]:
        """For every outcome the atoms that hold after it."""
        return [(held | one.adds) & ~one.deletes for one in self.outcomes]

    @property
    def frequencies(self) -> tuple[Frequency, ...]:
        """Of every outcome; estimates add up to one."""
        if self._frequencies is None:
            self._frequencies, self._widest = self._counted(), None
        return self._frequencies

    def telling(self, held: int) -> list[bool]:
        """For every outcome, whether a step there tells it from all others: the trials that its frequency is counted in.

        Where some situations reveal all outcomes, only these do: elsewhere an outcome that lacks an effect of a known one may
        look like it. Of a single outcome that none reveals (hands hold one thing or the other), those that show its effect that
        is shown least.
        """
        if self.explanation.sure:
            if self._least is not None:
                return [_shows(self._least, held)]
            return [self.explanation.revealing(held)] * len(self.outcomes)
        after = self.after(held)
        return [after.count(own) == 1 for own in after]

    @property
    def counted(self) -> Observations:
        """The steps that tell how often outcomes come: all, or those since it changed, for what it does now."""
        if self.difference is None or self.difference.since is None:
            return self.steps
        return self.steps.since(self.difference.since)

    def _counted(self) -> tuple[Frequency, ...]:
        size, steps = len(self.outcomes), self.counted
        hits, trials, unread = [0] * size, [0] * size, [0] * size
        self._least = self._shown_least(steps)
        for held in steps.contexts | steps.unread:
            afters, lost = steps.contexts.get(held, {}), steps.unread.get(held, 0)
            made = sum(afters.values())
            for number, (own, told) in enumerate(zip(self.after(held), self.telling(held), strict=True)):
                if told:
                    trials[number] += made
                    hits[number] += afters.get(own, 0)
                    unread[number] += lost
        return frequencies(hits, trials, unread, self._precision)

    def _shown_least(self, steps: Observations) -> tuple[int, int] | None:
        """The effect of a single outcome that fewest trials show, if none shows all: its atom, and the value before it; None otherwise."""
        if len(self.outcomes) != 1 or any(map(self.explanation.revealing, steps.contexts)):
            return None
        (one,), made = self.outcomes, steps.made
        effects = [(atom, 0) for atom in bits(one.adds)] + [(atom, 1) for atom in bits(one.deletes)]
        shown = {one: sum(made(held) for held in steps.contexts if _shows(one, held)) for one in effects}
        return min(shown, key=lambda one: shown[one], default=None)

    def look(self, course: Sequence[Executed], *, unexplained: bool) -> None:
        """Look whether anything makes a difference to how often an outcome comes.

        Args:
            course: all steps of the action, of other cases, too.
            unexplained: whether no cases explain on what the outcomes depend.
        """
        found = None
        if self.varies:
            came = [self._outcome(one.held, one.now) for one in course]
            trials = [
                Trial(one.held, came[one.place], one.setting, one.place, one.when)
                for one in self.steps.course
                if came[one.place] >= 0
            ]
            atoms = len(self._index.atoms)
            found = difference(
                trials, len(self.outcomes), atoms, self._precision, came, unexplained=unexplained
            )
            if found is not None and found.since is not None:
                found = found._replace(since=trials[found.since].place)
        self.difference, self._frequencies = found, None
        if self.varies and found is None and self.uncertainty <= self._precision.within:
            size, precision = len(self.outcomes), self._precision
            more = self.executed < self._patience  # which objects are named cannot always be balanced
            self.difference = drift(trials, size, precision) or apart(
                trials, size, atoms, precision, objects=more
            )

    @property
    def varies(self) -> bool:
        """Whether several outcomes were seen as they are."""
        return self.explanation.sure and len(self.outcomes) > 1

    @property
    def doubted(self) -> bool:
        """Whether something may make a difference within the case."""
        return self.difference is not None

    @property
    def _patience(self) -> float:
        """Trials up to which more are made where that is doubted, half of them with each value of an atom: twice as many as narrow intervals take."""
        return max(_DOUBT, self._precision.twice)

    def _outcome(self, held: int, now: int) -> int:
        """The number of the outcome that a step shows; -1 if it does not show all of them."""
        after = self.after(held)
        return after.index(now) if self.explanation.revealing(held) and now in after else -1

    @property
    def uncertainty(self) -> float:
        """Half the width of its widest interval, as far as trials make it narrower; one half before the first one."""
        return max((one.width / 2 for one in self.frequencies), default=0.5)

    @property
    def unseen(self) -> float:
        """No outcome that was not seen has a probability above this, at the intervals' confidence.

        Apart from outcomes that only add what always held, or delete what never did: these were not shown once. Each other was
        shown by the trials in which all known outcomes show themselves, or by those before which one of its effects could be
        seen; the fewest of these count. It may have been what came of every trial that could not be read.
        """
        trials = [one.trials for one in self.frequencies]
        trials += [made for made in (self._shown_by(atom, held) for atom, held in self._changes()) if made]
        made, lost, alpha = min(trials, default=0), sum(self.steps.unread.values()), self._precision.alpha
        found = unseen(made, alpha)
        if not lost:
            return found
        return max(found, simultaneous(lost, made + lost, alpha, self._precision.concentration)[1])

    @property
    def holding(self) -> Literals:
        """The literals that hold in every situation of the case, as far as is known."""
        proven, own = self._precondition.proven, self.condition
        return Literals(proven.positive | own.positive, proven.negative | own.negative)

    def _changes(self) -> list[tuple[int, int]]:
        """The atoms that an unseen outcome might be the first to change, by number, and their value before that (0 or 1)."""
        holding, known = self.holding, self.explanation
        never = known.additions | holding.positive, known.deletions | holding.negative
        if never != self._never:
            self._never = never
            self._may_change = [
                (number, held)
                for number in range(len(self._index.atoms))
                for held in (0, 1)
                if not never[held] >> number & 1
            ]
        return self._may_change

    def _shown_by(self, atom: int, held: int) -> int:
        """The executed steps that would have shown a change of an atom from this value."""
        return int(self._shown[2 * atom + held])

    def open_additions(self, outcome: Change) -> int:
        """Atoms of which it was not seen whether the outcome adds them, and that may be false before it."""
        known = outcome.adds | outcome.adds_not | outcome.deletes
        return self._index.everything & ~known & ~self.holding.positive

    def open_deletions(self, outcome: Change) -> int:
        """Atoms of which it was not seen whether the outcome deletes them, and that may be true before it."""
        known = outcome.deletes | outcome.deletes_not | outcome.adds
        return self._index.everything & ~known & ~self.holding.negative & ~self._index.reported

    def model(self, likely: Sequence[float] = ()) -> tuple[Outcome, ...]:
        """The outcomes with their probabilities, likeliest first; with those that are ``likely`` in a part of the case, if given."""
        select = self._index.select
        found = [
            Outcome(
                probability, Effects(select(one.adds), select(one.deletes | self._index.reported & ~one.adds))
            )
            for one, probability in zip(
                self.outcomes, likely or [one.probability for one in self.frequencies], strict=True
            )
            if probability or not likely
        ]
        return tuple(sorted(found, key=lambda one: -one.probability)) or (Outcome(1.0, Effects()),)

    # --- what is worth trying --------------------------------------------------------------------

    def worth(self, held: int) -> float:
        """What an execution is worth where these atoms hold."""
        made = self.steps.made(held)
        novel = 0.0
        for one, found in zip(self.outcomes, self.frequencies, strict=True):
            new = self.open_additions(one) & ~held | self.open_deletions(one) & held
            if new and made * found.probability <= AWAITED:
                novel += _NOVEL * found.probability
        if not self.explanation.sure and made < _REVEALED and self.explanation.revealing(held):
            novel += _NOVEL
        if made < _CONTRASTS and self._surprises(held, made):
            novel += _NOVEL
        if not made and self._pursues and len(self.steps.contexts) < _KINDS and not self._achieved:
            novel += _PURSUING
        narrower, shown = self._worth_of_frequency(held), self._worth_of_showing(held)
        narrower = max(narrower, self._worth_of_doubt(held))
        return novel + narrower + shown + self._worth_of_contrast(held)

    @property
    def _achieved(self) -> bool:
        """Whether any outcome brings about what is pursued."""
        goal, found = self._index.goal, self.explanation
        return bool(goal.positive & found.additions or goal.negative & found.deletions)

    def _surprises(self, held: int, made: int) -> bool:
        """Whether something came there that hardly ever came elsewhere: it may depend on what holds there."""
        afters = self.steps.contexts.get(held, {})
        often = dict.fromkeys(afters, 0.0)
        for now, found, told in zip(self.after(held), self.frequencies, self.telling(held), strict=True):
            if now in afters:
                hits, trials = (found.hits - afters[now], found.trials - made) if told else found[:2]
                often[now] += (hits + 1) / (trials + 1)
        return any(made * share < _SURPRISING for share in often.values())

    def _worth_of_frequency(self, held: int) -> float:
        """What a step there is worth for the intervals."""
        if self.uncertainty <= self._precision.within:
            return 0.0
        if self._widest is None:
            alone = [single(one.hits, one.trials, self._precision) for one in self.frequencies]
            self._widest = max(alone, default=0.5)
        missing = self._widest - self._precision.within
        told = self.telling(held)
        return max(_LEAST, missing) * sum(told) / len(told) if told else missing

    def _worth_of_doubt(self, held: int) -> float:
        """What a step there is worth where something may make a difference: with the rarer value of an atom of which that is doubted, more."""
        if self.difference is None or not self.explanation.revealing(held):
            return 0.0
        made = other = self.executed
        if (by := self.difference.by.atom) is not None:
            made, other = (2 * self._shown_by(by, value) for value in (held >> by & 1, ~held >> by & 1))
        if made >= self._patience:
            return 0.0
        return _LEAST if made <= other else _LEAST * _COMMONER

    def _worth_of_contrast(self, held: int) -> float:
        """What a step there is worth to see whether any known effect depends on an atom, or, where it comes by chance, on two.

        Pursuits fail where something holds, or two things do: that is looked for in them before intervals are narrow.
        """
        own = _places(held, len(self._index.atoms))
        for (effect, value), counts in self._contrasts.items():
            if held >> effect & 1 == value:
                made = counts[np.ix_(own, own)] if self.varies or self._pursues else counts[own, own]
                if made.min() < _CONTRASTS:
                    return _PURSUING if self._pursues else _CONTRAST
        return 0.0

    def _worth_of_showing(self, held: int) -> float:
        """What a step there is worth for excluding outcomes that were not seen."""
        made = [self._shown_by(atom, value) for atom, value in self._changes() if held >> atom & 1 == value]
        if self.explanation.revealing(held):
            made += [one.trials for one in self.frequencies]
        if not made:
            return 0.0
        missing = unseen(min(made), self._precision.alpha) - _UNSEEN * self._precision.within
        return max(_LEAST, missing * _SHOWING) if missing > 0 else 0.0


def _shows(effect: tuple[int, int], held: int) -> bool:
    """Whether an effect, an atom (as a mask) and its value before, can be seen where these atoms hold."""
    atom, value = effect
    return bool(held & atom) == bool(value)


def _literals(held: int, atoms: int) -> Counts:
    """For every atom a 1 at one of two places: the first if it is false, the second if it is true."""
    found = np.zeros(2 * atoms, dtype=int)
    found[_places(held, atoms)] = 1
    return found


def _places(held: int, atoms: int) -> list[int]:
    """Where these are."""
    return [2 * number + (held >> number & 1) for number in range(atoms)]


def _count(counts: Counts, held: int, made: int) -> None:
    """Count steps by the values of every two atoms before them."""
    own = _literals(held, len(counts) // 2)
    counts += made * np.outer(own, own)

"""What was learned of an agent earlier, and whether an action is still like that.

The earlier findings are those of a run, with its trials, or a model, whose probabilities are claims. They decide what is asked, and how
narrow intervals have to be; nothing is believed because it was so before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import NamedTuple, Protocol

from aam_vision.interrogation.chance.comparing import (
    ALPHA,
    CONCENTRATION,
    AtomDifference,
    Count,
    against_claim,
    differences,
    modes,
)
from aam_vision.interrogation.chance.intervals import simultaneous
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import Change, Explanation, holds
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, bits
from aam_vision.model.strips import ActionSchema, Case, Mode, Model, merged
from aam_vision.support.errors import UnusableInput

MARGIN = 2.0
"""How much wider the intervals of an action may be that is as before, in those of one that has changed.

Two runs of one agent with intervals of a half width w leave a difference of 2 w; so half the precision of one of them loses little.
"""
_GROWTH = 1.05
"""Growth of the trials of an action until it is looked again whether it is as before."""


class Prior(Protocol):
    """The earlier findings."""

    @property
    def refusals(self) -> tuple[str, ...]:
        """The actions of which a refusal was an outcome."""

    def required(self, index: AtomIndex) -> Literals:
        """The literals that an action needed."""

    def changed(self, action: ActionKnowledge) -> bool:
        """Whether an action surely is another than before, or chance does not explain the difference."""


class Verification:
    """Looks whether actions are as before, while they are tried.

    ``actions``: what is known now; it is expected to require what it did. ``within``: half width of the intervals that are wanted of
    an action that has changed.
    """

    def __init__(self, prior: Prior, actions: Sequence[ActionKnowledge], within: float) -> None:
        self._prior, self._actions, self._within = prior, actions, within
        self._looked = dict.fromkeys(range(len(actions)), 0)
        """By the numbers of the actions that may be as before, their trials when that was looked at."""
        for action in actions:
            action.expected = prior.required(action.index)

    def look(self, number: int) -> None:
        """Learn an action anew, with intervals as narrow as is wanted, if it proves not to be as before."""
        action = self._actions[number]
        tried = action.executed + action.refused
        if number not in self._looked or tried < _GROWTH * self._looked[number]:
            return
        self._looked[number] = tried
        if self._prior.changed(action):
            del self._looked[number]
            action.aim(self._within)


@dataclass(frozen=True)
class EarlierRun:
    """The findings of a run.

    ``independent``: whether that run's chance is independent of this one's.
    """

    actions: tuple[ActionKnowledge, ...]
    independent: bool
    refusals: tuple[str, ...] = ()
    """The actions of which a refusal was an outcome."""

    @cached_property
    def _by_name(self) -> Mapping[str, ActionKnowledge]:
        return {one.index.header.name: one for one in self.actions}

    def required(self, index: AtomIndex) -> Literals:
        """The literals that an action was proven to need, and positive ones that it may have needed.

        Raises:
            UnusableInput: it was told there from other atoms (``knowledge.index_of``).
        """
        known = self._by_name[index.header.name]
        if known.index.atoms != index.atoms:
            told = f"in one of the two runs {index.header.name} can name nothing but constants, in the other it can"
            raise UnusableInput(f"{told}; give a run in problems that are alike in this", "prior")
        return known.precondition.cautious

    def changed(self, action: ActionKnowledge) -> bool:
        """Whether the trials of both tell them apart; with as many comparisons as there are actions."""
        before = self._by_name[action.index.header.name]
        (found,) = differences([before], [action], independent=self.independent, actions=len(self.actions))
        return found.different


class Claim(NamedTuple):
    """What a model says of an outcome, and how often it came."""

    adds: int
    deletes: int
    kind: int | None
    """The atoms that held before the trials that count; None if all count that show every outcome."""
    probability: float
    seen: Count
    actions: int

    @property
    def p_value(self) -> float:
        """How probable so much evidence at any time is at most if the claim is right; corrected for the number of claims."""
        return min(1.0, self.actions * exp(-max(0.0, against_claim(self.probability, self.seen))))

    @property
    def wrong(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.p_value <= ALPHA

    @property
    def limits(self) -> tuple[float, float]:
        """How much more probable it is than the model says: the limits of an interval."""
        hits, made, lost = self.seen.hits, self.seen.trials + self.seen.lost, self.seen.lost
        low = simultaneous(hits, made, ALPHA / self.actions, CONCENTRATION)[0]
        high = simultaneous(hits + lost, made, ALPHA / self.actions, CONCENTRATION)[1]
        return low - self.probability, high - self.probability


@dataclass(frozen=True)
class EarlierModel:
    """A model with outcomes, whose probabilities are claims."""

    model: Model
    refusals: tuple[str, ...] = ()

    def required(self, index: AtomIndex) -> Literals:
        """The literals that an action needed."""
        schema = self.model.schema(index.header.name)
        return index.literals(schema.positive, schema.negative)

    def changed(self, action: ActionKnowledge) -> bool:
        """Whether something of an action is surely wrong, or chance does not explain it."""
        return bool(list(self.atoms(action))) or any(claim.wrong for claim in self.claims(action))

    def atoms(self, action: ActionKnowledge) -> Iterator[AtomDifference]:
        """The atoms that cannot have the mode in the precondition that the model says."""
        required = self.required(action.index)
        for bit in bits(action.index.everything):
            claimed = Mode.NEGATIVE if required.negative & bit else Mode.ABSENT
            claimed = Mode.POSITIVE if required.positive & bit else claimed
            if claimed not in (found := modes(action, bit)):
                yield AtomDifference(bit, (claimed,), found)

    def claims(self, action: ActionKnowledge) -> Iterator[Claim]:
        """What the model says of the outcomes of an action, and how often they came."""
        if not action.executed:
            return
        schema = self.model.schema(action.index.header.name)
        if len(schema.branches) == len(action.cases) == 1 and action.explanation.sure:
            claimed = _claimed(action.index, schema, schema.branches[0])
            outcomes = dict.fromkeys([*claimed, *((one.adds, one.deletes) for one in action.outcomes)])
            shown = Explanation(tuple(Change(*one) for one in outcomes))
            if not shown.additions & shown.deletions:  # else no situation shows all of them
                yield from self._of_outcomes(action, claimed, shown)
                return
        # the n-th kind of trials has a share of 1/n(n+1) of the error probability, fixed before its first trial
        for number, (held, afters) in enumerate(action.seen.items(), 1):
            shares: dict[int, float] = dict.fromkeys(afters, 0.0)
            for (adds, deletes), share in _claimed(
                action.index, schema, _case(action.index, schema, held)
            ).items():
                now = (held & ~deletes) | adds
                shares[now] = shares.get(now, 0.0) + share
            for now, share in sorted(shares.items()):
                count = Count(afters.get(now, 0), sum(afters.values()), action.lost.get(held, 0))
                comparisons = len(self.model.actions) * number * (number + 1)
                yield Claim(now & ~held, held & ~now, held, share, count, comparisons)

    def _of_outcomes(
        self, action: ActionKnowledge, claimed: Mapping[tuple[int, int], float], shown: Explanation
    ) -> Iterator[Claim]:
        """Every outcome that was seen or is claimed, in the trials that show all of them."""
        counts, trials = {(one.adds, one.deletes): 0 for one in shown.outcomes}, 0
        lost = sum(count for held, count in action.lost.items() if shown.revealing(held))
        for held, afters in action.seen.items():
            if not shown.revealing(held):
                continue
            trials += sum(afters.values())
            for adds, deletes in counts:
                counts[adds, deletes] += afters.get((held & ~deletes) | adds, 0)
        for (adds, deletes), hits in counts.items():
            share = claimed.get((adds, deletes), 0.0)
            yield Claim(adds, deletes, None, share, Count(hits, trials, lost), len(self.model.actions))


def _case(index: AtomIndex, schema: ActionSchema, held: int) -> Case:
    """What the model says of situations in which these atoms hold."""
    return next(case for case in schema.branches if holds(index.literals(case.positive, case.negative), held))


def _claimed(index: AtomIndex, schema: ActionSchema, case: Case) -> dict[tuple[int, int], float]:
    """The probability of every change in a case, as masks of added and deleted atoms."""
    needed = ActionSchema(schema.header, schema.positive | case.positive, schema.negative | case.negative)
    found: dict[tuple[int, int], float] = {}
    for probability, effects in merged(case.outcomes, needed):
        masks = index.mask(effects.add), index.mask(effects.delete) & ~index.reported
        found[masks] = found.get(masks, 0.0) + probability
    return found

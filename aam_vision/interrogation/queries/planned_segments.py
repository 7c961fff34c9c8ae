"""Segments that begin with a plan: they lead to situations that nobody has seen yet, in which a near miss is possible.

For every open candidate the planner is asked for the situation that would tell most about it: one where the candidate is
violated while all that is probably a precondition holds, and where of what is probably none as much is violated with it
as is worth the risk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from aam_vision.interrogation.beliefs.candidates import Beliefs
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, union
from aam_vision.interrogation.queries.bounded_search import BoundedSearch
from aam_vision.interrogation.queries.reachability import PlannedNearMiss, Reachability
from aam_vision.interrogation.queries.segments import GROUP_RISK, Segment, Standpoint, success
from aam_vision.planning.planner import Verdict

DOUBT = 0.1
"""What succeeds with at least this probability is asked early, while there are near misses to follow it."""
Wanted = Callable[[str, Literals], bool]


class Option(NamedTuple):
    """What should hold where an action is asked; ``rank`` says which to try first."""

    rank: tuple[float, ...]
    name: str
    path: Reachability
    holding: Literals
    target: Literals
    """The candidate that is violated there."""


@dataclass
class PlannedSegments:
    """Finds segments that begin with a plan."""

    beliefs: Beliefs
    searches: BoundedSearch
    on_the_way: BoundedSearch
    """Those for a further segment of a query."""

    def find(
        self, standpoint: Standpoint, paths: list[Reachability], wanted: Wanted, *, relax: bool = False
    ) -> Iterator[Segment]:
        """Segments about the wanted candidates, what tells most per query first.

        With ``relax`` less is asked to hold where there is no plan to all that should.
        """
        if self._searches(standpoint).exhausted:
            return
        options = sorted(self._options(standpoint, paths, wanted), key=lambda option: option.rank)
        unreachable = []
        deferred: list[Segment] = []
        for option in options:
            if option.rank[0] > 1:
                yield from deferred
                deferred = []
            segment = self._planned(standpoint, option, option.holding)
            if segment is Verdict.LIMIT:
                segment = self._planned(standpoint, option, self._needed(standpoint, option))
            if isinstance(segment, Segment):
                if option.rank[0] == 1 and self._spare(standpoint, option, segment.violated):
                    deferred.append(segment)
                    continue
                yield segment
            elif segment is Verdict.UNSOLVABLE:
                unreachable.append(option)
        yield from deferred
        for option in unreachable if relax else ():
            for holding in self._relaxed(standpoint.hypotheses[option.name], option):
                segment = self._planned(standpoint, option, holding)
                if isinstance(segment, Segment):
                    yield segment

    def _spare(self, standpoint: Standpoint, option: Option, violated: Literals) -> bool:
        """Whether some of the violated literals need not be violated with the target: a refusal would have to be asked again."""
        action = standpoint.hypotheses[option.name]
        fixed = union([action.proven, option.target.opposite()])
        return any(
            literal != option.target
            and (held := option.path.gather(action, fixed, [literal])) is not None
            and literal.within(held)
            for literal in violated.singles()
        )

    def _needed(self, standpoint: Standpoint, option: Option) -> Literals:
        """What should hold without the candidates that would only be refuted by the way: these may be too much to ask."""
        undecided, holding = standpoint.hypotheses[option.name].undecided, option.holding
        by_the_way = undecided.opposite().common(holding).without(undecided).without(option.target.opposite())
        return holding.without(by_the_way)

    def _relaxed(self, action: ActionHypotheses, option: Option) -> Iterator[Literals]:
        """The same with one literal less that should hold, the least probable precondition first.

        Three literals may exclude each other where any two of them do not.
        """
        spared = option.holding.common(action.undecided).singles()
        for _, literal in sorted((self.beliefs.probability(option.name, one, action), one) for one in spared):
            yield option.holding.without(literal)

    def _options(self, standpoint: Standpoint, paths: list[Reachability], wanted: Wanted) -> Iterator[Option]:
        for name, action in standpoint.hypotheses.actions.items():
            if not action.successes:
                continue
            chance = {
                literal: self.beliefs.probability(name, literal, action)
                for literal in action.undecided.singles()
            }
            for target in chance:
                if not wanted(name, target):
                    continue
                order = self._order(action, target, chance)
                for path in paths:
                    holding = path.gather_open(action, target, order)
                    if holding is not None:
                        rank = self._rank(name, action, action.undecided.without(holding))
                        yield Option(rank, name, path, holding, target)

    def _order(
        self, action: ActionHypotheses, target: Literals, chance: dict[Literals, float]
    ) -> list[Literals]:
        """What should hold beside the violated target: first what is most probably a precondition."""
        risk = 1 - chance[target]
        others = sorted((p, literal) for literal, p in chance.items() if literal != target)
        holding: list[tuple[float, Literals]] = []
        violating = []
        for p, literal in others:
            opposite = literal.opposite()
            if risk * (1 - p) >= GROUP_RISK and opposite not in chance:
                risk *= 1 - p
                violating.append(opposite)
            else:
                holding.append((p, literal))
        return [literal for _, literal in reversed(holding)] + violating

    def _rank(self, name: str, action: ActionHypotheses, violated: Literals) -> tuple[float, ...]:
        """Refutations first, those of most candidates; then doubtful ones; then what violates least."""
        chance = success(self.beliefs, name, action, violated)
        if chance >= GROUP_RISK:
            return (0, -chance * violated.size())
        if chance >= DOUBT:
            return (1, -chance)
        return (1 + violated.size(), -chance)

    def _planned(self, standpoint: Standpoint, option: Option, holding: Literals) -> Segment | Verdict | None:
        name, action = option.name, standpoint.hypotheses[option.name]
        start = None if standpoint.real else standpoint.nodes[0]
        planned = self._searches(standpoint).reach(option.path, action, holding, start)
        if not isinstance(planned, PlannedNearMiss):
            return planned
        start, path, step = planned
        state = standpoint.evidence.predict_plan(start.state, path)
        held, dim = action.index.values(state, step.objects)
        violated = action.violated(held, dim)
        if not action.certainly_violated(held, dim) or action.certain_to_fail(violated):
            return None
        if not action.may_be_told(held, dim):
            return None
        return Segment(start, (*path, step), violated, success(self.beliefs, name, action, violated))

    def _searches(self, standpoint: Standpoint) -> BoundedSearch:
        return self.searches if standpoint.real else self.on_the_way

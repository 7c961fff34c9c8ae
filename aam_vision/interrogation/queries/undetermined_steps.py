"""Steps whose outcome does not follow from what is known, found by trying everything.

Asking for such a step always tells something. If there is none in any state within the access, no query could tell any
more. Both searches give up where there is too much to look at: they are for small problems.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod
from typing import NamedTuple

from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Ask
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses
from aam_vision.interrogation.queries.first_success import with_atoms
from aam_vision.model.query import Situation
from aam_vision.model.strips import GroundAction, Objects, State
from aam_vision.planning.joins import FactIndex, Row, bindings

MAX_LOOKS = 50_000
"""Pairs of a state and a step that are looked at: some tenths of a second."""
MAX_FREE = 12
"""Atoms of one step of which all values are tried."""


class Found(NamedTuple):
    """A question, if there is one; and whether there was none in anything that can be asked."""

    ask: Ask | None
    exhausted: bool


class Outcome(NamedTuple):
    """The state that a step leads to, None if it is refused; and why that is known."""

    known: bool
    follows: bool = False
    """Whether all models that are still possible say so. What was seen may leave open which effect brought it about."""
    after: State | None = None


UNKNOWN = Outcome(known=False)
REFUSED = Outcome(known=True, follows=True)
UNTOLD = Outcome(known=True)
"""No answer tells whether the step is executed: another one leads on from there."""


class _Outcomes:
    """The outcomes of steps, as they were seen or as they follow from what is known."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._seen: dict[tuple[State, GroundAction], Outcome] = {
            (refusal.at.state, refusal.action): REFUSED for refusal in evidence.refusals
        }
        for edge in evidence.edges:
            if edge.after.situation is not None:
                self._seen[edge.before.state, edge.action] = Outcome(known=True, after=edge.after.state)

    def of(self, state: State, step: GroundAction) -> Outcome:
        """The outcome of a step in a state that is fully known."""
        action = self._evidence.hypotheses[step.name]
        held, dim = action.index.values(state, step.objects)
        violated = action.violated(held, dim)
        if violated:
            if action.certain_to_fail(violated):
                return REFUSED
        elif not action.after(held, dim, step.objects)[1] & ~action.index.derived:
            return Outcome(known=True, follows=True, after=self._evidence.predict(state, step))
        seen = self._seen.get((state, step))
        if seen is not None:
            return seen
        untold = (state, step) in self._evidence.untold or not action.may_be_told(held, dim)
        return UNTOLD if untold else UNKNOWN


def reachable_step(evidence: Evidence, starts: Sequence[Node], looks: int = MAX_LOOKS) -> Found:
    """The nearest step with an unknown outcome, by way of steps whose outcome is known.

    ``looks``: how many pairs of a state and a step are looked at.
    """
    if sum(_number_of_steps(evidence, node.state.objects) for node in starts) > looks:
        return Found(
            None, exhausted=False
        )  # too large a world for trying everything: most of it would be left
    outcomes = _Outcomes(evidence)
    seen = {node.state for node in starts}
    queue: deque[tuple[Node, tuple[GroundAction, ...], State]] = deque(
        (node, (), node.state) for node in starts
    )
    exhausted = True
    while queue:
        start, way, state = queue.popleft()
        if state.unknown:
            exhausted = False
            continue
        for step in _steps(evidence, state.objects):
            looks -= 1
            if looks < 0:
                return Found(None, exhausted=False)
            known, follows, after = outcomes.of(state, step)
            if not known:
                return Found(_ask(start, (*way, step)), exhausted=False)
            exhausted = exhausted and follows
            if after is not None and after not in seen:
                if (state, step) in evidence.untold:  # nor is anything told of what comes after it
                    exhausted = False
                    continue
                seen.add(after)
                queue.append((start, (*way, step), after))
    return Found(None, exhausted)


def constructed_step(evidence: Evidence, looks: int = MAX_LOOKS) -> Found:
    """A step with an unknown outcome in a state made for it, for ``settable`` access.

    ``looks``: how many steps, and pairs of a state and a step, are looked at.
    """
    outcomes = _Outcomes(evidence)
    exhausted = True
    for step, states in _constructed(evidence):
        exhausted = exhausted and states is not None
        looks -= 1
        for state in states or ():
            looks -= 1
            if looks < 0:
                break
            known, follows, _ = outcomes.of(state, step)
            if not known:
                node = evidence.situation(Situation(state, state))
                return Found(_ask(node, (step,)), exhausted=False)
            exhausted = exhausted and follows
        if looks < 0:
            return Found(None, exhausted=False)
    return Found(None, exhausted)


def _constructed(evidence: Evidence) -> Iterator[tuple[GroundAction, Iterator[State] | None]]:
    """Steps and states made for them, None if these are too many; of steps whose atoms coincide alike the first."""
    problems = {node.state.objects: node.state for node in evidence.initial}
    for initial in problems.values():
        alike: set[tuple[str, tuple[int, ...]]] = set()
        for step in _steps(evidence, initial.objects, only_first=True):
            action = evidence.hypotheses[step.name]
            kind = step.name, tuple(action.index.coinciding(step.objects))
            yield step, iter(()) if kind in alike else _states(action, initial, step.objects)
            alike.add(kind)


def _steps(evidence: Evidence, objects: Objects, *, only_first: bool = False) -> Iterator[GroundAction]:
    """Every instruction with all its arguments; or only with the first, where others cannot make atoms one."""
    index, repeated = FactIndex(objects), evidence.hypotheses.repeated
    for name, action in evidence.hypotheses.actions.items():
        rows = bindings(index, action.index.header, (), repeated=repeated)
        for row in islice(rows, 1) if only_first and not action.index.merges else rows:
            yield GroundAction(name, row)


def _number_of_steps(evidence: Evidence, objects: Objects) -> int:
    """The number of instructions with all their arguments, those included that name an object twice."""
    return sum(
        prod(len(objects.of_type(kind)) for kind in action.index.header.types)
        for action in evidence.hypotheses.actions.values()
    )


def _states(action: ActionHypotheses, initial: State, objects: Row) -> Iterator[State] | None:
    """States in which the outcome of a step may be unknown; None if there are too many.

    All that is proven holds there. Everything else that is undecided takes all values, required ones first.
    """
    proven, undecided = action.proven, action.undecided
    facts = dict(action.index.grounded(objects))
    true, false = ({facts[bit] for bit in bits(mask)} for mask in proven)
    if true & false:
        return iter(())
    open_bits = undecided.positive | undecided.negative | action.undecided_effects
    free = {facts[bit]: bit for bit in bits(open_bits) if facts[bit] not in true | false}
    if len(free) > MAX_FREE:
        return None
    chosen = tuple(free.values())
    return (
        with_atoms(initial, action, objects, proven.positive | on, proven.negative | (sum(chosen) & ~on))
        for values in product((True, False), repeat=len(chosen))
        for on in [sum(bit for bit, value in zip(chosen, values, strict=True) if value)]
    )


def _ask(start: Node, plan: tuple[GroundAction, ...]) -> Ask:
    return Ask(start, plan, f"see what {plan[-1]} does")

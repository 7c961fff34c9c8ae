"""States made for a question, where an agent can be asked about any: near misses, and states in which outcomes show themselves."""

from __future__ import annotations

from collections.abc import Iterator

from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.strips import State


def constructed(action: ActionKnowledge) -> Iterator[State]:
    """States in which a step of the action may tell something: its example with some of the action's atoms changed.

    Each undecided literal alone is violated, all of them together, and halves of them; the effects of all outcomes are made visible,
    and those that no outcome was seen to have.
    """
    if action.example is None:
        return
    state, objects = action.example
    index = action.index
    held, _ = index.values(state, objects)

    def flipped(mask: int) -> State:
        """The example with these atoms the other way round."""
        return State(
            (state.true - index.facts(mask & held, objects)) | index.facts(mask & ~held, objects),
            state.objects,
        )

    undecided = action.precondition.undecided
    positive, negative = undecided.positive & held, undecided.negative & ~held
    for mask in (positive | negative, negative, positive, *_halves(negative), *_halves(positive)):
        if mask:
            yield flipped(mask)
    for bit in bits(positive | negative):
        yield flipped(bit)
    required = action.precondition.candidates
    decided = required.positive | required.negative
    for case in action.cases:
        wrong = (case.condition.positive & ~held) | (case.condition.negative & held)
        fixed = decided | case.condition.positive | case.condition.negative
        if wrong & decided:
            continue
        free, found = index.everything & ~fixed, case.explanation
        there = held ^ wrong
        shown = ((found.additions & there) | (found.deletions & ~there)) & free
        others = free & ~(found.additions | found.deletions)
        # between them, these show every effect that the preconditions allow to be seen, and all outcomes as they are
        for mask in (0, shown, shown | others, others, free & ~shown):
            yield flipped(mask | wrong)
        for one in case.outcomes:
            if mask := ((case.open_additions(one) & there) | (case.open_deletions(one) & ~there)) & free:
                yield flipped(mask | wrong)
        for bit in bits(action.doubtful & free):
            for mask in (0, shown):
                yield flipped((mask ^ bit) | wrong)
    for bit in bits(action.doubtful & ~decided):
        yield flipped(bit)


def _halves(mask: int) -> Iterator[int]:
    """Every other atom, and the rest."""
    one = sum(list(bits(mask))[::2])
    yield from (one, mask & ~one) if one != mask else ()

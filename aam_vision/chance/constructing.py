"""States made for a question, where an agent can be asked about any: near misses, and states in which outcomes show themselves."""

from __future__ import annotations

from collections.abc import Iterator

from aam_vision.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.strips import State


def constructed(action: ActionKnowledge) -> Iterator[State]:
    """States in which a step of the action may tell something: its example with some of the action's atoms changed.

    Each undecided literal alone is violated, all of them together, and halves of them; and each outcome's unseen effects, and those
    of all outcomes, are made visible.
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
    free = index.everything & ~(required.positive | required.negative)
    for one in action.outcomes:
        if mask := ((action.open_additions(one) & held) | (action.open_deletions(one) & ~held)) & free:
            yield flipped(mask)
    found = action.explanation
    if mask := ((found.additions & held) | (found.deletions & ~held)) & free:
        yield flipped(mask)


def _halves(mask: int) -> Iterator[int]:
    """Every other atom, and the rest."""
    one = sum(list(bits(mask))[::2])
    yield from (one, mask & ~one) if one != mask else ()

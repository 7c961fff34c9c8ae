"""States made for a question, where an agent can be asked about any: near misses, and states in which outcomes show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.model.strips import Atom, State

_FACTS = 15
"""Facts that an action does not name which are varied, at most."""
_BINDINGS = 8
"""Choices of objects that its steps are made with in turn, at most."""


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
    for state, _, _ in action.comparisons():
        yield state


def spread(action: ActionKnowledge, others: Iterable[Atom]) -> Iterator[State]:
    """States in which an action with chance is tried in turn: what might make a difference is varied evenly.

    The rows of an orthogonal array of strength three, made by the parities of a linear code (Hedayat, Sloane, Stufken, "Orthogonal
    Arrays", 1999): each three of the facts have each of their eight values in equally many states.

    Args:
        action: what is known of it.
        others: facts that were seen to change, of which those are varied that the step does not name.
    """
    index, required = action.index, action.precondition.candidates
    settings = list({one.named: one for one, _ in action.steps.situations}.values())[:_BINDINGS]
    for case in action.cases if action.varies else ():
        found, own = case.explanation, case.condition
        positive, negative = (
            required.positive | own.positive | found.deletions,
            required.negative | own.negative,
        )
        negative |= found.additions & ~required.positive
        free = list(bits(index.everything & ~positive & ~negative))
        there = list(others)[:_FACTS]
        level = (len(free) + len(there) - 1).bit_length() if free or there else 0
        for row in range(2 << level):
            chosen = [
                ((row & (1 << level | one)).bit_count() & 1) == 1 for one in range(len(free) + len(there))
            ]
            held = positive & ~(required.negative | own.negative) | sum(
                bit for bit, on in zip(free, chosen, strict=False) if on
            )
            setting = settings[(row ^ row >> level) % len(settings)]
            facts = index.facts(index.everything, setting.named)
            varied = {
                fact: on for fact, on in zip(there, chosen[len(free) :], strict=True) if fact not in facts
            }
            kept = {fact for fact in setting.others if varied.get(fact, True)}
            if setting.objects is not None:
                true = kept | {fact for fact, on in varied.items() if on} | index.facts(held, setting.named)
                yield State(frozenset(true), setting.objects)


def _halves(mask: int) -> Iterator[int]:
    """Every other atom, and the rest."""
    one = sum(list(bits(mask))[::2])
    yield from (one, mask & ~one) if one != mask else ()

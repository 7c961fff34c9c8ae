"""Outcomes and cases of actions with chance: brought into one form, and as few as there can be.

An outcome of probability p is what one step of p * 100 in a hundred does, wherever the action can be done and whatever
happened before. Where the effects are conditional (``when`` in PDDL), that is so in each of their cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from aam_vision.model.strips import ActionSchema, Case, Effects, LiftedAtom, Outcome

MAX_OUTCOMES = 10
"""Outcomes of one action at most."""


def merged(outcomes: Iterable[Outcome], schema: ActionSchema) -> tuple[Outcome, ...]:
    """The outcomes as states show them: effects that can change nothing left out, equal ones joined, impossible ones gone.

    Args:
        outcomes: of one action, or of one of its cases.
        schema: has the action's precondition, and the case's condition.
    """
    found: dict[Effects, float] = {}
    for probability, effects in outcomes:
        if probability > 0:
            add = effects.add - schema.positive
            delete = effects.delete - effects.add - schema.negative
            plain = Effects(add, delete)
            found[plain] = found.get(plain, 0.0) + probability
    return tuple(Outcome(probability, effects) for effects, probability in found.items())


Assignment = Mapping[LiftedAtom, bool]
"""Values of atoms of an action."""


def cases(
    atoms: Sequence[LiftedAtom], outcomes: Callable[[Assignment], tuple[Outcome, ...]]
) -> tuple[Case, ...]:
    """The cases of an action whose outcomes depend on these atoms: as few as splitting on the atoms in turn makes.

    Args:
        atoms: on which they may depend; there is a call for each assignment of values to them.
        outcomes: those under an assignment.
    """

    def split(number: int, chosen: Assignment) -> tuple[Case, ...]:
        if number == len(atoms):
            return (Case(outcomes=outcomes(chosen)),)
        atom = atoms[number]
        yes, no = (split(number + 1, {**chosen, atom: value}) for value in (True, False))
        if _alike(yes, no):
            return yes
        return (
            *(one._replace(positive=one.positive | {atom}) for one in yes),
            *(one._replace(negative=one.negative | {atom}) for one in no),
        )

    return split(0, {})


def _alike(some: Sequence[Case], others: Sequence[Case]) -> bool:
    """Whether cases say the same, in whatever order their outcomes stand."""

    def plain(case: Case) -> tuple[object, ...]:
        return case.positive, case.negative, frozenset(case.outcomes)

    return {plain(one) for one in some} == {plain(one) for one in others}

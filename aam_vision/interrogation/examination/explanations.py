"""Single literals that tell the situations in which a step came out as expected from those in which it did not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import product

from aam_vision.interrogation.examination.trials import Trial
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    GroundAction,
    LiftedAtom,
    State,
    Vocabulary,
    lifted_atoms,
)

_Value = Callable[[Trial], "bool | None"]

ENOUGH = 2
"""Situations of each kind that a literal has to tell apart, at least."""


def separating_literal(
    vocabulary: Vocabulary,
    header: ActionHeader,
    expected: Sequence[Trial],
    other: Sequence[Trial],
    *,
    enough: int = ENOUGH,
    own: bool = False,
) -> str | None:
    """A literal that is false wherever the step came out as expected, and true wherever it did not; None if none does.

    First literals over the action's own arguments, one argument named twice included; then whether some other object
    stands in a relation; then single ground atoms.

    Args:
        vocabulary: the predicates that the literal may have.
        header: the action's.
        expected: steps that came out as expected.
        other: those that did not.
        enough: how many there are of each kind, at least.
        own: only literals over the action's own arguments.
    """
    if len(expected) < enough or len(other) < enough:
        return None
    names = {predicate.name for predicate in vocabulary.predicates}
    literals = [*_own(vocabulary, header)]
    if not own:
        literals += _with_another(vocabulary, header)
        literals += _ground(names, expected[0].before.state, other[0].before.state)
    for text, value in literals:
        normal = {value(trial) for trial in expected}
        strange = {value(trial) for trial in other}
        if None in normal | strange or len(normal) > 1 or len(strange) > 1 or normal == strange:
            continue
        return text if strange == {True} else f"not {text}"
    return None


def in_own_words(header: ActionHeader, step: GroundAction, atom: Atom) -> str:
    """A ground atom with the action's parameters in place of the step's arguments."""
    names = {name: f"?{parameter}" for name, parameter in zip(step.objects, header.parameters, strict=True)}
    return f"{atom.predicate}({', '.join(names.get(name, name) for name in atom.objects)})"


def _own(vocabulary: Vocabulary, header: ActionHeader) -> Iterator[tuple[str, _Value]]:
    for lifted in lifted_atoms(vocabulary, header, repeated=True):

        def value(trial: Trial, lifted: LiftedAtom = lifted) -> bool | None:
            return trial.before.state.value(lifted.ground(trial.step.objects))

        yield lifted.text(header.parameters), value


def _ground(names: Collection[str], *states: State) -> Iterator[tuple[str, _Value]]:
    for atom in sorted({atom for state in states for atom in state.true if atom.predicate in names}):

        def value(trial: Trial, atom: Atom = atom) -> bool | None:
            return trial.before.state.value(atom)

        yield str(atom), value


def _with_another(vocabulary: Vocabulary, header: ActionHeader) -> Iterator[tuple[str, _Value]]:
    """Whether an object that is no argument stands in a relation, to an argument or to anything."""
    for predicate in vocabulary.predicates:
        places: list[list[int | None]] = [
            [None, *(n for n, own in enumerate(header.types) if vocabulary.types.is_a(own, kind))]
            for kind in predicate.types
        ]
        for chosen in product(*places):
            if None not in chosen:
                continue

            def value(
                trial: Trial, name: str = predicate.name, chosen: tuple[int | None, ...] = chosen
            ) -> bool | None:
                own = trial.step.objects
                return any(
                    all(
                        one not in own if place is None else one == own[place]
                        for one, place in zip(row, chosen, strict=True)
                    )
                    for row in trial.before.state.rows.get(name, [])
                )

            shown = ["another" if n is None else f"?{header.parameters[n]}" for n in chosen]
            yield f"{predicate.name}({', '.join(shown)})", value

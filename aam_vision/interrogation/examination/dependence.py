"""The doubtful step in other perceived states: which literal does its outcome depend on?"""

from __future__ import annotations

from dataclasses import replace

from aam_vision.interrogation.examination.diagnosis import Diagnosis, Family
from aam_vision.interrogation.examination.explanations import in_own_words, separating_literal
from aam_vision.interrogation.examination.inquiry import Inquiry, cut, example
from aam_vision.interrogation.examination.surprises import expected
from aam_vision.interrogation.examination.trials import History, Trial
from aam_vision.query import Access, Situation
from aam_vision.strips import Atom, State

TOGGLED = 150
"""Atoms that are changed one at a time in the doubtful situation, where any state can be made."""


def one_literal_changed(inquiry: Inquiry, doubtful: Trial) -> Diagnosis | None:
    """Conditional, if the step comes out as expected once a single literal of the situation is changed.

    Raises:
        Spent: too many steps have been attempted.
    """
    if inquiry.trials.access is not Access.SETTABLE:
        return None
    state, own = doubtful.before.state, set(doubtful.step.objects)
    atoms = sorted(_atoms(inquiry, state), key=lambda atom: (not own.issuperset(atom.objects), atom))
    found: list[tuple[Atom, Trial]] = []
    strange = inquiry.strange_atoms(doubtful)
    for atom in (atom for atom in atoms[:TOGGLED] if atom not in strange):
        other = replace(state, true=state.true ^ {atom})
        if expected(inquiry.evidence, other, doubtful.step) is False:
            continue
        trial = inquiry.trials.attempt(History(Situation(other, other)), doubtful.step)
        if trial is not None and trial.executed and not inquiry.unexpected(trial):
            found.append((atom, trial))
    if not found:
        return None
    atom, trial = found[0]  # an atom of the step's own objects, if there is one
    if len(found) > 1 and sum(own.issuperset(one.objects) for one, _ in found) != 1:
        return conditional(inquiry, doubtful, trial)
    header = inquiry.evidence.hypotheses[doubtful.step.name].index.header
    text = in_own_words(header, doubtful.step, atom)
    return conditional(inquiry, doubtful, trial, text if atom in state.true else f"not {text}")


def outcomes(inquiry: Inquiry, name: str) -> tuple[list[Trial], list[Trial]]:
    """The steps of an action that should have been executed: those that came out as expected, and the others."""
    applicable = [
        trial
        for trial in inquiry.trials.seen
        if trial.step.name == name and expected(inquiry.evidence, trial.before.state, trial.step) is not False
    ]
    strange = [trial for trial in applicable if inquiry.unexpected(trial)]
    usual = [trial for trial in applicable if not inquiry.unexpected(trial) and trial.executed]
    return usual, strange


def conditional(
    inquiry: Inquiry, doubtful: Trial, normal: Trial | None = None, literal: str | None = None
) -> Diagnosis:
    """Conditional on the perceived state; unknown if nothing shows that it depends on that."""
    evidence, name = inquiry.evidence, doubtful.step.name
    usual, strange = outcomes(inquiry, name)
    header = evidence.hypotheses[name].index.header
    vocabulary = evidence.hypotheses.vocabulary
    literal = literal or separating_literal(vocabulary, header, usual, strange)
    if literal is None and inquiry.steadfast:  # each of them comes out the same every time
        literal = separating_literal(vocabulary, header, usual, strange, enough=1, own=True)
    normal = normal or (usual[0] if usual else None)
    examples = (example(doubtful),) if normal is None else (example(normal), example(doubtful))
    if literal is not None:
        why = f"{name}: conditional, {cut(doubtful.outcome, 40)} where {cut(literal, 40)}"
        return Diagnosis(Family.CONDITIONAL, name, why, examples, literal)
    if len({trial.before.state for trial in strange}) > 1 and usual:
        why = (
            f"{name}: conditional, {cut(doubtful.outcome, 30)} in some states; no single literal tells which"
        )
        return Diagnosis(Family.CONDITIONAL, name, why, examples)
    why = f"{name}: {cut(doubtful.outcome, 50)}, which its model rules out"
    return Diagnosis(Family.UNKNOWN, name, why, examples, by_chance=not inquiry.steadfast)


def _atoms(inquiry: Inquiry, state: State) -> list[Atom]:
    """All type-correct atoms over the state's objects."""
    found: list[Atom] = []
    for predicate in inquiry.evidence.hypotheses.vocabulary.predicates:
        rows: list[tuple[str, ...]] = [()]
        for kind in predicate.types:
            rows = [(*row, name) for row in rows for name in state.objects.of_type(kind)]
        found += [Atom(predicate.name, row) for row in rows]
    return found

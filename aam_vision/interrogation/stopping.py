"""Stopping soundly: complete only with a proof that no query could tell any more."""

from __future__ import annotations

from aam_vision.interrogation.atoms import bits
from aam_vision.interrogation.equivalence import Equivalence, Prospect
from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.moves import Stop
from aam_vision.interrogation.paths import by_problem
from aam_vision.strips import State


def origins(evidence: Evidence) -> list[list[State]]:
    """Per problem, its initial states: all that the agent may ever do begins there.

    So it does under ``trajectory`` access, too, where no query leads back to them: a result that says it is
    complete holds for the agent's problems, not just for what is left of them.
    """
    problems = [[node.state for node in nodes if node.initial] for nodes in by_problem(evidence)]
    return [states for states in problems if states]


def sound_stop(evidence: Evidence) -> Stop:
    """Stop, with a proof that no query could tell any more, or with the number of open questions."""
    equivalence = Equivalence(evidence.hypotheses, origins(evidence))
    open_questions = 0
    for name, action in evidence.hypotheses.actions.items():
        for literal in action.undecided.singles():
            open_questions += equivalence.precondition(name, literal) is not Prospect.CLOSED
        for bit in bits(action.undecided_effects):
            open_questions += equivalence.effect(name, bit) is not Prospect.CLOSED
    if open_questions:
        return Stop(False, f"{open_questions} questions are open, but no way to ask them was found")
    return Stop(True, "no query could tell any more")

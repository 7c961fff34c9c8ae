"""Sound stopping: a result is complete only with a proof that no query could tell anything new."""

from __future__ import annotations

from aam_vision.interrogation.completeness.indistinguishability import Indistinguishability
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Stop
from aam_vision.interrogation.evidence.problems import by_problem
from aam_vision.model.strips import State
from aam_vision.support.wording import counted

NO_WAY = "no way to ask was found"
"""Why a policy stops that knows of open questions, in words."""


def origins(evidence: Evidence) -> list[list[State]]:
    """Per problem, its initial states: everything that the agent may ever do begins there.

    This includes ``trajectory`` access, where no query leads back to them: a complete result holds for the agent's
    problems, not only for the states that can still be reached.
    """
    problems = [[node.state for node in nodes if node.initial] for nodes in by_problem(evidence)]
    return [states for states in problems if states]


def indistinguishability_of(evidence: Evidence) -> Indistinguishability:
    """The proofs of indistinguishability from the evidence at this moment."""
    return Indistinguishability(evidence.hypotheses, origins(evidence))


def sound_stop(equivalence: Indistinguishability) -> Stop:
    """Stop, with a proof that no query could tell anything new, or with the number of open questions."""
    if open_questions := equivalence.open_questions():
        are = "is" if open_questions == 1 else "are"
        why = f"{counted(open_questions, 'question')} {are} open, but {NO_WAY}"
        return Stop(False, why, equivalence.closed)
    return Stop(True, "no query could tell any more", equivalence.closed)

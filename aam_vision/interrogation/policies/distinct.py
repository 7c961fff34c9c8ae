"""Steps that name no object twice, until the first success of an action is likelier with one named twice.

One object may be both the floor and the number of passengers that ``board(?passenger, ?lift, ?floor, ?before, ?after)`` names. A
model of such steps has more atoms to decide, and a step under which atoms coincide tells less of each: so objects are distinct to
begin with. Once an action was refused again and again, what is guessed of its precondition tells whether to go on so: if it holds
far more often under arguments that name an object twice than under any distinct ones, in all situations so far, the former are next.
They are, too, once an action was executed of which hardly any choice of arguments is distinct, such as one that names four levels where
there are four: what is left to learn of it, and of others like it, mostly needs the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from aam_vision.interrogation.beliefs.binding_grid import StateGrid, distinct_share
from aam_vision.interrogation.beliefs.unexecuted_actions import StepValue, UnexecutedAction, UnexecutedActions
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Move, Policy, Stop
from aam_vision.interrogation.queries.first_success import refused_lately
from aam_vision.model.strips import State

DISTINCT = "distinct"
"""The status of an interrogation that should go on with steps that name an object twice."""
PATIENCE = 6
"""Refusals of an action before it may name an object twice. Lower: it is tried sooner, and other domains lose steps by it."""
FAR_LIKELIER = 2.0
"""How much likelier than any other choice one that names an object twice has to be."""

FEW_DISTINCT = 1 / 8
"""Share of all choices of an action's arguments that name no object twice, below which they are few."""


@dataclass
class Distinct:
    """The moves of a policy for ``trajectory`` access; a stop where an action is likelier to succeed if an object is named twice.

    ``unexecuted`` are the policy's own guesses, so that none is made twice.
    """

    policy: Policy
    unexecuted: UnexecutedActions = field(default_factory=UnexecutedActions)

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The policy's move, or the stop."""
        for name, action in evidence.hypotheses.actions.items():
            if (
                action.successes
                and distinct_share(evidence.current.state.objects, action.index.header.types) < FEW_DISTINCT
            ):
                return Stop(False, f"nearly all steps of {name} name an object twice", cut=DISTINCT)
        name = evidence.refusals[-1].action.name if evidence.refusals else ""
        if name and self._may_coincide(evidence, name):
            guesses = StepValue(evidence, self.unexecuted, rng).unexecuted[name]
            if _likelier(guesses, evidence):
                return Stop(False, f"{name} may have to name an object twice", cut=DISTINCT)
        return self.policy.next(evidence, rng)

    def _may_coincide(self, evidence: Evidence, name: str) -> bool:
        """Whether an action was never executed, was refused often, and could name an object twice."""
        action, types = evidence.hypotheses[name], evidence.hypotheses.vocabulary.types
        return (
            not action.successes
            and any(
                types.is_a(one, other) or types.is_a(other, one)
                for one, other in combinations(action.index.header.types, 2)
            )
            and refused_lately(evidence, name) >= PATIENCE
        )


def _likelier(guesses: UnexecutedAction, evidence: Evidence) -> bool:
    """Whether naming an object twice where the agent stands is far likelier to succeed than any distinct objects in any situation so far."""

    def likeliest(state: State, repeated: bool) -> float:
        return guesses.likeliest(StateGrid(state, evidence.hypotheses.vocabulary), repeated=repeated)

    here = evidence.current
    most = likeliest(here.state, repeated=True)
    return most > 0 and all(
        most >= FAR_LIKELIER * likeliest(node.state, repeated=False) for node in (here, *evidence.visited)
    )

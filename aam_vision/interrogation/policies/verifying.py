"""Re-assessment under ``settable`` access: a model learned earlier says where every action should succeed.

That takes the place of walks. Each action is asked for once where the earlier model just allows it: all that it requires
holds, and of the action's other atoms nothing. If it succeeds, no other positive literal is required, and its effects
are seen; if not, it has changed. From there on nothing is believed because it was so before: every precondition is
proven again by a failing near miss, as any sound interrogation must.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from aam_vision.interrogation.evidence import Evidence
from aam_vision.interrogation.moves import Ask, Move
from aam_vision.interrogation.policies.arguments import ArgumentChoices
from aam_vision.interrogation.policies.made_states import with_atoms
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.walking import Walker
from aam_vision.query import Situation
from aam_vision.strips import GroundAction, Model


@dataclass
class VerifyingPolicy:
    """A success of every action where the earlier model expects it; then the economical questions, without walks."""

    prior: Model
    rest: SettablePolicy = field(default_factory=lambda: SettablePolicy(Walker(limit=0)))
    _expected: Iterator[Ask] | None = None

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        if self._expected is None:
            self._expected = self._successes(evidence)
        return next(self._expected, None) or self.rest.next(evidence, rng)

    def _successes(self, evidence: Evidence) -> Iterator[Ask]:
        initial = [node.state for node in evidence.nodes if node.initial]
        start = max(initial, key=lambda state: len(state.objects))
        for name, action in evidence.hypotheses.actions.items():
            schema = self.prior.schema(name)
            required = sum(bit for atom, bit in action.index.bit.items() if atom in schema.positive)
            for objects in ArgumentChoices(start.objects).choices(action.index.header.types):
                state = with_atoms(start, action, objects, required, action.index.everything & ~required)
                node = evidence.situation(Situation(state, state))
                yield Ask(node, (GroundAction(name, objects),), f"see {name} succeed as before")
                break

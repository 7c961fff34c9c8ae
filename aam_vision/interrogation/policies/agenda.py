"""The steps of the paper's algorithm as plain data: what is still to be tried about one pal tuple.

Between two questions the algorithm remembers nothing but such items. Each is attempted on the evidence of its
moment, and gives a question, further items, or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.distinguishing import DistinguishingQuery, resolved
from aam_vision.strips import Mode, PalTuple


@dataclass(frozen=True)
class Question:
    """A move, and the distinguishing query that it poses, if it is one."""

    ask: Ask
    query: DistinguishingQuery | None = None


Attempt = tuple[Question | None, tuple["Item", ...]]
"""The question to ask now, and the items that come next."""
NOTHING: Attempt = (None, ())


class Scene(Protocol):
    """What the items are attempted on: the evidence, and how a query is found under the agent's access."""

    @property
    def evidence(self) -> Evidence: ...
    @property
    def rng(self) -> np.random.Generator: ...
    @property
    def states(self) -> Sequence[Node]:
        """S."""
        ...

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """All that is to be tried about gamma."""
        ...

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """``generate_query`` (Algorithm 2) under the strictest or the loosest M'."""
        ...


class Item(Protocol):
    """One thing to try about a pal tuple."""

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt: ...


class Compare(NamedTuple):
    """Tell two modes of gamma apart (Algorithm 1, lines 8 to 11)."""

    i: Mode
    j: Mode
    strict: bool

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        hypotheses = scene.evidence.hypotheses
        if resolved(hypotheses, pal) or not {self.i, self.j} <= {*hypotheses.modes(pal)}:
            return NOTHING
        query = scene.compare(pal, self.i, self.j, strict=self.strict)
        if query is None:
            return NOTHING
        why = f"tell {self.i.value} from {self.j.value} in {text(hypotheses[pal.action], pal)}"
        return Question(Ask(query.start, query.plan, why), query), ()


def pairs(evidence: Evidence, pal: PalTuple, *, representatives: Sequence[bool]) -> tuple[Item, ...]:
    """Every pair of modes that gamma may have, under every representative M' (``Compare.strict``)."""
    modes = evidence.hypotheses.modes(pal)
    return tuple(Compare(i, j, strict) for i, j in combinations(modes, 2) for strict in representatives)


def filter_models(hypotheses: Hypotheses, pal: PalTuple, modes: Sequence[Mode]) -> frozenset[Mode]:
    """The modes whose models the answers have pruned (paper, "Filtering Possible Models").

    An answer is compared with all possible models at once when it becomes evidence. So this prunes
    whatever the paper's comparison of the two models M' + gamma^i and M' + gamma^j does, and more.
    """
    return frozenset(modes).difference(hypotheses.modes(pal))


def refusals(evidence: Evidence, name: str) -> int:
    """How often the agent has refused the action."""
    return sum(refusal.action.name == name for refusal in evidence.refusals)


def text(action: ActionHypotheses, pal: PalTuple) -> str:
    """The pal tuple as the paper writes it."""
    literal = action.index.text(Literals(action.index.bit[pal.atom], 0))[0]
    return f"<{literal}, {pal.action}, {pal.location.value}>"

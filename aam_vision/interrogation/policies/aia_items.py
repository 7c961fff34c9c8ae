"""The steps of the paper's algorithm as plain data: what is still to be tried about one pal tuple.

Between two questions the algorithm remembers nothing but such items. Each is attempted on the evidence of its
moment, and gives a question, further items, or nothing. ``Compare`` poses the distinguishing queries; the others are
``update_pal_ordering`` where any state may be asked about (paper, "Updating PAL ordering"): it takes a state in which
the agent can execute the action, and changes one atom at a time. An action that was never executed is first made to
succeed, in states set up for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple, Protocol

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.interrogation.policies.distinguishing import DistinguishingQuery, resolved
from aam_vision.interrogation.queries.constructed_states import ask_in, with_atoms
from aam_vision.joins import FactIndex, Row, bindings
from aam_vision.strips import GroundAction, Location, Mode, PalTuple, State

MAX_ATTEMPTS = 120
"""Refusals of an action that was never executed after which it is given up."""
MAX_PLACES = 50
"""Arguments looked at in one state of S, for some among which there is no constant."""


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
        index = hypotheses[pal.action].index
        (literal,) = index.text(Literals(index.bit[pal.atom], 0))
        gamma = f"<{literal}, {pal.action}, {pal.location.value}>"
        why = f"tell {self.i.value} from {self.j.value} in {gamma}"
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


# --- update_pal_ordering ----------------------------------------------------------------------------


class Update(NamedTuple):
    """``update_pal_ordering``, if no mode was pruned (Algorithm 1, lines 14 and 15).

    ``pal`` comes first, then what a refusal may have been about.
    """

    modes: tuple[Mode, ...]
    """Those that gamma could have before."""
    refusals: int
    """How many there were before."""

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        hypotheses = scene.evidence.hypotheses
        if filter_models(hypotheses, pal, self.modes) or resolved(hypotheses, pal):
            return NOTHING
        failed = len(scene.evidence.refusals) > self.refusals
        return None, (FirstSuccess(0, hypotheses[pal.action].negative), ChangeOneByOne(failed))


class FirstSuccess(NamedTuple):
    """Set up states until the agent executes an action that it was never seen to execute."""

    turn: int
    singles: int
    """The atoms to make false one by one."""

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        name = pal.action
        action = scene.evidence.hypotheses[name]
        if action.successes or refusals(scene.evidence, name) >= MAX_ATTEMPTS:
            return NOTHING
        place = _place(scene, action)
        if place is None:
            return NOTHING
        state, objects = place
        for turn in range(self.turn, MAX_ATTEMPTS * 4):
            off = self._off(turn, action, scene.rng)
            changed = with_atoms(state, action, objects, action.index.everything & ~off, off)
            if not action.certain_to_fail(action.violated(*action.index.values(changed, objects))):
                question = _question(scene, changed, GroundAction(name, objects), f"see {name} succeed")
                if question is not None:
                    return question, (FirstSuccess(turn + 1, self.singles),)
        return NOTHING

    def _off(self, turn: int, action: ActionHypotheses, rng: np.random.Generator) -> int:
        """Atoms to make false, the others being made true: none, then one, and random ones, by turns."""
        if turn == 0:
            return 0
        singles = list(bits(self.singles))
        number, is_random = divmod(turn - 1, 2)
        if number >= len(singles):
            number, is_random = turn - 1 - len(singles), True
        if not is_random:
            return singles[number]
        chance = rng.random(len(action.index.atoms))
        share = (0.5, 0.25)[number % 2]
        return sum(1 << place for place, drawn in enumerate(chance) if drawn < share)


class ChangeOneByOne(NamedTuple):
    """Change gamma's atom in an executable state; then those that may be why a query ``failed``."""

    failed: bool

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        edge = executable(scene, pal)
        if edge is None:
            return NOTHING
        bit = scene.evidence.hypotheses[pal.action].index.bit[pal.atom]
        later = (ChangeSuspects(edge),) if self.failed else ()
        return None, (*_changes(scene, pal.action, edge, bit, pal.location), *later)


class ChangeSuspects(NamedTuple):
    """Change one by one what refusals of the action may have been about."""

    edge: int

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        clauses = scene.evidence.hypotheses[pal.action].clauses
        suspects = [bit for clause in clauses for bit in bits(clause.positive | clause.negative)]
        return None, tuple(
            change for bit in suspects for change in _changes(scene, pal.action, self.edge, bit, Location.PRE)
        )


class Change(NamedTuple):
    """Give one atom a value in an executable state, and see whether the agent still executes the action."""

    edge: int
    bit: int
    location: Location
    value: bool

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        step = scene.evidence.edges[self.edge]
        action = scene.evidence.hypotheses[pal.action]
        objects = step.action.objects
        on, off = (self.bit, 0) if self.value else (0, self.bit)
        changed = with_atoms(step.before.state, action, objects, on, off)
        atom = action.index.atom(self.bit)
        if resolved(scene.evidence.hypotheses, PalTuple(atom, pal.action, self.location)):
            return NOTHING
        if action.certain_to_fail(action.violated(*action.index.values(changed, objects))):
            return NOTHING
        why = f"change {atom.text(action.index.header.parameters)}"
        return _question(scene, changed, GroundAction(pal.action, objects), why), ()


def executable(scene: Scene, pal: PalTuple) -> int | None:
    """The number of a step of gamma's action that the agent executed, those from states in S first."""
    index = scene.evidence.hypotheses[pal.action].index
    bit = index.bit[pal.atom]
    members = {node.number for node in scene.states}
    found = None
    for number, edge in enumerate(scene.evidence.edges):
        usable = edge.action.name == pal.action and not edge.before.state.unknown
        if usable and not index.shared(edge.action.objects) & bit:
            if edge.before.number in members:
                return number
            found = number if found is None else found
    return found


def _changes(scene: Scene, name: str, edge: int, bit: int, location: Location) -> tuple[Change, ...]:
    """The other value first: where it is refused or changes something, that tells most."""
    step = scene.evidence.edges[edge]
    held, _ = scene.evidence.hypotheses[name].index.values(step.before.state, step.action.objects)
    values = (not held & bit, bool(held & bit))
    return tuple(Change(edge, bit, location, value) for value in values)


def _place(scene: Scene, action: ActionHypotheses) -> tuple[State, Row] | None:
    """A state in S and arguments for the action; no constant among them if that can be."""
    found = None
    for node in scene.states:
        facts = FactIndex(node.state.objects)
        for objects in islice(bindings(facts, action.index.header, ()), MAX_PLACES):
            if not action.index.shared(objects):
                return node.state, objects
            found = found or (node.state, objects)
    return found


def _question(scene: Scene, state: State, step: GroundAction, why: str) -> Question | None:
    """One step in a state set up for it, unless the answer is stored already."""
    if scene.evidence.was_seen_in(state, step):
        return None
    return Question(ask_in(scene.evidence, state, (step,), why))

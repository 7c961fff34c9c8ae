"""The steps of the paper's algorithm as plain data: what is still to be tried about one pal tuple.

Between two questions the algorithm remembers nothing but such items. Each is attempted on the evidence of its
moment, and gives a question, further items, or nothing. ``Compare`` poses the distinguishing queries; the others are
``update_pal_ordering`` where any state may be asked about (paper, "Updating PAL ordering"): it takes a state in which
the agent can execute the action, and changes one atom at a time. An action that was never executed is first made to
succeed, in states set up for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple, Protocol

import numpy as np

from aam_vision.interrogation.beliefs.candidates import NaturalBeliefs
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Ask, Walk
from aam_vision.interrogation.hypotheses.literals import Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.interrogation.policies.distinguishing import (
    DistinguishingQuery,
    QueryGenerator,
    loosest,
    resolved,
    strictest,
)
from aam_vision.interrogation.queries.first_success import (
    ask_in,
    near_misses,
    reachable_first_success,
    revealing_step,
    with_atoms,
)
from aam_vision.interrogation.queries.reachability import (
    BoundedSearch,
    KnownReachability,
    PlannedNearMiss,
    Reachability,
)
from aam_vision.model.strips import GroundAction, Location, Mode, PalTuple, State
from aam_vision.planning.joins import FactIndex, Row, bindings
from aam_vision.planning.planner import Verdict
from aam_vision.planning.ppo import telling

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

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """All that is to be tried about gamma."""

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """``generate_query`` (Algorithm 2) under the strictest or the loosest M'."""


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


# How AIA finds a distinguishing query under the agent's access.
#
# Where any state may be asked about (``ConstructedScene``), queries begin in the states of S, which walks have collected.
#
# Elsewhere (``SeenScene``: ``snapshot`` and ``reset``) every query begins in a situation that was seen, and S is every
# situation seen so far. P_PO is solved from all of them at once: by a near miss in one of them if a single step tells the
# models apart, else by a plan. M' is the strictest model whose P_PO has a solution: where the literals that may be required
# cannot all hold beside the telling value (as far as h^2 mutexes and the planner know), it does without some of them. What
# then violates several literals leaves a clause, if it is refused. Values that were not seen are never relied on: where
# gamma's atom is unknown, no query is made.


class ConstructedScene:
    """Where any state may be asked about: queries over S, and states made for ``update_pal_ordering``."""

    def __init__(
        self,
        evidence: Evidence,
        states: Sequence[Node],
        rng: np.random.Generator,
        searches: BoundedSearch,
        paths: Reachability,
    ) -> None:
        self.evidence = evidence
        self.states = states
        self.rng = rng
        self._generator = QueryGenerator(evidence, states, searches, paths)

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """Every pair of modes, under the strictest and the loosest M'; then ``update_pal_ordering``."""
        update = Update(self.evidence.hypotheses.modes(pal), len(self.evidence.refusals))
        return *pairs(self.evidence, pal, representatives=(True, False)), update

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """A query from a state in S."""
        action = self.evidence.hypotheses[pal.action]
        if not action.successes and refusals(self.evidence, pal.action) >= MAX_ATTEMPTS:
            return None
        required = strictest(action) if strict else loosest(action)
        return self._generator.generate_query(required, i, j, pal, planned=strict)


class Guess(NamedTuple):
    """See an action succeed that no walk has shown: a guess at where, from what is rare."""

    def attempt(self, scene: Scene, pal: PalTuple) -> Attempt:
        question = scene.first_success(pal.action) if isinstance(scene, SeenScene) else None
        return NOTHING if question is None else (question, (Guess(),))


class SeenScene:
    """Where a query begins in a situation that was seen."""

    def __init__(
        self, evidence: Evidence, rng: np.random.Generator, searches: BoundedSearch, known: KnownReachability
    ) -> None:
        self.evidence = evidence
        self.rng = rng
        self._searches = searches
        self._known = known

    @property
    def states(self) -> Sequence[Node]:
        """S: every situation that was seen."""
        return self.evidence.visited

    def visit(self, pal: PalTuple) -> tuple[Item, ...]:
        """A first success if there was none, and then every pair of modes.

        There is no ``update_pal_ordering``: no state can be changed, and the other pal tuples that a refusal may be
        about have their own turn.
        """
        return Guess(), *pairs(self.evidence, pal, representatives=(True,))

    def first_success(self, name: str) -> Question | None:
        """A query whose last step is an action that was never executed, where it is most likely to succeed."""
        if self.evidence.hypotheses[name].successes:
            return None
        beliefs = NaturalBeliefs(self.evidence.hypotheses, self.evidence.visited)
        paths = self._known.of(self.evidence)
        ask = reachable_first_success(self.evidence, name, beliefs, paths, self._searches)
        return None if ask is None else Question(ask)

    # --- generate_query --------------------------------------------------------------------------

    def compare(self, pal: PalTuple, i: Mode, j: Mode, *, strict: bool) -> DistinguishingQuery | None:
        """A query that distinguishes M' + gamma^i from M' + gamma^j, not asked yet; None if none is found."""
        action = self.evidence.hypotheses[pal.action]
        if not action.successes:
            return None
        bit = action.index.bit[pal.atom]
        for value in telling(i, j):
            wanted = Literals(bit, 0) if value else Literals(0, bit)
            found = self._step(action, pal, wanted) or self._plan(action, wanted)
            if found is not None:
                start, plan, required = found
                return DistinguishingQuery(pal, i, j, required, start, plan)
        return None

    def _step(self, action: ActionHypotheses, pal: PalTuple, wanted: Literals) -> _Solution | None:
        """A solution of one step, under the strictest M'."""
        for node in self.states:
            for step in _telling_steps(action, node, pal, wanted):
                if not self.evidence.answer_follows(node, (step,)):
                    return node, (step,), action.candidates
        return None

    def _plan(self, action: ActionHypotheses, wanted: Literals) -> _Solution | None:
        """A solution of any number of steps, under the strictest M' that has one."""
        options = []
        target = wanted.opposite()
        others = [literal for literal in action.undecided.singles() if not literal.within(target)]
        for paths in self._known.of(self.evidence):
            required = paths.gather_open(action, target, others)
            if required is not None:
                options.append((action.undecided.without(required).size(), paths, required))
        unreachable = []
        for _, paths, required in sorted(options, key=lambda option: option[0]):
            found = self._reach(paths, action, wanted, required)
            if isinstance(found, tuple):
                return found
            if found is Verdict.UNSOLVABLE:
                unreachable.append((paths, required))
        for paths, required in unreachable:
            # three literals may exclude each other where any two of them do not
            for literal in required.common(action.undecided).without(wanted).singles():
                found = self._reach(paths, action, wanted, required.without(literal))
                if isinstance(found, tuple):
                    return found
        return None

    def _reach(
        self,
        paths: Reachability,
        action: ActionHypotheses,
        wanted: Literals,
        required: Literals,
    ) -> _Solution | Verdict | None:
        planned = self._searches.reach(paths, action, required)
        if not isinstance(planned, PlannedNearMiss):
            return planned
        plan = (*planned.path, planned.step)
        state = self.evidence.predict_plan(planned.start.state, planned.path)
        violated = action.violated(*action.index.values(state, planned.step.objects))
        if not wanted.within(_values(action, state, planned.step)) or action.certain_to_fail(violated):
            return None
        if self.evidence.answer_follows(planned.start, plan):
            return None
        return planned.start, plan, required


_Solution = tuple[Node, tuple[GroundAction, ...], Literals]
"""Where a query begins, its plan, and what M' requires of its last step."""


def _telling_steps(
    action: ActionHypotheses, node: Node, pal: PalTuple, wanted: Literals
) -> Iterator[GroundAction]:
    """Steps in a situation that tell of gamma alone."""
    if pal.location is Location.PRE:
        for near_miss in near_misses(action, node.index, wanted.opposite()):
            yield near_miss.action
    else:
        step = revealing_step(action, node.index, wanted.positive | wanted.negative)
        if step is not None and wanted.within(_values(action, node.state, step)):
            yield step


def _values(action: ActionHypotheses, state: State, step: GroundAction) -> Literals:
    """The literals of the action that are known to hold in a state."""
    held, dim = action.index.values(state, step.objects)
    return Literals(held, action.index.everything & ~(held | dim))


# S, the random states that AIA's queries start from, collected by walks (paper, "Query Generation").

STRIDE = 25
"""Steps of one walk from an initial situation."""
COLLECT = "collect states"
"""Why the walks are made that collect S."""


def random_states(evidence: Evidence, rng: np.random.Generator, count: int) -> list[Node]:
    """S: the initial situations, one situation in which each action was executed, and random others."""
    chosen = {node.number: node for node in evidence.initial}
    executed: set[str] = set()
    for edge in evidence.edges:
        if edge.action.name not in executed:
            executed.add(edge.action.name)
            chosen.setdefault(edge.before.number, edge.before)
    for number in rng.permutation(len(evidence.nodes)):
        chosen.setdefault(int(number), evidence.nodes[int(number)])
    return list(chosen.values())[:count]


def next_walk(evidence: Evidence, limit: int) -> Walk | None:
    """The next walk that collects S, from the initial situations in turn; None after ``limit`` steps in all."""
    made = sum(
        isinstance(exchange.move, Walk) and exchange.move.why == COLLECT for exchange in evidence.exchanges
    )
    initial, steps = evidence.initial, min(STRIDE, limit - made * STRIDE)
    return Walk(initial[made % len(initial)], steps, COLLECT) if steps > 0 and initial else None

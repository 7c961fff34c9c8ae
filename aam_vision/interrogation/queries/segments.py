"""The segments of which a query is made: each is some steps that should succeed, and then one whose outcome is open.

A query ends at its first refusal. So a segment that probably succeeds costs no query of its own: another one follows it,
from the situation and with the knowledge that its success would bring. Such an assumed *standpoint* is searched just as
the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.beliefs.candidates import LIKELY, Beliefs
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses, atoms
from aam_vision.interrogation.queries.first_success import near_misses
from aam_vision.interrogation.queries.reachability import BoundedSearch, PlannedNearMiss, Reachability
from aam_vision.model.strips import GroundAction, LiftedAtom, Objects, State
from aam_vision.planning.fact_tables import Absence, Condition, Numbers, ObjectNumbers, Table
from aam_vision.planning.joins import Row
from aam_vision.planning.planner import Verdict
from aam_vision.planning.relations import Relation, TooManyBindings

FEW = 8
"""Fewer situations than this are looked at one by one."""
GROUP_RISK = 0.5
"""A group of candidates is violated together only if that succeeds with at least this probability."""


@dataclass(frozen=True)
class Segment:
    """Steps from a situation; the last one's action has these literals violated."""

    start: Node
    steps: tuple[GroundAction, ...]
    violated: Literals
    success: float
    """How probable it is that all steps are executed."""

    @property
    def name(self) -> str:
        """The action of the last step."""
        return self.steps[-1].name


class Standpoint:
    """What is known, or assumed for a moment, and the situations from which a query may begin or go on."""

    def __init__(self, evidence: Evidence, hypotheses: Hypotheses, nodes: Sequence[Node]) -> None:
        self.evidence = evidence
        self.hypotheses = hypotheses
        self.nodes = nodes

    @property
    def real(self) -> bool:
        """Whether all this is known, and nothing assumed."""
        return self.hypotheses is self.evidence.hypotheses

    def after(self, segment: Segment) -> Standpoint:
        """Where a query stands, and what it has told, if the segment is executed to its end."""
        last = segment.steps[-1]
        before = self.evidence.predict_plan(segment.start.state, segment.steps[:-1])
        values = self.hypotheses[last.name].index.values(before, last.objects)
        assumed = self.hypotheses.assuming(last.name, *values)
        after = Node(self.evidence.predict(before, last), None, segment.start.number)
        return Standpoint(self.evidence, assumed, [after])


def success(beliefs: Beliefs, name: str, action: ActionHypotheses, violated: Literals) -> float:
    """The probability that a step which violates these literals is executed."""
    return prod(1 - beliefs.probability(name, literal, action) for literal in violated.singles())


class SegmentFinder:
    """Finds segments of a single step, in the situations of a standpoint, by joins over their atoms."""

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._tables = SituationTables()
        self._scanned: dict[tuple[str, Literals, Literals], tuple[int, int, int]] = {}
        """By what was looked for: the versions of the action and of the evidence, and how many situations were."""

    def refutation(self, standpoint: Standpoint) -> Segment | None:
        """A step that should succeed and refute as many probably spurious candidates as possible."""
        for name, action in standpoint.hypotheses.actions.items():
            suspects = union(
                literal
                for literal in action.undecided.singles()
                if self._beliefs.probability(name, literal, action) <= LIKELY
            )
            if found := self._best(standpoint, name, suspects, least=GROUP_RISK):
                return found
        return None

    def proof(self, standpoint: Standpoint) -> Segment | None:
        """A near miss of one candidate, the most doubtful first."""
        targets = sorted(
            (self._beliefs.probability(name, literal, action), name, literal)
            for name, action in standpoint.hypotheses.actions.items()
            if action.successes
            for literal in action.undecided.singles()
        )
        for _, name, literal in targets:
            if found := self._best(standpoint, name, literal, target=literal):
                return found
        return None

    def _best(
        self,
        standpoint: Standpoint,
        name: str,
        suspects: Literals,
        target: Literals = NOTHING,
        least: float = 0.0,
    ) -> Segment | None:
        """The step that may be expected to refute most, and violates suspects only and the target at least."""
        action = standpoint.hypotheses[name]
        if not suspects or not action.successes:
            return None
        key = name, suspects, target
        version = action.version, standpoint.evidence.learned
        begin = 0
        if standpoint.real and key in self._scanned:
            *scanned, begin = self._scanned[key]
            begin = begin if tuple(scanned) == version else 0
        best: Segment | None = None
        most = 0.0
        known: dict[Literals, float] = {}
        for node in self._promising(standpoint, action, suspects, target, least, begin):
            for probe in near_misses(action, node.index, suspects):
                violated = probe.violated
                if not target.within(violated) or not _may_be_told(action, node, probe.action):
                    continue
                if violated not in known:
                    known[violated] = success(self._beliefs, name, action, violated)
                chance = known[violated]
                value = chance * violated.size()
                if chance >= least and (best is None or value > most):
                    best, most = Segment(node, (probe.action,), violated, chance), value
            if best is not None and best.violated == suspects:
                break
        if best is None and standpoint.real:
            self._scanned[key] = (*version, len(standpoint.nodes))
        return best

    def _promising(
        self,
        standpoint: Standpoint,
        action: ActionHypotheses,
        suspects: Literals,
        target: Literals,
        least: float,
        begin: int,
    ) -> Sequence[Node]:
        """The situations that are better than all before them: the only ones that need a closer look.

        Where there are few, or too many bindings, or something was not told of steps like these, these are all.
        """
        nodes = standpoint.nodes[begin:]
        if not standpoint.real or len(nodes) < FEW or action.untold:
            return nodes
        trusted = action.candidates.without(suspects)
        watched = action.positive | action.negative
        try:
            patterns = self._tables.patterns(standpoint.nodes, action, trusted, watched, begin)
        except TooManyBindings:
            return nodes
        values: dict[int, float] = {}
        name = action.index.header.name
        for held, unknown, first in patterns:
            violated = action.violated(held, unknown)
            if (
                not target.within(violated)
                or not action.certainly_violated(held, unknown)
                or action.certain_to_fail(violated)
            ):
                continue
            chance = success(self._beliefs, name, action, violated)
            if chance >= least:
                values[first] = max(values.get(first, 0.0), chance * violated.size())
        promising, most = [], -1.0
        for first in sorted(values):
            if values[first] > most:
                promising.append(standpoint.nodes[first])
                most = values[first]
        return promising


def _may_be_told(action: ActionHypotheses, node: Node, step: GroundAction) -> bool:
    return not action.untold or action.may_be_told(*action.index.values(node.state, step.objects))


# Near misses in hundreds of situations at once: the situations' facts as tables, joined by :mod:`aam_vision.planning.relations`.
#
# A fact that differs between situations gets the situation's number as a further argument; what is the same everywhere is
# kept once. The answer says which values the atoms of an action have where certain atoms hold, and in which situation first.

MAX_BINDINGS = 100_000
"""Bindings that are looked at together. More: longer scans of situations in which little is known to be required."""


class Pattern(NamedTuple):
    """Values of an action's atoms under some arguments, and the first situation where they are found."""

    held: int
    unknown: int
    first: int
    """The place of the situation in the list of them."""


class SituationTables:
    """The situations of all problems as tables that grow with them.

    A row of a predicate that differs within a problem ends with the number of the situation; of another one, with that
    of the problem.
    """

    def __init__(self) -> None:
        self._problems: list[Objects] = []
        self._numbers = ObjectNumbers()
        self._states: list[State] = []
        self._problem_of: list[int] = []
        self._bases: dict[int, State] = {}
        """A state of each problem, with which the others are compared."""
        self._changing: set[str] = set()
        self._rows: dict[tuple[int, bool], dict[str, Numbers]] = {}
        """Per situation, true or unknown facts of the predicates that differ within a problem."""
        self._tables: dict[tuple[str, bool], Table | None] = {}
        self._members: dict[str, Table] = {}

    def patterns(
        self, nodes: Sequence[Node], action: ActionHypotheses, required: Literals, watched: int, begin: int
    ) -> list[Pattern]:
        """The values of the watched atoms wherever the required literals hold, from the place ``begin`` on.

        Raises:
            TooManyBindings: there are too many bindings to look at.
        """
        self._take_in([node.state for node in nodes])
        header, arity = action.index.header, action.index.header.arity
        conditions = []
        for atom in atoms(action, required.positive):
            condition = self._condition(atom, arity, True)
            if condition is None:
                return []
            conditions.append(condition)
        absences = [
            Absence(*condition[:2], np.full(len(condition.table), -1))
            for atom in atoms(action, required.negative)
            for known in (True, False)
            if (condition := self._condition(atom, arity, known)) is not None
        ]
        conditions += self._existing(header.types, conditions)
        given = np.full((max(len(self._states) - begin, 0), arity + 2), -1, dtype=np.int64)
        given[:, arity] = np.arange(begin, begin + len(given))
        given[:, arity + 1] = self._problem_of[begin:]
        allowed = [*(self._numbers.members(kind) for kind in header.types), None, None]
        relation = Relation(allowed, conditions, absences)
        found: dict[tuple[int, int], int] = {}
        looked = 0
        for rows in relation.solutions(given) if len(given) else ():
            looked += len(rows)
            if looked > MAX_BINDINGS:
                raise TooManyBindings(f"{MAX_BINDINGS} bindings")
            self._collect(found, rows, action, watched)
        return [Pattern(*values, first) for values, first in found.items()]

    def _existing(self, kinds: Sequence[str], conditions: Sequence[Condition]) -> list[Condition]:
        """That an object is there in the problem, and of the type, where no condition says so."""
        if len(self._problems) == 1:
            return []
        arity = len(kinds)
        named = {argument for condition in conditions for argument in condition.arguments}
        return [
            Condition(self._members_of(kind), (parameter, arity + 1))
            for parameter, kind in enumerate(kinds)
            if parameter not in named or self._numbers.ambiguous
        ]

    def _members_of(self, kind: str) -> Table:
        if kind not in self._members:
            rows = [
                (self._numbers.of[name], number)
                for number, objects in enumerate(self._problems)
                for name in objects.of_type(kind)
            ]
            self._members[kind] = self._table_of(np.array(rows, dtype=np.int64).reshape(len(rows), 2))
        return self._members[kind]

    def _collect(
        self, found: dict[tuple[int, int], int], rows: Numbers, action: ActionHypotheses, watched: int
    ) -> None:
        """Add the values under these bindings, each with the first situation that shows them."""
        selected = [(number, atom) for number, atom in enumerate(action.index.atoms) if watched >> number & 1]
        size, arity = max(len(action.index.atoms), 1), action.index.header.arity
        values = np.zeros((len(rows), 2, size), dtype=bool)
        for number, atom in selected:
            for kind in (0, 1):
                condition = self._condition(atom, arity, kind == 0)
                if condition is not None:
                    values[:, kind, number] = condition.holds(rows)
        packed = np.packbits(values, axis=2, bitorder="little")
        width = packed.shape[2]
        keys = np.ascontiguousarray(packed.reshape(len(rows), 2 * width)).view([("", np.uint8)] * (2 * width))
        unique, inverse = np.unique(keys.ravel(), return_inverse=True)
        first = np.full(len(unique), len(self._states), dtype=np.int64)
        np.minimum.at(first, inverse, rows[:, arity])
        for key, number in zip(unique, first.tolist(), strict=True):
            data = key.tobytes()
            values_ = int.from_bytes(data[:width], "little"), int.from_bytes(data[width:], "little")
            found[values_] = min(number, found.get(values_, number))

    # --- the tables --------------------------------------------------------------------------------

    def _take_in(self, states: list[State]) -> None:
        """Take in the states of the situations; those that are known already are the same objects."""
        old = self._states
        changed = [n for n, state in enumerate(states) if n >= len(old) or state is not old[n]]
        if not changed and len(states) == len(old):
            return
        self._states, self._problem_of = states, self._problem_of[: len(states)]
        for number in changed:
            state = states[number]
            problem = self._problem(state.objects)
            self._problem_of[number : number + 1] = [problem]
            base = self._bases.setdefault(problem, state)
            self._changing |= {name for name, _ in (state.true ^ base.true) | state.unknown}
            self._rows.pop((number, True), None)
            self._rows.pop((number, False), None)
        self._tables.clear()

    def _problem(self, objects: Objects) -> int:
        """The number of the problem with these objects."""
        for number, known in enumerate(self._problems):
            if known is objects or known == objects:
                return number
        self._problems.append(objects)
        self._numbers = ObjectNumbers(*self._problems)
        self._rows.clear()
        self._members.clear()
        return len(self._problems) - 1

    def _condition(self, atom: LiftedAtom, arity: int, known: bool) -> Condition | None:
        """The atom as a condition on a table; None where no situation has such facts."""
        key = atom.predicate, known
        if key not in self._tables:
            self._tables[key] = self._made_table(*key)
        table = self._tables[key]
        if table is None:
            return None
        last = arity if atom.predicate in self._changing else arity + 1
        return Condition(table, (*self._numbers.arguments(atom), last))

    def _made_table(self, predicate: str, known: bool) -> Table | None:
        if predicate in self._changing:
            parts = [(number, self._facts(number, predicate, known)) for number in range(len(self._states))]
        else:
            parts = [
                (problem, self._numbered(base, predicate, known)) for problem, base in self._bases.items()
            ]
        filled = [np.column_stack([rows, np.full(len(rows), last)]) for last, rows in parts if len(rows)]
        return self._table_of(np.concatenate(filled)) if filled else None

    def _table_of(self, rows: Numbers) -> Table:
        return Table(rows, max(len(self._numbers), len(self._states), len(self._problems)) + 1)

    def _numbered(self, state: State, predicate: str, known: bool) -> Numbers:
        rows = [row for name, row in (state.true if known else state.unknown) if name == predicate]
        return self._numbers.rows(rows, len(rows[0]) if rows else 0)

    def _facts(self, number: int, predicate: str, known: bool) -> Numbers:
        """The rows of one predicate in one situation; all that differ are numbered together."""
        if predicate not in (rows := self._rows.get((number, known), {})):
            state = self._states[number]
            facts: dict[str, list[Row]] = {name: [] for name in sorted(self._changing)}
            for name, row in (
                state.true if known else state.unknown
            ):  # tables are sorted: the order is of no account
                if name in facts:
                    facts[name].append(row)
            rows = {name: self._numbers.rows(own, len(own[0]) if own else 0) for name, own in facts.items()}
            self._rows[number, known] = rows
        return rows[predicate]


# Segments that begin with a plan: they lead to situations that nobody has seen yet, in which a near miss is possible.
#
# For every open candidate the planner is asked for the situation that would tell most about it: one where the candidate is
# violated while all that is probably a precondition holds, and where of what is probably none as much is violated with it
# as is worth the risk.

DOUBT = 0.1
"""What succeeds with at least this probability is asked early, while there are near misses to follow it."""
Wanted = Callable[[str, Literals], bool]


class Option(NamedTuple):
    """What should hold where an action is asked; ``rank`` says which to try first."""

    rank: tuple[float, ...]
    name: str
    path: Reachability
    holding: Literals
    target: Literals
    """The candidate that is violated there."""


@dataclass
class PlannedSegments:
    """Finds segments that begin with a plan."""

    beliefs: Beliefs
    searches: BoundedSearch
    on_the_way: BoundedSearch
    """Those for a further segment of a query."""

    def find(
        self, standpoint: Standpoint, paths: list[Reachability], wanted: Wanted, *, relax: bool = False
    ) -> Iterator[Segment]:
        """Segments about the wanted candidates, what tells most per query first.

        With ``relax`` less is asked to hold where there is no plan to all that should.
        """
        if self._searches(standpoint).exhausted:
            return
        options = sorted(self._options(standpoint, paths, wanted), key=lambda option: option.rank)
        unreachable = []
        deferred: list[Segment] = []
        for option in options:
            if option.rank[0] > 1:
                yield from deferred
                deferred = []
            segment = self._planned(standpoint, option, option.holding)
            if segment is Verdict.LIMIT:
                segment = self._planned(standpoint, option, self._needed(standpoint, option))
            if isinstance(segment, Segment):
                if option.rank[0] == 1 and self._spare(standpoint, option, segment.violated):
                    deferred.append(segment)
                    continue
                yield segment
            elif segment is Verdict.UNSOLVABLE:
                unreachable.append(option)
        yield from deferred
        for option in unreachable if relax else ():
            for holding in self._relaxed(standpoint.hypotheses[option.name], option):
                segment = self._planned(standpoint, option, holding)
                if isinstance(segment, Segment):
                    yield segment

    def _spare(self, standpoint: Standpoint, option: Option, violated: Literals) -> bool:
        """Whether some of the violated literals need not be violated with the target: a refusal would have to be asked again."""
        action = standpoint.hypotheses[option.name]
        fixed = union([action.proven, option.target.opposite()])
        return any(
            literal != option.target
            and (held := option.path.gather(action, fixed, [literal])) is not None
            and literal.within(held)
            for literal in violated.singles()
        )

    def _needed(self, standpoint: Standpoint, option: Option) -> Literals:
        """What should hold without the candidates that would only be refuted by the way: these may be too much to ask."""
        undecided, holding = standpoint.hypotheses[option.name].undecided, option.holding
        by_the_way = undecided.opposite().common(holding).without(undecided).without(option.target.opposite())
        return holding.without(by_the_way)

    def _relaxed(self, action: ActionHypotheses, option: Option) -> Iterator[Literals]:
        """The same with one literal less that should hold, the least probable precondition first.

        Three literals may exclude each other where any two of them do not.
        """
        spared = option.holding.common(action.undecided).singles()
        for _, literal in sorted((self.beliefs.probability(option.name, one, action), one) for one in spared):
            yield option.holding.without(literal)

    def _options(self, standpoint: Standpoint, paths: list[Reachability], wanted: Wanted) -> Iterator[Option]:
        for name, action in standpoint.hypotheses.actions.items():
            if not action.successes:
                continue
            chance = {
                literal: self.beliefs.probability(name, literal, action)
                for literal in action.undecided.singles()
            }
            for target in chance:
                if not wanted(name, target):
                    continue
                order = self._order(action, target, chance)
                for path in paths:
                    holding = path.gather_open(action, target, order)
                    if holding is not None:
                        rank = self._rank(name, action, action.undecided.without(holding))
                        yield Option(rank, name, path, holding, target)

    def _order(
        self, action: ActionHypotheses, target: Literals, chance: dict[Literals, float]
    ) -> list[Literals]:
        """What should hold beside the violated target: first what is most probably a precondition."""
        risk = 1 - chance[target]
        others = sorted((p, literal) for literal, p in chance.items() if literal != target)
        holding: list[tuple[float, Literals]] = []
        violating = []
        for p, literal in others:
            opposite = literal.opposite()
            if risk * (1 - p) >= GROUP_RISK and opposite not in chance:
                risk *= 1 - p
                violating.append(opposite)
            else:
                holding.append((p, literal))
        return [literal for _, literal in reversed(holding)] + violating

    def _rank(self, name: str, action: ActionHypotheses, violated: Literals) -> tuple[float, ...]:
        """Refutations first, those of most candidates; then doubtful ones; then what violates least."""
        chance = success(self.beliefs, name, action, violated)
        if chance >= GROUP_RISK:
            return (0, -chance * violated.size())
        if chance >= DOUBT:
            return (1, -chance)
        return (1 + violated.size(), -chance)

    def _planned(self, standpoint: Standpoint, option: Option, holding: Literals) -> Segment | Verdict | None:
        name, action = option.name, standpoint.hypotheses[option.name]
        start = None if standpoint.real else standpoint.nodes[0]
        planned = self._searches(standpoint).reach(option.path, action, holding, start)
        if not isinstance(planned, PlannedNearMiss):
            return planned
        start, path, step = planned
        state = standpoint.evidence.predict_plan(start.state, path)
        held, dim = action.index.values(state, step.objects)
        violated = action.violated(held, dim)
        if not action.certainly_violated(held, dim) or action.certain_to_fail(violated):
            return None
        if not action.may_be_told(held, dim):
            return None
        return Segment(start, (*path, step), violated, success(self.beliefs, name, action, violated))

    def _searches(self, standpoint: Standpoint) -> BoundedSearch:
        return self.searches if standpoint.real else self.on_the_way

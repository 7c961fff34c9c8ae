"""All questions and answers so far: the only memory of an interrogation.

The evidence is a graph of situations (an edge is an executed step, a refusal a refused one) and the list of exchanges that made it. One executed step is
evidence on every atom of its action: it refutes every precondition violated before it and decides every effect that
can be seen. Policies read the evidence and keep nothing of their own; a run that was cut short goes on by
taking in its exchanges again.

Only refusals show that a literal is required, so a single wrong one can prove a literal that is not. Every refusal in
which nothing else was violated *supports* the conclusion: it is wrong only if all of these were.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from aam_vision.interrogation.evidence.moves import Ask, Asked, Entry, Walk
from aam_vision.interrogation.evidence.problems import Problems
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import Atom, GroundAction, State
from aam_vision.planning.joins import StateIndex

REFUSALS = 3
"""Refusals that make a conclusion certain where answers may be wrong. More: fewer wrong conclusions, more queries."""


@dataclass(eq=False)
class Node:
    """A situation as far as it is known; ``situation`` is None where it was not observed."""

    state: State
    situation: Situation | None
    number: int
    initial: bool = False
    state_when_new: State | None = field(default=None, repr=False)
    """The state as it was known after the exchange that led here: later exchanges may add to ``state``."""
    attempted: list[GroundAction] = field(default_factory=list, repr=False)
    """The steps that were attempted here."""
    _index: StateIndex | None = field(default=None, repr=False)

    @property
    def index(self) -> StateIndex:
        """The state's atoms, arranged for joins."""
        if self._index is None:
            self._index = StateIndex(self.state)
        return self._index

    @property
    def index_when_new(self) -> StateIndex:
        """The same of ``state_when_new``."""
        known = self.state_when_new
        return self.index if known is None or known is self.state else StateIndex(known)

    def learn(self, state: State) -> None:
        """Replace the state by a more precise one."""
        self.state = state
        self._index = None


@dataclass(frozen=True, eq=False)
class Edge:
    """An executed step."""

    before: Node
    action: GroundAction
    after: Node


@dataclass(frozen=True, eq=False)
class Refusal:
    """A step that the agent could not execute."""

    at: Node
    action: GroundAction


@dataclass(frozen=True, eq=False)
class Exchange:
    """One move and the agent's answer."""

    entry: Entry
    move: Ask | Walk | None
    """None where the answer is taken in without the policy that asked."""
    came_from: Node | None
    """The agent's situation before; None before the first initial situation is known."""
    edges: int
    """The number of steps executed before."""
    told: bool
    """Whether the answer narrowed the hypotheses."""
    refuted: int = 0
    """The number of the move's aims that turned out not to be preconditions."""
    proven: int = 0
    """The number of them that turned out to be required."""


class Evidence:
    """The graph of situations, kept consistent with the hypotheses that it narrows."""

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.refusals: list[Refusal] = []
        self.exchanges: list[Exchange] = []
        self.untold: set[tuple[State, GroundAction]] = set()
        """Steps, with the states before them, of which no answer told whether they were executed."""
        self.learned = 0
        """The number of times that hidden values were recovered; with ``hypotheses.version`` and the number of
        nodes this is the version of the evidence."""
        self.supposes = False
        """Whether part of it is only supposed (``task.rounds``): then nothing is proven from it."""
        self._problems: Problems[int] = Problems()
        """Their places are the numbers of nodes. Of a longer plan one step counts."""
        self._current: Situation | None = None
        self._led_to: dict[tuple[int, GroundAction], Node] = {}
        self._refused_at: set[tuple[int, GroundAction]] = set()
        self._by_handle: dict[Hashable, Node] = {}
        self._by_state: dict[State, Node] = {}
        self._hidden = HiddenValues(hypotheses, self._learn)
        self._kinds_of_success: set[tuple[str, int]] = set()
        self._attempted: set[tuple[State, GroundAction]] = set()
        self._asked: set[tuple[int, tuple[GroundAction, ...]]] = set()
        self._described = 0

    @property
    def initial(self) -> list[Node]:
        """Where the problems begin."""
        return [node for node in self.nodes if node.initial]

    # --- taking in answers -----------------------------------------------------------------------

    def situation(self, situation: Situation) -> Node:
        """The node of a situation; equal fully known states share one."""
        node = self._by_handle.get(situation.handle)
        if node is None:
            state = situation.state
            node = None if state.unknown else self._by_state.get(state)
            if node is None:
                node = self._add(state, situation)
                if not state.unknown:
                    self._by_state[state] = node
            self._by_handle[situation.handle] = node
        return node

    def begin(self, situation: Situation) -> Node:
        """The node of a problem's initial situation."""
        node = self.situation(situation)
        node.initial = True
        self._problems.begin(situation, node.number)
        self._current = self._current or situation
        self._describe()
        return node

    def take_in(self, entry: Entry, move: Ask | Walk | None = None) -> bool:
        """Learn from an answer or a walk, and remember the move that it answers. True if anything new follows.

        Raises:
            InconsistentAgent: the entry contradicts what is known.
        """
        version, edges = self.hypotheses.version, len(self.edges)
        came_from = None if self._current is None else self.current
        if move is not None:
            self._current = self.departure(move.start)
        if isinstance(entry, Asked):
            self._answer(entry.query, entry.response)
            led = [(entry.query.initial, entry.response.final)] * bool(entry.query.plan)
        else:
            led = [(step.before, step.after) for step in entry.steps]
            for step in entry.steps:
                self._executed(self.situation(step.before), step.action, self.situation(step.after))
                self._current = step.after
        for before, after in led:
            self._problems.tried(before, after)
            self._problems.keep_apart(after, self.situation(after).number)
        self._hidden.settle()
        told = self.hypotheses.version != version
        refuted = proven = 0
        if isinstance(move, Ask):
            if isinstance(entry, Asked) and len(entry.query.plan) < len(move.plan):
                self._not_told(self.current, move.plan[len(entry.query.plan)])
            if not move.again:
                self._asked.add((move.start.number, move.plan))
            for _, name, literals, _ in move.aims:
                action = self.hypotheses[name]
                if not literals.positive & action.positive:
                    refuted += 1
                elif action.certain_to_fail(literals):
                    proven += 1
        self.exchanges.append(Exchange(entry, move, came_from, edges, told, refuted, proven))
        self._describe()
        return told

    def was_asked(self, start: Node, plan: tuple[GroundAction, ...]) -> bool:
        """Whether the same question was asked before."""
        return (start.number, plan) in self._asked

    def repeats(self, move: Ask | Walk) -> bool:
        """Whether a move repeats a question that nobody meant to repeat: whoever makes it would never stop."""
        if isinstance(move, Walk) or move.again or move.examines:
            return False
        return self.was_asked(move.start, move.plan)

    def answer_follows(self, start: Node, plan: Iterable[GroundAction]) -> bool:
        """Whether the answer follows from earlier ones: a deterministic agent does the same again.

        Where a longer plan led through the same steps, nobody may have looked at where these end.
        """
        node = start
        for action in plan:
            if (node.number, action) in self._refused_at:
                return True
            after = self._led_to.get((node.number, action))
            if after is None:
                return False
            node = after
        return node.situation is not None

    def as_of(self, exchanges: int) -> Evidence:
        """The evidence as it was after so many exchanges."""
        if exchanges == len(self.exchanges):
            return self
        hypotheses = self.hypotheses
        earlier = Evidence(
            Hypotheses(hypotheses.vocabulary, hypotheses.headers, repeated=hypotheses.repeated)
        )
        for situation in self._problems.initial:
            earlier.begin(situation)
        for exchange in self.exchanges[:exchanges]:
            earlier.take_in(exchange.entry)
        return earlier

    def _answer(self, query: Query, response: Response) -> None:
        node = self.situation(query.initial)
        executed = query.plan[: response.executed]
        final = self.situation(response.final)
        self._current = response.final
        for position, action in enumerate(executed):
            last = position == response.executed - 1
            # the same step of a deterministic agent leads where it led before; else the state is predicted
            after = (
                final
                if last
                else self._led_to.get((node.number, action))
                or self._add(self.predict(node.state, action), None)
            )
            self._executed(node, action, after)
            node = after
        self._hidden.settle()
        if response.executed < len(query.plan):
            self._refused(node, query.plan[response.executed])

    def _executed(self, before: Node, action: GroundAction, after: Node) -> None:
        hypotheses = self.hypotheses[action.name]
        held, unknown = hypotheses.index.values(before.state, action.objects)
        if not self.was_seen(before, action):
            self._attempt(before, action)
            hypotheses.successes += 1
        if (action.name, held) not in self._kinds_of_success:
            self._kinds_of_success.add((action.name, held))
            hypotheses.kinds_of_success += 1
        hypotheses.succeeded(held, unknown)
        edge = Edge(before, action, after)
        self._hidden.changed(edge, held, unknown)
        self.edges.append(edge)
        self._led_to.setdefault((before.number, action), after)
        self._hidden.add(edge)

    def _refused(self, at: Node, action: GroundAction) -> None:
        hypotheses = self.hypotheses[action.name]
        self.refusals.append(Refusal(at, action))
        self._refused_at.add((at.number, action))
        self._attempt(at, action)
        hypotheses.failed(*hypotheses.index.values(at.state, action.objects))

    def _not_told(self, at: Node, action: GroundAction) -> None:
        """A step of which the answer did not tell whether it was executed."""
        self._attempt(at, action)
        self.untold.add((at.state, action))
        hypotheses = self.hypotheses[action.name]
        values = hypotheses.index.values(at.state, action.objects)
        hypotheses.untold.add(hypotheses.violated(*values), *values)

    def _attempt(self, node: Node, action: GroundAction) -> None:
        node.attempted.append(action)
        self._attempted.add((node.state, action))

    def _add(self, state: State, situation: Situation | None) -> Node:
        node = Node(state, situation, len(self.nodes))
        self.nodes.append(node)
        return node

    def _learn(self, node: Node, values: Mapping[Atom, bool]) -> None:
        """Add recovered values to a situation; its attempted steps are known under its new state, too."""
        if values:
            state = node.state
            true = state.true | {atom for atom, value in values.items() if value}
            node.learn(State(true, state.objects, state.unknown.difference(values)))
            self._attempted.update((node.state, action) for action in node.attempted)
            self.learned += 1

    def _describe(self) -> None:
        """Keep the states of the new situations as known after this exchange."""
        for node in self.nodes[self._described :]:
            node.state_when_new = node.state
        self._described = len(self.nodes)

    # --- reading the evidence --------------------------------------------------------------------

    @property
    def current(self) -> Node:
        """The agent's situation: the end of the last answer or walk, before that the first initial situation."""
        assert self._current is not None, "an interrogation begins with an initial situation"
        return self.situation(self._current)

    @property
    def visited(self) -> list[Node]:
        """The situations that were seen: queries may begin in these, as far as the access allows."""
        return [node for node in self.nodes if node.situation is not None]

    @property
    def neglected(self) -> Node | None:
        """Where a problem begins in which far less was asked than in one that looks at first like it; None if there is none."""
        problem = self._problems.neglected
        return None if problem is None else self.situation(self._problems.initial[problem])

    def problem(self, situation: Situation) -> int | None:
        """The number of the problem that a situation belongs to, if it is known."""
        return self._problems.of(situation)

    @property
    def hardly_tried(self) -> Node | None:
        """Where a problem goes on in which few steps were asked for: where the agent stands, if it is in it; None if there is none."""
        if self._current is None:
            return None
        found = self._problems.hardly_tried(self._current)
        return None if found is None else self.situation(found)

    def departure(self, node: Node) -> Situation:
        """The situation in which to start at a node: where the agent stands, if it is there.

        Equal situations share a node, but the agent need not be able to go back to the other ones. Of those in problems that look alike
        at first it is one in the problem in which least was asked.
        """
        if self._current is not None and self.current is node and node is not self.neglected:
            return self._current
        if (own := self._problems.least_tried(node.number)) is not None:
            return own
        assert node.situation is not None, "a policy may only start from situations that were seen"
        return node.situation

    def hidden_effects(self) -> list[Node]:
        """Situations after a step with an undecided effect that the image there hides; a next step may uncover it."""
        nodes: dict[int, Node] = {}
        for edge in self._hidden.open:
            hypotheses = self.hypotheses[edge.action.name]
            values = hypotheses.index.values
            _, hidden = values(edge.after.state, edge.action.objects)
            shown = hypotheses.shown_effects(*values(edge.before.state, edge.action.objects))
            if edge.after.situation is not None and hidden & shown:
                nodes.setdefault(edge.after.number, edge.after)
        return list(nodes.values())

    def was_seen(self, node: Node, action: GroundAction) -> bool:
        """Whether this step, or the same one from an equal state, has been attempted."""
        return self.was_seen_in(node.state, action)

    def was_seen_in(self, state: State, action: GroundAction) -> bool:
        """Whether this step has been attempted in an equal state."""
        return (state, action) in self._attempted

    def predict(self, state: State, action: GroundAction) -> State:
        """The state after an executed step as far as it follows from the hypotheses; the rest unknown."""
        hypotheses = self.hypotheses[action.name]
        index, objects = hypotheses.index, action.objects
        held, unknown = index.values(state, objects)
        now, now_unknown = hypotheses.after(held, unknown, objects)
        true, hidden = state.true, state.unknown
        if lost := held & ~now:
            true -= index.facts(lost, objects)
        if gained := now & ~held:
            true |= index.facts(gained, objects)
        if recovered := unknown & ~now_unknown:
            hidden -= index.facts(recovered, objects)
        if newly_hidden := now_unknown & ~unknown:
            hidden |= index.facts(newly_hidden, objects)
        vocabulary = self.hypotheses.vocabulary
        return vocabulary.passed(
            state, action, State(true, state.objects, hidden).completed(vocabulary.derived)
        )

    def predict_plan(self, state: State, plan: Iterable[GroundAction]) -> State:
        """The same after all steps of a plan."""
        for action in plan:
            state = self.predict(state, action)
        return state


# Values that an image did not show, recovered from the steps before and after.
#
# What an image does not show (the goal under the player's feet) is unknown, not false. An action changes only atoms that
# its arguments name, so a value seen before and after a hidden moment narrows both the value in between and the
# effects that touched it. The intermediate states of a plan, of which only the last is seen, are treated the same way.


class HiddenValues:
    """The executed steps with unknown atoms before or after, and the propagation of values along them.

    ``learn`` is called with the recovered values of a situation.
    """

    def __init__(self, hypotheses: Hypotheses, learn: Callable[[Node, Mapping[Atom, bool]], None]) -> None:
        self._hypotheses = hypotheses
        self._learn = learn
        self.open: list[Edge] = []
        self._reconciled: dict[Edge, tuple[int, State, State]] = {}
        self._read: dict[Edge, tuple[State, State]] = {}
        """The states that the open edges were last learned from."""

    def add(self, edge: Edge) -> None:
        """Follow one more executed step, if it has unknown atoms."""
        if edge.before.state.unknown or edge.after.state.unknown:
            self.open.append(edge)

    def changed(self, edge: Edge, held: int, unknown: int) -> None:
        """Learn from a step's changes; ``held`` and ``unknown`` are the values before it."""
        if edge.before.state.unknown or edge.after.state.unknown:
            self._read[edge] = edge.before.state, edge.after.state
        hypotheses = self._hypotheses[edge.action.name]
        index, objects = hypotheses.index, edge.action.objects
        now, now_unknown = index.values(edge.after.state, objects)
        delays = self._hypotheses.vocabulary.delays
        if delays is not None and (due := delays.due(edge.before.state)):
            now_unknown |= sum(bit for bit, fact in index.grounded(objects) if fact in due)
        groups = index.coinciding(objects)
        shared = sum(groups)
        hypotheses.changed((held, unknown | shared), (now, now_unknown | shared))
        for group in groups:
            was = None if unknown & group else bool(held & group)
            then = None if now_unknown & group else bool(now & group)
            hypotheses.changed_together(group, was, then)

    def settle(self) -> None:
        """Propagate values along the steps until nothing changes any more."""
        changed = bool(self.open)
        while changed:
            changed = False
            still_open = []
            for edge in self.open:
                # the conclusions from an edge depend on these alone
                basis = self._hypotheses[edge.action.name].version, edge.before.state, edge.after.state
                if self._reconciled.get(edge) != basis:
                    changed = self._reconcile(edge) or changed
                    self._reconciled[edge] = basis
                if edge.before.state.unknown or edge.after.state.unknown:
                    still_open.append(edge)
                else:
                    del self._reconciled[edge], self._read[edge]
            self.open = still_open

    def _reconcile(self, edge: Edge) -> bool:
        """Make before, effect and after of one step consistent. True if anything was learned."""
        hypotheses = self._hypotheses[edge.action.name]
        version = hypotheses.version
        shared = hypotheses.index.shared(edge.action.objects)
        learnt_before, learnt_after = self._narrowed(edge)
        self._learn(edge.before, learnt_before)
        self._learn(edge.after, learnt_after)
        if not shared and self._read[edge] == (edge.before.state, edge.after.state):
            return False  # the effects were read off these very states
        held, unknown = hypotheses.index.values(edge.before.state, edge.action.objects)
        hypotheses.succeeded(held, unknown)
        self.changed(edge, held, unknown)
        return bool(learnt_before or learnt_after) or hypotheses.version != version

    def _narrowed(self, edge: Edge) -> tuple[dict[Atom, bool], dict[Atom, bool]]:
        """The values before and after one step that only one possible effect allows."""
        vocabulary = self._hypotheses.vocabulary
        before, after = vocabulary.plain(edge.before.state), vocabulary.plain(edge.after.state)
        due = frozenset[Atom]() if vocabulary.delays is None else vocabulary.delays.due(edge.before.state)
        if not before.unknown and not after.unknown:
            return {}, {}
        hypotheses = self._hypotheses[edge.action.name]
        touched = {fact: bit for bit, fact in hypotheses.index.grounded(edge.action.objects)}
        shared = hypotheses.index.shared(edge.action.objects)
        learnt_before: dict[Atom, bool] = {}
        learnt_after: dict[Atom, bool] = {}
        for atom in sorted((before.unknown | after.unknown) - due):
            was, then = before.value(atom), after.value(atom)
            bit = touched.get(atom)
            if bit is not None and bit & shared:
                continue
            if bit is None:
                if was is None and then is not None:
                    learnt_before[atom] = then
                elif then is None and was is not None:
                    learnt_after[atom] = was
                continue
            possible = {
                (value, outcome)
                for value in ((False, True) if was is None else (was,))
                for allowed, outcome in (
                    (hypotheses.adds, True),
                    (hypotheses.deletes, False),
                    (hypotheses.keeps, value),
                )
                if allowed & bit and (then is None or then == outcome)
            }
            if was is None and len(values := {value for value, _ in possible}) == 1:
                learnt_before[atom] = values.pop()
            if then is None and len(values := {outcome for _, outcome in possible}) == 1:
                learnt_after[atom] = values.pop()
        return learnt_before, learnt_after


def by_problem(evidence: Evidence) -> list[list[Node]]:
    """The visited situations, grouped by problem, in the order in which they were seen: initial ones first.

    Problems with equal objects are one. That must not depend on whether they share them in memory, which they do in
    a run that is made again from its journal.
    """
    groups: dict[int, list[Node]] = {}
    for node in evidence.visited:
        groups.setdefault(id(node.state.objects), []).append(node)
    merged: list[list[Node]] = []
    for group in groups.values():
        for other in merged:
            if other[0].state.objects == group[0].state.objects:
                other += group
                break
        else:
            merged.append(group)
    return [sorted(group, key=lambda node: node.number) for group in merged]


class Claim(NamedTuple):
    """The conclusion that an action requires at least one of these literals."""

    action: str
    literals: Literals


def supported(evidence: Evidence) -> dict[Claim, list[Refusal]]:
    """All conclusions from refusals, in a fixed order, each with the refusals that support it."""
    refused: dict[str, list[tuple[Literals, Refusal]]] = defaultdict(list)
    for refusal in evidence.refusals:
        action = evidence.hypotheses[refusal.action.name]
        held, unknown = action.index.values(refusal.at.state, refusal.action.objects)
        refused[refusal.action.name].append((action.violated(held, unknown), refusal))
    return {
        Claim(name, literals): [refusal for violated, refusal in refused[name] if violated.within(literals)]
        for name, action in evidence.hypotheses.actions.items()
        for literals in (*action.found_required.singles(), *sorted(action.clauses))
    }


def unconfirmed(evidence: Evidence) -> tuple[Claim, ...]:
    """The conclusions that fewer than ``REFUSALS`` refusals support."""
    return tuple(claim for claim, refusals in supported(evidence).items() if len(refusals) < REFUSALS)

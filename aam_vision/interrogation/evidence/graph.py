"""Everything the agent has shown, as a graph of situations, and what follows from it.

A *node* is a situation, an *edge* an executed step, a *refusal* a step that could not be executed. One
executed step tells everything about its action at once: it refutes every precondition violated before
it and decides every effect that can be seen.

What an image does not show (the goal under the player's feet) is unknown, not false. Such values are
recovered by consistency along the edges: an action changes only atoms that its arguments name, so a
value seen before and after a hidden moment narrows both the value in between and the effects that
touched it. The intermediate states of a plan, of which only the last is seen, are treated the same way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.joins import StateIndex
from aam_vision.query import Query, Response, Situation, WalkStep
from aam_vision.strips import Atom, GroundAction, State


@dataclass(eq=False)
class Node:
    """A situation as far as it is known; ``situation`` is None where nobody has looked."""

    state: State
    situation: Situation | None
    number: int
    initial: bool = False
    _index: StateIndex | None = field(default=None, repr=False)

    @property
    def index(self) -> StateIndex:
        """The state's atoms, arranged for joins."""
        if self._index is None:
            self._index = StateIndex(self.state)
        return self._index

    def learn(self, state: State) -> None:
        """Replace what is known of the situation by something more precise."""
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


class Evidence:
    """The graph of situations, kept consistent with the hypotheses that it narrows."""

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.refusals: list[Refusal] = []
        self._current: Situation | None = None
        self._led_to: dict[tuple[int, GroundAction], Node] = {}
        self._by_handle: dict[Hashable, Node] = {}
        self._by_state: dict[State, Node] = {}
        self._open: list[Edge] = []
        self._reconciled: dict[Edge, tuple[int, State, State]] = {}
        self._read: dict[Edge, tuple[State, State]] = {}
        """The states that the open edges were last learned from."""
        self._kinds_of_success: set[tuple[str, int]] = set()
        self._seen_steps: set[tuple[State, GroundAction]] = set()

    # --- taking in what the agent shows ----------------------------------------------------------

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
        self._current = self._current or situation
        return node

    @property
    def current(self) -> Node:
        """Where the agent stands: where the last answer or walk ended, at first the first initial situation."""
        assert self._current is not None, "an interrogation begins with an initial situation"
        return self.situation(self._current)

    @property
    def visited(self) -> list[Node]:
        """The situations that were seen: all from which a query may begin, as far as the access goes."""
        return [node for node in self.nodes if node.situation is not None]

    def depart(self, node: Node) -> Situation:
        """The situation in which to start at a node: where the agent stands, if it is there. It stands there now.

        Equal situations share a node, but the agent need not be able to go back to the other ones.
        """
        assert node.situation is not None, "a policy may only start from situations that were seen"
        if self._current is None or self.current is not node:
            self._current = node.situation
        return self._current

    def walk(self, steps: Sequence[WalkStep]) -> bool:
        """Take in a walk: every step was executed and seen. True if it told anything new."""
        version = self.hypotheses.version
        for step in steps:
            self._executed(self.situation(step.before), step.action, self.situation(step.after))
            self._current = step.after
        self._settle()
        return self.hypotheses.version != version

    def answer(self, query: Query, response: Response) -> bool:
        """Take in the answer to a query. True if it told anything new."""
        version = self.hypotheses.version
        node = self.situation(query.initial)
        executed = query.plan[: response.executed]
        final = self.situation(response.final)
        self._current = response.final
        for position, action in enumerate(executed):
            last = position == response.executed - 1
            # a deterministic agent gets where the same step led before; else only what follows is known
            after = (
                final
                if last
                else self._led_to.get((node.number, action))
                or self._add(self.predict(node.state, action), None)
            )
            self._executed(node, action, after)
            node = after
        self._settle()
        if response.executed < len(query.plan):
            self._refused(final if executed else node, query.plan[response.executed])
        self._settle()
        return self.hypotheses.version != version

    def hidden_effects(self) -> list[Node]:
        """Situations after a step with an undecided effect that the image there does not show.

        What the agent does next may uncover it.
        """
        nodes: dict[int, Node] = {}
        for edge in self._open:
            hypotheses = self.hypotheses[edge.action.name]
            was, was_dim = hypotheses.index.values(edge.before.state, edge.action.objects)
            _, dim = hypotheses.index.values(edge.after.state, edge.action.objects)
            telling = dim & ~was_dim & hypotheses.undecided_effects
            if edge.after.situation is not None and telling & (
                (hypotheses.adds & ~was) | (hypotheses.deletes & was)
            ):
                nodes.setdefault(edge.after.number, edge.after)
        return list(nodes.values())

    def was_seen(self, node: Node, action: GroundAction) -> bool:
        """Whether this very step, or one from an equal state, has been attempted."""
        return self.was_seen_in(node.state, action)

    def was_seen_in(self, state: State, action: GroundAction) -> bool:
        """Whether this very step has been attempted in an equal state."""
        return (state, action) in self._seen_steps

    def _add(self, state: State, situation: Situation | None) -> Node:
        node = Node(state, situation, len(self.nodes))
        self.nodes.append(node)
        return node

    def _executed(self, before: Node, action: GroundAction, after: Node) -> None:
        hypotheses = self.hypotheses[action.name]
        held, dim = hypotheses.index.values(before.state, action.objects)
        if (before.state, action) not in self._seen_steps:
            self._seen_steps.add((before.state, action))
            hypotheses.successes += 1
        if (action.name, held) not in self._kinds_of_success:
            self._kinds_of_success.add((action.name, held))
            hypotheses.kinds_of_success += 1
        hypotheses.succeeded(held, dim)
        edge = Edge(before, action, after)
        self._changed(edge, held, dim)
        self.edges.append(edge)
        self._led_to.setdefault((before.number, action), after)
        if before.state.unknown or after.state.unknown:
            self._open.append(edge)

    def _changed(self, edge: Edge, held: int, dim: int) -> None:
        """Learn from what a step has changed; ``held`` and ``dim`` are the values before it."""
        if edge.before.state.unknown or edge.after.state.unknown:
            self._read[edge] = edge.before.state, edge.after.state
        hypotheses = self.hypotheses[edge.action.name]
        index, objects = hypotheses.index, edge.action.objects
        now, now_dim = index.values(edge.after.state, objects)
        groups = index.coinciding(objects)
        shared = sum(groups)
        hypotheses.changed((held, dim | shared), (now, now_dim | shared))
        for group in groups:
            was = None if dim & group else bool(held & group)
            then = None if now_dim & group else bool(now & group)
            hypotheses.changed_together(group, was, then)

    def _refused(self, at: Node, action: GroundAction) -> None:
        hypotheses = self.hypotheses[action.name]
        self.refusals.append(Refusal(at, action))
        self._seen_steps.add((at.state, action))
        hypotheses.failed(*hypotheses.index.values(at.state, action.objects))

    # --- values that were not seen ---------------------------------------------------------------

    def predict(self, state: State, action: GroundAction) -> State:
        """The state after an executed step as far as it follows from what is known; the rest unknown."""
        hypotheses = self.hypotheses[action.name]
        index, objects = hypotheses.index, action.objects
        held, dim = index.values(state, objects)
        now, now_dim = hypotheses.after(held, dim, objects)
        true, unknown = state.true, state.unknown
        if lost := held & ~now:
            true -= index.facts(lost, objects)
        if gained := now & ~held:
            true |= index.facts(gained, objects)
        if seen := dim & ~now_dim:
            unknown -= index.facts(seen, objects)
        if hidden := now_dim & ~dim:
            unknown |= index.facts(hidden, objects)
        return State(true, state.objects, unknown)

    def _settle(self) -> None:
        """Propagate values along edges with unknown atoms until nothing changes any more."""
        changed = bool(self._open)
        while changed:
            changed = False
            still_open = []
            for edge in self._open:
                # whatever an edge says depends on these alone
                version = self.hypotheses[edge.action.name].version
                basis = version, edge.before.state, edge.after.state
                known = self._reconciled.get(edge)
                if (
                    known is None
                    or known[0] != version
                    or known[1] is not basis[1]
                    or known[2] is not basis[2]
                ):
                    changed = self._reconcile(edge) or changed
                    self._reconciled[edge] = basis
                if edge.before.state.unknown or edge.after.state.unknown:
                    still_open.append(edge)
                else:
                    del self._reconciled[edge], self._read[edge]
            self._open = still_open

    def _reconcile(self, edge: Edge) -> bool:
        """Make before, effect and after of one edge consistent. True if anything was learnt."""
        before, after = edge.before.state, edge.after.state
        hypotheses = self.hypotheses[edge.action.name]
        version = hypotheses.version
        touched = {fact: bit for bit, fact in hypotheses.index.grounded(edge.action.objects)}
        shared = hypotheses.index.shared(edge.action.objects)
        learnt_before: dict[Atom, bool] = {}
        learnt_after: dict[Atom, bool] = {}
        for atom in sorted(before.unknown | after.unknown):
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
        _learn(edge.before, learnt_before)
        _learn(edge.after, learnt_after)
        if not shared and self._read[edge] == (edge.before.state, edge.after.state):
            return False  # the effects were read off these very states
        held, dim = hypotheses.index.values(edge.before.state, edge.action.objects)
        hypotheses.succeeded(held, dim)
        self._changed(edge, held, dim)
        return bool(learnt_before or learnt_after) or hypotheses.version != version


def _learn(node: Node, values: dict[Atom, bool]) -> None:
    if values:
        state = node.state
        node.learn(
            State(
                state.true | {atom for atom, value in values.items() if value},
                state.objects,
                state.unknown.difference(values),
            )
        )

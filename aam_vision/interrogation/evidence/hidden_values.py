"""Values that an image did not show, recovered from the steps before and after.

What an image does not show (the goal under the player's feet) is unknown, not false. An action changes only atoms that
its arguments name, so a value seen before and after a hidden moment narrows both the value in between and the
effects that touched it. The intermediate states of a plan, of which only the last is seen, are treated the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aam_vision.interrogation.evidence.nodes import Edge, Node
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.strips import Atom, State


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
        before, after = edge.before.state, edge.after.state
        if not before.unknown and not after.unknown:
            return {}, {}
        hypotheses = self._hypotheses[edge.action.name]
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
        return learnt_before, learnt_after

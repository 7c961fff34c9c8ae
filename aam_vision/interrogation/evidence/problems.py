"""The situations of each problem."""

from __future__ import annotations

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.nodes import Node


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

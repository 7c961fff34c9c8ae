"""The economical policy: as few plan outcome queries as possible.

Only a failing step in which exactly one undecided literal is violated proves that literal to be a
precondition, and a query has at most one failing step. So at least one query per (irredundant)
precondition is needed, and all else should cost none:

1. *Positives first.* A walk of the agent, steered towards what is not yet known, cuts the candidates to
   nearly the true preconditions.
2. Candidates that survived by chance are refuted in groups, by one step that violates them all; being
   expected to succeed, it rides along as the prefix of a query whose last step proves something else.
3. Candidates that are probably true are proven one by one, by near misses in situations seen before.
4. Where no situation seen before allows such a probe, one is planned for with the model learned so far.
5. What can be probed nowhere is left undetermined, and said to be so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import process_time

import numpy as np

from aam_vision.interrogation.beliefs import Beliefs
from aam_vision.interrogation.equivalence import Equivalence, Prospect
from aam_vision.interrogation.evidence import Evidence, Node
from aam_vision.interrogation.guesses import guess_success
from aam_vision.interrogation.hypotheses import NOTHING, ActionHypotheses, Literals, bits, union
from aam_vision.interrogation.moves import Ask, Move, Stop, Walk
from aam_vision.interrogation.paths import Paths, PlannedProbe, by_problem
from aam_vision.interrogation.probes import Probe, probes_for, revealing_step
from aam_vision.interrogation.walking import Walker
from aam_vision.joins import Row, StateIndex
from aam_vision.planning.planner import Limits, Planner, Verdict
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.strips import GroundAction, State

MAX_GUESSES = 6
"""Refused guesses at how an action may succeed, after which it is given up."""
UNCOVER_ATTEMPTS = 3
"""Walks made from one situation to uncover an effect that is hidden there."""


Order = tuple[int, float]


@dataclass
class EconomicalPolicy:
    """Few questions under ``snapshot`` access."""

    planner: Planner = field(default_factory=PyperplanPlanner)
    limits: Limits = field(default_factory=Limits)
    planning_seconds: float = 10.0
    """CPU seconds that all planning together may take; a question beyond them is left open."""
    walker: Walker = field(default_factory=Walker)
    _scanned: dict[tuple[str, Literals, Literals], tuple[int, int]] = field(default_factory=dict)
    _beliefs: Beliefs | None = None
    _uncovered: dict[int, int] = field(default_factory=dict)
    _hopeless: set[tuple[int, str, Literals, Literals]] = field(default_factory=set)
    _planned: set[tuple[int, tuple[GroundAction, ...]]] = field(default_factory=set)
    _planning_s: float = 0.0
    _known_paths: list[Paths] = field(default_factory=list)
    _paths_version: int = -1

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
        """The next move: walk while that pays, then probe, then plan, then stop."""
        if self._beliefs is None:
            walk = self.walker.next(evidence, rng)
            if walk is not None:
                return walk
            visited = [node for node in evidence.nodes if node.situation is not None]
            self._beliefs = Beliefs(evidence.hypotheses, visited)
        return (
            self._uncover(evidence)
            or self._first_success(evidence)
            or self._refutation(evidence)
            or self._proof(evidence)
            or self._planned_refutation(evidence)
            or self._planned_proof(evidence)
            or self._last_probe(evidence)
            or self._effect(evidence)
            or self._stop(evidence)
        )

    def _uncover(self, evidence: Evidence) -> Walk | None:
        """A few steps on from where an effect is hidden, so that it may be seen after all."""
        for node in evidence.hidden_effects():
            if self._uncovered.get(node.number, 0) < UNCOVER_ATTEMPTS:
                self._uncovered[node.number] = self._uncovered.get(node.number, 0) + 1
                return Walk(node, 2)
        return None

    def _first_success(self, evidence: Evidence) -> Ask | None:
        """A guess at a situation in which an action that was never executed can be."""
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        for name, action in evidence.hypotheses.actions.items():
            if not action.successes and len(action.clauses) < MAX_GUESSES:
                ask = guess_success(
                    evidence, name, self._paths(evidence), self._beliefs, self.planner, self.limits
                )
                if ask is not None:
                    return ask
        return None

    # --- probing ---------------------------------------------------------------------------------

    def _refutation(self, evidence: Evidence) -> Ask | None:
        """A step that violates as many probably spurious candidates as possible, and a rider."""
        for name, action in evidence.hypotheses.actions.items():
            suspects = union(self._split(name, action)[1])
            if not suspects:
                continue
            found = self._best_probe(evidence, name, action, suspects)
            if found is not None:
                node, probe = found
                rider = self._rider(evidence, evidence.predict(node.state, probe.action))
                plan = (probe.action, rider.action) if rider else (probe.action,)
                return Ask(node, plan, f"refute {', '.join(action.index.text(probe.violated))}")
        return None

    def _proof(self, evidence: Evidence) -> Ask | None:
        for name, action in evidence.hypotheses.actions.items():
            for target in self._split(name, action)[0]:
                found = self._best_probe(evidence, name, action, target)
                if found is not None:
                    node, probe = found
                    return Ask(node, (probe.action,), f"prove {', '.join(action.index.text(target))}")
        return None

    def _planned_refutation(self, evidence: Evidence) -> Ask | None:
        """A plan to a step that violates only probably spurious candidates, and a rider."""
        for name, action in evidence.hypotheses.actions.items():
            trusted, suspects = map(union, self._split(name, action))
            if not action.successes or not suspects:
                continue
            holding = union([action.proven, trusted])
            for path in self._paths(evidence):
                options = path.options(name, holding, suspects)
                for violated in sorted(options, key=Literals.size, reverse=True):
                    if not violated.within(suspects):
                        continue
                    ask = self._plan(evidence, path, name, violated, suspects, options[violated])
                    if ask is not None:
                        return ask
        return None

    def _planned_proof(self, evidence: Evidence) -> Ask | None:
        """A plan to a probe of something probably true that violates least else."""
        options = []
        for name, action in evidence.hypotheses.actions.items():
            if not action.successes:
                continue
            trusted, _ = self._split(name, action)
            for target in trusted:
                others = [literal for literal in trusted if literal is not target]
                holding = union([action.proven, *others])
                for path in self._paths(evidence):
                    for violated, rows in path.options(name, holding, target).items():
                        options.append((self._order(name, violated), name, violated, path, rows))
        return self._smallest(evidence, options)

    def _last_probe(self, evidence: Evidence) -> Ask | None:
        """Whatever question is left that violates least at once."""
        options = []
        for name, action in evidence.hypotheses.actions.items():
            if action.successes:
                for path in self._paths(evidence):
                    for violated, rows in path.options(name, action.proven, action.undecided).items():
                        options.append((self._order(name, violated), name, violated, path, rows))
        return self._smallest(evidence, options)

    def _effect(self, evidence: Evidence) -> Ask | None:
        """A step expected to succeed that shows an undecided effect."""
        for action in evidence.hypotheses.actions.values():
            for bit in bits(action.undecided_effects) if action.successes else ():
                for node in evidence.nodes:
                    if node.situation is None:
                        continue
                    step = revealing_step(action, node.index, bit)
                    if step is not None and not evidence.was_seen(node, step):
                        text = action.index.text(Literals(bit, 0))[0]
                        return Ask(node, (step,), f"see the effect on {text}")
        return None

    def _likely(self, name: str, literal: Literals) -> float:
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        return self._beliefs.likely(name, literal)

    def _order(self, name: str, violated: Literals) -> Order:
        """Few literals first; among as many, what is least likely to be refused, as a success opens more."""
        return violated.size(), max(self._likely(name, literal) for literal in violated.singles())

    def _smallest(
        self, evidence: Evidence, options: list[tuple[Order, str, Literals, Paths, list[Row]]]
    ) -> Ask | None:
        """The first of the options that can be asked: where seen before, else by a plan."""
        tried: set[tuple[str, Literals]] = set()
        for _, name, violated, path, rows in sorted(options, key=lambda option: option[0]):
            action = evidence.hypotheses[name]
            if (name, violated) not in tried:
                tried.add((name, violated))
                found = self._best_probe(evidence, name, action, violated, violated)
                if found is not None:
                    text = ", ".join(action.index.text(violated))
                    return Ask(found[0], (found[1].action,), f"test {text}")
            ask = self._plan(evidence, path, name, violated, NOTHING, rows)
            if ask is not None:
                return ask
        return None

    def _plan(
        self,
        evidence: Evidence,
        path: Paths,
        name: str,
        violated: Literals,
        free: Literals,
        rows: Sequence[Row],
    ) -> Ask | None:
        action = evidence.hypotheses[name]
        key = (path.problem, name, violated, free)
        if key in self._hopeless or self._planning_s > self.planning_seconds:
            return None
        begun = process_time()
        planned = path.probe(name, violated, free, rows, self.planner, self.limits)
        self._planning_s += process_time() - begun
        if planned is Verdict.LIMIT:
            self._hopeless.add(key)
        if not isinstance(planned, PlannedProbe):
            return None
        state = planned.start.state
        for step in planned.path:
            state = evidence.predict(state, step)
        held, dim = action.index.values(state, planned.step.objects)
        really = action.violated(held, dim)
        if not action.certainly_violated(held, dim) or action.certain_to_fail(really):
            return None
        plan = (*planned.path, planned.step)
        if (planned.start.number, plan) in self._planned:
            self._hopeless.add(key)
            return None
        self._planned.add((planned.start.number, plan))
        if really.within(union(self._split(name, action)[1])):
            rider = self._rider(evidence, evidence.predict(state, planned.step))
            plan += (rider.action,) if rider else ()
        return Ask(planned.start, plan, f"plan to test {', '.join(action.index.text(really))}")

    def _stop(self, evidence: Evidence) -> Stop:
        """Stop, with a proof that no query could tell any more, or with the number of open questions."""
        equivalence = Equivalence(evidence.hypotheses, by_problem(evidence))
        open_questions = 0
        for name, action in evidence.hypotheses.actions.items():
            for literal in action.undecided.singles():
                open_questions += equivalence.precondition(name, literal) is not Prospect.CLOSED
            for bit in bits(action.undecided_effects):
                open_questions += equivalence.effect(name, bit) is not Prospect.CLOSED
        if open_questions:
            return Stop(False, f"{open_questions} questions are open, but no way to ask them was found")
        return Stop(True, "no query could tell any more")

    def _paths(self, evidence: Evidence) -> list[Paths]:
        if self._paths_version != evidence.hypotheses.version or not self._known_paths:
            self._paths_version = evidence.hypotheses.version
            self._known_paths = [Paths(evidence.hypotheses, nodes) for nodes in by_problem(evidence)]
        return self._known_paths

    def _rider(self, evidence: Evidence, state: State) -> Probe | None:
        """A near miss that will be there once the steps before have succeeded."""
        after = StateIndex(state)
        for name, action in evidence.hypotheses.actions.items():
            for target in self._split(name, action)[0]:
                rider = next(probes_for(action, after, target), None)
                if rider is not None:
                    return rider
        return None

    def _best_probe(
        self,
        evidence: Evidence,
        name: str,
        action: ActionHypotheses,
        suspects: Literals,
        target: Literals = NOTHING,
    ) -> tuple[Node, Probe] | None:
        """The probe among all visited situations that violates most suspects; None when there is none."""
        key = (name, suspects, target)
        version, begin = self._scanned.get(key, (-1, 0))
        if version != action.version:
            begin = 0
        best: tuple[Node, Probe] | None = None
        for node in evidence.nodes[begin:]:
            if node.situation is None:
                continue
            for probe in probes_for(action, node.index, suspects):
                if not target.within(probe.violated):
                    continue
                if best is None or probe.violated.size() > best[1].violated.size():
                    best = (node, probe)
                if best[1].violated.size() == suspects.size():
                    return best
        if best is None:
            self._scanned[key] = (action.version, len(evidence.nodes))
        return best

    def _split(self, name: str, action: ActionHypotheses) -> tuple[list[Literals], list[Literals]]:
        """Undecided literals that are probably preconditions, and those that probably are not."""
        assert self._beliefs is not None, "beliefs are formed when walking ends"
        return self._beliefs.split(name, action)

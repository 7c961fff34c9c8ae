"""Walks: letting the agent act on its own, from where that is likely to show something new.

Walk steps do not count as questions, so they come first: diverse successes cut the candidates to nearly the true
preconditions. A walk starts in a situation of a kind from which few walks have started. Situations with the same number
of true atoms of every predicate are of one kind.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from math import inf
from operator import itemgetter

import numpy as np

from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Walk
from aam_vision.interrogation.evidence.nodes import Node
from aam_vision.interrogation.hypotheses.ground_literals import atoms
from aam_vision.interrogation.queries.first_success import SEARCH_LIMIT, first_trials
from aam_vision.joins import bindings
from aam_vision.strips import GroundAction, Objects, State

EXPLORE = "explore"
"""Why the walks of a ``Walker`` are made."""
UNCOVER = "uncover"
"""Why walks are made that may uncover a hidden effect."""
UNCOVER_BY_STEP = "uncover a hidden effect"
"""The same of questions."""
UNCOVER_STEPS = 2
UNCOVER_ATTEMPTS = 3
"""Walks made from one situation to uncover an effect that is hidden there, and as many steps asked for if these show
nothing."""
UNCOVER_IN_VAIN = 100
"""Walks in a row, of all situations, after which none is made any more: there, each step hides something else."""
FOLLOW = "follow"
"""Why walks are made from where an action was first attempted."""
FOLLOW_STEPS = 3
FOLLOW_SUCCESS = 50
"""Walks from where an action was executed for the first time."""
FOLLOW_AT_ONCE = 4
"""How many of them begin there; the others in situations seen since."""
FOLLOW_REFUSAL = 4
"""Walks from where such an action was refused."""
LEAST_PATIENCE = 30
"""Steps that are always allowed, even if nothing is learnt from them."""

Kind = tuple[str | int, ...]
"""Every predicate of which atoms are true, and how many are."""


@dataclass
class Walker:
    """Decides on the next walk, until walking no longer pays.

    Walking ends after ``limit`` steps (``per_action`` steps for every action, where these are more), or
    ``share`` times as many as there are pal tuples; or once nothing was learnt for ``patience`` times as many.
    """

    limit: int = 400
    per_action: int = 0
    share: float = inf
    patience: float = 1.0
    stride: int = 4
    _walks: _Walks = field(default_factory=lambda: _Walks())

    def next(self, evidence: Evidence, rng: np.random.Generator) -> Walk | None:
        """The next walk; None once enough was walked, or anything else was done."""
        if _first_walks(evidence) < len(evidence.exchanges):
            return None
        walks = self._walks
        walks.take_in(evidence)
        size = evidence.hypotheses.size
        patience = max(LEAST_PATIENCE, int(size * self.patience))
        limit = max(self.limit, self.per_action * len(evidence.hypotheses.actions))
        limit = int(min(limit, max(LEAST_PATIENCE, size * self.share)))
        if walks.steps >= limit or walks.fruitless >= patience:
            return None
        problems = list(walks.problems)
        start = walks.start(problems[int(rng.integers(len(problems)))], rng)
        return Walk(start, min(self.stride, limit - walks.steps), EXPLORE)


@dataclass
class _Walks:
    """The walks so far, and the situations that they may start from, as the evidence has them."""

    steps: int = 0
    fruitless: int = 0
    """Steps since anything was learnt."""
    problems: dict[Objects, dict[Kind, list[Node]]] = field(default_factory=dict)
    _sorted: dict[Objects, list[tuple[Kind, list[Node]]]] = field(default_factory=lambda: defaultdict(list))
    _kinds: dict[int, list[Node]] = field(default_factory=dict)
    """By the number of a situation, all of its kind."""
    _departures: Counter[int] = field(default_factory=Counter)
    _exchanges: int = 0

    def take_in(self, evidence: Evidence) -> None:
        """Sort the situations that are new by problem and kind, and count the walks that are new."""
        for node in evidence.nodes[len(self._kinds) :]:
            self._kinds[node.number] = []
            if node.situation is not None:
                self._sort(node)
        for exchange in evidence.exchanges[self._exchanges :]:
            if exchange.told:
                self.fruitless = 0
            if isinstance(exchange.move, Walk) and exchange.move.why == EXPLORE:
                walk = exchange.move
                self.steps += walk.steps
                self.fruitless += 0 if exchange.told else walk.steps
                self._departures[self._kinds[(walk.wanted or walk.start).number][0].number] += 1
        self._exchanges = len(evidence.exchanges)

    def _sort(self, node: Node) -> None:
        state = node.state_when_new
        assert state is not None, "it is noted when an exchange has been taken in"
        kind = _kind(state)
        kinds = self.problems.setdefault(state.objects, {})
        if kind not in kinds:
            kinds[kind] = []
            insort(self._sorted[state.objects], (kind, kinds[kind]))
        kinds[kind].append(node)
        self._kinds[node.number] = kinds[kind]

    def start(self, problem: Objects, rng: np.random.Generator) -> Node:
        """A situation of a kind that few walks have started from."""
        kinds = [nodes for _, nodes in self._sorted[problem]]
        weights = np.array([1.0 / (1 + self._departures[nodes[0].number]) ** 2 for nodes in kinds])
        kind = kinds[int(rng.choice(len(kinds), p=weights / weights.sum()))]
        return kind[int(rng.integers(len(kind)))]


def after_walking(evidence: Evidence, *, besides: str = "") -> Evidence:
    """The evidence as it was when the first walks were over.

    Queries whose first aim has the purpose ``besides`` count as part of them.
    """
    return evidence.as_of(_first_walks(evidence, besides))


def _first_walks(evidence: Evidence, besides: str = "") -> int:
    """How many exchanges the first walks are."""
    for number, exchange in enumerate(evidence.exchanges):
        move = exchange.move
        exploring = isinstance(move, Walk) and move.why == EXPLORE
        if not exploring and not (isinstance(move, Ask) and move.aims and move.aims[0].purpose == besides):
            return number
    return len(evidence.exchanges)


def uncovering_walk(evidence: Evidence) -> Walk | None:
    """A few steps on from where an effect is hidden, so that it may be seen after all."""
    walks = [(one.told, one.move) for one in evidence.exchanges if isinstance(one.move, Walk)]
    made = [(told, walk) for told, walk in walks if walk.why == UNCOVER]
    if len(made) >= UNCOVER_IN_VAIN and not any(told for told, _ in made[-UNCOVER_IN_VAIN:]):
        return None  # every walk ends where something else is hidden
    tried = Counter((walk.wanted or walk.start).number for _, walk in made)
    for node in evidence.hidden_effects():
        if tried[node.number] < UNCOVER_ATTEMPTS:
            return Walk(node, UNCOVER_STEPS, UNCOVER)
    return None


def uncovering_step(evidence: Evidence) -> Ask | None:
    """A step on from where an effect is hidden, if the agent did nothing there on its own.

    Of those that should succeed one that names most of the objects about which something is hidden.
    """
    for node in evidence.hidden_effects():
        made = [one for one in evidence.exchanges if one.move is not None and one.move.start is node]
        walks = [one.entry for one in made if isinstance(one.move, Walk) and one.move.why == UNCOVER]
        asked = sum(isinstance(one.move, Ask) and one.move.why == UNCOVER_BY_STEP for one in made)
        if asked >= UNCOVER_ATTEMPTS or not walks or any(entry.executed for entry in walks):
            continue
        hidden = {name for atom in node.state.unknown for name in atom.objects}
        options = [step for step in _likely_steps(evidence, node) if not evidence.was_seen(node, step)]
        if options:
            step = max(options, key=lambda step: len(hidden.intersection(step.objects)))
            return Ask(node, (step,), UNCOVER_BY_STEP)
    return None


def _likely_steps(evidence: Evidence, node: Node) -> Iterator[GroundAction]:
    """The steps that should succeed in a situation, by what was required in every success that was seen."""
    for name, action in evidence.hypotheses.actions.items():
        if action.successes:
            required = atoms(action, action.bold.positive)
            for objects in islice(bindings(node.index, action.index.header, required), SEARCH_LIMIT):
                if not action.violated(*action.index.values(node.state, objects), action.bold):
                    yield GroundAction(name, objects)


def following_walk(evidence: Evidence, rng: np.random.Generator) -> Walk | None:
    """A few steps on from where an action was first attempted, while there are actions that were never executed.

    A first success may be what others were waiting for: such walks start from there, and from the situations seen after it
    that are of a kind from which few of them have started. And where an action was refused, most of what it is likely to
    require holds: the agent may know the arguments with which it can be executed.
    """
    if all(action.successes for action in evidence.hypotheses.actions.values()):
        return None
    begun = [
        (walk.wanted or walk.start)
        for walk in (exchange.move for exchange in evidence.exchanges)
        if isinstance(walk, Walk) and walk.why == FOLLOW
    ]
    trials = list(first_trials(evidence))
    for trial in trials:
        node = evidence.situation(trial.final)
        if not trial.executed and sum(start is node for start in begun) < FOLLOW_REFUSAL:
            return Walk(node, FOLLOW_STEPS, FOLLOW)
    executed = [evidence.situation(trial.final) for trial in trials if trial.executed]
    if not executed:
        return None
    first = executed[-1]
    after = [start for start in begun if start.number >= first.number]
    if len(after) >= FOLLOW_SUCCESS:
        return None
    kinds: dict[Kind, list[Node]] = {}
    for node in evidence.visited if len(after) >= FOLLOW_AT_ONCE else [first]:
        if node.number >= first.number and node.state.objects == first.state.objects:
            kinds.setdefault(_kind(node.state), []).append(node)
    departures = Counter(_kind(start.state) for start in after)
    weights = np.array([1.0 / (1 + departures[kind]) ** 2 for kind in kinds])
    nodes = list(kinds.values())[int(rng.choice(len(kinds), p=weights / weights.sum()))]
    return Walk(nodes[int(rng.integers(len(nodes)))], FOLLOW_STEPS, FOLLOW)


def _kind(state: State) -> Kind:
    """Every predicate with true atoms, and how many there are."""
    true = Counter(map(itemgetter(0), state.true))
    return tuple(chain.from_iterable(sorted(true.items())))

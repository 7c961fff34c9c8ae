"""Conditions of outcomes that are likely and not certain: with them the model is nearer to the truth than with certain ones alone.

It takes many trials to be certain that an outcome depends on an atom; a few make it likely. A case is split by an atom, and its halves
again, wherever the split makes the trials more probable by more than the choice of the atom costs: a tree of conditions, weighed by the
probability of all trials with the frequencies integrated out (Buntine, "Learning classification trees", 1992). Each choice looks one
more split ahead, so that a condition on two atoms of which neither tells anything alone is found, too.

Objectives depend on more than actions do: an action that cannot be executed is refused, which proves its precondition, where a policy
pursues and fails. So a split costs less there, by how probable it is that an atom makes a difference to a pursuit: at first the same for
all, then by what the atoms of its predicate do to pursuits of other objectives. What spoils one skill often spoils others.

The model alone has such conditions. What is called certain, the intervals and the choice of trials go by ``conditions``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import lgamma, log
from typing import Final, NamedTuple

import numpy as np

from aam_vision.interrogation.chance.cases import AWAITED, CaseKnowledge
from aam_vision.interrogation.chance.conditions import MOST
from aam_vision.interrogation.chance.intervals import Numbers
from aam_vision.interrogation.chance.observations import Change
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex, Literals

PRIOR: Final = 0.5
"""Trials in which each outcome is taken to have come before the first one (Jeffreys)."""
MATTERS: Final = 0.3
"""How probable it is, before any pursuit of an objective, that an atom makes a difference to what comes of it."""
_AT_FIRST: Final = 2.0
"""How many atoms of other objectives that weighs as much as, where what they do is known."""
_LIMITS: Final = 0.02, 0.98
"""Between which that probability stays, whatever was seen of other objectives."""
_FAR: Final = 50.0
"""Evidence (logarithm) beyond which more of it changes nothing."""
_ROUNDS: Final = 30
"""How often what is unknown is shared out anew by what followed from the last time."""


class Part(NamedTuple):
    """A part of a case."""

    condition: Literals
    """Beside that of the case."""
    probabilities: tuple[float, ...]
    """Of every outcome of the case, 0 where it was awaited in vain; they add up to one."""


def likely_parts(case: CaseKnowledge, index: AtomIndex, prior: Numbers | None = None) -> tuple[Part, ...]:
    """The parts of a case in which outcomes probably come as often, by the atoms of its action; none if that is all of it.

    ``prior``: of an objective, how probable it is before any pursuit that each atom makes a difference (``mattering``).
    """
    if len(case.outcomes) < 2:
        return ()
    contexts = case.counted.contexts
    hits = came(contexts, case.outcomes)
    if not hits.any():
        return ()
    atoms = len(index.atoms)
    # before any trial a split of an action is as probable as none, and each atom as any other
    cost = np.full(atoms, log(atoms))
    if index.goal:
        prior = np.full(atoms, MATTERS) if prior is None else prior
        cost = np.log((1 - prior) / prior)
    found = _divided(hits, true_in(contexts, atoms), hits.sum(0) / hits.sum(), NOTHING, cost)
    return tuple(found) if len(found) > 1 else ()


def mattering(objectives: Sequence[tuple[AtomIndex, Sequence[CaseKnowledge]]]) -> list[Numbers]:
    """How probable it is, before any pursuit of an objective, that each of its atoms makes a difference: by the pursuits of all others.

    It is the share of the atoms of its predicate that make a difference to others, which is found by expectation maximization as it is
    not known which of them do. Before all that it is ``MATTERS``, which weighs as much as ``_AT_FIRST`` atoms.

    Args:
        objectives: the atoms of each, and its cases.

    Returns:
        For each objective an array (atom,).
    """
    predicates = list(dict.fromkeys(atom.predicate for index, _ in objectives for atom in index.atoms))
    kinds = {predicate: number for number, predicate in enumerate(predicates)}
    own, kind, evidence = list[int](), list[int](), list[float]()
    for number, (index, cases) in enumerate(objectives):
        for case in (one for one in cases if len(one.outcomes) > 1):
            true = true_in(case.counted.contexts, len(index.atoms))
            told = telling_apart(came(case.counted.contexts, case.outcomes), true)
            for place in np.flatnonzero(true.any(0) & ~true.all(0)):
                own.append(number)
                kind.append(kinds[index.atoms[place].predicate])
                evidence.append(float(told[place]))
    # arrays: (evidence, predicate), and (objective, evidence); by each objective the rates are others
    of = np.eye(len(kinds))[np.array(kind, dtype=int)]
    others = np.array(own, dtype=int) != np.arange(len(objectives))[:, None]
    weight, made = np.exp(np.clip(evidence, -_FAR, _FAR)), _AT_FIRST + others @ of
    rates = np.full(made.shape, MATTERS)
    for _ in range(_ROUNDS):
        odds = (rates / (1 - rates)) @ of.T * weight
        rates = ((_AT_FIRST * MATTERS + (others * odds / (1 + odds)) @ of) / made).clip(*_LIMITS)
    return [
        rates[number, [kinds[atom.predicate] for atom in index.atoms]]
        for number, (index, _) in enumerate(objectives)
    ]


def telling_apart(hits: Numbers, true: Numbers) -> Numbers:
    """For each atom, by how much more probable trials are with it and without it by themselves than all together (logarithm).

    Args:
        hits: how often which outcome came in each context: array (context, outcome).
        true: which atoms held before: array (context, atom).
    """
    halves = np.einsum("vca,ck->vak", np.stack([true, 1 - true]), hits)
    found: Numbers = _probability(halves).sum(0) - _probability(hits.sum(0))
    return found


def came(contexts: Mapping[int, Mapping[int, int]], outcomes: Sequence[Change]) -> Numbers:
    """How often which outcome seems to have come in each context: array (context, outcome).

    Args:
        contexts: by the atoms that held before, how often which held after.
        outcomes: all that there are.
    """
    hits = np.zeros((len(contexts), len(outcomes)))
    seen = []
    for place, (held, afters) in enumerate(contexts.items()):
        ends = [(held | one.adds) & ~one.deletes for one in outcomes]
        # none of them ends so in the trial after which there were too many outcomes
        seen += [
            (place, made, [float(end == now) for end in ends]) for now, made in afters.items() if now in ends
        ]
    if not seen:
        return hits
    places, times, fits = (np.array(each) for each in zip(*seen, strict=True))
    overall = np.full(len(outcomes), 1 / len(outcomes))
    for _ in range(_ROUNDS):
        each = fits * overall
        each *= (times / each.sum(1))[:, None]
        overall = each.sum(0) / each.sum()
    np.add.at(hits, places, each)
    return hits


def true_in(contexts: Iterable[int], atoms: int) -> Numbers:
    """Which of so many atoms held before: array (context, atom)."""
    rows = [[held >> one & 1 for one in range(atoms)] for held in contexts]
    return np.array(rows, dtype=float).reshape(-1, atoms)


def _divided(
    hits: Numbers, true: Numbers, overall: Numbers, condition: Literals, cost: Numbers
) -> list[Part]:
    """The parts of what a condition leaves of a case, by how often which outcome came in each context, and which atoms are true there."""
    best, gain = _split(hits, true, cost) if condition.size() < MOST else (0, 0.0)
    if gain <= 0:
        made = hits.sum(0)
        shares = made + overall * ((made > 0) | (overall * made.sum() <= AWAITED))
        return [Part(condition, tuple(map(float, shares / shares.sum())))]
    positive, negative, bit, inside = *condition, 1 << best, true[:, best] > 0
    return [
        *_divided(hits[inside], true[inside], overall, Literals(positive | bit, negative), cost),
        *_divided(hits[~inside], true[~inside], overall, Literals(positive, negative | bit), cost),
    ]


def _split(hits: Numbers, true: Numbers, cost: Numbers) -> tuple[int, float]:
    """The atom by which contexts are best split, and by how much more that and the best split of each half make what came more probable than they cost (logarithm)."""
    further_cost = log(true.shape[1])  # one of all atoms, whatever the first one costs: many pairs are tried
    sides = np.stack([true, 1 - true])  # value, context, atom
    halves = np.einsum("vca,ck->vak", sides, hits)
    quarters = np.einsum("vca,wcb,ck->vawbk", sides, sides, hits)
    whole, each, again = map(_probability, (hits.sum(0), halves, quarters))
    further = (again.sum(2) - each[:, :, None] - further_cost).max(2).clip(min=0)  # value, atom
    gain = each.sum(0) - whole - cost + further.sum(0)
    gain[~sides.any(1).all(0)] = -np.inf  # all contexts are on one side
    best = int(gain.argmax())
    return best, float(gain[best])


def _probability(hits: Numbers) -> Numbers:
    """That outcomes came in the order in which they did (logarithm), by how often each of them came (last axis)."""
    outcomes, made = hits.shape[-1], hits.sum(-1)
    each = _log_gamma(PRIOR + hits) - lgamma(PRIOR)
    found: Numbers = lgamma(PRIOR * outcomes) - _log_gamma(PRIOR * outcomes + made) + each.sum(-1)
    return found


def _log_gamma(values: Numbers) -> Numbers:
    return np.asarray(np.frompyfunc(lgamma, 1, 1)(values), dtype=float)

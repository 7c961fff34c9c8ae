"""Where an action that was never executed should succeed, in states made for it and in states that a plan reaches.

Nothing is known of such an action but its refusals. Where states can be made, all its atoms are made true but a few: that
meets every positive precondition. Elsewhere as many of the literals that it is likely to require are made to hold as can,
the likeliest first. A refusal leaves a clause, and the next state meets one of its literals first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, product
from typing import NamedTuple

from aam_vision.interrogation.beliefs.candidates import Beliefs, Transfer
from aam_vision.interrogation.evidence.graph import Evidence, Exchange
from aam_vision.interrogation.evidence.moves import Aim, Ask, Asked
from aam_vision.interrogation.hypotheses.literals import NOTHING, Literals, Merged, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, atoms
from aam_vision.interrogation.queries.reachability import BoundedSearch, PlannedNearMiss, Reachability
from aam_vision.model.query import Situation
from aam_vision.model.strips import Atom, GroundAction, Objects, State
from aam_vision.planning.joins import StateIndex, bindings
from aam_vision.planning.planner import Verdict

FEW_ATOMS = 32
"""Atoms of an action that are left false one by one until it succeeds; where there are more, quarters of them come first."""
MAX_REFUSALS = 12
"""Refusals of an action after which no plan to a first success is made any more, until another action succeeds first."""
TRUSTED = 3
"""Refusals up to which it is trusted that an action requires what others like it do."""
MAX_SEARCHES = 10
"""Searches for a plan to as many of the literals that should hold as possible."""
SEEDS = 8
"""Literals of the smallest clause that such a plan may start from."""

Reach = Callable[[Reachability, ActionHypotheses, Literals], PlannedNearMiss | Verdict]
"""Searches a plan to where literals of an action hold."""


def left_false(action: ActionHypotheses) -> Iterator[int]:
    """Atoms to leave false in an otherwise true state: none, then one by one.

    Where these are many, quarters come before: all atoms whose numbers agree in two binary digits. Each of
    them is a chance of some 10% for one negative precondition among a few positive ones.
    """
    yield 0
    size = len(action.index.atoms)
    if size > FEW_ATOMS:
        for high, low in combinations(range(size.bit_length()), 2):
            for values in product((0, 1), repeat=2):
                quarter = [n for n in range(size) if (n >> high & 1, n >> low & 1) == values]
                yield sum(1 << number for number in quarter)
    yield from bits(action.negative)


def constructed_states(
    action: ActionHypotheses, start: State, objects: tuple[str, ...], left_out: Iterable[int]
) -> Iterator[State]:
    """States in which the action may be executed: ``start`` with all its atoms true but those left out, one set at a time."""
    for off in left_out:
        state = with_atoms(start, action, objects, action.index.everything & ~off, off)
        if not action.certain_to_fail(action.violated(*action.index.values(state, objects))):
            yield state


def planned_states(
    evidence: Evidence,
    action: ActionHypotheses,
    paths: Iterable[Reachability],
    *,
    first: Iterable[Literals],
    likely: Sequence[Literals],
    reach: Reach,
) -> Iterator[tuple[PlannedNearMiss, State]]:
    """Plans to where the action may be executed, with the state in which each ends as far as it is known.

    ``first``: what has to hold there, one after the other. ``likely``: what should hold beside that as far as possible, the
    likeliest precondition first.
    """
    for fixed in first:
        for path in paths:
            holding = path.gather(action, fixed, likely)
            planned = None if holding is None else reach(path, action, holding)
            if isinstance(planned, PlannedNearMiss):
                yield planned, evidence.predict_plan(planned.start.state, planned.path)


def reachable_first_success(
    evidence: Evidence, name: str, beliefs: Beliefs, paths: Sequence[Reachability], searches: BoundedSearch
) -> Ask | None:
    """A query whose last step was never executed, where it is most likely to succeed; None if none is found.

    Atoms that rarely hold are seldom true together by chance: so as many of the action's atoms as can are made to hold
    there, the rarest first.
    """
    action = evidence.hypotheses[name]
    refused = refused_lately(evidence, name)
    if refused >= MAX_REFUSALS or searches.exhausted:
        return None
    for likely, first in _guesses(evidence, action, beliefs, paths, refused):
        for fixed, path in product(first, paths):
            planned = _planned(path, action, fixed, likely, searches.reach)
            if planned is None:
                continue
            plan = *planned.path, planned.step
            if evidence.answer_follows(planned.start, plan) or evidence.was_asked(planned.start, plan):
                continue  # where values are hidden, a refusal need not rule it out
            state = evidence.predict_plan(planned.start.state, planned.path)
            values = action.index.values(state, planned.step.objects)
            if action.may_be_told(*values) and not action.certain_to_fail(action.violated(*values)):
                return Ask(planned.start, plan, f"see {name} succeed")
    return None


Guess = tuple[Sequence[Literals], Sequence[Literals]]
"""Literals that should hold where an action is asked, the most important first; and what to begin with, one after the other."""


def _guesses(
    evidence: Evidence,
    action: ActionHypotheses,
    beliefs: Beliefs,
    paths: Sequence[Reachability],
    refused: int,
) -> Iterator[Guess]:
    """What to try, the best guess first.

    After refusals it is trusted for some time that the action requires what others do. Then all kinds of guesses take
    turns: more may be reachable by then, so that the first kind is a new guess, too.
    """
    name = action.index.header.name
    rarest = [Literals(bit, 0) for bit in sorted(bits(action.positive), key=partial(beliefs.rate, name))]
    if not action.clauses:
        yield rarest, [NOTHING]
        return
    factor = _factors(evidence, action, beliefs, rarest)
    if refused < TRUSTED:
        yield _as_others_require(action, factor, paths, rarest)
        return
    for turn in range(refused, refused + 3):
        if turn % 3 == 0:
            yield rarest, [NOTHING]
        elif turn % 3 == 1:
            yield _what_was_missing(action, factor, rarest)
        else:
            yield _as_others_require(action, factor, paths, rarest)


def _planned(
    path: Reachability, action: ActionHypotheses, fixed: Literals, likely: Sequence[Literals], reach: Reach
) -> PlannedNearMiss | None:
    """A plan to where the fixed literals hold with as many of the likely ones as a plan is found to, the first first.

    Pairs that do not exclude each other may still never hold all together, or far away. So where there is no plan to all,
    they are tried by halves.
    """
    together = path.gather(action, fixed, likely)
    if together is None:
        return None
    halves = [[literal for literal in likely if literal.within(together)]]
    found: PlannedNearMiss | None = None
    for _ in range(MAX_SEARCHES):
        if not halves:
            break
        some = halves.pop()
        more = union([fixed, *some])
        planned = reach(path, action, more)
        if isinstance(planned, PlannedNearMiss):
            found, fixed = planned, more
        elif len(some) > 1:
            halves += [some[len(some) // 2 :], some[: len(some) // 2]]
    return found


class FirstTrial(NamedTuple):
    """A query in which an action was attempted that had never been executed."""

    name: str
    executed: bool
    final: Situation
    """Where the agent stood in the end."""


def first_trials(evidence: Evidence) -> Iterator[FirstTrial]:
    """The first attempts at actions until each is executed, one of a query, the last; what was asked before was asked for other reasons."""
    executed: set[str] = set()
    for exchange in evidence.exchanges:
        entry = exchange.entry
        if isinstance(entry, Asked) and exchange.move is not None:
            done = entry.response.executed
            new = [(step.name, n < done) for n, step in enumerate(entry.actions) if step.name not in executed]
            if new:
                yield FirstTrial(*new[-1], entry.response.final)
        executed.update(step.name for step in entry.executed)


def refused_lately(evidence: Evidence, name: str) -> int:
    """How often the action was refused since an action was executed for the first time in a query.

    What that brings about may be just what was missing.
    """
    refused = 0
    for trial in first_trials(evidence):
        refused = 0 if trial.executed else refused + (trial.name == name)
    return refused


def _factors(
    evidence: Evidence, action: ActionHypotheses, beliefs: Beliefs, literals: Iterable[Literals]
) -> dict[Literals, float]:
    """How much more probable it is that the action requires each literal, as others with such parameters do."""
    transfer = Transfer(
        evidence.hypotheses,
        lambda other, bit: beliefs.probability(other, Literals(bit, 0), evidence.hypotheses[other]),
    )
    name = action.index.header.name
    return {one: transfer.factor(name, action.index.atom(one.positive)) for one in literals}


def _as_others_require(
    action: ActionHypotheses,
    factor: Mapping[Literals, float],
    paths: Sequence[Reachability],
    rarest: Sequence[Literals],
) -> tuple[list[Literals], list[Literals]]:
    """What should hold where the next step is asked, and which literals of a clause to meet, the most promising first.

    An action often requires what others with such parameters do. So what those require is made to hold first, and the
    literal of the clause comes first beside which most of that can hold: it may be the only thing that was missing.
    """
    likely = sorted(rarest, key=lambda literal: -factor[literal])  # of equals, the rarest stays first
    expected = [literal for literal in likely if factor[literal] > 1]

    def worth(fixed: Literals) -> float:
        gathered = [path.gather(action, fixed, likely) for path in paths]
        return max(
            sum(factor[literal] for literal in expected if literal.within(holding))
            for holding in gathered
            if holding is not None
        )

    possible = [
        literal
        for literal in in_smallest_clause(action, rarest)
        if any(path.gather(action, literal, []) is not None for path in paths)
    ]
    return likely, sorted(possible, key=lambda literal: -worth(literal))[:SEEDS]


def _what_was_missing(
    action: ActionHypotheses, factor: Mapping[Literals, float], rarest: Sequence[Literals]
) -> tuple[list[Literals], list[Literals]]:
    """What should hold where the next step is asked, and what to begin with: what was violated in most refusals first."""
    clauses = action.clauses
    likely = sorted(rarest, key=lambda one: (-sum(one.within(clause) for clause in clauses), -factor[one]))
    return likely, [NOTHING, *in_smallest_clause(action, likely)[:SEEDS]]


def in_smallest_clause(action: ActionHypotheses, likely: Sequence[Literals]) -> list[Literals]:
    """The literals of the smallest clause that refusals have left, in the given order; nothing if there is no clause."""
    smallest = min(action.clauses, key=Literals.size, default=NOTHING)
    return [literal for literal in likely if literal.within(smallest)]


# States made for a question under ``settable`` access, and arguments for it.


def arguments_as(objects: Objects, types: tuple[str, ...], merged: Merged) -> tuple[str, ...] | None:
    """Arguments that are alike just where ``merged`` says so; None if there are too few objects."""
    chosen: dict[int | str, str] = {}
    for symbol in merged:
        if isinstance(symbol, str):
            chosen[symbol] = symbol
        elif symbol not in chosen:
            kinds = [kind for kind, other in zip(types, merged, strict=True) if other == symbol]
            options = [
                name
                for name in objects.of_type(kinds[0])
                if name not in chosen.values() and all(name in objects.members(kind) for kind in kinds)
            ]
            if not options:
                return None
            chosen[symbol] = options[0]
    return tuple(chosen[symbol] for symbol in merged)


def roomiest(evidence: Evidence) -> State:
    """The initial state of the problem with the most objects: room for many steps beside each other."""
    return max((node.state for node in evidence.initial), key=lambda state: len(state.objects))


def with_atoms(state: State, action: ActionHypotheses, objects: tuple[str, ...], on: int, off: int) -> State:
    """The state with some of the action's atoms switched on and others off."""
    facts = dict(action.index.grounded(objects))
    true = state.true | {Atom(*facts[bit]) for bit in bits(on)}
    return State(true - {Atom(*facts[bit]) for bit in bits(off)}, state.objects)


def ask_in(
    evidence: Evidence, state: State, plan: Sequence[GroundAction], why: str, aims: Sequence[Aim] = ()
) -> Ask:
    """The query that asks for a plan in a state made for it."""
    return Ask(evidence.situation(Situation(state, state)), tuple(plan), why, aims=tuple(aims))


# Near misses: single steps whose outcome is not known yet, found in a situation by a join over its atoms.
#
# A probe *violates* some undecided literals of its action while everything proven holds. If the agent
# refuses, one of the violated literals is a precondition; if it executes, none is. A probe that violates
# one literal alone decides it either way: a *near miss*. Other arguments violate other literals, so that
# ``move`` asked of a stone tests ``is-player``. Which arguments to take is a join over the state's atoms.

SEARCH_LIMIT = 400
"""Bindings looked at in one situation for one target."""


@dataclass(frozen=True)
class NearMiss:
    """A step to ask, and the undecided literals that it violates (or may violate)."""

    action: GroundAction
    violated: Literals


def near_misses(hypotheses: ActionHypotheses, index: StateIndex, suspects: Literals) -> Iterator[NearMiss]:
    """Probes in one situation that violate nothing but suspects, and at least one of them.

    Their outcome is open: neither a proven precondition nor a whole clause is violated. Something is violated
    for certain: where a literal is only unknown, a success would tell nothing of it.
    """
    trusted = hypotheses.candidates.without(suspects)
    required = atoms(hypotheses, trusted.positive)
    state = index.state
    for objects in islice(bindings(index, hypotheses.index.header, required), SEARCH_LIMIT):
        held, dim = hypotheses.index.values(state, objects)
        violated = hypotheses.violated(held, dim)
        if (
            hypotheses.certainly_violated(held, dim)
            and not (violated.positive & trusted.positive or violated.negative & trusted.negative)
            and not hypotheses.certain_to_fail(violated)
        ):
            yield NearMiss(GroundAction(hypotheses.index.header.name, objects), violated)


def revealing_step(hypotheses: ActionHypotheses, index: StateIndex, bit: int) -> GroundAction | None:
    """A step that can be executed in this situation and would show an undecided effect on one atom."""
    wanted = not hypotheses.adds & bit  # an atom that may be deleted must be there, else it must not
    required = atoms(hypotheses, hypotheses.positive | (bit if wanted else 0))
    for objects in islice(bindings(index, hypotheses.index.header, required), SEARCH_LIMIT):
        held, dim = hypotheses.index.values(index.state, objects)
        if bool(held & bit) == wanted and not dim & bit and not hypotheses.violated(held, dim):
            return GroundAction(hypotheses.index.header.name, objects)
    return None


# The queries that were asked for one purpose, read back from the evidence.


def asked_for(evidence: Evidence, purpose: str, since: int = 0) -> Iterator[tuple[Ask, Exchange]]:
    """The queries with an aim of this purpose, and their exchanges, from the exchange of number ``since`` on."""
    for exchange in evidence.exchanges[since:]:
        move = exchange.move
        if isinstance(move, Ask) and any(aim.purpose == purpose for aim in move.aims):
            yield move, exchange

"""The situations that can be reached with what is known of the actions, or made for a question, and the way to the best trial.

A discounted reachability problem: a situation is worth its best trial, or a little less than what the outcomes of a step that
is certain to be executed lead to. Probabilities are the estimates of the moment: they order the trials and decide nothing. Where an
agent can be asked about any state, near misses are made, and states in which outcomes show themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from math import prod
from typing import NamedTuple

import numpy as np

from aam_vision.interrogation.chance.cases import CaseKnowledge
from aam_vision.interrogation.chance.knowledge import ActionKnowledge
from aam_vision.interrogation.chance.observations import Setting
from aam_vision.interrogation.hypotheses.literals import bits
from aam_vision.model.strips import Atom, GroundAction, Objects, State

MAX_STATES = 3000
"""Situations that are considered, nearest ones first."""
FEW_STATES = 300
"""The same where states can be made: then no way leads far."""
MAX_BINDINGS = 5000
"""Bindings of one action that are considered in a situation."""
_DISCOUNT = 0.93
"""What a trial one step away is worth, beside the same trial here."""
_SWEEPS = 150
_EXACT = 1e-5
_COMPARING, _HALF = 0.6, 12
"""Worth of a step where only an atom differs on which the outcomes may depend, at first, and trials there after which it is half of that: what
else is hardly known comes before the last of up to 400."""
EQUAL = 0.99
"""Share of the worth of the best trial from which others are made in turn with it."""
_LACKING = 0.3
"""Share by which a trial is worth more with a value of a fact that none had: about three steps on the way to it."""
_RARE = 0.4
"""Share of the trials from which a value of a fact is not lacking."""
_LATE = 0.08
"""Worth of a trial below which that counts: what outcomes there are, and roughly how often they come, is learned first."""
_FACTS, _PAIRED = 20, 8
"""Facts of which that is looked at, and of those that no atom of the action is about, each two of them: the first ones."""
NEGLIGIBLE = 1e-4
"""Worth below which nothing is done for it."""
Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]
_VARIED = 15
"""Facts that an action does not name which are varied, at most."""
_CHOICES = 8
"""Choices of objects that its steps are made with in turn, at most."""


class Step(NamedTuple):
    """A step that may be tried in a situation: the action's number, its arguments, and its atoms that hold there."""

    action: int
    objects: tuple[str, ...]
    held: int


_Kind = tuple[int, int]
"""An action's number, and its atoms that hold where a step begins."""
_SEEN = -1
_Way = tuple[int, int, int]
"""How a step leads to a situation: its action, the action's atoms that hold before, and the outcome; or ``_SEEN``, how often it was seen to lead
there, and of how many times."""


class _Choices:
    """The actions of a problem with their arguments, in order, and of which of them each fact is an atom."""

    def __init__(
        self, given: Sequence[tuple[int, tuple[str, ...]]], actions: Sequence[ActionKnowledge]
    ) -> None:
        self.given = given
        self._places = [*range(len(given))]
        self._atoms: dict[tuple[str, tuple[str, ...]], list[tuple[int, int]]] = {}
        """By fact, the places of the choices that it is an atom of, each with the atom's bit."""
        for place, (number, objects) in zip(self._places, given, strict=True):
            index = actions[number].index
            for bit, fact in index.grounded(objects):
                if not bit & index.reported:
                    self._atoms.setdefault(fact, []).append((place, bit))

    def kinds(self, state: State) -> dict[_Kind, list[int]]:
        """By action and its atoms that hold where a step begins, the places of the choices."""
        held = [0] * len(self.given)
        for fact in state.true:
            for place, bit in self._atoms.get(fact, ()):
                held[place] |= bit
        found: dict[_Kind, list[int]] = {}
        for place, (number, _), mask in zip(self._places, self.given, held, strict=True):
            found.setdefault((number, mask), []).append(place)
        return found


class StepTable:
    """The steps that may be tried in each situation, worked out once, by kind: the action and its atoms that hold.

    No object is named twice, and no constant as an argument where two of the action's atoms would be one fact: which of them
    was changed could not be told. There are millions of steps, so of each only its place is kept.
    """

    def __init__(self, actions: Sequence[ActionKnowledge]) -> None:
        self._actions = actions
        self._choices: dict[Objects, _Choices] = {}
        self._known: dict[State, tuple[dict[_Kind, list[int]], list[Step]]] = {}
        """By situation, the places of the steps of each kind, and the first of them."""
        self._equal: dict[_Kind, _Kind] = {}
        self.led: dict[State, dict[tuple[int, tuple[str, ...]], Counter[State]]] = {}
        """By situation, action and arguments, where steps led that once led elsewhere than what is known of their actions, as they change what
        is not named."""
        self.cut: dict[int, int] = {}
        """The actions, by number, of which not all steps of a situation are among these, and how many choices of arguments there are."""
        self._reported = frozenset[Atom]().union(
            *(one.index.facts(one.index.reported, ()) for one in actions)
        )

    def begun(self, state: State) -> State:
        """A state as one in which steps begin: without what was only said at the end of the last one."""
        reported = self._reported & state.true
        return State(state.true - reported, state.objects) if reported else state

    def all(self, state: State) -> list[Step]:
        """Every step, by action and arguments."""
        return self.of(state, lambda number, held: True)

    def of(self, state: State, wanted: Callable[[int, int], bool]) -> list[Step]:
        """The steps of the kinds that are wanted, by action and arguments."""
        kinds = self._of(state)[0]
        given = self._choices[state.objects].given
        found = [(place, kind[1]) for kind, places in kinds.items() if wanted(*kind) for place in places]
        return [Step(*given[place], held) for place, held in sorted(found)]

    def distinct(self, state: State) -> list[Step]:
        """One step of every kind: others would tell the same."""
        return self._of(state)[1]

    def keep(self, states: Container[State]) -> None:
        """Forget all other situations."""
        self._known = {state: known for state, known in self._known.items() if state in states}

    def _of(self, state: State) -> tuple[dict[_Kind, list[int]], list[Step]]:
        if state not in self._known:
            choices = self._choices.get(state.objects)
            if choices is None:
                choices = self._choices[state.objects] = _Choices(
                    [*self._chosen(state.objects)], self._actions
                )
            kinds = {
                self._equal.setdefault(kind, kind): places for kind, places in choices.kinds(state).items()
            }
            first = [Step(*choices.given[places[0]], held) for (_, held), places in kinds.items()]
            self._known[state] = kinds, first
        return self._known[state]

    def _chosen(self, known: Objects) -> Iterator[tuple[int, tuple[str, ...]]]:
        for number, action in enumerate(self._actions):
            pools = [known.of_type(kind) for kind in action.index.header.types]
            if (choices := prod(map(len, pools))) > MAX_BINDINGS:
                self.cut[number] = max(choices, self.cut.get(number, 0))
            for objects in islice(product(*pools), MAX_BINDINGS):
                if len(set(objects)) == len(objects) and not action.index.shared(objects):
                    yield number, objects


class StateGraph:
    """The situations reached from some by steps that are certain to be executed.

    Args:
        actions: what is known of each.
        steps: the steps of every situation.
        starts: situations to begin with; those that come first are kept if there are too many.
        alone: situations of which only the steps matter, not where they lead.
        limit: situations that are considered at most.
    """

    def __init__(
        self,
        actions: Sequence[ActionKnowledge],
        steps: StepTable,
        starts: Iterable[State],
        alone: Iterable[State] = (),
        limit: int = MAX_STATES,
    ) -> None:
        self._actions = actions
        self._steps = steps
        self.number: dict[State, int] = {}
        self.states: list[State] = []
        self.complete = True
        """Whether all situations that can be reached are among them."""
        self._limit = limit
        for state in alone:
            self._add(state)
        done = len(self.states)
        self._limit += done
        for state in starts:
            self._add(state)
        self._moves: list[tuple[int, Step]] = []
        self._lead: list[tuple[int, int, int]] = []
        """Of every move and outcome: the move's number, the way's, the state's."""
        self._ways: dict[_Way, int] = {}
        self._shares: Numbers = np.zeros(0)
        """Of every way, its probability when the graph was last solved."""
        self._outcomes: dict[_Kind, list[tuple[int, int, int]]] = {}
        self._effects: dict[Step, list[tuple[int, frozenset[Atom], frozenset[Atom]]]] = {}
        """See ``_leads`` and ``_changes``."""
        self._avoided: list[int] = []
        """Moves that led elsewhere for the first time since the graph was made."""
        while done < len(self.states):
            self._expand(done)
            done += 1
        self._arrays()
        steps.keep(self.number)

    def _add(self, state: State) -> int | None:
        if state in self.number:
            return self.number[state]
        if len(self.states) >= self._limit:
            self.complete = False
            return None
        self.number[state] = len(self.states)
        self.states.append(state)
        return self.number[state]

    def _expand(self, number: int) -> None:
        state = self.states[number]
        seen = self._steps.led.get(state, {})
        for step in self._steps.of(state, lambda *kind: bool(seen or self._leads(*kind))):
            if seen and (led := seen.get((step.action, step.objects))):
                reached = [((_SEEN, times, led.total()), self._add(after)) for after, times in led.items()]
            else:
                reached = [
                    (
                        (step.action, step.held, outcome),
                        self._add(State((state.true - deletes) | adds, state.objects)),
                    )
                    for outcome, adds, deletes in self._changes(step)
                ]
            known = [(way, place) for way, place in reached if place is not None]
            if known and any(place != number for _, place in known):
                for way, place in known:
                    self._lead.append((len(self._moves), self._ways.setdefault(way, len(self._ways)), place))
                self._moves.append((number, step))

    def _leads(self, number: int, held: int) -> list[tuple[int, int, int]]:
        """Every outcome of a kind of steps by its number, with the atoms that it makes true and false; none if they may be refused or change nothing."""
        kind = number, held
        if kind not in self._outcomes:
            action = self._actions[number]
            sure = bool(action.outcomes) and action.certain_to_succeed(held)
            found = [
                (outcome, after & ~held & ~action.index.reported, held & ~after)
                for outcome, after in (action.leads(held) if sure else ())
            ]
            self._outcomes[kind] = found if any(adds or deletes for _, adds, deletes in found) else []
        return self._outcomes[kind]

    def _changes(self, step: Step) -> list[tuple[int, frozenset[Atom], frozenset[Atom]]]:
        """The same of a step, as facts."""
        if step not in self._effects:
            facts = self._actions[step.action].index.facts
            self._effects[step] = [
                (outcome, facts(adds, step.objects), facts(deletes, step.objects))
                for outcome, adds, deletes in self._leads(step.action, step.held)
            ]
        return self._effects[step]

    def _arrays(self) -> None:
        lead = np.array(self._lead, dtype=np.int64).reshape(-1, 3)
        self._way, self._place = lead[:, 1], lead[:, 2]
        self._first = np.flatnonzero(np.diff(lead[:, 0], prepend=-1))
        sources = np.array([source for source, _ in self._moves], dtype=np.int64)
        self._begin = np.flatnonzero(np.diff(sources, prepend=-1))
        self._source = sources[self._begin]
        numbers: dict[tuple[int, int], int] = {}
        flat: list[int] = []
        begins: list[int] = []
        self._telling: list[int] = []
        """The situations in which there is anything to try."""
        for number, state in enumerate(self.states):
            steps = self._steps.distinct(state)
            if steps:
                begins.append(len(flat))
                self._telling.append(number)
            flat += [numbers.setdefault((step.action, step.held), len(numbers)) for step in steps]
        self._by_action: dict[int, list[tuple[int, int, Step]]] = {}
        self._comparing: dict[int, Step] = {}
        """By situation, the step there that tells on what outcomes depend."""
        self._kinds = list(numbers)
        self._kind, self._kind_begin = np.array(flat, dtype=np.int64), np.array(begins, dtype=np.int64)
        self._acting = np.array([action for action, _ in self._kinds], dtype=np.int64)[self._kind]
        self._where = np.repeat(
            np.array(self._telling, dtype=np.int64), np.diff(self._kind_begin, append=len(self._kind))
        )
        """Of every step there, the action and the situation."""
        self._varied: dict[int, Numbers] = {}
        """By action, for every situation what is varied there, 0 or 1: facts, and whether exactly one of two holds."""

    def solve(self, tried: Mapping[int, Mapping[State, int]] | None = None) -> Outlook:
        """What every situation is worth now.

        ``tried``: of actions with chance, how often each was tried in which situation: what may make a difference is to be varied.
        """
        own = np.zeros(len(self.states))
        if self._kinds:
            worth = np.array([self._actions[number].worth(held) for number, held in self._kinds])[self._kind]
            for number, made in (tried or {}).items():
                late = (self._acting == number) & (worth < _LATE)
                worth[late] *= self._lacking(number, made)[self._where][late]
            own[self._telling] = np.maximum.reduceat(worth, self._kind_begin)
        self._comparing.clear()
        for number, action in enumerate(self._actions):
            for state, objects, held in action.comparisons():
                place = self.number.get(state)
                comparing = _COMPARING / (1 + action.steps.made(held) / _HALF)
                if place is not None and own[place] < (worth_of := comparing + action.worth(held)):
                    own[place] = worth_of
                    self._comparing[place] = Step(number, objects, held)
        value = own
        gains = np.zeros(len(self._moves))
        if self._moves:
            self._shares = np.array([self._share(*way) for way in self._ways])
            share = self._shares[self._way]
            discount = np.full(len(self._moves), _DISCOUNT)
            discount[self._avoided] = 0.0
            for _ in range(_SWEEPS):
                gains = discount * np.add.reduceat(share * value[self._place], self._first)
                new = own.copy()
                new[self._source] = np.maximum(own[self._source], np.maximum.reduceat(gains, self._begin))
                change = float(np.abs(new - value).max())
                value = new
                if change < _EXACT:
                    break
        return Outlook(self, value, own, gains)

    def _share(self, number: int, held: int, outcome: int) -> float:
        """How probable it is that an action has an outcome where these atoms hold, and changes nothing that its instruction does not name."""
        if number == _SEEN:
            return held / outcome
        action = self._actions[number]
        return action.chance_of(held, outcome) * (1 - action.astray / (action.executed + 1))

    def note(self, state: State, step: Step, after: State) -> None:
        """Remember where a step led, if it ever led elsewhere than what is known of its action."""
        action, one = self._actions[step.action], (step.action, step.objects)
        if one not in self._steps.led.get(state, ()):
            known = (successor(state, action, step, leads) for _, leads in action.leads(step.held))
            if after in known:
                return
            moves = self.moves(self.number.get(state, -1))
            self._avoided += [move for move, own in moves.items() if own == step]
        seen = self._steps.led.setdefault(state, {}).setdefault(one, Counter())
        seen[self._steps.begun(after)] += 1

    @property
    def misleading(self) -> bool:
        """Whether steps led elsewhere for the first time since it was made."""
        return bool(self._avoided)

    def _lacking(self, number: int, tried: Mapping[State, int]) -> Numbers:
        """How many times as much trials of an action are worth in each situation as if all facts had been varied evenly."""
        if number not in self._varied:
            union = frozenset[Atom]().union(*(state.true for state in self.states))
            changing = union.difference(frozenset.intersection(*(state.true for state in self.states)))
            facts = sorted(changing)[:_FACTS]
            holds = np.array([[fact in state.true for fact in facts] for state in self.states], dtype=float)
            named = {atom.predicate for atom in self._actions[number].index.atoms}
            others = [place for place, fact in enumerate(facts) if fact.predicate not in named][:_PAIRED]
            pairs = [abs(holds[:, one] - holds[:, other]) for one, other in combinations(others, 2)]
            self._varied[number] = np.column_stack([holds, *pairs])
        varied, made = self._varied[number], np.zeros(len(self.states))
        for state, times in tried.items():
            if (place := self.number.get(state)) is not None:
                made[place] = times
        with_it = made @ varied / max(1.0, made.sum())
        share = np.where(varied > 0, with_it, 1 - with_it).min(1, initial=1.0)
        worth: Numbers = 1 + _LACKING * np.maximum(0.0, 1 - share / _RARE)
        return worth

    def trial(self, number: int, rng: np.random.Generator) -> Step | None:
        """The trial that is worth most in a situation; of an action with chance, that with the objects that were named least."""
        if number in self._comparing:
            return self._comparing[number]
        state = self.states[number]
        best = max(
            self._steps.distinct(state),
            key=lambda step: self._actions[step.action].worth(step.held),
            default=None,
        )
        return best and self.evenly(number, best, rng)

    def evenly(self, number: int, best: Step, rng: np.random.Generator) -> Step:
        """A step that is worth as much; of an action with chance, that with the objects that were named least."""
        if not (action := self._actions[best.action]).varies:
            return best
        least = action.worth(best.held) * EQUAL

        def as_good(number: int, held: int) -> bool:
            return number == best.action and (held == best.held or action.worth(held) >= least)

        equal = self._steps.of(self.states[number], as_good)
        fewest = min(action.named.get(step.objects, 0) for step in equal)
        equal = [step for step in equal if action.named.get(step.objects, 0) == fewest]
        return equal[int(rng.integers(len(equal)))] if len(equal) > 1 else equal[0]

    def leads(self, move: int) -> Iterator[tuple[float, int]]:
        """With which probability a move leads to which situation."""
        end = self._first[move + 1] if move + 1 < len(self._first) else len(self._lead)
        for _, way, place in self._lead[self._first[move] : end]:
            yield float(self._shares[way]), place

    def of_action(self, number: int) -> list[tuple[int, int, Step]]:
        """The moves by an action, with their numbers and where they begin."""
        if number not in self._by_action:
            self._by_action[number] = [
                (move, source, step)
                for move, (source, step) in enumerate(self._moves)
                if step.action == number
            ]
        return self._by_action[number]

    def moves(self, number: int) -> dict[int, Step]:
        """The steps that lead from a situation elsewhere, by their numbers."""
        place = int(np.searchsorted(self._source, number))
        if place == len(self._source) or self._source[place] != number:
            return {}
        end = self._begin[place + 1] if place + 1 < len(self._begin) else len(self._moves)
        return {move: self._moves[move][1] for move in range(int(self._begin[place]), int(end))}


class Outlook(NamedTuple):
    """What the situations of a graph are worth, and which step is best."""

    graph: StateGraph
    value: Numbers
    own: Numbers
    """The worth of the best trial there."""
    gains: Numbers
    """Of every move, the worth of where it leads."""

    def choice(self, number: int, rng: np.random.Generator) -> tuple[Step, bool] | None:
        """The best step in a situation, and whether it is the trial itself; None if nothing is worth anything."""
        moves = self.graph.moves(number)
        way = max(moves, key=lambda move: float(self.gains[move]), default=None)
        gain = 0.0 if way is None else float(self.gains[way])
        if self.own[number] > 0 and float(self.own[number]) >= gain:
            trial = self.graph.trial(number, rng)
            return None if trial is None else (trial, True)
        return None if way is None or gain < NEGLIGIBLE else (moves[way], False)


def successor(state: State, action: ActionKnowledge, step: Step, after: int) -> State:
    """The state after a step, from the action's atoms that hold then."""
    index = action.index
    adds = index.facts(after & ~step.held, step.objects)
    deletes = index.facts(step.held & ~after, step.objects)
    return State((state.true - deletes) | adds, state.objects) if adds or deletes else state


def instruction(actions: Sequence[ActionKnowledge], step: Step) -> GroundAction:
    """The step as an agent is asked for it."""
    return GroundAction(actions[step.action].index.header.name, step.objects)


def constructed(action: ActionKnowledge) -> Iterator[State]:
    """States in which a step of the action may tell something: its example with some of the action's atoms changed.

    Each undecided literal alone is violated, all of them together, and halves of them; the effects of all outcomes are made visible,
    and those that no outcome was seen to have.
    """
    if action.example is None:
        return
    state, objects = action.example
    index = action.index
    held, _ = index.values(state, objects)

    def flipped(mask: int) -> State:
        """The example with these atoms the other way round."""
        return State(
            (state.true - index.facts(mask & held, objects)) | index.facts(mask & ~held, objects),
            state.objects,
        )

    undecided = action.precondition.undecided
    positive, negative = undecided.positive & held, undecided.negative & ~held
    for mask in (positive | negative, negative, positive, *_halves(negative), *_halves(positive)):
        if mask:
            yield flipped(mask)
    for bit in bits(positive | negative):
        yield flipped(bit)
    required = action.precondition.candidates
    decided = required.positive | required.negative
    for case in action.cases:
        wrong = (case.condition.positive & ~held) | (case.condition.negative & held)
        fixed = decided | case.condition.positive | case.condition.negative
        if wrong & decided:
            continue
        free, found = index.everything & ~fixed, case.explanation
        there = held ^ wrong
        shown = ((found.additions & there) | (found.deletions & ~there)) & free
        others = free & ~(found.additions | found.deletions)
        # between them, these show every effect that the preconditions allow to be seen, and all outcomes as they are
        for mask in (0, shown, shown | others, others, free & ~shown):
            yield flipped(mask | wrong)
        for one in case.outcomes:
            if mask := ((case.open_additions(one) & there) | (case.open_deletions(one) & ~there)) & free:
                yield flipped(mask | wrong)
        for bit in bits(action.doubtful & free):
            for mask in (0, shown):
                yield flipped((mask ^ bit) | wrong)
    for bit in bits(action.doubtful & ~decided):
        yield flipped(bit)
    for state, _, _ in action.comparisons():
        yield state


def spread(action: ActionKnowledge, others: Sequence[Atom]) -> Iterator[State]:
    """States in which an action with chance is tried in turn: what might make a difference is varied evenly.

    The rows of an orthogonal array of strength three, made by the parities of a linear code (Hedayat, Sloane, Stufken, "Orthogonal
    Arrays", 1999): each three of the facts have each of their eight values in equally many states.

    ``others``: facts that were seen to change, of which those are varied that the step does not name; each only in its own problem.
    """
    if not action.varies:
        return
    settings = list({one.named: one for one, _ in action.steps.situations}.values())[:_CHOICES]
    types = {one.name: one.types for one in action.index.vocabulary.predicates}
    for case, known in product(action.cases, dict.fromkeys(one.objects for one in settings)):
        if known is not None:
            there = [fact for fact in others if known.fit(fact.objects, types[fact.predicate])][:_VARIED]
            yield from _rows(action, case, [one for one in settings if one.objects == known], known, there)


def varied(actions: Sequence[ActionKnowledge], seen: Collection[State]) -> dict[State, None]:
    """The same of all actions, of which the facts are varied that were seen to change."""
    union = frozenset[Atom]().union(*(state.true for state in seen))
    others = sorted(union.difference(frozenset.intersection(*(state.true for state in seen))))
    return dict.fromkeys(state for action in actions for state in spread(action, others))


def _rows(
    action: ActionKnowledge,
    case: CaseKnowledge,
    settings: Sequence[Setting],
    known: Objects,
    there: Sequence[Atom],
) -> Iterator[State]:
    """The rows for one case, in a problem with the objects ``known`` and the facts ``there`` that an action need not name."""
    index, required = action.index, action.precondition.candidates
    found, own = case.explanation, case.condition
    positive, negative = (
        required.positive | own.positive | found.deletions,
        required.negative | own.negative,
    )
    negative |= found.additions & ~required.positive
    free = list(bits(index.everything & ~positive & ~negative))
    level = (len(free) + len(there) - 1).bit_length() if free or there else 0
    for row in range(2 << level):
        chosen = [((row & (1 << level | one)).bit_count() & 1) == 1 for one in range(len(free) + len(there))]
        held = positive & ~(required.negative | own.negative) | sum(
            bit for bit, on in zip(free, chosen, strict=False) if on
        )
        setting = settings[(row ^ row >> level) % len(settings)]
        facts = index.facts(index.everything, setting.named)
        varied = {fact: on for fact, on in zip(there, chosen[len(free) :], strict=True) if fact not in facts}
        kept = {fact for fact in setting.others if varied.get(fact, True)}
        true = kept | {fact for fact, on in varied.items() if on} | index.facts(held, setting.named)
        yield State(frozenset(true), known)


def _halves(mask: int) -> Iterator[int]:
    """Every other atom, and the rest."""
    one = sum(list(bits(mask))[::2])
    yield from (one, mask & ~one) if one != mask else ()

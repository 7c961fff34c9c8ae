"""Words that a vocabulary lacks: what tells two situations apart, though no parameter of a control reaches it.

"Nothing is carried", "two buttons are pressed", "somebody is there already": the facts are seen, but they are about objects that
neither the control nor its change names, so that no condition on parameters says it. A *word* is a predicate over the facts of others
that says it. Words are tried, the simplest first: a word has to differ between situations that look alike in the objects that matter
and went differently, and with it the cases of the control have to explain all that was seen of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product

from aam_vision.controls.grouping import grouped
from aam_vision.controls.transitions import Transition
from aam_vision.model.strips import ActionHeader, Atom, Objects, Predicate, State, Vocabulary
from aam_vision.planning.joins import StateIndices

MOST, TRIED = 3, 8
"""Words that are missing of one control, at most, and words that are tried at each turn."""
ALONE = 10
"""One example in so many may be the only one of its case where another case has the same effects."""
COMPARED = 100
"""Transitions of a control that words have to explain, at most; those that nothing explains first."""

Row = tuple[str, ...]
Facts = Callable[[str], Set[Row]]
"""The objects of the facts of a predicate."""


@dataclass(frozen=True)
class Pair:
    """Two transitions of one control that went differently, and the objects that play the same parts in both."""

    one: Transition
    other: Transition
    objects: Row
    others: Row

    @property
    def distance(self) -> int:
        """How many facts differ between the two situations."""
        return len(self.one.before.true ^ self.other.before.true)


@dataclass(frozen=True)
class Word:
    """A predicate that is defined over the facts of others."""

    predicate: Predicate
    source: str
    """Its source, as a user writes it."""
    over: Predicate
    """Its facts are about that predicate's."""
    holds: Callable[[Facts, Facts, Objects], Set[Row]]
    """The objects of which it is true, given the facts that speak for it, and those that speak against it."""
    counts: int = 0
    """The number of its facts that it asks for, if it asks for one."""

    @property
    def line(self) -> str:
        """What to add to the vocabulary."""
        words = [f"?{x} - {kind}" for x, kind in zip("xyz", self.predicate.types, strict=False)]
        return f'"{" ".join([self.predicate.name, *words])}": {self.source}'

    def rows(self, state: State) -> tuple[Set[Row], Set[Row]]:
        """The objects of which it is true, and of which it is unknown."""

        def few(name: str) -> Set[Row]:
            return set(state.rows.get(name, ()))

        def many(name: str) -> Set[Row]:
            return few(name) | {atom.objects for atom in state.unknown if atom.predicate == name}

        true = self.holds(few, many, state.objects)
        return true, self.holds(many, few, state.objects) - true

    def tells(self, pair: Pair) -> bool:
        """Whether it is true in one of two situations, of the objects that play the same parts, and false in the other."""
        values = []
        for state, objects in ((pair.one.before, pair.objects), (pair.other.before, pair.others)):
            true, unknown = self.rows(state)
            bound = product(objects, repeat=self.predicate.arity)
            values.append([None if row in unknown else row in true for row in bound])
        return any(a is not None and b is not None and a != b for a, b in zip(*values, strict=True))


def missing_words(
    vocabulary: Vocabulary,
    control: ActionHeader,
    transitions: Sequence[Transition],
    unexplained: Sequence[Transition],
    pairs: Sequence[Pair],
    pairs_of: Callable[[Sequence[Transition]], Sequence[Pair]],
) -> tuple[Word, ...]:
    """The words with which all that was seen of a control is explained: few and simple ones; none if none are found.

    Where words tell all pairs, and something is still not explained, they have to tell the pairs of that, too.

    Args:
        vocabulary: the user's.
        control: went two ways.
        transitions: all that was seen of it.
        unexplained: those that no case explains.
        pairs: of its transitions that went differently in situations that look alike.
        pairs_of: finds such pairs, of which one is among some transitions.
    """
    known = dict.fromkeys([*unexplained, *(pair.other for pair in pairs), *transitions])
    seen, left = list(known)[:COMPARED], list(pairs)
    made = _words(vocabulary, [one.before for one in seen])
    words = [word for word in made if word.predicate not in vocabulary.predicates]
    chosen: list[Word] = []
    while left and len(chosen) < MOST:
        told = [(sum(word.tells(pair) for pair in left), word) for word in words]
        best = sorted((one for one in told if one[0]), key=lambda one: -one[0])[:TRIED]
        tried = [_counted(words, [*chosen, word]) for count, word in best if count == len(left)]
        found = {one: _cases(vocabulary, control, seen, one) for one in tried}
        sizes = {one: size for one, (size, _) in found.items() if size is not None}
        if sizes:
            return min(sizes, key=lambda one: sizes[one])
        if not best:
            break
        chosen.append(best[0][1])
        more = pairs_of(found[tried[0]][1]) if tried else left
        left = [pair for pair in more if not any(word.tells(pair) for word in chosen)]
    return ()


def _counted(words: Sequence[Word], chosen: Sequence[Word]) -> tuple[Word, ...]:
    """The words; and of those that count, all: whether there are three of something now depends on whether there were two."""
    counted = {word.over.name for word in chosen if word.counts > 1}
    return tuple(word for word in words if word in chosen or (word.counts and word.over.name in counted))


def _cases(
    vocabulary: Vocabulary, control: ActionHeader, seen: Sequence[Transition], words: Sequence[Word]
) -> tuple[int | None, list[Transition]]:
    """The size of the cases that explain all that changed, in a vocabulary with these words; None, and what they do not.

    Where cases have the same effects, few of their examples may stand alone: such cases were made to fit.
    """
    more = replace(vocabulary, predicates=(*vocabulary.predicates, *(word.predicate for word in words)))
    said = [Transition(_said(one.before, words), one.control, _said(one.after, words)) for one in seen]
    cases = grouped(more, control, said, StateIndices()).cases
    told = {id(example.transition) for case in cases for example in case.examples}
    effects = Counter(case.effects for case in cases)
    alone = sum(len(case.examples) == 1 and effects[case.effects] > 1 for case in cases)
    left = [one for one, own in zip(seen, said, strict=True) if own.change and id(own) not in told]
    if left or alone * ALONE > len(told):
        return None, left
    return sum(1 + case.arity for case in cases), []


def _said(state: State, words: Sequence[Word]) -> State:
    """A state with the atoms of words."""
    true, unknown = set(state.true), set(state.unknown)
    for word in words:
        rows, open_ = word.rows(state)
        true.update(Atom(word.predicate.name, row) for row in rows)
        unknown.update(Atom(word.predicate.name, row) for row in open_)
    return State(frozenset(true), state.objects, frozenset(unknown))


# --- the words ---------------------------------------------------------------------------------


def _words(vocabulary: Vocabulary, states: Sequence[State]) -> Iterator[Word]:
    """All words over what changes, the simplest first."""
    kinds, stated = vocabulary.types, vocabulary.predicates
    first = {state.objects: state.rows for state in reversed(states)}
    changing = [
        one
        for one in stated
        if one.arity
        if any(state.rows.get(one.name) != first[state.objects].get(one.name) for state in states)
    ]
    pairs = [one for one in changing if one.arity == 2]
    mixed = len({one.types[0] for one in stated if one.arity == 2}) > 1
    for one in pairs:
        yield _nowhere(one, mixed)
        yield _nowhere(one, mixed, one.types[:1])
    for one in changing:
        yield _some(one)
        for place in range(one.arity if one.arity > 1 else 0):
            if one not in pairs or place:  # else it is the opposite of being nowhere
                yield _some(one, place)
    singles = [one for one in changing if one.arity == 1]
    for one in singles:
        yield _every(one, one.types[0])
        for other in stated:
            if other.arity == 1 and other not in changing and kinds.is_a(other.types[0], one.types[0]):
                yield _every(one, other.name, other.name)
    for one in changing:
        for number in range(2, max(len(state.rows.get(one.name, ())) for state in states) + 1):
            yield _at_least(number, one)
    for one in stated:
        for other in pairs:
            again = one in pairs and stated.index(one) > stated.index(other)
            if one.arity in (1, 2) and kinds.is_a(one.types[-1], other.types[-1]) and not again:
                yield _together(one, other)


def _nowhere(one: Predicate, mixed: bool, types: tuple[str, ...] = ()) -> Word:
    kind, name = one.types[0], one.name

    def holds(few: Facts, many: Facts, objects: Objects) -> Set[Row]:
        here = {row[0] for row in many(name)}
        return {(thing,)[: len(types)] for thing in objects.of_type(kind) if thing not in here}

    of = f', of="{kind}"' if mixed and not types else ""
    prefix, subject = ("", "it") if types else ("some-", f"some {kind}")
    told = f'nowhere("{name}", "{subject} {name} nowhere"{of})'
    return Word(Predicate(f"{prefix}{kind}-nowhere", types), told, one, holds)


def _some(one: Predicate, place: int | None = None) -> Word:
    where = slice(0, 0) if place is None else slice(place, place + 1)
    kinds = one.types[where]
    argument = "" if place is None else f", argument={place + 1}"
    told = f'some("{one.name}", "{one.name} is true of something{" and it" * len(kinds)}"{argument})'
    own = Predicate("-".join(["some", one.name, *kinds]), kinds)
    return Word(own, told, one, lambda few, *_: {row[where] for row in few(one.name)}, int(not kinds))


def _every(one: Predicate, among: str, guard: str = "") -> Word:
    def holds(few: Facts, many: Facts, objects: Objects) -> Set[Row]:
        wanted = many(guard) if guard else {(name,) for name in objects.of_type(among)}
        return {()} if wanted <= few(one.name) else set()

    told = f'every("{one.name}", "{among}", "{one.name} is true of every {among}")'
    return Word(Predicate(f"every-{among}-{one.name}"), told, one, holds)


def _at_least(number: int, one: Predicate) -> Word:
    told = f'at_least({number}, "{one.name}", "{one.name} is true at least {number} times")'
    own = Predicate(f"at-least-{number}-{one.name}")
    return Word(own, told, one, lambda few, *_: {()} if len(few(one.name)) >= number else set(), number)


def _together(one: Predicate, other: Predicate) -> Word:
    def holds(few: Facts, many: Facts, objects: Objects) -> Set[Row]:
        pairs = product(few(one.name), few(other.name))
        return {() for a, b in pairs if a[-1] == b[-1] and (one, a) != (other, b)}

    told = f'together("{one.name}", "{other.name}", "{one.name} and {other.name} are true of one {one.types[-1]}")'
    return Word(Predicate(f"{one.name}-with-{other.name}"), told, other, holds)

"""Situations that no predicate tells apart, in which one control did different things; and the words that the vocabulary lacks.

"Nothing is carried", "two buttons are pressed", "somebody is there already": the facts are seen, but they are about objects that
neither the control nor its change names, so that no condition on parameters says it. A *word* is a predicate over the facts of others
that says it. Words are tried, the simplest first: a word has to differ between situations that look alike in the objects that matter
and went differently, and with it the cases of the control have to explain all that was seen of it.

Situations are compared in the objects that a change was about, the control's arguments, and the objects that facts single out
(the only direction that is faced, the room of a location): if the same facts hold of those, nothing is left to tell why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice, product

from aam_vision.interrogation.controls.discovery import grouped
from aam_vision.interrogation.controls.giving import Given, Giving
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.examination.looking import pixels_differ
from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom, Objects, Predicate, State, Vocabulary
from aam_vision.planning.joins import StateIndices, bindings
from aam_vision.support.wording import listed, some

MOST, TRIED = 3, 8
"""Words that are missing of one control, at most, and words that are tried at each turn."""
ALONE = 10
"""One example in so many may be the only one of its case where another case has the same effects."""
TRIED_ON = 100
"""Transitions of a control that words have to explain, at most; those that nothing explains first."""

Row = tuple[str, ...]
Facts = Callable[[str], Set[Row]]
"""The objects of the facts of a predicate."""
UNEXPLAINED, COMPARED = 12, 60
"""Unexplained transitions for which others are looked for, and transitions that each is compared with."""
OBJECTS = 8
"""Objects of a situation that are compared, at most."""
BINDINGS = 200
"""Ways in which the objects of two situations may correspond that are looked at."""
SHOWN = 3
"""Changes that are named."""


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
        true = self.holds(state.certain, state.possible, state.objects)
        return true, self.holds(state.possible, state.certain, state.objects) - true

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

    ``pairs``: of its transitions that went differently in situations that look alike. ``pairs_of``: finds such pairs, of which one
    is among some transitions.
    """
    known = dict.fromkeys([*unexplained, *(pair.other for pair in pairs), *transitions])
    seen, left = list(known)[:TRIED_ON], list(pairs)
    made = candidate_words(vocabulary, [one.before for one in seen])
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


def candidate_words(vocabulary: Vocabulary, states: Sequence[State]) -> Iterator[Word]:
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


def look_alikes(
    transitions: Mapping[str, Sequence[Transition]], unexplained: Sequence[Transition], indices: StateIndices
) -> list[Pair]:
    """The pairs of transitions that went differently and of which one is unexplained.

    ``transitions``: by control, all that was seen. ``unexplained``: those that the learned model does not predict.
    """
    found: list[Pair] = []
    by_control = [[one for one in unexplained if one.control.name == name] for name in transitions]
    for one in chain.from_iterable(mine[:UNEXPLAINED] for mine in by_control):
        known = [other for other in transitions[one.control.name] if other is not one]
        changing = [other for other in known if other.change]
        if one.change:
            found += _alike(one, [*changing[:COMPARED], *known[:COMPARED]], indices)
        else:
            for other in changing[:COMPARED]:
                found += _alike(other, [one], indices)
    return found


def _alike(one: Transition, others: Sequence[Transition], indices: StateIndices) -> Iterator[Pair]:
    """The pairs of a transition with a change and others of its control."""
    links = _links(one)
    objects = _concerned(one, links)
    if len(objects) > OBJECTS:
        return
    facts, state = _facts(one.before, objects), one.before
    header = ActionHeader(
        "", tuple(str(place) for place in range(len(objects))), tuple(state.objects[name] for name in objects)
    )
    same_parts = LiftedAtom("", (*range(len(one.control.objects)), *map(objects.index, links)))
    required = sorted((LiftedAtom(*fact) for fact in facts), key=str)
    for other in others:
        index = indices.of(other.before)
        ways = bindings(index, header, required, match=(same_parts, (*other.control.objects, *links)))
        for binding in islice(ways, BINDINGS):
            same = all(
                other.before.objects[name] == kind for name, kind in zip(binding, header.types, strict=True)
            )
            if (
                same
                and _facts(other.before, binding) == facts
                and not _goes_alike(one, other, objects, binding)
            ):
                yield Pair(one, other, objects, binding)
                break


def _changed(one: Transition) -> dict[str, None]:
    """The control's arguments and the objects of the change."""
    return dict.fromkeys([*one.control.objects, *(name for atom in one.change for name in atom.objects)])


def _links(one: Transition) -> list[str]:
    """What links two of those: the direction from one cell to the next. Another one is told from it by its name."""
    changed, found = _changed(one), dict[str, None]()
    for _, rows in sorted(one.before.rows.items()):
        for row in rows:
            others = [name for name in row if name not in changed]
            if len(others) == 1 and len(row) > 2:
                found.setdefault(others[0])
    return list(found)


def _concerned(one: Transition, links: Sequence[str]) -> tuple[str, ...]:
    """The control's arguments, the objects of the change, what links them, and what facts single out, in a fixed order."""
    found = _changed(one) | dict.fromkeys(links)
    rows = dict(sorted(one.before.rows.items()))
    for predicate_rows in rows.values():
        if len(predicate_rows) == 1 and len(predicate_rows[0]) == 1:
            found.setdefault(predicate_rows[0][0])
    for predicate_rows in rows.values():
        if not predicate_rows or len(predicate_rows[0]) != 2:
            continue
        for name in list(found):
            of_name = [row for row in predicate_rows if row[0] == name]
            if len(of_name) == 1:
                found.setdefault(of_name[0][1])
    return tuple(found)


def _facts(state: State, objects: tuple[str, ...]) -> frozenset[tuple[str, tuple[int, ...]]]:
    """The true atoms that are about these objects alone, with places in place of names."""
    place = {name: number for number, name in enumerate(objects)}
    return frozenset(
        (predicate, tuple(place[name] for name in row))
        for predicate, rows in state.rows.items()
        for row in rows
        if all(name in place for name in row)
    )


def _goes_alike(
    one: Transition, other: Transition, objects: tuple[str, ...], others: tuple[str, ...]
) -> bool:
    """Whether the same came about of the corresponding objects, as far as it was seen."""
    named = dict(zip(objects, others, strict=True))
    wanted = {
        Atom(atom.predicate, tuple(named[name] for name in atom.objects)): value
        for atom, value in one.change.items()
    }
    unknown = other.before.unknown | other.after.unknown
    return all(other.change.get(atom) == value or atom in unknown for atom, value in wanted.items()) and all(
        atom in wanted for atom in other.change
    )


def diagnosed(
    giving: Giving, unexplained: Sequence[Transition], two_ways: tuple[Given, Given] | None
) -> Diagnosis | None:
    """What the vocabulary lacks, shown by two situations; None if nothing shows that it lacks anything.

    ``two_ways``: the same situation and control, as they are perceived, that went two ways.
    """
    if two_ways is not None:
        why = f"{two_ways[0].transition.control} went two ways in situations that look alike: {_advice(giving, two_ways)}"
        return _diagnosis(giving, two_ways, why)
    pairs = look_alikes(giving.transitions, unexplained, giving.indices)
    if not pairs:
        return _unseen(giving)
    found = _words(giving, unexplained, pairs)
    pair = found[0][0] if found else min(pairs, key=lambda pair: pair.distance)
    first, second = (
        next(given for given in giving.given if given.transition is transition)
        for transition in (pair.one, pair.other)
    )
    if found:
        return _diagnosis(giving, (first, second), _told(found))
    parts = list(zip(pair.objects, pair.others, strict=True))
    changed = {name for atom in pair.one.change for name in (*pair.one.control.objects, *atom.objects)}
    apart = [names for names in parts if names[0] != names[1] and names[0] in changed]
    apart = apart or [names for names in parts if names[0] != names[1]]
    ours, theirs = (", ".join(names) for names in zip(*apart, strict=True)) if apart else ("one", "the other")
    why = f"{pair.one.control.name} went two ways, and no fact about these alone tells {ours} from {theirs} there: add a predicate that does"
    return _diagnosis(giving, (first, second), why)


def _words(
    giving: Giving, unexplained: Sequence[Transition], pairs: Sequence[Pair]
) -> list[tuple[Pair, tuple[Word, ...]]]:
    """By control of which words explain all that was seen, two situations that they tell apart, and the words.

    The control of which most is unexplained comes first.
    """
    found: list[tuple[int, Pair, tuple[Word, ...]]] = []

    def pairs_of(some: Sequence[Transition]) -> list[Pair]:
        return look_alikes(giving.transitions, some, giving.indices)

    for control in giving.controls:
        mine = [one for one in unexplained if one.control.name == control.name]
        own = [pair for pair in pairs if pair.one.control.name == control.name]
        seen = giving.transitions[control.name]
        if words := missing_words(giving.vocabulary, control, seen, mine, own, pairs_of):
            best = min(own, key=lambda pair: (not _differing(pair, words), pair.distance))
            found.append((len(mine), best, words))
    return [(pair, words) for _, pair, words in sorted(found, key=lambda one: -one[0])]


def _told(found: Sequence[tuple[Pair, tuple[Word, ...]]]) -> str:
    """The facts that differ between situations in which controls went two ways, and the words to add."""
    (pair, words), *more = found
    differ = _differing(pair, words) or list(dict.fromkeys(f"facts of {word.over.name}" for word in words))
    lines = list(dict.fromkeys(word.line for _, own in found for word in own))
    also = f", and so did {listed([other.one.control.name for other, _ in more])}" if more else ""
    return (
        f"{pair.one.control.name} went two ways{also}: what differs ({some(differ, SHOWN)}) is about objects that no "
        f"parameter reaches; add to the vocabulary {listed(lines)}"
    )


def _differing(pair: Pair, words: Sequence[Word]) -> list[str]:
    """The facts that words are about and that differ between two situations."""
    over, differ = {word.over.name for word in words}, pair.one.before.true ^ pair.other.before.true
    return [str(atom) for atom in sorted(differ) if atom.predicate in over]


def _unseen(giving: Giving) -> Diagnosis | None:
    """A control that changes images, though no predicate ever showed that it did anything; None if there is none."""
    still = [one for one in giving.given if not one.transition.change]
    changed = [pixels_differ(giving.agent, one.before, one.after) for one in still]
    if False not in changed:  # nor is there any sign that images are ever the same twice
        return None
    dead = {control.name for control in giving.dead}
    for one, differs in zip(still, changed, strict=True):
        name = one.transition.control.name
        if differs and name in dead:
            why = f"{name} changes the image, and no predicate shows what: add one that does"
            after = Example(one.after, one.transition.control, "afterwards")
            before = Example(one.before, one.transition.control, "nothing that a predicate shows", one.after)
            return Diagnosis(Family.HIDDEN, name, why, (before, after), seen=1, tried=1, pixels_differ=True)
    return None


def _advice(giving: Giving, two_ways: tuple[Given, Given]) -> str:
    """What to do about two situations of which the same is perceived."""
    differ = pixels_differ(giving.agent, two_ways[0].before, two_ways[1].before)
    if differ:
        return "their images differ, so a predicate is missing that tells them apart"
    if differ is False:
        return "their images are the same, too: draw what it depends on, or leave it out of the environment"
    return "it depends on something that the vocabulary does not tell"


def _diagnosis(giving: Giving, pair: tuple[Given, Given], why: str) -> Diagnosis:
    return Diagnosis(
        Family.HIDDEN,
        pair[0].transition.control.name,
        why,
        tuple(
            Example(one.before, one.transition.control, _outcome(one.transition), one.after) for one in pair
        ),
        seen=1,
        tried=2,
        pixels_differ=pixels_differ(giving.agent, pair[0].before, pair[1].before),
    )


def _outcome(transition: Transition) -> str:
    """What came of a control, in words."""
    told = [
        f"{atom} {'became true' if value else 'became false'}" for atom, value in transition.change.items()
    ]
    return some(told, SHOWN) if told else "nothing changed"

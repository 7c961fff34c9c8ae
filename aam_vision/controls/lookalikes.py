"""Two situations that no predicate tells apart, in which one control did different things: the vocabulary is too poor.

Situations are compared in the objects that a change was about, the control's arguments, and the objects that facts single out
(the only direction that is faced, the room of a location): if the same facts hold of those, nothing is left to tell why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from aam_vision.controls.giving import Given, Giving
from aam_vision.controls.missing_words import Pair, Word, missing_words
from aam_vision.controls.transitions import Transition
from aam_vision.interrogation.examination.diagnosis import Diagnosis, Example, Family
from aam_vision.interrogation.examination.pixels import pixels_differ
from aam_vision.model.strips import ActionHeader, Atom, LiftedAtom, State
from aam_vision.planning.joins import StateIndices, bindings
from aam_vision.support.wording import listed, some

UNEXPLAINED, COMPARED = 12, 60
"""Unexplained transitions for which others are looked for, and transitions that each is compared with."""
OBJECTS = 8
"""Objects of a situation that are compared, at most."""
BINDINGS = 200
"""Ways in which the objects of two situations may correspond that are looked at."""
SHOWN = 3
"""Changes that are named."""


def look_alikes(
    transitions: Mapping[str, Sequence[Transition]], unexplained: Sequence[Transition], indices: StateIndices
) -> list[Pair]:
    """The pairs of transitions that went differently and of which one is unexplained.

    Args:
        transitions: by control, all that was seen.
        unexplained: those that the learned model does not predict.
        indices: of states.
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
    objects = _concerned(one)
    if len(objects) > OBJECTS:
        return
    facts, state = _facts(one.before, objects), one.before
    header = ActionHeader(
        "", tuple(str(place) for place in range(len(objects))), tuple(state.objects[name] for name in objects)
    )
    given = LiftedAtom("", tuple(range(len(one.control.objects))))
    required = sorted((LiftedAtom(*fact) for fact in facts), key=str)
    for other in others:
        index = indices.of(other.before)
        ways = bindings(index, header, required, match=(given, other.control.objects))
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


def _concerned(one: Transition) -> tuple[str, ...]:
    """The control's arguments, the objects of the change, and those that facts single out, in a fixed order."""
    found = dict.fromkeys([*one.control.objects, *(name for atom in one.change for name in atom.objects)])
    rows, changed = dict(sorted(one.before.rows.items())), set(found)
    for predicate_rows in rows.values():  # what links two of them: the direction from one cell to the next
        for row in predicate_rows:
            others = [name for name in row if name not in changed]
            if len(others) == 1 and len(row) > 2:
                found.setdefault(others[0])
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

    Args:
        giving: the agent, and what it has shown.
        unexplained: the transitions that the learned model does not predict.
        two_ways: the same situation and control, as they are perceived, that went two ways.
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
    why = f"{pair.one.control.name} went two ways, and nothing that was seen tells {ours} from {theirs} there: add a predicate that does"
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
        if words := missing_words(giving.agent.vocabulary, control, seen, mine, own, pairs_of):
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

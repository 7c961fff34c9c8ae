"""Which effects come later: of earlier steps, or of the world itself at set times.

They are looked for where facts changed in steps that do not name their objects, or that do not always change them. An earlier step that names
them may be the reason, or the world, which changes them at a set time of each episode, once or again and again: every rhythm is held against all
that was seen of a fact. Effects are believed if with them each action always does the same, and to the facts that it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from aam_vision.interrogation.evidence.anomalies import changed_untouched
from aam_vision.interrogation.evidence.moves import Asked, Entry
from aam_vision.interrogation.evidence.transcript import Transcript
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.interrogation.memory.explanations import Effects, effects_of
from aam_vision.interrogation.memory.histories import BEGINNING, Histories
from aam_vision.model.delayed import AT_SET_TIME, LATEST, LONGEST, DelayedEffect, Delays, at_set_time
from aam_vision.model.query import Access
from aam_vision.model.strips import Atom, LiftedAtom, Predicate, State

MANY = 6
"""Effects that are tried together with one for what is left, where none alone explains all: those that explain most, and as many for the rest."""
REPEATED = 40
"""Ways in which facts may come and go at set times that are held against all that was seen, at most: those that foretell most."""
OFTEN = 4
"""Changes of a fact in one episode after which it may come and go by itself, where there is no other episode."""


def unclear(entry: Entry, access: Access) -> bool:
    """Whether it goes on from an answer of an agent that can be put into any state: not every such agent is left as it stands."""
    return isinstance(entry, Asked) and entry.query.goes_on and access.constructs


class _Change(NamedTuple):
    """A change of a fact that the step in which it came does not explain."""

    attempt: int
    fact: Atom
    value: bool


def delaying(transcript: Transcript, but: Sequence[Delays] = ()) -> Delays | None:
    """The fewest effects that come later and explain all changes that were seen, but for some; None if there are none, or none are needed."""
    seen = _Seen(transcript)
    changes = [*seen.unexplained]
    repeated = seen.repeated(changes)
    reasons = [
        dict.fromkeys([*seen.reasons(change), *(one for one in repeated if seen.foretells(one, change))])
        for change in changes
    ]
    alone = _likeliest(reasons)
    options: list[tuple[list[DelayedEffect], ...]] = [(first,) for first in alone]
    for first in alone[:MANY]:
        rest = [those for those in reasons if those.keys().isdisjoint(first)]
        options += [(first, second) for second in _likeliest(rest)[:MANY]]
    candidates = [effects for option in options for effects in product(*option)]
    for effects in (*candidates, *_at_once(reasons)):
        found = Delays(effects)
        if found not in but and seen.explained_by(found):
            return found
    return None


def explained_by(delays: Delays, transcript: Transcript) -> bool:
    """Whether, with these effects, each action always did the same, and to the facts that it names."""
    return _Seen(transcript).explained_by(delays)


def _at_once(reasons: Iterable[Iterable[DelayedEffect]]) -> list[tuple[DelayedEffect, ...]]:
    """Effects on several objects that come at one set time."""
    found: dict[DelayedEffect, dict[DelayedEffect, None]] = {}
    for effect in (one for those in reasons for one in those if one.action == AT_SET_TIME):
        of_any = replace(effect, atom=LiftedAtom(effect.predicate.name, ()))
        found.setdefault(of_any, {})[effect] = None
    return [tuple(effects) for effects in found.values() if len(effects) > 1]


def _likeliest(reasons: Iterable[Iterable[DelayedEffect]]) -> list[list[DelayedEffect]]:
    """The reasons for changes, those for most first; each in whatever way it comes."""
    votes = Counter(effect for those in reasons for effect in those)
    found: dict[DelayedEffect, list[DelayedEffect]] = {}
    for effect, _ in votes.most_common():
        found.setdefault(replace(effect, undoes=False, restarts=False, firm=False), []).append(effect)
    return [*found.values()]


class _Rhythm(NamedTuple):
    """A way in which something may come and go at set times."""

    of: tuple[bool, int, int, int]
    """What it first comes to be, and the steps until then, from then on until it goes, and until it comes again."""
    comes: dict[bool, int]
    """By value, with which executed steps of a history it comes to be so, as bits."""


def _rhythms(longest: int) -> list[_Rhythm]:
    """All of them, in histories that are no longer."""
    spans, found = range(1, LATEST + 1), list[_Rhythm]()
    for of in product((False, True), spans, spans, (0, *spans)):
        comes = {False: 0, True: 0}
        for step, value in at_set_time(Predicate(""), (), *of).times(longest):
            comes[value] |= 1 << step
        found.append(_Rhythm(of, comes))
    return found


class _Seen:
    """The attempts of an interrogation, as far as the situations around them were seen."""

    def __init__(self, transcript: Transcript) -> None:
        self._again = transcript.access.restarts
        histories = Histories(transcript.access, transcript.initial)
        for entry in transcript.entries:
            if not unclear(entry, transcript.access):
                histories.add(entry)
        self._attempts = histories.attempts
        self._time: list[int] = []
        """Of each attempt, how many steps were executed since its history began, itself included."""
        for one in self._attempts:
            self._time.append((0 if one.parent == BEGINNING else self._time[one.parent]) + one.executed)
        self._constants = transcript.vocabulary.constants
        self._predicates = {one.name: one for one in transcript.vocabulary.predicates}
        self._taken = {*self._predicates}
        self._indexes = {
            header.name: AtomIndex(transcript.vocabulary, header) for header in transcript.headers
        }

    @property
    def unexplained(self) -> Iterator[_Change]:
        """The changes of facts that a step does not name, or does not always change."""
        whole = dict.fromkeys(self._indexes, Effects())
        for one in self._attempts:
            name = one.action.name
            whole[name] = whole[name].together(effects_of(self._indexes[name], one))
        for number, one in enumerate(self._attempts):
            if not one.executed or one.before is None or one.after is None:
                continue
            index = self._indexes[one.action.name]
            changed = (one.before.true ^ one.after.true) - one.before.unknown - one.after.unknown
            unsteady = index.facts(whole[one.action.name].unsteady, one.action.objects)
            strange = {*changed_untouched(one.before, [one.action], one.after, self._constants)}
            for fact in sorted(changed):
                if fact in strange or fact in unsteady:
                    yield _Change(number, fact, fact in one.after.true)

    def reasons(self, change: _Change) -> Iterator[DelayedEffect]:
        """The effects of earlier steps that explain a change."""
        number, after = self._attempts[change.attempt].parent, 1
        predicate = self._predicates[change.fact.predicate]
        while number != BEGINNING and after <= LATEST:
            one = self._attempts[number]
            if one.executed:
                objects = one.action.objects
                if {*change.fact.objects} <= {*objects} and after <= LONGEST:
                    places = tuple(objects.index(name) for name in change.fact.objects)
                    atom = LiftedAtom(change.fact.predicate, places)
                    types = tuple(self._indexes[one.action.name].header.types[place] for place in places)
                    effect = DelayedEffect(one.action.name, atom, predicate, types, change.value, after)
                    if one.before is not None and one.after is not None:
                        was, now = one.before.value(change.fact), one.after.value(change.fact)
                        if was is change.value and now is (not change.value):
                            yield replace(effect, undoes=True)
                            yield replace(effect, undoes=True, firm=True)
                    for firm, restarts in product((False, True), (False, True)):
                        yield replace(effect, restarts=restarts, firm=firm)
                after += 1
            number = one.parent
        # in a single episode a set time explains whatever changes
        if number == BEGINNING and after <= LATEST and self._again:
            yield at_set_time(predicate, change.fact.objects, change.value, after)

    def repeated(self, changes: Sequence[_Change]) -> list[DelayedEffect]:
        """What comes and goes at set times by all that was seen of a fact; what foretells most of these changes first."""
        found: dict[DelayedEffect, tuple[int, bool]] = {}
        rhythms = _rhythms(max(self._time, default=0)) if changes else []
        for fact in dict.fromkeys(one.fact for one in changes):
            come = Counter((self._time[one.attempt], one.value) for one in changes if one.fact == fact)
            after = self._seen_after(fact)
            for of, comes in rhythms:
                if comes[True] & after[False] or comes[False] & after[True]:
                    continue
                foretold = sum(often for (time, value), often in come.items() if comes[value] >> time & 1)
                if foretold >= (2 if self._again else OFTEN):
                    effect = at_set_time(self._predicates[fact.predicate], fact.objects, *of)
                    begins = (effect.after, effect.value) in come  # with what was seen
                    found[effect] = foretold, begins
        return sorted(found, key=lambda effect: found[effect], reverse=True)[:REPEATED]

    def _seen_after(self, fact: Atom) -> dict[bool, int]:
        """By value, after how many executed steps of a history a fact was seen to have it, as bits."""
        found = {False: 0, True: 0}
        for time, one in zip(self._time, self._attempts, strict=True):
            if one.executed and one.after is not None and {*fact.objects} <= {*one.after.objects}:
                value = one.after.value(fact)
                if value is not None:
                    found[value] |= 1 << time
        return found

    def foretells(self, effect: DelayedEffect, change: _Change) -> bool:
        """Whether that is a change of what comes and goes at set times."""
        time = self._time[change.attempt]
        return effect.atom.ground(()) == change.fact and (time, change.value) in effect.times(time)

    def explained_by(self, delays: Delays) -> bool:
        """Whether, with these effects, each action always does the same, and to the facts that it names."""
        if not delays.consistent or not self._taken.isdisjoint(delays.waiting):
            return False
        whole = dict.fromkeys(self._indexes, Effects())
        told: list[State | None] = []
        for one in self._attempts:
            before = told[one.parent] if one.parent != BEGINNING else one.before and delays.begun(one.before)
            if not one.executed:
                told.append(before)
                continue
            if before is None or one.after is None:
                told.append(None)
                continue
            plain, due = delays.plain(before), delays.coming(before, one.action)
            told.append(delays.waited(before, one.action, one.after))
            strange = changed_untouched(plain, [one.action], one.after, self._constants)
            if not due.issuperset(strange):
                return False
            name, index = one.action.name, self._indexes[one.action.name]
            expected = delays.passed(before, one.action, delays.plain(before))
            own = {fact for _, fact in index.grounded(one.action.objects)}
            if any(
                expected.value(fact) != one.after.value(fact)
                for fact in due
                if fact not in own or expected.value(fact) != plain.value(fact)
            ):
                return False
            hidden = replace(one.after, unknown=one.after.unknown | due, true=one.after.true - due)
            seen = effects_of(index, one._replace(before=plain, after=hidden))
            whole[name] = whole[name].together(seen)
            if whole[name].unsteady:
                return False
        return True

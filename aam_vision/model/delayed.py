"""Effects that come some executed steps after their action, or wear off: what is to come is told by facts that wait, as ``at-false-in-2``.

What the world does at a set time, whatever is done, waits from the beginning of each episode; it may be taken back some steps later, and
come again, as day and night. A step counts all that waits one down. What waited for it happens after the step's own effects: unless some
step has changed the atom meanwhile, or whatever was done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Predicate, State

LONGEST = 6
"""Executed steps after which an effect may come, at most."""
LATEST = 9
"""The step of an episode with which the world may change something of its own, at most, and the steps until it is taken back, or comes again."""
AT_SET_TIME = ""
"""The action of what comes at a set time of an episode: none."""


@dataclass(frozen=True)
class DelayedEffect:
    """An effect that an action has some executed steps later, or that comes in a certain executed step of each episode."""

    action: str
    """Or ``AT_SET_TIME``."""
    atom: LiftedAtom
    """Over the action's parameters; of objects by their names if it comes at a set time."""
    predicate: Predicate
    """Of the atom."""
    types: tuple[str, ...]
    """Of the atom's objects, as the action names them."""
    value: bool
    """What the atom comes to be."""
    after: int
    """The executed steps until then; 1 if it comes with the next one."""
    undoes: bool = False
    """Whether that takes back what the action itself did to the atom, and so comes only where it did."""
    restarts: bool = False
    """Whether the action, done once more meanwhile, puts it off."""
    firm: bool = False
    """Whether it comes even if a step has changed the atom meanwhile."""
    lasts: int = 0
    """At a set time: the executed steps until it is taken back, whatever is done; 0 if it stays."""
    returns: int = 0
    """The executed steps from then on until it comes again, and so on without an end; 0 if it does not."""

    @property
    def wait(self) -> Waiting:
        """What is to come when it begins to wait."""
        return Waiting(self.predicate.name, self.value, self.after)

    @property
    def waits(self) -> Mapping[str, Waiting]:
        """What is to come after it, by the names of the predicates that say so."""
        every = [self.wait, *self.follows.values()]
        return {one.name: one for last in every for one in last.until_due}

    @property
    def follows(self) -> Mapping[tuple[str, bool], Waiting]:
        """What begins to wait when its fact, or its opposite, has come, by the predicate and the value."""
        name, found = self.predicate.name, dict[tuple[str, bool], Waiting]()
        if self.lasts:
            found[name, self.value] = Waiting(name, not self.value, self.lasts)
        if self.returns:
            found[name, not self.value] = Waiting(name, self.value, self.returns)
        return found

    def times(self, most: int) -> Iterator[tuple[int, bool]]:
        """With which executed steps of an episode it comes, counted from 1, up to that one, and to what it makes its atom. At a set time only."""
        step, value = self.after, self.value
        while step <= most:
            yield step, value
            span = self.lasts if value is self.value else self.returns
            step, value = step + (span or most), not value

    def told(self, parameters: Iterable[str]) -> str:
        """What it is, in words."""
        atom, comes = self.atom.text([*parameters]), "true" if self.value else "false"
        if self.action == AT_SET_TIME:
            other = "false" if self.value else "true"
            further = f", {self.lasts} steps later {other}" if self.lasts else ""
            further += f", {self.returns} steps after that {comes} again, and so on" if self.returns else ""
            return f"with executed step {self.after} of each episode {atom} becomes {comes}{further}, whatever is done"
        when = "with the next step" if self.after == 1 else f"{self.after} steps later"
        again = ", counted from the last time that it is done" if self.restarts else ""
        meanwhile = "whatever is done meanwhile" if self.firm else "unless a step changes that atom before"
        what = f"{self.action} makes {atom} {comes} {when}"
        if self.undoes:
            what = f"what {self.action} does to {atom} is undone {when}"
        return f"{what}{again}, {meanwhile}"


def at_set_time(
    predicate: Predicate, objects: Iterable[str], value: bool, after: int, lasts: int = 0, returns: int = 0
) -> DelayedEffect:
    """What comes with so many executed steps of an episode, whatever these are, lasts so many, and returns after so many."""
    atom = LiftedAtom(predicate.name, tuple(objects))
    effect = DelayedEffect(AT_SET_TIME, atom, predicate, predicate.types, value, after, firm=True)
    return replace(effect, lasts=lasts, returns=returns)


class Waiting(NamedTuple):
    """What the atoms of a predicate say: that a fact comes to have a value so many executed steps later."""

    predicate: str
    value: bool
    left: int

    @property
    def name(self) -> str:
        """The name of the predicate that says so."""
        return f"{self.predicate}-{'true' if self.value else 'false'}-in-{self.left}"

    @property
    def until_due(self) -> Iterator[Waiting]:
        """The same with so many steps left, or fewer."""
        return (self._replace(left=left) for left in range(1, self.left + 1))

    def fact(self, atom: Atom) -> Atom:
        """The fact of which an atom says so."""
        return Atom(self.predicate, atom.objects)

    def atom(self, fact: Atom) -> Atom:
        """The atom that says so of a fact."""
        return Atom(self.name, fact.objects)


@dataclass(frozen=True)
class Delays:
    """All effects of an agent that come later."""

    effects: tuple[DelayedEffect, ...]
    read: bool = False
    """Whether they are of a domain in PDDL, which does not say what waits where a problem begins."""

    def json(self) -> list[dict[str, Any]]:
        """The effects as plain data."""
        return [
            {
                "action": one.action,
                "predicate": one.predicate.name,
                "places": list(one.atom.arguments),
                "value": one.value,
                "after": one.after,
                "undoes": one.undoes,
                "restarts": one.restarts,
                "firm": one.firm,
                **({"lasts": one.lasts, "returns": one.returns} if one.lasts else {}),
            }
            for one in self.effects
        ]

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """Those by which a state tells what is to come."""
        types = {effect.predicate.name: effect.predicate.types for effect in self.effects}
        return tuple(Predicate(name, types[one.predicate]) for name, one in self.waiting.items())

    @cached_property
    def waiting(self) -> Mapping[str, Waiting]:
        """What the atoms of these say."""
        found: dict[str, Waiting] = {}
        for effect in self.effects:
            found |= effect.waits
        return dict(sorted(found.items()))

    def plain(self, state: State) -> State:
        """The state without what is to come."""
        true, unknown = (
            frozenset(atom for atom in some if atom.predicate not in self.waiting)
            for some in (state.true, state.unknown)
        )
        return State(true, state.objects, unknown)

    @cached_property
    def at_set_time(self) -> tuple[DelayedEffect, ...]:
        """Those that no action has."""
        return tuple(one for one in self.effects if one.action == AT_SET_TIME)

    @cached_property
    def always(self) -> tuple[Atom, ...]:
        """What waits wherever an episode begins, as far as that is known; sorted."""
        known = () if self.read else self.at_set_time
        return tuple(sorted(one.wait.atom(one.atom.ground(())) for one in known))

    def begun(self, state: State) -> State:
        """The state in which an episode begins, with what comes at a set time to its objects."""
        waits = [atom for atom in self.always if {*atom.objects} <= {*state.objects}]
        return State(state.true.union(waits), state.objects, state.unknown) if waits else state

    def with_waits_of(self, other: State, state: State) -> State:
        """The state with what is to come in another one."""
        true, unknown = (
            frozenset(atom for atom in some if atom.predicate in self.waiting)
            for some in (other.true, other.unknown)
        )
        return State(state.true | true, state.objects, state.unknown | unknown)

    def unsure(self, state: State) -> bool:
        """Whether it is not known of something whether it is to come."""
        return any(atom.predicate in self.waiting for atom in state.unknown)

    def freed(self, state: State) -> State:
        """The state in which all is unknown that may change in steps that do not name its objects."""
        anything = {
            Atom(name, objects)
            for effect in self.effects
            for name in (effect.predicate.name, *effect.waits)
            for objects in product(*map(state.objects.of_type, effect.types))
        }
        return State(state.true - anything, state.objects, state.unknown | anything)

    @cached_property
    def _firm(self) -> Collection[tuple[str, bool]]:
        """The predicates and values that come even where a step has changed the fact."""
        return {
            (wait.predicate, wait.value) for one in self.effects if one.firm for wait in one.waits.values()
        }

    def firm(self, one: Waiting) -> bool:
        """Whether what waits comes even if a step changes the fact meanwhile."""
        return (one.predicate, one.value) in self._firm

    @cached_property
    def follows(self) -> Mapping[tuple[str, bool], Waiting]:
        """What begins to wait when a fact of a predicate has come to have a value."""
        return {key: wait for one in self.effects for key, wait in one.follows.items()}

    @property
    def consistent(self) -> bool:
        """Whether all effects on one predicate come to one value, in one way; or come and go as often, whatever is done, each on other objects."""
        by_predicate: dict[str, list[DelayedEffect]] = {}
        for one in self.effects:
            by_predicate.setdefault(one.predicate.name, []).append(one)
        return all(map(_agree, by_predicate.values()))

    def _told(self, state: State) -> Iterator[tuple[Waiting, Atom, bool]]:
        """What is to come, each with the fact that it will be of, and whether that is sure."""
        for name, one in self.waiting.items():
            for row in state.rows.get(name, ()):
                yield one, Atom(one.predicate, row), True
        for atom in sorted(state.unknown):
            if atom.predicate in self.waiting:
                one = self.waiting[atom.predicate]
                yield one, one.fact(atom), False

    def due(self, state: State) -> frozenset[Atom]:
        """The facts that may change with the next executed step, whatever it is."""
        return frozenset(fact for one, fact, _ in self._told(state) if one.left == 1)

    def coming(self, before: State, step: GroundAction) -> frozenset[Atom]:
        """The facts that may change with a step on the side, as it does not put that off."""
        put_off = {one.fact(atom) for one, atom, sure in self._begun(before, step, before, anew=True) if sure}
        return self.due(before) - put_off

    def due_within(self, state: State, steps: Iterable[GroundAction]) -> frozenset[Atom]:
        """The facts that may change with one of these steps, whatever they are."""
        steps = [*steps]
        found = {fact for one, fact, _ in self._told(state) if one.left <= len(steps)}
        for number, step in enumerate(steps):
            for effect in self.effects:
                if effect.action == step.name and number + effect.after < len(steps):
                    found.add(effect.atom.ground(step.objects))
        return frozenset(found)

    def passed(self, before: State, step: GroundAction, after: State) -> State:
        """The state after a step, with all that comes with it.

        Args:
            before: the state before the step, with what is to come.
            step: that is executed.
            after: the state as the step's own effects leave it.
        """
        true, unknown = set(after.true), set(after.unknown)
        begun = {
            wait.fact(atom): begins for wait, atom, begins in self._begun(before, step, after, anew=True)
        }
        for one, fact, sure in self._told(before):
            if one.left > 1:
                continue
            changed = not self.firm(one) and _changed(before, after, fact)
            if (put_off := begun.get(fact)) is not None:
                changed = True if put_off else None
            if changed or after.value(fact) is one.value:
                continue
            true.discard(fact)
            unknown.discard(fact)
            if changed is None or not sure:
                unknown.add(fact)
            elif one.value:
                true.add(fact)
        return self.waited(before, step, State(frozenset(true), after.objects, frozenset(unknown)))

    def waited(self, before: State, step: GroundAction, after: State) -> State:
        """The state after an executed step as it is seen, with what is to come."""
        true, unknown = set[Atom](), set[Atom]()
        put_off = {one.fact(atom): sure for one, atom, sure in self._begun(before, step, after, anew=True)}
        for one, fact, sure in self._told(before):
            changed = not self.firm(one) and _changed(before, after, fact)
            if (begins := put_off.get(fact)) is not None:
                changed = True if begins else None
            if one.left > 1 and not changed:
                kept = true if sure and changed is False else unknown
                kept.add(one._replace(left=one.left - 1).atom(fact))
            elif one.left == 1 and (follows := self.follows.get((one.predicate, one.value))):
                (true if sure else unknown).add(follows.atom(fact))
        for _, atom, sure in self._begun(before, step, after):
            (true if sure else unknown).add(atom)
        plain = self.plain(after)
        return State(plain.true | true, plain.objects, plain.unknown | (unknown - true))

    def _begun(
        self, before: State, step: GroundAction, after: State, *, anew: bool = False
    ) -> Iterator[tuple[Waiting, Atom, bool]]:
        """What a step lets wait, each with the atom that says so, and whether that is sure; if ``anew``, only what puts off the same that waits."""
        for effect in self.effects:
            if effect.action != step.name or (anew and not effect.restarts):
                continue
            fact = effect.atom.ground(step.objects)
            was, now = before.value(fact), after.value(fact)
            one = effect.wait
            if effect.firm and not effect.undoes:
                yield one, one.atom(fact), True
            elif now is not effect.value and not (effect.undoes and was is (not effect.value)):
                yield one, one.atom(fact), now is not None and not (effect.undoes and was is None)


def _agree(effects: Sequence[DelayedEffect]) -> bool:
    """Whether effects on one predicate can be told apart by what waits."""
    if any(one.lasts for one in effects):
        same = all(one.follows == effects[0].follows for one in effects)
        return same and len({one.atom for one in effects}) == len(effects)
    return len({(one.value, one.firm) for one in effects}) == 1


def _changed(before: State, after: State, fact: Atom) -> bool | None:
    """Whether a fact has changed; None if that is not known."""
    was, now = before.value(fact), after.value(fact)
    return None if was is None or now is None else was != now

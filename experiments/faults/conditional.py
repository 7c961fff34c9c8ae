"""Agents whose steps depend on the visible state, or on chance, in ways that no STRIPS model expresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
)
from experiments.faults.world import (
    OTHER,
    Fault,
    Nature,
    Outcome,
    Setting,
    World,
    foreign,
    holds,
    lacking,
    nothing,
    own,
    with_value,
)

NEAR, MARKED = "near", "marked"
"""Predicates that are added: packaged domains have none that may hold of one object twice, and few that an action need not know."""
Test = Callable[[State, GroundAction], bool]  # whether something is the case before a step


def always(state: State, step: GroundAction) -> bool:
    """The test that always comes true."""
    return True


@dataclass(eq=False, kw_only=True)
class Conditional(Fault):
    """Some actions have the consequence wherever a test of the visible state comes true."""

    test: Test = always

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return self.test(world.state, step)


def repeated_arguments(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action requires ``near(?x, ?x)``, which holds of some objects and never changes."""
    dressed, action, condition = _with_property(setting, NEAR, 2, rng)
    return Conditional(dressed, (action,), condition=condition, test=where(condition, False))


def _with_property(
    setting: Setting, predicate: str, arity: int, rng: np.random.Generator
) -> tuple[Setting, str, LiftedAtom]:
    """The setting with a predicate that holds of some objects, as all its arguments, and that no action changes.

    With it come an action, and the atom of that predicate for a parameter; Unsuitable if it is the same in most steps of the action.
    """
    action, objects = some_action(setting, rng), setting.initial[0].objects
    types = setting.header(action).types
    place = one_of([place for place, kind in enumerate(types) if len(objects.of_type(kind)) > 1], rng)

    def dress(state: State) -> State:
        names = state.objects.of_type(types[place])
        chosen = rng.permutation(len(names))[: int(rng.integers(1, len(names)))]
        atoms = {Atom(predicate, (names[int(number)],) * arity) for number in chosen}
        return replace(state, true=state.true | atoms)

    dressed = setting.with_predicate(Predicate(predicate, (types[place],) * arity), dress)
    condition = LiftedAtom(predicate, (place,) * arity)
    if not matters(dressed, action, where(condition, True)):
        raise Unsuitable
    return dressed, action, condition


def refused_for_other(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused while some object that is no argument has a property (or none has it)."""
    action, condition = some_condition(setting, "foreign", rng)
    if any(OTHER not in atom.arguments for atom in explanations(setting, action, condition)):
        raise Unsuitable  # an atom of the parameters tells the same: that is a precondition
    test = where(condition, bool(rng.integers(2)))
    return Conditional(setting, (action,), condition=condition, test=test)


def refused_for_count(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused while more than so many atoms of one predicate are true."""
    options = []
    for action, steps in setting.sample.items():
        for predicate in setting.model.vocabulary.predicates:
            for most in sorted({_count(before, predicate.name) for before, _, _ in steps}):
                if matters(setting, action, test := more(predicate, most)):
                    options.append((action, test))
    action, test = one_of(options, rng)
    _check_untold(setting, action, test)
    return Conditional(setting, (action,), test=test)


def refused_unless_one_of_two(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused unless the object in one of two places has a property, which never changes."""

    def dress(state: State) -> State:
        return replace(
            state, true=state.true | {Atom(MARKED, (one,)) for one in state.objects if rng.integers(2)}
        )

    dressed = setting.with_predicate(Predicate(MARKED, (ROOT_TYPE,)), dress)
    action = some_action(dressed, rng)
    places = [LiftedAtom(MARKED, (place,)) for place in range(dressed.header(action).arity)]
    one, other = one_of([*combinations(places, 2)], rng)

    def marked(*wanted: bool) -> Test:
        return lambda state, step: (
            (holds(one, state, step.objects), holds(other, state, step.objects)) == wanted
        )

    neither = marked(False, False)
    if not all(
        matters(dressed, action, test) for test in (neither, marked(True, False), marked(False, True))
    ):
        raise Unsuitable
    _check_untold(dressed, action, neither)
    return Conditional(dressed, (action,), test=neither)


def more(predicate: Predicate, most: int) -> Test:
    """The test whether more than so many atoms of a predicate are true."""
    return lambda state, step: _count(state, predicate.name) > most


def _count(state: State, predicate: str) -> int:
    return len(state.rows.get(predicate, ()))


def effect_if_own(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action depends on an atom of its own parameters: one of the domain, or one that never changes."""
    if rng.random() < 0.5:
        return _effect_if(setting, *some_condition(setting, "own", rng), rng)
    return _effect_if(*_with_property(setting, MARKED, 1, rng), rng)


def effect_if_other(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action depends on an object that is no argument."""
    return _effect_if(setting, *some_condition(setting, "foreign", rng), rng)


def _effect_if(setting: Setting, action: str, condition: LiftedAtom, rng: np.random.Generator) -> Fault:
    effect = some_effect(setting, action, rng)
    test = where(condition, bool(rng.integers(2)))
    return Conditional(setting, (action,), lacking(effect), condition=condition, test=test)


def effect_elsewhere(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action adds an atom of another object, too: the first of its kind that is no argument."""
    action = some_action(setting, rng)
    types, objects = setting.header(action).types, setting.initial[0].objects
    effects = [
        (atom, place)
        for atom in sorted(setting.model.schema(action).add, key=str)
        for place in atom.arguments
        if isinstance(place, int) and len(objects.of_type(types[place])) > types.count(types[place])
    ]
    effect, place = one_of(effects, rng)

    def also(before: State, step: GroundAction, after: State) -> State | None:
        others = [name for name in after.objects.of_type(types[place]) if name not in step.objects]
        objects = list(step.objects)
        objects[place] = others[0] if others else objects[place]
        return with_value(after, effect.ground(objects), True)

    steps = setting.sample[action]
    if sum(also(*one) != one[2] for one in steps) < len(steps) / 2:
        raise Unsuitable
    return Conditional(setting, (action,), also)


# Where a fault is put: an action, an effect or a condition that matters in random walks of the honest agent.

One = TypeVar("One")
LEAST = 6  # executed steps of an action from which it is told whether a condition matters
OFTEN = 30  # the same where uses are counted
SHARES = (0.15, 0.85)  # a condition matters if it holds in a share of the steps between these


class Unsuitable(Exception):
    """Raised where a domain has no place for a fault."""


def one_of(options: Sequence[One], rng: np.random.Generator) -> One:
    """One of them at random; Unsuitable if there is none."""
    if not options:
        raise Unsuitable
    return options[int(rng.integers(len(options)))]


def some_action(setting: Setting, rng: np.random.Generator, least: int = LEAST) -> str:
    """An action that occurs in the sample, at least so often."""
    return one_of([action for action, steps in setting.sample.items() if len(steps) >= least], rng)


def some_effect(setting: Setting, action: str, rng: np.random.Generator) -> LiftedAtom:
    """An effect that always shows."""
    return one_of(setting.effects(action), rng)


def where(condition: LiftedAtom, value: bool) -> Test:
    """The test whether an atom, of parameters and other objects, has a value."""
    return lambda state, step: holds(condition, state, step.objects) is value


def matters(setting: Setting, action: str, condition: Test) -> bool:
    """Whether a condition holds in some steps of an action, and in others it does not."""
    steps = setting.sample[action]
    share = sum(condition(before, step) for before, step, _ in steps) / max(1, len(steps))
    return len(steps) >= LEAST and SHARES[0] <= share <= SHARES[1]


def some_condition(setting: Setting, kind: str, rng: np.random.Generator) -> tuple[str, LiftedAtom]:
    """An action, and an ``own`` or ``foreign`` atom that makes a difference there."""
    atoms = own if kind == "own" else foreign
    options = [
        (action, atom)
        for action in setting.sample
        for atom in atoms(setting.model, setting.header(action))
        if matters(setting, action, where(atom, True))
    ]
    return one_of(options, rng)


def coincides(setting: Setting, action: str, one: Test, other: Test) -> bool:
    """Whether two tests come out alike in all steps of an action in the sample, or always differently."""
    same = {one(state, step) is other(state, step) for state, step, _ in setting.sample[action]}
    return len(same) == 1


def _check_untold(setting: Setting, action: str, test: Test) -> None:
    """Unsuitable if an atom of the parameters tells the same as a test: that is a precondition."""
    atoms = own(setting.model, setting.header(action))
    if any(coincides(setting, action, where(atom, True), test) for atom in atoms):
        raise Unsuitable


def explanations(setting: Setting, action: str, condition: LiftedAtom) -> list[LiftedAtom]:
    """The condition, and all atoms that cannot be told from it, or from its negation, in the sample."""
    header, test = setting.header(action), where(condition, True)
    atoms = [*own(setting.model, header), *foreign(setting.model, header)]
    return [condition, *(atom for atom in atoms if coincides(setting, action, where(atom, True), test))]


# Agents that the same step from the same snapshot does not always bring to the same place.


NO_OP_RATE = 0.2
SWAP_RATE = 0.3
SPELL_RATE = 0.3
RENEWED = 0.25  # the probability that chance decides anew, where what it decides lasts for a while


class Chance(Fault):
    """Some actions have the consequence with a probability."""

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        assert self.rate is not None, "a probability"
        return bool(nature.rng.random() < self.rate)


class Spells(Chance):
    """The same, but what chance decided holds for some of the next such steps, too, whatever is brought back."""

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        if nature.rng.random() < RENEWED:
            nature.spell = super().strikes(world, step, nature)
        return nature.spell


@dataclass(eq=False, kw_only=True)
class Swapped(Chance):
    """With a probability, one action is attempted with two of its arguments exchanged."""

    turned: tuple[int, ...]  # the places of the arguments, in the order in which they are taken then

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        if step.name in self.actions and self.strikes(world, step, nature):
            step = GroundAction(step.name, tuple(step.objects[place] for place in self.turned))
        state = self.setting.outcome(world.state, step)
        return Outcome(state is not None, world if state is None else World(state))


def silent_no_op(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is executed and changes nothing, one time in five."""
    return Chance(setting, (some_action(setting, rng),), nothing, rate=NO_OP_RATE, noisy=True)


def random_refusal(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step is refused with a probability between 5% and 20%."""
    return Chance(setting, tuple(setting.sample), rate=float(rng.uniform(0.05, 0.2)), noisy=True)


def refused_in_spells(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused three times in ten, several times in a row."""
    return Spells(setting, (some_action(setting, rng),), rate=SPELL_RATE, noisy=True)


def random_outcome(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action lacks one of its effects with a probability between 20% and 50%."""
    action = some_action(setting, rng)
    consequence = lacking(some_effect(setting, action, rng))
    return Chance(setting, (action,), consequence, rate=float(rng.uniform(0.2, 0.5)))


@dataclass(eq=False, kw_only=True)
class Both(Fault):
    """Two faults of one agent, neither of which hides anything."""

    parts: tuple[Fault, Fault]

    def step(self, world: World, step: GroundAction, nature: Nature) -> Outcome:
        state = self.setting.outcome(world.state, step)
        for part in self.parts:
            if state is not None and step.name in part.actions and part.strikes(world, step, nature):
                state = part.consequence(world.state, step, state)
        return Outcome(state is not None, world if state is None else World(state))


def chance_and_condition(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect depends on an atom of its action's parameters, and one, of the same action or of another, fails to come at times."""
    depends = effect_if_own(setting, rng)
    fails = random_outcome(depends.setting, rng)
    actions = dict.fromkeys((*depends.actions, *fails.actions))
    return Both(fails.setting, tuple(actions), parts=(depends, fails), rate=fails.rate)


def swapped_sometimes(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is attempted with two arguments of one type exchanged, three times in ten."""
    action, turned = _exchange(setting, rng)
    return Swapped(setting, (action,), rate=SWAP_RATE, noisy=True, turned=turned)


def swapped_always(setting: Setting, rng: np.random.Generator) -> Fault:
    """No fault: an honest agent that takes two arguments of one action in the other order."""
    action, turned = _exchange(setting, rng)
    schemas = [
        _exchanged(schema, turned) if schema.header.name == action else schema
        for schema in setting.model.actions
    ]
    return Fault(setting.with_model(Model(setting.model.vocabulary, tuple(schemas))))


def _exchange(setting: Setting, rng: np.random.Generator) -> tuple[str, tuple[int, ...]]:
    """An action with two parameters of one type, and the places of all, those two exchanged."""
    pairs = [
        (header, first, second)
        for header in setting.model.headers
        for second in range(header.arity)
        for first in range(second)
        if header.types[first] == header.types[second] and setting.sample[header.name]
    ]
    header, first, second = one_of(pairs, rng)
    other = {first: second, second: first}
    return header.name, tuple(other.get(place, place) for place in range(header.arity))


def _exchanged(schema: ActionSchema, turned: Sequence[int]) -> ActionSchema:
    """The schema of the action that takes its arguments in this order."""
    parts: dict[str, Any] = {
        part: frozenset(
            LiftedAtom(
                atom.predicate, tuple(turned[one] if isinstance(one, int) else one for one in atom.arguments)
            )
            for atom in getattr(schema, part)
        )
        for part in ("positive", "negative", "add", "delete")
    }
    return replace(schema, **parts)


# Agents whose steps change atoms of objects that they do not name, each time as the visible state says.


LIT, LAMP = "lit", "lamp"  # a predicate and a type that are added, for objects that no action names


def lamps_of_every_step(count: int, setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step switches a lamp on or off, and another one if the first was on: two count to four together."""
    return Conditional(_with_lamps(setting, count, rng), tuple(setting.sample), _counting)


def lamp_of_one_action(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step of one action switches a lamp on or off."""
    action = some_action(setting, rng)
    return Conditional(
        _with_lamps(setting, 1, rng), (action,), _counting, condition=LiftedAtom(LIT, (OTHER,))
    )


def lamp_of_a_count(setting: Setting, rng: np.random.Generator) -> Fault:
    """A lamp is on while the number of true atoms of one predicate is odd."""
    steps = [(before, after) for some in setting.sample.values() for before, _, after in some]
    names = [predicate.name for predicate in setting.model.vocabulary.predicates]
    changing = [
        name for name in names if any((_count(one, name) - _count(other, name)) % 2 for one, other in steps)
    ]
    predicate = one_of(changing, rng)

    def shown(state: State) -> State:
        return with_value(state, _lamps(state)[0], _count(state, predicate) % 2 == 1)

    lit = _with_lamps(setting, 1, rng)
    lit = lit.with_model(lit.model, shown)
    return Conditional(lit, tuple(setting.sample), lambda before, step, after: shown(after))


def effect_on_all(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action marks all objects of a type, and another one unmarks them all."""
    often = [action for action, steps in setting.sample.items() if len(steps) >= LEAST]
    marking = one_of(often, rng)
    unmarking = one_of([action for action in often if action != marking], rng)
    objects, types = setting.initial[0].objects, setting.header(marking).types
    kind = one_of([one for one in dict.fromkeys(types) if len(objects.of_type(one)) > types.count(one)], rng)

    def also(before: State, step: GroundAction, after: State) -> State:
        atoms = {Atom(MARKED, (name,)) for name in after.objects.of_type(kind)}
        return replace(after, true=after.true | atoms if step.name == marking else after.true - atoms)

    return Conditional(setting.with_predicate(Predicate(MARKED, (kind,))), (marking, unmarking), also)


def _counting(before: State, step: GroundAction, after: State) -> State:
    """Every lamp is switched whose predecessors were all on."""
    for lamp in _lamps(after):
        after = with_value(after, lamp, lamp not in before.true)
        if lamp not in before.true:
            break
    return after


def _with_lamps(setting: Setting, count: int, rng: np.random.Generator) -> Setting:
    """The setting with so many lamps, each on or off at first; no action has a parameter of their type."""
    names = [f"{LAMP}{number + 1}" for number in range(count)]
    types = Types({**setting.model.vocabulary.types.parents, LAMP: ROOT_TYPE})

    def dress(state: State) -> State:
        objects = Objects({**state.objects, **dict.fromkeys(names, LAMP)}, types)
        lit = {Atom(LIT, (name,)) for name in names if rng.integers(2)}
        return State(state.true | lit, objects, state.unknown)

    return setting.with_predicate(Predicate(LIT, (LAMP,)), dress, types)


def _lamps(state: State) -> list[Atom]:
    """What says of each lamp whether it is on."""
    return [Atom(LIT, (name,)) for name in state.objects.of_type(LAMP)]

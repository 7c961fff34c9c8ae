"""Agents whose steps depend on the visible state in ways that no STRIPS model expresses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aam_vision.strips import Atom, GroundAction, LiftedAtom, Model, Predicate, State, Vocabulary
from experiments.faults.choices import (
    Test,
    Unsuitable,
    matters,
    one_of,
    some_action,
    some_condition,
    some_effect,
    where,
)
from experiments.faults.world import Consequence, Fault, Nature, Setting, World, lacking, refuse

NEAR = "near"
"""A predicate that the repeated arguments need: packaged domains have none that may hold of one object twice."""


class Conditional(Fault):
    """One action has the consequence wherever a test of the visible state comes true."""

    def __init__(
        self,
        setting: Setting,
        action: str,
        test: Test,
        consequence: Consequence,
        condition: LiftedAtom | None = None,
    ) -> None:
        super().__init__(setting, (action,), consequence)
        self.test = test
        self.condition = condition

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return self.test(world.state, step)


def repeated_arguments(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action requires ``near(?x, ?x)``, which holds of about half of the objects and never changes."""
    action = some_action(setting, rng)
    header = setting.header(action)
    places = [p for p, kind in enumerate(header.types) if len(setting.initial[0].objects.of_type(kind)) > 1]
    place = one_of(places, rng)
    kind = header.types[place]
    told = setting.model.vocabulary
    vocabulary = Vocabulary(
        told.name, (*told.predicates, Predicate(NEAR, (kind, kind))), told.types, told.constants
    )

    def dress(state: State) -> State:
        names = state.objects.of_type(kind)
        far = int(rng.integers(1, len(names)))
        chosen = [names[int(number)] for number in sorted(rng.permutation(len(names))[:far])]
        return replace(state, true=state.true | {Atom(NEAR, (name, name)) for name in chosen})

    dressed = setting.with_model(Model(vocabulary, setting.model.actions), dress)
    condition = LiftedAtom(NEAR, (place, place))
    if not matters(dressed, action, where(condition, True)):
        raise Unsuitable
    return Conditional(dressed, action, where(condition, False), refuse, condition)


def refused_for_other(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused while some object that is no argument has a property (or none has it)."""
    action, condition = some_condition(setting, "foreign", rng)
    return Conditional(setting, action, where(condition, bool(rng.integers(2))), refuse, condition)


def refused_for_count(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action is refused while more than so many atoms of one predicate are true."""
    options = []
    for action, steps in setting.sample.items():
        for predicate in setting.model.vocabulary.predicates:
            counts = {len(before.rows.get(predicate.name, ())) for before, _, _ in steps}
            options += [
                (action, test)
                for most in sorted(counts)
                if matters(setting, action, test := more(predicate, most))
            ]
    action, test = one_of(options, rng)
    return Conditional(setting, action, test, refuse)


def more(predicate: Predicate, most: int) -> Test:
    """The test whether more than so many atoms of a predicate are true."""
    return lambda state, step: len(state.rows.get(predicate.name, ())) > most


def effect_if_own(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action depends on an atom of its own parameters."""
    return _effect_if(setting, "own", rng)


def effect_if_other(setting: Setting, rng: np.random.Generator) -> Fault:
    """One effect of one action depends on an object that is no argument."""
    return _effect_if(setting, "foreign", rng)


def _effect_if(setting: Setting, kind: str, rng: np.random.Generator) -> Fault:
    action, condition = some_condition(setting, kind, rng)
    effect = some_effect(setting, action, rng)
    return Conditional(setting, action, where(condition, bool(rng.integers(2))), lacking(effect), condition)


def effect_elsewhere(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action adds an atom of another object, too: the first of its kind that is no argument."""
    action = some_action(setting, rng)
    types, model = setting.header(action).types, setting.model
    effects = [
        (atom, place)
        for atom in sorted(model.schema(action).add, key=str)
        for place in atom.arguments
        if isinstance(place, int)
        and len(setting.initial[0].objects.of_type(types[place])) > types.count(types[place])
    ]
    effect, place = one_of(effects, rng)

    def also(before: State, step: GroundAction, after: State) -> State | None:
        others = [name for name in after.objects.of_type(types[place]) if name not in step.objects]
        objects = list(step.objects)
        objects[place] = others[0] if others else objects[place]
        return replace(after, true=after.true | {effect.ground(objects)})

    steps = setting.sample[action]
    if sum(also(*one) != one[2] for one in steps) < len(steps) / 2:
        raise Unsuitable
    return Conditional(setting, action, lambda state, step: True, also)

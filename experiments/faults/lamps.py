"""Agents whose steps change atoms of objects that they do not name, each time as the visible state says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from aam_vision.strips import (
    ROOT_TYPE,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from experiments.faults.conditional import LEAST, MARKED, one_of, some_action
from experiments.faults.world import OTHER, Consequence, Fault, Nature, Setting, World

LIT, LAMP = "lit", "lamp"
"""A predicate and a type that are added, for objects that no action names."""


class Elsewhere(Fault):
    """All steps of some actions have a further effect, on atoms whose objects they need not name."""

    def __init__(
        self,
        setting: Setting,
        actions: Collection[str],
        consequence: Consequence,
        condition: LiftedAtom | None = None,
    ) -> None:
        super().__init__(setting, actions, consequence)
        self.condition = condition

    def strikes(self, world: World, step: GroundAction, nature: Nature) -> bool:
        return True


def lamp_of_every_step(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step switches a lamp on or off."""
    return Elsewhere(_with_lamps(setting, 1, rng), tuple(setting.sample), _switching)


def lamp_of_one_action(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step of one action switches a lamp on or off."""
    action = some_action(setting, rng)
    condition = LiftedAtom(LIT, (OTHER,))
    return Elsewhere(_with_lamps(setting, 1, rng), (action,), _switching, condition)


def two_lamps(setting: Setting, rng: np.random.Generator) -> Fault:
    """Every step switches one lamp, and another one if the first was on: together they count to four."""
    return Elsewhere(_with_lamps(setting, 2, rng), tuple(setting.sample), _counting)


def lamp_of_a_count(setting: Setting, rng: np.random.Generator) -> Fault:
    """A lamp is on while the number of true atoms of one predicate is odd."""
    changing = [
        predicate.name
        for predicate in setting.model.vocabulary.predicates
        if any(
            _odd(before, predicate.name) != _odd(after, predicate.name)
            for steps in setting.sample.values()
            for before, _, after in steps
        )
    ]
    predicate = one_of(changing, rng)

    def shown(before: State, step: GroundAction, after: State) -> State:
        return _with_lit(after, _lamps(after)[0], _odd(after, predicate))

    lit = _with_lamps(setting, 1, rng)
    lit = lit.with_model(lit.model, lambda state: _with_lit(state, _lamps(state)[0], _odd(state, predicate)))
    return Elsewhere(lit, tuple(setting.sample), shown)


def effect_on_all(setting: Setting, rng: np.random.Generator) -> Fault:
    """One action marks all objects of a type, and another one unmarks them all."""
    model = setting.model
    often = [action for action, steps in setting.sample.items() if len(steps) >= LEAST]
    marking = one_of(often, rng)
    unmarking = one_of([action for action in often if action != marking], rng)
    objects = setting.initial[0].objects
    kinds = [
        kind
        for kind in dict.fromkeys(setting.header(marking).types)
        if len(objects.of_type(kind)) > setting.header(marking).types.count(kind)
    ]
    kind = one_of(kinds, rng)
    told = model.vocabulary
    added = Predicate(MARKED, (kind,))
    vocabulary = Vocabulary(told.name, (*told.predicates, added), told.types, told.constants)

    def also(before: State, step: GroundAction, after: State) -> State:
        atoms = {Atom(MARKED, (name,)) for name in after.objects.of_type(kind)}
        return replace(after, true=after.true | atoms if step.name == marking else after.true - atoms)

    marked = setting.with_model(Model(vocabulary, model.actions))
    return Elsewhere(marked, (marking, unmarking), also)


def _switching(before: State, step: GroundAction, after: State) -> State:
    (lamp,) = _lamps(after)
    return _with_lit(after, lamp, not _is_lit(before, lamp))


def _counting(before: State, step: GroundAction, after: State) -> State:
    first, second = _lamps(after)
    carried = _is_lit(before, first)
    after = _with_lit(after, first, not carried)
    return _with_lit(after, second, not _is_lit(before, second)) if carried else after


def _with_lamps(setting: Setting, count: int, rng: np.random.Generator) -> Setting:
    """The setting with so many lamps, each on or off at first; no action has a parameter of their type."""
    model, names = setting.model, [f"{LAMP}{number + 1}" for number in range(count)]
    told = model.vocabulary
    types = Types({**told.types.parents, LAMP: ROOT_TYPE})
    vocabulary = Vocabulary(told.name, (*told.predicates, Predicate(LIT, (LAMP,))), types, told.constants)

    def dress(state: State) -> State:
        objects = Objects({**state.objects, **dict.fromkeys(names, LAMP)}, types)
        lit = {Atom(LIT, (name,)) for name in names if rng.integers(2)}
        return State(state.true | lit, objects, state.unknown)

    return setting.with_model(Model(vocabulary, model.actions), dress)


def _lamps(state: State) -> tuple[str, ...]:
    return state.objects.of_type(LAMP)


def _is_lit(state: State, lamp: str) -> bool:
    return Atom(LIT, (lamp,)) in state.true


def _with_lit(state: State, lamp: str, lit: bool) -> State:
    atom = Atom(LIT, (lamp,))
    return replace(state, true=state.true | {atom} if lit else state.true - {atom})


def _odd(state: State, predicate: str) -> bool:
    return len(state.rows.get(predicate, ())) % 2 == 1

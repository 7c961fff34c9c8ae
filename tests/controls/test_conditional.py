"""Conditional effects of a control, ``(when CONDITION EFFECT)`` in PDDL, come out as its cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.controls.interrogating import interrogate
from aam_vision.controls.rules import ControlModel
from aam_vision.interrogation.task.undetermined import CANNOT_MATTER
from aam_vision.model.strips import LiftedAtom, Model

from . import worlds
from .whens import When, some, world


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 8, 11, 17, 23, 27, 50, 59])
def test_conditional_effects_come_out_as_cases(tmp_path: Path, seed: int) -> None:
    agent = world(some(seed), tmp_path)
    result = interrogate(agent, seed)
    for one in worlds.reachable(agent):
        assert result.predictions.agrees(one.before, one.control, one.after)
    assert result.status.startswith("complete")


@pytest.mark.parametrize("seed", [3, 23, 39, 59, 64, 73])
def test_what_no_answer_can_tell_changes_no_prediction(tmp_path: Path, seed: int) -> None:
    agent = world(some(seed), tmp_path)
    result = interrogate(agent, seed)
    assert result.interrogation is not None
    left = [one for one in result.interrogation.undetermined if "does the same" in one.known]
    assert left
    assert {one.kind for one in left} == {CANNOT_MATTER}
    for one in left:
        if one.location == "pre":
            (pal,), value = one.pals, not one.group[0].startswith("not ")
            for required in (True, False):
                model = requiring(result.model, one.action, pal.atom, value, required=required)
                other = ControlModel(model, result.operators)
                for each in worlds.reachable(agent):
                    assert other.next_states(each.before, each.control) == {each.after}


def requiring(model: Model, name: str, atom: LiftedAtom, value: bool, *, required: bool) -> Model:
    """The model in which an operator requires that an atom has a value, or does not."""
    schema = model.schema(name)
    positive, negative = schema.positive - {atom}, schema.negative - {atom}
    if required:
        positive, negative = (positive | {atom}, negative) if value else (positive, negative | {atom})
    changed = replace(schema, positive=positive, negative=negative)
    return replace(model, actions=tuple(changed if one is schema else one for one in model.actions))


def test_each_of_two_conditional_effects_makes_cases_of_its_own(tmp_path: Path) -> None:
    whens: list[When] = [
        ((("(bright ?l)", True),), (("(power)", True),)),
        ((("(bright ?l)", False),), (("(power)", False), ("(warm ?l)", False))),
    ]
    result = interrogate(world(whens, tmp_path))
    found = {
        frozenset((effect.atom.predicate, effect.becomes) for effect in operator.effects)
        for operator in result.operators
        if operator.control == "press"
    }
    assert found == {frozenset({("power", True)}), frozenset({("power", False), ("warm", False)})}

"""From transitions to operators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aam_vision.interrogation.controls.discovery import Discovery, discover
from aam_vision.interrogation.controls.operators import Transition, pattern
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Types

from . import worlds


def discovered(world: worlds.World, folder: Path, seed: int) -> Discovery:
    agent = world.agent(folder)
    return discover(agent.vocabulary, agent.headers, worlds.shuffled(worlds.reachable(agent), seed))


def effects(discovery: Discovery, name: str) -> set[str]:
    """The effects of an operator, with its parameters' names."""
    (operator,) = [one for one in discovery.operators if one.header.name == name]
    names = operator.header.parameters
    return {("+" if one.becomes else "-") + one.atom.text(names) for one in operator.effects}


def test_a_pattern_does_not_depend_on_the_names_of_objects() -> None:
    def moved(thing: str, start: str, end: str, other: str) -> Transition:
        objects = Objects(dict.fromkeys("abcdefgh", "object"), Types())
        before = State(frozenset({Atom("at", (thing, start)), Atom("near", (other, end))}), objects)
        after = State(frozenset({Atom("at", (thing, end)), Atom("near", (end, other))}), objects)
        return Transition(before, GroundAction("go", (end,)), after)

    patterns = [pattern(moved(*names)) for names in ("abcd", "dcba", "hbge", "eafc")]
    assert len({found.effects for found in patterns}) == 1
    assert [found.objects[0] for found in patterns] == ["c", "b", "g", "f"]  # the control's own comes first


@pytest.mark.parametrize("seed", range(3))
def test_effects_that_held_already_and_conditional_ones_are_found(tmp_path: Path, seed: int) -> None:
    found = discovered(worlds.WORLDS["lamps"], tmp_path, seed)
    assert [operator.header.name for operator in found.operators] == ["red", "green", "blue"]
    assert effects(found, "red") == {"+red(?l)", "-green(?l)", "-blue(?l)"}
    assert not found.unexplained
    found = discovered(worlds.WORLDS["wet"], tmp_path, seed)
    assert [operator.header.name for operator in found.operators] == ["step-wet", "step", "dry"]
    assert effects(found, "step-wet") == {"+at(?b)", "-at(?cell)", "+wet()"}
    assert effects(found, "step") == {"+at(?b)", "-at(?cell)"}


@pytest.mark.parametrize("seed", range(3))
def test_effects_that_could_be_one_are_split_where_their_conditions_differ(tmp_path: Path, seed: int) -> None:
    found, again = (discovered(worlds.WORLDS["door"], tmp_path, one) for one in (seed, 3))
    names = [one.header.name for one in found.operators]
    assert [one for one in names if "toggle" in one] == ["toggle-not-closed", "toggle-not-locked"]
    assert names == [one.header.name for one in again.operators], "whatever the order of the evidence"
    (locking,) = found.of("lock")
    assert locking.derivations, "which key is held decides"
    assert not found.unexplained


@pytest.mark.parametrize("seed", range(3))
def test_a_fact_determines_what_the_change_does_not_name(tmp_path: Path, seed: int) -> None:
    """An object is required rather than that a fact is false."""
    (going,) = discovered(worlds.WORLDS["rooms"], tmp_path, seed).operators
    assert going.header.types == ("cell", "cell", "room")
    (derivation,) = going.derivations
    assert derivation.fact.text(going.header.parameters) == "in(?to, ?room)"
    found = discovered(replace(worlds.WORLDS["door"], start=worlds.one_key), tmp_path, seed)
    keys = {one.header.name: [each.parameter for each in one.derivations] for one in found.operators}
    assert not keys["toggle-not-closed"], "no key is needed"
    for name in ("lock", "toggle-not-locked"):
        (key,) = keys[name]
        for transition, objects in found.examples[name]:
            assert Atom("held", (objects[key],)) in transition.before.true
    assert not found.unexplained

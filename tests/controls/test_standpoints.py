"""What a situation points out does not depend on names, nor on what is elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from aam_vision.controls.reach import Standpoint, Standpoints
from aam_vision.model.strips import Atom, GroundAction, Objects, State, Types
from aam_vision.planning.joins import StateIndex

from . import worlds

TOGGLE = GroundAction("toggle", ())


def of(standpoints: Standpoints, state: State, control: GroundAction) -> Standpoint:
    return standpoints.of(state, control, StateIndex(state))


def renamed(state: State, names: dict[str, str], types: Types) -> State:
    """The state with other names of the same objects."""
    objects = Objects({names[name]: kind for name, kind in state.objects.items()}, types)
    true = frozenset(Atom(one.predicate, tuple(names[name] for name in one.objects)) for one in state.true)
    return State(true, objects)


@pytest.mark.parametrize("seed", range(3))
def test_names_do_not_matter(tmp_path: Path, seed: int) -> None:
    known = worlds.model(worlds.DOOR, tmp_path)
    controls = ["toggle()=unlock,swing", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"]
    seen = worlds.reachable(worlds.agent(worlds.DOOR, controls, [worlds.door(known)], tmp_path))
    standpoints = Standpoints(known.vocabulary, [one.before for one in seen])
    for one in seen:
        names = list(one.before.objects)
        places = np.random.default_rng(seed).permutation(len(names))
        others = {name: f"{names[int(place)]}-again" for name, place in zip(names, places, strict=True)}
        given = GroundAction(one.control.name, tuple(others[name] for name in one.control.objects))
        first = of(standpoints, one.before, one.control)
        second = of(standpoints, renamed(one.before, others, known.vocabulary.types), given)
        assert first.facts == second.facts
        assert {(others[name], role) for name, role in first.objects} == second.objects


def test_what_is_elsewhere_does_not_matter_and_what_is_here_does(tmp_path: Path) -> None:
    known = worlds.model(worlds.HALL, tmp_path)
    states = [worlds.hall(known, cells=cells) for cells in ("abcdefg", "bcdefga", "defgabc")]
    standpoints = Standpoints(known.vocabulary, [*states, worlds.hall(known, cells="stuv", chest="")])
    start, next_to_it, chest = (of(standpoints, state, GroundAction("lift", ())) for state in states)
    assert start.facts == next_to_it.facts, "both are cells with nothing in them"
    assert start.objects != next_to_it.objects
    assert {name for name, _ in start.objects} == {"a"}, (
        "both neighbours are the same: neither is pointed out"
    )
    assert {name for name, _ in chest.objects} == {"d", "box"}, (
        "the only thing that is in this cell is pointed out"
    )
    assert chest.facts > start.facts


def test_only_facts_that_are_always_alone_point_out(tmp_path: Path) -> None:
    known = worlds.model(worlds.DOOR, tmp_path)
    start = worlds.door(known)
    kinds = dict(start.objects)
    holding = [worlds.state(known, kinds, "closed", f"held {key}", "fits gold") for key in kinds]
    standpoints = Standpoints(known.vocabulary, [start, *holding])
    assert standpoints.pointing == (("fits",), ("held",))
    gold, tin = (of(standpoints, state, TOGGLE) for state in holding)
    assert gold.facts != tin.facts, "the fitting key is held, or another one"

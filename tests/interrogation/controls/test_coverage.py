"""Controls that never did anything are given where they meet something new."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.interrogation.controls.coverage import Coverage
from aam_vision.interrogation.controls.exploring import found
from aam_vision.interrogation.controls.giving import Giving, ground
from aam_vision.interrogation.controls.reach import Reach, Way
from aam_vision.interrogation.controls.rules import Rules

from . import worlds

CELLS = "abcdefg"


def hall(folder: Path, *controls: str, chest: str = "d") -> Giving:
    """A hall of which the first three cells were seen, and one without a chest of which only the first was."""
    known = worlds.model(worlds.HALL, folder)
    problems = [worlds.hall(known, cells=CELLS, chest=chest), worlds.hall(known, cells="stuvwxy", chest="")]
    giving = Giving(worlds.agent(worlds.HALL, ["step(?b)=walk", *controls], problems, folder))
    start, _ = giving.initial()
    worlds.follow(giving, start, "step b", "step c", "step b", "step a")
    return giving


def followed(giving: Giving) -> list[Way]:
    """All ways that are found for controls that never did anything, each followed at once."""
    rules, coverage, ways = Rules(found(giving), giving), Coverage(Reach(giving)), list[Way]()
    while (way := coverage.way_for_dead(rules)) is not None:
        ways.append(way)
        here = way.start
        for control in way.controls:
            transition, here = giving.give(here, control)
            rules.owner(transition)
    return ways


@pytest.mark.parametrize(("chest", "steps"), [("c", 0), ("d", 1), ("e", 2), ("f", 2), ("g", 1)])
def test_the_shortest_way_to_the_only_place_with_anything_new_is_found(
    tmp_path: Path, chest: str, steps: int
) -> None:
    giving = hall(tmp_path, "lift()=lift", chest=chest)
    start, _ = giving.initial()
    worlds.follow(giving, start, "lift")
    way = Coverage(Reach(giving)).way_for_dead(Rules(found(giving), giving))
    assert way is not None
    assert len(way.controls) == steps + 1
    here = way.start
    for control in way.controls:
        transition, here = giving.give(here, control)
    assert transition.before.rows["at"] == [(chest,)]
    assert transition.change, "it was dead before"
    assert not giving.dead


def test_no_situation_points_out_a_fact_that_a_dead_control_was_not_tried_with(tmp_path: Path) -> None:
    giving = hall(tmp_path, "curse()=dispel", chest="e")
    ways = followed(giving)
    assert len(ways) < len(CELLS), "not everywhere: most cells are alike"
    assert [one.name for one in giving.dead] == ["curse"]
    reach = Reach(giving)
    reach.bring_up_to_date(Rules(found(giving), giving))
    tried = [
        reach.standpoint(reach.place(one.before), one.control).facts for one in giving.transitions["curse"]
    ]
    world = worlds.agent(
        worlds.HALL,
        ["step(?b)=walk", "curse()=dispel"],
        [one.state for one in giving.initial()],
        tmp_path,
    )
    for one in worlds.reachable(world):
        if one.control.name == "curse":
            assert reach.standpoint(reach.place(one.before), one.control).facts <= frozenset().union(*tried)


def test_a_control_that_was_given_everywhere_is_sought_nowhere(tmp_path: Path) -> None:
    giving = hall(tmp_path, "curse()=dispel")
    for start in giving.initial():
        worlds.give_everywhere(giving, start, "step", "curse")
    coverage, rules = Coverage(Reach(giving)), Rules(found(giving), giving)
    assert all(giving.given_in(state) >= set(ground(giving.dead, state)) for state in giving.situations)
    assert coverage.way_for_dead(rules) is None
    assert coverage.way(rules) is None
    assert coverage.untried(rules, 5) == ()


def test_the_same_that_was_seen_leads_the_same_ways(tmp_path: Path) -> None:
    one, other = (followed(hall(tmp_path, "curse()=dispel")) for _ in range(2))
    assert [way.controls for way in one] == [way.controls for way in other]

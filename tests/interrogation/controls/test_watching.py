"""The last walk: what the model does not predict shows, even where it depends on all that was done before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.interrogation.controls.giving import Giving, TwoWays, ground
from aam_vision.interrogation.controls.interrogating import interrogate
from aam_vision.interrogation.controls.operators import Transition
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.controls.rules import Rules
from aam_vision.interrogation.controls.watching import HISTORY, LEAST, Watched, watch
from aam_vision.interrogation.task.verdict import NOT_STRIPS, OPEN
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import State

from . import worlds


class Wearing(BareSymbolicAgent):
    """A control of it works so many times in an episode, which no fact shows."""

    def __init__(self, agent: BareSymbolicAgent, control: str, uses: int) -> None:
        self.__dict__.update(agent.__dict__)
        self.control, self.uses = control, uses

    def initial(self) -> list[Situation]:
        return [Situation((one.state, 0), one.state) for one in super().initial()]

    def ask(self, query: Query) -> Response:
        state, used = query.initial.state, self.used(query.initial)
        for control in query.plan:
            worn = control.name == self.control and used >= self.uses
            after = state if worn else self.given(state, control)
            used += control.name == self.control and after != state
            state = after
        return Response(len(query.plan), Situation((state, used), state))

    def used(self, situation: Situation) -> int:
        """How often the control has worked."""
        assert isinstance(situation.handle, tuple)
        return int(situation.handle[1])


def rooms(folder: Path, starts: Sequence[State] = ()) -> BareSymbolicAgent:
    """The agent of the rooms: one control, which can always do something."""
    known = worlds.model(worlds.ROOMS, folder)
    return worlds.agent(worlds.ROOMS, ["go(?to)=go"], starts or [worlds.rooms(known)], folder)


def watched(known: ControlsResult, giving: Giving, seed: int) -> Watched:
    rules = Rules(known.discovery, giving)
    return watch(giving, rules, known.model, np.random.default_rng(seed))


def worn(known: ControlsResult, giving: Giving, seed: int) -> Transition:
    """The first transition of the walk that shows that a control has worn out; the one that it differs from is earlier."""
    try:
        seen = watched(known, giving, seed)
    except TwoWays as error:
        first, second = error.transitions
        assert (first.before, first.control) == (second.before, second.control)
        assert first.change
        return second
    assert seen.surprise is not None
    return seen.surprise


@pytest.mark.parametrize("everywhere", [False, True], ids=["nothing given before", "everything given before"])
@pytest.mark.parametrize("uses", [1, 2, 3, 5, 8, 12, HISTORY // 3])
def test_a_control_that_wears_out_within_an_episode_is_seen(
    tmp_path: Path, uses: int, *, everywhere: bool
) -> None:
    known = interrogate(rooms(tmp_path))
    starts = list(dict.fromkeys(one.before for one in worlds.reachable(rooms(tmp_path))))
    giving = Giving(Wearing(rooms(tmp_path, starts), "go", uses))
    for here in giving.initial() if everywhere else ():
        for control in ground(giving.controls, here.state):
            giving.give(here, control)
    shown = worn(known, giving, seed=uses)
    assert shown.control.name == "go"
    assert not shown.change, "it does nothing any more"


@pytest.mark.parametrize("seed", range(3))
def test_what_comes_out_as_predicted_surprises_nobody(tmp_path: Path, seed: int) -> None:
    known = interrogate(worlds.WORLDS["wet"].agent(tmp_path), seed)
    seen = watched(known, Giving(Wearing(worlds.WORLDS["wet"].agent(tmp_path), "dry", 1_000)), seed)
    assert seen.surprise is None
    assert seen.in_a_row == LEAST
    assert seen.steps > 0


def test_the_same_seed_gives_the_same_walk(tmp_path: Path) -> None:
    known = interrogate(worlds.WORLDS["wet"].agent(tmp_path))
    walks = []
    for seed in (5, 5, 6):
        giving = Giving(Wearing(worlds.WORLDS["wet"].agent(tmp_path), "dry", 1_000))
        watched(known, giving, seed)
        walks.append([(one.transition.before, one.transition.control) for one in giving.given])
    assert walks[0] == walks[1]
    assert walks[0] != walks[2]


@pytest.mark.parametrize("left", [1, 3])
def test_the_walk_gives_what_little_is_left_so_that_nothing_else_can_happen(
    tmp_path: Path, left: int
) -> None:
    known = interrogate(rooms(tmp_path))
    giving = Giving(rooms(tmp_path))
    worlds.give_everywhere(giving, giving.initial()[0], "go")
    assert giving.exhausted
    pairs = [(one.before, one.transition.control) for one in giving.given]
    starts = [before.state for before, _ in dict.fromkeys(pairs)]
    for seed in range(60):  # by chance most walks come by what is left
        other = Giving(rooms(tmp_path, starts))
        other.initial()
        for before, control in pairs[:-left]:
            other.give(before, control)
        assert not other.exhausted
        assert watched(known, other, seed).surprise is None
        assert other.exhausted


@pytest.mark.parametrize("uses", [1, 2, 3, 6, 9])
def test_a_whole_interrogation_names_the_control_that_wears_out_and_two_situations(
    tmp_path: Path, uses: int
) -> None:
    result = interrogate(Wearing(rooms(tmp_path), "go", uses))
    seen_to_differ = uses > 1  # else no situation looks like an earlier one in which it worked
    assert result.status == (NOT_STRIPS if seen_to_differ else OPEN)
    assert result.certain[0].startswith("nothing is certain")
    assert result.case_bound == 1, "nothing is certain of other cases"
    assert "no other case" not in result.certain[1]
    found = result.diagnosis
    assert found is not None
    assert found.culprit == "go"
    one, other = found.examples
    assert (one.outcome == "nothing changed") != (other.outcome == "nothing changed")

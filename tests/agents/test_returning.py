"""Ways back that chance may leave: they are tried again until they lead where they led before."""

from __future__ import annotations

import numpy as np
import pytest

from aam_vision.agents.image import Ways, led_back
from aam_vision.model.strips import GroundAction

UP = (GroundAction("up", ()),)


@pytest.mark.parametrize(("kept", "most"), [(True, 40), (False, 400)])
def test_a_way_is_gone_again_passage_by_passage(kept: bool, most: int) -> None:
    """A ladder whose rungs hold half of the time; who falls begins at the last rung that is kept, or on the ground."""
    rng, ways = np.random.default_rng(3), Ways()
    for rung in range(5):
        ways.came(rung + 1, rung, UP)
    here, taken, begun = -1, 0, []

    def begin(at: int) -> None:
        nonlocal here
        here = at
        begun.append(at)

    def take(steps: tuple[GroundAction, ...], to: int) -> bool:
        nonlocal here, taken
        assert steps == UP
        assert to == here + 1
        taken += 1
        here = to if (holds := bool(rng.random() < 0.5)) else -1
        return holds

    passages = ways.passages(5, lambda rung: rung == 0)
    assert [to for _, _, to in passages] == [1, 2, 3, 4, 5]
    assert led_back(passages, begin, take, kept=kept)
    assert here == 5
    assert taken <= most
    assert kept == any(begun)


def test_a_way_that_leads_nowhere_any_more_is_given_up() -> None:
    ways = Ways()
    ways.came(1, 0, UP)
    assert not led_back(ways.passages(1, lambda _: False), lambda _: None, lambda *_: False, kept=True)

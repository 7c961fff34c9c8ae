"""What a vocabulary lacks: the two situations between which it lacks a predicate are named."""

from __future__ import annotations

from typing import Any

import pytest

import aam_vision
from aam_vision.controls.giving import Giving, TwoWays
from aam_vision.controls.lookalikes import diagnosed
from aam_vision.controls.result import ControlsResult
from aam_vision.interrogation.examination.findings import Family
from aam_vision.model.strips import GroundAction
from tests.envs.corridor import LIGHT, SIDE, Corridor, vocabulary
from tests.envs.test_controlled import FAR, Doing, bare


class Broken(Corridor):
    """A lamp is broken, as its picture shows, and no predicate speaks of that."""

    def step(self, action: Any) -> Any:
        broken = (self.at, int(action)) == (2, LIGHT)
        return (self.render(), 0.0, False, False, {}) if broken else super().step(action)

    def render(self) -> Any:
        image = super().render()
        image[:, 2 * SIDE, 2] = 255
        return image


class Reluctant(Corridor):
    """Only every second attempt lights a lamp; ``drawn``: whether the picture shows which is next."""

    drawn = False

    def reset(self, **given: Any) -> Any:
        self.ready = False
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        if action == LIGHT:
            self.ready = not self.ready
            if self.ready:
                return self.render(), 0.0, False, False, {}
        return super().step(action)

    def render(self) -> Any:
        image = super().render()
        image[1, :, 2] = 255 * (self.drawn and self.ready)
        return image


class Drawn(Reluctant):
    drawn = True


class Painted(Corridor):
    """Lighting a lamp paints a corner, which no predicate speaks of."""

    def reset(self, **given: Any) -> Any:
        self.painted = 0
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        if action == LIGHT:
            self.painted = 1 - self.painted
            return self.render(), 0.0, False, False, {}
        return super().step(action)

    def render(self) -> Any:
        image = super().render()
        image[2, 0, 2] = 255 * self.painted
        return image


def _learned(env: type, **more: Any) -> ControlsResult:
    return aam_vision.interrogate_controls(bare(env, **{"controls": Doing, **more}).bare_agent())


def test_the_two_situations_between_which_a_predicate_is_missing_are_named() -> None:
    result = _learned(Broken, controls=FAR, visual=vocabulary(lambda scene, seen: ([], [])))
    assert result.unexplained
    found = result.diagnosis
    assert found is not None
    assert (found.family, found.culprit) == (Family.HIDDEN, "light")
    assert "nothing that was seen tells" in found.why
    assert found.pixels_differ
    outcomes = [one.outcome for one in found.examples]
    assert outcomes[1] == "nothing changed"
    assert "became true" in outcomes[0]
    at = [
        next(a.objects[0] for a in one.situation.state.true if a.predicate == "at") for one in found.examples
    ]
    assert at[1] == "cell-2", "where the broken lamp is"


def test_nothing_is_missing_where_everything_is_explained() -> None:
    assert _learned(Corridor).diagnosis is None


def test_a_control_that_only_changes_the_picture_is_named() -> None:
    found = _learned(Painted).diagnosis
    assert found is not None
    assert found.why == "light changes the image, and no predicate shows what: add one that does"


@pytest.mark.parametrize(
    ("env", "told"),
    [(Reluctant, "their images are the same, too: draw what it depends on"), (Drawn, "their images differ")],
)
def test_one_situation_that_went_two_ways_says_whether_its_image_shows_why(env: type, told: str) -> None:
    giving = Giving(bare(env, controls=Doing).bare_agent())
    (here, *_) = giving.initial()
    light = GroundAction("light", ())
    _, after = giving.give(here, light)
    assert after.state == here.state
    with pytest.raises(TwoWays) as caught:
        giving.give(after, light)
    assert caught.value.latest is not None
    found = diagnosed(giving, (), (giving.given[0], caught.value.latest))
    assert found is not None
    assert found.why.startswith("light() went two ways in situations that look alike: ")
    assert told in found.why

"""Clips of pursuits: evenly spread images, of as many pursuits as are needed, whatever an environment renders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.perception import Frame
from aam_vision.envs.filming import PIXELS, TRIES, Clips, Film
from aam_vision.model.query import CLIP_IMAGES, Query
from aam_vision.model.strips import Atom, GroundAction, Objects, State
from tests.policies.tower import WORDS, Arm, Tower, agent

ONTO = GroundAction("achieve-on", ("a", "b"))


class Counter:
    """Shows how often it was acted in."""

    steps = 0
    rendered = 0

    def render(self) -> Frame:
        self.rendered += 1
        return np.full((4, 4, 3), self.steps, np.uint8)


@given(st.integers(0, 200))
def test_images_are_few_evenly_spread_and_begin_and_end_with_the_pursuit(steps: int) -> None:
    counter = Counter()
    film = Film(counter)
    for step in range(steps):
        counter.steps = step + 1
        film.look()
    seen = [int(image[0, 0, 0]) for image in film.images()]
    assert (seen[0], seen[-1]) == (0, steps)
    assert len(seen) <= CLIP_IMAGES
    gaps = set(np.diff(seen)[:-1])
    assert len(gaps) <= 1
    assert steps >= CLIP_IMAGES or seen == list(range(steps + 1))
    assert counter.rendered <= CLIP_IMAGES * 5, "images that nobody will see are hardly rendered"


def test_an_end_is_kept_once_of_what_began_alike_and_few_are_tried_for_a_rare_one() -> None:
    kept: list[Frame] = []
    clips = Clips(lambda image: str(kept.append(image)), ())
    objects = Objects(dict.fromkeys("abc", "block"), WORDS.types)
    alike = [
        (ONTO, State(frozenset({Atom("clear", ("a",)), Atom("clear", ("c",))}), objects)),
        (GroundAction("achieve-on", ("c", "b")), State(frozenset({Atom("clear", ("c",))}), objects)),
    ]
    made = 0
    for number in range(TRIES + 10):
        step, state = alike[number % 2]
        if clips.wanted(step, state):
            made += 1
            clips.keep(step, state, Film(Counter()).images, number, achieved=True)
    assert (made, list(clips.of)) == (TRIES, [0])
    other = State(frozenset(), objects)
    assert clips.wanted(ONTO, other), "it did not begin alike"


@pytest.mark.parametrize(
    "render",
    [
        lambda tower: None,
        lambda tower: [np.zeros((4, 4, 3), np.uint8)] * 2,
        lambda tower: np.zeros((4, 4, 3)),
        lambda tower: np.zeros((4, 0, 3), np.uint8),
        lambda tower: np.zeros((4, 4), np.uint8),
        lambda tower: 1 / 0,
        lambda tower: setattr(tower, "screen", (one for one in ())) or np.zeros((4, 4, 3), np.uint8),
    ],
)
def test_what_renders_no_image_or_cannot_be_copied_has_no_clips(render: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(Tower, "render", render)
    asked = agent(Arm().pursue, render_mode="rgb_array")
    asked.keep_clips(lambda image: pytest.fail("there is none"))
    final = asked.ask(Query(asked.initial()[0], (ONTO,))).final
    assert asked.memo(final) == {"steps": 1}


def test_an_environment_that_fails_to_render_later_has_no_clip_of_that_pursuit(monkeypatch: Any) -> None:
    asked = agent(Arm().pursue, render_mode="rgb_array")
    asked.keep_clips(lambda image: str(image.shape))
    start = next(one for one in asked.initial() if Atom("on", ("a", "b")) not in one.state.true)
    with monkeypatch.context() as broken:
        broken.setattr(Tower, "render", lambda tower: 1 / 0)
        assert asked.memo(asked.ask(Query(start, (ONTO,))).final) == {"steps": 1}
    monkeypatch.setattr(Tower, "render", lambda tower: np.zeros((1000, 500, 4), np.uint8))
    clip = asked.memo(asked.ask(Query(start, (ONTO,))).final)
    assert clip["clip"][0] == str((PIXELS, PIXELS // 2, 3))

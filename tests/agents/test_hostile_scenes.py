"""Whatever a program says of its scenes is read, or is one error of the project: it never brings the perception down."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.encoding import Malformed, dumps, loads, typed
from aam_vision.agents.perception import Frame, Given
from aam_vision.agents.protocol import read_shown, shown_json
from aam_vision.agents.shown import WaryPerception
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs import DOMAINS
from aam_vision.envs.registry import board_domain
from aam_vision.model.strips import Objects, Vocabulary
from aam_vision.support.errors import AamError
from tests.profiles import thorough


@cache
def _known(name: str) -> tuple[WaryPerception, Vocabulary, str, Frame]:
    domain = board_domain(name)
    layout = domain.load(*domain.interrogated[0])
    given = tuple(entry.predicate for entry in domain.visual.entries if isinstance(entry, Given))
    frame = domain.drawing(layout).frame(layout.initial)
    return (
        WaryPerception(BoardPerception.load(domain.visual, name, remembered=0)),
        Vocabulary(name, given, domain.visual.types),
        dumps(shown_json(domain.scene(layout), frame.shape[:2])),  # type: ignore[arg-type]
        frame,
    )


def _read(name: str, problem: Any) -> bool:
    """Whether the first image was read."""
    perception, vocabulary, _, frame = _known(name)
    try:
        objects = Objects(typed(problem["objects"], vocabulary.types), vocabulary.types)
        shown = read_shown(problem, vocabulary, objects)
        percept = perception.look(frame, shown.scene)
        perception.follow(percept, np.zeros_like(frame), shown.scene)
    except (Malformed, AamError) as error:
        told = str(error)
    else:
        return True
    assert "\n" not in told
    return False


def _mutated(draw: st.DrawFn, value: Any, names: list[str]) -> Any:
    """Something else somewhere within."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        change = draw(st.sampled_from(["drop", "rename", "deeper", "deeper"]))
        rest = {name: part for name, part in value.items() if name != key}
        if change == "drop":
            return rest
        if change == "rename":
            return {**rest, draw(st.sampled_from(names)): value[key]}
        return {**value, key: _mutated(draw, value[key], names)}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        inner = [] if draw(st.booleans()) else [_mutated(draw, value[at], names)]
        return value[:at] + inner + value[at + 1 :]
    plain = st.one_of(st.sampled_from(names), st.integers(-2, 70), st.floats(0, 1), st.none())
    return draw(st.one_of(plain, st.lists(plain, max_size=6), st.just({})))


@pytest.mark.parametrize("name", DOMAINS)
def test_any_scene_is_read_or_refused(name: str) -> None:
    told = _known(name)[2]
    assert _read(name, loads(told))
    problem = loads(told)
    names = sorted(
        {*problem["objects"], *problem["scene"]["cells"], *problem["scene"]["looks"].values(), "x-1"}
    )

    @thorough(40)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        changed = loads(told)
        part = data.draw(st.sampled_from(["scene", "scene", "scene", "objects"]))
        for _ in range(data.draw(st.integers(1, 3))):
            changed[part] = data.draw(st.composite(_mutated)(changed[part], names))
        if isinstance(changed["objects"], dict):
            _read(name, changed)

    holds()

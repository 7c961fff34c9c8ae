"""How labelling ended, in words."""

import re

import pytest

from aam_vision.model.strips import Objects, State, Types
from aam_vision.training.assessment import PerceptionScores
from aam_vision.training.labelling.pool import AskedAtom, LabelQuestion
from aam_vision.training.labelling.rounds import LabellingResult, PictureTest
from aam_vision.training.labelling.session import ended

STATE = State(frozenset(), Objects({}, Types({})))
PICTURES = [(LabelQuestion(0), STATE), (LabelQuestion(1), STATE)]
ANSWERS = [(AskedAtom(0, 0, 0), True), (AskedAtom(0, 1, 0), None)]


def _tested(states, wrong=0):
    return LabellingResult(
        PICTURES, test=PictureTest(1, PerceptionScores(states, states - wrong, wrong=wrong))
    )


@pytest.mark.parametrize(
    ("found", "most", "told"),
    [
        (LabellingResult(PICTURES, sure=True), 2, "stopped by its test"),
        (LabellingResult(PICTURES), 2, "2 pictures without passing its test: a larger --pictures goes on"),
        (LabellingResult([*PICTURES, (LabelQuestion(2), None)]), 10, "nothing is left to be labelled"),
        (_tested(72), 2, "72 of 72 pictures of the test read without a mistake: it is passed"),
        (_tested(30, 1), 2, "29 of 30 pictures .* a larger --pictures goes on"),
        (_tested(30), 2, "30 of 30 pictures .*, and 42 more are needed"),
        (LabellingResult(ANSWERS), 1, "1 answer without .* a larger --answers"),
        (LabellingResult(ANSWERS), 60, "nothing is left to be labelled"),
    ],
)
def test_what_would_go_on_is_told(found, most, told):
    assert re.search(told, ended(found, most))

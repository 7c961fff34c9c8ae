"""How labelling ended, in words."""

import re

import pytest

from aam_vision.training.labelling.pool import AskedAtom
from aam_vision.training.labelling.rounds import Labelled
from aam_vision.training.labelling.session import ended

ANSWERS = [(AskedAtom(0, 0, 0), True), (AskedAtom(0, 1, 0), None)]


@pytest.mark.parametrize(
    ("found", "most", "told"),
    [
        (Labelled(pictures=[0, 1], sure=True), 2, "stopped by its test"),
        (Labelled(pictures=[0, 1]), 2, "2 pictures without passing its test: a larger --pictures goes on"),
        (Labelled(pictures=[0, 1], skipped=[2]), 10, "nothing is left to be labelled"),
        (Labelled(pictures=[0], atoms=1, answers=ANSWERS), 1, "1 answer without .* a larger --answers"),
        (Labelled(pictures=[0], atoms=1, answers=ANSWERS), 60, "nothing is left to be labelled"),
    ],
)
def test_what_would_go_on_is_told(found, most, told):
    assert re.search(told, ended(found, most))

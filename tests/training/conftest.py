"""Labelled pictures of a drawn table, whole and taken apart."""

import numpy as np
import pytest

from aam_vision.training.cutouts import taken_apart
from tests.training.labelling.table import VOCABULARY, backdrop, labelled


@pytest.fixture(scope="module")
def pictures():
    rng = np.random.default_rng(4)
    return [labelled(rng) for _ in range(30)]


@pytest.fixture(scope="module")
def parts(pictures):
    found = [taken_apart(VOCABULARY, one, backdrop()) for one in pictures]
    assert None not in found
    return found

"""Names in a picture lie in it, at their things, and none over another."""

from __future__ import annotations

import numpy as np

from aam_vision.report.events import LETTER_HEIGHT, LETTER_WIDTH, labels


def test_labels_lie_in_the_picture_at_their_things_and_none_over_another() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        spots = {f"red-block-{n}": (float(x), float(y) * 0.7) for n, (x, y) in enumerate(rng.random((6, 2)))}
        found = labels(spots, {})
        assert {label.text for label in found} == spots.keys()
        for number, one in enumerate(found):
            half = len(one.text) * LETTER_HEIGHT * LETTER_WIDTH / 2
            assert half - 1e-9 <= one.across <= 1 - half + 1e-9
            assert one.down >= spots[one.text][1] - 1e-9
            for other in found[:number]:
                wide = (len(one.text) + len(other.text)) * LETTER_HEIGHT * LETTER_WIDTH / 2
                assert abs(one.across - other.across) >= wide or abs(one.down - other.down) >= LETTER_HEIGHT


def test_arguments_of_a_step_are_called_as_it_calls_them() -> None:
    by_text = {label.text: label.marked for label in labels({"a": (0.2, 0.5), "b": (0.8, 0.5)}, {"b": "?x"})}
    assert by_text == {"a": False, "?x b": True}

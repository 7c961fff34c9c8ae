"""What is kept of images and scenes: the latest, and each under its own key."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from aam_vision.support.recent import Recent, digest_of


@given(some.integers(1, 5), some.lists(some.integers(0, 8), max_size=40))
def test_what_was_asked_for_last_is_kept(most, keys) -> None:
    recent = Recent[int, int](most)
    for key in keys:
        if recent.get(key) is None:
            assert recent.keep(key, key + 100) == key + 100
    latest = list(dict.fromkeys(reversed(keys)))[:most]
    assert list(recent) == [key + 100 for key in reversed(latest)]
    assert all(recent.get(key) is None for key in set(keys) - set(latest))


def test_a_digest_tells_images_apart_and_not_how_they_lie_in_memory() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    assert digest_of(frame) == digest_of(np.asfortranarray(frame)) == digest_of(frame[:, ::-1][:, ::-1])
    assert digest_of(frame) != digest_of(frame.reshape(6, 4, 3))
    assert digest_of(frame) != digest_of(frame ^ 1)

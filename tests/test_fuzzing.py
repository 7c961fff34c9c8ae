"""No bytes of a stranger are more than an error of the project, nor take five seconds; ``make fuzz`` tries more."""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.support.pictures import NoPicture
from fuzzing.entrances import ENTRANCES, SEEDS, Complaint, resealed
from tests.profiles import thorough

DICTIONARIES = Path(__file__).parents[1] / "fuzzing"
WORDS = {
    name: [ast.literal_eval(f"b{line}") for line in (DICTIONARIES / f"{name}.dict").read_text().splitlines()]
    for name in ENTRANCES
}
SECONDS = 5.0
"""Of CPU time, which no load on the machine makes longer."""


class TookTooLong(AssertionError):
    pass


@contextmanager
def in_time(seconds: float = SECONDS) -> Iterator[None]:
    """Raises TookTooLong in the midst of whatever is done within, when the time is over."""

    def stop(signal: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@st.composite
def _mutated(draw: st.DrawFn, name: str) -> bytes:
    """Something sound with parts cut out, doubled, moved or overwritten."""
    data = draw(st.sampled_from(SEEDS[name]))
    filling = st.one_of(st.sampled_from(WORDS[name]), st.binary(max_size=8))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 4, 20, 200])))
        times = draw(st.sampled_from([0, 1, 1, 2, 1000]))
        data = data[:start] + draw(filling) * times + data[draw(st.sampled_from([start, end])) :]
    return data[:100_000]


@pytest.mark.parametrize("name", ENTRANCES)
def test_strangers_bytes_are_read_or_refused(name: str) -> None:
    @thorough(200)
    @given(st.one_of(_mutated(name), st.binary(max_size=300)))
    def holds(data: bytes) -> None:
        with in_time():
            ENTRANCES[name](data)

    holds()


@pytest.mark.parametrize("name", ENTRANCES)
def test_sound_inputs_are_read(name: str) -> None:
    """Else there would be nothing to mutate."""
    for seed in SEEDS[name]:
        ENTRANCES[name](seed)
    assert resealed(SEEDS["image"][0]) == SEEDS["image"][0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *(("pddl", text * 1_000_000) for text in (b"(", b"(define ")),
        ("pddl", b"(define (domain d) (:types a - b b - a))"),
        *(("lines", text * 1_000_000) for text in (b"[", b'{"id":')),
        ("lines", b'{"id": ' + b"9" * 1_000_000 + b"}"),
        ("lines", b'{"id": 0, "protocol": ' + b"9" * 4000 + b"}"),
        ("image", SEEDS["image"][0][:33] * 100_000),
    ],
)
def test_large_amounts_are_refused_in_time(name: str, data: bytes) -> None:
    with in_time():
        ENTRANCES[name](data)


def test_a_hang_and_an_error_of_more_than_one_line_are_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TookTooLong), in_time(0.01):
        [None for _ in iter(int, 1)]  # for ever
    monkeypatch.setattr("fuzzing.entrances.pixels_only", Mock(side_effect=NoPicture("two\nlines")))
    with pytest.raises(Complaint):
        ENTRANCES["image"](b"")

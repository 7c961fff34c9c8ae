"""Calls in a thread of their own: results, exceptions and context come through, and one that never returns is given up."""

from __future__ import annotations

import gc
import threading
from itertools import count
from time import sleep

import numpy as np
import pytest

from aam_vision.envs.meaning import BoundedCalls, TookTooLong


def test_results_and_exceptions_come_through_from_one_other_thread() -> None:
    calls = BoundedCalls()
    assert calls(60, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        calls(60, divmod, 7, 0)
    with pytest.raises(SystemExit):
        calls(60, exit, 3)
    first, second = (calls(60, threading.current_thread) for _ in range(2))
    assert first is second is not threading.current_thread()


def test_a_call_has_the_context_of_the_caller() -> None:
    calls = BoundedCalls()
    calls(60, int)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        calls(60, np.divide, 1.0, np.float64(0))
    with np.errstate(divide="ignore"):
        assert calls(60, np.divide, 1.0, np.float64(0)) == np.inf


def test_a_call_that_never_returns_is_given_up_and_so_are_all_after_it() -> None:
    calls, never = BoundedCalls(), threading.Event()
    assert calls(60, int) == 0
    with pytest.raises(TookTooLong, match=r"did not return within 0\.05 s"):
        calls(0.05, never.wait)
    with pytest.raises(TookTooLong, match="earlier call"):
        calls(60, int)
    never.set()
    with pytest.raises(TookTooLong, match="earlier call"):  # what it returned late is nobody's result
        calls(60, int)


def test_a_call_that_is_stuck_in_python_takes_no_more_time() -> None:
    calls, asked = BoundedCalls(), count()

    def forever() -> None:
        for _ in asked:
            pass

    with pytest.raises(TookTooLong):
        calls(0.05, forever)
    for _ in range(50):
        before = next(asked)
        sleep(0.05)
        if next(asked) == before + 1:  # nobody else has counted for a while
            return
    pytest.fail("it goes on")


def test_the_thread_ends_with_its_owner() -> None:
    calls = BoundedCalls()
    thread = calls(60, threading.current_thread)
    del calls
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()

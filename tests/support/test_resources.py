"""Limits on time and memory: what works something out is interrupted, what has to be done as a whole is not."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from math import inf, nan
from time import monotonic, process_time

import numpy as np
import pytest

import aam_vision
from aam_vision.support.errors import AgentFailed, UnusableInput
from aam_vision.support.resources import Resources, ResourcesSpent, returning
from aam_vision.support.threads import ASKED, one_thread

SECONDS = 0.05
LONG = 20.0
"""CPU seconds after which a loop that nothing interrupts ends by itself."""


def work(seconds: float = LONG) -> float:
    """Work for so long; the time that it took."""
    began = process_time()
    while process_time() < began + seconds:
        pass
    return process_time() - began


@pytest.mark.parametrize("seconds", [0.0, -1.0, inf, nan])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(UnusableInput, match="give a number of CPU seconds above 0"):
        Resources(seconds)
    with pytest.raises(UnusableInput, match="max_seconds"):
        aam_vision.interrogate(aam_vision.agent_for("gripper"), max_seconds=seconds)


def test_a_computation_ends_where_the_time_is_spent_and_leaves_no_timer() -> None:
    handler, resources = signal.getsignal(signal.SIGPROF), Resources(SECONDS)
    began = process_time()
    told = r"^0\.05 CPU seconds were spent \(--max-seconds\)$"
    with pytest.raises(ResourcesSpent, match=told), resources.interrupting():
        work()
    assert process_time() - began < LONG
    assert signal.getsignal(signal.SIGPROF) == handler
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    with pytest.raises(ResourcesSpent), resources.interrupting():
        raise AssertionError("nothing is begun any more")


def test_what_is_not_to_be_disturbed_is_done_as_a_whole() -> None:
    resources, done = Resources(SECONDS), []

    def run() -> None:
        with resources.interrupting():
            with resources.undisturbed():
                work(5 * SECONDS)
                done.append("as a whole")
            work()
            done.append("to its end")

    with pytest.raises(ResourcesSpent):
        run()
    assert done == ["as a whole"]


def test_a_search_within_what_is_not_to_be_disturbed_is_interrupted() -> None:
    resources = Resources(SECONDS)
    with resources.interrupting(), resources.undisturbed():
        with pytest.raises(ResourcesSpent), resources.interrupting():
            work()
        work(3 * SECONDS)  # as a whole


def test_in_another_thread_it_is_looked_between_questions_only() -> None:
    seen: list[str] = []

    def run() -> None:
        resources = Resources(SECONDS)
        with resources.interrupting():
            work(3 * SECONDS)
        seen.append(resources.spent)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "CPU seconds were spent" in seen[0]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nobody says how much memory is held")
def test_memory_is_bounded_too() -> None:
    gc.collect()  # what other tests have left could make room otherwise
    resources = Resources(megabytes=50)
    assert resources.spent == ""
    held = np.ones(400 * 2**17)
    assert resources.spent == "50 megabytes of memory were taken"
    del held


def test_without_limits_nothing_is_ever_spent() -> None:
    resources = Resources()
    with resources.interrupting():
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
        work(SECONDS)
    assert resources.spent == ""


def test_an_action_that_does_not_return_is_given_up() -> None:
    told = r"^knock\(\) has not returned within 0.05 s$"
    with pytest.raises(AgentFailed, match=told), returning("knock()", SECONDS):
        work()
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    with returning("knock()", SECONDS):
        pass
    work(2 * SECONDS)  # no timer is left that would go off


def test_what_shows_now_and_then_that_it_goes_on_is_not_given_up() -> None:
    began = monotonic()
    with returning("knock()", 0.5) as renew:
        while monotonic() < began + 0.7:
            renew()


threadpoolctl = pytest.importorskip("threadpoolctl")


def _threads() -> set[int]:
    np.eye(2) @ np.eye(2)  # its library is loaded
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("asked", [None, "2"])
def test_linear_algebra_has_one_thread_inside_unless_a_number_was_asked_for(
    asked: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ASKED:
        monkeypatch.delenv(name, raising=False)
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        with one_thread():
            assert _threads() == (before if asked else {1})
        assert _threads() == before

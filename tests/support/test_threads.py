import numpy as np
import pytest

from aam_vision.support.threads import ASKED, one_thread

threadpoolctl = pytest.importorskip("threadpoolctl")


def _threads() -> set[int]:
    np.eye(2) @ np.eye(2)  # its library is loaded
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_inside_and_as_many_as_before_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ASKED:
        monkeypatch.delenv(name, raising=False)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        with one_thread():
            assert _threads() == {1}
        assert _threads() == before


def test_the_number_asked_for_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        with one_thread():
            assert _threads() == before

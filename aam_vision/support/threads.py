"""One thread for linear algebra, unless the environment asks for more: its products here are too small to be shared."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext

ASKED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
"""Variables by which somebody asks for a number of threads."""


def one_thread() -> AbstractContextManager[object]:
    """A context in which linear algebra has one thread; afterwards it has as many as before.

    Where a variable of ``ASKED`` is set, nothing changes.
    """
    if any(os.environ.get(name) for name in ASKED):
        return nullcontext()
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # an installation from before it was required: slower, and otherwise the same
        return nullcontext()
    return threadpool_limits(1, user_api="blas")  # type: ignore[no-any-return]

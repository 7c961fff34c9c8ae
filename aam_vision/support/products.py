"""Products of matrices by one thread of the linear algebra library.

Products as small as those here would wake its other threads for less than a millisecond's work, which costs more
than it saves. It leaves them alone for products of few multiplications.
"""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", bound=np.floating)

_MULTIPLICATIONS: Final = 1 << 18
"""OpenBLAS uses one thread up to so many."""


def product(rows: NDArray[Real], matrix: NDArray[Real]) -> NDArray[Real]:
    """(N, M) times (M, L), a part of the rows at a time."""
    step = max(1, _MULTIPLICATIONS // matrix.size)
    found = np.empty((len(rows), matrix.shape[1]), matrix.dtype)
    for start in range(0, len(rows), step):
        np.matmul(rows[start : start + step], matrix, out=found[start : start + step])
    return found

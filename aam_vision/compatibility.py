"""Which literals may hold together, pairwise, asked of many literals at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aam_vision.fact_tables import Mask, Numbers


@dataclass
class Compatibility:
    """Which literals may hold together, pairwise.

    Literals are numbers; the last one stands for whatever is compatible with everything.
    """

    packed: npt.NDArray[np.uint8]
    """Bit ``j`` of row ``i``: whether the literals may hold together; shape (rows, bytes)."""
    first: Numbers | None = None
    """The row of each literal, where several share one; shape (literals,). By default literals are rows."""
    second: Numbers | None = None
    """The row of each literal as it stands beside a literal of another owner."""
    owner: Numbers | None = None
    """Whom each literal is about, or -1."""

    def filter(self, used: Numbers, new: Numbers) -> Mask:
        """Whether the new literals can hold, and with those used so far; shapes (n, used), (n,) -> (n,)."""
        if self.first is None or self.second is None or self.owner is None:
            fine = self._bits(new, new)
            if used.shape[1]:
                fine &= self._bits(used, new[:, None]).all(axis=1)
            return fine
        own = self.first[new]
        fine = self._bits(own, own)
        if used.shape[1]:
            whose, owner = self.owner[used], self.owner[new][:, None]
            alike = (whose == owner) | (whose < 0) | (owner < 0)
            beside = np.where(alike, own[:, None], self.second[new][:, None])
            fine &= self._bits(self.first[used], beside).all(axis=1)
        return fine

    def _bits(self, rows: Numbers, columns: Numbers) -> Mask:
        some = self.packed[rows, columns >> 3] >> (columns & 7).astype(np.uint8) & 1
        return np.asarray(some, dtype=bool)

    @property
    def free(self) -> int:
        """The literal that is compatible with everything."""
        return len(self.packed if self.first is None else self.first) - 1

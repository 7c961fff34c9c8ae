"""Values that never change, and so need no copies."""

from __future__ import annotations

from typing import Self


class Unchanging:
    """A value that ``deepcopy`` gives back as it is.

    What it keeps for later may grow in another thread meanwhile, so that copying it could fail.
    """

    def __deepcopy__(self, memo: object) -> Self:
        return self

"""Values that follow from the evidence, and take too long to work out at every move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Derived(Generic[T]):
    """A value that is worked out again only when what it rests on has changed."""

    def __init__(self) -> None:
        self._known: tuple[object, T] | None = None

    def on(self, basis: object, work_out: Callable[[], T]) -> T:
        """The value on this basis."""
        if self._known is None or self._known[0] != basis:
            self._known = basis, work_out()
        return self._known[1]

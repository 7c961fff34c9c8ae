"""The one line in which something is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aam_vision.support.errors import UnusableInput


def told_by(make: Callable[[], Any], match: str | None = None) -> str:
    with pytest.raises(UnusableInput, match=match) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)

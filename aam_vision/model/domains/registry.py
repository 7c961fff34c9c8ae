"""The packaged domains by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput

DOMAINS: tuple[str, ...] = (
    "gripper",
    "blocksworld",
    "miconic",
    "parking",
    "logistics",
    "satellite",
    "termes",
    "rovers",
    "barman",
    "freecell",
)
"""The names of the packaged domains, in the order of the paper's tables."""

_FOLDER = Path(__file__).parent / "pddl"


@cache
def load(name: str) -> Model:
    """The model of a packaged domain. Its vocabulary has the name that the competition's problems refer to.

    It is read once: the first time unified-planning has to be imported, too.

    Raises:
        UnusableInput: there is no domain of that name.
    """
    return read_domain(_FOLDER / f"{known(name)}.pddl")


def known(name: str) -> str:
    """The name itself, if it is one of ``DOMAINS``.

    Raises:
        UnusableInput: it is not.
    """
    if name not in DOMAINS:
        raise UnusableInput(f"no domain {name[:40]!r} is packaged; choose one of {', '.join(DOMAINS)}")
    return name

"""An agent with all that a run needs, and the choice of its access and problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aam_vision.model.query import Access, Agent
from aam_vision.support.errors import UnusableInput

if TYPE_CHECKING:
    import numpy as np

    from aam_vision.agents.by_hand import SetUp
    from aam_vision.agents.perception import Box, Frame
    from aam_vision.agents.workers import Crew
    from aam_vision.envs.image_domain import Problem
    from aam_vision.model.strips import GroundAction, Model, State

NativeSteps = Callable[[int, "np.random.Generator"], "Sequence[tuple[State, GroundAction, State]]"]
"""Gives steps of held-out problems: a state, a control, and the state after it."""
IMAGE_ACCESS = (Access.SNAPSHOT, Access.RESET, Access.TRAJECTORY)
SYMBOLIC_ACCESS = (Access.SETTABLE, *IMAGE_ACCESS)
SEED = "seed"
"""What the names of problems begin with that are seeds of resets (``envs.own``)."""


@dataclass(frozen=True)
class Target:
    """An agent to interrogate, and functions that tell the truth about it afterwards."""

    name: str
    problems: tuple[str, ...]
    agent: Agent
    truth: Callable[[], Model] | None
    """The true model; None where it is not known."""
    held_out: Callable[[], list[State]]
    perception_s: Callable[[], float | None] = lambda: None
    generators: tuple[np.random.Generator, ...] = ()
    """Random generators that answers depend on, such as that of noise."""
    identity: str | None = None
    """Text that differs for every agent; None if answers cannot be used in another run."""
    close: Callable[[], None] = lambda: None
    """Called when the agent is no longer needed."""
    keep_images: Callable[[Callable[[Frame], str]], None] | None = None
    """Have the agent's images kept by a function that names them; None if it shows none."""
    keep_clips: Callable[[Callable[[Frame], str]], None] | None = None
    """Have images of some pursuits of a policy kept in the same way; None if it is not one."""
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By predicate, the ``kind`` of its provenance and its ``meaning``, where the user has given them."""
    scenes: Callable[[], list[dict[str, Box]]] = list
    """For each problem where its places are in the image."""
    native_steps: NativeSteps | None = None
    """What its instructions do on held-out problems, where they are controls and that is known."""
    crew: Crew | None = None
    """The copies of the agent that answer, if there are several."""
    set_up: SetUp | None = None
    """Has a person set up its problem again, if the agent cannot."""

    @property
    def copies(self) -> int:
        """How many copies of the agent answer at a time."""
        return 1 if self.crew is None else self.crew.size


def access_of(given: str | None, allowed: Sequence[Access], what: str) -> Access:
    """The access asked for, or the most that the agent allows."""
    if given is None:
        return allowed[0]
    for access in allowed:
        if access.value == given:
            return access
    known = " or ".join(access.value for access in allowed)
    raise UnusableInput(f"cannot be used with {what}; use {known}", "access", given)


def one_problem(given: Sequence[str]) -> None:
    """Refuse several problems: a trajectory stays in one. Raises UnusableInput: several problems are given."""
    if len(set(given)) > 1:
        raise UnusableInput(
            f"leads through one problem only, {len(set(given))} are given; name one problem",
            "access",
            Access.TRAJECTORY.value,
        )


def check_problems(domain: Path, given: Sequence[str], access: Access) -> None:
    """Refuse to go on without a problem of a domain file, or with several ones on a trajectory. Raises UnusableInput: it is so."""
    if not given:
        raise UnusableInput("no problem; give at least one PDDL problem of it", "domain", domain)
    if not access.restarts:
        one_problem(given)


def problems_of(
    env: str, given: Sequence[str], interrogated: Sequence[Problem], access: Access
) -> list[Problem]:
    """The problems given, or all that are interrogated together (under trajectory access the first).

    A problem is given by its number among these, or by its name: ``test/7``; where problems are seeds, any other number is a seed.
    Raises UnusableInput: a text is neither.
    """
    count, (usual, first) = len(interrogated), interrogated[0]
    if not access.restarts:
        one_problem(given)
        given = given or ["0"]
    found = []
    for text in given:
        split, named, number = text.rpartition("/")
        numbered = number.isdecimal() and len(number) < 10  # Python reads no more than 4,300 digits
        known = split and usual if named else usual == SEED or (numbered and int(number) < count)
        if not (known and numbered):
            more = f", or give a name such as {usual}/{first}" if usual else ""
            raise UnusableInput(f"{env} has problems 0 to {count - 1}{more}", "problem", text[:40])
        asked = int(number)
        found.append((split or usual, asked) if named or asked >= count else interrogated[asked])
    return list(dict.fromkeys(found)) or list(interrogated)


def numbers(env: str, given: Sequence[str], count: int, access: Access) -> list[int]:
    """Numbers of problems: those given, or all of them (under trajectory access the first)."""
    return [number for _, number in problems_of(env, given, [("", n) for n in range(count)], access)]

"""The program has a key that its predicates do not speak of, and no run calls a model of it complete, or invents a precondition."""

from __future__ import annotations

import shlex
import sys

import pytest

from aam_vision import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.strips import LiftedAtom, Location, Mode
from aam_vision.run import targets
from experiments.trust_runs import interrogated
from tests.profiles import crossed

AT, LOCKED, OPEN, LIT = (
    LiftedAtom(*one) for one in (("at", (0,)), ("locked", (0,)), ("open", (0,)), ("lit", ()))
)
TRUE = {
    **{(action, AT): Mode.POSITIVE for action in ("go", "unlock", "lock", "open", "close")},
    ("unlock", LOCKED): Mode.POSITIVE,
    ("lock", LOCKED): Mode.NEGATIVE,
    ("lock", OPEN): Mode.NEGATIVE,
    ("open", LOCKED): Mode.NEGATIVE,
    ("open", OPEN): Mode.NEGATIVE,
    ("close", OPEN): Mode.POSITIVE,
    ("switch-on", LIT): Mode.NEGATIVE,
    ("switch-off", LIT): Mode.POSITIVE,
}
"""The program's preconditions in its vocabulary, by action and atom. Others are never required, but may coincide with them."""


def _target(access: str) -> targets.Target:
    command = f"{shlex.quote(sys.executable)} -m tests.interrogation.key_program {access}"
    return targets.from_program(command, [], access=None, seconds=10, megabytes=1024)


def _invented(result: Result) -> list[str]:
    """The preconditions that the result calls certain, and that the program does not have."""
    return [
        f"{pal.action}: {mode.value}{pal.atom.predicate}"
        for pal, mode in result.certain.items()
        if pal.location is Location.PRE and mode not in (Mode.ABSENT, TRUE.get((pal.action, pal.atom)))
    ]


@pytest.mark.parametrize(("access", "seed"), crossed(["reset", "snapshot"], [0, 1]))
def test_no_run_is_complete(access: str, seed: int) -> None:
    target = _target(access)
    try:
        result, _ = interrogated(target.agent, seed, None)
    finally:
        target.close()
    assert result.status != "complete"


def test_no_precondition_is_invented() -> None:
    target = _target("reset")
    try:
        result = interrogate(target.agent, seed=0, exam=0)
    finally:
        target.close()
    assert any(TRUE.get((pal.action, pal.atom)) is mode for pal, mode in result.certain.items())
    assert _invented(result) == []

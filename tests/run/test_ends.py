"""However a run ends, it leaves a report, its figures, and what ``explain`` tells of it."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from aam_vision.explain import explain_run
from aam_vision.model.query import Access
from experiments.faults.registry import FAMILIES
from tests.finished import result_of
from tests.profiles import scaled

from .commands import ROOT, command
from .ends import Drawn, finished

MODES = ("instructions", "instructions", "instructions", "controls", "chance")
FOUND = (
    Drawn(3, "lagging image", Access.RESET, share=0.3, limits=(("max_steps", 195),)),
    Drawn(52, None, Access.RESET, share=0.1, limits=(("max_queries", 3),)),
    Drawn(64, "objects confused", mode="controls", shown="scene", share=0.3, limits=(("max_steps", 0),)),
    Drawn(83, None, Access.SNAPSHOT, "controls", "board", fails_at=25, limits=(("max_steps", 300),)),
)
"""Runs that once ended without a report, or never."""


def drawn(number: int) -> Drawn:
    """A run of any kind, behind any options that decide how it ends."""
    rng = Random(number)
    mode = rng.choice(MODES)
    budget = rng.choice(("max_steps", "max_queries")) if mode == "instructions" else "max_steps"
    limits = [(budget, rng.choice((0, 10, 30, 100, 300, 1000)))]
    if mode == "instructions" and rng.random() < 0.1:
        limits.append(("confirm", True))
    return Drawn(
        number,
        rng.choice([None, None, None, *FAMILIES]),
        rng.choice([*Access]) if mode == "instructions" else Access.SNAPSHOT,
        mode,
        rng.choice(("told", "board", "scene")),
        rng.choice((0.0, 0.1, 0.3)),
        25 if rng.random() < 0.1 else None,
        tuple(limits),
    )


@pytest.mark.parametrize("run", [*FOUND, *map(drawn, range(scaled(16)))], ids=lambda run: str(run.seed))
def test_every_end_of_a_run_is_reported(run: Drawn, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    code = finished(run, folder)
    told = result_of(folder)
    assert (code == 4) == (told["status"] in ("not-strips", "contradicted"))
    assert (code == 3) == (told["status"] == "failed")
    assert "</html>" in (folder / "report.html").read_text(encoding="utf-8")
    explain_run(folder)


@pytest.mark.parametrize("more", [(), ("--chance",)], ids=["told", "chance"])
def test_a_program_that_fails_at_once_ends_the_run(more: tuple[str, ...], tmp_path: Path) -> None:
    program = ROOT / "tests" / "agents" / "faulty_agent.py"
    agent = f"{sys.executable} {program} crash 2 {tmp_path / 'counter'} settable always"
    done = command("--agent", agent, *more, "--out", tmp_path / "run", "--quiet", cwd=ROOT, code=3)
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "exit code 3" in done.stderr
    assert f"--resume {tmp_path / 'run'}" in done.stderr

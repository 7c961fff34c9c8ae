"""A run whose policy never returns ends with one line, keeps what it has, and goes on when the policy is mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from .commands import command

LANE = """
from pathlib import Path
from time import sleep

from aam_vision.envs.controlled import ControlledEnvironment
from tests.envs.test_chance_simulator import WORDS, Lane, back, drive, scene, true


class Forward:
    asked = 0

    def reset(self):
        self.left = 4

    def __call__(self, observation, *things):
        self.left -= 1
        Forward.asked += 1
        if Forward.asked > 40 and Path("broken").exists():
            {stuck}
        return 0 if self.left else 1


DRIVE = drive(Forward(), ready=lambda env, cart: env.at == 0 and not env.fell, seconds=1)
ENVIRONMENT = ControlledEnvironment("lane", WORDS, (DRIVE, back()), Lane, scene, shown=true, stops=False)
"""


@pytest.mark.parametrize("stuck", ["sleep(1e6)", "while True: pass"])
def test_a_policy_that_never_returns_ends_the_run(tmp_path: Path, stuck: str) -> None:
    (tmp_path / "lane.py").write_text(LANE.replace("{stuck}", stuck), encoding="utf-8")
    (tmp_path / "broken").touch()
    given = ("--env", "lane:ENVIRONMENT", "--chance", "--access", "reset", "--within", "0.2", "--quiet")
    first = command(*given, "--max-steps", "100", "--out", tmp_path / "run", cwd=tmp_path, code=2)
    (line,) = first.stderr.splitlines()
    assert "policy of drive(cart) did not return within 1 s; correct it" in line
    (tmp_path / "broken").unlink()
    command("--resume", tmp_path / "run", "--env", "lane:ENVIRONMENT", "--quiet", cwd=tmp_path)
    assert (tmp_path / "run" / "result.json").exists()

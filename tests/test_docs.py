"""What the documentation shows is what there is."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from aam_vision.agents import reference_agent

ROOT = Path(__file__).parent.parent
PROTOCOL = (ROOT / "docs" / "agent-protocol.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PROTOCOL, re.DOTALL)


def test_the_agent_on_the_page_is_short_and_conforms(tmp_path: Path) -> None:
    (code,) = _blocks("python")
    assert code == Path(reference_agent.__file__).read_text(encoding="utf-8")
    assert len(code.splitlines()) < 100
    assert "aam_vision" not in code, "it needs nothing of the toolkit"
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    command = shlex.join([sys.executable, "-I", str(tmp_path / "agent.py")])
    done = subprocess.run(
        [sys.executable, "-m", "aam_vision.agents.check", command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("block", _blocks("json"))
def test_every_line_on_the_page_is_of_the_protocol(block: str) -> None:
    path = Path(reference_agent.__file__).with_name("protocol.schema.json")
    jsonschema.validate(json.loads(block), json.loads(path.read_text(encoding="utf-8")))


def test_the_limits_on_the_page_are_the_defaults() -> None:
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.scenes import MAX_CELLS, MAX_PIXELS, MAX_SIDE
    from aam_vision.arguments import Arguments

    limits, options = ProgramLimits(), Arguments()
    assert (limits.seconds, limits.memory >> 20) == (options.agent_seconds, options.agent_memory)
    for told in (f"{limits.seconds:g} s", f"{limits.memory >> 20} MB", f"{limits.line >> 20} MiB"):
        assert f"| {told} |" in PROTOCOL
    assert f"{MAX_PIXELS:,}, and {MAX_SIDE} a side" in PROTOCOL
    assert f"| {MAX_CELLS} each |" in PROTOCOL
    assert f"restarts at one question | {limits.retries} |" in PROTOCOL

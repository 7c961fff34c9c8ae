"""What a run imports: nothing that it does not need, since each of these costs a part of a second or more."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.processes import fresh

from .commands import command

HEAVY = {
    "ConfigSpace", "imageio", "joblib", "lightning", "loky", "matplotlib", "networkx", "onnx", "onnxruntime",
    "pandas", "ray", "scipy", "skimage", "torch", "torchmetrics", "torchvision",
}  # fmt: skip
SIMULATION = {"PIL", "gymnasium", "pddlgym"}
CODE = """
import json, sys
from aam_vision.support.commandline import run_command
from aam_vision.run.command import interrogate_agent
code = run_command(interrogate_agent)
print(json.dumps([code, sorted(name.split(".")[0] for name in sys.modules)]), file=sys.stderr)
"""


def _imported(tmp_path: Path, *arguments: str) -> set[str]:
    """The packages that a whole run has imported, which ends well."""
    done = fresh(CODE, *arguments, "--out", tmp_path / "out", "--quiet")
    code, packages = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(packages)


def test_a_run_on_images_needs_no_torch_and_no_plots(tmp_path: Path) -> None:
    imported = _imported(tmp_path, "--env", "doors", "--problem", "0", "--max-queries", "2")
    assert imported >= SIMULATION
    assert not imported & (HEAVY | {"unified_planning"})


def test_a_symbolic_run_needs_no_simulator_either(tmp_path: Path) -> None:
    imported = _imported(tmp_path, "--env", "gripper")
    assert not imported & (HEAVY | {"PIL", "pddlgym"}) - {"networkx"}  # which unified-planning needs


def test_torch_is_imported_where_it_is_asked_for(tmp_path: Path) -> None:
    asked = ("--env", "doors", "--problem", "0", "--max-queries", "1", "--backend", "torch")
    command(*asked, "--quiet", cwd=tmp_path)
    assert "torch" in sys.modules

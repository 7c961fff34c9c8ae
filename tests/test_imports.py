"""Imports: the core is light, and the engine cannot reach the ground truth."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import fresh

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aam_vision"
TOOLS = Path(sys.executable).parent
LINKED = ("envs", "classifiers", "training")
COMMANDS = ("__main__", "explain", "compare", "ask", "execute")
ABOVE = {*LINKED, *COMMANDS, "integrations", "run", "report", "support"}
"""What is no part of the core; everything else belongs to it."""
HEAVY = {"gym", "gymnasium", "lightning", "matplotlib", "pddlgym", "PIL", "scipy", "torch", "torchvision"}
HIDDEN = {f"aam_vision.{name}" for name in (*LINKED, "report")}
"""Packages that know the true model, or learned from it."""


def _core(*parts: str) -> list[str]:
    """Every module of the core, or of some parts of it."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).with_suffix("").parts
        if inside[0] not in ABOVE and (not parts or inside[0] in parts):
            found.append(".".join(("aam_vision", *inside)).removesuffix(".__init__"))
    return sorted(found)


def _loaded_after(modules: list[str]) -> set[str]:
    """All that a fresh interpreter has loaded after importing these modules."""
    code = (
        "import importlib, json, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "print(json.dumps(list(sys.modules)))"
    )
    done = fresh(code, *modules)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def _done(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return _done(TOOLS / "lint-imports", "--no-cache", cwd=folder)


def test_the_core_is_found():
    assert {"aam_vision", "aam_vision.model.strips", "aam_vision.interrogation.task.loop"} < set(_core())
    assert not [name for name in _core() if name.removeprefix("aam_vision.").split(".")[0] in ABOVE]


def test_the_whole_core_loads_no_networks_simulators_plots_or_images():
    loaded = _loaded_after(_core())
    assert set(_core()) <= loaded
    assert not HEAVY & loaded


def test_the_command_loads_nothing_heavy_before_it_knows_what_to_do():
    assert not HEAVY & _loaded_after(["aam_vision.run"])


def test_engine_rivals_and_agents_load_nothing_that_knows_the_true_model():
    loaded = _loaded_after(_core("controls", "interrogation", "agents", "planning", "model"))
    assert not {name for name in loaded if name in HIDDEN or name.startswith(tuple(f"{h}." for h in HIDDEN))}


def test_the_contracts_on_imports_are_kept():
    done = _lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


AGAINST = [
    ("interrogation/loop.py", "from aam_vision.envs import registry", "never reach environments"),
    ("agents/image.py", "from aam_vision.report import evaluation", "never reach environments"),
    ("planning/planner.py", "import pddlgym", "never reach environments"),
    ("interrogation/baselines/fama.py", "import aam_vision.report.evaluation", "never reach environments"),
    ("envs/board.py", "from aam_vision.classifiers import store", "run in one direction"),
    ("classifiers/store.py", "from aam_vision.envs import registry", "run in one direction"),
    ("agents/perception.py", "import torch", "needs numpy at most"),
    ("run/command.py", "import experiments", "does not lean"),
    ("novelty.py", "import aam_vision.model.strips", "run in one direction"),
    ("run/targets/target.py", "from aam_vision.run import told", "from its options to its files"),
]
"""A module, what it must not import, and the contract that says so."""


def test_imports_against_the_contracts_are_caught(tmp_path):
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "aam_vision", symlinks=True, ignore=ignore)
    for link in LINKED:
        if (ROOT / link).exists():
            shutil.copytree(ROOT / link, tmp_path / link, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module, line, _ in AGAINST:
        with (tmp_path / "aam_vision" / module).open("a") as file:
            file.write(f"\n{line}\n")
    done = _lint_imports(tmp_path)
    assert done.returncode == 1
    told = re.split(r"\n(?=.+\n-{9,}\n)", done.stdout)  # a title, and what is told below it
    for module, line, broken in AGAINST:
        (part,) = (one for one in told if broken in one.splitlines()[0])
        importer = ".".join(("aam_vision", *Path(module).with_suffix("").parts))
        assert re.search(rf"- +{re.escape(importer)}\b", part), f"{module}: {line}"


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("line", ["import {}", "import {}.board", "from {} import board"])
def test_bare_names_of_the_linked_folders_are_banned(name, line, tmp_path):
    file = tmp_path / "bare.py"
    file.write_text(line.format(name) + "\n")
    done = _ruff("check", "--select", "TID251", "--output-format", "concise", str(file))
    assert done.returncode == 1
    assert f"import aam_vision.{name}" in done.stdout
    file.write_text(line.format(f"aam_vision.{name}") + "\n")
    assert _ruff("check", "--select", "TID251", str(file)).returncode == 0


def test_no_tool_sees_a_file_twice():
    files = [Path(line) for line in _ruff("check", "--show-files").stdout.splitlines()]
    assert PACKAGE / "model" / "strips.py" in files
    assert len({file.resolve() for file in files}) == len(files)
    for link in LINKED:
        assert sum(file.name == "__init__.py" and file.resolve().parent.name == link for file in files) >= 1


def _ruff(*arguments: str) -> subprocess.CompletedProcess[str]:
    return _done(TOOLS / "ruff", *arguments, "--no-cache", "--config", str(ROOT / "pyproject.toml"))

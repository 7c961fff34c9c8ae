"""Environments of the user's own: found by entry points in a package that is really installed, used by every command."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from aam_vision.envs import own
from aam_vision.envs.registry import image_domain, names
from aam_vision.support.commandline import run_command
from aam_vision.training import assessment
from aam_vision.training.evaluate import evaluate
from aam_vision.training.train import train
from tests.commands import called, refused
from tests.finished import result_of
from tests.refusals import told_by
from tests.run.commands import command

PACKAGE = """
from pathlib import Path
from aam_vision.envs.own import OwnEnvironment
from tests.envs.corridor import INSTRUCTIONS, INTENDED, SCENE, Corridor, pictures, vocabulary

ENVIRONMENT = OwnEnvironment(
    name="corridor", visual=vocabulary(), instructions=INSTRUCTIONS, make=Corridor, scene=lambda env: SCENE,
    seeds=(0, 1), pictures=pictures, weights=Path(__file__).parent / "weights", truth=lambda: INTENDED,
)
UNTRAINED = OwnEnvironment(
    name="untrained", visual=vocabulary(), instructions=INSTRUCTIONS, make=lambda: 1 / 0, scene=lambda env: SCENE,
    seeds=(0,), pictures=lambda rng: 1 / 0,
)
NOTHING = 3
"""

POINTS = """[aam_vision.environments]
corridor = corridor_package:ENVIRONMENT
untrained = corridor_package:UNTRAINED
renamed = corridor_package:ENVIRONMENT
nothing = corridor_package:NOTHING
absent = corridor_package:THERE_IS_NONE
broken = broken_package:ENVIRONMENT
twice = corridor_package:ENVIRONMENT
sokoban = broken_package:SOKOBAN
"""


def _install(folder: Path, name: str, points: str) -> None:
    info = folder / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two installed packages; a module of theirs cannot be imported."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "corridor_package").mkdir()
    (folder / "corridor_package" / "__init__.py").write_text(PACKAGE)
    (folder / "broken_package.py").write_text("import there_is_no_such_module\n")
    _install(folder, "corridor-package", POINTS)
    _install(folder, "other-package", "[aam_vision.environments]\ntwice = broken_package:ENVIRONMENT\n")
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, importable in this process."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(site)
    return site


def test_a_package_of_the_users_own_is_trained_evaluated_and_interrogated(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(assessment, "ROUNDS", 1)
    monkeypatch.setattr(assessment, "TIMED", 32)
    monkeypatch.setattr(sys, "argv", ["train", "--env", "corridor", "--steps", "100", "--ship"])
    assert run_command(train) == 0
    found = {path.suffix for path in (installed / "corridor_package" / "weights").iterdir()}
    assert found == {".safetensors", ".json", ".md"}
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["evaluate", "--env", "corridor", "--states", "40", "--noise", "0.02"])
    assert run_command(evaluate) == 0
    told = capsys.readouterr().out
    assert "unseen layouts: 40 of 40 states exact" in told
    assert "1x4 board" in told
    run = command("--env", "corridor", "--out", "found", "--quiet", cwd=installed)
    assert run.returncode == 0, run.stderr
    result = result_of(installed / "found")
    assert (result["env"], result["exact"], result["equivalent"]) == ("corridor", True, True)
    assert "equivalent on held-out problems" in run.stdout
    assert "green stripes" in (installed / "found" / "report.html").read_text(), "the vocabulary travels too"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("broken", "broken_package:ENVIRONMENT of package corridor-package 1.2 cannot be imported (Module"),
        ("absent", "cannot be imported (AttributeError"),
        ("nothing", "not an OwnEnvironment (but int)"),
        ("renamed", "calls itself 'corridor'"),
        ("twice", "uninstall one of them"),
    ],
)
def test_entry_points_that_cannot_be_used_are_named(installed: Path, name: str, told: str) -> None:
    assert told in told_by(lambda: image_domain(name))


def test_a_broken_package_is_told_in_one_line(installed: Path, site: Path) -> None:
    assert refused("aam_vision.run", "--env", "broken", "--quiet", cwd=site)


def test_the_rest_goes_on_working_beside_a_broken_package(installed: Path) -> None:
    assert set(names()) >= {"sokoban", "corridor", "broken"}
    assert len(set(names())) == len(names())
    assert image_domain("corridor").name == "corridor"
    assert image_domain("sokoban").name == "sokoban", "ours, whatever else calls itself so"
    told_by(lambda: image_domain("nowhere"), r"use one of sokoban, .*broken, corridor")


def test_what_an_environment_lacks_or_does_wrong_is_named(installed: Path, tmp_path: Path) -> None:
    untrained = own.load("untrained")
    assert untrained is not None
    assert "aam_vision.training.train --env untrained" in told_by(lambda: untrained.classifiers(None))
    assert untrained.classifiers(tmp_path) == tmp_path
    told_by(lambda: untrained.simulator(("seed", 0)), r"make\(\) raised ZeroDivisionError")
    asked = ("--env", "untrained", "--out", "weights")
    done = called("aam_vision.training.train", *asked, cwd=installed, code=2)
    assert "untrained: its labelled images raised ZeroDivisionError" in done.stderr

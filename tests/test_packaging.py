"""Packaging: `pip install` puts one complete package on a user's machine, and touches nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import aam_vision

ROOT = Path(__file__).parent.parent
LINKED = ("envs", "classifiers", "training")
"""Folders of the repository that are shipped as packages inside ``aam_vision``."""


def _build(source: Path, out: Path, *what: str) -> Path:
    """Build a distribution without the network, by the tools that are installed here."""
    command = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(ROOT, tmp_path_factory.mktemp("wheel"), "--wheel")


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel holds, and nothing else."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A user's own project, whose packages have the names of our folders and fail when imported."""
    folder = tmp_path / "project"
    for name in (*LINKED, "experiments", "tests"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(f"raise AssertionError('imported the decoy {name}')\n")
    return folder


def _python(cwd: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment, command = {**os.environ, "PYTHONPATH": str(path)}, [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


def test_the_wheel_holds_every_module_once_under_one_name(names):
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"aam_vision"}
    assert len(top) == 2
    modules = {
        path.relative_to(ROOT).as_posix()
        for folder in (ROOT / "aam_vision", *(ROOT / "aam_vision" / link for link in LINKED))
        for path in folder.rglob("*.py")
    }
    assert {f"aam_vision/{link}/__init__.py" for link in LINKED} < modules
    assert {name for name in names if name.endswith(".py")} == modules
    assert len(names) == len(set(names))


KINDS = {".py", ".json", ".md", ".pddl", ".safetensors", ".typed", ".html", ".css", ".js", ".svg", ".jinja"}


def test_the_wheel_holds_weights_type_marker_and_licence_and_nothing_generated(names):
    weights = {f"{domain}.{kind}" for domain in ("sokoban", "doors") for kind in ("safetensors", "json")}
    assert {f"aam_vision/classifiers/weights/{name}" for name in weights} <= set(names)
    assert "aam_vision/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {Path(name).suffix for name in names if name.startswith("aam_vision/")} <= KINDS


def test_the_source_archive_builds_the_same_wheel(wheel, names, tmp_path):
    archive = _build(ROOT, tmp_path / "sdist", "--sdist")
    with tarfile.open(archive) as source:
        assert not [member.name for member in source if member.issym() or member.islnk()]
        source.extractall(tmp_path, filter="data")
    rebuilt = _build(tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path / "rebuilt", "--wheel")
    assert rebuilt.name == wheel.name
    with zipfile.ZipFile(rebuilt) as again, zipfile.ZipFile(wheel) as first:
        assert sorted(again.namelist()) == sorted(names)
        for name in names:
            if not name.endswith("RECORD"):
                assert again.read(name) == first.read(name), name


def test_a_command_works_in_a_folder_with_packages_of_our_folders_names(installed, foreign):
    done = _python(foreign, installed, "-m", "aam_vision.training.train", "--help")
    assert done.returncode == 0, done.stderr
    assert "--env" in done.stdout


ALL = """
import importlib, pkgutil, aam_vision
from aam_vision.classifiers.torchvision_cure import cure_torchvision
kept = cure_torchvision()
assert cure_torchvision() is kept
import torch, torchvision
from torchvision.transforms.v2 import functional
assert functional.gaussian_blur(torch.zeros(3, 8, 8), [3, 3]).shape == (3, 8, 8)
for module in pkgutil.walk_packages(aam_vision.__path__, "aam_vision."):
    if not module.name.startswith("aam_vision.integrations."):  # they need extras
        print(importlib.import_module(module.name).__file__)
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs.registry import board_domain
for domain in map(board_domain, ("sokoban", "doors")):
    BoardPerception.load(domain.visual, domain.name, None)
"""


def test_every_module_of_the_wheel_imports_beside_decoys_and_its_weights_fit(installed, foreign):
    """Without a warning of torchvision, which works then."""
    done = _python(foreign, installed, "-W", "error::RuntimeWarning", "-c", ALL)
    assert done.returncode == 0, done.stderr
    files = [Path(line) for line in done.stdout.splitlines()]
    assert len(files) > 40
    assert all(file.is_relative_to(installed) for file in files)


WITHOUT = """
import runpy, sys
sys.modules["pddlgym"] = None  # what a plain installation on Python 3.12 amounts to
sys.argv = ["run", "--env", "sokoban", "--out", "out"]
runpy.run_module("aam_vision.run", run_name="__main__")
"""


def test_without_pddlgym_the_command_says_what_to_install(installed, foreign):
    done = _python(foreign, installed, "-c", WITHOUT)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "pip install --no-deps pddlgym==0.0.7" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_citation_names_the_version():
    told = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {aam_vision.__version__}\n" in told
    assert told.startswith("cff-version: 1.2.0\n")
    for person in ("Verma", "Marpally", "Srivastava"):
        assert person in told, "who wrote the paper"


@pytest.mark.parametrize("link", LINKED)
def test_a_linked_folder_is_a_relative_link(link):
    path = ROOT / "aam_vision" / link
    if not (ROOT / link).exists():
        pytest.skip("a source archive holds folders instead of links")
    assert path.is_symlink()
    assert path.readlink() == Path("..") / link
    assert path.samefile(ROOT / link)

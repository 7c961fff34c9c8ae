"""Properties of all code: nothing of a stranger is ever run, and files are read within limits."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from aam_vision.run.arguments import MAX_PROBLEM_SIZE, Arguments
from aam_vision.run.checks import check
from aam_vision.support.errors import UnusableInput

ROOT = Path(__file__).parent.parent
FOLDERS = ("aam_vision", "envs", "classifiers", "training", "experiments")
PICKLES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "jsonpickle"}
RUN_CODE = {*PICKLES, "yaml", "xml"}
"""Modules that may run code, or never end, on what they are to read."""
ALLOWED = {
    ("training/trainer.py", "torch.load"): "weights_only=True",
    ("aam_vision/agents/launch.py", "os.execvp"): "the program that the user has named",
}
SYSTEM = {"os.system", "os.popen", "os.execvp", "os.execv"}
CALLS = {*SYSTEM, "eval", "exec", "__import__", "compile", "torch.load"}
Nodes = list[tuple[str, ast.AST]]


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    """The imports and calls of all code, each with its file."""
    sources = {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not any((ROOT / part).is_symlink() for part in path.relative_to(ROOT).parents)
    }
    assert len(sources) > 150
    told = ast.Import, ast.ImportFrom, ast.Call
    return [
        (path, node) for path, tree in sources.items() for node in ast.walk(tree) if isinstance(node, told)
    ]


def _calls(nodes: Nodes) -> Iterator[tuple[str, str, str, dict[str | None, str]]]:
    """The file of every call, its place, what is called, and its keywords."""
    for path, node in nodes:
        if isinstance(node, ast.Call):
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            yield path, f"{path}:{node.lineno}", ast.unparse(node.func), keywords


def test_nothing_that_runs_code_is_imported(nodes: Nodes) -> None:
    for path, node in nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        assert not RUN_CODE & {name.split(".")[0] for name in names}, f"{path}: {names}"


def test_nothing_is_evaluated_no_shell_runs_and_images_are_opened_as_png_only(nodes: Nodes) -> None:
    for path, where, name, keywords in _calls(nodes):
        assert keywords.get("shell", "False") == "False", where
        assert keywords.get("allow_pickle", "False") == "False", where
        assert name not in ("np.load", "numpy.load", "joblib.load", "pd.read_pickle"), where
        assert name not in CALLS or (path, name) in ALLOWED, f"{where}: {name}"
        assert name != "torch.load" or keywords.get("weights_only") == "True", where
        if name.endswith(("Image.open", "imread")):
            # our own frames are made worse by JPEG on purpose, in memory
            assert keywords.get("formats") == "['PNG']" or path == "training/corruptions.py", where


# --- limits -------------------------------------------------------------------------------------------


def test_a_strangers_journal_cannot_ask_for_a_problem_of_any_size() -> None:
    given = {**Arguments(env="gripper").json(), "problem_size": 10**12}
    with pytest.raises(UnusableInput, match=f"from 1 to {MAX_PROBLEM_SIZE}"):
        check(Arguments.from_json(given, Path("transcript.sqlite")))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "."])
def test_a_strangers_journal_cannot_have_an_endless_file_read(name: str) -> None:
    with pytest.raises(UnusableInput, match="no regular file"):
        Arguments(domain=Path(name)).inputs()

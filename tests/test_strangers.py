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
RUN_CODE = {
    *(
        "pickle",
        "cPickle",
        "_pickle",
        "cloudpickle",
        "dill",
        "marshal",
        "shelve",
        "jsonpickle",
        "yaml",
        "xml",
    ),
}
"""Modules that may run code, or never end, on what they are to read."""
ALLOWED = {
    ("training/trainer.py", "torch.load"): "weights_only=True",
    ("aam_vision/agents/launch.py", "os.execvp"): "the program that the user has named",
}
CALLS = {
    "eval",
    "exec",
    "__import__",
    "compile",
    "torch.load",
    "os.system",
    "os.popen",
    "os.execvp",
    "os.execv",
}


def _sources() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any((ROOT / part).is_symlink() for part in _parents(path)):
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def _parents(path: Path) -> list[Path]:
    return [*path.relative_to(ROOT).parents]


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func)


@pytest.fixture(scope="module")
def sources() -> list[tuple[str, ast.Module]]:
    found = list(_sources())
    assert len(found) > 150
    return found


def test_nothing_that_runs_code_is_imported(sources: list[tuple[str, ast.Module]]) -> None:
    for path, tree in sources:
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not RUN_CODE & {name.split(".")[0] for name in names}, f"{path}:{node.lineno}"  # type: ignore[attr-defined]


def test_nothing_is_evaluated_and_no_shell_runs(sources: list[tuple[str, ast.Module]]) -> None:
    for path, tree in sources:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name, where = _called(call), f"{path}:{call.lineno}"
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
            assert keywords.get("shell", "False") == "False", where
            assert keywords.get("allow_pickle", "False") == "False", where
            if name in ("np.load", "numpy.load", "joblib.load", "pd.read_pickle"):
                pytest.fail(f"{where}: {name}")
            if name in CALLS and (reason := ALLOWED.get((path, name), "no")):
                assert reason != "no", f"{where}: {name}"
                assert name != "torch.load" or keywords.get("weights_only") == "True", where


def test_images_are_opened_as_png_only(sources: list[tuple[str, ast.Module]]) -> None:
    for path, tree in sources:
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if _called(call).endswith(("Image.open", "imread")):
                formats = [
                    ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == "formats"
                ]
                # our own frames are made worse by JPEG on purpose, in memory
                assert formats == ["['PNG']"] or path == "training/corruptions.py", f"{path}:{call.lineno}"


# --- limits -------------------------------------------------------------------------------------------


def test_a_strangers_journal_cannot_ask_for_a_problem_of_any_size() -> None:
    given = {**Arguments(env="gripper").json(), "problem_size": 10**12}
    with pytest.raises(UnusableInput, match=f"from 1 to {MAX_PROBLEM_SIZE}"):
        check(Arguments.from_json(given, Path("transcript.sqlite")))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "."])
def test_a_strangers_journal_cannot_have_an_endless_file_read(name: str) -> None:
    with pytest.raises(UnusableInput, match="no regular file"):
        Arguments(domain=Path(name)).inputs()

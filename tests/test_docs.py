"""The documentation is true: every block of every page is run, or checked as far as it can be.

``tests/documentation.py`` says which kinds of blocks there are; a block of none of them fails, and so does a command of
no known kind. What takes minutes (training, experiments, set-up) is parsed only: there is such a command, with such
options. So is what needs the files that it would have made. Agents of the toolkit are asked two questions, unless the
page shows what comes of it.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aam_vision.agents import reference_agent
from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput
from tests import documentation
from tests.commands import called, commands, parsed
from tests.documentation import ROOT, Block, Command, blocks, is_shown, pages
from tests.finished import OUTPUT, Runs, copied_to

ELSEWHERE = {
    "docs/how-to/camera.md": "tests/envs/tabletop/test_camera.py",
    "docs/how-to/poor-words.md": "tests/test_tutorial.py",
    "docs/how-to/tabletop.md": "tests/envs/tabletop/test_page.py",
    "docs/tutorials/arm-and-camera.md": "tests/envs/tabletop/test_page.py",
    "docs/tutorials/learned-policy.md": "tests/test_tutorial.py",
    "docs/tutorials/others-arm.md": "tests/envs/tabletop/test_page.py",
    "docs/tutorials/own-scene.md": "tests/envs/tabletop/test_page.py",
    "docs/tutorials/own-environment.md": "tests/test_tutorial.py",
    "docs/tutorials/thirty-lines.md": "tests/test_tutorial.py",
}
"""Pages that take a test of their own."""
PAGES = [page for page in pages() if blocks(page) and str(page.relative_to(ROOT)) not in ELSEWHERE]
PROTOCOL = ROOT / "docs" / "agent-protocol.md"
QUICK = {f"aam_vision.{name}" for name in ("run", "explain", "compare", "ask", "execute", "agents.check")}
"""Commands that are run; all others are parsed."""
TOOLS = {"pytest", "ruff", "mypy"}
"""Of those who work on the toolkit: ``python -m TOOL PATH...``, whose paths have to be there."""
TAUGHT = {
    name
    for page in ELSEWHERE
    for block in blocks(ROOT / page)
    if block.title == "pyproject.toml"
    for name in tomllib.loads(block.body)["project"]["entry-points"]["aam_vision.environments"]
}
"""Environments of packages that those pages make: they are not here."""
CODES = {"error: ": 2, "lost: ": 5, "not sure: ": 6}
"""Exit codes, by what a command prints with them."""
FEW_QUESTIONS = ["--max-queries", "2", "--max-steps", "12"]
"""The last word on what a run may cost."""
SHARED: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {
    ("--env", "doors", "--controls", "--out", "runs/doors-controls"): ("doors", {"controls": True})
}
"""Runs on pages that other tests have, too."""
RUN_ELSEWHERE = frozenset({"tabletop"})
"""Environments whose start alone takes seconds: the tests of their own pages run them, and of other pages their commands are parsed."""


class Reader:
    """Somebody who follows a page from top to bottom, in a folder with the files that pages name for any file."""

    def __init__(
        self, folder: Path, run_elsewhere: frozenset[str] = frozenset(), run_of: Runs | None = None
    ) -> None:
        self.folder = folder
        self.run_of = run_of
        self.left_out = run_elsewhere | TAUGHT
        """Environments whose commands are parsed only."""
        self.names: dict[str, Any] = {"__name__": "page"}
        """The names that the Python blocks have defined so far."""
        self.unmade: set[str] = set()
        """Files and folders that commands would have made which were parsed only."""
        self.short: set[str] = set()
        """Folders of runs that were made with few questions: their models make no plan."""
        self.domain: Model | None = None
        """The PDDL domain shown last."""
        documentation.provide(folder)

    def follow(self, block: Block) -> None:
        """Do what a block says."""
        kinds: dict[str, Callable[[Block], None]] = {
            "console": self._console,
            "python": self._python,
            "pddl": self._pddl,
            "json": lambda block: json.loads(block.body),
            "jsonl": lambda block: [json.loads(line) for line in block.body.splitlines()],
            "toml": lambda block: tomllib.loads(block.body),
            "bash": self._script,
            "text": lambda block: None,
        }
        assert block.language in kinds, f"{block}: no kind of block; use one of {', '.join(kinds)}"
        if block.title is not None:
            (self.folder / block.title).write_text(block.body, encoding="utf-8")
        kinds[block.language](block)

    def _python(self, block: Block) -> None:
        code = compile(block.body, str(block), "exec") if ">>> " not in block.body else None
        if block.title is not None:
            return
        if code is not None:
            exec(code, self.names)
            return
        test = doctest.DocTestParser().get_doctest(block.body, self.names, str(block), None, 0)
        told: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append, clear_globs=False)
        assert not told, "".join(told)
        self.names.update(test.globs)

    def _pddl(self, block: Block) -> None:
        path = self.folder / (block.title or "shown.pddl")
        path.write_text(block.body, encoding="utf-8")
        if "(:domain" not in block.body:
            self.domain = read_domain(path, chance="(probabilistic" in block.body)
        else:
            assert self.domain is not None, f"{block}: no domain comes before this problem"
            read_problem(self.domain, path)

    def _script(self, block: Block) -> None:
        done = subprocess.run(["bash", "-n"], input=block.body, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{block}: {done.stderr}"

    def _console(self, block: Block) -> None:
        for command in documentation.commands(block):
            name, *words = command.words
            where = f"{block}: {shlex.join(command.words)}"
            if name == "make":
                _check_make(words, where)
            elif name == "pip":
                _check_pip(words, where)
            elif name in ("python", ".venv/bin/python") and words[0] == "-m" and words[1] in TOOLS:
                missing = [word for word in words[2:] if "/" in word and not (ROOT / word).exists()]
                assert missing == [], where
            else:
                assert (name, words[0]) == ("python", "-m"), f"{where}: a command of no known kind"
                assert words[1] in commands(), f"{where}: no such command"
                self._command(command, words[1], words[2:], where)

    def _command(self, command: Command, module: str, arguments: list[str], where: str) -> None:
        options = _parsed(module, arguments, where)
        made = {str(path) for name in ("out", "html", "record") if (path := options.get(name)) is not None}
        needed = {str(value) for name, value in options.items() if value is not None} - made
        left_out = options.get("env") in self.left_out
        asks = bool(options.get("label"))  # somebody, at a page
        if module not in QUICK or left_out or asks or any(_within(path, self.unmade) for path in needed):
            self.unmade |= made
            return
        if module == "aam_vision.run" and options["env"] is not None and not command.shown:
            arguments = [*arguments, *FEW_QUESTIONS]
            self.short |= made
        if module == "aam_vision.execute" and any(_within(path, self.short) for path in needed):
            return
        if self.run_of is not None and module == "aam_vision.run" and tuple(arguments) in SHARED:
            env, others = SHARED[tuple(arguments)]
            run = self.run_of(env, **others)
            copied_to(run, self.folder / options["out"])
            assert is_shown(command.shown, (run.parent / OUTPUT).read_text(encoding="utf-8")), where
            return
        done = called(module, *arguments, cwd=self.folder)
        printed = done.stdout + done.stderr
        codes = [code for line in command.shown for says, code in CODES.items() if line.startswith(says)]
        assert done.returncode == (codes or [0])[0], f"{where}\n{printed}"
        assert "\x1b" not in printed, where
        shown = os.linesep.join(command.shown)
        assert is_shown(command.shown, printed), f"{where}\nshown:\n{shown}\nis:\n{printed}"


def _parsed(module: str, arguments: list[str], where: str) -> dict[str, Any]:
    """The options of a command, if there are such options."""
    try:
        return parsed(module, arguments)
    except Exception as error:
        raise AssertionError(f"{where}: {getattr(error, 'message', error)}") from error


def _within(path: str, folders: set[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _check_make(words: list[str], where: str) -> None:
    """There are such targets."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: (\S+)$", makefile, re.MULTILINE))
    assert {word for word in words if "=" not in word} <= targets, where


def _check_pip(words: list[str], where: str) -> None:
    """It installs what has a place here: this package with extras that it has, and what constraints.txt pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower()
    assert words[0] == "install", where
    for word in words[1:]:
        own = re.fullmatch(r"(?:\.|aam-vision)(?:\[([\w,-]+)\])?", word)
        if own is not None:
            asked = own[1].split(",") if own[1] else []
            assert set(asked) <= set(project["optional-dependencies"]), where
        elif not word.startswith("-"):
            assert (ROOT / word).exists() or word.split("=")[0].lower() in pinned, f"{where}: {word}"


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_commands_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch, run_of):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")
    reader = Reader(tmp_path, RUN_ELSEWHERE, run_of)
    for block in blocks(page):
        reader.follow(block)


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_every_page_with_code_is_tested_here_or_elsewhere(page, test):
    assert Path(page).name in (ROOT / test).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_files_are_not_broken(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://", "#", "mailto:")):
            path = page.parent / target.partition("#")[0]
            drawn = path.suffix == ".png" and "docs" in page.parts  # by the site's hooks
            assert path.exists() or drawn, f"{page.relative_to(ROOT)}: {target}"


def test_an_unknown_kind_of_block_or_command_is_reported(tmp_path, monkeypatch):
    reader = Reader(tmp_path)
    monkeypatch.chdir(tmp_path)
    for language, body in [
        ("ruby", "puts 1"),
        ("console", "$ curl example.org"),
        ("console", "$ python -m aam_vision.run --no-such-option"),
        ("console", "$ python -m aam_vision.no_such_command"),
        ("console", "$ make no-such-target"),
        ("console", "$ pip install 'aam-vision[no-such-extra]'"),
        ("console", "$ python -m aam_vision.run --domain none.pddl --problem P.pddl"),
        ("console", "$ python -m aam_vision.compare A.pddl D.pddl\nthey differ"),
        ("python", ">>> 1 + 1\n3\n"),
        ("pddl", "(define (domain"),
        ("bash", "if then"),
    ]:
        block = Block(PROTOCOL, 1, language, None, body)
        with pytest.raises((AssertionError, SyntaxError, UnusableInput)):
            reader.follow(block)


def test_the_agent_on_the_page_is_short_and_conforms(tmp_path: Path) -> None:
    (code,) = [block.body for block in blocks(PROTOCOL) if (block.language, block.title) == ("python", None)]
    assert code == Path(reference_agent.__file__).read_text(encoding="utf-8")
    assert len(code.splitlines()) < 100
    assert "aam_vision" not in code, "it needs nothing of the toolkit"
    (tmp_path / "agent.py").write_text(code, encoding="utf-8")
    command = shlex.join([sys.executable, "-I", str(tmp_path / "agent.py")])
    called("aam_vision.agents.check", command, cwd=tmp_path, code=0)


@pytest.mark.parametrize("block", [b for b in blocks(PROTOCOL) if b.language == "json"], ids=str)
def test_every_line_on_the_page_fits_the_protocol(block: Block) -> None:
    path = Path(reference_agent.__file__).with_name("protocol.schema.json")
    jsonschema.validate(json.loads(block.body), json.loads(path.read_text(encoding="utf-8")))


def test_the_limits_on_the_page_are_the_defaults() -> None:
    from aam_vision.agents.program import ProgramLimits
    from aam_vision.agents.protocol import MAX_CELLS, MAX_PIXELS, MAX_SIDE
    from aam_vision.run.arguments import Arguments

    protocol = PROTOCOL.read_text(encoding="utf-8")
    limits, options = ProgramLimits(), Arguments()
    assert (limits.seconds, limits.memory >> 20) == (options.agent_seconds, options.agent_memory)
    for told in (f"{limits.seconds:g} s", f"{limits.memory >> 20} MB", f"{limits.line >> 20} MiB"):
        assert f"| {told} |" in protocol
    assert f"{MAX_PIXELS:,}, and {MAX_SIDE} a side" in protocol
    assert f"| {MAX_CELLS} each |" in protocol
    assert f"restarts at one question | {limits.retries} |" in protocol

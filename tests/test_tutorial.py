"""The tutorials on environments of one's own, done as they are written: files, commands and code, in order."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from aam_vision.interrogation.task.verdict import COMPLETE
from aam_vision.model.pddl import read_domain
from aam_vision.training import session
from tests import documentation
from tests.commands import called, visiting
from tests.finished import result_of
from tests.profiles import NIGHTLY, first
from tests.test_docs import FEW_QUESTIONS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorials" / "own-environment.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
"""Language, title and text of every block. A title is the file that a block belongs to."""

POOR = ROOT / "docs" / "how-to" / "poor-words.md"
THIRTY = ROOT / "docs" / "tutorials" / "thirty-lines.md"
LEARNED = ROOT / "docs" / "tutorials" / "learned-policy.md"
SHORTER = {"30_000": "10_000", "range(1300)": "range(150)"}
"""Numbers of the page on learned policies that the test makes smaller: the policy is worse, and what is said of it no less true."""
LESS = {"aam_vision.run": FEW_QUESTIONS, "aam_vision.training.train": ["--steps", "150"]}
"""What commands of the page on own environments are given besides by day; so much training is enough for all that is said of it."""

STEPS = 150
"""Controls that the page on thirty lines gives from Python by day: the same is found as by the command before it."""
EVALUATED = 100
"""Unseen states that are looked at by day when classifiers have been trained."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page."""
    folder = tmp_path_factory.mktemp("doorkey")
    for title in {title for _, title, _ in BLOCKS if "." in title}:
        parts = [text for _, own, text in BLOCKS if own == title]
        (folder / title).write_text("\n\n".join(parts), encoding="utf-8")
    return folder


def _install(folder: Path) -> None:
    """The effect of ``pip install --editable .`` without an index: the metadata, beside the module."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text(points, encoding="utf-8")


def _done(folder: Path, *command: str) -> str:
    return _both(folder, *command)[0]


def _both(folder: Path, *command: str) -> tuple[str, str]:
    """What a command prints, and what it says on stderr: of a module, or code after ``-c``, in this process."""
    if command[0] == "-m":
        done = called(command[1], *command[2:], cwd=folder, code=0)
        return done.stdout, done.stderr
    code = command[1] if command[0] == "-c" else (folder / command[0]).read_text(encoding="utf-8")
    with visiting(folder) as (printed, told):
        exec(compile(code, command[0], "exec"), {"__name__": "__main__"})
    return printed.getvalue(), told.getvalue()


def _commands(text: str) -> list[list[str]]:
    return [shlex.split(line.removeprefix("$ ")) for line in text.splitlines() if line.startswith("$ ")]


def test_the_tutorial_works_as_it_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not NIGHTLY:
        monkeypatch.setattr(session, "STATES", EVALUATED)
    commands, code, told = [], [], ""
    for language, title, text in BLOCKS:
        if language == "console":
            commands += _commands(text)
        elif language == "python" and not title:
            code.append(text)
    _install(folder)
    for command in commands:
        if command[0] == "pip":
            continue  # the package is there, and so is MiniGrid
        assert command[:2] == ["python", "-m"], command
        if command[2] == "aam_vision.run":  # what the page does in Python comes before it, in one process
            text = "\n".join(code)
            told = _done(folder, "-c", text if NIGHTLY else text.replace("400", str(EVALUATED)))
        explained = _done(folder, *command[1:], *([] if NIGHTLY else LESS.get(command[2], [])))
    (learned,) = (text for _, title, text in BLOCKS if title == "learned")
    assert learned.strip() in told, "the page shows what the code prints"
    assert re.search(r"^\d+ queries; complete$", told, re.MULTILINE)
    result = result_of(folder / "runs" / "doorkey")
    assert result["doubt"] is None
    assert (result["status"], result["exact"]) == (COMPLETE, True) or not NIGHTLY
    assert result["queries"] <= 60
    assert "holding" in explained
    assert (folder / "runs" / "doorkey" / "report.html").is_file()


def _pattern(shown: str) -> re.Pattern[str]:
    """A text on one line, with any cells, and names of images."""
    text = re.escape(" ".join(shown.split()))
    return re.compile(re.sub(r"cell(\\-\d+)+", r"cell[-\\d]+", re.sub(r"[0-9a-f]{32}", "[0-9a-f]{32}", text)))


def _followed(page: Path, folder: Path, *left_out: str) -> None:
    """Do what a page says, and compare what is printed; commands with one of these words are left out."""
    blocks, told = documentation.blocks(page), ""
    for block in blocks:
        if block.title:
            (folder / block.title).write_text(block.body, encoding="utf-8")
    for block in blocks:
        if block.language == "python" and not block.title:
            body = block.body if NIGHTLY else block.body.replace("agent())", f"agent(), max_steps={STEPS})")
            assert "toggle-closed" in _done(folder, "-c", body)
        elif block.language == "text" and told:
            assert _pattern(block.body).search(" ".join(told.split())), told  # what the last command said
        elif block.language == "console":
            for command in documentation.commands(block):
                told = ""
                if command.words[0] != "pip" and not {*command.words} & {*left_out}:
                    printed, told = _both(folder, *command.words[1:])
                    assert documentation.is_shown(command.shown, printed), printed


@pytest.mark.parametrize("left_out", first(1, [(("weights",),), ((),)]), ids=["told", "and seen"])
def test_thirty_lines_are_enough(left_out: tuple[str, ...], tmp_path: Path) -> None:
    """To train classifiers takes a minute: by night."""
    _followed(THIRTY, tmp_path, *left_out)
    lines = (tmp_path / "two_doors.py").read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) and not line.startswith(("import ", "from ")) for line in lines) <= 30
    for name in ("told", "seen"):
        if (tmp_path / "runs" / name).exists() or not left_out:
            result = result_of(tmp_path / "runs" / name)
            assert (result["native_equivalent"], result["unexplained"], result["diagnosis"]) == (1, 0, None)
    poor = tmp_path / "runs" / "poor"
    examples = result_of(poor)["diagnosis"]["examples"]
    images = [poor / "frames" / f"{one['image']}.png" for one in examples]
    assert all(image.is_file() for image in images)
    assert images[0] != images[1]


@pytest.mark.parametrize("left_out", first(0, [(("runs/poor",),), ((),)]), ids=["words", "and warning"])
def test_words_that_a_warning_proposes_make_it_right(left_out: tuple[str, ...], tmp_path: Path) -> None:
    """By night: the runs take a minute."""
    _followed(POOR, tmp_path, *left_out)
    blocks = documentation.blocks(POOR)
    richer = next(block.body for block in blocks if block.title == "richer.py")
    (warning,) = (" ".join(block.body.split()) for block in blocks if block.language == "text")
    proposed = re.findall(r'": (\w+\([^"]*"\w+", )', warning)
    assert len(proposed) == 2
    assert all(source in richer for source in proposed), "the page adds what the warning proposes"


def test_a_learned_policy_is_assessed_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="the extra `policies` is not installed")
    blocks = documentation.blocks(LEARNED)
    for block in blocks:
        if block.title:
            text = block.body
            for number, smaller in SHORTER.items():
                text = text.replace(number, smaller)
            (tmp_path / block.title).write_text(text, encoding="utf-8")
    console = [block for block in blocks if block.language == "console"]
    asked = [command.words for block in console for command in documentation.commands(block)]
    assert [words[1] for words in asked] == ["install", "train.py", "-m", "check.py"]
    _done(tmp_path, "train.py")
    _done(tmp_path, *asked[2][1:], "--within", "0.12", "--quiet")
    told = result_of(tmp_path / "runs" / "skills")
    assert told["status"] == "complete"
    rolled = re.findall(r"(\w+) worked in ([\d.]+)% of (\d+)", _done(tmp_path, "check.py"))
    assert [name for name, _, _ in rolled] == ["fetch", "unlock"]
    for name, share, number in rolled:
        works = [one for one in told["outcomes"][name] if one["effects"]]
        low, high = works[0]["interval"] if works else (0.0, told["not_excluded"][name])
        spread = 3 * (0.25 / int(number)) ** 0.5  # of the roll-outs
        assert low - spread < float(share) / 100 < high + spread
    model = read_domain(tmp_path / "runs" / "skills" / "model.pddl", chance=True)
    fetch, unlock = model.actions
    assert (len(fetch.positive), len(fetch.negative)) == (0, 1), "not holding"
    assert len(unlock.positive) == 1, "holding"
    ever_open = any(one["effects"] for one in told["outcomes"]["unlock"])
    assert len(unlock.negative) == ever_open, "not open, if it ever was"

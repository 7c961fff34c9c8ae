"""The options of a run, as its journal keeps them, and the errors that name them."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from aam_vision.run.arguments import Arguments
from aam_vision.run.checks import check
from aam_vision.support.errors import UnusableInput

JOURNAL = Path("transcript.sqlite")
CHANGED = Arguments(
    env="doors",
    problem=["1", "2"],
    access="reset",
    classifiers=Path("/weights"),
    seed=7,
    max_steps=30,
    image_noise=0.1,
    confirm=True,
    prior=Path("/old.pddl"),
)


@pytest.mark.parametrize("given", [Arguments(), CHANGED], ids=["default", "changed"])
def test_kept_arguments_are_read_back(given: Arguments) -> None:
    assert Arguments.from_json(given.json(), JOURNAL) == given


def test_paths_are_kept_for_every_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = Arguments(domain=Path("D.pddl"), problem=["P.pddl"], prior=Path("old.pddl"))
    kept = Arguments.from_json(given.json(), JOURNAL)
    absolute = (tmp_path / "D.pddl", [str(tmp_path / "P.pddl")], tmp_path / "old.pddl")
    assert (kept.domain, kept.problem, kept.prior) == absolute


def test_a_run_is_resumed_with_its_own_options_and_the_display_of_the_new_command() -> None:
    display = {
        "resume": Path("run"),
        "quiet": True,
        "images": False,
        "record": Path("a.gif"),
        "cache": Path("c"),
    }
    kept = Arguments.from_json(CHANGED.json(), JOURNAL).resumed(Arguments(**display))
    assert kept == replace(CHANGED, **display)
    shown = {"address", "out", "force", "cache", "resume", "quiet", "images", "record", "write_ppo"}
    shown |= {"max_seconds", "name"}  # nothing that is asked depends on these
    # a run that has begun has its classifiers
    asked_first = {"label", "labels", "pictures", "ask", "answers"}
    assert shown | asked_first == {one.name for one in fields(Arguments)} - set(CHANGED.json())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("seed", value) for value in (-1, 2**63, True, None, "1")),
        *(("confirm", 1), ("env", ["doors"]), ("problem", [1]), ("problem", ["0"] * 1001)),
        *(("prior", 5), ("image_noise", 0), ("max_steps", 1.5)),
    ],
)
def test_a_value_of_another_kind_is_refused_by_its_option(name: str, value: object) -> None:
    with pytest.raises(UnusableInput, match=f"--{name.replace('_', '-')} has a value that cannot be used"):
        Arguments.from_json({**CHANGED.json(), name: value}, JOURNAL)


@pytest.mark.parametrize("given", [None, [], {}, {**CHANGED.json(), "quiet": True}])
def test_other_options_than_those_of_this_version_are_refused(given: object) -> None:
    with pytest.raises(UnusableInput, match="has no arguments of a run of this version"):
        Arguments.from_json(given, JOURNAL)


def test_a_file_that_has_changed_has_another_digest(tmp_path: Path) -> None:
    domain, problem, prior = files = [tmp_path / name for name in ("D.pddl", "P.pddl", "old.pddl")]
    for file in files:
        file.write_text(file.name)
    given = Arguments(domain=domain, problem=[str(problem)], prior=prior)
    before = given.inputs()
    assert list(before) == [*map(str, files)]
    problem.write_text("changed")
    after = given.inputs()
    assert [path for path in before if before[path] != after[path]] == [str(problem)]


def test_an_error_names_the_parameter_and_a_command_its_option() -> None:
    with pytest.raises(UnusableInput) as caught:
        check(Arguments(env="gripper", flip_rate=2.0))
    assert str(caught.value) == "flip_rate 2: give a number from 0 to 1"
    assert caught.value.at_command() == "--flip-rate 2: give a number from 0 to 1"
    assert UnusableInput("no such file").at_command() == "no such file"
    assert UnusableInput("give a number", "seed").at_command() == "--seed: give a number"

"""Traces of images: they say what the states say, what cannot be read is unknown, and nothing that is certain is wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import aam_vision
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.task.result import Result
from aam_vision.report.recorded import read_run
from aam_vision.run.targets.pictured import ACTIONS, read_pictured
from aam_vision.support.errors import AamWarning
from aam_vision.support.pictures import encode
from tests.commands import called, refused
from tests.finished import result_of

DOMAIN, STEPS = board_domain("slidetile"), 24


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk with refusals, recorded."""
    folder = tmp_path_factory.mktemp("walk")
    rng, simulator = np.random.default_rng(0), DOMAIN.simulator(DOMAIN.interrogated[0])
    simulator.start()
    frames, lines, objects = [simulator.frame()], ["; a walk", ""], simulator.scene.objects
    while len(frames) <= STEPS:
        name, chosen = simulator.choose(rng) or ("", ())
        header = next(header for header in DOMAIN.headers if header.name == name)
        wrong = tuple(str(rng.choice(objects.of_type(kind))) for kind in header.types)
        if not simulator.instruct(name, wrong):
            lines.append(f"refused ({' '.join([name, *wrong])})")
            assert simulator.instruct(name, chosen)
            lines.append(f"({' '.join([name, *chosen])})")
        else:
            lines.append(f"({' '.join([name, *wrong])})")
        frames.append(simulator.frame())
    for number, frame in enumerate(frames):
        (folder / f"{number}.png").write_bytes(encode(frame))
    (folder / ACTIONS).write_text("\n".join(lines))
    return folder


@pytest.fixture
def copied(walk: Path, tmp_path: Path) -> Path:
    """The walk, to be changed."""
    return shutil.copytree(walk, tmp_path / "walk")


def learned(folder: Path) -> Result:
    return aam_vision.learn_from_traces([folder], env="slidetile")


def wrong(result: Result) -> list[object]:
    """What is certain, and not so."""
    truth = DOMAIN.truth()
    return [
        (pal, mode)
        for pal, mode in result.certain.items()
        if truth.schema(pal.action).mode(pal.atom, pal.location) is not mode
    ]


def test_images_say_what_the_states_say(walk: Path) -> None:
    transcript = read_pictured("slidetile", None, [walk], [])
    (start,), truth = transcript.initial, DOMAIN.truth()
    assert start.state.true == DOMAIN.load("train", 0).initial
    attempted = [
        (step.before, step.action, step.after)
        for entry in transcript.entries
        for step in getattr(entry, "steps", ())
    ]
    assert len(attempted) == STEPS
    for before, action, after in attempted:
        assert after is not None
        assert not before.state.unknown
        assert truth.schema(action.name).successor(before.state, action.objects) == after.state
    result = learned(walk)
    assert result.status == "open"
    assert result.certain
    assert not wrong(result)


def _unreadable(folder: Path) -> None:
    for number in (0, 5, 11, STEPS):
        (folder / f"{number}.png").write_bytes(encode(np.full((60, 60, 3), 90, np.uint8)))


def _mixed_up(folder: Path) -> None:
    shutil.copy(folder / "20.png", folder / "7.png")


@pytest.mark.parametrize("spoil", [_unreadable, _mixed_up])
def test_what_is_not_read_or_misread_is_unknown(spoil: Callable[[Path], None], copied: Path) -> None:
    whole = learned(copied)
    spoil(copied)
    with pytest.warns(AamWarning, match="what they show is unknown"):
        result = learned(copied)
    assert result.status == "open"
    assert not wrong(result)
    assert result.certain.keys() <= whole.certain.keys()


def test_the_command_leaves_a_run_as_any_other(copied: Path) -> None:
    _unreadable(copied)
    told = called("aam_vision.learn", "walk", "--env", "slidetile", "--out", "out", cwd=copied.parent, code=0)
    assert "of 25 images 4 are not read in full" in told.stderr
    figures = result_of(copied.parent / "out")
    assert (figures["status"], figures["env"], figures["walk_steps"]) == ("open", "slidetile", STEPS)
    assert read_run(copied.parent / "out").transcript.initial[0].state.unknown
    assert "Verdict: open" in called("aam_vision.explain", "out", cwd=copied.parent, code=0).stdout


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("3.png", None, "3.png: No such file or directory; a trace has an RGB image of every state"),
        ("3.png", "no image", "3.png: not a PNG"),
        ("25.png", "one more", "24.png is the last image"),
        (ACTIONS, None, f"{ACTIONS}: cannot be read"),
        (ACTIONS, "(jump t1)", f"{ACTIONS}:1: no instruction jump"),
        (ACTIONS, "; first\nmove-up t1", f"{ACTIONS}:2: write a step as"),
        (ACTIONS, "(move-up t1)", f"{ACTIONS}:1: move-up(t1) does not name objects of the types"),
    ],
)
def test_a_folder_that_is_no_trace_is_refused(file: str, text: str | None, told: str, copied: Path) -> None:
    if text is None:
        (copied / file).unlink()
    else:
        (copied / file).write_text(text)
    assert told in refused(
        "aam_vision.learn", "walk", "--env", "slidetile", cwd=copied.parent, kept=copied.parent
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give either a domain"),
        (("--env", "slidetile", "--domain", "d.pddl"), "give either a domain"),
        (("--domain", "d.pddl", "--problem", "train/0"), "go with an environment only"),
        (("--env", "nowhere"), "no environment 'nowhere'"),
        (("--env", "slidetile", "--problem", "test/0"), "problem 'test/0' is not one for training"),
        (("--env", "slidetile", "--problem", "train/0", "--problem", "train/0"), "give one for all 1 traces"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: tuple[str, ...], told: str, walk: Path) -> None:
    assert told in refused("aam_vision.learn", walk, *options, cwd=walk.parent)

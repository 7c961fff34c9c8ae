"""Labelled images of a user's own environment: learned from if they are sound, else named in one line."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from PIL import Image

from aam_vision.classifiers.architecture import CELL_PIXELS
from aam_vision.envs import registry
from aam_vision.envs.own import Labelled, OwnEnvironment
from aam_vision.model.strips import Atom
from aam_vision.run.targets.images import PerceptionSettings, perception_of
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.training.boards import lessons
from aam_vision.training.folder import labelled_images
from aam_vision.training.session import train_domain
from aam_vision.training.settings import TrainingSettings
from tests.envs.corridor import INSTRUCTIONS, LENGTH, SCENE, Corridor, pictures, vocabulary
from tests.refusals import told_by

CORRIDOR = OwnEnvironment(
    "corridor", vocabulary(), INSTRUCTIONS, Corridor, lambda env: SCENE, seeds=(0,), pictures=pictures
)


def _lessons(changed: OwnEnvironment = CORRIDOR) -> Any:
    return lessons(changed, np.random.default_rng(0), CELL_PIXELS)


def _told(changed: OwnEnvironment) -> str:
    return told_by(lambda: _lessons(changed))


def test_every_different_image_is_learned_from_once_and_the_seed_decides_in_which_order() -> None:
    found = _lessons()
    assert len(found) == LENGTH * 2**LENGTH, "all that there are"
    assert all(torch.equal(a.labels, b.labels) for a, b in zip(found, _lessons(), strict=True))
    assert len({example.pixels.numpy().tobytes() for example in found}) == len(found)


def _without_agent(rng: np.random.Generator) -> Iterator[Labelled]:
    for one in pictures(rng):
        yield one._replace(true=frozenset(atom for atom in one.true if atom.predicate != "at"))


def _twice(rng: np.random.Generator) -> Iterator[Labelled]:
    for one in pictures(rng):
        yield one._replace(true=one.true | {Atom("at", ("cell-0",)), Atom("at", ("cell-1",))})


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            _without_agent,
            "labelled image 1: no legal board (a constraint says that agent holds in 1 place, the label has 0)",
        ),
        (_twice, "no legal board"),
        (lambda rng: iter(()), "gives no labelled images"),
        (lambda rng: iter([3]), "raised TypeError"),
        (lambda rng: 1 / 0, "raised ZeroDivisionError"),
    ],
)
def test_labels_that_cannot_be(source: Callable[..., Any], told: str) -> None:
    assert told in _told(replace(CORRIDOR, pictures=source))


def test_sights_that_raise_are_named() -> None:
    visual = replace(vocabulary(), sights=lambda scene, true: 1 / 0)
    assert "sights raised ZeroDivisionError" in _told(replace(CORRIDOR, visual=visual))


def test_images_labelled_by_hand_belong_to_the_problem_of_a_seed(tmp_path: Path) -> None:
    _, true, frame, *_ = next(pictures(np.random.default_rng(0)))
    (tmp_path / "images").mkdir()
    Image.fromarray(frame).save(tmp_path / "images" / "1.png")
    line = {"image": "1.png", "problem": "seed/7", "true": [str(atom) for atom in sorted(true)]}
    (tmp_path / "labels.jsonl").write_text(json.dumps(line))
    (found,) = labelled_images(CORRIDOR, tmp_path)
    assert any(
        torch.equal(found.pixels, one.pixels) and torch.equal(found.labels, one.labels) for one in _lessons()
    )
    for problem in ("train/0", "seed/", "seed/-1", "7"):
        (tmp_path / "labels.jsonl").write_text(json.dumps({**line, "problem": problem}))
        with pytest.raises(UnusableInput, match="write seed/N"):
            labelled_images(CORRIDOR, tmp_path)


def _dark(rng: np.random.Generator) -> Iterator[Labelled]:
    env = Corridor()
    for at in range(LENGTH):
        env.reset(seed=0)
        env.at = at
        yield Labelled(SCENE, frozenset([Atom("at", (f"cell-{at}",))]), env.render())


def test_a_classifier_that_never_saw_a_positive_example_is_named(tmp_path: Path) -> None:
    """When it is trained, in its card, and when the agent is made that is seen with it."""
    dark, told = replace(CORRIDOR, pictures=_dark, weights=tmp_path), io.StringIO()
    files = train_domain(dark, tmp_path, TrainingSettings(steps=10), Progress(told))
    line = "classifier lit of corridor never saw a positive example"
    assert f"warning: {line}" in told.getvalue()
    assert line in files.card.with_suffix(".md").read_text()
    assert "classifier agent of corridor never" not in told.getvalue()
    with mock.patch.object(registry, "image_domain", return_value=dark), pytest.warns(AamWarning, match=line):
        perception_of("corridor", PerceptionSettings())

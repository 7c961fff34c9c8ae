"""A user's own environment: sound labelled images are learned from, in rounds, until all is read or more does not help."""

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
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs import registry
from aam_vision.envs.own import Labelled, OwnEnvironment
from aam_vision.model.strips import Atom
from aam_vision.run.targets.images import PerceptionSettings, perception_of
from aam_vision.support.commandline import Progress
from aam_vision.support.errors import AamWarning, UnusableInput
from aam_vision.support.wording import counted
from aam_vision.training.boards import lessons
from aam_vision.training.folder import labelled_images
from aam_vision.training.session import PATIENCE, Rounds, train_domain
from aam_vision.training.settings import MOST_ROUNDS, TrainingSettings
from aam_vision.training.tasks import CellTask
from aam_vision.training.trainer import Examined, TrainingOptions, teach
from tests.envs.corridor import INSTRUCTIONS, LENGTH, SCENE, Corridor, pictures, vocabulary
from tests.refusals import told_by

from .toys import toy_boards

ROUND = 6


def _all(rng: np.random.Generator) -> Iterator[Labelled]:
    """Every picture of the corridor, in any order, once: quicker than until nothing is new."""
    env = Corridor()
    for number in rng.permutation(LENGTH * 2**LENGTH).tolist():
        env.reset(seed=0)
        env.at, lit = number % LENGTH, number // LENGTH
        env.lit = [bool(lit >> place & 1) for place in range(LENGTH)]
        true = [
            Atom("at", (f"cell-{env.at}",)),
            *(Atom("lit", (f"cell-{i}",)) for i in range(LENGTH) if env.lit[i]),
        ]
        yield Labelled(SCENE, frozenset(true), env.render())


CORRIDOR = OwnEnvironment(
    "corridor", vocabulary(), INSTRUCTIONS, Corridor, lambda env: SCENE, seeds=(0,), pictures=_all
)


def _lessons(changed: OwnEnvironment = CORRIDOR) -> Any:
    return lessons(changed, np.random.default_rng(0), CELL_PIXELS)


def test_every_different_image_is_learned_from_once_and_the_seed_decides_in_which_order() -> None:
    drawn = replace(CORRIDOR, pictures=pictures)
    found = _lessons(drawn)
    assert len(found) == LENGTH * 2**LENGTH, "all that there are"
    assert all(torch.equal(a.labels, b.labels) for a, b in zip(found, _lessons(drawn), strict=True))
    assert len({example.pixels.numpy().tobytes() for example in found}) == len(found)


def _without_agent(rng: np.random.Generator) -> Iterator[Labelled]:
    for one in pictures(rng):
        yield one._replace(true=frozenset(atom for atom in one.true if atom.predicate != "at"))


def _twice(rng: np.random.Generator) -> Iterator[Labelled]:
    for one in pictures(rng):
        yield one._replace(true=one.true | {Atom("at", ("cell-0",)), Atom("at", ("cell-1",))})


NO_AGENT = "no legal board (a constraint says that agent holds in 1 place, the label has 0)"
BLIND = replace(vocabulary(), sights=lambda scene, true: 1 / 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"pictures": _without_agent}, f"labelled image 1: {NO_AGENT}"),
        ({"pictures": _twice}, "no legal board"),
        ({"pictures": lambda rng: iter(())}, "gives no labelled images"),
        ({"pictures": lambda rng: iter([3])}, "raised TypeError"),
        ({"pictures": lambda rng: 1 / 0}, "raised ZeroDivisionError"),
        ({"visual": BLIND}, "sights raised ZeroDivisionError"),
    ],
)
def test_labels_that_cannot_be(changes: dict[str, Any], told: str) -> None:
    assert told in told_by(lambda: _lessons(replace(CORRIDOR, **changes)))


def test_images_labelled_by_hand_belong_to_the_problem_of_a_seed(tmp_path: Path) -> None:
    _, true, frame, *_ = next(_all(np.random.default_rng(0)))
    (tmp_path / "images").mkdir()
    Image.fromarray(frame).save(tmp_path / "images" / "1.png")

    def read(problem: str) -> Any:
        line = {"image": "1.png", "problem": problem, "true": [str(atom) for atom in sorted(true)]}
        (tmp_path / "labels.jsonl").write_text(json.dumps(line))
        return labelled_images(CORRIDOR, tmp_path)

    (found,) = read("seed/7")
    same = [one for one in _lessons() if torch.equal(found.pixels, one.pixels)]
    assert [torch.equal(found.labels, one.labels) for one in same] == [True]
    for problem in ("train/0", "seed/", "seed/-1", "7"):
        with pytest.raises(UnusableInput, match="write seed/N"):
            read(problem)


def _dark(rng: np.random.Generator) -> Iterator[Labelled]:
    return (one for one in _all(rng) if len(one.true) == 1)


def test_a_classifier_that_never_saw_a_positive_example_is_named(tmp_path: Path) -> None:
    """When it is trained, in its card, and when the agent is made that is seen with it."""
    dark, told = replace(CORRIDOR, pictures=_dark, weights=tmp_path), io.StringIO()
    files = train_domain(dark, tmp_path, TrainingSettings(steps=4), Progress(told))
    line = "classifier lit of corridor never saw a positive example"
    assert f"warning: {line}" in told.getvalue()
    assert line in files.card.with_suffix(".md").read_text()
    assert "classifier agent of corridor never" not in told.getvalue()
    with mock.patch.object(registry, "image_domain", return_value=dark), pytest.warns(AamWarning, match=line):
        perception_of("corridor", PerceptionSettings())


# --- rounds ---------------------------------------------------------------------------------------


def _taught(steps: int, enough: Callable[[int], bool], options: TrainingOptions | None = None) -> Any:
    """The weights, and those at the end of every round."""
    ends = {}

    def examine(network: Any, done: int) -> bool:
        ends[done] = {name: tensor.cpu().clone() for name, tensor in network.state_dict().items()}
        return enough(done)

    more = {"seed": 5, "progress": lambda *_: None, "options": options, "examined": Examined(ROUND, examine)}
    return teach(CellTask("ab"), toy_boards(20), steps=steps, **more).state_dict(), ends


def _never(done: int) -> bool:
    return False


def _same(one: Any, other: Any) -> bool:
    return all(torch.equal(one[name], other[name]) for name in one)


def test_the_limit_of_steps_changes_nothing_but_how_long_training_goes_on(tmp_path: Path) -> None:
    alone = teach(CellTask("ab"), toy_boards(20), steps=ROUND, seed=5, progress=lambda *_: None)
    stopped, ends = _taught(4 * ROUND, lambda done: done == ROUND)
    assert list(ends) == [ROUND]
    assert _same(stopped, alone.state_dict())
    _taught(ROUND, _never, TrainingOptions(tmp_path))
    longer, _ = _taught(2 * ROUND, _never)
    _, longest = _taught(3 * ROUND, _never)
    assert list(longest) == [ROUND, 2 * ROUND, 3 * ROUND]
    assert _same(longest[ROUND], stopped)
    assert _same(longest[2 * ROUND], longer)
    assert not _same(longest[2 * ROUND], longest[ROUND])
    # a run whose limit was too low is resumed with a higher one
    last = TrainingOptions(resume=tmp_path / "checkpoints" / "last.ckpt")
    resumed, ends = _taught(2 * ROUND, _never, last)
    assert list(ends) == [2 * ROUND]
    assert _same(resumed, longer)


def test_what_stops_within_a_round_is_examined_too() -> None:
    assert 0 < min(_taught(100_000, _never, TrainingOptions(max_seconds=0.01))[1]) <= ROUND


def _trained(folder: Path, domain: OwnEnvironment, settings: TrainingSettings) -> tuple[dict[str, Any], str]:
    told = io.StringIO()
    files = train_domain(domain, folder, settings, Progress(told))
    return json.loads(files.card.read_text())["figures"], told.getvalue()


def test_training_goes_on_until_all_is_read_and_the_card_says_so(tmp_path: Path) -> None:
    figures, told = _trained(tmp_path, replace(CORRIDOR, round_steps=15), TrainingSettings())
    assert figures["unseen"]["exact"] == figures["unseen"]["states"] == 64
    assert 15 < figures["steps"] < 15 * MOST_ROUNDS, "it takes several rounds, and stops by itself"
    assert "unseen pictures misread: training goes on" in told
    assert "corridor: 64 of 64 unseen pictures read rightly" in told
    assert "warning" not in told


def test_a_limit_that_is_too_low_is_named_and_training_that_stands_still_ends(tmp_path: Path) -> None:
    """Then the best round counts."""
    figures, text = _trained(tmp_path, CORRIDOR, TrainingSettings(steps=10))
    right = figures["unseen"]["exact"]
    assert right < 64
    assert f"warning: {right} of 64 unseen pictures read rightly: runs with these classifiers" in text
    assert "train longer (--steps 20)" in text
    perception, told = BoardPerception.load(CORRIDOR.visual, "corridor", tmp_path), io.StringIO()
    network = CellTask(CORRIDOR.visual.cell_heads()).network(0)
    own = (perception.card, perception)
    rounds = Rounds(CORRIDOR, TrainingSettings(), 64, lambda _: own, Progress(told))
    verdicts = [rounds.examined.enough(network, number) for number in range(1, PATIENCE + 2)]
    assert verdicts == [False] * PATIENCE + [True]
    assert rounds.best.steps == 1
    assert rounds.best.misread > 0
    rounds.tell()
    assert f"{counted(PATIENCE, 'more round')} of training did not help" in told.getvalue()
    assert "label some (python -m aam_vision.training.label)" in told.getvalue()

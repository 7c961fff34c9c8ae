"""Pictures that cannot be used end training, labelling, runs and calls from Python in one line, and none of them hangs."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import aam_vision
from aam_vision.agents.perception import Exactly, Scene
from aam_vision.envs.controlled import ControlledEnvironment, bare_environment
from aam_vision.envs.grids import board_scene
from aam_vision.envs.own import OwnEnvironment
from aam_vision.envs.sources import there, vocabulary
from aam_vision.model.strips import Atom
from aam_vision.run.command import interrogate_agent
from aam_vision.support.commandline import run_command
from aam_vision.support.errors import AamWarning
from aam_vision.training.label import label
from aam_vision.training.train import train
from tests.profiles import crossed
from tests.refusals import told_by

SIDE, PIXELS = 4, 16
MOVES = {"up": 0, "down": 1, "left": 2, "right": 3}
BY = ((-1, 0), (1, 0), (0, -1), (0, 1))
TYPES = {"cell": "object"}
WORDS = {
    "at ?c - cell": there("robot", "the red robot"),
    "wall ?c - cell": there("wall", "a grey wall"),
    "lit ?c - cell": there("lit", "green light, under the robot, too"),
}
VOCABULARY = vocabulary("robot", TYPES, WORDS, constraints=[Exactly("robot", 1)])


class Robot(gymnasium.Env[Any, Any]):
    """A robot that walks on a board of 4 x 4 cells and switches lights on where it has been; ``kind``: of its pictures."""

    metadata = {"render_modes": ["rgb_array"]}
    render_mode = "rgb_array"

    def __init__(self, kind: str = "right") -> None:
        self.kind = kind
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))
        self.observation_space = gymnasium.spaces.Discrete(SIDE * SIDE)
        self.buffer = np.zeros((SIDE * PIXELS, SIDE * PIXELS, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        chance = np.random.default_rng() if self.kind == "seed is forgotten" else self.np_random
        wall, *self.at = (int(number) for number in chance.integers(1, SIDE, 3))
        self.wall, self.steps, self.lit, self.first = (0, wall), 0, [tuple(self.at)], None
        self.render()
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        row, column = self.at[0] + BY[action][0], self.at[1] + BY[action][1]
        if 0 <= row < SIDE and 0 <= column < SIDE and (row, column) != self.wall:
            self.at = [row, column]
            self.lit.append((row, column))
        self.steps += 1
        return 0, 0.0, False, False, {}

    def drawn(self, image: np.ndarray[Any, Any], pixels: int = PIXELS, right: int = 0) -> None:
        def cell(row: int, column: int) -> Any:
            return image[row * pixels : (row + 1) * pixels, column * pixels + right :][:, :pixels]

        image[:] = 40
        cell(*self.wall)[:] = 120
        for place in self.lit:
            cell(*place)[:, :, 1] = 200
        cell(*self.at)[pixels // 4 : -(pixels // 4), pixels // 4 : -(pixels // 4)] = 220, 20, 20

    def render(self) -> Any:
        image = np.zeros((SIDE * PIXELS, SIDE * PIXELS, 3), np.uint8)
        self.drawn(image)
        if self.first is None:
            self.first = image
        return DRAWN.get(self.kind, lambda robot, image: image)(self, image)

    def on(self, image: Any, pixels: int = PIXELS) -> Any:
        self.drawn(image, pixels)
        return image


def _larger(image: Any) -> Any:
    return image.repeat(2, 0).repeat(2, 1)


WRONG: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "float in 0 to 1": (
        lambda robot, image: (image / 255).astype(np.float32),
        "float32 in 0..1: multiply by 255 and convert to uint8",
    ),
    "larger integers": (lambda robot, image: image.astype(np.int64), "int64: convert to uint8"),
    "bytes in 0 to 1": (
        lambda robot, image: (image > 100).astype(np.uint8),
        "uint8 in 0..1: multiply by 255",
    ),
    "rgba": (
        lambda robot, image: np.concatenate([image, np.full_like(image[..., :1], 255)], axis=2),
        "RGBA (64 x 64 x 4): leave out the fourth channel",
    ),
    "grey": (lambda robot, image: image.mean(axis=2).astype(np.uint8), "grey (64 x 64): repeat its values"),
    "channels first": (
        lambda robot, image: image.transpose(2, 0, 1),
        "channels first (3 x 64 x 64): give image.transpose(1, 2, 0)",
    ),
    "no array": (lambda robot, image: image.tolist(), "no array but list"),
    "tiny": (lambda robot, image: image[:3, :3], "3x3 pixels, in which cell"),
    "a crop": (lambda robot, image: image[:20, :20], "draw the whole board"),
    "another scale": (lambda robot, image: robot.on(image, PIXELS // 2), "draw the whole board"),
    "another aspect": (lambda robot, image: robot.on(image.repeat(2, 1)), "draw the whole board"),
    "a size that changes": (
        lambda robot, image: image if robot.steps < 8 else _larger(image),
        "128x128 pixels after 64x64",
    ),
    "one colour": (
        lambda robot, image: np.full_like(image, 40),
        "of one colour; draw the whole board in its present state",
    ),
    "stale": (lambda robot, image: robot.first, "in its present state"),
}
KINDS = {kind: told for kind, (_, told) in WRONG.items()}
DRAWN = {kind: draw for kind, (draw, _) in WRONG.items()} | {
    "one buffer": lambda robot, image: robot.on(robot.buffer),
    "a size that changes late": lambda robot, image: image if robot.steps < 100 else _larger(image),
}


def scene(env: Any) -> Scene:
    return board_scene(SIDE, SIDE, TYPES, {})


def shown(env: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "at", (f"cell-{env.at[0]}-{env.at[1]}",)
    yield "wall", (f"cell-{env.wall[0]}-{env.wall[1]}",)
    for row, column in dict.fromkeys(env.lit):
        yield "lit", (f"cell-{row}-{column}",)


def robot(kind: str = "right", **more: Any) -> ControlledEnvironment:
    given = {"controls": MOVES, "seeds": (0, 1), "number": 60, **more}
    words, true = given.pop("visual", VOCABULARY), given.pop("shown", shown)
    return bare_environment("robot", words, lambda: Robot(kind), scene, true, **given)


@pytest.fixture(scope="module", autouse=True)
def _module() -> Iterator[None]:
    """Environments that ``--env`` finds by name."""
    module = types.ModuleType("robots")
    for kind in ("right", *KINDS):
        setattr(module, kind.replace(" ", "_"), robot(kind))
    sys.modules["robots"] = module
    yield
    del sys.modules["robots"]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of classifiers that learned a little from pictures as they should be."""
    folder = tmp_path_factory.mktemp("weights")
    given = ["--fast-dev-run", "--no-cache", "--env", "robots:right", "--out", str(folder)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["train", *given])
        assert run_command(train) == 0
    return folder


COMMANDS = {
    "train": (train, ("--steps", "20", "--no-cache")),
    "label": (label, ("--labels", "simulator", "--steps", "40")),
    "told": (interrogate_agent, ("--controls", "--quiet")),
    "seen": (interrogate_agent, ("--controls", "--quiet", "--classifiers")),
}


@pytest.mark.parametrize(("command", "kind"), crossed(COMMANDS, KINDS))
def test_wrong_pictures_end_a_command_in_one_line(
    command: str, kind: str, weights: Path, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    function, options = COMMANDS[command]
    given = [*options, *([str(weights)] if command == "seen" else [])]
    where = ["--env", f"robots:{kind.replace(' ', '_')}", "--out", str(tmp_path / "out")]
    monkeypatch.setattr("sys.argv", [command, *given, *where])
    assert run_command(function) == 2
    told = capsys.readouterr()
    (line,) = [line for line in told.err.splitlines() if line.startswith("error: ")]
    assert KINDS[kind] in line
    assert "Traceback" not in told.err
    assert "20 steps" not in told.err, "before anything is learned"


@pytest.mark.filterwarnings("ignore::aam_vision.support.errors.AamWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_pictures_are_refused_from_python(kind: str) -> None:
    told = told_by(lambda: aam_vision.interrogate_controls(robot(kind).bare_agent(), max_steps=200))
    assert KINDS[kind] in told


def _warned(make: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    return [str(one.message) for one in caught if issubclass(one.category, AamWarning)]


@pytest.mark.parametrize("kind", ["right", "one buffer"])
def test_pictures_as_they_should_be_are_used(kind: str) -> None:
    environment = robot(kind)
    images = [one.draw(one.states[0]) for one in environment.lessons(np.random.default_rng(0))]
    assert len({image.tobytes() for image in images}) == len(images) == 60
    assert _warned(environment.bare_agent) == []
    simulator = environment.controlled(("seed", 0))
    seen = [simulator.frame()]
    for _ in range(SIDE):
        assert simulator.instruct("right", ())
        seen.append(simulator.frame())
    assert len({image.tobytes() for image in seen}) > 1, "each is a picture of its own"


def test_a_size_that_changes_late_ends_whatever_goes_on() -> None:
    simulator = robot("a size that changes late").controlled(("seed", 0))
    for _ in range(100):
        simulator.instruct("left", ())
    assert "128x128 pixels after 64x64 in the same problem" in told_by(simulator.frame)


def test_what_a_source_of_labelled_images_yields_is_checked_and_copied() -> None:
    def images(kind: str) -> Any:
        def source(rng: np.random.Generator) -> Iterator[Any]:
            env, board = Robot(kind), scene(None)
            while True:
                env.reset(seed=int(rng.integers(2**31)))
                yield board, [Atom(*one) for one in shown(env)], env.render()

        return source

    def lessons(kind: str) -> list[Any]:
        environment = OwnEnvironment("robot", VOCABULARY, (), Robot, scene, pictures=images(kind), number=20)
        return [one.draw(one.states[0]) for one in environment.lessons(np.random.default_rng(0))]

    assert len({image.tobytes() for image in lessons("one buffer")}) == 20
    for kind in ("float in 0 to 1", "grey", "no array", "tiny", "another scale"):
        told = told_by(lambda kind=kind: lessons(kind))  # type: ignore[misc]
        assert told.startswith("environment robot: ")
        assert KINDS[kind] in told


def test_a_word_that_no_picture_shows_is_named_once() -> None:
    words = {**WORDS, "tired ?c - cell": there("tired", "the robot after many steps")}
    visual = vocabulary("robot", TYPES, words, constraints=[Exactly("robot", 1)])

    def told(env: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
        yield from shown(env)
        if env.steps % 2:
            yield "tired", (f"cell-{env.at[0]}-{env.at[1]}",)

    environment = robot(visual=visual, shown=told, seeds=(0,))
    for make in (environment.bare_agent, lambda: list(environment.lessons(np.random.default_rng(0)))):
        (line,) = _warned(make)
        assert "with and without tired at cell-" in line
        assert "draw it, or leave the word out" in line


def test_two_names_of_one_action_and_a_seed_that_is_forgotten_are_refused() -> None:
    twice = told_by(lambda: robot(controls={**MOVES, "back": 1}).bare_agent())
    assert "controls down and back are the same action 1; name each action once" in twice
    line = told_by(robot("seed is forgotten").bare_agent)
    assert "after each reset with the same seed (seed 0, after 0 steps); reset forgets its seed" in line


def test_classifiers_refuse_cells_of_another_size_than_they_learned_from(weights: Path) -> None:
    from aam_vision.classifiers.perception import BoardPerception

    perception = BoardPerception.load(VOCABULARY, "robot", weights)
    assert perception.card.figures["cell_pixels"] == [[PIXELS, PIXELS]] * 2
    simulator = robot().controlled(("seed", 0))
    frame = simulator.frame()
    for picture in (frame[:20, :20], frame.repeat(2, 0).repeat(2, 1), frame.repeat(2, 1)):
        told = told_by(lambda picture=picture: perception.look(picture, simulator.scene))  # type: ignore[misc]
        assert "the classifiers of robot learned from cells of 16x16" in told


def test_pictures_in_which_nothing_is_known_are_refused(weights: Path) -> None:
    from aam_vision.classifiers.perception import BoardPerception
    from aam_vision.classifiers.store import read
    from aam_vision.run.targets.images import check_known

    network, card = read(VOCABULARY, "robot", weights)
    doubtful = replace(card, thresholds=dict.fromkeys(card.thresholds, (0.0, 1.0)))
    simulator = robot().controlled(("seed", 0))
    unknown = BoardPerception(VOCABULARY, network, doubtful)
    told_by(lambda: check_known(unknown, [simulator]), "no cell of the first picture looks like anything")
    sure = replace(card, thresholds=dict.fromkeys(card.thresholds, (0.0, 0.0)))
    check_known(BoardPerception(VOCABULARY, network, sure), [simulator])


def test_pygame_does_not_complain_where_there_is_no_display() -> None:
    pytest.importorskip("pygame")
    unset = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "SDL_VIDEODRIVER", "SDL_AUDIODRIVER")
    bare = {name: value for name, value in os.environ.items() if name not in unset}
    code = "import aam_vision.envs, os, pygame; pygame.init(); pygame.display.init(); print(os.environ.get('SDL_VIDEODRIVER', 'none'))"
    chosen = {"SDL_VIDEODRIVER": "offscreen"}
    for given, driver in (({}, "dummy"), (chosen, "offscreen"), ({"DISPLAY": ":7"}, "none")):
        environment = {**bare, **given, "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == driver
        assert given or not done.stderr

"""Programs that show images: read like any simulator, led back after a fault, never trusted with their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.encoding import Malformed, dumps, loads, typed
from aam_vision.agents.image import ImageAgent
from aam_vision.agents.journal import Journal
from aam_vision.agents.journalled import JournalledAgent
from aam_vision.agents.perception import Frame, Given, Percept, Perception, Scene
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.protocol import read_hello, read_shown, shown_json
from aam_vision.agents.shown import ProgramSimulator, WaryPerception
from aam_vision.classifiers.perception import BoardPerception
from aam_vision.envs import DOMAINS
from aam_vision.envs.registry import board_domain
from aam_vision.interrogation.task.result import Result
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import Atom, GroundAction, Objects, Predicate, State, Types, Vocabulary
from aam_vision.support.errors import AamError, AgentFailed, UnusableInput
from aam_vision.support.pictures import decode
from tests.agents.walker_program import CELLS, drawn, hello
from tests.profiles import first, thorough

from .programs import REFERENCE, SCHEMA, asked_of, conversing, learned, program

PATIENT = ProgramLimits(seconds=60.0, memory=4 << 30)
FAULTS = ("crash", "truncated", "larger", "bomb", "text", "accent", "missing")
VOCABULARY = Vocabulary("walker", (Predicate("at", ("cell",)),), Types({"cell": "object"}))


class Eyes:
    """Sees where the walker is."""

    def look(self, frame: Frame, scene: Scene) -> Percept:
        cell = int(frame[0, ::8, 0].argmax())
        return Percept(State(frozenset({Atom("at", (CELLS[cell],))}), scene.objects), {})

    def follow(self, before: Percept, frame: Frame, scene: Scene) -> Percept:
        return self.look(frame, scene)


def _walker(counter: Path, access: str, fault: str = "none", at: int = 10**6, *always: str) -> str:
    return program("tests.agents.walker_program", access, fault, at, counter, *always)


@contextmanager
def _agent(
    command: str, perception: Perception, vocabulary: Vocabulary, limits: ProgramLimits = PATIENT
) -> Iterator[ImageAgent]:
    with conversing(command, limits) as talk:
        hello = talk.hello
        simulators = [
            ProgramSimulator(talk, number, hello.access, lambda png, size: decode(png, size=size))
            for number in range(len(hello.shown))
        ]
        yield ImageAgent(simulators, perception, vocabulary, hello.headers, hello.access)


@cache
def _without_a_fault(access: str) -> tuple[Result, int]:
    """What the walker without a fault gives, and after how many questions."""
    with TemporaryDirectory() as folder:
        counter = Path(folder) / "asked"
        with _agent(_walker(counter, access), Eyes(), VOCABULARY) as agent:
            return learned(agent), len(asked_of(counter))


@pytest.mark.parametrize("access", ["snapshot", "reset", "trajectory"])
def test_a_walker_is_learned_from_its_images(access: str) -> None:
    result, _ = _without_a_fault(access)
    (schema,) = result.model.actions
    assert [atom.text(("from", "to")) for atom in schema.add] == ["at(?to)"]
    assert [atom.text(("from", "to")) for atom in schema.delete] == ["at(?from)"]
    assert result.proven


@pytest.mark.parametrize(
    ("fault", "access"),
    [*[(one, "snapshot") for one in FAULTS[1:]], ("crash", "reset"), ("bomb", "trajectory")],
)
def test_a_fault_costs_a_restart_and_changes_nothing(fault: str, access: str, tmp_path: Path) -> None:
    expected, questions = _without_a_fault(access)
    command = _walker(tmp_path / "asked", access, fault, 3 if access == "trajectory" else 6)
    with _agent(command, Eyes(), VOCABULARY) as agent:
        found = learned(agent)
    assert (found.model, found.counts) == (expected.model, expected.counts)
    assert 1 <= len(asked_of(tmp_path / "asked")) - questions <= 2


@pytest.mark.parametrize("fault", ["larger", "missing"])
def test_a_fault_that_stays_is_one_line(fault: str, tmp_path: Path) -> None:
    command = _walker(tmp_path / "asked", "snapshot", fault, 3, "always")
    limits = ProgramLimits(60.0, 4 << 30, retries=1)
    with (
        _agent(command, Eyes(), VOCABULARY, limits=limits) as agent,
        pytest.raises(AgentFailed, match=r"in each of 2 processes") as failed,
    ):
        learned(agent)
    assert str(failed.value).isprintable()


class Conversed:
    """A program that says it is deterministic."""

    hello = read_hello({"id": 1, **hello("snapshot")})
    on_restart: list[Any] = []

    def again(self, attempt: Any) -> Any:
        return attempt()

    def run(self, problem: int, start: object, plan: object, read: Callable[[Any], Any]) -> Any:
        return 0, read({"image": ""})


def _shows(looks: Callable[[], Frame]) -> ProgramSimulator:
    return ProgramSimulator(Conversed(), 0, Access.RESET, lambda png, size: looks())  # type: ignore[arg-type]


def test_another_image_of_the_same_situation_is_reported() -> None:
    for shades in ([0, 1, 1], [0, 1, 0], [0, 1, 2]):
        images = iter([drawn(shade) for shade in shades])
        simulator = _shows(lambda images=images: next(images))  # type: ignore[misc]
        simulator.start()
        with pytest.raises(AgentFailed, match="another image"):
            simulator.start()


def test_a_sensors_noise_is_found_out_by_a_second_look() -> None:
    rng, looks = np.random.default_rng(0), []

    def seen() -> Frame:
        looks.append((drawn(0) + rng.normal(0, 1.5, drawn(0).shape)).clip(0, 255).round().astype(np.uint8))
        return looks[-1]

    simulator = _shows(seen)
    simulator.start()
    assert len(looks) == 1
    simulator.start()
    assert len(looks) == 3, "where the image is another one, it is looked at once more"
    simulator.start()
    assert len(looks) == 4
    assert not np.array_equal(simulator.frame(), simulator.frame())


def test_scenes_without_cells_need_no_board() -> None:
    types = Types({"thing": "object"})
    objects = Objects({"mug": "thing", "cup-1": "thing", "cup-2": "thing"}, types)
    looks = {"mug": "red", "cup-1": "white", "cup-2": "white"}
    scene = Scene.of_things(objects, looks, points={"cup-1": (0.25, 0.5), "cup-2": (0.75, 0.5)})
    told = shown_json(scene, (48, 64))
    assert not {"rows", "columns", "cells"}.intersection(told["scene"])
    assert read_shown(told, Vocabulary("table", (), types), objects).scene == scene
    for points in ({"cup-1": [0.2]}, {"cup-1": [2, 0]}, {"plate": [0, 0]}, {"cup-1": ["0", 0]}):
        wrong = {**told, "scene": {"looks": looks, "points": points}}
        with pytest.raises(Malformed):
            read_shown(wrong, Vocabulary("table", (), types), objects)


# --- environments as programs ---------------------------------------------------------------------------


def _seeded(problem: tuple[str, int]) -> Any:
    """A simulator whose choices depend on a seed alone, as those of a program do."""
    simulator: Any = board_domain("doors").simulator(problem)
    choose = simulator.choose
    simulator.choose = lambda rng: choose(np.random.default_rng(int(rng.integers(2**31))))
    return simulator


@pytest.mark.parametrize("access", first(1, ["snapshot", "trajectory"]))
def test_an_environment_as_a_program_is_asked_the_same_and_gives_the_same_model(access: str) -> None:
    domain = board_domain("doors")
    perception = BoardPerception.load(domain.visual, "doors")
    vocabulary = domain.visual.vocabulary()
    number = 1 if access == "trajectory" else 2
    simulators = [_seeded(problem) for problem in domain.interrogated[:number]]
    expected = learned(ImageAgent(simulators, perception, vocabulary, domain.headers, Access(access)))
    command = program("aam_vision.envs.program", "doors", access, number)
    with _agent(command, WaryPerception(perception), vocabulary) as agent:
        found = learned(agent)
    assert (found.model, found.counts) == (expected.model, expected.counts)
    told = [[entry.actions for entry in result.transcript.entries] for result in (found, expected)]
    assert told[0] == told[1]


@pytest.mark.parametrize("name", DOMAINS)
def test_scenes_are_written_and_read_back(name: str) -> None:
    domain = board_domain(name)
    scene = domain.scene(domain.load(*domain.interrogated[0]))
    given = tuple(entry.predicate for entry in domain.visual.entries if isinstance(entry, Given))
    told = loads(dumps(shown_json(scene, (100, 120))))
    shown = read_shown(told, Vocabulary(name, given, domain.visual.types), scene.objects)
    assert (shown.scene, shown.size) == (scene, (100, 120))
    introduction = {"id": 1, **hello("reset"), "problems": [told]}
    jsonschema.validate(introduction, {**SCHEMA, "anyOf": [{"$ref": "#/$defs/hello"}]})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size": [8]}, "height, width"),
        ({"size": [8, 10**9]}, "1 to 4096"),
        ({"size": [4096, 4096]}, "larger than"),
        ({"size": [True, 8]}, "1 to 4096"),
        ({"rows": 0}, "1 to 64"),
        ({"columns": 10**30}, "1 to 64"),
        ({"cells": {"c0": [[0, 4]]}}, "of a board of 1 x 4"),
        ({"cells": {"c0": [["a", 0]]}}, "of a board of 1 x 4"),
        ({"cells": {"c9": [[0, 0]]}}, "not an object"),
        ({"cells": {"c0": 7}}, "not a list of cells"),
        ({"looks": {"c0": 7}}, "not a name"),
        ({"anchors": {"c0": "c9"}}, "not a place with cells"),
        ({"facts": [["at", "c0"]]}, "not a predicate"),
        ({"spots": {f"s{i}": "spot" for i in range(1000)}}, "too many together"),
        ({"spots": {"x": 7}}, "not declared"),
        ({"spots": {"X": "spot"}}, "cannot name"),
        ({"boxes": [[0, 0, 0.5, 0.1, 0, 1]]}, "not a part of an image"),
        ({"boxes": [[0, 0, 0, 1, 0]]}, "not a \\[row"),
        ({"boxes": [[0, 0, 0, float("inf"), 0, 1]]}, "not a part of an image"),
        ({"access": "settable"}, "snapshot is the most"),
    ],
)
def test_malformed_introductions_are_refused(changes: dict[str, Any], said: str) -> None:
    told = {"id": 1, **hello("snapshot")}
    (problem,) = told["problems"]
    for name, value in changes.items():
        place = told if name == "access" else problem if name in ("size", "objects") else problem["scene"]
        place[name] = value
    with pytest.raises(Malformed, match=said):
        read_hello(told)


def test_a_scene_that_the_concepts_cannot_handle_is_the_agents_fault() -> None:
    class Fussy:
        def look(self, frame: Frame, scene: Scene) -> Percept:
            raise KeyError("pile-7")

        follow = look  # type: ignore[assignment]

    with pytest.raises(AgentFailed, match="pile-7"):
        WaryPerception(Fussy()).look(drawn(0), read_hello({"id": 1, **hello("reset")}).shown[0].scene)  # type: ignore[arg-type]


# --- the command ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "kind", "told"),
    [
        (None, "walker", "name the environment"),
        ("gripper", "walker", "shows no images"),
        ("doors", "walker", "must have the types of doors"),
        ("doors", "reference", "leave out the environment"),
    ],
)
def test_an_environment_is_named_for_programs_that_show_images_and_reads_them(
    env: str | None, kind: str, told: str, tmp_path: Path
) -> None:
    from aam_vision.run import targets
    from aam_vision.run.arguments import Arguments

    agent = _walker(tmp_path / "asked", "reset") if kind == "walker" else REFERENCE
    with pytest.raises(UnusableInput, match=told):
        targets.of(Arguments(env=env, agent=agent))


def test_a_run_of_an_image_program_goes_on_in_another_process(tmp_path: Path) -> None:
    def asked(counter: Path, plans: list[str], *, resumed: bool) -> list[tuple[int, State]]:
        with (
            _agent(_walker(counter, "trajectory"), Eyes(), VOCABULARY) as agent,
            Journal.open(tmp_path) if resumed else Journal.create(tmp_path, {}, {}) as journal,
        ):
            journalled = JournalledAgent(agent, journal)
            (at,) = journalled.initial()
            found = []
            for plan in plans:
                steps = tuple(GroundAction("step", (CELLS[int(one)], CELLS[int(one) + 1])) for one in plan)
                response = journalled.ask(Query(at, steps))
                at = response.final
                found.append((response.executed, at.state))
            return found

    first = asked(tmp_path / "first", ["0", "2"], resumed=False)
    second = asked(tmp_path / "second", ["0", "2", "12", "0"], resumed=True)
    assert second[:2] == first
    assert [executed for executed, _ in second] == [1, 0, 2, 0]
    plans = [json.loads(line).get("plan") for line in (tmp_path / "second").read_text().splitlines()]
    back = [["step", "c0", "c1"]]
    assert plans == [None, [], back, [["step", "c1", "c2"]], [["step", "c2", "c3"]], back]


# --- any scene ------------------------------------------------------------------------------------------


def test_it_is_known_how_the_classifiers_behind_a_program_did_in_their_test() -> None:
    perception, *_ = _known("sokoban")
    assert perception.image_test is not None
    assert perception.image_test.passed


@cache
def _known(name: str) -> tuple[WaryPerception, Vocabulary, str, Frame]:
    domain = board_domain(name)
    layout = domain.load(*domain.interrogated[0])
    given = tuple(entry.predicate for entry in domain.visual.entries if isinstance(entry, Given))
    frame = domain.drawing(layout).frame(layout.initial)
    return (
        WaryPerception(BoardPerception.load(domain.visual, name, remembered=0)),
        Vocabulary(name, given, domain.visual.types),
        dumps(shown_json(domain.scene(layout), frame.shape[:2])),  # type: ignore[arg-type]
        frame,
    )


def _read(name: str, problem: Any) -> bool:
    """Whether the first image was read."""
    perception, vocabulary, _, frame = _known(name)
    try:
        objects = Objects(typed(problem["objects"], vocabulary.types), vocabulary.types)
        shown = read_shown(problem, vocabulary, objects)
        percept = perception.look(frame, shown.scene)
        perception.follow(percept, np.zeros_like(frame), shown.scene)
    except (Malformed, AamError) as error:
        told = str(error)
    else:
        return True
    assert "\n" not in told
    return False


def _mutated(draw: st.DrawFn, value: Any, names: list[str]) -> Any:
    """Something else somewhere within."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        change = draw(st.sampled_from(["drop", "rename", "deeper", "deeper"]))
        rest = {name: part for name, part in value.items() if name != key}
        if change == "drop":
            return rest
        if change == "rename":
            return {**rest, draw(st.sampled_from(names)): value[key]}
        return {**value, key: _mutated(draw, value[key], names)}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        inner = [] if draw(st.booleans()) else [_mutated(draw, value[at], names)]
        return value[:at] + inner + value[at + 1 :]
    plain = st.one_of(st.sampled_from(names), st.integers(-2, 70), st.floats(0, 1), st.none())
    return draw(st.one_of(plain, st.lists(plain, max_size=6), st.just({})))


@pytest.mark.parametrize("name", DOMAINS)
def test_any_scene_is_read_or_refused(name: str) -> None:
    told = _known(name)[2]
    assert _read(name, loads(told))
    problem = loads(told)
    scene = problem["scene"]
    names = sorted({*problem["objects"], *scene["cells"], *scene["looks"].values(), "x-1"})

    @thorough(40)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        changed = loads(told)
        part = data.draw(st.sampled_from(["scene", "scene", "scene", "objects"]))
        for _ in range(data.draw(st.integers(1, 3))):
            changed[part] = data.draw(st.composite(_mutated)(changed[part], names))
        if isinstance(changed["objects"], dict):
            _read(name, changed)

    holds()

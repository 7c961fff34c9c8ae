"""Agents in processes of their own: what they do wrong costs a retry or is one clear error, in bounded time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import jsonschema
import numpy as np
import pytest

from aam_vision.agents import reference_agent
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.process import process_agent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.protocol import read_hello
from aam_vision.agents.shown import Conversation
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import AgentFailed, UnusableInput
from tests.commands import ROOT, called, refused
from tests.profiles import first, some

from .programs import REFERENCE, SCHEMA, asked_of, conversing, learned, program, written

PATIENT = ProgramLimits(memory=1 << 30, line=1 << 20)
"""No answer takes so long, however busy the machine is."""
QUICK = replace(PATIENT, seconds=3.0)
"""For faults that nothing else ends. What a process takes to start does not count."""
HANGING = ["hang", "half-hang", "stderr", "children"]
FAULTS = [*HANGING, "crash", "killed", "half", "garbage", "utf8", "flood", "flood-lines", "memory", "nested"]
FAULTS += ["twice", "closed", "other-id", "too-far", "negative", "stranger", "shape"]


def _faulty(fault: str, at: int, counter: Path, access: str = "settable", *always: str) -> str:
    return program("tests.agents.faulty_agent", fault, at, counter, access, *always)


def _learned(command: str, access: Access | None = None, limits: ProgramLimits = PATIENT) -> Result:
    with conversing(command, limits) as conversation:
        return learned(process_agent(conversation, access or conversation.hello.access, [0]))


@cache
def _sound(access: Access) -> tuple[Result, list[dict[str, Any]]]:
    """What a program without a fault gives, and what it was asked."""
    with TemporaryDirectory() as folder:
        counter = Path(folder) / "asked"
        return _learned(_faulty("none", 10**6, counter, access.value)), asked_of(counter)


@pytest.mark.parametrize("access", Access)
def test_a_program_is_interrogated_from_situations_that_its_access_allows(access: Access) -> None:
    result, asked = _sound(access)
    assert result.proven
    text = domain_text(result.model)
    for literal in ("(robot-in ?where)", "(lies-in ?what ?where)", "(not (lies-in ?what ?where))"):
        assert literal in text.partition("(:action take")[2].partition("(:action")[0]
    other = _learned(REFERENCE, access)
    assert (result.model, result.counts) == (other.model, other.counts)
    starts = [question["from"] for question in asked]
    kinds = {key for start in starts if isinstance(start, dict) for key in start}
    assert kinds == {Access.SETTABLE: {"true", "unknown"}, Access.SNAPSHOT: {"snapshot"}}.get(access, set())
    if access is Access.TRAJECTORY:
        assert starts[1:] == ["here"] * (len(starts) - 1)


# --- faults -------------------------------------------------------------------------------------------


AT = {"settable": 2, "trajectory": 5, "snapshot": 5, "reset": 5}
"""The number of the answer at which a fault comes once, by access."""
SOME = list(
    zip(
        ["crash", "hang", "garbage", "killed", "flood", "shape", "half-hang"],
        [1, 1, 1, 2, 2, 2, 2],
        strict=True,
    )
)
ALL = [("flood", 1), ("shape", 1), *((fault, 2) for fault in FAULTS)]
STAYING = [*dict.fromkeys([*SOME, *ALL])]
"""Faults, and the number of the answer from which on they come every time."""


class Ended(NamedTuple):
    """What came of an interrogation, and how many questions the program was asked."""

    found: Result | Exception
    questions: int


def _ended(fault: str, at: int, access: str, always: tuple[str, ...], folder: Path) -> Ended:
    limits = replace(QUICK if fault in HANGING else PATIENT, retries=0 if always else PATIENT.retries)
    if at == 1 and fault in HANGING:
        limits = replace(limits, start=QUICK.seconds)
    counter = folder / "asked"
    try:
        found: Result | Exception = _learned(_faulty(fault, at, counter, access, *always), limits=limits)
    except (UnusableInput, AgentFailed) as error:
        found = error
    return Ended(found, len(asked_of(counter)))


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Ended]]:
    """How programs with a fault end. Those that time alone ends are all waited for at once."""
    hanging = [(fault, AT["settable"], "settable", ()) for fault in HANGING]
    hanging += [
        (fault, at, "settable", ("always",)) for fault, at in some(len(SOME), STAYING) if fault in HANGING
    ]
    with ThreadPoolExecutor(len(hanging)) as pool:
        waited = {asked: pool.submit(_ended, *asked, tmp_path_factory.mktemp("hung")) for asked in hanging}

        def end(*asked: Any) -> Ended:
            if asked in waited:
                return waited[asked].result()
            return _ended(*asked, tmp_path_factory.mktemp("ended"))

        yield end


@pytest.mark.parametrize(
    ("fault", "access"),
    [
        *((fault, "settable") for fault in FAULTS),
        *(("crash", "trajectory"), ("killed", "snapshot"), ("killed", "reset")),
        *(pytest.param(one, "trajectory", marks=pytest.mark.nightly) for one in FAULTS[::4]),
    ],
)
def test_a_fault_costs_one_question_more_and_changes_nothing(
    fault: str, access: str, ended: Callable[..., Ended]
) -> None:
    result, questions = ended(fault, AT[access], access, ())
    expected, asked = _sound(Access(access))
    assert isinstance(result, Result)
    assert (result.model, result.counts) == (expected.model, expected.counts)
    extra = questions - len(asked)
    assert 1 <= extra <= (1 if access == "settable" else 2), "the question, and the way to it"


@pytest.mark.parametrize(("fault", "at"), first(len(SOME), STAYING))
def test_a_fault_that_stays_is_one_line_in_bounded_time(
    fault: str, at: int, ended: Callable[..., Ended]
) -> None:
    failure, _ = ended(fault, at, "settable", ("always",))
    assert isinstance(failure, UnusableInput if at == 1 else AgentFailed)
    assert str(failure).isprintable()
    assert len(str(failure)) < 800
    if isinstance(failure, Interrupted):
        result = failure.result
        assert (result.status, result.complete, result.missing) == ("failed", False, str(failure))


def test_a_program_that_refuses_surely_is_asked_less_and_teaches_the_same(tmp_path: Path) -> None:
    """Otherwise each of its refusals is asked for three times, and more mistakes that last are looked for."""

    def interrogated(fault: str) -> Result:
        with conversing(_faulty(fault, 10**6, tmp_path / fault), PATIENT) as conversation:
            agent = process_agent(conversation, Access.SETTABLE, [0])
            return Interrogation(agent).run(np.random.default_rng(0))

    sure, other = interrogated("sure"), interrogated("none")
    assert (sure.model, sure.complete) == (other.model, other.complete)
    assert sure.counts.failed_steps < other.counts.failed_steps
    assert 0 < sure.exam.further < other.exam.further


def test_a_program_that_says_it_cannot_is_not_asked_again(tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        f"    answer = {reference_agent.HELLO!r}\n"
        "    if question['ask'] != 'hello':\n"
        "        answer = {'error': 'the battery\\nis empty'}\n"
        "    print(json.dumps({'id': question['id'], **answer}), flush=True)\n"
    )
    with pytest.raises(AgentFailed, match=r"the battery\?is empty"):
        _learned(written(tmp_path, code))


def test_malformed_introductions_are_refused() -> None:
    hello = {**reference_agent.HELLO, "id": 1}
    many = {"predicates": {"p": ["object"] * 12}, "actions": {"a": [[f"x{i}", "object"] for i in range(12)]}}
    for change, told in (
        ({"protocol": 2}, "version 2"),
        ({"access": "root"}, "access"),
        ({"predicates": {"(define": []}}, "cannot name"),
        (many, "more than"),
        ({"problems": []}, "0 problems"),
        ({"problems": [{"objects": {"a": 3}}]}, "not declared"),
        ({"walks": "yes"}, "true or false"),
        ({"controls": 1}, "true or false"),
    ):
        with pytest.raises(Malformed, match=told) as refused:
            read_hello({**hello, **change})
        assert "\n" not in str(refused.value)
    assert read_hello(hello).headers


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "no such program"),
        ("no-such-program --fast", "no such program"),
        ('python "unclosed', "split into words"),
        ("true", "exit code 0"),
        ("cat", "answered a hello wrongly"),
        ("echo hello; touch $(echo marker)", "no JSON"),
    ],
)
def test_a_command_that_is_not_an_agent_is_refused_and_no_shell_runs(
    command: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnusableInput, match=told):
        Conversation(command, PATIENT)
    assert list(tmp_path.iterdir()) == []


# --- what a program shows -----------------------------------------------------------------------------


@pytest.mark.parametrize("access", [Access.TRAJECTORY, Access.RESET, Access.SNAPSHOT])
def test_a_noisy_sensor_is_looked_at_until_it_is_certain_what_is_true(access: Access, tmp_path: Path) -> None:
    with conversing(_faulty("noisy", 10**6, tmp_path / "asked", access.value), PATIENT) as conversation:
        agent = process_agent(conversation, access, [0])
        found = Interrogation(agent, exam=0).run(np.random.default_rng(0))
    assert found.rates is not None
    assert found.rates.looks_err
    assert found.status == "open"
    sound = _sound(access)[0].model
    for action in sound.actions:
        assert found.model.schema(action.header.name).add == action.add
        assert found.model.schema(action.header.name).delete == action.delete


@pytest.mark.parametrize(
    ("fault", "access", "told"),
    [
        ("noisy, nameless", Access.SNAPSHOT, "let it give snapshots"),
        ("moves", Access.RESET, "another state than before"),
    ],
    ids=["a noisy sensor that is led back by steps", "a refused step that changes something"],
)
def test_where_nothing_tells_where_it_stands_the_run_ends(
    fault: str, access: Access, told: str, tmp_path: Path
) -> None:
    command = _faulty(fault, 10**6, tmp_path / "asked", access.value)
    with conversing(command, PATIENT) as conversation, pytest.raises(Interrupted, match=told):
        Interrogation(process_agent(conversation, access, [0])).run(np.random.default_rng(0))


# --- the schema ---------------------------------------------------------------------------------------


def _valid(kind: str, value: object) -> bool:
    schema = {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{kind}"}]}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def test_messages_to_and_from_the_reference_agent_fit_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    robot = reference_agent.Robot()
    for access in Access:
        for question in _sound(access)[1]:
            assert _valid("question", question), question
    for question in _sound(Access.SETTABLE)[1]:
        kind, answer = {"run": ("ran", robot.run), "walk": ("walked", robot.walk)}[question["ask"]]
        assert _valid(kind, json.loads(json.dumps({"id": 1, **answer(question)})))
    assert _valid("hello", {"id": 1, **reference_agent.HELLO})
    assert not _valid("hello", {"id": 1, **reference_agent.HELLO, "access": "root"})
    assert not _valid("ran", {"id": 1, "executed": -1, "state": {"true": []}})


# --- the conformance check ------------------------------------------------------------------------------


def _checked(command: str, code: int, seconds: int = 60) -> list[str]:
    """What is told of a program."""
    done = called("aam_vision.agents.check", command, "--seconds", str(seconds), cwd=ROOT, code=code)
    return done.stdout.splitlines()


@pytest.mark.parametrize("access", [None, "snapshot", "reset", "trajectory"])
def test_sound_programs_conform(access: str | None, tmp_path: Path) -> None:
    told = _checked(_faulty("none", 10**6, tmp_path / "asked", access) if access else REFERENCE, 0)
    assert told[-1] == "conforms to the protocol"
    assert all(line.startswith("ok ") for line in told[:-1])


def test_a_noisy_sensor_conforms(tmp_path: Path) -> None:
    told = _checked(_faulty("noisy", 10**6, tmp_path / "asked", "reset"), 0)
    assert "ok    problem 0: what it shows differs from look to look, so states are not compared" in told


@pytest.mark.parametrize("fault", ["too-far", "hang", "garbage"])
def test_a_program_with_a_fault_does_not_conform(fault: str, tmp_path: Path) -> None:
    told = _checked(_faulty(fault, 4, tmp_path / "asked"), 1, seconds=2 if fault == "hang" else 60)
    assert [line for line in told if line.startswith("FAIL")]


def test_a_program_without_a_hello_is_unusable() -> None:
    refused("aam_vision.agents.check", "cat", cwd=ROOT)


PUSHED_TWICE = """import json, sys
hello = {"protocol": 1, "name": "switch", "access": "settable", "predicates": {"lit": []}, "actions": {"push": []},
         "problems": [{"objects": {}}]}
pushed = 0
for line in sys.stdin:
    question = json.loads(line)
    if question["ask"] == "hello":
        answer = hello
    else:
        pushed = (0 if question["from"] != "here" else pushed) + len(question["plan"])
        answer = {"executed": len(question["plan"]), "state": {"true": [["lit"]] if pushed > 1 else []}}
    print(json.dumps({"id": question["id"], **answer}), flush=True)
"""


def test_a_settable_program_is_left_where_it_stands_unless_it_is_put_there(tmp_path: Path) -> None:
    push = (GroundAction("push", ()),)
    with conversing(written(tmp_path, PUSHED_TWICE), PATIENT) as conversation:
        agent = process_agent(conversation, Access.SETTABLE, [0])
        once = agent.ask(Query(agent.initial()[0], push)).final
        assert not once.state.true
        assert agent.ask(Query(once, push, goes_on=True)).final.state.true
        assert not agent.ask(Query(once, push, goes_on=True)).final.state.true, "it stood elsewhere"
        assert not agent.ask(Query(once, push)).final.state.true

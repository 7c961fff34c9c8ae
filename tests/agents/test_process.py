"""Agents in processes of their own: what they do wrong costs a retry or is one clear error, in bounded time."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import numpy as np
import pytest

from aam_vision.agents import reference_agent
from aam_vision.agents.encoding import Malformed
from aam_vision.agents.process import process_agent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.protocol import read_hello
from aam_vision.agents.shown import Conversation
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.task.loop import Interrupted, interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import domain_text
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.support.errors import AgentFailed, UnusableInput
from tests.commands import ROOT, called
from tests.profiles import first

REFERENCE = f"{shlex.quote(sys.executable)} -m aam_vision.agents.reference_agent"
SCHEMA = json.loads(
    Path(reference_agent.__file__).with_name("protocol.schema.json").read_text(encoding="utf-8")
)
PATIENT = ProgramLimits(memory=1 << 30, line=1 << 20)
"""No answer takes so long, however busy the machine is."""
QUICK = ProgramLimits(seconds=3.0, memory=1 << 30, line=1 << 20)
"""For faults that nothing else ends. What a process takes to start does not count."""
HANGING = {"hang", "half-hang", "stderr", "children"}
FAULTS = [
    "crash",
    "killed",
    "hang",
    "half",
    "half-hang",
    "garbage",
    "utf8",
    "flood",
    "flood-lines",
    "stderr",
    "memory",
    "nested",
    "twice",
    "closed",
    "other-id",
    "too-far",
    "negative",
    "stranger",
    "shape",
    "children",
]


def _faulty(fault: str, at: int, counter: Path, access: str = "settable", *always: str) -> str:
    words = [sys.executable, "-m", "tests.agents.faulty_agent", fault, str(at), str(counter), access, *always]
    return shlex.join(words)


@contextmanager
def _conversation(command: str, limits: ProgramLimits = PATIENT) -> Iterator[Conversation]:
    conversation = Conversation(command, limits)
    try:
        yield conversation
    finally:
        conversation.close()


def _learned(command: str, access: Access | None = None, limits: ProgramLimits = PATIENT) -> Result:
    with _conversation(command, limits) as conversation:
        agent = process_agent(conversation, access or conversation.hello.access, [0])
        policy = policy_for(agent.access, "economical", PyperplanPlanner())
        return interrogate(agent, policy, np.random.default_rng(0))


def _questions(counter: Path) -> list[dict[str, Any]]:
    """All questions to all processes, except the hello."""
    asked = [json.loads(line) for line in counter.read_text().splitlines()]
    return [question for question in asked if question["ask"] != "hello"]


@cache
def _sound(access: Access) -> tuple[Result, list[dict[str, Any]]]:
    """What a program without a fault gives, and all that it was asked."""
    with TemporaryDirectory() as folder:
        counter = Path(folder) / "asked"
        result = _learned(_faulty("none", 10**6, counter, access.value))
        return result, [json.loads(line) for line in counter.read_text().splitlines()]


@pytest.mark.parametrize("access", Access)
def test_a_program_is_interrogated_like_any_agent_from_situations_that_its_access_allows(
    access: Access,
) -> None:
    """And it gives the results that a program gives which may be asked about anything."""
    result, asked = _sound(access)
    assert result.proven
    text = domain_text(result.model)
    for literal in ("(robot-in ?where)", "(lies-in ?what ?where)", "(not (lies-in ?what ?where))"):
        assert literal in text.partition("(:action take")[2].partition("(:action")[0]
    other = _learned(REFERENCE, access)
    assert (result.model, result.counts) == (other.model, other.counts)
    starts = [question["from"] for question in asked[1:]]
    kinds = {key for start in starts if isinstance(start, dict) for key in start}
    assert kinds == {Access.SETTABLE: {"true", "unknown"}, Access.SNAPSHOT: {"snapshot"}}.get(access, set())
    if access is Access.TRAJECTORY:
        assert starts[1:] == ["here"] * (len(starts) - 1)


# --- faults -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "access"),
    first(
        len(FAULTS) + 3,
        [
            *((fault, "settable") for fault in FAULTS),
            *(("crash", "trajectory"), ("killed", "snapshot"), ("killed", "reset")),
            *((fault, "trajectory") for fault in ("half", "hang", "garbage", "too-far")),
        ],
    ),
)
def test_a_fault_costs_one_question_more_and_changes_nothing(fault: str, access: str, tmp_path: Path) -> None:
    """After a fault a fresh process is led to where the other one was, and asked again."""
    at = 2 if access == "settable" else 5
    counter = tmp_path / "asked"
    limits = QUICK if fault in HANGING else PATIENT
    result = _learned(_faulty(fault, at, counter, access), limits=limits)
    expected, asked = _sound(Access(access))
    assert (result.model, result.counts) == (expected.model, expected.counts)
    extra = len(_questions(counter)) - len(asked) + 1
    assert 1 <= extra <= (1 if access == "settable" else 2), "the question, and the way to it"


@pytest.mark.parametrize(
    ("fault", "at"),
    first(
        7,
        [
            *((fault, 1) for fault in ("crash", "hang", "garbage")),
            *((fault, 2) for fault in ("killed", "flood", "shape", "half-hang")),
            *((fault, 1) for fault in ("flood", "shape")),
            *((fault, 2) for fault in FAULTS if fault not in ("killed", "flood", "shape", "half-hang")),
        ],
    ),
)
def test_a_fault_that_stays_is_one_line_in_bounded_time(fault: str, at: int, tmp_path: Path) -> None:
    counter = tmp_path / "asked"
    limits = replace(QUICK if fault in HANGING else PATIENT, retries=0)
    if at == 1 and fault in HANGING:
        limits = replace(limits, start=QUICK.seconds)
    kind: type[Exception] = UnusableInput if at == 1 else AgentFailed
    with pytest.raises(kind) as failed:
        _learned(_faulty(fault, at, counter, "settable", "always"), limits=limits)
    assert "\n" not in str(failed.value)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) < 800
    if isinstance(failed.value, Interrupted):
        result = failed.value.result
        assert (result.status, result.complete, result.missing) == ("failed", False, str(failed.value))


def test_a_program_that_says_it_cannot_is_not_asked_again(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    question = json.loads(line)\n"
        f"    answer = {reference_agent.HELLO!r}\n"
        "    if question['ask'] != 'hello':\n"
        "        answer = {'error': 'the battery\\nis empty'}\n"
        "    print(json.dumps({'id': question['id'], **answer}), flush=True)\n"
    )
    with pytest.raises(AgentFailed, match=r"the battery\?is empty"):
        _learned(shlex.join([sys.executable, str(script)]))


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
        ({"controls": "yes"}, "true or false"),
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
    for question in _sound(Access.SETTABLE)[1][1:]:
        kind, answer = {"run": ("ran", robot.run), "walk": ("walked", robot.walk)}[question["ask"]]
        assert _valid(kind, json.loads(json.dumps({"id": 1, **answer(question)})))
    assert _valid("hello", {"id": 1, **reference_agent.HELLO})
    assert not _valid("hello", {"id": 1, **reference_agent.HELLO, "access": "root"})
    assert not _valid("ran", {"id": 1, "executed": -1, "state": {"true": []}})


# --- the conformance check ------------------------------------------------------------------------------


def _check(*arguments: str, seconds: int = 60) -> tuple[int, Sequence[str], str]:
    done = called("aam_vision.agents.check", *arguments, "--seconds", str(seconds), cwd=ROOT)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_reference_agent_conforms() -> None:
    code, told, _ = _check(REFERENCE)
    assert code == 0
    assert told[-1] == "conforms to the protocol"
    assert all(line.startswith("ok ") for line in told[:-1])


@pytest.mark.parametrize("access", ["snapshot", "reset", "trajectory"])
def test_programs_with_weaker_access_conform(access: str, tmp_path: Path) -> None:
    code, told, _ = _check(_faulty("none", 10**6, tmp_path / "asked", access))
    assert (code, told[-1]) == (0, "conforms to the protocol")


@pytest.mark.parametrize("fault", ["too-far", "hang", "garbage"])
def test_a_program_with_a_fault_does_not_conform(fault: str, tmp_path: Path) -> None:
    code, told, _ = _check(_faulty(fault, 4, tmp_path / "asked"), seconds=2 if fault == "hang" else 60)
    assert code == 1
    assert [line for line in told if line.startswith("FAIL")]


def test_a_program_without_a_hello_is_unusable() -> None:
    code, told, error = _check("cat")
    assert (code, told) == (2, [])
    assert len(error.splitlines()) == 1


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
    (tmp_path / "switch.py").write_text(PUSHED_TWICE)
    push = (GroundAction("push", ()),)
    with _conversation(shlex.join([sys.executable, str(tmp_path / "switch.py")])) as conversation:
        agent = process_agent(conversation, Access.SETTABLE, [0])
        once = agent.ask(Query(agent.initial()[0], push)).final
        assert not once.state.true
        assert agent.ask(Query(once, push, goes_on=True)).final.state.true
        assert not agent.ask(Query(once, push, goes_on=True)).final.state.true, "it stood elsewhere"
        assert not agent.ask(Query(once, push)).final.state.true

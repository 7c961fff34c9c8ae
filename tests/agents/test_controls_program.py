"""Programs that offer their controls: each can always be given, and nobody says what it is good for."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.agents.process import process_agent
from aam_vision.agents.program import ProgramLimits
from aam_vision.agents.protocol import read_hello
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction
from aam_vision.support.errors import AgentFailed
from tests.commands import refused
from tests.documentation import ROOT, blocks
from tests.finished import result_of
from tests.run.commands import command

from .programs import conversing, program, written

CRANE = next(block.body for block in blocks(ROOT / "docs" / "agent-protocol.md") if block.title == "crane.py")
HELLO = {"protocol": 1, "name": "lamp", "access": "snapshot", "controls": True, "predicates": {"on": []}}
HELLO |= {"actions": {"press": []}, "problems": [{"objects": {}}]}


def test_what_the_controls_of_a_program_do_is_found_out(tmp_path: Path) -> None:
    asked = "--agent", written(tmp_path, CRANE), "--quiet"
    done = command(*asked, "--controls", "--out", tmp_path / "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = result_of(tmp_path / "run")
    assert (told["status"], told["unexplained"], told["native_equivalent"]) == ("complete", 0, None)
    model = read_domain(tmp_path / "run" / "model.pddl")
    assert [header.name for header in model.headers] == ["go-west", "go-east", "magnet-empty", "magnet-free"]
    again = command("--resume", tmp_path / "run", *asked, cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_program_that_shows_images_may_offer_controls(tmp_path: Path) -> None:
    shows = program("aam_vision.envs.program", "doors", "snapshot", 1, "--controls")
    given = ("--env", "doors", "--agent", shows, "--controls", "--max-steps", "100", "--out", "run")
    done = command(*given, "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = result_of(tmp_path / "run")
    assert told["controls"] == ["moveto(?location - location)", "pick(?key - key)"]
    assert told["unexplained"] == 0


SILENT, RESET = CRANE.replace('"controls": True,', ""), CRANE.replace("snapshot", "reset", 1)


@pytest.mark.parametrize(
    ("code", "options", "said"),
    [
        (CRANE, (), "its actions are controls; give --controls, too"),
        (SILENT, ("--controls",), "its actions are instructions; let its hello say"),
        (RESET, ("--controls",), "reset access with controls: they need snapshot"),
        (CRANE, ("--controls", "--access", "reset"), "--access reset: cannot be used"),
        (CRANE, ("--controls", "--policy", "aia"), "--policy: cannot be used with --controls"),
    ],
)
def test_a_program_that_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, code: str, options: tuple[str, ...], said: str
) -> None:
    asked = "--agent", written(tmp_path, code), *options, "--out", "run"
    assert said in refused("aam_vision.run", *asked, cwd=tmp_path)


def test_a_program_says_whether_its_actions_are_controls() -> None:
    assert read_hello(HELLO).controls
    assert not read_hello({**HELLO, "controls": False}).controls


def test_a_control_that_is_refused_ends_the_program(tmp_path: Path) -> None:
    code = CRANE.replace('{"state": {"true": true', '{"executed": 0, "state": {"true": true')
    with conversing(written(tmp_path, code), ProgramLimits(retries=0)) as conversation:
        agent = process_agent(conversation, Access.SNAPSHOT, [0])
        (start,) = agent.initial()
        with pytest.raises(AgentFailed, match="0 of 1 control executed: all can always be given"):
            agent.ask(Query(start, (GroundAction("magnet", ()),)))

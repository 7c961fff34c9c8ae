"""Going on with a run, and making it again from what it recorded."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from aam_vision.agents.journal import Journal
from aam_vision.run.arguments import Arguments
from aam_vision.support.commandline import NOT_EXPLAINED
from tests.finished import StartedRuns, result_of, timeless

from .commands import command, refusal


def test_an_ended_run_can_be_made_again_from_its_transcript_alone(runs: StartedRuns, tmp_path: Path) -> None:
    run = runs["doors"].folder
    (tmp_path / "transcript.sqlite").write_bytes((run / "transcript.sqlite").read_bytes())
    command("--resume", tmp_path, "--quiet", cwd=tmp_path)
    assert (tmp_path / "model.pddl").read_bytes() == (run / "model.pddl").read_bytes()
    assert timeless(tmp_path) == timeless(run)
    assert result_of(tmp_path)["perception_s"] == 0, "no image was looked at again"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--resume", "nowhere"], "nothing is recorded"),
        (["--resume", "here", "--seed", "3"], "options already"),
        (["--resume", "here", "--out", "there"], "options already"),
        (["--resume", "here", "--force"], "options already"),
        (["--resume", "here"], "have changed"),
        (["--resume", "here", "--agent", "true"], "leave out --agent"),
        (["--resume", "program"], "give that --agent"),
        (["--resume", "program", "--agent", "true"], "give that --agent"),
        (["--resume", "foreign"], "cannot be used"),
        (["--env", "gripper", "--out", "here"], "unfinished run"),
    ],
)
def test_what_cannot_be_gone_on_with_is_refused(arguments: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text("(define (domain d))")
    given = Arguments(domain=str(tmp_path / "d.pddl"))
    for name, options, inputs in (
        ("here", given.json(), given.inputs()),
        ("program", Arguments(agent="touch marker").json(), {}),  # of a stranger: it must not run
        ("foreign", {**given.json(), "seed": -1}, {}),
    ):
        (tmp_path / name).mkdir()
        Journal.create(tmp_path / name, options, inputs).close()
    (tmp_path / "d.pddl").write_text("(define (domain other))")
    assert told in refusal(*arguments, cwd=tmp_path)


_NO_STRIPS_AGENT = """
import aam_vision.agents.reference_agent as reference

plain = reference.do

def fussy(state, action):
    after = plain(state, action)
    if after is None or action[:2] != ["take", "blue"]:
        return after
    return after | {("free",)}

reference.do = fussy
reference.main()
"""


def test_a_run_whose_agent_contradicts_itself_has_ended(tmp_path: Path) -> None:
    """To go on with it asks nothing again, and its folder may be overwritten."""
    (tmp_path / "agent.py").write_text(_NO_STRIPS_AGENT)
    agent = ["--agent", shlex.join([sys.executable, "agent.py"])]
    done = command(*agent, "--out", "out", cwd=tmp_path, code=NOT_EXPLAINED)
    assert "take: conditional" in done.stderr
    kept = {name: (tmp_path / "out" / name).read_bytes() for name in ("model.pddl", "transcript.sqlite")}
    again = command(*agent, "--resume", "out", cwd=tmp_path, code=NOT_EXPLAINED)
    assert again.stderr.splitlines()[-1] == done.stderr.splitlines()[-1]
    assert (tmp_path / "out" / "model.pddl").read_bytes() == kept["model.pddl"]
    refusal(*agent, "--out", "out", cwd=tmp_path)
    command(*agent, "--out", "out", "--force", cwd=tmp_path, code=NOT_EXPLAINED)


def test_an_environment_of_a_module_is_named_again_to_go_on(tmp_path: Path) -> None:
    """A file must not be able to have a module imported."""
    (tmp_path / "mine.py").write_text(
        "from tests.envs.corridor import SCENE, Corridor, vocabulary\n"
        "from tests.envs.test_controlled import shown\n"
        "from aam_vision.envs.controlled import bare_environment\n"
        "HERE = bare_environment('corridor', vocabulary(), Corridor, lambda env: SCENE, shown)\n",
        encoding="utf-8",
    )
    done = command("--env", "mine:HERE", "--controls", "--out", "run", "--quiet", cwd=tmp_path)
    assert "a run of --env mine:HERE; give that --env, too" in refusal("--resume", "run", cwd=tmp_path)
    again = command("--resume", "run", "--env", "mine:HERE", "--quiet", cwd=tmp_path)
    assert again.stdout.splitlines()[:10] == done.stdout.splitlines()[:10]
    missing = refusal("--env", "nothing:HERE", "--controls", cwd=tmp_path)
    assert "nothing cannot be imported, or has no HERE" in missing

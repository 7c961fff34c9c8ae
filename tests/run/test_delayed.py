"""A run goes on to effects that come later: a hand that is free some steps after a ball was put down is learned, explained, planned with and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aam_vision.model.delayed import DelayedEffect
from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import LiftedAtom, Predicate
from tests.commands import called
from tests.finished import result_of
from tests.profiles import first

from .commands import command
from .reference import DOES, changed_program
from .test_going_on import assert_no_prior, assert_same_again, explained

UNSEEN = {
    '{"true": sorted(self.state)}': '{"true": sorted(atom for atom in self.state if atom[0] != "waits")}',
}
"""What it is given so that nobody sees what waits in its states."""
SLOW = {
    DOES: """    if not before <= state:
        return None
    waits = {int(atom[1]) for atom in state if atom[0] == "waits"}
    state = {atom for atom in (state - before) | after if atom[0] != "waits"}
    if name == "put":
        state.discard(("free",))
    if 1 in waits:
        state.add(("free",))
    left = {("waits", str(one - 1)) for one in waits if one > 1}
    return state | left | ({("waits", "2")} if name == "put" else set())
""",
    **UNSEEN,
}
"""What the reference agent is given so that its hand is free two steps after it has put something down."""
TIRED = {
    DOES: """    if not before <= state:
        return None
    now = 1 + sum(int(atom[1]) for atom in state if atom[0] == "waits")
    state = {atom for atom in (state - before) | after if atom[0] != "waits"}
    if now == 4:
        state.discard(("free",))
    return state | {("waits", str(now))}
""",
    **UNSEEN,
}
"""What it is given so that its hand is not free after the fourth step of an episode, whatever that is."""
DAILY = {
    **TIRED,
    DOES: TIRED[DOES].replace(
        "    if now == 4:\n        state.discard",
        '    if now >= 4 and (now - 4) % 5 == 3:\n        state.add(("free",))\n'
        "    if now >= 4 and (now - 4) % 5 == 0:\n        state.discard",
    ),
}
"""What it is given so that its hand is not free from the fourth step of an episode on, but three steps later, not two after that, and so on."""
FREE = Predicate("free")


@pytest.fixture(scope="module", params=first(1, ["reset", "settable"]))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The command that starts such an agent, and the folder of a run of it."""
    folder = tmp_path_factory.mktemp("slow")
    program = changed_program(folder, {**SLOW, '"access": "settable"': f'"access": "{request.param}"'})
    asked = ("--agent", program, "--exam", "60")
    done = command(*asked, "--out", folder / "run", cwd=folder)
    assert "going on with effects that come later" in done.stderr
    assert "Put makes free() true 2 steps later" in " ".join(done.stdout.split())
    return program, folder / "run"


def test_what_comes_later_is_in_the_model(run: tuple[str, Path]) -> None:
    result = result_of(run[1])
    settable = result["access"] == "settable"
    assert (result["status"], result["diagnosis"] is None) == ("open" if settable else "complete", False)
    assert result["why"].startswith("deterministic, with an effect that comes later: ")
    assert ("whether refused steps count, too, no question can tell" in result["why"]) is settable
    model = read_domain(run[1] / "model.pddl")
    assert model.vocabulary.delays is not None
    (effect,) = model.vocabulary.delays.effects
    assert isinstance(effect, DelayedEffect)
    assert (effect.action, effect.atom, effect.value, effect.after) == (
        "put",
        LiftedAtom("free", ()),
        True,
        2,
    )
    assert LiftedAtom("free", ()) in model.schema("take").positive
    assert LiftedAtom("free", ()) not in model.schema("put").add
    told = {atom.predicate for one in model.actions for atom in one.positive | one.negative | one.add}
    assert told.isdisjoint(model.vocabulary.delays.waiting), "what waits is no condition and no effect"
    assert "Put makes free() true 2 steps later" in explained(run[1])
    assert "true 2 steps later" in (run[1] / "report.html").read_text()


def test_steps_are_foretold_and_plans_wait(run: tuple[str, Path], tmp_path: Path) -> None:
    (plan := tmp_path / "plan.txt").write_text(
        "(take blue hall)\n(put blue hall)\n(go hall kitchen)\n(go kitchen hall)\n(take blue hall)\n"
    )
    foretold = called("aam_vision.ask", run[1], "--plan", plan, cwd=tmp_path, code=0).stdout
    assert "4. go(kitchen, hall): done; +free(), " in foretold
    assert "5 of 5 steps are done" in foretold
    asked = (run[1], "--agent", run[0])
    goal = "(and (lies-in blue kitchen) (holds red))"
    done = called("aam_vision.execute", *asked, "--goal", goal, cwd=tmp_path, code=0)
    *steps, last = done.stdout.splitlines()
    assert last == "Goal reached: 6 steps, 1 plan."
    assert not [line for line in steps if "NOT as predicted" in line]


def test_it_resumes_with_what_was_seen(run: tuple[str, Path], tmp_path: Path) -> None:
    assert_same_again(run[1], run[0], tmp_path, 20)


def test_its_model_is_no_prior_of_the_agent_and_is_compared_with_itself(
    run: tuple[str, Path], tmp_path: Path
) -> None:
    assert_no_prior(run[1], run[0], tmp_path)


@pytest.mark.parametrize(
    ("change", "further"),
    [(TIRED, ""), (DAILY, ", 3 steps later true, 2 steps after that false again, and so on")],
    ids=["once", "daily"],
)
def test_what_comes_at_a_set_time_is_in_the_model_and_plans_reckon_with_it(
    change: dict[str, str], further: str, tmp_path: Path
) -> None:
    program = changed_program(tmp_path, {**change, '"access": "settable"': '"access": "reset"'})
    run = tmp_path / "timed"
    asked = ("--agent", program, "--exam", "60")
    done = command(*asked, "--out", run, cwd=tmp_path)
    told = f"With executed step 4 of each episode free() becomes false{further}, whatever is done."
    assert told in " ".join(done.stdout.split())
    assert told in explained(run)
    assert result_of(run)["status"] == "complete"
    goal = ("--goal", "(and (lies-in blue kitchen) (not (free)))")
    done = called("aam_vision.execute", run, "--agent", program, *goal, cwd=tmp_path, code=0)
    assert done.stdout.splitlines()[-1].startswith("Goal reached: 4 steps")
    assert "NOT as predicted" not in done.stdout
    assert_same_again(run, program, tmp_path, 20)

"""Policies as agents: what their pursuits bring about is learned, and what a new version has lost is found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box
from hypothesis import given
from hypothesis import strategies as st

import aam_vision
from aam_vision.agents.image import Passage
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.envs.matched import (
    KEPT,
    LOST,
    UNSURE,
    assert_capability,
    assert_nothing_lost,
    capability,
    difference,
    gate,
)
from aam_vision.envs.policies import Objective, PolicyAgent, by_actions
from aam_vision.interrogation.chance.result import ChanceResult
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Predicate, Types
from aam_vision.report.page import side_by_side
from aam_vision.support.files import digest
from tests.commands import called, refused
from tests.finished import result_of
from tests.profiles import first, some, thorough
from tests.refusals import told_by

from .tower import BLOCKS, TABLE, WORDS, Arm, Tower, agent

ONTO = GroundAction("achieve-on", ("a", "b"))
WRONG = ("put {2}", "put {0", "put {name}")


def by_table(observation: Any, objective: Objective) -> int | None:
    """Puts a block onto the table."""
    block = BLOCKS.index(objective.atom.objects[0])
    return None if observation[block] == TABLE else block * (TABLE + 1) + TABLE


@pytest.mark.parametrize("access", first(1, [Access.RESET, Access.SNAPSHOT]))
def test_when_a_pursuit_succeeds_how_often_and_what_it_claims_is_learned(access: Access) -> None:
    asked = agent(Arm(clears=False).pursue, access=access, objectives=["on"])
    found = aam_vision.interrogate(asked, within=0.15, chance=True, max_steps=1500)
    assert isinstance(found.outcomes, ChanceResult)
    (onto,) = found.outcomes.actions
    on = onto.index.mask([LiftedAtom("on", (0, 1))])
    covered = onto.index.mask([LiftedAtom("clear", (1,))])
    blocked = [case for case in onto.cases if case.condition.negative & covered]
    assert blocked
    assert not any(outcome.adds & on for case in blocked for outcome in case.outcomes), "it clears no place"
    assert any(outcome.adds & on for case in onto.cases for outcome in case.outcomes)
    assert found.missing is not None
    assert "also brings about" in found.missing, "what lay on the block falls"
    assert 0 < found.counts.steps <= 1500


def test_many_starts_do_not_make_many_pursuits_at_random() -> None:
    arm = agent(Arm().pursue, seeds=range(60))
    found = aam_vision.interrogate(arm, within=0.15, chance=True, max_steps=300)
    assert found.counts.walk_steps < 60


def test_an_end_says_what_was_achieved_and_what_was_claimed() -> None:
    start = next(n for n in range(6) if "b" not in _below(n))
    for arm, told in (
        (Arm(), "achieved"),
        (Arm(unable=("a",)), "given up"),
        (Arm(unable=("a",), checks=False), "claimed, not achieved"),
    ):
        assert str(agent(arm.pursue).pursue_from(start, ONTO, 0)) == told
    end = agent(_restless, limit=7).pursue_from(start, ONTO, 0)
    assert (str(end), end.steps) == ("timed out", 7)


def _below(start: int) -> list[str]:
    state = agent(Arm().pursue).initial()[start].state
    return [atom.objects[1] for atom in state.true if atom.predicate == "on"]


def _restless(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
    while True:
        environment.step(TABLE)


def test_a_policy_may_be_a_function_of_observation_and_objective() -> None:
    asked = agent(by_actions(by_table), objectives=["on-table"])
    (start, *_) = asked.initial()
    for block in BLOCKS:
        end = asked.ask(Query(start, (GroundAction("achieve-on-table", (block,)),))).final.state
        assert {Atom("on-table", (block,)), Atom("claimed", ())} <= end.true


def test_what_is_to_be_false_is_an_objective_too() -> None:
    asked = agent(by_actions(by_table), objectives=["not on"])
    stacked = next(n for n in range(6) if _below(n))
    (on,) = [atom for atom in asked.initial()[stacked].state.true if atom.predicate == "on"]
    assert asked.pursue_from(stacked, GroundAction("undo-on", on.objects), 0).achieved
    told = Objective(on, value=False).text({"not on": "take the {0} off the {1}"})
    assert told == "take the {} off the {}".format(*on.objects)


@pytest.mark.parametrize("access", [Access.RESET, Access.SNAPSHOT])
def test_the_same_reset_does_not_repeat_the_same_luck(access: Access) -> None:
    asked = agent(Arm().pursue, slips=0.5, access=access)
    query = Query(asked.initial()[0], (GroundAction("achieve-on", ("b", "a")),))
    assert len({frozenset(asked.ask(query).final.state.true) for _ in range(30)}) > 1


def test_snapshots_bring_the_environment_back() -> None:
    asked = agent(Arm().pursue)
    start = asked.initial()[0]
    first = asked.ask(Query(start, (ONTO,))).final
    asked.ask(Query(first, (GroundAction("achieve-on", ("c", "a")),)))
    assert asked.ask(Query(first, ())).final.state == first.state


@pytest.mark.parametrize(
    ("new", "where"),
    [
        (Arm(), None),
        (Arm(checks=False), None),
        (Arm(unable=("c",)), "?block1 is c"),
        (Arm(clears=False), "clear(?block2) does not hold"),
    ],
)
def test_the_gate_finds_what_was_lost_and_shows_it_and_says_where(new: Arm, where: str | None) -> None:
    old, other = agent(Arm().pursue, slips=0.1), agent(new.pursue, slips=0.1)
    (found,) = (told := gate(old, other)).comparisons
    assert (found.verdict, told.code) == ((KEPT, 0) if where is None else (LOST, 5))
    if where is not None:
        assert found.witness is not None
        start = other.seeds.index(found.witness.start)
        step = GroundAction("achieve-on", found.witness.objective.atom.objects)
        assert other.pursue_from(start, step, found.witness.luck) == found.witness.new
        assert found.where is not None
        there, elsewhere = found.where
        assert (there.name, there.verdict) == (where, LOST)
        assert there.interval[0] > elsewhere.interval[1]
        assert not elsewhere.rates()[0] - elsewhere.rates()[1], "with the same luck nothing is lost there"
        assert f"lost where {where}: " in " ".join(str(told).split())
        assert told.json()["objectives"][0]["where"][0]["name"] == where
        with pytest.raises(AssertionError, match=r"achieve-on +lost: "):
            assert_nothing_lost(old, other)
    else:
        assert_nothing_lost(old, other)
    assert ("claimed falsely" in str(told)) is not (new.checks)


def test_what_is_lost_everywhere_is_not_said_to_be_lost_somewhere() -> None:
    for seed in some(4, range(10)):
        told = gate(agent(Arm().pursue, slips=0.1), agent(Arm().pursue, slips=0.7), seed=seed)
        assert [one.verdict for one in told.comparisons] == [LOST]
        assert told.comparisons[0].where is None


@pytest.mark.parametrize(
    ("where", "shown"), [("clear(?block2)", True), ("not clear(?block2)", False), ("?block1 is a", None)]
)
def test_whether_a_policy_can_do_what_it_should_is_told(where: str, shown: bool | None) -> None:
    arm = agent(Arm(clears=False).pursue, slips=0.1)
    most = 20 if shown is None else 2000
    found = capability(arm, "on", at_least=0.7, where=where, most=most)
    assert found.shown is shown
    if shown:
        assert_capability(arm, "on", at_least=0.7, where=where)
    else:
        with pytest.raises(AssertionError, match="for example seed"):
            assert_capability(arm, "on", at_least=0.7, where=where, most=most)


@pytest.mark.parametrize("luck", range(6))
def test_success_is_what_is_declared(luck: int) -> None:
    declared = {
        "lies(?it, ?base)": "on(?it, ?base) and clear(?it), not on(?base, c)",
        "bare()": "not on(a, b)",
    }
    arm = agent(Arm(checks=False).pursue, slips=0.4, objectives=None, success=declared)
    assert [str(one) for one in arm.headers] == ["achieve-lies(?it - block, ?base - block)", "achieve-bare()"]
    for start in range(len(arm.seeds)):
        ended = arm.pursue_from(start, GroundAction("achieve-lies", ("a", "b")), luck)
        here = ended.after.true
        holds = {Atom("on", ("a", "b")), Atom("clear", ("a",))} <= here and Atom("on", ("b", "c")) not in here
        assert ended.achieved is holds
        assert (Atom("bare", ()) in here) is (Atom("on", ("a", "b")) not in here)
    (lies, _), told = (AtomIndex(arm.vocabulary, one) for one in arm.headers), Atom("lies", ("a", "b"))
    assert [atom for atom in lies.atoms if atom.predicate in ("lies", "bare")] == [LiftedAtom("lies", (0, 1))]
    assert arm.vocabulary.undefined(frozenset({told, Atom("clear", ("a",))})) == {Atom("clear", ("a",))}


def test_names_that_hold_other_names_are_told_apart() -> None:
    words = replace(WORDS, predicates=(*WORDS.predicates, Predicate("cut-and-dry", ("block",))))
    declared = {"tower(?x, ?y)": "on(?x, ?y)", "high-tower(?x, ?y)": "cut-and-dry(?x) and on(?x, ?y)"}
    arm = agent(Arm().pursue, vocabulary=words, objectives=None, success=declared)
    for header in arm.headers:
        atoms = AtomIndex(arm.vocabulary, header).atoms
        assert [one.predicate for one in atoms if "tower" in one.predicate] == [
            header.name.removeprefix("achieve-")
        ]


def _capability(**change: Any) -> Any:
    return capability(agent(Arm().pursue), **{"objective": "on", "at_least": 0.5, **change})


def _matched(**change: Any) -> Any:
    return gate(agent(Arm().pursue), agent(Arm().pursue, **change))


def _told(template: str) -> str:
    return Objective(Atom("on", ("a", "b"))).text({"on": template})


@pytest.mark.parametrize(
    ("make", "change", "complaint"),
    [
        (_capability, {"objective": "above"}, "it is told on"),
        (_capability, {"where": "clear(?x)"}, r"no pursuit of on begins there; elsewhere holds \?block1 is "),
        (_capability, {"at_least": 1.5}, "out of range"),
        (_matched, {"objectives": ["above"]}, "no such predicate"),
        (_matched, {"objectives": []}, "name a predicate"),
        (_matched, {"success": {"on(?x)": "clear(?x)"}}, r"success 'on\(\?x\)': the name is taken"),
        (_matched, {"success": {"high(b)": "clear(b)"}}, "write a name with parameters"),
        (_matched, {"success": {"high(?x)": "clear ?x"}}, r"'clear \?x' is no fact; write on"),
        (_matched, {"success": {"high(?x)": ""}}, "'' is no fact"),
        (_matched, {"success": {"high(?x)": "above(?x)"}}, "no fact of the vocabulary"),
        (_matched, {"success": {"high(?x)": "on(?x, d)"}}, "'d' in .* is neither a parameter nor a block"),
        (_matched, {"success": {"high(?x)": "clear(a)"}}, r"nothing is said of \?x"),
        (_matched, {"success": {"high(?x)": "clear(?x), not clear(?x)"}}, "contradicts"),
        (_matched, {"seeds": ()}, "one seed at least"),
        (_matched, {"limit": 0}, "one step"),
        (_matched, {"access": "settable"}, "reset or snapshot"),
        (_matched, {"checkpoint": "nowhere"}, "nowhere: cannot be read"),
        (_matched, {"seeds": (1, 2)}, "cannot be matched"),
        (_matched, {"objectives": ["on-table"]}, "cannot be matched"),
        *((_told, {"template": one}, r"templates on: .* does not say on\(a, b\)") for one in WRONG),
    ],
)
def test_what_cannot_be_asked_is_refused(
    make: Callable[..., Any], change: dict[str, Any], complaint: str
) -> None:
    told_by(lambda: make(**change), complaint)


def test_the_command_compares_policies_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "arms.py").write_text(
        "from tests.policies.tower import Arm, agent\n"
        "old, other = agent(Arm().pursue, checkpoint='arms.py'), 3\nnew = agent(Arm(unable=('c',)).pursue)\n"
    )
    command = ("aam_vision.compare", "arms:old")
    lost = called(*command, "arms:new", "--gate", cwd=tmp_path, code=5)
    assert lost.stderr == ""
    assert "lost where ?block1 is c" in lost.stdout
    version = f"arms.py, SHA-256 {digest(tmp_path / 'arms.py')}"
    assert lost.stdout.startswith(f"A: arms:old ({version})\nB: arms:new\n")
    page = tmp_path / "gate.html"
    told = json.loads(called(*command, "arms:old", "--gate", "--json", "--page", page, cwd=tmp_path).stdout)
    assert told["verdict"] == "nothing lost"
    assert "<h1>The new version has lost nothing</h1>" in page.read_text()
    for more, complaint in (
        (("arms:old", "--gate", "--page", "."), "--page .: give a file that ends in .html"),
        (("arms:old", "--gate", "--page", "no/gate.html"), "there is no folder no; make it"),
        (("arms:new",), "add it"),
        (("arms:new", "--gate", "--max-states", "5"), "leave out --problem and --max-states"),
        (("arms:other", "--gate"), "is no PolicyAgent (but int)"),
        (("arms:absent", "--gate"), "has no absent"),
    ):
        assert complaint in refused(*command, *more, cwd=tmp_path)


def test_a_page_shows_what_is_lost_side_by_side() -> None:
    arms = Arm(), Arm(clears=False, checks=False)
    old, new = (agent(arm.pursue, slips=0.1, render_mode="rgb_array") for arm in arms)
    found = gate(old, new)
    films = found.films(old, new)
    page = side_by_side({"a": "arms:<old>", "b": "arms:new", **found.json()}, films)
    before, now = films["achieve-on"]
    assert len(before) > 1, "it takes away what lies on the place first"
    assert not np.array_equal(before[-1], now[-1])
    assert np.array_equal(before[0], now[0])
    assert page.count("<symbol ") == len({frame.tobytes() for frame in (*before, *now)})
    assert page.count('class="frame film') == 2
    assert "arms:&lt;old&gt;" in page
    for words in ("A: achieved", "B: claimed, not achieved", "It is lost where clear(?block2) does not hold"):
        assert words in page
    only = Tower(0.1, "rgb_array")
    for plain in (agent(Arm().pursue), agent(Arm().pursue, make=lambda: only)):
        assert found.films(plain, plain) == {}, "it renders nothing, or is always the same one"


def test_the_gate_says_how_many_steps_both_take() -> None:
    def hesitates(environment: Any, *given: Any) -> bool:
        environment.step(TABLE)
        return Arm(clears=False).pursue(environment, *given)

    (found,) = (told := gate(agent(Arm(clears=False).pursue), agent(hesitates))).comparisons
    assert (found.verdict, found.took) == (KEPT, (1, 2))
    assert "where both achieve it: 1.0 -> 2.0 steps on average" in str(told)
    (told,) = gate(agent(_restless, limit=2), agent(_restless, limit=3)).json()["objectives"]
    assert told["steps"] is None, "neither achieves anything"


def test_few_pairs_are_not_enough_to_be_sure() -> None:
    found = gate(agent(Arm().pursue), agent(Arm().pursue), most=5)
    assert (found.code, found.comparisons[0].verdict) == (6, UNSURE)


@thorough(300)
@given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 2**32))
def test_limits_of_a_difference_hold_at_all_times(one: float, other: float, seed: int) -> None:
    rng, held, counts = np.random.default_rng(seed), [], [0, 0, 0]
    for _ in range(60):
        kept, lost = rng.random() < one, rng.random() < other
        counts[0 if kept > lost else 2 if lost > kept else 1] += 1
        low, high = difference(*counts, 0.001)
        held.append(low <= one - other <= high)
    assert all(held), "once in 500 examples at most"


def _raises(*given: Any) -> bool:
    raise ZeroDivisionError("no weights")


def _exits(*given: Any) -> bool:
    sys.exit(0)


def _begins(environment: Any, *given: Any) -> bool:
    environment.reset(seed=1)
    return True


def _ponders(environment: Any, *given: Any) -> bool:
    while True:
        pass


def _strays(environment: Any, *given: Any) -> bool:
    environment.step(99)
    return True


@pytest.mark.parametrize(
    ("pursue", "complaint"),
    [
        (_raises, "the policy failed while it pursued on"),
        (_strays, "outside of its action space"),
        (_exits, "SystemExit"),
        (_ponders, r"the policy, which pursued on\(.*\), has not returned within 0.2 s"),
        (_begins, "reset its environment"),
    ],
)
def test_a_failure_of_the_harness_is_none_of_the_policy(pursue: Callable[..., bool], complaint: str) -> None:
    with pytest.raises(aam_vision.AgentFailed, match=complaint):
        gate(agent(Arm().pursue), agent(pursue, seconds=0.2))


class Restless(Tower):
    """A tower whose reset is another one each time."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.times = getattr(self, "times", 0) + 1
        return super().reset(seed=(seed or 0) + self.times)


def test_a_reset_that_is_another_one_each_time_is_a_failure_of_the_environment() -> None:
    moody = agent(Arm().pursue, make=Restless)
    with pytest.raises(aam_vision.AgentFailed, match="a reset with seed 0 showed other facts than before"):
        list(map(PolicyAgent.initial, [moody] * 10))


NOT_EVEN_A_TUPLE: Any = "a"
STRANGE = [Atom("clear", ("d",)), Atom("on", ("a",)), Atom("on", ("a", "robot")), ("clear", "a"), None]


@pytest.mark.parametrize("told", [*STRANGE, Atom("clear", NOT_EVEN_A_TUPLE)])
def test_a_fact_that_nobody_could_name_is_a_failure_of_the_harness(told: Any) -> None:
    robot = replace(WORDS, types=Types({"block": "object", "arm": "object"}))
    objects = {**dict.fromkeys(BLOCKS, "block"), "robot": "arm"}
    asked = agent(Arm().pursue, facts=lambda tower: [told], vocabulary=robot, objects=objects)
    with pytest.raises(aam_vision.AgentFailed, match="that the vocabulary and the objects do not have"):
        asked.initial()


def test_actions_of_another_precision_are_those_of_the_space() -> None:
    class Precise(Tower):
        action_space = Box(-1, 1, (2,), np.float32)  # type: ignore[assignment]

        def step(self, action: Any) -> Any:
            assert action.dtype == np.float32
            return super().step(int(action[0] > 0))

    def pursue(environment: Any, seen: Any, objective: Objective, limit: int) -> bool:
        environment.step(np.array([0.5, 0.5]))
        return True

    asked = agent(pursue, make=Precise)
    assert asked.ask(Query(asked.initial()[0], (ONTO,))).executed == 1


def test_the_command_refuses_names_that_its_journal_cannot_hold(tmp_path: Path) -> None:
    """Before the run, not when it has ended."""
    (tmp_path / "arms.py").write_text(
        "from tests.policies.tower import *\n"
        "arm = PolicyAgent(Tower, Arm().pursue, vocabulary=WORDS, facts=lambda tower: [], objects={'Red': 'block'})\n"
    )
    told = refused("aam_vision.run", "--env", "arms:arm", "--chance", "--out", "run", cwd=tmp_path)
    assert not (tmp_path / "run").exists()
    assert 'arms:arm: "Red" cannot name an object: use small letters' in told


def test_another_is_the_same_policy_in_an_environment_of_its_own() -> None:
    one = agent(Arm(clears=False).pursue, slips=0.5)
    other = one.another()
    for luck in range(5):
        with one.pursuit(0, ONTO, luck) as pursuit:  # while it is under way
            assert other.pursue_from(0, ONTO, luck) == other.pursue_from(0, ONTO, luck)
            given = pursuit.environment, pursuit.observation, pursuit.objective, pursuit.limit
            pursuit.claimed = Arm(clears=False).pursue(*given)
        assert pursuit.ended == other.pursue_from(0, ONTO, luck)
    tower = Tower()
    shared = agent(Arm().pursue, make=lambda: tower)
    told_by(shared.another, "the same environment each time")


def test_a_run_of_a_policy_is_taken_up_where_it_was_and_refused_where_the_policy_is_another() -> None:
    """As ``run --resume`` does: every recorded step is taken again, with the same luck."""
    one, other = (NumberedAgent(agent(Arm().pursue, slips=0.5).another(3), exact=True) for _ in range(2))
    starts, passages = one.initial(), []
    for number in range(12):
        query = Query(starts[number % len(starts)], (GroundAction("achieve-on", ("b", "a")),))
        passages.append(Passage(query.initial, query.plan, one.ask(query).final, None))
    begun = [Passage(None, (), start, None) for start in starts]
    other.resume([*begun, *passages])
    ask = Query(starts[0], (ONTO,))
    assert [other.ask(ask).final.state for _ in range(5)] == [one.ask(ask).final.state for _ in range(5)]
    another = NumberedAgent(agent(Arm(unable=("b",)).pursue, slips=0.5).another(3), exact=True)
    told_by(lambda: another.resume([*begun, *passages]), r"has done achieve-on\(b, a\) otherwise")


def test_the_command_interrogates_a_policy_of_a_module_and_says_which_version_it_was(tmp_path: Path) -> None:
    weights, code = tmp_path / "weights", "arm = agent(Arm().pursue, checkpoint='weights')"
    weights.mkdir()
    (weights / "a.bin").write_bytes(b"1")
    (tmp_path / "arms.py").write_text(f"from tests.policies.tower import Arm, agent\n{code}\n")
    run = ("aam_vision.run", "--env", "arms:arm", "--quiet", "--out", "run")
    done = called(*run, "--chance", "--within", "0.2", "--max-steps", "300", cwd=tmp_path, code=0)
    assert done.stderr == ""
    figures = result_of(tmp_path / "run")
    assert figures["env"] == "arms:arm"
    assert figures["checkpoint"] == {"weights": digest(weights)}
    assert f"weights, SHA-256 {figures['checkpoint']['weights']}" in done.stdout
    assert figures["checkpoint"]["weights"] in (tmp_path / "run/report.html").read_text()
    for more, complaint in (
        (("--problem", "1"), "--problem: cannot be used with a policy"),
        (("--access", "settable"), "--access settable: cannot be used with arms:arm"),
        (("--checkpoint", "nowhere"), "nowhere: cannot be read (no file or folder)"),
    ):
        assert complaint in refused(*run, "--force", *more, cwd=tmp_path)


def test_a_checkpoint_says_which_version_it_was_everywhere(tmp_path: Path) -> None:
    policies = []
    for name in ("old", "new"):
        (tmp_path / name).write_text(name)
        policies.append(agent(Arm().pursue, checkpoint=tmp_path / name))
    (tmp_path / "new").write_text("old")  # the hash is of what was there when it was loaded
    told = gate(*policies, most=3).json()["checkpoints"]
    assert told == [dict(one.checkpoint) for one in policies]
    assert [*told[0].values()] != [*told[1].values()]
    result = aam_vision.interrogate(policies[0], chance=True, max_steps=20)
    assert result.checkpoint == policies[0].checkpoint
    assert told[0][str(tmp_path / "old")] in str(result)

"""Whole interrogations of agents of which only the controls are known, with earlier runs, copies, and things that no fact shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from aam_vision.agents.bare import BareSymbolicAgent
from aam_vision.agents.copies import StatelessCopies, prove
from aam_vision.agents.numbered import NumberedAgent
from aam_vision.agents.workers import Crew, Held
from aam_vision.interrogation.controls import interrogating
from aam_vision.interrogation.controls.giving import Giving, StepsSpent, TwoWays, ground
from aam_vision.interrogation.controls.interrogating import Options, interrogate
from aam_vision.interrogation.controls.mapping import carriers
from aam_vision.interrogation.controls.operators import Transition, explanations
from aam_vision.interrogation.controls.prior import TRIED, Prior, try_earlier
from aam_vision.interrogation.controls.result import ControlsResult
from aam_vision.interrogation.controls.rules import Rules
from aam_vision.interrogation.controls.watching import HISTORY, LEAST, Watched, watch
from aam_vision.interrogation.task.verdict import NOT_STRIPS, OPEN
from aam_vision.model.domains import generate, load
from aam_vision.model.query import Query, Response, Situation
from aam_vision.model.strips import ActionHeader, GroundAction, Model, State
from aam_vision.run.targets.symbolic import read_controls
from aam_vision.support.errors import UnusableInput
from aam_vision.support.resources import Resources
from experiments.random_strips import random_domain
from tests.interrogation.controls.hidden_arguments import everything, hidden
from tests.profiles import crossed, first, scaled
from tests.resources import WHY, Looked

from . import worlds


def assert_right(result: ControlsResult, world: BareSymbolicAgent) -> None:
    """All is explained, and every control in every reachable state is predicted."""
    assert not result.unexplained
    for transition in worlds.reachable(world):
        assert result.predictions.agrees(transition.before, transition.control, transition.after)


@pytest.mark.parametrize(("seed", "name"), crossed(range(3), ["lamps", "wet", "door", "rooms"]))
def test_every_control_is_predicted_in_every_state(name: str, seed: int, tmp_path: Path) -> None:
    world = worlds.WORLDS[name].agent(tmp_path)
    assert_right(interrogate(world, seed), world)


def test_what_only_a_constant_singles_out_is_found(tmp_path: Path) -> None:
    states = worlds.lakes(worlds.model(worlds.LAKE, tmp_path))
    controls = ["right()=walk-right,fall-right", "left()=walk-left,fall-left"]
    world = worlds.agent(worlds.LAKE, controls, states, tmp_path)
    result = interrogate(world)
    assert len(result.operators) == 4
    assert_right(result, world)


def test_a_locked_door_is_opened_by_a_control_that_did_nothing_before(tmp_path: Path) -> None:
    controls = ["toggle()=unlock", "shut()=shut", "lock()=lock", "take(?k)=take", "put()=put"]
    result = interrogate(worlds.World(worlds.DOOR, controls, worlds.door).agent(tmp_path))
    assert not result.idle
    assert not result.unexplained


def blocks() -> BareSymbolicAgent:
    """Blocksworld by controls that name one block only: where the hand's block is put, or which one is taken."""
    model, rng = load("blocksworld"), np.random.default_rng(1)
    controls = [
        f"{name}=" + name.partition("(")[0]
        for name in ("pick-up(?x)", "put-down()", "stack(?y)", "unstack(?x)")
    ]
    states = [generate("blocksworld", 3, rng).initial for _ in range(2)]
    return BareSymbolicAgent(model, read_controls(model, controls), states)


@cache
def learned() -> ControlsResult:
    return interrogate(blocks())


def test_what_the_situation_implies_need_not_be_named() -> None:
    result = learned()
    assert result.interrogation.proven
    assert [one.header.name for one in result.operators] == ["pick-up", "put-down", "stack", "unstack"]
    within, beyond = result.certain
    assert within.startswith("within the discovered cases")
    assert "95% confidence" in beyond or "every control" in beyond


def test_the_same_seed_gives_the_same_operators_and_costs_and_resources_that_are_not_spent_change_nothing() -> (
    None
):
    again = interrogate(blocks(), options=Options(resources=Resources(1000, 10_000)))
    for name in ("model", "steps", "operators", "mapping", "why"):
        assert getattr(again, name) == getattr(learned(), name)


def test_no_control_is_given_twice_in_one_situation() -> None:
    world = blocks()
    giving = Giving(world)
    (start, *_) = giving.initial()
    control = GroundAction("pick-up", (start.state.objects.of_type("block")[0],))
    assert giving.give(start, control) == giving.give(start, control)
    assert giving.steps == 1


def test_a_control_that_never_did_anything_is_named_and_nothing_is_complete() -> None:
    result = replace(learned(), exhausted=False, covered=False)
    more = replace(result, transitions={**result.transitions, "wave": ()})
    assert more.idle == ("wave",)
    assert more.status == "open"
    assert more.certain[1].startswith("wave never did anything")
    assert replace(more, exhausted=True).status != "budget", "all was tried"
    tried = replace(more, covered=True)
    assert tried.status != "budget", "all kinds of situations were tried"
    assert "wave (0 situations) never did anything" in tried.certain[1]


class Idle(BareSymbolicAgent):
    """With one more control, which does nothing."""

    def __init__(self, agent: BareSymbolicAgent) -> None:
        self.__dict__ = agent.__dict__

    @property
    def headers(self) -> tuple[ActionHeader, ...]:
        return (*super().headers, ActionHeader("wave", (), ()))

    def ask(self, query: Query) -> Response:
        waved = [step.name for step in query.plan] == ["wave"]
        return Response(1, query.initial) if waved else super().ask(query)


def test_a_control_that_does_nothing_anywhere_meets_every_fact_around_it_and_the_run_is_complete() -> None:
    result = interrogate(Idle(blocks()))
    assert result.idle == ("wave",)
    assert result.exhausted or result.covered
    assert result.status.startswith("complete")


def test_steps_are_never_exceeded() -> None:
    result = interrogate(blocks(), options=Options(max_steps=25))
    assert result.steps == 25
    assert "max-steps" in result.why
    giving = Giving(blocks(), max_steps=0)
    with pytest.raises(StepsSpent):
        giving.give(giving.initial()[0], GroundAction("put-down", ()))


def test_so_many_queries_are_asked_for_each_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrogating, "QUERIES", 1)
    few, many = interrogate(blocks()), interrogate(blocks(), options=Options(max_queries=1000))
    assert few.interrogation.counts.queries == len(few.operators)
    assert few.status == "budget"
    assert few.missing == "the budget of 4 queries is spent"
    assert many.status == "complete"


@pytest.mark.parametrize("looks", [0, 1, 5, 120])
def test_when_time_or_memory_is_spent_what_is_known_is_told_and_nothing_more_is_asked(looks: int) -> None:
    result = interrogate(blocks(), options=Options(resources=Looked(looks)))
    assert result.status == "budget"
    assert result.missing == WHY
    assert result.diagnosis is None
    assert 0 <= result.steps < looks or looks == result.steps == 0
    assert result.model.headers == tuple(operator.header for operator in result.operators)
    assert bool(result.operators) is (looks > 1)


def test_what_no_fact_shows_is_named_with_two_situations(tmp_path: Path) -> None:
    giving = Giving(NumberedAgent(worlds.Forgetful(worlds.WORLDS["lamps"].agent(tmp_path), 2)))
    (here,) = giving.initial()
    for control in (GroundAction("red", ("two",)), GroundAction("green", ("two",))):
        _, here = giving.give(here, control)
    with pytest.raises(TwoWays, match=r"red\(two\) went two ways in situations that look alike") as raised:
        giving.give(here, GroundAction("red", ("two",)))
    one, other = raised.value.transitions
    assert one.before == other.before
    assert one.after != other.after


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("move", "write e.g."),
        ("move(?x)=fly", "no operator 'fly'"),
        ("move(?y)=pick-up", "pick-up has no parameter \\?y"),
        ("move()=", "write e.g."),
    ],
)
def test_a_control_that_cannot_be_used_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UnusableInput, match=said):
        read_controls(load("blocksworld"), [text])


NAMES = ["wet", "door", "lamps", "rooms"]


def _agent(name: str, folder: Path) -> worlds.BareSymbolicAgent:
    return worlds.WORLDS[name].agent(folder)


@pytest.mark.parametrize("name", first(2, NAMES))
def test_copies_are_given_the_same_controls_as_one_agent(name: str, tmp_path: Path) -> None:
    agent = _agent(name, tmp_path)
    crew = Crew(3, lambda: Held(_agent(name, tmp_path)), prove)
    copies = StatelessCopies(agent, crew)
    begun: list[int] = []
    announce = copies.expect
    copies.expect = lambda questions: (begun.append(len(questions)), announce(questions))[1]  # type: ignore[func-returns-value, method-assign]
    try:
        alone, together = interrogate(agent), interrogate(copies, options=Options(copies=3))
    finally:
        crew.close()
    assert alone.exhausted or max(begun) > 1, "several ways were begun at a time"
    assert (alone.pddl, alone.steps, alone.status) == (together.pddl, together.steps, together.status)
    one, other = (
        [(each.before, each.control, each.after) for found in result.transitions.values() for each in found]
        for result in (alone, together)
    )
    assert one == other


@pytest.mark.parametrize("name", first(2, NAMES))
def test_earlier_operators_are_tried_first_and_wrong_ones_change_nothing(name: str, tmp_path: Path) -> None:
    plain = interrogate(_agent(name, tmp_path))
    vocabulary, actions = plain.model.vocabulary, plain.model.actions
    wrong = tuple(replace(one, add=one.delete, delete=one.add) for one in actions)
    bare = tuple(replace(one, positive=frozenset(), negative=frozenset()) for one in actions)
    right, turned, loose = (
        Prior(Model(vocabulary, some), carriers(plain.mapping, plain.model))
        for some in (actions, wrong, bare)
    )
    giving = Giving(_agent(name, tmp_path))
    trials = try_earlier(giving, right)
    assert set(trials) == {header.name for header in plain.model.headers}
    assert all(one.as_before >= 1 and not one.contradicted for one in trials.values())
    assert giving.steps <= 4 * TRIED * len(trials)
    assert all(one.contradicted for one in try_earlier(Giving(_agent(name, tmp_path)), turned).values())
    for prior in (right, turned, loose):
        found = interrogate(_agent(name, tmp_path), options=Options(prior=prior))
        assert found.status == plain.status
        assert_right(found, _agent(name, tmp_path))


class Wearing(BareSymbolicAgent):
    """A control of it works so many times in an episode, which no fact shows."""

    def __init__(self, agent: BareSymbolicAgent, control: str, uses: int) -> None:
        self.__dict__.update(agent.__dict__)
        self.control, self.uses = control, uses

    def initial(self) -> list[Situation]:
        return [Situation((one.state, 0), one.state) for one in super().initial()]

    def ask(self, query: Query) -> Response:
        state, used = query.initial.handle
        for control in query.plan:
            worn = control.name == self.control and used >= self.uses
            after = state if worn else self.given(state, control)
            used += control.name == self.control and after != state
            state = after
        return Response(len(query.plan), Situation((state, used), state))


def rooms(folder: Path, starts: Sequence[State] = ()) -> BareSymbolicAgent:
    """The agent of the rooms: one control, which can always do something."""
    known = worlds.model(worlds.ROOMS, folder)
    return worlds.agent(worlds.ROOMS, ["go(?to)=go"], starts or [worlds.rooms(known)], folder)


def watched(known: ControlsResult, giving: Giving, seed: int) -> Watched:
    rules = Rules(known.discovery, giving)
    return watch(giving, rules, known.predictions, np.random.default_rng(seed))


def worn(known: ControlsResult, giving: Giving, seed: int) -> Transition:
    """The first transition of the walk that shows that a control has worn out; the one that it differs from is earlier."""
    try:
        seen = watched(known, giving, seed)
    except TwoWays as error:
        first, second = error.transitions
        assert (first.before, first.control) == (second.before, second.control)
        assert first.change
        return second
    return seen.surprise


@pytest.mark.parametrize(("everywhere", "uses"), crossed([False, True], [1, 2, 3, 5, 8, 12, HISTORY // 3]))
def test_what_wears_out_in_an_episode_is_seen(tmp_path: Path, everywhere: bool, uses: int) -> None:
    known = interrogate(rooms(tmp_path))
    starts = list(dict.fromkeys(one.before for one in worlds.reachable(rooms(tmp_path))))
    giving = Giving(Wearing(rooms(tmp_path, starts), "go", uses))
    for here in giving.initial() if everywhere else ():
        for control in ground(giving.controls, here.state):
            giving.give(here, control)
    shown = worn(known, giving, seed=uses)
    assert shown.control.name == "go"
    assert not shown.change, "it does nothing any more"


def test_what_is_as_predicted_surprises_nobody_and_the_same_seed_walks_alike(tmp_path: Path) -> None:
    known = interrogate(worlds.WORLDS["wet"].agent(tmp_path))
    walks = []
    for seed in (5, 5, 6):
        giving = Giving(Wearing(worlds.WORLDS["wet"].agent(tmp_path), "dry", 1_000))
        seen = watched(known, giving, seed)
        assert seen.surprise is None
        assert seen.in_a_row == LEAST
        assert seen.steps > 0
        walks.append([(one.transition.before, one.transition.control) for one in giving.given])
    assert walks[0] == walks[1]
    assert walks[0] != walks[2]


@pytest.mark.parametrize("left", first(1, [3, 1]))
def test_the_walk_gives_what_little_is_left(tmp_path: Path, left: int) -> None:
    known = interrogate(rooms(tmp_path))
    giving = Giving(rooms(tmp_path))
    worlds.give_everywhere(giving, giving.initial()[0], "go")
    assert giving.exhausted
    pairs = [(one.before, one.transition.control) for one in giving.given]
    starts = [before.state for before, _ in dict.fromkeys(pairs)]
    for seed in range(scaled(60)):  # by chance most walks come by what is left
        other = Giving(rooms(tmp_path, starts))
        other.initial()
        for before, control in pairs[:-left]:
            other.give(before, control)
        assert not other.exhausted
        assert watched(known, other, seed).surprise is None
        assert other.exhausted


@pytest.mark.parametrize("uses", first(3, [1, 2, 9, 3, 6]))
def test_an_interrogation_names_what_wears_out(tmp_path: Path, uses: int) -> None:
    result = interrogate(Wearing(rooms(tmp_path), "go", uses), options=Options(remembers=False))
    seen_to_differ = uses > 1  # else no situation looks like an earlier one in which it worked
    assert result.status == (NOT_STRIPS if seen_to_differ else OPEN)
    assert result.certain[0].startswith("nothing is certain")
    assert result.case_bound == 1, "nothing is certain of other cases"
    assert "no other case" not in result.certain[1]
    found = result.diagnosis
    assert found.culprit == "go"
    one, other = found.examples
    assert (one.outcome == "nothing changed") != (other.outcome == "nothing changed")


@pytest.mark.parametrize("uses", first(1, [3, 2, 9]))
def test_what_wears_out_by_what_it_did_is_learned(tmp_path: Path, uses: int) -> None:
    """Goes that lead nowhere wear nothing out, and lead to the very situation that they began in."""
    found = interrogate(Wearing(rooms(tmp_path), "go", uses))
    assert found.complete
    assert found.memory is not None
    assert found.memory.doing


DOMAINS = scaled(20)


def _is_wrong(result: ControlsResult, seen: Sequence[Transition]) -> bool:
    """Whether an operator is applicable where it should not be, or not where it should; a case that is missing is none that is wrong."""
    for one in seen:
        if result.predictions.agrees(one.before, one.control, one.after):
            continue
        explained = any(
            any(True for _ in explanations(each.effects, each.header.arity, each.derivations, one))
            for each in result.operators
            if each.control == one.control.name
        )
        silent = result.predictions.next_states(one.before, one.control) == {one.before}
        if not one.change or explained or not silent:
            return True
    return False


def test_what_is_complete_with_nothing_unexplained_is_right_in_every_reachable_state() -> None:
    complete = 0
    for seed in range(DOMAINS):
        domain = random_domain(seed)
        if domain.repeated:
            continue
        agent = hidden(domain, seed)
        seen = everything(agent)
        if seen is None or not any(transition.change for transition in seen):
            continue
        result = interrogate(agent, seed)
        inner = result.interrogation
        if inner is not None and inner.proven and not result.unexplained and not result.why:
            complete += 1
            assert not _is_wrong(result, seen), seed
    assert complete > DOMAINS // 5

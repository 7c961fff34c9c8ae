"""Effects that come later in PDDL: what is written is read again, and means to others what it means here."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.simulator import SimulatorAgent
from aam_vision.model.delayed import AT_SET_TIME, DelayedEffect, Delays, at_set_time
from aam_vision.model.pddl import Problem, domain_text, read_domain
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from aam_vision.model.unified import to_unified_planning
from tests.domains import delayed, domains, instances
from tests.profiles import thorough
from tests.refusals import told_by


@thorough(60)
@given(st.data())
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    (model, state), path = data.draw(delayed(domain)), tmp_path_factory.mktemp("pddl") / "domain.pddl"
    path.write_text(domain_text(model))
    read = read_domain(path)
    assert domain_text(read) == re.sub("  ; each problem begins with .*\n", "", domain_text(model))
    for _ in range(4):  # where an action does at once what it would do later, two texts may be one
        steps = [one for one in instances(model.headers, state.objects) if model.run(state, (one,))[0]]
        if not steps:
            break
        step = data.draw(st.sampled_from(steps))
        found = model.run(state, (step,))
        assert read.run(state, (step,)) == found
        state = found[1]


HOT = Predicate("hot", ("pot",))
HEAT = ActionHeader("heat", ("pot",), ("pot",))
DELAYS = Delays((DelayedEffect("heat", LiftedAtom("hot", (0,)), HOT, ("pot",), True, 2),))


def kitchen() -> Model:
    """Heating makes a pot hot two steps later."""
    vocabulary = Vocabulary("kitchen", (HOT,), Types({"pot": "object"})).with_delays(DELAYS)
    return Model(vocabulary, (ActionSchema(HEAT, delays=DELAYS),))


def test_what_comes_at_a_set_time_is_read_again_without_its_objects(tmp_path: Path) -> None:
    at_noon = DelayedEffect(AT_SET_TIME, LiftedAtom("hot", ("red",)), HOT, ("pot",), True, 3, firm=True)
    for effects in ((at_noon,), (replace(DELAYS.effects[0], firm=True), at_noon)):
        delays = Delays(effects)
        vocabulary = Vocabulary("kitchen", (HOT,), Types({"pot": "object"})).with_delays(delays)
        model = Model(vocabulary, (ActionSchema(HEAT, delays=delays),))
        (path := tmp_path / "domain.pddl").write_text(domain_text(model))
        read = read_domain(path)
        note = "  ; each problem begins with (hot-true-in-3 red)\n"
        assert domain_text(read) == domain_text(model).replace(note, "")
        assert note in domain_text(model)
        problem = Problem("pots", State(frozenset(), POTS))
        begun = to_unified_planning(model, problem).explicit_initial_values
        assert [str(fact) for fact, value in begun.items() if value.is_true()] == ["hot-true-in-3(red)"]
        state = delays.begun(State(frozenset(), POTS))
        for _ in range(4):
            found = model.run(state, (GroundAction("heat", ("blue",)),))
            assert read.run(state, (GroundAction("heat", ("blue",)),)) == found
            state = found[1]


POTS_TYPES = Types({"pot": "object"})
POTS = Objects({"red": "pot", "blue": "pot"}, POTS_TYPES)
ATOM = LiftedAtom("hot", (0,))
WARM, COOL, WAIT = (ActionHeader(name, ("pot",), ("pot",)) for name in ("warm", "cool", "wait"))


@pytest.mark.parametrize("firm", [False, True])
@pytest.mark.parametrize(("undoes", "restarts"), [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize(("value", "at_once"), [(True, None), (False, None), (True, False), (False, True)])
def test_another_reader_takes_the_same_steps(
    value: bool, at_once: bool | None, undoes: bool, restarts: bool, firm: bool
) -> None:
    effect = DelayedEffect("heat", ATOM, HOT, ("pot",), value, 2, undoes, restarts, firm)
    same_steps(Delays((effect,)), at_once)


@pytest.mark.parametrize("at_once", [None, False, True])
@pytest.mark.parametrize(("lasts", "returns"), [(0, 0), (2, 0), (1, 1), (2, 4)])
def test_another_reader_takes_the_same_steps_where_the_world_changes_by_itself(
    lasts: int, returns: int, at_once: bool | None
) -> None:
    """The blue pot begins with the opposite, and another time."""
    red = replace(at_set_time(HOT, ("red",), value=True, after=3), lasts=lasts, returns=returns)
    blue = replace(at_set_time(HOT, ("blue",), value=False, after=1), lasts=returns, returns=lasts)
    same_steps(Delays((red, blue) if returns else (red,)), at_once)


def same_steps(delays: Delays, at_once: bool | None) -> None:
    """Whether this toolkit's PDDL means to unified-planning what the model does; heating may itself do something at once."""
    vocabulary, does = Vocabulary("kitchen", (HOT,), POTS_TYPES).with_delays(delays), frozenset({ATOM})
    heat = ActionSchema(
        HEAT, add=does if at_once else frozenset(), delete=does if at_once is False else frozenset()
    )
    schemas = heat, ActionSchema(WARM, add=does), ActionSchema(COOL, delete=does), ActionSchema(WAIT)
    model = Model(vocabulary, tuple(replace(one, delays=delays) for one in schemas))
    state, rng = delays.begun(State(frozenset(), POTS)), np.random.default_rng(0)
    agent = SimulatorAgent(to_unified_planning(model, Problem("problem", state)))
    for number in rng.choice(8, size=40, p=[0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]):
        name, pot = ("heat", "heat", "warm", "cool", "wait")[number % 5], ("red", "blue")[int(number > 4)]
        step = GroundAction(name, (pot,))
        expected = model.run(state, (step,))
        answer = agent.ask(Query(Situation(state, state), (step,)))
        assert (answer.executed, answer.final.state.true) == (1, expected[1].true)
        state = expected[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(hot ?v0)", "(not (hot ?v0))"),
        ("(hot-true-in-1 ?v0)) (when", "(hot ?v0)) (when"),
        ("(hot-true-in-2 ?pot))", "(hot-true-in-1 ?pot))"),
    ],
)
def test_what_comes_later_in_another_way_is_refused(before: str, after: str, tmp_path: Path) -> None:
    text = domain_text(kitchen())
    assert before in text
    (path := tmp_path / "domain.pddl").write_text(text.replace(before, after, 1))
    told_by(lambda: read_domain(path), "in another form than this toolkit writes")
    path.write_text(text)
    assert read_domain(path) == kitchen()


def test_a_predicate_may_have_such_a_name(tmp_path: Path) -> None:
    model = kitchen()
    vocabulary = replace(model.vocabulary, delays=None)
    plain = Model(vocabulary, (ActionSchema(HEAT, add=frozenset({LiftedAtom("hot-true-in-1", (0,))})),))
    (path := tmp_path / "domain.pddl").write_text(domain_text(plain))
    read = read_domain(path)
    assert read == plain
    assert read.vocabulary.delays is None

"""Every family of faulty agents does what its name says, under every access."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from aam_vision import interrogate
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.model.domains import load
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import Atom, LiftedAtom, State, lifted_atoms
from experiments.faults import registry
from experiments.faults.conditional import LAMP, LIT, MARKED, RENEWED, SPELL_RATE, explanations
from experiments.faults.registry import FAMILIES, FAULTY, HONEST, faulty_agent, right_verdicts
from experiments.faults.world import OTHER, FaultyAgent, World, holds, named
from experiments.trust_runs import frequency_right, in_histories, interval, literal_right, unpredicted, wrong
from tests.profiles import crossed

OFTEN = ("silent no-op", "random refusal", "random outcome")
BY_CHANCE = (*OFTEN, "arguments swapped sometimes", "one look misread", "objects confused")
BY_CONDITION = {
    "repeated arguments": (True, False),
    "refused for another object": (False, True),
    "effect depends on own atom": (False, False),
    "effect depends on another object": (False, True),
}
"""Whether the condition is of an object named twice, and whether it is of another object."""
LATER = ("fault after k uses in the process", "drift of an effect", "drift of a precondition")
WITHIN_A_PLAN = registry.Counter | registry.Spoiling | registry.Stale | registry.WearingOff
"""What begins afresh with every question, where states can be set."""


def agents(family: str, access: str = "snapshot") -> Iterator[tuple[FaultyAgent, Any]]:
    """Agents of a family, each with its fault."""
    for seed in range(4):
        agent = faulty_agent(family, access, seed, size=1)
        yield agent, agent.fault


def walk(agent: FaultyAgent, steps: int) -> Iterator[tuple[Query, Response]]:
    """One-step questions in a row, about steps that an honest agent could execute."""
    rng, here = np.random.default_rng(0), agent.initial()[0]
    world = World(agent.fault.setting.initial[0], agent.fault.fresh(agent.fault.setting.initial[0]))
    for _ in range(steps):
        if (step := agent.option(world.state, rng)) is None:
            return
        query = Query(here, (step,))
        response = agent.ask(query)
        yield query, response
        here, world = response.final, agent.world_of(response.final)


def first(agent: FaultyAgent, steps: int = 200) -> tuple[Query, Response]:
    """The first of these questions that is about an action at which the fault may strike."""
    return next(asked for asked in walk(agent, steps) if asked[0].plan[0].name in agent.fault.actions)


def again(agent: FaultyAgent, query: Query, times: int) -> list[tuple[int, State]]:
    return [(one.executed, one.final.state) for one in (agent.ask(query) for _ in range(times))]


def held_out(agent: FaultyAgent, count: int) -> Iterator[Any]:
    return (one for _, one in in_histories(agent, count, np.random.default_rng(0)))


def touched(agent: FaultyAgent, query: Query) -> set[Atom]:
    """The atoms that the action of a question may change."""
    (step,) = query.plan
    schema = agent.fault.setting.model.schema(step.name)
    return {one.ground(step.objects) for one in schema.add | schema.delete}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_agent(family: str) -> None:
    one, other = ([*walk(faulty_agent(family, "reset", 3, size=1), 30)] for _ in range(2))
    assert one == other


@pytest.mark.parametrize("family", HONEST)
def test_honest_agents_do_what_their_model_says(family: str) -> None:
    for agent, fault in agents(family):
        for before, step, executed, after in held_out(agent, 200):
            state = fault.setting.outcome(before, step)
            assert (executed, after) == (state is not None, state or before)
        assert [*walk(agent, 20)]
        assert agent.showed == 0
        packaged = load(fault.setting.domain)
        assert agent.headers == packaged.headers
        assert (fault.setting.model == packaged) is (family == "honest")


@pytest.mark.parametrize(("family", "access"), crossed(sorted(set(FAULTY) - {"precondition lost"}), Access))
def test_faults_depart_from_the_honest_agent(family: str, access: Access) -> None:
    for agent, _ in agents(family, access.value):
        EnforcingAgent(agent).initial()
        assert [*walk(agent, 150)]
        for start in agent.initial() if access is not Access.TRAJECTORY else ():
            agent.walk(start, 60, np.random.default_rng(1))
        if agent.showed:
            return
    # what shows only within a plan is tried below
    assert access is Access.SETTABLE
    assert isinstance(agent.fault, WITHIN_A_PLAN)


@pytest.mark.parametrize(
    "family", sorted(set(FAULTY) - {*BY_CHANCE, *LATER, "precondition lost", "refused in spells"})
)
def test_a_snapshot_brings_back_what_is_hidden(family: str) -> None:
    for agent, _ in agents(family):
        for query, response in [*walk(agent, 40)]:
            assert again(agent, query, 1) == [(response.executed, response.final.state)]


@pytest.mark.parametrize("family", BY_CHANCE)
def test_chance_is_not_brought_back(family: str) -> None:
    for agent, _ in agents(family):
        assert any(len({*again(agent, query, 31)}) > 1 for query, _ in walk(agent, 40))


@pytest.mark.parametrize("family", LATER)
def test_changing_agents_keep_their_new_outcome_even_after_a_snapshot(family: str) -> None:
    for agent, fault in agents(family):
        assert not fault.since(agent.nature)
        asked = [*walk(agent, 150)]
        assert fault.since(agent.nature)
        query, then = next(one for one in asked if one[0].plan[0].name in fault.actions)
        (now,) = {*again(agent, query, 3)}
        assert family == "drift of a precondition" or now != (then.executed, then.final.state)


@pytest.mark.parametrize("family", ["hidden counter", "hidden fuel", "episode end"])
def test_counters_refuse_what_an_honest_agent_could_do_once_they_are_used_up(family: str) -> None:
    for agent, fault in agents(family):
        uses = 0
        for query, response in walk(agent, 60):
            counted = query.plan[0].name in fault.actions
            assert response.executed == (not counted or uses < fault.uses)
            uses += counted and (family == "episode end" or bool(response.executed))


def test_under_settable_access_hidden_things_begin_afresh_with_every_question() -> None:
    for agent, fault in agents("hidden fuel", "settable"):
        rng, start, plan = np.random.default_rng(0), agent.initial()[0], []
        state = start.state
        while len(plan) < 30:
            plan.append(agent.option(state, rng))
            assert agent.ask(Query(Situation(state, state), (plan[-1],))).executed
            state = fault.setting.outcome(state, plan[-1])
        assert agent.ask(Query(start, tuple(plan))).executed == fault.uses


def test_a_delayed_effect_comes_with_the_next_executed_step() -> None:
    for agent, fault in agents("delayed effect"):
        late = 0
        for (query, response), (then, after) in pairwise([*walk(agent, 200)]):
            (step,), before = query.plan, query.initial.state
            atom = fault.effect.ground(step.objects)
            honest = fault.setting.outcome(agent.world_of(query.initial).state, step)
            struck = step.name in fault.actions and response.executed
            if not struck or before.value(atom) == honest.value(atom):
                continue  # it has no effect here
            assert response.final.state.value(atom) == before.value(atom)
            if after.executed and atom not in touched(agent, then):
                assert after.final.state.value(atom) == honest.value(atom)
                late += 1
        assert late


def test_an_effect_that_wears_off_is_undone_by_the_last_of_so_many_steps() -> None:
    undone = 0
    for agent, fault in agents("effect wears off"):
        asked = [*walk(agent, 200)]
        for number, (query, response) in enumerate(asked[: -fault.lasting]):
            atom = fault.effect.ground(query.plan[0].objects)
            before, value = query.initial.state.value(atom), response.final.state.value(atom)
            later = asked[number + 1 : number + 1 + fault.lasting]
            changed = any(atom in touched(agent, then) for then, _ in later)
            if query.plan[0].name in fault.actions and value != before and not changed:
                seen = [after.final.state.value(atom) for _, after in later]
                assert seen == [value] * (len(later) - 1) + [before]
                undone += 1
    assert undone


def test_a_spoiled_object_is_refused_by_one_action_and_no_other_is() -> None:
    for agent, fault in agents("refused for a spoiled object"):
        spoiled, refused = set[str](), 0
        for query, response in walk(agent, 100):
            (step,) = query.plan
            bad = step.name in fault.actions and step.objects[fault.place] in spoiled
            assert response.executed is not bad
            refused += bad
            if response.executed and step.name == fault.spoiler:
                spoiled.add(step.objects[fault.spoiled])
        assert refused


def test_one_of_two_marks_is_enough() -> None:
    for agent, fault in agents("refused unless one of two"):
        (action,) = fault.actions
        found = {
            (tuple(Atom(MARKED, (name,)) in one.before.true for name in one.step.objects), one.executed)
            for one in held_out(agent, 2000)
            if one.step.name == action and fault.setting.outcome(one.before, one.step) is not None
        }
        pairs = combinations(range(fault.setting.header(action).arity), 2)
        assert (
            sum(all((marked[one] or marked[other]) == done for marked, done in found) for one, other in pairs)
            == 1
        )
        assert {executed for _, executed in found} == {False, True}


def test_a_lost_precondition_is_required_until_it_is_lost() -> None:
    for agent, fault in agents("precondition lost"):
        assert not fault.since(agent.nature)
        for one in held_out(agent, 300):
            assert one.executed is (fault.setting.outcome(one.before, one.step) is not None)
        agent.nature.clock = 10**6
        lax = [
            (one.step.name, fault.condition.ground(one.step.objects) in one.before.true)
            for one in held_out(agent, 1000)
            if one.executed and fault.setting.outcome(one.before, one.step) is None
        ]
        assert {*lax} == {(action, False) for action in fault.actions}


@pytest.mark.parametrize("family", BY_CONDITION)
def test_conditional_faults_strike_where_their_atom_says(family: str) -> None:
    for agent, fault in agents(family):
        values = set()
        for query, response in walk(agent, 200):
            (step,), before = query.plan, query.initial.state
            struck = (response.executed, response.final.state) != (1, fault.setting.outcome(before, step))
            if step.name in fault.actions:
                values.add((holds(fault.condition, before, step.objects), struck))
            else:
                assert not struck
        assert len({struck for _, struck in values}) == len({held for held, _ in values}) == len(values)
        (action,), (repeated, other) = fault.actions, BY_CONDITION[family]
        header = fault.setting.header(action)
        assert (fault.condition in lifted_atoms(agent.vocabulary, header)) is not (repeated or other)
        assert (fault.condition in lifted_atoms(agent.vocabulary, header, repeated=True)) is not other
        assert (OTHER in fault.condition.arguments) is other
        assert fault.condition in explanations(fault.setting, action, fault.condition)


def test_an_effect_elsewhere_is_on_an_object_that_no_argument_names() -> None:
    for agent, _ in agents("effect elsewhere"):
        assert any(
            not {*atom.objects} <= {*query.plan[0].objects}
            for query, response in walk(agent, 60)
            for atom in query.initial.state.true ^ response.final.state.true
        )


@pytest.mark.parametrize("family", OFTEN)
def test_chance_strikes_as_often_as_it_says(family: str) -> None:
    for agent, fault in agents(family):
        query, _ = first(agent)
        honest = fault.setting.outcome(agent.world_of(query.initial).state, query.plan[0])
        struck = sum(one != (1, honest) for one in again(agent, query, 600))
        assert abs(struck / 600 - fault.rate) < 4 * np.sqrt(fault.rate * (1 - fault.rate) / 600)


def test_spells_last_for_a_while() -> None:
    for agent, _ in agents("refused in spells"):
        refused = [not executed for executed, _ in again(agent, first(agent)[0], 2000)]
        kept = sum(one and other for one, other in pairwise(refused)) / sum(refused)
        assert abs(sum(refused) / len(refused) - SPELL_RATE) < 0.1
        assert abs(kept - (1 - RENEWED * (1 - SPELL_RATE))) < 0.08


@pytest.mark.parametrize("family", ["one look misread", "objects confused"])
def test_looks_are_misread_rarely_and_the_world_never_departs(family: str) -> None:
    for agent, fault in agents(family):
        start = agent.initial()[0]
        misread = sum(look != agent.world_of(start).state for _, look in again(agent, Query(start, ()), 1000))
        assert 0 < misread < 3 * 1000 * registry.LOOK_RATE
        for before, step, executed, look in held_out(agent, 200):
            assert look == fault.setting.outcome(before, step) or not executed


def test_states_are_misread_alike_at_every_look_and_by_a_process_of_its_own() -> None:
    nature = faulty_agent("honest", "reset", 0).nature
    for (_, one), (_, other) in zip(agents("states misread"), agents("states misread"), strict=True):
        states = {after for steps in one.setting.sample.values() for _, _, after in steps}
        seen = {state: one.see(World(state), nature) for state in states}
        assert any(state != look for state, look in seen.items())
        assert all(len(state.true ^ look.true) <= 1 for state, look in seen.items())
        assert all(look == other.see(World(state), nature) for state, look in seen.items())
    setting = one.setting
    share = registry.MisreadStates(setting, seed=0, states=1.0, share=0.2)
    flipped = sum(len(state.true ^ share.see(World(state), nature).true) for state in states)
    total = sum(len(share.atoms(state.objects)) for state in states)
    assert abs(flipped / total - 0.2) < 4 * np.sqrt(0.16 / total)


def test_a_lagging_image_shows_the_state_before() -> None:
    for agent, _ in agents("lagging image"):
        for query, response in walk(agent, 30):
            assert not response.executed or response.final.state == agent.world_of(query.initial).state


# Agents that change atoms of objects which their steps do not name do it as the visible state says.


def lit(state: State) -> list[bool]:
    return [Atom(LIT, (name,)) in state.true for name in state.objects.of_type(LAMP)]


@pytest.mark.parametrize("family", ["lamp of every step", "lamp of one action", "two lamps"])
def test_lamps_are_switched_by_their_actions_and_by_no_other(family: str) -> None:
    for agent, fault in agents(family):
        assert all(LAMP not in header.types for header in agent.headers)
        for before, step, executed, after in held_out(agent, 200):
            one, other = (
                sum(on << number for number, on in enumerate(lit(state))) for state in (before, after)
            )
            assert other == (one + (executed and step.name in fault.actions)) % 2 ** len(lit(before))


def test_the_lamp_of_a_count_is_on_while_it_is_odd() -> None:
    for agent, _ in agents("lamp of a count"):
        names = [predicate.name for predicate in agent.vocabulary.predicates if predicate.name != LIT]
        states = {one.after for one in held_out(agent, 200)}
        odd = [{(len(s.rows.get(name, ())) % 2 == 1, *lit(s)) for s in states} for name in names]
        assert {(True, True), (False, False)} in odd


def test_an_effect_on_all_objects_leaves_none_out() -> None:
    for agent, fault in agents("effect on all objects"):
        (kind,) = agent.vocabulary.predicate(MARKED).types
        for before, step, executed, after in held_out(agent, 200):
            struck = executed and step.name in fault.actions
            allowed = (0, len(after.objects.of_type(kind))) if struck else (len(before.rows.get(MARKED, ())),)
            assert len(after.rows.get(MARKED, ())) in allowed


# How faulty agents are judged: held-out steps, literals, frequencies.


@pytest.mark.parametrize("access", ["settable", pytest.param("reset", marks=pytest.mark.nightly)])
def test_a_right_model_is_equivalent_and_one_without_an_effect_is_not(access: str) -> None:
    agent = faulty_agent("honest", access, 2, size=1)
    result = interrogate(agent, seed=0)
    assert result.proven
    assert unpredicted(result, agent, np.random.default_rng(0)) == 0
    for family in ("effect elsewhere", "hidden fuel", "stale state"):
        others = (faulty_agent(family, access, seed, size=1) for seed in range(50))
        other = next(one for one in others if one.fault.setting.domain == agent.fault.setting.domain)
        assert unpredicted(result, other, np.random.default_rng(0)) > 0


def test_what_is_open_counts_neither_way() -> None:
    agent = faulty_agent("honest", "reset", 0, size=1)
    known = interrogate(agent, seed=0, max_steps=1).hypotheses
    assert not any(wrong(known, one) for one in held_out(agent, 300) if not known[one.step.name].successes)


def test_held_out_steps_leave_a_changing_agent_as_it_is() -> None:
    for agent, fault in agents("drift of an effect"):
        for before, step, executed, after in held_out(agent, 500):
            assert fault.setting.outcome(before, step) == (after if executed else None)
        assert not fault.since(agent.nature)


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    assert interval(0, 10) == pytest.approx((0.0, 0.30850), abs=1e-5)
    assert interval(5, 20) == pytest.approx((0.08657, 0.49105), abs=1e-5)


def test_a_literal_is_named_with_its_parameters_or_with_any_other_object() -> None:
    header = load("blocksworld").schema("stack").header
    one, other = header.parameters
    for text, arguments, right in (
        (f"not on(?{one}, ?{other})", (0, 1), True),
        (f"on(?{other}, ?{one})", (0, 1), False),
        (f"on(b7, ?{one}) holds", (OTHER, 0), True),
        (f"on(?{other}, ?{one})", (OTHER, 0), False),
        ("clear(b7)", (OTHER, 0), False),
    ):
        assert named(text, LiftedAtom("on", arguments), header) is right, text


def test_what_is_hidden_and_what_changes_count_alike_only_where_nothing_can_be_had_again() -> None:
    assert right_verdicts("hidden fuel", "reset") == ("hidden",)
    assert "changing" in right_verdicts("hidden fuel", "trajectory")
    assert "hidden" in right_verdicts("drift of an effect", Access.TRAJECTORY)
    assert right_verdicts("silent no-op", "trajectory") == ("random",)
    assert "misread" in right_verdicts("silent no-op", "reset", misread=True)
    right = [right_verdicts(family, "reset") for family in FAULTY]
    assert all(right)
    assert {verdict for some in right for verdict in some} == {family.value for family in Family}


def test_the_verdict_on_a_literal_and_on_a_frequency() -> None:
    _, fault = next(agents("effect depends on own atom"))
    agent, chance = next(agents("silent no-op"))
    (action,) = fault.actions
    text = fault.condition.text(fault.setting.header(action).parameters)
    conditional, random = (Diagnosis(one, "x", "x") for one in (Family.CONDITIONAL, Family.RANDOM))
    assert literal_right(fault, replace(conditional, literal=text)) is True
    assert literal_right(fault, replace(conditional, literal="nothing(?x)")) is False
    assert literal_right(fault, conditional) is False
    assert literal_right(fault, replace(conditional, literal=text, family=Family.MISREAD)) is None
    assert literal_right(chance, random) is None
    assert frequency_right(chance, replace(random, seen=8, tried=40)) is True
    assert frequency_right(chance, replace(random, seen=32, tried=40)) is False
    assert frequency_right(chance, random) is None
    state = chance.setting.initial[0]
    step = agent.option(state, np.random.default_rng(0))
    here, there = Situation(0, state), Situation(1, chance.setting.outcome(state, step))
    examples = (Example(here, step, "nothing", here), Example(here, step, "executed", there))
    told = replace(random, seen=32, tried=40, examples=examples)
    assert frequency_right(chance, told) is True, "the honest outcome was the unexpected one"

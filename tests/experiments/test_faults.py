"""Every family of faulty agents does what its name says, under every access."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from aam_vision import interrogate
from aam_vision.agents.enforcing import EnforcingAgent
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.model.domains import load
from aam_vision.model.query import Access, Query, Response, Situation
from aam_vision.model.strips import Atom, LiftedAtom, State, lifted_atoms
from experiments.faults.conditional import (
    LAMP,
    LIT,
    MARKED,
    RENEWED,
    SPELL_RATE,
    Chance,
    Conditional,
    explanations,
)
from experiments.faults.registry import (
    FAMILIES,
    FAULTY,
    HONEST,
    LOOK_RATE,
    Changing,
    Counter,
    Delayed,
    MisreadStates,
    Spoiling,
    Stale,
    Updated,
    WearingOff,
    faulty_agent,
    right_verdicts,
)
from experiments.faults.world import OTHER, FaultyAgent, World, holds, named
from experiments.trust_runs import (
    Attempt,
    attempts,
    frequency_right,
    interval,
    literal_right,
    mispredicted,
    wrong,
)
from tests.profiles import crossed

SEEDS = range(4)
BY_CHANCE = (
    "silent no-op",
    "random refusal",
    "random outcome",
    "arguments swapped sometimes",
    "one look misread",
    "objects confused",
)
BY_CONDITION = {
    "repeated arguments": (True, False),
    "refused for another object": (False, True),
    "effect depends on own atom": (False, False),
    "effect depends on another object": (False, True),
}
"""Whether the condition is of an object named twice, and whether it is of another object."""
LATER_OTHERWISE = ("fault after k uses in the process", "drift of an effect", "drift of a precondition")
WITHIN_A_PLAN = Counter | Spoiling | Stale | WearingOff
"""What begins afresh with every question, where states can be set."""


def _agents(family: str, access: str = "snapshot") -> Iterator[FaultyAgent]:
    return (faulty_agent(family, access, seed, size=1) for seed in SEEDS)


def _walk(agent: FaultyAgent, steps: int) -> Iterator[tuple[Situation, Query, Response]]:
    """One-step questions in a row, about steps that an honest agent could execute."""
    rng = np.random.default_rng(0)
    here = agent.initial()[0]
    world = World(agent.fault.setting.initial[0], agent.fault.fresh(agent.fault.setting.initial[0]))
    for _ in range(steps):
        step = agent.option(world.state, rng)
        if step is None:
            return
        query = Query(here, (step,))
        response = agent.ask(query)
        yield here, query, response
        here, world = response.final, agent.world_of(response.final)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_agent(family: str) -> None:
    one, other = ([*_walk(faulty_agent(family, "reset", 3, size=1), 30)] for _ in range(2))
    assert one == other


@pytest.mark.parametrize("family", HONEST)
def test_honest_agents_do_what_their_model_says(family: str) -> None:
    for agent in _agents(family):
        for before, step, executed, after in attempts(agent, 200, np.random.default_rng(0)):
            state = agent.fault.setting.outcome(before, step)
            assert (executed, after) == (state is not None, state or before)
        [*_walk(agent, 20)]
        assert agent.showed == 0


def test_arguments_in_another_order_make_another_model_with_the_same_headers() -> None:
    for agent in _agents("honest, arguments in another order"):
        packaged = load(agent.fault.setting.domain)
        assert agent.fault.setting.model != packaged
        assert agent.headers == packaged.headers


@pytest.mark.parametrize(("family", "access"), crossed(sorted(set(FAULTY) - {"precondition lost"}), Access))
def test_faults_depart_from_the_honest_agent(family: str, access: Access) -> None:
    agents = [faulty_agent(family, access, seed, size=1) for seed in SEEDS]
    for agent in agents:
        EnforcingAgent(agent).initial()
        [*_walk(agent, 150)]
        if access is not Access.TRAJECTORY:
            rng = np.random.default_rng(1)
            for start in agent.initial():
                agent.walk(start, 60, rng)
    if access is Access.SETTABLE and isinstance(agents[0].fault, WITHIN_A_PLAN):
        return  # it shows only within a plan: see below
    assert any(agent.showed for agent in agents)


@pytest.mark.parametrize(
    "family", sorted(set(FAULTY) - {*BY_CHANCE, *LATER_OTHERWISE, "precondition lost", "refused in spells"})
)
def test_a_snapshot_brings_back_what_is_hidden(family: str) -> None:
    for agent in _agents(family):
        asked = [*_walk(agent, 40)]
        for _, query, response in asked:
            again = agent.ask(query)
            assert (again.executed, again.final.state) == (response.executed, response.final.state)


@pytest.mark.parametrize("family", BY_CHANCE)
def test_chance_is_not_brought_back(family: str) -> None:
    for agent in _agents(family):
        answers = [
            {(r.executed, r.final.state) for r in [response, *(agent.ask(query) for _ in range(30))]}
            for _, query, response in _walk(agent, 40)
        ]
        assert any(len(found) > 1 for found in answers)


@pytest.mark.parametrize("family", LATER_OTHERWISE)
def test_changing_agents_keep_their_new_outcome_even_after_a_snapshot(family: str) -> None:
    for agent in _agents(family):
        assert isinstance(agent.fault, Changing)
        assert not agent.fault.since(agent.nature)
        asked = [*_walk(agent, 150)]
        assert agent.fault.since(agent.nature)
        first = next(
            (query, response) for _, query, response in asked if query.plan[0].name in agent.fault.actions
        )
        answers = {(r.executed, r.final.state) for r in (agent.ask(first[0]) for _ in range(3))}
        assert len(answers) == 1
        if family != "drift of a precondition":
            assert answers != {(first[1].executed, first[1].final.state)}


@pytest.mark.parametrize("family", ["hidden counter", "hidden fuel", "episode end"])
def test_counters_refuse_what_an_honest_agent_could_do_once_they_are_used_up(family: str) -> None:
    for agent in _agents(family):
        fault = agent.fault
        assert isinstance(fault, Counter)
        uses = 0
        for _, query, response in _walk(agent, 60):
            counted = query.plan[0].name in fault.actions
            assert response.executed == (not counted or uses < fault.uses)
            uses += counted and (family == "episode end" or bool(response.executed))


def test_under_settable_access_hidden_things_begin_afresh_with_every_question() -> None:
    for agent in _agents("hidden fuel", "settable"):
        assert isinstance(agent.fault, Counter)
        rng, state, plan = np.random.default_rng(0), agent.initial()[0].state, []
        start = Situation(state, state)
        while len(plan) < 30:
            step = agent.option(state, rng)
            assert step is not None
            assert agent.ask(Query(Situation(state, state), (step,))).executed
            plan.append(step)
            state = agent.fault.setting.outcome(state, step) or state
        assert agent.ask(Query(start, tuple(plan))).executed == agent.fault.uses


def test_a_delayed_effect_comes_with_the_next_executed_step() -> None:
    for agent in _agents("delayed effect"):
        fault, late = agent.fault, 0
        assert isinstance(fault, Delayed)
        asked = [*_walk(agent, 200)]
        for (_, query, response), (_, then, after) in pairwise(asked):
            step, before = query.plan[0], query.initial.state
            atom = fault.effect.ground(step.objects)
            honest = fault.setting.outcome(agent.world_of(query.initial).state, step)
            if step.name not in fault.actions or not response.executed or honest is None:
                continue
            if before.value(atom) == honest.value(atom):
                continue  # it has no effect here
            assert response.final.state.value(atom) == before.value(atom)
            undone = {lifted.ground(then.plan[0].objects) for lifted in _effects(agent, then.plan[0].name)}
            if after.executed and atom not in undone:
                assert after.final.state.value(atom) == honest.value(atom)
                late += 1
        assert late


def test_an_effect_that_wears_off_is_undone_by_the_last_of_so_many_steps() -> None:
    undone = 0
    for agent in _agents("effect wears off"):
        fault = agent.fault
        assert isinstance(fault, WearingOff)
        asked = [*_walk(agent, 200)]
        for number, (_, query, response) in enumerate(asked[: -fault.lasting]):
            atom = fault.effect.ground(query.plan[0].objects)
            before, value = query.initial.state.value(atom), response.final.state.value(atom)
            if query.plan[0].name not in fault.actions or value == before:
                continue
            later = asked[number + 1 : number + 1 + fault.lasting]
            named = [
                {one.ground(then.plan[0].objects) for one in _effects(agent, then.plan[0].name)}
                for _, then, _ in later
            ]
            if not any(atom in some for some in named):
                assert [after.final.state.value(atom) for _, _, after in later] == [value] * (
                    len(later) - 1
                ) + [before]
                undone += 1
    assert undone


def test_a_spoiled_object_is_refused_by_one_action_and_no_other_is() -> None:
    for agent in _agents("refused for a spoiled object"):
        fault, spoiled, refused = agent.fault, set[str](), 0
        assert isinstance(fault, Spoiling)
        for _, query, response in _walk(agent, 100):
            (step,) = query.plan
            bad = step.name in fault.actions and step.objects[fault.place] in spoiled
            assert response.executed is not bad
            refused += bad
            if response.executed and step.name == fault.spoiler:
                spoiled.add(step.objects[fault.spoiled])
        assert refused


def test_one_of_two_marks_is_enough() -> None:
    for agent in _agents("refused unless one of two"):
        (action,) = agent.fault.actions
        found = {
            (tuple(Atom(MARKED, (name,)) in one.before.true for name in one.step.objects), one.executed)
            for one in attempts(agent, 2000, np.random.default_rng(0))
            if one.step.name == action and agent.fault.setting.outcome(one.before, one.step) is not None
        }
        pairs = [
            (one, other)
            for one, other in combinations(range(agent.fault.setting.header(action).arity), 2)
            if all((marked[one] or marked[other]) == executed for marked, executed in found)
        ]
        assert len(pairs) == 1
        assert {executed for _, executed in found} == {False, True}


def test_spells_last_for_a_while() -> None:
    for agent in _agents("refused in spells"):
        query = next(query for _, query, _ in _walk(agent, 200) if query.plan[0].name in agent.fault.actions)
        refused = [not agent.ask(query).executed for _ in range(2000)]
        share = sum(refused) / len(refused)
        again = sum(one and other for one, other in pairwise(refused)) / sum(refused)
        assert abs(share - SPELL_RATE) < 0.1
        assert abs(again - (1 - RENEWED * (1 - SPELL_RATE))) < 0.08


def test_a_lost_precondition_is_required_until_it_is_lost() -> None:
    for agent in _agents("precondition lost"):
        fault = agent.fault
        assert isinstance(fault, Updated)
        assert not fault.since(agent.nature)
        for one in attempts(agent, 300, np.random.default_rng(0)):
            assert one.executed is (fault.setting.outcome(one.before, one.step) is not None)
        agent.nature.clock = 10**6
        freed = [
            one
            for one in attempts(agent, 1000, np.random.default_rng(0))
            if one.executed
            and not fault.setting.model.schema(one.step.name).applicable(one.before, one.step.objects)
        ]
        assert freed
        assert {one.step.name for one in freed} == {*fault.actions}
        assert fault.condition is not None
        assert not any(fault.condition.ground(one.step.objects) in one.before.true for one in freed)


def _effects(agent: FaultyAgent, action: str) -> frozenset[LiftedAtom]:
    schema = agent.fault.setting.model.schema(action)
    return schema.add | schema.delete


@pytest.mark.parametrize("family", BY_CONDITION)
def test_conditional_faults_strike_where_their_atom_says(family: str) -> None:
    for agent in _agents(family):
        fault, values = agent.fault, set()
        assert isinstance(fault, Conditional)
        assert fault.condition is not None
        for _, query, response in _walk(agent, 200):
            step, before = query.plan[0], query.initial.state
            honest = fault.setting.outcome(before, step)
            struck = (response.executed, response.final.state) != (1, honest)
            if step.name in fault.actions:
                values.add((holds(fault.condition, before, step.objects), struck))
            else:
                assert not struck
        assert len({struck for _, struck in values}) == len({held for held, _ in values}) == len(values)


def test_the_conditions_are_of_the_kinds_that_the_names_say() -> None:
    for family, (repeated, other) in BY_CONDITION.items():
        for agent in _agents(family):
            condition, (action,) = agent.fault.condition, agent.fault.actions
            assert condition is not None
            header = agent.fault.setting.header(action)
            hypotheses = lifted_atoms(agent.vocabulary, header)
            assert (condition in hypotheses) is not (repeated or other)
            assert (condition in lifted_atoms(agent.vocabulary, header, repeated=True)) is not other
            assert (OTHER in condition.arguments) is other
            assert condition in explanations(agent.fault.setting, action, condition)


def test_an_effect_elsewhere_is_on_an_object_that_no_argument_names() -> None:
    for agent in _agents("effect elsewhere"):
        changed = 0
        for _, query, response in _walk(agent, 60):
            atoms = query.initial.state.true ^ response.final.state.true
            changed += any(not set(atom.objects) <= set(query.plan[0].objects) for atom in atoms)
        assert changed


@pytest.mark.parametrize("family", ["silent no-op", "random refusal", "random outcome"])
def test_chance_strikes_as_often_as_it_says(family: str) -> None:
    for agent in _agents(family):
        fault = agent.fault
        assert isinstance(fault, Chance)
        assert fault.rate is not None
        query = next(query for _, query, _ in _walk(agent, 200) if query.plan[0].name in fault.actions)
        honest = agent.fault.setting.outcome(agent.world_of(query.initial).state, query.plan[0])
        struck = 0
        for _ in range(600):
            response = agent.ask(query)
            struck += (response.executed, response.final.state) != (1, honest)
        assert abs(struck / 600 - fault.rate) < 4 * np.sqrt(fault.rate * (1 - fault.rate) / 600)


@pytest.mark.parametrize("family", ["one look misread", "objects confused"])
def test_looks_are_misread_rarely_and_the_world_never_departs(family: str) -> None:
    for agent in _agents(family):
        (start, *_) = agent.initial()
        true = agent.world_of(start).state
        looks = [agent.ask(Query(start, ())).final.state for _ in range(1000)]
        misread = sum(look != true for look in looks)
        assert 0 < misread < 3 * 1000 * LOOK_RATE
        assert all(look == agent.fault.setting.outcome(before, step) or not executed
                   for before, step, executed, look in attempts(agent, 200, np.random.default_rng(0)))  # fmt: skip


def test_states_are_misread_alike_at_every_look_and_by_a_process_of_its_own() -> None:
    for seed in SEEDS:
        one, other = (faulty_agent("states misread", "snapshot", seed, size=1).fault for _ in range(2))
        assert isinstance(one, MisreadStates)
        nature = faulty_agent("honest", "reset", 0).nature
        states = {after for steps in one.setting.sample.values() for _, _, after in steps}
        seen = {state: one.see(World(state), nature) for state in states}
        assert any(state != look for state, look in seen.items())
        assert all(len(state.true ^ look.true) <= 1 for state, look in seen.items())
        assert all(look == other.see(World(state), nature) for state, look in seen.items())


def test_a_share_of_atoms_is_misread_in_every_situation() -> None:
    setting = faulty_agent("honest", "reset", 0).fault.setting
    fault, nature = (
        MisreadStates(setting, seed=0, states=1.0, share=0.2),
        faulty_agent("honest", "reset", 0).nature,
    )
    states = {after for steps in setting.sample.values() for _, _, after in steps}
    flipped = sum(len(state.true ^ fault.see(World(state), nature).true) for state in states)
    total = sum(len(fault.atoms(state.objects)) for state in states)
    assert abs(flipped / total - 0.2) < 4 * np.sqrt(0.16 / total)


def test_a_lagging_image_shows_the_state_before() -> None:
    for agent in _agents("lagging image"):
        for here, _, response in _walk(agent, 30):
            if response.executed:
                assert response.final.state == agent.world_of(here).state


# How faulty agents are judged: held-out steps, literals, frequencies.


@pytest.mark.parametrize("access", ["reset", "settable"])
def test_a_right_model_is_equivalent_and_one_without_an_effect_is_not(access: str) -> None:
    agent = faulty_agent("honest", access, 2, size=1)
    result = interrogate(agent, seed=0)
    assert result.proven
    assert mispredicted(result, agent, np.random.default_rng(0)) == 0
    for family in ("effect elsewhere", "hidden fuel", "stale state"):
        others = (faulty_agent(family, access, seed, size=1) for seed in range(50))
        other = next(one for one in others if one.fault.setting.domain == agent.fault.setting.domain)
        assert mispredicted(result, other, np.random.default_rng(0)) > 0


def test_what_is_open_counts_neither_way() -> None:
    agent = faulty_agent("honest", "reset", 0, size=1)
    nothing_known = interrogate(agent, seed=0, max_steps=1).hypotheses
    assert not any(
        wrong(nothing_known, one)
        for one in attempts(agent, 300, np.random.default_rng(0))
        if not nothing_known[one.step.name].successes
    )


def test_held_out_steps_leave_a_changing_agent_as_it_is() -> None:
    for agent in _agents("drift of an effect"):
        assert isinstance(agent.fault, Changing)
        for before, step, executed, after in attempts(agent, 500, np.random.default_rng(0)):
            assert agent.fault.setting.outcome(before, step) == (after if executed else None)
        assert not agent.fault.since(agent.nature)


@pytest.mark.parametrize(
    ("seen", "tried", "low", "high"),
    [(0, 10, 0.0, 0.30850), (10, 10, 0.69150, 1.0), (2, 10, 0.02521, 0.55610), (5, 20, 0.08657, 0.49105)],
)
def test_the_interval_is_that_of_clopper_and_pearson(seen: int, tried: int, low: float, high: float) -> None:
    assert interval(seen, tried) == pytest.approx((low, high), abs=1e-5)


def test_a_literal_is_named_with_its_parameters_or_with_any_other_object() -> None:
    agent = next(_agents("effect depends on own atom"))
    header = next(header for header in agent.headers if header.arity == 2)
    one, other = header.parameters
    assert named(f"not on(?{one}, ?{other})", LiftedAtom("on", (0, 1)), header)
    assert not named(f"on(?{other}, ?{one})", LiftedAtom("on", (0, 1)), header)
    assert named(f"on(b7, ?{one}) holds", LiftedAtom("on", (OTHER, 0)), header)
    assert not named(f"on(?{other}, ?{one})", LiftedAtom("on", (OTHER, 0)), header)
    assert not named("clear(b7)", LiftedAtom("on", (OTHER, 0)), header)


def test_what_is_hidden_and_what_changes_count_alike_only_where_nothing_can_be_had_again() -> None:
    assert right_verdicts("hidden fuel", "reset") == ("hidden",)
    assert "changing" in right_verdicts("hidden fuel", "trajectory")
    assert "hidden" in right_verdicts("drift of an effect", Access.TRAJECTORY)
    assert right_verdicts("silent no-op", "trajectory") == ("random",)
    assert "misread" in right_verdicts("silent no-op", "reset", misread=True)
    assert all(right_verdicts(family, "reset") for family in FAULTY)
    assert {verdict for family in FAULTY for verdict in right_verdicts(family, "reset")} == {
        family.value for family in Family
    }


def _diagnosed(agent: FaultyAgent, **changes: object) -> Diagnosis:
    plain = Diagnosis(Family.CONDITIONAL if agent.fault.condition else Family.RANDOM, "x", "x")
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_the_verdict_on_a_literal_and_on_a_frequency() -> None:
    agent = next(_agents("effect depends on own atom"))
    (action,) = agent.fault.actions
    header = agent.fault.setting.header(action)
    assert agent.fault.condition is not None
    text = agent.fault.condition.text(header.parameters)
    assert literal_right(agent.fault, _diagnosed(agent, literal=text)) is True
    assert literal_right(agent.fault, _diagnosed(agent, literal="nothing(?x)")) is False
    assert literal_right(agent.fault, _diagnosed(agent)) is False
    plain = _diagnosed(agent, literal=text, family=Family.MISREAD)
    assert literal_right(agent.fault, plain) is None, "nothing is said of a literal"
    chance = next(_agents("silent no-op"))
    assert literal_right(chance.fault, _diagnosed(chance)) is None
    assert frequency_right(chance.fault, _diagnosed(chance, seen=8, tried=40)) is True
    assert frequency_right(chance.fault, _diagnosed(chance, seen=32, tried=40)) is False
    assert frequency_right(chance.fault, _diagnosed(chance)) is None
    state = chance.fault.setting.initial[0]
    step = chance.option(state, np.random.default_rng(0))
    done = chance.fault.setting.outcome(state, step) if step is not None else None
    assert step is not None
    assert done is not None
    here, there = Situation(0, state), Situation(1, done)
    examples = (Example(here, step, "nothing", here), Example(here, step, "executed", there))
    told = _diagnosed(chance, seen=32, tried=40, examples=examples)
    assert frequency_right(chance.fault, told) is True, "the honest outcome was the unexpected one"


# Agents that change atoms of objects which their steps do not name do it as the visible state says.


def _attempts(family: str) -> Iterator[tuple[FaultyAgent, list[Attempt]]]:
    for seed in SEEDS:
        agent = faulty_agent(family, "snapshot", seed, size=1)
        yield agent, [*attempts(agent, 200, np.random.default_rng(seed))]


def _lit(state: State) -> list[bool]:
    return [Atom(LIT, (name,)) in state.true for name in state.objects.of_type(LAMP)]


@pytest.mark.parametrize("family", ["lamp of every step", "lamp of one action"])
def test_a_lamp_is_switched_by_its_actions_and_by_no_other(family: str) -> None:
    for agent, found in _attempts(family):
        assert all(LAMP not in header.types for header in agent.headers)
        for before, step, executed, after in found:
            switched = executed and step.name in agent.fault.actions
            assert (_lit(before) != _lit(after)) is switched


def test_two_lamps_count_to_four() -> None:
    for _, found in _attempts("two lamps"):
        for before, _, executed, after in found:
            one, other = (sum(on << number for number, on in enumerate(_lit(s))) for s in (before, after))
            assert other == (one + executed) % 4


def test_the_lamp_of_a_count_is_on_while_it_is_odd() -> None:
    for agent, found in _attempts("lamp of a count"):
        names = [predicate.name for predicate in agent.vocabulary.predicates if predicate.name != LIT]
        states = {one.after for one in found}
        odd = [{(len(s.rows.get(name, ())) % 2 == 1, *_lit(s)) for s in states} for name in names]
        assert {(True, True), (False, False)} in odd


def test_an_effect_on_all_objects_leaves_none_out() -> None:
    for agent, found in _attempts("effect on all objects"):
        (kind,) = agent.vocabulary.predicate(MARKED).types
        for before, step, executed, after in found:
            marked = len(after.rows.get(MARKED, ()))
            if executed and step.name in agent.fault.actions:
                assert marked in (0, len(after.objects.of_type(kind)))
            else:
                assert marked == len(before.rows.get(MARKED, ()))

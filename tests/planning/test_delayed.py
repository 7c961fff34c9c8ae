"""Plans with effects that come later: they lead to the goal by the model, and wait no longer than they have to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.delayed import DelayedEffect, Delays
from aam_vision.model.pddl import Problem
from aam_vision.model.strips import Atom, LiftedAtom, Model, State
from aam_vision.planning.planner import Found, Limits, Verdict, planned
from aam_vision.planning.pyperplan import PyperplanPlanner
from tests.domains import delayed, domains, instances, packaged
from tests.profiles import thorough

LIMITS = Limits(seconds=60, states=50_000)
MOST = 300


def distances(model: Model, start: State) -> dict[State, int] | None:
    """The states that the model leads to, each with the fewest steps; None if they are too many."""
    found, steps = {start: 0}, instances(model.headers, start.objects, most=10**6)
    for state in (waiting := [start]):
        for step in steps:
            executed, after = model.run(state, (step,))
            if executed and after not in found:
                found[after] = found[state] + 1
                waiting.append(after)
        if len(found) > MOST:
            return None
    return found


@thorough(60)
@given(st.data())
def test_there_is_a_plan_exactly_if_the_states_say_so(data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    model, start = data.draw(delayed(domain))
    if (reached := distances(model, start)) is None:
        return
    atoms = st.sampled_from(sorted({atom for state in reached for atom in state.true}) or [Atom("none", ())])
    wanted, unwanted = (
        data.draw(st.frozensets(atoms, max_size=2)),
        data.draw(st.frozensets(atoms, max_size=1)),
    )
    problem = Problem("goal", start, wanted - unwanted, unwanted)
    far = [
        steps
        for state, steps in reached.items()
        if wanted - unwanted <= state.true and unwanted.isdisjoint(state.true)
    ]
    found = planned(model, problem, PyperplanPlanner(), LIMITS)
    if not far:
        assert found is Verdict.UNSOLVABLE
        return
    assert isinstance(found, Found)
    executed, end = model.run(start, found.plan)
    assert executed == len(found.plan)
    assert wanted - unwanted <= end.true
    assert unwanted.isdisjoint(end.true)
    if model.vocabulary.delays is not None:
        assert len(found.plan) == min(far)


def test_a_search_ends_at_its_limits() -> None:
    model, (start,) = packaged("blocksworld")
    (schema,) = [one for one in model.actions if one.header.name == "pick-up"]
    held = LiftedAtom("holding", (0,))
    predicate = model.vocabulary.predicate("holding")
    effect = DelayedEffect("pick-up", held, predicate, schema.header.types, False, 2, undoes=True)
    delays = Delays((effect,))
    actions = tuple(replace(one, delays=delays) for one in model.actions)
    delayed_model = Model(model.vocabulary.with_delays(delays), actions)
    problem = Problem("goal", start, frozenset({Atom("none", ())}))
    for limits in (Limits(seconds=60, states=5), Limits(seconds=0, states=10**6)):
        assert planned(delayed_model, problem, PyperplanPlanner(), limits) is Verdict.LIMIT

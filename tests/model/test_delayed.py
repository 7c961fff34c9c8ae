"""Effects that come later: what waits comes when it is due, and is cancelled, put off or kept as they say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.delayed import DelayedEffect, Delays, at_set_time
from aam_vision.model.strips import Atom, GroundAction, LiftedAtom, Objects, Predicate, State, Types
from tests.domains import delayed, domains, instances
from tests.profiles import promised

OBJECTS = Objects({"red": "pot", "blue": "pot"}, Types({"pot": "object"}))
HOT = DelayedEffect("heat", LiftedAtom("hot", (0,)), Predicate("hot", ("pot",)), ("pot",), True, 2)
RED = Atom("hot", ("red",))


def pot(*true: Atom) -> State:
    """A state of which this is true."""
    return State(frozenset(true), OBJECTS)


def course(effect: DelayedEffect, *steps: tuple[str, bool | None]) -> list[bool]:
    """Whether the red pot is hot after each step of an action, which itself makes it so (or not), if it does anything."""
    delays, found = Delays((effect,)), list[bool]()
    state = delays.begun(pot())
    for name, value in steps:
        plain = delays.plain(state).true
        after = plain if value is None else plain | {RED} if value else plain - {RED}
        state = delays.passed(state, GroundAction(name, ("red",)), State(after, OBJECTS))
        found.append(RED in state.true)
    return found


WAIT, COOL, HEAT, WARM = ("wait", None), ("cool", False), ("heat", None), ("warm", True)


@pytest.mark.parametrize(
    ("effect", "steps", "hot"),
    [
        (HOT, (HEAT, WAIT, WAIT, WAIT), "..++"),
        (HOT, (HEAT, COOL, WAIT, WAIT), "..++"),  # it was cold: nothing has changed
        (HOT, (HEAT, WARM, COOL, WAIT), ".+.."),
        (replace(HOT, firm=True), (HEAT, WARM, COOL, WAIT), ".+++"),
        (replace(HOT, firm=True), (HEAT, WARM, WAIT, COOL), ".++."),
        (HOT, (HEAT, HEAT, WAIT, COOL, WAIT), "..+.."),  # the second time comes to nothing, as it was cooled
        (replace(HOT, firm=True), (HEAT, HEAT, COOL, COOL), "..++"),
        (replace(HOT, restarts=True), (HEAT, HEAT, WAIT, WAIT), "...+"),
        (replace(HOT, after=1), (HEAT, WAIT), ".+"),
        (replace(HOT, after=1), (HEAT, HEAT, COOL), ".+."),
        (replace(HOT, after=1, restarts=True), (HEAT, HEAT, WAIT), "..+"),
        (replace(HOT, value=False, undoes=True), (("heat", True), WAIT, WAIT, WAIT), "++.."),
        (replace(HOT, value=False, undoes=True), (WARM, ("heat", True), WAIT, WAIT), "++++"),
        (replace(HOT, value=False, undoes=True), (("heat", True), COOL, WARM, WAIT), "+.++"),
        (replace(HOT, value=False, undoes=True, firm=True), (("heat", True), COOL, WARM, WAIT), "+..."),
    ],
)
def test_an_effect_comes_when_it_is_due(
    effect: DelayedEffect, steps: tuple[tuple[str, bool | None], ...], hot: str
) -> None:
    assert "".join(".+"[one] for one in course(effect, *steps)) == hot


BY_CLOCK = at_set_time(HOT.predicate, ("red",), value=True, after=2)
DAILY = replace(BY_CLOCK, lasts=2, returns=3)


@pytest.mark.parametrize(
    ("effect", "steps", "hot"),
    [
        (BY_CLOCK, (WAIT,) * 9, ".++++++++"),
        (replace(BY_CLOCK, lasts=2), (WAIT,) * 9, ".++......"),
        (DAILY, (WAIT,) * 14, ".++...++...++."),
        (DAILY, (WAIT, WAIT, COOL, COOL, COOL, COOL, COOL, COOL), ".+....+."),  # whatever is done
        (DAILY, (WARM, WARM, WARM, WARM, WARM, WARM, COOL, COOL, COOL), "+++.+++.."),
        (replace(DAILY, value=False, after=1, lasts=1, returns=1), (WAIT,) * 6, ".+.+.+"),
    ],
)
def test_what_the_world_does_comes_and_goes_at_set_times(
    effect: DelayedEffect, steps: tuple[tuple[str, bool | None], ...], hot: str
) -> None:
    assert "".join(".+"[one] for one in course(effect, *steps)) == hot
    comes = [".+"[value] for _, value in effect.times(len(steps))]
    assert [hot[step - 1] for step, _ in effect.times(len(steps))] == comes


def test_a_fact_comes_and_goes_in_one_way_alone() -> None:
    """Each object may have times of its own, if it takes as long."""
    blue = replace(DAILY, atom=LiftedAtom("hot", ("blue",)))
    assert Delays((DAILY, replace(blue, after=1))).consistent
    assert Delays((DAILY, replace(blue, value=False, lasts=3, returns=2))).consistent
    for other in (replace(blue, returns=2), replace(blue, lasts=0, returns=0), replace(DAILY, after=1), HOT):
        assert not Delays((DAILY, other)).consistent


@promised(150)
@given(st.data())
def test_a_step_is_seen_as_it_is_foretold_and_what_is_not_known_is_not_claimed(data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    model, state = data.draw(delayed(domain))
    delays = model.vocabulary.delays
    if delays is None:
        return
    dim = state
    for _ in range(6):
        steps = [one for one in instances(model.headers, state.objects) if model.run(state, (one,))[0]]
        if not steps:
            break
        step = data.draw(st.sampled_from(steps))
        schema = model.schema(step.name)
        after = schema.successor(state, step.objects)
        assert delays.waited(state, step, delays.plain(after)) == after, (
            "as whoever sees only its end tells it"
        )
        at_once = replace(schema, delays=None).successor(state, step.objects)
        changed = delays.plain(after).true ^ delays.plain(at_once).true
        assert changed <= delays.due(state)
        assert delays.due(state) <= delays.due_within(state, [step])
        hidden = frozenset(atom for atom in sorted(state.true) if data.draw(st.booleans()))
        dim = State(dim.true - hidden, dim.objects, dim.unknown | (hidden & dim.true))
        foretold = schema.successor(dim, step.objects)
        assert foretold.true <= after.true
        assert after.true <= foretold.true | foretold.unknown
        state, dim = after, foretold
        freed = delays.freed(state)
        assert state.true <= freed.true | freed.unknown

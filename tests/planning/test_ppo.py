"""P_PO as PDDL, judged by unified-planning and Fast Downward."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    GroundAction,
    Location,
    Mode,
    Model,
    PalTuple,
    State,
    lifted_atoms,
)
from aam_vision.planning.ppo import DistinguishingProblem, ProblemFolder, add_palm, telling
from tests import domains, small
from tests.planning.fast_downward import BLIND, needs_fast_downward, planned, read, solves
from tests.profiles import crossed

PAIRS = [(Mode.POSITIVE, Mode.ABSENT), (Mode.NEGATIVE, Mode.ABSENT), (Mode.POSITIVE, Mode.NEGATIVE)]


def _but(model: Model, pal: PalTuple) -> set[PalTuple]:
    """All pal tuples but one."""
    pals = (
        PalTuple(atom, schema.header.name, place)
        for schema in model.actions
        for place in Location
        for atom in lifted_atoms(model.vocabulary, schema.header)
    )
    return {*pals} - {pal}


def _lamp(
    refined: Iterable[PalTuple] = (), model: Model | None = None
) -> tuple[DistinguishingProblem, State]:
    """Whether the bell needs light, and a start where the lamp is lit."""
    lamp, start, pal = domains.bell_and_lamp()
    return DistinguishingProblem(model or lamp, refined, pal, Mode.POSITIVE, Mode.ABSENT), start


@pytest.mark.parametrize(
    ("empty", "location", "j"), crossed([False, True], Location, [Mode.NEGATIVE, Mode.ABSENT])
)
def test_a_plan_solves_p_po_if_the_models_differ(
    empty: bool, location: Location, j: Mode, tmp_path: Path
) -> None:
    """M' is empty, or the true gripper model without gamma; unified-planning reads P_PO and simulates every step."""
    from unified_planning.shortcuts import SequentialSimulator

    truth, (start,) = domains.packaged("gripper", size=1)
    pick = next(step for step in domains.applicable(truth, start) if step.name == "pick")
    initial = domains.successor(truth, start, pick)
    schema = truth.schema("drop")
    atom = min(schema.positive if location is Location.PRE else schema.add, key=str)
    pal = PalTuple(atom, "drop", location)
    nothing = Model(truth.vocabulary, tuple(ActionSchema(header) for header in truth.headers))
    known, refined = (nothing, set()) if empty else (truth, _but(truth, pal))
    made = DistinguishingProblem(known, refined, pal, Mode.POSITIVE, j)
    problem = read(made, initial, tmp_path)
    outcomes = set()
    with SequentialSimulator(problem) as simulator:
        begin = simulator.get_initial_state()
        for step in domains.instances(truth.headers, initial.objects, 1000):
            arguments = [problem.object(o) for o in step.objects]
            after = simulator.apply(begin, problem.action(step.name), arguments)
            differ = solves(made, initial, [step])
            assert (after is not None and simulator.is_goal(after)) is differ, step
            outcomes.add(differ)
    assert outcomes == {True, False}


@pytest.mark.parametrize(("i", "j"), PAIRS)
@pytest.mark.parametrize("lit", [True, False])
def test_the_last_step_tells_two_modes_apart_by_a_telling_value(lit: bool, i: Mode, j: Mode) -> None:
    """Whether the model says that the bell needs the light, or that it changes it."""
    model, start, pal = domains.bell_and_lamp()
    initial = start if lit else State(frozenset(), start.objects)
    for location in Location:
        made = DistinguishingProblem(model, [], pal._replace(location=location), i, j)
        assert solves(made, initial, [GroundAction("ring", ())]) is (lit in telling(i, j))


@needs_fast_downward
@pytest.mark.parametrize("options", [BLIND, {"fast_downward_alias": "lama-first"}])
def test_fast_downward_solves_p_po(options: dict[str, str], tmp_path: Path) -> None:
    """Two steps are needed: the lamp is lit, and a bell that rings in the dark as well is told in the dark."""
    model, _, pal = domains.bell_and_lamp()
    made, start = _lamp(_but(model, pal))
    plan = planned(read(made, start, tmp_path), options)
    assert plan == [small.step("off"), small.step("ring")]
    assert solves(made, start, plan)


@needs_fast_downward
def test_p_po_has_no_solution_where_no_plan_leads_to_a_telling_value(tmp_path: Path) -> None:
    """Nothing switches the lamp off, as far as M' knows; and its light is uncertain after what M' does not know."""
    model, *_ = domains.bell_and_lamp()
    ring_only = Model(model.vocabulary, (model.schema("ring"), ActionSchema(ActionHeader("off"))))
    assert planned(read(*_lamp(model=ring_only), tmp_path), BLIND) is None


def test_add_palm_replaces_the_mode_that_was_there() -> None:
    model, _, pal = domains.bell_and_lamp()
    for location in Location:
        for mode in (*Mode, *Mode):
            model = add_palm(model, pal._replace(location=location), mode)
            assert model.schema("ring").mode(pal.atom, location) is mode
    assert model.schema("off") == domains.bell_and_lamp()[0].schema("off")


def test_every_problem_is_kept_under_its_number_action_and_pal_tuple(tmp_path: Path) -> None:
    model, (start,) = domains.packaged("gripper", size=1)
    atom = min(model.schema("pick").positive, key=str)
    made = DistinguishingProblem(model, [], PalTuple(atom, "pick", Location.PRE), Mode.POSITIVE, Mode.ABSENT)
    unknown = State(start.true, start.objects, small.atoms("free left") - start.true)
    for _ in range(2):  # the second folder is that of a run that goes on
        ProblemFolder(tmp_path / "ppo").write(made, unknown)
    names = sorted(path.name for path in (tmp_path / "ppo").iterdir())
    parts = [
        f"{n}-pick-pre-at-obj-room-plus-none-{part}.pddl"
        for n in ("0001", "0002")
        for part in ("domain", "problem")
    ]
    assert names == parts
    assert tuple((tmp_path / "ppo" / name).read_text() for name in names[:2]) == made.pddl(unknown)


def test_an_unknown_atom_is_in_neither_copy_of_the_initial_state() -> None:
    made, start = _lamp()
    _, problem = made.pddl(State(frozenset(), start.objects, small.atoms("lit")))
    assert "; unknown: lit()" in problem
    assert "(:init )" in problem


def test_an_action_leaves_the_value_certain_exactly_if_its_effects_on_it_are_in_the_model() -> None:
    model, _, pal = domains.bell_and_lamp()
    lit = [PalTuple(pal.atom, header.name, Location.EFF) for header in model.headers]
    for refined in ([], lit):
        made, start = _lamp(refined)
        assert ("(not (p-u-i))" in made.pddl(start)[0]) is bool(refined)

"""PDDLGym's domains with chance: what may come of a step is PDDLGym's, drawn anew each time, and all of it is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aam_vision.classifiers.loading import load_perception
from aam_vision.envs import TOLD_WITH_CHANCE, WITH_CHANCE
from aam_vision.envs.pddlgym_domains import cases, parsed
from aam_vision.envs.pddlgym_files import chance_model, initial_states
from aam_vision.envs.registry import board_domain
from aam_vision.envs.sources import SEEN_AT
from aam_vision.model.strips import Atom
from tests.domains import all_bindings

BROKEN = Atom("table-destroyed", ())


@pytest.mark.parametrize("name", [*TOLD_WITH_CHANCE, *WITH_CHANCE])
def test_cases_are_those_of_the_model_of_the_file(name: str) -> None:
    model = chance_model(name)
    for operator in parsed(name).operators.values():
        shares = sorted(share for share, _ in cases(operator))
        assert sum(shares) == pytest.approx(1)
        outcomes = model.schema(operator.name).outcomes
        assert shares == pytest.approx(sorted(one.probability for one in outcomes))
    known = {predicate.name for predicate in model.vocabulary.predicates}
    for state in initial_states(name, "train"):
        assert {atom.predicate for atom in state.true} <= known
        bound = ((one, all_bindings(one.header, state.objects, repeated=True)) for one in model.actions)
        assert any(schema.applicable(state, row) for schema, rows in bound for row in rows)


def test_a_snapshot_does_not_bring_chance_back() -> None:
    simulator = board_domain("explodingblocks").simulator(("train", 0))

    def broken(seed: int) -> list[bool]:
        simulator.np_random = np.random.default_rng(seed)
        simulator.start()
        assert simulator.instruct("pick-up", ("a", "robot"))
        here, found = simulator.snapshot(), []
        for _ in range(300):
            simulator.restore(here)
            assert simulator.instruct("put-down", ("a", "robot"))
            found.append(BROKEN in simulator.snapshot().dynamic)  # type: ignore[attr-defined]
        return found

    one = broken(0)
    assert 15 <= sum(one) <= 50, "one in ten"
    assert broken(0) == one
    assert broken(1) != one


def test_crosses_are_seen_on_blocks_and_the_table() -> None:
    domain = board_domain("explodingblocks")
    layout = domain.load("train", 2)
    drawing = domain.drawing(layout)
    frames = {drawing.frame(layout.initial).tobytes()}
    low = [atom.objects[0] for atom in sorted(layout.initial) if atom.predicate in ("ontable", "on")]
    for atom in (BROKEN, *(Atom("destroyed", (block,)) for block in low)):
        frames.add(drawing.frame(layout.initial | {atom}).tobytes())
    assert len(frames) == 2 + len(low)


def test_the_shipped_classifiers_read_what_they_never_saw() -> None:
    domain = board_domain("explodingblocks")
    perception = load_perception(domain.visual, domain.name, None)
    exact = 0
    for pictures in domain.examinations(40, 7)["unseen"]:
        for state in pictures.states:
            sighted = domain.visual.sighted(pictures.scene, state.true)
            at = {one.objects[0]: one.objects[1] for one in sighted if one.predicate == SEEN_AT}
            seen = perception.look(pictures.draw(state), replace(pictures.scene, anchors=at)).state
            assert not (seen.true ^ state.true) - seen.unknown
            exact += not seen.unknown
    assert exact >= 39

"""Grids of handwritten digits: what they show is what is true, and nothing of the agent's was labelled; the table of all domains."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aam_vision
from aam_vision.agents.perception import Defined
from aam_vision.classifiers.reading import SceneIndex
from aam_vision.envs.own import told
from aam_vision.model.strips import Atom, State
from aam_vision.report.evaluation import exact
from aam_vision.training.assessment import expected
from experiments.digits import SEEN, SIDE, WORLDS, DigitGrid, DrawnAnew, environment, handwritten, shown
from experiments.pictures import BOARDS, DIGITS, UNDRAWN, solves, table
from tests.commands import refused

MISSING = find_spec("sklearn") is None


@pytest.mark.skipif(not MISSING, reason="scikit-learn is there")
def test_where_digits_are_missing_one_line_says_what_to_install(tmp_path: Path) -> None:
    assert 'pip install "aam-vision[digits]"' in refused("experiments.pictures", cwd=tmp_path)


@pytest.fixture(params=DIGITS)
def name(request: pytest.FixtureRequest) -> str:
    if MISSING:
        pytest.skip("needs the extra digits")
    return request.param


@pytest.mark.skipif(MISSING, reason="needs the extra digits")
def test_no_digit_is_both_labelled_and_shown() -> None:
    taught, own = (
        {image.tobytes() for each in handwritten(labelled=one) for image in each} for one in (True, False)
    )
    assert min(len(taught), len(own)) > 800
    assert not taught & own


def test_right_classifiers_read_the_true_state_and_what_is_doubtful_is_unknown(name: str) -> None:
    world, rng = WORLDS[name], np.random.default_rng(0)
    described, grid = environment(world, 1), DigitGrid(world, labelled=True)
    for seed in range(50):
        grid.reset(seed=seed)
        grid.places = world.random(rng, carried=True)
        scene, seen, true = described.scene(grid), frozenset(shown(grid)), world.state(grid.places)
        read = expected(
            described.visual, SceneIndex(described.visual, scene), State(seen, world.objects)
        ).state
        assert (read.true, read.unknown) == (true.true, frozenset())
        assert world.places(read) == grid.places
        thing = str(rng.choice(list(world.reach)))
        (own,) = (atom for atom in seen if atom.objects[0] == thing)
        doubted = frozenset({own, Atom(SEEN, (thing, f"{rng.choice(world.reach[thing])}/0"))})
        for entry in described.visual.entries:
            if isinstance(entry, Defined):
                holds, unknown = entry.atoms(scene, State(seen - doubted, world.objects, doubted))
                wanted = {atom for atom in true.true if atom.predicate == entry.predicate.name}
                assert {*holds} <= true.true
                assert wanted <= {*holds, *unknown}


def test_a_digit_is_drawn_where_its_label_says_and_nowhere_else(name: str) -> None:
    for one in islice(environment(WORLDS[name], 1).pictures(np.random.default_rng(0)), 20):
        cells = [one.scene.cells[atom.objects[1]][0] for atom in one.true if atom.predicate == SEEN]
        ink = one.frame[..., 0].reshape(one.scene.rows, SIDE, one.scene.columns, SIDE).any((1, 3))
        assert sorted(cells) == [tuple(cell) for cell in np.argwhere(ink).tolist()]


def test_every_look_shows_other_digits_and_going_back_leads_to_the_same_situation(name: str) -> None:
    simulator: Any = environment(WORLDS[name], 1).simulator(("seed", 0))
    anew = DrawnAnew(simulator, np.random.default_rng(0))
    here, places = simulator.snapshot(), simulator.present.places
    assert not np.array_equal(anew.frame(), anew.frame())
    assert simulator.instruct(*simulator.choose(np.random.default_rng(0)))
    assert simulator.present.places != places
    simulator.restore(here)
    assert simulator.present.places == places


def test_who_reads_them_rightly_learns_the_domain_and_plans_with_it(name: str) -> None:
    world = WORLDS[name]
    result = aam_vision.interrogate(told(environment(world, 1), shown), exam=0)
    assert result.proven
    assert exact(result.model, world.truth)
    assert solves(result.model, world.truth, world.problem(0))


def test_the_table_has_a_line_for_every_domain_and_only_others_figures_where_nothing_is_drawn() -> None:
    counts = dict.fromkeys(
        ("labelled", "atoms", "atoms_wrong", "atoms_read", "read", "exact", "steps", "model_exact", "precision", "recall",
         "false", "certain", "solved", "solvable", "seconds"), 1)  # fmt: skip
    made = table([{"domain": name, "status": "complete", **counts} for name in (*BOARDS, *DIGITS)])
    assert [line[0] for line in made.rows] == [*BOARDS, *DIGITS, UNDRAWN]
    assert {len(line) for line in made.rows} == {len(made.columns)}
    assert [cell is None for cell in made.rows[-1]] == [False, *[True] * (len(made.columns) - 2), False]

"""All choices of arguments at once say what each of them says by itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.beliefs.binding_grid import Samples, StateGrid, best_choices, distinct_share
from aam_vision.interrogation.hypotheses.literals import NOTHING, AtomIndex, Literals
from aam_vision.model.strips import Objects, Types
from experiments.random_strips import random_domain
from tests import domains
from tests.domains import Domain, all_bindings
from tests.profiles import scaled, thorough


def test_atoms_are_true_in_the_grid_where_they_are_true_one_by_one() -> None:
    empty = 0
    for seed in range(scaled(150)):
        domain = random_domain(seed)
        for state, header in product(domain.problems, domain.model.headers):
            grid = StateGrid(state, domain.model.vocabulary)
            index = AtomIndex(domain.model.vocabulary, header, repeated=domain.repeated)
            pools = [state.objects.of_type(kind) for kind in header.types]
            rows = list(product(*pools))
            empty += not rows
            places = np.array(list(product(*(range(len(pool)) for pool in pools))), dtype=np.intp)
            chosen = places.reshape(len(rows), header.arity)
            shape = tuple(map(len, pools))
            assert grid.cells(index) == len(rows)
            distinct = [len(set(row)) == len(row) for row in rows]
            assert grid.distinct(index).ravel().tolist() == distinct
            for atom in index.atoms:
                expected = [atom.ground(row) in state.true for row in rows]
                assert np.broadcast_to(grid.true(atom, index), shape).ravel().tolist() == expected
                assert np.asarray(grid.true(atom, index, chosen)).tolist() == expected
    assert empty, "some of the types have no objects"


@given(
    st.lists(st.sampled_from(["level", "truck", "nothing"]), max_size=4), st.integers(1, 4), st.integers(1, 3)
)
def test_the_share_of_distinct_choices_is_that_of_all_choices(
    kinds: list[str], levels: int, trucks: int
) -> None:
    named = {f"l{n}": "level" for n in range(levels)} | {f"t{n}": "truck" for n in range(trucks)}
    objects = Objects(named, Types())
    rows = list(product(*map(objects.of_type, kinds)))
    if rows:
        distinct = sum(len(set(row)) == len(row) for row in rows)
        assert distinct_share(objects, kinds) == pytest.approx(distinct / len(rows))


# The beam search finds the arguments under which most guesses hold.


@thorough(60)
@given(domains.domains(constants=True), st.integers(0, 10**6))
def test_the_best_choice_is_the_best_of_all_and_violates_nothing_proven(domain: Domain, seed: int) -> None:
    """With a beam so wide that nothing is left out, against every binding."""
    rng, state = np.random.default_rng(seed), domain.problems[0]
    for header in domain.model.headers:
        index, grid = AtomIndex(domain.model.vocabulary, header), StateGrid(state, domain.model.vocabulary)
        literals = [*Literals(index.everything, 0).singles(), *Literals(0, index.everything).singles()]
        required = (rng.random((20, len(literals))) < 0.2).astype(np.float32)
        guesses = Samples(literals, required, rng.random(len(literals)))
        choices = best_choices(grid, index, NOTHING, guesses, width=10**6)
        expected = {}
        for objects in all_bindings(header, state.objects):
            held, dim = index.values(state, objects)
            violates = [bool(one.positive & ~held or one.negative & (held | dim)) for one in literals]
            violated = np.array(violates, dtype=np.bool_)
            expected[objects] = violated, int((required @ violated == 0).sum())
        rows = list(map(choices.row, range(len(choices.met))))
        assert sorted(rows) == sorted(expected)
        for row, violated, met in zip(rows, choices.violated, choices.met, strict=True):
            assert (violated == expected[row][0]).all()
            assert met == expected[row][1]
        assert list(choices.met) == sorted(choices.met, reverse=True)
        if literals:
            proven = int(rng.integers(len(literals)))
            narrow = best_choices(grid, index, literals[proven], guesses, width=5)
            assert len(narrow.met) <= 5
            assert not any(expected[narrow.row(number)][0][proven] for number in range(len(narrow.met)))

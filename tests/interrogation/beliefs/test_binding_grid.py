"""All choices of arguments at once say what each of them says by itself."""

from __future__ import annotations

from itertools import product

import numpy as np

from aam_vision.interrogation.beliefs.binding_grid import StateGrid
from aam_vision.interrogation.hypotheses.literals import AtomIndex
from experiments.random_strips import random_domain
from tests.profiles import scaled


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

"""The packaged domains state the facts of the competition's, and the generated problems are legal and varied."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.domains import DOMAINS, generate, load
from aam_vision.model.pddl import problem_text, read_domain, read_problem
from aam_vision.model.strips import ActionSchema, LiftedAtom, Location, Mode, Model, State, lifted_atoms
from aam_vision.planning.joins import StateIndex, bindings
from tests.profiles import thorough
from tests.refusals import told_by

ROOT = Path(__file__).resolve().parents[3]
IPC = Path(os.environ.get("AAM_IPC", ROOT.parent / "shared" / "ipc"))
needs_ipc = pytest.mark.skipif(not IPC.is_dir(), reason=f"the competition's files are not at {IPC} (AAM_IPC)")


def palm_tuples(model: Model) -> dict[tuple[str, LiftedAtom, Location], Mode]:
    return {
        (schema.header.name, atom, location): schema.mode(atom, location)
        for schema in model.actions
        for atom in lifted_atoms(model.vocabulary, schema.header, repeated=True)
        for location in Location
    }


def options(model: Model, state: State) -> Iterator[tuple[ActionSchema, tuple[str, ...]]]:
    index = StateIndex(state)
    for schema in model.actions:
        for objects in bindings(index, schema.header, sorted(schema.positive, key=str)):
            if schema.applicable(state, objects):
                yield schema, objects


def executed(model: Model, start: State, rng: np.random.Generator, steps: int) -> set[str]:
    """The actions met by walks of 300 steps that prefer what was seldom done, until all have been."""
    done = dict.fromkeys((header.name for header in model.headers), 0)
    state = start
    for step in range(steps):
        choices = list(options(model, state)) if step % 300 else []
        if not choices:
            state = start
            continue
        weights = np.array([1 / (1 + done[schema.header.name]) for schema, _ in choices])
        schema, objects = choices[rng.choice(len(choices), p=weights / weights.sum())]
        state = schema.successor(state, objects)
        done[schema.header.name] += 1
        if all(done.values()):
            break
    return {name for name, times in done.items() if times}


@needs_ipc
@pytest.mark.parametrize("name", DOMAINS)
def test_palm_tuples_are_those_of_the_competition_and_its_problems_are_problems(name: str) -> None:
    ours, theirs = load(name), read_domain(IPC / name / "domain.pddl")
    assert set(ours.headers) == set(theirs.headers)
    assert set(ours.vocabulary.predicates) == set(theirs.vocabulary.predicates)
    assert ours.vocabulary.types == theirs.vocabulary.types
    assert ours.vocabulary.name == theirs.vocabulary.name
    assert palm_tuples(ours) == palm_tuples(theirs)
    problems = [read_problem(ours, path) for path in sorted((IPC / name / "instances").glob("*.pddl"))]
    assert problems
    assert all(problem.initial.true and problem.goal for problem in problems)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", DOMAINS)
def test_every_action_is_executable_somewhere(name: str, size: int) -> None:
    model, rng = load(name), np.random.default_rng(size)
    problem = generate(name, size, rng)
    met: set[str] = set()
    for _ in range(4):  # a walk can use the ingredients up; another one begins anew
        met |= executed(model, problem.initial, rng, 6000)
        if len(met) == len(model.headers):
            break
    assert met == {header.name for header in model.headers}


@pytest.mark.parametrize("name", DOMAINS)
def test_a_seed_gives_the_same_problem_and_seeds_differ_and_problems_grow_with_their_size(name: str) -> None:
    problems, again = ([generate(name, 2, np.random.default_rng(seed)) for seed in range(8)] for _ in "ab")
    assert problems == again
    assert len({(problem.initial, problem.goal) for problem in problems}) > 4
    counts = [len(generate(name, size, np.random.default_rng(0)).initial.objects) for size in range(1, 8)]
    assert counts == sorted(set(counts))


@thorough(60)
@given(st.sampled_from(DOMAINS), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_problems_fit_their_vocabulary_and_can_be_written_and_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, size: int, seed: int
) -> None:
    model, problem = load(name), generate(name, size, np.random.default_rng(seed))
    vocabulary, objects = model.vocabulary, problem.initial.objects
    assert set(objects.values()) <= {*vocabulary.types.parents, "object"}
    for atom in {*problem.initial.true, *problem.goal, *problem.goal_false}:
        for one, kind in zip(atom.objects, vocabulary.predicate(atom.predicate).types, strict=True):
            assert vocabulary.types.is_a(objects[one], kind)
    assert not problem.goal <= problem.initial.true
    assert not problem.goal & problem.goal_false
    assert not problem.initial.unknown
    path = tmp_path_factory.getbasetemp() / "problem.pddl"
    path.write_text(problem_text(problem.name, vocabulary, problem))
    assert read_problem(model, path) == problem


@pytest.mark.parametrize("name", ["", "Gripper", "../pddl/gripper", "no\nsuch" * 99])
def test_an_unknown_name_names_the_known_ones_and_sizes_start_at_one(name: str) -> None:
    for call in (lambda: load(name), lambda: generate(name, 1, np.random.default_rng(0))):
        told = told_by(call)
        assert all(known in told for known in DOMAINS)
    told_by(lambda: generate("gripper", 0, np.random.default_rng(0)), "sizes start at 1")

"""Nothing is lost between writing and reading, and other readers agree.

unified-planning, given the text as it is, and pyperplan read the same files as second opinions.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.domains import DOMAINS, load
from aam_vision.model.pddl import Problem, domain_text, problem_text, read_domain, read_problem
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests.profiles import thorough

from .files import DOMAIN, attempt, written

# contained in one another, and equal to words with a meaning elsewhere
NAMES = st.sampled_from(
    ["at", "at-goal", "at-goal-2", "a", "at_", "t", "domain", "define", "on", "object1", "init"]
)


@st.composite
def models(draw: st.DrawFn, *, positive: bool = False) -> Model:
    def names(least: int, most: int) -> list[str]:
        return draw(st.lists(NAMES, unique=True, min_size=least, max_size=most))

    parents: dict[str, str] = {}
    for name in names(0, 4):
        parents[name] = draw(st.sampled_from([ROOT_TYPE, *parents]))
    kinds = st.sampled_from([ROOT_TYPE, *parents])

    def predicate(name: str) -> Predicate:
        return Predicate(name, tuple(draw(st.lists(kinds, max_size=3))))

    vocabulary = Vocabulary(
        draw(NAMES),
        tuple(predicate(name) for name in names(1, 4)),
        Types(parents),
        {name: draw(kinds) for name in names(0, 3)},
    )
    schemas = []
    for name in names(0, 3):
        parameters = names(0, 3)
        header = ActionHeader(name, tuple(parameters), tuple(draw(kinds) for _ in parameters))
        atoms = lifted_atoms(vocabulary, header, repeated=True)[:40]
        some = st.frozensets(st.sampled_from(atoms), max_size=4) if atoms else st.just(frozenset())
        add = draw(some)
        negative = frozenset() if positive else draw(some)
        schemas.append(ActionSchema(header, draw(some), negative, add, draw(some) - add))
    return Model(vocabulary, tuple(schemas))


@thorough(150)
@given(model=models())
def test_a_model_written_and_read_is_the_same_and_its_requirements_are_told(
    shared: Path, model: Model
) -> None:
    """Planners may refuse, or misread, what a domain does not declare."""
    text = domain_text(model)
    assert read_domain(written(shared, text)) == model
    (requirements,) = (line.strip() for line in text.splitlines() if ":requirements" in line)
    negative = any(schema.negative for schema in model.actions)
    assert requirements == f"(:requirements :strips :typing{' :negative-preconditions' * negative})"


def test_types_that_are_named_alone_are_declared_under_the_root(folder: Path) -> None:
    vocabulary = Vocabulary("d", (Predicate("p", ("box",)),), Types({}), {"dock": "place"})
    model = Model(vocabulary, (ActionSchema(ActionHeader("act", ("x",), ("robot",))),))
    read = read_domain(written(folder, domain_text(model)))
    assert read.vocabulary.types == Types(dict.fromkeys(("place", "box", "robot"), ROOT_TYPE))
    assert read.actions == model.actions


@pytest.mark.parametrize("name", DOMAINS)
def test_the_packaged_domains_round_trip_and_are_read_alike(folder: Path, name: str) -> None:
    model, path = load(name), written(folder, domain_text(load(name)))
    assert read_domain(path) == model
    assert second_opinion(path) == own_opinion(model)


@thorough(60)
@given(model=models(), data=st.data())
def test_a_problem_written_and_read_is_the_same(shared: Path, model: Model, data: st.DataObject) -> None:
    vocabulary = model.vocabulary
    kinds = st.sampled_from([ROOT_TYPE, *vocabulary.types.parents])
    own = data.draw(st.dictionaries(NAMES, kinds, max_size=3))
    objects = Objects({**own, **vocabulary.constants}, vocabulary.types)
    header = ActionHeader("all", tuple(objects), tuple(objects.values()))
    atoms = [atom.ground(tuple(objects)) for atom in lifted_atoms(vocabulary, header)[:60]]
    some = st.frozensets(st.sampled_from(atoms)) if atoms else st.just(frozenset())
    problem = Problem("p", State(data.draw(some), objects), data.draw(some), data.draw(some))
    path = written(shared, problem_text("p", vocabulary, problem), "problem.pddl")
    assert read_problem(model, path) == problem


def second_opinion(path: Path) -> dict[str, tuple[list[str], set[str], set[str], set[str]]]:
    """What unified-planning reads: each action's parameter types, preconditions, adds and deletes as text."""
    from unified_planning.environment import Environment
    from unified_planning.io import PDDLReader

    environment = Environment()
    environment.error_used_name = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = PDDLReader(environment).parse_problem(str(path))
    found = {}
    for action in parsed.actions:
        pre = {str(part) for p in action.preconditions for part in (p.args if p.is_and() else [p])} - {"true"}
        adds = {str(e.fluent) for e in action.effects if e.value.is_true()}
        deletes = {str(e.fluent) for e in action.effects if e.value.is_false()}
        found[action.name] = [p.type.name for p in action.parameters], pre, adds, deletes - adds
    return found


def own_opinion(model: Model) -> dict[str, tuple[list[str], set[str], set[str], set[str]]]:
    found = {}
    for schema in model.actions:
        names = schema.header.parameters
        true, false, add, delete = (
            {atom.text(names).replace("?", "") if atom.arguments else atom.predicate for atom in part}
            for part in (schema.positive, schema.negative, schema.add, schema.delete)
        )
        required = true | {f"(not {text})" for text in false}
        found[schema.header.name] = list(schema.header.types), required, add, delete
    return found


def test_both_readers_agree_on_pddlgym_s_domains_and_their_problems_are_read(folder: Path) -> None:
    pddlgym = pytest.importorskip("pddlgym")
    paths = sorted((Path(pddlgym.__file__).parent / "pddl").glob("*.pddl"))
    read = 0
    for path in [written(folder, DOMAIN), *paths]:
        model = attempt(read_domain, path)
        if isinstance(model, str):
            continue
        if read % 6 == 0 and not model.vocabulary.left_out:  # unified-planning takes its time
            assert second_opinion(path) == own_opinion(model), path
        read += 1
        if path.stem in ("sokoban", "doors"):
            problems = sorted(path.with_suffix("").glob("*.pddl"))
            assert problems
            assert all(read_problem(model, problem).goal for problem in problems)
    assert read > 50


@thorough(40)
@given(model=models(positive=True))
def test_pyperplan_reads_positive_models(shared: Path, model: Model) -> None:
    from pyperplan.pddl.parser import Parser

    parsed = Parser(str(written(shared, domain_text(model)))).parse_domain()
    assert set(parsed.actions) == {header.name for header in model.headers}
    for schema in model.actions:
        action = parsed.actions[schema.header.name]
        assert len(action.precondition) == len(schema.positive)
        assert {p.name for p in action.effect.addlist} == {atom.predicate for atom in schema.add}

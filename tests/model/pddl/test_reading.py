"""What is read from domains and problems, in whatever way they are written."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from aam_vision.model.pddl import Problem, read_domain, read_problem
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
)

from .files import DOMAIN, PROBLEM, written


def test_a_domain_is_read(folder: Path) -> None:
    model = read_domain(written(folder, DOMAIN))
    vocabulary = model.vocabulary
    assert vocabulary.name == "tiny"
    assert vocabulary.types == Types({"box": "thing", "robot": "thing", "thing": "object", "place": "object"})
    assert vocabulary.constants == {"dock": "place"}
    assert vocabulary.predicates == (
        Predicate("at", ("thing", "place")),
        Predicate("at-goal", ("box",)),
        Predicate("busy"),
    )
    push, rest, ship = model.actions
    assert push == ActionSchema(
        ActionHeader("push", ("r", "b", "p", "q"), ("robot", "box", "place", "place")),
        frozenset({LiftedAtom("at", (0, 2)), LiftedAtom("at", (1, 2))}),
        frozenset({LiftedAtom("busy", ())}),
        frozenset({LiftedAtom("at", (1, 3))}),
        frozenset({LiftedAtom("at", (1, 2))}),
    )
    assert rest == ActionSchema(ActionHeader("rest"), add=frozenset({LiftedAtom("busy", ())}))
    assert ship.positive == {LiftedAtom("at", (0, "dock"))}


def test_a_problem_is_read_whatever_the_order_of_its_sections(folder: Path) -> None:
    domain, path = written(folder, DOMAIN), written(folder, PROBLEM, "problem.pddl")
    problem = read_problem(domain, path)
    objects = Objects(
        {"dock": "place", "r": "robot", "b": "box", "shelf": "place"}, read_domain(domain).vocabulary.types
    )
    true = frozenset({Atom("at", ("r", "shelf")), Atom("at", ("b", "shelf"))})
    assert problem == Problem(
        "first", State(true, objects), frozenset({Atom("at-goal", ("b",))}), frozenset({Atom("busy", ())})
    )
    assert list(problem.initial.objects) == list(objects)
    assert problem.initial.objects.of_type("thing") == ("r", "b")
    assert read_problem(read_domain(domain), path) == problem


def test_sections_of_a_domain_may_come_in_any_order(folder: Path) -> None:
    start, end = DOMAIN.index("  (:action ship"), DOMAIN.rindex(")")
    moved = DOMAIN[:start].replace("(:types", f"{DOMAIN[start:end]}\n  (:types") + ")"
    assert set(read_domain(written(folder, moved)).actions) == set(
        read_domain(written(folder, DOMAIN)).actions
    )


@pytest.mark.parametrize("change", [str.upper, str.title, str.swapcase])
def test_case_does_not_matter(folder: Path, change: Any) -> None:
    domain, problem = written(folder, DOMAIN), written(folder, PROBLEM, "problem.pddl")
    upper = written(folder, change(DOMAIN), "other.pddl")
    assert read_domain(upper) == read_domain(domain)
    again = written(folder, change(PROBLEM), "other-problem.pddl")
    assert read_problem(domain, again) == read_problem(upper, problem)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("; a small world", "\ufeff; a world (with ) and ü"),
        (" ", "\t"),
        ("(busy))\n  (:action Push", "(busy)) ; ((\n  (:action Push"),
        (":parameters () :precondition () ", ""),
        (":precondition () ", ":precondition (and) "),
        (" - thing ?p", " -thing ?p"),
        ("box robot - thing place", "box - thing robot - thing place thing - object object"),
    ],
)
def test_the_same_domain_written_differently(folder: Path, old: str, new: str) -> None:
    assert old in DOMAIN
    assert read_domain(written(folder, DOMAIN.replace(old, new))) == read_domain(written(folder, DOMAIN, "1"))


def test_a_sparse_problem(folder: Path) -> None:
    domain = written(folder, DOMAIN)
    problem = read_problem(
        domain,
        written(
            folder,
            "(define (problem p) (:init (not (busy))) (:objects dock - place)\n"
            "(:metric minimize (total-time)) (:domain tiny))",
            "p",
        ),
    )
    assert problem.initial.true == problem.goal == problem.goal_false == frozenset()
    assert dict(problem.initial.objects) == {"dock": "place"}


def test_an_added_atom_is_not_deleted(folder: Path) -> None:
    text = DOMAIN.replace(":effect (busy)", ":effect (and (busy) (not (busy)))")
    assert read_domain(written(folder, text)) == read_domain(written(folder, DOMAIN, "1"))


def test_names_that_unified_planning_cannot_have_or_takes_for_something_else(folder: Path) -> None:
    text = """(define (domain 2d) (:types always - number) (:constants at _x 1 - always) (:predicates (at ?x) (1))
      (:action at :parameters (?at ?1 - always) :precondition (and (at at) (at ?at) (not (1))) :effect (at 1)))"""
    model = read_domain(written(folder, text))
    assert model.vocabulary.constants == {"at": "always", "_x": "always", "1": "always"}
    assert model.vocabulary.types == Types({"always": "number", "number": "object"})
    (schema,) = model.actions
    assert schema.header == ActionHeader("at", ("at", "1"), ("always", "always"))
    assert schema.positive == {LiftedAtom("at", ("at",)), LiftedAtom("at", (0,))}
    assert schema.negative == {LiftedAtom("1", ())}
    assert schema.add == {LiftedAtom("at", ("1",))}


def test_reading_prints_and_warns_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_problem(written(folder, DOMAIN), written(folder, PROBLEM, "problem.pddl"))
    assert capfd.readouterr() == ("", "")

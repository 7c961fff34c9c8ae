"""Derived predicates in PDDL: what is written is read again, and no other definition is taken for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.derived import AtLeast
from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import Model, Vocabulary
from aam_vision.model.unified import to_unified_planning
from aam_vision.support.errors import UnusableInput
from tests.domains import derived, domains
from tests.profiles import thorough
from tests.refusals import told_by


def with_derived(model: Model, some: list[AtLeast]) -> Model:
    """The model in a vocabulary with these, too."""
    vocabulary: Vocabulary = model.vocabulary.with_derived(some)
    actions = tuple(replace(schema, derived=vocabulary.derived) for schema in model.actions)
    return Model(vocabulary, actions)


@thorough(100)
@given(st.data())
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    domain = data.draw(domains(max_problems=1))
    some = data.draw(st.lists(derived(domain.model.vocabulary), max_size=2, unique=True))
    model, path = with_derived(domain.model, some), tmp_path_factory.mktemp("pddl") / "domain.pddl"
    path.write_text(domain_text(model))
    read = read_domain(path)
    assert read == model
    assert read.vocabulary.derived == model.vocabulary.derived
    assert [schema.derived for schema in read.actions] == [schema.derived for schema in model.actions]


HEAD = """(define (domain rooms) (:requirements :strips :typing :derived-predicates)
  (:types ball room - object)
  (:predicates (at ?b - ball ?r - room) (some-at-any-x ?r - room))
"""
TAIL = """
  (:action go :parameters (?r - room) :precondition (and (some-at-any-x ?r)) :effect (and)))
"""


def test_a_definition_with_more_arguments_than_can_be_worked_out_is_refused(tmp_path: Path) -> None:
    path, more = tmp_path / "domain.pddl", " ".join(f"?y{number} - ball" for number in (1, 2, 3))
    name = "some-at-any-x-apart-from-ball-ball-ball"
    differ = " ".join(f"(not (= ?o1-1 ?y{number}))" for number in (1, 2, 3))
    body = f"(:derived ({name} ?x2 - room {more}) (exists (?o1-1 - ball) (and (at ?o1-1 ?x2) {differ})))"
    declared = HEAD.replace(
        "(some-at-any-x ?r - room)", f"(some-at-any-x ?r - room) ({name} ?r - room {more})"
    )
    path.write_text(f"{declared}  {body}{TAIL}")
    told_by(lambda: read_domain(path), "uses derived predicates")


@pytest.mark.parametrize(
    "body",
    [
        "(:derived (some-at-any-x ?x2 - room) (exists (?o1-1 - ball) (and (at ?o1-1 ?x2) (at ?o1-1 ?x2))))",
        "(:derived (some-at-any-x ?x2 - room) (forall (?o1-1 - ball) (and (at ?o1-1 ?x2))))",
        "(:derived (some-at-any-x ?x2 - room) (exists (?o1-1 - ball) (or (at ?o1-1 ?x2))))",
        "(:derived (some-at-any-x ?x2 - room) (not (exists (?o1-1 - ball) (and (at ?o1-1 ?x2)))))",
        "(:derived (some-at-any-x ?x2 - room))",
        "(:derived some-at-any-x)",
        "(:derived)",
        "(:derived () (exists () (and)))",
        "(:derived (some-at-any-x ?x2 - room) (exists))",
        "(:derived (some-at-any-x ?x2 - room) (exists (?o1-1 - ball) at))",
        "(:derived (some-at-any-x ?x2 - room) (exists (?o1-1 - ball) (and (() ?o1-1 ?x2))))",
        "(:derived (some-at-any-x ?x2 - room) (exists (?o1-1 - ball) (and (at (?o1-1) (?x2)))))",
        "(:derived (at ?b - ball ?x2 - room) (exists (?o1-1 - ball) (and (at ?o1-1 ?x2))))",
    ],
)
def test_another_definition_is_refused_with_its_line(body: str, tmp_path: Path) -> None:
    path = tmp_path / "domain.pddl"
    path.write_text(f"{HEAD}  {body}{TAIL}")
    told_by(
        lambda: read_domain(path), r"domain.pddl:4: uses derived predicates .* other than those that count"
    )


def test_unified_planning_has_no_such_models(tmp_path: Path) -> None:
    path = tmp_path / "domain.pddl"
    body = "(:derived (some-at-any-x ?x2 - room)\n    (exists (?o1-1 - ball)\n      (and (at ?o1-1 ?x2))))"
    path.write_text(f"{HEAD}  {body}{TAIL}")
    with pytest.raises(
        UnusableInput, match="some-at-any-x is a derived predicate, which unified-planning lacks"
    ):
        to_unified_planning(read_domain(path))

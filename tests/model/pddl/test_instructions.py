"""Instructions that a file writes as predicates, as PDDLGym's files do, are left out; what else bears such a name is not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from aam_vision.model.pddl import read_domain, read_problem
from aam_vision.model.strips import Model
from aam_vision.run.arguments import Arguments
from aam_vision.run.targets import naming
from aam_vision.support.errors import AamWarning

from .files import attempt

DOMAIN = """(define (domain hop)
  (:predicates (at ?c) (next ?a ?b) (move ?b) (rest) (ready))
  ; (:actions move rest wait)
  (:action hop :parameters (?a ?b)
    :precondition (and (MOVE ?b) (at ?a) (and (next ?a ?b))) :effect (and (at ?b) (not (at ?a))))
  (:action doze :parameters () :precondition (rest) :effect (ready)))"""
PROBLEM = """(define (problem p) (:domain hop) (:objects a b)
  (:init (at a) (next a b) (move a) (move b) (rest)) (:goal (at b)))"""


def files(folder: Path, domain: str = DOMAIN, problem: str = PROBLEM) -> tuple[Path, Path]:
    paths = folder / "domain.pddl", folder / "problem.pddl"
    paths[0].write_text(domain, encoding="utf-8")
    paths[1].write_text(problem, encoding="utf-8")
    return paths


def names(model: Model) -> list[str]:
    return [predicate.name for predicate in model.vocabulary.predicates]


@pytest.mark.parametrize("section", [False, True])
def test_what_is_named_as_an_instruction_is_no_concept(tmp_path: Path, section: bool) -> None:
    text = DOMAIN.replace("; (:actions", "(:actions") if section else DOMAIN
    domain, problem = files(tmp_path, text)
    model = read_domain(domain)
    assert names(model) == ["at", "next", "ready"]
    assert model.vocabulary.left_out == ("move", "rest")
    assert {atom.predicate for atom in model.schema("hop").positive} == {"at", "next"}
    assert not model.schema("doze").positive
    for given in (model, domain):
        assert {str(atom) for atom in read_problem(given, problem).initial.true} == {"at(a)", "next(a, b)"}
    chance = read_domain(domain, chance=True)
    assert chance.vocabulary == model.vocabulary
    assert chance.schema("hop").positive == model.schema("hop").positive
    assert read_problem(chance, problem) == read_problem(model, problem)


@pytest.mark.parametrize(
    "changed",
    [
        DOMAIN.replace(":effect (ready)", ":effect (and (ready) (not (rest)))"),
        DOMAIN.replace("(rest) :effect", "(not (rest)) :effect"),
        DOMAIN.replace("move rest wait", "move"),
    ],
)
def test_what_the_agent_changes_or_must_not_have_is_a_concept(tmp_path: Path, changed: str) -> None:
    model = read_domain(files(tmp_path, changed)[0])
    assert names(model) == ["at", "next", "rest", "ready"]


@pytest.mark.parametrize("chance", [False, True])
def test_the_command_says_what_is_left_out(tmp_path: Path, chance: bool) -> None:
    domain, problem = files(tmp_path)
    given = Arguments(domain=domain, problem=[str(problem)], chance=chance)
    with pytest.warns(AamWarning, match="move and rest are instructions and no concepts"):
        target = naming.of(given)
    assert [str(atom) for atom in sorted(target.agent.initial()[0].state.true)] == ["at(a)", "next(a, b)"]


def test_a_misspelt_fact_is_refused_as_before(tmp_path: Path) -> None:
    domain, problem = files(tmp_path, problem=PROBLEM.replace("(move b)", "(mvoe b)"))
    said = attempt(lambda path: read_problem(domain, path), problem)
    assert "undeclared predicate 'mvoe'" in str(said)
    said = attempt(
        lambda path: read_problem(domain, path),
        files(tmp_path, problem=PROBLEM.replace("(:goal (at b", "(:goal (move b"))[1],
    )
    assert "undeclared predicate 'move'" in str(said)


def test_pddlgym_s_files_are_read_or_refused_in_a_line() -> None:
    pddlgym = pytest.importorskip("pddlgym")
    folder = Path(pddlgym.__file__).parent / "pddl"
    read, refused = {}, {}
    for path in sorted(folder.glob("*.pddl")):
        model = attempt(partial(read_domain, chance=True), path)
        (refused if isinstance(model, str) else read)[path.stem] = model
    assert (len(read), len(refused)) == (68, 19)
    for said in refused.values():
        assert "\n" not in said
        assert any(word in said for word in ("quantifiers", "equality", "derived", "still open"))
    for name in ("sokoban", "doors", "explodingblocks", "tireworld", "river"):
        assert read[name].vocabulary.left_out
        first = sorted((folder / name).glob("*.pddl"))[0]
        own = {predicate.name for predicate in read[name].vocabulary.predicates}
        assert {atom.predicate for atom in read_problem(read[name], first).initial.true} <= own

"""What is read from domains and problems, in whatever way they are written."""

from __future__ import annotations

import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aam_vision.model.pddl import Problem, domain_text, read_domain, read_problem
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
)
from aam_vision.run import targets
from aam_vision.run.arguments import Arguments
from aam_vision.support.errors import AamWarning
from tests import small
from tests.refusals import told_by

from .files import DOMAIN, PROBLEM, attempt, written


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
        (":effect (busy)", ":effect (and (busy) (not (busy)))"),  # an added atom is not deleted
    ],
)
def test_the_same_domain_written_differently(folder: Path, old: str, new: str) -> None:
    assert old in DOMAIN
    assert read_domain(written(folder, DOMAIN.replace(old, new))) == read_domain(written(folder, DOMAIN, "1"))


def test_a_sparse_problem(folder: Path) -> None:
    text = "(define (problem p) (:init (not (busy))) (:objects dock - place) (:metric minimize (total-time)) (:domain tiny))"
    problem = read_problem(written(folder, DOMAIN), written(folder, text, "p"))
    assert problem.initial.true == problem.goal == problem.goal_false == frozenset()
    assert dict(problem.initial.objects) == {"dock": "place"}


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


# Effects with conditions and chance do what the file says in every state; mistakes are one line.


EFFECT = "(and (a) (when (b) (not (c))) (when (and (not (b)) (c)) (probabilistic 0.25 (d))))"


def read(folder: Path, effect: str, precondition: str = "(and)") -> Model:
    facts = " ".join(f"(p{number})" for number in range(60))
    text = f"(define (domain d) (:predicates (a) (b) (c) (d) {facts})"
    text += f" (:action act :precondition {precondition} :effect {effect}))"
    return read_domain(written(folder, text), chance=True)


def successors(model: Model, held: str) -> dict[str, float]:
    """The states after the action, as the names of the facts that are true."""
    found = model.schema("act").successors(small.state("", ", ".join(held)), ())
    return {"".join(sorted(atom.predicate for atom in after.true)): share for after, share in found.items()}


BOTH_WAYS = "(probabilistic 0.5 (and (a) (when (b) (c))))"


@pytest.mark.parametrize(
    ("effect", "precondition", "cases", "expected"),
    [
        (EFFECT, "(and)", 3, {"": {"a": 1}, "b": {"ab": 1}, "bc": {"ab": 1}, "c": {"ac": 0.75, "acd": 0.25}}),
        (EFFECT, "(b)", 0, {"bc": {"ab": 1}}),  # a condition that the precondition decides makes no cases
        (BOTH_WAYS, "(and)", 2, {"b": {"b": 0.5, "abc": 0.5}, "": {"": 0.5, "a": 0.5}}),
    ],
)
def test_every_state_leads_where_the_conditions_say_also_when_the_model_was_written_and_read_again(
    tmp_path: Path, effect: str, precondition: str, cases: int, expected: dict[str, dict[str, float]]
) -> None:
    model = read(tmp_path, effect, precondition)
    assert len(model.schema("act").cases) == cases
    text = domain_text(model)
    assert (":conditional-effects" in text) is bool(cases)
    again = read_domain(written(tmp_path, text, "again.pddl"), chance=True)
    for held, after in expected.items():
        assert successors(model, held) == after
        assert successors(again, held) == pytest.approx(after)


HALVES = "(and {})".format(" ".join(f"(probabilistic 0.5 (p{number}))" for number in range(4)))
MANY = "(and {})".format(" ".join(f"(probabilistic 0.5 (p{number}))" for number in range(60)))
WHENS = "(and {})".format(" ".join(f"(when (p{number}) (a))" for number in range(7)))
BAD = {
    "(when (a) (when (b) (c)))": "'when' inside 'when'",
    "(when (a) (probabilistic 0.5 (and (b) (when (c) (d)))))": "'when' inside 'when'",
    "(when (a))": "write (when CONDITION EFFECT)",
    "(when (or (a) (b)) (c))": "a condition in the effect of 'act' uses disjunction ('or')",
    "(forall (?x - object) (when (a) (b)))": "uses quantifiers ('forall')",
    "(when (forall (?x - object) (a)) (b))": "uses quantifiers ('forall')",
    "(when (e) (b))": "undeclared predicate 'e'",
    WHENS: "depends on 7 atoms, more than 6",
    HALVES: "'act' has 16 outcomes, more than 10",
    f"(when (a) {HALVES})": "'act' has 16 outcomes, more than 10",
    MANY: "has more than 10 outcomes",
    "(when (a) (probabilistic 0.6 (b) 0.6 (c)))": "add up to 1.2, more than 1",
}


@pytest.mark.parametrize("effect", BAD)
def test_a_mistake_is_one_line(tmp_path: Path, effect: str) -> None:
    message = told_by(lambda: read(tmp_path, effect))
    assert BAD[effect] in message
    assert re.search(r"domain\.pddl:\d+: ", message)


# Instructions that a file writes as predicates, as PDDLGym's files do, are left out; what else bears such a
# name is not.


HOP = """(define (domain hop)
  (:predicates (at ?c) (next ?a ?b) (move ?b) (rest) (ready))
  ; (:actions move rest wait)
  (:action hop :parameters (?a ?b)
    :precondition (and (MOVE ?b) (at ?a) (and (next ?a ?b))) :effect (and (at ?b) (not (at ?a))))
  (:action doze :parameters () :precondition (rest) :effect (ready)))"""
HOPS = """(define (problem p) (:domain hop) (:objects a b)
  (:init (at a) (next a b) (move a) (move b) (rest)) (:goal (at b)))"""


def files(folder: Path, domain: str = HOP, problem: str = HOPS) -> tuple[Path, Path]:
    return written(folder, domain), written(folder, problem, "problem.pddl")


def names(model: Model) -> list[str]:
    return [predicate.name for predicate in model.vocabulary.predicates]


@pytest.mark.parametrize("section", [False, True])
def test_what_is_named_as_an_instruction_is_no_concept(tmp_path: Path, section: bool) -> None:
    text = HOP.replace("; (:actions", "(:actions") if section else HOP
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
        HOP.replace(":effect (ready)", ":effect (and (ready) (not (rest)))"),
        HOP.replace("(rest) :effect", "(not (rest)) :effect"),
        HOP.replace("move rest wait", "move"),
    ],
)
def test_what_the_agent_changes_or_must_not_have_is_a_concept(tmp_path: Path, changed: str) -> None:
    model = read_domain(files(tmp_path, changed)[0])
    assert names(model) == ["at", "next", "rest", "ready"]


@pytest.mark.parametrize("sign", ["(rest)", "(not (rest))"])
@pytest.mark.parametrize("use", [":precondition {}", ":effect (when {} (ready))", ":effect {}", ""])
def test_where_there_is_chance_what_only_its_own_action_requires_is_an_instruction(
    tmp_path: Path, use: str, sign: str
) -> None:
    actions = f"(:action rest :precondition (rest)) (:action go {use.format(sign)})"
    text = f"(define (domain d) (:predicates (rest) (ready)) {actions})"
    model = read_domain(written(tmp_path, text), chance=True)
    assert ("rest" in names(model)) is bool(use)
    assert bool(model.schema("rest").positive) is bool(use)


@pytest.mark.parametrize("chance", [False, True])
def test_the_command_says_what_is_left_out(tmp_path: Path, chance: bool) -> None:
    domain, problem = files(tmp_path)
    given = Arguments(domain=domain, problem=[str(problem)], chance=chance)
    with pytest.warns(AamWarning, match="move and rest are instructions and no concepts"):
        target = targets.of(given)
    assert [str(atom) for atom in sorted(target.agent.initial()[0].state.true)] == ["at(a)", "next(a, b)"]


@pytest.mark.parametrize(
    ("old", "new", "word"), [("(move b)", "(mvoe b)", "mvoe"), ("(:goal (at b", "(:goal (move b", "move")]
)
def test_a_misspelt_fact_is_refused_as_before(tmp_path: Path, old: str, new: str, word: str) -> None:
    domain, problem = files(tmp_path, problem=HOPS.replace(old, new))
    assert f"undeclared predicate '{word}'" in str(attempt(lambda path: read_problem(domain, path), problem))


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

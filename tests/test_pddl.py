"""Reading and writing PDDL: nothing is lost, every mistake is one line with its place, nothing hangs.

unified-planning, given the text as it is, and pyperplan read the same files as second opinions.
"""

from __future__ import annotations

import os
import time
import warnings
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.domains import DOMAINS, load
from aam_vision.errors import UnusableInput
from aam_vision.pddl import (
    MAX_BYTES,
    MAX_TOKENS,
    Problem,
    domain_text,
    problem_text,
    read_domain,
    read_problem,
)
from aam_vision.strips import (
    ROOT_TYPE,
    ActionHeader,
    ActionSchema,
    Atom,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests.profiles import thorough

DOMAIN = """; a small world
(define (domain Tiny)
  (:requirements :strips :typing :negative-preconditions)
  (:types box robot - thing place)
  (:constants dock - place)
  (:predicates (at ?x - thing ?p - place) (at-goal ?x - box)
               (busy))
  (:action Push
    :parameters (?r - robot ?b - box ?p ?q - place)
    :precondition (and (at ?r ?p) (at ?b ?p) (not (busy)))
    :effect (and (not (at ?b ?p)) (at ?b ?q)))
  (:action rest :parameters () :precondition () :effect (busy))
  (:action ship :parameters (?b - box) :precondition (at ?b DOCK) :effect (at-goal ?b)))
"""
PROBLEM = """(define (problem First)
  (:domain tiny)
  (:objects r - robot b - box shelf - place)
  (:goal (and (at-goal b) (not (busy))))
  (:init (at r shelf)
         (at b shelf)))
"""


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pddl")


def written(folder: Path, text: str | bytes, name: str = "domain.pddl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message(call: Any, *arguments: Any) -> str:
    """The one line with which a call refuses its input, within five seconds."""
    started = time.monotonic()
    with pytest.raises(UnusableInput) as caught:
        call(*arguments)
    assert time.monotonic() - started < 5
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert len(text) < 400 + len(str(arguments[-1]))
    assert text.isprintable()
    return text


def attempt(call: Any, *arguments: Any) -> Any:
    """What a call returns, or its refusal as text, which names the last argument."""
    try:
        return call(*arguments)
    except UnusableInput as error:
        text = str(error)
    assert len(text.splitlines()) == 1
    assert text.startswith(f"{arguments[-1]}:")
    return text


# --- what is read -------------------------------------------------------------------------------


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


# --- what is refused ----------------------------------------------------------------------------

REST = "(:action rest :parameters () :precondition () :effect (busy))"
PRE, EFF = "(not (busy))", "(at ?b ?q)"
BAD_DOMAINS = {
    "unclosed": (DOMAIN, DOMAIN.rstrip()[:-1], ":13: ", "1 '(' still open, the last from line 2"),
    "unclosed in an action": ("(at ?b ?q)))", "(at ?b ?q))", ":12: ", "stands inside '(:action' of line 8"),
    "cut": (DOMAIN, DOMAIN[:200], ":6: ", "expected ')'"),
    "closed too often": ("(busy))", "(busy)))))", ":7: ", "unexpected ')' after the end"),
    "closed too early": ("(busy))", "(busy)))", ":8: ", "unexpected '(' after the end"),
    "no list": (DOMAIN, "domain tiny", ":1: ", "expected '(define', found 'domain'"),
    "another list": (DOMAIN, "(html)", ":1: ", "expected '(define', found '(html'"),
    "empty": (DOMAIN, " ; nothing\n", ":1: ", "empty"),
    "no title": (DOMAIN, "(define tiny)", ":1: ", "expected '(domain NAME)' after 'define'"),
    "no name": ("(domain Tiny)", "(domain)", ":2: ", "expected '(domain NAME)'"),
    "a list as its name": ("(domain Tiny)", "(domain (x))", ":2: ", "name of the domain"),
    "no colon": ("(:types", "(types", ":4: ", "expected a section"),
    "unknown section": ("(:types", "(:kinds", ":4: ", "'(:kinds' is not a section of a domain"),
    "section twice": (":constants dock - place", ":types a", ":5: ", "comes twice, first in line 4"),
    "problem": (DOMAIN, PROBLEM, ":1: ", "defines a problem, but a domain is wanted"),
    "functions": ("(:constants dock - place)", "(:functions (c))", ":5: ", "numeric fluents"),
    "derived": (REST, "(:derived (busy) (busy))", ":12: ", "derived predicates"),
    "durative": (REST, "(:durative-action a)", ":12: ", "durative actions"),
    "disjunction": (PRE, "(or (busy) (busy))", ":10: ", "disjunction ('or')"),
    "implication": (PRE, "(imply (busy) (busy))", ":10: ", "disjunction ('imply')"),
    "negated conjunction": (PRE, "(not (and (busy)))", ":10: ", "'not' around '(and'"),
    "forall": (PRE, "(forall (?x - box) (busy))", ":10: ", "quantifiers ('forall')"),
    "exists": (PRE, "(exists (?x - box) (busy))", ":10: ", "quantifiers ('exists')"),
    "equality": (PRE, "(not (= ?p ?q))", ":10: ", "equality ('=')"),
    "numbers": (PRE, "(>= (fuel ?r) 3)", ":10: ", "numeric fluents ('>=')"),
    "equal numbers": (PRE, "(= (fuel ?r) 3)", ":10: ", "numeric fluents ('=')"),
    "cost": (EFF, "(increase (total-cost) 1)", ":11: ", "numeric fluents ('increase')"),
    "conditional effect": (EFF, "(when (busy) (at ?b ?q))", ":11: ", "conditional effects ('when')"),
    "forall effect": (
        EFF,
        "(forall (?x - box) (at ?x ?q))",
        ":11: ",
        "the effect of 'push' uses quantifiers",
    ),
    "preference": (PRE, "(preference one (busy))", ":10: ", "preferences"),
    "probabilistic": (EFF, "(probabilistic 0.5 (busy))", ":11: ", "probabilistic"),
    "either": ("?b - box ?p ?q", "?b - (either box robot) ?p ?q", ":9: ", "'either' types"),
    "list as type": ("?b - box ?p ?q", "?b - (box) ?p ?q", ":9: ", "expected a type, found '(box'"),
    "undeclared predicate": (EFF, "(att ?b ?q)", ":11: ", "undeclared predicate 'att'; did you mean 'at'?"),
    "undeclared variable": (EFF, "(at ?box ?q)", ":11: ", "undeclared variable '?box'; did you mean '?b'?"),
    "undeclared constant": ("DOCK", "dok", ":13: ", "undeclared object 'dok'; did you mean 'dock'?"),
    "undeclared type": ("?b - box ?p ?q", "?b - boxx ?p ?q", ":9: ", "type 'boxx' is not declared"),
    "undeclared type of a predicate": ("(at ?x - thing", "(at ?x - thin", ":6: ", "did you mean 'thing'?"),
    "undeclared type of a constant": ("dock - place", "dock - plce", ":5: ", "did you mean 'place'?"),
    "too few arguments": (EFF, "(at ?b)", ":11: ", "'at' takes 2 arguments, found 1"),
    "too many arguments": ("(not (busy))", "(not (busy ?p))", ":10: ", "'busy' takes 0 arguments, found 1"),
    "wrong type": (EFF, "(at ?q ?q)", ":11: ", "argument 1 of 'at' must be of type 'thing', but '?q'"),
    "list as argument": (EFF, "(at (b) ?q)", ":11: ", "expected an argument of 'at'"),
    "bare atom": (PRE, "busy", ":10: ", "expected '(' in the precondition of 'push', found 'busy'"),
    "empty not": (PRE, "(not)", ":10: ", "expected one atom after 'not'"),
    "atom without name": (PRE, "((busy))", ":10: ", "expected a predicate"),
    "variable without mark": ("?b - box ?p ?q", "b - box ?p ?q", ":9: ", "expected a variable such as '?x'"),
    "variable without name": ("?b - box ?p ?q", "? - box ?p ?q", ":9: ", "expected a name after '?'"),
    "dash without type": ("?p ?q - place)", "?p ?q -)", ":9: ", "a type after it"),
    "dash without names": ("?p ?q - place)", "- place)", ":9: ", "type"),
    "parameter twice": ("?p ?q - place", "?p ?p - place", ":9: ", "two parameters of 'push' have one name"),
    "action twice": ("(:action rest", "(:action PUSH", ":12: ", "action 'push' is defined twice"),
    "action without name": (REST, "(:action)", ":12: ", "name of an action"),
    "predicate twice": ("(at-goal ?x - box)", "(AT)", ":6: ", "predicate 'at' is declared twice"),
    "predicate no list": ("(busy))", "busy)", ":7: ", "expected a predicate such as"),
    "predicate of a reserved name": ("(at-goal ?x - box)", "(when)", ":6: ", "a word of PDDL itself"),
    "field unknown": (":precondition ()", ":condition ()", ":12: ", "expected one of :parameters"),
    "field twice": (":precondition ()", ":parameters ()", ":12: ", "comes twice in 'rest'"),
    "field without value": (":effect (busy)", ":effect", ":12: ", "expected '(' after :effect of 'rest'"),
    "field with a word": (":effect (busy)", ":effect busy", ":12: ", "found 'busy'"),
    "type circle": ("robot - thing place", "robot - thing thing - box place", ":4: ", "own ancestor"),
    "type of two parents": ("robot - thing place", "robot - thing place box - place", ":4: ", "two parents"),
    "root with a parent": (
        "robot - thing place",
        "robot - thing object - place",
        ":4: ",
        "root of all types",
    ),
    "constant of two types": ("dock - place", "dock - place dock - box", ":5: ", "two types"),
    "a name with a dot": ("dock - place", "dock.1 - place", ":5: ", "expected an object, found 'dock.1'"),
    "odd name": ("(:types box", "(:types bo\u0308x", ":4: ", "expected a type, found 'bo\\u0308x'"),
    "control characters": ("(:types box", "(:types \x1b[31mbox", ":4: ", "expected a type, found"),
}


@pytest.mark.parametrize("case", BAD_DOMAINS)
def test_a_bad_domain_is_refused_in_one_line_with_its_place(folder: Path, case: str) -> None:
    old, new, line, what = BAD_DOMAINS[case]
    assert old in DOMAIN
    path = written(folder, DOMAIN.replace(old, new, 1))
    text = message(read_domain, path)
    assert text.startswith(f"{path}{line}")
    assert what in text


BAD_PROBLEMS = {
    "another domain": ("tiny", "teeny", ":2: ", "is a problem of domain 'teeny', not of 'tiny'"),
    "no domain": ("(:domain tiny)", "", ":1: ", "names no domain; add '(:domain tiny)'"),
    "domain": (PROBLEM, DOMAIN, ":2: ", "defines a domain, but a problem is wanted"),
    "undeclared object": ("(at b shelf)", "(at c shelf)", ":6: ", "undeclared object 'c'"),
    "undeclared object in the goal": (
        "at-goal b",
        "at-goal box",
        ":4: ",
        "the goal uses the undeclared object",
    ),
    "undeclared type": ("- robot", "- robbot", ":3: ", "did you mean 'robot'?"),
    "undeclared predicate": ("(at b shelf)", "(on b shelf)", ":6: ", "undeclared predicate 'on'"),
    "wrong arity": ("(at b shelf)", "(at b)", ":6: ", "'at' takes 2 arguments, found 1"),
    "wrong type": ("(at b shelf)", "(at shelf b)", ":6: ", "must be of type 'thing', but 'shelf'"),
    "variable": ("(at b shelf)", "(at ?b shelf)", ":6: ", "undeclared variable '?b'"),
    "two types": ("shelf - place", "shelf - place b - place", ":3: ", "'b' has two types"),
    "another type than the constant": ("shelf - place", "dock - box", ":3: ", "'dock' has two types"),
    "no initial state": ("(:init (at r shelf)\n         (at b shelf))", "", ":1: ", "no '(:init'"),
    "contradiction": ("(at b shelf)", "(not (at r shelf))", ":6: ", "both true and false"),
    "number": ("(at b shelf)", "(= (total-cost) 0)", ":6: ", "numeric fluents"),
    "disjunction": ("(not (busy))", "(or (busy))", ":4: ", "the goal uses disjunction"),
    "equality": ("(not (busy))", "(= b b)", ":4: ", "equality"),
    "quantifier": ("(not (busy))", "(forall (?x) (busy))", ":4: ", "quantifiers"),
    "action": ("(:goal", "(:action", ":4: ", "'(:action' is not a section of a problem"),
    "unclosed": ("(busy))))", "(busy)))", ":5: ", "'(:init' stands inside '(:goal' of line 4"),
}


@pytest.mark.parametrize("case", BAD_PROBLEMS)
def test_a_bad_problem_is_refused_in_one_line_with_its_place(folder: Path, case: str) -> None:
    old, new, line, what = BAD_PROBLEMS[case]
    assert old in PROBLEM
    path = written(folder, PROBLEM.replace(old, new, 1), "problem.pddl")
    text = message(read_problem, written(folder, DOMAIN), path)
    assert text.startswith(f"{path}{line}")
    assert what in text


def test_files_that_are_none(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder, folder / "pipe", Path("/dev/zero")):
        wanted = f"{path}: cannot be read (no regular file); give the path of a PDDL file"
        assert message(read_domain, path) == wanted
    assert "cannot be read (No such file" in message(read_domain, folder / "missing")
    assert "cannot be read" in message(read_domain, "a\0b")
    text = message(read_domain, written(folder, b"(define\n\xff\xfe)"))
    assert text.startswith(f"{folder / 'domain.pddl'}:2: is not UTF-8 text (byte 8)")


N = 45_000
HOSTILE = {
    "too large": b" " * (MAX_BYTES + 1),
    "too many": "(" + "a " * MAX_TOKENS,
    "deep": "(" * N,
    "deep condition": DOMAIN.replace(PRE, "(and " * 5000 + ")" * 5000),
    "long name": DOMAIN.replace(PRE, f"({'a' * 10_000_000})"),
    "many near names": f"(define (domain d) (:predicates {' '.join(f'(p{i})' for i in range(N))}) (:action a :effect (q1)))",
    "chain of types": f"(define (domain d) (:types {' '.join(f't{i} - t{i + 1}' for i in range(N))}))",
    "null": b"\0" * 1_000_000,
    "only comments": ";x\n" * 6_000_000,
    "only lines": "\n" * 19_000_000,
    "many constants": f"(define (domain d) (:constants {'c ' * N}) {'(:action a) ' * 30_000})",
    "many lifted atoms": "(define (domain d) (:predicates (p {0})) (:action a :parameters ({0})))".format(
        " ".join(f"?x{i}" for i in range(16))
    ),
    "many parameters": f"(define (domain d) (:action a :parameters ({'?x ' * 150_000})))",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_at_once(folder: Path, case: str) -> None:
    message(read_domain, written(folder, HOSTILE[case]))


def test_the_largest_problem_is_read_in_time(folder: Path) -> None:
    path = large_problem(folder, objects=1000, facts=MAX_TOKENS // 5 - 300)
    model = load("blocksworld")
    started = time.monotonic()
    assert len(read_problem(model, path).initial.true) == MAX_TOKENS // 5 - 300
    assert time.monotonic() - started < 5


def test_what_unified_planning_would_take_too_long_for_is_refused_at_once(folder: Path) -> None:
    model = load("blocksworld")
    text = message(read_problem, model, large_problem(folder, objects=12_000, facts=1))
    assert "more than 10000 words and parentheses outside the initial state" in text
    predicates = " ".join(f"(p{i} ?x ?y)" for i in range(3000))
    path = written(folder, f"(define (domain d) (:predicates {predicates}))", "large.pddl")
    assert "more than 10000 words" in message(read_domain, path)


def large_problem(folder: Path, *, objects: int, facts: int) -> Path:
    blocks = [f"b{i}" for i in range(objects)]
    atoms = " ".join(f"(on b{i % objects} b{i // objects})" for i in range(facts))
    return written(
        folder,
        f"(define (problem p) (:domain blocks) (:objects {' '.join(blocks)} - block) (:init {atoms}) (:goal ()))",
        "problem.pddl",
    )


def test_what_the_library_refuses_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def parse_problem_string(self, *texts: str) -> None:
            raise AssertionError("no\nway \u2028" + "x" * 1000)

    model = read_domain(written(folder, DOMAIN))
    monkeypatch.setattr("aam_vision.pddl.library._reader", Failing)
    text = message(read_domain, written(folder, DOMAIN))
    assert text.startswith(f"{folder / 'domain.pddl'}:2: unified-planning cannot read this domain (no way")
    path = written(folder, PROBLEM, "problem.pddl")
    assert message(read_problem, model, path).startswith(
        f"{path}:1: unified-planning cannot read this problem"
    )


# --- round trips and second opinions ------------------------------------------------------------

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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@thorough(150)
@given(model=models())
def test_a_model_written_and_read_is_the_same(shared: Path, model: Model) -> None:
    assert read_domain(written(shared, domain_text(model))) == model


@pytest.mark.parametrize("name", DOMAINS)
def test_the_packaged_domains_round_trip(folder: Path, name: str) -> None:
    assert read_domain(written(folder, domain_text(load(name)))) == load(name)


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

        def texts(
            atoms: frozenset[LiftedAtom], names: tuple[str, ...] = schema.header.parameters
        ) -> set[str]:
            return {atom.text(names).replace("?", "") if atom.arguments else atom.predicate for atom in atoms}

        pre = texts(schema.positive) | {f"(not {text})" for text in texts(schema.negative)}
        found[schema.header.name] = list(schema.header.types), pre, texts(schema.add), texts(schema.delete)
    return found


@pytest.mark.parametrize("name", DOMAINS)
def test_unified_planning_reads_the_packaged_domains_alike(folder: Path, name: str) -> None:
    model = load(name)
    assert second_opinion(written(folder, domain_text(model))) == own_opinion(model)


def test_unified_planning_reads_the_small_domain_alike(folder: Path) -> None:
    assert second_opinion(written(folder, DOMAIN)) == own_opinion(read_domain(written(folder, DOMAIN)))


def test_both_readers_agree_on_pddlgym_s_domains() -> None:
    pddlgym = pytest.importorskip("pddlgym")
    paths = sorted((Path(pddlgym.__file__).parent / "pddl").glob("*.pddl"))
    read = 0
    for path in paths:
        model = attempt(read_domain, path)
        if isinstance(model, str):
            continue
        read += 1
        if read % 6 == 0:  # unified-planning takes its time
            assert second_opinion(path) == own_opinion(model), path
    assert read > 50


def test_pddlgym_s_problems_are_read() -> None:
    pddlgym = pytest.importorskip("pddlgym")
    folder = Path(pddlgym.__file__).parent / "pddl"
    for name in ("sokoban", "doors"):
        model = read_domain(folder / f"{name}.pddl")
        problems = sorted((folder / name).glob("*.pddl"))
        assert problems
        for path in problems:
            assert read_problem(model, path).goal


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


@cache
def tiny() -> Model:
    with TemporaryDirectory() as folder:
        return read_domain(written(Path(folder), DOMAIN))


# --- fuzzing ------------------------------------------------------------------------------------

WORDS = "( ) () - ? ?x : :action :init not and (not either = ; define (:predicates object 1 é"
PIECES = st.sampled_from(
    [
        *WORDS.split(" "),
        "\n",
        "\0",
        "\u2028",
        "\x1c",
        "- (either a b)",
        "(= a b)",
        "(forall (?x - box) (busy))",
        " ",
    ]
)


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """The text with a few pieces cut out, doubled, moved or put in; never longer than twice."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        into = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["cut", "double", "put", "replace"]))
        if kind == "cut":
            text = text[:start] + text[end:]
        elif kind == "double":
            text = text[:into] + text[start:end] + text[into:]
        elif kind == "put":
            text = text[:into] + draw(PIECES) + text[into:]
        else:
            text = text[:start] + draw(PIECES | st.text(max_size=3)) + text[end:]
    return text


@thorough(400)
@given(text=mutations(DOMAIN))
def test_a_mutated_domain_is_read_or_refused(shared: Path, text: str) -> None:
    path = written(shared, text.encode("utf-8", "surrogatepass"))
    model = attempt(read_domain, path)
    if isinstance(model, Model):
        assert read_domain(written(shared, domain_text(model))) == model


@thorough(400)
@given(text=mutations(PROBLEM))
def test_a_mutated_problem_is_read_or_refused(shared: Path, text: str) -> None:
    model, path = tiny(), written(shared, text.encode("utf-8", "surrogatepass"), "p.pddl")
    problem = attempt(read_problem, model, path)
    if isinstance(problem, Problem):
        again = read_problem(
            model, written(shared, problem_text(problem.name, model.vocabulary, problem), "q.pddl")
        )
        assert again == problem


@thorough(100)
@given(data=st.binary(max_size=200))
def test_random_bytes_are_refused(shared: Path, data: bytes) -> None:
    with pytest.raises(UnusableInput):
        read_domain(written(shared, data))

"""Every mistake in a file is one line that says where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.pddl import Problem, domain_text, problem_text, read_domain, read_problem
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput
from tests.profiles import thorough

from .files import DOMAIN, PROBLEM, attempt, message, tiny, written

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
    "double negation": (PRE, "(not (not (busy)))", ":10: ", "'not' around '(not'"),
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
    "undeclared predicate under not": (
        PRE,
        "(not (bussy))",
        ":10: ",
        "the precondition of 'push' uses the undeclared predicate 'bussy'",
    ),
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
    "dash without variables": (
        "(?r - robot ?b - box ?p ?q - place)",
        "(- place)",
        ":9: ",
        "expected a variable before '-' and a type after it",
    ),
    "dash without blank and variables": (
        "(?r - robot ?b - box ?p ?q - place)",
        "(-place)",
        ":9: ",
        "expected a variable before '-'",
    ),
    "undeclared type after a dash without blank": ("?b - box", "?b -boxx", ":9: ", "type 'boxx' is not"),
    "dash without objects": ("dock - place", "- place", ":5: ", "expected an object before '-'"),
    "dash without types": (
        "(:types box robot - thing",
        "(:types - thing",
        ":4: ",
        "expected a type before '-'",
    ),
    "a list of objects": ("dock - place", "(dock) - place", ":5: ", "expected an object or '-'"),
    "parameter twice": ("?p ?q - place", "?p ?p - place", ":9: ", "two parameters of 'push' have one name"),
    "action twice": ("(:action rest", "(:action PUSH", ":12: ", "action 'push' is defined twice"),
    "action without name": (REST, "(:action)", ":12: ", "name of an action"),
    "predicate twice": ("(at-goal ?x - box)", "(AT)", ":6: ", "predicate 'at' is declared twice"),
    "predicate no list": ("(busy))", "busy)", ":7: ", "expected a predicate such as"),
    "predicate of a reserved name": ("(at-goal ?x - box)", "(when)", ":6: ", "a word of PDDL itself"),
    "field unknown": (":precondition ()", ":condition ()", ":12: ", "expected one of :parameters"),
    "field of another language": (
        ":precondition ()",
        ":observe (busy)",
        ":12: ",
        "'rest' uses sensing actions; only STRIPS",
    ),
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
    "a domain without name": ("(:domain tiny)", "(:domain)", ":2: ", "expected one name of a domain"),
    "two domains": ("(:domain tiny)", "(:domain tiny small)", ":2: ", "expected one name of a domain"),
    "domain": (PROBLEM, DOMAIN, ":2: ", "defines a domain, but a problem is wanted"),
    "undeclared object": ("(at b shelf)", "(at c shelf)", ":6: ", "undeclared object 'c'"),
    "undeclared object in the goal": (
        "at-goal b",
        "at-goal box",
        ":4: ",
        "the goal uses the undeclared object",
    ),
    "undeclared type": ("- robot", "- robbot", ":3: ", "did you mean 'robot'?"),
    "undeclared predicate": (
        "(at b shelf)",
        "(on b shelf)",
        ":6: ",
        "the initial state uses the undeclared predicate 'on'",
    ),
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


# Whatever is in a file, it is read or refused in one line.


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

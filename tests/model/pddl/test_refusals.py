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
    "closed too often": ("(busy))", "(busy)))))", ":7: ", "unexpected ')' after the end"),
    "empty": (DOMAIN, " ; nothing\n", ":1: ", "empty"),
    "no name": ("(domain Tiny)", "(domain)", ":2: ", "expected '(domain NAME)'"),
    "unknown section": ("(:types", "(:kinds", ":4: ", "'(:kinds' is not a section of a domain"),
    "section twice": (":constants dock - place", ":types a", ":5: ", "comes twice, first in line 4"),
    "a list as its name": ("(domain Tiny)", "(domain (x))", ":2: ", "name of the domain"),
    "list as type": ("?b - box ?p ?q", "?b - (box) ?p ?q", ":9: ", "expected a type, found '(box'"),
    "bare atom": (PRE, "busy", ":10: ", "expected '(' in the precondition of 'push', found 'busy'"),
    "empty not": (PRE, "(not)", ":10: ", "expected one atom after 'not'"),
    "predicate no list": ("(busy))", "busy)", ":7: ", "expected a predicate such as"),
    "type of two parents": ("robot - thing place", "robot - thing place box - place", ":4: ", "two parents"),
    "problem": (DOMAIN, PROBLEM, ":1: ", "defines a problem, but a domain is wanted"),
    "functions": ("(:constants dock - place)", "(:functions (c))", ":5: ", "numeric fluents"),
    "derived": (REST, "(:derived (busy) (busy))", ":12: ", "derived predicates"),
    "disjunction": (PRE, "(or (busy) (busy))", ":10: ", "disjunction ('or')"),
    "negated conjunction": (PRE, "(not (and (busy)))", ":10: ", "'not' around '(and'"),
    "forall": (PRE, "(forall (?x - box) (busy))", ":10: ", "quantifiers ('forall')"),
    "equality": (PRE, "(not (= ?p ?q))", ":10: ", "equality ('=')"),
    "conditional effect": (EFF, "(when (busy) (at ?b ?q))", ":11: ", "conditional effects ('when')"),
    "probabilistic": (EFF, "(probabilistic 0.5 (busy))", ":11: ", "probabilistic"),
    "either": ("?b - box ?p ?q", "?b - (either box robot) ?p ?q", ":9: ", "'either' types"),
    "undeclared predicate": (EFF, "(att ?b ?q)", ":11: ", "undeclared predicate 'att'; did you mean 'at'?"),
    "undeclared variable": (EFF, "(at ?box ?q)", ":11: ", "undeclared variable '?box'; did you mean '?b'?"),
    "undeclared constant": ("DOCK", "dok", ":13: ", "undeclared object 'dok'; did you mean 'dock'?"),
    "undeclared type": ("?b - box ?p ?q", "?b - boxx ?p ?q", ":9: ", "type 'boxx' is not declared"),
    "too few arguments": (EFF, "(at ?b)", ":11: ", "'at' takes 2 arguments, found 1"),
    "wrong type": (EFF, "(at ?q ?q)", ":11: ", "argument 1 of 'at' must be of type 'thing', but '?q'"),
    "list as argument": (EFF, "(at (b) ?q)", ":11: ", "expected an argument of 'at'"),
    "variable without mark": ("?b - box ?p ?q", "b - box ?p ?q", ":9: ", "expected a variable such as '?x'"),
    "dash without type": ("?p ?q - place)", "?p ?q -)", ":9: ", "a type after it"),
    "dash without variables": (
        "(?r - robot ?b - box ?p ?q - place)",
        "(- place)",
        ":9: ",
        "expected a variable before '-' and a type after it",
    ),
    "parameter twice": ("?p ?q - place", "?p ?p - place", ":9: ", "two parameters of 'push' have one name"),
    "action twice": ("(:action rest", "(:action PUSH", ":12: ", "action 'push' is defined twice"),
    "action without name": (REST, "(:action)", ":12: ", "name of an action"),
    "predicate twice": ("(at-goal ?x - box)", "(AT)", ":6: ", "predicate 'at' is declared twice"),
    "field of another language": (
        ":precondition ()",
        ":observe (busy)",
        ":12: ",
        "'rest' uses sensing actions; only STRIPS",
    ),
    "field twice": (":precondition ()", ":parameters ()", ":12: ", "comes twice in 'rest'"),
    "field without value": (":effect (busy)", ":effect", ":12: ", "expected '(' after :effect of 'rest'"),
    "type circle": ("robot - thing place", "robot - thing thing - box place", ":4: ", "own ancestor"),
    "root with a parent": (
        "robot - thing place",
        "robot - thing object - place",
        ":4: ",
        "root of all types",
    ),
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
    "two domains": ("(:domain tiny)", "(:domain tiny small)", ":2: ", "expected one name of a domain"),
    "undeclared object": ("(at b shelf)", "(at c shelf)", ":6: ", "undeclared object 'c'"),
    "undeclared predicate": (
        "(at b shelf)",
        "(on b shelf)",
        ":6: ",
        "the initial state uses the undeclared predicate 'on'",
    ),
    "wrong type": ("(at b shelf)", "(at shelf b)", ":6: ", "must be of type 'thing', but 'shelf'"),
    "another type than the constant": ("shelf - place", "dock - box", ":3: ", "'dock' has two types"),
    "no initial state": ("(:init (at r shelf)\n         (at b shelf))", "", ":1: ", "no '(:init'"),
    "contradiction": ("(at b shelf)", "(not (at r shelf))", ":6: ", "both true and false"),
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

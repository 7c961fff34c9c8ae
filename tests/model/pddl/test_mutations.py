"""Whatever is in a file, it is read or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.pddl import Problem, domain_text, problem_text, read_domain, read_problem
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput
from tests.profiles import thorough

from .files import DOMAIN, PROBLEM, attempt, tiny, written

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

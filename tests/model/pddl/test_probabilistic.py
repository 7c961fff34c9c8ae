"""PPDDL: what is read is what the file says, writing it and reading it again changes nothing, mistakes are one line."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.model.pddl import domain_text, read_domain, read_goal
from aam_vision.model.pddl.writing import written_probabilities
from aam_vision.model.strips import Atom, Effects, LiftedAtom, Model, Objects, Outcome
from tests.interrogation.chance.domains import SLIPPERY
from tests.refusals import told_by

from .files import DOMAIN


def read(folder: Path, text: str) -> Model:
    path = folder / "domain.pddl"
    path.write_text(text)
    return read_domain(path, chance=True)


HOLDING, FREE, BROKEN = LiftedAtom("holding", (0,)), LiftedAtom("free", (1,)), LiftedAtom("broken", (0,))
BREAKS = "(probabilistic 0.3 (broken ?b))"


def _outcomes(model: Model, action: str) -> dict[Effects, float]:
    return {one.effects: one.probability for one in model.schema(action).outcomes}


def test_outcomes_are_read_with_their_probabilities(tmp_path: Path) -> None:
    model = read(tmp_path, SLIPPERY)
    assert _outcomes(model, "grab") == pytest.approx(
        {
            Effects(frozenset({HOLDING}), frozenset({FREE})): 0.7,
            Effects(frozenset({BROKEN})): 0.1,
            Effects(): 0.2,
        }
    )
    dropped = frozenset({HOLDING})
    assert _outcomes(model, "drop") == pytest.approx(
        {Effects(frozenset({FREE, BROKEN}), dropped): 0.3, Effects(frozenset({FREE}), dropped): 0.7}
    )
    certain = read(tmp_path, SLIPPERY.replace(BREAKS, "(probabilistic 1 (broken ?b))"))
    assert BROKEN in certain.schema("drop").add
    independent = SLIPPERY.replace(BREAKS, f"{BREAKS} (probabilistic 0.5 (free ?h))")
    shares = _outcomes(read(tmp_path, independent.replace("(free ?h) (prob", "(prob")), "drop").values()
    assert sorted(shares) == pytest.approx([0.15, 0.15, 0.35, 0.35])
    for text, meant in (("1e-3", 0.001), ("2.5E-1", 0.25), ("0.1", 0.1), ("1/8", 0.125)):
        assert meant in _outcomes(read(tmp_path, SLIPPERY.replace("1/10", text)), "grab").values()


@given(st.lists(st.integers(1, 10**9), min_size=2, max_size=10))
def test_probabilities_that_are_written_add_up_to_one_and_none_is_lost(parts: list[int]) -> None:
    """Else a model that was learned would have a further outcome when it is read, or could not be read."""
    outcomes = [Outcome(part / sum(parts), Effects()) for part in parts]
    written = [Fraction(text) for text in written_probabilities(outcomes)]
    assert sum(written) == 1
    for share, (probability, _) in zip(written, outcomes, strict=True):
        assert share > 0
        assert float(share) == pytest.approx(probability, abs=1e-6)
    assert written_probabilities([Outcome(0.25, Effects()), Outcome(0.5, Effects())]) == ["0.25", "0.5"]


def test_ten_outcomes_that_do_not_come_out_even_are_read_again(tmp_path: Path) -> None:
    declared = " ".join(f"(p{number})" for number in range(10))
    chances = " ".join(f"{number + 2}/65 (p{number})" for number in range(10))
    text = f"(define (domain d) (:predicates {declared}) (:action a :effect (probabilistic {chances})))"
    model = read(tmp_path, text)
    outcomes, again = (_outcomes(each, "a") for each in (model, read(tmp_path, domain_text(model))))
    assert len(outcomes) == 10
    assert again == pytest.approx(outcomes, abs=1e-6)


LAID_OUT = """
    :effect (and
        (when (and (r))
          (and
            (p)
            (q)))
        (when (and (not (r)))
          (and
            (probabilistic
              0.5 (and
                (p)
                (q))
              0.5 (and)))))
  )
)
"""


def test_what_stands_within_something_is_written_further_to_the_right(tmp_path: Path) -> None:
    effect = "(when (r) (and (p) (q))) (when (not (r)) (probabilistic 0.5 (and (p) (q))))"
    text = f"(define (domain d) (:predicates (p) (q) (r)) (:action a :effect (and {effect})))"
    assert domain_text(read(tmp_path, text)).endswith(LAID_OUT)


def test_a_domain_without_chance_is_written_as_plain_pddl(tmp_path: Path) -> None:
    model = read(tmp_path, DOMAIN)
    path = tmp_path / "plain.pddl"
    path.write_text(domain_text(model))
    assert domain_text(read_domain(path)) == domain_text(read_domain(tmp_path / "domain.pddl"))


def test_a_goal_is_literals_over_the_objects_of_a_problem_or_refused_in_one_line(tmp_path: Path) -> None:
    vocabulary = read(tmp_path, SLIPPERY).vocabulary
    objects = Objects({"a": "block", "h": "hand"}, vocabulary.types)
    found = read_goal("(holding a) (not (broken a))", vocabulary, objects, "--goal")
    assert found == ({Atom("holding", ("a",))}, {Atom("broken", ("a",))})
    for text, told in (
        ("(holding b)", "'b'"),
        ("(holding h)", "'h'"),
        ("(lifted a)", "'lifted'"),
        ("(and)", "the goal is empty"),
        ("(holding a", "--goal:1"),
    ):
        said = told_by(lambda text=text: read_goal(text, vocabulary, objects, "--goal"), re.escape(told))
        assert said.startswith("--goal")


BAD = {
    "more than one": ("0.7 (and", "0.950004 (and", "add up to 1.05, more than 1"),
    "no number": ("0.7 (and", "often (and", "expected a probability from 0 to 1"),
    "negative": ("0.7 (and", "-0.7 (and", "expected a probability from 0 to 1"),
    "a zero below": ("1/10", "1/0", "expected a probability from 0 to 1"),
    "little more than one": ("0.7 (and", "0.90000001 (and", "add up to 1.00000001, more than 1"),
    "hardly more": ("0.7 (and", "0.900000000000000001 (and", "add up to a little over 1, more than 1"),
    "no digits": ("0.7 (and", "e-3 (and", "expected a probability from 0 to 1"),
    "under not": ("1/10 (broken ?b)", f"1/10 (not {BREAKS})", "may stand in an effect only"),
    "odd": ("1/10 (broken ?b)", "1/10", "pairs of a probability and an effect"),
    "empty": (BREAKS, "(probabilistic)", "pairs of a probability and an effect"),
    "in a precondition": ("(not (broken ?b))", BREAKS, "probabilistic effects"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_one_line_that_says_where(tmp_path: Path, name: str) -> None:
    old, new, told = BAD[name]
    assert old in SLIPPERY
    message = told_by(lambda: read(tmp_path, SLIPPERY.replace(old, new)))
    assert told in message
    assert re.search(r"domain\.pddl:\d+: ", message)

"""Effects with conditions and chance do what the file says in every state; mistakes are one line."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from aam_vision.model.pddl import domain_text, read_domain
from aam_vision.model.strips import Atom, Model, Objects, State, Types
from tests.refusals import told_by

NAMES = "abc"
EFFECT = "(and (a) (when (b) (not (c))) (when (and (not (b)) (c)) (probabilistic 0.25 (d))))"


def read(folder: Path, effect: str, precondition: str = "(and)") -> Model:
    facts = " ".join(f"(p{number})" for number in range(60))
    path = folder / "domain.pddl"
    path.write_text(
        f"(define (domain d) (:predicates (a) (b) (c) (d) {facts})"
        f" (:action act :precondition {precondition} :effect {effect}))"
    )
    return read_domain(path, chance=True)


def successors(model: Model, held: str) -> dict[str, float]:
    """The states after the action, as the names of the facts that are true."""
    state = State(frozenset(Atom(name, ()) for name in held), Objects({}, Types()))
    found = model.schema("act").successors(state, ())
    return {"".join(sorted(atom.predicate for atom in after.true)): share for after, share in found.items()}


def test_every_state_leads_where_the_conditions_say(tmp_path: Path) -> None:
    model = read(tmp_path, EFFECT)
    assert successors(model, "") == {"a": 1}
    assert successors(model, "b") == {"ab": 1}
    assert successors(model, "bc") == {"ab": 1}
    assert successors(model, "c") == {"ac": 0.75, "acd": 0.25}
    assert len(model.schema("act").cases) == 3


def test_a_model_that_is_written_and_read_again_does_the_same(tmp_path: Path) -> None:
    model = read(tmp_path, EFFECT)
    text = domain_text(model)
    assert ":conditional-effects" in text
    (tmp_path / "again.pddl").write_text(text)
    again = read_domain(tmp_path / "again.pddl", chance=True)
    for values in product((False, True), repeat=3):
        held = "".join(name for name, value in zip(NAMES, values, strict=True) if value)
        assert successors(again, held) == pytest.approx(successors(model, held))


def test_a_condition_that_the_precondition_decides_makes_no_cases(tmp_path: Path) -> None:
    model = read(tmp_path, EFFECT, "(b)")
    assert not model.schema("act").cases
    assert successors(model, "bc") == {"ab": 1}


def test_a_condition_may_stand_in_a_chance(tmp_path: Path) -> None:
    model = read(tmp_path, "(probabilistic 0.5 (and (a) (when (b) (c))))")
    assert successors(model, "b") == {"b": 0.5, "abc": 0.5}
    assert successors(model, "") == {"": 0.5, "a": 0.5}


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
    assert "domain.pddl:" in message

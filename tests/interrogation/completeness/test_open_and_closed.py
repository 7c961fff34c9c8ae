"""Examples of questions that are open or closed, and of what opens them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aam_vision.interrogation.completeness import indistinguishability
from aam_vision.interrogation.completeness.indistinguishability import Indistinguishability, Prospect
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.model.strips import (
    ActionHeader,
    Atom,
    LiftedAtom,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)

NOWHERE = Objects({}, Types())


def _known(
    hypotheses: Hypotheses,
    name: str,
    *,
    true: int = 0,
    false: int = 0,
    perhaps: tuple[int, int] = (0, 0),
    add: int = 0,
    delete: int = 0,
    clauses: Sequence[Literals] = (),
) -> None:
    """An action of which all is known but whether it requires ``perhaps``: true ones, false ones."""
    action = hypotheses[name]
    action.positive, action.negative = true | perhaps[0], false | perhaps[1]
    action.absent = action.index.everything & ~true & ~false
    action.adds, action.deletes = add, delete
    action.keeps = action.index.everything & ~add & ~delete
    action.clauses = list(clauses)
    action.version += 1


def _named(*names: str) -> tuple[Hypotheses, dict[str, int]]:
    """Actions ``a`` to ``e``, and the bits of these predicates."""
    vocabulary = Vocabulary("named", tuple(Predicate(name) for name in names))
    hypotheses = Hypotheses(vocabulary, [ActionHeader(name) for name in "abcde"])
    for action in "abcde":
        _known(hypotheses, action)
    return hypotheses, {name: hypotheses["a"].index.bit[LiftedAtom(name, ())] for name in names}


def _start(*true: str) -> list[State]:
    return [State(frozenset(Atom(name, ()) for name in true), NOWHERE)]


@pytest.mark.parametrize("looks", [100_000, 0])
def test_what_is_told_first_may_open_the_way_to_more(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ``a`` does not require p, it leads where r can be lost: so ``b`` can be asked without r."""
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    hypotheses, bit = _named("p", "q", "r")
    _known(hypotheses, "a", perhaps=(bit["p"], 0), add=bit["q"])
    _known(hypotheses, "b", perhaps=(bit["r"], 0))
    _known(hypotheses, "c", false=bit["q"], delete=bit["p"])
    _known(hypotheses, "d", true=bit["q"], false=bit["p"], delete=bit["r"])
    proofs = Indistinguishability(hypotheses, [_start("p", "r")])
    assert proofs.precondition("a", Literals(bit["p"], 0)) is Prospect.OPEN
    assert proofs.precondition("b", Literals(bit["r"], 0)) is Prospect.OPEN
    assert proofs.open_questions() == 2
    if not looks:
        return  # pairs of literals do not show it
    _known(hypotheses, "a", true=bit["p"], add=bit["q"])  # now that it does require p
    proofs = Indistinguishability(hypotheses, [_start("p", "r")])
    assert proofs.precondition("b", Literals(bit["r"], 0)) is Prospect.CLOSED
    assert proofs.open_questions() == 0


@pytest.mark.parametrize("looks", [100_000, 0])
def test_a_question_is_closed_only_if_it_is_in_every_problem(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    hypotheses, bit = _named("p", "q", "r")
    _known(hypotheses, "a", perhaps=(bit["p"] | bit["q"] | bit["r"], 0))
    _known(hypotheses, "b")
    action = hypotheses["b"]
    action.adds = bit["p"] | bit["q"] | bit["r"]
    problems = [_start("p", "r"), _start("q", "r"), _start("p", "q", "r")]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        proofs = Indistinguishability(hypotheses, [problems[number] for number in order])
        for name, prospect in (("p", Prospect.OPEN), ("q", Prospect.OPEN), ("r", Prospect.CLOSED)):
            assert proofs.precondition("a", Literals(bit[name], 0)) is prospect
            assert proofs.effect("b", bit[name]) is prospect


def test_every_clause_must_be_satisfied_for_a_step_to_be_executed() -> None:
    """``e`` needs x or y, and z or w; x turns into z and back, so that it is never executed."""
    hypotheses, bit = _named("x", "y", "z", "w", "t")
    clauses = [Literals(bit["x"] | bit["y"], 0), Literals(bit["z"] | bit["w"], 0)]
    _known(hypotheses, "e", perhaps=(sum(c.positive for c in clauses), 0), add=bit["t"], clauses=clauses)
    _known(hypotheses, "c", true=bit["x"], add=bit["z"], delete=bit["x"])
    _known(hypotheses, "d", true=bit["z"], add=bit["x"], delete=bit["z"])
    _known(hypotheses, "b", perhaps=(0, bit["t"]))
    proofs = Indistinguishability(hypotheses, [_start("x")])
    assert proofs.precondition("b", Literals(0, bit["t"])) is Prospect.CLOSED
    assert proofs.open_questions() == 0
    _known(hypotheses, "d", true=bit["z"], add=bit["x"])
    proofs = Indistinguishability(hypotheses, [_start("x")])
    assert proofs.precondition("b", Literals(0, bit["t"])) is Prospect.OPEN


def test_an_effect_that_may_happen_is_taken_both_ways() -> None:
    """Whether ``a`` adds p has never been seen; ``b`` can only be told about if it does, ``c`` only if not."""
    hypotheses, bit = _named("p", "q", "r")
    _known(hypotheses, "a", true=bit["r"], delete=bit["r"])
    hypotheses["a"].adds |= bit["p"]
    _known(hypotheses, "b", perhaps=(0, bit["p"]))
    _known(hypotheses, "c", false=bit["r"], perhaps=(bit["p"], 0))
    proofs = Indistinguishability(hypotheses, [_start("r")])
    assert proofs.effect("a", bit["p"]) is Prospect.OPEN
    assert proofs.precondition("b", Literals(0, bit["p"])) is Prospect.OPEN
    assert proofs.precondition("c", Literals(bit["p"], 0)) is Prospect.OPEN
    _known(hypotheses, "d", true=bit["q"], add=bit["p"])  # q never comes true
    hypotheses["a"].adds &= ~bit["p"]
    proofs = Indistinguishability(hypotheses, [_start("r")])
    assert proofs.precondition("b", Literals(0, bit["p"])) is Prospect.CLOSED
    assert proofs.precondition("c", Literals(bit["p"], 0)) is Prospect.OPEN


def test_an_effect_that_may_delete_is_taken_both_ways() -> None:
    """Whether ``a`` deletes p is not known, since p was hidden; ``b`` could be told about without p."""
    hypotheses, bit = _named("p", "r")
    _known(hypotheses, "a", true=bit["r"], delete=bit["r"])
    hypotheses["a"].deletes |= bit["p"]
    _known(hypotheses, "b", perhaps=(bit["p"], 0), false=bit["r"])
    proofs = Indistinguishability(hypotheses, [_start("r", "p")])
    assert proofs.effect("a", bit["p"]) is Prospect.OPEN
    assert proofs.precondition("b", Literals(bit["p"], 0)) is Prospect.OPEN
    hypotheses["a"].deletes &= ~bit["p"]
    proofs = Indistinguishability(hypotheses, [_start("r", "p")])
    assert proofs.precondition("b", Literals(bit["p"], 0)) is Prospect.CLOSED


def test_facts_that_never_change_decide_for_good_whether_a_step_is_ever_executed() -> None:
    for true, start, prospect in (("s", ("s",), Prospect.OPEN), ("s", (), Prospect.CLOSED)):
        hypotheses, bit = _named("p", "s")
        _known(hypotheses, "a", true=bit[true], add=bit["p"])
        _known(hypotheses, "b", perhaps=(0, bit["p"]))
        proofs = Indistinguishability(hypotheses, [_start(*start)])
        assert proofs.precondition("b", Literals(0, bit["p"])) is prospect
        hypotheses, bit = _named("p", "s")
        _known(hypotheses, "a", false=bit[true], add=bit["p"])
        _known(hypotheses, "b", perhaps=(0, bit["p"]))
        proofs = Indistinguishability(hypotheses, [_start(*start)])
        assert proofs.precondition("b", Literals(0, bit["p"])) is not prospect


def test_nothing_undecided_leaves_nothing_open() -> None:
    hypotheses, _ = _named("p")
    assert Indistinguishability(hypotheses, [_start()]).open_questions() == 0

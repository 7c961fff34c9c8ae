"""What is called closed makes no difference to any agent that is still possible, in any problem, after any plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness import indistinguishability
from aam_vision.interrogation.completeness.indistinguishability import Indistinguishability, Prospect
from aam_vision.interrogation.evidence.entries import Asked
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.hypotheses.action import ActionHypotheses
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import Hypotheses
from aam_vision.query import Access, Query
from aam_vision.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Mode,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests.profiles import thorough

NOWHERE = Objects({}, Types())
ATOMS = 3
SIZE = 1 << ATOMS
VOCABULARY = Vocabulary("switches", tuple(Predicate(f"p{number}") for number in range(ATOMS)))
Schema = tuple[int, int, int, int]
"""Masks: what must be true, what must be false, what is added, what is deleted."""


def _state(mask: int) -> State:
    return State(frozenset(Atom(f"p{n}", ()) for n in range(ATOMS) if mask >> n & 1), NOWHERE)


def _after(schema: Schema, state: int) -> int | None:
    """Deletions come first; None where the step is refused."""
    true, false, add, delete = schema
    return None if true & ~state or false & state else state & ~delete | add


def _schemas(action: ActionHypotheses) -> Iterator[Schema]:
    """Every schema that an action may still have."""

    def signs(plus: int, minus: int, neither: int) -> Iterator[tuple[int, int]]:
        choices = [
            [mode for mode, mask in zip(Mode, (plus, minus, neither), strict=True) if mask >> n & 1]
            for n in range(ATOMS)
        ]
        for modes in product(*choices):
            yield (
                sum(1 << n for n, mode in enumerate(modes) if mode is Mode.POSITIVE),
                sum(1 << n for n, mode in enumerate(modes) if mode is Mode.NEGATIVE),
            )

    for true, false in signs(action.positive, action.negative, action.absent):
        if all(clause.positive & true or clause.negative & false for clause in action.clauses):
            for add, delete in signs(action.adds, action.deletes, action.keeps):
                yield true, false, add, delete


def _told_apart(one: Sequence[Schema], other: Sequence[Schema], start: int) -> bool:
    """Whether some plan from there ends differently; up to that, both are in the same state."""
    seen, queue = {start}, [start]
    while queue:
        state = queue.pop()
        for mine, yours in zip(one, other, strict=True):
            after = _after(mine, state)
            if after != _after(yours, state):
                return True
            if after is not None and after not in seen:
                seen.add(after)
                queue.append(after)
    return False


def _open_part(proofs: Indistinguishability, name: str, schema: Schema, action: ActionHypotheses) -> Schema:
    """The schema without what is closed: agents that agree on this much must not be told apart."""
    true, false, add, delete = schema
    literals = Literals(0, 0)
    for literal in action.undecided.singles():
        if proofs.precondition(name, literal) is Prospect.CLOSED:
            literals = Literals(literals.positive | literal.positive, literals.negative | literal.negative)
    effects = sum(
        1 << n
        for n in range(ATOMS)
        if action.undecided_effects >> n & 1 and proofs.effect(name, 1 << n) is Prospect.CLOSED
    )
    return true & ~literals.positive, false & ~literals.negative, add & ~effects, delete & ~effects


masks = st.integers(0, SIZE - 1)


@st.composite
def _agents(draw: st.DrawFn) -> list[Schema]:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        true, false, add, delete = draw(masks), draw(masks), draw(masks), draw(masks)
        found.append((true & draw(masks), false & ~true & draw(masks), add & draw(masks), delete & ~add))
    return found


def _hypotheses(
    truth: Sequence[Schema], starts: Sequence[int], questions: Sequence[tuple[int, int]]
) -> Hypotheses:
    """What some one-step questions, each asked where an earlier one has led, leave possible."""
    names = [ActionHeader(f"a{number}") for number in range(len(truth))]

    def atoms(mask: int) -> frozenset[LiftedAtom]:
        return frozenset(LiftedAtom(f"p{n}", ()) for n in range(ATOMS) if mask >> n & 1)

    schemas = tuple(
        ActionSchema(header, *map(atoms, masks)) for header, masks in zip(names, truth, strict=True)
    )
    agent = SymbolicAgent(Model(VOCABULARY, schemas), [_state(mask) for mask in starts], Access.SNAPSHOT)
    evidence = Evidence(Hypotheses(VOCABULARY, names))
    known = list(agent.initial())
    for situation in known:
        evidence.begin(situation)
    for place, action in questions:
        query = Query(known[place % len(known)], (GroundAction(f"a{action % len(truth)}", ()),))
        response = agent.ask(query)
        evidence.take_in(Asked(query, response))
        known.append(response.final)
    return evidence.hypotheses


@pytest.mark.parametrize("exhaustion", [True, False], ids=["exhaustion", "mutexes"])
def test_agents_that_differ_in_closed_questions_alone_answer_alike(
    exhaustion: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exhaustion:
        monkeypatch.setattr(indistinguishability, "MAX_LOOKS", 0)

    @thorough(120)
    @given(
        _agents(),
        st.lists(masks, min_size=1, max_size=2, unique=True),
        st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), max_size=25),
    )
    def holds(truth: list[Schema], starts: list[int], questions: list[tuple[int, int]]) -> None:
        hypotheses = _hypotheses(truth, starts, questions)
        proofs = Indistinguishability(hypotheses, [[_state(mask)] for mask in starts])
        possible = []
        for action in hypotheses.actions.values():
            possible.append(list(_schemas(action)))
            assume(len(possible[-1]) <= 24)
        assume(np.prod([len(schemas) for schemas in possible]) <= 64)
        alike: dict[tuple[Schema, ...], list[tuple[Schema, ...]]] = {}
        for model in product(*possible):
            part = tuple(
                _open_part(proofs, name, schema, action)
                for (name, action), schema in zip(hypotheses.actions.items(), model, strict=True)
            )
            alike.setdefault(part, []).append(model)
        for models in alike.values():
            for other in models[1:]:
                assert not any(_told_apart(models[0], other, start) for start in starts)

    holds()


# --- examples ------------------------------------------------------------------------------------


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
    _known(hypotheses, "b", perhaps=(0, bit["p"]), true=0)
    _known(hypotheses, "c", false=bit["r"], perhaps=(bit["p"], 0))
    proofs = Indistinguishability(hypotheses, [_start("r")])
    assert proofs.effect("a", bit["p"]) is Prospect.OPEN
    assert proofs.precondition("b", Literals(0, bit["p"])) is Prospect.OPEN
    assert proofs.precondition("c", Literals(bit["p"], 0)) is Prospect.OPEN


def test_nothing_undecided_leaves_nothing_open() -> None:
    hypotheses, _ = _named("p")
    assert Indistinguishability(hypotheses, [_start()]).open_questions() == 0

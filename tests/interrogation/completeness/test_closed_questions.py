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
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import (
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

"""CLOSED is a proof: nowhere the agent can get may the question still be open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness import indistinguishability
from aam_vision.interrogation.completeness.indistinguishability import (
    Indistinguishability,
    Prospect,
    cases_of,
    origins,
    sound_stop,
)
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.hypotheses.literals import Literals, bits, union
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, Hypotheses
from aam_vision.model.query import Access, Query
from aam_vision.model.strips import GroundAction, LiftedAtom, State
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import agent_of, begun, walked
from tests.profiles import thorough

LOOKS = pytest.mark.parametrize("looks", [indistinguishability.MAX_LOOKS, 0], ids=["exhaustion", "mutexes"])


@LOOKS
@pytest.mark.parametrize(
    ("row", "adding", "deleted", "shows"),
    [
        ("a a", "p x", "p y", True),
        ("a b", "p x", "p y", False),  # two atoms
        ("a k", "p x", "p y", False),
        ("a k", "p y", "p k", True),  # a constant for an argument
        ("a k", "p k", "p y", True),
        ("a k", "p y", "p x", False),
    ],
)
def test_the_addition_of_what_is_true_shows_only_where_it_undoes_the_deletion_of_its_equal(
    row: str, adding: str, deleted: str, shows: bool, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one row for which the action can be executed is that of which q is true."""
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    model = small.model(f"act x y: q x y, {adding} ->", predicates="p/1", constants="k")
    start = small.state("a b k", f"p a, p b, p k, q {row}")
    hypotheses = Hypotheses(model.vocabulary, model.headers, repeated=True)
    action, bit = hypotheses["act"], hypotheses["act"].index.bit
    action.positive = sum(bit[atom] for atom in model.schema("act").positive)
    action.negative, action.absent = 0, action.index.everything & ~action.positive
    action.adds, action.deletes = bit[small.lifted(adding)], bit[small.lifted(deleted)]
    action.keeps = action.index.everything & ~action.deletes
    assert Indistinguishability(hypotheses, [[start]]).open_questions() == shows


def _asked(domain: Domain, seed: int, steps: int, queries: int) -> Evidence:
    """Some walks, and some questions at random."""
    agent, rng, evidence = agent_of(domain), np.random.default_rng(seed), walked(domain, seed, steps)
    for _ in range(queries):
        node = evidence.nodes[int(rng.integers(len(evidence.nodes)))]
        everything = domains.instances(agent.headers, node.state.objects, 1000)
        if everything and node.situation is not None:
            query = Query(node.situation, (everything[int(rng.integers(len(everything)))],))
            evidence.take_in(Asked(query, agent.ask(query)))
    return evidence


@thorough(80)
@given(
    domains.domains() | domains.domains(alike=True) | domains.domains(constants=True, alike=True),
    st.integers(0, 10**6),
    st.integers(0, 30),
    st.integers(0, 40),
    st.sampled_from([0, indistinguishability.MAX_LOOKS]),
)
def test_no_question_called_closed_is_open_anywhere(
    domain: Domain, seed: int, walked: int, queries: int, looks: int
) -> None:
    """A probe is a step that violates the literal and is not certain to fail: brute force finds none."""
    states = domains.reachable(domain.model, domain.problems, limit=150)
    assume(states is not None)
    hypotheses = (evidence := _asked(domain, seed, walked, queries)).hypotheses
    equivalence = Indistinguishability(hypotheses, origins(evidence))
    with mock.patch.object(indistinguishability, "MAX_LOOKS", looks):
        assert equivalence.open_questions() >= 0, "what is closed is found out here"
    for name, action in hypotheses.actions.items():
        schema = domain.model.schema(name)
        shown, visible = Literals(0, 0), 0
        for state in states or ():
            for row in domains.all_bindings(schema.header, state.objects):
                held, dim = action.index.values(state, row)
                if not action.certain_to_fail(action.violated(held, dim)):
                    shown = union([shown, action.violated(held, dim, action.undecided)])
                if schema.applicable(state, row):
                    visible |= action.undecided_effects & ((action.adds & ~held) | (action.deletes & held))
        for literal in action.undecided.singles():
            if equivalence.precondition(name, literal) is Prospect.CLOSED:
                assert not literal.common(shown)
        for bit in bits(action.undecided_effects):
            if equivalence.effect(name, bit) is Prospect.CLOSED:
                assert not bit & visible


def test_what_is_too_large_to_ground_is_unknown_and_never_closed() -> None:
    start = small.state(" ".join(f"o{number}" for number in range(45)))
    evidence = begun(agent_of(Domain(small.model("act a b c", predicates="p/1"), (start,))))
    equivalence = Indistinguishability(evidence.hypotheses, origins(evidence))
    literal = next(evidence.hypotheses["act"].undecided.singles())
    assert equivalence.precondition("act", literal) is Prospect.UNKNOWN
    assert equivalence.effect("act", 1) is Prospect.UNKNOWN


# What is called closed makes no difference to any agent that is still possible, in any problem, after any plan.

NAMES = "pqr"
SIZE = 1 << len(NAMES)
Schema = tuple[int, int, int, int]
"""Masks: what must be true, what must be false, what is added, what is deleted."""


def _true(mask: int) -> list[str]:
    return [name for n, name in enumerate(NAMES) if mask >> n & 1]


def _state(mask: int) -> State:
    return small.state("", ", ".join(_true(mask)))


def _after(schema: Schema, state: int) -> int | None:
    """Deletions come first; None where the step is refused."""
    true, false, add, delete = schema
    return None if true & ~state or false & state else state & ~delete | add


def _schemas(action: ActionHypotheses) -> Iterator[Schema]:
    """Every schema that an action may still have."""

    def signs(plus: int, minus: int, neither: int) -> Iterator[tuple[int, int]]:
        for n_modes in product(*(choices(1 << n, plus, minus, neither) for n in range(len(NAMES)))):
            yield sum(plus for plus, _ in n_modes), sum(minus for _, minus in n_modes)

    def choices(bit: int, plus: int, minus: int, neither: int) -> list[tuple[int, int]]:
        pairs = zip(((bit, 0), (0, bit), (0, 0)), (plus, minus, neither), strict=True)
        return [pair for pair, mask in pairs if mask & bit]

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
    literals = union(
        one for one in action.undecided.singles() if proofs.precondition(name, one) is Prospect.CLOSED
    )
    effects = sum(
        bit for bit in bits(action.undecided_effects) if proofs.effect(name, bit) is Prospect.CLOSED
    )
    return true & ~literals.positive, false & ~literals.negative, add & ~effects, delete & ~effects


some_atoms = st.integers(0, SIZE - 1)


@st.composite
def _agents(draw: st.DrawFn) -> list[Schema]:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        true, false, add, delete = (draw(some_atoms) for _ in range(4))
        found.append(
            (true & draw(some_atoms), false & ~true & draw(some_atoms), add & draw(some_atoms), delete & ~add)
        )
    return found


def _hypotheses(
    truth: Sequence[Schema], starts: Sequence[int], questions: Sequence[tuple[int, int]]
) -> Hypotheses:
    """What some one-step questions, each asked where an earlier one has led, leave possible."""
    lines = []
    for number, (true, false, add, delete) in enumerate(truth):
        needs = [*_true(true), *(f"not {one}" for one in _true(false))]
        does = [*_true(add), *(f"not {one}" for one in _true(delete))]
        lines.append(f"a{number}: {', '.join(needs)} -> {', '.join(does)}")
    model = small.model(*lines, predicates="p/0 q/0 r/0")
    agent = SymbolicAgent(model, [_state(mask) for mask in starts], Access.SNAPSHOT)
    evidence, known = begun(agent), list(agent.initial())
    for place, action in questions:
        query = Query(known[place % len(known)], (GroundAction(f"a{action % len(truth)}", ()),))
        response = agent.ask(query)
        evidence.take_in(Asked(query, response))
        known.append(response.final)
    return evidence.hypotheses


@LOOKS
@thorough(120)
@given(
    _agents(),
    st.lists(some_atoms, min_size=1, max_size=2, unique=True),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2)), max_size=25),
)
def test_agents_that_differ_in_closed_questions_alone_answer_alike(
    looks: int, truth: list[Schema], starts: list[int], questions: list[tuple[int, int]]
) -> None:
    hypotheses = _hypotheses(truth, starts, questions)
    possible = []
    for action in hypotheses.actions.values():
        possible.append(list(_schemas(action)))
        assume(len(possible[-1]) <= 24)
    assume(np.prod([len(schemas) for schemas in possible]) <= 64)
    alike: dict[tuple[Schema, ...], list[tuple[Schema, ...]]] = {}
    with mock.patch.object(indistinguishability, "MAX_LOOKS", looks):
        proofs = Indistinguishability(hypotheses, [[_state(mask)] for mask in starts])
        for model in product(*possible):
            part = tuple(
                _open_part(proofs, name, schema, action)
                for (name, action), schema in zip(hypotheses.actions.items(), model, strict=True)
            )
            alike.setdefault(part, []).append(model)
    for models in alike.values():
        for other in models[1:]:
            assert not any(_told_apart(models[0], other, start) for start in starts)


# Examples of questions that are open or closed, and of what opens them.


NAMED = small.model(*"abcde", predicates=" ".join(f"{letter}/0" for letter in "pqrstwxyz"))


def _told(action: ActionHypotheses, known: str) -> None:
    """Take this for what was learned: ``p`` and ``!p`` are required, ``+p`` and ``-p`` effects, ``?`` is perhaps, ``pQ`` a clause.

    Of a clause, capital letters are of what must be false. All else is known not to be.
    """

    def mask(*signs: str) -> int:
        letters = [word[-1] for word in known.split() if word[:-1] in signs]
        return sum(action.index.bit[LiftedAtom(letter, ())] for letter in letters)

    def literals(clause: str, sign: Callable[[str], bool]) -> int:
        letters = map(str.lower, filter(sign, clause))
        return sum(action.index.bit[LiftedAtom(letter, ())] for letter in letters)

    everything = action.index.everything
    action.positive, action.negative = mask("", "?"), mask("!", "?!")
    action.absent = everything & ~mask("", "!")
    action.adds, action.deletes = mask("+", "?+"), mask("-", "?-")
    action.keeps = everything & ~mask("+", "-")
    clauses = [word for word in known.split() if len(word) > 1 and word.isalpha()]
    action.clauses = [Literals(literals(one, str.islower), literals(one, str.isupper)) for one in clauses]
    action.version += 1


TURNING = "b ?!t; c x +z -x; e ?x ?y ?z ?w +t xy zw"
MAY_ADD = "b ?!p; c !r ?p; d q +p"
FOR_ALL = "a ?p ?q ?r; b ?+p ?+q ?+r"
TOOLS = "a !q ?!p +r; b s !t ?!r +t"
CASES = {
    "not requiring p, a leads to where r can be lost": (
        "a ?p +q; b ?r; c !q -p; d q !p -r",
        "pr",
        "a p, b r",
        "",
    ),
    "requiring p, it does not, which pairs of literals do not show": (
        "a p +q; b ?r; c !q -p; d q !p -r",
        "pr",
        "",
        "exhaustion: b r",
    ),
    "closed only if it is in every problem": (FOR_ALL, "pr qr pqr", "a p, a q, b +p, b +q", "a r, b +r"),
    "in whatever order they come": (FOR_ALL, "pqr pr qr", "a p, a q, b +p, b +q", "a r, b +r"),
    "e needs x or y and z or w, and x turns into z and back": (f"{TURNING}; d z +x -z", "x", "", "b -t"),
    "but if z stays, e is executed": (f"{TURNING}; d z +x", "x", "b -t, e y, e w", ""),
    "a may add p, b tells only if it does, c only if not": (
        f"{MAY_ADD}; a r -r ?+p",
        "r",
        "a +p, b -p, c p",
        "",
    ),
    "a does not, and q never comes true": (f"{MAY_ADD}; a r -r", "r", "c p", "b -p"),
    "p was hidden, and a may have deleted it": ("a r -r ?-p; b !r ?p", "rp", "a +p, b p", ""),
    "it was not": ("a r -r; b !r ?p", "rp", "", "b p"),
    "nor does a have to": ("a r -r ?-p; b !r ?!p", "rp", "a +p, b -p", ""),
    "s never changes, and a needs it": ("a s +p; b ?!p", "s", "b -p", ""),
    "s never changes, and a needs that it is false": ("a !s +p; b ?!p", "s", "", "b -p"),
    "s never comes true, and a needs it": ("a s +p; b ?!p", "q", "", "b -p"),
    "s never comes true, and a needs that it is false": ("a !s +p; b ?!p", "q", "b -p", ""),
    "nothing is undecided": ("", "p", "", ""),
    "whoever is not p is q, for ever": ("a ?p ?!q +r", "p q", "a p, a -q", ""),
    "two ways to say the same, of which one was proven": ("a ?p ?!q +r pQ", "p q", "", "a p, a -q"),
    "until q is lost": ("a ?p ?!q +r pQ; b q -q", "q", "a p", "a -q"),
    "an effect that can show only once is open before": ("a !q +q ?+p", "s", "a +p", ""),
    "and closed where it cannot show": ("a !q +q ?+p", "p", "", "a +p"),
    # nobody can tell whether a requires that p is false, since q is true, too; so that is assumed, and must not be
    # taken for violated from the other start, where a and then b can be executed
    "what only one of two starts allows": (TOOLS, "pqs,s", "b -r", "a -p"),
    "what only the other start allows": (TOOLS, "s,pqs", "b -r", "a -p"),
}
"""What is known of the actions, the starts (of several problems), the questions that are open, and those that are closed.

A question is of a literal of the precondition (``-p``: that p is false), or of an effect (``+p``).
"""


@LOOKS
@pytest.mark.parametrize("case", CASES)
def test_a_question_is_open_where_one_could_tell(
    case: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    actions, starts, open_, closed = CASES[case]
    hypotheses = Hypotheses(NAMED.vocabulary, NAMED.headers)
    known = dict(one.split(" ", 1) for one in actions.split("; ") if one)
    for name, action in hypotheses.actions.items():
        _told(action, known.get(name, ""))
    states = [[small.state("", ", ".join(true)) for true in one.split(",")] for one in starts.split(" ")]
    proofs = Indistinguishability(hypotheses, states)
    if closed.startswith("exhaustion: "):
        closed = closed.removeprefix("exhaustion: ")
        if not looks:
            return
    for questions, prospect in ((open_, Prospect.OPEN), (closed, Prospect.CLOSED)):
        for name, question in (one.split() for one in questions.split(", ") if one):
            bit = hypotheses[name].index.bit[LiftedAtom(question[-1], ())]
            if question[0] == "+":
                assert proofs.effect(name, bit) is prospect
            else:
                literal = Literals(0, bit) if question[0] == "-" else Literals(bit, 0)
                assert proofs.precondition(name, literal) is prospect
    count = len([one for one in open_.split(", ") if one])
    assert proofs.open_questions() == count
    stop = sound_stop(proofs)
    assert (stop.complete, stop.beyond) == (not count, proofs.closed)
    assert stop.complete or stop.why.startswith(f"{count} question")


@pytest.mark.parametrize(
    ("clauses", "cases"),
    [("", 1), ("pq", 2), ("pqr st", 6), ("pq rs tw xy zp", 32), ("pq rs tw xy zp zqr", 32)],
)
def test_an_action_may_require_any_literal_of_every_clause(clauses: str, cases: int) -> None:
    """Beyond so many cases the longest clauses are left out."""
    action = Hypotheses(NAMED.vocabulary, NAMED.headers)["a"]
    _told(action, clauses)
    found = cases_of(action)
    assert len(found) == cases
    kept = sorted(action.clauses, key=Literals.size)[:5]
    assert all(case.overlaps(clause) for case in found for clause in kept)

"""What is told is taken out of what is closed, wherever it was told.

CLOSED is a proof: nowhere the agent can get may the question still be open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness import indistinguishability
from aam_vision.interrogation.completeness.indistinguishability import (
    NONE,
    Closed,
    Indistinguishability,
    Prospect,
    may_undo,
    origins,
    without,
)
from aam_vision.interrogation.evidence.graph import Evidence, Node
from aam_vision.interrogation.evidence.moves import Asked, Walked
from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals, bits
from aam_vision.interrogation.hypotheses.models import ActionHypotheses, GroundLiterals, Hypotheses
from aam_vision.model.query import Access, Query, Situation
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
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of, begun
from tests.profiles import thorough

masks = st.integers(0, 15)
PAIR = Vocabulary("pair", (Predicate("p", ("object",)), Predicate("q")), Types(), {"k": "object"})


@pytest.mark.parametrize(
    ("row", "adding", "deleted", "undone"),
    [
        (("a", "a"), (0,), (1,), True),
        (("a", "a"), (0,), (0,), False),  # the very atom: an effect is one or the other
        (("a", "b"), (0,), (1,), False),  # two atoms
        (("a", "k"), (0,), (1,), False),
        (("a", "k"), (1,), ("k",), True),  # a constant for an argument
        (("a", "k"), ("k",), (1,), True),
        (("a", "k"), (1,), (0,), False),
    ],
)
def test_an_addition_may_undo_the_deletion_of_another_atom_that_is_the_same(
    row: tuple[str, str], adding: tuple[int | str], deleted: tuple[int | str], undone: bool
) -> None:
    index = AtomIndex(PAIR, ActionHeader("act", ("x", "y"), ("object", "object")), repeated=True)
    action = ActionHypotheses(index)
    action.deletes = index.bit[LiftedAtom("p", deleted)]
    assert may_undo(action, GroundLiterals(action, row), index.bit[LiftedAtom("p", adding)]) is undone


some = st.builds(Closed, st.builds(Literals, masks, masks), masks)


@thorough(100)
@given(st.dictionaries(st.sampled_from("abc"), some), st.lists(st.dictionaries(st.sampled_from("abc"), some)))
def test_whatever_was_told_anywhere_is_taken_out(
    closed: dict[str, Closed], told: list[dict[str, Closed]]
) -> None:
    left = without(closed, told)
    assert left.keys() == closed.keys()
    for name, mine in closed.items():
        others = [one.get(name, NONE) for one in told]
        assert left[name] == Closed(
            Literals(
                mine.literals.positive & ~_any(other.literals.positive for other in others),
                mine.literals.negative & ~_any(other.literals.negative for other in others),
            ),
            mine.effects & ~_any(other.effects for other in others),
        )
        for other in others:
            assert left[name].without(other) == left[name]
            assert mine.joined(other).without(mine) == other.without(mine)
            assert mine.joined(other) == other.joined(mine)


def _any(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _asked(domain: Domain, seed: int, walked: int, queries: int) -> Evidence:
    """Some walks, and some questions at random."""
    agent, rng = agent_of(domain), np.random.default_rng(seed)
    evidence = begun(agent)
    for situation in agent.initial():
        evidence.take_in(Walked(tuple(agent.walk(situation, walked, rng))))
    for _ in range(queries):
        node = evidence.nodes[int(rng.integers(len(evidence.nodes)))]
        everything = [
            GroundAction(header.name, row)
            for header in agent.headers
            for row in domains.all_bindings(header, node.state.objects)
        ]
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
def test_no_question_called_closed_is_open_in_any_reachable_state(
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
        shown = Literals(0, 0)
        visible = 0
        for state in states or ():
            for row in domains.all_bindings(schema.header, state.objects):
                held, dim = action.index.values(state, row)
                violated = action.violated(held, dim, action.undecided)
                if not action.certain_to_fail(action.violated(held, dim)):
                    shown = Literals(shown.positive | violated.positive, shown.negative | violated.negative)
                if schema.applicable(state, row):
                    visible |= action.undecided_effects & ((action.adds & ~held) | (action.deletes & held))
        for literal in action.undecided.singles():
            if equivalence.precondition(name, literal) is Prospect.CLOSED:
                assert not (literal.positive & shown.positive)
                assert not (literal.negative & shown.negative)
        for bit in bits(action.undecided_effects):
            if equivalence.effect(name, bit) is Prospect.CLOSED:
                assert not bit & visible


def test_two_ways_to_say_the_same_are_closed_once_one_of_them_was_proven() -> None:
    """``is-player`` and ``not is-stone``: whoever is not the one is the other, for ever."""
    player, stone = LiftedAtom("is-player", (0,)), LiftedAtom("is-stone", (0,))
    seen = LiftedAtom("seen", (0,))
    vocabulary = Vocabulary(
        "things", tuple(Predicate(atom.predicate, ("object",)) for atom in (player, stone, seen))
    )
    header = ActionHeader("look", ("x",), ("object",))
    truth = Model(vocabulary, (ActionSchema(header, positive=frozenset([player]), add=frozenset([seen])),))
    objects = Objects({"me": "object", "rock": "object"}, Types())
    start = State(frozenset([Atom("is-player", ("me",)), Atom("is-stone", ("rock",))]), objects)
    agent = agent_of(Domain(truth, (start,)))
    (situation,) = agent.initial()
    evidence = begun(agent)
    action = evidence.hypotheses["look"]

    def prospects() -> dict[str, Prospect]:
        equivalence = Indistinguishability(evidence.hypotheses, origins(evidence))
        return {
            action.index.text(literal)[0]: equivalence.precondition("look", literal)
            for literal in action.undecided.singles()
        }

    for _ in range(2):
        evidence.take_in(
            Walked(tuple(agent.walk(evidence.nodes[-1].situation or situation, 1, np.random.default_rng(0))))
        )
    assert prospects() == {"is-player(?x)": Prospect.OPEN, "not is-stone(?x)": Prospect.OPEN}
    query = Query(situation, (GroundAction("look", ("rock",)),))
    evidence.take_in(Asked(query, agent.ask(query)))
    assert prospects() == {"is-player(?x)": Prospect.CLOSED, "not is-stone(?x)": Prospect.CLOSED}


def test_an_effect_that_can_show_only_once_is_open_while_the_action_is_still_to_come() -> None:
    vocabulary = Vocabulary("once", (Predicate("done"), Predicate("p")))
    evidence = Evidence(Hypotheses(vocabulary, [ActionHeader("act")]))
    action = evidence.hypotheses["act"]
    done, p = (action.index.bit[LiftedAtom(name, ())] for name in ("done", "p"))
    action.succeeded(p, 0)
    action.succeeded(0, 0)
    action.failed(done, 0)
    action.changed((0, 0), (done, p))  # it cannot be seen whether p was added
    action.changed((p, 0), (done | p, 0))
    assert action.undecided_effects == p
    assert not action.deletes & p
    objects = Objects({}, Types())
    for true, prospect in ((), Prospect.OPEN), ((Atom("p", ()),), Prospect.CLOSED):
        evidence.nodes.clear()
        state = State(frozenset(true), objects)
        evidence.nodes.append(Node(state, Situation(len(true), state), 0, initial=True))
        assert Indistinguishability(evidence.hypotheses, origins(evidence)).effect("act", p) is prospect


def test_what_is_too_large_to_ground_is_unknown_and_never_closed() -> None:
    header = ActionHeader("act", ("a", "b", "c"), ("object",) * 3)
    vocabulary = Vocabulary("large", (Predicate("p", ("object",)),))
    objects = Objects({f"o{number}": "object" for number in range(45)}, Types())
    model = Model(vocabulary, (ActionSchema(header),))
    evidence = begun(agent_of(Domain(model, (State(frozenset(), objects),))))
    equivalence = Indistinguishability(evidence.hypotheses, origins(evidence))
    literal = next(evidence.hypotheses["act"].undecided.singles())
    assert equivalence.precondition("act", literal) is Prospect.UNKNOWN
    assert equivalence.effect("act", 1) is Prospect.UNKNOWN


@pytest.mark.parametrize("looks", [0, indistinguishability.MAX_LOOKS])
def test_what_only_one_of_two_starts_allows_is_not_closed(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``use(b)`` can be executed in the second problem only, and then ``touch(b)`` where b is on.

    Nobody can tell whether ``use`` requires its object not to be broken: what is broken is jammed, too. So that is
    assumed, and must not be taken for violated by b in the second problem, too.
    """
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    names = ("broken", "jammed", "on", "special", "seen")
    _, jammed, on, special, seen = (LiftedAtom(name, (0,)) for name in names)
    vocabulary = Vocabulary("tools", tuple(Predicate(name, ("object",)) for name in names))
    use, touch = (ActionHeader(name, ("x",), ("object",)) for name in ("use", "touch"))
    truth = Model(
        vocabulary,
        (
            ActionSchema(use, negative=frozenset([jammed]), add=frozenset([on])),
            ActionSchema(
                touch, positive=frozenset([special]), negative=frozenset([seen]), add=frozenset([seen])
            ),
        ),
    )
    objects = Objects(dict.fromkeys("abcd", "object"), Types())
    whole = frozenset([Atom("special", ("b",)), Atom("special", ("d",)), Atom("seen", ("d",))])
    whole |= {Atom("jammed", ("c",))}
    faulty = whole | {Atom("broken", ("b",)), Atom("jammed", ("b",))}
    starts = State(faulty, objects), State(whole, objects)
    agent = agent_of(Domain(truth, starts))
    evidence = begun(agent)
    first, second = agent.initial()
    for situation, name, thing in [
        (first, "use", "a"),
        (first, "use", "d"),
        (first, "touch", "b"),
        (second, "touch", "b"),
        (first, "use", "c"),
        (first, "touch", "a"),
        (first, "touch", "d"),
    ]:
        query = Query(situation, (GroundAction(name, (thing,)),))
        evidence.take_in(Asked(query, agent.ask(query)))
    action = evidence.hypotheses["touch"]
    assert action.index.text(action.undecided) == ["not on(?x)"]
    assert evidence.hypotheses["use"].undecided
    equivalence = Indistinguishability(evidence.hypotheses, origins(evidence))
    assert equivalence.precondition("touch", action.undecided) is Prospect.OPEN


# What is called closed makes no difference to any agent that is still possible, in any problem, after any
# plan.


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


some_atoms = st.integers(0, SIZE - 1)


@st.composite
def _agents(draw: st.DrawFn) -> list[Schema]:
    found = []
    for _ in range(draw(st.integers(1, 3))):
        true, false, add, delete = draw(some_atoms), draw(some_atoms), draw(some_atoms), draw(some_atoms)
        found.append(
            (true & draw(some_atoms), false & ~true & draw(some_atoms), add & draw(some_atoms), delete & ~add)
        )
    return found


def _hypotheses(
    truth: Sequence[Schema], starts: Sequence[int], questions: Sequence[tuple[int, int]]
) -> Hypotheses:
    """What some one-step questions, each asked where an earlier one has led, leave possible."""
    names = [ActionHeader(f"a{number}") for number in range(len(truth))]

    def atoms(mask: int) -> frozenset[LiftedAtom]:
        return frozenset(LiftedAtom(f"p{n}", ()) for n in range(ATOMS) if mask >> n & 1)

    schemas = tuple(
        ActionSchema(header, *map(atoms, some_atoms)) for header, some_atoms in zip(names, truth, strict=True)
    )
    agent = SymbolicAgent(Model(VOCABULARY, schemas), [_state(mask) for mask in starts], Access.SNAPSHOT)
    evidence = begun(agent)
    known = list(agent.initial())
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
        st.lists(some_atoms, min_size=1, max_size=2, unique=True),
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


# Examples of questions that are open or closed, and of what opens them.


LETTERS = "pqrstwxyz"
NAMED = Vocabulary("named", tuple(Predicate(letter) for letter in LETTERS))


@dataclass(frozen=True)
class Known:
    """An action of which all is known but what is said to be possible: predicates without arguments, a letter each."""

    true: str = ""
    false: str = ""
    perhaps: str = ""
    perhaps_not: str = ""
    add: str = ""
    delete: str = ""
    may_add: str = ""
    may_delete: str = ""
    clauses: tuple[str, ...] = ()

    def told(self, action: ActionHypotheses) -> None:
        """Take all this for what was learned of the action."""

        def mask(letters: str) -> int:
            return sum(action.index.bit[LiftedAtom(letter, ())] for letter in letters)

        action.positive, action.negative = mask(self.true + self.perhaps), mask(self.false + self.perhaps_not)
        action.absent = action.index.everything & ~mask(self.true + self.false)
        action.adds, action.deletes = mask(self.add + self.may_add), mask(self.delete + self.may_delete)
        action.keeps = action.index.everything & ~mask(self.add + self.delete)
        action.clauses = [Literals(mask(clause), 0) for clause in self.clauses]
        action.version += 1


UNLOCKING = {
    "b": Known(perhaps="r"),
    "c": Known(false="q", delete="p"),
    "d": Known(true="q", false="p", delete="r"),
}
TURNING = {
    "b": Known(perhaps_not="t"),
    "c": Known(true="x", add="z", delete="x"),
    "e": Known(perhaps="xyzw", add="t", clauses=("xy", "zw")),
}
MAY_ADD = {"b": Known(perhaps_not="p"), "c": Known(false="r", perhaps="p"), "d": Known(true="q", add="p")}
MAY_DELETE = Known(false="r", perhaps="p")
FOR_ALL = {"a": Known(perhaps="pqr"), "b": Known(may_add="pqr")}
CASES: dict[str, tuple[dict[str, Known], str, str, str]] = {
    "not requiring p, a leads to where r can be lost": (
        UNLOCKING | {"a": Known(perhaps="p", add="q")},
        "pr",
        "a p, b r",
        "",
    ),
    "requiring p, it does not, which pairs of literals do not show": (
        UNLOCKING | {"a": Known(true="p", add="q")},
        "pr",
        "",
        "exhaustion: b r",
    ),
    "closed only if it is in every problem": (FOR_ALL, "pr qr pqr", "a p, a q, b +p, b +q", "a r, b +r"),
    "in whatever order they come": (FOR_ALL, "pqr pr qr", "a p, a q, b +p, b +q", "a r, b +r"),
    "e needs x or y and z or w, and x turns into z and back": (
        TURNING | {"d": Known(true="z", add="x", delete="z")},
        "x",
        "",
        "b -t",
    ),
    "but if z stays, e is executed": (TURNING | {"d": Known(true="z", add="x")}, "x", "b -t, e y, e w", ""),
    "a may add p, b is told about only if it does, and c only if not": (
        MAY_ADD | {"a": Known(true="r", delete="r", may_add="p")},
        "r",
        "a +p, b -p, c p",
        "",
    ),
    "a does not, and q never comes true": (MAY_ADD | {"a": Known(true="r", delete="r")}, "r", "c p", "b -p"),
    "p was hidden, and a may have deleted it": (
        {"a": Known(true="r", delete="r", may_delete="p"), "b": MAY_DELETE},
        "rp",
        "a +p, b p",
        "",
    ),
    "it was not": ({"a": Known(true="r", delete="r"), "b": MAY_DELETE}, "rp", "", "b p"),
    **{
        f"{start} never changes, and a needs {sign}s": (
            {"a": Known(true="" if sign else "s", false=sign and "s", add="p"), "b": Known(perhaps_not="p")},
            start,
            *(("b -p", "") if (start == "s") is not bool(sign) else ("", "b -p")),
        )
        for start in ("s", "q")
        for sign in ("", "not ")
    },
    "nothing is undecided": ({}, "p", "", ""),
}
"""What is known of the actions, the starts, the questions that are open, and those that are closed.

A question is of a literal of the precondition (``-p``: that p is false), or of an effect (``+p``).
"""


@pytest.mark.parametrize("looks", [100_000, 0])
@pytest.mark.parametrize("case", CASES)
def test_a_question_is_open_where_some_agent_could_tell(
    case: str, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indistinguishability, "MAX_LOOKS", looks)
    actions, starts, open_, closed = CASES[case]
    hypotheses = Hypotheses(NAMED, [ActionHeader(name) for name in "abcde"])
    for name, action in hypotheses.actions.items():
        actions.get(name, Known()).told(action)
    states = [[State(frozenset(Atom(letter, ()) for letter in true), NOWHERE)] for true in starts.split(" ")]
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
    assert proofs.open_questions() == len([one for one in open_.split(", ") if one])

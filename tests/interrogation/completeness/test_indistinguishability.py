"""What is told is taken out of what is closed, wherever it was told.

CLOSED is a proof: nowhere the agent can get may the question still be open.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
from aam_vision.model.query import Query, Situation
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Model,
    Objects,
    Predicate,
    State,
    Types,
    Vocabulary,
)
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import agent_of
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
    evidence = Evidence(Hypotheses(agent.vocabulary, agent.headers))
    for situation in agent.initial():
        evidence.begin(situation)
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
    domains.domains() | domains.domains(alike=True),
    st.integers(0, 10**6),
    st.integers(0, 30),
    st.integers(0, 40),
)
def test_no_question_called_closed_is_open_in_any_reachable_state(
    domain: Domain, seed: int, walked: int, queries: int
) -> None:
    """A probe is a step that violates the literal and is not certain to fail: brute force finds none."""
    states = domains.reachable(domain.model, domain.problems, limit=150)
    assume(states is not None)
    hypotheses = (evidence := _asked(domain, seed, walked, queries)).hypotheses
    equivalence = Indistinguishability(hypotheses, origins(evidence))
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
    domain = Domain(truth, (start,))
    agent = agent_of(domain)
    evidence = Evidence(Hypotheses(vocabulary, [header]))
    (situation,) = agent.initial()
    evidence.begin(situation)
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
    evidence = Evidence(Hypotheses(vocabulary, [header]))
    (situation,) = agent_of(
        Domain(Model(vocabulary, (ActionSchema(header),)), (State(frozenset(), objects),))
    ).initial()
    evidence.begin(situation)
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
    evidence = Evidence(Hypotheses(vocabulary, [use, touch]))
    first, second = agent.initial()
    evidence.begin(first)
    evidence.begin(second)
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

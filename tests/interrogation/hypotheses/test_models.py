"""All pal tuples of all actions together, their modes, and the cautious model; contradictions are named."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import and_, or_

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.interrogation.hypotheses.literals import AtomIndex, Literals
from aam_vision.interrogation.hypotheses.models import (
    ActionHypotheses,
    GroundLiterals,
    Hypotheses,
    atoms,
    lifted,
)
from aam_vision.model.strips import Location, Mode, PalTuple, State
from aam_vision.support.errors import InconsistentAgent
from tests import domains, small
from tests.domains import Domain
from tests.profiles import promised, thorough

ATOMS = 3
TOY = small.model("act", predicates=" ".join(f"p{number}/0" for number in range(ATOMS)))
INDEX = AtomIndex(TOY.vocabulary, TOY.headers[0])
some_modes = st.sets(st.sampled_from(Mode), min_size=1)


def test_a_clause_is_kept_until_a_stronger_one_or_a_proof_explains_it_and_contradictions_are_named() -> None:
    action = ActionHypotheses(INDEX)
    action.succeeded(0b111, 0)
    action.failed(0b000, 0)
    action.failed(0b001, 0)
    assert action.clauses == [Literals(0b110, 0)], "the weaker clause goes"
    action.succeeded(0b011, 0)
    assert (action.clauses, action.proven) == ([], Literals(0b010, 0))
    with pytest.raises(InconsistentAgent, match="refused although"):
        action.failed(0b111, 0)
    with pytest.raises(InconsistentAgent, match=r"p1\(\)"):
        action.succeeded(0b101, 0)


@thorough(60)
@given(
    st.permutations(range(ATOMS)),
    st.integers(0, ATOMS),
    st.lists(st.booleans(), min_size=ATOMS, max_size=ATOMS),
)
def test_what_holds_by_definition_is_proven_and_needs_no_refusal(
    order: list[int], count: int, values: list[bool]
) -> None:
    literals = [(INDEX.atoms[number], values[number]) for number in order[:count]]
    index = AtomIndex(TOY.vocabulary, replace(INDEX.header, given=tuple(literals)))
    true = sum(index.bit[atom] for atom, value in literals if value)
    false = sum(index.bit[atom] for atom, value in literals if not value)
    action = ActionHypotheses(index)
    assert action.proven == index.given == Literals(true, false)
    assert not action.found_required
    assert not action.undecided.overlaps(index.given)
    assert action.certain_to_fail(action.violated(false, 0)) is bool(true | false)
    left = index.everything & ~(true | false)
    action.succeeded(true | left, 0)
    if left:
        action.failed(true, 0)
    assert action.found_required == (Literals(left, 0) if left.bit_count() == 1 else Literals(0, 0))
    with pytest.raises(InconsistentAgent) if literals else nullcontext():
        action.succeeded(false | left, 0)


def _narrowed(data: st.DataObject, domain: Domain) -> tuple[Hypotheses, dict[PalTuple, set[Mode]]]:
    """Hypotheses with some modes left at every pal tuple, whatever they were learned from."""
    hypotheses = Hypotheses(domain.model.vocabulary, list(domain.model.headers))
    left = {pal: data.draw(some_modes) for pal in hypotheses.pal_tuples()}
    for name, action in hypotheses.actions.items():
        masks = [
            sum(bit for atom, bit in action.index.bit.items() if mode in left[PalTuple(atom, name, location)])
            for location, mode in product((Location.PRE, Location.EFF), Mode)
        ]
        action.positive, action.negative, action.absent = masks[:3]
        action.adds, action.deletes, action.keeps = masks[3:]
        action.version += 1
    return hypotheses, left


@thorough(100)
@given(domains.domains(constants=True), st.data())
def test_modes_are_counted_and_the_model_is_cautious(domain: Domain, data: st.DataObject) -> None:
    hypotheses, left = _narrowed(data, domain)
    model = hypotheses.model()
    assert (model.vocabulary, model.headers) == (domain.model.vocabulary, domain.model.headers)
    assert hypotheses.headers == domain.model.headers
    assert {pal: set(hypotheses.modes(pal)) for pal in left} == left
    assert hypotheses.size == len(left)
    open_ones = 0
    for pal, modes in left.items():
        schema, action = model.schema(pal.action), hypotheses[pal.action]
        if pal.location is Location.PRE:
            open_ones += len(modes) > 1
            assert (pal.atom in schema.positive) is (Mode.POSITIVE in modes)
            assert (pal.atom in schema.negative) is (modes == {Mode.NEGATIVE})
        else:
            required = left[pal._replace(location=Location.PRE)]
            # what restates a proven precondition changes nothing
            idle = {Mode.NEGATIVE} if required == {Mode.NEGATIVE} else set()
            if required == {Mode.POSITIVE} and not action.undoing & action.index.bit[pal.atom]:
                idle = {Mode.POSITIVE}
            open_ones += len(modes - idle) > 1
            assert (pal.atom in schema.add) is (modes == {Mode.POSITIVE})
            assert (pal.atom in schema.delete) is (modes == {Mode.NEGATIVE})
    assert hypotheses.decided() == hypotheses.size - open_ones
    assert hypotheses.model() == model


@thorough(60)
@given(domains.domains(repeated=True), st.booleans(), st.booleans(), st.data())
def test_what_if_changes_an_action_in_a_copy_alone(
    domain: Domain, hidden: bool, repeated: bool, data: st.DataObject
) -> None:
    vocabulary, headers = domain.model.vocabulary, domain.model.headers
    hypotheses, told = (Hypotheses(vocabulary, headers, repeated=repeated) for _ in "ab")
    assert hypotheses.repeated is repeated
    for header in headers:
        assert hypotheses[header.name].index.atoms == AtomIndex(vocabulary, header, repeated=repeated).atoms
    name = data.draw(st.sampled_from([header.name for header in headers]))
    everything = hypotheses[name].index.everything
    held = data.draw(st.integers(0, everything)) & everything
    dim = data.draw(st.integers(0, everything)) & everything & ~held if hidden else 0
    version, model = hypotheses.version, hypotheses.model()
    assumed = hypotheses.assuming(name, held, dim)
    told[name].succeeded(held, dim)
    for pal in hypotheses.pal_tuples():
        assert hypotheses.modes(pal) == tuple(Mode)
        assert assumed.modes(pal) == told.modes(pal)
    assert (hypotheses.version, hypotheses.model()) == (version, model)
    assert (assumed.version, assumed.model()) == (told.version, told.model())


@thorough(60)
@given(domains.domains(constants=True), st.data())
def test_literals_hold_or_are_violated_in_their_facts(domain: Domain, data: st.DataObject) -> None:
    header, objects = domain.model.headers[0], domain.problems[0].objects
    action = ActionHypotheses(AtomIndex(domain.model.vocabulary, header))
    index, everything = action.index, action.index.everything
    positive = data.draw(st.integers(0, everything)) & everything
    some = Literals(positive, data.draw(st.integers(0, everything)) & everything & ~positive)
    assert set(atoms(action, some.positive)) == index.select(some.positive)
    operator = lifted(action, some, everything, 0)
    required = index.select(some.positive), index.select(some.negative)
    assert (set(operator.positive), set(operator.negative)) == required
    assert (set(operator.add), operator.delete) == (set(index.atoms), ())
    for row in domains.all_bindings(header, objects)[:20]:
        ground = GroundLiterals(action, row)
        assert ground.objects == row
        for literals, violated in ((some, Literals(0, 0)), (some.opposite(), some)):
            true, false = map(set, ground.holding(literals))
            if true & false:
                continue  # two atoms are one under this binding
            state = State(index.facts(sum(b for b, f in ground.facts.items() if f in true), row), objects)
            assert {*state.true} == true
            assert action.violated(*index.values(state, row), some) == violated


# The factored hypotheses are exactly the models that agree with the answers: where an image hides atoms, all
# that some value explains.


EVERYTHING = (1 << ATOMS) - 1
Modes = tuple[Mode, ...]
MODES = list(product(Mode, repeat=ATOMS))
masks = st.integers(0, EVERYTHING)
seen_masks = st.lists(st.tuples(masks, st.just(0)), max_size=12) | st.lists(
    st.tuples(masks, masks), max_size=10
)
"""The atoms that hold, and those that are hidden."""


def _executable(precondition: Modes, world: int) -> bool:
    return all(
        mode is Mode.ABSENT or bool(world >> number & 1) is (mode is Mode.POSITIVE)
        for number, mode in enumerate(precondition)
    )


def _worlds(held: int, dim: int) -> list[int]:
    """All that may hold where so much is seen to hold, and so much is hidden."""
    return [world for world in range(EVERYTHING + 1) if world & ~dim == held]


def _mask(modes: Modes, wanted: Mode) -> int:
    return sum(1 << number for number, mode in enumerate(modes) if mode is wanted)


def _admitted(action: ActionHypotheses, modes: Modes) -> bool:
    required = Literals(_mask(modes, Mode.POSITIVE), _mask(modes, Mode.NEGATIVE))
    return (
        required.within(Literals(action.positive, action.negative))
        and not _mask(modes, Mode.ABSENT) & ~action.absent
        and all(clause.common(required) for clause in action.clauses)
    )


def _asked(truth: Modes, situations: list[tuple[int, int]]) -> tuple[ActionHypotheses, list[Modes]]:
    """What was learned, and all preconditions that explain every answer by some hidden values."""
    action, consistent = ActionHypotheses(INDEX), MODES
    for world, dim in situations:
        executed, held = _executable(truth, world), world & ~dim
        version, before = action.version, (action.positive, action.negative, action.absent, action.clauses)
        told = (action.succeeded if executed else action.failed)(held, dim)
        assert told is (before != (action.positive, action.negative, action.absent, action.clauses))
        assert (action.version > version) is told
        consistent = [
            modes
            for modes in consistent
            if any(_executable(modes, other) is executed for other in _worlds(held, dim))
        ]
    return action, consistent


@promised(300)
@given(st.sampled_from(MODES), seen_masks)
def test_the_hidden_is_neither_held_nor_violated(truth: Modes, situations: list[tuple[int, int]]) -> None:
    action, consistent = _asked(truth, situations)
    assert truth in consistent
    assert [modes for modes in MODES if _admitted(action, modes)] == consistent


@thorough(150)
@given(st.sampled_from(MODES), seen_masks)
def test_literals_are_proven_or_possible_by_all_models(
    truth: Modes, situations: list[tuple[int, int]]
) -> None:
    action, consistent = _asked(truth, situations)
    for literal in Literals(EVERYTHING, EVERYTHING).singles():
        share = {
            bool(literal.common(Literals(_mask(modes, Mode.POSITIVE), _mask(modes, Mode.NEGATIVE))))
            for modes in consistent
        }
        proven, possible = literal.within(action.proven), literal.within(action.candidates)
        assert share == {True} or not proven
        assert possible or share == {False}
        assert literal.within(action.undecided) == (possible and not proven)
    cautious, bold = action.cautious, action.bold
    assert not cautious.positive & cautious.negative or action.successes == 0
    assert bold.within(cautious)
    assert action.proven.within(bold)
    assert bold.positive == cautious.positive & (action.held | action.proven.positive)
    for world, dim in situations:
        if not _executable(truth, world) and not cautious.positive & cautious.negative:
            assert any(
                cautious.positive & ~other or cautious.negative & other
                for other in _worlds(world & ~dim, dim)
            )


@thorough(150)
@given(st.sampled_from(MODES), seen_masks, masks, masks)
def test_a_step_fails_for_certain_only_where_it_does_in_all_models_and_worlds(
    truth: Modes, situations: list[tuple[int, int]], world: int, dim: int
) -> None:
    action, consistent = _asked(truth, situations)
    held = world & ~dim
    outcomes = {_executable(modes, other) for modes in consistent for other in _worlds(held, dim)}
    for_sure = Literals(action.positive & ~(held | dim), action.negative & held)
    assert action.certainly_violated(held, dim) == for_sure
    assert outcomes == {False} or not action.certain_to_fail(for_sure)
    assert outcomes == {True} or action.violated(held, dim)
    among = Literals(world, world)
    assert action.violated(held, dim, among) == Literals(world & ~held, world & (held | dim))


@thorough(100)
@given(st.sampled_from(MODES), seen_masks, masks, masks)
def test_what_if_changes_a_copy(
    truth: Modes, situations: list[tuple[int, int]], world: int, dim: int
) -> None:
    if not _executable(truth, world):
        world = _mask(truth, Mode.POSITIVE)
    action, consistent = _asked(truth, situations)
    assumed = action.assuming(world & ~dim, dim)
    assert [modes for modes in MODES if _admitted(action, modes)] == consistent
    left = [m for m in consistent if any(_executable(m, other) for other in _worlds(world & ~dim, dim))]
    assert [modes for modes in MODES if _admitted(assumed, modes)] == left


# --- effects --------------------------------------------------------------------------------------


def _outcome(effect: Modes, world: int) -> int:
    return world & ~_mask(effect, Mode.NEGATIVE) | _mask(effect, Mode.POSITIVE)


def _effects(action: ActionHypotheses) -> list[Modes]:
    left = dict(zip(Mode, (action.adds, action.deletes, action.keeps), strict=True))
    return [modes for modes in MODES if not any(_mask(modes, mode) & ~left[mode] for mode in Mode)]


@promised(200)
@given(st.sampled_from(MODES), st.lists(st.tuples(masks, masks, masks), max_size=8), masks, masks)
def test_an_effect_is_what_some_hidden_values_explain_and_predictions_are_what_all_agree_on(
    truth: Modes, steps: list[tuple[int, int, int]], world: int, dim: int
) -> None:
    action, consistent = ActionHypotheses(INDEX), MODES
    for before, dim_before, dim_after in steps:
        held, shown, known = before & ~dim_before, _outcome(truth, before) & ~dim_after, _effects(action)
        assert action.changed((held, dim_before), (shown, dim_after)) is (_effects(action) != known)
        consistent = [
            effect
            for effect in consistent
            if any(_outcome(effect, other) & ~dim_after == shown for other in _worlds(held, dim_before))
        ]
    assert _effects(action) == consistent
    held = world & ~dim
    outcomes = [_outcome(effect, other) for effect in consistent for other in _worlds(held, dim)]
    always, ever = reduce(and_, outcomes), reduce(or_, outcomes)
    assert action.after(held, dim, ()) == (always, ever & ~always)

"""AIA, the paper's own algorithm, under settable access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import domains as packaged
from aam_vision import evaluation
from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Move
from aam_vision.interrogation.policies import aia
from aam_vision.interrogation.policies.aia import AiaPolicy, filter_models
from aam_vision.interrogation.policies.distinguishing import DistinguishingQuery
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import ppo_pddl
from aam_vision.query import Access, Response
from aam_vision.strips import (
    ActionHeader,
    ActionSchema,
    Atom,
    GroundAction,
    LiftedAtom,
    Location,
    Mode,
    Model,
    Objects,
    PalTuple,
    Predicate,
    State,
    Types,
    Vocabulary,
    lifted_atoms,
)
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import assert_sound, read_mode
from tests.profiles import promised, thorough

PAPER = {
    "gripper": 17,
    "blocksworld": 48,
    "miconic": 39,
    "parking": 63,
    "logistics": 68,
    "satellite": 41,
    "termes": 134,
    "rovers": 370,
    "barman": 357,
    "freecell": 535,
}
"""Queries of the paper's own implementation (its table of domains)."""
AMPLE = Budget(queries=2000, steps=10_000)
REPEATED = "the same question came up again: nothing more can be learnt"


def _policy(**settings: int) -> AiaPolicy:
    """Limited by states and not by time, so that runs can be repeated."""
    return AiaPolicy(limits=Limits(states=300), **settings)


def _interrogate(
    model: Model,
    problems: Sequence[State],
    *,
    seed: int = 0,
    policy: AiaPolicy | None = None,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
) -> Result:
    agent = SymbolicAgent(model, problems, Access.SETTABLE)
    return interrogate(agent, policy or _policy(), np.random.default_rng(seed), budget=AMPLE, watch=watch)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", packaged.DOMAINS)
def test_packaged_domains_are_learned_with_no_more_queries_than_the_paper_reports(
    name: str, seed: int
) -> None:
    model = packaged.load(name)
    rng = np.random.default_rng([seed, 1])
    problems = [packaged.generate(name, 2, rng).initial for _ in range(3)]
    result = _interrogate(model, problems, seed=seed)
    assert result.complete
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= PAPER[name]
    assert result.counts.walk_steps <= 500


@promised(60)
@given(domains.domains(), st.integers(0, 3), st.sampled_from([0, 10, 500]))
def test_a_random_domain_is_learned_exactly(domain: Domain, seed: int, walk_steps: int) -> None:
    """Up to effects that restate a precondition, whatever the signs, and whatever walks have shown."""
    result = _interrogate(
        domain.model, domain.problems, seed=seed, policy=_policy(walk_steps=walk_steps, states=20)
    )
    assert "budget" not in result.why, "the interrogation does not end"
    assert result.why != REPEATED
    assert_sound(result.hypotheses, domain.model)
    if result.complete:
        for pal in result.hypotheses.pal_tuples():
            assert read_mode(result.model, pal) is read_mode(domain.model, pal), pal


@thorough(60)
@given(domains.domains(), st.integers(0, 3))
def test_an_action_that_was_ever_executed_is_resolved_entirely(domain: Domain, seed: int) -> None:
    result = _interrogate(domain.model, domain.problems, seed=seed)
    for action in result.hypotheses.actions.values():
        if action.successes:
            assert not action.undecided
            assert not action.undecided_effects


@thorough(30)
@given(domains.domains(constants=True), st.integers(0, 3))
def test_constants_do_no_harm(domain: Domain, seed: int) -> None:
    result = _interrogate(domain.model, domain.problems, seed=seed)
    assert "budget" not in result.why
    assert result.why != REPEATED
    assert_sound(result.hypotheses, domain.model)


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_what_filter_models_prunes_the_evidence_excludes_as_well(domain: Domain, seed: int) -> None:
    """And it never prunes the true mode."""
    pruned: list[tuple[DistinguishingQuery, frozenset[Mode]]] = []

    def spy(query: DistinguishingQuery, answer: Response) -> frozenset[Mode]:
        modes = filter_models(query, answer)
        pruned.append((query, modes))
        return modes

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        while pruned:
            query, modes = pruned.pop()
            assert not modes & {*evidence.hypotheses.modes(query.pal)}
            schema = domain.model.schema(query.pal.action)
            assert schema.mode(query.pal.atom, query.pal.location) not in modes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aia, "filter_models", spy)
        _interrogate(domain.model, domain.problems, seed=seed, watch=watch)


@thorough(15)
@given(domains.domains())
def test_the_same_seed_asks_the_same_questions(domain: Domain) -> None:
    def transcript() -> list[str]:
        lines: list[str] = []

        def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
            lines.append(f"{move.plan if isinstance(move, Ask) else type(move)} {agent.counts}")

        _interrogate(domain.model, domain.problems, seed=5, watch=watch)
        return lines

    assert transcript() == transcript()


def test_the_ordering_of_pal_tuples_can_be_given() -> None:
    seen: list[PalTuple] = []

    def reversed_order(pals: Sequence[PalTuple], rng: np.random.Generator) -> Sequence[PalTuple]:
        seen.extend(pals[::-1])
        return pals[::-1]

    model = packaged.load("gripper")
    problems = [packaged.generate("gripper", 2, np.random.default_rng(0)).initial]
    result = _interrogate(model, problems, policy=AiaPolicy(ordering=reversed_order))
    assert seen == [*result.hypotheses.pal_tuples()][::-1]
    assert evaluation.exact(result.model, model)


def test_several_negative_preconditions_in_one_action() -> None:
    """In whatever order they come up, and though no walk can execute the action."""
    atoms = [LiftedAtom(name, (0,)) for name in ("p", "q", "r", "s", "done")]
    p, q, r, s, done = atoms
    vocabulary = Vocabulary("negative", tuple(Predicate(a.predicate, ("object",)) for a in atoms))
    header = ActionHeader("act", ("x",), ("object",))
    schema = ActionSchema(header, frozenset([r]), frozenset([p, q, s]), frozenset([done]), frozenset([r]))
    objects = Objects({"a": "object", "b": "object"}, Types())
    executable = State(frozenset([Atom("r", ("a",)), Atom("p", ("b",))]), objects)
    for start in (executable, State(frozenset([Atom("p", ("b",))]), objects)):
        for seed in range(10):
            result = _interrogate(Model(vocabulary, (schema,)), [start], seed=seed)
            assert result.complete, result.why
            assert result.model.schema("act") == schema


def _bell_and_lamp() -> tuple[Model, State]:
    """The bell rings in the dark as well, but the lamp is lit wherever the interrogation starts."""
    lit, rung = LiftedAtom("lit", ()), LiftedAtom("rung", ())
    vocabulary = Vocabulary("lamp", (Predicate("lit"), Predicate("rung")))
    nothing: frozenset[LiftedAtom] = frozenset()
    ring = ActionSchema(ActionHeader("ring"), nothing, nothing, frozenset([rung]), nothing)
    off = ActionSchema(ActionHeader("off"), frozenset([lit]), nothing, nothing, frozenset([lit]))
    start = State(frozenset([Atom("lit", ())]), Objects({"o": "object"}, vocabulary.types))
    return Model(vocabulary, (ring, off)), start


def test_distinguishing_plans_of_several_steps_come_from_the_planner() -> None:
    model, start = _bell_and_lamp()
    plans = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            plans.append([step.name for step in move.plan])

    for seed in range(10):
        policy = _policy(states=1, walk_steps=2)
        result = _interrogate(model, [start], seed=seed, policy=policy, watch=watch)
        assert result.complete
        assert evaluation.exact(result.model, model)
    assert ["off", "ring"] in plans


# --- P_PO as PDDL -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("i", "j"), [(Mode.POSITIVE, Mode.ABSENT), (Mode.POSITIVE, Mode.NEGATIVE)])
@pytest.mark.parametrize("location", Location)
@pytest.mark.parametrize("empty", [False, True])
def test_a_plan_solves_p_po_exactly_if_the_models_answer_differently(
    empty: bool, location: Location, i: Mode, j: Mode, tmp_path: Path
) -> None:
    """M' is empty, or the true gripper model without gamma; unified-planning reads P_PO and simulates every step."""
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import SequentialSimulator

    truth = packaged.load("gripper")
    start = packaged.generate("gripper", 1, np.random.default_rng(0)).initial
    name = "drop"
    pick = next(step for step in domains.applicable(truth, start) if step.name == "pick")
    initial = domains.successor(truth, start, pick)
    schema = truth.schema(name)
    atom = min(schema.positive if location is Location.PRE else schema.add, key=str)
    pal = PalTuple(atom, name, location)
    known = truth
    if empty:
        known = Model(truth.vocabulary, tuple(ActionSchema(schema.header) for schema in truth.actions))
    models = [_with_mode(known, pal, mode) for mode in (i, j)]
    refined = (
        set()
        if empty
        else {
            PalTuple(a, s.header.name, place)
            for s in truth.actions
            for place in Location
            for a in lifted_atoms(truth.vocabulary, s.header)
        }
        - {pal}
    )
    texts = ppo_pddl(_with_mode(known, pal, Mode.ABSENT), refined, pal, i, j, initial)
    files = [tmp_path / "domain.pddl", tmp_path / "problem.pddl"]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    problem = PDDLReader().parse_problem(*map(str, files))
    outcomes = set()
    with SequentialSimulator(problem) as simulator:
        begin = simulator.get_initial_state()
        for step in _steps(truth, initial):
            arguments = [problem.object(o) for o in step.objects]
            after = simulator.apply(begin, problem.action(step.name), arguments)
            answers = [model.run(initial, [step]) for model in models]
            differ = answers[0] != answers[1]
            assert (after is not None and simulator.is_goal(after)) is differ, step
            outcomes.add(differ)
    assert outcomes == {True, False}


def _with_mode(model: Model, pal: PalTuple, mode: Mode) -> Model:
    actions = []
    for schema in model.actions:
        if schema.header.name == pal.action:
            parts = [schema.positive, schema.negative, schema.add, schema.delete]
            first = 0 if pal.location is Location.PRE else 2
            parts[first] = parts[first] - {pal.atom} | ({pal.atom} if mode is Mode.POSITIVE else set())
            parts[first + 1] = parts[first + 1] - {pal.atom} | (
                {pal.atom} if mode is Mode.NEGATIVE else set()
            )
            actions.append(ActionSchema(schema.header, *parts))
        else:
            actions.append(schema)
    return Model(model.vocabulary, tuple(actions))


def _steps(model: Model, state: State) -> list[GroundAction]:
    return [
        GroundAction(schema.header.name, row)
        for schema in model.actions
        for row in domains.all_bindings(schema.header, state.objects)
    ]

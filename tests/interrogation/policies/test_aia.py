"""AIA, the paper's own algorithm, under settable access."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aam_vision.agents.counting import CountingAgent
from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.evidence.graph import Evidence
from aam_vision.interrogation.evidence.moves import Ask, Asked, Move, Policy
from aam_vision.interrogation.policies.aia import AIA, AiaPolicy, Course, course_of
from aam_vision.interrogation.policies.decorators import Replaying
from aam_vision.interrogation.policies.registry import policy_for
from aam_vision.interrogation.policies.settable import SettablePolicy
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.loop import interrogate
from aam_vision.interrogation.task.result import Result
from aam_vision.model import domains as packaged
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import (
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
)
from aam_vision.planning.planner import Limits
from aam_vision.planning.ppo import DistinguishingProblem, add_palm
from aam_vision.planning.pyperplan import PyperplanPlanner
from aam_vision.report import evaluation
from aam_vision.support.errors import UnusableInput
from experiments.table1 import PAPER
from tests import domains
from tests.domains import Domain
from tests.interrogation.runs import assert_sound
from tests.profiles import crossed, promised, thorough

AMPLE = Budget(queries=2000, steps=20_000)


def _policy(**settings: int) -> AiaPolicy:
    """Limited by states and not by time, so that runs can be repeated."""
    return AiaPolicy(limits=Limits(states=300), **settings)


def _interrogate(
    model: Model,
    problems: Sequence[State],
    *,
    seed: int = 0,
    policy: Policy | None = None,
    watch: Callable[[Move, Evidence, CountingAgent], None] = lambda move, evidence, agent: None,
) -> Result:
    agent = SymbolicAgent(model, problems, Access.SETTABLE)
    return interrogate(agent, policy or _policy(), np.random.default_rng(seed), budget=AMPLE, watch=watch)


@pytest.mark.parametrize(("name", "seed"), crossed(packaged.DOMAINS, [0, 1, 2]))
def test_packaged_domains_are_learned_with_no_more_queries_than_the_paper_reports(
    name: str, seed: int
) -> None:
    model = packaged.load(name)
    rng = np.random.default_rng([seed, 1])
    problems = [packaged.generate(name, 2, rng).initial for _ in range(3)]
    result = _interrogate(model, problems, seed=seed)
    assert result.proven
    assert evaluation.exact(result.model, model)
    assert result.counts.queries <= PAPER[name]
    assert result.counts.walk_steps <= 500


@thorough(60)
@given(domains.domains(), st.integers(0, 3))
def test_an_action_that_was_ever_executed_is_resolved_entirely(domain: Domain, seed: int) -> None:
    result = _interrogate(domain.model, domain.problems, seed=seed)
    for action in result.hypotheses.actions.values():
        if action.successes:
            assert not action.undecided
            assert not action.undecided_effects


@thorough(40)
@given(domains.domains(), st.integers(0, 3))
def test_whatever_the_papers_filter_models_prunes_is_pruned(domain: Domain, seed: int) -> None:
    """And the true mode is not among it. The agent's own answer is compared with those of the two models."""
    asked: list[tuple[DistinguishingProblem, State]] = []
    policy = _policy()
    policy.show = lambda problem, initial: asked.append((problem, initial))

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        while asked:
            problem, initial = asked.pop()
            assert isinstance(move, Ask)
            for mode in _pruned(problem, domain.model, initial, move.plan):
                assert mode not in evidence.hypotheses.modes(problem.pal)
                assert mode is not domain.model.schema(problem.pal.action).mode(*problem.pal[::2])

    _interrogate(domain.model, domain.problems, seed=seed, policy=policy, watch=watch)


def _pruned(
    problem: DistinguishingProblem, truth: Model, initial: State, plan: Sequence[GroundAction]
) -> list[Mode]:
    """The modes that the paper prunes: where exactly one model is consistent (its Definitions 5 and 6), the other."""
    executed, final = truth.run(initial, plan)
    consistent = []
    for mode in (problem.i, problem.j):
        length, reached = add_palm(problem.model, problem.pal, mode).run(initial, plan)
        consistent.append(executed == length == len(plan) and reached.true <= final.true)
    if consistent[0] == consistent[1]:
        return []
    return [problem.j if consistent[0] else problem.i]


@thorough(30)
@given(domains.domains(), st.integers(0, 3), st.booleans())
def test_all_that_is_remembered_between_two_moves_is_in_the_evidence(
    domain: Domain, seed: int, constructed: bool
) -> None:
    """A policy that is made anew for every move asks the same questions."""

    def policy() -> AiaPolicy:
        return AiaPolicy(constructed=constructed, limits=Limits(states=300), walk_steps=20)

    class Forgetful:
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            return policy().next(evidence, rng)

    def questions(asking: Policy) -> list[tuple[State, tuple[GroundAction, ...]]]:
        access = Access.SETTABLE if constructed else Access.SNAPSHOT
        agent = SymbolicAgent(domain.model, domain.problems, access)
        result = interrogate(agent, asking, np.random.default_rng(seed), budget=AMPLE)
        entries = [entry for entry in result.transcript.entries if isinstance(entry, Asked)]
        return [(entry.query.initial.state, entry.query.plan) for entry in entries]

    assert questions(Forgetful()) == questions(policy())


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


@pytest.mark.parametrize(("policy", "starts"), [(_policy, 2), (SettablePolicy, 1)])
def test_several_negative_preconditions_in_one_action(policy: Callable[[], Policy], starts: int) -> None:
    """In whatever order they come up, and (the paper's) though no walk can execute the action."""
    atoms = [LiftedAtom(name, (0,)) for name in ("p", "q", "r", "s", "done")]
    p, q, r, s, done = atoms
    vocabulary = Vocabulary("negative", tuple(Predicate(a.predicate, ("object",)) for a in atoms))
    header = ActionHeader("act", ("x",), ("object",))
    schema = ActionSchema(header, frozenset([r]), frozenset([p, q, s]), frozenset([done]), frozenset([r]))
    objects = Objects({"a": "object", "b": "object"}, Types())
    executable = State(frozenset([Atom("r", ("a",)), Atom("p", ("b",))]), objects)
    for start in (executable, State(frozenset([Atom("p", ("b",))]), objects))[:starts]:
        for seed in range(10):
            result = _interrogate(Model(vocabulary, (schema,)), [start], seed=seed, policy=policy())
            assert result.proven, result.why
            assert result.model.schema("act") == schema


# AIA where no state can be made: ``snapshot`` and ``reset`` access.


SEEN = st.sampled_from([Access.SNAPSHOT, Access.RESET])
REPEATED = "the same question came up again: nothing more can be learnt"


class Hiding(AgentDecorator):
    """A symbolic agent of whose states some atoms are not seen: always the same ones of the same state."""

    agent: SymbolicAgent

    def initial(self) -> Sequence[Situation]:
        return [self._seen(situation) for situation in self.agent.initial()]

    def ask(self, query: Query) -> Response:
        answer = self.agent.ask(Query(self._whole(query.initial), query.plan))
        return Response(answer.executed, self._seen(answer.final))

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked = self.agent.walk(self._whole(start), steps, rng)
        return [WalkStep(self._seen(step.before), step.action, self._seen(step.after)) for step in walked]

    def _whole(self, situation: Situation) -> Situation:
        assert isinstance(situation.handle, State)
        return Situation(situation.handle, situation.handle)

    def _seen(self, situation: Situation) -> Situation:
        state = situation.state
        facts = domains.ground_atoms(self.vocabulary, state.objects)
        told = str(sorted(state.true))
        hidden = frozenset(fact for fact in facts if crc32(f"{fact} {told}".encode()) % 8 == 0)
        return Situation(state, State(state.true - hidden, state.objects, hidden))


def _aia(access: Access, walk_steps: int = 100) -> AiaPolicy | Replaying:
    """Searches are short, since there are many runs."""
    aia = AiaPolicy(constructed=False, limits=Limits(states=1000), walk_steps=walk_steps)
    return Replaying(aia) if access is Access.RESET else aia


def _run(domain: Domain, access: Access, seed: int, *, walk_steps: int = 100, hiding: bool = False) -> Result:
    agent: Agent = SymbolicAgent(domain.model, domain.problems, access)
    if hiding:
        agent = Hiding(agent)
    return interrogate(agent, _aia(access, walk_steps), np.random.default_rng(seed), budget=AMPLE)


@promised(60)
@given(domains.domains(), SEEN, st.integers(0, 3))
def test_a_result_is_complete_only_where_no_step_could_tell(
    domain: Domain, access: Access, seed: int
) -> None:
    """Every step in every reachable state either follows from what is known, or is certain to fail."""
    result = _run(domain, access, seed, walk_steps=10)
    assume(result.proven)
    states = domains.reachable(domain.model, domain.problems, 500)
    assume(states is not None)
    for state in states or ():
        for name, action in result.hypotheses.actions.items():
            for row in domains.all_bindings(action.index.header, state.objects):
                held, dim = action.index.values(state, row)
                violated = action.violated(held, dim)
                if violated:
                    assert action.certain_to_fail(violated), GroundAction(name, row)
                else:
                    assert not action.after(held, dim, row)[1], GroundAction(name, row)


@pytest.mark.parametrize("access", [Access.SNAPSHOT, Access.RESET])
@pytest.mark.parametrize(("name", "most"), [("gripper", 17), ("blocksworld", 48), ("miconic", 39)])
def test_no_more_queries_are_needed_where_no_state_can_be_made(name: str, most: int, access: Access) -> None:
    """Though the paper sets every state that it asks about."""
    model = packaged.load(name)
    problems = [packaged.generate(name, 2, np.random.default_rng(n)).initial for n in range(3)]
    agent = SymbolicAgent(model, problems, access)
    policy = policy_for(access, "aia", PyperplanPlanner())
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    assert result.proven
    assert evaluation.equivalent(result.model, model, problems)
    assert result.counts.queries <= most


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.RESET])
def test_a_plan_of_several_steps_leads_to_where_a_step_tells(access: Access) -> None:
    """The lamp is lit in all that was seen, and the bell may need its light; where states can be made, one is."""
    model, start, _ = domains.bell_and_lamp()
    plans = []

    def watch(move: Move, evidence: Evidence, agent: CountingAgent) -> None:
        if isinstance(move, Ask):
            plans.append([step.name for step in move.plan])

    for seed in range(10):
        settable = access is Access.SETTABLE
        policy = _policy(states=1, walk_steps=2) if settable else _aia(access, walk_steps=2)
        agent = SymbolicAgent(model, [start], access)
        result = interrogate(agent, policy, np.random.default_rng(seed), budget=AMPLE, watch=watch)
        assert result.proven
        assert evaluation.exact(result.model, model)
    assert ["off", "ring"] in [plan[-2:] for plan in plans]


def test_modes_that_no_query_tells_apart_are_undetermined_and_the_result_is_complete() -> None:
    """Nobody can switch the light off, so whether the bell needs it is not for anyone to find out."""
    model, start, _ = domains.bell_and_lamp()
    ring = model.schema("ring")
    for needs in (frozenset[LiftedAtom](), frozenset([LiftedAtom("lit", ())])):
        agent_model = Model(model.vocabulary, (ActionSchema(ring.header, needs, add=ring.add),))
        agent = SymbolicAgent(agent_model, [start], Access.SNAPSHOT)
        result = interrogate(agent, _aia(Access.SNAPSHOT), np.random.default_rng(0), budget=AMPLE)
        assert result.proven
        lit = PalTuple(LiftedAtom("lit", ()), "ring", Location.PRE)
        assert result.hypotheses.modes(lit) == (Mode.POSITIVE, Mode.ABSENT)


def test_a_value_that_is_not_seen_is_not_relied_on() -> None:
    """In the one situation that a step could tell in, the telling atom is hidden: no such query is made."""
    model, start, _ = domains.bell_and_lamp()
    lit = Atom("lit", ())

    class Dark(Hiding):
        def _seen(self, situation: Situation) -> Situation:
            state = situation.state
            return Situation(state, State(state.true - {lit}, state.objects, frozenset([lit])))

    agent = Dark(SymbolicAgent(model, [start], Access.SNAPSHOT))
    asked: list[DistinguishingProblem] = []
    policy = AiaPolicy(constructed=False, walk_steps=10, show=lambda problem, initial: asked.append(problem))
    result = interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    assert_sound(result.hypotheses, model)
    assert not [problem for problem in asked if problem.pal.atom.predicate == "lit"]


def test_a_refusal_that_was_reached_another_way_is_not_asked_for_again() -> None:
    """Hidden values let the refused step look possible, and under ``reset`` both ways are the same question."""
    kind = "object"
    vocabulary = Vocabulary(
        "pairs", (*(Predicate(name, (kind, kind)) for name in ("p0", "p1", "p2")), Predicate("p3", (kind,)))
    )
    headers = [ActionHeader(name, ("x", "y"), (kind, kind)) for name in ("a0", "a1")]
    joined = frozenset([LiftedAtom("p0", (0, 1))])
    model = Model(vocabulary, tuple(ActionSchema(header, negative=joined, add=joined) for header in headers))
    true = ["p0 o0 o2", "p0 o1 o1", "p1 o0 o1", "p1 o1 o0", "p1 o1 o1", "p1 o1 o2", "p3 o0", "p3 o2"]
    objects = Objects({f"o{number}": kind for number in range(3)}, vocabulary.types)
    facts = frozenset(Atom(name, tuple(rest)) for name, *rest in map(str.split, true))
    result = _run(Domain(model, (State(facts, objects),)), Access.RESET, 0, walk_steps=0, hiding=True)
    assert result.why != REPEATED
    assert_sound(result.hypotheses, model)


def test_trajectory_access_is_refused_in_one_line_that_says_why() -> None:
    with pytest.raises(UnusableInput, match="trajectory access leads back to none"):
        policy_for(Access.TRAJECTORY, "aia", PyperplanPlanner())


@pytest.mark.parametrize("access", [Access.SETTABLE, Access.SNAPSHOT, Access.RESET])
def test_the_problem_of_every_query_is_written_on_request(access: Access, tmp_path: Path) -> None:
    """A domain and a problem each; the folder is made with the first one."""
    model, start, _ = domains.bell_and_lamp()
    agent = SymbolicAgent(model, [start], access)
    folder = tmp_path / "ppo"
    interrogation = Interrogation(agent, policy="aia", write_ppo=folder)
    assert not folder.exists()
    result = interrogation.run(np.random.default_rng(3))
    names = sorted(path.name for path in folder.iterdir())
    domain_files = [name for name in names if name.endswith("-domain.pddl")]
    assert 0 < len(domain_files) <= result.counts.queries
    assert names == sorted([*domain_files, *(name.replace("-domain.", "-problem.") for name in domain_files)])
    assert {name.split("-")[1] for name in domain_files} <= {"ring", "off"}


def test_only_the_papers_policy_writes_such_problems(tmp_path: Path) -> None:
    model, start, _ = domains.bell_and_lamp()
    with pytest.raises(UnusableInput, match="only the policy aia makes such problems"):
        Interrogation(SymbolicAgent(model, [start]), write_ppo=tmp_path)


# Where the paper's algorithm stands, as it is written on its moves.


def _moments(domain: Domain, *, constructed: bool) -> list[tuple[Ask, Course]]:
    """Every question with a note, and the course that is read from it when it is the latest."""
    found: list[tuple[Ask, Course]] = []

    class Watched(AiaPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            course = course_of(evidence, [*evidence.hypotheses.pal_tuples()])
            if course is not None:
                move = evidence.exchanges[-1].move
                assert isinstance(move, Ask)
                found.append((move, course))
            return super().next(evidence, rng)

    policy = Watched(constructed=constructed, limits=Limits(states=300), walk_steps=10)
    access = Access.SETTABLE if constructed else Access.SNAPSHOT
    agent = SymbolicAgent(domain.model, domain.problems, access)
    interrogate(agent, policy, np.random.default_rng(0), budget=AMPLE)
    return found


@thorough(30)
@given(domains.domains(), st.booleans())
def test_the_latest_note_says_where_the_algorithm_stands(domain: Domain, constructed: bool) -> None:
    """S and Gamma are written once; the rest is read back as it was written."""
    for number, (ask, course) in enumerate(_moments(domain, constructed=constructed)):
        assert course.note(first=number == 0) == ask.note
        assert (ask.note[-1] == ()) is (number > 0)


@thorough(30)
@given(domains.domains(), st.booleans())
def test_a_note_is_of_numbers_and_names(domain: Domain, constructed: bool) -> None:
    """So a journal can keep it."""
    for ask, _ in _moments(domain, constructed=constructed):
        assert _tuples(json.loads(json.dumps(ask.note))) == ask.note


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@thorough(100)
@given(domains.domains(), st.booleans(), st.data())
def test_a_damaged_note_is_told_in_one_line(domain: Domain, constructed: bool, data: st.DataObject) -> None:
    """Any value in any place, as a journal that is anybody's file may have it: the algorithm goes on, or says so."""
    evidences: list[Evidence] = []

    class Kept(AiaPolicy):
        def next(self, evidence: Evidence, rng: np.random.Generator) -> Move:
            evidences[:] = [evidence]
            return super().next(evidence, rng)

    policy = Kept(constructed=constructed, limits=Limits(states=100), walk_steps=10)
    access = Access.SETTABLE if constructed else Access.SNAPSHOT
    agent = SymbolicAgent(domain.model, domain.problems, access)
    interrogate(agent, policy, np.random.default_rng(0), budget=Budget(queries=3))
    (evidence,) = evidences
    numbers = [n for n, exchange in enumerate(evidence.exchanges) if isinstance(exchange.move, Ask)]
    if not numbers:
        return
    number = data.draw(st.sampled_from(numbers))
    exchange = evidence.exchanges[number]
    assert isinstance(exchange.move, Ask)
    note = _damaged(exchange.move.note, data)
    note = note if isinstance(note, tuple) else (note,)
    evidence.exchanges[number] = replace(exchange, move=replace(exchange.move, note=note))
    fresh = AiaPolicy(constructed=constructed, limits=Limits(states=100), walk_steps=10)
    said = "goes on"
    try:
        fresh.next(evidence, np.random.default_rng(0))
    except UnusableInput as error:
        said = str(error)
    assert said == "goes on" or (said.count("\n") == 0 and "start a new run" in said)


def _damaged(note: Any, data: st.DataObject) -> Any:
    """The note with another value somewhere."""
    if isinstance(note, tuple) and note and data.draw(st.integers(0, 5)):
        place = data.draw(st.integers(0, len(note) - 1))
        return (*note[:place], _damaged(note[place], data), *note[place + 1 :])
    return data.draw(
        st.sampled_from([(), -1, 0, 7, 10**30, "", AIA, "Change", True, ((), ()), (("Change", 0),)])
    )


def test_before_the_first_question_there_is_no_course() -> None:
    domain = Domain(*_nothing())
    assert _moments(domain, constructed=True) == []


def _nothing() -> tuple[Any, Any]:
    from aam_vision.model import domains as packaged

    problem = packaged.generate("gripper", 1, np.random.default_rng(0)).initial
    model = packaged.load("gripper")
    return replace(model, actions=()), (problem,)

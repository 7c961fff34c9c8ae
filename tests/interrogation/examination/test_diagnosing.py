"""Diagnoses of agents with one fault each, under every access that lets the fault be told from others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.decorator import AgentDecorator
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.agents.unreliable import UnreliableAgent
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.examination.diagnosing import LONGEST
from aam_vision.interrogation.examination.findings import Diagnosis, Family
from aam_vision.interrogation.examination.inquiry import cut
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.repetition import random_outcome
from aam_vision.interrogation.examination.trials import MAX_STEPS, Trial
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, Objects, State, Types
from experiments.faults.registry import FAULTY, faulty_agent, right_verdicts
from experiments.trust_runs import PER_SITUATION, Case, interval, literal_right, target_of
from tests.domains import packaged
from tests.profiles import crossed, first, some

LAMPS = """(define (domain lamps) (:requirements :strips :typing :negative-preconditions)
  (:types lamp - object) (:predicates (plugged ?l - lamp) (on ?l - lamp))
  (:action plug :parameters (?l - lamp) :precondition (and) :effect (and (plugged ?l)))
  (:action switch :parameters (?l - lamp) :precondition (and (plugged ?l) (not (on ?l))) :effect (and (on ?l))))"""
GOING_BACK = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET]


def interrogated(agent: Agent, seed: int = 0) -> Result:
    """The result, with a diagnosis, if there is one, that is one short line with its examples."""
    try:
        result = Interrogation(agent, exam=60).run(np.random.default_rng(seed))
    except Interrupted as error:
        result = error.result
    if (found := result.diagnosis) is not None:
        assert len(found.why) <= LONGEST
        assert found.why.startswith(found.culprit)
        assert len(found.examples) <= 2
        assert found.steps <= MAX_STEPS
        assert 0 <= found.seen <= found.tried
        assert result.not_strips is bool(result.doubt)
        if result.not_strips:
            assert (result.status, result.certain) == ("not-strips", {})
    return result


def diagnosis_of(agent: Agent, seed: int = 0) -> Diagnosis:
    found = interrogated(agent, seed).diagnosis
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("family", "access"),
    crossed(
        [
            "hidden fuel",
            "episode end",
            "effect wears off",
            "refused for a spoiled object",
            "refused unless one of two",
            "silent no-op",
            "random outcome",
            "fault after k uses in the process",
            "drift of an effect",
        ],
        GOING_BACK,
    ),
)
def test_the_family_is_named(family: str, access: Access) -> None:
    found = [interrogated(faulty_agent(family, access, seed)).diagnosis for seed in range(3)]
    named = [one.family.value for one in found if one is not None]
    assert sum(name in FAULTY[family].right for name in named) >= 2, named


@pytest.mark.parametrize(
    ("family", "access"),
    crossed(
        ["stale state", "lagging image", "delayed effect"],
        [Access.TRAJECTORY, Access.RESET, Access.SNAPSHOT],
    ),
)
def test_what_comes_one_step_late_is_not_called_conditional(family: str, access: Access) -> None:
    _assert_named(family, access)


@pytest.mark.parametrize(
    "family", first(2, ["hidden counter", "random refusal", "hidden fuel", "states misread"])
)
def test_the_order_of_the_steps_names_the_family_where_nothing_can_be_had_again(family: str) -> None:
    _assert_named(family, Access.TRAJECTORY)


@pytest.mark.parametrize(
    ("family", "seeds"),
    [
        ("delayed effect", (63001, 63004, 63009)),
        ("drift of a precondition", (71000, 71003)),
        ("lamp of a count", (71006, 71009)),
    ],
)
def test_on_a_trajectory_new_states_and_earlier_steps_tell_what_looks_alike(
    family: str, seeds: tuple[int, ...]
) -> None:
    """An effect that is late from chance, a change from a condition, and a lamp from one wrong picture."""
    right = right_verdicts(family, Access.TRAJECTORY)
    for seed in seeds:
        found = interrogated(faulty_agent(family, Access.TRAJECTORY, seed), seed).diagnosis
        assert found is not None
        assert found.family.value in right, found.why


@pytest.mark.parametrize(("access", "seed"), crossed([Access.SNAPSHOT, Access.RESET], [71002, 71008]))
def test_a_state_that_is_misread_is_told_by_most_of_the_pictures_around_it(access: Access, seed: int) -> None:
    """Other pictures may be misread as well, so not all of them have to agree."""
    assert diagnosis_of(faulty_agent("states misread", access, seed), seed).family is Family.MISREAD


@pytest.mark.parametrize(("seed", "access"), crossed(range(510000, 510003), GOING_BACK))
def test_what_is_undone_several_steps_later_is_not_misread(seed: int, access: Access) -> None:
    """The pictures between would all have to be wrong alike."""
    found = diagnosis_of(faulty_agent("effect wears off", access, seed), seed)
    assert found.family is Family.HIDDEN
    one, other = (example.after for example in found.examples)
    assert one is not None
    assert other is not None
    assert "later, whatever is done" in found.why or any(
        str(atom) in found.why for atom in differing(one.state, other.state)
    )


@pytest.mark.parametrize("seed", [510003, 510005])
def test_what_cannot_be_undone_is_sought_from_where_it_was_not_done(seed: int) -> None:
    found = diagnosis_of(faulty_agent("refused for a spoiled object", Access.SNAPSHOT, seed), seed)
    assert found.family is Family.HIDDEN, found.why


@pytest.mark.parametrize("seed", [550008, 550012])
def test_facts_of_the_arguments_are_examined_together_and_not_one_by_one(seed: int) -> None:
    """Each of two marks may be missing, and not both: a problem that is seldom gone to has both missing."""
    agent = faulty_agent("refused unless one of two", Access.SNAPSHOT, seed)
    assert diagnosis_of(agent, seed).family is Family.CONDITIONAL


def _assert_named(family: str, access: Access) -> None:
    """At least three of four diagnoses are right."""
    found = [interrogated(faulty_agent(family, access, seed)).diagnosis for seed in some(4, range(6))]
    right = right_verdicts(family, access)
    named = [one.family.value in right for one in found if one is not None]
    assert sum(named) >= max(1, 3 * len(named) // 4), [one and one.why for one in found]


def test_a_frequency_is_that_of_the_step_and_not_of_the_way_to_it() -> None:
    for seed in some(3, range(8)):
        agent = faulty_agent("silent no-op", Access.SETTABLE, seed)
        found = interrogated(agent, seed).diagnosis
        if found is not None and found.family is Family.RANDOM and found.tried:
            low, high = interval(found.seen, found.tried)
            assert low <= 0.2 <= high, found.why


class Slipping(AgentDecorator):
    """An agent whose ``switch`` does nothing three times in ten; of a question only where its last step led is seen."""

    def __init__(self, agent: Agent, seed: int) -> None:
        super().__init__(agent)
        self._rng = np.random.default_rng(seed)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []  # it does nothing by itself

    def ask(self, query: Query) -> Response:
        at = query.initial
        for number, step in enumerate(query.plan):
            response = self.agent.ask(Query(at, (step,)))
            if not response.executed:
                return Response(number, at)
            if step.name != "switch" or self._rng.random() >= 0.3:
                at = response.final
        return Response(len(query.plan), at)


@pytest.mark.parametrize("seed", first(3, range(8)))
def test_a_step_is_not_blamed_for_what_one_before_it_in_the_same_question_did(
    seed: int, tmp_path: Path
) -> None:
    (tmp_path / "lamps.pddl").write_text(LAMPS, encoding="utf-8")
    model = read_domain(tmp_path / "lamps.pddl")
    at = State(frozenset(), Objects({"desk": "lamp", "bed": "lamp"}, model.vocabulary.types))
    found = interrogated(Slipping(SymbolicAgent(model, [at]), seed), seed).diagnosis
    assert found is None or (found.family, found.culprit) == (Family.RANDOM, "switch"), found.why


def test_what_is_mostly_refused_is_not_refused_by_mistake() -> None:
    step = GroundAction("go", ())
    at = Situation(0, State(frozenset(), Objects({}, Types({}))))
    refused, executed = Trial(at, step, None), Trial(at, step, at)
    assert random_outcome(executed, refused, 5, 30).by_chance
    assert not random_outcome(refused, executed, 5, 30).by_chance


def test_an_outcome_that_never_came_again_was_seen_once() -> None:
    step = GroundAction("go", ())
    at = Situation(0, State(frozenset(), Objects({}, Types({}))))
    found = random_outcome(Trial(at, step, at), Trial(at, step, None), 0, 4)
    assert found.why == "go: random, refused once, and not in 4 attempts since"
    assert (found.seen, found.tried) == (0, 4)


@pytest.mark.parametrize("access", GOING_BACK)
def test_the_literal_is_named_that_the_hypotheses_lack(access: Access) -> None:
    agent = faulty_agent("repeated arguments", access, 0)
    result = interrogated(agent)
    found = result.diagnosis
    assert found is not None
    assert found.family is Family.CONDITIONAL
    assert literal_right(agent.fault, found)
    entries = result.transcript.entries
    asked = [entry.query for entry in entries if isinstance(entry, Asked) and entry.query.plan]
    repeated = max(asked.count(query) for query in asked)
    assert repeated > 3, "the transcript has that the doubtful step is asked for again and again"


@pytest.mark.nightly
@pytest.mark.parametrize("access", Access)
@pytest.mark.parametrize("family", FAULTY)
def test_every_family_is_told_in_one_short_line(family: str, access: Access) -> None:
    """By day, those of the other tests."""
    interrogated(faulty_agent(family, access, 1), seed=1)


def test_a_camera_that_flickers_is_told_from_an_agent_that_is_random() -> None:
    honest = faulty_agent("honest", Access.SNAPSHOT, 0)
    found = diagnosis_of(UnreliableAgent(honest, 0.05, 0.0, np.random.default_rng(0)))
    assert found.family is Family.MISREAD
    assert found.by_chance


# What changes regularly with an action, on objects that it does not name, is told from what is misread.

FAMILIES = [
    "lamp of every step",
    "lamp of one action",
    "two lamps",
    "lamp of a count",
    "effect on all objects",
    "effect elsewhere",
]


def diagnosed(agent: Agent, seed: int = 0) -> Diagnosis | None:
    try:
        return Interrogation(agent).run(np.random.default_rng(seed)).diagnosis
    except Interrupted as error:
        return error.result.diagnosis


@pytest.mark.parametrize(("family", "access"), crossed(FAMILIES, Access))
def test_a_regular_effect_elsewhere_is_called_conditional(family: str, access: Access) -> None:
    found = [diagnosed(faulty_agent(family, access, seed), seed) for seed in range(4)]
    named = [one.family for one in found if one is not None]
    assert len(named) == 4
    assert named.count(Family.CONDITIONAL) >= 2, [one and one.why for one in found]


@pytest.mark.parametrize(
    ("case", "access"),
    crossed(
        [("lamp of one action", (71004,)), ("effect on all objects", (71000, 71008, 71009))],
        [Access.RESET, Access.SNAPSHOT, Access.SETTABLE],
    ),
)
def test_an_action_that_is_seldom_possible_is_sought_on_purpose(
    case: tuple[str, tuple[int, ...]], access: Access
) -> None:
    family, seeds = case
    for seed in seeds:
        found = diagnosed(faulty_agent(family, access, seed), seed)
        assert found is not None
        assert found.family is Family.CONDITIONAL, found.why
        assert "does not name" in found.why


@pytest.mark.parametrize(
    ("family", "access"),
    crossed(["lamp of every step", "lamp of one action"], [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]),
)
def test_the_lamp_is_named_with_two_situations(family: str, access: Access) -> None:
    for seed in some(2, range(4, 8)):
        agent = faulty_agent(family, access, seed)
        found = diagnosed(agent, seed)
        assert found is not None
        assert found.family is Family.CONDITIONAL
        assert "lit(lamp1)" in found.why
        assert found.literal in ("lit(lamp1)", None)
        assert found.examples
        assert found.culprit in agent.fault.actions
        if family == "lamp of one action":
            assert found.literal is None or literal_right(agent.fault, found)


@pytest.mark.parametrize(("access", "rate"), crossed([Access.RESET, Access.SNAPSHOT], [0.05, 0.2]))
def test_a_classifier_that_misreads_much_is_no_regular_effect(
    access: Access, rate: float, tmp_path: Path
) -> None:
    for seed in some(3, range(6)):
        case = Case("blocksworld", access.value, flip_rate=rate, flips=PER_SITUATION)
        found = diagnosed(target_of(case, seed, 2, tmp_path).agent, seed)
        assert found is not None
        assert "does not name" not in found.why, found.why


def test_a_state_that_is_misread_each_time_it_is_made_is_not_misread_by_chance(tmp_path: Path) -> None:
    for seed in some(3, (21000, *range(6))):
        case = Case("blocksworld", "settable", flip_rate=0.05, refusal_rate=0.02, flips=PER_SITUATION)
        found = diagnosed(target_of(case, seed, 2, tmp_path).agent, seed)
        assert found is not None
        assert found.family is not Family.MISREAD or not found.by_chance


# Agents whose first steps of one action do nothing, and that are honest from then on.

LATE = "move"


class LateStarter(AgentDecorator):
    """An agent that does nothing at its first uses of one action.

    Args:
        agent: what it does otherwise.
        idle: the number of uses that do nothing.
    """

    def __init__(self, agent: Agent, idle: int) -> None:
        super().__init__(agent)
        self._idle = idle

    def ask(self, query: Query) -> Response:
        at = query.initial
        for number, step in enumerate(query.plan):
            executed, at = self._done(at, step)
            if not executed:
                return Response(number, at)
        return Response(len(query.plan), at)

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        while len(walked) < steps and (own := self.agent.walk(start, 1, rng)):
            _, after = self._done(start, own[0].action)
            walked.append(WalkStep(start, own[0].action, after))
            start = after
        return walked

    def _done(self, at: Situation, step: GroundAction) -> tuple[bool, Situation]:
        response = self.agent.ask(Query(at, (step,)))
        if response.executed and step.name == LATE and self._idle:
            self._idle -= 1
            return True, at
        return bool(response.executed), response.final


def late_diagnosis(idle: int, seed: int) -> Diagnosis:
    agent = LateStarter(SymbolicAgent(*packaged("gripper"), Access.SNAPSHOT), idle)
    with pytest.raises(Interrupted) as interrupted:
        Interrogation(agent, exam=0).run(np.random.default_rng(seed))
    found = interrupted.value.result.diagnosis
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("idle", [2, 4])
def test_what_came_several_times_and_never_again_is_a_change(idle: int, seed: int) -> None:
    """The old outcome is shown first, and then the one that has come since."""
    found = late_diagnosis(idle, seed)
    assert (found.family, found.culprit) == (Family.CHANGING, LATE)
    old, new = found.examples
    assert (old.step.name, new.step.name) == (LATE, LATE)
    assert old.outcome == "executed, and nothing changed"
    assert "+at_robby" in new.outcome
    assert not found.by_chance


@pytest.mark.parametrize("seed", range(3))
def test_what_came_once_and_never_again_is_chance_or_a_change(seed: int) -> None:
    """The same step of the same snapshot had another outcome: nothing hidden or conditional explains that."""
    found = late_diagnosis(1, seed)
    assert found.family in (Family.RANDOM, Family.MISREAD, Family.CHANGING)
    assert found.culprit == LATE
    assert "executed, and nothing changed" in {one.outcome for one in found.examples}


@given(
    st.lists(st.sampled_from(["go:", "lies-in(red, attic)", "on(a, b),", "lost"]), min_size=1),
    st.integers(25, 60),
)
def test_what_is_cut_keeps_whole_words_and_atoms(parts: list[str], length: int) -> None:
    text = " ".join(parts)
    kept = cut(text, length)
    assert len(kept) <= length
    assert kept == text or (text.startswith(kept[:-3]) and text[len(kept) - 3] in " ,:")
    assert kept.count("(") == kept.count(")")

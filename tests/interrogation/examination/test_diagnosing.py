"""Diagnoses of agents with one fault each, under every access that lets the fault be told from others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
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
from aam_vision.interrogation.examination.outcomes import random_outcome
from aam_vision.interrogation.examination.predictions import differing
from aam_vision.interrogation.examination.trials import MAX_STEPS, Trial
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.interrogation.task.loop import Interrupted
from aam_vision.interrogation.task.result import Result
from aam_vision.model.pddl import read_domain
from aam_vision.model.query import Access, Agent, Query, Response, Situation, WalkStep
from aam_vision.model.strips import GroundAction, Objects, State, Types
from experiments.faults.registry import FAULTY, HONEST, faulty_agent, right_verdicts
from experiments.trust_runs import PER_SITUATION, Case, interval, literal_right, target_of
from tests.domains import packaged
from tests.profiles import crossed, first, some

LAMPS = """(define (domain lamps) (:requirements :strips :typing :negative-preconditions)
  (:types lamp - object) (:predicates (plugged ?l - lamp) (on ?l - lamp))
  (:action plug :parameters (?l - lamp) :precondition (and) :effect (and (plugged ?l)))
  (:action switch :parameters (?l - lamp) :precondition (and (plugged ?l) (not (on ?l))) :effect (and (on ?l))))"""
GOING_BACK = [Access.SETTABLE, Access.SNAPSHOT, Access.RESET]


def interrogated(agent: Agent, seed: int = 0, exam: int | None = 60) -> Result:
    """The result, with a diagnosis, if there is one, that is one short line with its examples."""
    try:
        result = Interrogation(agent, exam=exam).run(np.random.default_rng(seed))
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


def diagnosis_of(agent: Agent, seed: int = 0, exam: int | None = 60) -> Diagnosis:
    found = interrogated(agent, seed, exam).diagnosis
    assert found is not None
    return found


BY_DAY = {
    "hidden fuel": Access.SETTABLE,
    "episode end": Access.SNAPSHOT,
    "silent no-op": Access.RESET,
    "random outcome": Access.SETTABLE,
    "fault after k uses in the process": Access.SNAPSHOT,
    "drift of an effect": Access.RESET,
    "stale state": Access.TRAJECTORY,  # what comes one step late is not conditional
    "lagging image": Access.RESET,
    "hidden counter": Access.TRAJECTORY,  # nothing can be had again
    "two lamps": Access.SNAPSHOT,  # regular effects elsewhere are not misread
    "effect elsewhere": Access.TRAJECTORY,
}


@pytest.mark.parametrize(("family", "access"), BY_DAY.items())
def test_the_family_is_named(family: str, access: Access) -> None:
    found = [interrogated(faulty_agent(family, access, seed), seed).diagnosis for seed in some(3, range(6))]
    right = [one is not None and one.family.value in right_verdicts(family, access) for one in found]
    assert sum(right) >= 2 * len(right) // 3, [one and one.why for one in found]


@pytest.mark.nightly
@pytest.mark.parametrize("access", Access)
def test_families_are_told_apart(access: Access) -> None:
    """The confusion matrix. ``experiments.trust`` has 79% on its diagonal on a trajectory, 97% elsewhere."""
    table = Counter[tuple[str, str]]()
    for family, seed in product(FAULTY, range(2)):
        found, right = (
            interrogated(faulty_agent(family, access, seed), seed).diagnosis,
            right_verdicts(family, access),
        )
        if found is not None:
            named = found.family.value
            table[right[0], right[0] if named in right else named] += 1
    diagonal = sum(number for (one, named), number in table.items() if one == named)
    assert diagonal >= table.total() * (2 / 3 if access is Access.TRAJECTORY else 0.85), table
    for honest, seed in product(HONEST, range(2)):
        assert interrogated(faulty_agent(honest, access, seed), seed).diagnosis is None


TRAJECTORY, SNAPSHOT, RESET, SETTABLE = Access.TRAJECTORY, Access.SNAPSHOT, Access.RESET, Access.SETTABLE


@pytest.mark.parametrize(
    ("family", "access", "seed"),
    first(
        20,
        [
            # what is right after another history, or at another time, was not misread
            ("comes and goes", SETTABLE, 2800008),
            ("comes and goes", TRAJECTORY, 2830001),
            ("changes at a set time", TRAJECTORY, 2830005),  # most pictures would have to be wrong
            ("states misread", SETTABLE, 2810011),  # the steps of a misread state are no other history of it
            # what never changed with an object is no matter of what was done with it before
            ("refused for another object", TRAJECTORY, 2300000),
            # no step of the action works there, whatever its arguments
            ("refused for a count", SNAPSHOT, 2300007),
            # many steps are explored where each goes on from the last
            ("refused for a count", RESET, 720003),
            # what was done before with the same object tells more than how other objects stand
            *product(["refused for a spoiled object"], [TRAJECTORY, RESET], [700003]),
            # two literals all the time, from one since then
            ("refused unless one of two", TRAJECTORY, 122000),
            ("refused for another object", TRAJECTORY, 120005),  # what worked before is gone back to
            ("effect on all objects", TRAJECTORY, 120001),  # several readings would be wrong in one picture
            ("effect wears off", TRAJECTORY, 120001),  # late by several steps, from chance
            ("fault after k uses in an episode", SNAPSHOT, 121002),  # most steps seen came after the change
            # new states and earlier steps tell apart what looks alike on a trajectory
            ("delayed effect", TRAJECTORY, 63001),  # late, from chance
            ("drift of a precondition", TRAJECTORY, 71001),  # a change from a condition
            ("lamp of a count", TRAJECTORY, 71006),  # from one wrong picture
            ("states misread", SNAPSHOT, 71002),  # most of the pictures around it agree, not all of them
            ("effect wears off", RESET, 510000),  # the pictures between would all have to be wrong alike
            ("refused for a spoiled object", SNAPSHOT, 510003),  # sought from where it was not done
            # by night, since the runs above reach all that these do
            ("fault after k uses in the process", RESET, 700000),  # it is refused on the way to where it was
            ("effect wears off", RESET, 700003),  # a step before explains all that changes elsewhere
            ("lamp of every step", TRAJECTORY, 120004),  # more states than a few are gone to
            ("refused unless one of two", SNAPSHOT, 550008),  # a problem seldom gone to has both missing
            ("lamp of one action", RESET, 71004),  # an action that is seldom possible is sought on purpose
            ("effect on all objects", SETTABLE, 71000),
            *product(["delayed effect"], [TRAJECTORY], [63004, 63009]),
            ("drift of a precondition", TRAJECTORY, 71005),
            ("lamp of a count", TRAJECTORY, 71009),
            *product(["states misread"], [SNAPSHOT, RESET], [71002, 71008]),
            *product(["effect wears off"], GOING_BACK, range(510000, 510003)),
            *product(["effect wears off"], [TRAJECTORY], [120000, 120004, 120006]),
            *product(["effect wears off"], [SNAPSHOT, RESET], [121001]),
            *product(["fault after k uses in an episode"], [RESET], [121000, 121002]),
            *product(["refused for a spoiled object"], [SNAPSHOT], [510005, 700003]),
            ("effect wears off", TRAJECTORY, 700003),
            *product(["refused unless one of two"], [SNAPSHOT], [550012]),
            *product(["lamp of one action"], GOING_BACK, [71004]),
            ("effect on all objects", TRAJECTORY, 120002),
            *product(["effect on all objects"], GOING_BACK, [71000, 71008, 71009]),
        ],
    ),
)
def test_what_was_once_named_wrongly_is_named_rightly(family: str, access: Access, seed: int) -> None:
    elsewhere = family in ("lamp of one action", "effect on all objects")
    found = diagnosis_of(faulty_agent(family, access, seed), seed, None if elsewhere else 60)
    assert found.family.value in right_verdicts(family, access), found.why
    assert "does not name" in found.why or not elsewhere
    if family == "effect wears off" and "steps after it" not in found.why:
        one, other = (example.after for example in found.examples)
        told = [str(atom) for atom in differing(one.state, other.state)]
        assert any(part in found.why for part in ("later, whatever is done", *told))


def test_a_frequency_is_that_of_the_step_and_not_of_the_way_to_it() -> None:
    for seed in some(2, range(8)):
        agent = faulty_agent("silent no-op", Access.SETTABLE, seed)
        found = interrogated(agent, seed).diagnosis
        if found is not None and found.family is Family.RANDOM and found.tried:
            low, high = interval(found.seen, found.tried)
            assert low <= 0.2 <= high, found.why


class Stepwise(AgentDecorator):
    """Does every step of a question by itself, some of them as it likes; shows only where the last one led."""

    def done(self, at: Situation, step: GroundAction) -> Situation | None:
        """Where a step leads; None if it is refused."""
        response = self.agent.ask(Query(at, (step,)))
        return response.final if response.executed else None

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        return []  # it does nothing by itself

    def ask(self, query: Query) -> Response:
        at = query.initial
        for number, step in enumerate(query.plan):
            after = self.done(at, step)
            if after is None:
                return Response(number, at)
            at = after
        return Response(len(query.plan), at)


class Slipping(Stepwise):
    """An agent whose ``switch`` does nothing three times in ten."""

    def __init__(self, agent: Agent, seed: int) -> None:
        super().__init__(agent)
        self._rng = np.random.default_rng(seed)

    def done(self, at: Situation, step: GroundAction) -> Situation | None:
        after = super().done(at, step)
        slips = after is not None and step.name == "switch" and self._rng.random() < 0.3
        return at if slips else after


@pytest.mark.parametrize("seed", first(1, range(8)))
def test_a_step_is_not_blamed_for_one_before_it_in_its_question(seed: int, tmp_path: Path) -> None:
    (tmp_path / "lamps.pddl").write_text(LAMPS, encoding="utf-8")
    model = read_domain(tmp_path / "lamps.pddl")
    at = State(frozenset(), Objects({"desk": "lamp", "bed": "lamp"}, model.vocabulary.types))
    found = interrogated(Slipping(SymbolicAgent(model, [at]), seed), seed).diagnosis
    assert found is None or (found.family, found.culprit) == (Family.RANDOM, "switch"), found.why


def test_what_is_mostly_refused_is_not_refused_by_mistake_and_what_never_came_again_was_seen_once() -> None:
    step, at = GroundAction("go", ()), Situation(0, State(frozenset(), Objects({}, Types({}))))
    refused, executed = Trial(at, step, None), Trial(at, step, at)
    assert random_outcome(executed, refused, 5, 30).by_chance
    assert not random_outcome(refused, executed, 5, 30).by_chance
    found = random_outcome(executed, refused, 0, 4)
    assert found.why == "go: random, refused once, and not in 4 attempts since"
    assert (found.seen, found.tried) == (0, 4)


@pytest.mark.parametrize("access", first(1, [SETTABLE, RESET, SNAPSHOT]))
def test_the_literal_is_named_that_the_hypotheses_lack(access: Access) -> None:
    agent = faulty_agent("repeated arguments", access, 0)
    result = interrogated(agent)
    found = result.diagnosis
    assert found.family is Family.CONDITIONAL
    assert literal_right(agent.fault, found)
    entries = result.transcript.entries
    asked = [entry.query for entry in entries if isinstance(entry, Asked) and entry.query.plan]
    repeated = max(asked.count(query) for query in asked)
    assert repeated > 3, "the transcript has that the doubtful step is asked for again and again"


def test_a_camera_that_flickers_is_told_from_an_agent_that_is_random() -> None:
    honest = faulty_agent("honest", Access.SNAPSHOT, 0)
    found = diagnosis_of(UnreliableAgent(honest, 0.05, 0.0, np.random.default_rng(0)))
    assert found.family is Family.MISREAD
    assert found.by_chance


@pytest.mark.parametrize(
    ("family", "access"),
    crossed(["lamp of every step", "lamp of one action"], [Access.RESET, Access.SNAPSHOT, Access.SETTABLE]),
)
def test_the_lamp_is_named_with_two_situations(family: str, access: Access) -> None:
    for seed in some(1, range(4, 8)):
        agent = faulty_agent(family, access, seed)
        found = diagnosis_of(agent, seed, None)
        assert found.family is Family.CONDITIONAL
        assert "lit(lamp1)" in found.why
        assert found.literal in ("lit(lamp1)", None)
        assert found.examples
        assert found.culprit in agent.fault.actions
        if family == "lamp of one action":
            assert found.literal is None or literal_right(agent.fault, found)


@pytest.mark.parametrize(("access", "rate"), crossed([Access.RESET, Access.SNAPSHOT], [0.05, 0.2]))
def test_much_misreading_is_no_regular_effect(access: Access, rate: float, tmp_path: Path) -> None:
    for seed in some(1, range(6)):
        case = Case("blocksworld", access.value, flip_rate=rate, flips=PER_SITUATION)
        found = diagnosis_of(target_of(case, seed, 2, tmp_path).agent, seed, None)
        assert "does not name" not in found.why, found.why


def test_a_state_that_is_misread_each_time_it_is_made_is_not_misread_by_chance(tmp_path: Path) -> None:
    for seed in some(1, (21000, *range(6))):
        case = Case("blocksworld", "settable", flip_rate=0.05, refusal_rate=0.02, flips=PER_SITUATION)
        found = diagnosis_of(target_of(case, seed, 2, tmp_path).agent, seed, None)
        assert found.family is not Family.MISREAD or not found.by_chance


# Agents whose first steps of one action do nothing, and that are honest from then on.

LATE = "move"


class LateStarter(Stepwise):
    """An agent that does nothing at so many first uses of one action."""

    def __init__(self, agent: Agent, idle: int) -> None:
        super().__init__(agent)
        self._idle = idle

    def done(self, at: Situation, step: GroundAction) -> Situation | None:
        after = super().done(at, step)
        if after is None or step.name != LATE or not self._idle:
            return after
        self._idle -= 1
        return at

    def walk(self, start: Situation, steps: int, rng: np.random.Generator) -> Sequence[WalkStep]:
        walked: list[WalkStep] = []
        while len(walked) < steps and (own := self.agent.walk(start, 1, rng)):
            after = self.done(start, own[0].action) or start
            walked.append(WalkStep(start, own[0].action, after))
            start = after
        return walked


def late_diagnosis(idle: int, seed: int) -> Diagnosis:
    agent = LateStarter(SymbolicAgent(*packaged("gripper"), Access.SNAPSHOT), idle)
    found = diagnosis_of(agent, seed, 0)
    assert found.culprit == LATE
    assert "executed, and nothing changed" in {one.outcome for one in found.examples}
    return found


@pytest.mark.parametrize(("idle", "seed"), crossed([2, 4], range(3)))
def test_what_came_several_times_and_never_again_is_a_change(idle: int, seed: int) -> None:
    """The old outcome is shown first, and then the one that has come since."""
    found = late_diagnosis(idle, seed)
    old, new = found.examples
    assert (found.family, old.step.name, new.step.name) == (Family.CHANGING, LATE, LATE)
    assert old.outcome == "executed, and nothing changed"
    assert "+at_robby" in new.outcome
    assert not found.by_chance


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_what_came_once_and_never_again_is_chance_or_a_change(seed: int) -> None:
    """The same step of the same snapshot had another outcome: nothing hidden or conditional explains that."""
    assert late_diagnosis(1, seed).family in (Family.RANDOM, Family.MISREAD, Family.CHANGING)


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

"""The verdict says how sure a model is, why, and on which assumption, for every way in which a run can end."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision import agent_for, interrogate
from aam_vision.agents.symbolic import SymbolicAgent
from aam_vision.interrogation.completeness.indistinguishability import NO_WAY, Indistinguishability, origins
from aam_vision.interrogation.evidence.transcript import evidence_of
from aam_vision.interrogation.examination.findings import ENOUGH, Diagnosis, Exam, Family
from aam_vision.interrogation.task.budget import Budget
from aam_vision.interrogation.task.result import Result, check_prior, differences, ending, lifted_predicates
from aam_vision.interrogation.task.verdict import (
    BUDGET,
    COMPLETE,
    FAILED,
    NOT_STRIPS,
    OPEN,
    Ending,
    lacking,
    verdict,
)
from aam_vision.model.query import Access
from aam_vision.model.strips import (
    ActionHeader,
    ActionSchema,
    Location,
    Mode,
    Model,
    Predicate,
    Types,
    Vocabulary,
    lifted_atoms,
)
from aam_vision.support.errors import UnusableInput
from aam_vision.support.wording import WIDTH
from tests import domains, small
from tests.domains import Domain
from tests.interrogation.runs import AMPLE, run, updated
from tests.profiles import thorough

WHY = "no query could tell any more"
UNTESTED = "the classifiers read 9 of 10 unseen images exactly: they have not passed their test"
PLURAL_OF_ONE = re.compile(r"\b1 \w+s\b(?<!is)(?<!was)")


def _ending(status: str, exam: Exam | None = None, **other: object) -> Ending:
    ended = Ending(status, True, WHY, "", exam or Exam(), False, 0, 0, "", None)
    return replace(ended, **other)  # type: ignore[arg-type]


@given(st.integers(ENOUGH, 10_000))
def test_an_examined_model_is_complete_with_what_the_examination_bounds(steps: int) -> None:
    found = verdict(_ending(COMPLETE, Exam(steps)))
    assert found.title == "complete"
    assert f"{Exam(steps)}." in found.sentences
    assert lacking(Exam(steps), [], "", weighed=False, untested="") == ""


@given(st.integers(0, ENOUGH - 1), st.sampled_from(["", BUDGET]))
def test_a_model_that_was_not_examined_enough_says_so_and_how_to_do_it(steps: int, cut: str) -> None:
    missing = lacking(Exam(steps), [], cut, weighed=False, untested="")
    found = verdict(_ending(cut or OPEN, Exam(steps), missing=missing))
    assert found.title == f"{cut or OPEN}: {missing}"
    assert f"{ENOUGH} are needed" in missing
    assert ("--max-steps" if cut else "--exam 60") in missing
    assert "deterministic STRIPS agent in this vocabulary" in found.assumption
    assert found.examination.startswith("Not examined") is (steps == 0)


def test_all_that_is_missing_is_said_in_one_line() -> None:
    missing = lacking(Exam(10), ["fly", "dig", "eat", "see"], "", weighed=False, untested=UNTESTED)
    assert missing == (
        f"never executed: fly, dig, eat and 1 more; {UNTESTED}; 10 steps examined, 59 are needed (--exam 60)"
    )


def test_weighed_answers_name_the_errors_that_looking_again_does_not_find() -> None:
    missing = lacking(Exam(), [], "", weighed=True, untested="")
    found = verdict(_ending(OPEN, weighed=True, missing=missing))
    assert "weighed" in found.title
    assert "independent from look to look" in found.assumption
    assert "a classifier's" in found.assumption
    assert "--exam" not in " ".join([found.title, *found.sentences]), "weighed models stay unexamined"


@pytest.mark.parametrize("doubt", ["", "an atom changed that no step names"])
@pytest.mark.parametrize("status", [OPEN, BUDGET, FAILED])
def test_a_model_that_is_not_proven_is_told_by_the_word_of_its_status(status: str, doubt: str) -> None:
    found = verdict(_ending(status, proven=False, why="it ended", missing="it ended", doubt=doubt, open=2))
    assert found.title == (f"{status}: nothing is certain" if doubt else status)
    assert found.main == "It ended."
    assert found.examination == ""


def test_only_the_whole_ladder_is_complete() -> None:
    result = interrogate(agent_for("gripper"), seed=1)
    assert (result.status, result.complete, result.missing) == (COMPLETE, True, None)
    more = replace(result, proven=False, why="more could be asked")
    rungs = [replace(result, exam=exam) for exam in (Exam(10), Exam(80, 1))]
    for rung in (more, *rungs, replace(result, untested=UNTESTED)):
        assert (rung.status, rung.complete) == (OPEN, False)
        assert rung.missing
        assert "\n" not in rung.missing
        assert rung.missing in str(rung).replace("\n", " ").replace("                ", "")
    failed = replace(more, cut=FAILED)
    assert (failed.status, failed.missing) == (FAILED, "more could be asked")
    assert replace(result, cut=BUDGET).status == COMPLETE, "nothing is left to spend more on"


@pytest.mark.parametrize(
    ("budget", "option"), [(Budget(queries=1), "--max-queries"), (Budget(steps=1), "--max-steps")]
)
def test_a_spent_budget_says_what_is_open_and_which_option_to_raise(budget: Budget, option: str) -> None:
    found = interrogate(agent_for("gripper"), max_queries=budget.queries, max_steps=budget.steps)
    assert found.status == BUDGET
    told = " ".join(verdict(ending(found)).sentences)
    assert "budget of 1 " in told
    assert option in told
    assert PLURAL_OF_ONE.search(told) is None


@pytest.mark.parametrize("family", list(Family))
def test_a_diagnosis_begins_with_the_culprit_and_names_its_family(family: Family) -> None:
    diagnosis = Diagnosis(family, "push", "push: refused once in 3 tries", (), "heavy(?x)", 1, 3, True)
    found = verdict(_ending(NOT_STRIPS, doubt="x", diagnosis=diagnosis))
    told = " ".join(found.sentences)
    assert found.main.startswith("push: ")
    assert family.value in told.lower()
    for part in ("heavy(?x)", "once in 3 tries", "pictures differ", "nothing in the model below is certain"):
        assert part in told
    assert "misread" not in found.title


def test_a_diagnosis_that_may_have_another_cause_is_not_told_as_sure() -> None:
    diagnosis = Diagnosis(Family.CONDITIONAL, "push", "push: refused", otherwise="Or pictures were misread.")
    found = verdict(_ending(NOT_STRIPS, doubt="x", diagnosis=diagnosis))
    assert found.title == "not-strips: no STRIPS model fits, or pictures are misread"
    assert found.details[0] == "Or pictures were misread."


BUDGETS = st.builds(Budget, st.integers(0, 5), st.sampled_from([3, 5000])) | st.just(AMPLE)


@thorough(60)
@given(domains.domains(), BUDGETS)
def test_what_cannot_matter_is_told_from_what_is_open_in_fitting_english(
    domain: Domain, budget: Budget
) -> None:
    result = run(domain, budget=budget)
    for line in str(result).splitlines():
        words = line.split()
        assert len(line) <= WIDTH or len(words[-1]) > WIDTH // 2
        assert PLURAL_OF_ONE.search(line) is None, line
    assert PLURAL_OF_ONE.search(repr(result)) is None
    for entry in result.undetermined:
        if result.proven:
            assert (entry.kind, entry.settle) == ("cannot matter", "")
        else:
            assert entry.kind in ("cannot matter", "open")
            assert bool(entry.settle) is (entry.kind == "open")
        assert {pal.action for pal in entry.pals} == {entry.action}
    _assert_every_pal_tuple_is_decided_or_listed(result)
    html = result._repr_html_()
    assert ("Open (" in html) is any(entry.kind == "open" for entry in result.undetermined)
    # where no way to ask was found, the proofs tell what is open
    stopped = replace(result, proven=False, why=f"2 questions are open, but {NO_WAY}")
    proofs = Indistinguishability(result.hypotheses, origins(evidence_of(result.transcript)))
    left = [entry for entry in stopped.undetermined if entry.kind == "open"]
    assert result.doubt or bool(left) is bool(proofs.open_questions())
    assert not (result.proven and left)
    doubted = replace(stopped, doubt="an atom changed that no step names")
    assert all(entry.kind == "open" for entry in doubted.undetermined)
    if budget is AMPLE:
        asked = min(result.counts.queries, result.counts.failed_steps)
        required = sum(len(one.positive) + len(one.negative) for one in domain.model.actions)
        assert result.lower_bound <= min(asked, required)


def _assert_every_pal_tuple_is_decided_or_listed(result: Result) -> None:
    """Positive preconditions are all that may be; negative ones and effects only those that must be."""
    for pal in result.hypotheses.pal_tuples():
        possible = result.hypotheses.modes(pal)
        mode = result.model.schema(pal.action).mode(pal.atom, pal.location)
        assert mode in possible
        if pal.location is Location.PRE and Mode.POSITIVE in possible:
            assert mode is Mode.POSITIVE
        elif pal.location is Location.EFF and len(possible) > 1:
            assert mode is Mode.ABSENT
    listed = {(u.action, u.location): "" for u in result.undetermined}
    for entry in result.undetermined:
        assert entry.group
        assert entry.known
        listed[entry.action, entry.location] += " ".join(entry.group) + " "
    open_tuples = 0
    for name, action in result.hypotheses.actions.items():
        masks = {
            "pre": action.undecided.positive | action.undecided.negative,
            "eff": action.undecided_effects,
        }
        for (location, mask), (atom, bit) in product(masks.items(), action.index.bit.items()):
            words = listed.get((name, location), "")
            assert (atom.text(action.index.header.parameters) in words) is bool(mask & bit)
            open_tuples += bool(mask & bit)
    assert result.hypotheses.decided() + open_tuples == result.hypotheses.size
    assert len({pal for entry in result.undetermined for pal in entry.pals}) == open_tuples


# A result accounts for every pal tuple: decided, or listed as undetermined; and its bound is one.


def test_lifted_predicates_are_counted_by_the_types_of_their_parameters() -> None:
    """at(?thing1, ?place1) of one action and of another are one element of P*."""
    kinds = ("thing", "place")
    vocabulary = Vocabulary("toy", (Predicate("at", kinds),), Types(dict.fromkeys(kinds, "object")))
    leave = ActionHeader("leave", ("t", "p"), kinds)
    move = ActionHeader("move", ("who", "from", "to"), (*kinds, "place"))
    model = Model(vocabulary, (ActionSchema(leave), ActionSchema(move)))
    assert [len(lifted_atoms(vocabulary, header)) for header in model.headers] == [1, 2]
    assert lifted_predicates(model) == 2


def test_what_was_never_executed_is_said_to_be_unknown() -> None:
    result = run(Domain(small.model("never: p ->", predicates="p/0 q/0"), (small.state(""),)))
    assert {entry.known for entry in result.undetermined} == {
        "never executed: nothing is known",
        "at least one is required",
    }


# The differences between a model and one learned earlier.


@thorough(40)
@given(domains.domains(), st.integers(0, 100))
def test_differences_of_models_and_models_of_other_agents(domain: Domain, seed: int) -> None:
    model, other = domain.model, updated(domain.model, seed)
    assert not differences(model, model)
    forth, back = differences(model, other), differences(other, model)
    assert [(one.before, one.now) for one in forth] == [(one.now, one.before) for one in back]
    check_prior(model, model.vocabulary, model.headers, "old.pddl")
    first, *others = model.actions
    renamed = replace(model, actions=(replace(first, header=replace(first.header, name="other")), *others))
    memory = replace(model.vocabulary, predicates=(*model.vocabulary.predicates, Predicate("memory-1", ())))
    for strange, told in (
        (renamed, r"prior old\.pddl: is a model of another agent"),
        (replace(model, actions=tuple(others)), r"leaves out what was refused everywhere, or is of another"),
        (replace(model, vocabulary=memory), r"has invented predicates, or is of another agent .*memory-1"),
    ):
        with pytest.raises(UnusableInput, match=told):
            check_prior(strange, model.vocabulary, model.headers, "old.pddl")


def test_an_action_that_needs_an_object_named_twice_is_said_to_want_that() -> None:
    model = small.model("load x y: next x y ->", predicates="next/2 done/0")
    agent = SymbolicAgent(model, [small.state("low high", "next low low")], Access.RESET)
    assert "never executed: load (no step named an object twice" in (interrogate(agent).missing or "")
    assert "never executed" not in (interrogate(agent, repeated_arguments=True).missing or "")

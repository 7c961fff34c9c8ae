"""The first screen: what the agent can do, how sure that is and why, and a pair of pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aam_vision.agents.journal import Journal
from aam_vision.interrogation.evidence.moves import Asked
from aam_vision.interrogation.evidence.transcript import attempted
from aam_vision.interrogation.examination.findings import Diagnosis, Example, Family
from aam_vision.interrogation.task.assembly import Interrogation
from aam_vision.model import domains as packaged
from aam_vision.model.pddl import read_domain
from aam_vision.report.abilities import EXPLAINED, ROOM, abilities
from aam_vision.report.account import account_of
from aam_vision.report.page import page
from aam_vision.report.recorded import images, read_run
from aam_vision.run.arguments import Arguments
from aam_vision.run.summary import summary
from aam_vision.run.targets import from_environment
from aam_vision.support.errors import UnusableInput
from tests import domains
from tests.domains import Domain
from tests.finished import Runs, copied, result_of
from tests.profiles import thorough
from tests.report.conftest import KINDS
from tests.report.diagnosed import STEP, WHY, diagnosed
from tests.report.shown import in_terminal, text_of


@pytest.mark.parametrize("name", packaged.DOMAINS)
def test_the_paragraph_is_short_and_accounts_for_every_action(name: str) -> None:
    model = packaged.load(name)
    actions = [schema.header.name for schema in model.actions]
    told = abilities(model, actions, complete=True)
    assert len(str(told)) <= max(ROOM, len(actions) * ROOM // 3)
    assert len(told.deeds) == min(len(actions), EXPLAINED), "each of a few actions has a sentence"
    assert str(told).startswith(f"It has {len(actions)} actions")
    described = [deed.action for deed in told.deeds]
    assert described == actions[: len(described)]
    assert described == actions or actions[len(described)] in told.others


WAREHOUSE = """(define (domain warehouse) (:requirements :strips :typing) (:types cell thing way - object)
  (:predicates (at ?x - thing ?c - cell) (clear ?c - cell) (next ?a ?b - cell ?w - way) (is-worker ?x - thing)
    (is-crate ?x - thing) (above ?a ?b - cell) (lift ?c - cell))
  (:action walk :parameters (?p - thing ?a ?b - cell ?w - way)
    :precondition (and (is-worker ?p) (at ?p ?a) (clear ?b) (next ?a ?b ?w))
    :effect (and (at ?p ?b) (clear ?a) (not (at ?p ?a)) (not (clear ?b))))
  (:action push :parameters (?p ?s - thing ?a ?b ?c - cell ?w - way)
    :precondition (and (is-worker ?p) (is-crate ?s) (at ?p ?a) (at ?s ?b) (clear ?c) (next ?a ?b ?w) (next ?b ?c ?w))
    :effect (and (at ?p ?b) (at ?s ?c) (clear ?a) (not (at ?p ?a)) (not (at ?s ?b)) (not (clear ?c))))
  (:action pull :parameters (?p ?s - thing ?a ?b ?c - cell ?w - way)
    :precondition (and (is-worker ?p) (is-crate ?s) (at ?p ?b) (at ?s ?a) (clear ?c) (next ?a ?b ?w) (next ?b ?c ?w))
    :effect (and (at ?p ?c) (at ?s ?b) (clear ?a) (not (at ?p ?b)) (not (at ?s ?a)) (not (clear ?c))))
  (:action up :parameters (?a ?b - cell) :precondition (and (lift ?a) (above ?b ?a))
    :effect (and (lift ?b) (not (lift ?a))))
  (:action down :parameters (?a ?b - cell) :precondition (and (lift ?a) (above ?a ?b))
    :effect (and (lift ?b) (not (lift ?a)))))"""


def test_an_action_is_told_first_by_what_differs_from_the_others(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(WAREHOUSE)
    model = read_domain(tmp_path / "d.pddl")
    deeds = abilities(model, [one.name for one in model.headers], complete=True).deeds
    told = {one.action: one.words for one in deeds}
    assert told["push"].startswith("if crate ?s is at cell ?b and ")
    assert "above cell ?a" in told["up"].partition(" and ")[0]
    assert "above cell ?b" in told["down"].partition(" and ")[0]
    assert all("next" not in told[name] for name in ("walk", "push", "pull")), "which always holds somewhere"
    assert all("is a worker" not in words for words in told.values()), "worker ?p says it"


@thorough(40)
@given(domains.domains(), st.data())
def test_nothing_is_claimed_of_an_action_that_was_never_done(domain: Domain, data: st.DataObject) -> None:
    names = [schema.header.name for schema in domain.model.actions]
    done = data.draw(st.sets(st.sampled_from(names)))
    for deed in abilities(domain.model, done, complete=False).deeds:
        assert ("nothing is known" in deed.words) is (deed.action not in done)


@pytest.mark.parametrize("kind", KINDS)
def test_page_and_terminal_begin_alike(kind: str, run_of_kind: Callable[[str], Path]) -> None:
    account = account_of(read_run(run_of_kind(kind)))
    screen, text = account.screen, text_of(page(account))
    printed = in_terminal(account)
    for sentence in (*screen.abilities.parts, f"Verdict: {screen.verdict.title}", *screen.verdict.sentences):
        assert sentence in text
        assert sentence in printed
    assert text.index("Verdict:") < text.index("The run in figures")


def test_the_pictures_are_those_before_and_after_one_executed_step(run_of: Runs) -> None:
    account = account_of(read_run(run_of("doors")))
    before, after = account.screen.shown
    assert before.caption.startswith("before ")
    assert after.caption.startswith("after ")
    assert before.image != after.image
    assert account_of(read_run(run_of("gripper"))).screen.shown == ()


def test_the_image_before_a_step_is_the_one_after_the_step_before_it(run_of: Runs) -> None:
    account = account_of(read_run(run_of("sokoban")))
    seen = {(step.entry, step.position): account.events.event(step) for step in attempted(account.transcript)}
    followed = 0
    for (entry, position), event in seen.items():
        earlier = seen.get((entry, position - 1))
        if earlier is not None and earlier.executed and isinstance(account.transcript.entries[entry], Asked):
            followed += 1
            assert event.shown[0].image == earlier.shown[1].image
    assert followed > 5


def test_a_diagnosis_comes_first_with_the_two_pictures_side_by_side(run_of: Runs, tmp_path: Path) -> None:
    account = account_of(read_run(diagnosed(run_of("doors"), tmp_path)))
    screen = account.screen
    assert (screen.wrong, screen.verdict.title) == (True, "not-strips: no STRIPS model fits")
    assert [shown.caption for shown in screen.shown] == ["before moveto: executed", "before moveto: refused"]
    text = page(account)
    assert text.index(WHY) < text.index("It has 2 actions")
    assert text.count(f"<p><code>{STEP}</code>: ") == 2
    assert "proven" not in {line.status for action in account.actions for line in action.needs}


def test_one_and_the_same_picture_is_followed_by_what_came_of_it(run_of: Runs, tmp_path: Path) -> None:
    folder = diagnosed(run_of("doors"), tmp_path, family="random")
    figures = result_of(folder)
    one, other = figures["diagnosis"]["examples"]
    other["image"] = one["image"]
    (folder / "result.json").write_text(json.dumps(figures))
    shown = account_of(read_run(folder)).screen.shown
    assert [image.image for image in shown] == [one["image_after"], one["image"]]


@pytest.mark.parametrize("env", ["gripper", "doors"])
def test_a_diagnosis_without_pictures_is_told_in_words(env: str, run_of: Runs, tmp_path: Path) -> None:
    folder = diagnosed(run_of(env), tmp_path, examples=[])
    assert WHY in page(account_of(read_run(folder)))


@pytest.mark.parametrize(
    "changed",
    [
        *({"family": "joke"}, {"family": None}, {"examples": {}}, {"seen": -1}),
        *({"tried": "often"}, {"pixels_differ": "perhaps"}, {"why": ["x"]}),
    ],
)
def test_a_damaged_diagnosis_is_refused(changed: dict[str, object], run_of: Runs, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=r"result\.json: damaged.*\Z"):
        read_run(diagnosed(run_of("doors"), tmp_path, **changed))


def test_result_json_names_the_images_of_the_examples(run_of: Runs) -> None:
    run = read_run(run_of("doors"))
    asked = next(one for one in run.transcript.entries if isinstance(one, Asked) and one.response.executed)
    start, step, end = asked.query.initial, asked.query.plan[0], asked.response.final
    examples = (Example(start, step, "executed", end), Example(start, step, "refused"))
    target = from_environment("gripper")
    result = Interrogation(target.agent).run(np.random.default_rng(0))
    diagnosis = Diagnosis(Family.RANDOM, step.name, WHY, examples, None, 1, 2, False, 3)
    result = replace(result, diagnosis=diagnosis, doubt=WHY)
    with Journal.open(run_of("doors")) as journal:
        found = summary(Arguments("gripper"), target, result, {}, None, lambda: images(journal))
    assert found["status"] == "not-strips"
    first, second = found["diagnosis"]["examples"]
    assert first["image"] == second["image"] == run.sights[start.handle].image
    assert first["image_after"] == run.sights[end.handle].image
    assert second["image_after"] is None


@pytest.mark.parametrize(
    ("status", "today"), [("complete", "complete"), ("complete under its assumptions", "open")]
)
def test_a_run_of_an_earlier_version_is_told(status: str, today: str, run_of: Runs, tmp_path: Path) -> None:
    copy = copied(run_of("doors"), tmp_path)
    figures = result_of(copy) | {"status": status}
    for name in ("why", "missing", "proven", "exam_steps", "exam_wrong", "diagnosis"):
        del figures[name]
    for group in figures["undetermined"]:
        del group["kind"], group["settle"]
    (copy / "result.json").write_text(json.dumps(figures))
    account = account_of(read_run(copy))
    assert (account.verdict.title, account.proven) == (today, True)
    told = " ".join(account.verdict.sentences)
    assert "No query could tell any more." in told
    assert "Not examined" in told
    assert "cannot matter" in told

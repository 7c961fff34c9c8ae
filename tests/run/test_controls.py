"""Runs that know only the controls of an agent."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from aam_vision.model.pddl import read_domain
from tests.finished import OUTPUT, Runs, result_of

from .commands import PROMISED, WEIGHTS, command

LAMP = """(define (domain lamp) (:requirements :strips :typing) (:types lamp - object)
  (:predicates (on ?l - lamp) (off ?l - lamp))
  (:action light :parameters (?l - lamp) :precondition (and (off ?l)) :effect (and (on ?l) (not (off ?l))))
  (:action quench :parameters (?l - lamp) :precondition (and (on ?l)) :effect (and (off ?l) (not (on ?l)))))"""
PROBLEM = """(define (problem two) (:domain lamp) (:objects a - lamp b - lamp)
  (:init (on a) (off b)) (:goal (and (on b))))"""


def test_an_environment_is_learned_from_images_by_its_controls(run_of: Runs) -> None:
    run = run_of("doors", controls=True)
    result = result_of(run)
    assert result["controls"] == ["moveto(?location - location)", "pick(?key - key)"]
    assert result["native_equivalent"] == 1.0
    assert result["native_steps"] == 1000
    assert result["unexplained"] == 0
    assert result["steps"] <= 250
    assert set(PROMISED) <= result.keys()
    printed = (run.parent / OUTPUT).read_text(encoding="utf-8")
    assert "\nagent         It has 2 controls.\n              moveto: if ?room is unlocked" in printed
    model = read_domain(run / "model.pddl")
    mapping = json.loads((run / "controls.json").read_text(encoding="utf-8"))
    assert [one["operator"] for one in mapping] == [header.name for header in model.headers]
    assert {one["operator"]: one["control"] for one in mapping} == {"moveto": "moveto", "pick": "pick"}


def test_nothing_is_complete_that_classifiers_read_which_have_not_passed_their_test(tmp_path: Path) -> None:
    for path in WEIGHTS.glob("doors.*"):
        shutil.copy(path, tmp_path)
    card = json.loads((tmp_path / "doors.json").read_text(encoding="utf-8"))
    card["figures"]["unseen"]["exact"] = 396
    (tmp_path / "doors.json").write_text(json.dumps(card), encoding="utf-8")
    given = "--env", "doors", "--problem", "0", "--controls", "--classifiers", tmp_path, "--out", "run"
    command(*given, "--quiet", cwd=tmp_path)
    result = result_of(tmp_path / "run")
    assert result["status"] == "open"
    assert result["missing"] == (
        "the classifiers read 396 of 400 unseen images exactly: they have not passed their test"
    )

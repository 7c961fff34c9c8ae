"""Finished runs that knew only controls: of lamps that are switched, with one control that never does anything."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from aam_vision.run.arguments import Arguments
from aam_vision.run.command import interrogate_agent

LAMPS = """(define (domain lamp) (:requirements :strips :typing) (:types lamp - object)
  (:predicates (on ?l - lamp) (off ?l - lamp) (broken ?l - lamp))
  (:action light :parameters (?l - lamp) :precondition (and (off ?l)) :effect (and (on ?l) (not (off ?l))))
  (:action quench :parameters (?l - lamp) :precondition (and (on ?l)) :effect (and (off ?l) (not (on ?l))))
  (:action mend :parameters (?l - lamp) :precondition (and (broken ?l)) :effect (and (not (broken ?l)))))"""
PROBLEM = """(define (problem two) (:domain lamp) (:objects a - lamp b - lamp)
  (:init (on a) (off b)) (:goal (and (on b))))"""
OTHER = PROBLEM.replace("b - lamp", "b - lamp c - lamp").replace("(off b)", "(off b) (off c)")


def lamps(place: Path, **options: Any) -> tuple[int, Path]:
    """The exit code and the folder of a run of two lamps; ``other.pddl`` beside it has three."""
    for name, text in (("d.pddl", LAMPS), ("p.pddl", PROBLEM), ("other.pddl", OTHER)):
        (place / name).write_text(text, encoding="utf-8")
    given = Arguments(
        domain=place / "d.pddl",
        problem=[str(place / "p.pddl")],
        bare=["press(?l)=light,quench", "kick(?l)=mend"],
        out=place / "run",
        quiet=True,
        **options,
    )
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return interrogate_agent(given), place / "run"

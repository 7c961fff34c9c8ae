"""A small domain and a problem of it, and what becomes of files that are read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from aam_vision.model.pddl import read_domain
from aam_vision.model.strips import Model
from aam_vision.support.errors import UnusableInput
from tests.profiles import PROFILE

DOMAIN = """; a small world
(define (domain Tiny)
  (:requirements :strips :typing :negative-preconditions)
  (:types box robot - thing place)
  (:constants dock - place)
  (:predicates (at ?x - thing ?p - place) (at-goal ?x - box)
               (busy))
  (:action Push
    :parameters (?r - robot ?b - box ?p ?q - place)
    :precondition (and (at ?r ?p) (at ?b ?p) (not (busy)))
    :effect (and (not (at ?b ?p)) (at ?b ?q)))
  (:action rest :parameters () :precondition () :effect (busy))
  (:action ship :parameters (?b - box) :precondition (at ?b DOCK) :effect (at-goal ?b)))
"""
PROBLEM = """(define (problem First)
  (:domain tiny)
  (:objects r - robot b - box shelf - place)
  (:goal (and (at-goal b) (not (busy))))
  (:init (at r shelf)
         (at b shelf)))
"""


def written(folder: Path, text: str | bytes, name: str = "domain.pddl") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@contextmanager
def in_time() -> Iterator[None]:
    """Within five seconds of CPU time; longer where every call of a function chooses a mutant first."""
    started = time.process_time()
    yield
    assert time.process_time() - started < (25 if PROFILE == "mutants" else 5)


def message(call: Any, *arguments: Any) -> str:
    """The one line with which a call refuses its input, in time."""
    with in_time(), pytest.raises(UnusableInput) as caught:
        call(*arguments)
    text = str(caught.value)
    assert len(text.splitlines()) == 1
    assert len(text) < 400 + len(str(arguments[-1]))
    assert text.isprintable()
    return text


def attempt(call: Any, *arguments: Any) -> Any:
    """What a call returns, or its refusal as text, which names the last argument."""
    try:
        return call(*arguments)
    except UnusableInput as error:
        text = str(error)
    assert len(text.splitlines()) == 1
    assert text.startswith(f"{arguments[-1]}:")
    return text


@cache
def tiny() -> Model:
    with TemporaryDirectory() as folder:
        return read_domain(written(Path(folder), DOMAIN))

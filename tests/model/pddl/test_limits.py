"""No file takes long, whatever it holds, and what the library refuses is one line, too."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from aam_vision.model.domains import load
from aam_vision.model.pddl import MAX_BYTES, MAX_TOKENS, read_domain, read_problem

from .files import DOMAIN, in_time, message, written

PRE = "(not (busy))"


def test_a_path_is_quoted_in_one_printable_line(folder: Path) -> None:
    path = written(folder, DOMAIN.replace("(busy)", "(bussy)", 1), "a\n\x1b[31mb.pddl")
    assert message(read_domain, path).startswith(f"{folder}/a??[31mb.pddl:10: ")


def test_files_that_are_none(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder, folder / "pipe", Path("/dev/zero")):
        wanted = f"{path}: cannot be read (no regular file); give the path of a PDDL file"
        assert message(read_domain, path) == wanted
    assert "cannot be read (No such file" in message(read_domain, folder / "missing")
    assert "cannot be read" in message(read_domain, "a\0b")
    text = message(read_domain, written(folder, b"(define\n\xff\xfe)"))
    assert text.startswith(f"{folder / 'domain.pddl'}:2: is not UTF-8 text (byte 8)")


N = 45_000
HOSTILE = {
    "too large": b" " * (MAX_BYTES + 1),
    "too many": "(" + "a " * MAX_TOKENS,
    "deep": "(" * N,
    "deep condition": DOMAIN.replace(PRE, "(and " * 5000 + ")" * 5000),
    "long name": DOMAIN.replace(PRE, f"({'a' * 10_000_000})"),
    "many near names": f"(define (domain d) (:predicates {' '.join(f'(p{i})' for i in range(N))}) (:action a :effect (q1)))",
    "chain of types": f"(define (domain d) (:types {' '.join(f't{i} - t{i + 1}' for i in range(N))}))",
    "null": b"\0" * 1_000_000,
    "only comments": ";x\n" * 6_000_000,
    "only lines": "\n" * 19_000_000,
    "many constants": f"(define (domain d) (:constants {'c ' * N}) {'(:action a) ' * 30_000})",
    "many lifted atoms": "(define (domain d) (:predicates (p {0})) (:action a :parameters ({0})))".format(
        " ".join(f"?x{i}" for i in range(16))
    ),
    "many parameters": f"(define (domain d) (:action a :parameters ({'?x ' * 150_000})))",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_at_once(folder: Path, case: str) -> None:
    message(read_domain, written(folder, HOSTILE[case]))


def test_the_largest_files_are_read_in_time(folder: Path) -> None:
    path = large_problem(folder, objects=1000, facts=MAX_TOKENS // 5 - 300)
    model = load("blocksworld")
    with in_time():
        assert len(read_problem(model, path).initial.true) == MAX_TOKENS // 5 - 300
    problem = large_problem(folder, objects=12_000, facts=1)
    assert len(read_problem(model, problem).initial.objects) == 12_000
    predicates = " ".join(f"(p{i} ?x ?y)" for i in range(3000))
    path = written(folder, f"(define (domain d) (:predicates {predicates}))", "large.pddl")
    assert len(read_domain(path).vocabulary.predicates) == 3000


@pytest.mark.parametrize("chance", [False, True])
def test_thousands_of_parameters_are_read_and_too_many_actions_refused(folder: Path, chance: bool) -> None:
    names = [f"?x{number}" for number in range(12_000)]
    every = f"(and {' '.join(f'(p {name})' for name in names)})"
    action = f"(:action a :parameters ({' '.join(names)}) :precondition {every} :effect {every})"
    path = written(folder, f"(define (domain d) (:predicates (p ?x)) {action})", "wide.pddl")
    with in_time():
        read_domain(path, chance=chance)
    predicates = " ".join(f"(p{number} ?x)" for number in range(9000))
    actions = " ".join(f"(:action a{number} :parameters (?x))" for number in range(9000))
    path = written(folder, f"(define (domain d) (:predicates {predicates}) {actions})", "many.pddl")
    told = message(partial(read_domain, chance=chance), path)
    assert "9000 predicates and 9000 actions are too many together" in told


def large_problem(folder: Path, *, objects: int, facts: int) -> Path:
    blocks = [f"b{i}" for i in range(objects)]
    atoms = " ".join(f"(on b{i % objects} b{i // objects})" for i in range(facts))
    return written(
        folder,
        f"(define (problem p) (:domain blocks) (:objects {' '.join(blocks)} - block) (:init {atoms}) (:goal ()))",
        "problem.pddl",
    )

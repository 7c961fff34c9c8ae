"""Problems of unified-planning in and out: models as such problems, and what such a problem says of its vocabulary.

What a problem's actions require and change is not read here: ``agents.simulator`` executes them as a black box.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from warnings import warn

from aam_vision.model.pddl.writing import domain_text, problem_text
from aam_vision.model.strips import (
    ROOT_TYPE,
    ActionHeader,
    Model,
    Objects,
    Predicate,
    Problem,
    Types,
    Vocabulary,
    excess,
)
from aam_vision.support.errors import AamWarning, UnusableInput, reason

_NAME = re.compile(r"[^\W\d][\w-]*")
"""Names of predicates, types and actions that PDDL allows; an object's may begin with a digit."""


def environment() -> Any:
    """An environment of our own, silent: the global one may belong to somebody else."""
    from unified_planning.environment import Environment

    found = Environment()
    found.error_used_name = False
    found.credits_stream = None
    return found


def to_unified_planning(model: Model, problem: Problem | None = None) -> Any:
    """The model as a ``unified_planning.model.Problem``, in the global environment, as its simulators need it.

    Args:
        model: without chance.
        problem: adds the objects, the initial state and the goal; None for a domain alone.

    Raises:
        UnusableInput: unified-planning has no such models: one with outcomes by chance or derived predicates, or with names that PDDL forbids.
    """
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    chance = [one.header.name for one in model.actions for case in one.branches if len(case.outcomes) > 1]
    if chance:
        raise UnusableInput(f"{chance[0]} has outcomes by chance, which unified-planning lacks", "model")
    if derived := [one.predicate.name for one in model.vocabulary.derived]:
        raise UnusableInput(f"{derived[0]} is a derived predicate, which unified-planning lacks", "model")
    check_names([one.name for one in model.vocabulary.predicates], "model")
    check_names([one.name for one in model.headers], "model")
    check_names([model.vocabulary.name, *model.vocabulary.types.parents], "model")
    delays = model.vocabulary.delays
    if problem is not None and delays is not None and delays.plain(problem.initial) == problem.initial:
        problem = replace(problem, initial=delays.begun(problem.initial))
    text = None if problem is None else problem_text("problem", model.vocabulary, problem)
    shared = get_environment()
    strict, shared.error_used_name = (
        shared.error_used_name,
        False,
    )  # PDDL lets an object have a predicate's name
    try:
        return PDDLReader(shared).parse_problem_string(domain_text(model), text)
    except Exception as error:  # of any kind: it is foreign code
        raise UnusableInput(f"unified-planning refuses it ({reason(error)})", "model") from error
    finally:
        shared.error_used_name = strict


def check_names(names: Iterable[str], argument: str, *, objects: bool = False) -> None:
    """Refuse names that PDDL forbids, and two that differ by their case alone.

    Raises:
        UnusableInput: there is such a name.
    """
    known: dict[str, str] = {}
    for name in names:
        if not (_NAME.fullmatch(name) or (objects and re.fullmatch(r"[\w-]+", name))):
            raise UnusableInput(
                "PDDL forbids this name: use letters, digits, '_' and '-'", argument, repr(name)
            )
        if known.setdefault(name.lower(), name) != name:
            raise UnusableInput(
                f"PDDL cannot tell it from {known[name.lower()]!r}: rename one", argument, repr(name)
            )


def vocabulary_of(problem: Any, constants: Iterable[str] = ()) -> Vocabulary:
    """The predicates and types of a problem of unified-planning; what is not Boolean is left out with a warning.

    ``constants`` are those of its objects that instructions may mean without naming them.

    Raises:
        UnusableInput: there is no such object, or PDDL forbids a name.
    """
    predicates: dict[str, Predicate] = {}
    left_out = []
    for fluent in problem.fluents:
        if fluent.type.is_bool_type() and all(one.type.is_user_type() for one in fluent.signature):
            kinds = tuple(one.type.name for one in fluent.signature)
            predicates[fluent.name] = Predicate(fluent.name, kinds)
        else:
            left_out.append(fluent.name)
    if left_out:
        told = f"{', '.join(left_out)}: not Boolean, or not of objects; the model will say nothing of it"
        warn(told, AamWarning, stacklevel=2)
    parents = {
        kind.name: ROOT_TYPE if kind.father is None else kind.father.name
        for kind in problem.user_types
        if kind.name != ROOT_TYPE
    }
    kinds_of = {one.name: one.type.name for one in problem.all_objects}
    for name in constants:
        if name not in kinds_of:
            raise UnusableInput("the problem has no such object", "constants", name)
    check_names([*predicates, *parents], "problem")
    check_names(kinds_of, "problem", objects=True)
    name = re.sub(r"[^\w-]", "-", problem.name or "domain").removesuffix("-problem")
    fixed = {one: kinds_of[one] for one in constants}
    return Vocabulary(name, tuple(predicates.values()), Types(parents), fixed)


def headers_of(problem: Any, vocabulary: Vocabulary) -> tuple[ActionHeader, ...]:
    """The actions of a problem, without what they require and change.

    Raises:
        UnusableInput: an action takes time, or arguments that are no objects; PDDL forbids its name; or they are too many.
    """
    headers = []
    for action in problem.actions:
        names = tuple(one.name for one in action.parameters)
        if hasattr(action, "duration") or not all(one.type.is_user_type() for one in action.parameters):
            raise UnusableInput("takes time, or arguments that are no objects", "problem", action.name)
        check_names(names, "problem")
        headers.append(ActionHeader(action.name, names, tuple(one.type.name for one in action.parameters)))
    check_names([one.name for one in headers], "problem")
    if too_much := excess(vocabulary, headers):
        raise UnusableInput("; ".join(too_much), "problem")
    return tuple(headers)


def objects_of(problem: Any, vocabulary: Vocabulary) -> Objects:
    """The objects of a problem with their types, constants first."""
    kinds = {one.name: one.type.name for one in problem.all_objects}
    return Objects({**vocabulary.constants, **kinds}, vocabulary.types)

"""PDDLGym's PDDL files and what they declare, read without importing PDDLGym.

PDDLGym is slow to import (it brings matplotlib), and a vocabulary is needed wherever images are read. So the
declarations of a domain come from its file by our own reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from aam_vision.model.pddl import read_domain
from aam_vision.model.pddl.reading import fields
from aam_vision.model.pddl.syntax import Group, Word, instructions, read_definition
from aam_vision.model.strips import Model, State
from aam_vision.support.errors import UnusableInput

INSTALL = "PDDLGym is not installed: pip install --no-deps pddlgym==0.0.7"

SPLITS = {"train": "", "test": "_test"}
"""Our names for PDDLGym's problem folders, and what it appends to the domain's name."""

OPERATOR_ACTIONS = {"blocks": "blocks_operator_actions", "hanoi": "hanoi_operator_actions"}
"""Domains for which PDDLGym's own name says that operators are the actions, with that name."""


def pddl_folder() -> Path:
    """The folder of PDDLGym's PDDL files; UnusableInput if PDDLGym is not installed."""
    spec = find_spec("pddlgym")
    if spec is None or not spec.submodule_search_locations:
        raise UnusableInput(INSTALL)
    return Path(spec.submodule_search_locations[0]) / "pddl"


def domain_file(domain: str) -> Path:
    """The file of a domain."""
    return pddl_folder() / f"{OPERATOR_ACTIONS.get(domain, domain)}.pddl"


def problem_files(domain: str, split: str) -> tuple[Path, ...]:
    """The problem files of a split in PDDLGym's own order, that of their names; UnusableInput if there is no such split."""
    if split not in SPLITS:
        raise UnusableInput(f"{domain} has no split {split!r}: use one of {', '.join(SPLITS)}")
    file = domain_file(domain)
    return tuple(sorted(file.with_name(f"{file.stem}{SPLITS[split]}").glob("*.pddl")))


@cache
def chance_model(domain: str) -> Model:
    """The model of a domain's file, with its outcomes where there are several, without action literals.

    Raises:
        UnusableInput: PDDLGym is not installed, or has no such domain.
    """
    whole = read_domain(domain_file(domain), chance=True)
    return replace(whole, vocabulary=replace(whole.vocabulary, name=domain, left_out=()))


@cache
def action_predicates(domain: str) -> Mapping[str, tuple[str, tuple[int, ...]]]:
    """Operator -> its action predicate, such as ``move``, and which of its parameters that takes; empty where operators are the actions.

    Raises:
        UnusableInput: PDDLGym is not installed, or has no such domain.
    """
    definition, found = read_definition(domain_file(domain), "domain"), {}
    verbs, actions = instructions(definition), [one for one in definition.sections if one.head == ":action"]
    for header, action in zip(chance_model(domain).headers, actions, strict=True):
        for part in fields(definition, action, header.name)[":precondition"].parts:
            if isinstance(part, Group) and part.head in verbs:
                taken = [one.text.removeprefix("?") for one in part.parts[1:] if isinstance(one, Word)]
                found[header.name] = part.head, tuple(header.parameters.index(name) for name in taken)
    return found


def initial_states(domain: str, split: str) -> list[State]:
    """The initial states of a split's problems; UnusableInput if PDDLGym is not installed, or there is no such split."""
    from aam_vision.envs.pddlgym_domains import load_layout

    layouts = [load_layout(domain, split, number) for number in range(len(problem_files(domain, split)))]
    return [State(layout.initial, layout.objects) for layout in layouts]

"""PDDLGym's PDDL files and what they declare, read without importing PDDLGym.

PDDLGym is slow to import (it brings matplotlib), and a vocabulary is needed wherever images are read. So the
declarations of a domain come from its file by our own reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from aam_vision.model.pddl import read_domain
from aam_vision.model.pddl.reading import fields, parameters, predicates, sections, types_of
from aam_vision.model.pddl.syntax import Group, Word, read_definition
from aam_vision.model.strips import ActionHeader, Model, Predicate, State, Types, Vocabulary
from aam_vision.support.errors import UnusableInput

INSTALL = "PDDLGym is not installed: pip install --no-deps pddlgym==0.0.7"

SPLITS = {"train": "", "test": "_test"}
"""Our names for PDDLGym's problem folders, and what it appends to the domain's name."""

OPERATOR_ACTIONS = {"blocks": "blocks_operator_actions", "hanoi": "hanoi_operator_actions"}
"""Domains for which PDDLGym's own name says that operators are the actions, with that name."""

_SECTIONS = (":requirements", ":types", ":predicates", ":action")
_ACTIONS = re.compile(r"\(:actions ([^)]*)\)")
"""PDDLGym names the action predicates in a comment."""


@dataclass(frozen=True)
class Declarations:
    """The declarations of a domain file.

    Attributes:
        types: the type hierarchy.
        predicates: in the file's order, without the action predicates.
        headers: the operators' names and parameters, in the file's order.
        verbs: the action predicates, such as ``(move ?v0 - direction)``; none where operators are the actions.
        native: operator -> its action predicate, and which of its parameters that one takes.
    """

    types: Types
    predicates: tuple[Predicate, ...]
    headers: tuple[ActionHeader, ...]
    verbs: tuple[Predicate, ...]
    native: Mapping[str, tuple[str, tuple[int, ...]]]


def pddl_folder() -> Path:
    """The folder of PDDLGym's PDDL files; UnusableInput if PDDLGym is not installed."""
    spec = find_spec("pddlgym")
    if spec is None or not spec.submodule_search_locations:
        raise UnusableInput(INSTALL)
    return Path(spec.submodule_search_locations[0]) / "pddl"


def pddlgym_name(domain: str) -> str:
    """PDDLGym's name of a domain, which its files bear."""
    return OPERATOR_ACTIONS.get(domain, domain)


def problem_files(domain: str, split: str) -> tuple[Path, ...]:
    """The problem files of a split in PDDLGym's own order, that of their names; UnusableInput if there is no such split."""
    if split not in SPLITS:
        raise UnusableInput(f"{domain} has no split {split!r}: use one of {', '.join(SPLITS)}")
    return tuple(sorted((pddl_folder() / f"{pddlgym_name(domain)}{SPLITS[split]}").glob("*.pddl")))


def domain_file(domain: str) -> Path:
    """The file of a domain."""
    return pddl_folder() / f"{pddlgym_name(domain)}.pddl"


@cache
def declarations(domain: str) -> Declarations:
    """The declarations of a domain; UnusableInput if PDDLGym is not installed, or has no such domain."""
    path = domain_file(domain)
    definition = read_definition(path, "domain")
    known = sections(definition, _SECTIONS)
    types = types_of(definition, known[":types"])
    declared = [Predicate(*pair) for pair in predicates(definition, known[":predicates"], types).items()]
    named = _ACTIONS.search(path.read_text("utf-8"))
    verbs = named[1].split() if named else []
    headers, native = [], {}
    for section in known[":action"]:
        word = section.parts[1]
        assert isinstance(word, Word)
        given = fields(definition, section, word.text)
        kinds = parameters(definition, given[":parameters"], types, word.text)
        headers.append(ActionHeader(word.text, tuple(kinds), tuple(kinds.values())))
        for part in given[":precondition"].parts:
            if isinstance(part, Group) and part.head in verbs:
                taken = [one.text.removeprefix("?") for one in part.parts[1:] if isinstance(one, Word)]
                native[word.text] = (part.head, tuple(list(kinds).index(name) for name in taken))
    return Declarations(
        types,
        tuple(predicate for predicate in declared if predicate.name not in verbs),
        tuple(headers),
        tuple(predicate for predicate in declared if predicate.name in verbs),
        native,
    )


# PDDLGym's domains with chance as models with outcomes, without its action literals.


@cache
def chance_model(domain: str) -> Model:
    """The model of a domain's file; UnusableInput if PDDLGym is not installed."""
    whole, declared = read_domain(domain_file(domain), chance=True), declarations(domain)
    own = {predicate.name for predicate in declared.predicates}
    actions = tuple(
        replace(
            schema,
            positive=frozenset(atom for atom in schema.positive if atom.predicate in own),
            negative=frozenset(atom for atom in schema.negative if atom.predicate in own),
        )
        for schema in whole.actions
    )
    vocabulary = Vocabulary(domain, declared.predicates, declared.types, whole.vocabulary.constants)
    return Model(vocabulary, actions)


def initial_states(domain: str, split: str) -> list[State]:
    """The initial states of a split's problems; UnusableInput if PDDLGym is not installed, or there is no such split."""
    from aam_vision.envs.pddlgym_domains import load_layout

    layouts = [load_layout(domain, split, number) for number in range(len(problem_files(domain, split)))]
    return [State(layout.initial, layout.objects) for layout in layouts]

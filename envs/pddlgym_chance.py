"""PDDLGym's domains with chance as models with outcomes, without its action literals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from aam_vision.envs.pddlgym_files import declarations, domain_file, problem_files
from aam_vision.outcomes import ChanceModel
from aam_vision.pddl import read_chance_domain
from aam_vision.strips import State, Vocabulary


@cache
def chance_model(domain: str) -> ChanceModel:
    """The model of a domain's file.

    Raises:
        UnusableInput: PDDLGym is not installed.
    """
    whole, declared = read_chance_domain(domain_file(domain)), declarations(domain)
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
    return ChanceModel(vocabulary, actions)


def initial_states(domain: str, split: str) -> list[State]:
    """The initial states of a split's problems.

    Raises:
        UnusableInput: PDDLGym is not installed, or there is no such split.
    """
    from aam_vision.envs.pddlgym_domains import load_layout

    layouts = [load_layout(domain, split, number) for number in range(len(problem_files(domain, split)))]
    return [State(layout.initial, layout.objects) for layout in layouts]

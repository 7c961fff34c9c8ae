"""PDDL in and out: domains and problems read from files, models and problems written as text.

Only STRIPS with typing, constants and negative preconditions is read; every other feature is named and
refused, in one line that says where. ``syntax`` turns text into nested lists that remember their lines,
``declarations`` and ``literals`` check them, ``library`` has unified-planning read what passed, ``reading``
makes models and problems of that, ``writing`` prints them. ``instructions`` leaves out what PDDLGym's files say of instructions. ``goal`` reads a goal that stands alone. ``probabilistic``
reads and prints models with outcomes.

The check is ours because unified-planning seldom says where a mistake is and insists on one order of the
sections. The atoms of an initial state are read by us as well: it would take minutes for 200,000 tokens.
"""

from __future__ import annotations

from aam_vision.pddl.probabilistic import chance_domain_text, read_chance_domain, read_chance_problem
from aam_vision.pddl.problem import Problem
from aam_vision.pddl.reading import read_domain, read_problem
from aam_vision.pddl.syntax import MAX_BYTES, MAX_DEPTH, MAX_TOKENS, read_goal
from aam_vision.pddl.writing import domain_text, problem_text

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_TOKENS",
    "Problem",
    "chance_domain_text",
    "domain_text",
    "problem_text",
    "read_chance_domain",
    "read_chance_problem",
    "read_domain",
    "read_goal",
    "read_problem",
]

"""PDDL in and out: domains and problems read from files, models and problems written as text.

Only STRIPS with typing, constants and negative preconditions is read; every other feature is named and
refused, in one line that says where. ``syntax`` turns text into nested lists that remember their lines,
``literals`` checks atoms against the vocabulary, ``reading`` builds models and problems, ``writing`` prints them.

The reader is ours because unified-planning's takes 0.05-1.7 s for a domain, minutes for a problem of 200,000
tokens, insists on one order of the sections and seldom says where a mistake is; the tests read everything
with both and compare.
"""

from __future__ import annotations

from aam_vision.pddl.problem import Problem
from aam_vision.pddl.reading import read_domain, read_problem
from aam_vision.pddl.syntax import MAX_BYTES, MAX_DEPTH, MAX_TOKENS
from aam_vision.pddl.writing import domain_text, problem_text

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_TOKENS",
    "Problem",
    "domain_text",
    "problem_text",
    "read_domain",
    "read_problem",
]

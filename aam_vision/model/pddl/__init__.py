"""PDDL in and out: domains and problems read from files, models and problems written as text.

STRIPS with typing, constants and negative preconditions is read and, where it is wanted, ``when`` and chance; every other
feature is named and refused, in one line that says where. ``syntax`` turns text into nested lists that remember their lines, and
checks literals; ``reading`` checks declarations and makes models and problems, ``effects`` the cases of an action; ``writing`` prints
them.

The reader is ours: libraries seldom say where a mistake is, insist on one order of the sections, and take minutes for an
initial state of 200,000 tokens.
"""

from __future__ import annotations

from aam_vision.model.pddl.reading import read_any_domain, read_domain, read_problem
from aam_vision.model.pddl.syntax import MAX_BYTES, MAX_DEPTH, MAX_TOKENS, read_goal
from aam_vision.model.pddl.writing import domain_text, problem_text
from aam_vision.model.strips import Problem

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_TOKENS",
    "Problem",
    "domain_text",
    "problem_text",
    "read_any_domain",
    "read_domain",
    "read_goal",
    "read_problem",
]

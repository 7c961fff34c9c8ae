"""Everything that can be interrogated by name, with its ground truth kept apart for the comparison.

A *target* bundles an agent with functions that fetch its ground truth. They are called only after the
interrogation has ended.
"""

from aam_vision.run.targets.copied import unreliable
from aam_vision.run.targets.images import PerceptionSettings
from aam_vision.run.targets.naming import (
    check_name,
    controlled,
    from_environment,
    has_chance,
    is_imported,
    names,
    of,
)
from aam_vision.run.targets.programs import from_program
from aam_vision.run.targets.symbolic import from_pddl
from aam_vision.run.targets.target import Target

__all__ = [
    "PerceptionSettings",
    "Target",
    "check_name",
    "controlled",
    "from_environment",
    "from_pddl",
    "from_program",
    "has_chance",
    "is_imported",
    "names",
    "of",
    "unreliable",
]

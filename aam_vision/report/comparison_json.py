"""A comparison of two runs with ``--chance`` as JSON: what ``compare --json`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aam_vision.chance.comparing import ALPHA, Count
from aam_vision.chance.versions import ActionDifferences, OutcomeDifference
from aam_vision.interrogation.hypotheses.literals import Literals
from aam_vision.report.chance_differences import Versions


def of_runs(first: Path, second: Path, versions: Versions) -> dict[str, Any]:
    """What differs between two runs with ``--chance``, by how much, and whether chance explains it."""
    return {
        "a": str(first),
        "b": str(second),
        "different": any(one.different for one in versions.actions),
        "confidence": 1 - ALPHA,
        "independent": versions.independent,
        "matched": list(versions.same),
        "not_matched": list(versions.apart),
        "warnings": versions.warnings,
        "actions": [_action(one) for one in versions.actions],
    }


def _action(found: ActionDifferences) -> dict[str, Any]:
    index = found.one.index
    return {
        "action": index.header.name,
        "different": found.different,
        "executed": {"a": found.one.executed, "b": found.other.executed},
        "refused": {"a": found.one.refused, "b": found.other.refused},
        "precondition": {
            "different": found.incompatible,
            "atoms": [
                {
                    "atom": index.atom(one.bit).text(index.header.parameters),
                    "a": [mode.name.lower() for mode in one.one],
                    "b": [mode.name.lower() for mode in one.other],
                }
                for one in found.atoms
            ],
            "undecided": found.undecided,
        },
        "outcomes_certain": found.certain,
        "outcomes": [_outcome(found, one) for one in found.outcomes],
    }


def _outcome(found: ActionDifferences, one: OutcomeDifference) -> dict[str, Any]:
    text, compared = found.one.index.text, one.comparison
    return {
        "effects": text(Literals(one.adds, one.deletes)),
        "condition": text(one.condition),
        "held": None if one.kind is None else text(Literals(one.kind, 0)),
        "a": _count(compared.one),
        "b": _count(compared.other),
        "more_often": [round(limit, 4) for limit in compared.limits],
        "p_value": compared.p_value,
        "different": compared.different,
    }


def _count(found: Count) -> dict[str, Any]:
    return {"hits": found.hits, "trials": found.trials, "unread": found.lost}

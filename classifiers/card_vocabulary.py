"""The vocabulary on a card, compared with that of an environment: weights belong to classifiers, not to vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aam_vision.errors import UnusableInput
from aam_vision.perception import Provenance


def perceived(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A described vocabulary less all that no classifier is asked about: it can change without harm to weights."""
    predicates = {
        name: own
        for name, own in facts.get("predicates", {}).items()
        if isinstance(own, Mapping) and own.get("provenance") == Provenance.PERCEIVED.value
    }
    return {**facts, "predicates": predicates}


def less(facts: Mapping[str, Any], predicate: str | None) -> Mapping[str, Any]:
    """A described vocabulary less one predicate and the order of its classifiers; all of it if none is named."""
    if predicate is None:
        return facts
    others = {name: own for name, own in facts.get("predicates", {}).items() if name != predicate}
    return {"name": facts.get("name"), "predicates": others}


def part_of(facts: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """A described vocabulary less the predicates and classifiers that are not wanted, in the wanted order."""
    predicates = {
        name: own for name, own in facts.get("predicates", {}).items() if name in wanted["predicates"]
    }
    if "heads" not in wanted:  # see ``less``
        return {**facts, "predicates": predicates}
    heads = [head for head in wanted["heads"] if head in facts["heads"]]
    return {**facts, "heads": heads, "predicates": predicates}


def compare(wanted: Mapping[str, Any], found: Mapping[str, Any], path: Path, cure: str) -> None:
    """Whether a card speaks of the environment's vocabulary.

    Raises:
        UnusableInput: it does not; the message names the first difference.
    """
    if all(found.get(key) == own for key, own in wanted.items()):
        return
    ours, theirs = wanted["predicates"], found.get("predicates", {})
    different = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    if different:
        name = different[0]
        detail = f"predicate {name} is {theirs.get(name, 'absent')} there, {ours.get(name, 'absent')} here"
    else:
        key = next(key for key in wanted if wanted[key] != found.get(key))
        detail = f"{key} is {found.get(key)} there, {wanted[key]} here"
    raise UnusableInput(f"card {path} is for another vocabulary ({detail}): {cure}")
